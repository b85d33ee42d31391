//! Behaviour of the terminal queries, whether or not the test has a terminal.

use super::*;

#[test]
fn only_a_terminal_has_a_width() {
    for output in [Output::Stdout, Output::Stderr] {
        match width(output) {
            Some(columns) => assert!(is_tty(output) && columns > 0),
            None => assert!(!is_tty(output) || cfg!(not(unix)) || columns_unknown(output)),
        }
    }
}

/// A terminal of zero columns, as pseudo-terminals without a screen have.
#[cfg(unix)]
fn columns_unknown(output: Output) -> bool {
    let size = match output {
        Output::Stdout => rustix::termios::tcgetwinsize(std::io::stdout()),
        Output::Stderr => rustix::termios::tcgetwinsize(std::io::stderr()),
    };
    size.map_or(true, |size| size.ws_col == 0)
}

#[cfg(not(unix))]
fn columns_unknown(_output: Output) -> bool {
    true
}
