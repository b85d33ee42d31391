//! TCP bulk against iperf3 over the same virtual cable, in turns: an instrument that is slower than
//! the usual one would measure itself. Needs iperf3 and user namespaces; without them it says so
//! and fails.
//!
//! `cargo bench -p v6gap-engine --bench iperf3`; words behind `--` choose comparisons by their
//! names, as in `-- "IPv6, 4 streams"`.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program of its own, which starts another one and prints"
)]

mod common;

use common::{Bed, Outcome, Peer, S, at_least, compare, gigabits, judge, output};
use std::net::SocketAddr;
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::workload::{TcpBulk, Transport, Workload, ZeroCopy};

/// Pairs of transfers for each comparison.
const PAIRS: usize = 10;

/// Time that counts of each transfer, in s, after a warm-up of 1 s.
const SECONDS: u64 = 1;

/// The port of iperf3.
const PORT: u16 = 5201;

/// What is compared: a name, a transfer of ours, and what tells iperf3 to do the same.
struct Case {
    name: &'static str,
    ours: TcpBulk,
    theirs: &'static [&'static str],
}

fn main() {
    common::run("no comparison with iperf3", bench);
}

fn cases() -> Vec<Case> {
    let usual = TcpBulk { duration_ns: (1 + SECONDS) * S, warmup_ns: S, ..TcpBulk::default() };
    vec![
        Case { name: "1 stream", ours: usual.clone(), theirs: &[] },
        Case {
            name: "4 streams",
            ours: TcpBulk { streams: 4, ..usual.clone() },
            theirs: &["-P", "4"],
        },
        Case {
            name: "zero-copy",
            ours: TcpBulk { zero_copy: Some(ZeroCopy::File), ..usual },
            theirs: &["-Z"],
        },
    ]
}

fn bench() -> Outcome {
    let bed = Bed::new()?;
    let peer = Peer::start(bed.far()?, "iperf3", &["-s"])?;
    for family in Family::BOTH {
        let address = SocketAddr::new(*bed.addresses.get(family), PORT);
        peer.wait_until_bound(bed.far()?, Transport::Tcp, address)?;
    }
    let mut short = Vec::new();
    for Case { name, ours, theirs } in cases() {
        for family in Family::BOTH {
            let name = format!("{family}, {name}");
            if !common::wanted(&name) {
                continue;
            }
            let rate = || bed.value(Workload::TcpBulk(ours.clone()), family, Metric::Throughput);
            let their_rate = || {
                let report = transfer(&bed, family, theirs, "1")?;
                number(&report["end"]["sum_received"]["bits_per_second"])
            };
            let ratio = compare(&name, PAIRS, gigabits, rate, their_rate)?;
            at_least(1.0, &name, ratio, &mut short);
            let name = format!("{name}, bytes per processor time");
            let ratio = compare(
                &name,
                PAIRS / 2,
                |bytes| format!("{:.3} s/GB", 1e9 / bytes),
                || our_economy(&bed, family, &ours),
                || their_economy(&bed, &peer, family, theirs),
            )?;
            at_least(1.0, &name, ratio, &mut short);
        }
    }
    judge(&short)
}

/// Bytes that arrive for each second of processor time of this process, which is both ends.
fn our_economy(bed: &Bed, family: Family, bulk: &TcpBulk) -> Outcome<f64> {
    let before = common::processor_seconds(std::process::id())?;
    let ends = bed.perform(&common::trial(Workload::TcpBulk(bulk.clone()), family))?;
    let spent = common::processor_seconds(std::process::id())?.own - before.own;
    let received = ends.first().and_then(|ends| ends.server.measured.received());
    Ok(received.ok_or("nothing was received")?.bytes as f64 / spent)
}

/// The same of iperf3: its server is `peer`, its client a child of this process.
fn their_economy(bed: &Bed, peer: &Peer, family: Family, more: &[&str]) -> Outcome<f64> {
    let look = || -> Outcome<f64> {
        let client = common::processor_seconds(std::process::id())?.children;
        Ok(client + common::processor_seconds(peer.id())?.own)
    };
    let before = look()?;
    let report = transfer(bed, family, more, "0")?;
    let spent = look()? - before;
    Ok(number(&report["end"]["sum_received"]["bytes"])? / spent)
}

/// What iperf3 reports of one of its transfers; the first `omit` seconds do not count.
fn transfer(bed: &Bed, family: Family, more: &[&str], omit: &str) -> Outcome<serde_json::Value> {
    let affinity = format!("{},{}", bed.processors.0, bed.processors.1);
    let seconds = if omit == "0" { SECONDS + 1 } else { SECONDS }.to_string();
    let address = bed.addresses.get(family).to_string();
    let args = ["-J", "-O", omit, "-t", &seconds, "-A", &affinity, "-c", &address];
    let said = output(bed.near()?, "iperf3", &[&args[..], more].concat())?;
    Ok(serde_json::from_str(&said)?)
}

fn number(value: &serde_json::Value) -> Outcome<f64> {
    value.as_f64().ok_or_else(|| "iperf3 gave no figure".into())
}
