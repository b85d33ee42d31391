//! A run without the names and addresses of its hosts, for those who may see its figures and not
//! whose they are. The same name or address always becomes the same other one, so that what the
//! analysis compares is as equal as before.
//!
//! What a lab made has names and addresses of the plan, which are nobody's: they stay.

use super::{Line, RecordError, decode, encode};
use crate::family::Family;
use crate::host::names;
use crate::plan::Plan;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use serde_json::Value;

/// Fields whose text names hosts, whatever stands in it; in all others only addresses are sought,
/// because a host may be called as a cell is.
const WITH_NAMES: [&str; 16] = [
    "argv",
    "beside",
    "between",
    "description",
    "error",
    "findings",
    "headers",
    "hosts",
    "job",
    "not-seen",
    "notes",
    "refused",
    "seen",
    "target",
    "unavailable",
    "why",
];

/// Networks of documentation (RFC 5737) and, beyond their addresses, of benchmarks (RFC 2544).
const NETWORKS: [([u8; 3], u32); 3] =
    [([192, 0, 2], 254), ([198, 51, 100], 254), ([203, 0, 113], 254)];
const BENCHMARKS: u32 = 0xc612_0000;

/// The lines of a run, the first line first, with other names and addresses.
///
/// # Errors
/// If what comes out is no record, which does not happen to lines that were read.
pub fn anonymise(lines: &[Line]) -> Result<Vec<Line>, RecordError> {
    let mut other = Other::default();
    if let Some(Line::Run(header)) = lines.first() {
        let hosts = [&header.hosts.client.name, &header.hosts.server.name, &header.target];
        other.keep(&header.plan, header.addresses.v4.into_iter().chain(header.addresses.v6));
        let between = header.between.iter().flatten();
        hosts.into_iter().chain(between).for_each(|name| other.learn(name));
    }
    for line in lines {
        let Line::Trial(trial) = line else { continue };
        if let (Some(endpoints), true) = (trial.ends.client.endpoints, other.in_lab) {
            other.kept.extend([endpoints.local.ip(), endpoints.peer.ip()]);
        }
        let devices = trial.beside.iter().flat_map(|beside| &beside.devices);
        for device in devices {
            [&device.device, &device.name].into_iter().for_each(|name| other.learn(name));
        }
    }
    lines.iter().map(|line| other.line(line)).collect()
}

/// What stands for what.
#[derive(Default)]
struct Other {
    in_lab: bool,
    /// Names of a lab's nodes.
    nodes: BTreeSet<String>,
    /// Addresses of a lab.
    kept: BTreeSet<IpAddr>,
    /// In the order in which they are sought: what holds another one comes first.
    names: Vec<(String, String)>,
    fours: BTreeMap<Ipv4Addr, Ipv4Addr>,
    sixes: BTreeMap<Ipv6Addr, Ipv6Addr>,
    cards: BTreeMap<String, String>,
    machines: BTreeMap<u64, u64>,
}

impl Other {
    fn keep(&mut self, plan: &Plan, addresses: impl Iterator<Item = IpAddr>) {
        let Some(world) = &plan.world else { return };
        self.in_lab = true;
        self.nodes = world.nodes.iter().map(|node| node.name.clone()).collect();
        self.kept.extend(addresses);
    }

