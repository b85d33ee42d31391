//! From a world to names, addresses and routes: pure arithmetic, so that every lab of the same
//! world looks the same.
//!
//! Link number n (from 1) is one subnet of each family: 10.46.n.0/24 and fd46:n::/64 (RFC 1918,
//! RFC 4193), whose end nearer to the client has host number 1 and the other 2.

use crate::LabError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::world::{Conditions, Link, LinkModel, World};

/// Links that a world may have.
const LINKS_MAX: usize = 64;
/// Smallest MTU of each family, in bytes (RFC 791 section 3.1, RFC 8200 section 5).
const MTU_MIN: PerFamily<u32> = PerFamily { v4: 68, v6: 1280 };
/// Largest MTU of a link, in bytes: jumbo frames.
const MTU_MAX: u32 = 9_216;
/// Rates that the lab takes, in bit/s.
const RATE_BPS: std::ops::RangeInclusive<u64> = 8_000..=100_000_000_000;
/// Longest delay, in ns: 10 s.
const DELAY_NS_MAX: u64 = 10_000_000_000;

/// Length of a link's prefix.
pub(crate) const PREFIX_BITS: PerFamily<u8> = PerFamily { v4: 24, v6: 64 };

/// Which end of a link: the one nearer to the client or the one nearer to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

impl Side {
    pub const BOTH: [Side; 2] = [Side::Client, Side::Server];

    pub const fn other(self) -> Side {
        match self {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        }
    }

    /// Host number in the link's subnet.
    const fn host(self) -> u8 {
        match self {
            Side::Client => 1,
            Side::Server => 2,
        }
    }

    /// The node at this end of link `link` (from 0).
    pub const fn node(self, link: usize) -> usize {
        match self {
            Side::Client => link,
            Side::Server => link + 1,
        }
    }
}

/// A way to a subnet that is not a node's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    /// The subnet's first address.
    pub subnet: IpAddr,
    pub prefix_bits: u8,
    /// The neighbour to send to.
    pub via: IpAddr,
}

/// Name of the interface of a node on link `link` (from 0).
pub(crate) fn interface(link: usize) -> String {
    format!("link{}", link + 1)
}

/// Name of the user-space link's interface towards one end of link `link` (from 0).
pub(crate) fn wire_interface(link: usize, side: Side) -> String {
    let letter = match side {
        Side::Client => 'a',
        Side::Server => 'b',
    };
    format!("link{}{letter}", link + 1)
}

/// Ethernet address of a link's end: locally administered (IEEE 802 section 8.4), the same every
/// time.
pub(crate) fn mac(link: usize, side: Side) -> [u8; 6] {
    [0x02, 0x46, 0, 0, number(link), side.host()]
}

/// Address of a link's end.
pub(crate) fn address(link: usize, side: Side, family: Family) -> IpAddr {
    in_subnet(link, side.host(), family)
}

/// The link-local address that the kernel derives from [`mac`] (RFC 4291 appendix A).
pub(crate) fn link_local(link: usize, side: Side) -> IpAddr {
    let [a, b, c, d, e, f] = mac(link, side);
    let tail = [a ^ 0x02, b, c, 0xff, 0xfe, d, e, f];
    IpAddr::V6(Ipv6Addr::from_bits((0xfe80 << 112) | u128::from(u64::from_be_bytes(tail))))
}

/// Links that node `node` has, with the side that it is on.
pub(crate) fn ends_of(node: usize, links: usize) -> impl Iterator<Item = (usize, Side)> {
    let towards_client = node.checked_sub(1).map(|link| (link, Side::Server));
    let towards_server = (node < links).then_some((node, Side::Client));
    towards_client.into_iter().chain(towards_server)
}

/// Addresses by which others know node `node`: those of its interface nearest to the client.
pub(crate) fn addresses(world: &World, node: usize) -> PerFamily<Option<IpAddr>> {
    let first = ends_of(node, world.links.len()).next();
    PerFamily::from_fn(|family| {
        let (link, side) = first.filter(|_| *world.families.get(family))?;
        Some(address(link, side, family))
    })
}

