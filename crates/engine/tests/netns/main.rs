//! Trials on real kernel links, held against a capture of their own packets and against the
//! kernel's counters.
//!
//! Not under the usual harness, because a user namespace can be entered only by a process with a
//! single thread. Where the host gives no namespaces it says `SKIPPED` and passes, or fails if
//! `V6GAP_REQUIRE_NAMESPACES=1` is set.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program of its own, which prints and looks at /proc"
)]

#[path = "../common/mod.rs"]
mod common;

use common::{Service, trial};
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::EndReport;
use v6gap_core::wire::preamble::Data;
use v6gap_core::workload::{StreamSettings, TcpBulk, Transport, Workload};
use v6gap_core::world::{Link, LinkModel, World};
use v6gap_engine::trial::client;
use v6gap_lab::Lab;
use v6gap_sys::netns;
use v6gap_sys::packet::{self, Port};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Bytes of a transfer: many windows, and no multiple of a segment.
const BYTES: u64 = 3_000_001;

/// Frames that may wait to be counted.
const SLOTS: usize = 8_192;

const ETHERNET_BYTES: usize = 14;

fn main() {
    if let Err(refusal) = netns::probe() {
        println!("SKIPPED: {refusal}");
        let required = std::env::var("V6GAP_REQUIRE_NAMESPACES").is_ok_and(|value| value == "1");
        std::process::exit(i32::from(required));
    }
    netns::enter_user_namespace().expect("the probe succeeded");
    let mut failed = false;
    for family in Family::BOTH {
        for streams in [1, 3] {
            match counts_agree(family, streams) {
                Ok(figures) => println!("ok     {family}, {streams} streams: {figures}"),
                Err(error) => {
                    println!("FAILED {family}, {streams} streams: {error}");
                    failed = true;
                }
            }
        }
    }
    std::process::exit(i32::from(failed));
}

/// Packets of one family that came to an interface.
#[derive(Debug, Default)]
struct Captured {
    packets: u64,
    tcp_segments: u64,
    data_segments: u64,
    payload_bytes: u64,
}

/// A transfer over a line that sends single frames, with a window that its queue has room for, so
/// that nothing is lost: every count of it must be the same wherever it is taken.
fn counts_agree(family: Family, streams: u32) -> Outcome<String> {
    let world = World {
        nodes: ["client", "server"].map(str::to_owned).to_vec(),
        links: vec![Link::ethernet(Some(100_000_000))],
        ..World::client_router_server(LinkModel::Shaped, Some(100_000_000))
    };
    let lab = Lab::build(&world)?;
    let (near, far) = (lab.node("client")?, lab.node("server")?);
    let addresses = PerFamily {
        v4: far.addresses.v4.ok_or("no IPv4 address")?,
        v6: far.addresses.v6.ok_or("no IPv6 address")?,
    };
    let service = far.run(|| Service::at(addresses))?;
    let mut port = far.run(|| Port::open(interface(), SLOTS, 2_000))??;
    let bulk = TcpBulk {
        bytes: Some(BYTES),
        streams,
        duration_ns: 20_000_000_000,
        warmup_ns: 0,
        settings: StreamSettings { buffer_bytes: Some(32 * 1024), ..StreamSettings::default() },
        ..TcpBulk::default()
    };
    let task = trial(Workload::TcpBulk(bulk), family);
    let context = service.context(Transport::Tcp);
    let over = AtomicBool::new(false);
    let (ends, captured) = thread::scope(|scope| {
        let capture = scope.spawn(|| capture(&mut port, family, &over));
        let client = || near.run(|| client::run(&task, &context));
        let ends = far.run(|| service.perform_with(&task, client));
        over.store(true, Ordering::Release);
        (ends, capture.join().expect("no panic"))
    });
    let ends = ends?;
    let (client, server) = (&ends.0??[0].1, &ends.1?[0].1);
    if port.overruns()? > 0 {
        return Err("the capture lost frames".into());
    }
    compare(family, client, server, &captured)
}

