//! The validation of source addresses, against a network on which anybody writes any source.
//!
//! The bytes are datagrams: introductions, proofs with a challenge that was told to this source or
//! to another one, messages of the task, answers fed back, and anything. Until a source has proved
//! itself it gets no more bytes than came from it; one that only sent what others were told is
//! never taken for proved, whoever is not served hears nothing, and an answer is never answered.

use arbitrary::{Result, Unstructured};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::LazyLock;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::session::access::Access;
use v6gap_core::session::validation::{Handling, Own, PROOF, Proving, Validation};
use v6gap_core::wire::datagram::{Flags, HEADER_BYTES, Header};

const TAG: [u8; 8] = *b"of a fuz";

/// Most datagrams of a sequence.
const DATAGRAMS_MAX: usize = 400;

/// Sources that see what is sent to them; the others are victims, whose addresses are forged.
const SEEING: usize = 6;

/// The port of the service.
const PORT: u16 = 4466;

/// Who may write, in this order: those who see answers, victims, who is not served, the server.
static SOURCES: LazyLock<Vec<SocketAddr>> = LazyLock::new(|| {
    let texts = [
        "192.0.2.1:9",
        "192.0.2.1:10",
        "[2001:db8::1]:9",
        "[2001:db8::1%1]:10",
        "[fe80::1%1]:9",
        "[fe80::1%2]:9",
        "192.0.2.9:9",
        "192.0.2.9:4466",
        "[2001:db8::9]:9",
        "[fe80::1%3]:9",
        "192.0.2.1:11",
        "[2001:db8::1]:25",
        "8.8.8.8:9",
        "[2a00::1]:9",
        "[::ffff:192.0.2.1]:9",
        "192.0.2.7:4466",
        "[2001:db8::7]:4466",
    ];
    texts.into_iter().filter_map(|text| text.parse().ok()).collect()
});

/// What a source sent and got, and what it may know.
#[derive(Debug, Default)]
struct Account {
    sent_bytes: usize,
    got_bytes: usize,
    told: BTreeMap<Arm, u64>,
    /// The arm and place that it was given.
    proved: Option<(Arm, u16)>,
}

/// Plays the datagrams.
pub fn run(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let Ok(kind) = bytes.arbitrary::<u8>() else { return };
    let ours: Vec<IpAddr> = SOURCES.iter().rev().take(2).map(SocketAddr::ip).collect();
    let own = Own {
        addresses: (kind & 1 == 0).then_some(&ours[..]),
        ports: PerFamily { v4: PORT, v6: PORT },
    };
    let access = Access::Near;
    let room = PerArm { a: u16::from(kind >> 1 & 3), b: u16::from(kind >> 3 & 3) };
    let mut validation = Validation::new(TAG, &[kind; 16], &access, own, room);
    let mut network = Network::default();
    for _ in 0..DATAGRAMS_MAX {
        if bytes.is_empty() || network.datagram(&mut bytes, &mut validation).is_err() {
            break;
        }
    }
    for arm in Arm::BOTH {
        let counted = network.accounts.values().filter(|a| a.proved.is_some_and(|p| p.0 == arm));
        assert_eq!(counted.count(), usize::from(validation.proved(arm)));
        assert!(validation.proved(arm) <= *room.get(arm));
    }
}

#[derive(Default)]
struct Network {
    accounts: BTreeMap<usize, Account>,
    answers: Vec<[u8; HEADER_BYTES]>,
}

impl Network {
    fn datagram(&mut self, b: &mut Unstructured<'_>, server: &mut Validation<'_>) -> Result<()> {
        let kind: u8 = b.arbitrary()?;
        let at = usize::from(b.arbitrary::<u8>()?) % SOURCES.len();
        let arm = if kind & 0x80 == 0 { Arm::A } else { Arm::B };
        let bytes = match kind % 8 {
            0 => message(Flags::INTRODUCTION, arm, 0),
            // With what this source was told, if it sees that.
            1 | 2 => message(PROOF, arm, self.told(at, arm)),
            // With what another one was told.
            3 => {
                let other = usize::from(b.arbitrary::<u8>()?) % SOURCES.len();
                message(PROOF, arm, self.told(other, arm))
            }
            4 => message(Flags(b.arbitrary::<u8>()?), arm, b.arbitrary()?),
            5 if !self.answers.is_empty() => {
                let which = usize::from(b.arbitrary::<u8>()?) % self.answers.len();
                self.answers[which].to_vec()
            }
            6 => {
                let length = usize::from(b.arbitrary::<u8>()?).min(b.len());
                [&TAG[..], b.bytes(length)?].concat()
            }
            _ => {
                let mut long = message(Flags(b.arbitrary::<u8>()? & 15), arm, b.arbitrary()?);
                long.resize(HEADER_BYTES + usize::from(b.arbitrary::<u8>()?), 0);
                long
            }
        };
        self.send(at, &bytes, server);
        Ok(())
    }

