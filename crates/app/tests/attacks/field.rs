//! The field of the attacks: namespaces for the server, a second one, an honest client, the
//! attacker and the victims, and what the kernel counts at each.
//!
//! ```text
//! client ─┐
//! server ─┤          ┌─ attacker ── crowd   (a /24 and a /48, all of them the attacker's)
//! second ─┼─ switch ─┤
//! victim ─┘          └─ gate ────── far     (addresses that are not near)
//! ```
//!
//! Neighbours are known from the start and nobody looks for routers, so what arrives at a victim is
//! what was sent to it.

use crate::forge::Forger;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::Command;
use std::time::{Duration, Instant};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::world::{Link, LinkModel, Node as Place, NodeKind, World};
use v6gap_lab::{Lab, Node};
use v6gap_sys::packet::Port;

/// The port of the server, unless it is told another.
pub const PORT: u16 = 4466;

/// How long nothing must come until it counts as quiet.
const QUIET: Duration = Duration::from_millis(400);

/// The same after the field was built.
const SETTLED: Duration = Duration::from_millis(2500);

const NODES: [&str; 9] =
    ["client", "server", "second", "attacker", "victim", "gate", "far", "crowd", "switch"];
const LINKS: [(&str, &str); 8] = [
    ("client", "switch"),
    ("server", "switch"),
    ("second", "switch"),
    ("attacker", "switch"),
    ("victim", "switch"),
    ("gate", "switch"),
    ("gate", "far"),
    ("attacker", "crowd"),
];
const FAR: [&str; 2] = ["198.20.46.0/24", "2a00:46::/64"];
const CROWD: [&str; 2] = ["198.51.100.0/24", "2001:db8:7::/48"];

/// Where connections of an attacker come from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Origin {
    /// One address.
    One(Family),
    /// All over an IPv4 /24.
    Range24,
    /// As many /64s as there are connections, of one /48.
    Range48,
}

impl Origin {
    pub fn family(self) -> Family {
        match self {
            Origin::One(family) => family,
            Origin::Range24 => Family::V4,
            Origin::Range48 => Family::V6,
        }
    }

    /// The source of connection `number`, far from those of others: networks have bounds too.
    pub fn source(self, number: usize) -> Option<IpAddr> {
        let number = u16::try_from(number).unwrap_or(u16::MAX);
        let number = if matches!(self, Origin::One(_)) { 0 } else { number };
        Some(match self.family() {
            Family::V4 => Ipv4Addr::new(198, 51, 100, (number % 250) as u8 + 3).into(),
            Family::V6 => Ipv6Addr::new(0x2001, 0xdb8, 7, number + 16, 0, 0, 0, 1).into(),
        })
    }
}

/// What interfaces have received.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    pub bytes: u64,
    pub packets: u64,
}

pub struct Field {
    lab: Lab,
}

impl Field {
    pub fn build() -> Self {
        let place = |name: &str| NODES.iter().position(|node| *node == name).unwrap();
        let kind = |name: &str| match name {
            "attacker" | "gate" => NodeKind::Router,
            "switch" => NodeKind::Switch,
            _ => NodeKind::Host,
        };
        let mut world = World {
            nodes: NODES.map(|name| Place::new(name, kind(name))).to_vec(),
            links: LINKS.map(|(a, b)| Link::ethernet(None).between(place(a), place(b))).to_vec(),
            client: place("client"),
            server: place("server"),
            ..World::client_router_server(LinkModel::Bare, None)
        };
        let subnets = |of: [&str; 2]| {
            let [v4, v6] = of.map(|text| Some(text.parse().unwrap()));
            PerFamily { v4, v6 }
        };
        world.links[6].subnets = subnets(FAR);
        world.links[7].subnets = subnets(CROWD);
        let field = Field { lab: Lab::build(&world).unwrap() };
        field.give_the_attacker_its_addresses();
        field.node("server").run(|| write("ipv4/conf/all/rp_filter", "0")).unwrap();
        // Interfaces that have just come up tell their groups of multicast, several times.
        field.still_for("far", SETTLED);
        field.still_for("victim", SETTLED);
        field
    }

