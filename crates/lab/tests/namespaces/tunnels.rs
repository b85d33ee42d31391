//! Checks that tunnels and translation carry both families and cost what the wire model says, to
//! the byte.

use crate::traffic::{Outcome, ensure, passes};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;
use v6gap_core::family::Family;
use v6gap_core::tunnel::{Tunnel, TunnelKind};
use v6gap_core::wiremodel::{ETHERNET_HEADER_BYTES, translated_bytes};
use v6gap_core::world::{Link, LinkModel, World};
use v6gap_lab::tunnel::translate::{self, Translated};
use v6gap_lab::{Lab, Node, tunnel};
use v6gap_sys::packet::Port;

const UDP_BYTES: u32 = 8;
/// Datagrams that are counted together.
const COUNT: usize = 20;

fn lab() -> Outcome<Lab> {
    Ok(Lab::build(&World::client_router_server(LinkModel::Bare, None))?)
}

/// Sockets of two nodes with addresses of their own choice; the far one is not connected.
fn pair(lab: &Lab, near: IpAddr, far: IpAddr, target: IpAddr) -> Outcome<(UdpSocket, UdpSocket)> {
    let bind = |node: &Node, address| {
        let socket = node.run(|| UdpSocket::bind(SocketAddr::new(address, 0)))??;
        socket.set_read_timeout(Some(Duration::from_secs(2)))?;
        Ok::<_, Box<dyn std::error::Error>>(socket)
    };
    let (near, far) = (bind(lab.client(), near)?, bind(lab.server(), far)?);
    near.connect(SocketAddr::new(target, far.local_addr()?.port()))?;
    Ok((near, far))
}

/// Where what comes in over the first and the second link is seen. Not where a tunnel ends: what
/// Linux takes out of a segment-routing header passes there a second time.
fn ports(lab: &Lab) -> Outcome<[Port; 2]> {
    let open = |node: &str, interface: &str| {
        let path = format!("/proc/thread-self/net/dev_snmp6/{interface}");
        let open = || {
            // The first line is the number: "ifIndex 2".
            let text = std::fs::read_to_string(path)?;
            let number = text.split_whitespace().nth(1).and_then(|word| word.parse().ok());
            let number = number.ok_or_else(|| std::io::Error::other("no number"))?;
            Port::open(number, 4 * COUNT, 2048)
        };
        Ok::<_, Box<dyn std::error::Error>>(lab.node(node)?.run(open)??)
    };
    let path = lab.world().path_nodes();
    let node = |place: usize| lab.nodes()[path[place]].name.as_str();
    Ok([open(node(1), "link1")?, open(node(2), "link2")?])
}

/// Sends datagrams of `payload` bytes and says how long their frames were on both links.
fn frames(
    ports: &mut [Port; 2],
    (near, far): &(UdpSocket, UdpSocket),
    payload: u32,
) -> Outcome<[u32; 2]> {
    for port in &mut *ports {
        while port.receive().is_some() {}
    }
    for _ in 0..COUNT {
        ensure(passes(near, far, payload as usize)?, || format!("{payload} bytes did not pass"))?;
    }
    let mut lengths = [0; 2];
    for (port, length) in ports.iter_mut().zip(&mut lengths) {
        let mut seen = Vec::new();
        while let Some(frame) = port.receive() {
            if !is_housekeeping(frame.bytes) {
                seen.push(frame.length as u32);
            }
        }
        let alike = seen.len() == COUNT && seen.iter().all(|other| *other == seen[0]);
        ensure(alike, || format!("{payload} B: frames of {seen:?}"))?;
        *length = seen[0];
    }
    Ok(lengths)
}

/// Whether a frame is a host's own: ARP, ICMP, IGMP, ICMPv6, or with options for each hop, as
/// reports of multicast listeners have them.
fn is_housekeeping(frame: &[u8]) -> bool {
    match (frame[12], frame[13]) {
        (0x08, 0x06) => true,
        (0x08, 0x00) => matches!(frame[14 + 9], 1 | 2),
        (0x86, 0xdd) => matches!(frame[14 + 6], 0 | 58),
        _ => false,
    }
}

