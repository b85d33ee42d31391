//! Checks that graphs of every shape come up, that packets take the right routers in both families,
//! and that what routers owe the network they do: hop limits, errors, path MTU.

use crate::traffic::{Outcome, ensure, passes, udp_between};
use rustix::net::sockopt::set_ipv6_unicast_hops;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::UdpSocket;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::world::{LINKS_MAX, Link, LinkModel, Node, NodeKind, World};
use v6gap_lab::{Lab, LabError};
use v6gap_sys::clock;

const H: NodeKind = NodeKind::Host;
const R: NodeKind = NodeKind::Router;
const S: NodeKind = NodeKind::Switch;
/// A packet that did not arrive in this time, in ns, does not.
const PATIENCE_NS: u64 = 500_000_000;

/// A world between the first node and the last.
pub fn graph(
    model: LinkModel,
    rate: Option<u64>,
    kinds: &[NodeKind],
    links: &[[usize; 2]],
) -> World {
    let name = |(i, kind): (usize, &NodeKind)| Node::new(format!("n{i}"), *kind);
    World {
        nodes: kinds.iter().enumerate().map(name).collect(),
        links: links.iter().map(|[a, b]| Link::ethernet(rate).between(*a, *b)).collect(),
        server: kinds.len() - 1,
        ..World::client_router_server(model, None)
    }
}

/// Two hosts at either end of a line between two routers, the usual place for cross traffic.
fn dumb_bell(model: LinkModel, rate: Option<u64>) -> World {
    let links = [[0, 1], [1, 2], [2, 5], [3, 1], [2, 4]];
    graph(model, rate, &[H, R, R, H, H, H], &links)
}

/// The shapes, each with the routers that a packet from the first to the last node must meet.
fn shapes(model: LinkModel, rate: Option<u64>) -> Vec<(&'static str, World, Vec<usize>)> {
    let chain = |routers: usize| World::chain(model, vec![Link::ethernet(rate); routers + 1]);
    let made = |kinds: &[NodeKind], links: &[[usize; 2]]| graph(model, rate, kinds, links);
    let two_switches = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]];
    let ring = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 6], [1, 5], [5, 4]];
    vec![
        ("cable", chain(0), vec![]),
        ("switch", made(&[H, S, H], &[[0, 1], [1, 2]]), vec![]),
        ("one router", chain(1), vec![1]),
        ("two routers", chain(2), vec![1, 2]),
        ("three routers", chain(3), vec![1, 2, 3]),
        ("dumb-bell", dumb_bell(model, rate), vec![1, 2]),
        ("switches at both sides", made(&[H, S, S, R, S, H], &two_switches), vec![3]),
        ("ring", made(&[H, R, R, R, R, R, H], &ring), vec![1, 5, 4]),
    ]
}

pub fn every_shape_forwards_by_the_right_routers() -> Outcome<String> {
    let models = [
        (LinkModel::Bare, None),
        (LinkModel::Shaped, Some(100_000_000)),
        (LinkModel::Wire, Some(100_000_000)),
    ];
    let mut figures = Vec::new();
    for (model, rate) in models {
        for (name, world, routers) in shapes(model, rate) {
            let start = clock::now_ns();
            let lab = Lab::build(&world)?;
            let took_ms = (clock::now_ns() - start) / 1_000_000;
            for family in Family::BOTH {
                hops(&lab, family, &routers).map_err(|e| format!("{model:?} {name}: {e}"))?;
            }
            figures.push(format!("{model:?} {name} {took_ms} ms"));
        }
    }
    Ok(figures.join(", "))
}

/// Sends packets with ever more hops left: each router in turn must be the one that ends them and
/// tells so, and the one with enough arrives.
fn hops(lab: &Lab, family: Family, routers: &[usize]) -> Outcome<()> {
    let (near, far) = udp_between(lab.client(), lab.server(), family)?;
    ensure(passes(&near, &far, 1200)?, || format!("{family}: nothing passes"))?;
    ensure(passes(&far, &near, 1200)?, || format!("{family}: nothing comes back"))?;
    for (number, _) in routers.iter().enumerate() {
        let before = told(lab, family)?;
        set_hops(&near, family, number as u8 + 1)?;
        near.send(&[7; 100])?;
        let give_up = clock::now_ns() + PATIENCE_NS;
        let ended = loop {
            let now = told(lab, family)?;
            let ended = now.iter().zip(&before).enumerate();
            let ended = ended.filter(|(_, (now, before))| now > before);
            let ended: Vec<usize> = ended.map(|(node, _)| node).collect();
            if !ended.is_empty() || clock::now_ns() > give_up {
                break ended;
            }
        };
        let said = || format!("{family}: hop {} ended at {ended:?}", number + 1);
        ensure(ended == [routers[number]], said)?;
    }
    set_hops(&near, family, routers.len() as u8 + 1)?;
    ensure(passes(&near, &far, 100)?, || format!("{family}: too few hops"))
}

fn set_hops(socket: &UdpSocket, family: Family, hops: u8) -> Outcome<()> {
    match family {
        Family::V4 => socket.set_ttl(u32::from(hops))?,
        Family::V6 => set_ipv6_unicast_hops(socket, Some(hops))?,
    }
    Ok(())
}

