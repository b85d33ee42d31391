//! Median round trips of 64 bytes against sockperf, qperf and a plain ping-pong in C, over the same
//! virtual cable in turns, all pinned alike, sleeping and spinning, in both families. Needs cc,
//! sockperf, qperf and user namespaces; without them it says so and fails.
//!
//! `cargo bench -p v6gap-engine --bench latency -- [pingpong] [sockperf] [qperf] [tcp] [udp] …`
//!
//! qperf gives the mean time of one way; twice that is held against our mean.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program of its own, which starts others and prints"
)]

mod common;

use common::{Bed, Outcome, Peer, compare, compile, echo, judge, microseconds, output, slice};
use std::net::SocketAddr;
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::observation::{Measured, Times};
use v6gap_core::workload::{Echo, Transport, Wait, Workload};

/// Pairs of each comparison: the times of one start of a program differ from those of the next.
const PAIRS: usize = 15;

/// The same for ends that spin, whose starts land at one of a few times by chance.
const PAIRS_SPINNING: usize = 45;

/// Exchanges of one measurement.
const EXCHANGES: u32 = 5_000;

/// Size of the messages.
const BYTES: u32 = 64;

/// The medians may be so much above those of others.
const RATIO_MAX: f64 = 1.02;

const PORT: u16 = 12_345;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    common::run("latency", || bench(&wanted));
}

/// One kind of exchange.
#[derive(Clone, Copy)]
struct Case {
    transport: Transport,
    family: Family,
    wait: Wait,
}

fn bench(wanted: &[String]) -> Outcome {
    let bed = Bed::new()?;
    let program = compile(concat!(env!("CARGO_MANIFEST_DIR"), "/benches"), "pingpong")?;
    // A group of words of which none is asked for is asked for as a whole.
    let groups: [&[&str]; 4] =
        [&["pingpong", "sockperf", "qperf"], &["tcp", "udp"], &["v4", "v6"], &["block", "spin"]];
    let asked = |words: &[&str; 4]| {
        groups.iter().zip(words).all(|(group, word)| {
            !wanted.iter().any(|w| group.contains(&w.as_str())) || wanted.iter().any(|w| w == word)
        })
    };
    let six = Case { transport: Transport::Udp, family: Family::V6, wait: Wait::Block };
    let sockperf_six = sockperf(&bed, six).is_ok();
    if !sockperf_six {
        println!("not compared over IPv6: this sockperf takes no address of it");
    }
    let mut short = Vec::new();
    for peer in ["pingpong", "sockperf", "qperf"] {
        for transport in [Transport::Tcp, Transport::Udp] {
            for family in Family::BOTH {
                for wait in [Wait::Block, Wait::Spin] {
                    let case = Case { transport, family, wait };
                    let words = [peer, name(transport), short_name(family), way(wait)];
                    // qperf cannot spin.
                    let cannot = peer == "qperf" && wait == Wait::Spin
                        || peer == "sockperf" && family == Family::V6 && !sockperf_six;
                    if asked(&words) && !cannot {
                        against(&bed, peer, case, &program, &mut short)?;
                    }
                }
            }
        }
    }
    judge(&short)
}

fn against(bed: &Bed, peer: &str, case: Case, program: &str, short: &mut Vec<String>) -> Outcome {
    let Case { transport, family, wait } = case;
    let words = format!("{family} {} {} against {peer}", transport.name(), way(wait));
    let mean = peer == "qperf";
    let ours = || {
        let times = ours(bed, case)?;
        Ok(if mean { times.mean_ns } else { times.median_ns } / 1e9)
    };
    let theirs = || match peer {
        "pingpong" => pingpong(bed, case, program),
        "sockperf" => sockperf(bed, case),
        _ => qperf(bed, case),
    };
    let pairs = if wait == Wait::Spin { PAIRS_SPINNING } else { PAIRS };
    let ratio = compare(&words, pairs, microseconds, ours, theirs)?;
    if ratio.median > RATIO_MAX {
        short.push(format!("{words}: {:.3} is above {RATIO_MAX}", ratio.median));
    }
    Ok(())
}

