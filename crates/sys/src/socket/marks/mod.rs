//! How packets are marked: what is set on a socket, what it reads back, and what packets carried
//! when they arrived.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;
#[cfg(test)]
mod tests;

use super::error::{Operation, SocketError};
use super::{Datagram, Domain, Stream};
use crate::Unavailable;
use socket2::{SockRef, Socket};
use std::io;
use std::net::SocketAddr;

/// Largest flow label (RFC 6437): 20 bits.
pub const FLOW_LABEL_MAX: u32 = 0xf_ffff;

/// Fields of the IP header by which a network may treat packets differently. `None` is what the
/// system does by itself, or what it does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// Differentiated services field and ECN (RFC 2474, RFC 3168) as one octet: `TOS` of IPv4,
    /// traffic class of IPv6.
    pub traffic_class: Option<u8>,
    /// Time to live of IPv4, hop limit of IPv6.
    pub hop_limit: Option<u8>,
    /// Flow label of IPv6, 20 bits; IPv4 has none and passes it over.
    pub flow_label: Option<u32>,
    /// Whether packets beyond the path MTU are refused ([`TooBig`](super::ErrorClass::TooBig)) and
    /// never fragmented; `false` leaves that to the system's usual way.
    pub dont_fragment: Option<bool>,
}

impl Stream {
    /// Marks the packets sent from now on; a flow label is left as it is, since it belongs to the
    /// connection from its first segment.
    ///
    /// # Errors
    /// The system's answer, naming the option.
    pub fn mark(&self, marks: &Marks) -> Result<(), SocketError> {
        apply(&SockRef::from(&self.inner), self.domain()?, marks)
    }

    /// How packets are marked, read back from the socket.
    ///
    /// # Errors
    /// The system's answer.
    pub fn marks(&self) -> Result<Marks, SocketError> {
        granted(&SockRef::from(&self.inner), self.domain()?)
    }

    /// What the peer's packets carried when the connection was made, at the end that accepted it.
    /// At the other end the system keeps nothing, and would give its defaults for what came.
    ///
    /// # Errors
    /// At the end that connected, off Linux, or if the system does not tell.
    pub fn arrived_marks(&self) -> Result<Marks, Unavailable> {
        let unavailable = |why: String| Unavailable::new("marks of arriving packets", why);
        if !self.accepted {
            return Err(unavailable("they are kept of the request for a connection alone".into()));
        }
        let domain = self.domain().map_err(|error| unavailable(error.to_string()))?;
        platform::arrived(&SockRef::from(&self.inner), domain)
            .map_err(|error| unavailable(error.to_string()))
    }
}

impl Datagram {
    /// Marks the packets sent from now on; the flow label holds for the peer of the next
    /// [`connect_marked`](Self::connect_marked).
    ///
    /// # Errors
    /// The system's answer, naming the option.
    pub fn mark(&self, marks: &Marks) -> Result<(), SocketError> {
        self.with(|socket, domain| apply(socket, domain, marks))
    }

    /// How packets are marked, read back from the socket.
    ///
    /// # Errors
    /// The system's answer.
    pub fn marks(&self) -> Result<Marks, SocketError> {
        self.with(granted)
    }

    /// Marks packets and fixes the peer to which they go.
    ///
    /// # Errors
    /// As [`mark`](Self::mark) and [`connect`](Self::connect).
    pub fn connect_marked(&self, remote: SocketAddr, marks: &Marks) -> Result<(), SocketError> {
        self.mark(marks)?;
        let labelled = self.with(|socket, _| labelled(socket, remote, marks))?;
        self.connect(labelled)
    }
}

/// Sets what marks ask for and holds for any peer.
pub(super) fn apply(socket: &Socket, domain: Domain, marks: &Marks) -> Result<(), SocketError> {
    let set = |name, outcome: io::Result<()>| {
        outcome.map_err(SocketError::during(Operation::SetOption(name)))
    };
    if let Some(octet) = marks.traffic_class {
        let outcome = platform::set_traffic_class(socket, domain, octet);
        set(traffic_class_option(domain), outcome)?;
    }
    if let Some(hops) = marks.hop_limit {
        match domain {
            Domain::V4 => set("IP_TTL", socket.set_ttl_v4(hops.into()))?,
            Domain::V6 => set("IPV6_UNICAST_HOPS", socket.set_unicast_hops_v6(hops.into()))?,
        }
    }
    if let Some(on) = marks.dont_fragment {
        set(discovery_option(domain), super::platform::forbid_fragments(socket, on))?;
    }
    Ok(())
}

/// The address of `remote` under which its packets carry the flow label, which the system is asked
/// for.
pub(super) fn labelled(
    socket: &Socket,
    remote: SocketAddr,
    marks: &Marks,
) -> Result<SocketAddr, SocketError> {
    let (SocketAddr::V6(mut v6), Some(label)) = (remote, marks.flow_label) else {
        return Ok(remote);
    };
    let label = label & FLOW_LABEL_MAX;
    platform::lease_flow_label(socket, *v6.ip(), label)
        .map_err(SocketError::at(Operation::SetOption("flow label"), remote))?;
    // The field is kept in the order of the wire.
    v6.set_flowinfo(label.to_be());
    Ok(SocketAddr::V6(v6))
}

fn granted(socket: &Socket, domain: Domain) -> Result<Marks, SocketError> {
    let hops = match domain {
        Domain::V4 => socket.ttl_v4(),
        Domain::V6 => socket.unicast_hops_v6(),
    };
    let hops = hops.map_err(SocketError::during(Operation::ReadOption("hop limit")))?;
    Ok(Marks {
        traffic_class: platform::traffic_class(socket, domain),
        hop_limit: u8::try_from(hops).ok(),
        flow_label: platform::flow_label(socket, domain),
        dont_fragment: super::platform::dont_fragment(socket).ok(),
    })
}

const fn traffic_class_option(domain: Domain) -> &'static str {
    match domain {
        Domain::V4 => "IP_TOS",
        Domain::V6 => "IPV6_TCLASS",
    }
}

const fn discovery_option(domain: Domain) -> &'static str {
    match domain {
        Domain::V4 => "IP_MTU_DISCOVER",
        Domain::V6 => "IPV6_MTU_DISCOVER",
    }
}
