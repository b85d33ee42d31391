//! What published comparisons of the families reported: the files in `published/`, one for each
//! study, as they are. Figures are the authors'; where a study gives a range or a sentence, the
//! range or the sentence is here. What is doubtful about one stands beside it.

use crate::family::Family;
use crate::metric::Metric;
use crate::workload::{Cell, Probe, TcpBulk, Transport, Workload};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The files.
const FILES: [&str; 5] = [
    include_str!("../../../published/raicu.json"),
    include_str!("../../../published/goyal.json"),
    include_str!("../../../published/soorty.json"),
    include_str!("../../../published/manford.json"),
    include_str!("../../../published/sailan.json"),
];

/// A study and all that it reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Short name of the study: that of its first author.
    pub study: String,
    /// Authors of the study.
    pub authors: String,
    /// Title of the study.
    pub title: String,
    /// When, if it is known.
    #[serde(default)]
    pub year: Option<String>,
    /// What to keep in mind with all of its values.
    #[serde(default)]
    pub cautions: Vec<String>,
    /// What it reported.
    pub values: Vec<Value>,
}

/// What kind of statement a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A measured value of one family, in SI units.
    Value,
    /// IPv6 against IPv4: the ratio of their values, less 1.
    Effect,
    /// One system against another: by which share of its base the one is better, worse below 0.
    Systems,
    /// A sentence without a value of its own.
    Said,
}

/// To which of several measured values a published one belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// To each of them.
    #[default]
    Each,
    /// To the highest.
    Highest,
}

/// A value or a sentence of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// The experiments of the study that it belongs to, as the second part of a plan's reference.
    pub of: Vec<String>,
    /// Where it stands in the study.
    pub place: String,
    /// Wording of the study, or the figures as they are printed.
    pub says: String,
    /// What kind of statement it is.
    pub kind: Kind,
    /// Of which metric.
    #[serde(default)]
    pub metric: Option<Metric>,
    /// Over which transport this program measures it.
    #[serde(default)]
    pub transport: Option<Transport>,
    /// Of which family; `None` where it concerns both.
    #[serde(default)]
    pub family: Option<Family>,
    /// Lower end, in SI units or as a share.
    #[serde(default)]
    pub low: Option<f64>,
    /// Upper end; that of a single value is the value.
    #[serde(default)]
    pub high: Option<f64>,
    /// The value that a share is one of.
    #[serde(default)]
    pub base: Option<String>,
    /// Message or payload sizes that it holds for, in bytes, both ends included.
    #[serde(default)]
    pub levels_bytes: Option<[u32; 2]>,
    /// Size of a write or of a segment that it holds for, in bytes; of a loaded round trip, that of
    /// the load's segments.
    #[serde(default)]
    pub packet_bytes: Option<u32>,
    /// Socket buffers that it holds for, in bytes.
    #[serde(default)]
    pub buffer_bytes: Option<u32>,
    /// Whether other traffic filled the path.
    #[serde(default)]
    pub loaded: bool,
    /// To which of several measured values it belongs.
    #[serde(default)]
    pub over: Over,
    /// On which systems.
    #[serde(default)]
    pub system: Option<String>,
    /// What is wrong or doubtful about it.
    #[serde(default)]
    pub caution: Option<String>,
}

/// All studies; those whose file is not right are left out, which a test rules out.
pub fn studies() -> Vec<Study> {
    FILES.iter().filter_map(|text| serde_json::from_str(text).ok()).collect()
}

/// The study and the experiment that a plan's reference names, as in `raicu/tcp-100`.
pub fn find(reference: &str) -> Option<(Study, String)> {
    let (name, experiment) = reference.split_once('/')?;
    let study = studies().into_iter().find(|study| study.study == name)?;
    let known = study.values.iter().any(|value| value.of.iter().any(|of| of == experiment));
    known.then(|| (study, experiment.to_string()))
}

impl Value {
    /// Whether it was published of what `metric` of `cell` measures.
    pub fn is_of(&self, cell: &Cell, metric: Metric) -> bool {
        let workload = &cell.workload;
        let level = workload.level_bytes();
        let within = |[low, high]: [u32; 2]| level.is_some_and(|x| (low..=high).contains(&x));
        let loaded = matches!(workload, Workload::Probe(probe) if probe.load.is_some());
        self.metric == Some(metric)
            && self.transport == Some(workload.transport())
            && self.loaded == loaded
            && self.levels_bytes.is_none_or(within)
            && self.buffer_bytes.is_none_or(|bytes| buffer(workload) == Some(bytes))
            && self.packet_bytes.is_none_or(|bytes| packet(workload) == Some(bytes))
    }
}

