//! Trials counted three times: by themselves, by the kernel's counters and by a capture of the
//! link, in both families, fragments included.
//!
//! Not under the usual harness, because a user namespace can be entered only by a process with a
//! single thread. Where the host gives no namespaces it says `SKIPPED` and passes, or fails if
//! `V6GAP_REQUIRE_NAMESPACES=1` is set. Nothing here depends on times.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program of its own, which reads its environment and prints"
)]

#[path = "../common/mod.rs"]
mod common;

use common::{Service, echo, slice};
use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::{EndReport, Measured};
use v6gap_core::wire::datagram::{Flags, Header};
use v6gap_core::wiremodel::udp_packets;
use v6gap_core::workload::{Echo, Probe, Transport, Wait, Workload};
use v6gap_core::world::{Link, LinkModel, World};
use v6gap_engine::trial::client;
use v6gap_lab::{Lab, Node};
use v6gap_sys::netns;
use v6gap_sys::packet::Port;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// A check says what was wrong.
type Check = fn() -> Outcome;

const MTU: u32 = 1500;

/// Frames that wait in a ring: all of a trial, since nobody reads before its end.
const FRAMES: usize = 2048;

/// Messages that end a block over UDP.
const END_COPIES: u64 = 3;

/// Lengths of the Ethernet header and of the headers of IP, in bytes.
const ETHERNET_BYTES: usize = 14;
const IPV6_BYTES: usize = 40;

fn main() {
    if let Err(refusal) = netns::probe() {
        println!("SKIPPED: {refusal}");
        let required = std::env::var("V6GAP_REQUIRE_NAMESPACES").is_ok_and(|value| value == "1");
        std::process::exit(i32::from(required));
    }
    netns::enter_user_namespace().expect("the probe succeeded");
    let checks: [(&str, Check); 3] = [
        ("counts_agree", counts_agree),
        ("lost_probes_are_those_that_the_link_lost", lost_probes_are_those_that_the_link_lost),
        ("a_link_local_zone_is_kept", a_link_local_zone_is_kept),
    ];
    let mut failed = 0;
    for (name, check) in checks {
        match check() {
            Ok(()) => println!("ok     {name}"),
            Err(error) => {
                failed += 1;
                println!("FAILED {name}: {error}");
            }
        }
    }
    std::process::exit(i32::from(failed > 0));
}

fn lab() -> Outcome<Lab> {
    let world = World {
        nodes: ["client", "server"].map(str::to_owned).to_vec(),
        links: vec![Link::ethernet(None)],
        ..World::client_router_server(LinkModel::Bare, None)
    };
    Ok(Lab::build(&world)?)
}

fn ensure(condition: bool, message: impl FnOnce() -> String) -> Outcome {
    if condition { Ok(()) } else { Err(message().into()) }
}

/// Packets that a port saw come in.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Seen {
    packets: u64,
    ip_bytes: u64,
    fragments: u64,
}

/// Peers.md trap 9 to 11: what is asked for one family must be measured over it, and what a column
/// says must be what flowed. Capture, kernel and trial are three accounts of it.
fn counts_agree() -> Outcome {
    let lab = lab()?;
    let (near, far) = (lab.node("client")?, lab.node("server")?);
    let addresses = addresses(far)?;
    let service = far.run(|| Service::at(addresses))?;
    for transport in [Transport::Udp, Transport::Icmp] {
        for bytes in [64, 1_452, 1_453, 1_472, 1_473, 4_000] {
            for family in Family::BOTH {
                let workload = Echo {
                    connections: 1,
                    turn_exchanges: 10,
                    turns: 3,
                    warmup_exchanges: 2,
                    ..echo(transport, bytes, Wait::Block)
                };
                count(&service, (near, far), family, workload)?;
            }
        }
    }
    Ok(())
}

fn addresses(far: &Node) -> Outcome<PerFamily<IpAddr>> {
    Ok(PerFamily {
        v4: far.addresses.v4.ok_or("the server has no IPv4 address")?,
        v6: far.addresses.v6.ok_or("the server has no IPv6 address")?,
    })
}

