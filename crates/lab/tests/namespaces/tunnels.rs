//! Checks that tunnels and translation carry both families and cost what the wire model says, to
//! the byte.

use crate::traffic::{Outcome, ensure, passes, udp_pair};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::tunnel::{Tunnel, TunnelKind};
use v6gap_core::wiremodel::ETHERNET_HEADER_BYTES;
use v6gap_core::world::model;
use v6gap_core::world::{LaidTunnel, Link, LinkModel, Translation, TranslationKind, World};
use v6gap_lab::tunnel::translate;
use v6gap_lab::{Lab, Node, provided, tunnel};
use v6gap_sys::packet::Port;

const UDP_BYTES: u32 = 8;
/// Datagrams that are counted together.
const COUNT: usize = 20;
/// Other packets that may pass meanwhile.
const STRAYS_MAX: usize = 4;
const BOTH: PerFamily<bool> = PerFamily { v4: true, v6: true };

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

/// Where what comes in over two links of the path, by their places, is seen. Not where a tunnel
/// ends: what Linux takes out of a segment-routing header passes there a second time.
fn ports(lab: &Lab, [first, second]: [usize; 2]) -> Outcome<[Port; 2]> {
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
    let (nodes, hops) = (lab.world().path_nodes(), lab.world().path());
    let port = |place: usize| {
        let node = &lab.nodes()[nodes[place + 1]].name;
        open(node, &format!("link{}", hops[place].link + 1))
    };
    Ok([port(first)?, port(second)?])
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
        // What the hosts say of their groups inside of a tunnel cannot be told from data.
        seen.sort_unstable();
        let own = seen.chunk_by(|a, b| a == b).find(|alike| alike.len() == COUNT);
        let right = own.filter(|_| seen.len() <= COUNT + STRAYS_MAX);
        *length = right.ok_or_else(|| format!("{payload} B: frames of {seen:?}"))?[0];
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

/// A chain of bare links with a tunnel between two of its nodes.
fn chain(links: usize, tunnel: Tunnel, ends: [usize; 2], carries: PerFamily<bool>) -> World {
    let chain = World::chain(LinkModel::Bare, vec![Link::ethernet(None); links]);
    World { tunnels: vec![LaidTunnel { ends, tunnel, carries }], ..chain }
}

/// Whether frames of one family on the first two links of the path are as long as the world says,
/// from the shortest to the longest that fits.
fn exact_frames(lab: &Lab, inner: Family) -> Outcome<()> {
    let world = lab.world();
    let sockets = udp_pair(lab, inner)?;
    // The first may have to wait for keys, which are asked for again after 5 s.
    let mut through = false;
    for _ in 0..12 {
        through = through || passes(&sockets.0, &sockets.1, 1)?;
    }
    ensure(through, || "nothing passes".to_owned())?;
    // Those that waited come now.
    while sockets.1.recv(&mut [0; 8]).is_ok() {}
    ensure(passes(&sockets.1, &sockets.0, 1)?, || "nothing passes back".to_owned())?;
    let headers = inner.header_bytes() + UDP_BYTES;
    let mut ports = ports(lab, [0, 1])?;
    for payload in [1, 100, 1001, model::path_mtu(world, inner) - headers] {
        let found = frames(&mut ports, &sockets, payload)?;
        let over = world.tunnels_on_path(inner);
        let wanted = [over[0], over[1]].map(|laid| {
            let packet = headers + payload;
            let outside = laid.map(|laid| world.encapsulation(laid).outer_bytes(packet));
            ETHERNET_HEADER_BYTES + outside.unwrap_or(packet)
        });
        ensure(found == wanted, || format!("{payload} B: {found:?}, not {wanted:?}"))?;
    }
    Ok(())
}

/// Between hosts, between routers and between a host and a router.
pub fn each_adds_what_the_model_says() -> Outcome<String> {
    let mut figures = String::new();
    for kind in TunnelKind::ALL {
        if let Err(reason) = tunnel::available(kind) {
            figures += &format!("{reason}; ");
            continue;
        }
        for outer in kind.outer() {
            let tunnel = Tunnel { kind, outer };
            for (links, ends) in [(3, [0, 3]), (4, [3, 1]), (4, [0, 3])] {
                let lab = Lab::build(&chain(links, tunnel, ends, BOTH))?;
                for inner in Family::BOTH {
                    exact_frames(&lab, inner)
                        .map_err(|e| format!("{inner} in {tunnel}, {ends:?}: {e}"))?;
                }
            }
            let added = tunnel.encapsulation(1500).overhead_bytes(tunnel.inner_mtu(1500));
            figures += &format!("{tunnel} +{added} B; ");
        }
    }
    Ok(figures)
}

/// What a tunnel does not carry stays as it is; and what comes from one tunnel goes into the next.
pub fn only_what_is_carried_is_wrapped() -> Outcome<String> {
    let four = Tunnel { kind: TunnelKind::IpInIp, outer: Family::V4 };
    if let Err(reason) = tunnel::available(four.kind) {
        return Ok(reason.to_string());
    }
    let six = Tunnel { outer: Family::V6, ..four };
    let mut world = chain(6, four, [0, 2], PerFamily { v4: false, v6: true });
    world.tunnels.push(LaidTunnel { ends: [3, 5], tunnel: six, carries: BOTH });
    let lab = Lab::build(&world)?;
    for family in Family::BOTH {
        exact_frames(&lab, family).map_err(|e| format!("{family}: {e}"))?;
    }
    let known = lab.client().addresses;
    ensure(known.v4 != known.v6 && known.v6 == "fd47:1::1".parse().ok(), || {
        format!("the client is {known:?}")
    })?;
    // From the other end the first links are those of the second tunnel.
    let lab = lab.measured(6, 0);
    for family in Family::BOTH {
        exact_frames(&lab, family).map_err(|e| format!("{family} back: {e}"))?;
    }
    Ok("IPv6 in IPv4, then both in IPv6".to_owned())
}

/// With a router before the one that translates and another behind it, in each world.
pub fn translation_exchanges_the_header() -> Outcome<String> {
    if let Err(reason) = translate::available() {
        let required = std::env::var("V6GAP_REQUIRE_NAMESPACES").is_ok_and(|value| value == "1");
        return if required { Err(reason.to_string().into()) } else { Ok(reason.to_string()) };
    }
    for kind in TranslationKind::ALL {
        let chain = World::chain(LinkModel::Bare, vec![Link::ethernet(None); 4]);
        let translation = Some(Translation { kind, at: 2, client: 0 });
        let lab = Lab::build(&World { translation, ..chain })?;
        for family in Family::BOTH {
            translated_frames(&lab, family).map_err(|e| format!("{kind}, {family}: {e}"))?;
        }
    }
    Ok("NAT64 -20 B behind the router, 464XLAT +20 B before it".to_owned())
}

/// Whether frames of one family are as long on all links as the world says, from the shortest to
/// the longest, and answers come back to where the client sends from.
fn translated_frames(lab: &Lab, family: Family) -> Outcome<()> {
    let world = lab.world();
    let known = |node: &Node| node.addresses.get(family).ok_or("no address");
    let target = known(lab.server())?;
    let seen = Family::arriving(&target).ok_or("no family")?;
    let sockets = pair(lab, known(lab.client())?, seen.unspecified(), target)?;
    ensure(passes(&sockets.0, &sockets.1, 1)?, || "nothing passes".to_owned())?;
    let mut bytes = [0; 8];
    let (length, from) = {
        ensure(sockets.0.send(&[7; 5])? == 5, || "not sent".to_owned())?;
        sockets.1.recv_from(&mut bytes)?
    };
    sockets.1.send_to(&bytes[..length], from)?;
    ensure(sockets.0.recv(&mut bytes)? == 5, || "nothing comes back".to_owned())?;
    let headers = family.header_bytes() + UDP_BYTES;
    let mut ports = ports(lab, [0, 3])?;
    for payload in [1, 100, 1001, model::path_mtu(world, family) - headers] {
        let found = frames(&mut ports, &sockets, payload)?;
        let on_path = world.on_path(family);
        let wanted = [on_path[0], on_path[3]]
            .map(|on| ETHERNET_HEADER_BYTES + on.carried.link_bytes(headers + payload));
        ensure(found == wanted, || format!("{payload} B: {found:?}, not {wanted:?}"))?;
    }
    Ok(())
}

/// The answer is the same as what making one says.
pub fn what_is_missing_is_said() -> Outcome<String> {
    let mut said = String::new();
    for kind in TunnelKind::ALL {
        let outer = kind.outer().last().ok_or("no outer family")?;
        let made = Lab::build(&chain(2, Tunnel { kind, outer }, [0, 2], BOTH));
        let answer = tunnel::available(kind);
        ensure(made.is_ok() == answer.is_ok(), || format!("{kind}: {made:?} and {answer:?}"))?;
        said += &answer.map_or_else(|e| format!("{e}; "), |()| format!("{kind}; "));
    }
    Ok(said)
}

/// What is listed is what was tried, and a world that asks for what is not there is refused with
/// that reason. ESP is refused or not by what `ip xfrm` would be told as well.
pub fn what_is_provided_is_listed() -> Outcome<String> {
    let all = provided::list(None);
    let of = |name: &str| all.iter().find(|p| p.name == name).ok_or("not listed");
    for kind in TunnelKind::ALL {
        let listed = of(kind.name())?.found.is_ok();
        ensure(listed == tunnel::available(kind).is_ok(), || format!("{kind} is {listed}"))?;
    }
    let netem = &of("netem")?.found;
    let world = World::client_router_server(LinkModel::Netem, Some(10_000_000));
    let made = Lab::build(&world);
    ensure(made.is_ok() == netem.is_ok(), || format!("{made:?} and {netem:?}"))?;
    if let (Err(made), Err(missing)) = (made, netem) {
        let (made, missing) = (made.to_string(), missing.to_string());
        ensure(made.contains(&missing), || format!("{made} is not for {missing}"))?;
    }
    let missing = all.iter().filter_map(|kind| kind.found.as_ref().err());
    Ok(missing.map(ToString::to_string).collect::<Vec<_>>().join("; "))
}
