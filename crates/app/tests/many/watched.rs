//! Whether a watch grows with its visits: the loop of `v6gap watch` in this process, with its log,
//! its page of metrics and its telling of changes, and with a real process for each visit.
//!
//! Its periods are milliseconds, and the program that makes the visits is a script that says at
//! once what a visit would: values that scatter and change, and a host that is down every now and
//! then.

use crate::support::Sandbox;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use v6gap_core::watch::Watch;
use v6gap_core::watch::check::check;
use v6gap_core::watch::draft::Draft;
use v6gap_core::watch::log::{Logged, Outcome};
use v6gap_perform::always::teller::{Hearer, OnChange};
use v6gap_perform::always::{self, Tidings};
use v6gap_report::changes::event_json;
use v6gap_report::metrics::text;
use v6gap_serve::Page;
use v6gap_store::Store;
use v6gap_sys::stop::Stopper;

/// Visits, and those after which it should not grow any more: by then each question of the one path
/// that is measured has had more visits than are remembered of it.
const VISITS: u32 = 10_000;
const SETTLED: u32 = 1_000;

/// Its memory is the highest in so many visits: allocators keep what is freed for a while.
const WINDOW: u32 = 200;

/// What it may have grown by between, in kB: 29 bytes a visit, less than any line of its log.
const GROWS_KB: u64 = 256;

/// Periods of the paths, in ns: the first one is due whenever the other is not, whose visits take
/// no more than their part of the time however slow the disk is.
const EVERY_NS: [u64; 2] = [1_000_000, 200_000_000];

const PATHS: &str = r#"
v6gap = 1
every = "1 h"
[[paths]]
host = "lab-b"
time = "1 s"
[[paths]]
host = "gone"
time = "1 s"
"#;

/// Makes a visit. Numbers of processes go up by one at least from each visit to the next: what is
/// reckoned from them scatters, and what is reckoned from their thousands lasts.
const PROGRAM: &str = r#"#!/bin/sh
begin() {
    printf '{"event":"begin","id":"7k2f9q","v4":"192.0.2.7","v6":"2001:db8::7",'
    printf '"facts":[{"name":"server","value":"%s"}]}\n' "$1"
}
trial() {
    printf '{"event":"trial","block":%s,"cell":"rtt-tcp-64","family":"%s","valid":true,' "$1" "$2"
    printf '"null":false,"duration_s":0.1,"values":{"rtt":1.%se-4,"loss":0},' "$3"
    printf '"path_mtu":1500,"routers":3}\n'
}
lasting=$(( $$ / 1024 % 2 ))
case "$*" in
*--dry-run*)
    echo '{"bytes":1000,"cells":[{"id":"rtt-tcp-64","bytes":100}]}'
    ;;
"run gone "*)
    if [ $lasting = 0 ]; then
        begin 1
    else
        echo '{"event":"error","code":"E202","title":"no answer over IPv6","family":"v6"}'
        exit 3
    fi
    ;;
*)
    begin $lasting
    for block in 0 1 2 3; do
        trial $block v4 0$(( ($$ * 7919 + block * 31) % 90 + 10 ))
        trial $block v6 $lasting$(( ($$ * 104729 + block * 57) % 90 + 10 ))
    done
    printf '{"event":"verdict","cell":"rtt-tcp-64","label":"Round trip 64 B, TCP",'
    printf '"metric":"rtt","verdict":"worse","answer":"worse","text":"1 %% longer",'
    printf '"range":[0.01,0.005,0.015],"margin":0.05,"predicted":null,"sentence":""}\n'
    ;;
esac
"#;

/// What was seen of the watch.
#[derive(Default)]
struct Seen {
    visits: u32,
    /// Those that neither measured nor found the host down.
    odd: u32,
    changes: u32,
    outages: u32,
    /// The highest memory before it should have settled, and at the end, in kB.
    early_kb: u64,
    late_kb: u64,
}

impl Seen {
    fn take(&mut self, entry: &Logged) {
        let Logged::Ended(ended) = entry else { return };
        self.visits += 1;
        let expected = matches!(ended.outcome, Outcome::Measured | Outcome::Down { .. });
        self.odd += u32::from(!expected);
        if (SETTLED - WINDOW..SETTLED).contains(&self.visits) {
            self.early_kb = self.early_kb.max(resident_kb());
        } else if self.visits > VISITS - WINDOW {
            self.late_kb = self.late_kb.max(resident_kb());
        }
    }

    fn grown_kb(&self) -> u64 {
        self.late_kb.saturating_sub(self.early_kb)
    }

    fn is_good(&self) -> bool {
        // What never changed would have had nothing to remember of it.
        let eventful = self.changes > 1 && self.outages > 1;
        self.grown_kb() <= GROWS_KB && self.early_kb > 0 && self.odd == 0 && eventful
    }
}

/// Whether it does not; says so.
pub fn stays_flat() -> bool {
    let sandbox = Sandbox::new();
    let store = Store::at(&sandbox.path(""));
    let program = program(&sandbox);
    let mut metrics = always::metrics(&described(), &store).unwrap();
    let (page, stop, begun) = (Page::default(), Stopper::default(), Instant::now());
    let mut seen = Seen::default();
    // As the program does it.
    let mut told = |tidings: &Tidings<'_>| {
        match tidings {
            Tidings::Logged(entry) => {
                metrics.take(entry);
                seen.take(entry);
            }
            Tidings::Shown(event) => match event.changed() {
                Some(asked) => {
                    seen.changes += 1;
                    metrics.changed(&event.path, &asked.cell, asked.metric);
                }
                None => seen.outages += 1,
            },
            Tidings::Rests(_) => return,
        }
        page.put(text(&metrics));
        if seen.visits >= VISITS {
            stop.stop();
        }
    };
    let to = Hearer::Program(PathBuf::from("true"), Vec::new());
    let on_change = Some(OnChange { to, document: event_json });
    always::watch(described(), &program, &store, on_change, &mut told, &stop).unwrap();
    let good = seen.is_good();
    let word = if good { "ok    " } else { "FAILED" };
    println!(
        "{word} a_watch_stays_flat ({:.1} s): {} kB at visit {SETTLED}, {} kB at visit {}, at most \
         {GROWS_KB} kB more; {} changes, {} outages, {} other ends",
        begun.elapsed().as_secs_f64(),
        seen.early_kb,
        seen.late_kb,
        seen.visits,
        seen.changes,
        seen.outages,
        seen.odd,
    );
    good
}

/// The paths, with periods that nobody may ask for.
fn described() -> Watch {
    let draft: Draft = toml::from_str(PATHS).unwrap();
    let mut watch = check(&draft).unwrap();
    for (path, every_ns) in watch.paths.iter_mut().zip(EVERY_NS) {
        path.every_ns = Some(every_ns);
    }
    watch
}

fn program(sandbox: &Sandbox) -> PathBuf {
    let path = sandbox.write("visit.sh", PROGRAM);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

/// Memory of this process, in kB.
fn resident_kb() -> u64 {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
