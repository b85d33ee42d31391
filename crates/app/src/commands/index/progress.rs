//! How far something is that goes through all results, said now and then.

use crate::output;
use std::sync::atomic::{AtomicU64, Ordering};
use v6gap_sys::clock::now_ns;

/// How often is said how far it is, in ns.
const EVERY_NS: u64 = 1_000_000_000;

/// What was said last, and when.
pub(super) struct Progress {
    said_ns: AtomicU64,
}

impl Progress {
    /// Something that begins now.
    pub(super) fn new() -> Self {
        Progress { said_ns: AtomicU64::new(now_ns()) }
    }

    /// Says so if it is time for it.
    pub(super) fn told(&self, done: usize, all: usize) {
        let (last, now) = (self.said_ns.load(Ordering::Relaxed), now_ns());
        let said = &self.said_ns;
        // Of several threads one says it.
        let is_due = now.saturating_sub(last) >= EVERY_NS
            && said.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_due {
            output::to_stderr(&format!("{done} of {all} results"));
        }
    }
}
