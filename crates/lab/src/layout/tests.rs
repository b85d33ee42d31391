//! Tests of names, addresses, routes and the refusal of worlds.

use super::*;

fn chain(nodes: usize) -> World {
    let mut world = World::client_router_server(LinkModel::Bare, None);
    world.nodes = (0..nodes).map(|node| format!("n{node}")).collect();
    world.links = vec![Link::ethernet(None); nodes - 1];
    world
}

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address in a test")
}

#[test]
fn the_first_look_world_has_the_documented_addresses() {
    let world = World::client_router_server(LinkModel::Bare, None);
    let of = |node| addresses(&world, node);
    assert_eq!(of(0), PerFamily { v4: Some(ip("10.46.1.1")), v6: Some(ip("fd46:1::1")) });
    assert_eq!(of(1), PerFamily { v4: Some(ip("10.46.1.2")), v6: Some(ip("fd46:1::2")) });
    assert_eq!(of(2), PerFamily { v4: Some(ip("10.46.2.2")), v6: Some(ip("fd46:2::2")) });
    assert_eq!(link_local(1, Side::Server), ip("fe80::46:ff:fe00:202"));
}

#[test]
fn an_absent_family_has_no_address_and_no_route() {
    let mut world = chain(4);
    world.families.v6 = false;
    assert_eq!(addresses(&world, 3).v6, None);
    assert!(routes(&world, 0).iter().all(|route| route.via.is_ipv4()));
    assert_eq!(routes(&world, 0).len(), 2);
}

#[test]
fn a_node_in_the_middle_routes_both_ways() {
    let ways: Vec<(IpAddr, IpAddr)> =
        routes(&chain(5), 2).into_iter().map(|route| (route.subnet, route.via)).collect();
    let expected = [
        ("10.46.1.0", "10.46.2.1"),
        ("fd46:1::", "fd46:2::1"),
        ("10.46.4.0", "10.46.3.2"),
        ("fd46:4::", "fd46:3::2"),
    ];
    assert_eq!(ways, expected.map(|(subnet, via)| (ip(subnet), ip(via))));
}

#[test]
fn ends_of_a_chain_have_one_link_and_routers_two() {
    let ends = |node| ends_of(node, 2).collect::<Vec<_>>();
    assert_eq!(ends(0), [(0, Side::Client)]);
    assert_eq!(ends(1), [(0, Side::Server), (1, Side::Client)]);
    assert_eq!(ends(2), [(1, Side::Server)]);
}

fn check_refused(change: impl FnOnce(&mut World), expected: &str) {
    let mut world = chain(3);
    change(&mut world);
    let error = check(&world).expect_err(expected).to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_world_that_cannot_be_is_refused_with_its_reason() {
    assert!(check(&chain(2)).is_ok());
    check_refused(|world| world.links.clear(), "do not make a chain");
    check_refused(|world| world.nodes.truncate(1), "do not make a chain");
    check_refused(|world| world.nodes[2] = "n0".to_owned(), "node 3 has no name of its own");
    check_refused(|world| world.families = PerFamily { v4: false, v6: false }, "neither family");
    check_refused(|world| world.links[1].mtu = 1200, "link 2: IPv6 needs an MTU of at least 1280");
    check_refused(|world| world.links[0].mtu = 65_535, "more than 9216");
    let wire = |world: &mut World| world.model = LinkModel::Wire;
    let rate = |world: &mut World, rate| world.links[0].conditions.v4.rate_bps = Some(rate);
    check_refused(|world| (wire(world), rate(world, 0)).0, "the rate for IPv4 is not in 8000");
    let loss = |world: &mut World, loss| world.links[0].conditions.v6.loss = loss;
    check_refused(|world| (wire(world), loss(world, f64::NAN)).0, "the loss for IPv6");
    check_refused(|world| world.links[0].conditions.v6.delay_ns = u64::MAX, "longer than 10 s");
}

#[test]
fn conditions_that_a_model_cannot_apply_are_refused_and_not_dropped() {
    let delay = |world: &mut World| world.links[1].conditions.v6.delay_ns = 1;
    check_refused(|world| delay(world), "link 2 has a delay, which needs the wire model");
    check_refused(
        |world| {
            world.model = LinkModel::Shaped;
            world.links[0].conditions.v4.loss = 0.1;
        },
        "link 1 has loss, which needs the wire model",
    );
    check_refused(
        |world| world.links[0].conditions.v4.black_hole_above = Some(1400),
        "a black hole, which needs the wire model",
    );
    check_refused(
        |world| world.links[0].conditions.v4.rate_bps = Some(1_000_000),
        "a rate, which needs the shaped or wire model",
    );
    let mut world = chain(3);
    world.families.v6 = false;
    world.links[0].mtu = 576;
    world.links[0].conditions.v6.delay_ns = 1;
    assert!(check(&world).is_ok(), "conditions of an absent family do not matter");
}
