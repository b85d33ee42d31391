//! What an operator asks of a fleet: what shall be measured, and how it does.

use crate::coordinator::{Applied, Asked, Known, Visited, visits};
use crate::error::FleetError;
use crate::letter::Letter;
use crate::nats::connect::{Way, connect};
use crate::nats::grants::Grants;
use crate::nats::keys::{Bucket, key_of, name_of};
use crate::now::{now, stopped};
use crate::rights::ASK;
use async_nats::{Client, jetstream};
use std::path::Path;
use std::time::Duration;
use tokio::sync::watch;
use v6gap_core::fleet::grant::{JobRecord, Key, Stage, Value};
use v6gap_core::fleet::subject::{MESHES, STATE};
use v6gap_core::fleet::work::Work;

/// How often it is looked what was measured.
const LOOK: Duration = Duration::from_secs(1);

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
/// If the hub is not there or refuses.
pub async fn apply(file: &Path, name: &str, applied: &Applied) -> Result<(), FleetError> {
    let text = serde_json::to_vec(applied).map_err(|e| FleetError::refused(name, e))?;
    put(file, name, text).await
}

/// Has a mesh plan applied no more.
///
/// # Errors
/// As [`apply`].
pub async fn take_away(file: &Path, name: &str) -> Result<(), FleetError> {
    put(file, name, Vec::new()).await
}

/// Has each path of a mesh plan measured once, and says how many were so far, until all are or
/// `stop` says so; then it is applied no more. Returns the works that were not measured.
///
/// # Errors
/// As [`apply`]; also in words, if the mesh plan is none.
pub async fn once(
    file: &Path,
    name: &str,
    applied: &Applied,
    told: &mut dyn FnMut(usize, usize),
    mut stop: watch::Receiver<bool>,
) -> Result<Vec<Work>, FleetError> {
    // Beside one of that name that is measured for good.
    let name = format!("{name} (once)");
    let table = applied.timetable(now().wall).map_err(|why| FleetError::refused(&name, why))?;
    let mut missing: Vec<Work> = table.works().collect();
    let all = missing.len();
    let letter = Letter::read(file, None)?;
    let client = connect(&Way { letter: &letter, file, hubs: &[], plaintext: true }).await?;
    let context = jetstream::new(client);
    let (meshes, state) = (Bucket::of(&context, MESHES).await?, Bucket::of(&context, STATE).await?);
    // What was there before is told by what changes, not by a clock.
    let before = visits::all(&state).await?;
    let text = serde_json::to_vec(applied).map_err(|e| FleetError::refused(&name, e))?;
    meshes.put(&key_of(&name), text).await?;
    let mut done = usize::MAX;
    while !missing.is_empty() && !*stop.borrow() {
        let found = visits::all(&state).await?;
        let is_new = |visit: &&Visited| !before.contains(visit);
        let new: Vec<&Visited> = found.iter().filter(is_new).collect();
        missing.retain(|work| !new.iter().any(|visit| visit.is_of(work)));
        if all - missing.len() != done {
            done = all - missing.len();
            told(done, all);
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = stopped(&mut stop) => {}
        }
    }
    meshes.put(&key_of(&name), Vec::new()).await?;
    Ok(missing)
}

async fn put(file: &Path, name: &str, text: Vec<u8>) -> Result<(), FleetError> {
    let letter = Letter::read(file, None)?;
    let client = connect(&Way { letter: &letter, file, hubs: &[], plaintext: true }).await?;
    let context = jetstream::new(client);
    Bucket::of(&context, MESHES).await?.put(&key_of(name), text).await
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
