//! Whole runs with known noise, many of each kind. Seeds are fixed; the rates hold for the rule,
//! not for luck: a count may exceed the promised rate by three binomial standard deviations.
//!
//! By day few runs of each kind; `V6GAP_FULL=1`, as in the night, makes thousands, and
//! `--nocapture` prints what docs/method.md C.8 and C.15 report.

mod between;
mod changes;
mod guards;
mod ranges;
mod runs;

/// How many by day, or at night.
fn count(by_day: u32, at_night: u32) -> u32 {
    if std::env::var_os("V6GAP_FULL").is_some() { at_night } else { by_day }
}
