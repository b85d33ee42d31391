//! Test packets of STAMP (RFC 8762, with the session identifier of RFC 8972) and of TWAMP Light, as
//! sender and as reflector: routers answer them. Octets in, octets out; what authenticates them is
//! an argument.

/// The UDP port of reflectors (RFC 8762 section 4.1).
pub const PORT: u16 = 862;

/// Octets of a packet in either direction, open and authenticated.
pub const OPEN_BYTES: usize = 44;
/// As [`OPEN_BYTES`] for packets that are authenticated.
pub const SEALED_BYTES: usize = 112;

/// Octets of what authenticates a packet: the first half of HMAC-SHA-256 (RFC 8762 section 4.4).
pub const SEAL_BYTES: usize = 16;

/// Octets that it authenticates.
const SEALED_PART: usize = 96;

/// Error estimate of a clock that nobody synchronised and that gives NTP's form: a scale of 6 and a
/// multiplier of 8, which is 2⁶⁻³² · 8 s (RFC 4656 section 4.1.2).
const ERROR_ESTIMATE: [u8; 2] = [6, 8];

/// Seconds from NTP's epoch to that of Unix (RFC 5905).
const EPOCH_S: u64 = 2_208_988_800;

/// Set in an error estimate whose clock gives times in PTP's form: seconds and nanoseconds
/// (RFC 8762 section 4.2.1, RFC 8186).
const OF_PTP: u8 = 0x40;

const NS_PER_S: u64 = 1_000_000_000;

/// What authenticates octets.
pub type Seal<'a> = Option<&'a dyn Fn(&[u8]) -> [u8; SEAL_BYTES]>;

/// What a sender asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// Number of the packet.
    pub sequence: u32,
    /// When it leaves, in ns since 1970 (UTC).
    pub sent_ns: u64,
    /// Number of the session.
    pub session: u16,
}

/// What a reflector answers. Times are those of its clock, in ns since 1970 (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Number of the answer: the question's, where the reflector keeps no state.
    pub sequence: u32,
    /// When the question came.
    pub received_ns: u64,
    /// When the answer leaves.
    pub sent_ns: u64,
    /// Number of the session.
    pub session: u16,
    /// Number of the question.
    pub asked: u32,
    /// Time to live or hop limit that the question came with.
    pub hops_left: u8,
}

/// Where a packet has what.
#[derive(Debug, Clone, Copy)]
struct Places {
    bytes: usize,
    time: usize,
    error: usize,
    session: usize,
    received: usize,
    asked: usize,
    asked_time: usize,
    asked_error: usize,
    hops: usize,
}

const OPEN: Places = Places {
    bytes: OPEN_BYTES,
    time: 4,
    error: 12,
    session: 14,
    received: 16,
    asked: 24,
    asked_time: 28,
    asked_error: 36,
    hops: 40,
};

const SEALED: Places = Places {
    bytes: SEALED_BYTES,
    time: 16,
    error: 24,
    session: 26,
    received: 32,
    asked: 48,
    asked_time: 64,
    asked_error: 72,
    hops: 80,
};

impl Places {
    const fn of(seal: Seal<'_>) -> Self {
        if seal.is_some() { SEALED } else { OPEN }
    }
}

/// Writes a question; the octets behind it are padding, which stays. `None` if it does not fit.
pub fn ask(question: &Question, packet: &mut [u8], seal: Seal<'_>) -> Option<usize> {
    let places = Places::of(seal);
    let part = packet.get_mut(..places.bytes)?;
    part.fill(0);
    put(part, 0, question.sequence.to_be_bytes());
    put(part, places.time, ntp(question.sent_ns).to_be_bytes());
    put(part, places.error, ERROR_ESTIMATE);
    put(part, places.session, question.session.to_be_bytes());
    sealed(part, seal);
    Some(places.bytes)
}

/// Reads a question; `None` if it is none, or not authentic.
pub fn asked(packet: &[u8], seal: Seal<'_>) -> Option<Question> {
    let places = Places::of(seal);
    let part = authentic(packet, places, seal)?;
    Some(Question {
        sequence: u32::from_be_bytes(take(part, 0)?),
        sent_ns: unix(u64::from_be_bytes(take(part, places.time)?)),
        session: u16::from_be_bytes(take(part, places.session)?),
    })
}

