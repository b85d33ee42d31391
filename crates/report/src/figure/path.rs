//! The path that was measured, from the client above to the server below: every node and link of a
//! lab, or what is known of the way between two hosts.

use super::drawing::{self, Align, Canvas, Ink, Stroke, WIDTH};
use super::{Figure, Kind, Paint, Table};
use crate::topology;
use crate::words;
use v6gap_core::family::Family;
use v6gap_core::host::names;
use v6gap_core::world::{NodeKind, World};
use v6gap_judge::analysis::Analysis;

const BOX: (f64, f64) = (150.0, 40.0);
const LEFT: f64 = 4.0;
const LINE: f64 = 17.0;
/// Where the words beside a link begin.
const WORDS: f64 = LEFT + BOX.0 / 2.0 + 18.0;
const TOP: f64 = 6.0;

/// A node, and the link that leads to the next.
struct Step {
    name: String,
    kind: String,
    /// Of the corners of its box.
    round: f64,
    end: bool,
    /// What is known of the link below it; nothing for the last.
    link: Vec<String>,
}

pub(super) fn figure(analysis: &Analysis, paint: Paint) -> Figure {
    let steps = match &analysis.run.plan.world {
        Some(world) => of_world(world),
        None => of_hosts(analysis),
    };
    draw(analysis, &steps, paint)
}

fn of_world(world: &World) -> Vec<Step> {
    let hops = world.path();
    let nodes = world.path_nodes();
    let step = |(at, &node): (usize, &usize)| {
        let of = &world.nodes[node];
        let (kind, round) = match of.kind {
            NodeKind::Host if of.emulated => ("emulated host", 4.0),
            NodeKind::Host => ("host", 4.0),
            NodeKind::Router => ("router", 19.0),
            NodeKind::Switch => ("switch", 11.0),
        };
        let link = hops.get(at).map(|hop| {
            let mut said = vec![format!("link {}", hop.link + 1)];
            said.extend(topology::link_words(world.model, &world.links[hop.link]));
            said
        });
        Step {
            name: of.name.clone(),
            kind: kind.to_owned(),
            round,
            end: node == world.client || node == world.server,
            link: link.unwrap_or_default(),
        }
    };
    nodes.iter().enumerate().map(step).collect()
}

fn of_hosts(analysis: &Analysis) -> Vec<Step> {
    let (client, server) = words::hosts(analysis);
    let of = |family: Family| {
        let mut known = Vec::new();
        if let Some(interface) = analysis.run.hosts.client.facts.get(names::way_out(family)) {
            known.push(format!("by {interface}"));
        }
        if let Some(mtu) = analysis.path.mtu.get(family) {
            known.push(format!("path MTU {mtu}"));
        }
        known.extend(analysis.path.routers.get(family).map(routers));
        if let Some(address) = analysis.run.addresses.get(family) {
            known.push(format!("to {address}"));
        }
        match known.is_empty() {
            true => format!("{family}: nothing is known"),
            false => format!("{family}: {}", known.join(", ")),
        }
    };
    let step = |name: &str, kind: &str, link| Step {
        name: name.to_owned(),
        kind: kind.to_owned(),
        round: 4.0,
        end: true,
        link,
    };
    let way = Family::BOTH.map(of).to_vec();
    vec![step(client, "client", way), step(server, "server", Vec::new())]
}

fn routers([least, most]: [u8; 2]) -> String {
    match (least, most) {
        (1, 1) => "1 router".to_owned(),
        (least, most) if least == most => format!("{least} routers"),
        (least, most) => format!("{least} to {most} routers"),
    }
}

/// Words in lines that are no wider than the room beside a link.
fn wrapped(words: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for text in words {
        let mut line = String::new();
        for word in text.split(' ') {
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if !line.is_empty() && drawing::width_of(&longer, false) > WIDTH - WORDS {
                lines.push(std::mem::replace(&mut line, format!("  {word}")));
            } else {
                line = longer;
            }
        }
        lines.push(line);
    }
    lines
}

fn draw(analysis: &Analysis, steps: &[Step], paint: Paint) -> Figure {
    let mut canvas = Canvas::default();
    let mut y = TOP;
    let middle = LEFT + BOX.0 / 2.0;
    for step in steps {
        let ink = if step.end { Ink::Text } else { Ink::Axis };
        let lines = wrapped(&step.link);
        let room = if lines.is_empty() { 0.0 } else { lines.len() as f64 * LINE + 18.0 };
        if room > 0.0 {
            let ends = ((middle, y + BOX.1), (middle, y + BOX.1 + room));
            canvas.stroke(ends.0, ends.1, Ink::Axis, 2.5, Stroke::Solid);
        }
        canvas.node((LEFT, y), BOX, step.round, ink);
        let name = words::shortened(&step.name, 22);
        canvas.text((middle, y + 17.0), &name, Align::Middle, Ink::Text, true);
        canvas.text((middle, y + 32.0), &step.kind, Align::Middle, Ink::Faint, false);
        for (at, line) in lines.iter().enumerate() {
            let at = (WORDS, y + BOX.1 + 9.0 + at as f64 * LINE + 12.0);
            canvas.text(at, line, Align::Start, Ink::Text, false);
        }
        y += BOX.1 + room;
    }
    let height = y + TOP;
    let id = "path";
    let (client, server) = words::hosts(analysis);
    let known = words::path(analysis).unwrap_or_else(|| "what is known of the way".to_owned());
    let title = format!("The measured path, {client} to {server}: {known}");
    let desc = describe(steps);
    let drawn = drawing::draw(id, &title, &desc, height, paint, vec![canvas]);
    Figure {
        kind: Kind::Path,
        height,
        svg: drawn.svg,
        picture: drawn.picture,
        table: table(steps),
        foot: foot(analysis),
        id: id.to_owned(),
        title,
        desc,
    }
}

fn foot(analysis: &Analysis) -> String {
    let Some(world) = &analysis.run.plan.world else {
        return "Between two hosts only this is known: the interface, the MTU that the client's \
                kernel assumes, and routers by what is left of the hop limit."
            .to_owned();
    };
    let on_path = world.path_nodes();
    let others = world.nodes.iter().enumerate().filter(|(node, _)| !on_path.contains(node));
    let others: Vec<&str> = others.map(|(_, node)| node.name.as_str()).collect();
    match others.is_empty() {
        true => "Made by the lab as the plan says; nothing else is connected.".to_owned(),
        false => {
            format!("Made by the lab as the plan says. Not on the path: {}.", others.join(", "))
        }
    }
}

fn describe(steps: &[Step]) -> String {
    let said = |step: &Step| match step.link.is_empty() {
        true => format!("{} ({})", step.name, step.kind),
        false => format!("{} ({}); {}", step.name, step.kind, step.link.join(", ")),
    };
    steps.iter().map(said).collect::<Vec<_>>().join("; ") + "."
}

fn table(steps: &[Step]) -> Table {
    let heads = ["from", "kind", "to", "what is known of the way"].map(str::to_owned).to_vec();
    let row = |two: &[Step]| {
        let [from, to] = two else { return Vec::new() };
        vec![from.name.clone(), from.kind.clone(), to.name.clone(), from.link.join("; ")]
    };
    Table { heads, rows: steps.windows(2).map(row).collect() }
}
