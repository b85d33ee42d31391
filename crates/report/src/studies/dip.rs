//! The dip between 4 and 16 KB in the difference of round trips, which Raicu called odd: whether
//! the packets alone predict it, and whether it is there.

use crate::figure::by_size;
use crate::words;
use v6gap_core::metric::Metric;
use v6gap_judge::analysis::{Analysis, Question};

/// Sizes in bytes between which the study saw the dip.
const FROM: u32 = 4_096;
const TO: u32 = 16_384;
/// Smallest size that it is compared with.
const BEFORE: u32 = 1_024;

/// A sentence on the first series of round trips that has sizes before, in and behind the dip: in
/// the study's plans that with the buffers of its graphs.
pub(super) fn sentence(analysis: &Analysis) -> Option<String> {
    by_size(analysis, Metric::Rtt).iter().find_map(|questions| of_series(questions))
}

fn of_series(questions: &[&Question]) -> Option<String> {
    let sized = |q: &&Question| Some((q.level_bytes?, Place::of(q)?));
    let sizes: Vec<(u32, Place)> = questions.iter().filter_map(sized).collect();
    let within = |low: u32, high: u32| {
        sizes.iter().filter(move |(size, _)| (low..high).contains(size)).map(|(_, place)| *place)
    };
    let lowest = |a: Place, b: Place| if b.predicted < a.predicted { b } else { a };
    // The nearest before and behind, and the deepest between.
    let [before, inside, behind] = [
        within(BEFORE, FROM).next_back()?,
        within(FROM, TO).reduce(lowest)?,
        within(TO, u32::MAX).next()?,
    ];
    let transport = questions.first()?.transport.name();
    let dips = |of: fn(&Place) -> f64| of(&inside) < of(&before).min(of(&behind));
    let three = |of: fn(&Place) -> f64| [before, inside, behind].map(|p| words::sign(of(&p)));
    let [p1, p2, p3] = three(|p| p.predicted);
    let [m1, m2, m3] = three(|p| p.measured);
    let expected = match dips(|p| p.predicted) {
        true => "The packets alone predict one",
        false => "The packets alone predict none",
    };
    let clear = inside.high < before.low.min(behind.low);
    let found = match (dips(|p| p.measured), clear) {
        (true, true) => "it is there",
        (true, false) => "it may be there, the ranges overlap",
        (false, _) => "it is not there",
    };
    Some(format!(
        "The study saw a dip of the difference between 4 and 16 KB and called it odd. {expected}, \
         over {transport}: {p1} %, {p2} %, {p3} % before, in and behind it. Measured: {m1} %, \
         {m2} %, {m3} %: {found}."
    ))
}

/// The difference at one size.
#[derive(Clone, Copy)]
struct Place {
    predicted: f64,
    measured: f64,
    /// Ends of its 95 % range.
    low: f64,
    high: f64,
}

impl Place {
    fn of(q: &Question) -> Option<Self> {
        let effect = q.effect.as_ref()?;
        Some(Place {
            predicted: q.prediction.as_ref()?.effect,
            measured: effect.estimate,
            low: effect.range95.low,
            high: effect.range95.high,
        })
    }
}