fn compare(
    family: Family,
    client: &EndReport,
    server: &EndReport,
    captured: &Captured,
) -> Outcome<String> {
    let accounts: Option<Vec<_>> = client.connections.iter().map(|c| c.account).collect();
    let accounts = accounts.ok_or("no account of a connection")?;
    let told = |of: fn(&v6gap_core::observation::TcpAccount) -> Option<u64>| {
        accounts.iter().map(of).sum::<Option<u64>>().ok_or("the kernel does not tell")
    };
    let preambles = client.connections.len() as u64 * Data::BYTES as u64;
    let counter = |name: &str| server.counters.get(name).copied().unwrap_or(0).unsigned_abs();
    let received = server.measured.received().ok_or("the server received nothing")?.bytes;
    let again = told(|a| a.bytes_retransmitted)?;
    let ip = match family {
        Family::V4 => "Ip.InReceives",
        Family::V6 => "Ip6.InReceives",
    };
    let same = [
        ("bytes asked for and received", BYTES, received),
        ("bytes received and captured", received + preambles + again, captured.payload_bytes),
        ("bytes sent and captured", told(|a| a.bytes_sent)?, captured.payload_bytes),
        (
            "segments sent and captured",
            told(|a| a.data_segments_out.map(u64::from))?,
            captured.data_segments,
        ),
    ];
    for (what, expected, found) in same {
        if expected != found {
            return Err(format!("{what}: {expected} and {found}; {captured:?}").into());
        }
    }
    // The last packets of the connections may come while the counters are read.
    let late = 2 * client.connections.len() as u64;
    let counted = [
        ("IP packets", ip, captured.packets),
        ("TCP segments", "Tcp.InSegs", captured.tcp_segments),
    ];
    for (what, name, captured) in counted {
        let kernel = counter(name);
        if !(captured.saturating_sub(late)..=captured).contains(&kernel) {
            return Err(format!("{what}: {kernel} counted, {captured} captured").into());
        }
    }
    let Captured { data_segments, payload_bytes, .. } = captured;
    Ok(format!("{data_segments} segments, {payload_bytes} B of payload, {again} B again"))
}

/// Counts what comes to the interface until `over`, and what then still waits.
fn capture(port: &mut Port, family: Family, over: &AtomicBool) -> Captured {
    use std::os::fd::AsFd;
    let mut captured = Captured::default();
    loop {
        let last = over.load(Ordering::Acquire);
        while let Some(frame) = port.receive() {
            count(frame.bytes, family, &mut captured);
        }
        if last {
            return captured;
        }
        packet::wait(&[port.as_fd()], Some(Duration::from_millis(20))).expect("one descriptor");
    }
}

/// Looks at one frame (IEEE 802.3, RFC 791, RFC 8200, RFC 9293).
fn count(frame: &[u8], family: Family, captured: &mut Captured) {
    let number = |at: usize| u64::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
    let kind = number(12);
    let ip = ETHERNET_BYTES;
    let (header, transport, bytes) = match (kind, family) {
        (0x0800, Family::V4) => {
            let header = u64::from(frame[ip] & 15) * 4;
            (header, frame[ip + 9], number(ip + 2) - header)
        }
        (0x86dd, Family::V6) => (40, frame[ip + 6], number(ip + 4)),
        _ => return,
    };
    captured.packets += 1;
    if transport != 6 {
        return;
    }
    captured.tcp_segments += 1;
    let offset = u64::from(frame[ip + header as usize + 12] >> 4) * 4;
    captured.payload_bytes += bytes - offset;
    captured.data_segments += u64::from(bytes > offset);
}

/// The number of the only interface of this namespace besides loopback.
fn interface() -> u32 {
    let text = std::fs::read_to_string("/proc/thread-self/net/if_inet6").expect("IPv6 is there");
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = lines.find(|fields| fields.last() != Some(&"lo")).expect("an interface");
    u32::from_str_radix(line[1], 16).expect("a number in hexadecimal")
}
