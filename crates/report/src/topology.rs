//! A drawing of a world: nodes, links and what is known of each, as one SVG file.
//!
//! The path that is measured runs from left to right in one row; every other node stands in the
//! column of its distance from the client, below the path.

use maud::{Markup, PreEscaped, html};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::unit::{format_rate, format_share, format_span};
use v6gap_core::world::{
    Conditions, End, LaidTunnel, Link, LinkModel, NodeKind, Side, Spread, Subnet, Topology,
    Translation, TranslationKind, World,
};

/// Distance of columns and of rows, in units of the drawing.
const COLUMN: f64 = 330.0;
const ROW: f64 = 130.0;
/// Half of the width and height of a node's box.
const BOX: (f64, f64) = (58.0, 26.0);
/// Room around all.
const EDGE: (f64, f64) = (80.0, 70.0);
/// How far the bow of a tunnel reaches below the nodes at its ends.
const SAG: f64 = 38.0;
/// Room above for the heading.
const HEAD: f64 = 40.0;

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#1a1a1a}\
.n{font-weight:600;font-size:14px}.k{fill:#555}.h{font-size:15px;font-weight:600}\
.a{font:11px ui-monospace,monospace;fill:#333}\
rect,path{stroke:#1a1a1a;fill:#fff}.l{stroke:#555;stroke-width:1.5;fill:none}\
.t{stroke:#a84800;stroke-width:2;stroke-dasharray:7 4;fill:none}\
.p{stroke:#0072b2;stroke-width:3}.e{stroke-width:2.5;stroke:#0072b2}";

/// Where the nodes stand.
struct Places {
    /// Column and row of each node.
    of: Vec<(usize, usize)>,
    columns: usize,
    rows: usize,
    /// Room below for tunnels.
    below: f64,
}

impl Places {
    fn of(world: &World) -> Places {
        let path = world.path_nodes();
        let mut taken: Vec<usize> = Vec::new();
        let mut of = vec![(0, 0); world.nodes.len()];
        for (column, &node) in path.iter().enumerate() {
            of[node] = (column, 0);
            taken.push(1);
        }
        for (node, distance) in distances(world).into_iter().enumerate() {
            if path.contains(&node) {
                continue;
            }
            taken.resize(taken.len().max(distance + 1), 0);
            of[node] = (distance, taken[distance].max(1));
            taken[distance] = of[node].1 + 1;
        }
        let rows = taken.iter().copied().max().unwrap_or(1);
        let below = if world.tunnels.is_empty() { 0.0 } else { SAG };
        Places { of, columns: taken.len().max(1), rows, below }
    }

    fn point(&self, node: usize) -> (f64, f64) {
        let (column, row) = self.of[node];
        (EDGE.0 + column as f64 * COLUMN, HEAD + EDGE.1 + row as f64 * ROW)
    }

    fn size(&self) -> (f64, f64) {
        (
            2.0 * EDGE.0 + (self.columns - 1) as f64 * COLUMN,
            HEAD + 2.0 * EDGE.1 + (self.rows - 1) as f64 * ROW + self.below,
        )
    }
}

/// Links between each node and the client; 0 where there is no way.
fn distances(world: &World) -> Vec<usize> {
    let mut known: Vec<Option<usize>> = vec![None; world.nodes.len()];
    let mut open = vec![world.client];
    let mut distance = 0;
    while !open.is_empty() {
        for &node in &open {
            known[node].get_or_insert(distance);
        }
        let fresh = |node: &usize| known[*node].is_none();
        let far = |link: &Link, side: Side| {
            open.contains(&link.node(side)).then(|| link.node(side.other())).filter(fresh)
        };
        let links = world.links.iter();
        open = links.flat_map(|l| Side::BOTH.map(|side| far(l, side))).flatten().collect();
        distance += 1;
    }
    known.into_iter().map(Option::unwrap_or_default).collect()
}

/// The drawing. The same world gives the same bytes.
pub fn svg(world: &World) -> String {
    let topology = Topology::of(world);
    let places = Places::of(world);
    let (width, height) = places.size();
    let on_path: Vec<usize> = world.path().iter().map(|hop| hop.link).collect();
    let drawing = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {width} {height}"))
            width=(width) height=(height) role="img" aria-labelledby="t d" {
            title id="t" { (heading(world)) }
            desc id="d" { (in_words(world)) }
            style { (PreEscaped(STYLE)) }
            rect width="100%" height="100%" style="fill:#fff;stroke:none" {}
            text.h x=(EDGE.0 - BOX.0) y="30" { (heading(world)) }
            @for (number, link) in world.links.iter().enumerate() {
                (line(world, &topology, &places, number, link, on_path.contains(&number)))
            }
            @for (number, laid) in world.tunnels.iter().enumerate() {
                (bow(world, &places, number, laid))
            }
            @for node in 0..world.nodes.len() { (the_box(world, &places, node)) }
        }
    };
    drawing.into_string() + "\n"
}

fn heading(world: &World) -> String {
    let model = world.model.name();
    let name = |node: usize| world.nodes.get(node).map_or("", |node| node.name.as_str());
    format!("{} to {}, “{model}” links", name(world.client), name(world.server))
}

/// All links in one sentence each, for those who cannot see the drawing.
fn in_words(world: &World) -> String {
    let sentence = |(number, link): (usize, &Link)| {
        let [first, second] = link.ends.map(|node| world.nodes[node].name.as_str());
        let words = link_words(world.model, link).join(", ");
        format!("Link {}: {first} to {second}, {words}.", number + 1)
    };
    let links = world.links.iter().enumerate().map(sentence);
    let tunnel = |(number, laid): (usize, &LaidTunnel)| {
        let [first, second] = laid.ends.map(|node| world.nodes[node].name.as_str());
        let words = tunnel_words(world, laid);
        format!("Tunnel {}: {first} to {second}, {words}.", number + 1)
    };
    let tunnels = world.tunnels.iter().enumerate().map(tunnel);
    let translation = world
        .translation
        .as_ref()
        .map(|translation| format!("Translation: {}.", translation_words(world, translation)));
    let emulated = world.emulated().map(|node| format!("{}.", emulated_words(world, node)));
    links.chain(tunnels).chain(translation).chain(emulated).collect::<Vec<_>>().join(" ")
}

/// A tunnel as a bow from node to node below the links, with its name and its addresses.
fn bow(world: &World, places: &Places, number: usize, laid: &LaidTunnel) -> Markup {
    let [from, to] = laid.ends.map(|node| places.point(node));
    let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
    // A bow reaches half as far as the point that it bends to.
    let [start, end] = [from, to].map(|(x, y)| format!("{x} {}", y + BOX.1));
    let bend = format!("{} {}", middle.0, middle.1 + BOX.1 + 2.0 * SAG);
    let inside = world.addresses_inside(number).map(|ends| {
        let carried = Family::BOTH.into_iter().filter(|family| *laid.carries.get(*family));
        carried.map(|family| ends.get(family).to_string()).collect::<Vec<_>>().join(" and ")
    });
    html! {
        path.t d=(format!("M{start}Q{bend} {end}")) {}
        text.k x=(middle.0) y=(middle.1 + BOX.1 + SAG + 15.0) text-anchor="middle" {
            "tunnel" (number + 1) ": " (tunnel_words(world, laid))
        }
        text.a x=(middle.0) y=(middle.1 + BOX.1 + SAG + 29.0) text-anchor="middle" {
            (inside.join(" to "))
        }
    }
}

/// What a tunnel does, in a few words.
pub fn tunnel_words(world: &World, laid: &LaidTunnel) -> String {
    let mtu = world.mtu_inside(laid);
    format!("{} in {}, MTU {mtu} inside", carried(laid), laid.tunnel)
}

/// What is translated and where, in a few words.
pub fn translation_words(world: &World, translation: &Translation) -> String {
    let Translation { kind, at, client } = *translation;
    let (at, client) = (&world.nodes[at].name, &world.nodes[client].name);
    match kind {
        TranslationKind::Nat64 => format!("IPv6 translated to IPv4 (nat64) at {at}"),
        TranslationKind::Xlat464 => {
            format!("IPv4 translated to IPv6 at {client} and back (464xlat) at {at}")
        }
    }
}

/// The families that a tunnel carries.
pub(crate) fn carried(laid: &LaidTunnel) -> String {
    match (laid.carries.v4, laid.carries.v6) {
        (true, true) => "both families".to_owned(),
        (true, false) => Family::V4.to_string(),
        (false, _) => Family::V6.to_string(),
    }
}

fn line(
    world: &World,
    topology: &Topology,
    places: &Places,
    number: usize,
    link: &Link,
    measured: bool,
) -> Markup {
    let [from, to] = link.ends.map(|node| places.point(node));
    let at = |share: f64| (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
    let length = (to.0 - from.0).hypot(to.1 - from.1).max(1.0);
    // Addresses stand just outside of the boxes.
    let off = (BOX.0 + 36.0) / length;
    let words = link_words(world.model, link);
    let label = at(0.5);
    html! {
        path.l.p[measured] d=(format!("M{} {}L{} {}", from.0, from.1, to.0, to.1)) {}
        @for (i, text) in words.iter().enumerate() {
            @let y = label.1 - 12.0 - 15.0 * (words.len() - 1 - i) as f64;
            text x=(label.0) y=(y) text-anchor="middle" { (text) }
        }
        text.k x=(label.0) y=(label.1 + 16.0) text-anchor="middle" { "link" (number + 1) }
        @for (side, share) in [(Side::First, off), (Side::Second, 1.0 - off)] {
            @let (x, y) = at(share);
            @let has = addresses(world, topology, End { link: number, side });
            @for (i, address) in has.iter().enumerate() {
                text.a x=(x) y=(y + 14.0 + 13.0 * i as f64) text-anchor="middle" { (address) }
            }
        }
    }
}

/// The addresses of an end with the lengths of their prefixes.
fn addresses(world: &World, topology: &Topology, end: End) -> Vec<String> {
    let segment = topology.segment_of(end.link);
    let of = |family: Family| {
        let bits = world.subnet(topology, segment, family).prefix_bits();
        Some(format!("{}/{bits}", world.address(topology, end, family)?))
    };
    Family::BOTH.into_iter().filter_map(of).collect()
}

fn the_box(world: &World, places: &Places, node: usize) -> Markup {
    let (x, y) = places.point(node);
    let (kind, corner) = match world.nodes[node].kind {
        NodeKind::Host if world.nodes[node].emulated => ("emulated host", 3.0),
        NodeKind::Host => ("host", 3.0),
        NodeKind::Router => ("router", BOX.1),
        NodeKind::Switch => ("switch", 12.0),
    };
    let end = node == world.client || node == world.server;
    html! {
        rect.e[end] x=(x - BOX.0) y=(y - BOX.1) width=(2.0 * BOX.0) height=(2.0 * BOX.1)
            rx=(corner) {}
        text.n x=(x) y=(y - 2.0) text-anchor="middle" { (world.nodes[node].name) }
        text.k x=(x) y=(y + 15.0) text-anchor="middle" { (kind) }
    }
}

/// What an emulated node is: "server is another system, emulated by QEMU".
pub fn emulated_words(world: &World, node: usize) -> String {
    format!("{} is another system, emulated by QEMU", world.nodes[node].name)
}

/// What is known of a link of this model, in a few words for each thing: conditions, MTU, queue,
/// subnets. Cables have no line that frames could wait for.
pub fn link_words(model: LinkModel, link: &Link) -> Vec<String> {
    let mut words = Vec::new();
    let [there, back] = Side::BOTH.map(|side| link.met(side));
    if there == back {
        words.extend(ways(there, " each way"));
    } else {
        words.extend(ways(there, "").into_iter().map(|text| format!("there {text}")));
        words.extend(ways(back, "").into_iter().map(|text| format!("back {text}")));
    }
    let offloads = match link.offloads {
        Some(true) => ", offloads on",
        Some(false) => ", offloads off",
        None => "",
    };
    let queue = match model {
        LinkModel::Bare => String::new(),
        LinkModel::Shaped | LinkModel::Wire | LinkModel::Netem => {
            format!(", queue {}", link.queue_frames)
        }
    };
    words.push(format!("{}{queue}{offloads}", mtu_words(link)));
    let subnets = [link.subnets.v4, link.subnets.v6].into_iter().flatten();
    words.extend(subnets.map(|subnet: Subnet| subnet.to_string()));
    words
}

/// The MTU of a link, or that of each family where they differ.
pub fn mtu_words(link: &Link) -> String {
    match link.mtus {
        PerFamily { v4: None, v6: None } => format!("MTU {}", link.mtu),
        _ => {
            let of = |family| format!("{family} {}", link.mtu_of(family));
            format!("MTU {}", Family::BOTH.map(of).join(", "))
        }
    }
}

/// The conditions of one direction, or of each way, once where the families meet the same.
fn ways(met: &PerFamily<Conditions>, each_way: &str) -> Vec<String> {
    let of = |met| conditions(met, each_way);
    match met.v4 == met.v6 {
        true => vec![of(&met.v4)],
        false => Family::BOTH.map(|f| format!("{f} {}", of(met.get(f)))).to_vec(),
    }
}

/// What a link does to frames, in words.
fn conditions(met: &Conditions, each_way: &str) -> String {
    let time = |ns: u64| format_span(ns as f64);
    let mut words = vec![match met.rate_bps {
        Some(rate) => format_rate(rate as f64),
        None => "no rate".to_owned(),
    }];
    if met.delay_ns > 0 {
        words.push(format!("{} more{each_way}", time(met.delay_ns)));
    }
    if let Some(jitter) = met.jitter {
        let spread = match jitter.spread {
            Spread::Uniform => format!("±{}, uniform", time(jitter.spread_ns)),
            Spread::Normal => format!("normal with deviation {}", time(jitter.spread_ns)),
        };
        let order = if jitter.reorders { "" } else { ", in order" };
        words.push(format!("jitter {spread}{order}"));
    }
    if met.loss > 0.0 {
        words.push(format!("{} lost", format_share(met.loss)));
    }
    if let Some(bursts) = met.bursts {
        let frames = 1.0 / bursts.end;
        let (share, loss) = (format_share(bursts.share()), format_share(bursts.loss));
        words.push(format!("{share} in bursts of {frames:.1} frames that lose {loss}"));
    }
    if met.duplication > 0.0 {
        words.push(format!("{} doubled", format_share(met.duplication)));
    }
    if let Some(held) = met.reordering {
        words.push(format!("{} held back {}", format_share(held.share), time(held.by_ns)));
    }
    if let Some(frames) = met.queue_frames {
        words.push(format!("a queue of {frames}"));
    }
    if let Some(bytes) = met.black_hole_above {
        words.push(format!("a black hole above {bytes} B"));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::tunnel::{Tunnel, TunnelKind};
    use v6gap_core::world::Node;

    /// A dumb-bell with a switch at one side.
    fn world() -> World {
        let link = Link::ethernet(Some(100_000_000));
        let mut world = World::chain(LinkModel::Wire, vec![link; 3]);
        world.nodes.push(Node::new("switch", NodeKind::Switch));
        world.nodes.push(Node::new("left", NodeKind::Host));
        world.links.extend([link.between(4, 1), link.between(5, 4)]);
        world.links[1].conditions.v6.delay_ns = 2_000_000;
        world.links[2].mtu = 1400;
        world
    }

    #[test]
    fn everything_is_on_the_drawing() {
        let text = svg(&world());
        let parts = [
            ">client<",
            ">switch<",
            ">left<",
            ">10.46.3.2/24<",
            ">fd46:4::2/64<",
            "link5",
            "IPv6 100 Mbit/s, 2 ms more each way",
            "MTU 1400",
            "client to server, “wire” links",
        ];
        for part in parts {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert_eq!(text.matches("<rect").count(), 1 + 6);
        assert_eq!(text.matches("class=\"l p\"").count(), 3, "the measured path");
        assert_eq!(svg(&world()), text);
    }

    #[test]
    fn a_tunnel_is_drawn_and_said() {
        let mut world = world();
        let tunnel = Tunnel { kind: TunnelKind::Gre, outer: Family::V4 };
        let carries = PerFamily { v4: true, v6: true };
        world.tunnels.push(LaidTunnel { ends: [0, 2], tunnel, carries });
        let text = svg(&world);
        let words = "both families in gre over IPv4, MTU 1476 inside";
        assert!(text.contains(&format!("tunnel1: {words}")), "{text}");
        assert!(text.contains(&format!("Tunnel 1: client to router2, {words}.")), "{text}");
        assert!(text.contains("10.47.1.1 and fd47:1::1 to 10.47.1.2 and fd47:1::2"), "{text}");
        assert_eq!(text.matches("class=\"t\"").count(), 1);
    }

    #[test]
    fn no_two_nodes_stand_in_one_place() {
        let world = world();
        let mut places = Places::of(&world).of;
        let before = places.len();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), before);
    }

    #[test]
    fn foreign_names_are_text() {
        let mut world = world();
        world.nodes[0].name = "<script>".to_owned();
        assert!(!svg(&world).contains("<script>"));
    }

    #[test]
    fn what_is_set_is_said() {
        let mut link = Link::ethernet(None);
        assert_eq!(link_words(LinkModel::Wire, &link), ["no rate", "MTU 1500, queue 100"]);
        assert_eq!(link_words(LinkModel::Bare, &link), ["no rate", "MTU 1500"]);
        link.conditions.v4.loss = 0.01;
        link.conditions.v6.black_hole_above = Some(1400);
        link.offloads = Some(false);
        link.subnets.v4 = "192.0.2.0/24".parse().ok();
        let expected = [
            "IPv4 no rate, 1 % lost",
            "IPv6 no rate, a black hole above 1400 B",
            "MTU 1500, queue 100, offloads off",
            "192.0.2.0/24",
        ];
        assert_eq!(link_words(LinkModel::Wire, &link), expected);
    }
}
