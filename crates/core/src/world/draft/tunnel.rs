//! A tunnel as a person writes it.

use crate::family::{Family, PerFamily};
use crate::problem::Problems;
use crate::tunnel::{Tunnel, TunnelKind};
use crate::world::LaidTunnel;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A tunnel between two nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TunnelDraft {
    /// The nodes at its ends.
    #[serde(default)]
    pub between: Option<[String; 2]>,
    /// What packets are put into, as `gre`.
    #[serde(default)]
    pub kind: Option<String>,
    /// Family of the packets outside; may be left out where the kind has one only.
    #[serde(default)]
    pub over: Option<String>,
    /// Families whose packets are put into it; all that the world has unless told.
    #[serde(default)]
    pub carries: Option<Vec<String>>,
}

/// The families by the names that people write.
const NAMES: [&str; 2] = ["v4", "v6"];

fn family(key: &str, name: &str, problems: &mut Problems) -> Option<Family> {
    let known = NAMES.iter().position(|known| *known == name);
    if known.is_none() {
        problems.one_of(key, name, &NAMES);
    }
    known.map(|place| Family::BOTH[place])
}

impl TunnelDraft {
    /// The tunnel between two nodes; `None` with problems.
    pub(super) fn read(
        &self,
        key: &str,
        ends: Option<[usize; 2]>,
        families: PerFamily<bool>,
        problems: &mut Problems,
    ) -> Option<LaidTunnel> {
        if ends.is_none() {
            problems.add(key, "between which nodes? as between = [\"client\", \"router\"]");
        }
        let kinds = TunnelKind::ALL.map(TunnelKind::name);
        let Some(name) = &self.kind else {
            let what = format!("which kind? one of {}", kinds.join(", "));
            problems.add(key, what);
            return None;
        };
        let Some(kind) = TunnelKind::ALL.into_iter().find(|kind| kind.name() == name) else {
            problems.one_of(format!("{key}.kind"), name, &kinds);
            return None;
        };
        let outer: Vec<Family> = kind.outer().collect();
        let outer = match (&self.over, &outer[..]) {
            (Some(name), _) => family(&format!("{key}.over"), name, problems)?,
            (None, [only]) => *only,
            (None, _) => {
                problems.add(key, "over which family? as over = \"v4\"");
                return None;
            }
        };
        let mut carries = families;
        if let Some(names) = &self.carries {
            carries = PerFamily { v4: false, v6: false };
            for (number, name) in names.iter().enumerate() {
                let key = format!("{key}.carries[{number}]");
                *carries.get_mut(family(&key, name, problems)?) = true;
            }
        }
        Some(LaidTunnel { ends: ends?, tunnel: Tunnel { kind, outer }, carries })
    }
}
