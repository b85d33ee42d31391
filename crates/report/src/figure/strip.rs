//! The history of a question of a path that is watched, as a strip: a column for each visit or for
//! those of some time together, the spells between changes with their means and ranges, and when a
//! family did not answer. It has no text in it, so that it may be as narrow as a telephone.

use super::drawing::{self, Canvas, Ink, Stroke};
use super::series;
use super::{Paint, Table, WIDTH};
use crate::changes::{spell_in_words, told};
use crate::number::date;
use crate::words::{self, Told};
use v6gap_core::family::Family;
use v6gap_core::unit::format_span;
use v6gap_judge::analysis::Verdict;
use v6gap_judge::analysis::words::counted;
use v6gap_judge::changes::{Spell, Spells};

/// Height where it is [`WIDTH`] wide.
const HEIGHT: f64 = 96.0;

/// Columns of a strip: more visits share one.
const COLUMNS: u64 = 130;

/// Width of what is drawn in a column.
const COLUMN_WIDTH: f64 = 2.4;

/// One in so many visits at either end may lie beyond the axis.
const BEYOND: usize = 50;

/// Outages that are told one by one, the latest; those before them are counted.
const SAID_MAX: usize = 50;

/// Least width and height of what must be seen.
const LEAST: f64 = 3.0;

/// What a strip is drawn of.
#[derive(Debug, Clone, Copy)]
pub struct Course<'a> {
    /// What the path is called.
    pub path: &'a str,
    /// The question and its spells, in the order of time.
    pub spells: &'a Spells,
    /// When each visit that measured it began, in ns since the Unix epoch, and the difference that
    /// it found: relative for ratios, else in the unit of the metric.
    pub visits: &'a [(u64, f64)],
    /// When a family did not answer: from and until when, in ns since the Unix epoch.
    pub silences: &'a [(Family, u64, Option<u64>)],
    /// Up to when this is known, in ns since the Unix epoch.
    pub to_unix_ns: u64,
}

/// A strip with everything that makes it readable without being seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Strip {
    /// How it is today.
    pub title: String,
    /// What a reader would see in it.
    pub desc: String,
    /// The picture, as an SVG element in the colours of the page that it stands in.
    pub svg: String,
    /// The differences at its upper and at its lower edge, in words.
    pub edges: [String; 2],
    /// When it begins and when it ends (UTC).
    pub ends: [String; 2],
    /// How to read it.
    pub foot: String,
    /// Its spells.
    pub table: Table,
}

/// The strip of a question; none before a visit has measured it.
pub fn strip(course: &Course<'_>) -> Option<Strip> {
    let last = course.spells.all.last()?;
    let axes = Axes::of(course)?;
    let asked = &course.spells.asked;
    let effect = words::effect(asked.metric, asked.metric.scale().shown(last.means.effect.mean));
    let title = format!(
        "{}, {}: over IPv6 {effect} since {} (UTC), {}",
        course.path,
        asked.label,
        date(last.from.unix_ns),
        told(asked, last).marked(),
    );
    let table = table(course);
    let desc = described(course, &axes, &table);
    let canvas = draw(course, &axes);
    let id = format!("strip-{}-{}-{}", named(course.path), named(&asked.cell), asked.metric);
    let drawn = drawing::draw(&id, &title, &desc, HEIGHT, Paint::Page, vec![canvas]);
    let edge = |value: f64| words::effect(asked.metric, value);
    Some(Strip {
        title,
        desc,
        svg: drawn.svg,
        edges: [edge(axes.high), edge(axes.low)],
        ends: [date(axes.from_unix_ns), date(axes.to_unix_ns)],
        foot: foot(course, &axes),
        table,
    })
}

/// When a family did not answer, from and until when in ns since the Unix epoch and in the order
/// of time: a sentence each, of the latest 50. What comes and goes for weeks has thousands.
pub fn silences_in_words(silences: &[(Family, u64, Option<u64>)]) -> Vec<String> {
    let (before, told) = silences.split_at(silences.len().saturating_sub(SAID_MAX));
    let left_out = (!before.is_empty()).then(|| {
        let verb = if before.len() == 1 { "is" } else { "are" };
        format!("{} before that {verb} left out.", counted(before.len(), "outage"))
    });
    let told = told.iter().map(|(family, since, until)| silence_in_words(*family, *since, *until));
    left_out.into_iter().chain(told).collect()
}

