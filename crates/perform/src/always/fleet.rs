//! The runs between two hosts of a fleet as the visits of a path that is watched, so that their
//! history is made by the same rules; and a folder of runs that others add to.

use super::history::{History, Reading, Wanted};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use v6gap_core::family::PerFamily;
use v6gap_core::watch::Kind;
use v6gap_core::watch::log::{Ended, Errors, Logged, Noted, Outcome, Seen};
use v6gap_judge::analysis::Verdict;
use v6gap_judge::analysis::summary::Answer;
use v6gap_judge::matrix::Said;
use v6gap_store::{StoreError, mark_below};
use v6gap_sys::clock;

/// How often is looked whether there is another run.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// After so long it is looked at again whatever there is: what is stale is told by the time, in ns.
const AGED_NS: u64 = 60_000_000_000;

/// Of the time of a processor a look takes one part in so many at most: a folder may hold a hundred
/// thousand runs, and something may be measured on this host.
const SHARE: u64 = 20;

/// The history of a path by what its runs say, in any order. A run that failed a check, and an
/// answer without a verdict, have no figures in it.
pub fn history(wanted: &Wanted, runs: &[&Said]) -> History {
    let mut in_order = runs.to_vec();
    in_order.sort_by(|a, b| (a.began_unix_ns, &a.run).cmp(&(b.began_unix_ns, &b.run)));
    let mut reading = Reading::of(wanted);
    for run in in_order {
        reading.take(&Logged::Ended(Box::new(visit(wanted, run))));
    }
    reading.history()
}

/// A run as a visit that ended as it began: how long it took is not known here.
fn visit(wanted: &Wanted, run: &Said) -> Ended {
    let answers = run.summary.questions.iter().filter(|_| run.summary.valid);
    Ended {
        at_unix_ns: run.began_unix_ns,
        began_unix_ns: run.began_unix_ns,
        path: wanted.path.clone(),
        kind: Kind::Light,
        outcome: Outcome::Measured,
        run: Some(run.run.clone()),
        bytes: 0,
        seen: answers.filter_map(seen).collect(),
        answers: Vec::new(),
        noted: Noted::default(),
        facts: Vec::new(),
    }
}

/// What a run found of a question: the estimates that its answer is made of.
fn seen(answer: &Answer) -> Option<Seen> {
    if answer.verdict == Verdict::None {
        return None;
    }
    let [effect, v4, v6] = answer.found();
    let (effect, v4, v6) = (effect?, v4?, v6?);
    let errors = Errors {
        effect: effect.standard_error,
        families: PerFamily { v4: v4.standard_error, v6: v6.standard_error },
    };
    let known = [errors.effect, errors.families.v4, errors.families.v6];
    let values = PerFamily { v4: v4.estimate, v6: v6.estimate };
    Some(Seen {
        cell: answer.cell.clone(),
        metric: answer.metric,
        blocks: 1,
        values: values.map(|value| answer.metric.scale().value(value)),
        errors: known.iter().all(|error| error.is_finite()).then_some(errors),
    })
}

/// Calls `look` now and again whenever another run may be found below `root` that is not older than
/// `back_ns`, and each minute, until `stop` is set.
///
/// # Errors
/// If `root` cannot be read, or what `look` fails with.
pub fn follow<E: From<StoreError>>(
    root: &Path,
    back_ns: u64,
    stop: &AtomicBool,
    look: &mut dyn FnMut() -> Result<(), E>,
) -> Result<(), E> {
    follow_every((LOOK_EVERY, AGED_NS), root, back_ns, stop, look)
}

