//! The changes of the questions: samples of two independent runs, their ranges, and the verdicts of
//! all of them together.

use super::set_up::{self, Granted};
use super::{Change, Changes, Compared, Of, Row, Standing, letter, words};
use crate::analysis::alike::{self, SetUp};
use crate::analysis::checks;
use crate::analysis::conditions;
use crate::analysis::effect::hosts::{self, Hosts};
use crate::analysis::effect::{self, BLOCKS_MIN, Combined};
use crate::analysis::guard::{self, Guard};
use crate::analysis::joint;
use crate::analysis::verdict::{self, Adjusted, Ruling};
use crate::analysis::words::counted;
use crate::analysis::{Question, Validity, Verdict};
use crate::reach::{ALPHA, ALPHA_SAME, level};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::host::names;
use v6gap_core::metric::Scale;
use v6gap_core::plan::Stop;
use v6gap_core::record::RunId;
use v6gap_stats::between::{Apart, Found};
use v6gap_stats::multiplicity::holm;
use v6gap_stats::two_runs::{self, Law, Run};
use v6gap_stats::{Interval, summary};

/// A question while its changes are decided.
pub(super) struct Open<'a> {
    question: &'a Question,
    asked: Vec<Option<&'a Question>>,
    stops: Vec<&'a Stop>,
    /// For each run, whether a failed check took its verdicts or that of this question.
    failed: Vec<bool>,
    /// For each run, how many blocks of this question were discarded, if too many: also where its
    /// own answer is the same with all of them.
    discarded: Vec<Option<String>>,
    /// For each run, whether its server is emulated.
    emulated: Vec<bool>,
    /// For each run but the first, why it cannot be compared with it.
    refused: Vec<Option<String>>,
    set_ups: &'a [SetUp<'a>],
    ids: Vec<&'a RunId>,
    margin: f64,
}

/// Why a family by itself is not compared with that of another system; that its difference to the
/// other family is compared is no contradiction, since the emulation is in both.
const EMULATED: &str = "its server is emulated, and what that takes is in these values";

/// One change while it is decided.
struct Pending {
    row: usize,
    run: usize,
    of: Of,
    combined: Option<Combined>,
    samples: Option<[Sample; 2]>,
    apart: Option<Apart>,
    why_none: Option<String>,
    caveats: Vec<String>,
    p: Adjusted,
}

impl<'a> Open<'a> {
    /// What stands to be compared of `question` of the first run.
    pub(super) fn new(
        compared: &[Compared<'a>],
        granted: &[Granted],
        set_ups: &'a [SetUp<'a>],
        question: &'a Question,
        asked: Vec<Option<&'a Question>>,
    ) -> Self {
        let margins = asked.iter().flatten().map(|q| q.margin);
        let refused = |run: usize| set_up::refusal(compared, granted, run, &question.cell);
        Open {
            stops: compared.iter().map(|run| &run.analysis.run.plan.design.stop).collect(),
            failed: compared.iter().zip(&asked).map(failed).collect(),
            discarded: compared.iter().zip(&asked).map(discarded).collect(),
            emulated: compared.iter().map(|run| is_emulated(run)).collect(),
            refused: (1..compared.len()).map(refused).collect(),
            ids: compared.iter().map(|run| &run.analysis.run.id).collect(),
            set_ups,
            margin: margins.fold(f64::INFINITY, f64::min),
            question,
            asked,
        }
    }

    /// Whether no run can be compared with the first in it.
    pub(super) fn is_refused(&self) -> bool {
        let others = self.asked[1..].iter().zip(&self.refused);
        others.into_iter().all(|(asked, refused)| asked.is_none() || refused.is_some())
    }

    /// Why not.
    pub(super) fn refusals(&self) -> impl Iterator<Item = String> + '_ {
        let say = |why: &String| format!("{}: {why}", self.question.cell);
        self.refused.iter().flatten().map(say)
    }
}