fn silence_in_words(family: Family, since_unix_ns: u64, until_unix_ns: Option<u64>) -> String {
    let since = date(since_unix_ns);
    match until_unix_ns {
        Some(until) => format!("{family} did not answer from {since} to {} (UTC).", date(until)),
        None => format!("{family} has not answered since {since} (UTC)."),
    }
}

/// What the strip spans.
struct Axes {
    from_unix_ns: u64,
    to_unix_ns: u64,
    low: f64,
    high: f64,
}

impl Axes {
    /// From the first that is known; with every mean, range and margin, and most visits.
    fn of(course: &Course<'_>) -> Option<Axes> {
        let Spells { asked, all } = course.spells;
        let begins = course.visits.iter().map(|(at, _)| *at);
        let begins = begins.chain(all.iter().map(|spell| spell.from.unix_ns));
        let from_unix_ns = begins.min()?;
        let mut effects: Vec<f64> = course.visits.iter().map(|(_, effect)| *effect).collect();
        effects.retain(|effect| effect.is_finite());
        effects.sort_by(f64::total_cmp);
        let beyond = effects.len() / BEYOND;
        let most = effects.get(beyond..effects.len() - beyond).unwrap_or_default();
        let own = |x: f64| asked.metric.scale().shown(x);
        let of_spell = |spell: &Spell| {
            let ends = ranged(course.spells, spell).into_iter().flatten();
            ends.chain([own(spell.means.effect.mean)]).collect::<Vec<f64>>()
        };
        let values = all.iter().flat_map(of_spell).chain(most.iter().copied());
        let margins = [own(asked.margin), own(-asked.margin)].map(|margin| margin * 1.2);
        let (low, high) = series::span(values.chain(margins), 0.06)?;
        let to_unix_ns = course.to_unix_ns.max(from_unix_ns.saturating_add(1));
        Some(Axes { from_unix_ns, to_unix_ns, low, high })
    }

    fn length_ns(&self) -> u64 {
        self.to_unix_ns.saturating_sub(self.from_unix_ns).max(1)
    }

    fn x(&self, unix_ns: u64) -> f64 {
        let since = unix_ns.clamp(self.from_unix_ns, self.to_unix_ns) - self.from_unix_ns;
        since as f64 / self.length_ns() as f64 * WIDTH
    }

    fn y(&self, value: f64) -> f64 {
        let share = (value.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        (1.0 - share) * HEIGHT
    }

    /// Time that a column stands for, in ns.
    fn column_ns(&self) -> u64 {
        self.length_ns().div_ceil(COLUMNS).max(1)
    }
}

fn draw(course: &Course<'_>, axes: &Axes) -> Canvas {
    let Spells { asked, all } = course.spells;
    let mut canvas = Canvas::default();
    let own = |x: f64| asked.metric.scale().shown(x);
    band(&mut canvas, axes, (0.0, WIDTH), [own(-asked.margin), own(asked.margin)], Ink::Zone);
    let none = axes.y(0.0);
    canvas.stroke((0.0, none), (WIDTH, none), Ink::Axis, 1.0, Stroke::Solid);
    for (family, since, until) in hatched(course, axes) {
        hatch(&mut canvas, axes, family, since, until);
    }
    for spell in all {
        if let Some(range) = ranged(course.spells, spell) {
            band(&mut canvas, axes, ends(axes, spell), range, Ink::Soft(spell.verdict));
        }
    }
    columns(&mut canvas, axes, course.visits);
    for spell in all {
        let ((left, right), ink) = (ends(axes, spell), Ink::Verdict(spell.verdict));
        let mut level = |value: f64, width| {
            let y = axes.y(value);
            canvas.stroke((left, y), (right, y), ink, width, Stroke::Solid);
        };
        if let Some([low, high]) = ranged(course.spells, spell) {
            level(low, 1.0);
            level(high, 1.0);
        }
        level(own(spell.means.effect.mean), 2.2);
        if spell.change.is_some() {
            canvas.stroke((left, 0.0), (left, HEIGHT), Ink::Text, 2.0, Stroke::Dotted);
        }
        let at = ((left + right) / 2.0, axes.y(own(spell.means.effect.mean)));
        mark(&mut canvas, at, told(asked, spell));
    }
    canvas
}

/// When a family did not answer, of what the strip spans.
fn silences<'a>(
    course: &Course<'a>,
    axes: &Axes,
) -> impl Iterator<Item = &'a (Family, u64, Option<u64>)> {
    let from_unix_ns = axes.from_unix_ns;
    let silences: &'a [(Family, u64, Option<u64>)] = course.silences;
    silences.iter().filter(move |(_, _, until)| until.is_none_or(|until| until > from_unix_ns))
}

