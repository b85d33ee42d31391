//! Writing to standard output and standard error, for every verb alike.
//!
//! When nobody reads any more, as behind `| head`, what is written goes nowhere and that is no
//! error: a measurement goes on and is stored. What cannot be written for another reason, as on a
//! full disk, stops nothing either, but is told at the end ([`trouble`]).

use std::io::{Error, ErrorKind, Write};
use std::path::Path;
use std::sync::OnceLock;
use v6gap_report::text::Style;

/// Why a result could not be written, the first time.
static TROUBLE: OnceLock<Error> = OnceLock::new();

/// Why something could not be written to standard output, if there were readers for it.
pub fn trouble() -> Option<&'static Error> {
    TROUBLE.get()
}

fn note_trouble(outcome: std::io::Result<()>) {
    if let Err(error) = outcome
        && error.kind() != ErrorKind::BrokenPipe
    {
        TROUBLE.get_or_init(|| error);
    }
}

/// Writes a result.
pub fn to_stdout(text: &str) {
    note_trouble(write(std::io::stdout().lock(), text));
}

/// Writes a result that is no text, as it is.
pub fn bytes_to_stdout(bytes: &[u8]) {
    let mut stream = std::io::stdout().lock();
    note_trouble(stream.write_all(bytes).and_then(|()| stream.flush()));
}

/// Writes progress, notes and errors.
pub fn to_stderr(text: &str) {
    // There is nobody left to tell of trouble with it.
    let _ = write(std::io::stderr().lock(), text);
}

fn write(mut stream: impl Write, text: &str) -> std::io::Result<()> {
    stream.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stream.write_all(b"\n")?;
    }
    stream.flush()
}

/// The text in ASCII where the style asks for it; control characters of foreign text become `?`.
pub fn fit(style: &Style, text: &str) -> String {
    style.fit(text)
}

/// The name of a file, for a line of its own: characters that could drive a terminal become `?`,
/// and so do line breaks.
pub fn shown(path: &Path) -> String {
    fit(&Style::default(), &path.display().to_string()).replace('\n', "?")
}

/// Widest column of a table; what is longer, as names from elsewhere may be, sticks out.
const COLUMN_MAX: usize = 120;

/// How wide a column of these texts is.
pub fn column<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    let widths = texts.into_iter().map(|text| text.chars().count());
    widths.max().unwrap_or(0).min(COLUMN_MAX)
}

/// Breaks a paragraph into lines of at most `width` columns, all but the first indented.
///
/// A word longer than a line stays whole: a command or an address must be copied as it is.
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for (i, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        if i > 0 && column + 1 + length > width {
            out.push('\n');
            out.push_str(indent);
            column = indent.chars().count();
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_report::text::Glyphs;

    #[test]
    fn paragraphs_are_broken_between_words() {
        assert_eq!(wrap("one two three", 7, ""), "one two\nthree");
        assert_eq!(wrap("one two three four", 9, "  "), "one two\n  three\n  four");
        assert_eq!(wrap("averyveryverylongword x", 6, ""), "averyveryverylongword\nx");
        assert_eq!(wrap("", 6, ""), "");
    }

    #[test]
    fn columns_have_an_end() {
        assert_eq!(column(["a", "\u{e4}\u{e4}\u{e4}", ""]), 3);
        let long = "a".repeat(100_000);
        // A width of more than 16 bits cannot be formatted.
        assert_eq!(format!("{:1$}", long, column([long.as_str()])).len(), 100_000);
    }

    #[test]
    fn foreign_text_cannot_drive_a_terminal() {
        let style = Style { glyphs: Glyphs::Ascii, ..Style::default() };
        assert_eq!(fit(&style, "a\x1b[2J µ 1 – 2\n"), "a?[2J u 1 - 2\n");
    }
}
