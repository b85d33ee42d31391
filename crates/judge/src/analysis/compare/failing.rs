//! Whether failures differ from one run to another. Runs fail alike only if they ask alike, so
//! those with the same cells are compared. What differs from run to run by itself meets both
//! families alike far more often than one of them, and how much that is of failures no stored run
//! tells: of a family by itself there are figures and no verdict (docs/method.md section D.7).

use super::set_up::factors;
use super::{Compared, Of, letter, words};
use crate::analysis::{Analysis, Failures, Range, Verdict};
use crate::reach::ALPHA;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::PerArm;
use v6gap_core::plan::Plan;
use v6gap_core::workload::{Cell, Workload};
use v6gap_stats::loss;

/// How failures changed from the reference to another run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailureChange {
    /// Letter of the run.
    pub letter: char,
    /// Of what: of a difference the rounds of single cells in which more failed of the second arm,
    /// less those of the first.
    pub of: Of,
    /// Share of the blocks, or rounds, in which it failed, in the reference and in the run.
    pub shares: [f64; 2],
    /// Blocks that were begun in each, or where none failed those with values; of a difference
    /// rounds of single cells.
    pub blocks: [usize; 2],
    /// 95 % range of the change.
    pub range: Range,
    /// Worse if its range lies above 0, better if it lies below; never of a family by itself.
    pub verdict: Verdict,
    /// What is not known of it, in words: why a family by itself has no such verdict.
    pub caveat: String,
}

/// So many times as many connections of a trial are still as many: they are fitted to a path.
const COUNT_APART: f64 = 1.2;

/// The failures of one run.
struct Side<'a> {
    blocks: usize,
    /// Rounds of single cells.
    rounds: usize,
    failures: Option<&'a Failures>,
}

impl<'a> Side<'a> {
    fn of(analysis: &'a Analysis) -> Self {
        let failures = analysis.failures.as_ref();
        let mut cells: BTreeMap<&str, usize> = BTreeMap::new();
        let mut rounds: BTreeSet<(&str, u32)> = BTreeSet::new();
        for question in &analysis.questions {
            let most = cells.entry(&question.cell).or_default();
            // One that was discarded and measured again is one block.
            let valid = question.pairs.iter().filter(|pair| pair.valid);
            let blocks: u32 = valid.map(|pair| pair.blocks).sum();
            *most = (*most).max(blocks as usize);
            rounds.extend(question.pairs.iter().map(|pair| (question.cell.as_str(), pair.round)));
        }
        let blocks = failures.map_or_else(|| cells.values().sum(), |found| found.blocks);
        let rounds = failures.map_or(rounds.len(), |found| found.counted.rounds);
        Side { blocks, rounds, failures }
    }

    /// Of how many something is a share.
    fn all(&self, of: Of) -> usize {
        if of.arm().is_some() { self.blocks } else { self.rounds }
    }

    fn count(&self, of: impl Fn(&Failures) -> usize) -> usize {
        self.failures.map_or(0, of)
    }

    /// A share of the blocks or rounds with its range, counted as it is or against.
    fn share(&self, count: usize, of: Of, adds: bool) -> Share {
        let all = self.all(of);
        let range = loss::interval(count as u64, all as u64, 1.0 - ALPHA);
        let share = count as f64 / all.max(1) as f64;
        let (below, above) = (share - range.low, range.high - share);
        match adds {
            true => Share { share, below, above },
            false => Share { share: -share, below: above, above: below },
        }
    }

    /// The share that is asked for, or the difference of two.
    fn failed(&self, of: Of, adds: bool) -> Share {
        let Some(arm) = of.arm() else {
            let more = PerArm::from_fn(|arm| self.count(|found| *found.counted.more.get(arm)));
            return self.share(more.b, of, adds).less(self.share(more.a, of, !adds));
        };
        self.share(self.count(|found| *found.failed.get(arm)), of, adds)
    }
}

/// A share and how far its range reaches to either side.
struct Share {
    share: f64,
    below: f64,
    above: f64,
}

impl Share {
    /// With another share of the same rounds, which is counted against it: a round is one of either
    /// or of none, so that where one share is by chance too large the other one is too small, and
    /// their difference errs more than by two that know nothing of each other.
    fn less(self, other: Share) -> Share {
        let [p, q] = [self.share, other.share].map(libm::fabs);
        let odds = p * q / ((1.0 - p) * (1.0 - q));
        // A share of all leaves nothing for the other one.
        let correlation = if odds.is_finite() { libm::sqrt(odds) } else { 0.0 };
        let reach = |x: f64, y: f64| libm::sqrt(x * x + y * y + 2.0 * correlation * x * y);
        Share {
            share: self.share + other.share,
            below: reach(self.below, other.below),
            above: reach(self.above, other.above),
        }
    }
}

