//! Writing to standard output and standard error, for every verb alike.
//!
//! When nobody reads any more, as behind `| head`, what is written goes nowhere and that is no
//! error: a measurement goes on and is stored. What cannot be written for another reason, as on a
//! full disk, stops nothing either, but is told at the end ([`trouble`]).

use serde_json::Value;
use std::io::{Error, ErrorKind, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use v6gap_report::json_escaped;
use v6gap_report::text::Style;
pub use v6gap_report::text::{column, wrap};

/// Lines of progress come at most this often, in ns.
pub(crate) const LINE_EVERY_NS: u64 = 10_000_000_000;

/// Why a result could not be written, the first time.
static TROUBLE: OnceLock<Error> = OnceLock::new();

/// Whether whoever read the results is gone.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Why something could not be written to standard output, if there were readers for it.
pub fn trouble() -> Option<&'static Error> {
    TROUBLE.get()
}

fn note_trouble(outcome: std::io::Result<()>) {
    match outcome {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => CLOSED.store(true, Relaxed),
        Err(error) => {
            TROUBLE.get_or_init(|| error);
        }
        Ok(()) => {}
    }
}

/// Whether there is no use in writing results any more: nobody reads them, or they cannot be
/// written.
pub fn is_lost() -> bool {
    CLOSED.load(Relaxed) || trouble().is_some()
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

/// A document: it says the same whatever the style, with what could drive a terminal escaped.
pub fn document(document: &Value) -> String {
    json_escaped(format!("{document:#}"))
}

/// The name of a file, for a line of its own: characters that could drive a terminal become `?`,
/// and so do line breaks.
pub fn shown(path: &Path) -> String {
    fit(&Style::default(), &path.display().to_string()).replace('\n', "?")
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_report::text::Glyphs;

    #[test]
    fn foreign_text_cannot_drive_a_terminal() {
        let style = Style { glyphs: Glyphs::Ascii, ..Style::default() };
        assert_eq!(fit(&style, "a\x1b[2J µ 1 – 2\n"), "a?[2J u 1 - 2\n");
        let told = serde_json::json!({ "title": "the “new” path, Zürich\u{9b}2J" });
        let written = document(&told);
        assert!(!written.contains('\u{9b}'), "{written}");
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), told);
    }
}
