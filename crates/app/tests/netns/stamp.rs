//! Reflectors of STAMP: `serve --stamp` answers `run --against stamp`, open and authenticated. What
//! the reflector held of each packet is no part of a round trip, but the server's turn is a part of
//! this program's own exchanges: with what was held both are as long.

use super::sites::AT;
use super::support::{Home, figure, is_disturbance, noted, text, times};
use super::tier::is_night;
use super::two_hosts::Lab;
use serde_json::Value;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::Measured;
use v6gap_core::record::{Line, TrialRecord};
use v6gap_stats::{Estimate, signed_rank, summary};

/// How far both may be apart, in µs.
const APART_US_MAX: f64 = 10.0;

/// Turns by night of 64 B: at one's scatter of 35 µs their range is ±5 µs wide.
const MANY: usize = 150;

/// Turns by night of what goes the same way with a key.
const SOME: usize = 40;

/// At most one turn in so many may be left out because the machine disturbed it.
const SPOILED_EACH: usize = 4;

/// What exchanges of a run took over one family, in µs.
#[derive(Debug, Clone, Copy)]
struct Took {
    /// From sending to receiving, by the client's clock.
    whole: f64,
    /// Without what the reflector held.
    alone: f64,
}

/// Of one trial.
fn took(trial: &TrialRecord) -> Took {
    let client = &trial.ends.client;
    let Measured::Times(times) = &client.measured else { panic!("{client:?}") };
    let whole_ns = client.held.map_or(times.trimmed_mean_ns, |held| held.whole_ns);
    Took { whole: whole_ns / 1e3, alone: times.trimmed_mean_ns / 1e3 }
}

/// Of both families of the only run in a data folder: medians over the trials of valid blocks.
fn stored(home: &Home) -> PerFamily<Took> {
    let run = std::fs::read_dir(home.path().join("runs")).unwrap().next().unwrap().unwrap();
    let (mut open, mut valid) = (Vec::new(), Vec::new());
    for line in v6gap_store::read_journal(&run.path().join("journal.jsonl")).unwrap() {
        match line {
            Line::Trial(trial) => open.push((trial.family, took(&trial))),
            Line::Block(block) if block.valid => valid.append(&mut open),
            Line::Block(_) => open.clear(),
            Line::Run(_) | Line::Failed(_) | Line::Allotted(_) => {}
            Line::GaveUp(_) | Line::End(_) => {}
        }
    }
    PerFamily::from_fn(|family| {
        let of = |value: fn(&Took) -> f64| {
            let all = valid.iter().filter(|(of, _)| *of == family);
            summary::median(&all.map(|(_, took)| value(took)).collect::<Vec<_>>())
        };
        Took { whole: of(|took| took.whole), alone: of(|took| took.alone) }
    })
}

/// A way between two hosts with everything on the processors that a lab's own run would have.
struct Way {
    lab: Lab,
    processor: String,
}

