//! Translation as a person writes it.

use crate::problem::Problems;
use crate::world::{Node, Translation, TranslationKind};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Translation between the families.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranslationDraft {
    /// `nat64` or `464xlat`.
    #[serde(default)]
    pub kind: Option<String>,
    /// The router that translates.
    #[serde(default)]
    pub at: Option<String>,
}

impl TranslationDraft {
    /// The translation for this client; `None` with problems.
    pub(super) fn read(
        &self,
        nodes: &[Node],
        client: usize,
        problems: &mut Problems,
    ) -> Option<Translation> {
        let kinds = TranslationKind::ALL.map(TranslationKind::name);
        let place = |name: &String| nodes.iter().position(|node| node.name == *name);
        let at = self.at.as_ref().and_then(place);
        match &self.at {
            None => problems.add("translation", "at which router? as at = \"router\""),
            Some(name) if at.is_none() => {
                let known: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
                problems.one_of("translation.at", name, &known);
            }
            Some(_) => {}
        }
        let Some(name) = &self.kind else {
            problems.add("translation", format!("which kind? one of {}", kinds.join(", ")));
            return None;
        };
        let kind = TranslationKind::ALL.into_iter().find(|kind| kind.name() == name);
        if kind.is_none() {
            problems.one_of("translation.kind", name, &kinds);
        }
        Some(Translation { kind: kind?, at: at?, client })
    }
}
