//! Translation between the families on the way from client to server: which packets have the other
//! family's header on which links, by which addresses it is reached, and whether it can be had.
//!
//! NAT64 (RFC 6146) translates what the client sends over IPv6 at a router, so that the server
//! meets IPv4. 464XLAT (RFC 6877) translates the client's IPv4 at the client itself and back at a
//! router. In both, a translated packet is IPv6 before the router and IPv4 behind it.

use super::{NodeKind, Place, Problem, Subnet, Topology, World};
use crate::family::{Family, PerFamily, TRANSLATED_LAB};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use serde::{Deserialize, Serialize};

/// How packets are translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TranslationKind {
    /// At a router, from IPv6 to IPv4 (RFC 6146).
    #[serde(rename = "nat64")]
    Nat64,
    /// At the client from IPv4 to IPv6, and back at a router (RFC 6877).
    #[serde(rename = "464xlat")]
    Xlat464,
}

impl TranslationKind {
    /// All of them.
    pub const ALL: [TranslationKind; 2] = [TranslationKind::Nat64, TranslationKind::Xlat464];

    /// Name of the kind in a world file.
    pub const fn name(self) -> &'static str {
        match self {
            TranslationKind::Nat64 => "nat64",
            TranslationKind::Xlat464 => "464xlat",
        }
    }

    /// The family of the client's sockets whose packets are translated.
    pub const fn translates(self) -> Family {
        match self {
            TranslationKind::Nat64 => Family::V6,
            TranslationKind::Xlat464 => Family::V4,
        }
    }
}

impl fmt::Display for TranslationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Translation between client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Translation {
    /// How packets are translated.
    pub kind: TranslationKind,
    /// The router that translates, by its place in [`World::nodes`].
    pub at: usize,
    /// The host at the other side, which with 464XLAT translates too.
    pub client: usize,
}

impl Translation {
    /// Where the servers' IPv4 addresses stand inside IPv6 (RFC 6052 section 2.2).
    pub const PREFIX: Ipv6Addr = TRANSLATED_LAB;
    /// Length of that prefix.
    pub const PREFIX_BITS: u8 = 96;
    /// IPv4 addresses that the router gives to IPv6 hosts, its own among them.
    pub const POOL: Ipv4Addr = Ipv4Addr::new(10, 49, 0, 0);
    /// Length of the prefix of these.
    pub const POOL_BITS: u8 = 24;
    /// The router's own address among them.
    pub const POOL_OWN: Ipv4Addr = Ipv4Addr::new(10, 49, 0, 1);
    /// The client's IPv4 address with 464XLAT (RFC 7335).
    pub const CLIENT: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 1);
    /// The address of its translator.
    pub const CLIENT_OWN: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 2);
    /// What the client's becomes in IPv6.
    pub const CLIENT_SIX: Ipv6Addr = Ipv6Addr::new(0xfd49, 0, 0, 0, 0, 0, 0, 1);

    /// The IPv6 address by which an IPv4 host is reached.
    pub const fn reached_by(address: Ipv4Addr) -> Ipv6Addr {
        Ipv6Addr::from_bits(Self::PREFIX.to_bits() | address.to_bits() as u128)
    }

    /// What is sent to translators: the first address, the length of its prefix and the node.
    pub fn ways(&self) -> Vec<(IpAddr, u8, usize)> {
        let mut ways = Vec::new();
        ways.push((IpAddr::V6(Self::PREFIX), Self::PREFIX_BITS, self.at));
        ways.push((IpAddr::V4(Self::POOL), Self::POOL_BITS, self.at));
        if self.kind == TranslationKind::Xlat464 {
            ways.push((IpAddr::V6(Self::CLIENT_SIX), 128, self.client));
        }
        ways
    }

    /// All addresses that translators have for themselves.
    fn reserved() -> [(IpAddr, u8); 4] {
        [
            (IpAddr::V6(Self::PREFIX), Self::PREFIX_BITS),
            (IpAddr::V4(Self::POOL), Self::POOL_BITS),
            (IpAddr::V4(Ipv4Addr::new(192, 0, 0, 0)), 29),
            (IpAddr::V6(Ipv6Addr::new(0xfd49, 0, 0, 0, 0, 0, 0, 0)), 64),
        ]
    }
}

