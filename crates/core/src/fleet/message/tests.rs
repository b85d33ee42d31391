//! Messages are read and written as docs/fleet.md has them.

use super::*;
use crate::fleet::id::{JobId, Nonce, Token, Word};
use crate::record::RunId;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec;
use core::fmt::Debug;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Written and read again it is the same, and so it is with a field that nobody knows.
fn stays<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> String {
    let json = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&json).unwrap(), value, "{json}");
    let more = json.replacen('{', "{\"of-tomorrow\":[1,{\"x\":null}],", 1);
    assert_eq!(&serde_json::from_str::<T>(&more).unwrap(), value, "{more}");
    json
}

fn command(order: Order) -> Command {
    Command { version: 1, to: "rome/lab-a".parse().unwrap(), number: 7, order }
}

#[test]
fn orders_are_read_as_they_are_written() {
    let prepare = Prepare {
        job: JobId::from_bits(1),
        token: Token(9),
        attempt: 0,
        role: Role::Client,
        peer: Peer { name: "oslo/lab-a".parse().unwrap(), addresses: vec!["x".to_string()] },
        port: None,
        word: Word::new("sealed".to_string()),
        longest_ns: 5,
        plan: "v6gap = 1".to_string(),
        needs: vec!["echo".to_string()],
        continued: Some(RunId::from_bits(2)),
    };
    let json = stays(&command(Order::Prepare(Box::new(prepare))));
    assert!(json.contains(r#""to":"rome/lab-a","number":7,"order":"prepare""#), "{json}");
    let start = Start { token: Token(9), nonce: Nonce(u64::MAX), unix_ns: None };
    let json = stays(&command(Order::Start(start)));
    let expected = "{\"version\":1,\"to\":\"rome/lab-a\",\"number\":7,\"order\":\"start\",\
                    \"token\":9,\"nonce\":18446744073709551615}";
    assert_eq!(json, expected);
    let json = stays(&command(Order::Start(Start { unix_ns: Some(5), ..start })));
    assert!(json.ends_with(r#","unix_ns":5}"#), "{json}");
    stays(&command(Order::Stop { token: Token(9) }));
    stays(&command(Order::Status));
}

#[test]
fn answers_are_read_as_they_are_written() {
    let measured = Measured { run: Some(RunId::from_bits(1)), bytes: 12 };
    let why = "the peer was gone".to_string();
    let failure = Failure { why, lasting: false, measured: measured.clone() };
    let refused = |why| Answer::Refused { why };
    for answer in [
        Answer::Ready { nonce: Nonce(1) },
        Answer::Started,
        Answer::Done(measured),
        Answer::Failed(failure),
        refused(Refusal::Busy),
        refused(Refusal::Old { highest: Token(3) }),
        refused(Refusal::Limits { what: "no".to_string() }),
        refused(Refusal::Version { lowest: 1, highest: 2 }),
    ] {
        let from = "rome/lab-a".parse().unwrap();
        stays(&Reply { version: 1, from, number: 7, token: Token(9), answer });
    }
}

fn heartbeat(state: State) -> Heartbeat {
    Heartbeat {
        from: "rome/lab-a".parse().unwrap(),
        version_lowest: 1,
        version_highest: 1,
        program: "v6gap 0.2.0".to_string(),
        features: vec!["echo".to_string()],
        addresses: vec![],
        unix_ns: 1,
        clock: Some(ClockState { synchronised: true, error_ns: 5 }),
        state,
        highest: Token(9),
        free_bytes: 2,
        unarchived: 3,
        trouble: None,
    }
}

#[test]
fn a_heartbeat_says_which_jobs_are_over() {
    let token = Token(9);
    for state in [State::Idle, State::Measuring { token }, State::Taken, State::Closed] {
        stays(&heartbeat(state));
    }
    assert!(heartbeat(State::Idle).is_over(Token(9)));
    // One that has not come there yet may still begin.
    assert!(!heartbeat(State::Idle).is_over(Token(10)));
    assert!(!heartbeat(State::Ready { token }).is_over(token));
    assert!(heartbeat(State::Ready { token }).is_over(Token(8)));
    let wrong = Heartbeat { version_lowest: 2, ..heartbeat(State::Idle) };
    assert_eq!(wrong.versions(), None);
}

#[test]
fn results_are_read_as_they_are_written() {
    let (from, run) = ("rome/lab-a".parse().unwrap(), RunId::from_bits(1));
    let (job, hash) = (Some(JobId::from_bits(1)), "00".to_string());
    let (at, bytes) = (u64::MAX, 1);
    let header = ChunkHeader { version: 1, from, run: run.clone(), job, at, bytes, hash };
    stays(&header);
    assert_eq!(header.end(), u64::MAX);
    let to = "rome/lab-a".parse().unwrap();
    stays(&Ack { version: 1, to, runs: vec![RunHeld { run, bytes: 1 }] });
}
