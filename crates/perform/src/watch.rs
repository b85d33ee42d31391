//! Watching this host while nothing is measured, and what the choice of processors does.

use crate::facts::this_host;
use crate::job::Access;
use crate::local::with_server;
use crate::news::{News, Watcher};
use crate::place::LOOPBACK;
use crate::placement;
use crate::session::Session;
use crate::target::Target;
use crate::trouble::Trouble;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use v6gap_core::arm::{Arm, PerArm, TurnOrder};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::plan::{defaults, preset};
use v6gap_core::workload::{Cell, Echo, Transport, Wait, Workload};
use v6gap_engine::run;
use v6gap_judge::fitness::{Busy, Clock, Place, Placement, Traffic, Watched};
use v6gap_sys::{clock, counters, cpu, interface, usage};

/// How long the clock is read without a pause, in ns.
const CLOCK_NS: u64 = 200_000_000;

/// How long processors and interfaces are watched, in ns.
const WATCH_NS: u64 = 1_000_000_000;

/// Blocks of round trips in each placement.
const BLOCKS: u64 = 5;

/// Message of these round trips, in bytes.
const MESSAGE_BYTES: u32 = 64;

/// Turns of each family in a block: a tenth of a second at most.
const TURNS: u32 = 10;

/// Interfaces on the route to `target`: those that have the addresses from which it is measured.
/// Without a target, every one that is up.
pub fn interfaces(target: Option<&Target>) -> Vec<String> {
    let Some(target) = target else { return interface::up().unwrap_or_default() };
    let way_out = |family| target.way_out(family);
    let mut names: Vec<String> = Family::BOTH.into_iter().filter_map(way_out).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Watches this host; `processor` is the one that measures, by default the first that is allowed.
pub fn watch(
    interfaces: &[String],
    processor: Option<usize>,
    watcher: &mut dyn Watcher,
) -> Watched {
    let processor = processor.or_else(|| placement::Placement::choose().ends);
    let clock = std::thread::scope(|scope| {
        let read = scope.spawn(|| {
            // Where it cannot be held, what it sees is still what a measurement would.
            let _ = processor.map(cpu::pin_thread);
            (clock::quality(), clock::watch(CLOCK_NS))
        });
        read.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let (quality, held) = clock;
    let clock = Clock {
        step_ns: quality.step_ns,
        read_ns: quality.read_cost_ns,
        span_ns: held.span_ns,
        longest_ns: held.longest_ns,
        held: held.held,
        held_ns: held.held_ns,
    };
    let (ticks, seen, start_ns) = (usage::machine(), counters::snapshot(), clock::now_ns());
    clock::rest(Duration::from_nanos(WATCH_NS));
    let span_ns = clock::now_ns() - start_ns;
    let busy = ticks.and_then(|before| Ok((before, usage::machine()?)));
    let busy = busy.map(|(before, after)| busy_between(&before, &after, span_ns));
    let traffic = seen.and_then(|before| Ok(counters::snapshot()?.since(&before)));
    let traffic = traffic.map(|moved| traffic_of(interfaces, &moved, span_ns));
    watcher.told(&News::Placements);
    Watched {
        clock,
        busy: busy.map_err(|why| why.to_string()),
        traffic: traffic.map_err(|why| why.to_string()),
        placements: placements(),
    }
}

fn busy_between(before: &usage::MachineTicks, after: &usage::MachineTicks, span_ns: u64) -> Busy {
    let all = |t: &usage::MachineTicks| t.busy() + t.idle + t.iowait + t.steal;
    let total = all(after).saturating_sub(all(before)).max(1) as f64;
    let share =
        |of: fn(&usage::MachineTicks) -> u64| of(after).saturating_sub(of(before)) as f64 / total;
    Busy { span_ns, share: share(usage::MachineTicks::busy), steal: share(|t| t.steal) }
}

fn traffic_of(
    interfaces: &[String],
    moved: &std::collections::BTreeMap<String, i64>,
    span_ns: u64,
) -> Vec<Traffic> {
    let one = |name: &String| {
        let bytes = |way: &str| moved.get(&format!("if.{name}.{way}_bytes")).copied().unwrap_or(0);
        let bytes = bytes("rx") + bytes("tx");
        Traffic {
            interface: name.clone(),
            bps: bytes.max(0) as f64 * 8e9 / span_ns as f64,
            line_bps: interface::speed_bps(name).ok(),
        }
    };
    interfaces.iter().map(one).collect()
}

/// Round trips with both ends on one processor, on two, and wherever the system puts them.
fn placements() -> Result<Vec<Placement>, String> {
    let allowed = cpu::allowed().map_err(|why| why.to_string())?;
    let (first, last) = (allowed.first().copied(), allowed.last().copied());
    let mut places = vec![(Place::One, first, first)];
    if allowed.len() > 1 {
        places.push((Place::Two, first, last));
    }
    places.push((Place::Free, None, None));
    places.into_iter().map(|(place, client, server)| placed(place, client, server)).collect()
}

fn placed(place: Place, client: Option<usize>, server: Option<usize>) -> Result<Placement, String> {
    let listen = PerFamily::from_fn(|f: Family| Some(SocketAddr::new(f.loopback(), 0)));
    with_server(None, listen, server.into_iter().collect(), this_host(), |addresses| {
        let trips_ns = round_trips(addresses, client).map_err(|why| why.to_string())?;
        Ok(Placement { place, trips_ns })
    })?
}

fn round_trips(
    addresses: PerFamily<Option<SocketAddr>>,
    processor: Option<usize>,
) -> Result<PerFamily<Vec<f64>>, Trouble> {
    let echo = defaults::echo(Transport::Udp, MESSAGE_BYTES, Wait::Block);
    let cell = Cell::named(Workload::Echo(Echo { turns: TURNS, ..echo }));
    let plan = preset::first_look(PerArm::FAMILIES, None, 0);
    let target = Target::at(LOOPBACK, addresses);
    let (stop, nobody) = (AtomicBool::new(false), &mut |_: &News<'_>| {});
    let processors = processor.into_iter().collect();
    let mut session = Session::open(&plan, &target, &Access::local(), processors, nobody, &stop)?;
    let mut trips: PerFamily<Vec<f64>> = PerFamily::default();
    for block in 0..BLOCKS {
        let order = if block % 2 == 0 { TurnOrder::Ab } else { TurnOrder::Ba };
        let arms = PerArm::FAMILIES;
        let Session { connection, client, .. } = &mut session;
        let values = run::measure_block(&cell, arms, order, block, connection, client)
            .map_err(|error| session.broken_off(error))?;
        for arm in Arm::BOTH {
            let seconds = values.get(arm).get(&Metric::Rtt).copied();
            trips.get_mut(*arms.get(arm)).extend(seconds.map(|seconds| seconds * 1e9));
        }
    }
    session.connection.close();
    Ok(trips)
}
