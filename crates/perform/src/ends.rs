//! Between whom a run is measured, and what of them this process holds: a server, and the lab in
//! which both ends are.

use crate::facts::this_host;
use crate::job::Job;
use crate::local::LocalServer;
use crate::place::LOOPBACK;
use crate::placement::{self, Placement};
use crate::target::Target;
use crate::trouble::{NoLab, Trouble};
use crate::witness::Measuring;
use crate::world::RealWorld;
use std::net::{IpAddr, SocketAddr};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::plan::Stop;
use v6gap_core::record::Host;
use v6gap_core::wire;
use v6gap_sys::entropy;
use v6gap_sys::network::Network;

/// A run that may take less than this, in ns, stays in one lab: another takes about 0.3 s, as much
/// as a seventh of a short round.
const RUN_NS_MIN: u64 = 30_000_000_000;

/// Ports that need no rights, and that no tunnel of a lab has.
const FREE_PORTS: std::ops::RangeInclusive<u16> = 10_000..=u16::MAX;

/// The ends of a run. What this process holds of them is gone when this is dropped.
pub(crate) struct Ends {
    /// The far end.
    pub target: Target,
    /// Processors of the measuring thread, of which each draw has one.
    pub processors: Vec<usize>,
    // Before the lab that it is in.
    server: Option<LocalServer>,
    /// The lab, if both ends are in one.
    pub lab: Option<RealWorld>,
}

impl Ends {
    /// This host and another one.
    pub fn between_hosts(target: Target, job: &Job) -> Self {
        Ends { target, processors: drawn_among(job), server: None, lab: None }
    }

    /// Both on the loopback interface.
    ///
    /// # Errors
    /// If the server does not start.
    pub fn on_loopback(job: &Job) -> Result<Self, Trouble> {
        let processors = drawn_among(job);
        let listen = PerFamily::from_fn(|f: Family| Some(SocketAddr::new(f.loopback(), 0)));
        let server = LocalServer::start(None, listen, processors.clone(), this_host());
        let server = server.map_err(Trouble::NoServer)?;
        let target = Target::at(LOOPBACK, server.addresses);
        Ok(Ends { target, processors, server: Some(server), lab: None })
    }

    /// Client and server of a lab; the calling thread is at the client from now on.
    ///
    /// # Errors
    /// If the server does not start, or the client cannot be entered.
    pub fn in_lab(lab: RealWorld, job: &Job) -> Result<Self, Trouble> {
        Ends::placed(lab, job, Placement::choose().ends)
    }

    /// On `usual`, unless the job names a processor.
    fn placed(lab: RealWorld, job: &Job, usual: Option<usize>) -> Result<Self, Trouble> {
        let processors: Vec<usize> = job.processor.or(usual).into_iter().collect();
        let (client, name) = (lab.client(), lab.server());
        let port = if is_drawn(&lab, job) { drawn_port()? } else { wire::PORT };
        let addresses = lab.addresses(&name).map(|ip| ip.map(|ip| SocketAddr::new(ip, port)));
        let server = if is_emulated(job) {
            // There the server is the system's own.
            None
        } else {
            let way = lab.way_to(&name).map_err(Trouble::NoServer)?;
            let listen = addresses.map(|a| a.map(|a| SocketAddr::new(unspecified(a), port)));
            let host = Host { name: name.clone(), ..this_host() };
            let server = LocalServer::start(Some(way), listen, processors.clone(), host);
            Some(server.map_err(Trouble::NoServer)?)
        };
        lab.go_to(&client).map_err(Trouble::System)?;
        let target = Target::at(name, addresses);
        Ok(Ends { target, processors, server, lab: Some(lab) })
    }

    /// Whether each round of the run has a lab of its own.
    pub fn are_drawn(&self, job: &Job) -> bool {
        self.lab.as_ref().is_some_and(|lab| is_drawn(lab, job))
    }

    /// The server is to end when the session does.
    pub fn leave(&self) {
        self.server.iter().for_each(LocalServer::stop);
    }

    /// The same ends in another lab of the same world, the one of that `number`, on processors that
    /// are drawn unless the job names one; this one is gone afterwards.
    ///
    /// # Errors
    /// If it cannot be made, or its server does not start.
    pub fn again(&mut self, job: &Job, number: u32) -> Result<(), Trouble> {
        self.end()?;
        let lab = self.lab.as_ref().ok_or(NoLab::NotAsked)?;
        // What the user fixed stays fixed.
        let placement = match job.processor {
            Some(_) => Placement::choose(),
            None => Placement::draw()?,
        };
        // Beside the old one, so that it cannot lie in the same memory.
        let lab = lab.again(number, placement.link).map_err(NoLab::NotBuilt)?;
        *self = Ends::placed(lab, job, placement.ends)?;
        Ok(())
    }

    /// Ends the server.
    ///
    /// # Errors
    /// If something was wrong with it meanwhile.
    pub fn end(&mut self) -> Result<(), Trouble> {
        self.server.take().map_or(Ok(()), LocalServer::end).map_err(Trouble::NoServer)
    }

    /// The server's network, if it is one of a lab of this system.
    ///
    /// # Errors
    /// If it is, and cannot be entered.
    pub fn far(&self) -> Result<Option<Network>, Trouble> {
        let network = |lab: &RealWorld| lab.network(&lab.server());
        let far = self.server.as_ref().and(self.lab.as_ref()).map(network);
        far.transpose().map_err(Trouble::System)
    }

    /// What is measured, and between whom.
    pub fn measuring<'a>(&'a self, job: &'a Job) -> Measuring<'a> {
        let Ends { target, processors, lab, .. } = self;
        Measuring { job, target, lab: lab.as_ref(), processor: processors.first().copied() }
    }
}

/// The processors of ends that are in no lab. A capture needs one on which no end measures.
fn drawn_among(job: &Job) -> Vec<usize> {
    match job.capture {
        Some(_) => placement::usual(job.processor),
        None => placement::processors(job.processor),
    }
}

/// Whether each round has a lab of its own. Not in a run in a hurry, where others see the trials at
/// the lab's interfaces, where other programs are part of it, which take their time to start, nor
/// where another process holds it.
fn is_drawn(lab: &RealWorld, job: &Job) -> bool {
    let hurries = match job.plan.design.stop {
        Stop::Adaptive { time_ns_max, .. } => time_ns_max < RUN_NS_MIN,
        Stop::Pairs { .. } => false,
    };
    let is_watched = job.capture.is_some() || job.devices.is_some();
    lab.is_own() && !lab.has_programs() && !is_watched && !hurries
}

fn is_emulated(job: &Job) -> bool {
    job.plan.world.as_ref().is_some_and(|world| world.emulated().is_some())
}

fn drawn_port() -> Result<u16, Trouble> {
    let random = u64::from_ne_bytes(entropy::bytes()?);
    let many = FREE_PORTS.len() as u64;
    Ok(*FREE_PORTS.start() + (random % many) as u16)
}

fn unspecified(address: SocketAddr) -> IpAddr {
    Family::of(&address.ip()).unwrap_or(Family::V4).unspecified()
}
