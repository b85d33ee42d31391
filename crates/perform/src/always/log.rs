//! The log of a watch that another process writes: whoever shows what is in it looks again when it
//! has grown.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use v6gap_store::{Store, StoreError};
use v6gap_sys::clock;

/// How often is looked whether the log has grown. Visits are a second apart at least.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Calls `look` now, and again whenever the log has grown, until `stop` is set.
///
/// # Errors
/// That of `look`; or if the folder of the log cannot be read.
pub fn follow<E: From<StoreError>>(
    store: &Store,
    stop: &AtomicBool,
    look: &mut dyn FnMut() -> Result<(), E>,
) -> Result<(), E> {
    follow_every(LOOK_EVERY, store, stop, look)
}

fn follow_every<E: From<StoreError>>(
    every: Duration,
    store: &Store,
    stop: &AtomicBool,
    look: &mut dyn FnMut() -> Result<(), E>,
) -> Result<(), E> {
    let mut seen_bytes = None;
    loop {
        // Before it is read: what comes meanwhile is looked at the next time.
        let bytes = store.watch_log_bytes()?;
        if seen_bytes != Some(bytes) {
            seen_bytes = Some(bytes);
            look()?;
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
        let (stop, mut looks) = (AtomicBool::new(false), 0);
        let mut log = store.open_watch_log().unwrap();
        let mut look = || {
            looks += 1;
            // It grows twice while it is looked at, and is not once more.
            match looks {
                1 | 2 => log.append(&Logged::Began(Began {
                    at_unix_ns: looks,
                    due_unix_ns: looks,
                    path: "lab-b".to_owned(),
                    kind: Kind::Light,
                })),
                _ => {
                    stop.store(true, Ordering::Relaxed);
                    Ok(())
                }
            }
        };
        follow_every::<StoreError>(Duration::ZERO, &store, &stop, &mut look).unwrap();
        assert_eq!(looks, 3);
        drop(log);
        store.clear().unwrap();
    }
}
