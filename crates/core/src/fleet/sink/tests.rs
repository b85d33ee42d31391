//! The sink alone: each part once, and told when it is on the disk.

use super::*;
use crate::record::RunId;
use alloc::string::String;
use alloc::vec;

fn run() -> RunOf {
    RunOf { host: "rome/a".parse().unwrap(), run: RunId::from_bits(7) }
}

fn chunk(message: u64, at: u64, bytes: u64, on_disk: u64) -> Event {
    let RunOf { host: from, run } = run();
    let header = ChunkHeader { version: 1, from, run, job: None, at, bytes, hash: String::new() };
    Event::Chunk { message, header: Box::new(header), on_disk }
}

fn appended(on_disk: bool) -> Event {
    Event::Appended { run: run(), on_disk }
}

fn append(message: u64, skip: u64) -> Action {
    Action::Append { message, run: run(), skip }
}

fn ack(bytes: u64) -> Action {
    let RunOf { host: to, run } = run();
    Action::Ack(Ack { version: 1, to, runs: vec![RunHeld { run, bytes }] })
}

#[test]
fn nothing_is_said_to_be_there_before_it_is() {
    let mut sink = Sink::new();
    assert_eq!(sink.step(chunk(1, 0, 10, 0)), [append(1, 0)]);
    assert_eq!(sink.step(appended(true)), [Action::Done(1), ack(10)]);
}

#[test]
fn what_the_archive_has_is_not_written_again_but_said_again() {
    let mut sink = Sink::new();
    assert_eq!(sink.step(chunk(1, 0, 10, 10)), [Action::Done(1), ack(10)]);
    // Other parts of the same journal: only what is behind is new.
    assert_eq!(sink.step(chunk(2, 4, 10, 10)), [append(2, 6)]);
    assert_eq!(sink.step(appended(true)), [Action::Done(2), ack(14)]);
}

#[test]
fn a_part_waits_for_the_one_before_it() {
    let mut sink = Sink::new();
    assert_eq!(sink.step(chunk(2, 10, 5, 0)), [Action::Again(2)]);
    assert_eq!(sink.step(chunk(1, 0, 10, 0)), [append(1, 0)]);
    // The disk does not have it yet, and says so.
    assert!(sink.step(chunk(2, 10, 5, 0)).is_empty());
    assert!(sink.step(chunk(1, 0, 10, 0)).is_empty());
    let actions = sink.step(appended(true));
    assert_eq!(actions, [Action::Done(1), ack(10), append(2, 0)]);
    let actions = sink.step(appended(true));
    assert_eq!(actions, [Action::Done(2), ack(15), Action::Done(1), ack(15)]);
}

#[test]
fn a_full_disk_acks_nothing() {
    let mut sink = Sink::new();
    sink.step(chunk(1, 0, 10, 0));
    sink.step(chunk(2, 10, 5, 0));
    assert_eq!(sink.step(appended(false)), [Action::Again(1), Action::Again(2)]);
    assert_eq!(sink.step(chunk(1, 0, 10, 0)), [append(1, 0)]);
}

#[test]
fn a_host_is_told_of_its_last_runs_and_of_no_others() {
    let mut sink = Sink::new();
    for number in 0..=ACK_RUNS as u32 {
        let Event::Chunk { mut header, .. } = chunk(1, 0, 10, 10) else { unreachable!() };
        header.run = RunId::from_bits(number);
        sink.step(Event::Chunk { message: 1, header, on_disk: 10 });
    }
    let actions = sink.step(chunk(1, 0, 10, 10));
    let Some(Action::Ack(ack)) = actions.last() else { panic!("{actions:?}") };
    assert_eq!(ack.runs.len(), ACK_RUNS);
    assert!(ack.runs.last().is_some_and(|held| held.run == run().run));
    let named = |number| ack.runs.iter().any(|held| held.run == RunId::from_bits(number));
    assert!(!named(0) && named(ACK_RUNS as u32) && named(2));
}
