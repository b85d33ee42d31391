//! Translation between the families at a router: NAT64 (RFC 6146, by RFC 7915's headers), and with
//! a second translator at the client 464XLAT (RFC 6877). Both by the program tayga.

use super::program::{self, Program};
use crate::lab::Node;
use crate::netlink::Netlink;
use crate::{Lab, LabError};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use v6gap_core::family::Family;
use v6gap_core::world::{End, NodeKind, Topology};
use v6gap_sys::{Unavailable, clock, packet};

/// Where the IPv4 addresses stand inside IPv6 (RFC 6052 section 2.2), and their length.
const PREFIX: Ipv6Addr = Ipv6Addr::new(0xfd46, 0x64, 0, 0, 0, 0, 0, 0);
const PREFIX_BITS: u8 = 96;
/// IPv4 addresses that the router gives to IPv6 hosts, and its own among them.
const POOL: Ipv4Addr = Ipv4Addr::new(10, 49, 0, 0);
const POOL_BITS: u8 = 24;
const POOL_OWN: Ipv4Addr = Ipv4Addr::new(10, 49, 0, 1);
/// The client's addresses with 464XLAT (RFC 7335), and what the first becomes.
const CLIENT: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 1);
const CLIENT_OWN: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 2);
const CLIENT_SIX: Ipv6Addr = Ipv6Addr::new(0xfd46, 0x464, 0, 0, 0, 0, 0, 1);

/// The translator's interface has this long to become ready, in ns.
const ATTACHED_NS: u64 = 3_000_000_000;
/// Pause between two looks at it.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Name of the translator's interface.
const INTERFACE: &str = "translate";

/// Makes tayga's interface, which stays: it must be up before tayga runs, or that ends at once.
const INTERFACE_MADE: &str = r#"
mount -t tmpfs none /run || exit 1
printf '%s' "$SETTINGS" > /run/tayga.conf
tayga --config /run/tayga.conf --mktun >/dev/null 2>&1 && echo ready
"#;

/// Runs tayga with its settings in a folder of its own. It goes to the background once it has its
/// interface.
const TAYGA: &str = r#"
mount -t tmpfs none /run || exit 1
printf '%s' "$SETTINGS" > /run/tayga.conf
tayga --config /run/tayga.conf --pidfile /run/tayga.pid >/dev/null 2>&1 || exit 1
echo ready
cat >/dev/null
kill -9 "$(cat /run/tayga.pid)"
"#;

/// A running translation; it is gone when dropped or with the lab.
#[derive(Debug)]
pub struct Translated {
    _programs: Vec<Program>,
}

impl Translated {
    /// The IPv6 address by which an IPv4 host is reached.
    pub fn reached_by(address: Ipv4Addr) -> Ipv6Addr {
        Ipv6Addr::from_bits(PREFIX.to_bits() | u128::from(address.to_bits()))
    }

    /// The IPv4 address of the client behind 464XLAT.
    pub const CLIENT: Ipv4Addr = CLIENT;
}

/// Whether this host has a translator.
///
/// # Errors
/// With the reason, if it has none.
pub fn available() -> Result<(), Unavailable> {
    let there = program_is_there().and_then(|()| super::makes_interfaces());
    there.map_err(|because| Unavailable::new("translation between the families", because))
}

/// Whether the translating program is installed.
pub(crate) fn program_is_there() -> Result<(), String> {
    for (program, package) in [("tayga", "tayga"), ("unshare", "util-linux")] {
        if !program::installed(program) {
            return Err(format!("`{program}` is not installed: sudo apt install {package}"));
        }
    }
    Ok(())
}

impl Lab {
    /// Lets the client reach the server's IPv4 address from IPv6, translated at the first router of
    /// the path.
    ///
    /// # Errors
    /// If the path has no router, a family is missing, or as [`available`].
    pub fn nat64(&self) -> Result<Translated, LabError> {
        let router = self.first_router()?;
        let settings = format!(
            "tun-device {INTERFACE}\nipv4-addr {POOL_OWN}\nprefix {PREFIX}/{PREFIX_BITS}\n\
             dynamic-pool {POOL}/{POOL_BITS}\ndata-dir /run\n"
        );
        let program = translate(router, &settings)?;
        let here = [(IpAddr::V6(PREFIX), PREFIX_BITS), (IpAddr::V4(POOL), POOL_BITS)];
        router.run(|| {
            let mut netlink = Netlink::new();
            let index = netlink.interface(INTERFACE)?.index;
            here.iter().try_for_each(|&(to, bits)| netlink.add_device_route(index, to, bits))
        })??;
        let via = |family| self.next_hop(self.client(), router, family);
        self.route(self.client(), here[0], via(Family::V6)?)?;
        let back = self.next_hop(self.server(), router, Family::V4)?;
        self.route(self.server(), here[1], back)?;
        Ok(Translated { _programs: vec![program] })
    }

