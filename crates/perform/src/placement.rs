//! On which processors a measurement on one computer runs.

use v6gap_sys::{Unavailable, cpu, entropy};

/// Processors of an end that is in no lab, of which each draw has one: the one that was `named`, or
/// all that are like the first allowed one (method, B.7).
pub fn processors(named: Option<usize>) -> Vec<usize> {
    let usual = Placement::choose().ends;
    named.map_or_else(|| usual.map(cpu::alike).unwrap_or_default(), |named| vec![named])
}

/// The same without a draw.
pub(crate) fn usual(named: Option<usize>) -> Vec<usize> {
    named.or_else(|| Placement::choose().ends).into_iter().collect()
}

/// Where the threads of a measurement on one computer run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Placement {
    /// Processor of both ends: on one, so that no wake-up between processors is in the path.
    pub ends: Option<usize>,
    /// Processor of the lab's user-space link.
    pub link: Option<usize>,
}

impl Placement {
    /// The ends on the first allowed processor, the link on the last.
    pub fn choose() -> Self {
        let allowed = cpu::allowed().unwrap_or_default();
        let ends = allowed.first().copied();
        Placement { ends, link: allowed.last().copied().filter(|_| allowed.len() > 1) }
    }

    /// One drawn from those of the same class as [`choose`](Self::choose)'s: the ends and the link
    /// share a core, or they do not (method, B.7).
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn draw() -> Result<Self, Unavailable> {
        // Where the system does not tell, no two share one.
        let share = |a, b| cpu::siblings(a).is_ok_and(|siblings| siblings.contains(&b));
        let all = alike(Placement::choose(), cpu::alike, share);
        let random = u64::from_ne_bytes(entropy::bytes()?);
        Ok(all[(random % all.len() as u64) as usize])
    }
}

/// The placements on two processors, each `like` that of `usual`, that share a core if those do;
/// `usual` is one of them, and the only one where it has no two processors.
fn alike(
    usual: Placement,
    like: impl Fn(usize) -> Vec<usize>,
    share: impl Fn(usize, usize) -> bool,
) -> Vec<Placement> {
    let Some((ends, link)) = usual.ends.zip(usual.link) else { return vec![usual] };
    let (shared, links) = (share(ends, link), like(link));
    let pairs = like(ends).into_iter().flat_map(|ends| links.iter().map(move |&link| (ends, link)));
    let alike = pairs.filter(|&(ends, link)| ends != link && share(ends, link) == shared);
    alike.map(|(ends, link)| Placement { ends: Some(ends), link: Some(link) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(ends: usize, link: usize) -> Placement {
        Placement { ends: Some(ends), link: Some(link) }
    }

    #[test]
    fn placements_of_one_class_are_alike() {
        // Two cores of two processors each.
        let share = |a, b| a / 2 == b / 2;
        let apart = [(0, 2), (0, 3), (1, 2), (1, 3), (2, 0), (2, 1), (3, 0), (3, 1)];
        assert_eq!(alike(on(0, 3), |_| vec![0, 1, 2, 3], share), apart.map(|(a, b)| on(a, b)));
        assert_eq!(alike(on(0, 1), |_| vec![0, 1], share), [on(0, 1), on(1, 0)]);
        let of_one_kind = |number| if number < 2 { vec![0, 1] } else { vec![2, 3] };
        let of_kinds = alike(on(0, 3), of_one_kind, share);
        assert_eq!(of_kinds, [(0, 2), (0, 3), (1, 2), (1, 3)].map(|(a, b)| on(a, b)));
        let single = Placement { ends: Some(0), link: None };
        assert_eq!(alike(single, |_| vec![0], share), [single]);
    }

    #[test]
    fn what_is_drawn_is_possible_here() {
        let allowed = cpu::allowed().unwrap_or_default();
        for _ in 0..8 {
            let Placement { ends, link } = Placement::draw().expect("this system has entropy");
            assert!(ends.into_iter().chain(link).all(|number| allowed.contains(&number)));
            assert!(ends.is_none() || ends != link);
        }
    }
}
