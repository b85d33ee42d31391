//! A fleet's traffic with a real nats-server, without anything that measures: what an agent's
//! credentials and a broken hub do not give, grants that two coordinators ask for at once and that
//! a node dies of, and many agents whose measuring is made up, with every part killed and put to
//! sleep.
//!
//! The server is that of `cargo xtask truth --setup`, or the system's. Without one it says
//! `SKIPPED`. What is correct is judged always, how fast it is only with `V6GAP_FULL=1`.

mod attacks;
mod broken;
mod cluster;
mod fake;
mod faults;
mod figures;
mod fleet;
mod grants;
mod leaders;
mod many;
mod mesh;
mod orders;
mod process;
mod results;
mod roles;
mod taken;

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Each of many agents has a connection and a file: more than a process may have open usually.
const OPEN: &str = "ulimit -n 8192 2>/dev/null || ulimit -n $(ulimit -H -n); exec \"$0\" \"$@\"";

/// Set once that many may be open.
const MAY_OPEN: &str = "V6GAP_MAY_OPEN";

/// What is looked at with a server, and its name.
type Scenario = (&'static str, fn(&std::path::Path));

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((process::ROLE, role)) = arguments.split_first().map(|(word, rest)| (&**word, rest))
    {
        roles::play(role);
    }
    if std::env::var_os(MAY_OPEN).is_none() {
        let me = std::env::current_exe().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", OPEN]).arg(me).args(&arguments).env(MAY_OPEN, "1");
        panic!("no shell: {}", shell.exec());
    }
    let Some(server) = cluster::server() else {
        println!("SKIPPED: no nats-server (cargo xtask truth --setup installs it)");
        return ExitCode::SUCCESS;
    };
    let scenarios: [Scenario; 6] = [
        ("attacks", attacks::all),
        ("orders", orders::all),
        ("broken", broken::all),
        ("grants", grants::all),
        ("leaders", leaders::all),
        ("many", many::all),
    ];
    let only: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    for (name, scenario) in scenarios {
        if only.is_empty() || only.iter().any(|word| *word == name) {
            println!("begins {name}");
            let start = Instant::now();
            // What is not as it should be ends it.
            scenario(&server);
            println!("ok     {name} ({:.1} s)", start.elapsed().as_secs_f64());
        }
    }
    ExitCode::SUCCESS
}
