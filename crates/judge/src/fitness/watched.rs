//! What was watched on this host: its clock, how it is held up, who else works on it and sends from
//! it, and what the choice of processors does to a round trip.

use super::{Finding, State, Told, write_told};
use crate::gate::{OTHER_TRAFFIC_MAX, steal_max};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::host::Host;
use v6gap_core::unit::{format_rate, format_share, format_span, significant};

/// Steps of a clock above this share of the shortest round trip are felt in it (docs/method.md
/// section B.9).
const STEP_SHARE_MAX: f64 = 0.01;

/// Steps of a clock that are felt in round trips of 100 µs, in ns.
pub const STEP_NS_MAX: u64 = 1_000;

/// A clock that is read by a call into the kernel takes longer than this, in ns.
const READ_NS_MAX: u64 = 250;

/// Share of a processor that other work may take from a thread that keeps it.
const HELD_SHARE_MAX: f64 = 0.005;

/// Longest interruption that is nothing special, in ns.
const HELD_NS_MAX: u64 = 1_000_000;

/// Share of the processors that other programs may use.
pub const BUSY_MAX: f64 = 0.2;

/// Other traffic up to this rate is no matter where nothing tells the rate of the line: 1 % of
/// 100 Mbit/s.
const TRAFFIC_BPS_MAX: f64 = 1e6;

/// Round trips that differ by more than this factor with the processors are a matter of placement.
const PLACEMENT_FACTOR_MAX: f64 = 1.5;

/// The monotonic clock, and a thread that read it without a pause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Clock {
    /// Smallest step, in ns.
    pub step_ns: u64,
    /// Mean cost of a read, in ns.
    pub read_ns: u64,
    /// How long it was read without a pause, in ns.
    pub span_ns: u64,
    /// Longest time between two reads, in ns.
    pub longest_ns: u64,
    /// Interruptions: gaps longer than a timer interrupt takes.
    pub held: u64,
    /// Sum of the times for which it was held up, in ns.
    pub held_ns: u64,
}

/// Use of the processors by others while nothing was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Busy {
    /// How long they were watched, in ns.
    pub span_ns: u64,
    /// Share of the time in which they worked.
    pub share: f64,
    /// Share of it that the hypervisor gave to another machine.
    pub steal: f64,
}

/// What passed an interface while nothing was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Traffic {
    /// Name of the interface.
    pub interface: String,
    /// Both directions together, in bit/s.
    pub bps: f64,
    /// Rate of its line, in bit/s, where the driver tells.
    pub line_bps: Option<u64>,
}

/// Where the two ends of a round trip over loopback ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// Both on one processor.
    One,
    /// On two processors.
    Two,
    /// Where the system put them.
    Free,
}

/// Round trips over loopback with the ends placed so.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Placement {
    /// Where.
    pub place: Place,
    /// Round trip of each block, in ns, over each family.
    pub trips_ns: PerFamily<Vec<f64>>,
}

/// Everything that was watched.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Watched {
    /// Clock and interruptions.
    pub clock: Clock,
    /// Use of the processors.
    #[serde(serialize_with = "write_told")]
    pub busy: Told<Busy>,
    /// Traffic of the interfaces in question.
    #[serde(serialize_with = "write_told")]
    pub traffic: Told<Vec<Traffic>>,
    /// Round trips by placement.
    #[serde(serialize_with = "write_told")]
    pub placements: Told<Vec<Placement>>,
}

pub(super) fn judge(host: &Host, watched: &Watched) -> Vec<Finding> {
    let mut findings = alloc::vec![clock(host, watched), held(host, &watched.clock)];
    findings.extend(busy(host, &watched.busy));
    findings.push(traffic(host, &watched.traffic));
    findings.push(placement(host, &watched.placements));
    findings
}

fn span(ns: u64) -> String {
    format_span(ns as f64)
}

/// What a platform does not tell.
pub(super) fn untold(id: &'static str, topic: &'static str, host: &Host, why: &str) -> Finding {
    let finding = Finding::ok(id, topic, host, why);
    Finding { state: State::Unavailable, ..finding }
}

fn clock(host: &Host, watched: &Watched) -> Finding {
    let Clock { step_ns, read_ns, .. } = watched.clock;
    let seen = format!("steps of {step_ns} ns, {read_ns} ns to read");
    let finding = Finding::ok("clock", "Clock", host, seen);
    let shortest = shortest_ns(watched);
    let source = "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource";
    match shortest {
        Some(trip_ns) if step_ns as f64 > STEP_SHARE_MAX * trip_ns => finding
            .but(
                State::Trouble,
                format!(
                    "a round trip of {} cannot be timed by itself to 1 %: time whole turns \
                     (timing = \"batch\" in a plan)",
                    format_span(trip_ns)
                ),
            )
            .try_this(source),
        _ if step_ns > STEP_NS_MAX => {
            finding.but(State::Note, "single short round trips are rounded").try_this(source)
        }
        _ if read_ns > READ_NS_MAX => {
            let effect = "each round trip holds the cost of reading the clock, alike for both \
                          families";
            finding.but(State::Note, effect).try_this(source)
        }
        _ => finding,
    }
}

/// The shortest round trip that was measured, in ns.
fn shortest_ns(watched: &Watched) -> Option<f64> {
    let placements = watched.placements.as_ref().ok()?;
    let trips = placements.iter().flat_map(|p| Family::BOTH.map(|family| p.trips_ns.get(family)));
    trips.flatten().copied().min_by(f64::total_cmp)
}