    /// A name of a host: as a whole, its first part, and what follows on that.
    fn learn(&mut self, name: &str) {
        let is_address = name.parse::<IpAddr>().is_ok() || name.parse::<SocketAddr>().is_ok();
        if name.is_empty() || is_address || name == "loopback" || self.nodes.contains(name) {
            return;
        }
        if self.names.iter().any(|(known, _)| known == name) {
            return;
        }
        let host = format!("host-{}", self.names.len() + 1);
        if let Some((first, domain)) = name.split_once('.') {
            self.put(first, &host);
            self.put(domain, "example");
        }
        self.put(name, &host);
        self.names.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then(a.cmp(b)));
    }

    fn put(&mut self, name: &str, other: &str) {
        if !name.is_empty() && self.names.iter().all(|(known, _)| known != name) {
            self.names.push((name.to_string(), other.to_string()));
        }
    }

    fn line(&mut self, line: &Line) -> Result<Line, RecordError> {
        let mut line = line.clone();
        if let Line::Run(header) = &mut line {
            // Certificates are public, and a name of one leads to its site.
            let facts = &mut header.hosts.server.facts;
            facts.retain(|name, _| !is_certificate(name));
        }
        let mut value: Value = super::parse(&encode(&line))?;
        self.value("", &mut value, false);
        decode(&value.to_string())
    }

    fn value(&mut self, key: &str, value: &mut Value, with_names: bool) {
        let with_names = with_names || WITH_NAMES.contains(&key);
        match value {
            // Networks of a lab are the plan's.
            Value::Object(_) if key == "world" => {}
            Value::Object(fields) => {
                // Names of routers, which are their operators', are told by nobody else.
                if fields.contains_key("best_ns") {
                    fields.remove("name");
                }
                fields.iter_mut().for_each(|(key, value)| self.value(key, value, with_names));
            }
            Value::Array(items) => {
                items.iter_mut().for_each(|item| self.value("", item, with_names));
            }
            Value::String(text) => {
                let addressed = self.addresses(text);
                *text = if with_names { self.without_names(&addressed) } else { addressed };
            }
            Value::Number(number) if key == "machine" => {
                let next = self.machines.len() as u64 + 1;
                let machine = number.as_u64().unwrap_or_default();
                *value = (*self.machines.entry(machine).or_insert(next)).into();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn without_names(&self, text: &str) -> String {
        let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        self.names.iter().fold(text.to_string(), |text, (name, other)| {
            let (mut out, mut from) = (String::new(), 0);
            for (at, found) in text.match_indices(name.as_str()) {
                let end = at + found.len();
                let inside = text[..at].chars().next_back().is_some_and(is_part)
                    || text[end..].chars().next().is_some_and(is_part);
                if !inside {
                    out.push_str(&text[from..at]);
                    out.push_str(other);
                    from = end;
                }
            }
            out + &text[from..]
        })
    }

    /// The text with other addresses, of the link layer too.
    fn addresses(&mut self, text: &str) -> String {
        let is_part = |c: char| c.is_ascii_hexdigit() || c == ':' || c == '.';
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(is_part) {
            let after = &rest[start..];
            let token = &after[..after.find(|c| !is_part(c)).unwrap_or(after.len())];
            // What is part of a longer word is no address.
            let inside = rest[..start].chars().next_back().is_some_and(|c| c.is_alphanumeric());
            out.push_str(&rest[..start]);
            rest = &after[token.len()..];
            match self.token(token).filter(|_| !inside) {
                Some(other) => out.push_str(&other),
                None => out.push_str(token),
            }
        }
        out + rest
    }

    /// What stands for an address, a port or the end of a sentence behind it.
    fn token(&mut self, token: &str) -> Option<String> {
        if let Some(other) = self.address(token) {
            return Some(other);
        }
        let (address, tail) = match token.strip_suffix(['.', ':']) {
            Some(address) => (address, &token[address.len()..]),
            None if token.contains('.') => token.rfind(':').map(|at| token.split_at(at))?,
            None => return None,
        };
        self.address(address).map(|other| other + tail)
    }

    fn address(&mut self, text: &str) -> Option<String> {
        let is_card = text.len() == 17
            && text.split(':').count() == 6
            && text.split(':').all(|part| part.len() == 2);
        if is_card {
            let next = self.cards.len() + 1;
            let other = || format!("00:00:5e:00:53:{:02x}", next % 256);
            return Some(self.cards.entry(text.to_lowercase()).or_insert_with(other).clone());
        }
        let address: IpAddr = text.parse().ok()?;
        Some(match address {
            kept if self.kept.contains(&kept) || kept.is_loopback() => return None,
            IpAddr::V4(four) => self.four(four).to_string(),
            IpAddr::V6(six) => self.six(six).to_string(),
        })
    }

    /// Addresses that mean the same everywhere stay.
    fn four(&mut self, four: Ipv4Addr) -> Ipv4Addr {
        let is_common = four.octets()[0] == 0 || four.octets()[..3] == [192, 0, 0];
        if is_common || four.is_multicast() || four.is_broadcast() {
            return four;
        }
        let next = self.fours.len() as u32;
        *self.fours.entry(four).or_insert_with(|| documented(next))
    }

    /// An address of a translator holds one of IPv4 and stays that.
    fn six(&mut self, six: Ipv6Addr) -> Ipv6Addr {
        if six.is_unspecified() || six.is_multicast() {
            return six;
        }
        if Family::arriving(&six.into()) == Some(Family::V4) {
            let inner = self.four(Ipv4Addr::from_bits(six.to_bits() as u32));
            return Ipv6Addr::from_bits(six.to_bits() >> 32 << 32 | u128::from(inner.to_bits()));
        }
        let next = self.sixes.len() as u128 + 1;
        let documented = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0).to_bits();
        *self.sixes.entry(six).or_insert(Ipv6Addr::from_bits(documented + next))
    }
}

fn documented(mut number: u32) -> Ipv4Addr {
    for ([a, b, c], hosts) in NETWORKS {
        if number < hosts {
            return Ipv4Addr::new(a, b, c, number as u8 + 1);
        }
        number -= hosts;
    }
    Ipv4Addr::from_bits(BENCHMARKS + number % 0x2_0000)
}

fn is_certificate(fact: &str) -> bool {
    Family::BOTH.iter().any(|family| fact == names::of_family(*family, names::CERTIFICATE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::PerFamily;
    use crate::ladder::{Answered, Rung};
    use crate::record::RunHeader;
    use alloc::vec;

    /// A run between hosts, with a trial, as version 1 stored it.
    const JOURNAL: &str = include_str!("../../testdata/v1/journal.jsonl");

    fn run(change: impl FnOnce(&mut RunHeader)) -> Vec<Line> {
        let mut lines: Vec<Line> = JOURNAL.lines().map(|line| decode(line).unwrap()).collect();
        let Line::Run(header) = &mut lines[0] else { panic!("the first line is the header") };
        header.hosts.client.name = "nas.corp.lan".into();
        header.hosts.server.name = "fileserver".into();
        header.target = "fileserver.corp.lan".into();
        change(header);
        lines
    }

    #[test]
    fn nothing_that_names_a_host_is_left() {
        let planted = [
            "nas",
            "fileserver",
            "corp.lan",
            "carrier.example",
            "10.20.30.40",
            "2a02:8388:1:2::7",
            "52:54:00:ab:cd:ef",
            "64:ff9b::a14:1e28",
            "5f1c0123456789ab",
        ];
        let lines = run(|header| {
            let certificate = "5f1c0123456789ab".into();
            header.hosts.server.facts.insert("v6.certificate".into(), certificate);
            header.argv = ["v6gap", "run", "fileserver.corp.lan", "--v4", "10.20.30.40"]
                .map(String::from)
                .to_vec();
            header.addresses.v6 = "2a02:8388:1:2::7".parse().ok();
            let (v4, v6) = ("10.20.30.40".parse().unwrap(), "2a02:8388:1:2::7".parse().unwrap());
            header.address_pairs.push(PerFamily { v4, v6 });
            header.resolvers = ["10.20.30.40:53", "[2a02:8388:1:2::7]:53"]
                .map(|server| server.parse().unwrap())
                .to_vec();
            let router = Answered {
                address: "10.20.30.40".parse().unwrap(),
                name: Some("core1.fra.carrier.example".into()),
                best_ns: 1,
            };
            let rung = Rung { by: vec![router], ..Rung::default() };
            header.hops = Some(PerFamily { v4: vec![rung], v6: Vec::new() });
            header.notes.push("nas.corp.lan saw 10.20.30.40:4466, [2a02:8388:1:2::7]:99.".into());
            header
                .notes
                .push("by 64:ff9b::a14:1e28 and 52:54:00:ab:cd:ef: 2a02:8388:1:2::7.".into());
            header.refused.insert("rtt-udp-64".into(), "10.20.30.40/24 on fileserver".into());
            header.hosts.client.facts.insert("address".into(), "10.20.30.40, ::1".into());
        });
        let text: String = lines.iter().map(encode).collect();
        assert!(planted.iter().all(|word| text.contains(word)), "they are planted");
        let lines = anonymise(&lines).unwrap();
        let text: String = lines.iter().map(encode).collect();
        assert!(planted.iter().all(|word| !text.contains(word)), "{}", encode(&lines[0]));
        let Line::Run(header) = &lines[0] else { panic!("the first line is the header") };
        let one = header.notes[0].as_str();
        assert!(one.contains(" saw 192.0.2.") && one.ends_with("]:99."), "{one}");
        assert_eq!(header.hosts.client.facts["address"].split_once(", ").unwrap().1, "::1");
        assert!(header.notes[1].contains("64:ff9b::c000:2"), "{}", header.notes[1]);
    }

    /// The same address is the same other one, and everything else stays.
    #[test]
    fn only_names_and_addresses_change() {
        let lines = run(|_| {});
        let found = anonymise(&lines).unwrap();
        assert_eq!(found.len(), lines.len());
        let again = anonymise(&found).unwrap();
        assert_eq!(again.len(), found.len());
        for (before, after) in lines.iter().zip(&found) {
            let (Line::Trial(before), Line::Trial(after)) = (before, after) else { continue };
            assert_eq!(before.values, after.values);
            assert_eq!((&before.cell, before.kind), (&after.cell, after.kind));
            let ends = |trial: &crate::record::TrialRecord| trial.ends.client.endpoints;
            assert_eq!(ends(before).map(|e| e.local.port()), ends(after).map(|e| e.local.port()));
        }
    }

    #[test]
    fn versions_times_and_words_are_no_addresses() {
        let mut other = Other::default();
        for text in ["Linux 6.12.9", "19:09:30", "feed", "a.b", "25 ns: 3.5", "::", "rtt-udp-64"] {
            assert_eq!(other.addresses(text), text);
        }
        assert_eq!(other.addresses("at 10.0.0.9."), "at 192.0.2.1.");
        assert_eq!(documented(254), Ipv4Addr::new(198, 51, 100, 1));
        assert_eq!(documented(762), Ipv4Addr::new(198, 18, 0, 0));
    }
}
