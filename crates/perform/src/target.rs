//! Who is to be measured: from a name or addresses to one address of each family.

use std::net::{IpAddr, SocketAddr, SocketAddrV6, ToSocketAddrs};
use v6gap_core::arm::PerArm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::host::names;
use v6gap_core::record::{RunHeader, RunId};
use v6gap_sys::interface;
use v6gap_sys::socket::{Datagram, SocketError};

/// A server to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// What the person who asked calls it.
    pub name: String,
    /// Address and port of the target in each family; `None` where it has none.
    pub addresses: PerFamily<Option<SocketAddr>>,
    /// The address of this host to measure from in each family, with port 0, where one was asked
    /// for.
    pub local: PerFamily<Option<SocketAddr>>,
    /// The address that it has to have in a family of which none is known, where that matters.
    pub wanted: PerFamily<Option<IpAddr>>,
}

/// What came of asking a server for its address of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The addresses that it told and that are not taken, each with the reason in words.
    pub passed_over: Vec<(IpAddr, String)>,
    /// The only one that would do, if one alone would.
    pub wanted: Option<IpAddr>,
}

/// Why a text names nothing that can be measured.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// One family is missing.
    #[error("{name} has no {missing} address")]
    NoAddress {
        /// What was asked for.
        name: String,
        /// The family.
        missing: Family,
        /// The address of the other.
        found: IpAddr,
        /// What the server there said to that, if it was asked.
        asked: Option<Box<Asked>>,
    },
    /// The name has no address at all.
    #[error("no host is called {name}")]
    Unknown {
        /// The name.
        name: String,
        /// The system's words; may be empty.
        system: String,
    },
    /// A link-local address without its interface.
    #[error("{address} needs the interface it is on")]
    NoZone {
        /// The address.
        address: String,
        /// The interfaces of this host.
        interfaces: Vec<String>,
    },
    /// What should be an address is not one that can be measured.
    #[error("{address} cannot be measured: {why}")]
    Unusable {
        /// What should be one.
        address: String,
        /// In words.
        why: String,
    },
    /// An address to measure from that this host does not have or does not let this program use.
    #[error("cannot measure from {address}: {error}")]
    NotHere {
        /// The address.
        address: String,
        /// What the system said.
        error: SocketError,
    },
    /// An address to measure from, of a family that is not measured.
    #[error("{address}: {name} has no {family} address to measure")]
    NoSuchWay {
        /// The address.
        address: String,
        /// The host that is to be measured.
        name: String,
        /// The family of the address.
        family: Family,
    },
    /// Two addresses of one family to measure from.
    #[error("two {family} addresses, {first} and {second}")]
    Two {
        /// The family.
        family: Family,
        /// The one.
        first: IpAddr,
        /// The other.
        second: String,
    },
}

/// Why a stored run cannot go on here: pairs of two paths are no pairs of one.
#[derive(Debug, thiserror::Error)]
pub enum Elsewhere {
    /// The far end has another address.
    #[error(
        "{name} is {}, and {id} was measured with {}", said(*.now, *.family),
        said(*.before, *.family)
    )]
    There {
        /// Name of the far end.
        name: String,
        /// The run.
        id: RunId,
        /// The family.
        family: Family,
        /// Address of the target now, if it has one.
        now: Option<IpAddr>,
        /// Address of the target then.
        before: Option<IpAddr>,
    },
    /// At its address is another host.
    #[error("{now} answers, and {id} was measured with {before}")]
    Another {
        /// The run.
        id: RunId,
        /// Name of the server then.
        before: String,
        /// Name of the server now.
        now: String,
    },
    /// Its packets left this host by another interface.
    #[error("{family} leaves this host by {now}, and {id} was measured by {before}")]
    Link {
        /// The run.
        id: RunId,
        /// The family.
        family: Family,
        /// Name of the interface then.
        before: String,
        /// Name of the interface now.
        now: String,
    },
    /// It was measured from another address of this host than the one asked for.
    #[error("{0} was measured from elsewhere")]
    Here(RunId),
    /// The address that it was measured from is not of this host any more.
    #[error(transparent)]
    Gone(#[from] Unfit),
}

