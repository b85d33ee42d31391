//! A table for a paper: the same cells as Markdown, as LaTeX and as Org.
//!
//! LaTeX is what `booktabs` asks for: no vertical lines, three horizontal ones. Every character of
//! foreign text that TeX would read as a command is escaped, here and nowhere else.

use crate::markdown;

/// A table with what belongs under it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sheet {
    /// What it shows, as one or two sentences.
    pub caption: String,
    /// Name to refer to it by: letters, digits and hyphens.
    pub name: String,
    /// Heads of the columns.
    pub heads: Vec<String>,
    /// Columns of numbers, which are set to the right.
    pub numbers: Vec<bool>,
    /// Groups of rows; a little room stands between two of them.
    pub groups: Vec<Vec<Vec<String>>>,
    /// Sentences below.
    pub notes: Vec<String>,
}

impl Sheet {
    /// As Markdown (GitHub flavour).
    pub(crate) fn markdown(&self) -> String {
        let row = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(markdown::escape).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut out = format!("{}\n\n", markdown::escape(&self.caption));
        out.push_str(&row(&self.heads));
        let rule = |right: &bool| if *right { "---:" } else { ":---" };
        let rules: Vec<&str> = self.numbers.iter().map(rule).collect();
        out.push_str(&format!("| {} |\n", rules.join(" | ")));
        self.groups.iter().flatten().for_each(|cells| out.push_str(&row(cells)));
        for note in &self.notes {
            out.push_str(&format!("\n{}\n", markdown::escape(note)));
        }
        out
    }

    /// As an Org table with its name and caption.
    pub(crate) fn org(&self) -> String {
        let row = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| org(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = format!("|{}|\n", vec!["---"; self.heads.len()].join("+"));
        let mut out = format!("#+NAME: tab:{}\n#+CAPTION: {}\n", self.name, org(&self.caption));
        out.push_str(&row(&self.heads));
        out.push_str(&rule);
        self.groups.iter().flatten().for_each(|cells| out.push_str(&row(cells)));
        self.notes.iter().for_each(|note| out.push_str(&format!("\n{}\n", org(note))));
        out
    }

    /// As a LaTeX float, to be put into a document with `\input`.
    pub(crate) fn latex(&self) -> String {
        let row = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| tex(cell)).collect();
            format!("    {} \\\\\n", cells.join(" & "))
        };
        let columns: String =
            self.numbers.iter().map(|right| if *right { 'r' } else { 'l' }).collect();
        let mut out =
            String::from("% needs \\usepackage{booktabs}\n\\begin{table}\n  \\centering\n");
        out.push_str(&format!("  \\caption{{{}}}\n", tex(&self.caption)));
        out.push_str(&format!("  \\label{{tab:{}}}\n", self.name));
        out.push_str(&format!("  \\begin{{tabular}}{{@{{}}{columns}@{{}}}}\n    \\toprule\n"));
        out.push_str(&row(&self.heads));
        for (place, group) in self.groups.iter().enumerate() {
            let several = self.groups.iter().any(|group| group.len() > 1);
            out.push_str(match place {
                0 => "    \\midrule\n",
                _ if several => "    \\addlinespace\n",
                _ => "",
            });
            group.iter().for_each(|cells| out.push_str(&row(cells)));
        }
        out.push_str("    \\bottomrule\n  \\end{tabular}\n");
        if !self.notes.is_empty() {
            out.push_str("\n  \\smallskip\n  \\parbox{\\linewidth}{\\footnotesize\n");
            self.notes.iter().for_each(|note| out.push_str(&format!("    {}\n", tex(note))));
            out.push_str("  }\n");
        }
        out.push_str("\\end{table}\n");
        out
    }
}

/// Text as LaTeX: commands escaped, signs by their names, and what pdfLaTeX has no letter for
/// replaced by a question mark.
pub(crate) fn tex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("''"),
            '`' => out.push_str("\\textasciigrave{}"),
            '[' | ']' => out.push_str(&format!("{{{c}}}")),
            '–' => out.push_str("--"),
            '—' => out.push_str("---"),
            '−' => out.push_str("$-$"),
            '×' => out.push_str("$\\times$"),
            '±' => out.push_str("$\\pm$"),
            '∞' => out.push_str("$\\infty$"),
            '≤' => out.push_str("$\\leq$"),
            '≥' => out.push_str("$\\geq$"),
            '→' => out.push_str("$\\to$"),
            'µ' | 'μ' => out.push_str("\\textmu{}"),
            '“' => out.push_str("``"),
            '”' => out.push_str("''"),
            '‘' => out.push('`'),
            '’' => out.push('\''),
            '…' => out.push_str("\\ldots{}"),
            '\u{a0}' | '\u{202f}' | '\u{2009}' => out.push('~'),
            '\n' | '\t' => out.push(' '),
            'Ð' | 'ð' | 'Þ' | 'þ' | '÷' => out.push('?'),
            ' '..='~' | '\u{c0}'..='\u{ff}' => out.push(c),
            _ => out.push('?'),
        }
    }
    out
}

/// Text as Org: signs that are markup by their entities, and what would begin a link, a macro, an
/// entity or a keyword kept apart by a space without width, as Org's manual has it.
fn org(text: &str) -> String {
    const APART: char = '\u{200b}';
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = rest.next() {
        let behind = rest.peek().copied().unwrap_or(' ');
        // A word in italics or struck out, or a link by the name of its kind.
        let begins = match c {
            '/' | '+' => !before.is_alphanumeric() && !behind.is_ascii_digit(),
            ':' => before.is_alphabetic() && !behind.is_whitespace(),
            _ => false,
        };
        before = c;
        match c {
            c if begins => out.extend([c, APART]),
            '|' => out.push_str("\\vert{}"),
            '*' => out.push_str("\\ast{}"),
            '_' => out.push_str("\\under{}"),
            '^' => out.push_str("\\asciicirc{}"),
            '~' => out.push_str("\\tilde{}"),
            '=' => out.push_str("\\equal{}"),
            '<' => out.push_str("\\lt{}"),
            '>' => out.push_str("\\gt{}"),
            '[' | '{' | '\\' | '#' | '@' | '$' => out.extend([c, APART]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
