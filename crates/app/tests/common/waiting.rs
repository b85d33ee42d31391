//! What suites of several programs wait for.

use std::time::{Duration, Instant};

/// Longest that anything is waited for: some visits and scrapes, a job and its result.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// How often is looked whether it is there.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Looks until there is something.
#[track_caller]
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    panic!("not within {} s: {what}", PATIENCE.as_secs());
}
