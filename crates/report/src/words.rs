//! The words of every form, in one place, so that terminal, page and export say the same.

use crate::again::going_on;
use crate::number::{Unit, unit};
use crate::{gates, topology, workload};
use v6gap_core::family::Family;
use v6gap_core::metric::{Better, Metric, Scale};
use v6gap_core::observation::Far;
use v6gap_core::plan::Summary;
use v6gap_core::record::RunHeader;
use v6gap_core::unit::{format_rate, format_span, significant};
pub(crate) use v6gap_core::wire::foreign::is_unsafe;
use v6gap_core::workload::Transport;
use v6gap_core::world::model;
use v6gap_core::world::{LaidTunnel, World};
use v6gap_judge::analysis::compare::{Change, Row, Standing};
use v6gap_judge::analysis::sizes::SizeEffect;
use v6gap_judge::analysis::words::{
    Sided, amount, amount_within, counted, figure, is_open, margin_in_words, more_pairs,
    out_of_reach, range_in_words, signed_ends, span_in_words,
};
use v6gap_judge::analysis::{Analysis, Prediction, Question, Suspect, Verdict};
use v6gap_judge::matrix::{Cell, Matrix};

/// From so many ns on a time to come is told in whole minutes.
const LONG_NS: f64 = 120e9;

/// The word of a verdict.
pub(crate) const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same => "same",
        Verdict::CannotTell => "can't tell",
        Verdict::None => "no verdict",
    }
}

/// The shape of a verdict; the word always stands beside it.
pub(crate) const fn glyph(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "▲",
        Verdict::Worse => "▼",
        Verdict::Same => "=",
        Verdict::CannotTell => "?",
        Verdict::None => "–",
    }
}

/// An answer as it is told: a difference that is there and does not matter is not "the same".
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    pub metric: Metric,
    pub verdict: Verdict,
    /// The margin, of a difference that is there and lies within it.
    pub within: Option<f64>,
}

impl Told {
    /// Of a question of a run.
    pub(crate) fn of(q: &Question) -> Told {
        Told { metric: q.metric, verdict: q.verdict, within: q.qualifier.within(q.margin) }
    }

    /// Of a change between runs.
    pub(crate) fn change(row: &Row, change: &Change) -> Told {
        let within = change.qualifier.within(row.margin);
        Told { metric: row.metric, verdict: change.verdict, within }
    }

    /// Of what one of several runs says.
    pub(crate) fn standing(row: &Row, standing: &Standing) -> Told {
        let within = standing.qualifier.within(standing.margin);
        Told { metric: row.metric, verdict: standing.verdict, within }
    }

    /// Of the size of transfers, which is asked of their throughput.
    pub(crate) fn size(size: &SizeEffect) -> Told {
        let within = size.qualifier.within(size.margin);
        Told { metric: Metric::Throughput, verdict: size.verdict, within }
    }

    /// Of a path of a fleet; of which metric is known where there is one.
    pub(crate) fn path(of: &Matrix, cell: &Cell) -> Option<Told> {
        Some(Told { metric: of.metric?, verdict: cell.verdict, within: cell.within })
    }

    /// Its word: "within 2 %", "same".
    pub(crate) fn word(self) -> String {
        match self.within {
            Some(most) => format!("within {}", margin_in_words(self.metric, most)),
            None => verdict(self.verdict).to_owned(),
        }
    }

    /// Its shape; the word always stands beside it.
    pub(crate) fn glyph(self) -> &'static str {
        if self.within.is_some() { NEARLY } else { glyph(self.verdict) }
    }

    /// The word behind its shape: "≈ within 2 %", "= same".
    pub(crate) fn marked(self) -> String {
        format!("{} {}", self.glyph(), self.word())
    }
}

/// The shape of a difference that is there and does not matter.
pub(crate) const NEARLY: &str = "≈";

/// The word of the answer to a question.
pub(crate) fn answer(q: &Question) -> String {
    Told::of(q).word()
}

/// The same behind its shape.
pub(crate) fn marked_answer(q: &Question) -> String {
    Told::of(q).marked()
}

/// A difference with its sign and unit: "+8.9 %", "−0.10 points".
pub(crate) fn signed_amount(metric: Metric, x: f64) -> String {
    format!("{} {}", sign(x), metric.scale().unit())
}

/// How many there are, in a sentence: "none", "3".
pub(crate) fn number(n: usize) -> String {
    if n == 0 { "none".to_owned() } else { n.to_string() }
}

/// The chance to see so much if there is nothing.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