    /// The challenge that the source was told, as far as an attacker can know it.
    fn told(&self, at: usize, arm: Arm) -> u64 {
        let account = self.accounts.get(&at).filter(|_| at < SEEING);
        account.and_then(|account| account.told.get(&arm).copied()).unwrap_or(1)
    }

    fn send(&mut self, at: usize, bytes: &[u8], server: &mut Validation<'_>) {
        let handling = server.judge(SOURCES[at], bytes);
        let account = self.accounts.entry(at).or_default();
        account.sent_bytes += bytes.len();
        let header = Header::decode(bytes);
        let is_answer = header.is_some_and(|header| header.flags.contains(Flags::ANSWER));
        let served = at + 5 < SOURCES.len();
        let silent = handling == Handling::Ignore;
        assert!(silent || (served && !is_answer), "{handling:?} to {}", SOURCES[at]);
        assert!(silent || header.is_some_and(|header| header.tag == TAG), "another task's");
        match handling {
            Handling::Ignore => {}
            Handling::Answer(answer) => self.answer(at, answer),
            Handling::Proved { arm, place, answer } => {
                let proof = header.expect("looked at above");
                assert_eq!(account.proved, None, "a second place for {}", SOURCES[at]);
                assert!(at < SEEING, "{} has proved itself blindly", SOURCES[at]);
                assert_eq!(account.told.get(&arm), Some(&proof.challenge()), "not its own");
                account.proved = Some((arm, place));
                self.answer(at, answer);
            }
            Handling::Valid { header: found, place } => {
                assert_eq!(account.proved, Some((found.arm, place)), "{}", SOURCES[at]);
                assert_eq!(Some(found), header);
            }
        }
    }

    fn answer(&mut self, at: usize, answer: [u8; HEADER_BYTES]) {
        let account = self.accounts.entry(at).or_default();
        account.got_bytes += answer.len();
        let (got, sent) = (account.got_bytes, account.sent_bytes);
        assert!(got <= sent, "{got} bytes to {} for {sent}", SOURCES[at]);
        let header = Header::decode(&answer).expect("an answer has a header");
        assert!(header.flags.contains(Flags::ANSWER) && header.tag == TAG);
        if header.flags == Flags::INTRODUCTION.with(Flags::ANSWER) {
            assert_ne!(header.challenge(), 0);
            let before = account.told.insert(header.arm, header.challenge());
            assert!(before.is_none_or(|before| before == header.challenge()), "another challenge");
        }
        self.answers.push(answer);
    }
}

fn message(flags: Flags, arm: Arm, challenge: u64) -> Vec<u8> {
    let header = Header { tag: TAG, sequence: 0, turn: 0, next: 0, arm, flags };
    header.with_challenge(challenge).alone().to_vec()
}

/// The client's side on a network that loses, doubles and delays, and on which strangers write too:
/// it ends in time, and where it says that all is proved, the server says so as well.
pub fn proving(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let Ok(kind) = bytes.arbitrary::<u8>() else { return };
    let count = 1 + usize::from(kind & 3);
    let arms: Vec<Arm> = (0..count).map(|n| Arm::BOTH[n % 2]).collect();
    let of = |arm| arms.iter().filter(|one| **one == arm).count() as u16;
    let own = Own { addresses: Some(&[]), ports: PerFamily { v4: PORT, v6: PORT } };
    let mut server = Validation::new(TAG, &[kind; 16], &Access::Anyone, own, PerArm::from_fn(of));
    let mut client = Proving::new(TAG, arms.iter().copied(), 0, u64::MAX);
    let source = |n: usize| SocketAddr::new(Family::V6.loopback(), 1000 + n as u16);
    let (mut now, mut outside, mut polls) = (0_u64, false, 0_usize);
    loop {
        while let Some((number, message)) = client.poll(now) {
            polls += 1;
            // Each is doubled in time: a handful in all, for each of the two messages.
            assert!(polls <= 12 * count, "{polls} messages");
            let fate: u8 = bytes.arbitrary().unwrap_or_default();
            let times = [1, 1, 1, 0, 2][usize::from(fate % 5)];
            for _ in 0..times {
                let answer = match server.judge(source(number), &message) {
                    Handling::Answer(answer) | Handling::Proved { answer, .. } => answer,
                    Handling::Ignore | Handling::Valid { .. } => continue,
                };
                if fate & 0x20 == 0 {
                    client.on_message(number, &answer, now);
                }
            }
            if fate & 0x40 != 0 {
                let length = usize::from(fate & 31).min(bytes.len());
                let Ok(foreign) = bytes.bytes(length) else { break };
                client.on_message(number, &[&TAG[..], foreign].concat(), now);
                outside = true;
            }
        }
        match client.is_complete(now) {
            Ok(true) => break,
            Err(silent) => return assert!(silent.0 < count && client.awaits(silent.0)),
            Ok(false) => {
                let next = client.deadline();
                assert!(next > now, "waits for {next} at {now}");
                now = next;
            }
        }
    }
    // Who writes into the client's connection can make it believe anything: it gets no data then.
    assert!(outside || server.is_complete(), "the client alone believes it");
}
