//! The wire model on the links of a [`World`]: what the headers predict for a lab network.
//!
//! Rates, mean delays, tags, MTUs, tunnels and translation are the world's; all else that a link
//! does to frames is left out, and so is what hosts, routers, ends of tunnels and translators cost.

use crate::family::Family;
use crate::wiremodel::{
    Carried, Framing, LinkTiming, TcpOptions, Unsendable, one_way_ns, tcp_mss, udp_packets,
};
use crate::world::World;
use alloc::vec::Vec;

/// What each link of the path adds to packets of one family on the way there, and on the way back,
/// each in the order in which they meet them; a link without a rate adds no serialisation time.
pub fn link_timings(world: &World, family: Family) -> [Vec<LinkTiming>; 2] {
    let there = carried(world, family);
    let back: Vec<_> = there.iter().rev().copied().collect();
    let [ahead, home] = world.ways(family);
    [(ahead, there), (home, back)].map(|(met, carried)| {
        let timing = met.iter().zip(carried).map(|(met, carried)| LinkTiming {
            rate_bps: met.rate_bps.map_or(f64::INFINITY, |rate| rate as f64),
            propagation_ns: met.delay_ns as f64,
            carried,
        });
        timing.collect()
    })
}

/// What packets of one family are on each link from client to server in turn.
fn carried(world: &World, family: Family) -> Vec<Carried> {
    world.on_path(family).into_iter().map(|on| on.carried).collect()
}

/// What every frame of the world has besides the plain Ethernet header; outside the lab none is
/// known to have anything.
pub fn framing(world: Option<&World>) -> Framing {
    Framing { vlan_tags: world.map_or(0, |world| world.vlan_tags) }
}

/// Largest packet of one family that the path takes in one piece, in bytes, which the sender is
/// taken to know: the smallest MTU of its links, of the tunnels over them, and of what becomes of
/// it by translation; 0 without links.
pub fn path_mtu(world: &World, family: Family) -> u32 {
    let links = world.path().into_iter().filter_map(|hop| world.links.get(hop.link));
    let mtu = links.zip(world.on_path(family)).map(|(link, on)| match on.tunnel {
        Some(laid) => world.mtu_inside(laid),
        None => on.carried.mtu(link.mtu_of(on.family)),
    });
    mtu.min().unwrap_or(0)
}

/// Largest packet that the senders, tunnels and translators of the path make of both families, in
/// bytes.
pub fn link_packet_max(world: &World) -> u32 {
    let most = |family| {
        let mtu = path_mtu(world, family);
        let on_links = carried(world, family).into_iter();
        on_links.map(|carried| carried.link_bytes(mtu)).fold(mtu, u32::max)
    };
    let has = |family: &Family| *world.families.get(*family);
    Family::BOTH.into_iter().filter(has).map(most).max().unwrap_or(0)
}

/// Rate of the slowest link for one family on the way there, in bit/s; `None` if no link has a
/// rate.
pub fn bottleneck_bps(world: &World, family: Family) -> Option<u64> {
    let [there, _] = world.ways(family);
    there.into_iter().filter_map(|met| met.rate_bps).min()
}

/// Round trip of back-to-back packets of these IP lengths and an echo of equal size, in ns.
pub fn world_round_trip_ns(world: &World, family: Family, packets: &[u32]) -> f64 {
    let ways = link_timings(world, family);
    ways.iter().map(|links| one_way_ns(packets, links, framing(Some(world)))).sum()
}

/// Rate at which `payload` bytes in packets of these IP lengths pass over and over, in bit/s: that
/// of the link which needs longest for them; infinite if no link has a rate.
pub fn packets_goodput_bps(
    payload: u32,
    packets: &[u32],
    links: &[LinkTiming],
    framing: Framing,
) -> f64 {
    let through = |link: &LinkTiming| {
        let wire: f64 = packets.iter().map(|&p| f64::from(link.wire_bytes(p, framing))).sum();
        link.rate_bps * f64::from(payload) / wire
    };
    links.iter().map(through).fold(f64::INFINITY, f64::min)
}

/// TCP goodput there through the slowest link, in bit/s, with timestamps, which Linux hosts use;
/// `None` if no link has a rate, since then the hosts alone bound it.
pub fn world_tcp_goodput_bps(world: &World, family: Family) -> Option<f64> {
    let mtu = path_mtu(world, family);
    let mss = tcp_mss(mtu, family, TcpOptions::TIMESTAMPS);
    let [there, _] = link_timings(world, family);
    let goodput = packets_goodput_bps(mss, &[mtu], &there, framing(Some(world)));
    goodput.is_finite().then_some(goodput)
}

/// UDP goodput there through the slowest link for datagrams of `payload` bytes, in bit/s; `None` if
/// no link has a rate, since then the hosts alone bound it.
///
/// # Errors
/// [`Unsendable`] if such a datagram does not exist, whether or not a link has a rate.
pub fn world_udp_goodput_bps(
    world: &World,
    family: Family,
    payload: u32,
) -> Result<Option<f64>, Unsendable> {
    let packets = udp_packets(payload, family, path_mtu(world, family))?;
    let [there, _] = link_timings(world, family);
    let goodput = packets_goodput_bps(payload, &packets, &there, framing(Some(world)));
    Ok(goodput.is_finite().then_some(goodput))
}
