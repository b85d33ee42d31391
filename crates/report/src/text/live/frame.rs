//! The view as text: lines that are redrawn in place, or one that is told now and then.

use super::Live;
use super::strip::{self, Difference};
use crate::text::style::{Style, Tone};
use crate::words;
use v6gap_core::arm::Arm;
use v6gap_core::run::SoFar;
use v6gap_judge::analysis::{Range, words as names};

/// Narrower than this there are no strips; the numbers stay.
const WITH_STRIPS: usize = 72;

/// Columns of a question's name.
const LABEL: usize = 20;

/// Columns of a value beside a family's strip.
const VALUE: usize = 15;

/// Questions that are shown unless all are asked for.
const QUESTIONS: usize = 6;

/// What the view shows beside the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moment {
    /// Time since the measurement began, in ns.
    pub elapsed_ns: u64,
    /// Whether keys are read.
    pub keys: bool,
    /// Whether details and all questions are asked for.
    pub details: bool,
    /// Whether the words and strips are explained.
    pub help: bool,
    /// Whether the run ends after the present block.
    pub stopping: bool,
}

impl Live {
    /// The view, without a newline at its end. No line is longer than `style.width`, and nothing
    /// in it is final.
    pub fn frame(&self, moment: &Moment, style: &Style) -> String {
        let mut lines = match style.plain {
            true => self.sentences(moment),
            false => self.picture(moment, style),
        };
        if moment.help {
            lines.extend(HELP.map(|line| (Tone::Plain, line.to_owned())));
        }
        lines.push((Tone::Plain, keys(moment).to_owned()));
        let painted = lines.iter().map(|(tone, line)| {
            let line = cut(&style.clean(line), style.columns());
            style.paint(*tone, line.trim_end()).into_owned()
        });
        painted.collect::<Vec<_>>().join("\n")
    }

    /// One line on what is known after a round, for files and pipes.
    pub fn line(&self, elapsed_ns: u64, style: &Style) -> String {
        let mut parts = vec![self.pair(self.rounds)];
        let known = self.so_far.iter().find(|question| !question.text.is_empty());
        if let Some(question) = known {
            let (values, unit) = self.values(question.metric);
            parts.push(format!("{}  {} {unit}", values.a, values.b));
            let range = range(question).map(|range| format!(" ({range})")).unwrap_or_default();
            parts.push(format!("{} {}{range}", question.metric, question.text));
        }
        parts.push("so far, not final".to_owned());
        parts.extend(self.left(elapsed_ns));
        style.clean(&parts.join("   "))
    }

    fn picture(&self, moment: &Moment, style: &Style) -> Vec<(Tone, String)> {
        let columns = style.columns();
        let mut lines = vec![(Tone::Strong, self.progress(moment, style)), blank()];
        if let Some(metric) = self.of_levels() {
            lines.extend(self.table(metric, moment.details, style));
            if moment.details {
                lines.extend(self.latest_details());
            }
            return lines;
        }
        for arm in Arm::BOTH {
            lines.push((Tone::Arm(arm), self.family(arm, style)));
        }
        if moment.details {
            lines.extend(self.latest_details());
        }
        lines.push(blank());
        let over = &self.arms.b;
        let sides = format!("◂ {over} worse   same   better ▸");
        let width = strip::COLUMNS;
        lines.push((
            Tone::Plain,
            match columns >= WITH_STRIPS {
                true => format!("{:<LABEL$}{sides:^width$}", "So far (not final)"),
                false => format!("So far (not final), {over}:"),
            },
        ));
        let differences: Vec<_> = self.so_far.iter().map(|q| self.difference(q)).collect();
        let known: Vec<Difference> = differences.iter().flatten().copied().collect();
        let most = strip::axis(&known);
        let shown = if moment.details { usize::MAX } else { QUESTIONS };
        for (question, difference) in self.so_far.iter().zip(&differences).take(shown) {
            let line = self.question(question, *difference, most, style);
            lines.push((Tone::Plain, line));
        }
        match self.so_far.len() {
            0 => lines.push((Tone::Plain, "nothing before the first pairs".to_owned())),
            n if n > shown => {
                lines.push((Tone::Plain, format!("… {} more (d shows all)", n - shown)));
            }
            _ => {}
        }
        lines
    }

    /// What else the latest trials told, and what is done now.
    fn latest_details(&self) -> Vec<(Tone, String)> {
        let of = |arm| (Tone::Arm(arm), format!("{}  {}", self.name(arm), self.details.get(arm)));
        let now = (Tone::Plain, format!("Now: {}", self.doing));
        Arm::BOTH.into_iter().map(of).chain([now]).collect()
    }

    /// Which pair, how much of it is done, how much time is left.
    fn progress(&self, moment: &Moment, style: &Style) -> String {
        let pair = match self.round.0 {
            0 => "Before the pairs".to_owned(),
            round => words::capital(&self.pair(round)),
        };
        let left = self.left(moment.elapsed_ns).unwrap_or_default();
        let taken = pair.chars().count() + left.chars().count() + 4;
        let room = style.columns().saturating_sub(taken);
        match room >= 10 && style.columns() >= WITH_STRIPS {
            true => {
                let share = self.share(moment.elapsed_ns);
                format!("{pair}  {}  {left}", strip::done(share, room, style))
            }
            false => format!("{pair}  {left}"),
        }
    }

