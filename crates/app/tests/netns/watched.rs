//! Paths that change while `watch` visits them, one change each, side by side: each must be found
//! once, dated within two visits, be of the family that it is of, and name what caused it.
//!
//! Between its two routers each world has a second way. The change is that IPv6 is routed over it;
//! what is otherwise there tells the worlds apart. So nothing but routes is touched, IPv4 stays as
//! it was, and the moment is known.

use super::support::{Home, figure, text};
use super::two_hosts::{Lab, Server};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use v6gap_core::watch::check::check;
use v6gap_core::watch::draft::{Draft, PathDraft, VERSION};
use v6gap_core::watch::known::Known;
use v6gap_core::watch::machine::{Action, Machine};
use v6gap_core::watch::{Moment, SECOND_NS};
use v6gap_perform::facts::this_host;
use v6gap_sys::clock;

/// From one visit to the next, in s.
const EVERY_S: u64 = 30;

/// Visits that measure before the change and behind it. The first of a run may have null blocks
/// alone; each question must have [`VISITS_MIN`] on either side.
const BEFORE: usize = 17;
const AFTER: usize = 19;

/// Fewest visits of a question on either side.
const VISITS_MIN: usize = 15;

/// How many visits a change may be dated off.
const OFF_MAX: i64 = 2;

/// Most lines of a watch between two visits that measured: it does something else than measuring.
const LINES_MAX: usize = 20;

/// The server's addresses: behind the third link.
const SERVER: [&str; 2] = ["10.46.3.2", "fd46:3::2"];

/// A path and what becomes of it.
struct Path {
    name: &'static str,
    /// When its visits begin in the time from one to the next, in s: they hardly meet those of
    /// others, whose time is `time_s` and about 1.5 s for the start and the look at the path.
    at_s: u64,
    time_s: u64,
    measure: &'static [&'static str],
    /// What holds for all of its links.
    every: &'static str,
    /// The usual way between the routers, and the other one.
    usual: &'static str,
    other: &'static str,
    /// Whether there is a router on the other way, between two links like it.
    is_longer: bool,
    /// Whether IPv4 takes the other way, too.
    is_of_both: bool,
    /// The metric of the question that must change.
    metric: &'static str,
    /// The suspects of IPv6 that its change must have, in their order.
    suspects: &'static [&'static str],
}

static PATHS: [Path; 6] = [
    Path {
        name: "delay",
        at_s: 0,
        time_s: 4,
        measure: &["connect", "rtt", "tcp"],
        every: "",
        usual: "",
        other: "delay = \"10 ms\"",
        is_longer: false,
        is_of_both: false,
        metric: "connect",
        suspects: &["delay"],
    },
    Path {
        name: "rate",
        at_s: 6,
        time_s: 5,
        measure: &["throughput", "rtt", "tcp"],
        every: "",
        usual: "rate = \"50 Mbit/s\"",
        other: "rate = \"25 Mbit/s\"",
        is_longer: false,
        is_of_both: false,
        metric: "throughput",
        suspects: &["rate"],
    },
    Path {
        name: "loss",
        at_s: 12,
        time_s: 3,
        measure: &["loss"],
        every: "",
        // Where nothing is ever lost the noise of losses is not known.
        usual: "loss = \"0.5 %\"",
        other: "loss = \"5 %\"",
        is_longer: false,
        is_of_both: false,
        metric: "throughput",
        suspects: &["loss"],
    },
    Path {
        name: "mtu",
        at_s: 17,
        time_s: 4,
        measure: &["throughput", "tcp"],
        every: "mtu = 9000",
        usual: "",
        other: "mtu = 1280",
        is_longer: false,
        is_of_both: false,
        metric: "throughput",
        suspects: &["path-mtu"],
    },
    Path {
        name: "router",
        at_s: 22,
        time_s: 3,
        measure: &["connect", "rtt", "tcp"],
        every: "",
        usual: "",
        other: "delay = \"750 us\"",
        is_longer: true,
        is_of_both: false,
        metric: "connect",
        suspects: &["routers", "delay"],
    },
    Path {
        name: "both",
        at_s: 27,
        time_s: 2,
        measure: &["connect"],
        every: "",
        usual: "",
        other: "delay = \"10 ms\"",
        is_longer: false,
        is_of_both: true,
        metric: "connect",
        suspects: &[],
    },
];