fn said(address: Option<IpAddr>, family: Family) -> String {
    address.map_or_else(|| format!("no {family} address"), |address| address.to_string())
}

impl Target {
    /// The target of that name at these addresses, measured from wherever the system chooses.
    pub fn at(name: impl Into<String>, addresses: PerFamily<Option<SocketAddr>>) -> Self {
        let (local, wanted) = (PerFamily::default(), PerFamily::default());
        Target { name: name.into(), addresses, local, wanted }
    }

    /// The family that one of `arms` measures and that no address is known of, where the server can
    /// be asked for it at its address of the other.
    pub fn lacks(&self, arms: PerArm<Family>) -> Option<Family> {
        let is_known = |family: Family| self.addresses.get(family).is_some();
        [arms.a, arms.b].into_iter().find(|family| !is_known(*family) && is_known(family.other()))
    }

    /// This target, measured from where the run of `header` was measured from.
    ///
    /// # Errors
    /// If a family that it measures is not where it was then or leaves by another interface, or
    /// this end was told to be elsewhere or cannot be where it was.
    pub fn as_before(mut self, header: &RunHeader) -> Result<Self, Elsewhere> {
        let arms = header.plan.design.arms;
        if let Some(family) = self.lacks(arms) {
            *self.wanted.get_mut(family) = *header.addresses.get(family);
        }
        for family in [arms.a, arms.b] {
            let before = *header.addresses.get(family);
            let now = self.addresses.get(family).map(|address| address.ip());
            if before != now.or(*self.wanted.get(family)) {
                let (name, id) = (self.name, header.id.clone());
                return Err(Elsewhere::There { name, id, family, now, before });
            }
        }
        let here = self.local.map(|local| local.map(|address| address.ip()));
        if here != header.bind {
            if here != PerFamily::default() {
                return Err(Elsewhere::Here(header.id.clone()));
            }
            let before = [header.bind.v4, header.bind.v6].into_iter().flatten();
            let before: Vec<String> = before.map(|address| address.to_string()).collect();
            self = self.from(&before)?;
        }
        self.by_the_same_link(header)
    }

    /// This target, whose packets leave as those of the run of `header` did, as far as both are
    /// known: an address may be on two links, above all one that has a zone.
    fn by_the_same_link(self, header: &RunHeader) -> Result<Self, Elsewhere> {
        let arms = header.plan.design.arms;
        for family in [arms.a, arms.b] {
            let before = header.hosts.client.facts.get(names::way_out(family));
            if let (Some(before), Some(now)) = (before, self.way_out(family))
                && *before != now
            {
                let (id, before) = (header.id.clone(), before.clone());
                return Err(Elsewhere::Link { id, family, before, now });
            }
        }
        Ok(self)
    }

    /// The interface that packets of a family leave by, where the system tells. The kernel is asked
    /// by a connected socket, which sends nothing.
    pub fn way_out(&self, family: Family) -> Option<String> {
        let address = (*self.addresses.get(family))?;
        let any = SocketAddr::new(family.unspecified(), 0);
        let socket = Datagram::bind(self.local.get(family).unwrap_or(any)).ok()?;
        socket.connect(address).ok()?;
        let local = socket.local().ok()?;
        // Interfaces of one hardware address have one link-local address.
        match (address, local) {
            (SocketAddr::V6(there), _) if there.scope_id() != 0 => {
                interface::of_index(there.scope_id()).ok()
            }
            _ => interface::with_address(local.ip()).ok(),
        }
    }

