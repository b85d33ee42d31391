//! Who measures on this host while another one wants to.

use std::path::PathBuf;

/// Who measures on this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupant {
    /// The user, if the system tells.
    pub user: Option<String>,
    /// The command; `None` if another version of this program measures, or who pretends to.
    pub what: Option<String>,
    /// For how long, in s.
    pub seconds: u64,
    /// Where that is to be seen.
    pub folder: PathBuf,
}

impl std::fmt::Display for Occupant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let user = self.user.as_deref().unwrap_or("somebody");
        write!(f, "by {user}, for {} s", self.seconds)?;
        match &self.what {
            Some(what) => write!(f, ": {what}"),
            None => write!(f, ", with another version of v6gap"),
        }
    }
}
