//! A wall clock that is set in the middle of a trial, and dates that others take for impossible.
//! The monotonic clock, by which everything is timed, cannot be set.

use super::checks::{Check, say};
use super::oracle;
use super::plans::{KINDS, Kind, plan};
use super::shim;
use super::site::{SERVER, Site, await_event};
use super::support::{Home, text};
use super::told::Program;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;

const RUN: Duration = Duration::from_secs(180);

/// What takes two seconds on any machine.
const PROBES: Kind = KINDS[6];

/// A moment within it, from when its block begins: a busy machine starts the processes that measure
/// in some hundred ms.
const WITHIN: Duration = Duration::from_millis(1_000);

pub fn checks(full: bool) -> Vec<Check> {
    let steps = [
        ("a_second_on", SECOND),
        ("a_second_back", -SECOND),
        ("a_day_on", DAY),
        ("a_day_back", -DAY),
    ];
    let mut checks = vec![Check::new("dates_beyond_2038_and_2106", move || dates(full))];
    for (i, (word, step)) in steps.into_iter().enumerate() {
        for at_server in [false, true] {
            if full || [(1, false), (2, true)].contains(&(i, at_server)) {
                let end = if at_server { "server" } else { "client" };
                let name = format!("clock_of_the_{end}_steps_{word}");
                checks.push(Check::new(name, move || steps_by(step, at_server)));
            }
        }
    }
    checks
}

/// A folder with a wall clock that is off by what its file says.
struct Clock(PathBuf);

impl Clock {
    fn new(home: &Home, name: &str) -> Self {
        let clock = Clock(home.path().join(name));
        std::fs::create_dir(&clock.0).unwrap();
        std::fs::write(clock.file(), 0_i64.to_ne_bytes()).unwrap();
        clock
    }

    fn file(&self) -> PathBuf {
        self.0.join(shim::CLOCK)
    }

    fn set(&self, off_ns: i64) {
        use std::os::unix::fs::FileExt;
        let file = std::fs::File::options().write(true).open(self.file()).unwrap();
        // In one piece, for who has it mapped.
        file.write_all_at(&off_ns.to_ne_bytes(), 0).unwrap();
    }

    fn keep(&self, command: &mut Command) {
        shim::with_clock(command, &self.0);
    }
}

/// The trials during which it happened are invalid, and no others are; the run goes on.
fn steps_by(step_ns: i64, at_server: bool) {
    let site = Site::up(&format!("clock{}{}-", u8::from(at_server), step_ns / SECOND));
    let home = site.home("clock");
    let [ours, theirs] = ["ours", "theirs"].map(|name| Clock::new(&home, name));
    let mut command = site.lab.command(&site.home, "server");
    theirs.keep(command.arg("serve"));
    let server = Program::start(command);
    server.out.find(0, RUN, |line| line.contains("Serving")).expect("it serves");
    let file = home.path().join("plan.toml");
    std::fs::write(&file, plan(PROBES, 6)).unwrap();
    let mut command = site.lab.command(&home, "client");
    command.args(["plan", "run", file.to_str().unwrap()]).args(SERVER);
    ours.keep(command.args(["-q", "--json-stream"]));
    let mut client = Program::start(command);
    await_event(&client, "block", 2);
    std::thread::sleep(WITHIN);
    if at_server {
        theirs.set(step_ns)
    } else {
        ours.set(step_ns)
    }
    let ended = client.end(RUN);
    assert_eq!(ended.code.filter(|code| ![0, 6].contains(code)), None, "{}", ended.said);
    let shown = oracle::nothing_is_lost(&home, &client.out);
    oracle::is_valid(&shown);
    let trials = oracle::trials(&home);
    let stepped: Vec<bool> = trials
        .iter()
        .map(|(trial, valid)| {
            let found = trial.findings.iter().any(|finding| finding.gate == "clock-step");
            assert!(!(found && *valid), "valid in spite of a step: {trial:?}");
            found
        })
        .collect();
    say("trials with a step", &stepped.iter().filter(|found| **found).count());
    assert!((1..=2).contains(&stepped.iter().filter(|found| **found).count()), "{stepped:?}");
}

/// A run is measured, listed and shown in any year.
fn dates(full: bool) {
    // Around the ends of 31 and 32 bits, and before 1970.
    let years: &[(i64, &str)] = &[
        (2_147_483_647, "2038-01-19"),
        (4_294_967_295, "2106-02-07"),
        (-5, "1970-01-01"),
        (7_258_118_400, "2200-01-01"),
    ];
    for (seconds, date) in years.iter().take(if full { years.len() } else { 2 }) {
        let home = Home::new(&format!("fault-date-{seconds}"));
        let clock = Clock::new(&home, "clock");
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as i64;
        clock.set(seconds * SECOND - now);
        let mut command = home.command();
        command.args(["demo", "--loopback", "--measure", "connect", "--pairs", "6", "-q"]);
        clock.keep(&mut command);
        let output = command.output().unwrap();
        let told = text(&output.stdout) + &text(&output.stderr);
        // So few connections beside other work may be without a verdict.
        let is_measured = matches!(output.status.code(), Some(0 | 6));
        assert!(is_measured, "{date}: {}: {told}", output.status);
        let listed = text(&home.v6gap(&["list"]).stdout);
        assert!(listed.contains(date), "{date}: {listed}");
        let shown = oracle::shown(&home);
        oracle::is_valid(&shown);
    }
}
