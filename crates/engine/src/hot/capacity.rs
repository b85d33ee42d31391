//! Searching for the rate that a path carries: the receiver's reports, the sender that follows them
//! (RFC 9097 section 8.1), and the question what became of one trial.
//!
//! Reports come from the network. They move the rate within the bounds of the task and do nothing
//! else; a receiver sends no more bytes than it got.

use super::datagram_bulk::{self, Came, Line};
use super::pace::{Pace, Step};
use super::sequence::{Arrival, Sequence};
use super::series::Series;
use super::{Broken, Cause, Watch};
use std::sync::atomic::Ordering;
use v6gap_core::capacity::{Feedback, LoadSearch, REPORT_NS, payload_bps};
use v6gap_core::observation::Sent;
use v6gap_core::wire::datagram::{Flags, Header};
use v6gap_core::wire::status::{self, STATUS_BYTES, Status};
use v6gap_core::workload::law::{self, Law, Schedule, Sizes};
use v6gap_sys::clock;
use v6gap_sys::socket::SendBatch;

/// How often a sender looks for reports, in ns.
const LOOK_NS: u64 = 1_000_000;

/// Messages taken in one look; more would keep the sender from sending.
const LOOKS_MAX: u32 = 64;

/// Delays beyond this are not of a path, in ns; the bound keeps their sum in its type.
const DELAY_NS_MAX: i64 = 100_000_000_000;

/// What a receiver tells of datagrams; made before the loop.
#[derive(Debug)]
pub struct Reporter {
    header: Header,
    /// Time from one report to the next, in ns; `None` if it reports only when asked.
    every_ns: Option<u64>,
    due_ns: Option<u64>,
    /// Bytes that came and were not yet sent back.
    credit_bytes: u64,
    delays: Delays,
    /// Drops of the socket before the first datagram.
    dropped_before: u32,
    turn: u16,
    turn_packets: u32,
    turn_series: Series,
    turn_ns: u64,
}

impl Reporter {
    /// Reports with this header's tag, every 50 ms or when asked. `turn_ns` is the length of a
    /// trial, 0 if there are none; `dropped` what the socket had dropped before.
    pub fn new(header: Header, periodic: bool, turn_ns: u64, dropped: u32) -> Self {
        Reporter {
            header,
            every_ns: periodic.then_some(REPORT_NS),
            due_ns: None,
            credit_bytes: 0,
            delays: Delays::default(),
            dropped_before: dropped,
            turn: 0,
            turn_packets: 0,
            turn_series: Series::new(turn_ns),
            turn_ns,
        }
    }

    /// Notes a datagram that came.
    #[inline]
    pub(super) fn note(&mut self, now_ns: u64, header: &Header, datagram: &[u8], came: Arrival) {
        self.credit_bytes += datagram.len() as u64;
        if self.every_ns.is_some() {
            if let Some(sent_ns) = status::decode_sent(datagram) {
                self.delays.add(now_ns.wrapping_sub(sent_ns) as i64);
            }
            self.due_ns.get_or_insert(now_ns + REPORT_NS);
            return;
        }
        self.turn_to(header.turn);
        // Late ones of the trial before are of no use to anybody.
        if header.turn == self.turn && came == Arrival::New {
            self.turn_packets += 1;
            self.turn_series.add(now_ns, datagram.len() as u64);
        }
    }

    /// Sends a report if it is time, anything came, and the bytes of it do.
    #[inline]
    pub(super) fn tell(&mut self, now_ns: u64, line: Line<'_>, sequence: &Sequence) {
        let (Some(every_ns), Some(due_ns)) = (self.every_ns, self.due_ns) else { return };
        if now_ns < due_ns || self.delays.count == 0 {
            return;
        }
        self.due_ns = Some((due_ns + every_ns).max(now_ns));
        let header = Header { flags: Flags::STATUS, ..self.header };
        self.header.sequence = self.header.sequence.wrapping_add(1);
        self.send(header, line, sequence);
        self.delays.next();
    }

