//! How far apart two clocks are, from questions and answers (as in RFC 5905 section 8, with the
//! answer's two times taken as one).
//!
//! A question asked at `asked` by the client's clock, answered at `server` by the server's clock
//! and received at `answered` proves that the server's clock is ahead by something in `server −
//! answered ..= server − asked`. No assumption about the path is needed for that.

/// How many questions a session begins with.
pub const QUESTIONS: usize = 8;

/// One question and its answer; times in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The client's clock at the question.
    pub asked_ns: u64,
    /// The server's clock in between.
    pub server_ns: u64,
    /// The client's clock when the answer came.
    pub answered_ns: u64,
}

/// The server's clock minus the client's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    /// Best guess, in ns.
    pub ns: i64,
    /// How far from it the truth may be, in ns: half the shortest round trip, or more if the
    /// samples contradict each other because a clock stepped or drifted.
    pub uncertainty_ns: u64,
}

/// The offset that the samples prove; `None` without a sample whose answer came after its question.
pub fn estimate(samples: &[Sample]) -> Option<Offset> {
    let intervals = || samples.iter().filter(|s| s.answered_ns >= s.asked_ns).map(interval);
    let (low, high) = intervals().min_by_key(|(low, high)| high - low)?;
    let centre = low + (high - low) / 2;
    let beyond = intervals().map(|(low, high)| (low - centre).max(centre - high)).max()?;
    let uncertainty = (high - centre).max(beyond);
    Some(Offset {
        ns: saturate(centre),
        uncertainty_ns: u64::try_from(uncertainty).unwrap_or(u64::MAX),
    })
}

fn interval(sample: &Sample) -> (i128, i128) {
    let server = i128::from(sample.server_ns);
    (server - i128::from(sample.answered_ns), server - i128::from(sample.asked_ns))
}

fn saturate(ns: i128) -> i64 {
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn nothing_is_known_from_no_sample_or_a_step_backwards() {
        assert_eq!(estimate(&[]), None);
        assert_eq!(estimate(&[Sample { asked_ns: 9, server_ns: 0, answered_ns: 8 }]), None);
    }

    #[test]
    fn a_step_between_samples_widens_the_doubt() {
        let before = Sample { asked_ns: 0, server_ns: 5, answered_ns: 10 };
        let after = Sample { asked_ns: 100, server_ns: 1_000_105, answered_ns: 110 };
        let offset = estimate(&[before, after]);
        assert!(offset.is_some_and(|o| o.uncertainty_ns >= 999_990), "{offset:?}");
    }

    proptest! {
        #[test]
        fn the_truth_lies_within_the_uncertainty(
            offset in -1_000_000_000_i64..1_000_000_000,
            delays in prop::collection::vec((0_u64..50_000_000, 0_u64..50_000_000), 1..20),
        ) {
            let mut now = 2_000_000_000_u64;
            let mut samples = Vec::new();
            for (out, back) in delays {
                let server_ns = (now + out).saturating_add_signed(offset);
                samples.push(Sample { asked_ns: now, server_ns, answered_ns: now + out + back });
                now += out + back;
            }
            let found = estimate(&samples).unwrap();
            prop_assert!(found.ns.abs_diff(offset) <= found.uncertainty_ns);
        }
    }
}
