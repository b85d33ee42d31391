//! What hosts tell that are reached by ssh: their shells, the program there, and ssh itself may say
//! anything, and nothing of it drives a terminal or is kept without end.

use crate::document;
use arbitrary::Unstructured;
use serde_json::{Value, json};
use std::sync::LazyLock;
use v6gap_core::via::Host;
use v6gap_core::via::told::{self, Complaint, Event, LINE_BYTES_MAX, Lines, SAID_BYTES_MAX};
use v6gap_core::wire::foreign::{NAME_BYTES_MAX, is_unsafe};

/// Most that is read of an answer that is short, in things of one kind.
const MANY_MAX: usize = 256;

/// Events of the program at an end.
static EVENTS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    Vec::from([
        json!({"event": "begin", "id": "7k2f9q"}),
        json!({"event": "state", "text": "measuring"}),
        json!({"event": "pair", "pairs": 8, "elapsed_s": 2.5}),
        json!({"event": "error", "code": "E209", "title": "cannot serve", "why": ["it is taken"],
               "try": [{"run": "v6gap serve -p 5000", "does": "another port"}], "exit": 2}),
        json!({"code": "E208", "title": "refused", "why": [], "try": [], "exit": 4}),
    ])
});

/// Bytes as they come, or an event with changes.
pub fn run(data: &[u8]) {
    match data.split_first() {
        Some((0, bytes)) => answer(bytes),
        Some((&kind, changes)) => {
            let mut document = EVENTS[usize::from(kind) % EVENTS.len()].clone();
            document::change(&mut document, &mut Unstructured::new(changes));
            event(&document.to_string());
        }
        None => {}
    }
}

fn answer(bytes: &[u8]) {
    let whole = told::lines(bytes);
    for line in &whole {
        harmless(line, LINE_BYTES_MAX);
        event(line);
    }
    let mut open = Lines::default();
    let step = bytes.first().map_or(1, |byte| usize::from(*byte).max(1));
    let mut lines: Vec<String> = bytes.chunks(step).flat_map(|piece| open.take(piece)).collect();
    lines.extend(open.rest());
    assert_eq!(lines, whole, "in pieces of {step} bytes");
    harmless(&told::said(bytes), SAID_BYTES_MAX);
    complained(&told::silent(None, bytes));
    if let Some(seen) = told::seen(bytes) {
        assert!(seen.programs.len() <= MANY_MAX && seen.kept.len() <= MANY_MAX, "{seen:?}");
        let names = seen.programs.iter().chain(&seen.kept).chain([&seen.system]);
        names.for_each(|name| harmless(name, NAME_BYTES_MAX));
    }
    if let Err(jobs) = told::forgot(bytes) {
        jobs.iter().for_each(|job| harmless(job, NAME_BYTES_MAX));
    }
    // Either is an answer; only one of them lets the program run there.
    let _ = (told::copied(bytes), told::is_ours(bytes), told::fits(bytes, "Linux x86_64"));
    let host = Host::parse("ops@rome1").expect("a host");
    assert_eq!(told::of_ssh(&host, Some(0), bytes), None, "the command ended by itself");
    assert!(told::of_ssh(&host, None, bytes).is_some(), "it was killed");
}

fn event(line: &str) {
    match told::event(line) {
        Some(Event::State(text)) => harmless(&text, SAID_BYTES_MAX),
        Some(Event::Fails(complaint)) => complained(&complaint),
        Some(Event::Serves | Event::Begins(_) | Event::Pairs(..) | Event::Other) | None => {}
    }
}

fn complained(complaint: &Complaint) {
    let Complaint { code, title, why, tries, .. } = complaint;
    let tries = tries.iter().flat_map(|(run, does)| [run, does]);
    let texts = [code, title].into_iter().chain(why).chain(tries);
    texts.for_each(|text| harmless(text, SAID_BYTES_MAX));
}

fn harmless(text: &str, bytes_max: usize) {
    assert!(!text.contains(is_unsafe), "{text:?}");
    assert!(text.len() <= bytes_max, "{} bytes", text.len());
}