fn count(service: &Service, ends: (&Node, &Node), family: Family, workload: Echo) -> Outcome {
    let (near, far) = ends;
    let what = format!("{family} {:?} {}", workload.transport, workload.message_bytes);
    let task = slice(Workload::Echo(workload.clone()), PerArm::null(family));
    let (mut at_client, mut at_server) = (port(near)?, port(far)?);
    let context = service.context(workload.transport);
    // The server's half reads the counters of the namespace that it runs in.
    let both = || service.perform_with(&task, || near.run(|| client::run(&task, &context)));
    let (client, server) = far.run(both)?;
    let (client, server) = (client??, server?);
    let came = seen(&mut at_server, family, workload.transport);
    let back = seen(&mut at_client, family, workload.transport);
    drop((at_client, at_server));
    let lost: u64 = client.iter().map(|(_, report)| lost(report)).sum();
    let exchanges = 2 * workload.exchanges();
    let packets = udp_packets(workload.message_bytes, family, MTU)?;
    let each = packets.len() as u64;
    let requests = match workload.transport {
        Transport::Udp => exchanges + END_COPIES,
        _ => exchanges,
    };
    // What was sent again on a busy machine is more of the same.
    ensure(lost > 0 || came.packets == requests * each, || format!("{what}: {came:?}"))?;
    ensure(lost > 0 || back.packets == exchanges * each, || format!("{what}: {back:?}"))?;
    let bytes: u64 = packets.iter().map(|&packet| u64::from(packet)).sum();
    for (way, found) in [("there", came), ("back", back)] {
        ensure(found.packets % each == 0, || format!("{what} {way}: {found:?}"))?;
        let whole = found.packets / each;
        ensure(found.ip_bytes == whole * bytes, || format!("{what} {way}: {found:?}"))?;
        let fragments = if each > 1 { found.packets } else { 0 };
        ensure(found.fragments == fragments, || format!("{what} {way}: {found:?}"))?;
    }
    // Both arms are in the counters of a block.
    for (who, reports, found) in [("client", &client, came), ("server", &server, back)] {
        let report = &reports.first().ok_or("no report")?.1;
        let created = counter(report, family, "FragCreates");
        ensure(created == found.fragments, || format!("{what} {who}: {created} {found:?}"))?;
    }
    let reassembled = counter(&server[0].1, family, "ReasmOKs");
    let expected = if each > 1 { came.packets / each } else { 0 };
    // The server ends with the first copy of the end; the others may come after its last look.
    let copies = if each > 1 && workload.transport == Transport::Udp { END_COPIES - 1 } else { 0 };
    let fits = (expected - copies..=expected).contains(&reassembled);
    ensure(fits, || format!("{what}: {reassembled} of {expected} whole"))?;
    Ok(())
}

fn lost(report: &EndReport) -> u64 {
    if let Measured::Times(times) = &report.measured { times.lost } else { 0 }
}

fn counter(report: &EndReport, family: Family, name: &str) -> u64 {
    let group = match family {
        Family::V4 => "Ip",
        Family::V6 => "Ip6",
    };
    let count = report.counters.get(&format!("{group}.{name}"));
    count.copied().unwrap_or(0).try_into().unwrap_or(0)
}

/// The node's end of the link, which has no name but this.
fn port(node: &Node) -> Outcome<Port> {
    let open = || Port::open(interface_index()?, FRAMES, MTU as usize + ETHERNET_BYTES);
    Ok(node.run(open)??)
}

/// Number of the only interface besides loopback.
fn interface_index() -> std::io::Result<u32> {
    // The first line of each file is the number: "ifIndex 2".
    for entry in std::fs::read_dir("/proc/thread-self/net/dev_snmp6")? {
        let entry = entry?;
        if entry.file_name() == "lo" {
            continue;
        }
        let text = std::fs::read_to_string(entry.path())?;
        let index = text.split_whitespace().nth(1).and_then(|word| word.parse().ok());
        return index.ok_or_else(|| std::io::Error::other("no number"));
    }
    Err(std::io::Error::other("no interface"))
}

/// What came in of the trial's own: datagrams and echoes, whole or in fragments.
fn seen(port: &mut Port, family: Family, transport: Transport) -> Seen {
    let mut seen = Seen::default();
    while let Some(frame) = port.receive() {
        if let Some((ip_bytes, fragment)) = own(frame.bytes, family, transport) {
            seen.packets += 1;
            seen.ip_bytes += ip_bytes;
            seen.fragments += u64::from(fragment);
        }
    }
    seen
}

/// Length by the header of IP and whether it is a fragment, of a packet that may be the trial's.
fn own(frame: &[u8], family: Family, transport: Transport) -> Option<(u64, bool)> {
    let packet = frame.get(ETHERNET_BYTES..)?;
    let word = |at: usize| Some(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]));
    let ethertype = u16::from_be_bytes([*frame.get(12)?, *frame.get(13)?]);
    let udp = transport == Transport::Udp;
    match (family, ethertype) {
        (Family::V4, 0x0800) => {
            let protocol = *packet.get(9)?;
            // More fragments, or not at the start.
            let fragment = word(6)? & 0x3fff != 0;
            (protocol == if udp { 17 } else { 1 }).then_some((u64::from(word(2)?), fragment))
        }
        (Family::V6, 0x86dd) => {
            let length = IPV6_BYTES as u64 + u64::from(word(4)?);
            let wanted = if udp { 17 } else { 58 };
            match *packet.get(6)? {
                44 => (*packet.get(IPV6_BYTES)? == wanted).then_some((length, true)),
                // Neighbours are found by messages of ICMPv6 too; those are no echoes.
                58 if !udp => {
                    matches!(*packet.get(IPV6_BYTES)?, 128 | 129).then_some((length, false))
                }
                next => (next == wanted && udp).then_some((length, false)),
            }
        }
        _ => None,
    }
}

