//! Opening connections.

use serde::{Deserialize, Serialize};

/// TCP connections opened one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connect {
    /// How many in a trial.
    pub count: u32,
}
