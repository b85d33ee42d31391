//! A fleet's traffic with a real nats-server, without anything that measures: what an agent's
//! credentials do not give, grants that two coordinators ask for at once, and many agents whose
//! measuring is made up, with parts killed and put to sleep.
//!
//! The server is that of `cargo xtask truth --setup`, or the system's. Without one it says
//! `SKIPPED`.

mod attacks;
mod cluster;
mod fake;
mod grants;
mod many;

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Each of many agents has a connection and a file: more than a process may have open usually.
const OPEN: &str = "ulimit -n 8192 2>/dev/null || ulimit -n $(ulimit -H -n); exec \"$0\" \"$@\"";

/// Set once that many may be open.
const MAY_OPEN: &str = "V6GAP_MAY_OPEN";

fn main() -> ExitCode {
    if std::env::var_os(MAY_OPEN).is_none() {
        let me = std::env::current_exe().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", OPEN]).arg(me).args(std::env::args_os().skip(1)).env(MAY_OPEN, "1");
        panic!("no shell: {}", shell.exec());
    }
    let Some(server) = cluster::server() else {
        println!("SKIPPED: no nats-server (cargo xtask truth --setup installs it)");
        return ExitCode::SUCCESS;
    };
    let scenarios: [(&str, fn(&std::path::Path)); 3] =
        [("attacks", attacks::all), ("grants", grants::all), ("many", many::all)];
    let only: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (name, scenario) in scenarios {
        if only.is_empty() || only.iter().any(|word| word == name) {
            println!("begins {name}");
            let start = Instant::now();
            // What is not as it should be ends it.
            scenario(&server);
            println!("ok     {name} ({:.1} s)", start.elapsed().as_secs_f64());
        }
    }
    ExitCode::SUCCESS
}
