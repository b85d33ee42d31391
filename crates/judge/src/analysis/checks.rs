//! The checks of a run: what must hold before its numbers mean anything.

use super::collect::Collected;
use super::conditions::{self, Lack};
use super::steadiness::{Steadiness, Told};
use super::translation::{self, Translated};
use super::{
    Check, CheckState, Discarded, NullResult, Prediction, Qualifier, Question, Verdict, beside,
    held, offloads, placement,
};
use super::{links, nulls, routes, windows, words};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use v6gap_core::family::Family;
use v6gap_core::host::names;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{Far, PerEnd};
use v6gap_core::plan::Order;
use v6gap_core::record::{Ending, TrialRecord};
use v6gap_core::values::values;
use v6gap_core::workload::Workload;

/// Gates that every run reports, with what it means that all trials passed.
const GATES: [(&str, &str); 14] = [
    ("family-proved", "every trial proved its family at both ends"),
    ("clock-step", "no clock was set"),
    ("steal", "the hypervisor took no noticeable time"),
    ("host-drops", "neither host dropped packets itself"),
    ("listener", "no connection was turned away by the listener"),
    ("path-mtu", "the path MTU did not change"),
    ("fragmentation", "fragments appeared only where predicted"),
    ("interface-errors", "no interface reported errors"),
    ("retransmissions", "no segment was sent again during round trips"),
    ("other-traffic", "no other traffic shared the trials"),
    ("super-packets", "every packet on a link was one packet"),
    ("link-late", "the computed link kept its times"),
    ("link-drops", "the computed link dropped nothing of its own"),
    ("answers-differ", "no answer is known to be longer over one family"),
];

/// What it means where the far end was not seen.
const ALONE: [(&str, &str); 2] = [
    ("family-proved", "every trial proved its family at this end"),
    ("host-drops", "this host dropped no packets itself"),
];

/// All checks in a fixed order: failed ones are found by their state.
pub(super) fn judge(
    found: &Collected<'_>,
    nulls: &[NullResult],
    discarded: &[Discarded],
    questions: &[Question],
) -> Vec<Check> {
    let mut checks = alloc::vec![shares(found, nulls, discarded, questions)];
    let asked = GATES.iter().filter(|(gate, _)| could_close(gate, found));
    checks.extend(asked.map(|(gate, good)| gate_check(gate, passed(gate, good, found), found)));
    checks.extend(far_end(found));
    checks.extend(held::told(found).iter().map(held_back));
    checks.push(null_check(nulls));
    checks.extend(facsimile(found));
    checks.extend(links::check(found));
    checks.extend(windows::check(found));
    checks.extend(translated(found));
    checks.extend(emulated(found));
    checks.extend(offloading(found));
    let changed = routes::changes(found.trials.iter().copied());
    checks.extend(changed.into_iter().map(|text| note("route", text)));
    let apart = placement::differences(&found.blocks);
    checks.extend(apart.into_iter().map(|text| note("placement", text)));
    checks.extend(unavailable(&found.trials));
    checks.extend(recomputed(found));
    checks.extend(beside::notes(&found.trials).into_iter().map(|text| note("beside", text)));
    checks.extend(unmeasured(found));
    checks.extend(found.run.notes.iter().map(|text| noticed(text)));
    if let Some(Ending::Failed { error }) = found.ending {
        checks.push(note("ending", format!("measuring broke off: {error}")));
    }
    checks
}

/// What it means that all trials passed a gate.
fn passed<'a>(gate: &str, good: &'a str, found: &Collected<'_>) -> &'a str {
    let alone = ALONE.iter().find(|(of, _)| *of == gate && found.run.session.seen().is_none());
    alone.map_or(good, |(_, good)| *good)
}

/// What only the far end could tell is not known, which is no trial's fault.
fn far_end(found: &Collected<'_>) -> Option<Check> {
    let Far::NotSeen(why) = &found.run.session else { return None };
    Some(note("far-end", format!("what the far end saw is not known: {why}")))
}

/// A round trip with a reflector is shorter than an exchange with a server of this program by what
/// it held: who compares the two has to know.
fn held_back(told: &held::Told) -> Check {
    let held::Told { cell, family, held_ns, whole_ns } = told;
    let us = |ns: &f64| format!("{:.1} µs", ns / 1e3);
    let text = format!(
        "the reflector held packets of {cell} over {family} for {}, by its own clock and in the \
         median; round trips leave that out (RFC 8762), and with it an exchange took {}, as one \
         with v6gap serve is timed",
        us(held_ns),
        us(whole_ns),
    );
    note("held", text)
}

