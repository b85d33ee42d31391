//! From what both ends noted of probes to what is stored of them.

use crate::hot::probe::{Back, ClientNotes, ServerNotes, There};
use crate::trial::times::times;
use std::collections::BTreeMap;
use v6gap_core::ippm::percentile::{median, percentile};
use v6gap_core::ippm::stream::{Packet, Reception, Rules, TIME_NS_MAX, reception};
use v6gap_core::observation::{Delay, OneWay, Probed, Returned, Times};
use v6gap_core::wire::probe::Marks;
use v6gap_core::workload::{Marking, Probe};

/// 99.9 %, in millionths.
const P999: u32 = 999_000;

/// Times between the kernel and the program above this are those of a clock that was set.
const KERNEL_NS_MAX: u64 = 10_000_000_000;

/// What the client of `probe` saw of one arm.
pub(super) fn probed(probe: &Probe, notes: &ClientNotes) -> Probed {
    let firsts = first_backs(notes);
    let in_time = |back: &&Back| {
        let sent = &notes.sent[back.sequence as usize];
        back.came_ns.saturating_sub(sent.sent_ns) <= probe.timeout_ns
    };
    let timely: Vec<&Back> = firsts.iter().copied().filter(in_time).collect();
    let lost = (notes.sent.len() - timely.len()) as u64;
    let since = |from: fn(&ClientNotes, &Back) -> u64| -> Vec<u64> {
        timely.iter().map(|back| from(notes, back)).collect()
    };
    let ends = turn_ends(&timely);
    let due = since(|n, b| b.came_ns.saturating_sub(n.sent[b.sequence as usize].due_ns));
    let sent = since(|n, b| b.came_ns.saturating_sub(n.sent[b.sequence as usize].sent_ns));
    let server = since(|_, b| b.times.returned_ns.saturating_sub(b.times.received_ns));
    let late: Vec<u64> = notes.sent.iter().map(|s| s.sent_ns.saturating_sub(s.due_ns)).collect();
    let outside = timely.iter().filter_map(|b| {
        between(notes.sent[b.sequence as usize].departed_wall_ns, b.kernel_wall_ns)
    });
    Probed {
        sent: notes.sent.len() as u64,
        skipped: notes.skipped,
        sent_late: late.iter().filter(|&&ns| ns >= probe.interval_ns).count() as u64,
        round_trip: times(&due, &ends, lost),
        round_trip_sent: times(&sent, &[], lost),
        lateness: times(&late, &[], 0),
        server: times(&server, &[], lost),
        outside: some_times(outside.collect()),
        back: OneWay {
            kernel: some_times(
                timely.iter().filter_map(|b| between(b.kernel_wall_ns, b.wall_ns)).collect(),
            ),
            beyond: notes.beyond,
            ..one_way(probe, notes.back.iter().map(|b| (packet_back(b), b.marks)))
        },
        load: None,
    }
}

/// What the server of `probe` saw of one arm.
pub(super) fn returned(probe: &Probe, notes: &ServerNotes) -> Returned {
    let there = &notes.there;
    let inside = there.iter().filter_map(|t| between(t.kernel_wall_ns, t.departed_wall_ns));
    Returned {
        returned: u64::from(notes.returned),
        refused: notes.refused,
        inside: some_times(inside.collect()),
        there: OneWay {
            kernel: some_times(
                there.iter().filter_map(|t| between(t.kernel_wall_ns, t.wall_ns)).collect(),
            ),
            beyond: notes.beyond,
            ..one_way(probe, there.iter().map(|t| (packet_there(t), t.marks)))
        },
        load: None,
    }
}

/// The first copy of each packet that came back, in the order of sending.
fn first_backs(notes: &ClientNotes) -> Vec<&Back> {
    let mut backs: Vec<&Back> = notes.back.iter().collect();
    backs.sort_by_key(|back| back.sequence);
    backs.dedup_by_key(|back| back.sequence);
    backs
}

/// How many of `backs`, in the order of sending, there are at the end of each turn that has any.
fn turn_ends(backs: &[&Back]) -> Vec<usize> {
    let mut end = 0;
    let ends = backs.chunk_by(|a, b| a.turn == b.turn).map(|turn| {
        end += turn.len();
        end
    });
    ends.collect()
}

/// From one time of the wall clock to a later one; `None` if either is not known or the clock was
/// set in between.
fn between(from_ns: u64, to_ns: u64) -> Option<u64> {
    let known = from_ns > 0 && to_ns > 0;
    to_ns.checked_sub(from_ns).filter(|&ns| known && ns <= KERNEL_NS_MAX)
}

fn some_times(samples: Vec<u64>) -> Option<Times> {
    (!samples.is_empty()).then(|| times(&samples, &[], 0))
}

fn packet_back(back: &Back) -> Packet {
    Packet {
        number: back.times.number,
        stretch: back.turn,
        path: back.marks.hop_limit.unwrap_or(0),
        sent_ns: signed(back.times.returned_ns),
        came_ns: signed(back.stamp_ns),
    }
}

fn packet_there(there: &There) -> Packet {
    Packet {
        number: there.sequence,
        stretch: there.turn,
        path: there.marks.hop_limit.unwrap_or(0),
        sent_ns: signed(there.sent_ns),
        came_ns: signed(there.stamp_ns),
    }
}

fn signed(time_ns: u64) -> i64 {
    i64::try_from(time_ns).unwrap_or(TIME_NS_MAX)
}

