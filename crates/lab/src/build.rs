//! Builds a world, step by step: namespaces, cables, shaping, addresses, readiness, routes.

mod settings;

use crate::clock::HEADER_BYTES;
use crate::emulated::{Machine, Starting};
use crate::layout::{self, Layout};
use crate::netlink::{Bucket, Delayed, Netlink, Plug, Shape};
use crate::wire::{Cable, Wire};
use crate::{LabError, LabOptions};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
use v6gap_core::world::{Conditions, End, Link, LinkModel, NodeKind, Side, World};
use v6gap_sys::packet::{self, Port};
use v6gap_sys::tun::Tap;
use v6gap_sys::{clock, netns};

/// Interfaces have this long to become ready, in ns. An older kernel takes up to a second for each
/// change of state.
const READY_NS: u64 = 3_000_000_000;
/// Pause between two looks at an interface.
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// Number of the loopback interface, the first of every network namespace.
const LOOPBACK_INDEX: u32 = 1;
/// Frames that may wait in the user-space link's ring for one direction.
const RING_FRAMES: usize = 2048;
/// Depth of the bucket, in bytes, that loses nothing to late timers: up to 100 Mbit/s, and above.
const BURST_BYTES: u32 = 15_400;
const BURST_BYTES_FAST: u32 = 61_600;
const FAST_BPS: u64 = 100_000_000;
/// Share of the link's rate, in parts per thousand, at which a host feeds the user-space link: a
/// little less, so that packets wait at the host, where they slow the sender, and not on the link.
const FEED_PER_MILLE: u64 = 999;
/// Packets that may wait at a host, as in an interface of Linux. A sender is held back by the room
/// of its socket, which holds over a hundred pieces of datagrams; losses are the network's.
const HOST_QUEUE: u32 = 1000;

/// Least bytes that a packet takes on the line (IEEE 802.3).
const PACKET_BYTES_MIN: f64 = 84.0;

/// What [`build`] made.
pub(crate) struct Built {
    pub namespaces: Vec<OwnedFd>,
    pub wire: Option<Wire>,
    pub machine: Option<Machine>,
    pub facts: BTreeMap<String, String>,
}

pub(crate) fn build(world: &World, options: &LabOptions) -> Result<Built, LabError> {
    let layout = &Layout::of(world);
    let mut namespaces = Vec::new();
    for index in 0..world.nodes.len() {
        let namespace = new_namespace()?;
        within(&namespace, || settings::of_node(world, index))??;
        namespaces.push(namespace);
    }
    let wire_namespace = match world.model {
        LinkModel::Wire => Some(new_namespace()?),
        LinkModel::Bare | LinkModel::Shaped | LinkModel::Netem => None,
    };
    if let Some(namespace) = &wire_namespace {
        within(namespace, settings::of_wire)??;
    }
    let mut starting = None;
    for link in 0..world.links.len() {
        let made = make_link(world, link, &namespaces, wire_namespace.as_ref())?;
        if let Some((end, tap)) = made {
            let node = world.links[link].node(end.side);
            starting = Some(Starting::new(world, (node, end), tap, options)?);
        }
    }
    let deadline_ns = clock::now_ns() + READY_NS;
    let wire = match &wire_namespace {
        Some(namespace) => Some(start_wire(world, namespace, options)?),
        None => None,
    };
    let here = || {
        let namespaces = namespaces.iter().enumerate();
        namespaces.filter(|(index, _)| !world.nodes[*index].emulated)
    };
    for (index, namespace) in here() {
        within(namespace, || equip(layout, index))??;
    }
    let mut facts = settings::facts(world, options);
    for (index, namespace) in here() {
        facts.extend(within(namespace, || finish(layout, index, deadline_ns))??);
    }
    let mut machine = None;
    if let Some(starting) = starting {
        let (running, told) = starting.wait()?;
        machine = Some(running);
        facts.extend(told);
    }
    if let Some(wire) = &wire {
        // What hosts said while some were not up yet is no fault of the link.
        wire.reset();
    }
    Ok(Built { namespaces, wire, machine, facts })
}

/// Does for one node, in a system that is nothing else, what [`build`] does in its namespace.
pub(crate) fn set_up_alone(
    world: &World,
    node: usize,
) -> Result<BTreeMap<String, String>, LabError> {
    let layout = &Layout::of(world);
    settings::of_node(world, node)?;
    equip(layout, node)?;
    finish(layout, node, clock::now_ns() + READY_NS)
}

