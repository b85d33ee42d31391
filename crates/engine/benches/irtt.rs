//! Probes against irtt, which also paces UDP packets and has them returned with times: the same
//! packets at the same pace over the same virtual cable, in turns, each end on its processor; then
//! what both count on a way that loses, doubles and swaps the same packets of both. Needs
//! irtt and user namespaces; without them it says so and fails.
//!
//! `cargo bench -p v6gap-engine --bench irtt`; words behind `--` choose comparisons by their names.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program of its own, which starts another one and prints"
)]

mod common;

use common::relay::{self, Fate, Rule};
use common::{Bed, Outcome, Peer, Service, compare, judge, microseconds, output, slice, wanted};
use std::net::SocketAddr;
use std::process::Command;
use v6gap_core::arm::PerArm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::Measured;
use v6gap_core::wire::datagram::{Flags, Header};
use v6gap_core::workload::{Law, Probe, Transport, Workload};

/// Pairs of trials for each comparison.
const PAIRS: usize = 8;

/// Packets of a trial, one each millisecond.
const PACKETS: u32 = 2000;

/// UDP payload of a packet, in bytes.
const PAYLOAD: u32 = 64;

/// The port of irtt.
const PORT: u16 = 2112;

/// Half of the packets, and all but one in a hundred, take no longer, in s.
struct Quantiles {
    p50: f64,
    p99: f64,
}

fn main() {
    common::run("no comparison with irtt", bench);
}

fn bench() -> Outcome {
    let bed = Bed::new()?;
    let [v4, v6] =
        [bed.addresses.v4, bed.addresses.v6].map(|ip| SocketAddr::new(ip, PORT).to_string());
    let both = format!("{v4},{v6}");
    let place = bed.processors.1.to_string();
    let server = ["-c", &place, "irtt", "server", "-i", "0", "-d", "0", "-b", &both];
    let peer = Peer::start(bed.far()?, "taskset", &server)?;
    for family in Family::BOTH {
        let address = SocketAddr::new(*bed.addresses.get(family), PORT);
        peer.wait_until_bound(bed.far()?, Transport::Udp, address)?;
    }
    let mut short = Vec::new();
    type Pick = fn(Quantiles) -> f64;
    let picks: [(&str, Pick); 2] = [("p50", |q| q.p50), ("p99", |q| q.p99)];
    for family in Family::BOTH {
        for (quantile, pick) in picks {
            let name = format!("{family}, {quantile}");
            if !wanted(&name) {
                continue;
            }
            let ours = || ours(&bed, family).map(pick);
            let theirs = || theirs(&bed, family).map(pick);
            let ratio = compare(&name, PAIRS, microseconds, ours, theirs)?;
            if ratio.median >= 1.0 {
                short.push(format!("{name}: {:.3} is not below 1", ratio.median));
            }
        }
    }
    for family in Family::BOTH {
        let name = format!("{family}, counts on a lossy way");
        if wanted(&name) {
            let (ours, theirs) = (our_counts(family)?, their_counts(family)?);
            println!("{name}: v6gap {ours:?}, theirs {theirs:?}");
            if ours.seen() != theirs.seen() {
                short.push(format!("{name}: they differ"));
            }
        }
    }
    judge(&short)
}

/// Packets of a trial on a lossy way, far enough apart for both programs to send every one.
const COUNTED: u32 = 500;

/// Time between two of them, in ns.
const COUNTED_INTERVAL_NS: u64 = 4_000_000;

/// Packets that went missing on either way, and that came back twice and too late.
#[derive(Debug)]
struct Counts {
    lost_there: u64,
    lost_back: u64,
    duplicates: u64,
    reordered: u64,
}

impl Counts {
    /// What the client can see itself: lost on either way, twice, and out of order. How irtt splits
    /// the lost rests on the last count that its client heard of, and is one off now and then.
    fn seen(&self) -> [u64; 3] {
        [self.lost_there + self.lost_back, self.duplicates, self.reordered]
    }
}

const LOST_THERE: Rule = |number| if number % 10 == 3 { Fate::Lose } else { Fate::Pass };

const HARMED_BACK: Rule = |number| match number % 20 {
    1 | 2 => Fate::Lose,
    6 => Fate::Swap,
    11 | 13 | 15 => Fate::Double,
    _ => Fate::Pass,
};

fn our_counts(family: Family) -> Outcome<Counts> {
    let service = Service::new();
    let probe = Probe {
        payload_bytes: PAYLOAD,
        law: Law::Constant,
        interval_ns: COUNTED_INTERVAL_NS,
        turn_packets: COUNTED / 2,
        turns: 1,
        ..Probe::default()
    };
    let task = slice(Workload::Probe(probe), PerArm::null(family));
    let is_data = |packet: &[u8]| Header::decode(packet).is_some_and(|h| h.flags == Flags::NONE);
    let rules = [LOST_THERE, HARMED_BACK];
    let (client, server) = relay::through(service.datagrams(), rules, is_data, |addresses| {
        service.perform(&task, &Service::context_at(addresses))
    });
    let mut counts = Counts { lost_there: 0, lost_back: 0, duplicates: 0, reordered: 0 };
    for ((_, client), (_, server)) in client?.into_iter().zip(server?) {
        let (Measured::Probed(probed), Measured::Returned(returned)) =
            (client.measured, server.measured)
        else {
            return Err("no probes were reported".into());
        };
        counts.lost_there += probed.sent - returned.there.packets;
        counts.lost_back += returned.returned - probed.back.packets;
        counts.duplicates += probed.back.duplicates;
        counts.reordered += probed.back.reordered;
    }
    Ok(counts)
}