    /// This target, measured from these addresses of this host.
    ///
    /// # Errors
    /// If one is no address, or not of this host, or if there are two of one family.
    pub fn from(mut self, bind: &[String]) -> Result<Self, Unfit> {
        for text in bind {
            let address = literal(text, 0, None)?;
            let Some(family) = Family::of(&address.ip()) else { continue };
            if let Some(other) = self.local.get_mut(family).replace(address) {
                return Err(Unfit::Two { family, first: other.ip(), second: text.clone() });
            }
            if let Err(error) = Datagram::bind(address) {
                return Err(Unfit::NotHere { address: text.clone(), error });
            }
        }
        Ok(self)
    }

    /// Whether there is something to measure from each address of this host that was asked for.
    ///
    /// # Errors
    /// If there is one of a family that the target has no address of.
    pub fn bound(self) -> Result<Self, Unfit> {
        for family in Family::BOTH {
            if let (Some(local), None) = (self.local.get(family), self.addresses.get(family)) {
                let (address, name) = (local.ip().to_string(), self.name);
                return Err(Unfit::NoSuchWay { address, name, family });
            }
        }
        Ok(self)
    }

    /// Whether every address that it has is of a network that its user is at home in: of this host,
    /// of a link, or of a private network (RFC 1918, RFC 4193).
    pub fn is_near(&self) -> bool {
        let addresses = Family::BOTH.into_iter().filter_map(|f| *self.addresses.get(f));
        addresses.map(|address| address.ip()).all(is_near)
    }

    /// Whether both families can be measured without asking the target for an address.
    ///
    /// # Errors
    /// If one has no address.
    pub fn comparable(self) -> Result<Self, Unfit> {
        for family in Family::BOTH {
            if let (None, Some(other)) =
                (self.addresses.get(family), self.addresses.get(family.other()))
            {
                let (name, found) = (self.name, other.ip());
                return Err(Unfit::NoAddress { name, missing: family, found, asked: None });
            }
        }
        Ok(self)
    }
}

/// Whether an address is of a network that its user is at home in.
pub(crate) fn is_near(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}

/// One address of each family for `host`: the ones given, otherwise those of the name, the first of
/// each. A family may be missing, as [`Target::lacks`] tells.
///
/// # Errors
/// If an address cannot be measured, or no address is known at all.
pub fn resolve(host: &str, port: u16, v4: Option<&str>, v6: Option<&str>) -> Result<Target, Unfit> {
    let (name, port) = split_port(host, port);
    let mut addresses = spelt(PerFamily { v4, v6 }, port)?;
    if Family::BOTH.iter().any(|family| addresses.get(*family).is_none()) {
        let known = addresses.v4.is_some() || addresses.v6.is_some();
        for found in look_up(name, port, known)? {
            if let Some(family) = Family::of(&found.ip()) {
                addresses.get_mut(family).get_or_insert(found);
            }
        }
    }
    Ok(Target::at(name, addresses))
}

/// The addresses of `name`: the ones given, otherwise those that a name server told.
///
/// # Errors
/// If an address cannot be measured.
pub fn told(
    name: &str,
    port: u16,
    given: PerFamily<Option<&str>>,
    told: PerFamily<Option<IpAddr>>,
) -> Result<Target, Unfit> {
    let mut addresses = spelt(given, port)?;
    for family in Family::BOTH {
        let of_family = told.get(family).filter(|address| Family::of(address) == Some(family));
        let address = addresses.get_mut(family);
        *address = address.or(of_family.map(|told| SocketAddr::new(told, port)));
    }
    Ok(Target::at(name, addresses))
}

/// The addresses that these texts spell.
fn spelt(
    given: PerFamily<Option<&str>>,
    port: u16,
) -> Result<PerFamily<Option<SocketAddr>>, Unfit> {
    let of = |family| given.get(family).map(|text| literal(text, port, Some(family))).transpose();
    Ok(PerFamily { v4: of(Family::V4)?, v6: of(Family::V6)? })
}

