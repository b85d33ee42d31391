//! A watch as a person writes it: every key optional where a default exists, quantities as text
//! with units. Unknown keys are errors.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Version of the language of watches.
pub const VERSION: u32 = 1;

/// A whole file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// Version of the language.
    pub v6gap: u32,
    /// Time from one light visit to the next, of paths that say nothing else.
    pub every: Option<String>,
    /// Time from one visit of throughput to the next, of paths that say nothing else.
    pub throughput_every: Option<String>,
    /// Most bytes of all visits of a day, as in `5 GB/day`.
    pub budget: Option<String>,
    /// Spans of local time in which nothing is measured, as in `Mon-Fri 08:00-18:00`.
    #[serde(default)]
    pub quiet: Vec<String>,
    /// Address and port where metrics are to be told.
    pub listen: Option<String>,
    /// Who is told of changes: a program with its words, or a URL.
    pub on_change: Option<String>,
    /// The paths.
    #[serde(default)]
    pub paths: Vec<PathDraft>,
}

/// A path.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathDraft {
    /// What it is called, if not as the host.
    pub name: Option<String>,
    /// Name, address or URL of the host.
    pub host: String,
    /// What answers there: `run`, `probe`, `stamp` or `iperf3`.
    pub with: Option<String>,
    /// Time from one light visit to the next.
    pub every: Option<String>,
    /// Time from one visit of throughput to the next.
    pub throughput_every: Option<String>,
    /// Longest time that a visit measures.
    pub time: Option<String>,
    /// What a light visit measures.
    #[serde(default)]
    pub measure: Vec<String>,
    /// Differences below this do not matter, by the name of the metric.
    #[serde(default)]
    pub margin: BTreeMap<String, String>,
    /// Port of the server.
    pub port: Option<u16>,
    /// IPv4 address of the host, where the name does not tell.
    pub v4: Option<String>,
    /// IPv6 address of the host, where the name does not tell.
    pub v6: Option<String>,
    /// File with the key.
    pub key_file: Option<String>,
    /// Whether the host is the user's own.
    #[serde(default)]
    pub mine: bool,
    /// How its owner can reach the user.
    pub contact: Option<String>,
}
