//! A world as a person writes it: every key optional where a default exists, quantities as text
//! with units. Unknown keys are errors. [`world`] makes a [`World`] of it.

mod chance;
mod emulated;
mod translation;
mod tunnel;

pub use chance::{BurstsDraft, JitterDraft, ReorderingDraft};
pub use emulated::EmulatedDraft;
pub use translation::TranslationDraft;
pub use tunnel::TunnelDraft;

use super::{
    Conditions, LaidTunnel, Link, LinkModel, Node, NodeKind, Place, Subnet, Translation, World,
};
use crate::family::{Family, PerFamily};
use crate::problem::{Problem, Problems};
use crate::unit;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Version of the language of worlds.
pub const VERSION: u32 = 1;

/// A whole world file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// Version of the language.
    pub v6gap: u32,
    /// What it is for, in a sentence.
    pub description: Option<String>,
    /// `bare`, `shaped`, `wire` or `netem`.
    pub model: Option<String>,
    /// `v4`, `v6` or both.
    pub families: Option<Vec<String>>,
    /// Nodes that only send and receive.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Nodes that forward packets.
    #[serde(default)]
    pub routers: Vec<String>,
    /// Nodes that forward frames.
    #[serde(default)]
    pub switches: Vec<String>,
    /// The node that measures; `client` unless told.
    pub client: Option<String>,
    /// The node that it measures to; `server` unless told.
    pub server: Option<String>,
    /// Code points whose packets go first on every link, as `EF` or `46`.
    #[serde(default)]
    pub priority: Vec<String>,
    /// VLAN tags that every frame is counted with.
    pub vlan_tags: Option<u32>,
    /// Hosts and routers that an SNMP agent answers at.
    #[serde(default)]
    pub snmp: Vec<String>,
    /// What holds for every link that says nothing else.
    #[serde(default)]
    pub every: LinkDraft,
    /// The links.
    pub links: Vec<LinkDraft>,
    /// Tunnels over them.
    #[serde(default)]
    pub tunnels: Vec<TunnelDraft>,
    /// Translation between the families on the way from client to server.
    pub translation: Option<TranslationDraft>,
    /// A host that is another system.
    pub emulated: Option<EmulatedDraft>,
}

/// A link, or one family or direction of it, in place of what it says for all.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkDraft {
    /// The nodes at its ends.
    pub between: Option<[String; 2]>,
    /// MTU in bytes; of both families or of one.
    pub mtu: Option<u32>,
    /// Frames that may wait in each direction; of one family or direction those that may wait when
    /// one of its frames comes.
    pub queue: Option<u32>,
    /// Whether hosts leave work to its interfaces.
    pub offloads: Option<bool>,
    /// Line rate, or `none`.
    pub rate: Option<String>,
    /// Delay added in each direction.
    pub delay: Option<String>,
    /// How the delay varies.
    pub jitter: Option<JitterDraft>,
    /// Share of frames lost.
    pub loss: Option<String>,
    /// Loss that comes in bursts.
    pub bursts: Option<BurstsDraft>,
    /// Share of frames that come twice.
    pub duplication: Option<String>,
    /// Frames that are held back.
    pub reordering: Option<ReorderingDraft>,
    /// Largest IP packet that passes, in bytes.
    pub black_hole: Option<u32>,
    /// Addresses in place of those that the lab gives; of one family only.
    pub subnet: Option<String>,
    /// IPv4 alone.
    pub v4: Option<Box<LinkDraft>>,
    /// IPv6 alone.
    pub v6: Option<Box<LinkDraft>>,
    /// What the end named second sends, in place of what is said of both directions.
    pub back: Option<Box<LinkDraft>>,
}

