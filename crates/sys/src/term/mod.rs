//! The terminal: whether an output is one, how wide it is, and its keys.

mod keys;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "fallback.rs")]
mod platform;
#[cfg(test)]
mod tests;

pub use keys::Keys;

use std::io::IsTerminal;

/// One of the process's standard outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Results.
    Stdout,
    /// Progress and errors.
    Stderr,
}

/// Whether `output` goes to a terminal rather than to a file or a pipe.
pub fn is_tty(output: Output) -> bool {
    match output {
        Output::Stdout => std::io::stdout().is_terminal(),
        Output::Stderr => std::io::stderr().is_terminal(),
    }
}

/// Whether whoever writes to standard input has let go of it and nothing is left to be read;
/// `false` where that cannot be told without reading.
pub fn input_is_over() -> bool {
    platform::input_is_over()
}

/// Width of the terminal behind `output` in columns, at least 1; `None` if there is none or if the
/// platform or the terminal does not tell.
pub fn width(output: Output) -> Option<u16> {
    platform::width(output)
}
