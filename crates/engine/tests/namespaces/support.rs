//! Labs, captures and checks that the scenarios share.

use std::error::Error;
use std::net::IpAddr;
use std::process::Command;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::workload::Transport;
use v6gap_core::world::{Link, LinkModel, World};
use v6gap_lab::{Lab, Node};
use v6gap_sys::packet::Port;

pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const MTU: u32 = 1500;

/// Frames that wait in a ring: all of a trial, since nobody reads before its end.
const FRAMES: usize = 2048;

/// Lengths of the Ethernet header and of the headers of IP, in bytes.
pub const ETHERNET_BYTES: usize = 14;
pub const IPV6_BYTES: usize = 40;

/// Two hosts on one cable without a rate.
pub fn lab() -> Outcome<Lab> {
    pair(LinkModel::Bare, Link::ethernet(None))
}

pub fn ensure(condition: bool, message: impl FnOnce() -> String) -> Outcome {
    if condition { Ok(()) } else { Err(message().into()) }
}

/// Two hosts on one link.
pub fn pair(model: LinkModel, link: Link) -> Outcome<Lab> {
    Ok(Lab::build(&World::chain(model, vec![link]))?)
}

pub fn addresses(far: &Node) -> Outcome<PerFamily<IpAddr>> {
    Ok(PerFamily {
        v4: far.addresses.v4.ok_or("the server has no IPv4 address")?,
        v6: far.addresses.v6.ok_or("the server has no IPv6 address")?,
    })
}

/// Does something to the network of a node in one family, in words of `ip`.
pub fn ip(node: &Node, family: Family, what: &str) -> Outcome {
    let flag = match family {
        Family::V4 => "-4",
        Family::V6 => "-6",
    };
    let output = node.run(|| Command::new("ip").arg(flag).args(what.split(' ')).output())??;
    let said = || format!("ip {flag} {what}: {}", String::from_utf8_lossy(&output.stderr));
    ensure(output.status.success(), said)
}

/// The node's end of the link, which has no name but this.
pub fn port(node: &Node) -> Outcome<Port> {
    ring(node, FRAMES)
}

/// The same with room for `frames` frames.
pub fn ring(node: &Node, frames: usize) -> Outcome<Port> {
    let open = || Port::open(interface_index()?, frames, MTU as usize + ETHERNET_BYTES);
    Ok(node.run(open)??)
}

/// Number of the only interface besides loopback.
fn interface_index() -> std::io::Result<u32> {
    // The first line of each file is the number: "ifIndex 2".
    for entry in std::fs::read_dir("/proc/thread-self/net/dev_snmp6")? {
        let entry = entry?;
        if entry.file_name() == "lo" {
            continue;
        }
        let text = std::fs::read_to_string(entry.path())?;
        let index = text.split_whitespace().nth(1).and_then(|word| word.parse().ok());
        return index.ok_or_else(|| std::io::Error::other("no number"));
    }
    Err(std::io::Error::other("no interface"))
}

/// Length by the header of IP and whether it is a fragment, of a packet that may be the trial's.
pub fn own(frame: &[u8], family: Family, transport: Transport) -> Option<(u64, bool)> {
    let packet = frame.get(ETHERNET_BYTES..)?;
    let word = |at: usize| Some(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]));
    let ethertype = u16::from_be_bytes([*frame.get(12)?, *frame.get(13)?]);
    let udp = transport == Transport::Udp;
    match (family, ethertype) {
        (Family::V4, 0x0800) => {
            let protocol = *packet.get(9)?;
            // More fragments, or not at the start.
            let fragment = word(6)? & 0x3fff != 0;
            (protocol == if udp { 17 } else { 1 }).then_some((u64::from(word(2)?), fragment))
        }
        (Family::V6, 0x86dd) => {
            let length = IPV6_BYTES as u64 + u64::from(word(4)?);
            let wanted = if udp { 17 } else { 58 };
            match *packet.get(6)? {
                44 => (*packet.get(IPV6_BYTES)? == wanted).then_some((length, true)),
                // Neighbours are found by messages of ICMPv6 too; those are no echoes.
                58 if !udp => {
                    matches!(*packet.get(IPV6_BYTES)?, 128 | 129).then_some((length, false))
                }
                next => (next == wanted && udp).then_some((length, false)),
            }
        }
        _ => None,
    }
}
