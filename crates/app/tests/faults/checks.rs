//! The checks of this suite and how they are run: several at a time, since most of their time goes
//! in waiting for clocks, and each with hosts of its own.

use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// A check: what it shows; it fails by panicking.
pub struct Check {
    name: String,
    work: Box<dyn FnOnce() + Send>,
}

impl Check {
    pub fn new(name: impl Into<String>, work: impl FnOnce() + Send + 'static) -> Self {
        Check { name: name.into(), work: Box::new(work) }
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Prints a figure of the check that is under way in this thread.
pub fn say(what: &str, value: impl Saying) {
    let current = thread::current();
    println!("    {}: {what}: {}", current.name().unwrap_or_default(), value.words());
}

/// Something that a check can say.
pub trait Saying {
    fn words(&self) -> String;
}

impl Saying for Duration {
    fn words(&self) -> String {
        format!("{:.2} s", self.as_secs_f64())
    }
}

impl<T: Display + ?Sized> Saying for &T {
    fn words(&self) -> String {
        self.to_string()
    }
}

/// Runs checks, so many at a time; the names of those that failed.
pub fn run(checks: Vec<Check>, lanes: usize) -> Vec<String> {
    let waiting = Mutex::new(checks.into_iter());
    let failed = Mutex::new(Vec::new());
    let lane = || {
        loop {
            let next = waiting.lock().unwrap().next();
            let Some(check) = next else { return };
            let (name, start) = (check.name, Instant::now());
            let thread = thread::Builder::new().name(name.clone());
            let work = check.work;
            let done = thread.spawn(move || std::panic::catch_unwind(AssertUnwindSafe(work)));
            let good = done.unwrap().join().is_ok_and(|outcome| outcome.is_ok());
            let word = if good { "ok" } else { "FAILED" };
            println!("fault {name} {word} ({:.1} s)", start.elapsed().as_secs_f64());
            if !good {
                failed.lock().unwrap().push(name);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(lane);
        }
    });
    failed.into_inner().unwrap()
}
