//! Lines of a limited width: wrapped paragraphs, and a table whose cells wrap inside their columns.

use super::style::{Style, Tone};

/// Width in columns; every character used here takes one.
pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}

/// The words of a text in lines no longer than `columns`; longer words are cut.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    wrap_indented(text, columns, 0)
}

fn wrap_indented(text: &str, columns: usize, indent: usize) -> Vec<String> {
    let columns = columns.max(indent + 1);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut bare = true;
    for mut word in text.split(' ').filter(|word| !word.is_empty()) {
        if !bare && width(&line) + 1 + width(word) > columns {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            bare = true;
        }
        let mut room = columns - width(&line);
        while bare && width(word) > room {
            let cut = word.char_indices().nth(room).map_or(word.len(), |(i, _)| i);
            line.push_str(&word[..cut]);
            word = &word[cut..];
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            room = columns - indent;
        }
        if !bare {
            line.push(' ');
        }
        line.push_str(word);
        bare = false;
    }
    if !bare {
        lines.push(line);
    }
    lines
}

/// Adds a paragraph whose further lines are indented.
pub(super) fn paragraph(out: &mut String, style: &Style, tone: Tone, text: &str, indent: usize) {
    for line in wrap_indented(text, style.columns(), indent) {
        out.push_str(&style.paint(tone, &line));
        out.push('\n');
    }
}

/// Where the text of a cell stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// One cell.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub text: String,
    pub tone: Tone,
    /// Columns that it takes.
    pub span: usize,
}

impl Cell {
    pub(super) fn new(text: String, tone: Tone) -> Self {
        Cell { text, tone, span: 1 }
    }
}

/// A column: how it is aligned, how far from the one before, and how narrow it may become.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub align: Align,
    pub gap: usize,
    /// Least width, reached by wrapping what it holds; `None` if it must not wrap.
    pub least: Option<usize>,
}

impl Column {
    pub(super) const fn left(least: Option<usize>) -> Self {
        Column { align: Align::Left, gap: 2, least }
    }

    /// For numbers: what stands before it rarely reaches it, so it needs less of a gap.
    pub(super) const fn right() -> Self {
        Column { align: Align::Right, gap: 1, least: None }
    }
}

/// A table.
#[derive(Debug, Default)]
pub(super) struct Grid {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Cell>>,
}

impl Grid {
    /// The table, or `None` if it cannot be set within the width.
    pub(super) fn render(&self, style: &Style) -> Option<String> {
        let widths = self.shrunk(self.natural(), style.columns())?;
        let mut out = String::new();
        for row in &self.rows {
            self.row(row, &widths, style, &mut out);
        }
        Some(out)
    }

    /// Widths at which nothing wraps.
    fn natural(&self) -> Vec<usize> {
        let mut widths = vec![0; self.columns.len()];
        // Cells of one column first: those of several only widen what is then still too narrow.
        for spans in [false, true] {
            for row in &self.rows {
                let mut at = 0;
                for cell in row {
                    let last = at + cell.span - 1;
                    if (cell.span > 1) == spans {
                        let before = self.inner(&widths, at, cell.span) - widths[last];
                        let own = width(&cell.text).saturating_sub(before);
                        widths[last] = widths[last].max(own);
                    }
                    at += cell.span;
                }
            }
        }
        widths
    }

    /// Width of `span` columns from `at` on, with the gaps between them.
    fn inner(&self, widths: &[usize], at: usize, span: usize) -> usize {
        let gaps: usize = self.columns[at + 1..at + span].iter().map(|c| c.gap).sum();
        widths[at..at + span].iter().sum::<usize>() + gaps
    }

    /// Takes room from the columns that can give some, the last first, until the table fits.
    fn shrunk(&self, mut widths: Vec<usize>, columns: usize) -> Option<Vec<usize>> {
        let mut excess = self.inner(&widths, 0, widths.len()).saturating_sub(columns);
        for (column, width) in self.columns.iter().zip(&mut widths).rev() {
            if let Some(least) = column.least {
                let given = excess.min(width.saturating_sub(least));
                *width -= given;
                excess -= given;
            }
        }
        (excess == 0).then_some(widths)
    }

    fn row(&self, row: &[Cell], widths: &[usize], style: &Style, out: &mut String) {
        let mut at = 0;
        let mut set = Vec::new();
        for cell in row {
            let columns = self.inner(widths, at, cell.span);
            let gap = if at == 0 { 0 } else { self.columns[at].gap };
            set.push((wrap(&cell.text, columns), columns, gap, self.columns[at].align, cell.tone));
            at += cell.span;
        }
        let height = set.iter().map(|(lines, ..)| lines.len()).max().unwrap_or(0);
        for i in 0..height {
            let mut line = String::new();
            // Spaces owed before the next text, so that no line ends in spaces.
            let mut owed = 0;
            for (lines, columns, gap, align, tone) in &set {
                let text = lines.get(i).map_or("", String::as_str);
                let spare = columns - width(text);
                owed += gap;
                if text.is_empty() {
                    owed += spare;
                    continue;
                }
                let (before, after) = match align {
                    Align::Left => (0, spare),
                    Align::Right => (spare, 0),
                };
                line.push_str(&" ".repeat(owed + before));
                line.push_str(&style.paint(*tone, text));
                owed = after;
            }
            out.push_str(&line);
            out.push('\n');
        }
    }
}
