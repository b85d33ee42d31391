//! Every supported platform is checked from one machine, so that none rots unseen.
//!
//! `cargo check` needs no foreign linker. A dependency that compiles C would need a foreign C
//! compiler and fail here; that is one more reason to keep such dependencies out.
//!
//! Tidy proves that only `sys` names operating systems, so by day `sys` is checked for every target
//! and the whole program for one, which has nothing of Linux. The night checks all for all: where
//! the lab is compiled in, types of the C library differ between processors.

use crate::command::{Line, cargo};
use crate::suites::{PROFILE, Tier};

/// The target that the whole program is checked for by day.
const WHOLE: &str = "x86_64-pc-windows-gnu";

/// Target triples besides the host's own; the last one is big-endian.
const TARGETS: [&str; 6] = [
    WHOLE,
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-unknown-freebsd",
    "x86_64-unknown-linux-musl",
    "s390x-unknown-linux-gnu",
];

/// Where the day's checks compile, beside the tests.
const FOLDER: [&str; 2] = ["--target-dir", "target/targets"];

/// The targets whose standard library is not installed.
pub fn missing() -> Result<Vec<&'static str>, String> {
    let installed = Line::new("rustup", "target list --installed").output()?;
    Ok(TARGETS.into_iter().filter(|t| !installed.lines().any(|line| line.trim() == *t)).collect())
}

/// Installs the standard libraries that are missing.
pub fn add_missing() -> Result<(), String> {
    for target in missing()? {
        Line::new("rustup", "target add").args([target.to_owned()]).run()?;
    }
    Ok(())
}

/// Checks every target; names all that fail, not only the first.
pub fn check_all(tier: Tier) -> Result<(), String> {
    let failed: Vec<&str> =
        TARGETS.into_iter().filter(|target| line(target, tier).run().is_err()).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("fails for {}", failed.join(", "))) }
}

fn line(target: &str, tier: Tier) -> Line {
    let package = if tier == Tier::Night || target == WHOLE { "v6gap" } else { "v6gap-sys" };
    let names = ["--profile", PROFILE, "-p", package, "--target", target].map(str::to_owned);
    let line = cargo("check --locked").args(names);
    // Cargo lets nobody else compile in a folder meanwhile, nor run what is compiled there.
    if tier == Tier::Day { line.args(FOLDER.map(str::to_owned)).behind() } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_program_is_checked_for_one_target_by_day_and_for_all_at_night() {
        let whole = |tier| {
            let lines = TARGETS.map(|target| line(target, tier).to_string());
            lines.iter().filter(|line| line.contains("-p v6gap --target")).count()
        };
        assert_eq!((whole(Tier::Day), whole(Tier::Night)), (1, TARGETS.len()));
    }
}
