//! What every kind of workload says of itself: the one place to look for what a kind must know.

use super::{Impossible, Interleaving, Limits, Marking, Needed, Objection, StreamSettings, Wait};
use crate::family::Family;
use crate::metric::Metric;
use crate::transport::Transport;
use alloc::string::String;
use core::fmt::Debug;

/// A kind of workload: what it is, how long it takes, what it may be asked and what it is called.
/// A [`Workload`](super::Workload) answers as its kind does.
pub trait Kind: Debug {
    /// The metrics that a trial of it yields, the main one first.
    fn metrics(&self) -> &'static [Metric];

    /// Over which transport.
    fn transport(&self) -> Transport;

    /// Asks for everything that a server has to know to do it.
    fn need(&self, needed: &mut Needed);

    /// What is wrong with its own numbers, where a datagram carries `datagram_bytes_max` bytes of
    /// payload at most.
    ///
    /// # Errors
    /// The first problem.
    fn check_numbers(&self, datagram_bytes_max: u32) -> Result<(), Impossible>;

    /// Whether a server with these limits does it, its longest time and its marks aside.
    ///
    /// # Errors
    /// The first objection.
    fn check_limits(&self, limits: &Limits) -> Result<(), Objection>;

    /// Becomes as small as `limits` demand and tells in words what was changed. What cannot be
    /// smaller, as frames with a rate of their own, stays so, and the server gives its reason.
    fn keep_to(&mut self, limits: &Limits, told: &mut dyn FnMut(String));

    /// What one trial takes on such a path.
    fn cost(&self, path: Path) -> Cost;

    /// What tells it from the usual one of its metric and size, as the end of a cell's name.
    fn suffix(&self) -> String;

    /// [`suffix`](Kind::suffix) in words for a person, each with a comma before it, in the label of
    /// `metric`.
    fn suffix_words(&self, metric: Metric) -> String;

    /// What the name of its cell starts with, where it is not metric, transport and level.
    fn name(&self) -> Option<String> {
        None
    }

    /// How its packets are marked.
    fn marking(&self) -> Marking;

    /// Marks its packets; what cannot be marked stays as it is.
    fn mark(&mut self, marking: Marking);

    /// The highest rate that it asks the path for, in bit/s; `None` is what the path carries. What
    /// waits for answers asks for none.
    fn rate_bps_most(&self) -> Option<u64>;

    /// Whether it sends more before the last is answered, so that something must hold its senders
    /// to the rate of their links.
    fn runs_ahead(&self) -> bool;

    /// Whether packets of it may still be under way when it is over, so that whatever is next waits
    /// for them. Of what waits for its answers there are none.
    fn lingers(&self) -> bool;

    /// Longest time that it takes by its own numbers, in ns; `None` where it lasts until its last
    /// exchange is over.
    fn longest_ns(&self) -> Option<u64>;

    /// Exchanges and connections of a task, one after the other at worst.
    fn exchanges_in_all(&self) -> u64 {
        0
    }

    /// Connections of an arm that are collected before it begins, if that is known.
    fn connections_collected(&self) -> Option<u64> {
        None
    }

    /// Bytes that the exchanges of both arms move one way, whatever time they take.
    fn exchanged_bytes(&self) -> u64 {
        0
    }

    /// The rate in bit/s to which both ends hold its TCP data each way because of `limits`,
    /// whatever pace it asks for; `None` if nothing is limited, or it has no such data.
    fn held_bps(&self, _limits: &Limits) -> Option<u64> {
        None
    }

    /// The rate in bit/s that `limits` leave its bulk data each way; `None` if nothing is limited,
    /// or it has no such data.
    fn limited_bps(&self, _limits: &Limits) -> Option<u64> {
        None
    }

    /// Memory that an end keeps for each arm beside its buffers, in bytes.
    fn notes_bytes(&self) -> u64 {
        0
    }

    /// How its ends wait.
    fn wait(&self) -> Wait {
        Wait::Block
    }

    /// What is asked of its TCP sockets, if it has any that carry data.
    fn settings(&self) -> Option<&StreamSettings> {
        None
    }

    /// Which way its bulk data flow, if it has any.
    fn direction(&self) -> Option<super::Direction> {
        self.datagrams().map(|stream| stream.direction)
    }

    /// Payload of its largest datagram in bytes, if it sends datagrams.
    fn datagram_bytes(&self) -> Option<u32> {
        self.datagrams().map(|stream| stream.payload_bytes)
    }

