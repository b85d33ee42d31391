//! Whether a world can be made, and if not, why: all reasons at once, each with its place.

use super::{Bursts, Conditions, Jitter, Link, LinkModel, NodeKind, QUEUE_FRAMES, Reordering};
use super::{Side, Subnet, Topology, World};
use crate::family::{Family, PerFamily};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeInclusive;

/// Links that a world may have.
pub const LINKS_MAX: usize = 64;
/// Longest name of a node, in bytes.
const NAME_BYTES_MAX: usize = 32;
/// Smallest MTU of each family, in bytes (RFC 791 section 3.1, RFC 8200 section 5).
pub(super) const MTU_MIN: PerFamily<u32> = PerFamily { v4: 68, v6: 1280 };
/// Largest MTU of a link, in bytes: jumbo frames.
const MTU_MAX: u32 = 9_216;
/// Rates that the lab takes, in bit/s.
const RATE_BPS: RangeInclusive<u64> = 8_000..=100_000_000_000;
/// Longest delay, in ns: 10 s.
const DELAY_NS_MAX: u64 = 10_000_000_000;
/// Largest differentiated services code point (RFC 2474 section 3).
const CODE_POINT_MAX: u8 = 63;
/// Most IEEE 802.1Q tags of a frame.
const VLAN_TAGS_MAX: u32 = 2;
/// What a link has that says how many frames may wait.
const QUEUE_LENGTH: &str = "a queue length";

/// What a problem is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The world as a whole.
    World,
    /// A node, by its place among the nodes.
    Node(usize),
    /// A link, by its place among the links.
    Link(usize),
    /// A tunnel, by its place among the tunnels.
    Tunnel(usize),
    /// The translation between the families.
    Translation,
}

/// A reason why a world cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What it is about.
    pub place: Place,
    /// What is wrong, in words.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = &self.what;
        match self.place {
            Place::World => f.write_str(what),
            Place::Node(node) => write!(f, "node {} {what}", node + 1),
            Place::Link(link) => write!(f, "link {}: {what}", link + 1),
            Place::Tunnel(number) => write!(f, "tunnel {}: {what}", number + 1),
            Place::Translation => write!(f, "translation: {what}"),
        }
    }
}

/// Collects problems.
struct Check<'a> {
    world: &'a World,
    found: Vec<Problem>,
}

impl World {
    /// Why this world cannot be made; nothing if it can.
    pub fn problems(&self) -> Vec<Problem> {
        let mut check = Check { world: self, found: Vec::new() };
        check.nodes();
        check.links();
        // Ways are looked for only where there are nodes to go to.
        if check.found.is_empty() {
            let topology = Topology::of(self);
            check.ends(&topology);
            check.loops(&topology);
        }
        if check.found.is_empty() {
            let topology = Topology::of(self);
            check.ways(&topology);
            check.subnets(&topology);
        }
        if check.found.is_empty() {
            check.found = self.tunnel_problems();
            check.found.extend(self.translation_problems());
            check.found.extend(self.emulated_problems());
        }
        check.found
    }
}

