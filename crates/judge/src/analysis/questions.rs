//! The questions of a run and what the blocks answer: one for each metric of each cell.

use super::collect::{Block, Collected};
use super::diagnostics::{self, Diagnostics};
use super::effect::{self, Combined};
use super::joint::{self, Decided, Evidence};
use super::predict;
use super::tally::Tally;
use super::verdict::{self, Adjusted, Ruling};
use super::{
    Discarded, Explained, MeanBeside, Pair, Prediction, Question, Range, Unseen, Verdict,
    conditions, explained, limited, nulls, places, rounds, routes, translation, words,
};
use crate::gate::{self, SHORT_BODY};
use crate::reach;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use v6gap_core::arm::{Arm, BlockKind, PerArm};
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::observation::{Histogram, Times};
use v6gap_core::plan::Plan;
use v6gap_core::record::RunHeader;
use v6gap_core::workload::Cell;
use v6gap_core::world::model;
use v6gap_stats::{Interval, loss, summary};

/// A question while it is being answered.
struct Open<'a> {
    cell: &'a Cell,
    metric: Metric,
    blocks: Vec<&'a Block<'a>>,
    combined: Option<Combined>,
    /// The same with the discarded blocks kept, if any of them has a value.
    with_discarded: Option<Combined>,
    ruling: Option<Ruling>,
    diagnostics: Diagnostics,
}

/// All questions in the order of the plan.
pub(super) fn answer(
    found: &Collected<'_>,
    names: &PerArm<String>,
    discarded: &[Discarded],
) -> Vec<Question> {
    let plan = &found.run.plan;
    let mut open = Vec::new();
    for cell in &plan.cells {
        for &metric in cell.workload.metrics() {
            let blocks: Vec<&Block<'_>> = found
                .blocks
                .iter()
                .filter(|b| b.cell() == cell.id && b.kind() == BlockKind::Compare)
                .collect();
            open.push(Open {
                cell,
                metric,
                blocks,
                combined: None,
                with_discarded: None,
                ruling: None,
                diagnostics: Diagnostics::default(),
            });
        }
    }
    decide(found, &mut open);
    let round_ns = super::pace::round_ns(found);
    open.iter().map(|o| finish(found, discarded, o, names, round_ns)).collect()
}

/// Whether blocks count, or are counted although they do not.
type Counts = fn(&Block<'_>) -> bool;

impl Question {
    /// Whether it differs by itself, but not if all questions of the run are corrected for.
    pub fn may_be_chance(&self) -> bool {
        matches!(self.verdict, Verdict::Better | Verdict::Worse)
            && self.diagnostics.p_different_run > reach::ALPHA
    }
}

/// Ranges and rulings of all questions together, then what else their blocks say.
fn decide(found: &Collected<'_>, open: &mut [Open<'_>]) {
    let valid: Vec<Evidence> = open.iter().map(|o| evidence(found, o, |b| b.valid)).collect();
    let kept: Vec<Evidence> = open.iter().map(|o| evidence(found, o, |_| true)).collect();
    // A cell that could not be measured is no question, unless it was given up late; nor is what
    // some blocks have no value of, since the others are no fair choice of all.
    let counts: Vec<bool> = open
        .iter()
        .zip(&valid)
        .map(|(o, evidence)| {
            let measured = !found.unmeasured.contains_key(o.cell.id.as_str())
                || evidence.effects.len() >= effect::BLOCKS_MIN;
            measured && without(o).is_none()
        })
        .collect();
    let among = |evidence: Vec<Evidence>| -> Vec<Evidence> {
        evidence.into_iter().zip(&counts).filter(|(_, counts)| **counts).map(|(a, _)| a).collect()
    };
    let (valid, kept) = (among(valid), among(kept));
    let decided = joint::decide(&valid);
    let mut with_discarded = joint::decide(&kept).into_iter();
    let those = open.iter_mut().zip(counts).filter(|(_, counts)| *counts).map(|(o, _)| o);
    for ((o, decided), evidence) in those.zip(decided).zip(&valid) {
        let blocks: Vec<&Block<'_>> = measured(o, |b| b.valid).map(|(block, _)| block).collect();
        let kept = with_discarded.next();
        let same_with_discarded = is_known_with_discarded(o)
            .then(|| kept.as_ref().is_some_and(|k| decided.is_the_same(k)));
        let Decided { combined, p, p_run, ruling } = decided;
        let more = kept.and_then(|d| d.combined).filter(|_| closed(o).any(|b| has_value(o, b)));
        let found = diagnostics::diagnose(
            o.metric,
            &blocks,
            &evidence.effects,
            combined.as_ref(),
            valid.len(),
        );
        o.diagnostics = Diagnostics {
            p_different: combined.as_ref().map_or(1.0, |c| c.p),
            p_different_adjusted: p.different,
            p_different_run: p_run,
            p_same: combined.as_ref().map_or(1.0, |c| c.p_same),
            p_same_adjusted: p.same,
            with_discarded: more.as_ref().map(|all| all.shown(o.metric.scale())),
            same_with_discarded,
            ..found
        };
        o.ruling = ruling;
        o.combined = combined;
        o.with_discarded = more;
    }
}

