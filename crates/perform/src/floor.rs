//! The noise floor: each family against itself, by the same path as any run.

use crate::facts::this_host;
use crate::job::Access;
use crate::local::with_server;
use crate::news::{News, Watcher};
use crate::path;
use crate::place::LOOPBACK;
use crate::placement;
use crate::session::Session;
use crate::target::Target;
use crate::trouble::Trouble;
use crate::turn::Turn;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::observation::Lateness;
use v6gap_core::plan::Plan;
use v6gap_core::plan::estimate::estimate;
use v6gap_core::record::{Ending, Host, Line, RunId};
use v6gap_core::run::{Event, Machine};
use v6gap_core::workload::{HOSTS_NS, Path};
use v6gap_engine::run::{self, Hooks};
use v6gap_judge::analysis::{self, Analysis};
use v6gap_judge::fitness::noise::{self, Found, Noise};
use v6gap_judge::stopping::Interim;

/// What a meeting with the far end is for.
pub struct Wanted {
    /// The plan of both families, of which each is measured against itself.
    pub plan: Plan,
    /// How long that takes, in ns; `None` if the far end is only looked at.
    pub time_ns: Option<u64>,
    /// The usual runs, for what they would find: the longest time of each, in ns, and its plan.
    pub usual: Vec<(u64, Plan)>,
    /// The processor to measure on; by default the first that is allowed.
    pub processor: Option<usize>,
}

/// The noise and what can be found above it.
#[derive(Debug, Default)]
pub struct Floor {
    /// Of each family and question.
    pub noises: Vec<Noise>,
    /// By question.
    pub found: Vec<Found>,
}

/// What a meeting with the far end gave.
#[derive(Debug)]
pub struct Met {
    /// The far host.
    pub far: Host,
    /// Round trip of a small message to it, in ns.
    pub round_trip_ns: u64,
    /// The noise, if it was asked for.
    pub floor: Option<Floor>,
    /// Whether it was stopped by hand.
    pub stopped: bool,
}

/// Meets a server of this process over loopback, in the `turn` of this host.
///
/// # Errors
/// As [`meet`], and if the server does not start.
pub fn on_loopback(
    wanted: Wanted,
    turn: &mut Turn,
    watch: &mut dyn Watcher,
    stop: &AtomicBool,
) -> Result<Option<Met>, Trouble> {
    let listen = PerFamily::from_fn(|f: Family| Some(SocketAddr::new(f.loopback(), 0)));
    let processors = placement::usual(wanted.processor);
    with_server(None, listen, processors, this_host(), |addresses| {
        let target = Target::at(LOOPBACK, addresses);
        meet(wanted, &target, &Access::local(), turn, watch, stop)
    })
    .map_err(Trouble::NoServer)?
}

/// Meets the far end in the `turn` of this host, and measures the noise if that is asked for.
/// `None` if it was stopped before.
///
/// # Errors
/// If somebody else measures here and is not to be waited for, or the far end cannot be reached
/// over each family, or is lost.
pub fn meet(
    wanted: Wanted,
    target: &Target,
    access: &Access,
    turn: &mut Turn,
    watch: &mut dyn Watcher,
    stop: &AtomicBool,
) -> Result<Option<Met>, Trouble> {
    let Wanted { plan, time_ns, usual, processor } = wanted;
    let processors = placement::usual(processor);
    let opened = Session::open_in_turn(&plan, target, access, processors, turn, watch, stop)?;
    let Some(mut session) = opened else { return Ok(None) };
    let path = path::check(&plan, &mut session)?;
    let (plan, _) = plan.fitted(path).keeping_to(&session.client.limits);
    let far = session.connection.opened().welcome.host.clone();
    let round_trip_ns = path.round_trip_ns as u64;
    let mut met = Met { far, round_trip_ns, floor: None, stopped: false };
    if let Some(time_ns) = time_ns {
        let mut nulls = Vec::new();
        for family in Family::BOTH {
            let plan = plan.clone().of_noise(family, time_ns / 2);
            watch.told(&News::Noise { family, time_ns: time_ns / 2 });
            let (null, ending) = measure(plan, &mut session, stop)?;
            nulls.push(null);
            if ending == Ending::Stopped {
                met.stopped = true;
                break;
            }
        }
        let noises = noise::of(&nulls);
        let found = noise::found(&noises, &usual_runs(usual, &noises, round_trip_ns));
        met.floor = Some(Floor { noises, found });
    }
    session.connection.close();
    Ok(Some(met))
}

/// A run that nobody stores.
fn measure(
    plan: Plan,
    session: &mut Session,
    stop: &AtomicBool,
) -> Result<(Analysis, Ending), Trouble> {
    let header = session.header(RunId::from_bits(0), plan, this_host());
    let mut kept = Kept(vec![Line::Run(Box::new(header.clone()))]);
    let machine = Machine::new(&header, Box::new(Interim::of(&header)));
    let Session { connection, client, .. } = session;
    let ending = run::run(machine, connection, client, &mut kept, stop)
        .map_err(|error| session.broken_off(error))?;
    let analysis = analysis::analyse(&kept.0).map_err(|e| Trouble::System(e.to_string()))?;
    Ok((analysis, ending))
}

/// Keeps the lines of a run in memory.
struct Kept(Vec<Line>);

impl Hooks for Kept {
    fn store(&mut self, lines: &[Line]) -> io::Result<()> {
        self.0.extend(lines.iter().cloned());
        Ok(())
    }

    fn event(&mut self, _event: &Event<'_>) {}

    fn lateness(&mut self) -> Option<Lateness> {
        None
    }
}

/// Longest time, in ns, and pairs of the usual runs over this path.
fn usual_runs(usual: Vec<(u64, Plan)>, noises: &[Noise], round_trip_ns: u64) -> Vec<(u64, u32)> {
    let rates = noises.iter().filter(|n| n.metric == Metric::Throughput).filter_map(|n| n.value);
    let rate_bps = rates.min_by(f64::total_cmp).unwrap_or(Path::USUAL.rate_bps);
    // What was measured holds the work of the hosts.
    let round_trip_ns = (round_trip_ns as f64 - HOSTS_NS).max(0.0);
    let path = Path { rate_bps, round_trip_ns };
    let pairs = |plan: Plan| estimate(&plan.fitted(path), path).rounds;
    usual.into_iter().map(|(time_ns, plan)| (time_ns, pairs(plan))).collect()
}
