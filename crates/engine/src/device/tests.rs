//! Answers of a hostile or broken agent: each is an error in time, and none a panic. What a healthy
//! one answers is read whole.

mod healthy;

use super::*;
use healthy::Agent;
use proptest::prelude::*;
use std::net::UdpSocket;
use std::thread::JoinHandle;

/// An agent that answers the first requests with these bytes, whatever they are.
fn agent(answers: Vec<Vec<u8>>) -> (SocketAddr, JoinHandle<()>) {
    let socket = UdpSocket::bind(SocketAddr::new(Family::V4.loopback(), 0)).unwrap();
    let address = socket.local_addr().unwrap();
    let work = move || {
        let mut bytes = [0; 2048];
        for answer in answers {
            let Ok((_, from)) = socket.recv_from(&mut bytes) else { return };
            socket.send_to(&answer, from).unwrap();
        }
    };
    (address, std::thread::spawn(work))
}

/// Long enough for an answer that comes at once, on however busy a machine.
const PATIENT_NS: u64 = 5_000_000_000;
/// For answers that never come.
const SHORT_NS: u64 = 30_000_000;

fn access(address: SocketAddr, credentials: Credentials, timeout_ns: u64) -> Access {
    Access { name: "sw".to_owned(), address, credentials, timeout_ns }
}

fn community() -> Credentials {
    Credentials::Community("public".to_owned())
}

fn user(password: Option<&str>, word: Option<&str>) -> Credentials {
    Credentials::User {
        name: "reader".to_owned(),
        digest: Digest::Sha256,
        password: password.map(str::to_owned),
        secret: word.map(|word| Secret { cipher: Cipher::Aes128, word: word.to_owned() }),
    }
}

fn read(answers: Vec<Vec<u8>>, credentials: Credentials, timeout_ns: u64) -> DeviceError {
    let (address, thread) = agent(answers);
    let mut device = Device::open(&access(address, credentials, timeout_ns)).unwrap();
    let error = device.read(Side::Before).unwrap_err();
    drop(thread);
    error
}

#[test]
fn silence_is_named() {
    let socket = UdpSocket::bind(SocketAddr::new(Family::V4.loopback(), 0)).unwrap();
    let address = socket.local_addr().unwrap();
    for credentials in [community(), user(Some("long enough"), None)] {
        let mut device = Device::open(&access(address, credentials, SHORT_NS)).unwrap();
        let error = device.read(Side::Before).unwrap_err();
        assert!(matches!(error, DeviceError::Silent { .. }), "{error}");
    }
}

#[test]
fn garbled_answers_are_named() {
    for bytes in [vec![], vec![0x30], vec![0xff; 1000], b"HTTP/1.1 400 Bad Request".to_vec()] {
        let error = read(vec![bytes; 3], community(), PATIENT_NS);
        assert!(matches!(error, DeviceError::Garbled { .. }), "{error}");
    }
}

#[test]
fn an_answer_that_nobody_waits_for_is_not_that_of_the_next_request() {
    // On one socket the second copy of each would be the answer to the next request.
    let agent = Agent { copies: 2, ..Agent::with_ports(3) };
    let mut device = Device::open(&access(agent.start(), community(), PATIENT_NS)).unwrap();
    for side in [Side::Before, Side::After] {
        let reading = device.read(side).unwrap();
        assert_eq!(reading.ports.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
    }
}

#[test]
fn both_families_of_many_interfaces_are_read() {
    let address = Agent::with_ports(200).start();
    let mut device = Device::open(&access(address, community(), PATIENT_NS)).unwrap();
    let reading = device.read(Side::Before).unwrap();
    assert_eq!((reading.ports.len(), reading.left_out.len()), (200, 0));
    for (family, value) in [(Family::V4, 4), (Family::V6, 6)] {
        let name = tables::of_family(0, family);
        let read = |port: &v6gap_core::device::Counters| port.get(name).copied();
        assert!(reading.ports.values().all(|port| read(port) == Some(Counter::Short(value))));
    }
}

#[test]
fn short_answers_cut_no_table_and_a_table_that_is_cut_is_said() {
    let read = |agent: Agent| {
        let mut device = Device::open(&access(agent.start(), community(), PATIENT_NS)).unwrap();
        device.read(Side::Before).unwrap()
    };
    let short = read(Agent { rows_max: 1, ..Agent::with_ports(100) });
    assert_eq!((short.ports.len(), short.left_out.len()), (100, 0));
    let cut = read(Agent::with_ports(400));
    assert!((ROWS_MAX..400).contains(&cut.ports.len()), "{}", cut.ports.len());
    assert_eq!(cut.left_out.len(), 1);
    assert!(cut.left_out[0].contains("tables of sw were not read"), "{}", cut.left_out[0]);
}

#[test]
fn keys_that_cannot_be_used_are_refused_before_anything_is_sent() {
    let address = SocketAddr::new(Family::V4.loopback(), 9);
    let refused = |credentials| {
        let outcome = Device::open(&access(address, credentials, SHORT_NS));
        match outcome.err() {
            Some(DeviceError::Unsuitable { what }) => what,
            other => panic!("{other:?}"),
        }
    };
    assert!(refused(user(Some("short"), None)).contains("shorter than 8"));
    assert!(refused(user(Some(""), None)).contains("shorter than 8"));
    assert!(refused(user(Some("long enough"), Some("short"))).contains("privacy"));
    assert!(refused(user(None, Some("long enough"))).contains("authentication too"));
}

#[test]
fn keys_are_not_shown() {
    let shown = format!("{:?}", access("192.0.2.1:161".parse().unwrap(), community(), SHORT_NS));
    assert!(!shown.contains("public"), "{shown}");
    let shown = format!("{:?}", user(Some("authentic word"), Some("private word")));
    assert!(shown.contains("reader") && !shown.contains("word"), "{shown}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever comes back, there is an error and no panic.
    #[test]
    fn any_answer_is_an_error(
        mut bytes in prop::collection::vec(any::<u8>(), 0..200),
        v3: bool,
        like: bool,
    ) {
        if like {
            // The beginning of a real one: a sequence and its version.
            let version = if v3 { 3 } else { 1 };
            let length = (bytes.len() + 3).min(0x7f) as u8;
            bytes = [&[0x30, length, 0x02, 1, version], &bytes[..]].concat();
        }
        let credentials = if v3 { user(Some("long enough"), None) } else { community() };
        let error = read(vec![bytes; 3], credentials, SHORT_NS);
        let told = matches!(
            error,
            DeviceError::Garbled { .. } | DeviceError::WrongKey | DeviceError::Silent { .. }
        );
        prop_assert!(told, "{error}");
    }
}