/// Refuses a world that cannot be made real.
pub(crate) fn check(world: &World) -> Result<(), LabError> {
    let problems: Vec<String> = world.problems().iter().map(ToString::to_string).collect();
    if problems.is_empty() { Ok(()) } else { Err(LabError::World(problems.join("; "))) }
}

fn new_namespace() -> Result<OwnedFd, LabError> {
    netns::new_network_namespace().map_err(LabError::system("make a network namespace"))
}

fn within<T: Send>(namespace: &OwnedFd, work: impl FnOnce() -> T + Send) -> Result<T, LabError> {
    netns::run_in(namespace, work).map_err(LabError::system("enter a network namespace"))
}

/// Lays the cable of a link, or the two to the user-space link. At an emulated system it ends in a
/// tap, which is returned with its end.
fn make_link(
    world: &World,
    link: usize,
    namespaces: &[OwnedFd],
    wire: Option<&OwnedFd>,
) -> Result<Option<(End, Tap)>, LabError> {
    let mtu = world.links[link].mtu;
    let is_emulated = |side: &Side| world.nodes[world.links[link].node(*side)].emulated;
    let emulated = Side::BOTH.into_iter().find(is_emulated);
    let at = |side: Side| &namespaces[world.links[link].node(side)];
    let end = |side: Side, far: bool| Plug {
        name: layout::interface(link),
        mac: Some(layout::mac(End { link, side })),
        namespace: far.then(|| at(side).as_fd()),
    };
    let unfinished = offloads(world, &world.links[link]);
    let tap = |name: String, side: Side, mac: Option<[u8; 6]>| {
        let end = End { link, side };
        make_tap(&name, mac, mtu, unfinished).map(|tap| Some((end, tap)))
    };
    let Some(wire) = wire else {
        if let Some(side) = emulated {
            let near = end(side.other(), false);
            return within(at(side.other()), || tap(near.name, side, near.mac))?;
        }
        let plugs = [end(Side::First, false), end(Side::Second, true)];
        within(at(Side::First), || Netlink::new().make_cable(plugs.each_ref(), mtu))??;
        return Ok(None);
    };
    let mut made = None;
    for side in Side::BOTH {
        let name = layout::wire_interface(End { link, side });
        if emulated == Some(side) {
            made = within(wire, || tap(name, side, None))??;
            continue;
        }
        let far = Plug { name, mac: None, namespace: Some(wire.as_fd()) };
        let plugs = [end(side, false), far];
        within(at(side), || Netlink::new().make_cable(plugs.each_ref(), mtu))??;
    }
    Ok(made)
}

/// Makes the interface at whose other end an emulated system is.
fn make_tap(name: &str, mac: Option<[u8; 6]>, mtu: u32, unfinished: bool) -> Result<Tap, LabError> {
    let tap = Tap::open(name, unfinished).map_err(LabError::system(format!("make {name}")))?;
    let mut netlink = Netlink::new();
    let index = netlink.interface(name)?.index;
    if let Some(mac) = mac {
        netlink.set_mac(index, mac)?;
    }
    netlink.set_mtu(index, mtu)?;
    Ok(tap)
}

/// Whether hosts leave work to the interfaces of a link.
fn offloads(world: &World, link: &Link) -> bool {
    link.offloads.unwrap_or(world.model == LinkModel::Bare)
}

/// Sets the user-space link's interfaces up and starts it.
fn start_wire(world: &World, namespace: &OwnedFd, options: &LabOptions) -> Result<Wire, LabError> {
    let open = || {
        let mut netlink = Netlink::new();
        let mut cables = Vec::new();
        for (number, link) in world.links.iter().enumerate() {
            let mut port = |side| open_port(&mut netlink, End { link: number, side }, link.mtu);
            let ports = [port(Side::First)?, port(Side::Second)?];
            let (vlan_tags, priority) = (world.vlan_tags, world.priority_bits());
            let forwarders =
                Side::BOTH.map(|side| Some(link.node(side)).filter(|&n| forwards(world, n)));
            cables.push(Cable { link: *link, vlan_tags, priority, forwarders, ports });
        }
        Ok::<_, LabError>(cables)
    };
    Wire::start(within(namespace, open)??, options.wire_cpu, options.seed)
}

fn open_port(netlink: &mut Netlink, end: End, mtu: u32) -> Result<Port, LabError> {
    let name = layout::wire_interface(end);
    let index = netlink.interface(&name)?.index;
    netlink.switch_offloads_off(index)?;
    netlink.set_up(index)?;
    let operation = format!("open a packet socket on {name}");
    Port::open(index, RING_FRAMES, mtu as usize + HEADER_BYTES).map_err(LabError::system(operation))
}