    fn give_the_attacker_its_addresses(&self) {
        let own = || {
            for subnet in CROWD {
                let mut ip = Command::new("ip");
                if subnet.contains(':') {
                    ip.arg("-6");
                }
                let done = ip.args(["route", "add", "local", subnet, "dev", "lo"]).status();
                assert!(done.unwrap().success(), "{subnet} is not the attacker's");
            }
            write("ipv6/ip_nonlocal_bind", "1");
        };
        self.node("attacker").run(own).unwrap();
    }

    pub fn node(&self, name: &str) -> &Node {
        self.lab.node(name).unwrap()
    }

    pub fn address(&self, name: &str, family: Family) -> IpAddr {
        self.node(name).addresses.get(family).unwrap()
    }

    pub fn at(&self, name: &str, family: Family, port: u16) -> SocketAddr {
        SocketAddr::new(self.address(name, family), port)
    }

    /// What a node has received over all of its interfaces, loopback included.
    pub fn received(&self, name: &str) -> Count {
        self.node(name).run(|| counters(1)).unwrap()
    }

    /// Waits until nothing comes to a node any more, and returns what it has received.
    pub fn still(&self, name: &str) -> Count {
        self.still_for(name, QUIET)
    }

    fn still_for(&self, name: &str, quiet: Duration) -> Count {
        let give_up = Instant::now() + Duration::from_secs(20);
        let (mut seen, mut since) = (self.received(name), Instant::now());
        while since.elapsed() < quiet {
            assert!(Instant::now() < give_up, "{name} gets no rest");
            std::thread::sleep(Duration::from_millis(20));
            let now = self.received(name);
            if now != seen {
                (seen, since) = (now, Instant::now());
            }
        }
        seen
    }

    /// What a node receives while `work` is done and `after` it.
    pub fn meanwhile<T>(
        &self,
        name: &str,
        after: Duration,
        work: impl FnOnce() -> T,
    ) -> (Count, T) {
        let before = self.still(name);
        let done = work();
        std::thread::sleep(after);
        let now = self.received(name);
        let bytes = now.bytes - before.bytes;
        (Count { bytes, packets: now.packets - before.packets }, done)
    }

    /// A sender of datagrams of whatever source, from the attacker's interface to a node of the
    /// switch.
    pub fn forger(&self, to: &str) -> Forger {
        let open = || Port::open(interface("link4"), 16, 1514).unwrap();
        let port = self.node("attacker").run(open).unwrap();
        Forger::new(port, mac("attacker"), mac(to))
    }

    /// Cuts or mends the attacker's line: nobody is told.
    pub fn line(&self, up: bool) {
        let set = || {
            let state = if up { "up" } else { "down" };
            let done = Command::new("ip").args(["link", "set", "link4", state]).status();
            assert!(done.unwrap().success());
        };
        self.node("switch").run(set).unwrap();
    }
}

/// The Ethernet address that the lab gives a node at the switch.
fn mac(name: &str) -> [u8; 6] {
    let link = LINKS.iter().position(|(node, _)| *node == name).unwrap();
    [0x02, 0x46, 0, 0, link as u8 + 1, 1]
}

/// The number of an interface of the calling thread's namespace.
fn interface(name: &str) -> u32 {
    let file = format!("/proc/thread-self/net/dev_snmp6/{name}");
    let text = std::fs::read_to_string(file).unwrap();
    text.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Bytes and packets of all interfaces: the numbers `first` (from 0) and the next of each line.
fn counters(first: usize) -> Count {
    let text = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    let mut count = Count { bytes: 0, packets: 0 };
    for line in text.lines().skip(2) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        count.bytes += fields[first].parse::<u64>().unwrap();
        count.packets += fields[first + 1].parse::<u64>().unwrap();
    }
    count
}

fn write(setting: &str, value: &str) {
    std::fs::write(format!("/proc/sys/net/{setting}"), value).unwrap();
}
