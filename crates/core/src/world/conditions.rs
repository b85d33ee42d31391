//! What a link does to frames.

use serde::{Deserialize, Serialize};

/// What one direction of a link does to the frames of one family.
///
/// A frame meets them in this order: black hole, queue, loss, line (with its copy behind it), delay
/// with jitter, holding back. What is dropped takes no line time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// Line rate in bit/s, counted with preamble, frame check sequence and inter-packet gap;
    /// `None` is without limit.
    pub rate_bps: Option<u64>,
    /// Delay added after serialisation, in ns; the mean where there is jitter.
    pub delay_ns: u64,
    /// Share of frames lost at random, each by itself, 0 to 1; with [`bursts`](Self::bursts) that
    /// of the time between them.
    pub loss: f64,
    /// Largest IP packet that passes, in bytes; a larger one vanishes without a word (a black
    /// hole); `None` lets all pass.
    pub black_hole_above: Option<u32>,
    /// How the delay varies from frame to frame; `None` is not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// Times of heavy loss that come and go; `None` has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Bursts>,
    /// Share of frames that arrive twice, 0 to 1. The copy follows on the line at once and takes
    /// its time there.
    #[serde(default, skip_serializing_if = "is_none")]
    pub duplication: f64,
    /// Frames that are held back so that later ones overtake them; `None` holds none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reordering: Option<Reordering>,
    /// Frames that may wait for the line when one of this family comes; `None` takes the link's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_frames: Option<u32>,
}

fn is_none(share: &f64) -> bool {
    *share == 0.0
}

/// How delays spread about their mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spread {
    /// Anything up to the spread to either side, all equally likely.
    Uniform,
    /// A normal distribution whose standard deviation is the spread, cut off at
    /// [`NORMAL_REACH`] of them.
    Normal,
}

/// A normal spread is cut off at this many standard deviations, which leaves 0.99945 of its own.
pub const NORMAL_REACH: u64 = 4;

/// Delay that varies from frame to frame, independently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jitter {
    /// Half-width or standard deviation, in ns.
    pub spread_ns: u64,
    /// Distribution.
    pub spread: Spread,
    /// Whether a frame may overtake one before it; otherwise it waits for that one, which makes
    /// delays longer than their mean where frames follow each other closely.
    pub reorders: bool,
}

impl Jitter {
    /// The most that a delay differs from its mean, in ns.
    pub const fn reach_ns(self) -> u64 {
        match self.spread {
            Spread::Uniform => self.spread_ns,
            Spread::Normal => self.spread_ns.saturating_mul(NORMAL_REACH),
        }
    }
}

/// Loss in bursts: the model of Gilbert (1960) and Elliott (1963).
///
/// The link has two states and may change it with each frame. Outside bursts
/// [`Conditions::loss`] holds, inside them [`loss`](Self::loss).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bursts {
    /// Probability that a frame outside a burst is the last before one, 0 to 1 (p).
    pub begin: f64,
    /// Probability that a frame inside a burst is its last, above 0 to 1 (r). Bursts are 1/r
    /// frames long in the mean.
    pub end: f64,
    /// Share of frames lost inside bursts, 0 to 1 (1 - h).
    pub loss: f64,
}

impl Bursts {
    /// Share of frames that meet a burst: p / (p + r).
    pub fn share(self) -> f64 {
        self.begin / (self.begin + self.end)
    }
}

/// Frames held back after the line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reordering {
    /// Share of frames held back, 0 to 1.
    pub share: f64,
    /// For how long, in ns; frames that come later by less overtake them.
    pub by_ns: u64,
}

impl Conditions {
    /// A link that only has a rate.
    pub const fn rate(rate_bps: Option<u64>) -> Self {
        Conditions {
            rate_bps,
            delay_ns: 0,
            loss: 0.0,
            black_hole_above: None,
            jitter: None,
            bursts: None,
            duplication: 0.0,
            reordering: None,
            queue_frames: None,
        }
    }

    /// Share of frames that are lost in the long run, 0 to 1: the two states of a link with bursts
    /// weighed by the frames that meet each.
    pub fn mean_loss(&self) -> f64 {
        match self.bursts {
            Some(bursts) => {
                let inside = bursts.share();
                inside * bursts.loss + (1.0 - inside) * self.loss
            }
            None => self.loss,
        }
    }

    /// Whether frames arrive in the order in which they were sent.
    pub fn keeps_order(&self) -> bool {
        let overtaken = self.reordering.is_some_and(|held| held.share > 0.0 && held.by_ns > 0);
        !overtaken && !self.jitter.is_some_and(|jitter| jitter.reorders && jitter.spread_ns > 0)
    }

    /// Whether the time that a frame takes follows from its length and those before it alone.
    pub fn has_fixed_delay(&self) -> bool {
        self.jitter.is_none_or(|jitter| jitter.spread_ns == 0)
            && self.reordering.is_none_or(|held| held.share == 0.0 || held.by_ns == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_loss_weighs_bursts_by_the_frames_that_meet_them() {
        let mut met = Conditions { loss: 0.01, ..Conditions::rate(None) };
        assert_eq!(met.mean_loss(), 0.01);
        // One frame in five is inside: 0.2 * 0.5 + 0.8 * 0.01.
        met.bursts = Some(Bursts { begin: 0.05, end: 0.2, loss: 0.5 });
        assert!((met.mean_loss() - 0.108).abs() < 1e-12);
    }

    #[test]
    fn what_reorders_or_varies_is_known() {
        let plain = Conditions::rate(None);
        assert!(plain.keeps_order() && plain.has_fixed_delay());
        let jitter = Jitter { spread_ns: 9, spread: Spread::Normal, reorders: false };
        assert_eq!(jitter.reach_ns(), 36);
        let late = Conditions { jitter: Some(jitter), ..plain };
        assert!(late.keeps_order() && !late.has_fixed_delay());
        let held = Conditions { reordering: Some(Reordering { share: 0.1, by_ns: 5 }), ..plain };
        assert!(!held.keeps_order() && !held.has_fixed_delay());
    }
}
