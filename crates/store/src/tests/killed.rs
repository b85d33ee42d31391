//! A process that writes to the index is killed, at a hundred moments: nothing is lost.

use super::index::{judged, listed, rebuild, settle, truth};
use super::{Scratch, block, header};
use crate::{Note, Store};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use v6gap_core::record::{Ending, Line, RunId};

/// Names the folder in which the process that is killed works; set for that one alone.
const FOLDER: &str = "V6GAP_KILLED_IN";

/// How often it is killed.
const KILLED: u64 = 100;

/// Runs that there are at most.
const RUNS_MAX: usize = 12;

/// Numbers that follow no rule that matters here.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it starts itself again, to be killed")]
fn nothing_is_lost_wherever_a_process_is_killed() {
    let scratch = Scratch::new("killed");
    let store = Store::at(&scratch.0);
    let mut chance = Chance(0x5eed);
    for round in 0..KILLED {
        let steps = chance.below(12);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tests::killed::writes_until_it_is_killed", "--nocapture"])
            .env(FOLDER, format!("{round} {}", scratch.0.display()))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let mut said = said.lines().filter(|line| line.as_ref().is_ok_and(|line| line == "step"));
        // Somewhere within the step after those that were heard of.
        (0..=steps).for_each(|_| drop(said.next().unwrap()));
        for n in 0..chance.below(20_000) {
            let _ = std::hint::black_box(n);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(listed(&store), truth(&store), "round {round}");
        if round % 10 == 9 {
            anew(&store, round);
        }
    }
}

/// What is made of what was left is what is made of nothing.
fn anew(store: &Store, round: u64) {
    let mended = rebuild(store);
    assert_eq!(listed(store), truth(store), "round {round}");
    assert_eq!(store.index().unwrap().lagging().count(), 0, "round {round}");
    fs::remove_file(store.index_path()).unwrap();
    assert_eq!(rebuild(store), mended, "round {round}");
    let marks = fs::read_dir(store.data().join("unindexed")).unwrap().count();
    assert_eq!(marks, 0, "round {round}");
}

/// The process that is killed, which as a test by itself does nothing.
#[test]
#[expect(clippy::disallowed_methods, reason = "what starts it says where")]
fn writes_until_it_is_killed() {
    let Ok(told) = std::env::var(FOLDER) else { return };
    let (round, folder) = told.split_once(' ').unwrap();
    let store = Store::at(Path::new(folder));
    let mut chance = Chance(round.parse::<u64>().unwrap() + 1);
    loop {
        step(&store, &mut chance);
        println!("step");
    }
}

/// One thing that changes a run, or the index.
fn step(store: &Store, chance: &mut Chance) {
    let known: Vec<RunId> = store.survey().unwrap().runs.into_iter().map(|e| e.header.id).collect();
    let one = known.get(chance.below(RUNS_MAX)).cloned();
    match (chance.below(8), one) {
        (0, _) => {
            store.order_index().unwrap();
        }
        (1, _) => {
            store.rebuild_index(&|_| true, &judged, &|_, _| {}).unwrap();
        }
        (2, Some(id)) => drop(store.remove(&id).unwrap()),
        (3, Some(id)) => {
            let title = format!("title {}", chance.below(1000));
            store.set_note(&id, &Note { title, note: String::new() }).unwrap();
        }
        (4 | 5, Some(id)) => {
            let (mut journal, lines) = store.resume(&id).unwrap();
            journal.append(&[block(lines.len() as u32), Line::End(Ending::Stopped)]).unwrap();
            drop(journal);
            settle(store, id.as_str());
        }
        _ if known.len() < RUNS_MAX => {
            let id = RunId::from_bits(chance.below(1 << 30) as u32);
            let started_unix_ns = chance.below(1000) as u64;
            let Ok(mut journal) = store.create(&header(id.as_str(), "x", started_unix_ns)) else {
                return;
            };
            journal.append(&[block(0), Line::End(Ending::Complete)]).unwrap();
            drop(journal);
            settle(store, id.as_str());
        }
        _ => {}
    }
}