    /// Lets the client reach the server from IPv4 over an IPv6 network: translated at the client
    /// and back at the first router, whose [`nat64`](Self::nat64) this holds as well.
    ///
    /// # Errors
    /// As [`nat64`](Self::nat64).
    pub fn xlat464(&self) -> Result<Translated, LabError> {
        let Translated { _programs: mut programs } = self.nat64()?;
        let (client, router) = (self.client(), self.first_router()?);
        let settings = format!(
            "tun-device {INTERFACE}\nipv4-addr {CLIENT_OWN}\nprefix {PREFIX}/{PREFIX_BITS}\n\
             map {CLIENT} {CLIENT_SIX}\ndata-dir /run\n"
        );
        programs.push(translate(client, &settings)?);
        let server = self.server().addresses.v4;
        let server = server.ok_or_else(|| LabError::World("no IPv4 at the server".to_owned()))?;
        client.run(|| {
            // What was translated comes from another interface than it leaves by.
            let forwarding = "/proc/sys/net/ipv6/conf/all/forwarding";
            std::fs::write(forwarding, "1")
                .map_err(LabError::system(format!("set {forwarding}")))?;
            let mut netlink = Netlink::new();
            let index = netlink.interface(INTERFACE)?.index;
            netlink.add_address(index, CLIENT.into(), 32)?;
            netlink.add_device_route(index, CLIENT_SIX.into(), 128)?;
            netlink.add_device_route(index, server, 32)
        })??;
        let back = self.next_hop(router, client, Family::V6)?;
        self.route(router, (CLIENT_SIX.into(), 128), back)?;
        Ok(Translated { _programs: programs })
    }

    fn first_router(&self) -> Result<&Node, LabError> {
        let path = self.world().path_nodes();
        let between = path.get(1..path.len().saturating_sub(1)).unwrap_or_default();
        let first = between.iter().find(|&&node| self.nodes()[node].kind == NodeKind::Router);
        let none = || LabError::World("translation needs a router on the path".to_owned());
        first.map(|&node| &self.nodes()[node]).ok_or_else(none)
    }

    /// The address that `from` sends to on its way to `to`.
    fn next_hop(&self, from: &Node, to: &Node, family: Family) -> Result<IpAddr, LabError> {
        let world = self.world();
        let topology = Topology::of(world);
        let place = |node: &Node| world.find(&node.name);
        let hops = place(from).zip(place(to)).and_then(|(a, b)| topology.path(a, b));
        let first = hops.unwrap_or_default().into_iter().next();
        let end = first.map(|hop| End { link: hop.link, side: hop.from.other() });
        let address = end.and_then(|end| world.address(&topology, end, family));
        let none = || LabError::World(format!("no {family} way to {}", to.name));
        address.ok_or_else(none)
    }

    fn route(&self, node: &Node, (to, bits): (IpAddr, u8), via: IpAddr) -> Result<(), LabError> {
        node.run(|| Netlink::new().add_route(to, bits, via))?
    }
}

/// Starts a translator at a node and sets its interface up.
fn translate(node: &Node, settings: &str) -> Result<Program, LabError> {
    available().map_err(|reason| LabError::World(reason.to_string()))?;
    let settings = [("SETTINGS", settings)];
    drop(node.run(|| program::start(INTERFACE_MADE, &settings))??);
    node.run(|| {
        let mut netlink = Netlink::new();
        let index = netlink.interface(INTERFACE)?.index;
        netlink.set_up(index)
    })??;
    let program = node.run(|| program::start(TAYGA, &settings))??;
    node.run(wait_attached)??;
    Ok(program)
}

/// Waits until the kernel has seen that tayga is at its interface: what is sent before is lost.
fn wait_attached() -> Result<(), LabError> {
    let mut netlink = Netlink::new();
    let deadline_ns = clock::now_ns() + ATTACHED_NS;
    loop {
        let found = netlink.interface(INTERFACE)?;
        if found.operational {
            return Ok(());
        }
        if clock::now_ns() > deadline_ns {
            return Err(LabError::NotReady(format!("interface {INTERFACE}")));
        }
        netlink.nudge(found.index)?;
        packet::wait(&[], Some(LOOK_AGAIN)).map_err(LabError::system("wait"))?;
    }
}
