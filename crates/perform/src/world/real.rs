//! Linux: the lab in namespaces of this process.

use super::NotBuilt;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::path::Path;
use v6gap_core::family::PerFamily;
use v6gap_core::observation::Lateness;
use v6gap_core::world::World;
use v6gap_engine::device::{Credentials, Secret};
use v6gap_lab::{Agent, AgentOptions, AgentUser, Lab, LabError, LabOptions};
use v6gap_sys::network::Network;
use v6gap_sys::{cpu, netns};

/// Why no lab can be built here; found out by trying in a child process.
pub fn refusal() -> Option<String> {
    netns::probe().err().map(|refusal| refusal.to_string())
}

/// Moves this process, which must have one thread, to where it may build a lab.
pub fn enter() -> Result<(), String> {
    netns::enter_user_namespace().map_err(|refusal| refusal.to_string())
}

/// Whether this host has what `world` asks for; to be asked after [`enter`].
pub fn provides(world: &World, kernel: Option<&Path>) -> Result<(), String> {
    v6gap_lab::provided::needed(world, &options(None, 0, kernel))
        .map_err(|missing| missing.to_string())
}

/// What this host provides of what worlds may ask for: name, what it is, and why it is not there.
/// Moves this process, which must have one thread, to where it may build a lab.
pub fn provided() -> Vec<(&'static str, &'static str, Result<(), String>)> {
    let refusal = enter().err();
    let all = v6gap_lab::provided::list(refusal.as_deref()).into_iter();
    all.map(|kind| (kind.name, kind.what, kind.found.map_err(|missing| missing.because))).collect()
}

