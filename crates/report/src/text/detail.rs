//! What the verbose form adds: pairs and spread of each question, seed, settings of the sockets,
//! transfers between payload and line, what loads reached and searches asked for.

use super::grid::{Cell, Column, Grid};
use super::style::{Style, Tone};
use crate::beside;
use crate::loads::loads;
use crate::resources;
use crate::searches::searches;
use crate::sentences::{self, sensitivity};
use crate::sockets::sockets;
use crate::transfers::transfers;
use crate::words;
use v6gap_core::plan::Stop;
use v6gap_core::record::Line;
use v6gap_judge::analysis::Analysis;
use v6gap_judge::analysis::words::{Sided, amount_of};

pub(super) fn add(analysis: &Analysis, lines: &[Line], style: &Style, out: &mut String) {
    spread(analysis, style, out);
    let design = &analysis.run.plan.design;
    let rule = match design.stop {
        Stop::Pairs { pairs } => format!("a fixed number of {pairs} pairs"),
        Stop::Adaptive { .. } if analysis.ended_by_itself() => {
            "ranges of a run that ended by its own rule".to_owned()
        }
        Stop::Adaptive { .. } => "ranges that hold at any stopping time".to_owned(),
    };
    let seed = analysis.run.plan.seed;
    let text = format!("Seed {seed:#x}; {rule}; {} trials stored.", analysis.trials);
    super::say(style, out, &text);
    let passed = sentences::checks::passed(analysis);
    let said = [sentences::blocks(analysis), sentences::far(analysis), passed];
    for text in said.into_iter().flatten() {
        super::say(style, out, &text);
    }
    out.push('\n');
    granted(lines, style, out);
    costs(analysis, style, out);
    sizes(analysis, style, out);
    for text in sensitivity::open(analysis) {
        super::say(style, out, &text);
    }
    resources(analysis, true, style, out);
    beside(analysis, style, out);
    let sentences = transfers(lines).into_iter().chain(loads(lines)).chain(searches(lines));
    for sentence in sentences {
        super::say(style, out, &sentence);
    }
}

fn spread(analysis: &Analysis, style: &Style, out: &mut String) {
    let cell = |text: &str| Cell::new(style.clean(text), Tone::Plain);
    let heads = ["", "difference", "pairs", "SD of a pair", "90 % range", "predicted"];
    let mut grid = Grid {
        columns: vec![
            Column::left(Some(12)),
            Column::right(),
            Column::right(),
            Column::right(),
            Column::right(),
            Column::right(),
        ],
        rows: vec![heads.iter().map(|head| cell(head)).collect()],
    };
    for q in &analysis.questions {
        let Some(effect) = &q.effect else { continue };
        let told = Sided { range: &effect.range90, margin: Some(q.margin) };
        let range = words::signed_range(q.metric, told);
        let predicted = q.prediction.as_ref().map(|p| words::signed_amount(q.metric, p.effect));
        let predicted = predicted.unwrap_or_else(|| "–".to_owned());
        let sd = amount_of(q.metric, q.metric.scale().shown(effect.sd));
        let difference = words::absolute_effect(q).unwrap_or_else(|| "–".to_owned());
        let blocks = effect.blocks.to_string();
        let cells = [&q.label, &difference, &blocks, &sd, &range, &predicted];
        grid.rows.push(cells.iter().map(|text| cell(text)).collect());
    }
    if let Some(text) = grid.render(style).filter(|_| grid.rows.len() > 1 && !style.plain) {
        out.push_str(&text);
    } else {
        for row in grid.rows.iter().skip(1) {
            let parts = row.iter().skip(1).zip(heads.iter().skip(1));
            let parts: Vec<String> = parts.map(|(c, head)| format!("{head} {}", c.text)).collect();
            super::say(style, out, &format!("{}: {}", row[0].text, parts.join(", ")));
        }
    }
    out.push('\n');
}

/// What the trials took from the hosts; nothing if there is nothing to say.
pub(super) fn resources(analysis: &Analysis, all: bool, style: &Style, out: &mut String) {
    let rows = resources::rows(analysis, all);
    if rows.is_empty() {
        return;
    }
    let cell = |text: &str| Cell::new(style.clean(text), Tone::Plain);
    let mut grid = Grid {
        columns: vec![Column::left(Some(20)), Column::right(), Column::right()],
        rows: vec![resources::HEADS.iter().map(|head| cell(head)).collect()],
    };
    for row in &rows {
        grid.rows.push(vec![cell(&row.name), cell(&row.values.v4), cell(&row.values.v6)]);
    }
    match grid.render(style).filter(|_| !style.plain) {
        Some(text) => out.push_str(&text),
        None => {
            for row in &rows {
                let (v4, v6) = (&row.values.v4, &row.values.v6);
                super::say(style, out, &format!("{}: IPv4 {v4}, IPv6 {v6}.", row.name));
            }
        }
    }
    out.push('\n');
}

