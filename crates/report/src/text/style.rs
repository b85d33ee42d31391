//! How text is written: width, glyphs, colour; and the one place where foreign text is made
//! harmless.

use crate::words;
use std::borrow::Cow;
use v6gap_core::arm::Arm;
use v6gap_judge::analysis::Verdict;

/// Which characters may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    /// Any of Unicode.
    Unicode,
    /// ASCII only, for terminals without UTF-8.
    Ascii,
}

/// How a result is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns that no line exceeds; at least [`Style::WIDTH_MIN`] is assumed.
    pub width: usize,
    /// Which characters may be used.
    pub glyphs: Glyphs,
    /// Sentences instead of a table, for screen readers.
    pub plain: bool,
    /// Whether colour is added (SGR codes); it never says what a word does not say.
    pub colour: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style { width: 80, glyphs: Glyphs::Unicode, plain: false, colour: false }
    }
}

/// What a piece of text is about, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Arm(Arm),
    Verdict(Verdict),
    Strong,
    Plain,
}

impl Style {
    /// The narrowest width that text is laid out for.
    pub const WIDTH_MIN: usize = 20;

    pub(super) fn columns(&self) -> usize {
        self.width.max(Self::WIDTH_MIN)
    }

    /// Text as it may be printed: without control characters, which could drive a terminal, and
    /// with the nearest ASCII where that is asked.
    pub(super) fn clean(&self, text: &str) -> String {
        self.fit(&text.replace(['\n', '\t'], " "))
    }

    /// The text, which may have several lines, in the characters that the style allows: the nearest
    /// ASCII where that is asked, and `?` for what could drive a terminal.
    pub fn fit(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '\n' => out.push(c),
                c if words::is_unsafe(c) => out.push('?'),
                c if c.is_ascii() || self.glyphs == Glyphs::Unicode => out.push(c),
                c => out.push_str(ascii(c)),
            }
        }
        out
    }

    /// The text with the colour of its tone, if colour is on.
    pub(super) fn paint<'a>(&self, tone: Tone, text: &'a str) -> Cow<'a, str> {
        let code = match tone {
            Tone::Arm(Arm::A) => "34",
            Tone::Arm(Arm::B) => "33",
            Tone::Verdict(Verdict::Worse) => "35",
            Tone::Verdict(Verdict::Better) => "32",
            Tone::Strong => "1",
            Tone::Verdict(_) | Tone::Plain => "",
        };
        match self.colour && !code.is_empty() && !text.trim().is_empty() {
            true => Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m")),
            false => Cow::Borrowed(text),
        }
    }
}

fn ascii(c: char) -> &'static str {
    match c {
        '○' => "o",
        '◆' | '■' | '█' => "#",
        '▼' => "v",
        '≈' => "~",
        '▲' => "^",
        '–' | '—' | '−' | '·' => "-",
        'µ' | 'μ' => "u",
        '×' => "x",
        '≥' => ">=",
        '≤' => "<=",
        '…' => "...",
        '“' | '”' => "\"",
        '‘' | '’' => "'",
        '→' | '▸' => "->",
        '←' | '◂' => "<-",
        '┌' | '┐' | '└' | '┘' | '├' | '┤' | '┬' | '┴' | '┼' => "+",
        '─' => "-",
        '│' => "|",
        '\u{a0}' | '\u{202f}' | '\u{2009}' => " ",
        _ => "?",
    }
}
