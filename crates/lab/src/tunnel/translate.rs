//! Translation between the families: NAT64 at a router (RFC 6146, by RFC 7915's headers), and with
//! a second translator at the client 464XLAT (RFC 6877). Both by the program tayga, which gives
//! each IPv6 host an IPv4 address of its own and leaves ports as they are.

use super::program::{self, Program};
use crate::LabError;
use crate::clock::HEADER_BYTES;
use crate::layout::Layout;
use crate::netlink::{Netlink, Shape};
use crate::node::Node;
use crate::shape::shape;
use std::net::IpAddr;
use std::time::Duration;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::world::{LinkModel, Topology, Translation, TranslationKind, World};
use v6gap_sys::{Unavailable, clock, packet};

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
pub(crate) struct Translating {
    _programs: Vec<Program>,
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

/// Starts the translators of the world, whose routes to others stand already.
///
/// # Errors
/// If this host lacks the program (see [`available`]), or the kernel refuses.
pub(crate) fn start(
    world: &World,
    nodes: &[Node],
    translation: &Translation,
) -> Result<Translating, LabError> {
    let router = &nodes[translation.at];
    let (prefix, bits) = (Translation::PREFIX, Translation::PREFIX_BITS);
    let usual = format!("tun-device {INTERFACE}\nprefix {prefix}/{bits}\ndata-dir /run\n");
    let settings = format!(
        "{usual}ipv4-addr {}\ndynamic-pool {}/{}\n",
        Translation::POOL_OWN,
        Translation::POOL,
        Translation::POOL_BITS
    );
    let here = translation.ways().into_iter().filter(|(.., node)| *node == translation.at);
    let here: Vec<_> = here.map(|(to, bits, _)| (to, bits)).collect();
    let mut programs = vec![send_there(world, router, &settings, &here)?];
    if translation.kind == TranslationKind::Xlat464 {
        let client = &nodes[translation.client];
        let (own, six) = (Translation::CLIENT, Translation::CLIENT_SIX);
        let settings = format!("{usual}ipv4-addr {}\nmap {own} {six}\n", Translation::CLIENT_OWN);
        let mut here = Layout::of(world).translated(translation.client);
        here.push((six.into(), 128));
        programs.push(send_there(world, client, &settings, &here)?);
        let shape = before_translation(world, translation);
        client.run(|| {
            let mut netlink = Netlink::new();
            let index = netlink.interface(INTERFACE)?.index;
            if let Some(shape) = &shape {
                netlink.shape(index, shape)?;
            }
            netlink.add_address(index, own.into(), 32)
        })??;
    }
    Ok(Translating { _programs: programs })
}

/// What slows the client's senders down before its translator, as the bucket of its link does
/// those that send without: the translator takes all that it is given, and what is too much for
/// the link would be lost at the client itself.
fn before_translation(world: &World, translation: &Translation) -> Option<Shape> {
    let topology = Topology::of(world);
    let (end, _) = topology.ends_towards(translation.client, translation.at)?;
    let shape = shape(world, &world.links[end.link], end.side)?;
    let of_link = shape.buckets.v6;
    let longer = Family::V6.header_bytes() - Family::V4.header_bytes();
    Some(Shape {
        buckets: PerFamily { v4: of_link, v6: None },
        queue_packets: shape.queue_packets.swapped(),
        delayed: None,
        more_bytes: longer + HEADER_BYTES as u32,
        ..shape
    })
}

/// Starts a translator at a node and sends there what is for it.
fn send_there(
    world: &World,
    node: &Node,
    settings: &str,
    here: &[(IpAddr, u8)],
) -> Result<Program, LabError> {
    let program = translate(node, settings)?;
    node.run(|| {
        let mut netlink = Netlink::new();
        let index = netlink.interface(INTERFACE)?.index;
        if world.model != LinkModel::Bare {
            netlink.forbid_super_packets(index)?;
        }
        here.iter().try_for_each(|&(to, bits)| {
            let family = if to.is_ipv4() { Family::V4 } else { Family::V6 };
            let mtu = Some(world.mtu_translated(family));
            netlink.add_device_route(index, to, bits, mtu)
        })
    })??;
    Ok(program)
}

/// Starts a translator at a node and sets its interface up.
fn translate(node: &Node, settings: &str) -> Result<Program, LabError> {
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