/// The world that a draft describes. Its nodes are in the order of the path, then as they are
/// listed.
///
/// # Errors
/// Every problem found, each with the key it concerns.
pub fn world(draft: &Draft) -> Result<World, Vec<Problem>> {
    let mut problems = Problems::default();
    if draft.v6gap != VERSION {
        let what = format!("version {} of the language of worlds is not known", draft.v6gap);
        problems.add("v6gap", what);
    }
    let mut nodes = nodes(draft);
    marked(draft, &mut nodes, &mut problems);
    let model = model("model", draft.model.as_deref().unwrap_or("wire"), &mut problems);
    let place = |name: &str| nodes.iter().position(|node| node.name == name);
    let mut named = |key: &str, name: &str| {
        place(name).unwrap_or_else(|| {
            let known: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
            problems.one_of(key, name, &known);
            0
        })
    };
    let client = named("client", draft.client.as_deref().unwrap_or("client"));
    let server = named("server", draft.server.as_deref().unwrap_or("server"));
    let mut between = |list: &str, number: usize, written: &Option<[String; 2]>| {
        let key = format!("{list}[{number}].between");
        written.as_ref().map(|ends| ends.each_ref().map(|name| named(&key, name)))
    };
    let of_links = draft.links.iter().enumerate();
    let ends: Vec<_> = of_links.map(|(i, link)| between("links", i, &link.between)).collect();
    let of_tunnels = draft.tunnels.iter().enumerate();
    let tunnel_ends: Vec<_> =
        of_tunnels.map(|(i, tunnel)| between("tunnels", i, &tunnel.between)).collect();
    let usual = link("every", &draft.every, Link::ethernet(None), &mut problems);
    if draft.every.between.is_some() {
        problems.add("every.between", "every link has ends of its own");
    }
    let mut links = Vec::new();
    for (number, (written, ends)) in draft.links.iter().zip(ends).enumerate() {
        let key = format!("links[{number}]");
        let made = link(&key, written, usual, &mut problems);
        match ends {
            Some([first, second]) => links.push(made.between(first, second)),
            None => problems.add(key, "between which nodes? as between = [\"client\", \"server\"]"),
        }
    }
    let families = families(draft, &mut problems);
    let tunnels = draft.tunnels.iter().zip(tunnel_ends).enumerate();
    let tunnels = tunnels.filter_map(|(number, (written, ends))| {
        written.read(&format!("tunnels[{number}]"), ends, families, &mut problems)
    });
    let tunnels: Vec<LaidTunnel> = tunnels.collect();
    let written = draft.translation.as_ref();
    let translation = written.and_then(|t| t.read(&nodes, client, &mut problems));
    let world = World {
        model,
        nodes,
        links,
        families,
        client,
        server,
        priority: priority(draft, &mut problems),
        vlan_tags: draft.vlan_tags.unwrap_or(0),
        tunnels,
        translation,
    };
    let found = problems.into_found();
    if !found.is_empty() {
        return Err(found);
    }
    match world.problems() {
        found if found.is_empty() => Ok(in_order(world)),
        found => Err(found.iter().map(|problem| placed(&world, problem)).collect()),
    }
}

fn priority(draft: &Draft, problems: &mut Problems) -> Vec<u8> {
    let classes = draft.priority.iter().enumerate();
    let code_point = |(number, class): (usize, &String)| {
        problems.read(&format!("priority[{number}]"), class, unit::parse_dscp)
    };
    classes.filter_map(code_point).collect()
}

/// Marks the nodes with an agent, and the one that is another system.
fn marked(draft: &Draft, nodes: &mut [Node], problems: &mut Problems) {
    if let Some(emulated) = &draft.emulated {
        emulated.mark(nodes, problems);
    }
    for (number, name) in draft.snmp.iter().enumerate() {
        let key = format!("snmp[{number}]");
        match nodes.iter_mut().find(|node| node.name == *name) {
            Some(node) if node.kind == NodeKind::Switch => {
                problems.add(key, "a switch has no address to ask it at; name a router or a host");
            }
            Some(node) => node.snmp = true,
            None => {
                let known: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
                problems.one_of(&key, name, &known);
            }
        }
    }
}

fn nodes(draft: &Draft) -> Vec<Node> {
    let of = |names: &[String], kind| {
        names.iter().map(move |name| Node::new(name.clone(), kind)).collect::<Vec<_>>()
    };
    let mut nodes = of(&draft.hosts, NodeKind::Host);
    nodes.extend(of(&draft.routers, NodeKind::Router));
    nodes.extend(of(&draft.switches, NodeKind::Switch));
    nodes
}