pub fn each_adds_what_the_model_says() -> Outcome<String> {
    let mut figures = String::new();
    for kind in TunnelKind::ALL {
        if let Err(reason) = tunnel::available(kind) {
            figures += &format!("{reason}; ");
            continue;
        }
        for outer in kind.outer() {
            let lab = Lab::build(&World::chain(LinkModel::Bare, vec![Link::ethernet(None); 3]))?;
            let made = lab.tunnel(1, Tunnel { kind, outer }, ["client", "server"])?;
            for inner in Family::BOTH {
                let ends = made.ends.map(|end| *end.get(inner));
                let sockets = pair(&lab, ends[0], ends[1], ends[1])?;
                // The first may have to wait for keys.
                ensure(passes(&sockets.0, &sockets.1, 1)?, || format!("{kind}: nothing passes"))?;
                let headers = inner.header_bytes() + UDP_BYTES;
                let mut ports = ports(&lab)?;
                for payload in [1, 100, 1001, made.mtu - headers] {
                    let found = frames(&mut ports, &sockets, payload)?;
                    let packet = made.encapsulation.outer_bytes(headers + payload);
                    let wanted = ETHERNET_HEADER_BYTES + packet;
                    ensure(found == [wanted; 2], || {
                        format!(
                            "{inner} in {kind} over {outer}, {payload} B: {found:?}, not {wanted}"
                        )
                    })?;
                }
            }
            let added = made.encapsulation.overhead_bytes(made.mtu);
            figures += &format!("{kind} over {outer} +{added} B; ");
        }
    }
    Ok(figures)
}

pub fn translation_exchanges_the_header() -> Outcome<String> {
    if let Err(reason) = translate::available() {
        return Ok(reason.to_string());
    }
    let lab = lab()?;
    let addresses = [lab.client(), lab.server()].map(|node| node.addresses);
    let v4 = |address: Option<IpAddr>| match address {
        Some(IpAddr::V4(address)) => Ok::<Ipv4Addr, &str>(address),
        _ => Err("no IPv4 address"),
    };
    let server = v4(addresses[1].v4)?;
    let near = addresses[0].v6.ok_or("no IPv6 address")?;
    {
        let _translated = lab.nat64()?;
        let target = Translated::reached_by(server).into();
        let sockets = pair(&lab, near, server.into(), target)?;
        ensure(passes(&sockets.0, &sockets.1, 1)?, || "nothing passes NAT64".to_owned())?;
        exact(&lab, &sockets, |own| [own, translated_bytes(own, Family::V6, false)], Family::V6)?;
    }
    let lab = self::lab()?;
    let _translated = lab.xlat464()?;
    let sockets = pair(&lab, Translated::CLIENT.into(), server.into(), server.into())?;
    ensure(passes(&sockets.0, &sockets.1, 1)?, || "nothing passes 464XLAT".to_owned())?;
    exact(&lab, &sockets, |own| [translated_bytes(own, Family::V4, false), own], Family::V4)?;
    Ok("NAT64 -20 B at the router, 464XLAT +20 B on the way".to_owned())
}

/// Whether packets of these lengths are on both links what `wanted` makes of their own length.
fn exact(
    lab: &Lab,
    sockets: &(UdpSocket, UdpSocket),
    wanted: impl Fn(u32) -> [u32; 2],
    family: Family,
) -> Outcome<()> {
    let mut ports = ports(lab)?;
    for payload in [1, 100, 1001, 1452] {
        let found = frames(&mut ports, sockets, payload)?;
        let own = family.header_bytes() + UDP_BYTES + payload;
        let wanted = wanted(own).map(|bytes| ETHERNET_HEADER_BYTES + bytes);
        ensure(found == wanted, || format!("{family}, {payload} B: {found:?}, not {wanted:?}"))?;
    }
    Ok(())
}

/// The answer is the same as what making one says.
pub fn what_is_missing_is_said() -> Outcome<String> {
    let mut said = String::new();
    for kind in TunnelKind::ALL {
        let lab = lab()?;
        let outer = kind.outer().last().ok_or("no outer family")?;
        let made = lab.tunnel(1, Tunnel { kind, outer }, ["client", "server"]);
        let answer = tunnel::available(kind);
        ensure(made.is_ok() == answer.is_ok(), || format!("{kind}: {made:?} and {answer:?}"))?;
        said += &answer.map_or_else(|e| format!("{e}; "), |()| format!("{kind}; "));
    }
    Ok(said)
}
