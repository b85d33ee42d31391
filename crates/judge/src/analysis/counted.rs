//! What happens now and then to one arm more often than to the other, by rounds of single cells:
//! the blocks of a round follow each other, and one incident may be in all of them (docs/method.md
//! section D.2).

use super::{Range, Verdict, effect};
use crate::reach::ALPHA;
use alloc::collections::BTreeMap;
use core::cmp::Ordering;
use serde::Serialize;
use v6gap_core::arm::PerArm;
use v6gap_stats::loss;
use v6gap_stats::sign_test::sign_p;

/// What may happen more to one arm than to the other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Counted {
    /// Rounds of single cells in which it could happen.
    pub rounds: usize,
    /// Those in which it happened more to this arm than to the other.
    pub more: PerArm<usize>,
    /// p-value of the exact sign test of `more`.
    pub p: f64,
    /// The share of the second arm in `more`, where both alike is a half: the exact 95 % range
    /// (Clopper and Pearson 1934), which excludes a half just where `p` is below 5 %.
    pub range: Range,
    /// Whether it happens to the second arm more often (worse) or less often (better).
    pub verdict: Verdict,
}

/// How often it happened to each arm; what is in the first place counts before the second.
pub(crate) type Times = PerArm<(u64, u64)>;

impl Counted {
    /// What blocks say, each with its cell, its round and how often it happened.
    pub(crate) fn of<'a>(blocks: impl Iterator<Item = (&'a str, u32, Times)>) -> Self {
        let mut rounds: BTreeMap<(&str, u32), Times> = BTreeMap::new();
        for (cell, round, times) in blocks {
            let of = rounds.entry((cell, round)).or_default();
            *of = sum(*of, times);
        }
        let count =
            |than: Ordering| rounds.values().filter(|times| times.a.cmp(&times.b) == than).count();
        let more = PerArm { a: count(Ordering::Greater), b: count(Ordering::Less) };
        let PerArm { a, b } = more.map(|rounds| rounds as u64);
        let (p, share) = (sign_p(a, b), loss::interval(b, a + b, 1.0 - ALPHA));
        let verdict = match b.cmp(&a) {
            Ordering::Greater if p <= ALPHA => Verdict::Worse,
            Ordering::Less if p <= ALPHA => Verdict::Better,
            _ => Verdict::CannotTell,
        };
        let range = Range { low: share.low, high: share.high };
        Counted { rounds: rounds.len(), more, p, range, verdict }
    }
}

/// Of two together.
pub(super) fn sum(x: Times, y: Times) -> Times {
    PerArm::from_fn(|arm| effect::add(*x.get(arm), *y.get(arm)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty blocks of a round follow each other in half a second: one refusal is in all of them.
    #[test]
    fn what_happens_in_one_round_of_a_cell_speaks_once() {
        let block = |round, v6| ("connect-tcp", round, PerArm { a: (0, 0), b: (0, v6) });
        let counted = |of: &dyn Fn(u32) -> (u32, u64)| {
            let found = Counted::of((0..20).map(of).map(|(round, v6)| block(round, v6)));
            (found.rounds, found.more, found.verdict)
        };
        let none = PerArm { a: 0, b: 0 };
        let (once, ten) = (PerArm { a: 0, b: 1 }, PerArm { a: 0, b: 10 });
        assert_eq!(counted(&|_| (1, 3)), (1, once, Verdict::CannotTell));
        assert_eq!(counted(&|n| (n / 2, u64::from(n % 4))), (10, ten, Verdict::Worse));
        assert_eq!(counted(&|n| (n / 2, 0)), (10, none, Verdict::CannotTell));
    }
}