/// How often each node has told a sender that a packet's hops were used up.
fn told(lab: &Lab, family: Family) -> Outcome<Vec<u64>> {
    let nodes = lab.nodes().iter();
    nodes.map(|node| Ok(node.run(|| time_exceeded(family).map_err(|e| e.to_string()))??)).collect()
}

/// The calling thread's namespace's count of time-exceeded messages sent (RFC 4293's `icmpStats`).
fn time_exceeded(family: Family) -> Outcome<u64> {
    let text = match family {
        Family::V4 => std::fs::read_to_string("/proc/thread-self/net/snmp")?,
        Family::V6 => match std::fs::read_to_string("/proc/thread-self/net/snmp6") {
            // A switch has no IPv6.
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            read => read?,
        },
    };
    match family {
        Family::V6 => {
            let line = text.lines().find_map(|line| line.strip_prefix("Icmp6OutTimeExcds"));
            Ok(line.map_or(Ok(0), |count| count.trim().parse())?)
        }
        Family::V4 => {
            let mut lines = text.lines().filter_map(|line| line.strip_prefix("Icmp: "));
            let (names, counts) = lines.next().zip(lines.next()).ok_or("no ICMP counts")?;
            let counts: BTreeMap<_, _> = names.split(' ').zip(counts.split(' ')).collect();
            Ok(counts["OutTimeExcds"].parse()?)
        }
    }
}

/// As many links as a world may have: a tree of routers with hosts, and every host is reached.
pub fn a_large_graph_is_whole() -> Outcome<String> {
    let mut kinds = vec![H, R];
    let mut links = vec![[0, 1]];
    for _ in 0..7 {
        kinds.push(R);
        links.push([1, kinds.len() - 1]);
    }
    while links.len() < LINKS_MAX {
        kinds.push(H);
        links.push([2 + links.len() % 7, kinds.len() - 1]);
    }
    let world = graph(LinkModel::Bare, None, &kinds, &links);
    let start = clock::now_ns();
    let lab = Lab::build(&world)?;
    let took_ms = (clock::now_ns() - start) / 1_000_000;
    for to in lab.nodes().iter().filter(|node| node.kind == H && node.name != "n0") {
        for family in Family::BOTH {
            let (near, far) = udp_between(lab.client(), to, family)?;
            let both = passes(&near, &far, 100)? && passes(&far, &near, 100)?;
            ensure(both, || format!("{} is cut off from {family}", to.name))?;
        }
    }
    let (nodes, links) = (kinds.len(), links.len());
    Ok(format!("{nodes} nodes and {links} links in {took_ms} ms"))
}

/// Cross traffic has its own way to the line in the middle, and all ends reach each other.
pub fn dumb_bell_carries_cross_traffic() -> Outcome<String> {
    let lab = Lab::build(&dumb_bell(LinkModel::Wire, Some(100_000_000)))?;
    for (from, to) in [("n0", "n5"), ("n3", "n4"), ("n0", "n4"), ("n3", "n5"), ("n0", "n3")] {
        for family in Family::BOTH {
            let (near, far) = udp_between(lab.node(from)?, lab.node(to)?, family)?;
            let both = passes(&near, &far, 1400)? && passes(&far, &near, 1400)?;
            ensure(both, || format!("{family} from {from} to {to}"))?;
        }
    }
    Ok("5 pairs of hosts".to_owned())
}

/// A subnet from the file is the one that the kernel has.
pub fn own_subnets_are_used() -> Outcome<String> {
    let mut world = World::client_router_server(LinkModel::Bare, None);
    world.links[1].subnets =
        PerFamily { v4: Some("198.51.100.64/26".parse()?), v6: Some("2001:db8:7::/64".parse()?) };
    let lab = Lab::build(&world)?;
    let addresses = lab.server().addresses.map(|a| a.map(|a| a.to_string()));
    let expected = PerFamily { v4: "198.51.100.66", v6: "2001:db8:7::2" };
    ensure(addresses == expected.map(|a| Some(a.to_owned())), || format!("{addresses:?}"))?;
    for family in Family::BOTH {
        let (near, far) = udp_between(lab.client(), lab.server(), family)?;
        ensure(passes(&near, &far, 100)? && passes(&far, &near, 100)?, || family.to_string())?;
    }
    world.links[0].subnets.v4 = Some("198.51.100.0/24".parse()?);
    let refused =
        matches!(Lab::build(&world), Err(LabError::World(why)) if why.contains("overlaps"));
    ensure(refused, || "subnets that overlap".to_owned())?;
    Ok("198.51.100.64/26 and 2001:db8:7::/64".to_owned())
}

/// Bare links have the kernel's offloads unless the world says otherwise.
pub fn offloads_are_as_the_link_says() -> Outcome<String> {
    let mut world = World::client_router_server(LinkModel::Bare, None);
    world.links[0].offloads = Some(false);
    let lab = Lab::build(&world)?;
    let facts = lab.describe();
    let on = |key: &str| !facts[key].is_empty();
    ensure(!on("lab.client.link1.offloads"), || format!("{facts:?}"))?;
    ensure(on("lab.server.link2.offloads"), || format!("{facts:?}"))?;
    Ok(facts["lab.server.link2.offloads"].clone())
}