/// Blocks that were discarded.
fn closed<'a>(o: &'a Open<'_>) -> impl Iterator<Item = &'a Block<'a>> + 'a {
    o.blocks.iter().copied().filter(|block| !block.valid)
}

fn has_value(o: &Open<'_>, block: &Block<'_>) -> bool {
    block.values(o.metric).is_some()
}

/// Whether it can be told what a question would be with its discarded blocks.
fn is_known_with_discarded(o: &Open<'_>) -> bool {
    let known = |block: &Block<'_>| has_value(o, block) && !conditions::is_of_run(block.trials);
    closed(o).next().is_some() && closed(o).all(known)
}

/// What the blocks that `counts` lets pass have measured.
fn evidence(found: &Collected<'_>, o: &Open<'_>, counts: Counts) -> Evidence {
    let plan = &found.run.plan;
    Evidence {
        metric: o.metric,
        transport: o.cell.workload.transport(),
        margin: plan.margin(o.metric),
        cell: plan.cell(&o.cell.id).map_or(0, |(cell, _)| cell),
        validity: found.validity(o.metric),
        effects: rounds::values(
            o.metric.scale(),
            measured(o, counts).map(|(b, v)| (b.round(), effect::of_block(o.metric, v.a, v.b))),
        ),
        nulls: nulls::before_comparing(&found.blocks, o.cell, o.metric),
        hosts: effect::hosts::share(o.metric, medians(o, counts)),
        events: (o.metric.scale() == Scale::Difference).then(|| events(o, counts)),
    }
}

/// The blocks that count and have a value, with it.
fn measured<'a>(
    o: &'a Open<'_>,
    counts: Counts,
) -> impl Iterator<Item = (&'a Block<'a>, PerArm<f64>)> + 'a {
    let blocks = o.blocks.iter().copied().filter(move |b| counts(b));
    blocks.filter_map(|b| Some((b, b.values(o.metric)?)))
}

/// What the share counts in each arm over the blocks that count and have a value.
fn events(o: &Open<'_>, counts: Counts) -> PerArm<(u64, u64)> {
    let of = |block: &Block<'_>, arm| {
        v6gap_core::values::counted(o.metric, &block.trials.get(arm).ends).unwrap_or_default()
    };
    PerArm::from_fn(|arm| {
        let those = measured(o, counts);
        those.fold((0, 0), |total, (block, _)| effect::add(total, of(block, arm)))
    })
}

