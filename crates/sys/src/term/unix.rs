//! Unix: the window size of the terminal, where 0 columns means that the terminal does not know;
//! and its settings.

use super::Output;
use crate::Unavailable;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::read;
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcgetwinsize,
    tcsetattr,
};
use std::io::{IsTerminal, stdin};
use std::time::Duration;

const KEYS: &str = "keys";

/// The terminal's settings before they were changed.
pub(super) type Before = Termios;

pub(super) fn width(output: Output) -> Option<u16> {
    let size = match output {
        Output::Stdout => tcgetwinsize(std::io::stdout()),
        Output::Stderr => tcgetwinsize(std::io::stderr()),
    };
    size.ok().map(|size| size.ws_col).filter(|&columns| columns > 0)
}

pub(super) fn input_is_over() -> bool {
    let input = stdin();
    let mut wanted = [PollFd::new(&input, PollFlags::IN)];
    let asked = poll(&mut wanted, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    let told = wanted[0].revents();
    asked.is_ok() && told.contains(PollFlags::HUP) && !told.contains(PollFlags::IN)
}

pub(super) fn begin() -> Result<Before, Unavailable> {
    let refused = |error: rustix::io::Errno| Unavailable::new(KEYS, error);
    if !stdin().is_terminal() {
        return Err(Unavailable::new(KEYS, "standard input is no terminal"));
    }
    if !in_foreground() {
        return Err(Unavailable::new(KEYS, "this program runs in the background"));
    }
    let before = tcgetattr(stdin()).map_err(refused)?;
    let mut one_at_a_time = before.clone();
    one_at_a_time.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    one_at_a_time.special_codes[SpecialCodeIndex::VMIN] = 1;
    one_at_a_time.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(stdin(), OptionalActions::Now, &one_at_a_time).map_err(refused)?;
    Ok(before)
}

pub(super) fn next(wait: Duration) -> Option<u8> {
    if !in_foreground() {
        return None;
    }
    let input = stdin();
    let mut wanted = [PollFd::new(&input, PollFlags::IN)];
    let wait = Timespec::try_from(wait).ok()?;
    if poll(&mut wanted, Some(&wait)).ok()? == 0 {
        return None;
    }
    let mut key = [0];
    (read(&input, &mut key).ok()? == 1).then_some(key[0])
}

pub(super) fn end(before: &Before) {
    if in_foreground() {
        // If the terminal is gone, there is nothing to put back.
        let _ = tcsetattr(stdin(), OptionalActions::Now, before);
    }
}

/// Whether the terminal listens to this program: one that reads or sets it from the background is
/// stopped by it. A shell that puts a program there puts its own settings back.
fn in_foreground() -> bool {
    tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp())
}
