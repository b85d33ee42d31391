//! The bucket of grants: batches of which all or nothing comes true, and reads at the leader.
//!
//! Both are by hand. The client's own calls for buckets write no time to live when they change a
//! key, so that a grant would be for ever, and they know no batches.

use super::streams::{READS_AT_ONCE, bucket_stream, bucket_subject};
use async_nats::header::{
    HeaderMap, NATS_BATCH_COMMIT, NATS_BATCH_COMMIT_FINAL, NATS_BATCH_ID, NATS_BATCH_SEQUENCE,
    NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, NATS_MARKER_REASON, NATS_MESSAGE_TTL,
};
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, Request};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Deserialize;
use std::time::Duration;
use v6gap_core::fleet::COMMIT_NS;
use v6gap_core::fleet::grant::{Batch, Committed, Entry, Key, NotCommitted, Put};
use v6gap_core::fleet::subject::GRANTS;

/// What other programs write in place of a key that was removed.
const OPERATION: &str = "KV-Operation";

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_nanos(COMMIT_NS);

/// Random bytes of a batch's name.
const NAME_BYTES: usize = 12;

/// The bucket.
#[derive(Debug, Clone)]
pub struct Grants {
    client: Client,
    stream: Stream<()>,
}

/// What a server answers to a batch.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    error: Option<serde_json::Value>,
    #[serde(default)]
    seq: u64,
    #[serde(default)]
    count: Option<usize>,
}

impl Grants {
    /// The bucket that `context` has.
    ///
    /// # Errors
    /// Never: its name is one.
    pub async fn of(context: &Context) -> Result<Self, jetstream::context::GetStreamError> {
        let stream = context.get_stream_no_info(bucket_stream(GRANTS)).await?;
        Ok(Grants { client: context.client(), stream })
    }

    /// Has a batch come true, or not. Whatever is not certainly one or the other is unknown: it may
    /// still come true.
    pub async fn commit(&self, batch: &Batch) -> Committed {
        match tokio::time::timeout(PATIENCE, self.send(batch)).await {
            Ok(came) => came,
            Err(_) => Err(NotCommitted::Unknown),
        }
    }

    async fn send(&self, batch: &Batch) -> Committed {
        let unknown = NotCommitted::Unknown;
        let random: [u8; NAME_BYTES] = v6gap_sys::entropy::bytes().map_err(|_| unknown)?;
        let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let (last, first) = batch.puts.split_last().ok_or(unknown)?;
        for (at, put) in first.iter().enumerate() {
            let (subject, headers, value) = message(put, &name, at, false).ok_or(unknown)?;
            let sent = self.client.publish_with_headers(subject, headers, value.into()).await;
            sent.map_err(|_| unknown)?;
        }
        let (subject, headers, value) = message(last, &name, first.len(), true).ok_or(unknown)?;
        let request = Request::new().headers(headers).payload(value.into());
        let answer = self.client.send_request(subject, request).await.map_err(|_| unknown)?;
        read_answer(&answer.payload, batch.puts.len())
    }