/// The addresses of a name or of a literal address. Where another address was given, a name that is
/// not known is only a name.
pub(crate) fn look_up(name: &str, port: u16, known: bool) -> Result<Vec<SocketAddr>, Unfit> {
    if is_literal(name) {
        return literal(name, port, None).map(|address| vec![address]);
    }
    let unknown = |system| Unfit::Unknown { name: name.to_owned(), system };
    match (name, port).to_socket_addrs() {
        Ok(found) => {
            let found: Vec<SocketAddr> = found.collect();
            let usable = |a: &SocketAddr| Family::of(&a.ip()).is_some();
            match found.iter().any(usable) || known {
                true => Ok(found),
                false => Err(unknown(String::new())),
            }
        }
        Err(_) if known => Ok(Vec::new()),
        Err(error) => Err(unknown(error.to_string())),
    }
}

/// Takes `:port` off a name, an IPv4 address or an IPv6 address in brackets. What is no port stays,
/// so that it is no address.
fn split_port(host: &str, port: u16) -> (&str, u16) {
    if let Some((name, rest)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return match rest.strip_prefix(':').map(str::parse) {
            None if rest.is_empty() => (name, port),
            Some(Ok(given)) => (name, given),
            _ => (host, port),
        };
    }
    match host.split_once(':') {
        Some((name, text)) if !text.contains(':') => match text.parse() {
            Ok(given) if !name.is_empty() => (name, given),
            _ => (host, port),
        },
        _ => (host, port),
    }
}

/// Names have neither colon nor zone, and no address of IPv4 is a name.
fn is_literal(name: &str) -> bool {
    name.contains([':', '%']) || name.parse::<IpAddr>().is_ok()
}

/// The address that `text` spells, with its zone if it has one.
fn literal(text: &str, port: u16, wanted: Option<Family>) -> Result<SocketAddr, Unfit> {
    let (bare, zone) = match text.split_once('%') {
        Some((bare, zone)) => (bare, Some(zone)),
        None => (text, None),
    };
    let Ok(address) = bare.parse::<IpAddr>() else {
        return Err(unusable(text, "it is no address"));
    };
    let Some(family) = Family::of(&address) else {
        let why = "it is IPv4 in IPv6 form, which would measure IPv4 under the name of IPv6";
        return Err(unusable(text, why));
    };
    if wanted.is_some_and(|wanted| wanted != family) {
        return Err(unusable(text, format!("it is an {family} address")));
    }
    match (address, zone) {
        (IpAddr::V6(inner), None) if inner.is_unicast_link_local() => {
            Err(Unfit::NoZone { address: text.to_owned(), interfaces: interfaces() })
        }
        (IpAddr::V6(inner), Some(zone)) => {
            let scope = scope_of(text, zone, port)?;
            Ok(SocketAddr::V6(SocketAddrV6::new(inner, port, 0, scope)))
        }
        (IpAddr::V4(_), Some(_)) => Err(unusable(text, "only IPv6 has zones")),
        (address, None) => Ok(SocketAddr::new(address, port)),
    }
}

/// The number of the interface that a zone names. The system's resolver knows it.
fn scope_of(text: &str, zone: &str, port: u16) -> Result<u32, Unfit> {
    if let Ok(number) = zone.parse() {
        return Ok(number);
    }
    let found = (text, port).to_socket_addrs().ok().and_then(|mut found| found.next());
    match found {
        Some(SocketAddr::V6(address)) if address.scope_id() != 0 => Ok(address.scope_id()),
        _ => Err(unusable(text, format!("there is no interface {zone}"))),
    }
}

fn unusable(address: &str, why: impl Into<String>) -> Unfit {
    Unfit::Unusable { address: address.to_owned(), why: why.into() }
}

/// Names of this host's interfaces, as far as the system's counters tell.
fn interfaces() -> Vec<String> {
    let counters = v6gap_sys::counters::snapshot().unwrap_or_default().values;
    let name = |counter: &String| {
        counter.strip_prefix("if.")?.strip_suffix(".rx_bytes").map(str::to_owned)
    };
    counters.keys().filter_map(name).collect()
}

#[cfg(test)]
mod tests;
