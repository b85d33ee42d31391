//! Threads that a system may refuse to start: at its limit it says so, and `std` would panic.

use std::io;
use std::thread::{Builder, scope};

/// Does `work` on a thread of its own and waits until it is done. A panic in it goes on here.
///
/// # Errors
/// If no thread can be started; `work` has not begun then.
pub fn aside<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    scope(|scope| match Builder::new().spawn_scoped(scope, work)?.join() {
        Ok(outcome) => Ok(outcome),
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_on_another_thread() {
        let here = std::thread::current().id();
        assert_ne!(aside(|| std::thread::current().id()).unwrap(), here);
        assert!(std::panic::catch_unwind(|| aside(|| panic!("as it must"))).is_err());
    }
}
