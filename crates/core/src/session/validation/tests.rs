//! Every source proves itself for itself, and nobody gets more than he sent before he did.

use super::*;
use alloc::collections::BTreeMap;
use alloc::collections::BTreeSet;
use proptest::prelude::*;

const TAG: [u8; 8] = *b"of tests";
const PORTS: PerFamily<u16> = PerFamily { v4: 4466, v6: 4466 };

fn at(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn message(flags: Flags, arm: Arm, challenge: u64) -> Vec<u8> {
    let header = Header { tag: TAG, sequence: 0, turn: 0, next: 0, arm, flags };
    header.with_challenge(challenge).alone().to_vec()
}

/// What the server sends for a datagram.
fn answer(handling: Handling) -> Option<[u8; HEADER_BYTES]> {
    match handling {
        Handling::Answer(answer) | Handling::Proved { answer, .. } => Some(answer),
        Handling::Ignore | Handling::Valid { .. } => None,
    }
}

const OURS: [&str; 2] = ["192.0.2.7", "2001:db8::7"];

fn ours() -> Vec<IpAddr> {
    OURS.map(|text| text.parse().unwrap()).to_vec()
}

/// Lets `source` prove itself and returns the last verdict.
fn prove(validation: &mut Validation<'_>, source: SocketAddr, arm: Arm) -> Handling {
    let challenged = validation.judge(source, &message(Flags::INTRODUCTION, arm, 0));
    let Some(challenged) = answer(challenged) else { return challenged };
    let challenge = Header::decode(&challenged).unwrap().challenge();
    assert_ne!(challenge, 0);
    validation.judge(source, &message(PROOF, arm, challenge))
}

#[test]
fn a_source_that_repeats_its_challenge_is_valid_from_then_on() {
    let ours = ours();
    let own = Own { addresses: Some(&ours), ports: PORTS };
    let sources = PerArm { a: 2, b: 1 };
    let mut validation = Validation::new(TAG, &[1; 16], &Access::Anyone, own, sources);
    for (number, (text, arm, place)) in
        [("192.0.2.1:9", Arm::A, 0), ("[2001:db8::1]:9", Arm::B, 0), ("192.0.2.1:10", Arm::A, 1)]
            .into_iter()
            .enumerate()
    {
        let source = at(text);
        let request = message(Flags::NONE, arm, 7);
        assert_eq!(validation.judge(source, &request), Handling::Ignore);
        let proved = prove(&mut validation, source, arm);
        assert!(
            matches!(proved, Handling::Proved { arm: a, place: p, .. } if (a, p) == (arm, place))
        );
        assert_eq!(validation.is_complete(), number == 2);
        // The answer was lost: it is given again, and the source has no second place.
        let again = prove(&mut validation, source, arm);
        assert_eq!(answer(again), answer(proved));
        assert!(matches!(again, Handling::Answer(_)));
        let header = Header::decode(&request).unwrap();
        assert_eq!(validation.judge(source, &request), Handling::Valid { header, place });
        // The arm of a message is that of its source.
        let other = message(Flags::NONE, arm.other(), 7);
        assert_eq!(validation.judge(source, &other), Handling::Ignore);
        assert_eq!(prove(&mut validation, source, arm.other()), Handling::Ignore);
    }
    assert_eq!((validation.proved(Arm::A), validation.proved(Arm::B)), (2, 1));
    // There is no room for more.
    assert_eq!(prove(&mut validation, at("192.0.2.1:11"), Arm::A), Handling::Ignore);
}

#[test]
fn who_is_not_served_or_is_the_server_itself_hears_nothing() {
    let ours = ours();
    let own = Own { addresses: Some(&ours), ports: PORTS };
    let room = PerArm { a: 9, b: 9 };
    let mut validation = Validation::new(TAG, &[1; 16], &Access::Near, own, room);
    let mut silent = |text: &str| {
        (Arm::BOTH.iter()).all(|arm| prove(&mut validation, at(text), *arm) == Handling::Ignore)
    };
    for text in ["8.8.8.8:9", "[2606:4700::1]:9", "192.0.2.7:4466", "[2001:db8::7]:4466"] {
        assert!(silent(text), "{text}");
    }
    // Every loopback address is the server's own.
    assert!(silent("127.0.0.2:4466") && silent("[::1]:4466"));
    // Its address with another port is a neighbour, and its port at another address a client.
    assert!(!silent("192.0.2.7:4467") && !silent("192.0.2.1:4466"));
    let own = Own { addresses: None, ports: PORTS };
    let mut validation = Validation::new(TAG, &[1; 16], &Access::Near, own, room);
    assert_eq!(prove(&mut validation, at("192.0.2.1:4466"), Arm::A), Handling::Ignore);
    assert_ne!(prove(&mut validation, at("192.0.2.1:4467"), Arm::A), Handling::Ignore);
}

#[test]
fn a_link_local_address_on_another_link_is_another_source() {
    let (access, own) = (Access::Near, Own { addresses: None, ports: PORTS });
    let sources = PerArm { a: 3, b: 0 };
    let mut validation = Validation::new(TAG, &[1; 16], &access, own, sources);
    let on = |scope| {
        SocketAddr::V6(core::net::SocketAddrV6::new("fe80::1".parse().unwrap(), 9, 0, scope))
    };
    assert!(matches!(prove(&mut validation, on(1), Arm::A), Handling::Proved { .. }));
    let request = message(Flags::NONE, Arm::A, 0);
    assert!(matches!(validation.judge(on(1), &request), Handling::Valid { .. }));
    assert_eq!(validation.judge(on(2), &request), Handling::Ignore);
}

/// Many sources with few ports stand in one row of the table.
#[test]
fn sources_are_told_apart_however_alike_they_are() {
    let own = Own { addresses: None, ports: PORTS };
    let room = PerArm { a: 300, b: 300 };
    let mut validation = Validation::new(TAG, &[1; 16], &Access::Anyone, own, room);
    let source = |number: u16, arm| {
        let port = 9 + number % 2;
        match arm {
            Arm::A => at(&std::format!("192.0.{}.{}:{port}", number / 256, number % 256)),
            Arm::B => {
                at(&std::format!("[::ffff:ffff:192.0.{}.{}]:{port}", number / 256, number % 256))
            }
        }
    };
    for (number, arm) in (0..300).flat_map(|n| Arm::BOTH.map(|arm| (n, arm))) {
        prove(&mut validation, source(number, arm), arm);
    }
    assert!(validation.is_complete());
    for (number, arm) in (0..300).flat_map(|n| Arm::BOTH.map(|arm| (n, arm))) {
        let handling = validation.judge(source(number, arm), &message(Flags::NONE, arm, 0));
        assert!(matches!(handling, Handling::Valid { place, .. } if place == number));
    }
}

#[test]
fn the_challenge_depends_on_everything_that_it_is_for() {
    let challenge = |secret: u8, tag, source: &str, arm| {
        let own = Own { addresses: None, ports: PORTS };
        let room = PerArm { a: 1, b: 1 };
        let mut validation = Validation::new(tag, &[secret; 16], &Access::Anyone, own, room);
        let flags = Flags::INTRODUCTION;
        let header = Header { tag, sequence: 0, turn: 0, next: 0, arm, flags };
        let told = answer(validation.judge(at(source), &header.alone())).unwrap();
        Header::decode(&told).unwrap().challenge()
    };
    let challenges = [
        challenge(1, TAG, "192.0.2.1:9", Arm::A),
        challenge(2, TAG, "192.0.2.1:9", Arm::A),
        challenge(1, *b"of other", "192.0.2.1:9", Arm::A),
        challenge(1, TAG, "192.0.2.2:9", Arm::A),
        challenge(1, TAG, "192.0.2.1:10", Arm::A),
        challenge(1, TAG, "192.0.2.1:9", Arm::B),
        challenge(1, TAG, "[2001:db8::1]:9", Arm::A),
    ];
    assert_eq!(BTreeSet::from(challenges).len(), challenges.len());
    assert_eq!(challenges[0], challenge(1, TAG, "192.0.2.1:9", Arm::A));
}

#[test]
fn a_client_repeats_itself_until_it_is_answered_and_gives_up_in_time() {
    const MS: u64 = 1_000_000;
    let mut proving = Proving::new(TAG, [Arm::A, Arm::B], 0, u64::MAX);
    let mut sent = Vec::new();
    let mut now_ns = 0;
    while proving.is_complete(now_ns) == Ok(false) {
        while let Some((socket, bytes)) = proving.poll(now_ns) {
            sent.push((now_ns / MS, socket, Header::decode(&bytes).unwrap().flags));
        }
        now_ns = proving.deadline();
        assert!(now_ns <= PATIENCE_NS_MAX);
        if sent.len() == 4 {
            // The first socket gets on: what follows is sent at once.
            proving.on_message(
                0,
                &message(End::Server.says(Flags::INTRODUCTION), Arm::A, 5),
                now_ns,
            );
            assert_eq!(proving.deadline(), now_ns);
            let (socket, bytes) = proving.poll(now_ns).unwrap();
            assert_eq!((socket, &bytes[..]), (0, &message(PROOF, Arm::A, 5)[..]));
            // What is not from the server, of the other arm or of another challenge is nothing.
            for other in [
                message(PROOF, Arm::A, 5),
                message(End::Server.says(PROOF), Arm::B, 5),
                message(End::Server.says(PROOF), Arm::A, 6),
            ] {
                proving.on_message(0, &other, now_ns);
                assert!(proving.awaits(0));
            }
            proving.on_message(0, &message(End::Server.says(PROOF), Arm::A, 5), now_ns);
            assert!(!proving.awaits(0) && proving.awaits(1));
        }
    }
    assert_eq!(proving.is_complete(now_ns), Err(Silent(1)));
    assert_eq!(now_ns, PATIENCE_NS_MAX);
    let times: Vec<u64> = sent.iter().filter(|(_, n, _)| *n == 1).map(|(ms, ..)| *ms).collect();
    assert_eq!(times, [0, 100, 300, 700, 1500]);
    assert!(sent.iter().all(|(.., flags)| *flags == Flags::INTRODUCTION));
}

/// Data of the server show that it took the proof, although its answer was lost.
#[test]
fn what_only_a_valid_source_is_sent_is_as_good_as_the_last_answer() {
    let mut proving = Proving::new(TAG, [Arm::A], 0, u64::MAX);
    let data = message(End::Server.says(Flags::NONE), Arm::A, 0);
    proving.on_message(0, &data, 1);
    assert!(proving.awaits(0), "before the challenge it shows nothing");
    proving.on_message(0, &message(End::Server.says(Flags::INTRODUCTION), Arm::A, 5), 2);
    proving.on_message(0, &data, 3);
    assert_eq!(proving.is_complete(3), Ok(true));
}

/// What a sender of datagrams does next.
#[derive(Debug, Clone)]
enum Packet {
    /// A message with any properties and numbers.
    Any { flags: u8, arm: Arm, challenge: u64, bytes: usize },
    /// An introduction, as it should be.
    Introduction(Arm),
    /// Repeats the last challenge that was sent to this source, whoever sends it now.
    Proof { of: usize, arm: Arm },
    /// What the server sent before comes back, with other properties or as it was.
    FedBack { number: usize, flags: Option<u8> },
    /// Bytes without sense.
    Junk(Vec<u8>),
}

fn packet() -> impl Strategy<Value = Packet> {
    let arm = || prop_oneof![Just(Arm::A), Just(Arm::B)];
    prop_oneof![
        (any::<u8>(), arm(), any::<u64>(), 0_usize..100).prop_map(
            |(flags, arm, challenge, bytes)| { Packet::Any { flags, arm, challenge, bytes } }
        ),
        arm().prop_map(Packet::Introduction),
        (0..SOURCES.len(), arm()).prop_map(|(of, arm)| Packet::Proof { of, arm }),
        (any::<prop::sample::Index>(), prop::option::of(any::<u8>()))
            .prop_map(|(number, flags)| Packet::FedBack { number: number.index(1000), flags }),
        prop::collection::vec(any::<u8>(), 0..60).prop_map(Packet::Junk),
    ]
}

const SOURCES: [&str; 10] = [
    "192.0.2.1:9",
    "192.0.2.1:10",
    "192.0.2.2:9",
    "[2001:db8::1]:9",
    "[2001:db8::1]:10",
    "[2001:db8::2]:9",
    // These are not served.
    "8.8.8.8:9",
    "[2606:4700::1]:9",
    // These are the server itself.
    "192.0.2.7:4466",
    "[2001:db8::7]:4466",
];

/// Those that are served stand before this one.
const SERVED: usize = 6;

/// What was said to each source, and who may be taken to have proved itself.
#[derive(Default)]
struct Seen {
    bytes_in: BTreeMap<usize, usize>,
    bytes_out: BTreeMap<usize, usize>,
    challenges: BTreeMap<(usize, bool), u64>,
    proved: BTreeMap<usize, Arm>,
    answers: Vec<[u8; HEADER_BYTES]>,
}

impl Seen {
    fn bytes(&self, packet: &Packet, from: usize) -> Vec<u8> {
        match packet {
            Packet::Any { flags, arm, challenge, bytes } => {
                let mut message = message(Flags(*flags), *arm, *challenge);
                message.resize(*bytes, 7);
                message
            }
            Packet::Introduction(arm) => message(Flags::INTRODUCTION, *arm, 0),
            Packet::Proof { of, arm } => {
                let challenge = self.challenges.get(&(*of, *arm == Arm::A)).copied();
                message(PROOF, *arm, challenge.unwrap_or(from as u64))
            }
            Packet::FedBack { number, flags } => {
                let answer = self.answers.get(number % self.answers.len().max(1));
                let mut answer = answer.copied().unwrap_or_default().to_vec();
                if let Some(flags) = flags {
                    answer[17] = *flags;
                }
                answer
            }
            Packet::Junk(bytes) => bytes.clone(),
        }
    }

    /// One datagram, and everything that must hold about what follows from it.
    fn check(&mut self, validation: &mut Validation<'_>, from: usize, bytes: &[u8]) {
        let handling = validation.judge(at(SOURCES[from]), bytes);
        let header = Header::decode(bytes);
        *self.bytes_in.entry(from).or_default() += bytes.len();
        if header.is_none_or(|header| header.flags.contains(Flags::ANSWER) || header.tag != TAG) {
            assert_eq!(handling, Handling::Ignore, "an answer is never answered");
        }
        if from >= SERVED {
            assert_eq!(handling, Handling::Ignore, "{} is not served", SOURCES[from]);
        }
        if let Some(answer) = answer(handling) {
            *self.bytes_out.entry(from).or_default() += answer.len();
            assert!(answer.len() <= bytes.len());
            let told = Header::decode(&answer).unwrap();
            assert!(told.flags.contains(Flags::ANSWER));
            if told.flags == End::Server.says(Flags::INTRODUCTION) {
                let is_a = told.arm == Arm::A;
                let before = self.challenges.insert((from, is_a), told.challenge());
                assert!(before.is_none_or(|before| before == told.challenge()));
            }
            self.answers.push(answer);
        }
        match handling {
            Handling::Proved { arm, .. } => {
                let own = self.challenges.get(&(from, arm == Arm::A));
                assert_eq!(own, header.map(|h| h.challenge()).as_ref(), "another's challenge");
                assert_eq!(self.proved.insert(from, arm), None);
            }
            Handling::Valid { header, .. } => {
                assert_eq!(self.proved.get(&from), Some(&header.arm), "counted without proof");
            }
            Handling::Ignore | Handling::Answer(_) => {}
        }
        if !self.proved.contains_key(&from) {
            let sent = self.bytes_out.get(&from).copied().unwrap_or(0);
            assert!(sent <= self.bytes_in.get(&from).copied().unwrap_or(0));
        }
    }
}

proptest! {
    /// More sequences than usual with the variable that the library reads, `PROPTEST_CASES`.
    #[test]
    fn nobody_gets_more_than_he_sent_before_he_proved_himself(
        secret in any::<[u8; 16]>(),
        room in (0_u16..4, 0_u16..4),
        packets in prop::collection::vec((0..SOURCES.len(), packet()), 0..80),
    ) {
        let ours = ours();
        let own = Own { addresses: Some(&ours), ports: PORTS };
        let room = PerArm { a: room.0, b: room.1 };
        let mut validation = Validation::new(TAG, &secret, &Access::Near, own, room);
        let mut seen = Seen::default();
        for (from, packet) in &packets {
            let bytes = seen.bytes(packet, *from);
            seen.check(&mut validation, *from, &bytes);
        }
        let count = |arm| seen.proved.values().filter(|of| **of == arm).count();
        for arm in Arm::BOTH {
            prop_assert_eq!(count(arm), usize::from(validation.proved(arm)));
            prop_assert!(validation.proved(arm) <= *room.get(arm));
        }
    }
}

#[test]
fn an_ipv4_address_in_ipv6_form_is_another_source_that_proves_nothing() {
    let own = Own { addresses: Some(&[]), ports: PORTS };
    let sources = PerArm { a: 2, b: 0 };
    let mut validation = Validation::new(TAG, &[1; 16], &Access::Anyone, own, sources);
    let proved = prove(&mut validation, at("192.0.2.1:9"), Arm::A);
    assert!(matches!(proved, Handling::Proved { .. }));
    let mapped = at("[::ffff:192.0.2.1]:9");
    assert_eq!(validation.judge(mapped, &message(Flags::NONE, Arm::A, 7)), Handling::Ignore);
    assert_eq!(prove(&mut validation, mapped, Arm::A), Handling::Ignore);
}
