//! Exchanges over UDP and ICMP: packets, bytes and fragments, and addresses that are link-local or
//! that a route alone makes the server's.

use super::common::{Service, echo, slice, trial};
use super::stack::network;
use super::support::{Outcome, addresses, ensure, ip, lab, own, port};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::{EndReport, Measured};
use v6gap_core::task::Task;
use v6gap_core::wire::datagram::HEADER_BYTES;
use v6gap_core::wiremodel::udp_packets;
use v6gap_core::workload::{
    Direction, Echo, Marking, Method, Parity, Probe, Transport, UdpBulk, Wait, Workload,
};
use v6gap_core::world::{Link, LinkModel, World};
use v6gap_engine::trial::{ClientContext, TrialError, client};
use v6gap_lab::{Lab, Node};
use v6gap_sys::packet::Port;

const MTU: u32 = 1500;

/// Messages that end a block over UDP.
const END_COPIES: u64 = 3;

/// Packets that a port saw come in.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Seen {
    packets: u64,
    ip_bytes: u64,
    fragments: u64,
}

/// Traps (docs/traps.md): what is asked for one family must be measured over it, and what a column
/// says must be what flowed. Capture, kernel and trial are three accounts of it.
pub fn counts_agree() -> Outcome {
    let lab = lab()?;
    let (near, far) = (lab.node("client")?, lab.node("server")?);
    let addresses = addresses(far)?;
    let service = far.run(|| Service::at(addresses))?;
    for transport in [Transport::Udp, Transport::Icmp] {
        let sizes =
            [64, 1_452, 1_453, 1_472, 1_473, 2_889, 4_000].map(|bytes| (bytes, Parity::Payload));
        let packets = [64, 1_472].map(|bytes| (bytes, Parity::Packet));
        for (bytes, parity) in sizes.into_iter().chain(packets) {
            for family in Family::BOTH {
                let workload = Echo {
                    parity,
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
    for bytes in [64, 1_472, 4_000] {
        let in_one_thread =
            Echo { method: Method::Stack, ..echo(Transport::Udp, bytes, Wait::Yield) };
        for family in Family::BOTH {
            count(&service, (near, far), family, in_one_thread.clone())?;
        }
    }
    Ok(())
}

/// Datagrams that must not be cut and do not fit are refused with the MTU of the path, be it that
/// of the first link or of a narrower one behind; those that fit pass.
pub fn what_does_not_fit_is_refused_with_the_path_mtu() -> Outcome {
    let narrow = Link { mtu: 1400, ..Link::ethernet(None) };
    for (second, path_mtu) in [(Link::ethernet(None), 1500), (narrow, 1400)] {
        let world = World::chain(LinkModel::Bare, vec![Link::ethernet(None), second]);
        let lab = Lab::build(&world)?;
        let (near, far) = (lab.node("client")?, lab.node("server")?);
        let addresses = addresses(far)?;
        let service = far.run(|| Service::at(addresses))?;
        let whole = Marking { dont_fragment: true, ..Marking::default() };
        for family in Family::BOTH {
            let fits = path_mtu - family.header_bytes() - 8;
            for bytes in [fits, fits + 1] {
                let bulk = UdpBulk {
                    payload_bytes: bytes,
                    rate_bps: Some(8_000_000),
                    duration_ns: 50_000_000,
                    warmup_ns: 0,
                    ..UdpBulk::default()
                };
                let exchange = |transport| {
                    let echo = echo(transport, bytes, Wait::Block);
                    slice(Workload::Echo(echo).marked(whole), PerArm::null(family))
                };
                let tasks = [
                    trial(Workload::UdpBulk(bulk).marked(whole), family),
                    exchange(Transport::Udp),
                    exchange(Transport::Icmp),
                ];
                for task in tasks {
                    let context = service.context(task.workload.transport());
                    let both = || {
                        service.perform_with(&task, || near.run(|| client::run(&task, &context)))
                    };
                    let (client, _) = far.run(both)?;
                    let kind = task.workload.transport();
                    let all = format!("{family} {kind:?} {bytes} B, path {path_mtu} B");
                    match client? {
                        Ok(_) if bytes == fits => {}
                        Err(TrialError::TooBig { path_mtu: Some(found), .. })
                            if bytes > fits && found == path_mtu => {}
                        other => return Err(format!("{all}: {other:?}").into()),
                    }
                }
            }
        }
    }
    Ok(())
}

/// What is longer than the path takes is lost once, when a router says so, and cut by the sender
/// from then on. In a lab of its own each, so that the path must be found out anew.
pub fn what_is_longer_than_the_path_takes_is_cut() -> Outcome {
    let narrow = Link { mtu: 1400, ..Link::ethernet(None) };
    let world = World::chain(LinkModel::Bare, vec![Link::ethernet(None), narrow]);
    const BYTES: u32 = 1452;
    for family in Family::BOTH {
        let bulk = |direction| UdpBulk {
            payload_bytes: BYTES,
            rate_bps: Some(8_000_000),
            duration_ns: 100_000_000,
            warmup_ns: 0,
            direction,
            ..UdpBulk::default()
        };
        let workloads = [
            Workload::UdpBulk(bulk(Direction::Send)),
            Workload::UdpBulk(bulk(Direction::Receive)),
            Workload::Echo(echo(Transport::Udp, BYTES, Wait::Block)),
            Workload::Echo(echo(Transport::Udp, BYTES, Wait::Spin)),
            Workload::Echo(echo(Transport::Icmp, BYTES, Wait::Block)),
        ];
        for workload in workloads {
            let task = match workload {
                Workload::Echo(_) => slice(workload, PerArm::null(family)),
                _ => trial(workload, family),
            };
            let what = format!("{family} {:?}", task.workload);
            let lab = Lab::build(&world)?;
            let (near, far) = (lab.node("client")?, lab.node("server")?);
            let addresses = addresses(far)?;
            let service = far.run(|| Service::at(addresses))?;
            let context = service.context(task.workload.transport());
            let both = || service.perform_with(&task, || near.run(|| client::run(&task, &context)));
            let (client, server) = far.run(both)?;
            let client = client?.map_err(|e| format!("{what}: {e}"))?;
            let cut = |reports: &[(Arm, EndReport)]| {
                reports.iter().any(|(_, report)| counter(report, family, "FragCreates") > 0)
            };
            let server = server.map_err(|e| format!("{what}: {e}"))?;
            ensure(cut(&client) || cut(&server), || format!("{what}: nothing was cut"))?;
        }
    }
    Ok(())
}

fn count(service: &Service, ends: (&Node, &Node), family: Family, workload: Echo) -> Outcome {
    let (near, far) = ends;
    let what = format!("{family} {:?} {}", workload.transport, workload.message_bytes);
    let task = slice(Workload::Echo(workload.clone()), PerArm::null(family));
    let (mut at_client, mut at_server) = (port(near)?, port(far)?);
    let far_network = Some(network(far)?);
    let context = ClientContext { far: far_network, ..service.context(workload.transport) };
    // The server's half reads the counters of the namespace that it runs in.
    let both = || service.perform_with(&task, || near.run(|| client::run(&task, &context)));
    let (client, server) = far.run(both)?;
    let (client, server) = (client??, server?);
    let came = seen(&mut at_server, family, workload.transport);
    let back = seen(&mut at_client, family, workload.transport);
    drop((at_client, at_server));
    let lost: u64 = client.iter().map(|(_, report)| lost(report)).sum();
    let exchanges = 2 * workload.exchanges();
    let packets = udp_packets(workload.bytes_over(family).0, family, MTU)?;
    let each = packets.len() as u64;
    let is_told = workload.transport == Transport::Udp && workload.method == Method::Ends;
    let copies = if is_told { END_COPIES } else { 0 };
    let requests = exchanges + copies;
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
    let late = if each > 1 { copies.saturating_sub(1) } else { 0 };
    let fits = (expected - late..=expected).contains(&reassembled);
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
    report.counter(&format!("{group}.{name}")).try_into().unwrap_or(0)
}

/// What came in of the trial's own: datagrams and echoes, whole or in fragments. What validates
/// addresses is shorter than any message.
fn seen(port: &mut Port, family: Family, transport: Transport) -> Seen {
    let mut seen = Seen::default();
    let shortest = u64::from(family.header_bytes() + 8) + HEADER_BYTES as u64;
    while let Some(frame) = port.receive() {
        let packet = own(frame.bytes, family, transport);
        if let Some((ip_bytes, fragment)) = packet.filter(|&(bytes, _)| bytes != shortest) {
            seen.packets += 1;
            seen.ip_bytes += ip_bytes;
            seen.fragments += u64::from(fragment);
        }
    }
    seen
}

/// Trap (docs/traps.md): without its zone a link-local address leads nowhere.
pub fn a_link_local_zone_is_kept() -> Outcome {
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

/// Trap (docs/traps.md): a server on all addresses answers datagrams in the zone in which they
/// came, over sockets of its own for each source and for all.
pub fn a_server_answers_in_the_zone_that_it_was_asked_in() -> Outcome {
    let lab = lab()?;
    let (near, far) = (lab.node("client")?, lab.node("server")?);
    let link_local = |node: &Node| node.run(link_local_address);
    let (ours, theirs) = (link_local(near)??, link_local(far)??);
    let service = far.run(|| Service::at(PerFamily::from_fn(Family::unspecified)))?;
    let mut context = service.context(Transport::Udp);
    let port = service.udp(Family::V6).port();
    context.server.v6 = Some(std::net::SocketAddrV6::new(theirs.0, port, 0, ours.1).into());
    for connections in [1, 8] {
        let workload = Echo { connections, ..echo(Transport::Udp, 64, Wait::Block) };
        let task = slice(Workload::Echo(workload), PerArm::null(Family::V6));
        let half = || near.run(|| client::run(&task, &context));
        let (client, _) = far.run(|| service.perform_with(&task, half))?;
        for (arm, report) in client?? {
            let Measured::Times(times) = &report.measured else { return Err("no times".into()) };
            ensure(times.count > 0 && times.lost == 0, || format!("{arm:?}: {times:?}"))?;
        }
    }
    Ok(())
}

/// A network of each family that a route alone makes the server's, and an address in it (RFC 5737,
/// RFC 3849).
const ROUTED: PerFamily<(&str, IpAddr)> = PerFamily {
    v4: ("198.51.100.0/24", IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7))),
    v6: ("2001:db8:7::/64", IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 7, 0, 0, 0, 0, 7))),
};

/// Trap (docs/traps.md): what no interface has and a route alone makes the server's, the kernel
/// refuses as a source of IPv6 datagrams, unless the socket says otherwise; of IPv4 it does not.
/// The server answers there over every kind of socket that it has for sources, and over TCP.
pub fn a_server_answers_at_an_address_that_a_route_makes_its_own() -> Outcome {
    let lab = lab()?;
    let (near, far) = (lab.node("client")?, lab.node("server")?);
    let interface = addresses(far)?;
    for family in Family::BOTH {
        let (net, _) = ROUTED.get(family);
        ip(far, family, &format!("route add local {net} dev lo"))?;
        ip(near, family, &format!("route add {net} via {}", interface.get(family)))?;
    }
    let service = far.run(|| Service::at(PerFamily::from_fn(Family::unspecified)))?;
    let asked = PerFamily::from_fn(|family| {
        let (_, address) = ROUTED.get(family);
        SocketAddr::new(*address, service.udp(family).port())
    });
    let context = Service::context_at(asked);
    for family in Family::BOTH {
        for task in of_every_socket(family) {
            let what = format!("{family} {:?}", task.workload);
            let half = || near.run(|| client::run(&task, &context));
            let (client, server) = far.run(|| service.perform_with(&task, half))?;
            let client = client?.map_err(|e| format!("{what}: {e}; the server: {server:?}"))?;
            for (_, report) in client {
                let peer = report.endpoints.ok_or("no proof")?.peer;
                ensure(peer == *asked.get(family), || format!("{what}: {peer} answered"))?;
            }
            server.map_err(|e| format!("{what}, at the server: {e}"))?;
        }
    }
    Ok(())
}

/// A task for each kind of socket that the server has for sources: a connection, one of their own
/// for the arms of a null block, one in place of the service, one for each stream, the service's.
fn of_every_socket(family: Family) -> [Task; 5] {
    let exchange = |transport, connections| {
        let echo = Echo { connections, ..echo(transport, 64, Wait::Block) };
        slice(Workload::Echo(echo), PerArm::null(family))
    };
    let bulk = UdpBulk {
        rate_bps: Some(8_000_000),
        duration_ns: 50_000_000,
        warmup_ns: 0,
        direction: Direction::Receive,
        ..UdpBulk::default()
    };
    let probe = Probe { turn_packets: 10, turns: 4, interval_ns: 1_000_000, ..Probe::default() };
    [
        exchange(Transport::Tcp, 1),
        exchange(Transport::Udp, 1),
        exchange(Transport::Udp, 8),
        trial(Workload::UdpBulk(bulk), family),
        slice(Workload::Probe(probe), PerArm::null(family)),
    ]
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
