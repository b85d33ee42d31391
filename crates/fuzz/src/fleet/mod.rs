//! What comes by way of the broker of a fleet, which may have been broken into, and from agents,
//! whose credentials may have been lost: any bytes are a message or none, and one that is taken is
//! of whom its subject proves, says what was signed, and reads the same when it is written again.

mod meshes;
mod orders;
mod parts;

use crate::document;
use crate::watches::told;
use arbitrary::Unstructured;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::sync::LazyLock;
use v6gap_core::fleet::grant::{self, Key, NotCommitted};
use v6gap_core::fleet::message::{Ack, Heartbeat, Reply};
use v6gap_core::fleet::metrics::Metrics;
use v6gap_core::fleet::subject;
use v6gap_core::fleet::work::Now;
use v6gap_core::watch::Moment;
use v6gap_fleet::coordinator::{Part, Visited};
use v6gap_fleet::heard::{self, MESSAGE_BYTES_MAX};
use v6gap_fleet::nats::grants::read_answer;
use v6gap_fleet::nats::keys::{key_of, name_of};
use v6gap_report::fleet::metrics as text;

/// Whose subjects a message comes under: its own, those of others, and what is none.
const HOSTS: [&str; 5] = ["rome.a", "rome.b", "oslo.a", "rome", "-.a"];

/// Changes of a batch that is answered.
const PUTS: usize = 3;

/// A message of each kind, as it is or with changes.
pub fn run(data: &[u8]) {
    let Some((&kind, data)) = data.split_first() else { return };
    match kind % 9 {
        0 => heartbeat(&message(&HEARTBEAT, data)),
        1 => reply(&message(&REPLY, data)),
        2 => kept(data),
        3 => batch(&message(&ANSWER, data)),
        4 => orders::read(data),
        5 => orders::written(data),
        6 => parts::run(data),
        7 => meshes::run(data),
        _ => names(data),
    }
}

/// Bytes as they come, or a document with changes.
fn message(of: &Value, data: &[u8]) -> Vec<u8> {
    match data.split_first() {
        Some((0, bytes)) => bytes.to_vec(),
        Some((_, changes)) => {
            let mut document = of.clone();
            document::change(&mut document, &mut Unstructured::new(changes));
            document.to_string().into_bytes()
        }
        None => Vec::new(),
    }
}

/// Written and read again it is the same.
fn same<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_vec(value).expect("what was read can be written");
    assert_eq!(serde_json::from_slice::<T>(&text).ok().as_ref(), Some(value));
}

static HEARTBEAT: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "from": "rome/a", "version_lowest": 1, "version_highest": 1, "program": "v6gap 0.2.0",
        "features": ["facts"], "addresses": ["192.0.2.1", "2001:db8::1"],
        "unix_ns": 1_795_426_200_000_000_000_u64,
        "clock": { "synchronised": true, "error_ns": 1000 },
        "state": "measuring", "token": 7, "highest": 7, "free_bytes": 50_000_000_000_u64,
        "unarchived": 3, "trouble": "its limits cannot be read",
    })
});

static REPLY: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "version": 1, "from": "rome/a", "number": 3, "token": 7, "answer": "failed",
        "why": "it was killed", "lasting": false,
        "measured": { "run": "7k2f9q", "bytes": 1234 }, "nonce": 5,
        "refusal": "old", "highest": 9,
    })
});

/// An agent is who its subject says, and nothing that it says of itself breaks what collectors of
/// metrics are told.
fn heartbeat(message: &[u8]) {
    for host in HOSTS {
        let under = format!("v6gap.hb.{host}");
        let Some(beat) = heard::heartbeat(&under, message) else { continue };
        assert_eq!(subject::heartbeat(&beat.from), under, "it is another's");
        assert!(message.len() <= MESSAGE_BYTES_MAX, "{} bytes", message.len());
        same::<Heartbeat>(&beat);
        let mut metrics = Metrics::default();
        let wall = Moment { unix_ns: 1_795_426_200_000_000_000, offset_s: 0 };
        metrics.beat(beat, Now { ns: 0, wall });
        told(&text(&metrics));
    }
}

fn reply(message: &[u8]) {
    for host in HOSTS {
        let under = format!("v6gap.rep.{host}.3");
        let Some(reply) = heard::reply(&under, message) else { continue };
        assert_eq!(subject::reply(&reply.from, 3), under, "it is another's");
        assert!(message.len() <= MESSAGE_BYTES_MAX, "{} bytes", message.len());
        same::<Reply>(&reply);
    }
}

