//! The demo as a newcomer meets it.

use super::pages;
use super::support::{Home, PROGRAM, figure, host_of_its_own, is_spoiled, measured, text, told};
use super::tier::is_night;
use super::two_hosts::Lab;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The user that nobody is; used when the tests run as root.
const NOBODY: u32 = 65_534;

/// The program at a place that everybody may read, and the demo's command as an ordinary user.
struct Ordinary {
    home: Home,
    program: std::path::PathBuf,
}

impl Ordinary {
    fn new(name: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let home = Home::new(name);
        let program = home.path().join("v6gap");
        std::fs::copy(PROGRAM, &program).unwrap();
        std::fs::set_permissions(home.path(), PermissionsExt::from_mode(0o777)).unwrap();
        Ordinary { home, program }
    }

    fn demo(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("demo").args(args).env("V6GAP_DATA", self.home.path().join("data"));
        command.env("V6GAP_LOCKS", host_of_its_own(self.home.path()));
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.stdin(Stdio::null());
        command
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0)
}

/// Processes that run a program of that path.
pub fn processes_of(program: &std::path::Path) -> usize {
    let folders = std::fs::read_dir("/proc").unwrap().flatten();
    let links = folders.filter_map(|f| std::fs::read_link(f.path().join("exe")).ok());
    links.filter(|exe| exe.starts_with(program)).count()
}

/// Network interfaces of this namespace, and network namespaces that any process is in.
pub fn namespaces_and_interfaces() -> (usize, usize) {
    let folders = std::fs::read_dir("/proc").unwrap().flatten();
    let mut found: Vec<_> =
        folders.filter_map(|f| std::fs::read_link(f.path().join("ns/net")).ok()).collect();
    found.sort();
    found.dedup();
    let interfaces = std::fs::read_to_string("/proc/net/dev").unwrap().lines().count();
    (found.len(), interfaces)
}

/// Whatever the machine allows, every row stands there and nothing is left. A machine that spoils
/// the figures may take the verdict by day, if the answer says why, and the time of what is tried
/// again.
pub fn answers_in_time() {
    let ordinary = Ordinary::new("demo");
    let before = namespaces_and_interfaces();
    let args: &[&str] = if is_night() { &[] } else { &["--quick"] };
    let start = Instant::now();
    let output = ordinary.demo(args).output().unwrap();
    let seconds = start.elapsed().as_secs_f64();
    let answer = text(&output.stdout);
    println!("{answer}");
    figure("seconds from start to answer", format!("{seconds:.1}"));
    match output.status.code() {
        Some(0) => {
            assert!(answer.to_lowercase().contains("header"), "{answer}");
            let most = if is_night() { 165.0 } else { 90.0 };
            assert!(seconds < most, "{seconds} s");
        }
        _ => assert!(is_spoiled(&output), "{}", told(&output)),
    }
    for part in ["Round trip 64 B TCP", "Round trip 16 KiB UDP", "Connecting", "Goodput", "Lost"] {
        assert!(answer.contains(part), "{part} is missing in {answer}");
    }
    assert!(answer.contains("report.html"), "{answer}");
    assert_eq!(namespaces_and_interfaces(), before);
    assert_eq!(processes_of(&ordinary.program), 0);
}

pub fn leaves_nothing_behind() {
    let ordinary = Ordinary::new("killed");
    let before = namespaces_and_interfaces();
    let mut demo = ordinary.demo(&["-q"]).stdout(Stdio::null()).spawn().unwrap();
    let runs = ordinary.home.path().join("data/runs");
    let start = Instant::now();
    while !runs.exists() && start.elapsed() < Duration::from_secs(30) {
        std::thread::yield_now();
    }
    assert!(runs.exists(), "the demo did not begin to measure");
    demo.kill().unwrap();
    demo.wait().unwrap();
    // The kernel takes namespaces down after the last process, in its own time.
    let start = Instant::now();
    while namespaces_and_interfaces() != before && start.elapsed() < Duration::from_secs(10) {
        std::thread::yield_now();
    }
    assert_eq!(namespaces_and_interfaces(), before);
    assert_eq!(processes_of(&ordinary.program), 0);
}

/// Ctrl-C while the links are tested: it ends soon, says so, and stores nothing.
pub fn stops_in_its_self_test() {
    let ordinary = Ordinary::new("stopped");
    let mut demo = ordinary.demo(&[]);
    let demo = demo.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut demo = demo.spawn().unwrap();
    let mut said = BufReader::new(demo.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(said.any(|line| line.contains("testing the lab's links")), "no self-test");
    let interrupted = Command::new("kill").args(["-INT", &demo.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    let rest: Vec<String> = said.collect();
    assert_eq!(demo.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("nothing is stored")), "{rest:?}");
    assert!(!ordinary.home.path().join("data/runs").exists());
    assert_eq!(processes_of(&ordinary.program), 0);
}

/// Inside a user namespace that allows no further ones the demo still answers and says why, and
/// what needs namespaces names the permission.
pub fn falls_back_to_loopback() {
    let home = Home::new("fallback");
    let lab = Lab::up("refused", &["--model", "bare"]);
    let refusing = |arguments: &str| {
        let none = "echo 0 > /proc/sys/user/max_user_namespaces";
        let script = format!("{none}; exec {PROGRAM} {arguments}");
        lab.exec(&home, "client").args(["sh", "-c", &script]).output().unwrap()
    };
    let output = refusing("demo --measure rtt,udp --pairs 6");
    let (answer, said) = (text(&output.stdout), text(&output.stderr));
    measured(&output);
    let first = said.lines().next().unwrap_or_default();
    assert!(first.starts_with("no lab:") && said.contains("max_user_namespaces"), "{said}");
    assert!(answer.contains("loopback"), "{answer}");
    assert!(said.contains("so far, not final") && !said.contains('\u{1b}'), "{said}");
    let output = refusing("lab up --name none");
    assert!(text(&output.stderr).contains("[E301, exit 5]"), "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(5));
    let terminal = refusing("run --lab cable --json-errors");
    let terminal = pages::last_line(&terminal.stderr, &terminal);
    let mut refused = lab.exec(&home, "client");
    let none = "echo 0 > /proc/sys/user/max_user_namespaces; exec \"$@\"";
    refused.args(["sh", "-c", none, "sh"]);
    pages::same(&pages::asked(refused, "{\"place\":{\"lab\":\"cable\"}}"), &terminal, "E301");
}
