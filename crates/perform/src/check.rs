//! What can be known of measuring a far end before anything is measured.

use crate::facts::this_host;
use crate::job::Access;
use crate::news::Watcher;
use crate::session::Session;
use crate::target::Target;
use crate::trouble::Trouble;
use crate::turn::Turn;
use crate::{path, placement, tool, whereabouts};
use std::net::{IpAddr, SocketAddr};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use v6gap_core::arm::PerArm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::host::names;
use v6gap_core::plan::Plan;
use v6gap_core::wire::control::Limits;
use v6gap_core::workload::Feature;
use v6gap_engine::control::{ClientOptions, ConnectError, Connection, FamilyProblem};
use v6gap_sys::socket::Datagram;
use v6gap_sys::{clock, usage};

/// How long this host is watched for other work, in ns.
const WATCH_NS: u64 = 300_000_000;

/// The way to an address.
pub struct Route {
    /// The address that this host reaches it from.
    pub from: IpAddr,
    /// Longest IP packet that the system thinks it takes, in bytes, where it tells.
    pub mtu: Option<u32>,
}

/// What a server says of itself.
pub struct Answer {
    /// Program and version.
    pub tool: String,
    /// Version of the protocol that both ends speak.
    pub protocol: u8,
    /// The family over which it did not answer, where it did over the other.
    pub problem: Option<FamilyProblem>,
    /// The target with its address of the family that it lacks, and what is to be noted of that,
    /// or why there is none; `None` where it lacks no address.
    pub located: Option<Result<(Target, String), Trouble>>,
    /// What it allows.
    pub limits: Limits,
    /// How far the clocks' difference is uncertain, in ns: half of the shortest round trip.
    pub uncertainty_ns: Option<u64>,
}

/// The ways to the addresses of `target`; where there is none, what the system says. A connected
/// UDP socket asks the kernel and sends nothing.
pub fn routes(target: &Target) -> PerFamily<Option<Result<Route, String>>> {
    PerFamily::from_fn(|family: Family| {
        let address = (*target.addresses.get(family))?;
        let any = SocketAddr::new(family.unspecified(), 0);
        let local = target.local.get(family).unwrap_or(any);
        let socket = Datagram::bind(local).and_then(|s| s.connect(address).map(|()| s));
        let route = socket.and_then(|s| {
            let mtu = s.path_mtu().ok();
            Ok(Route { from: s.local()?.ip(), mtu })
        });
        Some(route.map_err(|error| error.to_string()))
    })
}

/// Asks the server at `addresses`, which are those of `target` that have a route; where `target`
/// lacks one of a family, also for that. One that measures for somebody else is not waited for.
///
/// # Errors
/// If it answers over neither family.
pub fn ask(
    target: &Target,
    addresses: PerFamily<Option<SocketAddr>>,
    access: &Access,
) -> Result<Answer, ConnectError> {
    let lacking = target.lacks(PerArm::FAMILIES);
    let mut host = this_host();
    let claim = access.measurement.iter().map(|name| (names::CLAIM.to_owned(), name.clone()));
    host.facts.extend(claim);
    let options = ClientOptions {
        timeout_ns: access.timeout_ns,
        want: lacking.map(|_| Feature::Whereabouts).into_iter().collect(),
        wait: false,
        local: target.local,
        ..ClientOptions::new(access.key.towards(&target.name), tool(), host)
    };
    let connection = Connection::open(addresses, &options, &mut |_| ControlFlow::Break(()))?;
    let located =
        lacking.map(|family| whereabouts::complete(target, family, &connection, &options));
    let PerFamily { v4, v6 } = connection.problems();
    let opened = connection.opened();
    let answer = Answer {
        tool: opened.welcome.tool.clone(),
        protocol: connection.version(),
        problem: v4.as_ref().or(v6.as_ref()).cloned(),
        located,
        limits: opened.welcome.limits,
        uncertainty_ns: opened.offset.map(|offset| offset.uncertainty_ns),
    };
    connection.close();
    Ok(answer)
}

/// Which families carry datagrams, once packets of full size have come through over those that
/// `plan` measures; `None` if it was stopped before. Somebody else who measures is not waited for.
///
/// # Errors
/// If larger packets vanish, or the server is busy or lost.
pub fn packets(
    plan: &Plan,
    target: &Target,
    access: &Access,
    turn: &mut Turn,
    watch: &mut dyn Watcher,
    stop: &AtomicBool,
) -> Result<Option<PerFamily<bool>>, Trouble> {
    let access = Access { wait: false, ..access.clone() };
    let processors = placement::usual(None);
    let opened = Session::open_in_turn(plan, target, &access, processors, turn, watch, stop)?;
    let Some(mut session) = opened else { return Ok(None) };
    path::check(plan, &mut session)?;
    let mut carried = PerFamily::default();
    for family in Family::BOTH {
        *carried.get_mut(family) = path::carries_datagrams(family, &mut session)?;
    }
    session.connection.close();
    Ok(Some(carried))
}

/// What the clock of this host resolves, and what reading it takes.
pub fn clock() -> clock::Quality {
    clock::quality()
}

/// Share of processor time that this host spends on other work, watched for a moment: nothing is
/// sent to the socket that is waited on, so the wait is the time to watch.
pub fn busy_share() -> Option<f64> {
    let quiet = Datagram::bind(SocketAddr::new(Family::V4.loopback(), 0)).ok()?;
    let before = usage::machine().ok()?;
    quiet.wait_readable(WATCH_NS).ok()?;
    let after = usage::machine().ok()?;
    let idle = (after.idle + after.iowait).checked_sub(before.idle + before.iowait)?;
    let all = |t: usage::MachineTicks| {
        t.user + t.nice + t.system + t.idle + t.iowait + t.irq + t.softirq + t.steal
    };
    let total = all(after).checked_sub(all(before)).filter(|&total| total > 0)?;
    Some(1.0 - (idle as f64 / total as f64).min(1.0))
}
