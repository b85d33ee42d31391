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
mod tests {
    use super::*;
    use v6gap_core::plan::preset;

    #[track_caller]
    fn unusable(result: Result<Target, Unfit>) {
        let unfit = result.unwrap_err();
        assert!(matches!(unfit, Unfit::Unusable { .. }), "{unfit}");
    }

    #[test]
    fn literal_addresses_need_no_resolver() {
        let target = resolve("192.0.2.7", 4466, None, Some("2001:db8::7")).unwrap();
        assert_eq!(target.addresses.v4, Some("192.0.2.7:4466".parse().unwrap()));
        assert_eq!(target.addresses.v6, Some("[2001:db8::7]:4466".parse().unwrap()));
        for wrong in ["[2001:db8::7]:70000", "[2001:db8::7]:50O0", "[2001:db8::7]99"] {
            unusable(resolve(wrong, 4466, None, None));
        }
        let target = resolve("[2001:db8::7]:99", 4466, None, None).unwrap();
        assert_eq!(target.addresses.v6, Some("[2001:db8::7]:99".parse().unwrap()));
        assert_eq!(target.addresses.v4, None);
        assert_eq!(
            resolve("192.0.2.7:99", 1, None, None).unwrap().addresses.v4.unwrap().port(),
            99
        );
    }

    #[test]
    fn a_name_needs_no_resolver_if_both_addresses_are_given() {
        let target = resolve("nas", 1, Some("192.0.2.7"), Some("2001:db8::7")).unwrap();
        assert_eq!(target.name, "nas");
        assert!(target.comparable().is_ok());
    }

    #[test]
    fn what_was_given_goes_before_what_a_name_server_tells() {
        let six = "2001:db8::7".parse().ok();
        let tells = PerFamily { v4: "192.0.2.7".parse().ok(), v6: six };
        let target = |given, tells| told("nas", 1, given, tells).unwrap().addresses;
        let given = PerFamily { v4: Some("192.0.2.8"), v6: None };
        let [eight, seven] = ["192.0.2.8:1", "[2001:db8::7]:1"].map(|text| text.parse().ok());
        assert_eq!(target(given, tells), PerFamily { v4: eight, v6: seven });
        // IPv4 in the form of IPv6 would be measured under a wrong name.
        let mapped = PerFamily { v4: None, v6: "::ffff:192.0.2.7".parse().ok() };
        assert_eq!(target(given, mapped), PerFamily { v4: eight, v6: None });
    }

    #[test]
    fn only_networks_of_one_s_own_are_near() {
        let near = |text: &str| is_near(text.parse().unwrap());
        for address in ["127.0.0.1", "10.1.2.3", "169.254.1.1", "::1", "fd12::1", "fe80::1"] {
            assert!(near(address), "{address}");
        }
        for address in ["192.0.2.1", "100.64.0.1", "2001:db8::1", "64:ff9b::1"] {
            assert!(!near(address), "{address}");
        }
        let of = |v6| resolve("it", 1, Some("10.1.2.3"), Some(v6)).unwrap().is_near();
        assert!(of("fd12::1") && !of("2001:db8::1"), "all of them have to be");
    }

    #[test]
    fn a_missing_family_is_named() {
        let alone = resolve("192.0.2.7", 4466, None, None).unwrap();
        assert_eq!(alone.lacks(PerArm::FAMILIES), Some(Family::V6));
        assert_eq!(alone.lacks(PerArm { a: Family::V6, b: Family::V6 }), Some(Family::V6));
        assert_eq!(alone.lacks(PerArm { a: Family::V4, b: Family::V4 }), None);
        let both = resolve("nas", 4466, Some("192.0.2.7"), Some("2001:db8::7")).unwrap();
        assert_eq!(both.lacks(PerArm::FAMILIES), None);
        let found = alone.comparable().unwrap_err();
        assert!(matches!(found, Unfit::NoAddress { missing: Family::V6, .. }), "{found}");
    }

    #[test]
    fn addresses_that_cannot_be_measured_are_refused() {
        let found = resolve("fe80::1", 1, None, None).unwrap_err();
        assert!(matches!(found, Unfit::NoZone { .. }), "{found}");
        unusable(resolve("::ffff:192.0.2.1", 1, None, None));
        unusable(resolve("x", 1, Some("2001:db8::1"), None));
        unusable(resolve("a:b:c", 1, None, None));
        unusable(resolve("192.0.2.1%eth0", 1, None, None));
    }