impl Path {
    /// Link 1 leads to the routers, link 2 from the one to the other, link 3 to the server; what
    /// comes behind is the other way.
    fn world(&self) -> String {
        let Path { every, usual, other, .. } = *self;
        let link = |between: [&str; 2], more: &str| {
            format!("[[links]]\nbetween = [\"{}\", \"{}\"]\n{more}\n", between[0], between[1])
        };
        let others = match self.is_longer {
            false => link(["left", "right"], other),
            true => link(["left", "middle"], other) + &link(["middle", "right"], other),
        };
        let middle = if self.is_longer { ", \"middle\"" } else { "" };
        format!(
            "v6gap = 1\nhosts = [\"client\", \"server\"]\nrouters = [\"left\", \"right\"{middle}]\n\
             [every]\nrate = \"100 Mbit/s\"\n{every}\n{}{}{}{others}",
            link(["client", "left"], "delay = \"2500 us\""),
            link(["left", "right"], usual),
            link(["right", "server"], ""),
        )
    }

    /// What is routed over the other way, as `ip` is told: at which router, and the words.
    fn detour(&self) -> Vec<(&'static str, String)> {
        let back = if self.is_longer { 5 } else { 4 };
        let six = [
            ("left", "-6 route replace fd46:3::/64 via fd46:4::2".to_owned()),
            ("right", format!("-6 route replace fd46:1::/64 via fd46:{back}::1")),
        ];
        let four = [
            ("left", "-4 route replace 10.46.3.0/24 via 10.46.4.2".to_owned()),
            ("right", format!("-4 route replace 10.46.1.0/24 via 10.46.{back}.1")),
        ];
        let four = four.into_iter().filter(|_| self.is_of_both);
        six.into_iter().chain(four).collect()
    }

    /// Its description; all are of one host, so the name decides when its visits are due.
    fn draft(&self, name: &str) -> Draft {
        let [four, six] = SERVER;
        let path = PathDraft {
            name: Some(name.to_owned()),
            host: "server".to_owned(),
            v4: Some(four.to_owned()),
            v6: Some(six.to_owned()),
            mine: true,
            time: Some(format!("{} s", self.time_s)),
            measure: self.measure.iter().map(|word| (*word).to_owned()).collect(),
            ..PathDraft::default()
        };
        let every = Some(format!("{EVERY_S} s"));
        Draft { v6gap: VERSION, every, paths: vec![path], ..Draft::default() }
    }

    /// A name by which its visits are due when they should be.
    fn named(&self) -> String {
        let host = this_host().name;
        let is_due = |name: &String| {
            let watch = check(&self.draft(name)).unwrap();
            let now = Moment { unix_ns: clock::wall_ns(), offset_s: 0 };
            let mut machine = Machine::new(watch, &[], Known::default(), &host, now);
            let Action::Wait(due_ns) = machine.next(now, false) else { return false };
            let at_ns = due_ns % (EVERY_S * SECOND_NS);
            (0..SECOND_NS).contains(&at_ns.wrapping_sub(self.at_s * SECOND_NS))
        };
        let mut names = (0..10_000).map(|number| format!("{}{number}", self.name));
        names.find(is_due).expect("one in thirty is")
    }
}

/// As a file has it.
fn written(draft: &Draft) -> String {
    let path = &draft.paths[0];
    let [four, six] = SERVER;
    format!(
        "v6gap = 1\nevery = {:?}\n[[paths]]\nname = {:?}\nhost = {:?}\nv4 = {four:?}\n\
         v6 = {six:?}\nmine = true\ntime = {:?}\nmeasure = {:?}\n",
        draft.every.as_ref().unwrap(),
        path.name.as_ref().unwrap(),
        path.host,
        path.time.as_ref().unwrap(),
        path.measure,
    )
}

/// A watch that goes on in a world of its own.
struct Watching {
    name: String,
    process: Server,
    said: Box<dyn Iterator<Item = String>>,
}

impl Watching {
    /// Claims of its own: the worlds share this computer and none of its links, and every watch
    /// would take the others for users of its host. That visits meet seldom, their times see to.
    fn start(path: &Path, lab: &Lab, home: &Home) -> Self {
        let name = path.named();
        let file = home.path().join("watch.toml");
        std::fs::write(&file, written(&path.draft(&name))).unwrap();
        let mut command = lab.command(home, "client");
        command.args(["watch", "--config"]).arg(&file).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        Watching { name, process: Server(child), said: Box::new(said) }
    }

    /// Reads on until so many visits more have measured.
    fn until_measured(&mut self, visits: usize) {
        let ended = format!("  {}  measured", self.name);
        for _ in 0..visits {
            let mut before = Vec::new();
            loop {
                let Some(line) = self.said.next() else { panic!("it ended: {before:#?}") };
                if line.contains(&ended) {
                    break;
                }
                before.push(line);
                assert!(before.len() < LINES_MAX, "{before:#?}");
            }
        }
    }

    /// Ends it as Ctrl-C does.
    fn stop(mut self) {
        let number = self.process.0.id().to_string();
        assert!(Command::new("kill").args(["-INT", &number]).status().unwrap().success());
        (&mut self.said).for_each(drop);
        let ended = self.process.0.wait().unwrap();
        assert_eq!(ended.code(), Some(0), "{}", self.name);
    }
}