/// What the figures of an effect are, as programs read it: `b/a − 1`, or `b − a`.
pub(crate) fn effect_kind(scale: Scale) -> &'static str {
    match scale {
        Scale::Ratio => "ratio-1",
        Scale::Difference => "difference",
    }
}

/// A difference as it was measured, with its direction: "1.4 % slower".
pub(crate) fn effect(metric: Metric, effect: f64) -> String {
    if effect == 0.0 { "no difference".to_owned() } else { amount(metric, effect) }
}

/// An effect in words for a round number, as on an axis: "2 % slower".
pub(crate) fn round_effect(metric: Metric, effect: f64) -> String {
    let full = amount(metric, effect);
    let direction = full.rsplit(' ').next().unwrap_or("");
    format!("{} {direction}", margin_in_words(metric, effect.abs()))
}

/// A difference in per cent with its sign; for tables of numbers, whose head tells the direction.
pub(crate) fn sign(effect: f64) -> String {
    let sign = if effect < 0.0 { "−" } else { "+" };
    match figure(effect) {
        text if text.starts_with(['<', '0']) && !text.starts_with("0.") => "0".to_owned(),
        text => format!("{sign}{text}"),
    }
}

/// Both ends of a range with their signs: "−0.5 to +0.2"; one that says nothing is unbounded.
pub(crate) fn signed<'a>(told: impl Into<Sided<'a>>) -> String {
    let told = told.into();
    if is_open(told.range) {
        return "unbounded".to_owned();
    }
    let [low, high] = signed_ends(told);
    format!("{low} to {high}")
}

/// The same with the unit of its metric: "−0.5 to +0.2 %".
pub(crate) fn signed_range<'a>(metric: Metric, told: impl Into<Sided<'a>>) -> String {
    let told = told.into();
    match is_open(told.range) {
        true => signed(told),
        false => format!("{} {}", signed(told), metric.scale().unit()),
    }
}

/// By how much the second arm is better; negative if it is worse.
pub(crate) fn advantage(metric: Metric, effect: f64) -> f64 {
    match metric.better() {
        Better::Higher => effect,
        Better::Lower => -effect,
    }
}

/// True if both arms are the same family, so that nothing may be said about families.
pub(crate) fn is_null(analysis: &Analysis) -> bool {
    analysis.run.plan.design.arms.is_null()
}

/// The head of the column of differences: "over IPv6", or "second" in a null run.
pub(crate) fn over(analysis: &Analysis) -> String {
    if is_null(analysis) {
        format!("{} against {}", analysis.arm_names.b, analysis.arm_names.a)
    } else {
        format!("over {}", analysis.arm_names.b)
    }
}

/// Client and server as the user knows them.
pub(crate) fn hosts(analysis: &Analysis) -> (&str, &str) {
    let run = &analysis.run;
    let client =
        if run.hosts.client.name.is_empty() { "this host" } else { &run.hosts.client.name };
    let server = match (run.hosts.server.name.as_str(), run.target.as_str()) {
        ("", "") => "the server",
        ("", target) => target,
        (name, _) => name,
    };
    (client, server)
}

/// The version of the control protocol, or why none was spoken: "protocol 3".
pub(crate) fn protocol(run: &RunHeader) -> String {
    match &run.session {
        Far::Seen(session) => format!("protocol {}", session.protocol),
        Far::NotSeen(why) => format!("protocol not spoken: {why}"),
    }
}

/// The path, if the plan made it: "100 Mbit/s, lab link “wire”, 1 router".
pub(crate) fn path(analysis: &Analysis) -> Option<String> {
    let world = analysis.run.plan.world.as_ref()?;
    let rates = Family::BOTH.map(|family| model::bottleneck_bps(world, family));
    let slowest = rates.into_iter().flatten().min();
    let rate = slowest.map_or("no rate limit".to_owned(), |r| format_rate(r as f64));
    let model = world.model.name();
    let routers = match world.routers() {
        0 => "no router".to_owned(),
        n => counted(n, "router"),
    };
    let tunnels = tunnels(world).into_iter().map(|tunnel| format!(", {tunnel}"));
    let translation = translation(world).map(|words| format!(", {words}")).unwrap_or_default();
    let tunnels = tunnels.collect::<String>();
    let emulated = world.emulated().map(|node| topology::emulated_words(world, node));
    let emulated = emulated.map(|words| format!(", {words}")).unwrap_or_default();
    Some(format!("lab link “{model}”, {rate}, {routers}{tunnels}{translation}{emulated}"))
}

/// [`path`] as one more part of a sentence; nothing if the plan made none.
pub(crate) fn and_path(analysis: &Analysis) -> String {
    path(analysis).map(|path| format!(", {path}")).unwrap_or_default()
}