impl World {
    /// The translation that packets of `family` between client and server meet, with the place of
    /// its router among [`path_nodes`](Self::path_nodes).
    pub fn translated(&self, family: Family) -> Option<(&Translation, usize)> {
        let translation = self.translation.as_ref()?;
        let path = self.path_nodes();
        let place = path.iter().position(|&node| node == translation.at)?;
        let between = place > 0 && place + 1 < path.len();
        (translation.kind.translates() == family && between).then_some((translation, place))
    }

    /// The address by which a node is known to the other end whose packets are translated: the
    /// server's inside of the router's prefix, the client's own.
    pub(super) fn address_translated(
        &self,
        topology: &Topology,
        node: usize,
        family: Family,
    ) -> Option<IpAddr> {
        let (translation, _) = self.translated(family)?;
        match translation.kind {
            TranslationKind::Nat64 if node == self.server => {
                let (_, end) = topology.ends_towards(self.client, node)?;
                match self.address(topology, end, Family::V4)? {
                    IpAddr::V4(address) => Some(Translation::reached_by(address).into()),
                    IpAddr::V6(_) => None,
                }
            }
            TranslationKind::Xlat464 if node == translation.client => {
                Some(Translation::CLIENT.into())
            }
            TranslationKind::Nat64 | TranslationKind::Xlat464 => None,
        }
    }

    /// Largest packet of one family, in bytes, that passes all links between client and server as
    /// it is or translated.
    pub fn mtu_translated(&self, family: Family) -> u32 {
        let Some(translation) = self.translation else { return u32::MAX };
        let path = self.path_nodes();
        let at = path.iter().position(|&node| node == translation.at).unwrap_or(0);
        let hops = self.path().into_iter().enumerate();
        let most = hops.filter_map(|(place, hop)| {
            let seen = if place < at { Family::V6 } else { Family::V4 };
            let mtu = self.links.get(hop.link)?.mtu_of(seen);
            Some((mtu + family.header_bytes()).saturating_sub(seen.header_bytes()))
        });
        most.min().unwrap_or(0)
    }

    /// Why the translation of a world whose links and tunnels are right cannot be had.
    pub(super) fn translation_problems(&self) -> Vec<Problem> {
        let Some(translation) = &self.translation else { return Vec::new() };
        let mut found = Vec::new();
        let mut add = |place, what: String| found.push(Problem { place, what });
        if let Some(what) = self.place_problem(translation) {
            add(Place::Translation, what);
        }
        if !self.families.v4 || !self.families.v6 {
            add(Place::Translation, "the world must have both families".into());
        }
        if !self.tunnels.is_empty() {
            add(Place::Translation, "a world has tunnels or translation, not both".into());
        }
        let topology = Topology::of(self);
        let reserved = Translation::reserved().map(|(first, bits)| Subnet::new(first, bits).ok());
        for (number, segment) in topology.segments().iter().enumerate() {
            let own = PerFamily::from_fn(|family| self.subnet(&topology, number, family));
            for subnet in [own.v4, own.v6] {
                if reserved.iter().flatten().any(|inside| inside.overlaps(&subnet)) {
                    let link = segment.links.first().copied().unwrap_or(0);
                    let what = format!("{subnet} holds addresses that translators have");
                    add(Place::Link(link), what);
                }
            }
        }
        found
    }

    fn place_problem(&self, translation: &Translation) -> Option<String> {
        let Translation { kind, at, client } = *translation;
        let (Some(router), Some(host)) = (self.nodes.get(at), self.nodes.get(client)) else {
            return Some("it is at no node".into());
        };
        let (name, host) = (&router.name, &host.name);
        let (from, to) = (&self.nodes[self.client].name, &self.nodes[self.server].name);
        if router.kind != NodeKind::Router {
            return Some(format!("{name} is not a router"));
        }
        if self.nodes[self.client].kind != NodeKind::Host {
            return Some(format!("{from} is not a host, and the client must be one"));
        }
        if kind == TranslationKind::Xlat464 && client != self.client {
            let what = format!("{host} translates its own packets, and {from} does not");
            return Some(format!("{what}: measure from {host}"));
        }
        if self.translated(kind.translates()).is_none() {
            return Some(format!("{name} is not on the way from {from} to {to}"));
        }
        None
    }
}