/// Makes an answer of a question in place: it is as long as the question was, and repeats what that
/// said. `None` if the packet is no question.
pub fn answer(
    packet: &mut [u8],
    received_ns: u64,
    sent_ns: u64,
    hops_left: u8,
    seal: Seal<'_>,
) -> Option<()> {
    let places = Places::of(seal);
    authentic(packet, places, seal)?;
    let part = packet.get_mut(..places.bytes)?;
    let (sequence, time): ([u8; 4], [u8; 8]) = (take(part, 0)?, take(part, places.time)?);
    let (error, session): ([u8; 2], [u8; 2]) =
        (take(part, places.error)?, take(part, places.session)?);
    part.fill(0);
    put(part, 0, sequence);
    put(part, places.time, ntp(sent_ns).to_be_bytes());
    put(part, places.error, ERROR_ESTIMATE);
    put(part, places.session, session);
    put(part, places.received, ntp(received_ns).to_be_bytes());
    put(part, places.asked, sequence);
    put(part, places.asked_time, time);
    put(part, places.asked_error, error);
    put(part, places.hops, [hops_left]);
    sealed(part, seal);
    Some(())
}

/// Reads an answer; `None` if it is none, or not authentic.
pub fn answered(packet: &[u8], seal: Seal<'_>) -> Option<Answer> {
    let places = Places::of(seal);
    let part = authentic(packet, places, seal)?;
    let is_ptp = part.get(places.error)? & OF_PTP != 0;
    let time = |at| {
        let time = u64::from_be_bytes(take(part, at)?);
        Some(if is_ptp { ptp(time) } else { unix(time) })
    };
    Some(Answer {
        sequence: u32::from_be_bytes(take(part, 0)?),
        received_ns: time(places.received)?,
        sent_ns: time(places.time)?,
        session: u16::from_be_bytes(take(part, places.session)?),
        asked: u32::from_be_bytes(take(part, places.asked)?),
        hops_left: *part.get(places.hops)?,
    })
}

impl Answer {
    /// The round trip without what the reflector took, in ns: by this end's clock from `sent_ns` to
    /// `received_ns`, and by the reflector's between. Never below 0.
    pub fn round_trip_ns(&self, sent_ns: u64, received_ns: u64) -> u64 {
        received_ns.saturating_sub(sent_ns).saturating_sub(self.held_ns())
    }

    /// How long the reflector had the packet, by its clock, in ns. Never below 0.
    pub fn held_ns(&self) -> u64 {
        self.sent_ns.saturating_sub(self.received_ns)
    }
}

/// The part of a packet that the base specification has, if it is authentic.
fn authentic<'a>(packet: &'a [u8], places: Places, seal: Seal<'_>) -> Option<&'a [u8]> {
    let part = packet.get(..places.bytes)?;
    let Some(seal) = seal else { return Some(part) };
    let expected = seal(part.get(..SEALED_PART)?);
    // All octets are looked at, however early one differs.
    let found = part.get(SEALED_PART..)?;
    let off = expected.iter().zip(found).fold(0, |off, (a, b)| off | (a ^ b));
    (off == 0).then_some(part)
}

fn sealed(part: &mut [u8], seal: Seal<'_>) {
    if let Some(seal) = seal {
        let found = seal(&part[..SEALED_PART]);
        put(part, SEALED_PART, found);
    }
}

fn put<const N: usize>(part: &mut [u8], at: usize, octets: [u8; N]) {
    if let Some(place) = part.get_mut(at..at + N) {
        place.copy_from_slice(&octets);
    }
}

