//! A mesh plan: which hosts are measured with which, with what, how often, and what must not be
//! loaded by two measurements at once.

pub mod check;
pub mod draft;
mod groups;
mod hours;
mod links;
mod pattern;
mod sample;

pub use groups::PATHS_MAX;
pub use hours::Hours;
pub use links::Carriers;

use super::names::{HostName, LinkName};
pub use super::work::Class;
use crate::family::PerFamily;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// A checked mesh plan, with every default explicit; [`check::check`] makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    /// What it is called.
    pub name: String,
    /// The hosts, in the order of their sites and names, so that those of a site stand together.
    pub hosts: Vec<MeshHost>,
    /// The links.
    pub links: Vec<Link>,
    /// The groups that measurements are of.
    pub groups: Vec<Group>,
    /// The measurements.
    pub measures: Vec<Measure>,
}

/// A host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshHost {
    /// What it is called.
    pub name: HostName,
    /// Whether an agent runs there; only such a host can be the near end.
    pub agent: bool,
    /// Its addresses, before those that its agent tells.
    pub addresses: PerFamily<Option<String>>,
    /// Port of its server, where no agent runs.
    pub port: Option<u16>,
}

/// What carries one exclusive measurement at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// What it is called.
    pub name: LinkName,
    /// What it carries.
    pub carries: Carries,
    /// Most bytes of all measurements of a day of UTC, if there is a limit.
    pub budget_bytes: Option<u64>,
}

/// The paths that a link carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carries {
    /// Every path that leaves the site, whose hosts these are, as positions among all.
    Site(Range<usize>),
    /// Those between a host of one list and one of the other, in either direction; each list in
    /// ascending order.
    Between(Vec<[Vec<usize>; 2]>),
}

/// Two hosts, by their positions among all: the near end measures, the far end answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The near end.
    pub from: usize,
    /// The far end.
    pub to: usize,
}

/// A group: which hosts are measured with which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What it is called.
    pub name: String,
    /// Its paths.
    pub paths: Paths,
    /// Whether each path is measured from both of its ends, where both have agents.
    pub both_directions: bool,
}

/// The paths of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Paths {
    /// These, in ascending order, each once.
    All(Vec<Pair>),
    /// So many for each of these hosts, others each day.
    Sample {
        /// Positions of the hosts among all.
        hosts: Vec<usize>,
        /// Others that each is measured with on a day.
        partners: usize,
    },
}

/// A measurement of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// Position of the group.
    pub group: usize,
    /// A plan file, or the name of a plan that comes with the program.
    pub plan: String,
    /// Time from one measurement of a path to the next, in ns.
    pub every_ns: u64,
    /// What it takes.
    pub class: Class,
    /// When it is not measured.
    pub quiet: Hours,
}

impl Class {
    /// Both of them.
    pub const ALL: [Class; 2] = [Class::Light, Class::Exclusive];

    /// Name in files and documents.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Light => "light",
            Class::Exclusive => "exclusive",
        }
    }
}

impl Mesh {
    /// The paths of a measurement on a day of UTC since the Unix epoch, each once; a path whose
    /// near end has no agent is turned, and one without any agent is none. Empty if there is no
    /// such measurement.
    pub fn paths(&self, measure: usize, day: u64) -> Vec<Pair> {
        let group = self.measures.get(measure).and_then(|of| self.groups.get(of.group));
        group.map_or_else(Vec::new, |group| groups::paths(self, group, day))
    }

    /// Position of the host of that name.
    pub fn host(&self, name: &HostName) -> Option<usize> {
        let wanted = (name.site(), name.host());
        self.hosts.binary_search_by(|at| (at.name.site(), at.name.host()).cmp(&wanted)).ok()
    }

    /// Sites, each with the positions of its hosts.
    pub fn sites(&self) -> Vec<(&str, Range<usize>)> {
        let mut sites: Vec<(&str, Range<usize>)> = Vec::new();
        for (at, host) in self.hosts.iter().enumerate() {
            let site = host.name.site();
            match sites.last_mut() {
                Some((name, hosts)) if *name == site => hosts.end = at + 1,
                _ => sites.push((site, at..at + 1)),
            }
        }
        sites
    }
}

#[cfg(test)]
mod tests;