impl Check<'_> {
    fn add(&mut self, place: Place, what: impl Into<String>) {
        self.found.push(Problem { place, what: what.into() });
    }

    fn nodes(&mut self) {
        let nodes = &self.world.nodes;
        for (index, node) in nodes.iter().enumerate() {
            let place = Place::Node(index);
            if node.name.is_empty() || nodes[..index].iter().any(|other| other.name == node.name) {
                self.add(place, "has no name of its own");
            }
            let usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            if node.name.len() > NAME_BYTES_MAX || !node.name.bytes().all(usual) {
                let what = format!(
                    "is called \"{}\": names have up to {NAME_BYTES_MAX} letters, digits, \
                     \"-\", \"_\" and \".\"",
                    node.name.escape_default()
                );
                self.add(place, what);
            }
        }
        let (client, server) = (self.world.client, self.world.server);
        for (role, node) in [("client", client), ("server", server)] {
            match nodes.get(node).map(|node| node.kind) {
                None => self.add(Place::World, format!("there is no node for the {role}")),
                Some(NodeKind::Switch) => {
                    self.add(Place::Node(node), format!("is a switch and cannot be the {role}"));
                }
                Some(NodeKind::Host | NodeKind::Router) => {}
            }
        }
        if client == server {
            self.add(Place::World, "client and server are the same node");
        }
    }

    fn links(&mut self) {
        let World { nodes, links, families, .. } = self.world;
        if links.is_empty() {
            self.add(Place::World, "there is no link");
        }
        if links.len() > LINKS_MAX {
            self.add(Place::World, format!("{} links are more than {LINKS_MAX}", links.len()));
        }
        if !families.v4 && !families.v6 {
            self.add(Place::World, "it has neither family");
        }
        self.frames();
        for (index, link) in links.iter().enumerate() {
            let [first, second] = link.ends;
            if first >= nodes.len() || second >= nodes.len() {
                self.add(Place::Link(index), "one of its ends is at no node");
            } else if first == second {
                self.add(Place::Link(index), "both its ends are at the same node");
            }
            self.link(index, link);
        }
    }

    /// What holds for the frames of all links.
    fn frames(&mut self) {
        let World { model, priority, vlan_tags, .. } = self.world;
        if let Some(class) = priority.iter().find(|class| **class > CODE_POINT_MAX) {
            let what = format!("{class} is no code point, which is at most {CODE_POINT_MAX}");
            self.add(Place::World, what);
        }
        if *vlan_tags > VLAN_TAGS_MAX {
            let what = format!("{vlan_tags} tags on a frame are more than {VLAN_TAGS_MAX}");
            self.add(Place::World, what);
        }
        if *model == LinkModel::Bare && !priority.is_empty() {
            self.add(Place::World, "it has priorities, which need the shaped or wire model");
        }
        if *model == LinkModel::Bare && *vlan_tags > 0 {
            self.add(Place::World, "it has tags, which need the shaped or wire model");
        }
    }

    fn link(&mut self, index: usize, link: &Link) {
        let World { model, families, .. } = self.world;
        let place = Place::Link(index);
        if link.mtu > MTU_MAX {
            self.add(place, format!("an MTU of {} is more than {MTU_MAX}", link.mtu));
        }
        if link.offloads == Some(true) && *model != LinkModel::Bare {
            self.add(place, "offloads make frames that no line carries: bare links only");
        }
        for family in Family::BOTH.into_iter().filter(|family| *families.get(*family)) {
            let least = *MTU_MIN.get(family);
            let mtu = link.mtu_of(family);
            if mtu < least {
                let what = format!("{family} needs an MTU of at least {least}, not {mtu}");
                self.add(place, what);
            }
            if mtu > link.mtu {
                let what = format!("the MTU of {family} is above that of the link");
                self.add(place, what);
            }
            let met = Side::BOTH.map(|side| link.met(side).get(family));
            let ways = if met[0] == met[1] { &met[..1] } else { &met[..] };
            for conditions in ways {
                self.conditions(place, family, conditions);
                if *model == LinkModel::Netem && conditions.rate_bps.is_none() {
                    self.add(place, "has no rate, which every netem link has");
                }
                if let Some(what) = needs_model(*model, conditions) {
                    self.add(place, what);
                }
            }
        }
        // One of the usual length is that of a link that says nothing.
        if *model == LinkModel::Bare && link.queue_frames != QUEUE_FRAMES {
            self.add(place, needs_line(QUEUE_LENGTH));
        }
        let own = Side::BOTH.iter().any(|side| {
            let met = link.met(*side);
            met.v4.queue_frames != met.v6.queue_frames
        });
        let by_kernel = matches!(model, LinkModel::Shaped | LinkModel::Netem);
        let nothing = Side::BOTH.iter().any(|side| {
            let met = link.met(*side);
            Family::BOTH.iter().any(|family| {
                let Conditions { rate_bps, queue_frames, .. } = met.get(*family);
                rate_bps.is_some() && queue_frames.unwrap_or(link.queue_frames) == 0
            })
        });
        if nothing && by_kernel {
            self.add(place, "has a queue of no frame, which needs the wire model");
        }
        if own && by_kernel {
            self.add(place, "has a queue length of one family, which needs the wire model");
        }
    }

    fn conditions(&mut self, place: Place, family: Family, met: &Conditions) {
        let mut add = |name: &str, what: &str| {
            self.add(place, format!("the {name} for {family} {what}"));
        };
        if met.rate_bps.is_some_and(|rate| !RATE_BPS.contains(&rate)) {
            let (least, most) = (RATE_BPS.start(), RATE_BPS.end());
            add("rate", &format!("is not in {least} to {most} bit/s"));
        }
        let held = met.reordering.unwrap_or(Reordering { share: 0.0, by_ns: 0 });
        let bursts = met.bursts.unwrap_or(Bursts { begin: 0.0, end: 1.0, loss: 0.0 });
        let shares = [
            (met.loss, "loss"),
            (met.duplication, "duplication"),
            (held.share, "share held back"),
            (bursts.begin, "probability that a burst begins"),
            (bursts.end, "probability that a burst ends"),
            (bursts.loss, "loss inside bursts"),
        ];
        // Written so that what is no number is refused as well.
        for (_, name) in shares.iter().filter(|(share, _)| !(0.0..=1.0).contains(share)) {
            add(name, "is not in 0 to 1");
        }
        if bursts.end == 0.0 {
            add("probability that a burst ends", "is 0");
        }
        let times = [(met.delay_ns, "delay"), (held.by_ns, "time of being held back")];
        for (_, name) in times.iter().filter(|(ns, _)| *ns > DELAY_NS_MAX) {
            add(name, "is longer than 10 s");
        }
        let reach_ns = met.jitter.map_or(0, Jitter::reach_ns);
        if reach_ns > met.delay_ns {
            let delay_ns = met.delay_ns;
            add("jitter", &format!("reaches {reach_ns} ns, more than the delay of {delay_ns} ns"));
        }
    }

    /// Every node is on a link, and no host has two ends in one subnet.
    fn ends(&mut self, topology: &Topology) {
        for (index, node) in self.world.nodes.iter().enumerate() {
            let ends: Vec<_> = topology.ends_of(index).collect();
            if ends.is_empty() {
                self.add(Place::Node(index), format!("({}) has no link", node.name));
            }
            if node.kind == NodeKind::Switch {
                continue;
            }
            let mut own: Vec<_> = ends.iter().map(|end| topology.segment_of(end.link)).collect();
            own.sort_unstable();
            if own.windows(2).any(|pair| pair[0] == pair[1]) {
                let what = format!("({}) has two links to the same switched segment", node.name);
                self.add(Place::Node(index), what);
            }
        }
    }

    /// Frames would go round for ever where switches are joined in a ring, and vanish where one
    /// link of a switch carries longer ones than another.
    fn loops(&mut self, topology: &Topology) {
        for segment in topology.segments() {
            let links = || segment.links.iter().map(|&link| &self.world.links[link]);
            let ends = links().flat_map(|link| link.ends);
            let kind = |node: &usize| self.world.nodes[*node].kind;
            let mut switches: Vec<usize> =
                ends.filter(|node| kind(node) == NodeKind::Switch).collect();
            switches.sort_unstable();
            switches.dedup();
            let between = |link: &&Link| link.ends.iter().all(|n| kind(n) == NodeKind::Switch);
            let joints = links().filter(between).count();
            let last = segment.links.last().copied().unwrap_or(0);
            let of = |link: &Link| Family::BOTH.map(|family| link.mtu_of(family));
            let mtu = of(&self.world.links[last]);
            let mixed = links().any(|link| of(link) != mtu);
            if !switches.is_empty() && joints + 1 != switches.len() {
                self.add(Place::Link(last), "it closes a ring of switches");
            }
            if mixed {
                let what = "all links of a switch have one MTU: it cannot cut packets";
                self.add(Place::Link(last), what);
            }
        }
    }

    /// Every node reaches every segment.
    fn ways(&mut self, topology: &Topology) {
        let talks = |node: &usize| self.world.nodes[*node].kind != NodeKind::Switch;
        let nodes: Vec<usize> = (0..self.world.nodes.len()).filter(talks).collect();
        for &node in &nodes {
            let known = topology.reachable(node);
            let lost = nodes.iter().find(|&&to| !known[to]);
            if let Some(&to) = lost {
                let (from, to) = (&self.world.nodes[node].name, &self.world.nodes[to].name);
                let what = format!("({from}) has no way to {to}: hosts do not forward");
                return self.add(Place::Node(node), what);
            }
        }
    }

    fn subnets(&mut self, topology: &Topology) {
        let World { families, links, .. } = self.world;
        for family in Family::BOTH.into_iter().filter(|family| *families.get(*family)) {
            let mut earlier: Vec<Subnet> = Vec::new();
            for (number, segment) in topology.segments().iter().enumerate() {
                let subnet = self.world.subnet(topology, number, family);
                let place = Place::Link(segment.links.first().copied().unwrap_or(0));
                let named = segment.links.iter().filter_map(|&l| *links[l].subnets.get(family));
                if named.clone().any(|other| other != subnet) {
                    self.add(place, "the links of a switch are one subnet, but name several");
                }
                if subnet.family() != family {
                    self.add(place, format!("{subnet} is no subnet of {family}"));
                }
                if subnet.hosts() < segment.members.len() as u128 {
                    let count = segment.members.len();
                    self.add(place, format!("{subnet} has no room for {count} hosts"));
                }
                if let Some(other) = earlier.iter().find(|other| other.overlaps(&subnet)) {
                    self.add(place, format!("{subnet} overlaps {other} of another link"));
                }
                earlier.push(subnet);
            }
        }
    }
}

/// What the world's link model would silently not apply.
fn needs_model(model: LinkModel, asked: &Conditions) -> Option<String> {
    if model == LinkModel::Wire {
        return None;
    }
    let plain = model != LinkModel::Netem;
    let wire = [
        (asked.delay_ns > 0 && plain, "a delay"),
        (asked.jitter.is_some(), "jitter"),
        (asked.loss > 0.0 && plain, "loss"),
        (asked.bursts.is_some(), "loss in bursts"),
        (asked.duplication > 0.0 && plain, "duplication"),
        (asked.reordering.is_some(), "reordering"),
        (asked.black_hole_above.is_some(), "a black hole"),
    ];
    if let Some((_, what)) = wire.iter().find(|(asked, _)| *asked) {
        return Some(format!("has {what}, which needs the wire model"));
    }
    let line = [(asked.rate_bps.is_some(), "a rate"), (asked.queue_frames.is_some(), QUEUE_LENGTH)];
    let of_line = line.iter().find(|(asked, _)| *asked && model == LinkModel::Bare);
    of_line.map(|(_, what)| needs_line(what))
}

/// What links without a line do not have.
fn needs_line(what: &str) -> String {
    format!("has {what}, which needs the shaped or wire model")
}
