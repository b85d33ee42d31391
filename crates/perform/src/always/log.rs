//! The log of a watch that another process writes: whoever shows what is in it looks again when it
//! has grown.

use super::{Lately, lately_span};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use v6gap_store::{Reached, Store, StoreError};
use v6gap_sys::clock;

/// How often is looked whether the log has grown. Visits are a second apart at least.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Calls `look` now with what is known lately, as [`super::lately`] tells it, and again whenever
/// there is more, until `stop` is set. What was read is not read again: a log of weeks would
/// disturb each visit that begins.
///
/// # Errors
/// If the log cannot be read, or became shorter.
pub fn follow(
    store: &Store,
    at_unix_ns: Option<u64>,
    stop: &AtomicBool,
    look: &mut dyn FnMut(&Lately),
) -> Result<(), StoreError> {
    follow_every(LOOK_EVERY, store, at_unix_ns, stop, look)
}

fn follow_every(
    every: Duration,
    store: &Store,
    at_unix_ns: Option<u64>,
    stop: &AtomicBool,
    look: &mut dyn FnMut(&Lately),
) -> Result<(), StoreError> {
    let (mut lately, mut reached) = (Lately::default(), Reached::default());
    let (span, mut is_first) = (lately_span(at_unix_ns), true);
    loop {
        if lately.read_on(store, &span, &mut reached)? || is_first {
            is_first = false;
            look(&lately);
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        clock::rest(every);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::watch::Kind;
    use v6gap_core::watch::log::{Began, Logged};

    #[test]
    fn each_time_that_it_grows_is_looked_at_once() {
        let folder = std::env::temp_dir().join(format!("v6gap-follow-{}", std::process::id()));
        let store = Store::at(&folder);
        let (stop, mut dues) = (AtomicBool::new(false), Vec::new());
        let mut log = store.open_watch_log().unwrap();
        let mut began = |due_unix_ns: u64| {
            let (at_unix_ns, path) = (due_unix_ns, "lab-b".to_owned());
            let entry = Began { at_unix_ns, due_unix_ns, path, kind: Kind::Light };
            log.append(&Logged::Began(entry)).unwrap();
        };
        let mut look = |lately: &Lately| {
            let past = lately.known.past("lab-b", Kind::Light);
            dues.push(past.and_then(|past| past.due_unix_ns));
            match dues.len() {
                1 => began(1),
                // It grows twice, the second time by what is later than is asked for.
                2 => [2, 9].into_iter().for_each(&mut began),
                _ => stop.store(true, Ordering::Relaxed),
            }
        };
        follow_every(Duration::ZERO, &store, Some(5), &stop, &mut look).unwrap();
        assert_eq!(dues, [None, Some(1), Some(2)]);
        drop(log);
        store.clear().unwrap();
    }
}
