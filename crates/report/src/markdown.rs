//! The answer as Markdown, for issues and notes: sentence, table, what it rests on.

use crate::number::shown;
use crate::resources;
use crate::sentences;
use crate::studies;
use crate::words;
use v6gap_judge::analysis::Analysis;

/// The headline, the table of questions (GitHub flavour) and the lines below it.
pub fn markdown(analysis: &Analysis) -> String {
    let mut out = format!("**{}**\n\n", escape(sentences::headline(analysis)));
    out.push_str(&escape(words::context(analysis)));
    if let Some(stopped) = &analysis.stopped {
        out.push_str(&format!(" {}", escape(words::sentence(stopped))));
    }
    if let Some(blocks) = sentences::blocks(analysis) {
        out.push_str(&format!(" {}", escape(blocks)));
    }
    out.push_str("\n\n");
    table(analysis, &mut out);
    out.push('\n');
    if let Some(failures) = sentences::failures(analysis) {
        out.push_str(&format!("{}\n\n", escape(failures)));
    }
    let discards = sentences::discards::discards(analysis).into_iter();
    for text in discards.chain(sentences::discards::few_tipping(analysis)) {
        out.push_str(&format!("{}\n\n", escape(text)));
    }
    if let Some(predicted) = sentences::predicted(analysis) {
        out.push_str(&format!("{}\n\n", escape(predicted)));
    }
    if let Some(margins) = words::margins(analysis) {
        out.push_str(&format!("{}\n\n", escape(&margins)));
    }
    for caveat in words::caveats(analysis) {
        out.push_str(&format!("{}\n\n", escape(words::sentence(&caveat))));
    }
    for text in sentences::suspects(analysis) {
        out.push_str(&format!("{}\n\n", escape(text)));
    }
    costs(analysis, &mut out);
    sizes(analysis, &mut out);
    taken(analysis, &mut out);
    study(analysis, &mut out);
    if let Some(drawn) = sentences::drawn(analysis) {
        out.push_str(&format!("{}\n\n", escape(drawn)));
    }
    for text in sentences::other_runs(analysis) {
        out.push_str(&format!("{}\n\n", escape(text)));
    }
    let (summary, seen) = sentences::checks::summary(analysis);
    out.push_str(&format!("Checks: {summary}.\n"));
    for check in seen {
        out.push_str(&format!("- {}: {}\n", escape(&check.id), escape(&check.text)));
    }
    let run = &analysis.run;
    out.push_str(&format!("\nRun {}, v6gap {}.\n", escape(run.id.as_str()), escape(&run.tool)));
    out
}

fn table(analysis: &Analysis, out: &mut String) {
    let names = &analysis.arm_names;
    let over = words::over(analysis);
    let heads = ["", &names.a, &names.b, "unit", "difference", &over, "95 % range", "verdict"];
    let heads = heads.map(escape);
    out.push_str(&format!("| {} |\n", heads.join(" | ")));
    out.push_str("| :--- | ---: | ---: | :--- | ---: | :--- | :--- | :--- |\n");
    for q in &analysis.questions {
        let values = shown(q);
        let reason = q.why_none.as_deref().filter(|_| q.effect.is_none());
        let verdict = words::marked_answer(q);
        let text = reason.unwrap_or(&q.text);
        let difference = words::absolute_effect(q).unwrap_or_default();
        let values = [&values.a, &values.b, &values.unit, &difference].map(escape);
        let answer = [text, &q.range_text, &verdict].map(escape);
        let (values, answer) = (values.join(" | "), answer.join(" | "));
        out.push_str(&format!("| {} | {values} | {answer} |\n", escape(&q.label)));
    }
}

/// Whether the size of transfers matters.
fn sizes(analysis: &Analysis, out: &mut String) {
    for size in &analysis.transfer_sizes {
        out.push_str(&format!("{}\n\n", escape(&size.sentence)));
    }
}

/// What constant, packets and bytes of round trips cost.
fn costs(analysis: &Analysis, out: &mut String) {
    for costs in crate::costs::costs(analysis) {
        if !costs.rows.is_empty() {
            out.push_str(&format!("| {} |\n", costs.heads.map(escape).join(" | ")));
            out.push_str("| :--- | ---: | ---: | ---: |\n");
            for row in costs.rows {
                out.push_str(&format!("| {} |\n", row.map(escape).join(" | ")));
            }
            out.push('\n');
        }
        out.push_str(&format!("{}\n\n", escape(costs.sentences.join(" "))));
    }
}

/// What the trials took from the hosts.
fn taken(analysis: &Analysis, out: &mut String) {
    let rows = resources::rows(analysis, false);
    if rows.is_empty() {
        return;
    }
    out.push_str(&format!("| {} |\n| :--- | ---: | ---: |\n", resources::HEADS.join(" | ")));
    for row in rows {
        let cells = [&row.name, &row.values.v4, &row.values.v6].map(escape);
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out.push('\n');
}

/// What a published study would have said, and what it published.
fn study(analysis: &Analysis, out: &mut String) {
    let made = [studies::as_published(analysis), studies::beside(analysis)];
    if let Some(published) = &analysis.published {
        out.push_str(&format!("{}\n\n", escape(studies::source(published))));
    }
    for table in made.into_iter().flatten() {
        rows(&table, out);
        out.push('\n');
    }
}

/// Rows under heads, and how to read them.
pub(crate) fn rows(table: &studies::Rows, out: &mut String) {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(escape).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    out.push_str(&line(&table.heads));
    out.push_str(&format!("|{}\n", " :--- |".repeat(table.heads.len())));
    table.rows.iter().for_each(|row| out.push_str(&line(row)));
    out.push_str(&format!("\n{}\n", escape(table.notes.join(" "))));
}

/// Keeps untrusted text from being read as markup: every character that Markdown or HTML gives a
/// meaning inside a line gets a backslash or an entity; line ends become spaces.
pub(crate) fn escape(text: impl AsRef<str>) -> String {
    let mut out = String::new();
    for c in text.as_ref().chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            '\n' | '\t' => out.push(' '),
            c if words::is_unsafe(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