/// "lab-a to lab-b, lab link “wire”, no rate limit, no router. 30 pairs in 62 s."
pub(crate) fn context(analysis: &Analysis) -> String {
    let (client, server) = hosts(analysis);
    format!("{client} to {server}{}. {}.", and_path(analysis), pairs_in(analysis))
}

/// What is translated on the measured path: "IPv6 translated (nat64) at router".
fn translation(world: &World) -> Option<String> {
    let mut found = Family::BOTH.into_iter().filter_map(|family| world.translated(family));
    found.next().map(|(translation, _)| topology::translation_words(world, translation))
}

/// What is put into what on the measured path: "IPv6 in ip-in-ip over IPv4".
fn tunnels(world: &World) -> Vec<String> {
    let over = Family::BOTH.map(|family| world.tunnels_on_path(family));
    let on_path = |laid: &&LaidTunnel| over.iter().flatten().flatten().any(|other| other == laid);
    let words = |laid: &LaidTunnel| format!("{} in {}", topology::carried(laid), laid.tunnel);
    world.tunnels.iter().filter(on_path).map(words).collect()
}

/// The reasons for doubt of all questions, each with what it is about; one that holds for all of
/// several is said once.
pub(crate) fn caveats(analysis: &Analysis) -> Vec<String> {
    let questions = &analysis.questions;
    let of_all = |caveat: &String| {
        questions.len() > 1 && questions.iter().all(|q| q.caveats.contains(caveat))
    };
    let mut said: Vec<String> = Vec::new();
    for q in questions {
        for caveat in q.caveats.iter().chain(&mean_beside(q)) {
            let told = gates::in_words(caveat);
            let text = match of_all(caveat) {
                true => told,
                false => format!("{}: {told}", q.label),
            };
            if !said.contains(&text) {
                said.push(text);
            }
        }
    }
    said.extend(together(questions));
    said
}

/// Whose ranges hold for several questions at once.
fn together(questions: &[Question]) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for q in questions {
        let alike = |other: &&Question| (other.metric, other.transport) == (q.metric, q.transport);
        let wider = questions.iter().filter(alike).filter_map(|other| other.effect.as_ref());
        let wider: Vec<usize> = wider.map(|e| e.together).filter(|&count| count > 1).collect();
        let Some(together) = wider.iter().max() else { continue };
        let ranges = if wider.len() == 1 { "1 range is" } else { "some ranges are" };
        let text = format!(
            "{}: {ranges} wider than that of one question by itself and holds for {together} \
             questions together, of which one may differ by chance",
            group(q.metric, q.transport)
        );
        let text = if wider.len() == 1 { text } else { text.replace("and holds", "and hold") };
        if !said.contains(&text) {
            said.push(text);
        }
    }
    said
}

/// The mean of the pairs, where it is told beside the estimate.
fn mean_beside(q: &Question) -> Option<String> {
    let mean = q.mean.as_ref()?;
    let told = amount(q.metric, mean.estimate);
    let range = range_in_words(q.metric, &mean.range95);
    let against = match mean.speaks_against {
        true => "; that is another answer, so the range reaches over both",
        false => "",
    };
    let mostly =
        "the estimate is what most pairs show; the mean, in which those far off count in full";
    Some(format!("{mostly}, is {told} ({range}){against}"))
}

/// What the trials behind a question do.
pub(crate) fn workload_of(analysis: &Analysis, question: &Question) -> String {
    let cell = analysis.run.plan.cell(&question.cell);
    cell.map_or_else(String::new, |(_, cell)| workload::of(&cell.workload).short())
}

/// The code of an analysis without verdicts because a check failed, of which `explain` tells more.
pub fn code(analysis: &Analysis) -> Option<&'static str> {
    (!analysis.valid).then_some("V601")
}

/// "Too small to matter: throughput 2 %, round trip 5 %", for the metrics that were asked about.
pub(crate) fn margins(analysis: &Analysis) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for metric in Metric::ALL {
        if let Some(q) = analysis.questions.iter().find(|q| q.metric == metric) {
            let part = format!("{} {}", metric.noun(), margin_in_words(metric, q.margin));
            // Two metrics may have one name.
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
    }
    (!parts.is_empty()).then(|| format!("Too small to matter: {} (--margin).", parts.join(", ")))
}

/// "30 pairs in 9 min 52 s".
pub(crate) fn pairs_in(analysis: &Analysis) -> String {
    format!("{} in {}", pairs(analysis), format_span(analysis.span_ns as f64))
}