fn is_emulated(compared: &Compared<'_>) -> bool {
    compared.analysis.run.hosts.server.facts.contains_key(names::EMULATION)
}

/// Decides all changes together. Those of one thing, one metric and one transport are one family:
/// their p-values are corrected after Holm, over questions and runs.
pub(super) fn decide(open: Vec<Open<'_>>, names: &PerArm<String>) -> Vec<Row> {
    let series: usize = open.iter().map(|o| o.asked.iter().flatten().count()).sum();
    let mut pending = Vec::new();
    for (row, o) in open.iter().enumerate() {
        for run in 1..o.asked.len() {
            for of in Of::ALL {
                pending.extend(pend(o, row, run, of, series * Of::ALL.len()));
            }
        }
    }
    correct(&open, &mut pending);
    let mut rows: Vec<Row> = open.iter().map(row).collect();
    for change in pending {
        let (place, run) = (change.row, change.run);
        let change = finish(&open[place], change, names);
        let row = &mut rows[place];
        match row.against.iter_mut().find(|against| against.letter == letter(run)) {
            Some(against) => against.changes.push(change),
            None => row.against.push(Changes { letter: letter(run), changes: alloc::vec![change] }),
        }
    }
    rows
}

fn row(o: &Open<'_>) -> Row {
    let standing = |asked: &Option<&Question>| {
        asked.map(|q| Standing {
            values: q.values,
            effect: q.effect.clone(),
            margin: q.margin,
            verdict: q.verdict,
            qualifier: q.qualifier,
            text: q.text.clone(),
            range_text: q.range_text.clone(),
        })
    };
    Row {
        cell: o.question.cell.clone(),
        metric: o.question.metric,
        transport: o.question.transport,
        level_bytes: o.question.level_bytes,
        label: o.question.label.clone(),
        margin: o.margin,
        standings: o.asked.iter().map(standing).collect(),
        against: Vec::new(),
    }
}

