//! A fleet of hosts that measure between each other: what its parts say, and the machines that
//! decide.
//!
//! A coordinator takes two hosts and what carries them, has their agents measure, and gives them
//! back; agents keep what they measured until a sink has it on its disk. All three are machines:
//! events and time go in, actions come out. Whoever drives one does the actions in the order given,
//! may die between any two of them, and begins it again with what was on the disk then.
//!
//! Time is that of a clock that nobody sets and that goes on while the host sleeps; no two clocks
//! need to show the same, they must only go alike to [`DRIFT`]. The wall's time is for histories.

pub mod agent;
pub mod clock;
pub mod coordinator;
pub mod estimate;
pub mod grant;
pub mod id;
pub mod mesh;
pub mod message;
pub mod metrics;
pub mod names;
pub mod sink;
pub mod subject;
pub mod timetable;
pub mod work;

/// A second in ns.
pub const SECOND_NS: u64 = 1_000_000_000;

/// From when a grant was asked for until when *start* may be said, in ns.
pub const PREPARE_NS: u64 = 15 * SECOND_NS;

/// How long an agent stays ready, in ns.
pub const READY_NS: u64 = 10 * SECOND_NS;

/// What is allowed for the end of what was killed, in ns.
pub const KILL_NS: u64 = 5 * SECOND_NS;

/// The part of a time by which any two clocks may differ after it, as in one of 500: each of them
/// goes right to 0.1 %.
pub const DRIFT: u64 = 500;

/// How often an agent says that it is there, in ns.
pub const HEARTBEAT_NS: u64 = 30 * SECOND_NS;

/// After how long without a word a host is given no jobs, in ns.
pub const SILENT_NS: u64 = 3 * HEARTBEAT_NS;

/// After how long without a word of its leader a fleet may have another one, in ns. Nothing that is
/// guaranteed relies on it: one that was replaced too early is refused like any other. It is long
/// enough for a leader of whose word the broker lost one to say the next.
pub const LEADER_NS: u64 = 6 * SECOND_NS;

/// How long the broker's answer to a batch, or of one key, is waited for, in ns.
pub const COMMIT_NS: u64 = 2 * SECOND_NS;

/// How long an answer of the broker is waited for that takes longer, as that of all keys, in ns.
pub const REQUEST_NS: u64 = 5 * SECOND_NS;

/// Attempts at a job in a round.
pub const ATTEMPTS: u32 = 3;

/// Most bytes of a part of what is sent in parts, as it is before it is made small, in bytes: a
/// broker takes messages of 1 MiB.
pub const PART_BYTES: usize = 512 << 10;

/// Free space below which an agent takes no job, in bytes.
pub const DISK_BYTES_MIN: u64 = 1_000_000_000;

/// How far an agent's wall clock may be off for it to take jobs, in ns.
pub const CLOCK_NS_MAX: u64 = 60 * SECOND_NS;

/// How far an agent's wall clock may be off without anybody being told, in ns.
pub const CLOCK_NS_UNTOLD: u64 = 2 * SECOND_NS;

/// How long a coordinator holds hosts and links of a job that takes `longest_ns` at most and of
/// whose end nothing is heard, in ns.
///
/// *Start* is said within [`PREPARE_NS`] of the grant, counts for [`READY_NS`] by the agent's
/// clock, and what it starts is killed after `longest_ns` and gone [`KILL_NS`] later: so whatever
/// goes wrong, it is over then.
pub const fn hold_ns(longest_ns: u64) -> u64 {
    let sum = (PREPARE_NS + READY_NS + KILL_NS).saturating_add(longest_ns);
    sum.saturating_add(longest_ns / DRIFT)
}
