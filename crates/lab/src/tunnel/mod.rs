//! Tunnels between two nodes of a lab: each kind by the kernel or by a program, whichever this host
//! has.
//!
//! A tunnel adds an interface and one address of each family at both nodes; what is sent to the
//! other's address travels wrapped over the links. The kernel's own 6in4, IP-in-IP and GRE are
//! seldom loaded and cannot be loaded by an ordinary user, so a thread of this program does their
//! work, which is to put a header in front and to take it away.

mod program;
pub mod translate;
mod wrapper;

use crate::lab::Node;
use crate::layout;
use crate::netlink::Netlink;
use crate::{Lab, LabError};
use program::Program;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::tunnel::{Tunnel, TunnelKind};
use v6gap_core::wiremodel::Encapsulation;
use v6gap_core::world::Topology;
use v6gap_sys::{Unavailable, netns};
use wrapper::Wrapper;

/// VXLAN's number for its network, any below 2^24.
const NETWORK_ID: u32 = 46;

/// Length of the prefix of a tunnel's addresses, and of an address alone.
const PREFIX_BITS: PerFamily<u8> = PerFamily { v4: 24, v6: 64 };
const WHOLE: PerFamily<u8> = PerFamily { v4: 32, v6: 128 };

/// A running tunnel; it is gone when dropped or with the lab.
#[derive(Debug)]
pub struct Tunnelled {
    /// What it does to a packet.
    pub encapsulation: Encapsulation,
    /// Largest IP packet inside, in bytes.
    pub mtu: u32,
    /// Addresses at its two ends, in the order of the nodes.
    pub ends: [PerFamily<IpAddr>; 2],
    _wrappers: Vec<Wrapper>,
    _programs: Vec<Program>,
}

/// One end of a tunnel while it is made.
struct Ending<'a> {
    node: &'a Node,
    /// Addresses of the packets outside: this end's and the other's.
    outer: [IpAddr; 2],
    /// Addresses inside: this end's and the other's.
    inner: [PerFamily<IpAddr>; 2],
    mac: [u8; 6],
    far_mac: [u8; 6],
    name: String,
    /// The interface that its packets outside leave by.
    link: String,
    mtu: u32,
}

impl Lab {
    /// Lays a tunnel between two nodes; `number`, from 1 to 99, is part of its addresses and names.
    ///
    /// # Errors
    /// If there are no such nodes, they have no address of the outer family, or this host lacks
    /// what the kind needs: see [`available`].
    pub fn tunnel(
        &self,
        number: u8,
        tunnel: Tunnel,
        between: [&str; 2],
    ) -> Result<Tunnelled, LabError> {
        let [near, far] = [self.node(between[0])?, self.node(between[1])?];
        let outside = |node: &Node| {
            let none = || LabError::World(format!("{} has no {} address", node.name, tunnel.outer));
            node.addresses.get(tunnel.outer).ok_or_else(none)
        };
        let outer = [outside(near)?, outside(far)?];
        let path = self.path(near, far)?;
        let outer_mtu = path.iter().map(|&link| self.world().links[link].mtu).min();
        let outer_mtu = outer_mtu.unwrap_or_default();
        let mtu = tunnel.inner_mtu(outer_mtu);
        let link = [path[0], path[path.len() - 1]];
        let inner = [1, 2].map(|host| addresses(number, host));
        let macs = [1, 2].map(|host| mac(number, host));
        let end = |node, own: usize| Ending {
            node,
            outer: [outer[own], outer[1 - own]],
            inner: [inner[own], inner[1 - own]],
            mac: macs[own],
            far_mac: macs[1 - own],
            name: format!("tunnel{number}"),
            link: layout::interface(link[own]),
            mtu,
        };
        let ends = [end(near, 0), end(far, 1)];
        let (mut wrappers, mut programs) = (Vec::new(), Vec::new());
        match tunnel.kind {
            TunnelKind::IpInIp | TunnelKind::Gre => {
                for end in &ends {
                    wrappers.push(end.wrap(tunnel.kind)?);
                }
            }
            TunnelKind::Vxlan => ends.iter().try_for_each(Ending::vxlan)?,
            TunnelKind::SegmentRouting => ends.iter().try_for_each(Ending::segment_routing)?,
            TunnelKind::WireGuard => programs = program::wireguard(&ends)?,
        }
        Ok(Tunnelled {
            encapsulation: tunnel.encapsulation(outer_mtu),
            mtu,
            ends: inner,
            _wrappers: wrappers,
            _programs: programs,
        })
    }
}

