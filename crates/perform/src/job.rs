//! What is to be performed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use v6gap_core::family::Family;
use v6gap_core::plan::Plan;
use v6gap_core::record::RunId;
use v6gap_engine::control::Key;
use v6gap_engine::device::Credentials;

/// Everything that one measurement needs but the place.
pub struct Job {
    /// What is measured.
    pub plan: Plan,
    /// How the far end is spoken to.
    pub access: Access,
    /// The processor to measure on; by default each draw has one. Ends on one computer share it.
    pub processor: Option<usize>,
    /// Whether the plan may be fitted to the round trip of the path; a plan file is taken as it
    /// stands.
    pub fit: bool,
    /// What is noted with the run.
    pub notes: Vec<String>,
    /// The stored run to go on with.
    pub continued: Option<RunId>,
    /// What is captured meanwhile.
    pub capture: Option<Capture>,
    /// The devices to read before and after each trial.
    pub devices: Option<Devices>,
    /// What is to be said of this host beyond what it tells of itself.
    pub facts: BTreeMap<String, String>,
    /// The plan as it was written, if it was.
    pub written: Option<String>,
    /// What was typed, without secrets; empty if nobody typed it.
    pub argv: Vec<String>,
    /// What the run is part of, in the words of whoever asks for it.
    pub part_of: Option<String>,
    /// The names of both hosts in their fleet, this one's first; none outside of one.
    pub between: Option<[String; 2]>,
}

/// How the far end is spoken to.
#[derive(Clone)]
pub struct Access {
    /// The key that both ends know.
    pub key: Key,
    /// Longest time for a connection to be made and for the far end to be silent, in ns.
    pub timeout_ns: u64,
    /// Whether to wait while it measures for somebody else.
    pub wait: bool,
    /// The measurement for which this host has its turn, so that a server on it shares that.
    pub measurement: Option<String>,
}

impl Access {
    /// To a server of this process.
    pub fn local() -> Self {
        Access { key: Key::none(), timeout_ns: 5_000_000_000, wait: true, measurement: None }
    }
}

/// What is captured.
#[derive(Debug, Clone)]
pub struct Capture {
    /// The file (`.pcapng`, `.pcap`) or the folder to write to; beside the stored run without one.
    pub to: Option<PathBuf>,
    /// Nodes of the lab to capture at; without any, both ends.
    pub nodes: Vec<String>,
    /// Bytes to keep of each frame.
    pub snap_bytes: u32,
    /// Most bytes that all files together may hold.
    pub limit_bytes: u64,
}

/// Managed devices.
pub struct Devices {
    /// Names or addresses, `:port` behind them where it is not the usual one, or routers of the
    /// lab.
    pub names: Vec<String>,
    /// Who asks.
    pub credentials: Credentials,
    /// The family to ask over; IPv4 where a device has both.
    pub over: Option<Family>,
    /// How long each request may take, in ns; there are three of each.
    pub timeout_ns: u64,
}