/// A link that loses packets at random: what each end reports is what a capture saw come in there.
fn lost_probes_are_those_that_the_link_lost() -> Outcome {
    let mut link = Link::ethernet(Some(100_000_000));
    (link.conditions.v4.loss, link.conditions.v6.loss) = (0.05, 0.05);
    let world = World {
        nodes: ["client", "server"].map(str::to_owned).to_vec(),
        links: vec![link],
        ..World::client_router_server(LinkModel::Wire, Some(100_000_000))
    };
    let lab = Lab::build(&world)?;
    let (near, far) = (lab.node("client")?, lab.node("server")?);
    let addresses = addresses(far)?;
    let service = far.run(|| Service::at(addresses))?;
    for family in Family::BOTH {
        let probe = Probe { turns: 2, turn_packets: 250, ..Probe::default() };
        let task = slice(Workload::Probe(probe), PerArm::null(family));
        let (mut at_client, mut at_server) = (port(near)?, port(far)?);
        let context = service.context(Transport::Udp);
        let both = || service.perform_with(&task, || near.run(|| client::run(&task, &context)));
        let (client, server) = far.run(both)?;
        let (came, back) = (probes(&mut at_server, family), probes(&mut at_client, family));
        let (mut sent, mut there, mut returned, mut here) = (0, 0, 0, 0);
        for ((_, client), (_, server)) in client??.into_iter().zip(server?) {
            let (Measured::Probed(probed), Measured::Returned(seen)) =
                (client.measured, server.measured)
            else {
                return Err("no probes".into());
            };
            sent += probed.sent;
            there += seen.there.packets + seen.there.late + seen.there.duplicates;
            returned += seen.returned;
            here += probed.back.packets + probed.back.late + probed.back.duplicates;
        }
        let all = format!("{family}: {sent} {there}/{came}, {returned} {here}/{back}");
        ensure(there == came && here == back, || all.clone())?;
        // 5 % of 1000, give or take 6 standard deviations.
        for (sent, arrived) in [(sent, there), (returned, here)] {
            let lost = (sent - arrived) as f64 / sent as f64;
            ensure((0.008..0.092).contains(&lost), || format!("{all}: lost {lost}"))?;
        }
    }
    Ok(())
}

/// Probes that came in at a port, without those that begin and end a trial.
fn probes(port: &mut Port, family: Family) -> u64 {
    let header_bytes = match family {
        Family::V4 => 20,
        Family::V6 => IPV6_BYTES,
    };
    let mut count = 0;
    while let Some(frame) = port.receive() {
        let payload = frame.bytes.get(ETHERNET_BYTES + header_bytes + 8..);
        let ours = own(frame.bytes, family, Transport::Udp).and(payload).and_then(Header::decode);
        count += u64::from(ours.is_some_and(|header| header.flags == Flags::NONE));
    }
    count
}

/// Peers.md trap 14: without its zone a link-local address leads nowhere.
fn a_link_local_zone_is_kept() -> Outcome {
    let lab = lab()?;
    let (near, far) = (lab.node("client")?, lab.node("server")?);
    let link_local = |node: &Node| node.run(link_local_address);
    let (ours, theirs) = (link_local(near)??, link_local(far)??);
    let zone = |ip: std::net::Ipv6Addr, scope| {
        SocketAddr::V6(std::net::SocketAddrV6::new(ip, 0, 0, scope))
    };
    // The zone of an end is the number of its own interface.
    let workload = echo(Transport::Icmp, 64, Wait::Block);
    let task = slice(Workload::Echo(workload), PerArm::null(Family::V6));
    let service = far.run(|| Service::at(addresses(far).expect("both families")))?;
    let mut context = service.context(Transport::Icmp);
    context.server.v6 = Some(zone(theirs.0, ours.1));
    let (client, _) = service.perform_with(&task, || near.run(|| client::run(&task, &context)));
    let client = client??;
    for arm in Arm::BOTH {
        let (_, report) = client.iter().find(|(a, _)| *a == arm).ok_or("no report")?;
        let Measured::Times(times) = &report.measured else { return Err("no times".into()) };
        ensure(times.count > 0, || format!("{times:?}"))?;
        let peer = report.endpoints.ok_or("no proof")?.peer;
        ensure(peer == zone(theirs.0, ours.1), || format!("{peer} lost its zone"))?;
    }
    context.server.v6 = Some(zone(theirs.0, 0));
    let (client, _) = service.perform_with(&task, || near.run(|| client::run(&task, &context)));
    ensure(client?.is_err(), || "an address without a zone led somewhere".to_owned())
}

/// The link-local address of the only interface besides loopback, and its number.
fn link_local_address() -> std::io::Result<(std::net::Ipv6Addr, u32)> {
    let table = std::fs::read_to_string("/proc/thread-self/net/if_inet6")?;
    let parse = |line: &str| {
        let mut words = line.split_whitespace();
        let bits = u128::from_str_radix(words.next()?, 16).ok()?;
        let index = u32::from_str_radix(words.next()?, 16).ok()?;
        Some((std::net::Ipv6Addr::from_bits(bits), index))
    };
    let found = table.lines().filter_map(parse).find(|(ip, _)| ip.is_unicast_link_local());
    found.ok_or_else(|| std::io::Error::other("no link-local address"))
}