static ACK: LazyLock<Value> = LazyLock::new(|| {
    let run = json!({ "run": "7k2f9q", "bytes": 9 });
    json!({ "version": 1, "to": "rome/a", "runs": [run] })
});

static VISITED: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "from": "rome/a", "to": "oslo/b", "plan": "p.toml", "hash": "0123456789abcdef",
        "run": "7k2f9q", "unix_ns": 7,
    })
});

static KNOWN: LazyLock<Value> = LazyLock::new(|| {
    let heard = json!({ "said": *HEARTBEAT, "ago_ns": 7, "clock_ahead_ns": -7 });
    json!({ "leads": true, "agents": [heard] })
});

static GRANT: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "is": "job", "stage": "granted", "epoch": 2, "attempt": 0, "from": "rome/a",
        "to": "oslo/b", "to_is_agent": true, "class": "exclusive", "links": ["rome-uplink"],
        "longest_ns": 75_000_000_000_u64, "plan": "p.toml", "plan_hash": "0123456789abcdef",
        "unix_ns": 7, "came": "measured", "who": "aa", "job": "000000000000",
    })
});

/// What buckets and streams hold, and what a coordinator answers.
fn kept(data: &[u8]) {
    let Some((&kind, data)) = data.split_first() else { return };
    match kind % 4 {
        0 => heard::ack(&message(&ACK, data)).iter().for_each(same::<Ack>),
        1 => {
            let visited: Option<Visited> = serde_json::from_slice(&message(&VISITED, data)).ok();
            let Some(visited) = visited else { return };
            same(&visited);
            // It is part of a subject: nobody's visit may be at another place than its own.
            let key = visited.key();
            assert_eq!(key.split('.').count(), 5, "{key}");
            assert!(!key.contains(['*', '>', ' ']), "{key}");
        }
        2 => {
            let known = serde_json::from_slice::<Part>(&message(&KNOWN, data)).ok();
            known.iter().for_each(same);
        }
        _ => {
            let value = serde_json::from_slice::<grant::Value>(&message(&GRANT, data)).ok();
            value.iter().for_each(same);
        }
    }
}

static ANSWER: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "error": { "code": 400, "err_code": 10071 }, "stream": "KV_grants", "seq": 6,
        "batch": "b", "count": PUTS,
    })
});

/// A batch came true only if the answer says so of all of it, and no error with it.
fn batch(message: &[u8]) {
    let came = read_answer(message, PUTS);
    let Ok(Value::Object(fields)) = serde_json::from_slice(message) else { return };
    let error = fields.get("error").is_some_and(|error| !error.is_null());
    match came {
        Ok(last) => {
            assert!(!error && last > 0, "{fields:?}");
            assert_eq!(fields.get("seq"), Some(&json!(last)), "{fields:?}");
            assert_eq!(fields.get("count"), Some(&json!(PUTS)), "{fields:?}");
        }
        Err(NotCommitted::Refused) => assert!(error, "{fields:?}"),
        Err(NotCommitted::Unknown) => {}
    }
}

/// Subjects and keys as the broker has them.
fn names(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Some(host) = subject::host(text) {
        let own = text.starts_with("v6gap.")
            && text.split('.').skip(2).take(2).eq([host.site(), host.host()]);
        assert!(own, "{host} by {text:?}");
        assert_eq!(subject::host(&subject::command(&host)), Some(host));
    }
    if let Some(key) = Key::parse(text) {
        assert_eq!(key.text(), text);
    }
    if let Some(name) = name_of(text) {
        assert_eq!(key_of(&name), text);
    }
    let key = key_of(text);
    assert!(!key.contains(['.', ' ', '*', '>']), "{key}");
    assert_eq!(name_of(&key).as_deref(), Some(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_whole<T: Serialize + DeserializeOwned>(template: &Value) {
        let read: T = serde_json::from_value(template.clone()).unwrap();
        assert_eq!(&serde_json::to_value(&read).unwrap(), template);
    }

    /// What is not in a template is never changed.
    #[test]
    fn templates_have_every_field_that_is_written() {
        is_whole::<Heartbeat>(&HEARTBEAT);
        is_whole::<Ack>(&ACK);
        is_whole::<Visited>(&VISITED);
    }
}
