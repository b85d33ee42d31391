//! Managed devices whose counters are read before and after each trial.

use super::measure::Measuring;
use super::world::RunningAgent;
use crate::args::SnmpArgs;
use crate::failure::Failure;
use crate::key;
use crate::output;
use crate::target;
use std::net::SocketAddr;
use v6gap_core::device::{self, Reading};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::DeviceCount;
use v6gap_engine::device::{Access, Credentials, Device, DeviceError, PORT, Secret, Side};

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

/// Makes ready to read what the options name, starts agents in the lab, and reads each device once.
///
/// # Errors
/// If a key cannot be used, or a device does not answer as it must (E303).
pub fn prepare(measuring: &Measuring<'_>, keys: &Keys) -> Result<Devices, Failure> {
    let args = &measuring.options.snmp;
    let mut devices = Devices::default();
    for name in &args.snmp {
        let credentials = credentials(args, keys)?;
        let address = match node(measuring, name) {
            Some(addresses) => {
                if let Some(lab) = measuring.lab.filter(|_| !has_agent(measuring, name)) {
                    let agent = lab.start_agent(name, &credentials);
                    devices._agents.push(agent.map_err(|why| agent_failed(name, &why))?);
                }
                choose(addresses, args.snmp_over, name)?
            }
            None => {
                let found = target::resolve(name, PORT, None, None)?;
                choose(found.addresses, args.snmp_over, name)?
            }
        };
        let timeout_ns = args.snmp_timeout;
        let access = Access { name: name.clone(), address, credentials, timeout_ns };
        let mut device = Device::open(&access).map_err(|e| refused(&access, &e))?;
        device.read(Side::Before).map_err(|e| refused(&access, &e))?;
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
    pub fn before(&mut self, troubles: &mut Vec<String>) {
        for watched in &mut self.all {
            watched.before = watched.read(Side::Before, troubles);
        }
    }

    /// Reads them after it, and says what they counted.
    pub fn after(&mut self, troubles: &mut Vec<String>) -> Vec<DeviceCount> {
        let mut counts = Vec::new();
        for watched in &mut self.all {
            let Some(before) = watched.before.take() else { continue };
            if let Some(after) = watched.read(Side::After, troubles) {
                counts.push(device::counted(watched.device.name(), &before, &after));
            }
        }
        counts
    }
}

impl Watched {
    fn read(&mut self, side: Side, troubles: &mut Vec<String>) -> Option<Reading> {
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
                output::to_stderr(&told);
                troubles.push(told);
                None
            }
        }
    }
}

/// Keys of the user, wherever they came from.
#[derive(Clone, Default)]
pub struct Keys {
    /// For authentication.
    pub authentication: Option<String>,
    /// For privacy.
    pub privacy: Option<String>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(…)")
    }
}

fn credentials(args: &SnmpArgs, keys: &Keys) -> Result<Credentials, Failure> {
    let Some(name) = args.snmp_user.clone() else {
        return Ok(Credentials::Community(args.snmp_community.clone()));
    };
    let mut keys = keys.clone();
    if let Some(path) = &args.snmp_key_file {
        let text = key::read(path)?.text;
        let mut lines = text.lines().map(str::trim).map(str::to_owned);
        let mut next = || lines.next().filter(|line| !line.is_empty());
        keys = Keys { authentication: next(), privacy: next() };
    }
    let secret = keys.privacy.map(|word| Secret { cipher: args.snmp_priv.cipher(), word });
    let digest = args.snmp_auth.digest();
    Ok(Credentials::User { name, digest, password: keys.authentication, secret })
}

/// Whether the world itself has an agent there.
fn has_agent(measuring: &Measuring<'_>, name: &str) -> bool {
    let world = measuring.plan.world.iter();
    world.flat_map(|world| &world.nodes).any(|node| node.name == name && node.snmp)
}

/// The addresses of a node of the lab, if the name is one's.
fn node(measuring: &Measuring<'_>, name: &str) -> Option<PerFamily<Option<SocketAddr>>> {
    let known = measuring.plan.world.as_ref()?.nodes.iter().any(|node| node.name == *name);
    let addresses = measuring.lab.filter(|_| known)?.addresses(name);
    Some(addresses.map(|address| address.map(|ip| SocketAddr::new(ip, PORT))))
}

fn choose(
    addresses: PerFamily<Option<SocketAddr>>,
    over: Option<Family>,
    name: &str,
) -> Result<SocketAddr, Failure> {
    let found = match over {
        Some(family) => *addresses.get(family),
        None => addresses.v4.or(addresses.v6),
    };
    found.ok_or_else(|| {
        let family = over.map_or("usable".to_owned(), |family| family.to_string());
        Failure::usage(format!("--snmp {name}: it has no {family} address"))
    })
}

fn agent_failed(name: &str, why: &str) -> Failure {
    Failure::device(name, why).run("apt-get install snmpd", "on Debian, brings the agent for labs")
}

fn refused(access: &Access, error: &DeviceError) -> Failure {
    let Access { name, address, credentials, .. } = access;
    let failure = Failure::device(name, &format!("{error} ({address})"));
    match (error, credentials) {
        (DeviceError::Silent { .. }, Credentials::Community(_)) => failure
            .likely("a wrong community: agents answer nothing then. Or UDP port 161 is closed.")
            .run("v6gap … --snmp-community WORD", "names the right one"),
        (DeviceError::Silent { .. } | DeviceError::Unreachable, _) => {
            failure.likely("no agent runs there, or UDP port 161 is closed on the way.")
        }
        (DeviceError::WrongKey, _) => failure
            .likely("the user, a key, the digest or the cipher is not the agent's.")
            .run("--snmp-auth DIGEST --snmp-priv CIPHER", "choose what the agent was given"),
        _ => failure,
    }
}
