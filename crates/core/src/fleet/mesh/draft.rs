//! A mesh plan as a person writes it: every key optional where a default exists, quantities as text
//! with units. Unknown keys are errors.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Version of the language of mesh plans.
pub const VERSION: u32 = 1;

/// A whole file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// Version of the language.
    pub v6gap: u32,
    /// What the plan is called.
    pub name: Option<String>,
    /// The hosts, by their names as SITE/HOST.
    #[serde(default)]
    pub hosts: BTreeMap<String, HostDraft>,
    /// What carries one exclusive measurement at a time.
    #[serde(default)]
    pub links: Vec<LinkDraft>,
    /// Which hosts are measured with which.
    #[serde(default)]
    pub groups: Vec<GroupDraft>,
    /// What is measured there, and how often.
    #[serde(default)]
    pub measure: Vec<MeasureDraft>,
}

/// A host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostDraft {
    /// Whether an agent runs there; otherwise `v6gap serve` alone does.
    pub agent: Option<bool>,
    /// Its IPv4 address, where its agent does not tell.
    pub v4: Option<String>,
    /// Its IPv6 address, where its agent does not tell.
    pub v6: Option<String>,
    /// Port of the server, where no agent runs.
    pub port: Option<u16>,
}

/// A link.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkDraft {
    /// What it is called.
    pub name: String,
    /// It carries every path that leaves this site.
    pub site: Option<String>,
    /// It carries the paths between these hosts, in both directions: pairs of names, in which `*`
    /// stands for all, as in `rome/*`.
    #[serde(default)]
    pub paths: Vec<[String; 2]>,
    /// Most bytes of all measurements of a day, as in `200 GB/day`.
    pub budget: Option<String>,
}

/// A group.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupDraft {
    /// What it is called.
    pub name: String,
    /// `mesh`, `star`, `disjoint` or `list`.
    pub kind: String,
    /// Its hosts, of a mesh and of a star; `*` stands for all.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// The host in the middle of a star.
    pub centre: Option<String>,
    /// Hosts of one side, where the sides are disjoint.
    #[serde(default)]
    pub from: Vec<String>,
    /// Hosts of the other side.
    #[serde(default)]
    pub to: Vec<String>,
    /// The paths of a list.
    #[serde(default)]
    pub paths: Vec<[String; 2]>,
    /// Whether each path is measured from both of its ends.
    #[serde(default)]
    pub both_directions: bool,
    /// With so many others each host of a mesh is measured on a day; others the next day.
    pub sample: Option<u32>,
}

/// A measurement of a group.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasureDraft {
    /// The group.
    pub group: String,
    /// A plan file, or the name of a plan that comes with the program.
    pub plan: String,
    /// Time from one measurement of a path to the next.
    pub every: Option<String>,
    /// `light` takes both hosts, `exclusive` the links as well.
    pub class: Option<String>,
    /// Spans of the week in which it is not measured, as in `Mon-Fri 08:00-18:00`.
    #[serde(default)]
    pub quiet: Vec<String>,
}
