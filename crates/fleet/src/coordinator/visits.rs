//! When paths were measured last, so that a coordinator that begins does not measure all of them
//! again. It can be made anew from the archive, or by measuring.

use super::meshes::hash;
use crate::error::FleetError;
use crate::nats::keys::Bucket;
use serde::{Deserialize, Serialize};
use v6gap_core::fleet::names::HostName;
use v6gap_core::fleet::work::Work;
use v6gap_core::record::RunId;

/// The last visit of a path by a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visited {
    /// The host that measured.
    pub from: HostName,
    /// The host that was measured to.
    pub to: HostName,
    /// What the mesh plan calls the plan.
    pub plan: String,
    /// The run, at the host that measured and in its folder of the archive.
    #[serde(default)]
    pub run: Option<RunId>,
    /// When it was over, in ns since the Unix epoch.
    pub unix_ns: u64,
}

impl Visited {
    /// Work that was measured into `run`.
    pub fn new(work: &Work, run: Option<RunId>, unix_ns: u64) -> Self {
        let Work { from, to, plan, .. } = work.clone();
        Visited { from, to, plan: plan.name.clone(), run, unix_ns }
    }

    /// Its key: names of plans may have any letters.
    pub fn key(&self) -> String {
        let (from, to) = (&self.from, &self.to);
        let plan = hash(&self.plan);
        format!("{}.{}.{}.{}.{plan}", from.site(), from.host(), to.site(), to.host())
    }

    /// The key of the work that was measured.
    pub fn of(&self) -> (&HostName, &HostName, &str) {
        (&self.from, &self.to, self.plan.as_str())
    }

    /// Whether it was of this work.
    pub fn is_of(&self, work: &Work) -> bool {
        work.key() == self.of()
    }
}

/// The last visit of each path by each plan, as the broker has them in `state`.
///
/// # Errors
/// If it refuses or does not answer.
pub(crate) async fn all(state: &Bucket) -> Result<Vec<Visited>, FleetError> {
    let all = state.all().await?;
    Ok(all.iter().filter_map(|(_, text)| serde_json::from_slice(text).ok()).collect())
}
