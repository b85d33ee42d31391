//! Who holds the ends of an exchange.

use super::kind::Path;
use serde::{Deserialize, Serialize};

/// Who holds the ends of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Each of two processes one, as programs do.
    #[default]
    Ends,
    /// One thread both, in a lab of virtual cables, which deliver within the call that sends: no
    /// scheduler is in the way, and what is left is what the kernel takes (docs/method.md B.9).
    Stack,
}

impl Method {
    /// What exchanges are reckoned by on `path`: cables that are as quick as memory have no other.
    pub(super) const fn path(self, path: Path) -> Path {
        match self {
            Method::Ends => path,
            Method::Stack => Path { rate_bps: 8e9, round_trip_ns: 5_000.0 },
        }
    }

    /// What two processes add to a round trip, for reckoning, in ns, of which one thread has none.
    pub(super) const fn hosts_ns(self, of_processes: f64) -> f64 {
        match self {
            Method::Ends => of_processes,
            Method::Stack => 0.0,
        }
    }

    /// What it adds to the label of a question, with a comma before it.
    pub const fn words(self) -> &'static str {
        match self {
            Method::Ends => "",
            Method::Stack => ", in one thread",
        }
    }

    /// Whether it is the usual one, which records do not have.
    pub fn is_usual(&self) -> bool {
        *self == Method::default()
    }
}