fn failed((run, asked): (&Compared<'_>, &Option<&Question>)) -> bool {
    let analysis = run.analysis;
    let lack = |q: &Question| conditions::lack(&analysis.nulls, &analysis.discarded, q);
    !analysis.valid || asked.is_some_and(|q| lack(q).is_some())
}

fn discarded((run, asked): (&Compared<'_>, &Option<&Question>)) -> Option<String> {
    conditions::blocks(&run.analysis.discarded, (*asked)?).map(checks::lacking)
}

/// A change from the first run to `run`, if that asks the question. `series` is the number of
/// sequences that the guards look at.
fn pend(o: &Open<'_>, row: usize, run: usize, of: Of, series: usize) -> Option<Pending> {
    let sides = [(0, o.question), (run, o.asked[run]?)];
    let mut pending = Pending {
        row,
        run,
        of,
        combined: None,
        samples: None,
        apart: None,
        why_none: o.refused[run - 1].clone(),
        caveats: Vec::new(),
        p: Adjusted::NOTHING,
    };
    if sides.iter().any(|(_, q)| q.margin != o.margin) {
        pending.caveats.push("the runs had other margins: the smallest counts".to_string());
    }
    for (place, q) in sides {
        // What speaks against the difference of the arms need not speak against either arm.
        let fails = match of.arm() {
            None => q.verdict == Verdict::None,
            Some(_) => q.effect.is_none() || o.failed[place],
        };
        let why = q.why_none.as_ref().filter(|_| fails).or(o.discarded[place].as_ref());
        if let Some(why) = why.filter(|_| pending.why_none.is_none()) {
            pending.why_none = Some(format!("{}: {why}", letter(place)));
        }
    }
    let [first, second] = [o.emulated[0], o.emulated[run]];
    if of.arm().is_some() && first != second && pending.why_none.is_none() {
        let letter = letter(if first { 0 } else { run });
        pending.why_none = Some(format!("{letter}: {EMULATED}"));
    }
    if pending.why_none.is_none() {
        let samples = sides.map(|(place, q)| Sample::new(place, q, of, o, series));
        pending.caveats.extend(samples.iter().filter_map(Sample::doubt));
        pending.why_none = samples.iter().find_map(Sample::withheld);
        match between(o, of, run, &samples) {
            Ok(apart) => pending.apart = Some(apart),
            Err(unknown) if of == Of::Difference => pending.caveats.push(unknown),
            Err(unknown) if pending.why_none.is_none() => pending.why_none = Some(unknown),
            Err(_) => {}
        }
        let asked = sides.map(|(_, q)| q);
        pending.combined = Some(combine(o, of, &samples, asked, pending.apart, 1));
        pending.samples = Some(samples);
    }
    Some(pending)
}

/// How far estimates of both runs may lie apart, by what like runs tell; if none do, what would.
/// Where only one set-up has runs enough, both are taken to scatter like that one.
fn between(o: &Open<'_>, of: Of, run: usize, samples: &[Sample; 2]) -> Result<Apart, String> {
    let compared = [o.ids[0], o.ids[run]];
    let found = [0, run].map(|place| o.set_ups[place].others_found(o.question, of, compared));
    let [first, second] = found.each_ref().map(|found| alike::scatter(found));
    let Some((first, second)) = first.or(second).zip(second.or(first)) else {
        let [first, second] = found.map(|found| found.len());
        let (place, most) = if second > first { (run, second) } else { (0, first) };
        return Err(words::unknown_scatter(of, letter(place), most));
    };
    let square = |x: f64| x * x;
    // One whose values are all alike is no better known than the best known of the others.
    let own = samples.iter().zip([first, second]).map(|(sample, scatter)| {
        let own = alike::found(sample.run.moments).standard_error;
        square(if own > 0.0 { own } else { scatter.least })
    });
    let variance = own.sum::<f64>() + square(first.tau) + square(second.tau);
    Ok(Apart { variance, degrees: first.runs.min(second.runs) - 1 })
}

/// How far they may lie apart by what is known of any hosts, if that is anything.
fn by_hosts(asked: [&Question; 2], samples: &[Sample; 2]) -> Option<Apart> {
    let found = samples.each_ref().map(|sample| alike::found(sample.run.moments));
    let of_one = |(q, run): (&Question, Found)| {
        let hosts = hosts::share(q.metric, q.values) * run.estimate;
        (hosts * hosts, run.standard_error * run.standard_error)
    };
    let [first, second] = [(asked[0], found[0]), (asked[1], found[1])].map(of_one);
    let of_hosts = first.0 + second.0;
    let variance = of_hosts + first.1 + second.1;
    (of_hosts > 0.0).then_some(Apart { variance, degrees: hosts::RUNS - 1 })
}

/// What one run says, from which a change is taken.
struct Sample {
    letter: char,
    values: Vec<f64>,
    guard: Guard,
    run: Run,
}

impl Sample {
    fn new(place: usize, q: &Question, of: Of, o: &Open<'_>, series: usize) -> Self {
        let values = alike::values(q, of);
        let guard = guard::examine(&values, effect::margin(q.metric, o.margin), series);
        let stop = o.stops[place];
        let law = match stop {
            Stop::Pairs { .. } => Law::Fixed,
            Stop::Adaptive { .. } => Law::Normal,
        };
        // The estimate that the run prints, and as much noise as its range has.
        let run = match alike::moments(q, of, stop, series) {
            Some(moments) => Run { moments, law },
            None => Run::new(guard.units(&values), law),
        };
        Sample { letter: letter(place), values, guard, run }
    }

    /// Why its values cannot be taken for draws of one law.
    fn withheld(&self) -> Option<String> {
        let few = self.guard.units(&self.values).len() < effect::SCORES_MIN;
        match (self.guard.stands(), self.guard.modes) {
            (Some(_), _) => {
                Some(format!("{}: the values change over the time of the run", self.letter))
            }
            (_, Some(_)) if few => {
                Some(format!("{}: the values gather round two, and are too few", self.letter))
            }
            _ => None,
        }
    }

    fn doubt(&self) -> Option<String> {
        (self.guard.merged() > 1).then(|| {
            format!("{}: means of {} neighbouring pairs are used", self.letter, self.guard.merged())
        })
    }

    fn is_constant(&self) -> bool {
        self.values.windows(2).all(|pair| pair[0] == pair[1])
    }
}

/// The change, with ranges that hold for so many changes together.
fn combine(
    o: &Open<'_>,
    of: Of,
    samples: &[Sample; 2],
    asked: [&Question; 2],
    apart: Option<Apart>,
    together: usize,
) -> Combined {
    let margin = effect::margin(o.question.metric, o.margin);
    let [first, second] = samples.each_ref().map(|sample| sample.run);
    let centre = second.moments.mean - first.moments.mean;
    let sd = samples.each_ref().map(|s| summary::sd(&s.values));
    let of_hosts = || by_hosts(asked, samples).filter(|_| of == Of::Difference);
    let apart = apart.or_else(of_hosts);
    // By the blocks of both runs, and never surer than by what is between runs as well.
    let range = |alpha: f64| {
        let blocks = two_runs::change(&first, &second, alpha);
        let between = apart.map_or(0.0, |apart| apart.radius(alpha));
        let low = blocks.low.min(centre - between);
        Interval { low, high: blocks.high.max(centre + between) }
    };
    let p = |shift: f64| apart.map_or(0.0, |apart| apart.p(centre - shift));
    let same = (0.5 * p(margin).max(p(-margin))).min(1.0);
    let i90 = range(level(ALPHA_SAME, together));
    let combined = Combined {
        centre,
        i95: range(level(ALPHA, together)),
        i90,
        equivalence: i90,
        p: two_runs::change_p(&first, &second, 0.0).max(p(0.0)),
        p_same: two_runs::change_same_p(&first, &second, margin).max(same),
        n: samples[0].values.len().min(samples[1].values.len()),
        sd: libm::hypot(sd[0], sd[1]),
        noise: libm::hypot(first.moments.sd, second.moments.sd),
        mean: None,
        guard: samples[0].guard.clone(),
        // Said by `why_none`, which keeps it from being ruled on.
        withheld: None,
        singly: None,
        together,
        hosts: Hosts::NOTHING,
        // Ranges of changes hold whenever somebody looks.
        validity: Validity::looked_at(o.stops[0]),
    };
    match o.question.metric.scale() {
        Scale::Ratio => combined,
        Scale::Difference => bounded(combined, of, samples, asked, margin),
    }
}

/// For shares of packets: blocks that agree that there were none still prove little, as do those of
/// which few saw a burst, so the range reaches further by the exact bound on what each such share
/// may have beyond what was seen, and a change as large as the margin is as likely as so large a
/// share of which none was seen.
fn bounded(
    combined: Combined,
    of: Of,
    samples: &[Sample; 2],
    asked: [&Question; 2],
    margin: f64,
) -> Combined {
    // What would make the change smaller, and what larger.
    let (mut below, mut above, mut bounds) = (0.0, 0.0, Vec::new());
    for (place, (sample, q)) in samples.iter().zip(asked).enumerate() {
        for arm in Arm::BOTH {
            let hides = sample.is_constant() || q.unseen.is_some();
            let concerned = of.arm().is_none_or(|one| one == arm) && hides;
            if !concerned {
                continue;
            }
            let bound = unseen(q, arm, combined.together);
            let raises = (place == 1) == (of.arm().is_some() || arm == Arm::B);
            *(if raises { &mut above } else { &mut below }) += bound;
            bounds.push(bound);
        }
    }
    if bounds.is_empty() {
        return combined;
    }
    let share = margin / bounds.len() as f64;
    // Of N packets none is unseen at a share s with probability (1 - s)^N; the bound tells N.
    let count = |bound: f64| libm::log(0.025) / libm::log1p(-bound.clamp(1e-12, 1.0 - 1e-12));
    let unseen: f64 =
        bounds.iter().map(|bound| libm::exp(count(*bound) * libm::log1p(-share.min(0.5)))).sum();
    let wider = |i: &Interval| Interval { low: i.low - below, high: i.high + above };
    Combined {
        i95: wider(&combined.i95),
        i90: wider(&combined.i90),
        equivalence: wider(&combined.equivalence),
        p_same: combined.p_same.max(unseen.min(1.0)),
        ..combined
    }
}

/// By how much the share of an arm may be larger than what was seen, if it comes in bursts.
fn unseen(q: &Question, arm: Arm, together: usize) -> f64 {
    if let (Some(events), Some(effect)) = (&q.events, &q.effect) {
        return effect::missed(*events.get(arm), effect.blocks as u64, together);
    }
    let range = q.effect.as_ref().filter(|effect| effect.sd == 0.0).map(|effect| effect.range95);
    let bound = range.map(|range| if arm == Arm::A { -range.low } else { range.high });
    bound.filter(|bound| *bound > 0.0).unwrap_or(1.0)
}

fn correct(open: &[Open<'_>], pending: &mut [Pending]) {
    let family = |p: &Pending| {
        let q = open[p.row].question;
        (p.of as u8, q.metric, q.transport)
    };
    let counts = |p: &Pending| p.combined.is_some() && p.why_none.is_none();
    for first in 0..pending.len() {
        let kind = family(&pending[first]);
        if pending[..first].iter().any(|earlier| family(earlier) == kind) {
            continue;
        }
        let members: Vec<usize> = (first..pending.len())
            .filter(|&i| family(&pending[i]) == kind && counts(&pending[i]))
            .collect();
        let p = |of: fn(&Combined) -> f64| {
            let raw = members.iter().map(|&i| pending[i].combined.as_ref().map_or(1.0, of));
            holm(&raw.collect::<Vec<f64>>())
        };
        let (different, same) = (p(|c| c.p), p(|c| c.p_same));
        let open = joint::open(&different, &same);
        for (place, &member) in members.iter().enumerate() {
            pending[member].p = Adjusted { different: different[place], same: same[place], open };
        }
    }
}

fn finish(o: &Open<'_>, pending: Pending, names: &PerArm<String>) -> Change {
    let q = o.question;
    let margin = effect::margin(q.metric, o.margin);
    let asked = [Some(q), o.asked[pending.run]];
    let (combined, ruling) = match (pending.combined, &pending.why_none) {
        (Some(combined), None) => {
            let wider = || match (&pending.samples, asked) {
                (Some(samples), [Some(first), Some(second)]) => Some(combine(
                    o,
                    pending.of,
                    samples,
                    [first, second],
                    pending.apart,
                    pending.p.open,
                )),
                _ => None,
            };
            let found = verdict::coherent(q.metric, combined, margin, pending.p, wider);
            (Some(found.0), found.1)
        }
        (combined, _) => (combined, Ruling::NOTHING),
    };
    let combined = combined.as_ref();
    let few = combined.filter(|c| c.n < BLOCKS_MIN).map(|c| {
        let few = counted(c.n, "valid pair");
        format!("only {few} in one of the runs, at least {BLOCKS_MIN} are needed")
    });
    let mut change = Change {
        of: pending.of,
        effect: combined.map(|c| c.shown(q.metric.scale())),
        verdict: ruling.verdict,
        qualifier: ruling.qualifier,
        why_none: pending.why_none.or(few),
        p_different: combined.map_or(1.0, |c| c.p),
        p_different_adjusted: pending.p.different,
        p_same: combined.map_or(1.0, |c| c.p_same),
        p_same_adjusted: pending.p.same,
        runs_like: pending.apart.map(|apart| apart.degrees + 1),
        caveats: pending.caveats,
        text: String::new(),
        range_text: String::new(),
        sentence: String::new(),
    };
    words::fill(&mut change, q, o.margin, letter(pending.run), names);
    change
}
