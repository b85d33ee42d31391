//! The noise floor: each family against itself, by the same path as any run.

use super::RUNS;
use crate::args::ConnectArgs;
use crate::commands::run::{QUICK_NS, look};
use crate::failure::Failure;
use crate::session::facts::this_host;
use crate::session::{self, LOOPBACK, connect_for, with_server};
use crate::target::Target;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::observation::{Lateness, PerEnd};
use v6gap_core::plan::estimate::estimate;
use v6gap_core::plan::{Plan, fit};
use v6gap_core::record::{Ending, Host, Line, RunHeader, RunId};
use v6gap_core::run::{Event, Machine};
use v6gap_core::session::limits;
use v6gap_core::unit::format_span;
use v6gap_core::workload::{HOSTS_NS, Path};
use v6gap_engine::control::Connection;
use v6gap_engine::run::{self, Hooks};
use v6gap_engine::trial::client::ClientContext;
use v6gap_judge::analysis;
use v6gap_judge::fitness::noise::{self, Found, Noise};
use v6gap_judge::stopping::Interim;

/// Rate that is taken for granted where no transfer came to an end, in bit/s.
const RATE_BPS: f64 = 100e6;

/// The noise and what can be found above it.
#[derive(Debug, Default)]
pub struct Floor {
    /// Of each family and question.
    pub noises: Vec<Noise>,
    /// By question.
    pub found: Vec<Found>,
    /// Why there is none.
    pub why_none: Option<String>,
}

/// What a meeting with the server gave.
#[derive(Debug, Default)]
pub struct Met {
    /// The far host, if one was asked for.
    pub far: Option<Host>,
    /// Round trip of a small message to it, in ns.
    pub round_trip_ns: Option<f64>,
    /// The noise, if it was asked for.
    pub floor: Option<Floor>,
    /// Whether it was stopped by hand.
    pub stopped: bool,
}

/// Meets the far host, or a server of this process over loopback, and measures the noise for
/// `time_ns` if that is asked for.
///
/// # Errors
/// If the far host cannot be reached over each family. Trouble with loopback is in the floor.
pub fn meet(
    target: Option<&Target>,
    options: &ConnectArgs,
    processor: Option<usize>,
    time_ns: Option<u64>,
    say: &dyn Fn(&str),
) -> Result<Met, Failure> {
    let meeting = |target: &Target, options: &ConnectArgs| {
        Meeting { target, options, processor, time_ns, say }.hold()
    };
    if let Some(target) = target {
        return meeting(target, options);
    }
    if time_ns.is_none() {
        return Ok(Met::default());
    }
    let listen = PerFamily::from_fn(|f: Family| Some(SocketAddr::new(f.loopback(), 0)));
    let met = with_server(None, listen, processor, this_host(), |addresses| {
        let target = Target { name: LOOPBACK.to_owned(), addresses, local: PerFamily::default() };
        meeting(&target, &ConnectArgs::local())
    });
    let told = |why: String| {
        let floor = Floor { why_none: Some(why), ..Floor::default() };
        Met { floor: Some(floor), ..Met::default() }
    };
    Ok(match met {
        Ok(Ok(met)) => Met { far: None, round_trip_ns: None, ..met },
        Ok(Err(failure)) => told(failure.render(&Default::default())),
        Err(why) => told(format!("unavailable, because {why}")),
    })
}

/// A session for the noise.
struct Meeting<'a> {
    target: &'a Target,
    options: &'a ConnectArgs,
    processor: Option<usize>,
    time_ns: Option<u64>,
    say: &'a dyn Fn(&str),
}

impl Meeting<'_> {
    fn hold(&self) -> Result<Met, Failure> {
        let stop = session::interruptible()?;
        let mut plan = look(QUICK_NS, crate::commands::run::random_seed()?);
        let mut connection = connect_for(&plan, self.target, self.options, &stop, &mut |_| {})?;
        let client = ClientContext {
            server: self.target.addresses,
            processor: self.processor,
            timeout_ns: self.options.connect_timeout,
            local: self.target.local,
            limits: connection.opened().welcome.limits,
        };
        let round_trip_ns = session::check_path(self.target, &plan, &mut connection, &client)?;
        fit::fit(&mut plan, round_trip_ns);
        limits::keep_to(&mut plan, &client.limits);
        let far = Some(connection.opened().welcome.host.clone());
        let mut met = Met { far, round_trip_ns: Some(round_trip_ns as f64), ..Met::default() };
        if let Some(time_ns) = self.time_ns {
            let mut noises = Vec::new();
            for family in Family::BOTH {
                let plan = noise::plan(&plan, family, time_ns / 2);
                let span = format_span(time_ns as f64 / 2.0);
                (self.say)(&format!("noise of {family} against itself: {span}"));
                let (measured, ending) = self.measure(plan, &mut connection, &client, &stop)?;
                noises.extend(measured);
                if ending == Ending::Stopped {
                    met.stopped = true;
                    break;
                }
            }
            let found = noise::found(&noises, &usual_runs(&noises, round_trip_ns));
            met.floor = Some(Floor { noises, found, why_none: None });
        }
        connection.close();
        Ok(met)
    }

    /// A run that nobody stores.
    fn measure(
        &self,
        plan: Plan,
        connection: &mut Connection,
        client: &ClientContext,
        stop: &AtomicBool,
    ) -> Result<(Vec<Noise>, Ending), Failure> {
        let server = connection.opened().welcome.host.clone();
        let header = RunHeader {
            id: RunId::from_bits(0),
            tool: crate::settings::VERSION.to_owned(),
            protocol: u32::from(connection.version()),
            started_unix_ns: v6gap_sys::clock::wall_ns(),
            target: self.target.name.clone(),
            addresses: self.target.addresses.map(|address| address.map(|a| a.ip())),
            bind: self.target.local.map(|address| address.map(|a| a.ip())),
            control: connection.family(),
            hosts: PerEnd { client: this_host(), server },
            plan,
            notes: Vec::new(),
            refused: BTreeMap::new(),
            limits: None,
        };
        let mut kept = Kept(vec![Line::Run(Box::new(header.clone()))]);
        let machine = Machine::new(&header, Box::new(Interim::of(&header)));
        let ending = run::run(machine, connection, client, &mut kept, stop)
            .map_err(|error| session::broken_off(self.target, None, &error))?;
        let analysis =
            analysis::analyse(&kept.0).map_err(|e| Failure::unexpected(e.to_string()))?;
        Ok((noise::of(&analysis), ending))
    }
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

/// Longest time and pairs of the usual runs over this path.
fn usual_runs(noises: &[Noise], round_trip_ns: u64) -> Vec<(u64, u32)> {
    let rates = noises.iter().filter(|n| n.metric == Metric::Throughput).filter_map(|n| n.value);
    let rate_bps = rates.min_by(f64::total_cmp).unwrap_or(RATE_BPS);
    // What was measured holds the work of the hosts.
    let round_trip_ns = (round_trip_ns as f64 - HOSTS_NS).max(0.0);
    let pairs = |time_ns: u64| {
        let mut plan = look(time_ns, 0);
        fit::fit(&mut plan, round_trip_ns as u64);
        estimate(&plan, Path { rate_bps, round_trip_ns }).rounds
    };
    RUNS.map(|(_, time_ns)| (time_ns, pairs(time_ns))).to_vec()
}