/// The link model of that name.
pub(crate) fn model(key: &str, text: &str, problems: &mut Problems) -> LinkModel {
    match LinkModel::ALL.into_iter().find(|model| model.name() == text) {
        Some(model) => model,
        None => {
            problems.one_of(key, text, &LinkModel::ALL.map(LinkModel::name));
            LinkModel::Wire
        }
    }
}

fn families(draft: &Draft, problems: &mut Problems) -> PerFamily<bool> {
    let Some(names) = &draft.families else { return PerFamily { v4: true, v6: true } };
    for (number, name) in names.iter().enumerate() {
        if name != "v4" && name != "v6" {
            problems.one_of(format!("families[{number}]"), name, &["v4", "v6"]);
        }
    }
    let has = |family: &str| names.iter().any(|name| name == family);
    PerFamily { v4: has("v4"), v6: has("v6") }
}

/// Conditions under which the queue of the link counts.
fn with_queue_of_both(met: Conditions) -> Conditions {
    Conditions { queue_frames: None, ..met }
}

/// What is written about a link, on top of what holds otherwise.
fn link(key: &str, written: &LinkDraft, usual: Link, problems: &mut Problems) -> Link {
    let mut usual = usual;
    if written.queue.is_some() {
        // What a link says of both is in place of what every link says of one.
        usual.conditions = usual.conditions.map(with_queue_of_both);
        usual.back = usual.back.map(|back| back.map(with_queue_of_both));
    }
    let mtus = PerFamily::from_fn(|family| {
        let (_, own) = of_family(written, family);
        let own = own.and_then(|own| own.mtu).or(written.mtu);
        own.unwrap_or_else(|| usual.mtu_of(family))
    });
    let mtu = mtus.v4.max(mtus.v6);
    let mut link = Link {
        mtu,
        mtus: mtus.map(|own| (own < mtu).then_some(own)),
        queue_frames: written.queue.unwrap_or(usual.queue_frames),
        offloads: written.offloads.or(usual.offloads),
        ..usual
    };
    if written.subnet.is_some() {
        let what = "a subnet is of one family, as v4 = { subnet = \"192.0.2.0/24\" }";
        problems.add(format!("{key}.subnet"), what);
    }
    link.conditions = way(key, written, usual.conditions, problems);
    if written.back.is_some() || usual.back.is_some() {
        let otherwise = usual.back.unwrap_or(usual.conditions);
        let both = way(key, written, otherwise, problems);
        let key = format!("{key}.back");
        let own = written.back.as_ref();
        link.back = Some(own.map_or(both, |own| {
            out_of_place(&key, own, &["mtu", "subnet", "back"], problems);
            for family in Family::BOTH {
                let (name, Some(part)) = of_family(own, family) else { continue };
                if part.mtu.is_some() {
                    let what = "both directions of a link have the same MTU";
                    problems.add(format!("{key}.{name}.mtu"), what);
                }
                if part.subnet.is_some() {
                    let what = "both directions of a link have the same subnet";
                    problems.add(format!("{key}.{name}.subnet"), what);
                }
            }
            let both =
                both.map(|met| Conditions { queue_frames: own.queue.or(met.queue_frames), ..met });
            way(&key, own, both, problems)
        }));
    }
    for family in Family::BOTH {
        let (name, Some(own)) = of_family(written, family) else { continue };
        let key = format!("{key}.{name}.subnet");
        let subnet = problems.read_optional(&key, own.subnet.as_ref(), |t| t.parse::<Subnet>());
        let known = link.subnets.get_mut(family);
        *known = subnet.or(*known);
    }
    link
}

/// What is written about one family alone, and its key.
fn of_family(written: &LinkDraft, family: Family) -> (&'static str, Option<&LinkDraft>) {
    match family {
        Family::V4 => ("v4", written.v4.as_deref()),
        Family::V6 => ("v6", written.v6.as_deref()),
    }
}

/// What is written about one direction of a link, or both, on top of what holds otherwise.
fn way(
    key: &str,
    written: &LinkDraft,
    otherwise: PerFamily<Conditions>,
    problems: &mut Problems,
) -> PerFamily<Conditions> {
    PerFamily::from_fn(|family| {
        let met = conditions(key, written, *otherwise.get(family), problems);
        let (name, Some(own)) = of_family(written, family) else { return met };
        let key = format!("{key}.{name}");
        out_of_place(&key, own, &["v4", "v6", "back"], problems);
        let met = conditions(&key, own, met, problems);
        Conditions { queue_frames: own.queue.or(met.queue_frames), ..met }
    })
}

