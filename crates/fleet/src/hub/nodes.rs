//! The nodes of a hub: one, or three that hold everything three times.

use crate::error::FleetError;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// Where a node listens for agents if nothing else is said; further ones at the same host take the
/// next.
const PORT: u16 = 4222;

/// Nodes listen to each other so many ports above.
const ROUTES_ABOVE: u16 = 2000;

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Name or address by which agents reach it.
    pub host: String,
    /// Port for agents.
    pub port: u16,
}

impl Node {
    /// Whether only this host reaches it.
    pub fn is_local(&self) -> bool {
        self.host == "localhost" || self.host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }

    /// Port for the other nodes.
    pub fn routes_port(&self) -> u16 {
        self.port + ROUTES_ABOVE
    }

    /// `host:port`, the host in brackets where it has colons itself.
    pub fn at(&self, port: u16) -> String {
        match self.host.parse::<Ipv6Addr>() {
            Ok(address) => format!("[{address}]:{port}"),
            Err(_) => format!("{}:{port}", self.host),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.at(self.port))
    }
}

/// Reads nodes as they are typed: `HOST`, `HOST:PORT`, `ADDRESS` or `[ADDRESS]:PORT`, between
/// commas.
///
/// # Errors
/// In words, if there are not one or three, two are the same, or one is neither.
pub fn parse(text: &str) -> Result<Vec<Node>, FleetError> {
    let mut at_host: BTreeMap<String, u16> = BTreeMap::new();
    let mut nodes = Vec::new();
    for word in text.split(',').map(str::trim) {
        let (host, port) = split(word)?;
        let earlier = at_host.entry(host.clone()).or_default();
        nodes.push(Node { host, port: port.unwrap_or(PORT + *earlier) });
        *earlier += 1;
    }
    let different: BTreeSet<&Node> = nodes.iter().collect();
    match nodes.len() {
        _ if different.len() < nodes.len() => {
            Err(FleetError::Nodes(format!("{text} names a node twice")))
        }
        1 | 3 => Ok(nodes),
        n => Err(FleetError::Nodes(format!(
            "a hub has one node, or three of which one may fail; {text} names {n}"
        ))),
    }
}

fn split(word: &str) -> Result<(String, Option<u16>), FleetError> {
    let wrong = || FleetError::Nodes(format!("`{word}` is no HOST, HOST:PORT or [ADDRESS]:PORT"));
    if word.parse::<IpAddr>().is_ok() {
        return Ok((word.to_owned(), None));
    }
    let (host, port) = match word.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (word, None),
    };
    let port: Option<u16> = port.map(|port| port.parse().map_err(|_| wrong())).transpose()?;
    if port.is_some_and(|port| port == 0 || port.checked_add(ROUTES_ABOVE).is_none()) {
        return Err(wrong());
    }
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address: Ipv6Addr = address.parse().map_err(|_| wrong())?;
        return Ok((address.to_string(), port));
    }
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    match !host.is_empty() && host.chars().all(letters) {
        true => Ok((host.to_owned(), port)),
        false => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_read_as_they_are_typed() {
        let read =
            |text: &str| parse(text).unwrap().iter().map(Node::to_string).collect::<Vec<_>>();
        assert_eq!(read("hub1"), ["hub1:4222"]);
        assert_eq!(read("hub1,hub2:4300, hub3"), ["hub1:4222", "hub2:4300", "hub3:4222"]);
        assert_eq!(read("lo,lo,lo"), ["lo:4222", "lo:4223", "lo:4224"]);
        assert_eq!(read("2001:db8::1"), ["[2001:db8::1]:4222"]);
        assert_eq!(read("[2001:db8::1]:99"), ["[2001:db8::1]:99"]);
        assert_eq!(read("192.0.2.1:99"), ["192.0.2.1:99"]);
    }

    #[test]
    fn what_is_no_hub_is_refused_in_words() {
        for text in ["", "a,b", "a,b,c,d", "a:1,a:1,b", "a:x", "a:0", "a:65000", "a b", "[x]:1"] {
            assert!(matches!(parse(text), Err(FleetError::Nodes(_))), "{text}");
        }
    }

    #[test]
    fn loopback_is_of_this_host_alone() {
        let local = |text: &str| parse(text).unwrap()[0].is_local();
        let loopback = IpAddr::from(Ipv6Addr::LOCALHOST).to_string();
        assert!(local("localhost:1") && local(&loopback));
        assert!(!local("hub1") && !local("2001:db8::1"));
    }
}
