//! Which lab is measured in: one that another process holds, or one that is made for the run.

use crate::args::LabChoice;
use crate::failure::Failure;
use crate::shipped::{SHIPPED, is_name};
use crate::worlds;
use v6gap_core::world::World;
use v6gap_perform::world::holder;

/// A lab to measure in.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// Name of the lab that is up already; `None` is to be made.
    pub held: Option<String>,
    /// World of the lab, measured between the nodes that were asked for.
    pub world: World,
}

impl LabChoice {
    /// The lab that was asked for, if one was: that of the name if it is up, otherwise the world of
    /// the file or name.
    ///
    /// # Errors
    /// If there is neither, or its world has no such nodes.
    pub fn choose(&self) -> Result<Option<Chosen>, Failure> {
        let Some(lab) = &self.lab else { return Ok(None) };
        // A name that is never a file may still be that of a lab.
        let name = lab.strip_prefix(SHIPPED).unwrap_or(lab);
        let is = |held: &String| held == name;
        let up = is_name(name) && holder::list().is_ok_and(|labs| labs.iter().any(is));
        let world = if up { held_world(name)? } else { worlds::read(lab)?.1 };
        let world = self.between(world)?;
        Ok(Some(Chosen { held: up.then(|| name.to_owned()), world }))
    }

    /// The world between the nodes that were asked for.
    fn between(&self, world: World) -> Result<World, Failure> {
        let place = |name: &Option<String>, otherwise: usize| match name {
            None => Ok(otherwise),
            Some(name) => world.find(name).filter(|&n| world.is_addressed(n)).ok_or_else(|| {
                let nodes = 0..world.nodes.len();
                let known: Vec<&str> = nodes
                    .filter(|&node| world.is_addressed(node))
                    .map(|node| world.nodes[node].name.as_str())
                    .collect();
                let what = format!("the lab has no host or router called \"{name}\"");
                Failure::usage(what).likely(format!("It has {}.", known.join(", ")))
            }),
        };
        let (client, server) = (place(&self.from, world.client)?, place(&self.to, world.server)?);
        let world = world.measured(client, server);
        match world.problems().first() {
            None => Ok(world),
            Some(problem) => Err(Failure::usage(problem.to_string())),
        }
    }
}

/// The world of a lab that is up.
fn held_world(name: &str) -> Result<World, Failure> {
    let wrong = Failure::of_lab;
    let status = holder::status(name).map_err(wrong)?;
    let mut told: serde_json::Value = serde_json::from_str(&status)
        .map_err(|e| wrong(format!("lab {name} tells nothing of itself: {e}")))?;
    serde_json::from_value(told["world"].take())
        .map_err(|e| wrong(format!("lab {name} is of another version: {e}")))
}
