//! Datagrams that arrive per second against iperf3 and iperf over the same virtual cable, in turns.
//! Like for like is one datagram a call at both ends; batches and offload are what else the kernel
//! offers. Needs both programs and user namespaces; without them it says so and fails.
//!
//! `cargo bench -p v6gap-engine --bench udp`; words behind `--` choose comparisons by their names,
//! as in `-- "IPv6, 64 B"`.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program of its own, which starts another one and prints"
)]

mod common;

use common::{Bed, Outcome, Peer, S, at_least, compare, judge, output};
use std::net::SocketAddr;
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::workload::{Asked, Transport, UdpBulk, Workload};

/// Pairs of transfers for each comparison.
const PAIRS: usize = 7;

/// The port of iperf3.
const PORT: u16 = 5201;

/// How we send: a name, datagrams of one call, offload, and the least ratio by payload size.
struct Manner {
    name: &'static str,
    batch: u16,
    offload: bool,
    least: fn(u32) -> f64,
}

const MANNERS: [Manner; 3] = [
    Manner { name: "one a call", batch: 1, offload: false, least: |_| 1.0 },
    Manner { name: "batches", batch: 64, offload: false, least: |_| 1.0 },
    Manner {
        name: "batches, offload",
        batch: 64,
        offload: true,
        least: |bytes| if bytes == 64 { 2.0 } else { 1.0 },
    },
];

fn main() {
    common::run("no comparison with iperf3 over UDP", bench);
}

fn bench() -> Outcome {
    let bed = Bed::new()?;
    let peer = Peer::start(bed.far()?, "iperf3", &["-s"])?;
    for family in Family::BOTH {
        let address = SocketAddr::new(*bed.addresses.get(family), PORT);
        peer.wait_until_bound(bed.far()?, Transport::Tcp, address)?;
    }
    let mut short = Vec::new();
    for payload_bytes in [64, 1400] {
        for manner in &MANNERS {
            for family in Family::BOTH {
                let name = format!("{family}, {payload_bytes} B, {}", manner.name);
                if !common::wanted(&name) {
                    continue;
                }
                let bulk = ours(payload_bytes, manner);
                let value =
                    || bed.value(Workload::UdpBulk(bulk.clone()), family, Metric::PacketRate);
                let theirs = || iperf3(&bed, family, payload_bytes);
                let ratio = compare(&name, PAIRS, kilopackets, value, theirs)?;
                at_least((manner.least)(payload_bytes), &name, ratio, &mut short);
            }
        }
    }
    against_iperf(&bed, &mut short)?;
    judge(&short)
}

/// One datagram a call at both ends. At 64 B the server of iperf 2.1.8 crashes, so there is no
/// ratio.
fn against_iperf(bed: &Bed, short: &mut Vec<String>) -> Outcome {
    for family in Family::BOTH {
        let name = format!("{family}, 1400 B, one a call, against iperf");
        if !common::wanted(&name) {
            continue;
        }
        let bulk = ours(1400, &MANNERS[0]);
        let value = || bed.value(Workload::UdpBulk(bulk.clone()), family, Metric::PacketRate);
        let ratio = compare(&name, PAIRS, kilopackets, value, || iperf(bed, family, 1400))?;
        at_least(1.0, &name, ratio, short);
    }
    Ok(())
}

fn ours(payload_bytes: u32, manner: &Manner) -> UdpBulk {
    UdpBulk {
        payload_bytes,
        duration_ns: S + S / 4,
        warmup_ns: S / 4,
        batch: manner.batch,
        offload: manner.offload,
        asked: Asked { packet_rate: true, ..Asked::default() },
        ..UdpBulk::default()
    }
}

/// The same of iperf, whose server says lost and all in its report, as in `60713/92656 (66%)`.
fn iperf(bed: &Bed, family: Family, payload_bytes: u32) -> Outcome<f64> {
    let address = bed.addresses.get(family).to_string();
    let length = payload_bytes.to_string();
    let mut arguments = vec!["-s", "-u", "-p", "5202"];
    let mut client =
        vec!["-u", "-b", "10g", "-t", "1", "-p", "5202", "-l", &length, "-c", &address];
    if family == Family::V6 {
        arguments.push("-V");
        client.push("-V");
    }
    let peer = Peer::start(bed.far()?, "iperf", &arguments)?;
    let at = SocketAddr::new(*bed.addresses.get(family), 5202);
    peer.wait_until_bound(bed.far()?, Transport::Udp, at)?;
    let said = output(bed.near()?, "iperf", &client)?;
    let line = said.lines().rfind(|line| line.contains('(')).unwrap_or_default();
    let counts = line.split_whitespace().find_map(|word| {
        let (lost, all) = word.split_once('/')?;
        Some((lost.parse::<f64>().ok()?, all.parse::<f64>().ok()?))
    });
    let span = line.split_whitespace().find_map(|word| {
        let (from, to) = word.split_once('-')?;
        Some(to.parse::<f64>().ok()? - from.parse::<f64>().ok()?)
    });
    match (counts, span) {
        (Some((lost, all)), Some(seconds)) if seconds > 0.0 => Ok((all - lost) / seconds),
        _ => Err(format!("iperf gave no report of its server: {said}").into()),
    }
}

/// Datagrams per s that arrived of one of its transfers, as its receiver saw them.
fn iperf3(bed: &Bed, family: Family, payload_bytes: u32) -> Outcome<f64> {
    let address = bed.addresses.get(family).to_string();
    let affinity = format!("{},{}", bed.processors.0, bed.processors.1);
    let length = payload_bytes.to_string();
    let usual = ["-J", "-u", "-b", "0", "-t", "1", "-A", &affinity, "-l", &length, "-c", &address];
    let report: serde_json::Value = serde_json::from_str(&output(bed.near()?, "iperf3", &usual)?)?;
    let received = &report["end"]["sum_received"];
    let number = |name: &str| {
        received[name].as_f64().ok_or_else(|| format!("iperf3 gave no {name}: {}", report["error"]))
    };
    Ok((number("packets")? - number("lost_packets")?) / number("seconds")?)
}

fn kilopackets(rate: f64) -> String {
    format!("{:.0} kpps", rate / 1e3)
}
