//! Tests of worlds as data: what is read back, what is refused, and that ways lead where they must.

use super::*;
use crate::family::Family;
use crate::tunnel::{Tunnel, TunnelKind};
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

fn chain(nodes: usize) -> World {
    World::chain(LinkModel::Bare, vec![Link::ethernet(None); nodes - 1])
}

/// The same with bare links between these nodes; the first is the client, the last the server.
fn graph(kinds: &[NodeKind], links: &[[usize; 2]]) -> World {
    let nodes = kinds.iter().enumerate();
    World {
        nodes: nodes.map(|(i, kind)| Node::new(format!("n{i}"), *kind)).collect(),
        links: links.iter().map(|ends| Link { ends: *ends, ..Link::ethernet(None) }).collect(),
        server: kinds.len() - 1,
        ..chain(2)
    }
}

const H: NodeKind = NodeKind::Host;
const R: NodeKind = NodeKind::Router;
const S: NodeKind = NodeKind::Switch;

#[test]
fn a_chain_is_written_as_before_there_were_graphs() {
    let world = World::client_router_server(LinkModel::Wire, Some(100_000_000));
    let text = serde_json::to_string(&world).unwrap();
    let met = r#"{"rate_bps":100000000,"delay_ns":0,"loss":0.0,"black_hole_above":null}"#;
    let link =
        format!(r#"{{"conditions":{{"v4":{met},"v6":{met}}},"mtu":1500,"queue_frames":100}}"#);
    let before = format!(
        r#"{{"model":"wire","nodes":["client","router","server"],"links":[{link},{link}],"#
    ) + r#""families":{"v4":true,"v6":true}}"#;
    assert_eq!(text, before);
    assert_eq!(serde_json::from_str::<World>(&before).unwrap(), world);
}

#[test]
fn a_graph_is_read_as_it_was_written() {
    let mut world = graph(&[H, S, R, H, H], &[[0, 1], [1, 2], [2, 4], [3, 1]]).measured(3, 4);
    world.links[2].offloads = Some(false);
    world.links[2].subnets.v4 = Some("192.0.2.0/24".parse().unwrap());
    let text = serde_json::to_string(&world).unwrap();
    assert_eq!(serde_json::from_str::<World>(&text).unwrap(), world);
    for (good, bad) in [(r#""ends":[3,1]"#, r#""ends":[5,1]"#), (r#""client":3"#, r#""client":9"#)]
    {
        assert!(text.contains(good), "{text}");
        let error = serde_json::from_str::<World>(&text.replace(good, bad)).unwrap_err();
        assert!(error.to_string().contains("there is no node"), "{error}");
    }
    let few = text.replace(r#""kinds":["host","#, r#""kinds":["#);
    assert!(serde_json::from_str::<World>(&few).is_err());
}

fn check_refused(change: impl FnOnce(&mut World), expected: &str) {
    let mut world = chain(3);
    change(&mut world);
    let problems: Vec<_> = world.problems().iter().map(ToString::to_string).collect();
    assert!(problems.join("\n").contains(expected), "{problems:?} instead of {expected}");
}

#[test]
fn a_world_that_cannot_be_is_refused_with_its_reason() {
    assert_eq!(chain(2).problems(), []);
    assert_eq!(chain(LINKS_MAX + 1).problems(), []);
    check_refused(|world| world.links.clear(), "there is no link");
    check_refused(|world| world.nodes.truncate(2), "link 2: one of its ends is at no node");
    check_refused(|world| world.server = 0, "client and server are the same");
    check_refused(|world| world.server = 3, "no node for the server");
    check_refused(|world| world.nodes[0].kind = S, "node 1 is a switch and cannot be the client");
    check_refused(|world| world.links[1].ends = [1, 1], "link 2: both its ends");
    check_refused(|world| world.nodes.push(Node::new("alone", H)), "node 4 (alone) has no link");
    check_refused(|world| world.nodes[1].kind = H, "node 1 (client) has no way to server");
    check_refused(|world| *world = chain(LINKS_MAX + 2), "65 links are more than 64");
    check_refused(|world| world.nodes[2].name = "client".into(), "node 3 has no name of its own");
    check_refused(|world| world.nodes[2].name = "a b".into(), "node 3 is called \"a b\"");
    check_refused(|world| world.families = PerFamily::default(), "neither family");
    check_refused(|world| world.links[1].mtu = 1200, "link 2: IPv6 needs an MTU of at least 1280");
    check_refused(|world| world.links[0].mtu = 65_535, "more than 9216");
    check_refused(|world| world.links[1].mtus.v6 = Some(1200), "IPv6 needs an MTU of at least");
    check_refused(|world| world.links[1].mtus.v4 = Some(1501), "the MTU of IPv4 is above that of");
    let wire = |world: &mut World| world.model = LinkModel::Wire;
    let rate = |world: &mut World, rate| world.links[0].conditions.v4.rate_bps = Some(rate);
    check_refused(|world| (wire(world), rate(world, 0)).0, "the rate for IPv4 is not in 8000");
    let loss = |world: &mut World, loss| world.links[0].conditions.v6.loss = loss;
    check_refused(|world| (wire(world), loss(world, f64::NAN)).0, "the loss for IPv6");
    check_refused(|world| world.links[0].conditions.v6.delay_ns = u64::MAX, "longer than 10 s");
    check_refused(|world| world.priority = vec![46, 64], "64 is no code point");
    check_refused(|world| world.vlan_tags = 3, "3 tags on a frame");
}

#[test]
fn conditions_that_contradict_themselves_are_refused_both_ways() {
    let refused = |met: Conditions, expected: &str| {
        for back in [false, true] {
            check_refused(
                |world| {
                    world.model = LinkModel::Wire;
                    let link = &mut world.links[1];
                    let there = &mut link.conditions;
                    let way = if back { link.back.insert(*there) } else { there };
                    way.v6 = met;
                },
                expected,
            );
        }
    };
    let plain = Conditions::rate(None);
    let spread = |spread| Some(Jitter { spread_ns: 300, spread, reorders: true });
    let met = Conditions { delay_ns: 299, jitter: spread(Spread::Uniform), ..plain };
    refused(met, "link 2: the jitter for IPv6 reaches 300 ns, more than the delay of 299 ns");
    let met = Conditions { delay_ns: 1199, jitter: spread(Spread::Normal), ..plain };
    refused(met, "reaches 1200 ns");
    let bursts = Bursts { begin: 0.1, end: 0.0, loss: 1.0 };
    refused(Conditions { bursts: Some(bursts), ..plain }, "a burst ends for IPv6 is 0");
    let bursts = Bursts { loss: 1.5, ..bursts };
    refused(Conditions { bursts: Some(bursts), ..plain }, "the loss inside bursts for IPv6");
    refused(Conditions { duplication: -0.1, ..plain }, "the duplication for IPv6 is not in 0 to 1");
    let held = |share, by_ns| Some(Reordering { share, by_ns });
    refused(Conditions { reordering: held(f64::NAN, 1), ..plain }, "the share held back");
    refused(Conditions { reordering: held(0.1, u64::MAX), ..plain }, "the time of being held back");
}

fn tunnel(kind: TunnelKind, outer: Family, ends: [usize; 2]) -> LaidTunnel {
    let carries = PerFamily { v4: true, v6: true };
    LaidTunnel { ends, tunnel: Tunnel { kind, outer }, carries }
}

#[test]
fn tunnels_that_cannot_be_laid_are_refused() {
    let (gre, four, six) = (TunnelKind::Gre, Family::V4, Family::V6);
    let with = |tunnels: &[LaidTunnel]| {
        let tunnels = tunnels.to_vec();
        move |world: &mut World| world.tunnels = tunnels
    };
    check_refused(with(&[tunnel(gre, four, [1, 1])]), "tunnel 1: both its ends are at the same");
    check_refused(with(&[tunnel(gre, four, [0, 9])]), "tunnel 1: one of its ends is at no node");
    let routed = TunnelKind::SegmentRouting;
    check_refused(with(&[tunnel(routed, four, [0, 2])]), "segment-routing is not made over IPv4");
    let only = |v4: bool| PerFamily { v4, v6: !v4 };
    let twice = [
        LaidTunnel { carries: only(true), ..tunnel(gre, four, [0, 2]) },
        LaidTunnel { carries: only(false), ..tunnel(gre, six, [1, 2]) },
    ];
    check_refused(with(&twice), "tunnel 2: tunnel 1 is over link 2 already");
    let nothing = PerFamily { v4: false, v6: false };
    let empty = LaidTunnel { carries: nothing, ..tunnel(gre, four, [0, 2]) };
    check_refused(with(&[empty]), "tunnel 1: it carries no family");
    let without_v6 = |world: &mut World| {
        world.families = only(true);
        world.tunnels = [tunnel(gre, four, [0, 2])].to_vec();
    };
    check_refused(without_v6, "tunnel 1: it carries IPv6, which the world does not have");
    check_refused(
        |world| {
            world.families.v4 = false;
            world.tunnels = vec![tunnel(gre, four, [0, 2])];
        },
        "tunnel 1: it is over IPv4, which the world does not have",
    );
    check_refused(
        |world| {
            world.links[1].mtu = 1300;
            world.tunnels = vec![tunnel(gre, four, [0, 2])];
        },
        "tunnel 1: it leaves 1276 bytes, and IPv6 needs 1280",
    );
    check_refused(
        |world| {
            world.model = LinkModel::Shaped;
            world.priority = vec![46];
            world.tunnels = vec![tunnel(gre, four, [0, 2])];
        },
        "no packet outside has a mark",
    );
    check_refused(
        |world| {
            world.links[0].subnets.v4 = "10.47.0.0/16".parse().ok();
            world.tunnels = vec![tunnel(gre, four, [0, 2])];
        },
        "10.47.0.0/16 holds addresses that tunnels have inside",
    );
    let mut ring = graph(&[H, R, R, H], &[[0, 1], [0, 2], [1, 3], [2, 3], [1, 2]]);
    ring.tunnels = vec![tunnel(gre, four, [0, 1]), tunnel(gre, six, [2, 0])];
    let found: Vec<String> = ring.problems().iter().map(ToString::to_string).collect();
    assert_eq!(found, ["tunnel 2: another tunnel of n0 carries the same family"]);
}

#[test]
fn packets_are_in_a_tunnel_where_they_pass_both_its_ends() {
    let mut world = chain(6);
    let six = PerFamily { v4: false, v6: true };
    let mut laid = tunnel(TunnelKind::IpInIp, Family::V4, [1, 3]);
    laid.carries = six;
    world.tunnels = vec![laid];
    let over = |world: &World, family| {
        let over = world.tunnels_on_path(family);
        over.iter().map(Option::is_some).collect::<Vec<bool>>()
    };
    assert_eq!(over(&world, Family::V4), [false; 5]);
    assert_eq!(over(&world, Family::V6), [false, true, true, false, false]);
    world.links[2].conditions.v4.delay_ns = 7;
    let delays = |family| world.ways(family).map(|way| way.iter().map(|c| c.delay_ns).sum::<u64>());
    assert_eq!(delays(Family::V6), [7, 7], "what is outside meets what IPv4 meets");
    // A router at the end of the path is reached by its address outside.
    assert_eq!(over(&world.clone().measured(1, 5), Family::V6), [false; 4]);
    assert_eq!(over(&world.clone().measured(5, 0), Family::V6), [false, false, true, true, false]);
    // A host by the one inside.
    world.tunnels[0].ends = [0, 3];
    assert_eq!(over(&world, Family::V6), [true, true, true, false, false]);
    let known = world.addresses(&Topology::of(&world), 0).map(|a| a.map(|a| a.to_string()));
    assert_eq!(known.v4.as_deref(), Some("10.46.1.1"));
    assert_eq!(known.v6.as_deref(), Some("fd47:1::1"));
    let swapped = world.swapped();
    assert_eq!(over(&swapped, Family::V4), [true, true, true, false, false]);
    assert_eq!(swapped.tunnels[0].tunnel.outer, Family::V6);
    let text = serde_json::to_string(&swapped).unwrap();
    assert_eq!(serde_json::from_str::<World>(&text).unwrap(), swapped);
    let lost = text.replace(r#""ends":[0,3]"#, r#""ends":[0,9]"#);
    assert!(serde_json::from_str::<World>(&lost).is_err(), "{text}");
}

#[test]
fn code_points_are_bits() {
    let mut world = chain(2);
    world.priority = vec![46, 0, 46, 63];
    assert_eq!(world.priority_bits(), 1 << 63 | 1 << 46 | 1);
}

#[test]
fn conditions_that_a_model_cannot_apply_are_refused_and_not_dropped() {
    let delay = |world: &mut World| world.links[1].conditions.v6.delay_ns = 1;
    check_refused(delay, "link 2: has a delay, which needs the wire model");
    check_refused(
        |world| {
            world.model = LinkModel::Shaped;
            world.links[0].conditions.v4.loss = 0.1;
        },
        "link 1: has loss, which needs the wire model",
    );
    let hole = |world: &mut World| world.links[0].conditions.v4.black_hole_above = Some(1400);
    check_refused(hole, "a black hole, which needs the wire model");
    let rate = |world: &mut World| world.links[0].conditions.v4.rate_bps = Some(1_000_000);
    check_refused(rate, "a rate, which needs the shaped or wire model");
    check_refused(
        |world| {
            world.model = LinkModel::Wire;
            world.links[0].offloads = Some(true);
        },
        "link 1: offloads make frames",
    );
    type Change = fn(&mut Conditions);
    let wire_only: [(Change, &str); 5] = [
        (|met| met.duplication = 0.1, "duplication, which needs the wire model"),
        (|met| met.reordering = Some(Reordering { share: 0.1, by_ns: 9 }), "reordering, which"),
        (
            |met| met.bursts = Some(Bursts { begin: 0.1, end: 0.1, loss: 0.1 }),
            "loss in bursts, which needs the wire model",
        ),
        (|met| met.black_hole_above = Some(1400), "a black hole, which"),
        (|met| met.queue_frames = Some(3), "a queue length of one family, which needs the wire"),
    ];
    for (change, expected) in wire_only {
        check_refused(
            |world| {
                world.model = LinkModel::Shaped;
                let link = &mut world.links[0];
                change(&mut link.back.insert(link.conditions).v4);
            },
            expected,
        );
    }
    check_refused(|world| world.priority = vec![46], "priorities, which need the shaped or wire");
    check_refused(|world| world.vlan_tags = 1, "tags, which need the shaped or wire");
    let mut world = chain(3);
    world.families.v6 = false;
    world.links[0].mtu = 576;
    world.links[0].conditions.v6.delay_ns = 1;
    assert_eq!(world.problems(), [], "conditions of an absent family do not matter");
}

#[test]
fn switches_make_trees_of_one_mtu_and_one_subnet() {
    let refused = |world: &World, expected: &str| {
        let problems: Vec<_> = world.problems().iter().map(ToString::to_string).collect();
        assert!(problems.join("\n").contains(expected), "{problems:?} instead of {expected}");
    };
    refused(&graph(&[H, S, S, H], &[[0, 1], [1, 2], [2, 1], [2, 3]]), "closes a ring");
    refused(&graph(&[H, S, H], &[[0, 1], [0, 1], [1, 2]]), "two links to the same switched");
    let mut world = graph(&[H, S, S, R, H], &[[0, 1], [1, 2], [2, 3], [3, 4]]);
    assert_eq!(world.problems(), []);
    world.links[1].mtu = 1400;
    refused(&world, "one MTU");
    world.links[1].mtu = 1500;
    world.links[1].mtus.v6 = Some(1400);
    refused(&world, "one MTU");
    world.links[1].mtus.v6 = None;
    world.links[0].subnets.v4 = Some("192.0.2.0/30".parse().unwrap());
    assert_eq!(world.problems(), []);
    world.links[2].subnets.v4 = Some("198.51.100.0/24".parse().unwrap());
    refused(&world, "one subnet, but name several");
    world.links[2].subnets.v4 = Some("192.0.2.0/31".parse().unwrap());
    world.links[0].subnets.v4 = None;
    refused(&world, "no room for 2 hosts");
    world.links[2].subnets.v4 = Some("10.0.0.0/8".parse().unwrap());
    refused(&world, "overlaps");
    world.links[2].subnets.v4 = Some("fd00::/64".parse().unwrap());
    refused(&world, "no subnet of IPv4");
}

#[test]
fn the_first_look_world_has_the_documented_addresses() {
    let world = World::client_router_server(LinkModel::Bare, None);
    let topology = Topology::of(&world);
    let of = |node| {
        let found = world.addresses(&topology, node);
        found.map(|address| address.unwrap().to_string())
    };
    assert_eq!(of(0), PerFamily { v4: "10.46.1.1".into(), v6: "fd46:1::1".into() });
    assert_eq!(of(1), PerFamily { v4: "10.46.1.2".into(), v6: "fd46:1::2".into() });
    assert_eq!(of(2), PerFamily { v4: "10.46.2.2".into(), v6: "fd46:2::2".into() });
}

#[test]
fn all_that_a_switch_joins_are_neighbours() {
    let world = graph(&[H, S, S, H, R, H], &[[0, 1], [1, 2], [2, 3], [2, 4], [4, 5]]);
    let topology = Topology::of(&world);
    assert_eq!(topology.segments().len(), 2);
    let host = |node| world.addresses(&topology, node).v4.map(|address| address.to_string());
    let expected = ["10.46.1.1", "10.46.1.2", "10.46.1.3", "10.46.2.2"].map(|a| Some(a.into()));
    assert_eq!([0, 3, 4, 5].map(host), expected);
    assert_eq!(host(1), None);
    let hops: Vec<usize> = world.path().iter().map(|hop| hop.link).collect();
    assert_eq!(hops, [0, 1, 3, 4]);
    assert_eq!(world.path_nodes(), [0, 1, 2, 4, 5]);
    assert_eq!(world.routers(), 1);
    assert_eq!(topology.routes(0).len(), 1);
    assert_eq!(topology.routes(4), []);
}

#[test]
fn the_shortest_way_is_taken_and_back() {
    // 0 - 1 - 2 - 5 and 0 - 1 - 3 - 4 - 5.
    let links = [[0, 1], [1, 3], [3, 4], [4, 5], [2, 1], [5, 2]];
    let world = graph(&[H, R, R, R, R, H], &links);
    assert_eq!(world.problems(), []);
    assert_eq!(world.path_nodes(), [0, 1, 2, 5]);
    let sides: Vec<Side> = world.path().iter().map(|hop| hop.from).collect();
    assert_eq!(sides, [Side::First, Side::Second, Side::Second]);
    assert_eq!(world.measured(5, 0).path_nodes(), [5, 2, 1, 0]);
}

/// Connected graphs: each new node hangs on an earlier one that forwards, and some links more.
fn worlds() -> impl Strategy<Value = World> {
    let node =
        (prop_oneof![2 => Just(H), 3 => Just(R), 2 => Just(S)], any::<prop::sample::Index>());
    let more = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    (prop::collection::vec(node, 1..10), prop::collection::vec(more, 0..4)).prop_map(
        |(nodes, more)| {
            let mut kinds = vec![R];
            let mut links = Vec::new();
            for (kind, at) in nodes {
                let forwarding: Vec<usize> = (0..kinds.len()).filter(|&n| kinds[n] != H).collect();
                links.push([forwarding[at.index(forwarding.len())], kinds.len()]);
                kinds.push(kind);
            }
            links.extend(more.iter().map(|(a, b)| [a.index(kinds.len()), b.index(kinds.len())]));
            graph(&kinds, &links)
        },
    )
}

/// The nodes that a packet meets which every node sends on by its own routes.
fn forwarded(world: &World, topology: &Topology, from: usize, to: usize) -> Vec<usize> {
    let (_, arrival) = topology.ends_towards(from, to).unwrap();
    let segment = topology.segment_of(arrival.link);
    let mut nodes = vec![from];
    while nodes.len() <= world.nodes.len() {
        let node = nodes[nodes.len() - 1];
        if node == to {
            return nodes;
        }
        let route = topology.routes(node).into_iter().find(|(known, _)| *known == segment);
        let next = route.map_or(to, |(_, hop)| topology.node(hop.via));
        assert!(node == from || world.nodes[node].kind == R, "a host forwards");
        nodes.push(next);
    }
    panic!("packets go round: {nodes:?}");
}

proptest! {
    #[test]
    fn any_two_nodes_reach_each_other_on_one_way(mut world in worlds()) {
        let talks: Vec<usize> = (0..world.nodes.len()).filter(|&n| world.is_addressed(n)).collect();
        prop_assume!(talks.len() > 1);
        world = world.measured(talks[0], talks[talks.len() - 1]);
        prop_assume!(world.problems().is_empty());
        let topology = Topology::of(&world);
        for &from in &talks {
            for &to in talks.iter().filter(|&&to| to != from) {
                let there = world.clone().measured(from, to);
                let mut back = there.clone().measured(to, from).path_nodes();
                back.reverse();
                prop_assert_eq!(there.path_nodes(), back);
                let mut inner = there.path_nodes();
                inner.retain(|&node| world.is_addressed(node));
                prop_assert_eq!(inner, forwarded(&world, &topology, from, to));
                let ends = topology.ends_towards(from, to).unwrap();
                let back = topology.ends_towards(to, from).unwrap();
                prop_assert_eq!(ends, (back.1, back.0));
            }
        }
    }

    #[test]
    fn every_end_has_an_address_of_its_own(world in worlds()) {
        let topology = Topology::of(&world);
        let mut seen = Vec::new();
        for end in (0..world.nodes.len()).flat_map(|node| topology.ends_of(node)) {
            let addressed = world.is_addressed(topology.node(end));
            for family in Family::BOTH {
                let address = world.address(&topology, end, family);
                prop_assert_eq!(address.is_some(), addressed);
                prop_assert!(address.is_none() || !seen.contains(&address));
                seen.push(address);
            }
        }
    }

    #[test]
    fn a_world_survives_being_stored(world in worlds()) {
        let text = serde_json::to_string(&world).unwrap();
        prop_assert_eq!(serde_json::from_str::<World>(&text).unwrap(), world);
    }
}

#[test]
fn a_world_of_a_time_with_fewer_conditions_is_read() {
    let conditions = r#"{"rate_bps":1000000,"delay_ns":5,"loss":0.5,"black_hole_above":1400}"#;
    let text = format!(
        r#"{{"model":"wire","nodes":["a","b"],"families":{{"v4":true,"v6":false}},
        "links":[{{"conditions":{{"v4":{conditions},"v6":{conditions}}},"mtu":1500,
        "queue_frames":7}}]}}"#
    );
    let world: World = serde_json::from_str(&text).unwrap();
    let met = world.links[0].conditions.v4;
    let usual = Conditions {
        delay_ns: 5,
        loss: 0.5,
        black_hole_above: Some(1400),
        ..Conditions::rate(Some(1_000_000))
    };
    assert_eq!(met, usual);
    assert_eq!(*world.links[0].met(Side::Second), world.links[0].conditions);
    assert_eq!((world.priority.len(), world.vlan_tags), (0, 0));
    let again: World = serde_json::from_str(&serde_json::to_string(&world).unwrap()).unwrap();
    assert_eq!(again, world);
}

#[test]
fn a_managed_node_survives_being_stored() {
    let mut world = World::client_router_server(LinkModel::Wire, None);
    let plain = serde_json::to_string(&world).unwrap();
    world.nodes[1].snmp = true;
    let text = serde_json::to_string(&world).unwrap();
    assert_eq!(serde_json::from_str::<World>(&text).unwrap(), world);
    assert!(!plain.contains("snmp") && text.contains("\"snmp\":[1]"), "{text}");
}

#[test]
fn an_emulated_node_is_the_server_and_has_nothing_else_to_do() {
    let mut world = World::client_router_server(LinkModel::Wire, None);
    let plain = serde_json::to_string(&world).unwrap();
    world.nodes[2].emulated = true;
    assert_eq!((world.problems(), world.emulated()), (Vec::new(), Some(2)));
    let text = serde_json::to_string(&world).unwrap();
    assert_eq!(serde_json::from_str::<World>(&text).unwrap(), world);
    assert!(!plain.contains("emulated") && text.contains("\"emulated\":[2]"), "{text}");

    let emulated = |place: usize, change: fn(&mut World), expected: &str| {
        let mut world = World::client_router_server(LinkModel::Wire, None);
        world.nodes[place].emulated = true;
        change(&mut world);
        let problems: Vec<_> = world.problems().iter().map(ToString::to_string).collect();
        assert!(problems.join("\n").contains(expected), "{problems:?} instead of {expected}");
    };
    emulated(1, |_| (), "node 2 (router) is no host, and only hosts are emulated");
    emulated(0, |_| (), "node 1 (client) is emulated and is not the server, which alone can be");
    emulated(2, |world| world.server = 1, "is not the server");
    emulated(2, |world| world.nodes[2].snmp = true, "is emulated and has no SNMP agent");
    let second = |world: &mut World| {
        world.nodes.push(Node::new("other", NodeKind::Host));
        world.links.push(Link::ethernet(None).between(2, 3));
        world.links.push(Link::ethernet(None).between(1, 3));
    };
    emulated(2, second, "node 3 (server) is emulated and has more than one link");
}

#[test]
fn swapping_exchanges_the_families_in_both_directions() {
    let mut world = World::client_router_server(LinkModel::Wire, None);
    let slow = Conditions::rate(Some(1));
    let back = PerFamily { v4: slow, v6: Conditions::rate(None) };
    world.links[0].back = Some(back);
    let swapped = world.clone().swapped();
    assert_eq!(swapped.links[0].met(Side::Second).v6, slow);
    assert_eq!(swapped.swapped(), world);
}

fn translated(kind: TranslationKind, at: usize) -> World {
    World { translation: Some(Translation { kind, at, client: 0 }), ..chain(5) }
}

#[test]
fn what_programs_carry_or_another_system_answers_is_no_cable_alone() {
    assert!(chain(2).is_of_cables() && chain(5).is_of_cables());
    let laid = [tunnel(TunnelKind::Gre, Family::V4, [0, 2])].to_vec();
    let mut emulated = chain(3);
    emulated.nodes[2].emulated = true;
    for other in [
        World { tunnels: laid, ..chain(3) },
        translated(TranslationKind::Nat64, 2),
        emulated,
        World { model: LinkModel::Wire, ..chain(2) },
    ] {
        assert!(!other.is_of_cables(), "{other:?}");
    }
}

#[test]
fn translated_packets_are_ipv6_before_the_router_and_ipv4_behind_it() {
    let (four, six) = (Family::V4, Family::V6);
    let seen = |world: &World, family| -> Vec<Family> {
        world.on_path(family).iter().map(|on| on.family).collect()
    };
    let mut nat64 = translated(TranslationKind::Nat64, 2);
    assert_eq!(seen(&nat64, six), [six, six, four, four]);
    assert_eq!(seen(&nat64, four), [four; 4], "native IPv4 stays");
    let mut clat = translated(TranslationKind::Xlat464, 2);
    assert_eq!(seen(&clat, four), [six, six, four, four]);
    assert_eq!(seen(&clat, six), [six; 4], "native IPv6 stays");
    for world in [&mut nat64, &mut clat] {
        assert_eq!(world.problems(), []);
        world.links[0].conditions.v6.delay_ns = 6;
        world.links[3].conditions.v4.delay_ns = 4;
        let family = world.translation.unwrap().kind.translates();
        let delays = world.ways(family).map(|way| way.iter().map(|c| c.delay_ns).sum::<u64>());
        assert_eq!(delays, [10, 10]);
        let text = serde_json::to_string(&*world).unwrap();
        assert_eq!(serde_json::from_str::<World>(&text).unwrap(), *world);
        assert!(serde_json::from_str::<World>(&text.replace("\"at\":2", "\"at\":9")).is_err());
    }
    let known = |world: &World, node| world.addresses(&Topology::of(world), node);
    let text = |address: Option<core::net::IpAddr>| address.unwrap().to_string();
    assert_eq!(text(known(&nat64, 4).v6), "fd46:64::a2e:402");
    assert_eq!(text(known(&nat64, 4).v4), "10.46.4.2");
    assert_eq!(text(known(&nat64, 0).v6), "fd46:1::1");
    assert_eq!(text(known(&clat, 0).v4), "192.0.0.1");
    assert_eq!(text(known(&clat, 4).v4), "10.46.4.2");
    assert_eq!(text(known(&clat, 4).v6), "fd46:4::2");
}

#[test]
fn translation_that_cannot_be_had_is_refused() {
    let refused = |kind, change: &dyn Fn(&mut World), expected: &str| {
        let mut world = translated(kind, 2);
        change(&mut world);
        let problems: Vec<_> = world.problems().iter().map(ToString::to_string).collect();
        assert!(problems.iter().any(|p| p.contains(expected)), "{expected}: {problems:?}");
    };
    use TranslationKind::{Nat64, Xlat464};
    let at = |node: usize| move |world: &mut World| world.translation.as_mut().unwrap().at = node;
    refused(Nat64, &at(4), "translation: server is not a router");
    refused(Nat64, &|world| *world = world.clone().measured(0, 2), "router2 is not on the way");
    refused(Xlat464, &|world| *world = world.clone().measured(2, 4), "router2 is not a host");
    refused(Xlat464, &|world| *world = world.clone().measured(4, 0), "measure from client");
    refused(Nat64, &|world| world.families.v4 = false, "must have both families");
    refused(
        Nat64,
        &|world| world.tunnels = vec![tunnel(TunnelKind::Gre, Family::V4, [1, 3])],
        "tunnels or translation, not both",
    );
    for subnet in ["10.49.0.0/30", "192.0.0.0/24"] {
        let own = |world: &mut World| world.links[1].subnets.v4 = Some(subnet.parse().unwrap());
        refused(Xlat464, &own, "holds addresses that translators have");
    }
    let own = |world: &mut World| world.links[3].subnets.v6 = Some("fd46:64::/64".parse().unwrap());
    refused(Nat64, &own, "link 4: fd46:64::/64 holds addresses");
    // Whoever is at the other side of the router is translated.
    assert_eq!(translated(Nat64, 2).measured(4, 0).problems(), []);
}
