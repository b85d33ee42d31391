//! The wire model on the links of a [`World`]: what the headers predict for a lab network.
//!
//! Rates, mean delays, tags and MTUs are the world's; all else that a link does to frames is left
//! out, and so is what the hosts and routers cost.

use super::fragment::Unsendable;
use super::frame::Framing;
use super::goodput::{tcp_goodput_bps, udp_goodput_bps};
use super::round_trip::{LinkTiming, one_way_ns};
use super::segment::TcpOptions;
use crate::family::Family;
use crate::world::{Conditions, World};
use alloc::vec::Vec;

/// What each link of the path adds in time to packets of one family on the way there, and on the
/// way back, each in the order in which they meet them; a link without a rate adds no serialisation
/// time.
pub fn link_timings(world: &World, family: Family) -> [Vec<LinkTiming>; 2] {
    let timing = |met: &Conditions| LinkTiming {
        rate_bps: met.rate_bps.map_or(f64::INFINITY, |rate| rate as f64),
        propagation_ns: met.delay_ns as f64,
    };
    world.ways(family).map(|way| way.iter().map(timing).collect())
}

/// What every frame of the world has besides the plain Ethernet header.
pub fn framing(world: &World) -> Framing {
    Framing { vlan_tags: world.vlan_tags }
}

/// Smallest MTU along the path, in bytes, which the sender is taken to know; 0 without links.
pub fn path_mtu(world: &World) -> u32 {
    let links = world.path().into_iter().filter_map(|hop| world.links.get(hop.link));
    links.map(|link| link.mtu).min().unwrap_or(0)
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
    ways.iter().map(|links| one_way_ns(packets, links, framing(world))).sum()
}

/// TCP goodput there through the slowest link, in bit/s, with timestamps, which Linux hosts use;
/// `None` if no link has a rate, since then the hosts alone bound it.
pub fn world_tcp_goodput_bps(world: &World, family: Family) -> Option<f64> {
    let rate = bottleneck_bps(world, family)? as f64;
    let (mtu, framing) = (path_mtu(world), framing(world));
    Some(tcp_goodput_bps(rate, mtu, family, TcpOptions::TIMESTAMPS, framing))
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
    let rate = bottleneck_bps(world, family).map_or(f64::INFINITY, |rate| rate as f64);
    let goodput = udp_goodput_bps(rate, payload, family, path_mtu(world), framing(world))?;
    Ok(goodput.is_finite().then_some(goodput))
}