/// What is hatched: outages of a family that are less than a column apart are one, so that the
/// picture of a path that comes and goes is no larger than that of another.
fn hatched(course: &Course<'_>, axes: &Axes) -> Vec<(Family, u64, u64)> {
    let mut all: Vec<(Family, u64, u64)> = Vec::new();
    for (family, since, until) in silences(course, axes) {
        let until = until.unwrap_or(axes.to_unix_ns);
        match all.iter_mut().rev().find(|(of, ..)| of == family) {
            Some((_, _, end)) if *since <= end.saturating_add(axes.column_ns()) => {
                *end = until.max(*end);
            }
            _ => all.push((*family, *since, until)),
        }
    }
    all
}

/// Both ends of the range of a spell's mean, where it has one.
fn ranged(spells: &Spells, spell: &Spell) -> Option<[f64; 2]> {
    let range = spell.means.effect.range;
    let own = |x: f64| spells.asked.metric.scale().shown(x);
    (range.low.is_finite() && range.high.is_finite()).then(|| [own(range.low), own(range.high)])
}

/// Where a spell is drawn: wide enough to be seen, and within the strip.
fn ends(axes: &Axes, spell: &Spell) -> (f64, f64) {
    let (left, right) = (axes.x(spell.from.unix_ns), axes.x(spell.to.unix_ns));
    let left = left.min(WIDTH - LEAST);
    (left, right.max(left + LEAST))
}

/// A band between two values.
fn band(
    canvas: &mut Canvas,
    axes: &Axes,
    (left, right): (f64, f64),
    [low, high]: [f64; 2],
    ink: Ink,
) {
    let (top, foot) = (axes.y(high), axes.y(low));
    canvas.fill((left, top), (right - left, foot - top), ink);
}

/// From the least to the greatest difference of the visits of each column.
fn columns(canvas: &mut Canvas, axes: &Axes, visits: &[(u64, f64)]) {
    let width = WIDTH / COLUMNS as f64;
    let column = |at: u64| at.saturating_sub(axes.from_unix_ns) / axes.column_ns();
    let finite: Vec<(u64, f64)> =
        visits.iter().filter(|(_, effect)| effect.is_finite()).copied().collect();
    for same in finite.chunk_by(|a, b| column(a.0) == column(b.0)) {
        let Some((at, _)) = same.first() else { continue };
        let x = ((column(*at) as f64 + 0.5) * width).min(WIDTH - width / 2.0);
        let values = || same.iter().map(|(_, effect)| *effect);
        let top = axes.y(values().fold(f64::NEG_INFINITY, f64::max));
        let foot = axes.y(values().fold(f64::INFINITY, f64::min));
        // One visit alone is a small square.
        let short = ((COLUMN_WIDTH - (foot - top)) / 2.0).max(0.0);
        let ends = [(x, top - short), (x, foot + short)];
        canvas.stroke(ends[0], ends[1], Ink::Faint, COLUMN_WIDTH, Stroke::Solid);
    }
}

