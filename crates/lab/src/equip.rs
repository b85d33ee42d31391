//! Equips the nodes of a world one by one: settings, shaping, addresses, readiness, routes.

pub(crate) mod settings;

use crate::LabError;
use crate::draw::Draw;
use crate::layout::{self, Layout};
use crate::netlink::Netlink;
use crate::shape::shape;
use std::collections::BTreeMap;
use std::time::Duration;
use v6gap_core::world::{End, Link, LinkModel, World};
use v6gap_sys::{clock, packet};

/// Interfaces have this long to become ready, in ns. An older kernel takes up to a second for each
/// change of state.
pub(crate) const READY_NS: u64 = 3_000_000_000;
/// Pause between two looks at an interface.
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// Number of the loopback interface, the first of every network namespace.
const LOOPBACK_INDEX: u32 = 1;

/// Does for one node, in a system that is nothing else, what building a lab does in its
/// namespace.
pub(crate) fn set_up_alone(
    world: &World,
    node: usize,
) -> Result<BTreeMap<String, String>, LabError> {
    let layout = &Layout::of(world);
    settings::of_node(world, node)?;
    let draw = &mut Draw::new()?;
    equip(layout, node, draw)?;
    finish(layout, node, clock::now_ns() + READY_NS, draw)
}

/// Whether hosts leave work to the interfaces of a link.
pub(crate) fn offloads(world: &World, link: &Link) -> bool {
    link.offloads.unwrap_or(world.model == LinkModel::Bare)
}

/// Gives a node's interfaces their shaping and addresses and sets them up; those of a switch become
/// ports of its bridge.
pub(crate) fn equip(layout: &Layout<'_>, node: usize, draw: &mut Draw) -> Result<(), LabError> {
    let world = layout.world;
    let mut netlink = Netlink::new();
    netlink.set_up(LOOPBACK_INDEX)?;
    let bridge = match layout.is_switch(node) {
        true => Some(netlink.make_bridge(layout::BRIDGE)?),
        false => None,
    };
    for end in draw.shuffled(layout.topology.ends_of(node)) {
        let link = &world.links[end.link];
        let index = netlink.interface(&layout::interface(end.link))?.index;
        if !offloads(world, link) {
            netlink.switch_offloads_off(index)?;
            netlink.forbid_super_packets(index)?;
        }
        if let Some(shape) = shape(world, link, end.side) {
            netlink.shape(index, &shape)?;
        }
        for family in draw.shuffled(layout.families()) {
            let Some((address, prefix_bits)) = layout.address(end, family) else { continue };
            match link.mtus.get(family) {
                None => netlink.add_address(index, address, prefix_bits)?,
                // Its route comes once the interface is up.
                Some(_) => netlink.add_address_alone(index, address, prefix_bits)?,
            }
        }
        if let Some(bridge) = bridge {
            netlink.plug_in(index, bridge)?;
        }
        netlink.set_up(index)?;
    }
    bridge.map_or(Ok(()), |bridge| netlink.set_up(bridge))
}

/// Waits until a node's interfaces are ready, then adds what needs that, and tells how they are
/// set.
pub(crate) fn finish(
    layout: &Layout<'_>,
    node: usize,
    deadline_ns: u64,
    draw: &mut Draw,
) -> Result<BTreeMap<String, String>, LabError> {
    let world = layout.world;
    let mut netlink = Netlink::new();
    let mut facts = settings::in_force(world, node);
    for end in draw.shuffled(layout.topology.ends_of(node)) {
        let name = layout::interface(end.link);
        let index = wait_ready(&mut netlink, layout, (node, end), deadline_ns)?;
        if !layout.is_switch(node) {
            for neighbour in draw.shuffled(layout.neighbours(end)) {
                netlink.add_neighbour(index, neighbour.address, neighbour.mac)?;
            }
            narrow(&mut netlink, layout, (end, index), draw)?;
        }
        let key = |what: &str| format!("lab.{}.{name}.{what}", world.nodes[node].name);
        facts.insert(key("offloads"), netlink.offloads(index)?.join(" "));
        let segments = netlink.interface(&name)?.gso_max_segs;
        facts.insert(key("gso_max_segs"), segments.to_string());
    }
    if !layout.is_switch(node) {
        for route in draw.shuffled(layout.routes(node)) {
            netlink.add_route(route.subnet, route.prefix_bits, route.via, route.mtu)?;
        }
    }
    Ok(facts)
}

/// Routes of the families whose packets on this link are to be shorter than the interface takes.
/// They are the same for both families, and routers heed them too: what does not fit is answered or
/// cut there as if the interface took no more.
fn narrow(
    netlink: &mut Netlink,
    layout: &Layout<'_>,
    (end, index): (End, u32),
    draw: &mut Draw,
) -> Result<(), LabError> {
    for family in draw.shuffled(layout.families()) {
        let mtu = *layout.world.links[end.link].mtus.get(family);
        if let (Some(mtu), Some((own, _))) = (mtu, layout.address(end, family)) {
            let segment = layout.topology.segment_of(end.link);
            netlink.add_narrow_subnet(index, layout.subnet(segment, family), own, mtu)?;
        }
    }
    Ok(())
}

/// Polls until an interface is operational and has its link-local address; returns its index.
fn wait_ready(
    netlink: &mut Netlink,
    layout: &Layout<'_>,
    (node, end): (usize, End),
    deadline_ns: u64,
) -> Result<u32, LabError> {
    let name = layout::interface(end.link);
    let far = layout.world.links[end.link].node(end.side.other());
    let at_tap = layout.world.nodes[far].emulated && layout.world.model != LinkModel::Wire;
    let addressed = layout.world.families.v6 && !layout.is_switch(node);
    loop {
        let found = netlink.interface(&name)?;
        if found.operational || (at_tap && found.unknown) {
            let own = layout::link_local(end);
            if !addressed || netlink.has_address(found.index, own)? {
                return Ok(found.index);
            }
        }
        if clock::now_ns() > deadline_ns {
            let node = &layout.world.nodes[node].name;
            return Err(LabError::NotReady(format!("interface {name} of {node}")));
        }
        netlink.nudge(found.index)?;
        packet::wait(&[], Some(LOOK_AGAIN)).map_err(LabError::system("wait"))?;
    }
}
