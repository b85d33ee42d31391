//! Tests of names, addresses and routes.

use super::*;
use v6gap_core::world::{Link, LinkModel, Node};

fn chain(nodes: usize) -> World {
    World::chain(LinkModel::Bare, vec![Link::ethernet(None); nodes - 1])
}

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address in a test")
}

#[test]
fn ends_have_names_of_their_own() {
    let ends = [End { link: 0, side: Side::First }, End { link: 1, side: Side::Second }];
    assert_eq!(ends.map(wire_interface), ["link1a", "link2b"]);
    assert_eq!(ends.map(mac), [[2, 0x46, 0, 0, 1, 1], [2, 0x46, 0, 0, 2, 2]]);
    assert_eq!(link_local(ends[1]), ip("fe80::46:ff:fe00:202"));
}

#[test]
fn an_absent_family_has_no_address_and_no_route() {
    let mut world = chain(4);
    world.families.v6 = false;
    let layout = Layout::of(&world);
    let end = End { link: 0, side: Side::First };
    assert_eq!(layout.address(end, Family::V6), None);
    assert_eq!(layout.address(end, Family::V4), Some((ip("10.46.1.1"), 24)));
    assert!(layout.routes(0).iter().all(|route| route.via.is_ipv4()));
    assert_eq!(layout.routes(0).len(), 2);
    assert!(layout.neighbours(end).iter().all(|neighbour| neighbour.address.is_ipv4()));
}

#[test]
fn a_node_in_the_middle_routes_both_ways() {
    let world = chain(5);
    let routes = Layout::of(&world).routes(2);
    let ways: Vec<(IpAddr, IpAddr)> =
        routes.into_iter().map(|route| (route.subnet, route.via)).collect();
    let expected = [
        ("10.46.1.0", "10.46.2.1"),
        ("fd46:1::", "fd46:2::1"),
        ("10.46.4.0", "10.46.3.2"),
        ("fd46:4::", "fd46:3::2"),
    ];
    assert_eq!(ways, expected.map(|(subnet, via)| (ip(subnet), ip(via))));
}

#[test]
fn a_subnet_of_one_s_own_is_used_throughout() {
    let mut world = chain(4);
    world.links[1].subnets.v6 = Some("2001:db8:7::/48".parse().expect("a subnet"));
    let layout = Layout::of(&world);
    assert_eq!(
        layout.address(End { link: 1, side: Side::Second }, Family::V6),
        Some((ip("2001:db8:7::2"), 48))
    );
    let route = layout.routes(0)[1];
    assert_eq!(
        (route.subnet, route.prefix_bits, route.via),
        (ip("2001:db8:7::"), 48, ip("fd46:1::2"))
    );
    let far = layout.routes(3).into_iter().filter(|route| route.via.is_ipv6());
    let far: Vec<IpAddr> = far.map(|route| route.subnet).collect();
    assert_eq!(far, [ip("fd46:1::"), ip("2001:db8:7::")]);
}

#[test]
fn a_switch_makes_all_its_hosts_neighbours() {
    let mut world = chain(3);
    world.nodes[1] = Node::new("switch", NodeKind::Switch);
    world.nodes.push(Node::new("third", NodeKind::Host));
    world.links.push(Link::ethernet(None).between(1, 3));
    let layout = Layout::of(&world);
    let neighbours = layout.neighbours(End { link: 0, side: Side::First });
    let addresses: Vec<IpAddr> = neighbours.iter().map(|neighbour| neighbour.address).collect();
    let expected = [
        "10.46.1.2",
        "fd46:1::2",
        "fe80::46:ff:fe00:202",
        "10.46.1.3",
        "fd46:1::3",
        "fe80::46:ff:fe00:302",
    ];
    assert_eq!(addresses, expected.map(ip));
    assert_eq!(layout.address(End { link: 0, side: Side::Second }, Family::V4), None);
    assert_eq!(layout.routes(0), []);
    assert!(layout.is_switch(1));
}
