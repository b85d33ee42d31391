//! Searching for the rate that a path carries, at both ends; either may be the one that sends.
//!
//! The datagrams are those of a bulk transfer ([`super::udp_bulk`]). The sender searches: by
//! following the receiver's reports, or by asking what became of one trial after the other.

use super::TrialError;
use super::client::ClientContext;
use super::server::DataFlows;
use super::udp_bulk::{self, Aim, Half, Reports};
use crate::hot::capacity::{self as hot, Followed, Following, Reporter};
use crate::hot::datagram_bulk::{self, Sending};
use crate::hot::pace::Pace;
use std::sync::atomic::Ordering;
use std::time::Duration;
use v6gap_core::capacity::{
    Carried, HalvingSearch, LoadSearch, PATH_MTU_USUAL, Thresholds, ip_bytes, payload_bps,
    row_up_to,
};
use v6gap_core::observation::{RateTrial, Searched, Sent};
use v6gap_core::task::Task;
use v6gap_core::wire::datagram::{Flags, Header};
use v6gap_core::wire::status::Status;
use v6gap_core::workload::law::{self, Law, Schedule, Sizes};
use v6gap_core::workload::{Capacity, Impossible, Search};
use v6gap_sys::clock;
use v6gap_sys::socket::SendBatch;

/// Time without any late datagram of a trial after which none is waited for, in ns.
const QUIET_NS: u64 = 100_000_000;

pub(super) fn client(task: &Task, search: &Capacity, context: &ClientContext) -> Reports {
    udp_bulk::client(task, &search.stream(), Aim::Search(search), context)
}

pub(super) fn server(
    task: &Task,
    search: &Capacity,
    flows: &DataFlows<'_>,
    ready: impl FnOnce(),
) -> Reports {
    udp_bulk::server(task, &search.stream(), Aim::Search(search), flows, ready)
}

/// What the receiving end tells the sending one; `dropped` is what its socket had dropped before.
pub(super) fn reporter(half: &Half<'_>, search: &Capacity, dropped: u32) -> Reporter {
    let header = half.header(Flags::STATUS);
    match search.search {
        Search::Load { .. } => Reporter::new(header, true, 0, dropped),
        Search::Halving { trial_ns, .. } => Reporter::new(header, false, trial_ns, dropped),
    }
}

/// The sending end's half, between the knock and the end message.
pub(super) fn search(
    half: &Half<'_>,
    search: &Capacity,
    batch: &mut SendBatch,
    message: &mut [u8],
) -> Result<Searched, TrialError> {
    let broken = |broken| TrialError::of(broken, half.family, Some(half.peer));
    let mtu = half.line.socket.path_mtu().unwrap_or(PATH_MTU_USUAL);
    let why = Impossible::Senseless("its payload size is out of range");
    let ip_bytes = ip_bytes(search.payload_bytes, half.family, mtu)
        .map_err(|_| TrialError::Unsuitable { number: half.task.number, why })?;
    match search.search {
        Search::Load { duration_ns } => {
            let row = row_up_to(search.rate_bps_max);
            let mut following = Following {
                search: LoadSearch::new(Thresholds::default(), row),
                ip_bytes,
                payload_bytes: search.payload_bytes,
                duration_ns,
                header: half.data(),
            };
            let mut followed = Followed::new(duration_ns);
            hot::follow(half.line, batch, &mut following, &mut followed, &half.watch)
                .map_err(broken)?;
            let Followed { sent, rates, reports, silences } = followed;
            Ok(Searched { sent, rates, reports, silences, ..Searched::default() })
        }
        Search::Halving { trial_ns, lost_ppm_max, .. } => {
            let halving = Halving { half, payload_bytes: search.payload_bytes, ip_bytes, trial_ns };
            let machine = HalvingSearch::new(search.rate_bps_max, f64::from(lost_ppm_max) / 1e6);
            halving.run(machine, batch, message).map_err(broken)
        }
    }
}

/// A search by trials at constant rates.
struct Halving<'a> {
    half: &'a Half<'a>,
    payload_bytes: u32,
    ip_bytes: u32,
    trial_ns: u64,
}

