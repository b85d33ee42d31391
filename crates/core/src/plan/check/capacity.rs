//! The cells of a `[[measure]]` table of searches for the rate that a path carries.

use super::Problems;
use super::cells::sizes;
use super::udp_bulk::direction;
use crate::metric::Metric;
use crate::plan::draft::Measure;
use crate::unit;
use crate::workload::{Capacity, Kind, Search, Workload};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

/// Length of a trial of a search by halving, in ns.
const TRIAL_NS: u64 = 500_000_000;

/// Highest rate of a search by halving, in bit/s: each trial above what the path carries floods it.
const HALVING_BPS_MAX: u64 = 1_000_000_000;

/// Refuses keys that only searches by halving have.
pub(super) fn refuse(key: &str, measure: &Measure, problems: &mut Problems) {
    let present =
        [("target_loss", measure.target_loss.is_some()), ("force", measure.force.is_some())];
    for (name, _) in present.into_iter().filter(|(_, present)| *present) {
        let what = format!("this belongs to metric = \"{}\"", Metric::RateAtLoss);
        problems.add(format!("{key}.{name}"), what);
    }
}

/// The searches of the table, one for each payload size.
pub(super) fn searches(
    key: &str,
    metric: Metric,
    measure: &Measure,
    problems: &mut Problems,
) -> Vec<Workload> {
    let usual = Capacity::default();
    let range = Capacity::PAYLOAD_BYTES_MIN..=Capacity::PAYLOAD_BYTES_MAX;
    let levels = measure.payload.as_ref();
    let payloads =
        sizes(&format!("{key}.payload"), levels, &[usual.payload_bytes], range, problems);
    let time_key = format!("{key}.time");
    let time = problems.read_optional(&time_key, measure.time.as_ref(), unit::parse_span);
    let (search, rate_max) = if let Search::Load { duration_ns } = usual.search
        && metric == Metric::Capacity
    {
        (Search::Load { duration_ns: time.unwrap_or(duration_ns) }, usual.rate_bps_max)
    } else {
        let trial_ns = time.unwrap_or(TRIAL_NS);
        let lost_ppm_max = lost_ppm(key, measure, problems);
        let forced = measure.force.unwrap_or(false);
        (Search::Halving { trial_ns, lost_ppm_max, forced }, HALVING_BPS_MAX)
    };
    if measure.warmup.is_some() {
        problems.add(format!("{key}.warmup"), "a search leaves out what it needs to by itself");
    }
    let rate_key = format!("{key}.bitrate");
    let rate = problems.read_optional(&rate_key, measure.bitrate.as_ref(), unit::parse_rate);
    let search = Capacity {
        rate_bps_max: rate.unwrap_or(rate_max),
        direction: direction(key, measure, problems),
        search,
        ..usual
    };
    if let Err(problem) = search.check_numbers(0) {
        problems.add(key, problem.to_string());
    }
    let of = |payload_bytes| Workload::Capacity(Capacity { payload_bytes, ..search.clone() });
    payloads.into_iter().map(of).collect()
}

fn lost_ppm(key: &str, measure: &Measure, problems: &mut Problems) -> u32 {
    let key = format!("{key}.target_loss");
    let share = problems.read_optional(&key, measure.target_loss.as_ref(), unit::parse_share);
    let ppm = libm::round(share.unwrap_or(0.0) * 1e6);
    if share.is_some_and(|share| share > 0.0) && ppm < 1.0 {
        problems.add(&key, "a share below one in a million is none");
    }
    // Saturates: what is above 1 is refused with the other numbers.
    ppm as u32
}
