//! Unsafe code under tools that see what it does to memory: the tests of `sys` under
//! AddressSanitizer, and what reads packed bytes and control messages under Miri.

use super::toolchain::Tools;
use crate::command::Line;
use crate::outcome::Outcome;
use std::time::Instant;

/// Tests that Miri can run, by package and filter: they make no system calls.
const MIRI: [(&str, &str); 2] =
    [("v6gap-core", "observation::packed"), ("v6gap-sys", "control_messages")];

/// A test of settings of the C library's allocator, in whose place AddressSanitizer has its own.
const ITS_OWN_ALLOCATOR: &str = "memory_may_grow_in_large_steps";

/// A property of any text, whose making alone takes an interpreter longer than half an hour.
const ANY_TEXT: &str = "nothing_is_lost";

/// Both, as a table and an outcome.
pub fn all(tools: &Tools) -> (String, Outcome) {
    let mut summary = "| Tool | Code | Seconds | Outcome |\n|---|---|--:|---|\n".to_owned();
    let (mut failed, mut skipped) = (Vec::new(), Vec::new());
    let mut note = |tool: &str, code: &str, start: Instant, outcome: Outcome| {
        let row = format!("| {tool} | {code} | {} | {outcome} |\n", start.elapsed().as_secs());
        print!("{row}");
        summary.push_str(&row);
        match outcome {
            Outcome::Passed | Outcome::Withheld(_) => {}
            Outcome::Failed(why) => failed.push(why),
            Outcome::Skipped(why) => skipped.push(why),
        }
    };
    let start = Instant::now();
    note("AddressSanitizer", "tests of sys", start, sanitized(tools).run().into());
    for (package, filter) in MIRI {
        let start = Instant::now();
        note("Miri", &format!("{package} {filter}"), start, interpreted(tools, package, filter));
    }
    let outcome = match (failed.is_empty(), skipped.is_empty()) {
        (false, _) => Outcome::Failed(failed.join("\n")),
        (true, false) => Outcome::Skipped(skipped.remove(0)),
        (true, true) => Outcome::Passed,
    };
    (summary, outcome)
}

/// Only the tests themselves are built that way: the standard library comes as it is, so a target
/// has to be named, or build scripts would be built that way as well.
fn sanitized(tools: &Tools) -> Line {
    tools
        .cargo("test -p v6gap-sys --lib --target-dir target/sanitized --target")
        .args([tools.host.clone()])
        .args(["--", "--skip", ITS_OWN_ALLOCATOR].map(str::to_owned))
        .env("RUSTFLAGS", "-Zsanitizer=address")
}

fn interpreted(tools: &Tools, package: &str, filter: &str) -> Outcome {
    let needs = |what: &str| {
        let get = format!("rustup component add {what} --toolchain {}", tools.toolchain);
        Outcome::Skipped(format!("Miri did not run: {} has no {what}; {get}", tools.toolchain))
    };
    if !tools.miri {
        return needs("miri");
    }
    if tools.library.is_none() {
        return needs("rust-src");
    }
    let line = tools
        .cargo("miri test --lib --target-dir target/miri -p")
        .args([package, "--", filter, "--skip", ANY_TEXT].map(str::to_owned))
        .env("MIRIFLAGS", "-Zmiri-disable-isolation")
        .env("PROPTEST_CASES", "8");
    line.run().into()
}
