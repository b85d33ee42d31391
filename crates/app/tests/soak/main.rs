//! A soak: one server for a long time under honest clients and hostile ones at the same time.
//!
//! First honest clients alone, then both. Its memory must stay flat after the first minute, its
//! descriptors be as many in the end as at the start, and the answers of honest clients be those of
//! the quiet time. The second part lasts an hour in the night and 60 s otherwise, or as
//! `V6GAP_SOAK=20m` says; `V6GAP_ATTACKED=PATH` says which program is meant. Prints a summary in
//! Markdown and one line of JSON.

#[path = "../attacks/attacked.rs"]
#[expect(dead_code, reason = "logs and signals are for attacks")]
mod attacked;
#[path = "../attacks/field.rs"]
#[expect(dead_code, reason = "lines are cut by attacks")]
mod field;
#[path = "../attacks/forge.rs"]
mod forge;
mod honest;
mod samples;
mod strangers;
#[path = "../netns/support.rs"]
#[expect(dead_code, reason = "what reads results is for suites that judge figures")]
mod support;
#[path = "../attacks/talk.rs"]
#[expect(dead_code, reason = "servers are for attacks on clients")]
mod talk;
#[path = "../attacks/tasks.rs"]
#[expect(dead_code, reason = "not every task is part of the soak")]
mod tasks;
#[path = "../../../lab/tests/namespaces/tier.rs"]
#[expect(dead_code, reason = "it is one long scenario")]
mod tier;

use attacked::Serving;
use field::Field;
use honest::Answers;
use samples::Samples;
use serde_json::json;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the server is looked at.
const EVERY: Duration = Duration::from_secs(5);

/// What memory may have grown by in an hour, as far as the range of the slope can tell, in kB.
const GROWS_KB: f64 = 1_000.0;

/// Share of the honest clients that must have been served.
const SERVED: f64 = 0.95;

fn main() -> ExitCode {
    if let Some(code) = tier::refused() {
        return code;
    }
    v6gap_sys::netns::enter_user_namespace().expect("the probe succeeded");
    let lasts = lasts();
    let field = Field::build();
    let serving = Serving::start(field.node("server"), &[]);
    let start = Look::at(&serving);
    println!("quiet, then {lasts:?} of honest and hostile clients");
    let quiet = together(&field, &serving, lasts / 6, false);
    let before = field.still("victim");
    let mixed = together(&field, &serving, lasts, true);
    let reached = field.still("victim").bytes - before.bytes;
    // What is left of the last session goes when its time is over.
    std::thread::sleep(Duration::from_secs(20));
    let end = Look::at(&serving);
    let warm = Duration::from_secs(60).min(lasts / 3);
    let slope = mixed.samples.slope_per_hour(warm);
    let same = quiet.answers.compared(&mixed.answers);
    println!("\n# Soak of {lasts:?}\n");
    println!("| What | Figure |\n|---|---|");
    println!("| memory, kB per hour after {warm:?} (95 %) | {slope} |");
    println!(
        "| memory, kB: start, highest, end | {}, {}, {} |",
        start.memory_kb,
        mixed.samples.highest_kb(),
        end.memory_kb
    );
    println!(
        "| descriptors: start, highest, end | {}, {}, {} |",
        start.descriptors,
        mixed.samples.most_descriptors(),
        end.descriptors
    );
    println!("| threads: start, end | {}, {} |", start.threads, end.threads);
    println!("| honest clients served, alone | {} |", quiet.answers.served());
    println!("| honest clients served, among hostile ones | {} |", mixed.answers.served());
    println!("| hostile acts, played to their end of those begun | {} |", mixed.acts.words());
    println!("| bytes to the victim of forged sources | {reached} |\n");
    println!("{}", same.table());
    let flat = slope.low <= GROWS_KB;
    // In so short a time chance may leave one out.
    let all_played = lasts < Duration::from_secs(600) || mixed.acts.unplayed().is_empty();
    let good = flat
        && all_played
        && end.descriptors <= start.descriptors
        && mixed.answers.served_share() >= SERVED
        && same.unchanged()
        && reached == 0;
    let summary = json!({
        "seconds": lasts.as_secs(), "slope_kb_per_hour": slope.as_json(),
        "start": start.as_json(), "end": end.as_json(), "acts": mixed.acts.begun(),
        "quiet": quiet.answers.as_json(), "mixed": mixed.answers.as_json(),
        "victim_bytes": reached, "samples": mixed.samples.as_json(), "good": good,
    });
    println!("{summary}");
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How long the mixed part lasts, as in `1h`, `20m` or `90s`.
fn lasts() -> Duration {
    let Ok(text) = std::env::var("V6GAP_SOAK") else {
        return Duration::from_secs(if tier::is_night() { 3600 } else { 60 });
    };
    let nanoseconds = v6gap_core::unit::parse_span(&text).expect("V6GAP_SOAK is a time as 1h");
    Duration::from_nanos(nanoseconds)
}

/// What the server had at a moment.
struct Look {
    memory_kb: u64,
    descriptors: usize,
    threads: u64,
}

impl Look {
    fn at(serving: &Serving) -> Self {
        Look {
            memory_kb: serving.memory_kb(),
            descriptors: serving.descriptors(),
            threads: serving.threads(),
        }
    }

    fn as_json(&self) -> serde_json::Value {
        json!({ "memory_kb": self.memory_kb, "descriptors": self.descriptors,
            "threads": self.threads })
    }
}

/// What came of one part.
struct Part {
    answers: Answers,
    samples: Samples,
    acts: strangers::Acts,
}

/// Honest clients for so long, and hostile ones beside them if that is wanted.
fn together(field: &Field, serving: &Serving, lasts: Duration, hostile: bool) -> Part {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let honest = scope.spawn(|| honest::measure(field, &over));
        let strangers = hostile.then(|| scope.spawn(|| strangers::come(field, &over)));
        let start = Instant::now();
        let mut samples = Samples::default();
        while start.elapsed() < lasts {
            std::thread::sleep(EVERY.min(lasts / 10));
            samples.take(start.elapsed(), &Look::at(serving));
        }
        over.store(true, Ordering::Relaxed);
        let answers = honest.join().unwrap();
        let acts = strangers.map(|thread| thread.join().unwrap()).unwrap_or_default();
        Part { answers, samples, acts }
    })
}