    /// A key as it stands at the leader of the replicas; `None` if the broker did not answer.
    pub async fn look(&self, key: &Key) -> Option<Entry> {
        let subject = bucket_subject(GRANTS, &key.text());
        let found = self.stream.get_last_raw_message_by_subject(&subject);
        match tokio::time::timeout(PATIENCE, found).await.ok()? {
            Ok(message) => Some(entry(key.clone(), &message)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {
                Some(Entry { key: key.clone(), value: None, revision: 0 })
            }
            Err(_) => None,
        }
    }

    /// All keys, each as it stands at the leader of the replicas, which also says which there are;
    /// `None` if the broker did not answer.
    pub async fn list(&self) -> Option<Vec<Entry>> {
        let all = bucket_subject(GRANTS, ">");
        // A broker without a leader says nothing to this already.
        let subjects = tokio::time::timeout(PATIENCE, self.stream.info_with_subjects(all));
        let subjects = subjects.await.ok()?.ok()?;
        let subjects: Vec<(String, usize)> = subjects.try_collect().await.ok()?;
        let start = bucket_subject(GRANTS, "");
        let keys = subjects.iter().filter_map(|(subject, _)| subject.strip_prefix(&start));
        let keys: Vec<Key> = keys.filter_map(Key::parse).collect();
        // One after the other they would take longer than an answer may, where there are many.
        let read = |key: Key| {
            let grants = self.clone();
            async move { grants.look(&key).await }
        };
        let mut found = stream::iter(keys).map(read).buffer_unordered(READS_AT_ONCE);
        let mut entries = Vec::new();
        while let Some(entry) = found.next().await {
            let entry = entry?;
            if entry.revision > 0 {
                entries.push(entry);
            }
        }
        Some(entries)
    }
}

/// Subject, headers and value of the message at `at` of a batch.
fn message(put: &Put, name: &str, at: usize, last: bool) -> Option<(String, HeaderMap, Vec<u8>)> {
    let mut headers = HeaderMap::new();
    headers.insert(NATS_BATCH_ID, name);
    headers.insert(NATS_BATCH_SEQUENCE, (at + 1).to_string());
    headers.insert(NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, put.expected.to_string());
    if let Some(ttl_ns) = put.ttl_ns {
        // Whole seconds, and never below what was asked for.
        let seconds = ttl_ns.div_ceil(1_000_000_000).max(1);
        headers.insert(NATS_MESSAGE_TTL, format!("{seconds}s"));
    }
    if last {
        headers.insert(NATS_BATCH_COMMIT, NATS_BATCH_COMMIT_FINAL);
    }
    let value = serde_json::to_vec(&put.value).ok()?;
    Some((bucket_subject(GRANTS, &put.key.text()), headers, value))
}

/// What a server's answer to a batch of so many changes means. A refusal has a sequence number,
/// too, so its error comes first; and what does not say that all came true says nothing.
pub fn read_answer(answer: &[u8], puts: usize) -> Committed {
    let answer: Answer = serde_json::from_slice(answer).map_err(|_| NotCommitted::Unknown)?;
    match answer {
        Answer { error: Some(_), .. } => Err(NotCommitted::Refused),
        Answer { seq, count, .. } if seq > 0 && count == Some(puts) => Ok(seq),
        Answer { .. } => Err(NotCommitted::Unknown),
    }
}

/// What stands in a message: a mark that others left of a key has no value.
fn entry(key: Key, message: &StreamMessage) -> Entry {
    let mark = message.headers.get(OPERATION).is_some()
        || message.headers.get(NATS_MARKER_REASON).is_some();
    let value = if mark { None } else { serde_json::from_slice(&message.payload).ok() };
    Entry { key, value, revision: message.sequence }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::fleet::grant::{Leader, Value};
    use v6gap_core::fleet::id::Epoch;

    #[test]
    fn an_error_is_looked_for_before_the_number_that_comes_with_it() {
        let refused = br#"{"error":{"code":400,"err_code":10071},"stream":"KV_grants","seq":0}"#;
        assert_eq!(read_answer(refused, 3), Err(NotCommitted::Refused));
        let late = br#"{"error":{"code":503},"stream":"KV_grants","seq":7,"count":3}"#;
        assert_eq!(read_answer(late, 3), Err(NotCommitted::Refused));
        let done = br#"{"stream":"KV_grants","seq":6,"batch":"b","count":3}"#;
        assert_eq!(read_answer(done, 3), Ok(6));
    }

    #[test]
    fn what_does_not_say_that_all_came_true_says_nothing() {
        for answer in [&b""[..], b"{}", b"[]", br#"{"seq":6}"#, br#"{"seq":6,"count":2}"#, b"x"] {
            assert_eq!(read_answer(answer, 3), Err(NotCommitted::Unknown));
        }
    }

    #[test]
    fn each_message_of_a_batch_says_what_it_expects_and_for_how_long() {
        let value = Value::Leader(Leader { who: "a".to_owned(), epoch: Epoch(1) });
        let mut put = Put { key: Key::Leader, value, expected: 4, ttl_ns: Some(1_500_000_000) };
        let (subject, headers, value) = message(&put, "b", 0, false).unwrap();
        assert_eq!(subject, "$KV.grants.leader");
        let get =
            |headers: &HeaderMap, name: &str| headers.get(name).map(|v| v.as_str().to_owned());
        assert_eq!(get(&headers, "Nats-Expected-Last-Subject-Sequence").as_deref(), Some("4"));
        assert_eq!(get(&headers, "Nats-TTL").as_deref(), Some("2s"));
        assert_eq!(get(&headers, "Nats-Batch-Sequence").as_deref(), Some("1"));
        assert_eq!(get(&headers, "Nats-Batch-Commit"), None);
        assert_eq!(serde_json::from_slice::<Value>(&value).unwrap(), put.value);
        put.ttl_ns = None;
        let (_, headers, _) = message(&put, "b", 2, true).unwrap();
        assert_eq!(get(&headers, "Nats-TTL"), None);
        assert_eq!(get(&headers, "Nats-Batch-Commit").as_deref(), Some("1"));
    }
}
