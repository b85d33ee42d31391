//! What a lab that is up tells of itself, as a table.

use crate::failure::Failure;
use crate::output;
use serde_json::Value;
use v6gap_core::family::Family;
use v6gap_core::unit::format_span;
use v6gap_core::world::{NodeKind, Topology, World};
use v6gap_perform::world::holder;
use v6gap_report::topology::{link_words, translation_words, tunnel_words};

/// The status of a lab.
pub struct Status {
    name: String,
    pid: u64,
    /// The world that it is.
    pub world: World,
    wire: Value,
}

impl Status {
    /// Asks the lab called `name`.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn of(name: &str) -> Result<Self, Failure> {
        let text = holder::status(name).map_err(Failure::of_lab)?;
        Self::read(name, &text).map_err(|error| {
            Failure::of_lab(format!("the lab called `{name}` is of another version: {error}"))
        })
    }

    fn read(name: &str, text: &str) -> Result<Self, serde_json::Error> {
        let mut told: Value = serde_json::from_str(text)?;
        Ok(Status {
            name: name.to_owned(),
            pid: told["pid"].as_u64().unwrap_or(0),
            world: serde_json::from_value(told["world"].take())?,
            wire: told["wire"].take(),
        })
    }

    /// Name of the node that measures.
    pub fn client(&self) -> String {
        self.world.nodes[self.world.client].name.clone()
    }

    /// The status in words.
    pub fn text(&self) -> String {
        let Status { name, pid, world, .. } = self;
        let model = format!("{:?}", world.model).to_lowercase();
        let way: Vec<&str> =
            world.path_nodes().iter().map(|&node| world.nodes[node].name.as_str()).collect();
        let mut out = format!(
            "Lab {name}: {model} links, held by process {pid}.\nMeasured: {}.\n\n",
            way.join(" - ")
        );
        out += &table(&nodes(world));
        out.push('\n');
        out += &table(&links(world));
        if !world.tunnels.is_empty() {
            out.push('\n');
            out += &table(&tunnels(world));
        }
        out += &translation(world).unwrap_or_default();
        out += &self.lateness();
        out
    }

    /// What the user-space link did until now, if there is one.
    fn lateness(&self) -> String {
        let count = |key: &str| self.wire[key].as_u64();
        let Some(frames) = count("frames") else { return String::new() };
        let span = |key: &str| format_span(count(key).unwrap_or(0) as f64);
        let dropped = count("queue_drops").unwrap_or(0);
        let faults = count("faults").unwrap_or(0);
        format!(
            "\nThe wire delivered {frames} frames, late by {} (half of them at most), {} (99 % at \
             most), {} (the latest). Its queues were full {dropped} times; it failed {faults} \
             times.\n",
            span("p50_ns"),
            span("p99_ns"),
            span("max_ns"),
        )
    }
}

fn nodes(world: &World) -> Vec<Vec<String>> {
    let topology = Topology::of(world);
    let mut rows = vec![["NODE", "KIND", "LINK", "IPV4", "IPV6"].map(str::to_owned).to_vec()];
    for (number, node) in world.nodes.iter().enumerate() {
        let kind = match node.kind {
            NodeKind::Host if node.emulated => "emulated host",
            NodeKind::Host => "host",
            NodeKind::Router => "router",
            NodeKind::Switch => "switch",
        };
        let mut first = [node.name.clone(), kind.to_owned()];
        for end in topology.ends_of(number) {
            let address = |family| match world.address(&topology, end, family) {
                Some(address) => address.to_string(),
                None => "-".to_owned(),
            };
            let [name, kind] = std::mem::take(&mut first);
            let link = format!("link{}", end.link + 1);
            rows.push(vec![name, kind, link, address(Family::V4), address(Family::V6)]);
        }
    }
    rows
}

fn links(world: &World) -> Vec<Vec<String>> {
    let mut rows = vec![["LINK", "BETWEEN", "IS"].map(str::to_owned).to_vec()];
    for (number, link) in world.links.iter().enumerate() {
        let [first, second] = link.ends.map(|node| world.nodes[node].name.as_str());
        let is = link_words(world.model, link).join("; ");
        rows.push(vec![format!("link{}", number + 1), format!("{first} - {second}"), is]);
    }
    rows
}

fn tunnels(world: &World) -> Vec<Vec<String>> {
    let head = ["TUNNEL", "BETWEEN", "FIRST END", "SECOND END", "IS"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (number, laid) in world.tunnels.iter().enumerate() {
        let [first, second] = laid.ends.map(|node| world.nodes[node].name.as_str());
        let [near, far] = world.addresses_inside(number).map(|ends| {
            let carried = Family::BOTH.into_iter().filter(|family| *laid.carries.get(*family));
            carried.map(|family| ends.get(family).to_string()).collect::<Vec<_>>().join(" ")
        });
        let between = format!("{first} - {second}");
        let is = tunnel_words(world, laid);
        rows.push(vec![format!("tunnel{}", number + 1), between, near, far, is]);
    }
    rows
}

/// What is translated, and by which address the client then reaches the server.
fn translation(world: &World) -> Option<String> {
    let translation = world.translation.as_ref()?;
    let family = translation.kind.translates();
    let topology = Topology::of(world);
    let known = |node| world.addresses(&topology, node).get(family).map(|a| a.to_string());
    let [client, server] = [world.client, world.server].map(known);
    let way = client.zip(server).map(|(from, to)| format!(", from {from} to {to}"));
    let words = translation_words(world, translation);
    Some(format!("\nTranslation: {words}{}.\n", way.unwrap_or_default()))
}

/// Columns as wide as their widest entry, the last one left open.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| output::column(rows.iter().map(|r| r[column].as_str()));
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let room = if column + 1 < columns { width(column) + 2 } else { 0 };
            line += &format!("{cell:<room$}");
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Document;
    use crate::commands::schema::tests::fits;
    use crate::worlds::{WORLDS, read_preset};
    use serde_json::json;
    use v6gap_core::plan::preset;

    /// What else a lab tells is held against the schema where there is one (suite `netns`).
    #[test]
    fn every_world_that_comes_with_the_program_fits_the_schema() {
        for shipped in &WORLDS {
            let (_, world) = read_preset(shipped).unwrap();
            let told = json!({
                "schema": "v6gap.lab.status/1", "name": shipped.name, "pid": 12, "world": world,
                "nodes": [], "wire": null, "facts": {},
            });
            fits(Document::LabStatus, &told);
        }
    }

    #[test]
    fn a_status_is_a_table_of_nodes_and_one_of_links() {
        let wire = json!({ "frames": 7, "p50_ns": 80, "p99_ns": 900, "max_ns": 4000 });
        let told = json!({ "pid": 12, "world": preset::demo_world(), "wire": wire });
        let text = Status::read("lab", &told.to_string()).unwrap().text();
        let expected = "\
Lab lab: wire links, held by process 12.
Measured: client - router - server.

NODE    KIND    LINK   IPV4       IPV6
client  host    link1  10.46.1.1  fd46:1::1
router  router  link1  10.46.1.2  fd46:1::2
                link2  10.46.2.1  fd46:2::1
server  host    link2  10.46.2.2  fd46:2::2

LINK   BETWEEN          IS
link1  client - router  100 Mbit/s; MTU 1500, queue 100
link2  router - server  100 Mbit/s; MTU 1500, queue 100

The wire delivered 7 frames, late by";
        assert!(text.starts_with(expected), "{text}");
    }
}
