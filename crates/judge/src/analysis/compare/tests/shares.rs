//! Changes of shares, of which few events say little.

use super::super::{Change, Comparison, Of};
use super::{compare, compared, families, measured};
use crate::analysis::tests::EVEN;
use crate::analysis::{Analysis, Question, Verdict};
use alloc::vec::Vec;
use v6gap_core::arm::PerArm;
use v6gap_core::metric::Metric;
use v6gap_core::record::Line;
use v6gap_core::workload::{Asked, Workload};

/// Two runs whose shares of a metric are made what `lost` says.
fn losing(metric: Metric, lost: impl Fn(&mut Question)) -> [(Vec<Line>, Analysis); 2] {
    let plan = |seed| {
        let mut plan = families(seed);
        for cell in &mut plan.parts_mut().cells {
            if let Workload::UdpBulk(bulk) = &mut cell.workload {
                bulk.asked = Asked { reordering: true, duplication: true, ..bulk.asked };
            }
        }
        plan
    };
    let mut runs = [measured("a", &plan(1), &EVEN), measured("b", &plan(2), &EVEN)];
    for (_, analysis) in &mut runs {
        analysis.questions.iter_mut().filter(|q| q.metric == metric).for_each(&lost);
    }
    runs
}

fn of_difference(found: &Comparison, metric: Metric) -> &Change {
    let row = found.rows.iter().find(|row| row.metric == metric).unwrap();
    row.against[0].changes.iter().find(|change| change.of == Of::Difference).unwrap()
}

/// Twenty pairs without any loss are not the certainty that nothing changed.
#[test]
fn shares_of_nothing_keep_the_doubt_of_their_count() {
    let runs = [measured("a", &families(1), &EVEN), measured("b", &families(2), &EVEN)];
    let found = compare(&compared(&runs)).unwrap();
    let row = found.rows.iter().find(|row| row.metric == Metric::Loss).unwrap();
    for change in &row.against[0].changes {
        let range = change.effect.as_ref().unwrap().range95;
        // 20 pairs of 2,000,000 datagrams: none leaves 46 in a million for each.
        let parts = if change.of == Of::Difference { 2.0 } else { 1.0 };
        assert!((range.high - parts * 46.1e-6).abs() < 1e-6, "{change:?}");
        assert!((range.low + parts * 46.1e-6).abs() < 1e-6, "{change:?}");
        assert!(change.p_same > 0.0 && change.p_same < 0.01, "{change:?}");
    }
}

/// Of a drift too small to matter a change has as wide a range as each run has.
#[test]
fn shares_that_drift_within_the_margin_change_by_as_much_as_they_may() {
    let step = 1e-6;
    let runs = losing(Metric::Loss, |q| {
        for (place, pair) in q.pairs.iter_mut().enumerate() {
            pair.values.b = pair.values.a + step * place as f64;
        }
        q.unseen = None;
    });
    let found = compare(&compared(&runs)).unwrap();
    let change = of_difference(&found, Metric::Loss);
    let range = change.effect.as_ref().unwrap().range95;
    assert_eq!(change.why_none, None);
    // The pairs of a run lie within 19 steps, its range goes over three times as much.
    let half_width = (range.high - range.low) / 2.0;
    assert!(half_width > 1.5 * 19.0 * step, "{half_width}");
}

/// Trials may be more alike than so few events tell. The range of a run is not narrower for that,
/// and neither is that of a change: 23 lost of 20,000 packets and 37 of them are no difference.
#[test]
fn shares_of_few_events_change_by_no_less_than_their_counts_leave_open() {
    let mut runs = losing(Metric::Loss, |_| {});
    for ((_, analysis), [once, twice]) in runs.iter_mut().zip([[17, 3], [3, 17]]) {
        let q = analysis.questions.iter_mut().find(|q| q.metric == Metric::Loss).unwrap();
        for (place, pair) in q.pairs.iter_mut().enumerate() {
            pair.values.b = pair.values.a + if place % 20 < once { 0.001 } else { 0.002 };
        }
        let events = PerArm { a: (0, 20_000), b: ((once + 2 * twice) as u64, 20_000) };
        q.effect.as_mut().unwrap().estimate = events.b.0 as f64 / 20_000.0;
        (q.events, q.unseen) = (Some(events), None);
    }
    let found = compare(&compared(&runs)).unwrap();
    let row = found.rows.iter().find(|row| row.metric == Metric::Loss).unwrap();
    for change in row.against[0].changes.iter().filter(|change| change.of != Of::First) {
        let range = change.effect.as_ref().unwrap().range95;
        assert!(range.low < 0.0 && range.high > 0.0007, "{change:?}");
    }
}

/// Of many events counts leave little open, and what bursts may have hidden of them is no scatter:
/// one in a thousand and one in a hundred are different.
#[test]
fn shares_of_many_events_change_where_their_ranges_are_apart() {
    let mut runs = losing(Metric::Loss, |_| {});
    for ((_, analysis), lost) in runs.iter_mut().zip([24, 240]) {
        let q = analysis.questions.iter_mut().find(|q| q.metric == Metric::Loss).unwrap();
        for (place, pair) in q.pairs.iter_mut().enumerate() {
            let more = if place % 2 == 0 { 1.1 } else { 0.9 };
            pair.values.b = pair.values.a + more * f64::from(lost) / 24_000.0;
        }
        let events = PerArm { a: (0, 480_000), b: (u64::from(lost as u32) * 20, 480_000) };
        let effect = q.effect.as_mut().unwrap();
        effect.estimate = f64::from(lost) / 24_000.0;
        // As of a fixed number of pairs, which reach as far as bursts may have hidden.
        let missed = v6gap_stats::loss::unseen_in_bursts(events.b.0, events.b.1, 20, 0.95);
        effect.range95.high = effect.estimate + missed;
        (q.events, q.unseen) = (Some(events), None);
    }
    let found = compare(&compared(&runs)).unwrap();
    let change = of_difference(&found, Metric::Loss);
    let range = change.effect.as_ref().unwrap().range95;
    assert!(range.low > 0.005 && change.verdict == Verdict::Worse, "{change:?}");
}

/// One packet that was lost, or overtaken, makes no comparison surer than none; nor are more of
/// them possible than its count allows.
#[test]
fn shares_of_little_keep_the_doubt_of_bursts() {
    for metric in [Metric::Loss, Metric::Reordering, Metric::Duplication] {
        let runs = losing(metric, |q| {
            q.pairs[0].values.b += 1.0 / 5000.0;
            let events = PerArm { a: (0, 20 * 5000), b: (1, 20 * 5000) };
            assert!(q.events.replace(events).is_some());
        });
        let found = compare(&compared(&runs)).unwrap();
        let change = of_difference(&found, metric);
        let range = change.effect.as_ref().unwrap().range95;
        assert_eq!(change.verdict, Verdict::CannotTell, "{change:?}");
        assert!(range.low < -0.01 && range.high > 0.01, "{change:?}");
        assert!(range.low > -0.1 && range.high < 0.1, "{change:?}");
    }
}
