//! Measurements on this computer alone: in a lab, or on loopback where there can be none.

use super::facts::this_host;
use super::local::{self, Placement};
use super::measure::{Measuring, measure};
use super::repeat::LOOPBACK;
use super::world::{self, RealWorld};
use crate::failure::{Failure, Outcome};
use crate::settings::Context;
use crate::target::{RunOptions, Target};
use std::net::SocketAddr;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::plan::Plan;
use v6gap_core::record::{Host, RunId};
use v6gap_core::wire;

/// Measures `plan` in the lab that it asks for. The process must have one thread still.
///
/// # Errors
/// If the lab cannot be built (E301), or as any measurement.
pub fn in_lab(
    plan: Plan,
    options: &RunOptions,
    continued: Option<RunId>,
    context: &Context,
) -> Result<Outcome, Failure> {
    let Some(wanted) = plan.world.clone() else {
        return Err(Failure::unexpected("the plan asks for no lab"));
    };
    let refused = |why: String| Failure::namespaces(&why);
    world::enter().map_err(refused)?;
    let kernel = options.kernel.as_deref();
    world::provides(&wanted, kernel).map_err(|why| Failure::not_provided(&why))?;
    let placement = Placement::choose();
    let lab = RealWorld::build(&wanted, placement.link, plan.seed, kernel)?;
    between_nodes(plan, &lab, options, continued, context)
}

/// Measures `plan` in the lab called `name` that another process holds, between the nodes that the
/// plan's world names. The process must have one thread still.
///
/// # Errors
/// If it cannot be joined, or as any measurement.
pub fn in_held_lab(
    name: &str,
    plan: Plan,
    options: &RunOptions,
    context: &Context,
) -> Result<Outcome, Failure> {
    let Some(wanted) = plan.world.clone() else {
        return Err(Failure::unexpected("the plan asks for no lab"));
    };
    let failed = |why: String| Failure::unexpected(format!("the lab cannot be joined: {why}"));
    let joined = RealWorld::join(name).map(|lab| lab.measured(wanted.client, wanted.server));
    let lab = joined.map_err(failed)?;
    between_nodes(plan, &lab, options, None, context)
}

/// Measures between client and server of a lab.
fn between_nodes(
    plan: Plan,
    lab: &RealWorld,
    options: &RunOptions,
    continued: Option<RunId>,
    context: &Context,
) -> Result<Outcome, Failure> {
    let placement = Placement::choose();
    let port = wire::PORT;
    let (client, server) = (lab.client(), lab.server());
    let emulated = plan.world.as_ref().is_some_and(|world| world.emulated().is_some());
    let addresses = lab.addresses(&server).map(|ip| ip.map(|ip| SocketAddr::new(ip, port)));
    let listen = addresses.map(|a| a.map(|a| SocketAddr::new(unspecified(a), port)));
    let work = |_| {
        lab.go_to(&client).map_err(Failure::unexpected)?;
        let target = Target { name: server.clone(), addresses, local: PerFamily::default() };
        let measuring = Measuring {
            plan,
            target,
            options,
            lab: Some(lab),
            fit: false,
            notes: Vec::new(),
            continued,
            processor: placement.ends,
        };
        measure(measuring, context)
    };
    if emulated {
        // There the server is the system's own.
        return work(addresses);
    }
    let host = Host { name: server.clone(), ..this_host() };
    local::with_server(Some(lab), listen, placement.ends, host, work)
        .map_err(Failure::unexpected)?
}

/// Measures `plan` over the loopback interface; `why` says why not in a lab.
///
/// # Errors
/// As any measurement.
pub fn on_loopback(
    plan: Plan,
    why: &str,
    options: &RunOptions,
    context: &Context,
) -> Result<Outcome, Failure> {
    let placement = Placement::choose();
    let listen = PerFamily::from_fn(|f: Family| Some(SocketAddr::new(f.loopback(), 0)));
    let note = format!("measured over loopback, which has no line, router or rate: {why}");
    let work = |addresses| {
        let target = Target { name: LOOPBACK.to_owned(), addresses, local: PerFamily::default() };
        let measuring = Measuring {
            plan,
            target,
            options,
            lab: None,
            fit: false,
            notes: vec![note],
            continued: None,
            processor: placement.ends,
        };
        measure(measuring, context)
    };
    local::with_server(None, listen, placement.ends, this_host(), work)
        .map_err(Failure::unexpected)?
}

fn unspecified(address: SocketAddr) -> std::net::IpAddr {
    Family::of(&address.ip()).unwrap_or(Family::V4).unspecified()
}