/// Said where a plan keeps the order of published runs.
const SEQUENTIAL: &str = "the order is that of published runs, the first family always first: what \
                          changed with time passes for a difference between the families";

fn facsimile(found: &Collected<'_>) -> Option<Check> {
    let sequential = found.run.plan.design.order == Order::Sequential;
    sequential.then(|| note("facsimile", SEQUENTIAL))
}

/// What is translated is not what its sockets say.
fn translated(found: &Collected<'_>) -> Vec<Check> {
    let arms = found.run.plan.design.arms;
    let families = if arms.is_null() { alloc::vec![arms.a] } else { alloc::vec![arms.a, arms.b] };
    let said = |family: Family| {
        let Translated { address, by } = translation::of(found, family)?;
        let other = family.other();
        Some(note(
            "translation",
            format!(
                "what is called {family} here is translated to {other} on the way ({address} is \
                 an address of {by}): it is not native {family} [N105]"
            ),
        ))
    };
    families.into_iter().filter_map(said).collect()
}

/// Times of an emulated system are those of the emulation as well, which no comparison of the
/// families takes away.
fn emulated(found: &Collected<'_>) -> Option<Check> {
    let server = &found.run.hosts.server;
    let by = server.facts.get(names::EMULATION)?;
    let fact = |name: &str| server.facts.get(name).map_or("an unknown one", String::as_str);
    let text = format!(
        "{} is another system, with the kernel {}, emulated by {by}; the families can be compared \
         in it, but not its times with those of another system",
        server.name,
        fact("kernel"),
    );
    Some(note("emulation", text))
}

/// A lab has links of its own; what the host's cards do is of no account there.
fn offloading(found: &Collected<'_>) -> Vec<Check> {
    let PerEnd { client, server } = &found.run.hosts;
    let hosts =
        if found.run.plan.world.is_some() { [None; 2] } else { [Some(client), Some(server)] };
    let differing = hosts.into_iter().flatten().flat_map(offloads::differences);
    differing.map(|text| note("offloads", text)).collect()
}

/// What a trial's evidence gives today may differ from the value stored beside it by this share:
/// less than any rounding that matters.
const RECOMPUTED_SHARE_MAX: f64 = 1e-9;

/// Stored values are what is judged. That they follow from the evidence beside them is shown by
/// computing them again: another version may have had another formula.
fn recomputed(found: &Collected<'_>) -> Option<Check> {
    let cell = |trial: &TrialRecord| found.run.plan.cell(&trial.cell).map(|(_, cell)| cell);
    let computed = |trial: &TrialRecord| Some(values(&cell(trial)?.workload, &trial.ends));
    let differing = found.trials.iter().filter_map(|trial| {
        let computed = computed(trial)?;
        let far = |(metric, &now): (&Metric, &f64)| {
            let stored = *trial.values.get(metric)?;
            (!near(stored, now)).then_some((*metric, stored, now))
        };
        computed.iter().find_map(far)
    });
    let differing: Vec<_> = differing.collect();
    let (metric, stored, computed) = differing.first()?;
    let text = format!(
        "of {} trials the evidence gives another value today than was stored and is judged: \
         {} stored as {stored}, computed as {computed}",
        differing.len(),
        metric.noun(),
    );
    Some(note("recomputed", text))
}

fn near(stored: f64, now: f64) -> bool {
    stored.to_bits() == now.to_bits()
        || (stored - now).abs() <= RECOMPUTED_SHARE_MAX * stored.abs().max(now.abs())
}

fn check(id: &str, state: CheckState, text: impl Into<String>) -> Check {
    Check { id: id.to_string(), state, text: text.into() }
}

fn note(id: &str, text: impl Into<String>) -> Check {
    check(id, CheckState::Note, text)
}

fn shares(
    found: &Collected<'_>,
    nulls: &[NullResult],
    discarded: &[Discarded],
    questions: &[Question],
) -> Check {
    if discarded.is_empty() {
        return check("blocks", CheckState::Ok, "every block passed its gates");
    }
    let text = format!("{} of {} blocks discarded", discarded.len(), found.blocks.len());
    if conditions::nothing_left(found, nulls, discarded, questions) {
        let why = most_common(discarded);
        return check("blocks", CheckState::Failed, format!("{text}, most for: {why}"));
    }
    note("blocks", text)
}

fn most_common(discarded: &[Discarded]) -> &str {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for block in discarded {
        *counts.entry(block.why.as_str()).or_insert(0) += 1;
    }
    counts.into_iter().max_by_key(|(_, n)| *n).map_or("", |(why, _)| why)
}