fn their_counts(family: Family) -> Outcome<Counts> {
    let server = SocketAddr::new(family.loopback(), PORT);
    let args = ["server", "-i", "0", "-d", "0", "-b", &server.to_string()];
    let peer = Peer::start_here("irtt", &args)?;
    peer.wait_until_bound_here(Transport::Udp, server)?;
    // Its packets begin with a magic number of three bytes, then the flags: 1 opens, 4 closes.
    let is_data = |packet: &[u8]| packet.get(3).is_some_and(|flags| flags & 0b101 == 0);
    let servers = PerFamily::from_fn(|f| SocketAddr::new(f.loopback(), PORT));
    let said = relay::through(servers, [LOST_THERE, HARMED_BACK], is_data, |addresses| {
        let interval = format!("{}us", COUNTED_INTERVAL_NS / 1000);
        let time = format!("{}us", COUNTED_INTERVAL_NS / 1000 * u64::from(COUNTED));
        let mut command = Command::new("irtt");
        command.args(["client", "-Q", "-o", "-", "-i", &interval, "-d", &time, "--wait=300ms"]);
        command.args(["-l", &PAYLOAD.to_string(), &addresses.get(family).to_string()]);
        command.output()
    })?;
    drop(peer);
    let report: serde_json::Value = serde_json::from_slice(&said.stdout)?;
    let count = |key: &str| report["stats"][key].as_u64().ok_or("irtt gave no count");
    let (there, duplicates) = (count("server_packets_received")?, count("duplicates")?);
    Ok(Counts {
        lost_there: count("packets_sent")? - there,
        // Those that came twice are among the received.
        lost_back: there + duplicates - count("packets_received")?,
        duplicates,
        reordered: count("late_packets")?,
    })
}

/// One of our trials: both arms are of the same family and make one stream together. Round trips
/// are those from the actual time of sending, as irtt has them.
fn ours(bed: &Bed, family: Family) -> Outcome<Quantiles> {
    let probe = Probe {
        payload_bytes: PAYLOAD,
        law: Law::Constant,
        turn_packets: PACKETS / 2,
        turns: 1,
        ..Probe::default()
    };
    let task = slice(Workload::Probe(probe), PerArm::null(family));
    let mut all: Vec<(u64, u64)> = Vec::new();
    for ends in bed.perform(&task)? {
        let Measured::Probed(probed) = ends.client.measured else {
            return Err("no probes were reported".into());
        };
        let lost = probed.round_trip_sent.lost;
        if lost > 0 {
            return Err(format!("{lost} probes were lost on a cable").into());
        }
        all.extend(probed.round_trip_sent.histogram.iter());
    }
    all.sort_unstable();
    let count: u64 = all.iter().map(|(_, count)| count).sum();
    let at = |percent: u64| {
        let rank = (count * percent).div_ceil(100);
        let mut below = 0;
        let found = all.iter().find(|(_, count)| {
            below += count;
            below >= rank
        });
        found.map(|&(ns, _)| ns as f64 / 1e9).ok_or("no round trips")
    };
    Ok(Quantiles { p50: at(50)?, p99: at(99)? })
}

/// One trial of irtt, by the times of its single packets.
fn theirs(bed: &Bed, family: Family) -> Outcome<Quantiles> {
    let host = SocketAddr::new(*bed.addresses.get(family), PORT).to_string();
    let (place, time) = (bed.processors.0.to_string(), format!("{PACKETS}ms"));
    let length = PAYLOAD.to_string();
    let pinned = ["-c", &place, "irtt", "client", "-Q", "-o", "-", "-i", "1ms"];
    let rest = ["-d", &time, "-l", &length, "--wait=100ms", &host];
    let said = output(bed.near()?, "taskset", &[&pinned[..], &rest[..]].concat())?;
    let report: serde_json::Value = serde_json::from_str(&said)?;
    let trips = report["round_trips"].as_array().ok_or("irtt reports no round trips")?;
    let mut times: Vec<f64> =
        trips.iter().filter_map(|trip| trip["delay"]["rtt"].as_f64()).collect();
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| {
        let rank = (times.len() * percent).div_ceil(100);
        times.get(rank.saturating_sub(1)).map(|ns| ns / 1e9).ok_or("irtt lost every packet")
    };
    Ok(Quantiles { p50: at(50)?, p99: at(99)? })
}
