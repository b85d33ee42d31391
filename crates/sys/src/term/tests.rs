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

/// Whether or not the tests have a terminal, nobody is stopped for asking.
#[test]
fn keys_come_from_a_terminal() {
    match Keys::read() {
        Ok(keys) => {
            assert!(std::io::stdin().is_terminal());
            let _ = keys.next(std::time::Duration::ZERO);
        }
        Err(why) => assert!(why.to_string().starts_with("keys unavailable, because"), "{why}"),
    }
}