/// Routes of node `node` to all subnets that it is not in.
pub(crate) fn routes(world: &World, node: usize) -> Vec<Route> {
    let links = world.links.len();
    let own = |link: &usize| Side::BOTH.iter().any(|side| side.node(*link) == node);
    let mut routes = Vec::new();
    for link in (0..links).filter(|link| !own(link)) {
        // The next hop is the far end of the node's own link in that direction.
        let (next, side) =
            if link < node { (node - 1, Side::Client) } else { (node, Side::Server) };
        for family in Family::BOTH.into_iter().filter(|family| *world.families.get(*family)) {
            routes.push(Route {
                subnet: in_subnet(link, 0, family),
                prefix_bits: *PREFIX_BITS.get(family),
                via: address(next, side, family),
            });
        }
    }
    routes
}

/// Refuses a world that the lab cannot make real.
pub(crate) fn check(world: &World) -> Result<(), LabError> {
    let refuse = |reason: String| Err(LabError::World(reason));
    if world.nodes.len() < 2 || world.links.len() != world.nodes.len() - 1 {
        let (nodes, links) = (world.nodes.len(), world.links.len());
        return refuse(format!("{nodes} nodes and {links} links do not make a chain"));
    }
    if world.links.len() > LINKS_MAX {
        return refuse(format!("{} links are more than {LINKS_MAX}", world.links.len()));
    }
    for (index, name) in world.nodes.iter().enumerate() {
        if name.is_empty() || world.nodes[..index].contains(name) {
            return refuse(format!("node {} has no name of its own", index + 1));
        }
    }
    if !world.families.v4 && !world.families.v6 {
        return refuse("it has neither family".to_owned());
    }
    for (index, link) in world.links.iter().enumerate() {
        check_link(world, index + 1, link)?;
    }
    Ok(())
}

fn check_link(world: &World, number: usize, link: &Link) -> Result<(), LabError> {
    let refuse = |reason: String| Err(LabError::World(format!("link {number}: {reason}")));
    if link.mtu > MTU_MAX {
        return refuse(format!("an MTU of {} is more than {MTU_MAX}", link.mtu));
    }
    for family in Family::BOTH.into_iter().filter(|family| *world.families.get(*family)) {
        let (least, conditions) = (*MTU_MIN.get(family), link.conditions.get(family));
        if link.mtu < least {
            return refuse(format!("{family} needs an MTU of at least {least}, not {}", link.mtu));
        }
        if conditions.rate_bps.is_some_and(|rate| !RATE_BPS.contains(&rate)) {
            let (least, most) = (RATE_BPS.start(), RATE_BPS.end());
            return refuse(format!("the rate for {family} is not in {least} to {most} bit/s"));
        }
        if !(0.0..=1.0).contains(&conditions.loss) {
            return refuse(format!("the loss for {family} is not in 0 to 1"));
        }
        if conditions.delay_ns > DELAY_NS_MAX {
            return refuse(format!("the delay for {family} is longer than 10 s"));
        }
        check_model(world.model, number, conditions)?;
    }
    Ok(())
}

/// Refuses conditions that the world's link model would silently not apply.
fn check_model(model: LinkModel, link: usize, asked: &Conditions) -> Result<(), LabError> {
    let needs = |condition, needs| Err(LabError::NeedsModel { link, condition, needs });
    if model == LinkModel::Wire {
        return Ok(());
    }
    if asked.delay_ns > 0 {
        return needs("a delay", "wire");
    }
    if asked.loss > 0.0 {
        return needs("loss", "wire");
    }
    if asked.black_hole_above.is_some() {
        return needs("a black hole", "wire");
    }
    if model == LinkModel::Bare && asked.rate_bps.is_some() {
        return needs("a rate", "shaped or wire");
    }
    Ok(())
}

/// Number of a link as people count; fits because of [`LINKS_MAX`].
fn number(link: usize) -> u8 {
    (link + 1) as u8
}

fn in_subnet(link: usize, host: u8, family: Family) -> IpAddr {
    let number = number(link);
    match family {
        Family::V4 => IpAddr::V4(Ipv4Addr::new(10, 46, number, host)),
        Family::V6 => {
            let (number, host) = (u16::from(number), u16::from(host));
            IpAddr::V6(Ipv6Addr::new(0xfd46, number, 0, 0, 0, 0, 0, host))
        }
    }
}

#[cfg(test)]
mod tests;
