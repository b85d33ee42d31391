//! Orders: an agent takes those that its coordinator signed, as they were given, and no others.

use super::message;
use crate::document;
use arbitrary::Unstructured;
use serde_json::{Value, json};
use std::sync::LazyLock;
use v6gap_core::fleet::message::Command;
use v6gap_fleet::Letter;
use v6gap_fleet::hub::keys::Keys;
use v6gap_fleet::orders::{Reader, Writer};

/// A coordinator, an agent that knows it, and the public key for which words are sealed.
struct Ends {
    writer: Writer,
    reader: Reader,
    to: String,
}

static ENDS: LazyLock<Ends> = LazyLock::new(|| {
    let (hub, agent) = (Keys::generate(), Keys::generate());
    let letter = Letter {
        token: "a.b.c".to_owned(),
        user: "none".to_owned(),
        name: "rome/a".to_owned(),
        hubs: Vec::new(),
        jobs: hub.jobs.public_key(),
        seals: hub.seals.public_key(),
        seal: agent.seals.seed().expect("a key that was made here has a seed"),
        authority: None,
    };
    Ends {
        reader: Reader::of(&letter).expect("keys that were made here are keys"),
        writer: Writer { jobs: hub.jobs, seals: hub.seals },
        to: agent.seals.public_key(),
    }
});

/// Orders of both long kinds, as documents.
static COMMANDS: LazyLock<[Value; 2]> = LazyLock::new(|| {
    let prepare = json!({
        "version": 1, "to": "rome/a", "number": 3, "order": "prepare", "job": "000000000000",
        "token": 7, "attempt": 0, "role": "client",
        "peer": { "name": "oslo/b", "addresses": ["2001:db8::1"] }, "port": 5000,
        "word": "a word", "longest_ns": 75_000_000_000_u64, "plan": "v6gap = 1",
        "needs": ["facts"], "continued": "7k2f9q",
    });
    let start = json!({
        "version": 1, "to": "rome/a", "number": 4, "order": "start", "token": 7, "nonce": 5,
        "unix_ns": 1_795_426_200_000_000_000_u64,
    });
    [prepare, start]
});

/// The same as they are given and as they are sent.
static SENT: LazyLock<[(Command, Value); 2]> = LazyLock::new(|| {
    COMMANDS.each_ref().map(|document| {
        let command: Command = serde_json::from_value(document.clone()).expect("an order");
        let message = ENDS.writer.write(&command, &ENDS.to).expect("an order can be written");
        (command, serde_json::from_slice(&message).expect("what is sent is JSON"))
    })
});

/// What arrives with changes is the order that was given, or none.
pub fn read(data: &[u8]) {
    let Some((&which, data)) = data.split_first() else { return };
    let (given, sent) = &SENT[usize::from(which) % SENT.len()];
    let message = message(sent, data);
    let read = ENDS.reader.read(&message);
    if let Ok(command) = &read {
        assert_eq!(command, given, "nobody gave that order");
    }
    if serde_json::from_slice(&message).ok().as_ref() == Some(sent) {
        assert_eq!(read.as_ref(), Ok(given));
    }
}

/// Whatever a coordinator orders arrives as it is.
pub fn written(data: &[u8]) {
    let Some((&which, changes)) = data.split_first() else { return };
    let mut document = COMMANDS[usize::from(which) % COMMANDS.len()].clone();
    document::change(&mut document, &mut Unstructured::new(changes));
    let Ok(command) = serde_json::from_value::<Command>(document) else { return };
    let message = ENDS.writer.write(&command, &ENDS.to).expect("an order can be written");
    assert_eq!(ENDS.reader.read(&message).as_ref(), Ok(&command));
}
