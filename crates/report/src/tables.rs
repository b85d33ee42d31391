//! Tables for papers: the answers of a run and of a comparison, as Markdown, LaTeX, Org and CSV.
//!
//! The first three show what people read: values with units, effects with direction and range.
//! CSV holds the same rows in SI units and full precision, for other programs.

use crate::comparison::{self, Line};
use crate::csv::push_row;
use crate::number::shown;
use crate::sentences;
use crate::sheet::Sheet;
use crate::words::{self, Told};
use serde_json::to_value;
use v6gap_core::arm::Arm;
use v6gap_judge::analysis::compare::{Comparison, Of};
use v6gap_judge::analysis::{Analysis, Effect, Qualifier, Verdict};

/// The questions of a run as a LaTeX table.
pub fn latex(analysis: &Analysis) -> String {
    result(analysis).latex()
}

/// The questions of a run as an Org table.
pub fn org(analysis: &Analysis) -> String {
    result(analysis).org()
}

fn result(analysis: &Analysis) -> Sheet {
    let names = &analysis.arm_names;
    let (client, server) = words::hosts(analysis);
    let path = words::and_path(analysis);
    let heads = [
        "",
        &names.a,
        &names.b,
        "Unit",
        "Difference",
        &words::capital(&words::over(analysis)),
        "95 % range",
        "Verdict",
    ]
    .map(str::to_owned)
    .to_vec();
    let row = |q: &v6gap_judge::analysis::Question| {
        let values = shown(q);
        let text = match (&q.effect, &q.why_none) {
            (None, Some(why)) => why.clone(),
            _ => q.text.clone(),
        };
        let verdict = words::answer(q);
        vec![vec![
            q.label.clone(),
            values.a,
            values.b,
            values.unit,
            words::absolute_effect(q).unwrap_or_default(),
            text,
            q.range_text.clone(),
            verdict,
        ]]
    };
    let mut notes: Vec<String> = vec![words::sentence(&sentences::headline(analysis))];
    notes.extend(words::margins(analysis).map(|text| text.replace(" (--margin)", "")));
    notes.extend(sentences::predicted(analysis));
    notes.extend(words::caveats(analysis).iter().map(|caveat| words::sentence(caveat)));
    Sheet {
        caption: format!(
            "{} compared with {} from {client} to {server}{path}: medians of {}, differences with \
             95 % ranges (v6gap {}, run {}).",
            names.b,
            names.a,
            words::pairs_in(analysis),
            analysis.run.tool,
            analysis.run.id
        ),
        name: name("v6gap", [analysis.run.id.as_str()].into_iter()),
        heads,
        numbers: vec![false, true, true, false, true, false, false, false],
        groups: analysis.questions.iter().map(row).collect(),
        notes,
    }
}

/// A label of letters, digits and hyphens.
fn name<'a>(first: &str, rest: impl Iterator<Item = &'a str>) -> String {
    let mut name = first.to_owned();
    for part in rest {
        name.push('-');
        name.extend(part.chars().filter(char::is_ascii_alphanumeric));
    }
    name
}

/// The questions of a run as CSV, one row for each, in SI units.
pub fn csv_questions(analysis: &Analysis) -> String {
    let mut out = String::new();
    let heads = "run,cell,question,metric,protocol,level_bytes,unit,a,b,value_a,value_b,pairs,\
                 effect_kind,effect,low95,high95,sd,margin,predicted,verdict,qualifier";
    push_row(&mut out, heads.split(','));
    for q in &analysis.questions {
        let mut cells = vec![
            analysis.run.id.to_string(),
            q.cell.clone(),
            q.label.clone(),
            q.metric.to_string(),
            q.transport.name().to_lowercase(),
            q.level_bytes.map(|n| n.to_string()).unwrap_or_default(),
            q.metric.unit().to_owned(),
        ];
        cells.extend(Arm::BOTH.map(|arm| analysis.arm_names.get(arm).clone()));
        cells.extend(Arm::BOTH.map(|arm| number(*q.values.get(arm))));
        cells.push(q.pairs.iter().filter(|pair| pair.valid).count().to_string());
        cells.extend(effect(q.effect.as_ref()));
        cells.push(number(Some(q.margin)));
        cells.push(number(q.prediction.as_ref().map(|p| p.effect)));
        cells.extend(ruling(q.verdict, q.qualifier));
        push_row(&mut out, cells.iter().map(String::as_str));
    }
    out
}

/// A number in full precision; nothing for none, and for one that is not finite.
fn number(value: Option<f64>) -> String {
    value.filter(|v| v.is_finite()).map(|v| v.to_string()).unwrap_or_default()
}

/// Kind, estimate, ends of the 95 % range, standard deviation.
fn effect(effect: Option<&Effect>) -> [String; 5] {
    let kind = effect.map_or("", |effect| words::effect_kind(effect.scale));
    let of = |pick: fn(&Effect) -> f64| number(effect.map(pick));
    [
        kind.to_owned(),
        of(|e| e.estimate),
        of(|e| e.range95.low),
        of(|e| e.range95.high),
        of(|e| e.sd),
    ]
}

/// The words of verdict and qualifier in JSON.
fn ruling(verdict: Verdict, qualifier: Qualifier) -> [String; 2] {
    // Plain names: they always become text.
    let name = |value: Result<serde_json::Value, _>| -> String {
        value.ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
    };
    [name(to_value(verdict)), name(to_value(qualifier))]
}

/// A comparison as a LaTeX table.
pub fn latex_comparison(comparison: &Comparison) -> String {
    sheet(comparison).latex()
}

