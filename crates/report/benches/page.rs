//! How long the page of a long run takes, from the journal on: 10 000 trials in less than a second
//! on one processor, and a page of 660 trials in less than 400 KB.
//!
//! `cargo bench -p v6gap-report --bench page`
#![expect(
    clippy::disallowed_methods,
    reason = "a program of its own, which measures what others only do"
)]

#[allow(dead_code, unused_imports, reason = "the tests use the rest of it")]
#[path = "../tests/fixtures/mod.rs"]
mod fixtures;

use std::process::ExitCode;
use std::time::{Duration, Instant};
use v6gap_core::record::{Line, decode, encode};
use v6gap_judge::analysis::analyse;
use v6gap_report::html::{PageInfo, page};
use v6gap_report::{parquet, sockets};

/// Trials of the long run and of the usual one.
const TRIALS: [u32; 2] = [10_000, 660];

/// Longest that the page of the long run may take, from the analysis on.
const LONGEST: Duration = Duration::from_secs(1);

/// Largest page of the usual run, in bytes.
const BYTES_MAX: usize = 400_000;

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let made = work();
    let took = start.elapsed();
    println!("  {what}: {:.3} s", took.as_secs_f64());
    (made, took)
}

/// The page of a run: how long it took from the lines on, and how large it is.
fn make(trials: u32) -> (Duration, usize) {
    println!("{trials} trials");
    let text: Vec<String> = fixtures::long::lines(trials).iter().map(encode).collect();
    println!("  journal: {} KB", text.iter().map(String::len).sum::<usize>() / 1000);
    let (lines, _) = timed("reading", || {
        text.iter().map(|line| decode(line).expect("a line")).collect::<Vec<Line>>()
    });
    let (analysis, analysing) = timed("analysing", || analyse(&lines).expect("an analysis"));
    let (html, drawing) = timed("page", || {
        let sockets = sockets(&lines);
        let command = "v6gap run lab-b";
        page(&analysis, &PageInfo { title: "", command, sockets: &sockets, facsimile: false })
    });
    let (tables, _) = timed("Parquet", || parquet(&lines, &analysis).expect("tables"));
    for table in &tables {
        println!("  {}.parquet: {} KB", table.name, table.bytes.len() / 1000);
    }
    println!("  page: {} KB", html.len() / 1000);
    (analysing + drawing, html.len())
}

fn main() -> ExitCode {
    let [(long, _), (_, bytes)] = TRIALS.map(make);
    println!("analysis and page of {} trials: {:.3} s", TRIALS[0], long.as_secs_f64());
    match long < LONGEST && bytes < BYTES_MAX {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
