//! The `[lab]` table of a plan: which world it asks for.

use super::{Problems, draft::Draft};
use crate::plan::draft;
use crate::unit;
use crate::world::draft::model;
use crate::world::{Conditions, Link, LinkModel, World};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Most routers of a chain.
const ROUTERS_MAX: usize = 8;

/// The world that the draft's lab describes, if it has one.
pub(super) fn world(draft: &Draft, problems: &mut Problems) -> Option<World> {
    let lab = draft.lab.as_ref()?;
    let world = whole(lab, problems)?;
    between(lab, world, problems)
}

/// The world between the nodes that the lab names.
fn between(lab: &draft::Lab, world: World, problems: &mut Problems) -> Option<World> {
    if lab.from.is_none() && lab.to.is_none() {
        return Some(world);
    }
    let mut place = |key: &str, name: &Option<String>, otherwise: usize| {
        let Some(name) = name else { return otherwise };
        let found = world.find(name).filter(|&node| world.is_addressed(node));
        found.unwrap_or_else(|| {
            let known: Vec<&str> = world.nodes.iter().map(|node| node.name.as_str()).collect();
            problems.one_of(key, name, &known);
            otherwise
        })
    };
    let client = place("lab.from", &lab.from, world.client);
    let server = place("lab.to", &lab.to, world.server);
    let world = world.measured(client, server);
    as_a_whole("lab.world", &world, problems);
    Some(world)
}

/// The world, measured between its own client and server.
fn whole(lab: &draft::Lab, problems: &mut Problems) -> Option<World> {
    if lab.world.is_some() || lab.made.is_some() {
        return of_file(lab, problems);
    }
    let model = model("lab.model", lab.model.as_deref().unwrap_or("wire"), problems);
    let rate = if model == LinkModel::Bare { "none" } else { "100 Mbit/s" };
    let both = conditions(
        "lab",
        &draft::Conditions {
            rate: Some(lab.rate.clone().unwrap_or_else(|| rate.to_string())),
            delay: lab.delay.clone(),
            loss: lab.loss.clone(),
        },
        Conditions::rate(None),
        problems,
    );
    let mtu = lab.mtu.unwrap_or(1500);
    if !(1280..=65_535).contains(&mtu) {
        problems.add("lab.mtu", "an MTU must be between 1280 (RFC 8200) and 65535");
    }
    let routers = routers(lab.topology.as_deref().unwrap_or("client-router-server"), problems);
    let mut link = Link { mtu, ..Link::ethernet(None) };
    link.conditions = crate::family::PerFamily { v4: both, v6: both };
    let mut world = World::chain(model, alloc::vec![link; routers + 1]);
    let first = &mut world.links[0].conditions;
    if let Some(own) = &lab.v4 {
        first.v4 = conditions("lab.v4", own, both, problems);
    }
    if let Some(own) = &lab.v6 {
        first.v6 = conditions("lab.v6", own, both, problems);
    }
    // Of what cannot be had by itself enough was told.
    if !problems.has_of("lab") {
        as_a_whole("lab", &world, problems);
    }
    Some(world)
}

/// The world of a file, which says all of it.
fn of_file(lab: &draft::Lab, problems: &mut Problems) -> Option<World> {
    let alone = draft::Lab {
        world: lab.world.clone(),
        made: lab.made.clone(),
        from: lab.from.clone(),
        to: lab.to.clone(),
        ..draft::Lab::default()
    };
    if *lab != alone {
        problems.add("lab", "a world says all of the lab: no other key may stand beside it");
    }
    let Some(world) = &lab.made else {
        problems.add("lab.world", "no such world was found");
        return None;
    };
    as_a_whole("lab.world", world, problems);
    Some(world.clone())
}

fn conditions(
    key: &str,
    written: &draft::Conditions,
    otherwise: Conditions,
    problems: &mut Problems,
) -> Conditions {
    let rate = match written.rate.as_deref() {
        None => otherwise.rate_bps,
        Some("none") => None,
        Some(text) => problems.read(&format!("{key}.rate"), text, unit::parse_rate),
    };
    let delay =
        problems.read_optional(&format!("{key}.delay"), written.delay.as_ref(), unit::parse_span);
    let loss =
        problems.read_optional(&format!("{key}.loss"), written.loss.as_ref(), unit::parse_share);
    if loss.is_some_and(|share| !(0.0..1.0).contains(&share)) {
        problems.add(format!("{key}.loss"), "a loss must be at least 0 and below 100 %");
    }
    Conditions {
        rate_bps: rate,
        delay_ns: delay.unwrap_or(otherwise.delay_ns),
        loss: loss.unwrap_or(otherwise.loss),
        ..otherwise
    }
}

/// How many routers `client-router-router-server` and the like have.
fn routers(topology: &str, problems: &mut Problems) -> usize {
    let words: Vec<&str> = topology.split('-').collect();
    let inner = words.get(1..words.len().saturating_sub(1)).unwrap_or_default();
    let proper = words.len() >= 2
        && words.first() == Some(&"client")
        && words.last() == Some(&"server")
        && inner.iter().all(|word| *word == "router");
    if !proper || inner.len() > ROUTERS_MAX {
        let what = format!("\"{topology}\" is not client, up to {ROUTERS_MAX} routers, server");
        problems.add("lab.topology", what);
    }
    if proper { inner.len().min(ROUTERS_MAX) } else { 1 }
}

/// What is wrong with the lab's network as a whole.
fn as_a_whole(key: &str, world: &World, problems: &mut Problems) {
    for problem in world.problems() {
        problems.add(key, problem.to_string());
    }
}