fn one_way(probe: &Probe, arrivals: impl Iterator<Item = (Packet, Marks)>) -> OneWay {
    let (packets, marks): (Vec<Packet>, Vec<Marks>) = arrivals.unzip();
    let clocks_alike = probe.clock_error_ns.is_some();
    let seen = reception(&packets, Rules { timeout_ns: probe.timeout_ns, clocks_alike });
    let without_sign: Vec<u64> = seen.ipdv_ns.iter().map(|ns| ns.unsigned_abs()).collect();
    let mut above: Vec<i64> = seen.pdv_ns.iter().map(|&ns| signed(ns)).collect();
    above.sort_unstable();
    OneWay {
        packets: seen.packets,
        late: seen.late,
        duplicates: seen.copies.duplicates,
        duplicated: seen.copies.duplicated,
        reordered: seen.reordered,
        reordering_extent: seen.extent_max,
        reordered_for_tcp: seen.reordered_for_tcp,
        ipdv: times(&without_sign, &[], 0),
        pdv: times(&seen.pdv_ns, &[], 0),
        pdv_p999_ns: percentile(&above, 0, P999).map_or(0, i64::unsigned_abs),
        jitter_ns: seen.jitter_ns,
        skew_ppm: seen.skew_ppm,
        skew_removed: seen.skew_removed,
        delay: probe.clock_error_ns.and_then(|error_ns| delay(&seen, error_ns)),
        hop_limits: counted(marks.iter().filter_map(|m| m.hop_limit)),
        traffic_classes: counted(marks.iter().filter_map(|m| m.traffic_class)),
        kernel: None,
        beyond: 0,
    }
}

/// What most packets of one direction carried when they came, if the system told.
pub(super) fn arrived(way: &OneWay) -> Option<Marking> {
    let most =
        |marks: &[(u8, u64)]| marks.iter().max_by_key(|(_, count)| *count).map(|(mark, _)| *mark);
    let (hop_limit, traffic_class) = (most(&way.hop_limits), most(&way.traffic_classes));
    let told = hop_limit.is_some() || traffic_class.is_some();
    told.then_some(Marking { traffic_class, hop_limit, ..Marking::default() })
}

fn delay(seen: &Reception, error_ns: u64) -> Option<Delay> {
    let mut delays = seen.delays_ns.clone();
    delays.sort_unstable();
    let (min_ns, max_ns) = (*delays.first()?, *delays.last()?);
    Some(Delay { min_ns, median_ns: median(&delays, 0)?, max_ns, error_ns })
}

fn counted(marks: impl Iterator<Item = u8>) -> Vec<(u8, u64)> {
    let mut counts: BTreeMap<u8, u64> = BTreeMap::new();
    marks.for_each(|mark| *counts.entry(mark).or_default() += 1);
    counts.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot::probe::Sent;

    const MS: u64 = 1_000_000;

    fn back(sequence: u32, came_ms: u64, number: u32) -> Back {
        let times = v6gap_core::wire::probe::Times {
            received_ns: 1_000,
            returned_ns: 3_000,
            number,
            ..Default::default()
        };
        Back {
            sequence,
            turn: (sequence / 2) as u16,
            came_ns: came_ms * MS,
            stamp_ns: came_ms * MS,
            wall_ns: came_ms * MS + 500,
            kernel_wall_ns: came_ms * MS + 100,
            times,
            marks: Marks { hop_limit: Some(63), traffic_class: None },
        }
    }

    /// Four packets, due each ms, one sent 2 ms late: one comes twice, one never, one too late.
    #[test]
    fn round_trips_are_told_from_both_times_of_sending() {
        let sent = |(due_ms, late_ms): (u64, u64)| {
            let (due_ns, sent_ns) = (due_ms * MS, (due_ms + late_ms) * MS);
            Sent { due_ns, sent_ns, ..Sent::default() }
        };
        let mut notes = ClientNotes::default();
        notes.sent = [(10, 0), (11, 2), (12, 0), (13, 0)].map(sent).to_vec();
        notes.back = vec![back(0, 15, 0), back(1, 18, 1), back(0, 19, 0), back(3, 3_000, 2)];
        let found = probed(&Probe::default(), &notes);
        assert_eq!((found.sent, found.sent_late), (4, 1));
        assert_eq!((found.round_trip.count, found.round_trip.lost), (2, 2));
        assert_eq!((found.round_trip.min_ns, found.round_trip.max_ns), (5 * MS, 7 * MS));
        assert_eq!(found.round_trip.turns_ns, [6e6]);
        assert_eq!((found.round_trip_sent.min_ns, found.round_trip_sent.max_ns), (5 * MS, 5 * MS));
        assert_eq!((found.server.min_ns, found.lateness.max_ns), (2_000, 2 * MS));
        assert_eq!((found.back.packets, found.back.late, found.back.duplicates), (2, 1, 1));
        assert_eq!(found.back.hop_limits, [(63, 4)]);
        assert_eq!(found.back.kernel.map(|times| times.max_ns), Some(400));
        assert_eq!(found.outside, None);
    }

    #[test]
    fn a_wall_clock_that_was_set_gives_no_times() {
        assert_eq!(between(5, 4), None);
        assert_eq!(between(0, 4), None);
        assert_eq!(between(1, 4), Some(3));
        assert_eq!(between(1, KERNEL_NS_MAX + 2), None);
    }
}
