//! Run files as somebody would make them who wishes ill, through every command that reads one.
//!
//! Each ends with a result or an error in 10 s of a processor and 2 GiB, writes nothing outside of
//! the data folder but where it was told to, puts no element or attribute of its own into a page
//! and no control character on a terminal, and never panics. The files are made from their numbers,
//! so that what fails can be repeated: `cargo test --test hostile -- 17 42`. All thousand with
//! `V6GAP_FULL=1`.

mod bounded;
mod make;
mod page;
#[path = "../../../report/tests/parsed.rs"]
mod parsed;
mod random;
mod scene;

use scene::Scene;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Files in the day's tier and in the night's.
const FILES: [u64; 2] = [8, 1_000];

fn main() -> ExitCode {
    let asked: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let full = std::env::var_os("V6GAP_FULL").is_some();
    let numbers = if asked.is_empty() { (0..FILES[usize::from(full)]).collect() } else { asked };
    page::finds_what_it_must();
    let start = Instant::now();
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let told: Vec<Told> = std::thread::scope(|scope| {
        let work = |name| {
            let (next, numbers) = (&next, &numbers);
            move || one_after_the_other(name, next, numbers)
        };
        let workers: Vec<_> = (0..threads).map(|name| scope.spawn(work(name))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let sum = |of: fn(&Told) -> u64| told.iter().map(of).sum::<u64>();
    let (commands, results, failures) =
        (sum(|t| t.commands), sum(|t| t.results), sum(|t| t.failures));
    println!(
        "{} files, {commands} commands, {results} with a result; slowest {:.1} s; {failures} \
         failures; {:.0} s",
        numbers.len(),
        told.iter().map(|t| t.slowest_s).fold(0.0, f64::max),
        start.elapsed().as_secs_f64()
    );
    // Files of which every one is refused at once would prove little.
    let proves = results * 10 > commands;
    match failures == 0 && (proves || numbers.len() < 50) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// What came of some of the files.
#[derive(Debug, Default)]
struct Told {
    commands: u64,
    /// Commands that ended without an error.
    results: u64,
    failures: u64,
    slowest_s: f64,
}

fn one_after_the_other(name: usize, next: &AtomicU64, numbers: &[u64]) -> Told {
    let mut told = Told::default();
    let mut scene = Scene::new(name);
    loop {
        let at = next.fetch_add(1, Ordering::Relaxed) as usize;
        let Some(&number) = numbers.get(at) else { return told };
        let (kind, bytes) = make::file(number);
        let found = scene.all(number, &bytes);
        for why in &found.failures {
            println!("FAILED file {number} ({kind}): {why}");
        }
        told.commands += found.commands;
        told.results += found.results;
        told.failures += found.failures.len() as u64;
        told.slowest_s = told.slowest_s.max(found.slowest_s);
    }
}
