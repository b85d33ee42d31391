//! When paths were measured last, so that a coordinator that begins does not measure all of them
//! again, and why they could not be, for whoever waits for that. The first can be made anew from
//! the archive, or by measuring.

use super::meshes::hash;
use crate::error::FleetError;
use crate::nats::keys::Bucket;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use v6gap_core::fleet::names::HostName;
use v6gap_core::fleet::work::{Key, Outcome, Work};
use v6gap_core::record::RunId;

/// How often it is tried to have down what came of a path, and how long after another: longer than
/// a broker takes to choose another leader, and hardly longer than until the path is due again.
const TRIES: u32 = 12;
const PAUSE: Duration = Duration::from_secs(5);

/// The last visit of a path by a plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Visited {
    /// The host that measured.
    pub from: HostName,
    /// The host that was measured to.
    pub to: HostName,
    /// What the mesh plan calls the plan.
    pub plan: String,
    /// The hash of the plan's text; programs before this did not tell.
    #[serde(default)]
    pub hash: String,
    /// The run, at the host that measured and in its folder of the archive.
    #[serde(default)]
    pub run: Option<RunId>,
    /// When it was over, in ns since the Unix epoch.
    pub unix_ns: u64,
}

/// The last time that all attempts at a path in a round came to nothing. It has no `unix_ns`, so
/// that nobody takes it for a [`Visited`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Missed {
    /// The host that was to measure.
    pub from: HostName,
    /// The host that was to be measured to.
    pub to: HostName,
    /// What the mesh plan calls the plan.
    pub plan: String,
    /// The hash of the plan's text; programs before this did not tell.
    #[serde(default)]
    pub hash: String,
    /// What the last attempt failed by, in words.
    pub why: String,
    /// When that was, in ns since the Unix epoch.
    pub missed_unix_ns: u64,
}

impl Missed {
    /// The key of the work that was not measured.
    pub fn of(&self) -> Key<'_> {
        (&self.from, &self.to, &self.plan, &self.hash)
    }
}

/// What is written down of how work came out, and under which key; nothing if there is another
/// attempt, or another coordinator sees to it.
pub(super) fn written(work: &Work, outcome: &Outcome, unix_ns: u64) -> Option<(String, Vec<u8>)> {
    let (key, text) = match outcome {
        Outcome::Measured { run } => {
            let visited = Visited::new(work, run.clone(), unix_ns);
            (visited.key(), serde_json::to_vec(&visited))
        }
        Outcome::GivenUp { why, .. } => {
            let Work { from, to, plan, .. } = work.clone();
            let (plan, hash, why) = (plan.name.clone(), plan.hash.clone(), why.clone());
            let missed = Missed { from, to, plan, hash, why, missed_unix_ns: unix_ns };
            (format!("missed.{}", key(work.key())), serde_json::to_vec(&missed))
        }
        Outcome::Failed { .. } | Outcome::Lost { .. } => return None,
    };
    // It is names, words and numbers.
    Some((key, text.ok()?))
}

/// The key of a path and a plan: names of plans may have any letters.
fn key((from, to, plan, text): Key<'_>) -> String {
    let plan = hash(&format!("{plan} {text}"));
    format!("{}.{}.{}.{}.{plan}", from.site(), from.host(), to.site(), to.host())
}

/// Has down in `state` when a path was measured, or why it could not be. What is lost of it for
/// good is measured once more.
pub(super) async fn keep(state: Bucket, (key, text): (String, Vec<u8>)) {
    let put = || {
        let (state, key, text) = (state.clone(), key.clone(), text.clone());
        async move { state.put(&key, text).await.is_ok() }
    };
    again(PAUSE, put).await;
}

/// Tries until it is done or was tried often enough, and says whether it is done.
async fn again<F: Future<Output = bool>>(pause: Duration, mut tries: impl FnMut() -> F) -> bool {
    for at in 0..TRIES {
        if at > 0 {
            tokio::time::sleep(pause).await;
        }
        if tries().await {
            return true;
        }
    }
    false
}

