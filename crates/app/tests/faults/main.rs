//! Faults: the real program with real resources, while the network, the other end, the disk, the
//! memory or the clock fails. Whatever happens, no pair that was announced may be lost, the result
//! can be shown, no number in it is wrong, and going on with it gives a valid one.
//!
//! Arguments filter checks by name. `V6GAP_FULL=1` runs all of them, at length.

mod chance;
mod checks;
mod clocks;
mod disk;
mod held;
mod journals;
mod kills;
mod network;
mod oracle;
mod outputs;
#[path = "../netns/pages.rs"]
#[expect(dead_code, reason = "the other suite uses the rest")]
mod pages;
mod partition;
mod plans;
mod processes;
#[path = "../hostile/random.rs"]
#[expect(dead_code, reason = "the other suite chooses among things")]
mod random;
mod scarce;
mod shim;
mod site;
#[path = "../netns/support.rs"]
#[expect(dead_code, reason = "the other suite uses the rest")]
mod support;
#[path = "../../../lab/tests/namespaces/tier.rs"]
#[expect(dead_code, reason = "its checks are run several at a time")]
mod tier;
mod told;
mod turns;
#[path = "../netns/two_hosts.rs"]
#[expect(dead_code, reason = "the other suite uses the rest")]
mod two_hosts;

use checks::Check;
use std::process::ExitCode;

/// Checks under way at a time.
const LANES: usize = 6;

fn main() -> ExitCode {
    let filters: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted = |check: &Check| {
        filters.is_empty() || filters.iter().any(|part| check.name().contains(part.as_str()))
    };
    if let Some(code) = tier::refused() {
        return code;
    }
    let full = tier::is_night();
    let mut checks = Vec::new();
    for of in [
        turns::checks,
        partition::checks,
        processes::checks,
        network::checks,
        held::checks,
        outputs::checks,
        kills::checks,
        scarce::checks,
        clocks::checks,
        disk::checks,
        journals::checks,
    ] {
        checks.extend(of(full));
    }
    checks.retain(wanted);
    let count = checks.len();
    let failed = checks::run(checks, LANES);
    shim::remove();
    println!("{count} checks, {} failed {failed:?}", failed.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