/// "30 pairs": those that the ranges are taken from; "8 to 30 pairs" where questions have different
/// numbers, since cells rest or blocks were discarded.
pub(crate) fn pairs(analysis: &Analysis) -> String {
    let counts = || analysis.questions.iter().filter_map(|q| q.effect.as_ref()).map(|e| e.blocks);
    match counts().min().zip(counts().max()) {
        Some((least, most)) if least < most => format!("{least} to {most} pairs"),
        Some((n, _)) => counted(n, "pair"),
        None => counted(analysis.rounds as usize, "pair"),
    }
}

/// The difference that a relative one makes of the first arm's value, in the metric's unit; `None`
/// where the difference is one of shares, which is absolute already.
pub(crate) fn difference(question: &Question, relative: f64) -> Option<f64> {
    let ratio = question.metric.scale() == Scale::Ratio;
    question.values.a.filter(|_| ratio).map(|value| value * relative)
}

fn in_unit(difference: f64, unit: Unit) -> String {
    let sign = if difference < 0.0 { "−" } else { "+" };
    format!("{sign}{} {}", significant(difference.abs() / unit.size, 2), unit.symbol)
}

/// The estimate, where it is told how far apart values are: not without a ratio, and not where not
/// even the direction can be told, as where the 95 % range holds none.
fn told_apart(question: &Question) -> Option<f64> {
    let effect = question.effect.as_ref()?;
    let holds_none = effect.range95.low <= 0.0 && effect.range95.high >= 0.0;
    let told = question.verdict != Verdict::CannotTell && !holds_none;
    told.then_some(effect.estimate)
}

/// What the values of a question differ by, by its estimate: "+7.1 µs".
pub(crate) fn absolute_effect(question: &Question) -> Option<String> {
    let found = difference(question, told_apart(question)?)?;
    Some(in_unit(found, unit(question.metric, &[found])))
}

/// A relative difference beside the one that was found, both in the unit of the larger one:
/// "+6.4 µs of +7.1 µs".
pub(crate) fn absolute_of_effect(question: &Question, relative: f64) -> Option<String> {
    let own = difference(question, relative)?;
    let found = difference(question, told_apart(question)?)?;
    let unit = unit(question.metric, &[own.abs().max(found.abs())]);
    Some(format!("{} of {}", in_unit(own, unit), in_unit(found, unit)))
}

/// A pair's predicted effect with direction, or nothing.
pub(crate) fn predicted(question: &Question) -> Option<String> {
    question.prediction.as_ref().map(|p: &Prediction| effect(question.metric, p.effect))
}

/// The name of a group of questions: its metric, and the transport where several have it.
pub(crate) fn group(metric: Metric, transport: Transport) -> String {
    let name = capital(metric.noun());
    if matches!(metric, Metric::Rtt | Metric::Throughput) {
        return format!("{name} over {}", transport.name());
    }
    name
}

/// What may lie behind differences that the headers do not explain, each once, with the command
/// that tests it.
pub(crate) fn suspects(analysis: &Analysis) -> Vec<String> {
    let mut all: Vec<(&Suspect, Vec<&str>)> = Vec::new();
    for q in &analysis.questions {
        for suspect in &q.suspects {
            match all.iter_mut().find(|(known, _)| *known == suspect) {
                Some((_, labels)) => labels.push(&q.label),
                None => all.push((suspect, vec![&q.label])),
            }
        }
    }
    let say = |(suspect, labels): (&Suspect, Vec<&str>)| {
        let of = match labels[..] {
            [one] => one.to_owned(),
            _ => format!("{} questions", labels.len()),
        };
        format!("Suspect ({of}): {}. To test it: {}", suspect.text, suspect.test)
    };
    all.into_iter().map(say).collect()
}

/// A range by what it is: bounds, pairs that are all alike and a range of 90 % say so themselves.
pub(crate) fn named_range(range: &str) -> String {
    let says_itself = ["at most", "alike", "90 %"].iter().any(|own| range.starts_with(own));
    if says_itself { range.to_owned() } else { format!("95 % range {range}") }
}

