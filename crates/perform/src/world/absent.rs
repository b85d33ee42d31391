//! Systems without network namespaces: the lab is refused with the reason.

use super::NotBuilt;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::net::IpAddr;
use std::path::Path;
use v6gap_core::family::PerFamily;
use v6gap_core::observation::Lateness;
use v6gap_core::world::World;
use v6gap_engine::device::Credentials;
use v6gap_sys::network::Network;

pub(super) const BECAUSE: &str = "network namespaces exist on Linux only";

/// Why no lab can be built here.
pub fn refusal() -> Option<String> {
    Some(BECAUSE.to_owned())
}

/// Always refused.
pub fn enter() -> Result<(), String> {
    Err(BECAUSE.to_owned())
}

/// There are no emulated systems.
pub fn is_first(_: Option<&OsStr>) -> bool {
    false
}

/// Always refused.
pub fn serve(_: impl FnOnce(&str)) -> Result<(), String> {
    Err(BECAUSE.to_owned())
}

/// Always refused.
pub fn provides(_: &World, _: Option<&Path>) -> Result<(), String> {
    Err(BECAUSE.to_owned())
}

/// Nothing is provided.
pub fn provided() -> Vec<(&'static str, &'static str, Result<(), String>)> {
    vec![("labs", "networks on this computer", Err(BECAUSE.to_owned()))]
}

/// An agent; there is no value of it here.
pub enum RunningAgent {}

/// A way to a node; there is no value of it here.
pub enum Way {}

impl Way {
    /// Not reached.
    pub fn go(&self) -> Result<(), String> {
        match *self {}
    }
}

/// A lab; there is no value of it here.
pub enum RealWorld {}

impl RealWorld {
    /// Always refused.
    pub fn build(_: &World, _: Option<usize>, _: u64, _: Option<&Path>) -> Result<Self, NotBuilt> {
        Err(NotBuilt { why: BECAUSE.to_owned(), console: None })
    }

    /// Always refused.
    pub fn join(_: &str) -> Result<Self, String> {
        Err(BECAUSE.to_owned())
    }

    /// Not reached.
    pub fn again(&self, _: u32, _: Option<usize>) -> Result<Self, NotBuilt> {
        match *self {}
    }

    /// Not reached.
    pub fn has_programs(&self) -> bool {
        match *self {}
    }

    /// Not reached.
    pub fn is_own(&self) -> bool {
        match *self {}
    }

    /// Not reached.
    pub fn way_to(&self, _: &str) -> Result<Way, String> {
        match *self {}
    }

    /// Not reached.
    pub fn network(&self, _: &str) -> Result<Network, String> {
        match *self {}
    }

    /// Not reached.
    pub fn world(&self) -> &World {
        match *self {}
    }

    /// Not reached.
    pub fn client(&self) -> String {
        match *self {}
    }

    /// Not reached.
    pub fn server(&self) -> String {
        match *self {}
    }

    /// Not reached.
    pub fn measured(self, _: usize, _: usize) -> Self {
        self
    }

    /// Not reached.
    pub fn go_to(&self, _: &str) -> Result<(), String> {
        match *self {}
    }

    /// Not reached.
    pub fn addresses(&self, _: &str) -> PerFamily<Option<IpAddr>> {
        match *self {}
    }

    /// Not reached.
    pub fn lateness(&self) -> Option<Lateness> {
        match *self {}
    }

    /// Not reached.
    pub fn wire_used_ns(&self) -> Option<u64> {
        match *self {}
    }

    /// Not reached.
    pub fn largest_frame(&self) -> Option<u32> {
        match *self {}
    }

    /// Not reached.
    pub fn start_agent(&self, _: &str, _: &Credentials) -> Result<RunningAgent, String> {
        match *self {}
    }

    /// Not reached.
    pub fn facts(&self) -> &BTreeMap<String, String> {
        match *self {}
    }
}