/// Refuses what belongs to a link as a whole, and what else is named.
fn out_of_place(key: &str, own: &LinkDraft, also: &[&str], problems: &mut Problems) {
    let whole = [("between", own.between.is_some()), ("offloads", own.offloads.is_some())];
    let parts = [
        ("mtu", own.mtu.is_some()),
        ("subnet", own.subnet.is_some()),
        ("v4", own.v4.is_some()),
        ("v6", own.v6.is_some()),
        ("back", own.back.is_some()),
    ];
    let parts = parts.into_iter().filter(|(name, _)| also.contains(name));
    for (name, _) in whole.into_iter().chain(parts).filter(|(_, written)| *written) {
        problems.add(format!("{key}.{name}"), "it belongs to the link as a whole");
    }
}

/// What frames meet by `written`, and by `otherwise` where it says nothing.
fn conditions(
    key: &str,
    written: &LinkDraft,
    otherwise: Conditions,
    problems: &mut Problems,
) -> Conditions {
    let mut met = otherwise;
    let sub = |name: &str| format!("{key}.{name}");
    match written.rate.as_deref() {
        None => {}
        Some("none") => met.rate_bps = None,
        Some(text) => met.rate_bps = problems.read(&sub("rate"), text, unit::parse_rate),
    }
    let delay = problems.read_optional(&sub("delay"), written.delay.as_ref(), unit::parse_span);
    met.delay_ns = delay.unwrap_or(met.delay_ns);
    let loss = problems.read_optional(&sub("loss"), written.loss.as_ref(), unit::parse_share);
    met.loss = loss.unwrap_or(met.loss);
    let duplication = problems.read_optional(
        &sub("duplication"),
        written.duplication.as_ref(),
        unit::parse_share,
    );
    met.duplication = duplication.unwrap_or(met.duplication);
    met.black_hole_above = written.black_hole.or(met.black_hole_above);
    met.jitter = written.jitter.as_ref().map_or(met.jitter, |jitter| jitter.read(key, problems));
    met.bursts = written.bursts.as_ref().map_or(met.bursts, |bursts| bursts.read(key, problems));
    let held = written.reordering.as_ref();
    met.reordering = held.map_or(met.reordering, |held| held.read(key, problems));
    met
}

/// `world` with the nodes of the path first and in its order.
fn in_order(world: World) -> World {
    let mut order = world.path_nodes();
    order.extend((0..world.nodes.len()).filter(|node| !order.contains(node)).collect::<Vec<_>>());
    let place = |node: usize| order.iter().position(|&old| old == node).unwrap_or(node);
    World {
        client: place(world.client),
        server: place(world.server),
        links: world.links.iter().map(|l| Link { ends: l.ends.map(place), ..*l }).collect(),
        tunnels: world
            .tunnels
            .iter()
            .map(|t| LaidTunnel { ends: t.ends.map(place), ..*t })
            .collect(),
        translation: world.translation.map(|translation| Translation {
            at: place(translation.at),
            client: place(translation.client),
            ..translation
        }),
        nodes: order.iter().map(|&node| world.nodes[node].clone()).collect(),
        ..world
    }
}

/// A problem of a world at the key where it was written.
fn placed(world: &World, problem: &super::Problem) -> Problem {
    let (key, what) = match problem.place {
        Place::World => ("links".to_string(), problem.what.clone()),
        Place::Link(link) => (format!("links[{link}]"), problem.what.clone()),
        Place::Tunnel(number) => (format!("tunnels[{number}]"), problem.what.clone()),
        Place::Translation => ("translation".to_string(), problem.what.clone()),
        Place::Node(node) => {
            let kind = world.nodes[node].kind;
            let before = world.nodes[..node].iter().filter(|other| other.kind == kind).count();
            let list = match kind {
                NodeKind::Host => "hosts",
                NodeKind::Router => "routers",
                NodeKind::Switch => "switches",
            };
            (format!("{list}[{before}]"), format!("it {}", problem.what))
        }
    };
    Problem { key, what, help: None }
}