/// An agent at a node, which ends with this value.
pub struct RunningAgent(#[expect(dead_code, reason = "held for its end")] Agent);

impl From<LabError> for NotBuilt {
    fn from(error: LabError) -> Self {
        let why = error.to_string();
        match error {
            LabError::NotUp { console, .. } => NotBuilt { why, console: Some(console) },
            _ => NotBuilt { why, console: None },
        }
    }
}

/// The choices for a lab, with the folder of the kernel of its emulated system.
pub(super) fn options(wire_cpu: Option<usize>, seed: u64, kernel: Option<&Path>) -> LabOptions {
    LabOptions { wire_cpu, seed, kernel: kernel.map(Path::to_owned) }
}

/// Apart from each other by this, labs of one run lose other frames.
const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A lab. Everything is gone when it is dropped or the process ends.
pub struct RealWorld {
    lab: Lab,
    /// How it was made, if this process made it.
    made: Option<LabOptions>,
}

/// The way to a node, for a thread that is to work there.
pub struct Way {
    namespace: OwnedFd,
    /// Processor of the user-space link, which goes before others.
    link: Option<usize>,
}

impl Way {
    /// Moves the calling thread there, and away from the link's processor: what it does would wait
    /// for a pause of the link.
    pub fn go(&self) -> Result<(), String> {
        self.link.into_iter().for_each(cpu::keep_off);
        netns::enter(&self.namespace).map_err(|e| format!("cannot enter a network namespace: {e}"))
    }
}

impl RealWorld {
    /// Makes `world` real; `wire_processor` is for the user-space link.
    pub fn build(
        world: &World,
        wire_processor: Option<usize>,
        seed: u64,
        kernel: Option<&Path>,
    ) -> Result<Self, NotBuilt> {
        let options = options(wire_processor, seed, kernel);
        Ok(RealWorld { lab: Lab::build_with(world, &options)?, made: Some(options) })
    }

    /// Makes the same world once more beside this lab, as the one of that number;
    /// `wire_processor` is for its user-space link.
    pub fn again(&self, number: u32, wire_processor: Option<usize>) -> Result<Self, NotBuilt> {
        let made = self.made.clone().unwrap_or_default();
        let seed = made.seed.wrapping_add(u64::from(number).wrapping_mul(SEED_STEP));
        let options = LabOptions { seed, wire_cpu: wire_processor, ..made.clone() };
        let lab = Lab::build_with(self.lab.world(), &options)?;
        Ok(RealWorld { lab, made: Some(made) })
    }

    /// Whether other programs are part of it.
    pub fn has_programs(&self) -> bool {
        self.lab.has_programs()
    }

    /// Whether this process made it.
    pub fn is_own(&self) -> bool {
        self.made.is_some()
    }

    /// Joins the lab called `name` that another process holds.
    pub fn join(name: &str) -> Result<Self, String> {
        let joined = v6gap_lab::holder::lab(name).map_err(|e| e.to_string())?;
        Ok(RealWorld { lab: joined, made: None })
    }

    /// The world that it is.
    pub fn world(&self) -> &World {
        self.lab.world()
    }

    /// Name of the node that measures.
    pub fn client(&self) -> String {
        self.name(self.lab.world().client)
    }

    /// Name of the node that it measures to.
    pub fn server(&self) -> String {
        self.name(self.lab.world().server)
    }

    fn name(&self, node: usize) -> String {
        self.lab.world().nodes[node].name.clone()
    }

    /// This lab, measured between two other nodes.
    pub fn measured(self, client: usize, server: usize) -> Self {
        RealWorld { lab: self.lab.measured(client, server), made: self.made }
    }

    /// Moves the calling thread to a node.
    pub fn go_to(&self, node: &str) -> Result<(), String> {
        self.way_to(node)?.go()
    }

    /// The way to a node, which outlives the lab.
    pub fn way_to(&self, node: &str) -> Result<Way, String> {
        let namespace = self.lab.node(node).and_then(|node| node.namespace());
        let namespace = namespace.map_err(|e| e.to_string())?;
        let namespace = namespace.try_clone_to_owned().map_err(|e| e.to_string())?;
        Ok(Way { namespace, link: self.lab.wire_cpu() })
    }

    /// The network of a node, for sockets there of a process that is elsewhere.
    pub fn network(&self, node: &str) -> Result<Network, String> {
        self.way_to(node).map(|way| Network::of(way.namespace))
    }

    /// The addresses of a node.
    pub fn addresses(&self, node: &str) -> PerFamily<Option<IpAddr>> {
        self.lab.node(node).map(|node| node.addresses).unwrap_or_default()
    }

    /// How late the user-space link was since this was last asked; `None` without one. Frames that
    /// the lab itself failed to carry count as dropped: either kind spoils a trial.
    pub fn lateness(&self) -> Option<Lateness> {
        let seen = self.lab.wire_lateness()?;
        self.lab.reset_wire();
        Some(Lateness {
            frames: seen.frames,
            dropped: seen.queue_drops + seen.faults,
            p50_ns: seen.p50_ns,
            p99_ns: seen.p99_ns,
            max_ns: seen.max_ns,
        })
    }

    /// Processor time that the user-space link has taken until now, in ns; `None` without one.
    pub fn wire_used_ns(&self) -> Option<u64> {
        self.lab.wire_used_ns()
    }

    /// Largest frame that was on a link between client and server, as [`Lab::largest_frame`].
    pub fn largest_frame(&self) -> Option<u32> {
        u32::try_from(self.lab.largest_frame()?).ok()
    }

    /// Starts net-snmp's agent at a node, which answers whoever has these credentials.
    pub fn start_agent(
        &self,
        node: &str,
        credentials: &Credentials,
    ) -> Result<RunningAgent, String> {
        let mut options = AgentOptions::default();
        match credentials {
            Credentials::Community(word) => options.community.clone_from(word),
            Credentials::User { name, digest, password, secret } => {
                let word = |word: &Option<String>| word.clone().unwrap_or_default();
                let privacy = |s: &Secret| (s.cipher.name().to_owned(), s.word.clone());
                options.user = Some(AgentUser {
                    name: name.clone(),
                    authentication: (digest.name().to_owned(), word(password)),
                    privacy: secret.as_ref().map(privacy),
                });
            }
        }
        self.lab.start_agent(node, &options).map(RunningAgent).map_err(|e| e.to_string())
    }

    /// What was set up, for the record.
    pub fn facts(&self) -> &BTreeMap<String, String> {
        self.lab.describe()
    }
}
