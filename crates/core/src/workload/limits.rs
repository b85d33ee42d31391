//! What a server allows, and what it objects to.

use super::impossible::{Impossible, range};
use serde::{Deserialize, Serialize};

/// Why a server does not do a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Objection {
    /// It cannot be done, or is beyond what is allowed here.
    #[error(transparent)]
    Impossible(#[from] Impossible),
    /// The server has a limit that the workload cannot be held to.
    #[error("this server limits {what}, which cannot be done for {workload}")]
    Unbounded {
        /// What is limited.
        what: &'static str,
        /// The kind of workload.
        workload: &'static str,
    },
    /// The server does not allow it to anybody, or to nobody without a key.
    #[error("this server does not allow {what}")]
    Denied {
        /// What was asked for, in words.
        what: &'static str,
    },
}

/// What a server allows. It enforces each of them; the client may keep to them from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Longest session, in ns.
    pub session_ns: u64,
    /// Longest silence between two tasks, in ns.
    pub idle_ns: u64,
    /// Longest task, in ns.
    pub task_ns: u64,
    /// Most application bytes that a task may move one way; `None` is without limit.
    pub task_bytes: Option<u64>,
    /// Highest rate, in bit/s; `None` is without limit.
    pub rate_bps: Option<u64>,
    /// Largest message or single write, in bytes.
    pub message_bytes: u32,
    /// Most connections of an arm that are open at a time.
    pub connections: u32,
    /// Most connections of a task that stay open until its end; 0 from a server that does not know
    /// of such tasks.
    #[serde(default)]
    pub held: u32,
    /// Most exchanges or connections of an arm in a task, warm-up included.
    pub exchanges: u64,
    /// Most clients that may wait for their turn.
    pub waiting: u32,
    /// Most sessions of one source that are open or wait at a time; 0 from a server that does not
    /// tell.
    #[serde(default)]
    pub per_source: u32,
    /// Whether a task may keep the processor busy while it waits (`wait` of `spin` or `yield`).
    #[serde(default = "yes")]
    pub spin: bool,
    /// Whether a task may mark packets (traffic class, hop limit, flow label) and name a congestion
    /// control.
    #[serde(default = "yes")]
    pub marking: bool,
}

/// What a server allows that does not tell.
const fn yes() -> bool {
    true
}

const SECOND_NS: u64 = 1_000_000_000;
const MINUTE_NS: u64 = 60 * SECOND_NS;

impl Default for Limits {
    /// Limits of a server that nothing else was said to.
    fn default() -> Self {
        Limits {
            session_ns: 24 * 60 * MINUTE_NS,
            idle_ns: 2 * MINUTE_NS,
            task_ns: 10 * MINUTE_NS,
            task_bytes: None,
            rate_bps: None,
            message_bytes: 64 << 20,
            connections: 64,
            held: 20_000,
            exchanges: 10_000_000,
            waiting: 16,
            per_source: 4,
            spin: true,
            marking: true,
        }
    }
}

impl Limits {
    /// Limits of a server for everybody that was told no others: half a minute at 50 Mbit/s a task,
    /// and a turn of five minutes.
    pub fn strict() -> Self {
        Limits {
            session_ns: 5 * MINUTE_NS,
            task_ns: 30 * SECOND_NS,
            task_bytes: Some(200_000_000),
            rate_bps: Some(50_000_000),
            held: 1000,
            per_source: 1,
            spin: false,
            marking: false,
            ..Limits::default()
        }
    }

    /// The rate in bit/s to which bulk data of a task of `duration_ns` are held each way, so that
    /// neither rate nor bytes are exceeded; `None` if neither is limited.
    pub fn held_bps(&self, duration_ns: u64) -> Option<u64> {
        let whole = |bytes: u64| {
            let bps = u128::from(bytes) * 8_000_000_000 / u128::from(duration_ns.max(1));
            u64::try_from(bps).unwrap_or(u64::MAX)
        };
        let of_bytes = self.task_bytes.map(whole);
        self.rate_bps.into_iter().chain(of_bytes).min()
    }

    /// Most bytes that the exchanges of both arms of a task may move one way. They follow each
    /// other as fast as answers come, so a server with a limit of the rate takes few at a time, and
    /// rests after them for as long as they would have taken at that rate.
    pub fn exchanged_bytes_most(&self) -> u64 {
        /// Time in which the rate allows as many, in s.
        const SECONDS: u64 = 2;
        self.rate_bps.map_or(u64::MAX, |bps| (bps / 8).saturating_mul(SECONDS))
    }

    /// Whether a message may be so long.
    ///
    /// # Errors
    /// If it may not.
    pub fn message(&self, what: &'static str, bytes: u32) -> Result<(), Objection> {
        Ok(range(what, bytes, 1..=self.message_bytes.into())?)
    }

    /// Whether a rate in bit/s is allowed.
    ///
    /// # Errors
    /// If it is not.
    pub fn rate(&self, what: &'static str, rate_bps: u64) -> Result<(), Objection> {
        Ok(range(what, rate_bps, 1..=self.rate_bps.unwrap_or(u64::MAX))?)
    }

    /// Whether a task may move so many bytes one way.
    ///
    /// # Errors
    /// If it may not.
    pub fn bytes(&self, bytes: u128) -> Result<(), Objection> {
        let found = u64::try_from(bytes).unwrap_or(u64::MAX);
        Ok(range("bytes in all", found, 0..=self.task_bytes.unwrap_or(u64::MAX))?)
    }

    /// Objects to a workload whose rate is the path's own if rate or bytes are limited.
    ///
    /// # Errors
    /// If they are.
    pub fn unbounded(&self, workload: &'static str) -> Result<(), Objection> {
        let objection = |what| Err(Objection::Unbounded { what, workload });
        match (self.rate_bps, self.task_bytes) {
            (Some(_), _) => objection("the rate"),
            (None, Some(_)) => objection("the bytes of a task"),
            (None, None) => Ok(()),
        }
    }
}