    /// That of its largest datagram over a family, where packets of both are of one length.
    fn datagram_bytes_over(&self, _family: Family) -> Option<u32> {
        self.datagram_bytes()
    }

    /// The stream of datagrams one way that its data are, if they are one, as far as it can be told
    /// beforehand.
    fn datagrams(&self) -> Option<super::UdpBulk> {
        None
    }

    /// How its arms take turns.
    fn interleaving(&self) -> Interleaving {
        Interleaving::Trial
    }

    /// The level that tells it from other cells of the same metric: a message or payload size in
    /// bytes.
    fn level_bytes(&self) -> Option<u32> {
        None
    }

    /// Takes its level off, so that it is alike for all cells that belong on one axis of sizes.
    fn take_level(&mut self) {}

    /// Changes itself so that a run over such a path has time for its pairs; its round trip holds
    /// what the hosts take.
    fn fit(&mut self, _path: Path) {}

    /// Draws from `seed` the size of its writes if the plan leaves that open: bytes of each, the
    /// same for the same seed. `None` where nothing is open.
    fn draw(&mut self, _seed: u64) -> Option<u32> {
        None
    }

    /// Bytes that a receiver asks for in each read where a task has this seed, if that is drawn.
    fn reads_bytes(&self, _seed: u64) -> Option<u32> {
        None
    }

    /// Takes `part` of its usual time, where that leaves enough to be measured.
    fn shorten(&mut self, _part: f64) {}

    /// Whether the far end is a service that knows nothing of this program: what no server of ours
    /// takes part in.
    fn is_of_strangers(&self) -> bool {
        false
    }

    /// Whether it floods a path that is not its own, so that it belongs in a lab.
    fn belongs_in_a_lab(&self) -> bool {
        false
    }
}

/// What the two hosts spend on an exchange or a connection besides the path, in ns; a usual value.
pub const HOSTS_NS: f64 = 60_000.0;

/// What is taken for granted of the path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// Rate that bulk transfers reach, in bit/s.
    pub rate_bps: f64,
    /// Round trip of a small packet, in ns.
    pub round_trip_ns: f64,
}

impl Path {
    /// A usual path, where nothing tells of the one at hand.
    pub const USUAL: Path = Path { rate_bps: 100e6, round_trip_ns: 1e6 };
}

/// Time and application bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// In ns.
    pub time_ns: f64,
    /// Both directions together.
    pub bytes: f64,
}

impl Cost {
    /// So many times as much.
    #[must_use]
    pub fn times(self, factor: f64) -> Cost {
        Cost { time_ns: self.time_ns * factor, bytes: self.bytes * factor }
    }
}

impl core::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Cost>>(costs: I) -> Cost {
        costs.fold(Cost::default(), |a, b| Cost {
            time_ns: a.time_ns + b.time_ns,
            bytes: a.bytes + b.bytes,
        })
    }
}

/// Lowers a number to the most that is allowed, and tells whether it was higher.
pub(super) fn lower(
    value: &mut u64,
    most: u64,
    told: &mut dyn FnMut(String),
    what: impl FnOnce(u64) -> String,
) -> bool {
    let higher = *value > most;
    if higher {
        *value = most;
        told(what(most));
    }
    higher
}

/// Share of the time of a transfer that warms it up, at most, where the time is made shorter.
pub(super) const WARMUP_PART: u64 = 4;

/// Cuts the time of a transfer to that of a task.
pub(super) fn cut(
    duration_ns: &mut u64,
    warmup_ns: &mut u64,
    limits: &Limits,
    told: &mut dyn FnMut(String),
) {
    let what = |most| alloc::format!("a trial takes {}", crate::unit::format_span(most as f64));
    if lower(duration_ns, limits.task_ns, told, what) {
        *warmup_ns = (*warmup_ns).min(*duration_ns / WARMUP_PART);
    }
}

/// Shortest bulk transfer when time is short, in ns.
pub const BULK_NS_MIN: u64 = 350_000_000;

/// Takes `part` of the time of a transfer.
pub(super) fn shorten(duration_ns: &mut u64, warmup_ns: &mut u64, part: f64) {
    let scaled = (*duration_ns as f64 * part) as u64;
    *duration_ns = scaled.clamp(BULK_NS_MIN.min(*duration_ns), *duration_ns);
    *warmup_ns = *duration_ns / WARMUP_PART;
}