/// Adds the full stop that a sentence may lack.
pub(crate) fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() || text.ends_with(['.', '!', '?']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

/// What each question would say with its discarded blocks kept, which tells whether the gates made
/// the answer; those that would move most come first.
pub(crate) fn with_discarded(analysis: &Analysis) -> Vec<String> {
    let mut found: Vec<(f64, String)> = Vec::new();
    for q in &analysis.questions {
        let Some(kept) = q.diagnostics.with_discarded.as_ref() else {
            continue;
        };
        let range = span_in_words(q.metric, &kept.range95);
        let moved = q.effect.as_ref().map_or(f64::INFINITY, |e| e.estimate - kept.estimate);
        let estimate = amount_within(q.metric, kept.estimate, &kept.range95);
        let text = format!("{} {estimate} ({range})", q.label);
        found.push((moved.abs() / q.margin, text));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().map(|(_, text)| text).collect()
}

/// What would settle each open question: how many more pairs, with the time that those take at the
/// pace of this run and the command that measures them where there is one, or that no such run
/// would.
pub(crate) fn to_settle(analysis: &Analysis) -> Vec<String> {
    let open = |q: &'_ &Question| q.verdict == Verdict::CannotTell;
    let questions = analysis.questions.iter().filter(open);
    let more = |q: &Question| {
        if q.out_of_reach {
            return Some(format!("{}: {}.", q.label, out_of_reach(q)));
        }
        let pairs = q.pairs_to_settle?;
        let time_ns = analysis.round_ns * f64::from(pairs);
        let step_ns = if time_ns < LONG_NS { 1e9 } else { 60e9 };
        let time_ns = (time_ns / step_ns).ceil() * step_ns;
        let (more, time) = (more_pairs(pairs), format_span(time_ns));
        let end = match going_on(&analysis.run, time_ns) {
            Some(command) => format!(": {command}"),
            None => ".".to_owned(),
        };
        Some(format!("{}: about {more} ({time}) would probably settle it{end}", q.label))
    };
    questions.filter_map(more).collect()
}

/// The text with a mark in place of each such character but the ends of its lines.
pub(crate) fn harmless(text: &str) -> String {
    text.replace(|c| c != '\n' && is_unsafe(c), "\u{fffd}")
}

/// A JSON document that says the same with each such character escaped: JSON itself only wants that
/// of the lowest 32, and terminals take U+009B for the beginning of a command.
pub fn json_escaped(text: String) -> String {
    let foreign = |c: char| c != '\n' && is_unsafe(c);
    if !text.contains(foreign) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        match foreign(c) {
            true => {
                let escape = |unit: &mut u16| out.push_str(&format!("\\u{unit:04x}"));
                c.encode_utf16(&mut [0; 2]).iter_mut().for_each(escape);
            }
            false => out.push(c),
        }
    }
    out
}

/// The text, cut after so many characters.
pub(crate) fn shortened(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.to_owned();
    }
    let kept: String = text.chars().take(characters.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// What is true of some of all questions, as in "1 of 5 questions is still open".
pub(crate) fn some_questions(some: usize, all: usize, one_is: &str, many_are: &str) -> String {
    format!("{some} of {all} questions {}", if some == 1 { one_is } else { many_are })
}

/// The text with its first letter as a capital.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

/// Change, range and verdict in one cell: "2.6 % shorter (2.1 – 3.0 %), better".
pub(crate) fn in_one(row: &Row, change: Option<&Change>) -> String {
    told_in_one(row, change, Told::word)
}

/// The same with the shape of the verdict before its word, where it cannot pass for a part of the
/// figure: "< 0.1 % longer (−0.8 – +0.8 %), = same".
pub(crate) fn marked_in_one(row: &Row, change: Option<&Change>) -> String {
    told_in_one(row, change, Told::marked)
}

fn told_in_one(row: &Row, change: Option<&Change>, verdict: fn(Told) -> String) -> String {
    let Some(change) = change else { return "–".to_owned() };
    let word = verdict(Told::change(row, change));
    match change.verdict {
        Verdict::None if change.effect.is_none() => word,
        Verdict::CannotTell => format!("{}, {word}", change.text),
        _ => format!("{} ({}), {word}", change.text, change.range_text),
    }
}

/// The name of a rule, and what it leaves out.
pub(crate) fn rule(summary: Summary) -> (&'static str, &'static str) {
    match summary {
        Summary::Mean => (
            "mean of the runs",
            "The study gives means alone, which do not say how well they are known.",
        ),
        Summary::MeanSd => (
            "mean ± SD of the runs",
            "The study's ± is the deviation of one run, not how well the mean is known.",
        ),
        Summary::TrimmedMean => (
            "mean of the runs without the lowest and the highest",
            "The ± is the 95 % range of the trimmed mean (Tukey and McLaughlin), which the study \
             did not give.",
        ),
        Summary::ThreeOfFive => (
            "mean of three consistent runs of five",
            "Three consistent runs of five hide the spread that they choose away: their mean \
             varies more than that of all five. Inconsistent means that none of the sets of five \
             held three within 1 %; the median stands in their place.",
        ),
    }
}
