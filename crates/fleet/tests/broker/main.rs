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
mod routes;
mod taken;

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Each of many agents has a connection and a file: more than a process may have open usually.
const OPEN: &str = "ulimit -n 8192 2>/dev/null || ulimit -n $(ulimit -H -n); exec \"$0\" \"$@\"";

/// Set once that many may be open.
const MAY_OPEN: &str = "V6GAP_MAY_OPEN";

/// What is looked at with a server, its name, and the longest that it may take, in min.
type Scenario = (&'static str, fn(&std::path::Path), u64);

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
    let scenarios: [Scenario; 7] = [
        ("attacks", attacks::all, 15),
        ("routes", routes::all, 10),
        ("orders", orders::all, 5),
        ("broken", broken::all, 10),
        ("grants", grants::all, 10),
        ("leaders", leaders::all, 45),
        ("many", many::all, 90),
    ];
    let only: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    for (name, scenario, minutes) in scenarios {
        if only.is_empty() || only.iter().any(|word| *word == name) {
            println!("begins {name}");
            let start = Instant::now();
            let _over = not_for_ever(name, minutes);
            // What is not as it should be ends it.
            scenario(&server);
            println!("ok     {name} ({:.1} s)", start.elapsed().as_secs_f64());
        }
    }
    ExitCode::SUCCESS
}

/// Ends all of it if a scenario is not over in its time, which it is when what is returned is
/// dropped. Each step has a bound of its own and says which it is; this is for those that have not.
fn not_for_ever(name: &'static str, minutes: u64) -> Sender<()> {
    let (over, is_over) = channel();
    std::thread::spawn(move || {
        let longest = Duration::from_secs(60 * minutes);
        if is_over.recv_timeout(longest) == Err(RecvTimeoutError::Timeout) {
            println!("FAILED {name}: not over after {minutes} min; what it said last is above");
            // All that it began ends with it.
            std::process::exit(1);
        }
    });
    over
}