    /// Answers the request for a report with one that is no longer.
    pub(super) fn answer(
        &mut self,
        request: Header,
        bytes: usize,
        line: Line<'_>,
        sequence: &Sequence,
    ) {
        self.credit_bytes += bytes as u64;
        // Nothing may have come of a whole trial.
        self.turn_to(request.turn);
        if self.every_ns.is_none() && request.turn == self.turn {
            self.send(request, line, sequence);
        }
    }

    fn turn_to(&mut self, turn: u16) {
        if turn > self.turn {
            self.turn = turn;
            self.turn_packets = 0;
            self.turn_series.clear();
        }
    }

    fn send(&mut self, header: Header, line: Line<'_>, sequence: &Sequence) {
        let Some(credit_bytes) = self.credit_bytes.checked_sub(STATUS_BYTES as u64) else { return };
        self.credit_bytes = credit_bytes;
        let dropped = line.socket.drops().unwrap_or(self.dropped_before);
        let arrived = self.turn_series.rate_bps(self.turn_ns / 10, self.turn_ns);
        let status = Status {
            packets: self.turn_packets,
            // Counts wrap; their differences are what is looked at.
            missing: sequence.missing() as u32,
            disordered: (sequence.reordered + sequence.duplicates) as u32,
            dropped: dropped.wrapping_sub(self.dropped_before),
            delay_us: self.delays.mean_us(),
            arrived_bps: arrived.map_or(0, |bps| bps as u64),
        };
        let mut message = [0; STATUS_BYTES];
        line.said(header).encode(&mut message);
        status.encode(&mut message);
        // What cannot be sent is as good as lost on the way: the sender asks again or does without.
        let _ = line.send(&message);
    }
}

/// One-way delays by two clocks: only what they are above the smallest means anything.
#[derive(Debug, Default)]
struct Delays {
    first_ns: Option<i64>,
    least_ns: i64,
    sum_ns: i64,
    count: u32,
}

impl Delays {
    #[inline]
    fn add(&mut self, delay_ns: i64) {
        let first_ns = *self.first_ns.get_or_insert(delay_ns);
        let beyond_ns = delay_ns.wrapping_sub(first_ns).clamp(-DELAY_NS_MAX, DELAY_NS_MAX);
        self.least_ns = self.least_ns.min(beyond_ns);
        self.sum_ns = self.sum_ns.saturating_add(beyond_ns);
        self.count += 1;
    }

    /// Mean of those since the last report above the smallest of all, in µs.
    fn mean_us(&self) -> u32 {
        if self.count == 0 {
            return 0;
        }
        let mean_ns = self.sum_ns / i64::from(self.count) - self.least_ns;
        u32::try_from(mean_ns.max(0) / 1000).unwrap_or(u32::MAX)
    }

    fn next(&mut self) {
        (self.sum_ns, self.count) = (0, 0);
    }
}

/// What a sender that follows reports is to do.
#[derive(Debug)]
pub struct Following {
    /// Decides on the rate.
    pub search: LoadSearch,
    /// Bytes of the packets of one datagram at the IP layer.
    pub ip_bytes: u32,
    /// Payload of one datagram, in bytes.
    pub payload_bytes: u32,
    /// How long it sends, in ns.
    pub duration_ns: u64,
    /// What every datagram starts with, but for its number.
    pub header: Header,
}

/// What the sender did; made before the loop.
#[derive(Debug)]
pub struct Followed {
    /// As it is stored.
    pub sent: Sent,
    /// From when on, in ns since the start, at which rate, in bit/s of the IP layer.
    pub rates: Vec<(u64, u64)>,
    /// Reports that came.
    pub reports: u64,
    /// Times that a report was missing for too long.
    pub silences: u64,
}

