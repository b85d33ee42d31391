//! Listening along at an interface: copies of the frames that come and go, with the kernel's
//! stamps, while something else is measured.
//!
//! The kernel writes what a filter takes into a ring, whether anybody looks or not, so a listener
//! need not wake for each frame. What did not fit is counted.

#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux takes programs"))]
mod filter;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;
#[cfg(test)]
mod tests;

use crate::Unavailable;
use std::io;
use std::net::IpAddr;

pub use platform::Tap;

/// Fewest bytes of each frame that may be kept: the headers of Ethernet, IPv6 and TCP.
pub const SNAP_BYTES_MIN: u32 = 94;

/// Most bytes of each frame that may be kept: what a slot of the ring can hold.
pub const SNAP_BYTES_MAX: u32 = 65_000;

/// Which frames are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// All, as in a network that was made for the measurement.
    Everything,
    /// What two hosts send each other from or to one port, its fragments, and ICMP errors to or
    /// from this host.
    Between {
        /// Address of this host and of the other, for each family that is measured.
        pairs: Vec<(IpAddr, IpAddr)>,
        /// Port of the server, TCP and UDP.
        port: u16,
    },
}

/// How the frames of an interface begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// With an Ethernet header.
    Ethernet,
    /// With the IP header, as in tunnels.
    Ip,
}

/// Why an interface cannot be listened to.
#[derive(Debug)]
pub enum Refused {
    /// This process may not open packet sockets there (`CAP_NET_RAW`).
    NotPermitted,
    /// The platform has no such sockets, or this program does not know its kind of link.
    Unavailable(Unavailable),
    /// What the system said, as of an interface that is not there.
    Failed(io::Error),
}

/// A frame that was seen, still in the ring.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Beginning of the frame, without frame check sequence.
    pub bytes: &'a [u8],
    /// The VLAN tag that stood behind the first 12 bytes, if the kernel took one out.
    pub tag: Option<[u8; 4]>,
    /// Full length of the frame in bytes, without frame check sequence and without that tag.
    pub length: usize,
    /// When the kernel saw it, by its wall clock, in ns since the Unix epoch.
    pub at_unix_ns: u64,
    /// Whether this end sent it.
    pub outgoing: bool,
}

impl Filter {
    /// The filter in words, as capturing programs write it.
    pub fn describe(&self) -> String {
        match self {
            Filter::Everything => "none".to_owned(),
            Filter::Between { pairs, port } => {
                let pair = |(here, there): &(IpAddr, IpAddr)| {
                    format!(
                        "(host {here} and host {there} and (port {port} or fragments or icmp or \
                         icmp6)) or (host {here} and (icmp or icmp6))"
                    )
                };
                pairs.iter().map(pair).collect::<Vec<_>>().join(" or ")
            }
        }
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::NotPermitted => f.write_str("this process may not open packet sockets"),
            Refused::Unavailable(unavailable) => unavailable.fmt(f),
            Refused::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refused {}