impl Halving<'_> {
    fn run(
        &self,
        mut machine: HalvingSearch,
        batch: &mut SendBatch,
        message: &mut [u8],
    ) -> Result<Searched, crate::hot::Broken> {
        let payload_share = f64::from(self.payload_bytes) / f64::from(self.ip_bytes.max(1));
        let mut all = Searched { sent: Sent::default(), ..Searched::default() };
        let mut dropped = 0;
        while let Some(rate_bps) = machine.next_bps() {
            if self.half.watch.finish.load(Ordering::Relaxed) {
                break;
            }
            // Fewer than a hundred.
            let turn = all.trials.len() as u16 + 1;
            let first = all.sent.packets;
            let payload_bps = payload_bps(rate_bps, self.payload_bytes, self.ip_bytes);
            let sent = self.trial(turn, first, payload_bps, batch)?;
            let status = self.outcome(turn, sent.packets, message)?;
            let arrived_bps = Some(status.arrived_bps as f64).filter(|&bps| bps > 0.0);
            let mut trial = RateTrial {
                rate_bps,
                sent: sent.packets,
                skipped: sent.skipped,
                arrived: u64::from(status.packets),
                dropped: u64::from(status.dropped.wrapping_sub(dropped)),
                arrived_bps,
                carried: false,
            };
            dropped = status.dropped;
            let at_ip = arrived_bps.map(|bps| bps / payload_share);
            trial.carried = machine.report(Carried { loss: trial.loss(), arrived_bps: at_ip });
            all.trials.push(trial);
            add(&mut all.sent, &sent);
        }
        all.found_bps = Some(machine.found_bps() * payload_share);
        Ok(all)
    }

    /// Sends one trial, whose datagrams are numbered from `first` on.
    fn trial(
        &self,
        turn: u16,
        first: u64,
        payload_bps: u64,
        batch: &mut SendBatch,
    ) -> Result<Sent, crate::hot::Broken> {
        let pace = law::Pace::BitsPerSecond(payload_bps);
        let schedule = Schedule::new(Law::Constant, Sizes::Fixed, self.payload_bytes, pace, 0);
        let slots = batch.slots() as u64;
        let mut sending = Sending {
            pace: Some(Pace::new(clock::now_ns(), schedule, self.trial_ns, slots)),
            duration_ns: self.trial_ns,
            packets_max: u64::MAX,
            // The number wraps; the receiver knows which one is meant.
            header: Header { turn, sequence: first as u32, ..self.half.data() },
        };
        let outcome =
            datagram_bulk::send(self.half.line.socket, batch, &mut sending, &self.half.watch)?;
        Ok(outcome.sent)
    }

    /// What became of a trial, once all of it has come or nothing late does any more.
    fn outcome(
        &self,
        turn: u16,
        sent: u64,
        message: &mut [u8],
    ) -> Result<Status, crate::hot::Broken> {
        let until_ns = clock::now_ns().saturating_add(Capacity::SETTLE_NS_MAX);
        let mut before: Option<Status> = None;
        for number in 0.. {
            let header = Header { turn, sequence: number, ..self.half.header(Flags::STATUS) };
            let status = hot::ask_status(self.half.line, message, header, &self.half.watch)?;
            let all = u64::from(status.packets) >= sent;
            let same = before.is_some_and(|before| before.packets == status.packets);
            if all || same || clock::now_ns() >= until_ns {
                return Ok(status);
            }
            before = Some(status);
            clock::rest(Duration::from_nanos(QUIET_NS));
        }
        Ok(before.unwrap_or_default())
    }
}

/// Adds what one trial sent to what all did.
fn add(all: &mut Sent, one: &Sent) {
    all.bytes += one.bytes;
    all.packets += one.packets;
    all.span_ns += one.span_ns;
    all.skipped += one.skipped;
    all.blocked_ns = Some(all.blocked_ns.unwrap_or(0) + one.blocked_ns.unwrap_or(0));
}