impl Visited {
    /// Work that was measured into `run`.
    pub fn new(work: &Work, run: Option<RunId>, unix_ns: u64) -> Self {
        let Work { from, to, plan, .. } = work.clone();
        let (plan, hash) = (plan.name.clone(), plan.hash.clone());
        Visited { from, to, plan, hash, run, unix_ns }
    }

    /// Its key.
    pub fn key(&self) -> String {
        key(self.of())
    }

    /// The key of the work that was measured.
    pub fn of(&self) -> Key<'_> {
        (&self.from, &self.to, &self.plan, &self.hash)
    }
}

/// The last visit of each path by each plan, as the broker has them in `state`.
///
/// # Errors
/// If it refuses or does not answer.
pub(crate) async fn all(state: &Bucket) -> Result<Vec<Visited>, FleetError> {
    Ok(with_missed(state).await?.0)
}

/// As [`all`], and the last time that each could not be measured.
///
/// # Errors
/// As [`all`].
pub(crate) async fn with_missed(state: &Bucket) -> Result<(Vec<Visited>, Vec<Missed>), FleetError> {
    Ok(read(&state.all().await?))
}

fn read(all: &[(String, Vec<u8>)]) -> (Vec<Visited>, Vec<Missed>) {
    let visits = all.iter().filter_map(|(_, text)| serde_json::from_slice(text).ok());
    let missed = all.iter().filter_map(|(_, text)| serde_json::from_slice(text).ok());
    let mut visits: Vec<Visited> = visits.collect();
    // The last that is told of work counts, and an older program has its own under another key.
    visits.sort_by_key(|visit| visit.unix_ns);
    (visits, missed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::work;
    use v6gap_sys::stop::Stopper;

    #[test]
    fn what_the_broker_does_not_take_at_once_is_tried_again_and_not_for_ever() {
        for (takes_at, expected) in [(1, (true, 1)), (TRIES, (true, TRIES)), (99, (false, TRIES))] {
            let mut tried = 0;
            let kept = crate::block_on(&Stopper::default(), async |_| {
                let tries = || {
                    tried += 1;
                    std::future::ready(tried == takes_at)
                };
                again(Duration::ZERO, tries).await
            });
            assert_eq!((kept.unwrap(), tried), expected);
        }
    }

    #[test]
    fn what_was_measured_and_what_could_not_be_are_told_apart() {
        let (one, other) = (work("rome/a", "oslo/b"), work("oslo/b", "rome/a"));
        let why = "rome/a: something else is measured there".to_owned();
        let given_up = Outcome::GivenUp {
            why: why.clone(),
            attempts: 3,
            lasting: false,
            began: true,
            run: None,
        };
        let measured = Outcome::Measured { run: Some("7k2f9q".parse().unwrap()) };
        let all = [
            written(&one, &measured, 7).unwrap(),
            written(&other, &measured, 8).unwrap(),
            written(&one, &given_up, 9).unwrap(),
        ];
        assert_eq!(written(&one, &Outcome::Lost { began: true }, 9), None);
        let (visits, missed) = read(&all);
        assert_eq!(visits.iter().map(|visit| visit.unix_ns).collect::<Vec<_>>(), [7, 8]);
        let keys = [visits[0].of(), visits[1].of(), missed[0].of()];
        assert_eq!(keys, [one.key(), other.key(), one.key()]);
        assert_eq!((missed.len(), &missed[0].why, missed[0].missed_unix_ns), (1, &why, 9));
        // One that an older program has down comes behind by its key, and is earlier.
        let older = Visited { hash: String::new(), unix_ns: 3, ..visits[0].clone() };
        let last = ("zzz".to_owned(), serde_json::to_vec(&older).unwrap());
        let (visits, _) = read(&[all.to_vec(), vec![last]].concat());
        assert_eq!(visits.iter().map(|visit| visit.unix_ns).collect::<Vec<_>>(), [3, 7, 8]);
        // Neither takes the place of the other.
        let keys: std::collections::BTreeSet<&str> = all.iter().map(|(key, _)| &**key).collect();
        assert_eq!(keys.len(), 3, "{keys:?}");
    }
}
