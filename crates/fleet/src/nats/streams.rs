//! Streams of a fleet: four, however many hosts it has.
//!
//! Whoever of the hub comes first makes them. One that is there and is not as it should be is
//! changed, or refused if it cannot be: grants without atomic batches would be no grants.

use crate::error::FleetError;
use async_nats::Client;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{self, Context};
use std::time::Duration;
use v6gap_core::fleet::subject::{GRANTS, MESHES, RESULTS, RESULTS_SUBJECTS, STATE};

/// Most that the stream of results holds, in bytes; what does not fit stays with its agents.
const RESULTS_BYTES_MAX: i64 = 5_000_000_000;

/// How long a result waits for a sink; after it, its agent sends it again.
const RESULTS_AGE_MAX: Duration = Duration::from_secs(7 * 86_400);

/// How long the last visit of a path is kept: twice as long as there may be between two.
const VISITS_AGE_MAX: Duration = Duration::from_secs(62 * 86_400);

/// How often it is tried to make a stream while a hub of three nodes finds itself, and how long is
/// waited between.
const TRIES: u32 = 60;
/// See [`TRIES`].
const PAUSE: Duration = Duration::from_millis(500);

/// Keys of a bucket that are read at once.
pub(super) const READS_AT_ONCE: usize = 256;

/// Makes what is missing of all streams, each held by so many nodes, and changes what an earlier
/// version made otherwise.
///
/// # Errors
/// If the hub refuses one, or has another one of that name.
pub async fn make(client: &Client, replicas: usize) -> Result<Context, FleetError> {
    let context = jetstream::new(client.clone());
    for config in all(replicas) {
        let mut found = made(&context, &config).await?.cached_info().config.clone();
        if !fits(&found, &config) {
            found = changed(&context, found, &config).await?;
        }
        if !fits(&found, &config) {
            let why = "there is one of that name with other settings";
            return Err(FleetError::refused(&format!("the stream {}", config.name), why));
        }
    }
    Ok(context)
}

async fn made(context: &Context, config: &Config) -> Result<Stream, FleetError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match context.get_or_create_stream(config.clone()).await {
            Ok(stream) => return Ok(stream),
            Err(error) if tries == TRIES => {
                return Err(FleetError::refused(&format!("the stream {}", config.name), error));
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Changes what may be another in a stream that has messages already.
async fn changed(context: &Context, found: Config, wanted: &Config) -> Result<Config, FleetError> {
    let config = Config { no_ack: wanted.no_ack, max_age: wanted.max_age, ..found };
    match context.update_stream(config).await {
        Ok(info) => Ok(info.config),
        Err(error) => Err(FleetError::refused(&format!("the stream {}", wanted.name), error)),
    }
}

/// What cannot be done without.
fn fits(found: &Config, wanted: &Config) -> bool {
    found.subjects == wanted.subjects
        && found.allow_atomic_publish == wanted.allow_atomic_publish
        && found.allow_message_ttl == wanted.allow_message_ttl
        && found.allow_direct == wanted.allow_direct
        && found.retention == wanted.retention
        && found.no_ack == wanted.no_ack
        && found.max_age == wanted.max_age
        // What is not limited is told as -1.
        && found.max_messages_per_subject.max(0) == wanted.max_messages_per_subject
}

fn all(replicas: usize) -> [Config; 4] {
    [
        Config {
            allow_atomic_publish: true,
            allow_message_ttl: true,
            // Tokens of jobs are sequence numbers and may never come again, also if all was lost.
            first_sequence: Some(v6gap_sys::clock::wall_ns() / 1_000_000),
            ..bucket(GRANTS, replicas)
        },
        bucket(MESHES, replicas),
        // Paths that are measured no more would be kept for ever.
        Config { max_age: VISITS_AGE_MAX, ..bucket(STATE, replicas) },
        Config {
            name: RESULTS.to_owned(),
            subjects: vec![RESULTS_SUBJECTS.to_owned()],
            storage: StorageType::File,
            num_replicas: replicas,
            discard: DiscardPolicy::New,
            max_bytes: RESULTS_BYTES_MAX,
            max_age: RESULTS_AGE_MAX,
            // Who sends a message says where its answer goes, and the server writes it there with
            // rights that an agent has not.
            no_ack: true,
            // What the sink has is gone from here.
            retention: RetentionPolicy::WorkQueue,
            ..Config::default()
        },
    ]
}

/// A stream that other programs take for a bucket of keys: one message a key, read at the leader of
/// the replicas alone, as others may be behind it.
fn bucket(name: &str, replicas: usize) -> Config {
    Config {
        name: bucket_stream(name),
        subjects: vec![format!("{}>", bucket_subject(name, ""))],
        storage: StorageType::File,
        num_replicas: replicas,
        discard: DiscardPolicy::New,
        max_messages_per_subject: 1,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: false,
        ..Config::default()
    }
}

/// The stream of a bucket.
pub fn bucket_stream(bucket: &str) -> String {
    format!("KV_{bucket}")
}

/// The subject of a key of a bucket.
pub fn bucket_subject(bucket: &str, key: &str) -> String {
    format!("$KV.{bucket}.{key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_are_atomic_live_for_a_time_and_are_read_at_the_leader() {
        let [grants, meshes, state, results] = all(3);
        assert_eq!(
            (grants.name.as_str(), grants.subjects[0].as_str()),
            ("KV_grants", "$KV.grants.>")
        );
        assert!(grants.allow_atomic_publish && grants.allow_message_ttl && !grants.allow_direct);
        assert!(grants.first_sequence.is_some_and(|first| first > 1_700_000_000_000));
        for stream in [&grants, &meshes, &state, &results] {
            assert_eq!((stream.num_replicas, stream.discard), (3, DiscardPolicy::New));
        }
        assert!(fits(&grants, &grants) && !fits(&meshes, &grants));
        let days = |stream: &Config| stream.max_age.as_secs() / 86_400;
        assert_eq!([&grants, &meshes, &state, &results].map(days), [0, 0, 62, 7]);
        assert!(!fits(&Config { max_age: Duration::ZERO, ..state.clone() }, &state));
    }

    #[test]
    fn results_go_when_the_sink_has_them_and_are_not_acknowledged() {
        let [.., results] = all(1);
        assert_eq!(results.retention, RetentionPolicy::WorkQueue);
        assert_eq!(
            (results.subjects[0].as_str(), results.max_bytes),
            ("v6gap.res.>", 5_000_000_000)
        );
        assert!(results.no_ack, "an agent would have answers written where it likes");
        assert!(!fits(&Config { no_ack: false, ..results.clone() }, &results));
    }
}
