//! TCP bulk against iperf3 over the same virtual cable, in turns: an instrument that is slower than
//! the usual one would measure itself. Needs iperf3 and user namespaces; without them it says so
//! and fails.
//!
//! `cargo bench -p v6gap-engine --bench iperf3`
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
use v6gap_core::workload::{TcpBulk, Transport, Workload};

/// Pairs of transfers for each comparison.
const PAIRS: usize = 10;

/// Time that counts of each transfer, in s, after a warm-up of 1 s.
const SECONDS: u64 = 1;

/// The port of iperf3.
const PORT: u16 = 5201;

fn main() {
    common::run("no comparison with iperf3", bench);
}

fn bench() -> Outcome {
    let bed = Bed::new()?;
    let peer = Peer::start(bed.far()?, "iperf3", &["-s"])?;
    let mut short = Vec::new();
    for family in Family::BOTH {
        let address = SocketAddr::new(*bed.addresses.get(family), PORT);
        peer.wait_until_bound(bed.far()?, Transport::Tcp, address)?;
        let name = format!("{family}, 1 stream");
        let ours = || ours(&bed, family);
        let theirs = || theirs(&bed, family);
        let ratio = compare(&name, PAIRS, gigabits, ours, theirs)?;
        at_least(1.0, &name, ratio, &mut short);
    }
    judge(&short)
}

/// bit/s of one of our transfers.
fn ours(bed: &Bed, family: Family) -> Outcome<f64> {
    let workload = TcpBulk { duration_ns: (1 + SECONDS) * S, warmup_ns: S, ..TcpBulk::default() };
    bed.value(Workload::TcpBulk(workload), family, Metric::Throughput)
}

/// bit/s of one of its transfers, as its receiver saw it.
fn theirs(bed: &Bed, family: Family) -> Outcome<f64> {
    let affinity = format!("{},{}", bed.processors.0, bed.processors.1);
    let seconds = SECONDS.to_string();
    let address = bed.addresses.get(family).to_string();
    let args = ["-J", "-O", "1", "-t", &seconds, "-A", &affinity, "-c", &address];
    let report: serde_json::Value = serde_json::from_str(&output(bed.near()?, "iperf3", &args)?)?;
    let rate = report["end"]["sum_received"]["bits_per_second"].as_f64();
    rate.ok_or_else(|| format!("iperf3 gave no rate: {}", report["error"]).into())
}