fn finish(
    found: &Collected<'_>,
    discarded: &[Discarded],
    o: &Open<'_>,
    names: &PerArm<String>,
    pair_ns: f64,
) -> Question {
    let run = found.run;
    let plan = &run.plan;
    let margin = plan.margin(o.metric);
    let refused = found.unmeasured.get(o.cell.id.as_str()).copied();
    let ruling = o.ruling.unwrap_or(Ruling::NOTHING);
    let far = |pairs: &u32| reach::is_out_of_reach(&plan.design.stop, *pairs, pair_ns);
    let out_of_reach = ruling.pairs_to_settle.as_ref().is_some_and(far);
    let mut question = Question {
        cell: o.cell.id.clone(),
        place: places::place(run, &o.cell.workload),
        metric: o.metric,
        transport: o.cell.workload.transport(),
        level_bytes: o.cell.workload.level_bytes(),
        values: medians(o, |b| b.valid),
        effect: o.combined.as_ref().map(|c| c.shown(o.metric.scale())),
        mean: mean(o),
        margin,
        verdict: ruling.verdict,
        qualifier: ruling.qualifier,
        why_none: why_none(o, &ruling, refused),
        prediction: None,
        pairs_to_settle: ruling.pairs_to_settle.filter(|_| !out_of_reach),
        out_of_reach,
        pairs: pairs(run, o),
        histograms: PerArm::from_fn(|arm| histogram(o, arm)),
        lost: PerArm::from_fn(|arm| times(o, arm).map(|t| t.lost).fold(0, u64::saturating_add)),
        exchanges_each: exchanges_each(o),
        events: (o.metric.scale() == Scale::Difference).then(|| events(o, |b| b.valid)),
        unseen: unseen(o),
        any_run: None,
        change_points: Vec::new(),
        caveats: Vec::new(),
        suspects: Vec::new(),
        diagnostics: o.diagnostics.clone(),
        label: places::label(run, o.cell, o.metric, path_mtu(plan, o)),
        text: String::new(),
        range_text: String::new(),
        sentence: String::new(),
    };
    let limit_bps = limited::reached(found, o.cell, &question);
    if let Some(limit_bps) = limit_bps {
        limited::withdraw(&mut question, limit_bps);
    }
    question.caveats = translated(found).chain(caveats(o, refused, limit_bps.is_none())).collect();
    question.prediction = prediction(plan, discarded, o, &question);
    words::fill(&mut question, names);
    question
}

/// The mean of the effects, where it is not their centre.
fn mean(o: &Open<'_>) -> Option<MeanBeside> {
    let combined = o.combined.as_ref()?;
    let effect = combined.shown_mean(o.metric.scale())?;
    Some(MeanBeside {
        estimate: effect.estimate,
        range95: effect.range95,
        range90: effect.range90,
        speaks_against: combined.mean.is_some_and(|mean| mean.speaks_against),
    })
}

/// What is not known of a share, unless a difference was found.
fn unseen(o: &Open<'_>) -> Option<Unseen> {
    let combined = o.combined.as_ref().filter(|_| o.metric.scale() == Scale::Difference)?;
    let events = events(o, |b| b.valid);
    let seen = events.a.0.saturating_add(events.b.0);
    (seen == 0 || combined.singly.is_some()).then(|| {
        let trials = measured(o, |b| b.valid).count();
        let of = events.a.1.min(events.b.1);
        // The trials of a round follow each other, and look for a burst but once.
        let rounds = combined.n as u64;
        let missed = |events| effect::missed(events, rounds, combined.together);
        let in_bursts = events.map(missed);
        let singly = match combined.singly {
            Some(ranges) if seen > 0 => ranges.i95.high.max(-ranges.i95.low),
            _ => effect::none_of(of, combined.together),
        };
        let in_bursts = in_bursts.a.max(in_bursts.b);
        Unseen { trials, seen, of, singly, in_bursts, burst_max: loss::BURST_MAX }
    })
}

/// The path MTU of each arm: that of the plan's world, or the smallest that the client's kernel
/// assumed in a valid trial.
fn path_mtu(plan: &Plan, o: &Open<'_>) -> PerArm<Option<u32>> {
    PerArm::from_fn(|arm| {
        let family = *plan.design.arms.get(arm);
        let of_world = plan.world.as_ref().map(|world| model::path_mtu(world, family));
        let valid = o.blocks.iter().filter(|block| block.valid);
        let told = valid.filter_map(|block| block.trials.get(arm).ends.client.granted.path_mtu);
        of_world.or(told.min())
    })
}

fn why_none(o: &Open<'_>, ruling: &Ruling, refused: Option<&str>) -> Option<String> {
    if ruling.verdict != Verdict::None {
        return None;
    }
    if let Some(reason) = refused {
        return Some(reason.to_string());
    }
    let combined = o.combined.as_ref().filter(|c| c.n >= effect::BLOCKS_MIN);
    if let Some((combined, withheld)) = combined.and_then(|c| Some((c, c.withheld?))) {
        return Some(diagnostics::withheld(o.metric, &o.diagnostics, &withheld, combined.n));
    }
    let valid = o.blocks.iter().filter(|b| b.valid).map(|b| b.round());
    Some(match rounds::count(valid) {
        0 => "no valid pair".to_string(),
        n => without(o).filter(|_| n >= effect::BLOCKS_MIN).or(lacking(o)).unwrap_or_else(|| {
            let few = words::counted(n, "valid pair");
            alloc::format!("only {few}, at least {} are needed", effect::BLOCKS_MIN)
        }),
    })
}

