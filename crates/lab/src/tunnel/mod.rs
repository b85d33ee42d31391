//! Tunnels between two nodes of a lab: each kind by the kernel or by a program, whichever this host
//! has.
//!
//! A tunnel adds an interface at both nodes, and for each family that it carries an address and
//! the routes to all that is behind the other end; what is sent there travels wrapped over the
//! links. What is sent to the links between, as the packets outside are, does not.
//!
//! The kernel's own 6in4, IP-in-IP and GRE are seldom loaded and cannot be loaded by an ordinary
//! user, so a thread of this program does their work, which is to put a header in front and to take
//! it away.

mod esp;
mod program;
pub mod translate;
mod wrapper;

use crate::LabError;
use crate::layout::{self, Destination, Layout};
use crate::netlink::Netlink;
use crate::node::Node;
pub(crate) use esp::is_there as esp_is_there;
use program::Program;
pub(crate) use program::{installed, wireguard_is_there};
use std::net::{IpAddr, Ipv4Addr};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::tunnel::TunnelKind;
use v6gap_core::world::{LinkModel, NodeKind, World};
use v6gap_sys::tun::Tun;
use v6gap_sys::{Unavailable, netns};
use wrapper::Wrapper;

/// VXLAN's number for its network, any below 2^24.
const NETWORK_ID: u32 = 46;

/// Length of the prefix of a tunnel's addresses, and of an address alone.
const PREFIX_BITS: PerFamily<u8> = PerFamily { v4: 24, v6: 64 };
const WHOLE: PerFamily<u8> = PerFamily { v4: 32, v6: 128 };

/// A running tunnel; it is gone when dropped or with the lab.
#[derive(Debug)]
pub(crate) struct Running {
    _wrappers: Vec<Wrapper>,
    programs: Vec<Program>,
}

impl Running {
    /// Whether other programs carry its packets.
    pub fn has_programs(&self) -> bool {
        !self.programs.is_empty()
    }
}

/// One end of a tunnel while it is made.
struct Ending<'a> {
    node: &'a Node,
    /// Number of the tunnel, from 1.
    number: u8,
    /// Addresses of the packets outside: this end's and the other's.
    outer: [IpAddr; 2],
    /// Addresses inside: this end's and the other's.
    inner: [PerFamily<IpAddr>; 2],
    /// The families carried.
    families: Vec<Family>,
    /// What is sent into it.
    routes: Vec<Destination>,
    /// Whether this end sends itself, by its address inside.
    is_host: bool,
    mac: [u8; 6],
    far_mac: [u8; 6],
    name: String,
    /// The interface that its packets outside leave by.
    link: String,
    mtu: u32,
    /// Whether hosts may hand over packets of many segments.
    offloads: bool,
}

/// Lays tunnel `number` (from 0) of the world.
///
/// # Errors
/// If this host lacks what the kind needs (see [`available`]), or the kernel refuses.
pub(crate) fn lay(world: &World, nodes: &[Node], number: usize) -> Result<Running, LabError> {
    let laid = world.tunnels[number];
    let ends = [ending(world, nodes, number, 0)?, ending(world, nodes, number, 1)?];
    let (mut wrappers, mut programs) = (Vec::new(), Vec::new());
    match laid.tunnel.kind {
        kind @ (TunnelKind::IpInIp | TunnelKind::Gre) => {
            for end in &ends {
                wrappers.push(end.wrap(kind)?);
            }
        }
        TunnelKind::Vxlan => ends.iter().try_for_each(Ending::vxlan)?,
        TunnelKind::SegmentRouting => ends.iter().try_for_each(Ending::segment_routing)?,
        TunnelKind::WireGuard => programs = program::wireguard(&ends)?,
        TunnelKind::Esp => programs = esp::lay(&ends)?,
    }
    Ok(Running { _wrappers: wrappers, programs })
}

/// The first (0) or second (1) end of a tunnel. Its address outside is that of the link by
/// which the way to the other end leaves, so that its own packets are never sent into the
/// tunnel.
fn ending<'a>(
    world: &World,
    nodes: &'a [Node],
    number: usize,
    own: usize,
) -> Result<Ending<'a>, LabError> {
    let laid = world.tunnels[number];
    let layout = Layout::of(world);
    let [near, far] = [laid.ends[own], laid.ends[1 - own]];
    let towards = layout.topology.ends_towards(near, far);
    let none = || LabError::World(format!("tunnel {} has no way", number + 1));
    let (out, via) = towards.ok_or_else(none)?;
    let outside = |end| world.address(&layout.topology, end, laid.tunnel.outer);
    let inner = world.addresses_inside(number);
    let host = number as u8 + 1;
    let macs = [1, 2].map(|end| mac(host, end));
    let link = &world.links[out.link];
    Ok(Ending {
        node: &nodes[near],
        number: host,
        outer: [outside(out).ok_or_else(none)?, outside(via).ok_or_else(none)?],
        inner: [inner[own], inner[1 - own]],
        families: layout.families().filter(|family| *laid.carries.get(*family)).collect(),
        routes: layout.tunnelled(near, number),
        is_host: world.nodes[near].kind == NodeKind::Host,
        mac: macs[own],
        far_mac: macs[1 - own],
        name: match laid.tunnel.kind {
            TunnelKind::Esp => esp::interface(world, number, near),
            _ => format!("tunnel{host}"),
        },
        link: layout::interface(out.link),
        mtu: world.mtu_inside(&laid),
        offloads: link.offloads.unwrap_or(world.model == LinkModel::Bare),
    })
}