    #[test]
    fn addresses_to_measure_from_are_of_this_host_and_one_of_a_family() {
        let target = resolve("127.0.0.1", 1, None, None).unwrap();
        let from = |bind: &[&str]| {
            let bind: Vec<String> = bind.iter().map(ToString::to_string).collect();
            target.clone().from(&bind)
        };
        assert_eq!(from(&[]).unwrap().local, PerFamily::default());
        let local = from(&["127.0.0.1"]).unwrap().local;
        assert_eq!(local, PerFamily { v4: Some("127.0.0.1:0".parse().unwrap()), v6: None });
        // An address for documentation (RFC 5737) is nobody's.
        let found = from(&["192.0.2.1"]).unwrap_err();
        assert!(matches!(found, Unfit::NotHere { .. }), "{found}");
        unusable(from(&["localhost"]));
        unusable(from(&["127.0.0.1%lo"]));
        let found = from(&["127.0.0.1", "127.0.0.2"]).unwrap_err();
        assert!(matches!(found, Unfit::Two { family: Family::V4, .. }), "{found}");
        // The server may tell an address of that family.
        let found = from(&["::1"]).unwrap().bound().unwrap_err();
        assert!(matches!(found, Unfit::NoSuchWay { family: Family::V6, .. }), "{found}");
    }

    #[test]
    fn a_run_goes_on_at_the_addresses_where_it_began() {
        let plan = preset::first_look(PerArm::FAMILIES, None, 1);
        let target = |v6| resolve("nas", 1, Some("127.0.0.1"), Some(v6)).unwrap();
        let mut header = RunHeader {
            addresses: target("2001:db8::7").addresses.map(|address| address.map(|a| a.ip())),
            ..RunHeader::new("7k2f9q".parse().unwrap(), plan)
        };
        assert!(target("2001:db8::7").as_before(&header).is_ok());
        let text = target("2001:db8::8").as_before(&header).unwrap_err().to_string();
        assert_eq!(text, "nas is 2001:db8::8, and 7k2f9q was measured with 2001:db8::7");
        // Whose other address has to be asked for has to be where it was.
        let one = resolve("127.0.0.1", 1, None, None).unwrap().as_before(&header).unwrap();
        assert_eq!(one.wanted, PerFamily { v4: None, v6: header.addresses.v6 });
        assert_eq!(one.addresses.v6, None);
        header.bind.v4 = Some("127.0.0.1".parse().unwrap());
        let again = target("2001:db8::7").as_before(&header).unwrap();
        assert_eq!(again.local.v4, Some("127.0.0.1:0".parse().unwrap()));
        let other = target("2001:db8::7").from(&["127.0.0.2".to_owned()]).unwrap();
        let found = other.as_before(&header).unwrap_err();
        assert!(matches!(found, Elsewhere::Here(_)), "{found}");
    }

    #[test]
    fn a_run_goes_on_by_the_link_by_which_it_began() {
        let four = PerArm { a: Family::V4, b: Family::V4 };
        let target = resolve("127.0.0.1", 1, None, None).unwrap();
        let Some(link) = target.way_out(Family::V4) else {
            return println!("not tested: this system does not tell which way packets leave");
        };
        let addresses = target.addresses.map(|address| address.map(|a| a.ip()));
        let plan = preset::first_look(four, None, 1);
        let header = RunHeader { addresses, ..RunHeader::new("7k2f9q".parse().unwrap(), plan) };
        let by = |link: &str| {
            let mut header = header.clone();
            let facts = &mut header.hosts.client.facts;
            facts.insert(names::way_out(Family::V4).to_owned(), link.to_owned());
            target.clone().as_before(&header)
        };
        assert!(by(&link).is_ok() && target.clone().as_before(&header).is_ok());
        let text = by("eth9").unwrap_err().to_string();
        let expected = format!("IPv4 leaves this host by {link}, and 7k2f9q was measured by eth9");
        assert_eq!(text, expected);
    }

    #[test]
    fn a_zone_may_be_a_number() {
        let target = resolve("fe80::1%3", 1, None, None).unwrap();
        assert!(matches!(target.addresses.v6, Some(SocketAddr::V6(a)) if a.scope_id() == 3));
    }
}