/// Why a valid block has no value of what others have one of, a download's body apart.
fn without(o: &Open<'_>) -> Option<String> {
    let mut valid = o.blocks.iter().filter(|b| b.valid);
    valid.find_map(|block| gate::without(o.metric, [block.trials.a, block.trials.b]))
}

/// Why valid blocks have no value of a download: what the gates saw in the first of them.
fn lacking(o: &Open<'_>) -> Option<String> {
    let block = o.blocks.iter().find(|b| b.valid && b.values(o.metric).is_none())?;
    let seen = Arm::BOTH.map(|arm| {
        let trial = block.trials.get(arm);
        let finding = trial.findings.iter().find(|finding| finding.gate == SHORT_BODY)?;
        Some((trial.family, finding.seen.as_str()))
    });
    match seen {
        [Some((family, why)), None] | [None, Some((family, why))] => {
            Some(alloc::format!("{why} over {family}"))
        }
        [one, _] => one.map(|(_, why)| why.to_string()),
    }
}

fn medians(o: &Open<'_>, counts: Counts) -> PerArm<Option<f64>> {
    let median = |pick: fn(&PerArm<f64>) -> f64| {
        let values: Vec<f64> = measured(o, counts).map(|(_, v)| pick(&v)).collect();
        (!values.is_empty()).then(|| summary::median(&values))
    };
    PerArm { a: median(|v| v.a), b: median(|v| v.b) }
}

