//! What an operator asks of a fleet: what shall be measured, and how it does.

use crate::coordinator::{Applied, Known, Visited};
use crate::error::FleetError;
use crate::letter::Letter;
use crate::nats::connect::{Way, connect};
use crate::nats::grants::Grants;
use crate::nats::keys::{Bucket, key_of, name_of};
use crate::rights::ASK;
use async_nats::jetstream;
use std::path::Path;
use v6gap_core::fleet::grant::{JobRecord, Key, Stage, Value};
use v6gap_core::fleet::subject::{MESHES, STATE};

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

async fn put(file: &Path, name: &str, text: Vec<u8>) -> Result<(), FleetError> {
    let letter = Letter::read(file, None)?;
    let client = connect(&Way { letter: &letter, file, hubs: &[], plaintext: true }).await?;
    let context = jetstream::new(client);
    Bucket::of(&context, MESHES).await?.put(&key_of(name), text).await
}

/// Looks how a fleet does.
///
/// # Errors
/// If the hub is not there or refuses.
pub async fn status(file: &Path) -> Result<Status, FleetError> {
    let letter = Letter::read(file, None)?;
    let client = connect(&Way { letter: &letter, file, hubs: &[], plaintext: true }).await?;
    // Nobody answers where there is no coordinator.
    let answer = client.request(ASK, "".into()).await.ok();
    let known = answer.and_then(|answer| serde_json::from_slice(&answer.payload).ok());
    let context = jetstream::new(client);
    let meshes = Bucket::of(&context, MESHES).await?.all().await?;
    let visits = Bucket::of(&context, STATE).await?.all().await?;
    let grants = Grants::of(&context).await.map_err(|e| FleetError::refused("grants", e))?;
    let entries = grants.list().await.ok_or_else(|| FleetError::refused("grants", "no answer"))?;
    let mut status = Status {
        known,
        jobs: Vec::new(),
        meshes: meshes.iter().filter_map(|(key, _)| name_of(key)).collect(),
        visits: visits.iter().filter_map(|(_, text)| serde_json::from_slice(text).ok()).collect(),
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
