//! Whether hosts are fit for measuring: what was seen of them, what it does to a measurement, and
//! what improves it.
//!
//! [`judge`] is a pure function of the facts that both hosts tell and of what was watched on this
//! one. A finding never changes a verdict: gates and null blocks of the run itself do that. It says
//! beforehand where noise will come from.

mod facts;
pub mod noise;
mod watched;

pub use watched::{BUSY_MAX, Busy, Clock, Place, Placement, STEP_NS_MAX, Traffic, Watched};

use alloc::string::String;
use alloc::vec::Vec;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use v6gap_core::host::Host;

/// What cannot be told, in words; otherwise the value.
pub type Told<T> = Result<T, String>;

/// Writes a value as it is, and a reason as `{"unavailable": "…"}`.
fn write_told<T: Serialize, S: Serializer>(told: &Told<T>, to: S) -> Result<S::Ok, S::Error> {
    match told {
        Ok(value) => value.serialize(to),
        Err(why) => {
            let mut map = to.serialize_map(Some(1))?;
            map.serialize_entry("unavailable", why)?;
            map.end()
        }
    }
}

/// How good or bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// Not told, and why.
    Unavailable,
    /// It limits what can be found, or adds noise.
    Note,
    /// Measurements here would be discarded, or mean something else than they say.
    Trouble,
}

/// Something seen of a host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Stable name, as in `steal`.
    pub id: &'static str,
    /// Name of the host.
    pub host: String,
    /// Whether that is the host that was asked, and not the far one.
    pub near: bool,
    /// How good or bad it is.
    pub state: State,
    /// One or two words for it.
    pub topic: &'static str,
    /// What was seen, with figures.
    pub seen: String,
    /// What that does to a measurement; `None` where it does nothing.
    pub effect: Option<String>,
    /// Commands that improve it or show more of it.
    pub improve: Vec<String>,
}

/// What is known of the path between the hosts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Path {
    /// Interfaces of this host on the route; every one that is up if there is no far host.
    pub interfaces: Vec<String>,
    /// The shortest round trip of a small message, in ns.
    pub round_trip_ns: Option<f64>,
}

/// Judges this host by its facts and by what was watched on it, and the far one by its facts.
pub fn judge(near: &Host, far: Option<&Host>, watched: &Watched, path: &Path) -> Vec<Finding> {
    let mut findings = watched::judge(near, watched);
    findings.extend(facts::judge(near, true, None, path));
    if let Some(far) = far {
        findings.extend(facts::judge(far, false, Some(near), path));
    }
    findings
}

/// Whether a measurement here is worth its name.
pub fn is_fit(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.state != State::Trouble)
}

impl Finding {
    /// A finding that is as it should be; the other parts are put in by what follows.
    fn ok(id: &'static str, topic: &'static str, host: &Host, seen: impl Into<String>) -> Self {
        let (host, seen) = (host.name.clone(), seen.into());
        let (state, near) = (State::Ok, true);
        Finding { id, host, near, state, topic, seen, effect: None, improve: Vec::new() }
    }

    /// This finding in a worse state, with what it does to a measurement.
    fn but(mut self, state: State, effect: impl Into<String>) -> Self {
        self.state = state;
        self.effect = Some(effect.into());
        self
    }

    /// This finding with a command that improves it.
    fn try_this(mut self, command: impl Into<String>) -> Self {
        self.improve.push(command.into());
        self
    }
}

#[cfg(test)]
mod tests;
