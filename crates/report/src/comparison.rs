//! What a comparison of runs says, line by line, for every form alike: three lines for each
//! question, the difference of the families first and then each family by itself.

use crate::gates;
use crate::number::{series, utc};
use crate::studies::Rows;
use crate::words;
use v6gap_core::metric::Metric;
use v6gap_judge::analysis::compare::{
    Change, Comparison, Elsewhere, Of, Row, Side, Standing, Systems,
};
use v6gap_judge::analysis::words::{amount, margin_in_words};

/// One line: what it is of, what each run says, and the changes.
pub(crate) struct Line<'a> {
    pub row: &'a Row,
    pub of: Of,
    /// "Throughput, TCP".
    pub label: &'a str,
    /// "IPv6 against IPv4", "IPv4".
    pub subject: String,
    /// The unit of the values; empty for differences, which bring their own.
    pub unit: &'static str,
    /// The value in each run; a dash where there is none.
    pub values: Vec<String>,
    /// The change from the first run to each other; nothing where that does not ask.
    pub changes: Vec<Option<&'a Change>>,
}

impl Line<'_> {
    /// "IPv4, Mbit/s".
    pub(crate) fn named(&self) -> String {
        match self.unit {
            "" => self.subject.clone(),
            unit => format!("{}, {unit}", self.subject),
        }
    }
}

/// All lines, in the order of the questions.
pub(crate) fn lines(comparison: &Comparison) -> Vec<Line<'_>> {
    let of_row = |row| Of::ALL.map(|of| line(comparison, row, of));
    comparison.rows.iter().flat_map(of_row).collect()
}

fn line<'a>(comparison: &'a Comparison, row: &'a Row, of: Of) -> Line<'a> {
    let (values, unit) = match of.arm() {
        None => {
            let effect = |s: &Option<_>| difference(row.metric, s.as_ref());
            (row.standings.iter().map(effect).collect(), "")
        }
        Some(arm) => {
            let value = |s: &Option<Standing>| *s.as_ref()?.values.get(arm);
            let values: Vec<Option<f64>> = row.standings.iter().map(value).collect();
            series(row.metric, &values)
        }
    };
    let others = comparison.runs.iter().skip(1);
    let change = |run: &Side| {
        let against = row.against.iter().find(|against| against.letter == run.letter)?;
        against.changes.iter().find(|change| change.of == of)
    };
    Line {
        row,
        of,
        label: &row.label,
        subject: of.subject(&comparison.arm_names),
        unit,
        values,
        changes: others.map(change).collect(),
    }
}

/// What a run says of the difference by its own verdict: the estimate of one that could not be told
/// would pass for an answer.
fn difference(metric: Metric, standing: Option<&Standing>) -> String {
    match standing.filter(|standing| standing.effect.is_some()) {
        None => "–".to_owned(),
        // None has no direction.
        Some(standing) if standing.text == amount(metric, 0.0) => "no difference".to_owned(),
        Some(standing) => standing.text.clone(),
    }
}

/// "A  7k2f9q  19 Nov 2026, 14:02 UTC  lab-a to lab-b, 30 pairs".
pub(crate) fn run(side: &Side) -> String {
    let (date, time) = utc(side.started_unix_ns);
    let [client, server] = &side.hosts;
    let pairs = if side.pairs == 1 { "1 pair".to_owned() } else { format!("{} pairs", side.pairs) };
    let client = if client.is_empty() { "this host" } else { client };
    format!("{}  {}  {date}, {time} UTC  {client} to {server}, {pairs}", side.letter, side.id)
}

/// "From A to B": the head of the column of changes.
pub(crate) fn from_to(side: &Side) -> String {
    format!("from A to {}", side.letter)
}

