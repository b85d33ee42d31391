//! What an operator asks of a fleet: what shall be measured, and how it does.

use crate::coordinator::{Applied, Asked, Known, Missed, Visited, visits};
use crate::error::FleetError;
use crate::letter::Letter;
use crate::nats::connect::{Way, connect};
use crate::nats::grants::Grants;
use crate::nats::keys::{Bucket, key_of, name_of};
use crate::now::{now, stopped};
use crate::once::{self, Waiting};
use crate::rights::ASK;
use async_nats::{Client, jetstream};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use tokio::sync::watch;
use v6gap_core::fleet::grant::{JobRecord, Key, Stage, Value};
use v6gap_core::fleet::subject::{MESHES, STATE};
use v6gap_core::fleet::work::Work;

/// How often it is looked what was measured.
const LOOK: Duration = Duration::from_secs(1);

/// At every how many of these it is asked how the agents do, and whether it is applied still.
const LOOKS: u64 = 10;

/// Most bytes of a message to the broker: those that nats-server takes if nothing else is said.
const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// How a fleet does.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// What a coordinator says; none if none is there.
    pub known: Option<Known>,
    /// Jobs that may be under way.
    pub jobs: Vec<(String, JobRecord)>,
    /// Mesh plans that are applied.
    pub meshes: Vec<String>,
    /// The last visit of each path by each plan.
    pub visits: Vec<Visited>,
}

/// Has a mesh plan applied, in place of one of that name.
///
/// # Errors
/// If it is longer than a message may be, or the hub is not there or refuses.
pub async fn apply(file: &Path, name: &str, applied: &Applied) -> Result<(), FleetError> {
    meshes(file).await?.put(&key_of(name), message(name, applied)?).await
}

/// A mesh plan as the broker has it.
fn message(name: &str, applied: &Applied) -> Result<Vec<u8>, FleetError> {
    let text = serde_json::to_vec(applied).map_err(|e| FleetError::refused(name, e))?;
    if text.len() > MESSAGE_BYTES_MAX {
        let bytes = text.len();
        let why = format!(
            "with the plans that it names it is a message of {bytes} bytes, and \
             {MESSAGE_BYTES_MAX} are the most"
        );
        return Err(FleetError::refused(name, why));
    }
    Ok(text)
}

/// Has a mesh plan applied no more, nor any run of it by [`once()`].
///
/// # Errors
/// As [`apply`].
pub async fn take_away(file: &Path, name: &str) -> Result<(), FleetError> {
    let meshes = meshes(file).await?;
    meshes.put(&key_of(name), Vec::new()).await?;
    for (key, _) in meshes.all().await? {
        if name_of(&key).is_some_and(|applied| once::is_run_of(name, &applied)) {
            meshes.put(&key, Vec::new()).await?;
        }
    }
    Ok(())
}

/// How a mesh plan came out of which each path is measured once.
#[derive(Debug, Clone, PartialEq)]
pub struct Once {
    /// What was not measured, each with why not as far as that is known.
    pub missing: Vec<(Work, Option<String>)>,
    /// Whether it was stopped before that.
    pub stopped: bool,
    /// Why it may still be applied, in words; none if it is not.
    pub left: Option<String>,
}

/// Has each path of a mesh plan measured once, and says how many were so far, until all are, none
/// of the others can be, or `stop` says so; then it is applied no more.
///
/// # Errors
/// As [`apply`]; also in words, if the mesh plan is none.
pub async fn once(
    file: &Path,
    name: &str,
    applied: &Applied,
    told: &mut dyn FnMut(usize, usize),
    mut stop: watch::Receiver<bool>,
) -> Result<Once, FleetError> {
    let name = once::called(name, v6gap_sys::entropy::bytes()?);
    let table = applied.timetable(now().wall).map_err(|why| FleetError::refused(&name, why))?;
    let text = message(&name, applied)?;
    let waiting = Waiting::new(table.works());
    let letter = Letter::read(file, None)?;
    let client = connect(&Way { letter: &letter, file, hubs: &[], plaintext: true }).await?;
    let context = jetstream::new(client.clone());
    let (meshes, state) = (Bucket::of(&context, MESHES).await?, Bucket::of(&context, STATE).await?);
    // What was there before is told by what changes, not by a clock.
    let (visits, missed) = visits::with_missed(&state).await?;
    let before = (visits.into_iter().collect(), missed.into_iter().collect());
    let key = key_of(&name);
    meshes.put(&key, text).await?;
    let looks =
        Looks { client: &client, meshes: &meshes, state: &state, key: &key, applied, before };
    let waiting = looks.until_over(waiting, told, &mut stop).await;
    // What was not measured is said, also where the hub is gone.
    let left = meshes.put(&key, Vec::new()).await.err().map(|error| error.to_string());
    let stopped = *stop.borrow();
    Ok(Once { missing: waiting.into_missing(), stopped, left })
}