/// Whether a gate had anything to look at: one that could not have closed has not been passed.
fn could_close(gate: &str, found: &Collected<'_>) -> bool {
    let plan = &found.run.plan;
    match gate {
        "link-late" | "link-drops" => found.trials.iter().any(|t| t.link.is_some()),
        "listener" => plan.cells.iter().any(|c| matches!(c.workload, Workload::Connect(_))),
        "super-packets" => plan.world.is_some(),
        "answers-differ" => plan.cells.iter().any(|c| downloads(&c.workload)),
        _ => true,
    }
}

fn downloads(workload: &Workload) -> bool {
    matches!(workload, Workload::Visit(visit) if visit.downloads())
}

/// Fatal findings discarded their blocks already, so here they are worth a note; a family that was
/// never proved leaves nothing to compare and fails through the share of discarded blocks.
fn gate_check(gate: &str, good: &str, found: &Collected<'_>) -> Check {
    let mut seen = found
        .trials
        .iter()
        .flat_map(|t| t.findings.iter())
        .filter(|finding| finding.gate == gate)
        .peekable();
    let Some(first) = seen.peek().map(|finding| finding.seen.clone()) else {
        return check(gate, CheckState::Ok, good);
    };
    let fatal = seen.clone().filter(|f| f.fatal).count();
    let mild = seen.filter(|f| !f.fatal).count();
    let trials = |n| super::words::counted(n, "trial");
    let count = match (fatal, mild) {
        (0, mild) => format!("{} noted, kept", trials(mild)),
        (fatal, 0) => format!("{} discarded", trials(fatal)),
        (fatal, mild) => format!("{} discarded, {mild} noted", trials(fatal)),
    };
    note(gate, format!("{count}: {first}"))
}

/// Families that differ from themselves in all that was asked take the verdict; what else null
/// blocks say, `report` words.
fn null_check(results: &[NullResult]) -> Check {
    if let Some(failed) = results.iter().find(|n| !n.passed) {
        let text = format!(
            "{} compared with itself differed by {} in {} ({})",
            failed.family,
            super::words::amount_of(failed.metric, failed.estimate),
            failed.metric.noun(),
            failed.cell
        );
        let alike = |a: &NullResult, b: &NullResult| a.cell == b.cell && a.metric == b.metric;
        let fails = |n: &NullResult| results.iter().any(|other| alike(n, other) && !other.passed);
        return match results.iter().all(fails) {
            true => check("null", CheckState::Failed, text),
            false => note("null", text),
        };
    }
    match nulls::agree(results) {
        true => check("null", CheckState::Ok, ""),
        false => note("null", ""),
    }
}

/// What the blocks of the questions say as a whole; none of it takes the verdict away from the run.
/// `report` words it.
pub(super) fn steadiness(checks: &mut Vec<Check>, questions: &[Question], all: &Steadiness) {
    let place = checks.iter().position(|c| c.id == "null").map_or(checks.len(), |i| i + 1);
    let state = |told| match told {
        Told::Absent { .. } => CheckState::Ok,
        Told::Found | Told::CannotTell => CheckState::Note,
    };
    let arms = |q: &Question| q.diagnostics.arms.a.is_some() || q.diagnostics.arms.b.is_some();
    let drift = match questions.iter().any(arms) {
        true => CheckState::Note,
        false => state(all.drift(questions)),
    };
    let order = check("order", state(all.order_mattered(questions)), "");
    checks.splice(place..place, [order, check("drift", drift, ""), outliers_check(questions)]);
}

/// How many pairs lie far from the others of their question; which ones its diagnostics say. No
/// value is left out for that.
fn outliers_check(questions: &[Question]) -> Check {
    let of = |q: &Question| {
        let far = q.diagnostics.far().count();
        (far > 0).then(|| format!("{} of {}", words::counted(far, "pair"), q.label))
    };
    let far: Vec<String> = questions.iter().filter_map(of).collect();
    if far.is_empty() {
        return check("outliers", CheckState::Ok, "no pair lay far from the others");
    }
    note("outliers", format!("far from the others, and counted: {}", far.join("; ")))
}

/// What was noticed before the first trial; what the lab's self-test measured is no doubt.
fn noticed(text: &str) -> Check {
    match text.strip_prefix("self-test: ") {
        Some(finding) => check("self-test", CheckState::Ok, finding),
        None => note("set-up", text),
    }
}

/// Each reason for leaving cells out, once, with the cells.
fn unmeasured(found: &Collected<'_>) -> Vec<Check> {
    let mut cells_of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (cell, why) in &found.unmeasured {
        cells_of.entry(why).or_default().push(cell);
    }
    let text = |(why, cells): (&str, Vec<&str>)| format!("{why}: no {}", cells.join(", "));
    cells_of.into_iter().map(|entry| note("unmeasured", text(entry))).collect()
}