fn buffer(workload: &Workload) -> Option<u32> {
    workload.settings()?.buffer_bytes
}

fn packet(workload: &Workload) -> Option<u32> {
    if let Workload::Probe(Probe { load: Some(load), .. }) = workload {
        return load.settings.mss_bytes;
    }
    let Workload::TcpBulk(TcpBulk { settings, write_bytes, write_drawn, .. }) = workload else {
        return None;
    };
    settings.mss_bytes.or((!write_drawn).then_some(*write_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Load;

    #[test]
    fn every_file_is_right() {
        for text in FILES {
            let study: Study = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}"));
            for value in &study.values {
                let says = &value.says;
                assert!(!says.is_empty() && !value.place.is_empty() && !value.of.is_empty());
                let numbers = value.low.zip(value.high);
                match value.kind {
                    Kind::Said => assert_eq!(numbers, None, "{says}"),
                    _ => {
                        let (low, high) = numbers.unwrap_or_else(|| panic!("{says}"));
                        assert!(low <= high && value.metric.is_some(), "{says}");
                        assert!(value.transport.is_some(), "{says}");
                        let family = value.kind == Kind::Value;
                        assert!(!family || value.family.is_some(), "{says}");
                        let based = matches!(value.kind, Kind::Effect | Kind::Systems);
                        assert_eq!(value.base.is_some(), based, "{says}");
                    }
                }
            }
        }
        assert_eq!(studies().len(), FILES.len());
    }

    /// A number beside the wrong cell would be a wrong number.
    #[test]
    fn a_value_belongs_to_the_cell_that_measures_the_same() {
        let (study, _) = find("soorty/tcp").unwrap();
        let of = |part: &str| study.values.iter().find(|v| v.says.contains(part)).unwrap();
        let bulk = |mss_bytes, write_bytes| {
            let mut bulk = TcpBulk { write_bytes, ..TcpBulk::default() };
            bulk.settings.mss_bytes = mss_bytes;
            Cell::named(Workload::TcpBulk(bulk))
        };
        let lower = of("5.2 %");
        assert!(lower.is_of(&bulk(None, 768), Metric::Throughput));
        assert!(lower.is_of(&bulk(Some(768), 4096), Metric::Throughput));
        assert!(!lower.is_of(&bulk(Some(1408), 768), Metric::Throughput));
        assert!(!lower.is_of(&bulk(None, 768), Metric::Rtt));
        let loaded = |mss_bytes| {
            let mut load = Load::default();
            load.settings.mss_bytes = mss_bytes;
            let probe = Probe { payload_bytes: 768, load: Some(load), ..Probe::default() };
            Cell::named(Workload::Probe(probe))
        };
        let higher = of("21 %");
        assert!(higher.is_of(&loaded(Some(768)), Metric::Rtt));
        assert!(!higher.is_of(&loaded(None), Metric::Rtt));
    }

    #[test]
    fn a_reference_names_a_study_and_one_of_its_experiments() {
        let (study, experiment) = find("manford/udp").unwrap();
        assert_eq!((study.authors.as_str(), experiment.as_str()), ("Manford and others", "udp"));
        for wrong in ["manford", "manford/tcp", "nobody/udp", ""] {
            assert!(find(wrong).is_none(), "{wrong}");
        }
    }

    /// The errors of the studies are stated where their values are.
    #[test]
    fn what_is_wrong_stands_beside_the_value() {
        let says = |study: &str, part: &str| {
            let (study, _) = find(study).unwrap();
            let value = study.values.into_iter().find(|v| v.says.contains(part)).unwrap();
            value.caution.unwrap_or_default()
        };
        assert!(says("soorty/tcp", "21 %").contains("+27 %"));
        assert!(says("raicu/tcp-100", "32 %").contains("cannot come from one rule"));
        assert!(says("manford/udp", "85.6 and 84.6").contains("t = 11.8"));
        assert!(says("raicu/udp-100", "65,536").contains("no datagram is that long"));
    }
}
