//! Probes against irtt, which also paces UDP packets and has them returned with times: the same
//! packets at the same pace over the same virtual cable, in turns, each end on its processor. Needs
//! irtt and user namespaces; without them it says so and fails.
//!
//! `cargo bench -p v6gap-engine --bench irtt`; words behind `--` choose comparisons by their names.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program of its own, which starts another one and prints"
)]

mod common;

use common::{Bed, Outcome, Peer, compare, judge, microseconds, output, slice, wanted};
use std::net::SocketAddr;
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::observation::Measured;
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
    judge(&short)
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
        all.extend(probed.round_trip_sent.histogram);
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