/// Slanted lines over a time in which a family did not answer, each family's to its own side.
fn hatch(canvas: &mut Canvas, axes: &Axes, family: Family, since: u64, until: u64) {
    /// From one line to the next.
    const STEP: f64 = 6.0;
    /// How far a line leans.
    const LEAN: f64 = 14.0;
    let left = axes.x(since).min(WIDTH - LEAST);
    let right = axes.x(until).max(left + LEAST);
    let side = |x: f64| match family {
        Family::V6 => x,
        Family::V4 => left + right - x,
    };
    let lines = ((right - left) / STEP).ceil().max(1.0) as usize;
    for line in 0..lines {
        let foot = left + STEP * line as f64;
        let top = (foot + LEAN).min(right);
        let height = HEIGHT * (top - foot) / LEAN;
        let ends = [(side(foot), HEIGHT), (side(top), HEIGHT - height)];
        canvas.stroke(ends[0], ends[1], Ink::Text, 1.2, Stroke::Solid);
    }
    for x in [left, right] {
        canvas.stroke((x, 0.0), (x, HEIGHT), Ink::Text, 1.2, Stroke::Solid);
    }
}

/// The shape of an answer, as everywhere.
fn mark(canvas: &mut Canvas, (x, y): (f64, f64), told: Told) {
    const ROOM: f64 = 8.0;
    /// A line that goes up and down, seen from its middle.
    const WAVE: [(f64, f64); 4] = [(-6.0, 1.4), (-2.0, -1.4), (2.0, 1.4), (6.0, -1.4)];
    let (x, y) = (x.clamp(ROOM, WIDTH - ROOM), y.clamp(ROOM, HEIGHT - ROOM));
    let verdict = told.verdict;
    match verdict {
        Verdict::Better | Verdict::Worse => canvas.triangle((x, y), verdict),
        Verdict::Same if told.within.is_some() => {
            for y in [y - 3.0, y + 3.0] {
                let wave = WAVE.map(|(right, down)| (x + right, y + down));
                canvas.line(&wave, Ink::Verdict(verdict), Stroke::Solid);
            }
        }
        Verdict::Same => {
            for y in [y - 2.5, y + 2.5] {
                let ends = [(x - 6.0, y), (x + 6.0, y)];
                canvas.stroke(ends[0], ends[1], Ink::Verdict(verdict), 2.4, Stroke::Solid);
            }
        }
        Verdict::CannotTell | Verdict::None => {
            canvas.node((x - 4.5, y - 4.5), (9.0, 9.0), 4.5, Ink::Verdict(verdict));
        }
    }
}

fn table(course: &Course<'_>) -> Table {
    let Spells { asked, all } = course.spells;
    let heads = ["from (UTC)", "to", "visits", "over IPv6", "95 % range", "answer", "found"];
    let row = |(number, spell): (usize, &Spell)| {
        spell_in_words(asked, spell, number + 1 == all.len()).to_vec()
    };
    Table {
        heads: heads.map(str::to_owned).to_vec(),
        rows: all.iter().enumerate().map(row).collect(),
    }
}

/// Every spell and every outage in words.
fn described(course: &Course<'_>, axes: &Axes, table: &Table) -> String {
    let spell = |row: &Vec<String>| match &row[..] {
        [from, to, visits, effect, range, answer, ..] => {
            let visits =
                if visits == "1" { "1 visit".to_owned() } else { format!("{visits} visits") };
            format!("{from} to {to}, {visits}: {effect} ({range}), {answer}.")
        }
        _ => String::new(),
    };
    let spells = table.rows.iter().map(spell);
    let silent: Vec<(Family, u64, Option<u64>)> = silences(course, axes).copied().collect();
    spells.chain(silences_in_words(&silent)).collect::<Vec<_>>().join(" ")
}

fn foot(course: &Course<'_>, axes: &Axes) -> String {
    let column = format_span(axes.column_ns() as f64);
    let mut foot = format!(
        "A column is a visit, or those of {column} from the least to the greatest difference. \
         Lines across: the mean of a spell and its 95 % range; what lies in the grey band is too \
         small to matter."
    );
    let changes = course.spells.all.iter().filter(|spell| spell.change.is_some()).count();
    if changes > 0 {
        foot.push_str(&format!(" {}, each a dotted line.", counted(changes, "change")));
    }
    let silent = silences(course, axes).count();
    if silent > 0 {
        foot.push_str(&format!(" Hatched: a family did not answer ({silent})."));
    }
    foot
}

/// A name as part of an identifier: each character that may not stand there by its number.
fn named(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    text.chars()
        .map(|c| if plain(c) { c.to_string() } else { format!("_{:x}", u32::from(c)) })
        .collect()
}

#[cfg(test)]
mod tests;
