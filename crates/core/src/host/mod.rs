//! A host that takes part, as it tells of itself.

pub mod names;

use alloc::collections::BTreeMap;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Facts of one host, as it told them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Host {
    /// Name it goes by.
    pub name: String,
    /// Operating system and kernel, processor, clock, socket limits and the like, by name.
    pub facts: BTreeMap<String, String>,
}