/// Addresses inside tunnel `number`, 10.47.n.0/24 and fd47:n::/64 (RFC 1918, RFC 4193).
fn addresses(number: u8, host: u8) -> PerFamily<IpAddr> {
    let (subnet, host_six) = (u16::from(number), u16::from(host));
    PerFamily {
        v4: IpAddr::V4(Ipv4Addr::new(10, 47, number, host)),
        v6: IpAddr::V6(Ipv6Addr::new(0xfd47, subnet, 0, 0, 0, 0, 0, host_six)),
    }
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
        TunnelKind::IpInIp | TunnelKind::Gre => {
            in_scratch(|| v6gap_sys::tun::Tun::open("probe").map(drop).map_err(|e| e.to_string()))
        }
        TunnelKind::Vxlan => in_scratch(|| {
            let ends = [1, 2].map(|host| addresses(1, host).v4);
            let made = Netlink::new().make_vxlan("probe", NETWORK_ID, ends, None, 1280);
            made.map_err(|e| e.to_string())
        }),
        TunnelKind::SegmentRouting => in_scratch(|| {
            std::fs::read("/proc/sys/net/ipv6/conf/default/seg6_enabled")
                .map(drop)
                .map_err(|_| "this kernel was built without segment routing".to_owned())
        }),
        TunnelKind::WireGuard => program::wireguard_is_there(),
    }
    .map_err(missing)
}

/// Does `work` in a network namespace of its own, which is gone afterwards.
fn in_scratch<T: Send>(work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    let namespace = netns::new_network_namespace().map_err(|e| e.to_string())?;
    netns::run_in(&namespace, work).map_err(|e| e.to_string())?
}

impl Lab {
    /// The links from one node to another in turn; at least one.
    fn path(&self, near: &Node, far: &Node) -> Result<Vec<usize>, LabError> {
        let world = self.world();
        let place = |node: &Node| world.find(&node.name);
        let path = place(near).zip(place(far)).and_then(|(a, b)| Topology::of(world).path(a, b));
        let path: Vec<usize> = path.unwrap_or_default().iter().map(|hop| hop.link).collect();
        let none = || LabError::World(format!("no way from {} to {}", near.name, far.name));
        if path.is_empty() { Err(none()) } else { Ok(path) }
    }
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
            let mac = Some(self.mac);
            netlink.make_vxlan(&self.name, NETWORK_ID, self.outer, mac, self.mtu)?;
            let index = self.equip()?;
            for family in Family::BOTH {
                netlink.add_neighbour(index, *self.inner[1].get(family), self.far_mac)?;
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
            let [own, far] = &self.inner;
            for family in Family::BOTH {
                netlink.add_address(loopback, *own.get(family), *WHOLE.get(family))?;
                let ends = [*own.get(family), *far.get(family)];
                netlink.add_segment_route(link, ends, self.outer[1])?;
            }
            Ok(())
        })?
    }

    /// Gives the tunnel's interface its addresses and its MTU and sets it up; returns its number.
    fn equip(&self) -> Result<u32, LabError> {
        let mut netlink = Netlink::new();
        let index = netlink.interface(&self.name)?.index;
        netlink.set_mtu(index, self.mtu)?;
        for family in Family::BOTH {
            let address = *self.inner[0].get(family);
            netlink.add_address(index, address, *PREFIX_BITS.get(family))?;
        }
        netlink.set_up(index)?;
        Ok(index)
    }
}