fn follow_every<E: From<StoreError>>(
    (every, aged_ns): (Duration, u64),
    root: &Path,
    back_ns: u64,
    stop: &AtomicBool,
    look: &mut dyn FnMut() -> Result<(), E>,
) -> Result<(), E> {
    let mut last: Option<(u64, u64)> = None;
    loop {
        let begun_ns = clock::now_ns();
        let mark = mark_below(root, clock::wall_ns().saturating_sub(back_ns))?;
        let is_old =
            |(seen, at_ns): (u64, u64)| seen != mark || begun_ns.saturating_sub(at_ns) >= aged_ns;
        if last.is_none_or(is_old) {
            look()?;
            last = Some((mark, begun_ns));
        }
        let took_ns = clock::now_ns().saturating_sub(begun_ns);
        let rest_ns = took_ns.saturating_mul(SHARE);
        let ends_ns = clock::now_ns().saturating_add(rest_ns);
        // At least once, and in pieces: whoever stops it does not wait.
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            clock::rest(every);
            if clock::now_ns() >= ends_ns {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use v6gap_core::metric::Metric;
    use v6gap_judge::analysis::summary::{SCHEMA, Summary};

    const HOUR_NS: u64 = 3_600_000_000_000;

    /// A run in that hour whose round trips over IPv6 take so many times as long.
    fn run(hour: u64, times: f64, valid: bool) -> Said {
        let wave = |hours: u64| if (hour / hours).is_multiple_of(2) { 1e-4 } else { -1e-4 };
        let found = |estimate: f64| Some([Some(estimate), Some(2e-4)]);
        let (effect, v4) = (times.ln() + wave(1), 0.010_f64.ln() + wave(2));
        let log = [effect, v4, v4 + effect];
        let answer = Answer {
            cell: "rtt-tcp-64".to_owned(),
            metric: Metric::Rtt,
            verdict: if times > 1.01 { Verdict::Worse } else { Verdict::Same },
            within: None,
            effect: None,
            values: [None; 2],
            found: log.map(found),
        };
        Said {
            from: "rome/a".parse().unwrap(),
            to: "oslo/a".parse().unwrap(),
            run: format!("run{hour:03}").parse().unwrap(),
            began_unix_ns: hour * HOUR_NS,
            summary: Summary {
                schema: SCHEMA.to_owned(),
                by: "0".to_owned(),
                valid,
                headline: String::new(),
                granted: Vec::new(),
                questions: vec![answer],
                hops: PerFamily::default(),
            },
        }
    }

    #[test]
    fn runs_have_a_history_with_the_run_that_it_changed_with() {
        let mut runs: Vec<Said> =
            (100..160).map(|hour| run(hour, if hour < 140 { 1.001 } else { 1.5 }, true)).collect();
        // It failed a check: what it measured is not believed.
        runs.push(run(160, 9.0, false));
        runs.reverse();
        let wanted = Wanted {
            path: "rome/a to oslo/a".to_owned(),
            measure: Some("rtt".to_owned()),
            since_unix_ns: 0,
            to_unix_ns: u64::MAX,
        };
        let found = history(&wanted, &runs.iter().collect::<Vec<_>>());
        assert_eq!(found.visits.len(), 60);
        let [spells] = &found.spells[..] else { panic!("{found:?}") };
        let [before, after] = &spells.all[..] else { panic!("{spells:?}") };
        assert_eq!((before.visits, after.visits), (40, 20));
        assert_eq!(after.from.unix_ns, 140 * HOUR_NS);
        assert!((after.means.effect.mean - 1.5_f64.ln()).abs() < 1e-3, "{after:?}");
        let other = Wanted { measure: Some("throughput".to_owned()), ..wanted };
        assert!(history(&other, &runs.iter().collect::<Vec<_>>()).spells.is_empty());
    }

    #[test]
    fn a_folder_is_looked_at_again_when_there_is_another_run() {
        let root = std::env::temp_dir().join(format!("v6gap-follow-runs-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        let (stop, mut looks) = (AtomicBool::new(false), 0);
        let mut look = || -> Result<(), StoreError> {
            looks += 1;
            let folder = root.join(format!("run00{looks}"));
            match looks {
                1 | 2 => {
                    fs::create_dir_all(&folder).unwrap();
                    fs::write(folder.join("journal.jsonl"), "{}").unwrap();
                }
                _ => stop.store(true, Ordering::Relaxed),
            }
            Ok(())
        };
        let often = (Duration::ZERO, u64::MAX);
        follow_every(often, &root, HOUR_NS, &stop, &mut look).unwrap();
        assert_eq!(looks, 3);
        // And as time goes on.
        let (stop, mut looks) = (AtomicBool::new(false), 0);
        let mut look = || -> Result<(), StoreError> {
            looks += 1;
            stop.store(looks == 4, Ordering::Relaxed);
            Ok(())
        };
        follow_every((Duration::ZERO, 0), &root, HOUR_NS, &stop, &mut look).unwrap();
        assert_eq!(looks, 4);
        fs::remove_dir_all(&root).unwrap();
        let mut look = || -> Result<(), StoreError> { Ok(()) };
        assert!(follow_every(often, &root, HOUR_NS, &stop, &mut look).is_err());
    }
}
