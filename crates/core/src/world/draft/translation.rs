//! Translation as a person writes it.

use crate::plan::check::Problems;
use crate::world::{Translation, TranslationKind};
use alloc::format;
use alloc::string::String;
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
    /// The translation at the node `at` for this client; `None` with problems.
    pub(super) fn read(
        &self,
        at: Option<usize>,
        client: usize,
        problems: &mut Problems,
    ) -> Option<Translation> {
        let kinds = TranslationKind::ALL.map(TranslationKind::name);
        if at.is_none() {
            problems.add("translation", "at which router? as at = \"router\"");
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