impl Followed {
    /// Nothing so far, with room for the rates of so long a search.
    pub fn new(duration_ns: u64) -> Self {
        // A change for each report, or for each time that one is missing.
        let changes = (duration_ns / REPORT_NS).saturating_mul(2).saturating_add(2);
        let rates = Vec::with_capacity(usize::try_from(changes).unwrap_or(0));
        Followed { sent: Sent::default(), rates, reports: 0, silences: 0 }
    }

    fn rate(&mut self, at_ns: u64, rate_bps: u64) {
        if self.rates.len() < self.rates.capacity() {
            self.rates.push((at_ns, rate_bps));
        }
    }
}

impl Following {
    /// Datagrams at the present rate from `begin_ns` until `end_ns`.
    fn pace(&self, begin_ns: u64, end_ns: u64, catch_up: u64) -> Pace {
        let payload_bps = payload_bps(self.search.rate_bps(), self.payload_bytes, self.ip_bytes);
        let pace = law::Pace::BitsPerSecond(payload_bps);
        let schedule = Schedule::new(Law::Constant, Sizes::Fixed, self.payload_bytes, pace, 0);
        Pace::new(begin_ns, schedule, end_ns.saturating_sub(begin_ns), catch_up)
    }

    /// Time of one datagram at the present rate, in ns.
    fn gap_ns(&self) -> u64 {
        u64::from(self.ip_bytes) * 8_000_000_000 / self.search.rate_bps().max(1)
    }
}

/// What a sender knows of reports.
#[derive(Debug)]
struct Reports {
    look_ns: u64,
    last_ns: u64,
    /// The last one that was followed, and its number.
    last: Option<(u32, Status)>,
}

impl Reports {
    /// Takes what came and tells the search of the newest. One that comes sooner after the other
    /// than reports are due is passed over: what it counts is in the next one too, and nobody makes
    /// a sender hurry by reporting more often.
    fn look(
        &mut self,
        now_ns: u64,
        line: Line<'_>,
        following: &mut Following,
        followed: &mut Followed,
    ) -> Result<(), Cause> {
        self.look_ns = now_ns + LOOK_NS;
        let mut back = [0; STATUS_BYTES];
        let mut newest = self.last;
        for _ in 0..LOOKS_MAX {
            let (header, count) = match line.message(following.header.tag, &mut back)? {
                Came::Own(header, count) => (header, count),
                Came::Foreign => continue,
                Came::Nothing => break,
            };
            let status = Status::decode(&back[..count]);
            let Some(status) = status.filter(|_| header.flags == Flags::STATUS) else { continue };
            // One that was overtaken tells nothing new.
            if newest.is_none_or(|(number, _)| header.sequence.wrapping_sub(number) as i32 > 0) {
                newest = Some((header.sequence, status));
            }
        }
        if let Some((number, status)) = newest
            && newest != self.last
            && (self.last.is_none() || now_ns - self.last_ns >= REPORT_NS / 2)
        {
            let errors = |status: &Status| status.missing.wrapping_add(status.disordered);
            let before = self.last.map_or(0, |(_, status)| errors(&status));
            // What was missing may have come late since: then there are fewer.
            let more = errors(&status).wrapping_sub(before) as i32;
            let errors = u64::from(more.max(0).unsigned_abs());
            let delay_ns = u64::from(status.delay_us) * 1000;
            following.search.report(Feedback { errors, delay_ns });
            followed.reports += 1;
            (self.last, self.last_ns) = (Some((number, status)), now_ns);
        }
        // Before the first one nothing is known of how long they take.
        if self.last.is_some() && now_ns - self.last_ns >= following.search.patience_ns() {
            following.search.silence();
            followed.silences += 1;
        }
        Ok(())
    }
}

