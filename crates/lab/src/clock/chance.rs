//! What a link does to frames at random: loss, copies, jitter and holding back.

use v6gap_core::world::{Conditions, Jitter, NORMAL_REACH, Spread};

/// State of one family in one direction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chance {
    /// Whether the next frame meets a burst.
    in_burst: bool,
}

/// What is drawn for a frame that is not lost, before it has the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fortune {
    pub own: Lateness,
    /// Lateness of the frame's copy, if there is one.
    pub copy: Option<Lateness>,
}

/// What is added to the delay of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lateness {
    /// Jitter, in ns.
    pub extra_ns: i64,
    /// How long it is held back behind those before it, in ns.
    pub held_ns: u64,
}

impl Chance {
    /// Draws for the next frame; `None` if it is lost.
    pub fn fortune(
        &mut self,
        conditions: &Conditions,
        draw: &mut impl FnMut() -> f64,
    ) -> Option<Fortune> {
        let mut happens = |share: f64| share > 0.0 && draw() < share;
        let inside = conditions.bursts.filter(|_| self.in_burst);
        let lost = happens(inside.map_or(conditions.loss, |burst| burst.loss));
        self.in_burst = match conditions.bursts {
            Some(bursts) if self.in_burst => !happens(bursts.end),
            Some(bursts) => happens(bursts.begin),
            None => false,
        };
        if lost {
            return None;
        }
        let copied = happens(conditions.duplication);
        let own = lateness(conditions, draw);
        Some(Fortune { own, copy: copied.then(|| lateness(conditions, draw)) })
    }
}

fn lateness(conditions: &Conditions, draw: &mut impl FnMut() -> f64) -> Lateness {
    let extra_ns = conditions.jitter.map_or(0, |jitter| extra_ns(jitter, draw));
    let held = conditions.reordering.filter(|held| held.share > 0.0 && draw() < held.share);
    Lateness { extra_ns, held_ns: held.map_or(0, |held| held.by_ns) }
}

fn extra_ns(jitter: Jitter, draw: &mut impl FnMut() -> f64) -> i64 {
    let part = match jitter.spread {
        Spread::Uniform => 2.0 * draw() - 1.0,
        Spread::Normal => loop {
            let part = normal(draw);
            if part.abs() <= NORMAL_REACH as f64 {
                break part;
            }
        },
    };
    (part * jitter.spread_ns as f64).round() as i64
}

/// A standard normal number (Box and Muller 1958).
fn normal(draw: &mut impl FnMut() -> f64) -> f64 {
    let (radius, angle) = ((-2.0 * (1.0 - draw()).ln()).sqrt(), std::f64::consts::TAU * draw());
    radius * angle.cos()
}