/// What a platform could not give is said once.
fn unavailable(trials: &[&TrialRecord]) -> Vec<Check> {
    let mut texts: Vec<&String> = trials
        .iter()
        .flat_map(|t| t.findings.iter())
        .filter(|f| f.gate == "unavailable")
        .map(|f| &f.seen)
        .collect();
    texts.sort();
    texts.dedup();
    texts.into_iter().map(|text| note("unavailable", text.clone())).collect()
}

/// Takes the verdict of a question that lacks something, or whose run failed a check; returns what
/// is to be said of its conditions beside.
pub(super) fn condition(
    question: &mut Question,
    nulls: &[NullResult],
    discarded: &[Discarded],
    valid: bool,
) -> Option<Check> {
    if !valid {
        withdraw(question, "a check of the run failed".to_string());
        return None;
    }
    if question.verdict == Verdict::None {
        return None;
    }
    let text = match conditions::lack(nulls, discarded, question) {
        Some(lack) => {
            let why = lacking(lack);
            let text = format!("{} has no verdict: {why}", question.label);
            withdraw(question, why);
            text
        }
        None => {
            let why = lacking(conditions::blocks(discarded, question)?);
            let is_other = |p: &Prediction| p.verdict == Verdict::None;
            let but = match question.prediction.as_ref().is_some_and(is_other) {
                true => ", but not on what the headers leave",
                false => "",
            };
            format!("{} has the same answer with them{but}: {why}", question.label)
        }
    };
    Some(Check { id: "condition".to_string(), state: CheckState::Note, text })
}

/// What failed takes the place of the verdict; the numbers stay.
pub(super) fn withdraw(question: &mut Question, why: String) {
    question.verdict = Verdict::None;
    question.qualifier = Qualifier::Plain;
    question.pairs_to_settle = None;
    question.out_of_reach = false;
    question.sentence = format!("{} has no verdict: {why}.", question.label);
    question.why_none = Some(why);
    if let Some(prediction) = &mut question.prediction {
        prediction.verdict = Verdict::None;
        prediction.explained = None;
    }
}

/// What a question lacks, in words.
pub(super) fn lacking(lack: Lack) -> String {
    match lack {
        Lack::Blocks(discarded, all) => format!("{discarded} of its {all} blocks were discarded"),
        Lack::Null(metric, by) => {
            let by = words::amount_of(metric, by);
            format!("a family compared with itself differed by {by} here")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyse;
    use crate::analysis::tests::{EVEN, plan, run};
    use v6gap_core::arm::{Arm, PerArm};
    use v6gap_core::record::Line;

    /// A check that could not have failed is a note, and one that could says from what size on.
    #[test]
    fn too_few_pairs_are_not_called_steady() {
        let said = |rounds| {
            let found = analyse(&run(&plan(PerArm::FAMILIES, 1), rounds, &EVEN)).unwrap();
            let of = |id| found.checks.iter().find(|c| c.id == id).map(|c| c.state).unwrap();
            ([of("order"), of("drift")], found.steadiness)
        };
        let (states, few) = said(3);
        assert_eq!(states, [CheckState::Note; 2]);
        assert_eq!(few.change.told(), Told::CannotTell, "{few:?}");
        let (states, enough) = said(8);
        assert_eq!(states, [CheckState::Ok; 2]);
        let seen = [enough.change, enough.order].map(|joint| joint.seen_from_sd.unwrap());
        assert!(seen[0] < 2.5 && seen[1] < 1.5, "{seen:?}");
    }

    /// What no question shows by itself they show together.
    #[test]
    fn a_step_of_all_questions_is_found_in_few_pairs() {
        let mut lines = run(&plan(PerArm::FAMILIES, 1), 8, &EVEN);
        for line in &mut lines {
            if let Line::Trial(trial) = line
                && trial.arm == Arm::B
                && trial.round > 4
            {
                trial.values.values_mut().for_each(|value| *value *= 1.01);
            }
        }
        let found = analyse(&lines).unwrap();
        assert!(found.questions.iter().all(|q| q.diagnostics.unsteady.is_none()));
        assert!(found.steadiness.change.found && found.steadiness.after == Some(4));
        let drift = found.checks.iter().find(|c| c.id == "drift").unwrap();
        assert_eq!(drift.state, CheckState::Note);
        assert!(!found.steadiness.order.found, "{:?}", found.steadiness);
    }
}
