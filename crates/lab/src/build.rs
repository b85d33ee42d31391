//! Builds a world, step by step: namespaces, cables, the user-space link, what each node needs.

use crate::clock::HEADER_BYTES;
use crate::draw::Draw;
use crate::emulated::{Machine, Starting};
use crate::equip::{READY_NS, equip, finish, offloads, settings};
use crate::layout::{self, Layout};
use crate::netlink::{Netlink, Plug};
use crate::wire::{Cable, Wire};
use crate::{LabError, LabOptions};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use v6gap_core::world::{End, LinkModel, Side, World};
use v6gap_sys::packet::Port;
use v6gap_sys::tun::Tap;
use v6gap_sys::{clock, netns};

/// Frames that may wait in the user-space link's ring for one direction.
const RING_FRAMES: usize = 2048;

/// What [`build`] made.
pub(crate) struct Built {
    pub namespaces: Vec<OwnedFd>,
    pub wire: Option<Wire>,
    pub machine: Option<Machine>,
    pub facts: BTreeMap<String, String>,
}

pub(crate) fn build(world: &World, options: &LabOptions) -> Result<Built, LabError> {
    let layout = &Layout::of(world);
    let draw = &mut Draw::new()?;
    let (namespaces, wire_namespace) = make_namespaces(world, draw)?;
    let mut starting = None;
    for link in draw.shuffled(0..world.links.len()) {
        let made = make_link(world, link, (&namespaces, wire_namespace.as_ref()), draw)?;
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
    let here = |draw: &mut Draw| {
        let namespaces = namespaces.iter().enumerate();
        draw.shuffled(namespaces.filter(|(index, _)| !world.nodes[*index].emulated))
    };
    for (index, namespace) in here(draw) {
        within(namespace, || equip(layout, index, draw))??;
    }
    let mut facts = settings::facts(world, options);
    for (index, namespace) in here(draw) {
        facts.extend(within(namespace, || finish(layout, index, deadline_ns, draw))??);
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
        facts.insert("lab.wire_priority".to_owned(), priority(wire));
    }
    Ok(Built { namespaces, wire, machine, facts })
}

/// Whether other work can interrupt the user-space link.
fn priority(wire: &Wire) -> String {
    match &wire.ahead {
        Ok(()) => "real-time".to_owned(),
        Err(unavailable) => format!("ordinary, because {}", unavailable.because),
    }
}

/// Refuses a world that cannot be made real.
pub(crate) fn check(world: &World) -> Result<(), LabError> {
    let problems: Vec<String> = world.problems().iter().map(ToString::to_string).collect();
    if problems.is_empty() { Ok(()) } else { Err(LabError::World(problems.join("; "))) }
}

/// Makes the namespaces of all nodes, and that of the user-space link if there is one.
fn make_namespaces(
    world: &World,
    draw: &mut Draw,
) -> Result<(Vec<OwnedFd>, Option<OwnedFd>), LabError> {
    let nodes = world.nodes.len();
    let wired = world.model == LinkModel::Wire;
    let mut made = BTreeMap::new();
    for index in draw.shuffled(0..nodes + usize::from(wired)) {
        let operation = LabError::system("make a network namespace");
        let namespace = netns::new_network_namespace().map_err(operation)?;
        let set = || match index < nodes {
            true => settings::of_node(world, index),
            false => settings::of_wire(),
        };
        within(&namespace, set)??;
        made.insert(index, namespace);
    }
    let wire = made.remove(&nodes);
    Ok((made.into_values().collect(), wire))
}

fn within<T: Send>(namespace: &OwnedFd, work: impl FnOnce() -> T + Send) -> Result<T, LabError> {
    netns::run_in(namespace, work).map_err(LabError::system("enter a network namespace"))
}

/// Lays the cable of a link, or the two to the user-space link. At an emulated system it ends in a
/// tap, which is returned with its end.
fn make_link(
    world: &World,
    link: usize,
    (namespaces, wire): (&[OwnedFd], Option<&OwnedFd>),
    draw: &mut Draw,
) -> Result<Option<(End, Tap)>, LabError> {
    let mtu = world.links[link].mtu;
    let is_emulated = |side: &Side| world.nodes[world.links[link].node(*side)].emulated;
    let emulated = Side::BOTH.into_iter().find(is_emulated);
    let at = |side: Side| &namespaces[world.links[link].node(side)];
    let sides = draw.shuffled(Side::BOTH);
    let end = |side: Side, far: bool, index: u32| Plug {
        name: layout::interface(link),
        index,
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
            let mac = Some(layout::mac(End { link, side: side.other() }));
            return within(at(side.other()), || tap(layout::interface(link), side, mac))?;
        }
        let near = sides[0];
        let plugs = [end(near, false, draw.index()), end(near.other(), true, draw.index())];
        within(at(near), || Netlink::new().make_cable(plugs.each_ref(), mtu))??;
        return Ok(None);
    };
    let mut made = None;
    for side in sides {
        let name = layout::wire_interface(End { link, side });
        if emulated == Some(side) {
            made = within(wire, || tap(name, side, None))??;
            continue;
        }
        let near = end(side, false, draw.index());
        let far = Plug { name, index: draw.index(), mac: None, namespace: Some(wire.as_fd()) };
        let plugs = [near, far];
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
                Side::BOTH.map(|side| Some(link.node(side)).filter(|&n| world.only_forwards(n)));
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