/// Where it is looked what was measured.
struct Looks<'a> {
    client: &'a Client,
    meshes: &'a Bucket,
    state: &'a Bucket,
    /// Under which it is applied.
    key: &'a str,
    applied: &'a Applied,
    /// What was there before.
    before: (BTreeSet<Visited>, BTreeSet<Missed>),
}

impl Looks<'_> {
    async fn until_over(
        &self,
        mut waiting: Waiting,
        told: &mut dyn FnMut(usize, usize),
        stop: &mut watch::Receiver<bool>,
    ) -> Waiting {
        let (mut last, mut day) = (None, now().wall.day());
        for look in 0_u64.. {
            // A broker that does not answer now is asked again.
            let read = visits::with_missed(self.state).await;
            let is_read = read.is_ok();
            if let Ok((visits, missed)) = read {
                let (visited_before, missed_before) = &self.before;
                let visits: Vec<_> =
                    visits.iter().filter(|visit| !visited_before.contains(*visit)).collect();
                let missed: Vec<_> =
                    missed.iter().filter(|missed| !missed_before.contains(*missed)).collect();
                waiting.came(&visits, &missed);
            }
            if look.is_multiple_of(LOOKS) {
                let known = known(self.client).await;
                // A broker that cannot read has no coordinator that leads, whoever answers.
                waiting.known(known.as_ref().filter(|_| is_read), now().ns);
                if !self.is_applied().await {
                    waiting.taken_away();
                }
            }
            if now().wall.day() != day {
                day = now().wall.day();
                // It could be made when it was applied.
                if let Ok(table) = self.applied.timetable(now().wall) {
                    waiting.turn(&table.works().collect::<Vec<Work>>());
                }
            }
            let (done, all) = waiting.measured();
            if last != Some(done) {
                last = Some(done);
                told(done, all);
            }
            if waiting.is_over(now().ns) || *stop.borrow() {
                break;
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = stopped(stop) => {}
            }
        }
        waiting
    }

    /// Whether it is applied, as far as the broker says.
    async fn is_applied(&self) -> bool {
        let all = self.meshes.all().await;
        all.map_or(true, |all| all.iter().any(|(key, _)| key == self.key))
    }
}

/// The mesh plans that are applied.
async fn meshes(file: &Path) -> Result<Bucket, FleetError> {
    let letter = Letter::read(file, None)?;
    let client = connect(&Way { letter: &letter, file, hubs: &[], plaintext: true }).await?;
    let context = jetstream::new(client);
    Bucket::of(&context, MESHES).await
}

/// What coordinators know of the fleet, part by part; nothing where none answers.
pub(crate) async fn known(client: &Client) -> Option<Known> {
    let mut known = Known::default();
    let mut asked = Some(Asked::default());
    while let Some(next) = asked {
        let text = serde_json::to_vec(&next).ok()?;
        let answer = client.request(ASK, text.into()).await.ok()?;
        asked = known.add(serde_json::from_slice(&answer.payload).ok()?);
    }
    Some(known)
}

/// Looks how a fleet does.
///
/// # Errors
/// If the hub is not there or refuses.
pub async fn status(file: &Path) -> Result<Status, FleetError> {
    let letter = Letter::read(file, None)?;
    let client = connect(&Way { letter: &letter, file, hubs: &[], plaintext: true }).await?;
    let known = known(&client).await;
    let context = jetstream::new(client);
    let meshes = Bucket::of(&context, MESHES).await?.all().await?;
    let visits = visits::all(&Bucket::of(&context, STATE).await?).await?;
    let grants = Grants::of(&context).await.map_err(|e| FleetError::refused("grants", e))?;
    let entries = grants.list().await.ok_or_else(|| FleetError::refused("grants", "no answer"))?;
    let mut status = Status {
        known,
        jobs: Vec::new(),
        meshes: meshes.iter().filter_map(|(key, _)| name_of(key)).collect(),
        visits,
    };
    for entry in entries {
        if let (Key::Job(id), Some(Value::Job(record))) = (entry.key, entry.value)
            && record.stage == Stage::Granted
        {
            status.jobs.push((id.to_string(), record));
        }
    }
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// What docs/mesh.md says of how many hosts there is room for.
    #[test]
    fn a_mesh_plan_of_too_many_hosts_is_refused_with_the_limit() {
        let sent = |hosts: u32| {
            let hosts = (0..hosts).map(|number| format!("[hosts.\"rome/{number:05}\"]\n"));
            let applied =
                Applied { v6gap: 1, mesh: hosts.collect(), plans: BTreeMap::new(), afresh: false };
            message("big", &applied)
        };
        assert!(sent(40_000).is_ok());
        let why = sent(50_000).unwrap_err().to_string();
        assert!(why.starts_with("the hub refuses big: ") && why.contains("1048576"), "{why}");
    }
}