    /// "○ IPv4 >", with the mark of whose turn it is.
    fn name(&self, arm: Arm) -> String {
        let glyph = if arm == Arm::A { '○' } else { '◆' };
        let turn = if *self.turn.get(arm) { '>' } else { ' ' };
        format!("{glyph} {:<4} {turn}", self.arms.get(arm))
    }

    /// A family's strip: its latest trials among those of both, each by its height among the
    /// trials of its cell; and its latest values.
    fn family(&self, arm: Arm, style: &Style) -> String {
        let mut line = self.name(arm);
        let values: Vec<String> = self
            .shown()
            .into_iter()
            .map(|metric| {
                let (values, unit) = self.values(metric);
                format!("{:>VALUE$}", format!("{} {unit}", values.get(arm)))
            })
            .collect();
        if style.columns() >= WITH_STRIPS {
            let room = style.columns() - WITH_STRIPS + 32;
            line.push(' ');
            line.push_str(&self.course(arm, room.min(super::TRIALS), style));
        }
        line.push_str(&values.concat());
        line
    }

    fn course(&self, arm: Arm, columns: usize, style: &Style) -> String {
        let latest = self.course.iter().skip(self.course.len().saturating_sub(columns));
        let highest = |cell: usize| {
            let values = self.course.iter().filter(|(_, other, _)| *other == cell);
            values.map(|(_, _, value)| *value).fold(f64::MIN_POSITIVE, f64::max)
        };
        let bar = |(of, cell, value): &(Arm, usize, f64)| match *of == arm {
            true => strip::bar(value / highest(*cell), style),
            false => strip::bar(0.0, style),
        };
        let bars: String = latest.map(bar).collect();
        format!("{bars:<columns$}")
    }

    fn difference(&self, question: &SoFar) -> Option<Difference> {
        let (estimate, low, high) = question.range?;
        let (metric, margin) = (question.metric, self.plan.margin(question.metric));
        Some(Difference { metric, margin, estimate, low, high })
    }

    fn question(
        &self,
        question: &SoFar,
        difference: Option<Difference>,
        most: f64,
        style: &Style,
    ) -> String {
        let label = cut(&style.clean(&self.label(question)), LABEL - 1);
        let text = match question.text.as_str() {
            "" => "no range yet",
            text => text,
        };
        let mut line = format!("{label:<LABEL$}");
        if style.columns() >= WITH_STRIPS {
            let margin = (question.metric, self.plan.margin(question.metric));
            line.push_str(&strip::strip(margin, difference, most, style));
            line.push_str("  ");
        }
        line.push_str(text);
        if let Some(range) = range(question) {
            let with = format!("{line}  {}", range.trim_end_matches(" %"));
            if with.chars().count() <= style.columns() {
                return with;
            }
        }
        line
    }

    /// The moment as sentences, for screen readers.
    fn sentences(&self, moment: &Moment) -> Vec<(Tone, String)> {
        let pair = words::capital(&self.pair(self.round.0.max(1)));
        let left = self.left(moment.elapsed_ns).map(|left| format!(", {left}")).unwrap_or_default();
        let mut lines = vec![format!("{pair}{left}.")];
        for metric in self.shown() {
            let (values, unit) = self.values(metric);
            let [a, b] = [&self.arms.a, &self.arms.b];
            lines.push(format!("{metric}: {a} {} {unit}, {b} {} {unit}.", values.a, values.b));
        }
        for question in self.so_far.iter().filter(|question| !question.text.is_empty()) {
            let range = range(question).map(|range| format!(", range {range}"));
            let label = self.label(question);
            let (text, range) = (&question.text, range.unwrap_or_default());
            lines.push(format!("{label}: {text}{range}, not final."));
        }
        lines.into_iter().map(|line| (Tone::Plain, line)).collect()
    }
}

/// What the marks mean.
const HELP: [&str; 4] = [
    "Families: each trial is a bar, as high as its value; > is whose turn it is.",
    "So far: left is worse, right is better; the line is the 95 % range so far, the",
    "grey middle is too small to matter (--margin). The mark is no verdict yet.",
    "Looking changes nothing: what ends the run was settled before it began.",
];

fn keys(moment: &Moment) -> &'static str {
    match (moment.stopping, moment.keys) {
        (true, _) => "stopping after this pair; Ctrl-C drops it",
        (false, true) => "q stop and keep   d details   ? help",
        (false, false) => "Ctrl-C stops and keeps what is complete",
    }
}

pub(super) fn blank() -> (Tone, String) {
    (Tone::Plain, String::new())
}

/// The range of a question in words.
pub(super) fn range(question: &SoFar) -> Option<String> {
    let (_, low, high) = question.range?;
    Some(names::range_in_words(question.metric, &Range { low, high }))
}

/// The text in so many columns.
pub(super) fn cut(text: &str, columns: usize) -> String {
    match text.chars().count() <= columns {
        true => text.to_owned(),
        false => text.chars().take(columns.saturating_sub(1)).chain(['~']).collect(),
    }
}