/// All of them side by side, each to its end.
pub fn changes_are_found() {
    let rows: Vec<String> = std::thread::scope(|scope| {
        let all: Vec<_> = PATHS.iter().map(|path| scope.spawn(move || followed(path))).collect();
        all.into_iter().map(|path| path.join().unwrap()).collect()
    });
    let head = "visits before, after | found after, visits | dated off by, visits | of | effect \
                before, since | suspects";
    figure("change", head);
    for (path, row) in PATHS.iter().zip(rows) {
        figure(path.name, row);
    }
}

/// A watch from its beginning over the change to its end; what it told of that, as a row.
fn followed(path: &Path) -> String {
    let home = Home::new(&format!("watched-{}", path.name));
    let lab = Lab::of_world(&home, &format!("watched{}", path.name), &path.world());
    let server = lab.serve(&home, &[]);
    let mut watching = Watching::start(path, &lab, &home);
    let name = watching.name.clone();
    watching.until_measured(BEFORE);
    let changed_ns = clock::wall_ns();
    for (node, what) in path.detour() {
        lab.ip(&home, node, &what);
    }
    watching.until_measured(AFTER);
    watching.stop();
    drop(server);
    let document = |words: &[&str]| -> Value {
        let output = home.v6gap(&[&["watch"], words, &["--json"]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let history = document(&["history", &name]);
    let status = document(&["status"]);
    let known = status["paths"][0]["changes"].as_array().unwrap();
    assert!(known.iter().any(|change| change["metric"] == path.metric), "{status:#}");
    judged(path, &history, changed_ns)
}

/// Whether the history tells that change and no other.
fn judged(path: &Path, history: &Value, changed_ns: u64) -> String {
    let spells = history["spells"].as_array().unwrap();
    let changes: Vec<&Value> =
        spells.iter().map(|spell| &spell["change"]).filter(|change| !change.is_null()).collect();
    for (number, change) in changes.iter().enumerate() {
        let of = |change: &Value| (change["cell"].clone(), change["metric"].clone());
        let again = changes[..number].iter().any(|other| of(other) == of(change));
        assert!(!again, "{}: changed twice: {change:#}", path.name);
        let off = Dated::of(history, change, changed_ns).off;
        assert!(off.abs() <= OFF_MAX, "{}: {off} visits off: {change:#}", path.name);
    }
    let own: Vec<&&Value> = changes.iter().filter(|c| c["metric"] == path.metric).collect();
    let [change] = own[..] else { panic!("{}: {} changes: {history:#}", path.name, own.len()) };
    let Dated { before, after, off } = Dated::of(history, change, changed_ns);
    assert!(before.min(after) >= VISITS_MIN, "{}: {before}, {after}", path.name);
    let (who, moved) = if path.is_of_both { ("both", "no") } else { ("v6", "yes") };
    assert_eq!(change["who"], who, "{}: {change:#}", path.name);
    assert_eq!(change["effect"]["moved"], moved, "{}: {change:#}", path.name);
    let suspects = change["suspects"].as_array().unwrap();
    let names: Vec<&str> = suspects.iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, path.suspects, "{}: {change:#}", path.name);
    assert!(suspects.iter().all(|s| s["family"] == "v6"), "{}: {change:#}", path.name);
    let percent = |when: &str| {
        let mean = change["effect"][when]["mean"].as_f64().unwrap();
        format!("{:+.1} %", mean * 100.0)
    };
    let told: Vec<String> = suspects
        .iter()
        .map(|s| format!("{} {} → {}", s["name"], s["before"], s["after"]).replace('"', ""))
        .collect();
    format!(
        "{before}, {after} | {} | {off:+} | {who} | {}, {} | {}",
        change["visits_after"],
        percent("before"),
        percent("after"),
        if told.is_empty() { "none".to_owned() } else { told.join(", ") },
    )
}

/// Where a change stands among the visits of its question.
struct Dated {
    /// Visits before the true change and after it.
    before: usize,
    after: usize,
    /// From the first visit after the true one to that which is called the first.
    off: i64,
}

impl Dated {
    fn of(history: &Value, change: &Value, changed_ns: u64) -> Self {
        let visits = history["visits"].as_array().unwrap().iter();
        let own = visits.filter(|v| v["cell"] == change["cell"] && v["metric"] == change["metric"]);
        let began: Vec<u64> = own.map(|v| v["began_unix_ns"].as_u64().unwrap()).collect();
        let place = |at_ns: u64| began.partition_point(|began| *began < at_ns);
        let before = place(changed_ns);
        let dated = place(change["first_unix_ns"].as_u64().unwrap());
        Dated { before, after: began.len() - before, off: dated as i64 - before as i64 }
    }
}