/// Gives a node's interfaces their shaping and addresses and sets them up; those of a switch become
/// ports of its bridge.
fn equip(layout: &Layout<'_>, node: usize) -> Result<(), LabError> {
    let world = layout.world;
    let mut netlink = Netlink::new();
    netlink.set_up(LOOPBACK_INDEX)?;
    let bridge = match layout.is_switch(node) {
        true => Some(netlink.make_bridge(layout::BRIDGE)?),
        false => None,
    };
    for end in layout.topology.ends_of(node) {
        let link = &world.links[end.link];
        let index = netlink.interface(&layout::interface(end.link))?.index;
        if !offloads(world, link) {
            netlink.switch_offloads_off(index)?;
            netlink.forbid_super_packets(index)?;
        }
        if let Some(shape) = shape(world, link, end.side) {
            netlink.shape(index, &shape)?;
        }
        for family in layout.families() {
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

/// What an end of `link` does with what it sends; `None` if nothing.
///
/// A host that feeds the user-space link must be slowed down by a queue of its own. What only
/// forwards has nobody to slow down, and with a queue here as well as on the link it would have a
/// longer one than the world says.
pub(crate) fn shape(world: &World, link: &Link, side: Side) -> Option<Shape> {
    let wire = world.model == LinkModel::Wire;
    let node = link.node(side);
    let forwards = forwards(world, node);
    if world.model == LinkModel::Bare || (wire && forwards) {
        return None;
    }
    let deepest = 10 * (link.mtu + HEADER_BYTES as u32 + 24);
    let bucket = |rate: u64| {
        let fast = wire || rate > FAST_BPS;
        let burst = if fast { BURST_BYTES_FAST } else { BURST_BYTES };
        let rate_bps = if wire { rate / 1000 * FEED_PER_MILLE } else { rate };
        Bucket { rate_bps, burst_bytes: burst.max(deepest) }
    };
    let met = *link.met(side);
    let own = if forwards { 0 } else { HOST_QUEUE };
    let queue = |met: Conditions| met.queue_frames.unwrap_or(link.queue_frames).max(own);
    Some(Shape {
        buckets: met.map(|met| met.rate_bps.map(bucket)),
        queue_packets: met.map(queue),
        delayed: (world.model == LinkModel::Netem).then(|| met.map(|met| delayed(met, queue(met)))),
        mtu: link.mtu,
        vlan_tags: world.vlan_tags,
        more_bytes: 0,
        priority: world.priority_bits(),
    })
}

/// Whether a node does nothing but forward: no trial begins or ends there.
fn forwards(world: &World, node: usize) -> bool {
    let measures = node == world.client || node == world.server;
    world.nodes[node].kind != NodeKind::Host && !measures
}

/// What netem does in place of a plain queue: those that wait for the line and those that are on
/// the way have room.
fn delayed(met: Conditions, queue: u32) -> Delayed {
    let on_the_way = met.rate_bps.unwrap_or(0) as f64 / 8.0 / PACKET_BYTES_MIN;
    let on_the_way = on_the_way * met.delay_ns as f64 / 1e9;
    Delayed {
        limit_packets: queue.saturating_add(on_the_way.ceil() as u32),
        delay_ns: met.delay_ns,
        loss: met.loss,
        duplication: met.duplication,
    }
}

/// Waits until a node's interfaces are ready, then adds what needs that, and tells how they are
/// set.
fn finish(
    layout: &Layout<'_>,
    node: usize,
    deadline_ns: u64,
) -> Result<BTreeMap<String, String>, LabError> {
    let world = layout.world;
    let mut netlink = Netlink::new();
    let mut facts = settings::in_force(world, node);
    for end in layout.topology.ends_of(node) {
        let name = layout::interface(end.link);
        let index = wait_ready(&mut netlink, layout, (node, end), deadline_ns)?;
        if !layout.is_switch(node) {
            for neighbour in layout.neighbours(end) {
                netlink.add_neighbour(index, neighbour.address, neighbour.mac)?;
            }
            narrow(&mut netlink, layout, end, index)?;
        }
        let key = |what: &str| format!("lab.{}.{name}.{what}", world.nodes[node].name);
        facts.insert(key("offloads"), netlink.offloads(index)?.join(" "));
        let segments = netlink.interface(&name)?.gso_max_segs;
        facts.insert(key("gso_max_segs"), segments.to_string());
    }
    if !layout.is_switch(node) {
        for route in layout.routes(node) {
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
    end: End,
    index: u32,
) -> Result<(), LabError> {
    for family in layout.families() {
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