/// Ethernet address inside a tunnel that carries frames: locally administered (IEEE 802 section
/// 8.4).
fn mac(number: u8, host: u8) -> [u8; 6] {
    [0x02, 0x47, 0, 0, number, host]
}

/// Whether this host can make tunnels of a kind. To be asked where a lab can be built.
///
/// # Errors
/// With the reason, if it cannot.
pub fn available(kind: TunnelKind) -> Result<(), Unavailable> {
    let missing = |because: String| Unavailable::new(kind.name(), because);
    match kind {
        TunnelKind::IpInIp | TunnelKind::Gre => makes_interfaces(),
        TunnelKind::Vxlan => in_scratch(|| {
            let ends = [1, 2].map(|host| IpAddr::V4(Ipv4Addr::new(10, 47, 0, host)));
            let made = Netlink::new().make_vxlan("probe", NETWORK_ID, ends, None, 1280);
            made.map_err(|e| format!("{e}: `sudo modprobe vxlan` loads it where it is a module"))
        }),
        TunnelKind::SegmentRouting => in_scratch(|| {
            std::fs::read("/proc/sys/net/ipv6/conf/default/seg6_enabled")
                .map(drop)
                .map_err(|_| "this kernel was built without segment routing".to_owned())
        }),
        TunnelKind::WireGuard => wireguard_is_there().and_then(|()| makes_interfaces()),
        TunnelKind::Esp => esp_is_there().and_then(|()| makes_interfaces()),
    }
    .map_err(missing)
}

/// Whether programs may make interfaces of their own.
fn makes_interfaces() -> Result<(), String> {
    let help = "`modprobe tun` and `chmod 666 /dev/net/tun` as root make it so";
    let open = || Tun::open("probe").map(drop).map_err(|e| format!("{e}; {help}"));
    in_scratch(open)
}

/// Does `work` in a network namespace of its own, which is gone afterwards.
pub(crate) fn in_scratch<T: Send>(
    work: impl FnOnce() -> Result<T, String> + Send,
) -> Result<T, String> {
    let namespace = netns::new_network_namespace().map_err(|e| e.to_string())?;
    netns::run_in(&namespace, work).map_err(|e| e.to_string())?
}

impl Ending<'_> {
    /// The thread that wraps and unwraps at this end.
    fn wrap(&self, kind: TunnelKind) -> Result<Wrapper, LabError> {
        let wrapper = self.node.run(|| Wrapper::start(&self.name, kind, self.outer))??;
        self.node.run(|| self.equip())??;
        Ok(wrapper)
    }

    fn vxlan(&self) -> Result<(), LabError> {
        self.node.run(|| {
            let mut netlink = Netlink::new();
            let (id, mac) = (NETWORK_ID + u32::from(self.number), Some(self.mac));
            netlink.make_vxlan(&self.name, id, self.outer, mac, self.mtu)?;
            let index = self.prepare()?;
            for &family in &self.families {
                let far = *self.inner[1].get(family);
                netlink.add_neighbour(index, far, self.far_mac)?;
                for &(to, bits) in self.routes_of(family) {
                    netlink.add_route(to, bits, far, None)?;
                }
            }
            Ok(())
        })?
    }

    /// The kernel wraps what a route says, and unwraps what comes to its own address with no
    /// segment left (RFC 8754 section 4.3.1.1), where an interface allows it.
    fn segment_routing(&self) -> Result<(), LabError> {
        self.node.run(|| {
            for name in ["all", "default", "lo", self.link.as_str()] {
                let path = format!("/proc/sys/net/ipv6/conf/{name}/seg6_enabled");
                std::fs::write(&path, "1").map_err(LabError::system(format!("set {path}")))?;
            }
            let mut netlink = Netlink::new();
            let loopback = netlink.interface("lo")?.index;
            let link = netlink.interface(&self.link)?.index;
            for &family in &self.families {
                let own = *self.inner[0].get(family);
                netlink.add_address(loopback, own, *WHOLE.get(family))?;
                let source = self.is_host.then_some(own);
                for &to in self.routes_of(family) {
                    netlink.add_segment_route(link, source, to, self.outer[1])?;
                }
            }
            Ok(())
        })?
    }

    /// Makes the interface ready for use and sends into it what belongs there.
    fn equip(&self) -> Result<(), LabError> {
        let index = self.prepare()?;
        let mut netlink = Netlink::new();
        let mut add = |&(to, bits): &Destination| netlink.add_device_route(index, to, bits, None);
        self.routes.iter().try_for_each(&mut add)
    }

    /// Gives the tunnel's interface its addresses and its MTU and sets it up; returns its number.
    fn prepare(&self) -> Result<u32, LabError> {
        let mut netlink = Netlink::new();
        let index = netlink.interface(&self.name)?.index;
        netlink.set_mtu(index, self.mtu)?;
        if !self.offloads {
            netlink.forbid_super_packets(index)?;
        }
        for &family in &self.families {
            let address = *self.inner[0].get(family);
            netlink.add_address(index, address, *PREFIX_BITS.get(family))?;
        }
        netlink.set_up(index)?;
        Ok(index)
    }

    /// What of one family is sent into the tunnel.
    fn routes_of(&self, family: Family) -> impl Iterator<Item = &Destination> {
        self.routes.iter().filter(move |(to, _)| to.is_ipv4() == (family == Family::V4))
    }
}
