//! Unix: the window size of the terminal; 0 columns means that the terminal does not know.

use super::Output;
use rustix::termios::tcgetwinsize;

pub(super) fn width(output: Output) -> Option<u16> {
    let size = match output {
        Output::Stdout => tcgetwinsize(std::io::stdout()),
        Output::Stderr => tcgetwinsize(std::io::stderr()),
    };
    size.ok().map(|size| size.ws_col).filter(|&columns| columns > 0)
}