/// The valid blocks of a round make a pair, and each discarded one makes one of its own.
fn pairs(run: &RunHeader, o: &Open<'_>) -> Vec<Pair> {
    let mut pairs: Vec<Vec<(&Block<'_>, PerArm<f64>)>> = Vec::new();
    for &block in &o.blocks {
        let Some(values) = block.values(o.metric) else { continue };
        let joins = |(first, _): &(&Block<'_>, _)| first.valid && first.round() == block.round();
        let pair =
            pairs.iter_mut().rev().find(|pair| block.valid && pair.first().is_some_and(joins));
        match pair {
            Some(pair) => pair.push((block, values)),
            None => pairs.push([(block, values)].into()),
        }
    }
    pairs.iter().filter_map(|blocks| pair(run, o.metric, blocks)).collect()
}

/// What the blocks of a round say together.
fn pair(run: &RunHeader, metric: Metric, blocks: &[(&Block<'_>, PerArm<f64>)]) -> Option<Pair> {
    let (block, values) = blocks.first()?;
    let [first, _] = block.order().arms();
    let like_first = blocks.iter().filter(|(b, _)| b.order() == block.order()).count();
    Some(Pair {
        block: block.number,
        blocks: blocks.len() as u32,
        round: block.round(),
        order: match 2 * like_first >= blocks.len() {
            true => block.order(),
            false => block.order().reversed(),
        },
        values: if blocks.len() == 1 { *values } else { together(metric.scale(), blocks) },
        at_ns: block.trials.get(first).started_unix_ns.saturating_sub(run.started_unix_ns),
        valid: block.valid,
    })
}

/// A value for each arm whose effect and middle are those of the blocks together.
fn together(scale: Scale, blocks: &[(&Block<'_>, PerArm<f64>)]) -> PerArm<f64> {
    let of = |of: fn(f64, f64) -> f64| {
        let value =
            |(_, v): &(&Block<'_>, PerArm<f64>)| of(scale.of_value(v.a), scale.of_value(v.b));
        rounds::together(scale, &blocks.iter().map(value).collect::<Vec<f64>>())
    };
    let (middle, half) = (of(|a, b| (a + b) / 2.0), of(|a, b| b - a) / 2.0);
    PerArm { a: scale.value(middle - half), b: scale.value(middle + half) }
}

/// The single times of an arm, trial by trial.
fn times<'a>(o: &'a Open<'_>, arm: Arm) -> impl Iterator<Item = &'a Times> {
    let valid = o.blocks.iter().copied().filter(|b| b.valid);
    valid.filter_map(move |block| v6gap_core::values::times(o.metric, &block.trials.get(arm).ends))
}

/// Buckets are alike whatever the longest time of a trial, so those of one value add up.
fn histogram(o: &Open<'_>, arm: Arm) -> Histogram {
    let mut merged = Tally::default();
    for times in times(o, arm) {
        merged.add(times.histogram.iter());
    }
    merged.ascending()
}

fn exchanges_each(o: &Open<'_>) -> u32 {
    let all = Arm::BOTH.into_iter().flat_map(|arm| times(o, arm));
    all.map(|t| t.exchanges_each).max().unwrap_or(1)
}

/// Said of every answer about a family that is translated on the way.
fn translated(found: &Collected<'_>) -> impl Iterator<Item = String> {
    let arms = found.run.plan.design.arms;
    let second = (!arms.is_null()).then_some(arms.b);
    let translated = [Some(arms.a), second].into_iter().flatten().filter_map(move |family| {
        let by = translation::of(found, family)?.by;
        Some(alloc::format!("{family} is translated on the way ({by}): it is not native {family}"))
    });
    translated.collect::<Vec<_>>().into_iter()
}

/// Gates whose findings are told of the whole run, once.
const OF_THE_RUN: [&str; 2] = ["unavailable", "far-end"];

fn caveats(o: &Open<'_>, given_up: Option<&str>, tells: bool) -> Vec<String> {
    let mut found: BTreeMap<String, u32> = BTreeMap::new();
    for block in o.blocks.iter().filter(|b| b.valid) {
        for arm in Arm::BOTH {
            for finding in block.trials.get(arm).findings.iter().filter(|f| !f.fatal) {
                *found.entry(finding.gate.clone()).or_insert(0) += 1;
            }
        }
    }
    let mut caveats: Vec<String> = found
        .into_iter()
        .filter(|(gate, _)| !OF_THE_RUN.contains(&gate.as_str()))
        .map(|(gate, count)| alloc::format!("{gate}: noted in {count} trials, kept"))
        .collect();
    let valid = o.blocks.iter().filter(|b| b.valid);
    caveats.extend(routes::changes(
        valid.flat_map(|b| b.order().arms().map(|arm| *b.trials.get(arm))),
    ));
    if let (Some(why), Some(_)) = (given_up, &o.combined) {
        caveats.push(alloc::format!("given up before the end: {why}"));
    }
    // What tells of a difference that is not told itself would tell it.
    if tells {
        let guard = o.combined.as_ref().map(|combined| &combined.guard);
        caveats.extend(diagnostics::caveats(o.metric, &o.diagnostics, guard));
        caveats.extend(rarer(o).map(words::rarer_bursts));
    }
    caveats
}

/// By how much a difference of shares that was found may differ from what was seen, if there are
/// bursts that are rarer than the trials.
fn rarer(o: &Open<'_>) -> Option<f64> {
    let combined = o.combined.as_ref().filter(|c| c.i95.excludes(0.0))?;
    let events = (o.metric.scale() == Scale::Difference).then(|| events(o, |b| b.valid))?;
    let missed = |events| effect::missed(events, combined.n as u64, combined.together);
    Some(missed(events.a).max(missed(events.b))).filter(|more| *more > 0.0)
}

fn prediction(
    plan: &Plan,
    discarded: &[Discarded],
    o: &Open<'_>,
    question: &Question,
) -> Option<Prediction> {
    let combined = o.combined.as_ref()?;
    if question.verdict == Verdict::None {
        return None;
    }
    let predict =
        |of: Counts| predict::predict(plan, o.cell, o.metric, &o.blocks, medians(o, of).a?);
    let predicted = predict(|b| b.valid)?;
    let left = Residual::of(o.metric, combined, predicted.effect);
    // An answer that stands because all blocks together give it does not answer for this as well.
    let with_all = || {
        let all = predict(|_| true)?;
        Some(Residual::of(o.metric, o.with_discarded.as_ref()?, all.effect))
    };
    let stands = conditions::blocks(discarded, question).is_none()
        || with_all().is_some_and(|all| all.says() == left.says());
    let (verdict, explained) = if stands { left.says() } else { (Verdict::None, None) };
    Some(Prediction {
        effect: predicted.effect,
        values: predicted.values,
        residual: left.combined.shown(Scale::Ratio),
        residual_margin: o.metric.margin_residual(),
        verdict,
        uncertainty: explained::uncertainty(o.metric),
        share: left.share,
        explained,
    })
}

/// What is left of an effect after its prediction, and what follows from it.
struct Residual {
    combined: Combined,
    share: Option<Range>,
    verdict: Verdict,
    explained: Option<Explained>,
}

impl Residual {
    fn of(metric: Metric, combined: &Combined, predicted: f64) -> Self {
        let by = libm::log1p(predicted);
        // Of slower hosts less is predicted as well, so that they are a share of what is left.
        let alone = combined.without_hosts();
        let residual = alone.moved(-by).with_hosts(combined.hosts);
        let residual = match explained::uncertainty(metric) {
            Some(of) => explained::blurred(&residual, of),
            None => residual,
        };
        let share = explained::share(by, &alone);
        let margin = effect::margin(metric, metric.margin_residual());
        let residual = for_all_levels(residual, margin);
        let by_ranges = residual_p(&residual, margin);
        let residual = verdict::with_mean(metric, residual, margin, by_ranges);
        let ruling = verdict::rule(metric, &residual, margin, residual_p(&residual, margin));
        let explained = explained::judge(metric, &residual, share);
        Residual { combined: residual, share, verdict: ruling.verdict, explained }
    }

    /// The answers that it gives.
    fn says(&self) -> (Verdict, Option<Explained>) {
        (self.verdict, self.explained)
    }
}

/// The residual with the ranges of all levels together, where those of one alone would make it
/// "same": what is printed is what decides.
fn for_all_levels(residual: Combined, margin: f64) -> Combined {
    let Combined { i95, i90, equivalence, .. } = residual;
    if !i90.within(-margin, margin) || equivalence.within(-margin, margin) {
        return residual;
    }
    let low = i95.low.min(equivalence.low);
    let high = i95.high.max(equivalence.high);
    Combined { i95: Interval { low, high }, i90: equivalence, ..residual }
}

/// The residual is one question beside the sweep's; its ranges alone decide, the one for "same"
/// after Bonferroni.
fn residual_p(residual: &Combined, margin: f64) -> Adjusted {
    let rejected = |rejected: bool| if rejected { 0.0 } else { 1.0 };
    Adjusted {
        different: rejected(residual.i95.excludes(0.0)),
        same: rejected(residual.equivalence.within(-margin, margin)),
        open: 1,
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::analyse;
    use crate::analysis::tests::{EVEN, plan, run, run_of};
    use crate::gate::SHORT_BODY;
    use v6gap_core::arm::PerArm;
    use v6gap_core::family::Family;
    use v6gap_core::metric::Metric;
    use v6gap_core::plan::{check, draft, preset};
    use v6gap_core::record::{GateFinding, Line};

    /// Two blocks of a round are two trials of either arm, and one look for bursts.
    #[test]
    fn trials_of_one_round_are_told_apart_and_look_for_bursts_together() {
        let of = |count| {
            let plan = plan(PerArm::FAMILIES, 1);
            let found = analyse(&run_of(&plan, 8, &EVEN, count)).unwrap();
            let loss = found.questions.iter().find(|q| q.metric == Metric::Loss).unwrap();
            loss.unseen.unwrap()
        };
        let (one, two) = (of(1), of(2));
        assert_eq!((one.trials, two.trials, two.of), (8, 16, 2 * one.of));
        assert!(two.in_bursts < one.in_bursts, "{one:?} {two:?}");
    }

    #[test]
    fn a_short_body_takes_the_rate_and_says_why() {
        let site = draft::Site {
            url: "https://example.org/f.iso".into(),
            http: alloc::vec!["2".into()],
            download: Some("20 MB".into()),
            ..draft::Site::default()
        };
        let plan = check::check(&preset::visits_draft(site, false, false), 1).unwrap();
        let mut lines = run(&plan, 8, &EVEN);
        for line in &mut lines {
            if let Line::Trial(trial) = line
                && trial.family == Family::V6
            {
                let seen = "the body has only 5 bytes".into();
                trial.findings.push(GateFinding { gate: SHORT_BODY.into(), fatal: false, seen });
            }
        }
        let found = analyse(&lines).unwrap();
        let of = |metric| found.questions.iter().find(|q| q.metric == metric).unwrap();
        assert_eq!(of(Metric::FirstByte).why_none, None);
        let why = of(Metric::Throughput).why_none.as_deref();
        assert_eq!(why, Some("the body has only 5 bytes over IPv6"));
    }
}
