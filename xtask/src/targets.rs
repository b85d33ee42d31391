//! Every supported platform is checked from one machine, so that none rots unseen.
//!
//! `cargo check` needs no foreign linker. The one dependency that compiles C, `ring`, needs a
//! foreign C compiler: Zig's, which is one for every target and comes as a library of Python.
//!
//! Tidy proves that only `sys` names operating systems, so by day that alone is checked, once for
//! each system. The night checks the whole program for every target: where the lab is compiled in,
//! types of the C library differ between processors.

use crate::command::{Line, cargo};
use crate::suites::{PROFILE, Tier};
use crate::{workspace, zig};
use std::path::Path;

/// Targets besides the host's own, as Rust and as Zig call them: first one for each other system,
/// and the last one is big-endian.
const TARGETS: [(&str, &str); 6] = [
    ("x86_64-pc-windows-gnu", "x86_64-windows-gnu"),
    ("aarch64-apple-darwin", "aarch64-macos"),
    ("x86_64-unknown-freebsd", "x86_64-freebsd"),
    ("x86_64-apple-darwin", "x86_64-macos"),
    ("x86_64-unknown-linux-musl", "x86_64-linux-musl"),
    ("s390x-unknown-linux-gnu", "s390x-linux-gnu"),
];

/// How many of them are checked by day.
const SYSTEMS: usize = 3;

/// Where the C compilers of the targets are, below the workspace.
const COMPILERS: &str = "target/compilers";

/// Where the day's checks compile, beside the tests.
const FOLDER: [&str; 2] = ["--target-dir", "target/targets"];

/// The targets whose standard library is not installed.
pub fn missing() -> Result<Vec<&'static str>, String> {
    let installed = Line::new("rustup", "target list --installed").output()?;
    let is_there = |target: &str| installed.lines().any(|line| line.trim() == target);
    Ok(TARGETS.into_iter().map(|(target, _)| target).filter(|target| !is_there(target)).collect())
}

/// Installs the standard libraries that are missing.
pub fn add_missing() -> Result<(), String> {
    for target in missing()? {
        Line::new("rustup", "target add").args([target.to_owned()]).run()?;
    }
    Ok(())
}

/// Checks the targets of that tier; names all that fail, not only the first.
pub fn check_all(tier: Tier) -> Result<(), String> {
    let compilers = workspace::root().join(COMPILERS);
    if tier == Tier::Night {
        make_compilers(&compilers).map_err(|e| format!("{}: {e}", compilers.display()))?;
    }
    let fails = |target: &&str| line(target, tier, &compilers).run().is_err();
    let most = if tier == Tier::Day { SYSTEMS } else { TARGETS.len() };
    let targets = TARGETS.into_iter().map(|(target, _)| target).take(most);
    let failed: Vec<&str> = targets.filter(fails).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("fails for {}", failed.join(", "))) }
}

/// Writes a C compiler and an archiver for each target.
fn make_compilers(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let python = workspace::root().join("target").join(zig::FOLDER).join("bin/python");
    let python = python.display().to_string();
    for (target, named) in TARGETS {
        for verb in ["cc", "ar"] {
            let path = folder.join(format!("{verb}-{target}"));
            std::fs::write(&path, zig::wrapper(&python, verb, named))?;
            let line = Line::new("chmod", "+x").args([path.display().to_string()]);
            line.output().map_err(std::io::Error::other)?;
        }
    }
    Ok(())
}

fn line(target: &str, tier: Tier, compilers: &Path) -> Line {
    let check = |package: &str| {
        let names = ["--profile", PROFILE, "-p", package, "--target", target];
        cargo("check --locked").args(names.map(str::to_owned))
    };
    match tier {
        // Cargo lets nobody else compile in a folder meanwhile, nor run what is compiled there.
        Tier::Day => check("v6gap-sys").args(FOLDER.map(str::to_owned)).behind(),
        Tier::Night => with_compiler(check("v6gap"), target, compilers),
    }
}

fn with_compiler(line: Line, target: &str, compilers: &Path) -> Line {
    let named = ["cc", "ar"].into_iter().fold(line, |line, word| {
        let path = compilers.join(format!("{word}-{target}")).display().to_string();
        line.env(format!("{}_{}", word.to_uppercase(), target.replace('-', "_")), path)
    });
    // What a compiler for Apple would ask that system for.
    named.env("SDKROOT", "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_program_is_checked_at_night() {
        let whole = |tier| {
            let of = |(target, _)| line(target, tier, Path::new("c")).to_string();
            let lines = TARGETS.map(of);
            lines.iter().filter(|line| line.contains("-p v6gap --target")).count()
        };
        assert_eq!((whole(Tier::Day), whole(Tier::Night)), (0, TARGETS.len()));
    }
}