/// A comparison as Markdown.
pub fn markdown_comparison(comparison: &Comparison) -> String {
    let sheet = sheet(comparison);
    let mut out =
        format!("**{}**\n\n", crate::markdown::escape(sentences::comparison::headline(comparison)));
    for detail in &sentences::comparison::details(comparison) {
        out.push_str(&format!("{}\n\n", crate::markdown::escape(detail)));
    }
    out.push_str(&sheet.markdown());
    for note in comparison::notes(comparison) {
        out.push_str(&format!("\n{}\n", crate::markdown::escape(note)));
    }
    if let Some(rows) = comparison::published(comparison) {
        out.push('\n');
        crate::markdown::rows(&rows, &mut out);
    }
    if !comparison.set_up.is_empty() {
        out.push_str("\nWhat differs in the set-up:\n\n");
        out.push_str(&set_up(comparison).markdown());
    }
    out
}

/// What differs in the set-up, one row for each thing.
fn set_up(comparison: &Comparison) -> Sheet {
    let letters = comparison.runs.iter().map(|run| run.letter.to_string());
    let heads: Vec<String> = std::iter::once(String::new()).chain(letters).collect();
    let row = |d: &v6gap_judge::analysis::compare::Differs| {
        std::iter::once(d.what.clone()).chain(d.values.iter().cloned()).collect()
    };
    Sheet {
        caption: "What one run had and another had not.".to_owned(),
        numbers: vec![false; heads.len()],
        heads,
        groups: vec![crate::set_up::told(comparison).iter().map(row).collect()],
        ..Sheet::default()
    }
}

/// Two runs: value, value, change, range, verdict. More: a column for each, the change with its
/// range beside the value of the first, as in Raicu's Table 4.
fn sheet(comparison: &Comparison) -> Sheet {
    let two = comparison.runs.len() == 2;
    let mut heads = vec![String::new(), String::new(), "A".to_owned()];
    let mut numbers = vec![false, false, true];
    if two {
        heads.extend(["B", "From A to B", "95 % range", "Verdict"].map(str::to_owned));
        numbers.extend([true, false, false, false]);
    } else {
        heads.extend(comparison.runs.iter().skip(1).map(|run| run.letter.to_string()));
        numbers.resize(heads.len(), false);
    }
    let lines = comparison::lines(comparison);
    let group = |lines: &[Line<'_>]| lines.iter().map(|line| cells(line, two)).collect();
    let described: Vec<String> =
        comparison.runs.iter().map(|run| comparison::run(run).replace("  ", " ")).collect();
    let legend = match two {
        true => String::new(),
        false => " A: value; the others: change against A with its 95 % range.".to_owned(),
    };
    Sheet {
        caption: format!(
            "{} in {} runs: {}.{legend}",
            Of::Difference.subject(&comparison.arm_names),
            comparison.runs.len(),
            described.join("; ")
        ),
        name: name("v6gap", comparison.runs.iter().map(|run| run.id.as_str())),
        heads,
        numbers,
        groups: lines.chunks(Of::ALL.len()).map(group).collect(),
        notes: vec![
            comparison::margins(comparison),
            comparison::between_runs(comparison).to_owned(),
        ],
    }
}

fn cells(line: &Line<'_>, two: bool) -> Vec<String> {
    let label = if line.of == Of::Difference { line.label } else { "" };
    let mut cells = vec![label.to_owned(), line.named(), line.values[0].clone()];
    if two {
        cells.push(line.values[1].clone());
        cells.extend(match line.changes[0] {
            Some(c) => [c.text.clone(), c.range_text.clone(), Told::change(line.row, c).word()],
            None => ["–", "–", "–"].map(str::to_owned),
        });
    } else {
        cells.extend(line.changes.iter().map(|change| words::in_one(line.row, *change)));
    }
    cells
}

/// A comparison as CSV, one row for each change, in SI units.
pub fn csv_comparison(comparison: &Comparison) -> String {
    let mut out = String::new();
    let heads = "cell,question,metric,protocol,level_bytes,unit,of,from,to,from_run,to_run,\
                 value_from,value_to,change_kind,change,low95,high95,sd,margin,\
                 p_different_adjusted,p_same_adjusted,verdict,qualifier,why_none";
    push_row(&mut out, heads.split(','));
    for line in comparison::lines(comparison) {
        let row = line.row;
        for (place, change) in line.changes.iter().enumerate() {
            let Some(change) = change else { continue };
            let runs = [&comparison.runs[0], &comparison.runs[place + 1]];
            let value = |at: usize| {
                let standing = row.standings[at].as_ref();
                number(match line.of.arm() {
                    Some(arm) => standing.and_then(|s| *s.values.get(arm)),
                    None => standing.and_then(|s| s.effect.as_ref()).map(|e| e.estimate),
                })
            };
            let mut cells = vec![
                row.cell.clone(),
                row.label.clone(),
                row.metric.to_string(),
                row.transport.name().to_lowercase(),
                row.level_bytes.map(|n| n.to_string()).unwrap_or_default(),
                // A difference of the families is a ratio − 1 or a share, which have no unit.
                line.of.arm().map_or("", |_| row.metric.unit()).to_owned(),
                line.subject.clone(),
            ];
            cells.extend(runs.map(|run| run.letter.to_string()));
            cells.extend(runs.map(|run| run.id.to_string()));
            cells.extend([value(0), value(place + 1)]);
            cells.extend(effect(change.effect.as_ref()));
            let p = [row.margin, change.p_different_adjusted, change.p_same_adjusted];
            cells.extend(p.map(|p| number(Some(p))));
            cells.extend(ruling(change.verdict, change.qualifier));
            cells.push(change.why_none.clone().unwrap_or_default());
            push_row(&mut out, cells.iter().map(String::as_str));
        }
    }
    out
}