/// Sends at the rate that the reports of the other end lead to, in batches of at most the slots of
/// `batch`, until its time is over. The socket does not block.
pub fn follow(
    line: Line<'_>,
    batch: &mut SendBatch,
    following: &mut Following,
    followed: &mut Followed,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let broken = Broken::at(following.header.arm, "sending datagrams at a searched rate");
    for slot in 0..batch.slots() {
        following.header.encode(batch.slot(slot));
    }
    let start_ns = clock::now_ns();
    let end_ns = start_ns.saturating_add(following.duration_ns);
    let catch_up = batch.slots() as u64;
    let mut pace = following.pace(start_ns, end_ns, catch_up);
    followed.rate(0, following.search.rate_bps());
    let mut reports = Reports { look_ns: start_ns, last_ns: start_ns, last: None };
    let mut blocked_ns = 0;
    while !watch.finish.load(Ordering::Relaxed) {
        let now_ns = clock::now_ns();
        watch.busy(now_ns).map_err(&broken)?;
        if now_ns >= end_ns {
            break;
        }
        if now_ns >= reports.look_ns {
            let row = following.search.row();
            reports.look(now_ns, line, following, followed).map_err(&broken)?;
            if now_ns - reports.last_ns >= watch.silence_ns {
                return Err(broken(Cause::Silent));
            }
            if following.search.row() != row {
                // The new rate holds from the next datagram on, and that does not come late.
                let due_ns = pace.due_ns().min(now_ns.saturating_add(following.gap_ns()));
                followed.sent.skipped += pace.skipped;
                pace = following.pace(due_ns.max(now_ns), end_ns, catch_up);
                followed.rate(now_ns - start_ns, following.search.rate_bps());
            }
        }
        let first = match pace.step(now_ns) {
            Step::WaitUntil(due_ns) => {
                datagram_bulk::wait_until(now_ns, due_ns.min(reports.look_ns));
                continue;
            }
            // The last ones are sent; reports of them are not needed.
            Step::Done => break,
            Step::Send(first) => first,
        };
        let (count, bytes) = datagram_bulk::gather(&mut pace, first, now_ns, batch, batch.slots());
        for slot in 0..count {
            let number = followed.sent.packets.wrapping_add(slot as u64) as u32;
            let message = batch.slot(slot);
            Header::encode_sequence(number, message);
            status::encode_sent(now_ns, message);
        }
        datagram_bulk::put_batch(line.socket, batch, count, watch, &mut blocked_ns)
            .map_err(&broken)?;
        followed.sent.packets += count as u64;
        followed.sent.bytes += bytes;
        followed.sent.span_ns = now_ns - start_ns;
    }
    followed.sent.skipped += pace.skipped;
    followed.sent.blocked_ns = Some(blocked_ns);
    Ok(())
}

/// Asks the receiver what came of the trial of the header's turn, by a message that is repeated
/// until it is answered. The number in the header tells the answers apart.
pub fn ask_status(
    line: Line<'_>,
    message: &mut [u8],
    header: Header,
    watch: &Watch<'_>,
) -> Result<Status, Broken> {
    let request = Header { flags: Flags::STATUS, ..header };
    let message = (message, datagram_bulk::QUESTION);
    let answers = |back: &Header, bytes: &[u8]| Status::decode(bytes).filter(|_| *back == request);
    datagram_bulk::until_answered(line, message, request, watch, answers).map(|(told, _)| told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_told_above_the_smallest_of_all() {
        let mut delays = Delays::default();
        // The clocks differ by whatever they like.
        for ns in [5_000, 2_000, 8_000] {
            delays.add(i64::MAX.wrapping_add(ns));
        }
        assert_eq!(delays.mean_us(), 3);
        delays.next();
        assert_eq!((delays.count, delays.mean_us()), (0, 0));
        delays.add(i64::MAX.wrapping_add(12_000));
        assert_eq!(delays.mean_us(), 10);
        for hostile in [i64::MIN, i64::MAX, 0] {
            delays.add(hostile);
        }
        assert!(delays.mean_us() <= 4 * (DELAY_NS_MAX / 1000) as u32);
    }
}