/// All changes; none where nothing failed or other cells were measured.
pub(super) fn changes(compared: &[Compared<'_>]) -> Vec<FailureChange> {
    let Some((first, others)) = compared.split_first() else { return Vec::new() };
    let mut changes = Vec::new();
    for (place, run) in others.iter().enumerate() {
        let failed =
            |run: &Compared<'_>| run.analysis.failures.as_ref().is_some_and(Failures::any_failed);
        let any = failed(first) || failed(run);
        if any && ask_alike(&first.analysis.run.plan, &run.analysis.run.plan) {
            let sides = [first, run].map(|run| Side::of(run.analysis));
            changes.extend(Of::ALL.map(|of| change(letter(place + 1), of, &sides)));
        }
    }
    changes
}

/// Whether two plans have the same cells without a factor that differs. How long trials are is no
/// factor, but one of far more connections has more of them to fail.
fn ask_alike(here: &Plan, there: &Plan) -> bool {
    let count = |cell: &Cell| {
        let Workload::Connect(connect) = &cell.workload else { return 1.0 };
        f64::from(connect.count)
    };
    let alike = |cell: &Cell| {
        there.cell(&cell.id).is_some_and(|(_, other)| {
            let [less, more] = [count(cell).min(count(other)), count(cell).max(count(other))];
            factors(cell) == factors(other) && more <= COUNT_APART * less
        })
    };
    here.cells.len() == there.cells.len() && here.cells.iter().all(alike)
}

/// The range of a change reaches as far as those of both runs do in quadrature (Newcombe 1998; Zou
/// and Donner 2008).
fn change(letter: char, of: Of, sides: &[Side<'_>; 2]) -> FailureChange {
    let [was, is] =
        [(&sides[0], false), (&sides[1], true)].map(|(side, adds)| side.failed(of, adds));
    let (before, after) = (-was.share, is.share);
    let centre = after - before;
    let range = Range {
        low: centre - libm::hypot(was.below, is.below),
        high: centre + libm::hypot(was.above, is.above),
    };
    let verdict = match (of, range) {
        (Of::Difference, Range { low, .. }) if low > 0.0 => Verdict::Worse,
        (Of::Difference, Range { high, .. }) if high < 0.0 => Verdict::Better,
        (Of::Difference | Of::First | Of::Second, Range { .. }) => Verdict::CannotTell,
    };
    let blocks = sides.each_ref().map(|side| side.all(of));
    let caveat = words::unknown_scatter_of_failures(of);
    FailureChange { letter, of, shares: [before, after], blocks, range, verdict, caveat }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Counted;
    use v6gap_core::plan::preset;

    fn failed(v4: usize, v6: usize) -> Failures {
        let of = PerArm { a: v4, b: v6 };
        Failures {
            blocks: 80,
            failed: of,
            counted: Counted {
                rounds: 40,
                more: of,
                p: 1.0,
                range: Range { low: 0.0, high: 1.0 },
                verdict: Verdict::CannotTell,
            },
            attempts: of,
            attempts_of_neither: 0,
            connections: PerArm { a: (0, 0), b: (0, 0) },
            exchanges: None,
        }
    }

    /// Trials of other lengths, and of about as many connections, ask alike; those of many times as
    /// many, or of other messages, do not.
    #[test]
    fn plans_ask_alike_where_their_factors_and_connections_are() {
        let plan = |change: &dyn Fn(&mut Workload)| {
            let mut plan = preset::first_look(PerArm::FAMILIES, None, 1);
            plan.parts_mut().cells.iter_mut().for_each(|cell| change(&mut cell.workload));
            plan
        };
        let connections = |count: u32| {
            plan(&move |workload| {
                if let Workload::Connect(connect) = workload {
                    connect.count = count;
                }
            })
        };
        let longer = plan(&|workload| {
            if let Workload::TcpBulk(bulk) = workload {
                bulk.duration_ns += 1;
            }
        });
        let other = plan(&|workload| {
            if let Workload::Echo(echo) = workload {
                echo.outstanding = 2;
            }
        });
        let usual = connections(24);
        assert!(ask_alike(&usual, &longer) && ask_alike(&usual, &connections(26)));
        assert!(!ask_alike(&usual, &connections(400)) && !ask_alike(&connections(400), &usual));
        assert!(!ask_alike(&usual, &other));
    }

    /// Against the other family; by itself it has its figures, since runs may scatter.
    #[test]
    fn a_family_that_begins_to_fail_is_worse_and_one_that_ceases_better() {
        let (none, some, few) = (failed(0, 0), failed(0, 17), failed(0, 3));
        let side = |failures| Side { blocks: 80, rounds: 40, failures };
        let judged = |before, after| {
            Of::ALL.map(|of| change('B', of, &[side(before), side(after)])).map(|c| c.verdict)
        };
        let open = Verdict::CannotTell;
        assert_eq!(judged(None, Some(&some)), [Verdict::Worse, open, open]);
        assert_eq!(judged(Some(&some), Some(&none)), [Verdict::Better, open, open]);
        assert_eq!(judged(Some(&none), Some(&few)), [open; 3]);
        // Both fail in most rounds: as two that are independent they would be told apart.
        let (evenly, less) = (failed(16, 16), failed(10, 23));
        assert_eq!(judged(Some(&evenly), Some(&less)), [open; 3]);
        let range = change('B', Of::Difference, &[side(Some(&evenly)), side(Some(&less))]).range;
        assert!(libm::fabs(range.low + 0.092) < 2e-3 && libm::fabs(range.high - 0.711) < 2e-3);
        let found = change('B', Of::Second, &[side(None), side(Some(&some))]);
        assert!(found.range.low > 0.0 && found.range.high < 0.4, "{found:?}");
        let unknown = "how much failures of a family by itself scatter from run to run";
        assert_eq!(found.caveat, alloc::format!("{unknown} is not known"));
        // A round of a cell has several blocks, and those of one family are counted by themselves.
        assert_eq!((found.blocks, found.shares), ([80; 2], [0.0, 17.0 / 80.0]));
        let found = change('B', Of::Difference, &[side(None), side(Some(&some))]);
        assert_eq!((found.blocks, found.shares), ([40; 2], [0.0, 17.0 / 40.0]));
    }
}