fn ours(bed: &Bed, case: Case) -> Outcome<Times> {
    let workload = Echo {
        connections: 1,
        turn_exchanges: EXCHANGES / 20,
        turns: 10,
        ..echo(case.transport, BYTES, case.wait)
    };
    // Both arms are of the family, so that there are as many exchanges as in the other program.
    let task = slice(Workload::Echo(workload), PerArm::null(case.family));
    let ends = bed.perform(&task)?;
    match ends.into_iter().next().map(|ends| ends.client.measured) {
        Some(Measured::Times(times)) => Ok(times),
        _ => Err("no times".into()),
    }
}

fn pingpong(bed: &Bed, case: Case, program: &str) -> Outcome<f64> {
    let (protocol, way) = (name(case.transport), way(case.wait));
    let address = bed.addresses.get(case.family).to_string();
    let (near, far) = (bed.processors.0.to_string(), bed.processors.1.to_string());
    let (port, bytes, count) = (PORT.to_string(), BYTES.to_string(), EXCHANGES.to_string());
    let server = ["server", protocol, way, &port, &bytes, &far, &address];
    let server = Peer::start(bed.far()?, program, &server)?;
    server.wait_until_bound(bed.far()?, case.transport, at(bed, case))?;
    let client = ["client", protocol, way, &port, &bytes, &near, &address, &count];
    let median_ns: f64 = output(bed.near()?, program, &client)?.trim().parse()?;
    Ok(median_ns / 1e9)
}

fn sockperf(bed: &Bed, case: Case) -> Outcome<f64> {
    let address = bed.addresses.get(case.family).to_string();
    let (near, far) = (bed.processors.0.to_string(), bed.processors.1.to_string());
    let (port, bytes) = (PORT.to_string(), BYTES.to_string());
    let mut common = vec!["-i", &address, "-p", &port];
    if case.transport == Transport::Tcp {
        common.push("--tcp");
    }
    if case.wait == Wait::Spin {
        common.push("--nonblocked");
    }
    let mut server = vec!["-c", &far, "sockperf", "server"];
    server.extend(&common);
    let server = Peer::start(bed.far()?, "taskset", &server)?;
    server.wait_until_bound(bed.far()?, case.transport, at(bed, case))?;
    let mut client = vec!["-c", &near, "sockperf", "ping-pong", "--full-rtt", "-t", "1"];
    client.extend(["-m", &bytes]);
    client.extend(&common);
    let said = output(bed.near()?, "taskset", &client)?;
    let line = said.lines().find(|line| line.contains("percentile 50.0")).ok_or(said.clone())?;
    let median_us: f64 = line.rsplit('=').next().unwrap_or_default().trim().parse()?;
    Ok(median_us / 1e6)
}

fn qperf(bed: &Bed, case: Case) -> Outcome<f64> {
    let address = bed.addresses.get(case.family).to_string();
    let (near, far) = (bed.processors.0.to_string(), bed.processors.1.to_string());
    let server = Peer::start(bed.far()?, "taskset", &["-c", &far, "qperf", "-lp", "12345"])?;
    server.wait_until_bound(bed.far()?, Transport::Tcp, at(bed, case))?;
    let test = format!("{}_lat", name(case.transport));
    let bytes = BYTES.to_string();
    let client = ["-c", &near, "qperf", &address, "-lp", "12345", "-t", "1", "-m", &bytes];
    let client: Vec<&str> = client.into_iter().chain(["-u", "--precision", "5", &test]).collect();
    let said = output(bed.near()?, "taskset", &client)?;
    let line = said.lines().find(|line| line.contains("latency")).ok_or(said.clone())?;
    let mut words = line.rsplit('=').next().unwrap_or_default().split_whitespace();
    let value: f64 = words.next().unwrap_or_default().parse()?;
    let unit = match words.next() {
        Some("ns") => 1e-9,
        Some("us") => 1e-6,
        Some("ms") => 1e-3,
        other => return Err(format!("qperf's unit {other:?} in {line}").into()),
    };
    Ok(2.0 * value * unit)
}

fn at(bed: &Bed, case: Case) -> SocketAddr {
    SocketAddr::new(*bed.addresses.get(case.family), PORT)
}

fn name(transport: Transport) -> &'static str {
    if transport == Transport::Tcp { "tcp" } else { "udp" }
}

fn short_name(family: Family) -> &'static str {
    if family == Family::V4 { "v4" } else { "v6" }
}

fn way(wait: Wait) -> &'static str {
    if wait == Wait::Spin { "spin" } else { "block" }
}