impl Way {
    /// A run between both, with what it says; `None` if the machine disturbed it.
    fn run(&self, more: &[&str]) -> Option<(PerFamily<Took>, Value)> {
        let home = Home::new("stamp-run");
        let [four, six] = AT;
        let mut run = self.lab.command(&home, "client");
        run.args(["run", four, "--v6", six, "--no-report", "-q", "--json", "--pairs", "6"]);
        let output = run.args(["-A", self.processor.as_str()]).args(more).output().unwrap();
        let said = || format!("{}{}", text(&output.stderr), text(&output.stdout));
        let result: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said()));
        let why = result["headline"].as_str().unwrap_or_default();
        match output.status.code() {
            Some(0) => Some((stored(&home), result)),
            Some(6) if is_disturbance(why) => None,
            code => panic!("{code:?}: {}", said()),
        }
    }

    /// Runs of both kinds in turns, which of them first is drawn for the first of two turns and the
    /// other way round in the second. The differences of turns are judged.
    fn is_alike(&self, bytes: &str, how: &str, against: &[&str], most: usize) {
        let turns = times(6, most);
        let drawn: [u8; MANY] = v6gap_sys::entropy::bytes().unwrap();
        let sizes = ["-l", bytes];
        let own = || self.run(&[&sizes[..], &["--measure", "rtt,udp"]].concat());
        let reflected = || self.run(&[&sizes[..], against].concat());
        let mut found = Vec::new();
        for turn in 0..turns {
            let own_first = (drawn[turn / 2] & 1 == 0) == (turn % 2 == 0);
            let (own, reflected) = if own_first {
                let own = own();
                (own, reflected())
            } else {
                let reflected = reflected();
                (own(), reflected)
            };
            let Some(((own, _), (reflected, result))) = own.zip(reflected) else { continue };
            for family in Family::BOTH {
                let words = format!("the reflector held packets of rtt-udp-{bytes} over {family}");
                assert!(noted(&result, &words), "{result:#}");
            }
            found.push((own, reflected));
        }
        figure(&format!("{how}: turns judged, of {turns}"), found.len());
        assert!(turns - found.len() <= turns / SPOILED_EACH, "{} of {turns}", found.len());
        let by_range = is_night() && most == MANY;
        let alike = Family::BOTH.map(|family| is_within(how, family, &found, by_range));
        assert!(alike == [true, true], "{how}: {alike:?}");
    }
}

/// With what was held, a reflector's exchanges take as long as own ones: the centre of the
/// difference is held against the bound, and where many turns were made its range must be narrower.
fn is_within(
    how: &str,
    family: Family,
    found: &[(PerFamily<Took>, PerFamily<Took>)],
    by_range: bool,
) -> bool {
    let all = |of: &dyn Fn(Took, Took) -> f64| -> Vec<f64> {
        found.iter().map(|(own, other)| of(*own.get(family), *other.get(family))).collect()
    };
    let longer = signed_rank::hodges_lehmann(&all(&|own, other| other.whole - own.whole), 0.05);
    let without = signed_rank::hodges_lehmann(&all(&|own, other| other.alone - own.whole), 0.05);
    let ranged = |of: &Estimate| {
        format!("{:+.1} ({:+.1} to {:+.1})", of.centre, of.interval.low, of.interval.high)
    };
    let (own, held) = (all(&|own, _| own.whole), all(&|_, other| other.whole - other.alone));
    let [own, held] = [own, held].map(|all| summary::median(&all));
    figure(
        &format!("{how} {family}, µs: own; held; longer with it; without"),
        format!("{own:.1}; {held:.1}; {}; {}", ranged(&longer), ranged(&without)),
    );
    let most = APART_US_MAX * times(10, 1) as f64;
    let shown = !by_range || longer.interval.high - longer.interval.low <= 2.0 * most;
    shown && longer.centre.abs() <= most
}

pub fn is_measured_against() {
    let home = Home::new("stamp");
    let key = home.path().join("key");
    std::fs::write(&key, "0x000102030405060708090a0b0c0d0e0f\n").unwrap();
    let lab = Lab::up("stamp", &["--delay", "1ms"]);
    // Both ends on one, and the links on the last: no wake-up of another one is between the ends.
    let processor = v6gap_sys::cpu::allowed().unwrap()[0].to_string();
    let way = Way { lab, processor };
    let serve = |more: &[&str]| {
        let placed = ["--stamp", "-A", way.processor.as_str()];
        way.lab.serve(&home, &[&placed[..], more].concat())
    };
    let open = serve(&[]);
    way.is_alike("64", "open", &["--against", "stamp", "--mine"], MANY);
    drop(open);
    let file = key.to_str().unwrap();
    let _sealed = serve(&["--stamp-key-file", file]);
    let against = ["--against", "stamp", "--mine", "--key-file", file];
    way.is_alike("128", "authenticated", &against, SOME);
    // Packets that no key authenticates are not answered.
    let [four, six] = AT;
    let mut refused = way.lab.command(&home, "client");
    refused.args(["run", four, "--v6", six, "--against", "stamp", "--connect-timeout", "500ms"]);
    let said = text(&refused.output().unwrap().stderr);
    assert!(said.contains("[E215"), "{said}");
}
