//! Managed devices whose counters are read before and after each trial.

use super::Measuring;
use crate::job;
use crate::news::{News, Watcher};
use crate::target;
use crate::trouble::{DeviceTrouble, Trouble};
use crate::world::RunningAgent;
use std::net::SocketAddr;
use v6gap_core::device::{self, Reading};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::DeviceCount;
use v6gap_engine::device::{Access, Credentials, Device, DeviceError, PORT, Side};

/// A device, and what it had counted when the present trial began.
struct Watched {
    device: Device,
    before: Option<Reading>,
    /// Failures in a row.
    failures: u32,
}

/// All of them, with the agents of the lab that belong to them.
#[derive(Default)]
pub struct Devices {
    all: Vec<Watched>,
    /// They end with this.
    _agents: Vec<RunningAgent>,
}

/// Failures in a row after which a device is left alone: each costs the time of three requests.
const FAILURES_MAX: u32 = 3;

/// Makes ready to read what the job names, starts agents in the lab, and reads each device once.
///
/// # Errors
/// If a device has no address or does not answer as it must.
pub fn prepare(measuring: &Measuring<'_>) -> Result<Devices, Trouble> {
    let mut devices = Devices::default();
    let Some(job::Devices { names, credentials, over, timeout_ns }) = &measuring.job.devices else {
        return Ok(devices);
    };
    for name in names {
        let address = match node(measuring, name) {
            Some(addresses) => {
                if let Some(lab) = measuring.lab.filter(|_| !has_agent(measuring, name)) {
                    let failed = |why| DeviceTrouble::Agent { name: name.clone(), why };
                    devices._agents.push(lab.start_agent(name, credentials).map_err(failed)?);
                }
                choose(addresses, *over, name)?
            }
            None => choose(target::resolve(name, PORT, None, None)?.addresses, *over, name)?,
        };
        let (name, credentials) = (name.clone(), credentials.clone());
        let access = Access { name, address, credentials, timeout_ns: *timeout_ns };
        let mut device = Device::open(&access).map_err(|e| refused(&access, e))?;
        device.read(Side::Before).map_err(|e| refused(&access, e))?;
        devices.all.push(Watched { device, before: None, failures: 0 });
    }
    Ok(devices)
}

impl Devices {
    /// Whether there is any.
    pub fn any(&self) -> bool {
        !self.all.is_empty()
    }

    /// Reads all of them before a trial; what fails is told and costs nothing else.
    pub fn before(&mut self, troubles: &mut Vec<String>, watch: &mut dyn Watcher) {
        for watched in &mut self.all {
            watched.before = watched.read(Side::Before, troubles, watch);
        }
    }

    /// Reads them after it, and says what they counted.
    pub fn after(
        &mut self,
        troubles: &mut Vec<String>,
        watch: &mut dyn Watcher,
    ) -> Vec<DeviceCount> {
        let mut counts = Vec::new();
        for watched in &mut self.all {
            let Some(before) = watched.before.take() else { continue };
            if let Some(after) = watched.read(Side::After, troubles, watch) {
                counts.push(device::counted(watched.device.name(), &before, &after));
            }
        }
        counts
    }
}

impl Watched {
    fn read(
        &mut self,
        side: Side,
        troubles: &mut Vec<String>,
        watch: &mut dyn Watcher,
    ) -> Option<Reading> {
        if self.failures >= FAILURES_MAX {
            return None;
        }
        let name = self.device.name().to_owned();
        match self.device.read(side) {
            Ok(reading) => {
                self.failures = 0;
                Some(reading)
            }
            Err(error) => {
                self.failures += 1;
                let end = if self.failures < FAILURES_MAX { "" } else { "; it is not asked again" };
                let told = format!("SNMP of {name}: {error}{end}");
                watch.told(&News::Device(&told));
                troubles.push(told);
                None
            }
        }
    }
}

/// Whether the world itself has an agent there.
fn has_agent(measuring: &Measuring<'_>, name: &str) -> bool {
    let world = measuring.job.plan.world.iter();
    world.flat_map(|world| &world.nodes).any(|node| node.name == name && node.snmp)
}

/// The addresses of a node of the lab, if the name is one's.
fn node(measuring: &Measuring<'_>, name: &str) -> Option<PerFamily<Option<SocketAddr>>> {
    let known = measuring.job.plan.world.as_ref()?.nodes.iter().any(|node| node.name == *name);
    let addresses = measuring.lab.filter(|_| known)?.addresses(name);
    Some(addresses.map(|address| address.map(|ip| SocketAddr::new(ip, PORT))))
}

fn choose(
    addresses: PerFamily<Option<SocketAddr>>,
    over: Option<Family>,
    name: &str,
) -> Result<SocketAddr, DeviceTrouble> {
    let found = match over {
        Some(family) => *addresses.get(family),
        None => addresses.v4.or(addresses.v6),
    };
    found.ok_or_else(|| DeviceTrouble::NoAddress { name: name.to_owned(), over })
}

fn refused(access: &Access, error: DeviceError) -> DeviceTrouble {
    let community = matches!(access.credentials, Credentials::Community(_));
    let (name, address) = (access.name.clone(), access.address);
    DeviceTrouble::Refused { name, address, error, community }
}
