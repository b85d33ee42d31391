//! The view of a run on a real pseudo-terminal, which `script` of util-linux makes.

use super::support::{Home, PROGRAM, figure, host_of_its_own, text};
use serde_json::Value;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Longest wait for anything on the screen.
const PATIENCE: Duration = Duration::from_secs(40);

/// Drawings in a second at most, and what timing may add.
const DRAWINGS_MAX: f64 = 4.2;

/// A terminal with a program in it.
struct Screen {
    child: Child,
    keys: ChildStdin,
    seen: Arc<Mutex<String>>,
}

impl Screen {
    /// Runs a line of shell in a terminal of 80 columns.
    fn open(home: &Home, line: &str) -> Self {
        let line = format!("stty cols 80 rows 30; {line}");
        let mut command = Command::new("script");
        command.args(["--quiet", "--flush", "--return", "--command", &line, "/dev/null"]);
        command.env("V6GAP_DATA", home.path()).env("TERM", "xterm").env("LANG", "C.UTF-8");
        command.env("V6GAP_LOCKS", host_of_its_own(home.path()));
        command.env_remove("CI").env_remove("NO_COLOR").env_remove("COLUMNS");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("script of util-linux is there");
        let keys = child.stdin.take().unwrap();
        let mut output = child.stdout.take().unwrap();
        let seen = Arc::new(Mutex::new(String::new()));
        let screen = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                screen.lock().unwrap().push_str(&text(&bytes[..read]));
            }
        });
        Screen { child, keys, seen }
    }

    fn text(&self) -> String {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until `what` was written.
    #[track_caller]
    fn wait(&self, what: &str) {
        let start = Instant::now();
        while !self.text().contains(what) {
            assert!(start.elapsed() < PATIENCE, "no {what:?} in:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn press(&mut self, key: &[u8]) {
        self.keys.write_all(key).unwrap();
        self.keys.flush().unwrap();
    }
}

/// The command that measures transfers of 400 ms, long enough for the view to go on meanwhile.
fn plan(home: &Home, options: &str) -> String {
    let file = home.path().join("plan.toml");
    let plan = "v6gap = 1\n[lab]\nmodel = \"shaped\"\n[design]\npairs = 60\nnull_blocks = 1\n\
                [[measure]]\nmetric = \"throughput\"\ntime = \"400 ms\"\n";
    std::fs::write(&file, plan).unwrap();
    format!("{PROGRAM} plan run {} --no-report {options}; echo code $?", file.display())
}

/// It is drawn, keys are heard and change it, `q` ends the run and keeps it, and the terminal is as
/// it was before.
pub fn drawn_on_a_terminal() {
    let home = Home::new("view");
    let mut screen = Screen::open(&home, &format!("{}; stty -a", plan(&home, "")));
    screen.wait("saved as");
    let start = Instant::now();
    screen.wait("q stop and keep");
    for (key, shows) in [(b"d", "Now: "), (b"?", "Families: each trial is a bar")] {
        screen.press(key);
        screen.wait(shows);
    }
    screen.wait("Pair 2");
    let before = screen.text();
    let drawings = before.matches("So far (not final)").count();
    let each_second = drawings as f64 / start.elapsed().as_secs_f64();
    figure("drawings in a second", format!("{each_second:.2}"));
    assert!(drawings > 3 && each_second < DRAWINGS_MAX, "{drawings} drawings, {before}");
    for part in ["○ IPv4", "◆ IPv6", "\u{1b}[3"] {
        assert!(before.contains(part), "{part:?} is missing in:\n{before}");
    }
    // A machine that spoils every block leaves no figure, and the view says so.
    assert!(before.contains("Mbit/s") || before.contains("discarded"), "{before}");
    screen.press(b"q");
    screen.wait("code 130");
    screen.wait("iexten");
    let all = screen.text();
    let (_, after) = all.split_once("code 130").unwrap();
    assert!(after.contains(" icanon") && after.contains(" echo "), "{after}");
    screen.child.wait().unwrap();
    let shown = home.v6gap(&["show", "last", "--json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["tool"]["live_view"], "inline");
    assert!(shown["stopped"].is_string() && shown["trials"].as_u64() > Some(2), "{shown:#}");
}

/// A plan of several levels has a row for each, which fills while it is measured.
pub fn of_levels() {
    let home = Home::new("view-levels");
    let file = home.path().join("levels.toml");
    let plan = "v6gap = 1\n[lab]\nmodel = \"wire\"\n[design]\npairs = 60\nnull_blocks = 1\n\
                [[measure]]\nmetric = \"rtt\"\n\
                message = [\"64 B\", \"1 KiB\", \"4 KiB\"]\nturns = 8\n";
    std::fs::write(&file, plan).unwrap();
    let line = format!("{PROGRAM} plan run {} --no-report; echo code $?", file.display());
    let mut screen = Screen::open(&home, &line);
    for part in ["○ IPv4", "over IPv6", "Round trip 4 KiB", "TCP  >", "2/60", "longer"] {
        screen.wait(part);
    }
    assert!(!screen.text().contains("◂ IPv6 worse"), "strips and table: {}", screen.text());
    screen.press(b"q");
    screen.wait("code 130");
    screen.child.wait().unwrap();
}

/// Without colour and without Unicode it is the same view.
pub fn drawn_in_ascii() {
    let home = Home::new("view-ascii");
    let line = format!("export NO_COLOR=1; {}", plan(&home, "--ascii"));
    let mut screen = Screen::open(&home, &line);
    screen.wait("o IPv4");
    screen.wait("Pair 1");
    let seen = screen.text();
    assert!(seen.contains("<- IPv6 worse"), "{seen}");
    // Only moves of the cursor, no colours; and nothing but ASCII.
    assert!(seen.is_ascii() && !seen.contains("\u{1b}[3") && !seen.contains("\u{1b}[1m"), "{seen}");
    screen.press(b"q");
    screen.wait("code 130");
    screen.child.wait().unwrap();
}