/// The margins of the questions, in words.
pub(crate) fn margins(comparison: &Comparison) -> String {
    let mut parts: Vec<String> = Vec::new();
    for metric in Metric::ALL {
        for row in comparison.rows.iter().filter(|row| row.metric == metric) {
            let part = format!("{} {}", metric.noun(), margin_in_words(metric, row.margin));
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
    }
    format!("Too small to matter: {}.", parts.join(", "))
}

/// What a study published of one system against another beside the changes of the same questions,
/// in the form of its table with ranges; nothing if the runs repeat none such.
pub(crate) fn published(comparison: &Comparison) -> Option<Rows> {
    let systems = comparison.published.as_ref()?;
    let mut heads = vec!["measured here".to_owned(), "published".to_owned()];
    heads.extend(comparison.runs.iter().skip(1).map(from_to));
    let lines = lines(comparison);
    let row = |value: &Elsewhere| {
        let own = |line: &&Line<'_>| {
            line.row.cell == value.cell
                && line.of == value.of
                && Some(line.row.metric) == value.published.metric
        };
        let line = lines.iter().find(own)?;
        let mut cells =
            vec![format!("{} {}", line.label.replace(", ", " "), line.subject), value.text.clone()];
        cells.extend(line.changes.iter().map(|change| words::in_one(line.row, *change)));
        Some(cells)
    };
    let rows = systems.values.iter().filter_map(row).collect();
    Some(Rows { heads, rows, notes: notes_on(systems) })
}

/// Whose values they are, of which systems, and what is doubtful about them.
fn notes_on(systems: &Systems) -> Vec<String> {
    let mut notes = vec![format!("Published: {}, “{}”.", systems.authors, systems.title)];
    if let Some(Elsewhere { published, .. }) = systems.values.first() {
        let base = published.base.as_deref().unwrap_or("the other");
        let system = published.system.as_deref().unwrap_or("other systems");
        let (place, says) = (&published.place, &published.says);
        notes.push(format!(
            "{place}: {system}, as a share of {base}; the first is printed as {says}. Shown and \
             not compared: these are other systems."
        ));
    }
    notes.extend(systems.cautions.iter().map(|caution| words::sentence(&words::capital(caution))));
    notes
}

/// What the ranges hold, said wherever changes stand.
pub(crate) fn between_runs(comparison: &Comparison) -> &'static str {
    let known = |(_, change): (&Row, &Change)| change.runs_like.is_some();
    if comparison.changes().filter(|(_, change)| change.effect.is_some()).all(known) {
        return "The ranges hold what varied within the runs, and how much other runs like them \
                differ from one to the next.";
    }
    "The ranges hold what varied within the runs. What differs from one run to the next by itself \
     is in them only where at least five other stored runs of the same set-up show how much it is."
}

/// Doubts and reasons, each once with the lines that it is about counted.
pub(crate) fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes: Vec<(String, Vec<String>)> = Vec::new();
    for (row, change) in comparison.changes() {
        let about = format!("{}, {}", row.label, change.of.subject(&comparison.arm_names));
        for note in change.why_none.iter().chain(&change.caveats) {
            let note = gates::in_words(note);
            match notes.iter_mut().find(|(known, _)| *known == note) {
                Some((_, labels)) => labels.push(about.clone()),
                None => notes.push((note, vec![about.clone()])),
            }
        }
    }
    let say = |(note, labels): (String, Vec<String>)| match &labels[..] {
        [one] => words::sentence(&format!("{one}: {note}")),
        many => words::sentence(&format!("{} lines, the first {}: {note}", many.len(), many[0])),
    };
    let mut said: Vec<String> = notes.into_iter().map(say).collect();
    let mut apart: Vec<(String, Vec<&str>)> = Vec::new();
    for one in &comparison.apart {
        let letters: Vec<String> = one.letters.iter().map(char::to_string).collect();
        let letters = letters.join(" and ");
        match apart.iter_mut().find(|(known, _)| *known == letters) {
            Some((_, labels)) => labels.push(&one.label),
            None => apart.push((letters, vec![&one.label])),
        }
    }
    said.extend(
        apart
            .into_iter()
            .map(|(letters, labels)| format!("Measured in {letters} only: {}.", labels.join("; "))),
    );
    said
}