fn held(host: &Host, clock: &Clock) -> Finding {
    let share = clock.held_ns as f64 / (clock.span_ns.max(1)) as f64;
    let seen = format!(
        "a thread that only read the clock for {} was held up {} times, {} of the time, at most {}",
        span(clock.span_ns),
        clock.held,
        format_share(share),
        span(clock.longest_ns)
    );
    let finding = Finding::ok("held-up", "Interruptions", host, seen);
    if share <= HELD_SHARE_MAX && clock.longest_ns <= HELD_NS_MAX {
        return finding;
    }
    let effect = "the slowest round trips, and the spread of the pairs, are this host's own";
    finding
        .but(State::Note, effect)
        .try_this("ps -eo pcpu,comm --sort=-pcpu | head")
        .try_this("v6gap run HOST -A CPU")
}

fn busy(host: &Host, told: &Told<Busy>) -> Vec<Finding> {
    let busy = match told {
        Ok(busy) => busy,
        Err(why) => return alloc::vec![untold("load", "Load", host, why)],
    };
    let seen = format!("processors {} busy for {}", format_share(busy.share), span(busy.span_ns));
    let load = Finding::ok("load", "Load", host, seen);
    let load = match busy.share > BUSY_MAX {
        true => load
            .but(State::Note, "other programs take turns with the measurement: pairs spread more")
            .try_this("ps -eo pcpu,comm --sort=-pcpu | head"),
        false => load,
    };
    let seen = format!("the hypervisor kept {} of the time", format_share(busy.steal));
    let steal = Finding::ok("steal", "Steal", host, seen);
    let steal = if busy.steal > steal_max(busy.span_ns as f64 / 1e9) {
        let effect = "trials with more than 1 % are discarded, and above a fifth of them there \
                      may be no verdict: ask for processors of its own, or come back later";
        steal.but(State::Trouble, effect).try_this("vmstat 1")
    } else if busy.steal > 0.0 {
        let effect = "other machines work on the same processors; trials with more than 1 % are \
                      discarded";
        steal.but(State::Note, effect).try_this("vmstat 1")
    } else {
        steal
    };
    alloc::vec![load, steal]
}

fn traffic(host: &Host, told: &Told<Vec<Traffic>>) -> Finding {
    let (id, topic) = ("traffic", "Other traffic");
    let all = match told {
        Ok(all) => all,
        Err(why) => return untold(id, topic, host, why),
    };
    let one = |t: &Traffic| format!("{} {}", t.interface, format_rate(t.bps));
    let seen = match all.is_empty() {
        true => "no interface but loopback is up".to_string(),
        false => all.iter().map(one).collect::<Vec<_>>().join(", "),
    };
    let finding = Finding::ok(id, topic, host, seen);
    let much = |t: &&Traffic| {
        let line = t.line_bps.map_or(TRAFFIC_BPS_MAX, |line| OTHER_TRAFFIC_MAX * line as f64);
        t.bps > line
    };
    match all.iter().find(much) {
        Some(traffic) => finding
            .but(
                State::Note,
                "it takes its share of the path; trials that share an interface with more than \
                 1 % of it are discarded",
            )
            .try_this(format!("ip -s link show {}", traffic.interface)),
        None => finding,
    }
}

fn placement(host: &Host, told: &Told<Vec<Placement>>) -> Finding {
    let (id, topic) = ("placement", "Placement");
    let all = match told {
        Ok(all) => all,
        Err(why) => return untold(id, topic, host, why),
    };
    let seen: Vec<String> = all.iter().map(in_words).collect();
    let finding = Finding::ok(id, topic, host, format!("over loopback, 64 B: {}", seen.join("; ")));
    let centres: Vec<f64> = all.iter().filter_map(centre).collect();
    let apart = factor(centres.iter().copied());
    let free = all.iter().filter(|p| p.place == Place::Free);
    let wandering = free.flat_map(|p| [&p.trips_ns.v4, &p.trips_ns.v6]);
    let wandering = wandering.filter_map(|trips| factor(trips.iter().copied()));
    let wandering = wandering.fold(1.0, f64::max);
    if apart.is_none_or(|apart| apart <= PLACEMENT_FACTOR_MAX) && wandering <= PLACEMENT_FACTOR_MAX
    {
        return finding;
    }
    let effect = format!(
        "round trips differ {}-fold with the processors that the ends run on, and {}-fold from \
         block to block where nobody holds them there",
        significant(apart.unwrap_or(1.0), 2),
        significant(wandering, 2)
    );
    finding
        .but(State::Note, effect)
        .try_this("v6gap run HOST -A CPU")
        .try_this("v6gap serve -A CPU")
}

fn in_words(placement: &Placement) -> String {
    let place = match placement.place {
        Place::One => "one processor",
        Place::Two => "two processors",
        Place::Free => "not held",
    };
    let one = |family: Family| {
        let trips = placement.trips_ns.get(family);
        let low = trips.iter().copied().min_by(f64::total_cmp)?;
        let high = trips.iter().copied().max_by(f64::total_cmp)?;
        Some(format!("{family} {} to {}", format_span(low), format_span(high)))
    };
    let both: Vec<String> = Family::BOTH.into_iter().filter_map(one).collect();
    match both.is_empty() {
        true => format!("{place} nothing came back"),
        false => format!("{place} {}", both.join(", ")),
    }
}

/// Median over the blocks of both families, in ns.
fn centre(placement: &Placement) -> Option<f64> {
    let both = [&placement.trips_ns.v4, &placement.trips_ns.v6];
    let mut all: Vec<f64> = both.into_iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

/// Largest over smallest.
fn factor(values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let low = values.clone().min_by(f64::total_cmp)?;
    let high = values.max_by(f64::total_cmp)?;
    Some(high / low).filter(|factor| factor.is_finite())
}
