//! How searches for the rate of a path went: medians over the valid trials of each cell and family.

use crate::transfers::{by_family, median};
use v6gap_core::observation::{Measured, Searched};
use v6gap_core::record::{Line, TrialRecord};
use v6gap_core::unit::{format_rate, format_share};

/// A search and the share of its packets that the path lost.
struct Search<'a> {
    searched: &'a Searched,
    lost: Option<f64>,
}

/// One sentence for each cell and family that was searched.
pub(crate) fn searches(lines: &[Line]) -> Vec<String> {
    by_family(lines, of_trial, sentence)
}

fn of_trial(trial: &TrialRecord) -> Option<Search<'_>> {
    let (client, server) = (&trial.ends.client.measured, &trial.ends.server.seen()?.measured);
    let (searched, receiver) = match (client, server) {
        (Measured::Searched(searched), receiver) | (receiver, Measured::Searched(searched)) => {
            (searched.as_ref(), receiver)
        }
        _ => return None,
    };
    let sent = searched.sent.packets;
    let lost = receiver.received().map(|received| received.lost_of(&searched.sent));
    let lost = lost.filter(|_| sent > 0).map(|lost| lost as f64 / sent as f64);
    Some(Search { searched, lost })
}

fn sentence(all: &[Search<'_>]) -> String {
    let of = |value: fn(&Searched) -> Option<f64>| {
        median(all.iter().filter_map(|search| value(search.searched)).collect())
    };
    let mut parts = Vec::new();
    let reports = of(|s| (s.reports > 0).then_some(s.reports as f64));
    if let Some(reports) = reports {
        let missing = of(|s| Some(s.silences as f64)).filter(|&missing| missing > 0.0);
        let missing = missing.map_or(String::new(), |count| format!(", {count:.0} overdue"));
        parts.push(format!("{reports:.0} reports{missing}"));
    }
    if let Some(most) = of(|s| s.rates.iter().map(|(_, bps)| *bps as f64).max_by(f64::total_cmp)) {
        parts.push(format!("asked for {} at most", format_rate(most)));
    }
    if let Some(trials) = of(|s| (!s.trials.is_empty()).then_some(s.trials.len() as f64)) {
        let noun = if trials == 1.0 { "trial" } else { "trials" };
        parts.push(format!("{trials:.0} {noun}"));
    }
    if let Some(rate) = of(|s| refused(s).map(|bps| bps as f64)) {
        parts.push(format!("{} was too much", format_rate(rate)));
    }
    if let Some(lost) = median(all.iter().filter_map(|search| search.lost).collect()) {
        parts.push(format!("{} of all its packets lost", format_share(lost)));
    }
    parts.join("; ")
}

/// The lowest rate that was not carried.
fn refused(searched: &Searched) -> Option<u64> {
    searched.trials.iter().filter(|trial| !trial.carried).map(|trial| trial.rate_bps).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::observation::{RateTrial, Sent};

    #[test]
    fn what_a_search_asked_for_is_said() {
        let sent = Sent { packets: 1000, ..Sent::default() };
        let load = Searched {
            sent: sent.clone(),
            rates: vec![(0, 500_000), (1, 131_000_000), (2, 98_000_000)],
            reports: 52,
            silences: 1,
            ..Searched::default()
        };
        let text = sentence(&[Search { searched: &load, lost: Some(0.031) }]);
        let expected = "52 reports, 1 overdue; asked for 131 Mbit/s at most; 3.1 % of all its \
                        packets lost";
        assert_eq!(text, expected);
        let trial = |rate_bps, carried| RateTrial { rate_bps, carried, ..RateTrial::default() };
        let trials =
            vec![trial(200_000_000, false), trial(97_000_000, true), trial(97_200_000, false)];
        let halving = Searched { sent, trials, ..Searched::default() };
        let text = sentence(&[Search { searched: &halving, lost: None }]);
        assert_eq!(text, "3 trials; 97.2 Mbit/s was too much");
    }
}