fn take<const N: usize>(part: &[u8], at: usize) -> Option<[u8; N]> {
    part.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// A time in NTP's form: seconds since 1900, and a fraction of 32 bits (RFC 5905), which begins
/// anew in 2036.
fn ntp(unix_ns: u64) -> u64 {
    let (seconds, rest) = (unix_ns / NS_PER_S + EPOCH_S, unix_ns % NS_PER_S);
    // Rounded up, so that the way back gives the same ns.
    let fraction = (rest << 32).div_ceil(NS_PER_S);
    ((seconds & u64::from(u32::MAX)) << 32) | fraction.min(u32::MAX.into())
}

/// A time in PTP's form: seconds since 1970, and nanoseconds.
fn ptp(time: u64) -> u64 {
    (time >> 32).saturating_mul(NS_PER_S).saturating_add(time & u64::from(u32::MAX))
}

/// The same back. Seconds before 1968 are those after 2036 (RFC 4330 section 3).
fn unix(ntp: u64) -> u64 {
    let (seconds, fraction) = (ntp >> 32, ntp & u64::from(u32::MAX));
    let seconds = if seconds >> 31 == 0 { seconds + (1 << 32) } else { seconds };
    let rest = (fraction * NS_PER_S) >> 32;
    seconds.saturating_sub(EPOCH_S).saturating_mul(NS_PER_S).saturating_add(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seal(octets: &[u8]) -> [u8; SEAL_BYTES] {
        let sum = octets.iter().fold(7_u8, |sum, octet| sum.wrapping_mul(31).wrapping_add(*octet));
        [sum; SEAL_BYTES]
    }

    const SEALS: [Seal<'static>; 2] = [None, Some(&seal)];

    #[test]
    fn questions_and_answers_have_their_octets_where_the_rfc_has_them() {
        let question = Question { sequence: 0x0102_0304, sent_ns: 1_500_000_000, session: 0x0506 };
        let mut packet = [0xff; 60];
        assert_eq!(ask(&question, &mut packet, None), Some(44));
        assert_eq!(packet[..4], [1, 2, 3, 4]);
        // One and a half seconds after the beginning of 1970.
        assert_eq!(packet[4..12], [0x83, 0xaa, 0x7e, 0x81, 0x80, 0, 0, 0]);
        assert_eq!((&packet[12..16], &packet[16..44]), (&[6, 8, 5, 6][..], &[0; 28][..]));
        assert_eq!(packet[44..], [0xff; 16]);
        answer(&mut packet, 2_000_000_000, 3_000_000_000, 61, None).unwrap();
        assert_eq!(packet[24..28], [1, 2, 3, 4]);
        assert_eq!((packet[31], packet[40], packet[43]), (0x81, 61, 0));
        let found = answered(&packet, None).unwrap();
        let expected = Answer {
            sequence: 0x0102_0304,
            received_ns: 2_000_000_000,
            sent_ns: 3_000_000_000,
            session: 0x0506,
            asked: 0x0102_0304,
            hops_left: 61,
        };
        assert_eq!(found, expected);
        // 2.5 s by our clock, of which the reflector had the packet for one.
        assert_eq!(found.round_trip_ns(1_500_000_000, 4_000_000_000), 1_500_000_000);
    }

    /// A hold of 200 µs that crosses a second.
    #[test]
    fn a_reflector_may_give_times_as_ptp_does() {
        let question = Question { sequence: 1, sent_ns: 5, session: 2 };
        let mut packet = [0; OPEN_BYTES];
        ask(&question, &mut packet, None).unwrap();
        answer(&mut packet, 1, 2, 61, None).unwrap();
        let time = |seconds: u64, ns: u64| ((seconds << 32) | ns).to_be_bytes();
        packet[4..12].copy_from_slice(&time(1_700_000_001, 150_000));
        packet[12] = OF_PTP | 6;
        packet[16..24].copy_from_slice(&time(1_700_000_000, 999_950_000));
        let found = answered(&packet, None).unwrap();
        assert_eq!((found.held_ns(), found.sent_ns), (200_000, 1_700_000_001_000_150_000));
    }

    #[test]
    fn what_was_changed_on_the_way_is_none() {
        let question = Question { sequence: 1, sent_ns: 5, session: 2 };
        let mut packet = [0; SEALED_BYTES];
        assert_eq!(ask(&question, &mut packet, SEALS[1]), Some(SEALED_BYTES));
        assert_eq!(asked(&packet, SEALS[1]).map(|q| q.sequence), Some(1));
        packet[3] ^= 4;
        assert_eq!(asked(&packet, SEALS[1]), None);
        assert_eq!(answer(&mut packet, 1, 2, 3, SEALS[1]), None);
        assert_eq!(asked(&packet[..43], None), None);
    }

    proptest! {
        #[test]
        fn any_octets_are_read_without_trouble(
            packet in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            for seal in SEALS {
                let _ = (asked(&packet, seal), answered(&packet, seal));
                let mut copy = packet.clone();
                let _ = answer(&mut copy, 1, u64::MAX, 0, seal);
                prop_assert_eq!(copy.len(), packet.len());
            }
        }

        #[test]
        fn times_come_back_to_the_ns(ns in 0_u64..4_000_000_000_000_000_000) {
            prop_assert_eq!(unix(ntp(ns)), ns);
        }

        #[test]
        fn what_is_asked_is_read(sequence: u32, session: u16, sent_ns in 0_u64..1 << 61) {
            let question = Question { sequence, sent_ns, session };
            for seal in SEALS {
                let mut packet = [0; SEALED_BYTES];
                ask(&question, &mut packet, seal).unwrap();
                prop_assert_eq!(asked(&packet, seal), Some(question));
            }
        }
    }
}
