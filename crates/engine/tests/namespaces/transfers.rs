//! TCP transfers: bytes and segments.

use super::common::{Service, trial};
use super::support::{ETHERNET_BYTES, Outcome, addresses, pair, ring};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use v6gap_core::family::Family;
use v6gap_core::observation::EndReport;
use v6gap_core::wire::preamble::Data;
use v6gap_core::workload::{StreamSettings, TcpBulk, Transport, Workload};
use v6gap_core::world::{Link, LinkModel};
use v6gap_engine::trial::client;
use v6gap_sys::packet::{self, Port};

/// Bytes of a transfer: many windows, and no multiple of a segment.
const BYTES: u64 = 3_000_001;

/// Frames that may wait to be counted.
const SLOTS: usize = 8_192;

/// Bytes and segments of transfers over one connection and over several.
pub fn agree() -> Outcome {
    for family in Family::BOTH {
        for streams in [1, 3] {
            let figures = transfer_agrees(family, streams)
                .map_err(|error| format!("{family}, {streams} streams: {error}"))?;
            println!("       {family}, {streams} streams: {figures}");
        }
    }
    Ok(())
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
fn transfer_agrees(family: Family, streams: u32) -> Outcome<String> {
    let lab = pair(LinkModel::Shaped, Link::ethernet(Some(100_000_000)))?;
    let (near, far) = (lab.node("client")?, lab.node("server")?);
    let addresses = addresses(far)?;
    let service = far.run(|| Service::at(addresses))?;
    let mut port = ring(far, SLOTS)?;
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
    let counter = |name: &str| server.counter(name).unsigned_abs();
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
