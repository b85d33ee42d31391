//! A lab with a server in it and a connection to that, to measure cells one by one.

use crate::facts::this_host;
use crate::local;
use crate::placement::Placement;
use crate::tool;
use crate::world::RealWorld;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use v6gap_core::arm::{Arm, PerArm, TurnOrder};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::observation::Lateness;
use v6gap_core::wire;
use v6gap_core::workload::Cell;
use v6gap_core::world::World;
use v6gap_engine::control::{ClientOptions, Connection, Key};
use v6gap_engine::run;
use v6gap_engine::trial::client::ClientContext;
use v6gap_sys::{clock, thread};

/// Seed of the lab's losses, of which there are none.
const SEED: u64 = 0;
/// How long the server has to answer, in ns.
const TIMEOUT_NS: u64 = 5_000_000_000;

/// A moment: time and what the user-space link's thread had used.
#[derive(Debug, Clone, Copy)]
pub struct Spent {
    at_ns: u64,
    used_ns: Option<u64>,
}

impl Spent {
    /// Share of a processor that was used from here to `later`.
    pub fn share(&self, later: &Spent) -> Option<f64> {
        let used_ns = later.used_ns?.checked_sub(self.used_ns?)?;
        Some(used_ns as f64 / later.at_ns.checked_sub(self.at_ns).filter(|&ns| ns > 0)? as f64)
    }
}

/// The connection to measure over.
pub struct Site<'a> {
    lab: &'a RealWorld,
    connection: Connection,
    context: ClientContext,
}

impl Site<'_> {
    /// Builds `world`, connects client and server and hands both to `work`, which runs in a thread
    /// at the client.
    ///
    /// # Errors
    /// If the lab cannot be built or the server not be reached, and those of `work`.
    pub fn measure<T: Send>(
        world: &World,
        work: impl FnOnce(&mut Site<'_>) -> Result<T, String> + Send,
    ) -> Result<T, String> {
        let placement = Placement::choose();
        let lab = RealWorld::build(world, placement.link, SEED, None).map_err(|e| e.why)?;
        let server = lab.server();
        let addresses: PerFamily<Option<SocketAddr>> =
            lab.addresses(&server).map(|ip| ip.map(|ip| SocketAddr::new(ip, wire::PORT)));
        let at_client = |addresses| {
            let there = || {
                lab.go_to(&lab.client())?;
                work(&mut Site::connect(&lab, addresses, placement)?)
            };
            thread::aside(there).map_err(|e| format!("cannot start a thread: {e}"))?
        };
        let ends = placement.ends.into_iter().collect();
        local::with_server(Some(&lab), addresses, ends, this_host(), at_client)?
    }

    fn connect(
        lab: &RealWorld,
        addresses: PerFamily<Option<SocketAddr>>,
        placement: Placement,
    ) -> Result<Site<'_>, String> {
        let options = ClientOptions::new(Key::none(), tool(), this_host());
        let go_on = &mut |_: &_| ControlFlow::Continue(());
        let connection = Connection::open(addresses, &options, go_on).map_err(|e| e.to_string())?;
        let processors = placement.ends.into_iter().collect();
        let context = ClientContext { processors, ..ClientContext::new(addresses, TIMEOUT_NS) };
        Ok(Site { lab, connection, context })
    }

    /// Starts the counts of the user-space link anew.
    pub fn reset(&self) {
        let _ = self.lab.lateness();
    }

    /// What the user-space link did since the counts were started anew.
    pub fn lateness(&self) -> Option<Lateness> {
        self.lab.lateness()
    }

    /// Now.
    pub fn spent(&self) -> Spent {
        Spent { at_ns: clock::now_ns(), used_ns: self.lab.wire_used_ns() }
    }

    /// The median of twice `repeats` values of a family.
    ///
    /// # Errors
    /// If a trial fails or gives no such value.
    pub fn median(
        &mut self,
        cell: &Cell,
        metric: Metric,
        family: Family,
        repeats: u32,
    ) -> Result<f64, String> {
        let mut values = Vec::new();
        for _ in 0..repeats {
            let arms = PerArm::null(family);
            let block = run::measure_block(
                cell,
                arms,
                TurnOrder::Ab,
                0,
                &mut self.connection,
                &self.context,
            );
            let block = block.map_err(|e| e.to_string())?;
            for arm in [Arm::A, Arm::B] {
                values.extend(block.get(arm).get(&metric).copied());
            }
        }
        values.sort_unstable_by(f64::total_cmp);
        match values.len() {
            0 => Err("it gave no value".to_owned()),
            n => Ok((values[(n - 1) / 2] + values[n / 2]) / 2.0),
        }
    }
}
