//! Buckets of keys that only one part of a hub writes: plans that are applied, and visits.

use super::streams::{READS_AT_ONCE, bucket_stream, bucket_subject};
use crate::error::FleetError;
use async_nats::jetstream::Context;
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use data_encoding::BASE64URL_NOPAD;
use futures_util::{StreamExt, TryStreamExt, stream};

/// The key for what people call something: names may have any letters, keys may not.
pub fn key_of(name: &str) -> String {
    BASE64URL_NOPAD.encode(name.as_bytes())
}

/// What is called so by a key; nothing if it is of another program.
pub fn name_of(key: &str) -> Option<String> {
    String::from_utf8(BASE64URL_NOPAD.decode(key.as_bytes()).ok()?).ok()
}

/// A bucket.
#[derive(Debug, Clone)]
pub struct Bucket {
    name: &'static str,
    context: Context,
    stream: Stream<()>,
}

impl Bucket {
    /// The bucket of that name.
    ///
    /// # Errors
    /// Never, for a name that is one.
    pub async fn of(context: &Context, name: &'static str) -> Result<Self, FleetError> {
        let stream = context.get_stream_no_info(bucket_stream(name)).await;
        let stream = stream.map_err(|error| FleetError::refused(name, error))?;
        Ok(Bucket { name, context: context.clone(), stream })
    }

    /// Writes a key and waits until it is on the disk of the broker; no value takes it away.
    ///
    /// # Errors
    /// If the broker refuses or does not answer.
    pub async fn put(&self, key: &str, value: Vec<u8>) -> Result<(), FleetError> {
        let refused = |error: &dyn std::fmt::Display| FleetError::refused(key, error);
        let subject = bucket_subject(self.name, key);
        let sent = self.context.publish(subject, value.into()).await;
        let acknowledged = sent.map_err(|error| refused(&error))?.await;
        acknowledged.map(drop).map_err(|error| refused(&error))
    }

    /// All keys with their values, as they stand at the leader of the replicas.
    ///
    /// # Errors
    /// If the broker refuses or does not answer.
    pub async fn all(&self) -> Result<Vec<(String, Vec<u8>)>, FleetError> {
        let refused = |error: &dyn std::fmt::Display| FleetError::refused(self.name, error);
        let subjects = self.stream.info_with_subjects(bucket_subject(self.name, ">")).await;
        let subjects = subjects.map_err(|error| refused(&error))?;
        let subjects: Vec<(String, usize)> =
            subjects.try_collect().await.map_err(|error| refused(&error))?;
        let read = |(subject, _): (String, usize)| {
            let stream = self.stream.clone();
            async move {
                let message = stream.get_last_raw_message_by_subject(&subject).await;
                (subject, message)
            }
        };
        let mut reads = stream::iter(subjects).map(read).buffer_unordered(READS_AT_ONCE);
        let start = bucket_subject(self.name, "");
        let mut found = Vec::new();
        while let Some((subject, message)) = reads.next().await {
            let message = match message {
                Ok(message) => message,
                // Gone meanwhile.
                Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => continue,
                Err(error) => return Err(refused(&error)),
            };
            if let Some(key) = subject.strip_prefix(&start).filter(|_| !message.payload.is_empty())
            {
                found.push((key.to_owned(), message.payload.to_vec()));
            }
        }
        found.sort();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_has_a_key_and_a_key_its_name() {
        for name in ["all", "my mesh", "a.b.>", "\u{e9} *"] {
            let key = key_of(name);
            assert!(!key.contains(['.', ' ', '*', '>']), "{key}");
            assert_eq!(name_of(&key).as_deref(), Some(name));
        }
        assert_eq!(name_of("a.b"), None);
    }
}