/// Octets as captures and managed devices counted them; nothing if there are none.
fn beside(analysis: &Analysis, style: &Style, out: &mut String) {
    let rows = beside::rows(analysis);
    if rows.is_empty() {
        return;
    }
    let cell = |text: &str| Cell::new(style.clean(text), Tone::Plain);
    let mut columns = vec![Column::left(Some(12)), Column::left(Some(16))];
    columns.extend((0..4).map(|_| Column::right()));
    let heads = beside::HEADS.iter().map(|head| cell(head)).collect();
    let mut grid = Grid { columns, rows: vec![heads] };
    grid.rows.extend(rows.iter().map(|row| row.iter().map(|text| cell(text)).collect()));
    match grid.render(style).filter(|_| !style.plain) {
        Some(text) => out.push_str(&text),
        None => {
            let mut of = "";
            for [name, who, sent, received, sent_ratio, received_ratio] in &rows {
                of = if name.is_empty() { of } else { name };
                super::say(
                    style,
                    out,
                    &format!(
                        "{of}, {who}: {sent} octets sent ({sent_ratio} of own) and {received} \
                     received ({received_ratio})."
                    ),
                );
            }
        }
    }
    super::say(style, out, beside::WHY);
    out.push('\n');
}

/// Whether the size of transfers matters.
fn sizes(analysis: &Analysis, style: &Style, out: &mut String) {
    for size in &analysis.transfer_sizes {
        super::say(style, out, &size.sentence);
    }
    if !analysis.transfer_sizes.is_empty() {
        out.push('\n');
    }
}

/// What constant, packets and bytes of round trips cost.
fn costs(analysis: &Analysis, style: &Style, out: &mut String) {
    let cell = |text: &String| Cell::new(style.clean(text), Tone::Plain);
    for costs in crate::costs::costs(analysis) {
        if !costs.rows.is_empty() {
            let mut grid = Grid {
                columns: vec![Column::left(Some(12)); costs.heads.len()],
                rows: vec![costs.heads.iter().map(cell).collect()],
            };
            grid.rows.extend(costs.rows.iter().map(|row| row.iter().map(cell).collect()));
            match grid.render(style).filter(|_| !style.plain) {
                Some(text) => out.push_str(&text),
                None => {
                    let [head, names @ ..] = &costs.heads;
                    for [name, values @ ..] in &costs.rows {
                        let parts = names.iter().zip(values).map(|(n, v)| format!("{n} {v}"));
                        let parts: Vec<String> = parts.collect();
                        super::say(style, out, &format!("{head}, {name}: {}", parts.join(", ")));
                    }
                }
            }
        }
        for sentence in &costs.sentences {
            super::say(style, out, sentence);
        }
        out.push('\n');
    }
}

fn granted(lines: &[Line], style: &Style, out: &mut String) {
    let rows = sockets(lines);
    if rows.is_empty() {
        return;
    }
    let cell = |text: &str| Cell::new(style.clean(text), Tone::Plain);
    let heads = ["sockets", "end", "asked", "IPv4 got", "IPv6 got"];
    let mut grid = Grid {
        columns: vec![Column::left(Some(8)); heads.len()],
        rows: vec![heads.iter().map(|head| cell(head)).collect()],
    };
    for row in &rows {
        let name = format!("{}, {}", row.cell, row.setting);
        let asked = row.asked.as_deref().unwrap_or("–");
        let cells = [&name, row.end, asked, &row.v4, &row.v6];
        grid.rows.push(cells.iter().map(|text| cell(text)).collect());
    }
    if let Some(text) = grid.render(style).filter(|_| !style.plain) {
        out.push_str(&text);
    } else {
        for row in &rows {
            let asked = row.asked.as_deref().unwrap_or("–");
            let got = format!("asked {asked}, IPv4 got {}, IPv6 got {}", row.v4, row.v6);
            super::say(style, out, &format!("{} {}, {}: {got}", row.cell, row.end, row.setting));
        }
    }
    out.push('\n');
}
