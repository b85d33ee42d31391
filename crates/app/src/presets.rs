//! Plans that come with the program: the files in `plans/`, as they are, and plans by name or file.

use crate::failure::{Failure, Outcome};
use crate::shipped::{Preset, SHIPPED, is_name, named_among, shipped};
use crate::worlds;
use std::io::{BufRead, Read};
use std::path::Path;
use v6gap_core::plan::Plan;
use v6gap_core::plan::check::Problem;
use v6gap_core::plan::draft::{Draft, Hosts, Lab};
use v6gap_core::plan::scale::Scale;
use v6gap_core::world::World;
use v6gap_store::{PlanFileError, PlanProblem, StoreError, parse_plan, read_plan};

/// Longest plan that is read from standard input, in bytes.
const PLAN_BYTES_MAX: u64 = 1 << 20;

/// All of them, those of one study next to each other.
pub const PRESETS: [Preset; 21] = shipped!["plans":
    "first-look",
    "null",
    "sizes",
    "windows",
    "cpu",
    "nightly",
    "raicu-tcp-rtt",
    "raicu-udp-rtt",
    "raicu-10mbit-tcp",
    "raicu-10mbit-udp",
    "raicu-throughput",
    "raicu-delay-variation",
    "raicu-priority",
    "goyal-throughput",
    "goyal-ping",
    "goyal-router-to-router",
    "soorty-tcp",
    "soorty-memory",
    "manford-udp",
    "manford-rtt",
    "sailan-window",
];

/// What is typed beside the name of a plan.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// How much of it is measured.
    pub scale: Scale,
    /// Where, if not where the plan says.
    pub place: PlaceChoice,
}

/// Where a plan is measured.
#[derive(Debug, Clone, Default)]
pub enum PlaceChoice {
    /// Where it says: in its own lab, or against its own server.
    #[default]
    OfPlan,
    /// In the lab of this world.
    World(World),
    /// Against a server, even if the plan has a lab.
    Server,
}

/// A plan that was read: as it was written, at the scale and place that were asked for.
#[derive(Debug, Clone)]
pub struct Found {
    /// The text that was read.
    pub text: String,
    /// What was written.
    pub draft: Draft,
    /// The plan, checked.
    pub plan: Plan,
    /// What the scale changed, in words.
    pub scaled: Vec<String>,
}

/// The preset of that name.
///
/// # Errors
/// If there is none, with the nearest.
pub fn find(name: &str) -> Result<&'static Preset, Failure> {
    let failure = Failure::new("E510", Outcome::Usage, format!("no plan is called \"{name}\""));
    named_among(&PRESETS, name, failure)
        .map_err(|failure| failure.run("v6gap plan list", "plans that come with the program"))
}

/// The plan in a file, or the one of that name that comes with the program. A file wins, unless
/// [`SHIPPED`] stands before the name.
///
/// # Errors
/// If there is neither, or the file is not a plan.
pub fn read(plan: &str, seed: u64, choice: &Choice) -> Result<Found, Failure> {
    if plan == "-" {
        return read_input(seed, choice);
    }
    read_beside(Path::new(""), plan, seed, choice)
}

/// As [`read`], of what another file in `folder` names: never from standard input.
///
/// # Errors
/// As [`read`].
pub fn read_beside(
    folder: &Path,
    plan: &str,
    seed: u64,
    choice: &Choice,
) -> Result<Found, Failure> {
    if let Some(name) = plan.strip_prefix(SHIPPED) {
        return read_preset(find(name)?, seed, choice);
    }
    let path = folder.join(plan);
    let mut scaled = Vec::new();
    let folder = path.parent().unwrap_or(Path::new(""));
    match read_plan(&path, seed, &mut |draft| prepare(draft, Some(folder), choice, &mut scaled)) {
        Ok((text, draft, plan)) => Ok(Found { text, draft, plan, scaled }),
        Err(PlanFileError::Store(StoreError::Io { source, .. }))
            if source.kind() == std::io::ErrorKind::NotFound && is_name(plan) =>
        {
            read_preset(find(plan)?, seed, choice)
        }
        Err(error) => Err(error.into()),
    }
}

/// The plan that is written to standard input, up to its end or a zero byte: a program that starts
/// this one may keep its input open (`--stop-at-eof`).
fn read_input(seed: u64, choice: &Choice) -> Result<Found, Failure> {
    let wrong = |why: String| Failure::usage(format!("standard input: {why}"));
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(PLAN_BYTES_MAX).read_until(0, &mut bytes);
    read.map_err(|e| wrong(e.to_string()))?;
    bytes.pop_if(|last| *last == 0);
    let text = String::from_utf8(bytes).map_err(|e| wrong(e.to_string()))?;
    read_text(&text, seed, choice).map_err(|problems| {
        let path = "standard input".to_owned();
        PlanFileError::Wrong { path, text, problems }.into()
    })
}

/// The plan in a text that lies in no folder: its world is one that comes with the program, never
/// a file, which whoever wrote it may not be allowed to read.
fn read_text(text: &str, seed: u64, choice: &Choice) -> Result<Found, Vec<PlanProblem>> {
    let mut scaled = Vec::new();
    let mut prepare = |draft: &mut Draft| prepare(draft, None, choice, &mut scaled);
    let (draft, plan) = parse_plan(text, seed, &mut prepare)?;
    Ok(Found { text: text.to_owned(), draft, plan, scaled })
}

/// A plan that comes with the program, checked.
///
/// # Errors
/// If it cannot be had as it was chosen; as it is, a test rules that out.
pub fn read_preset(preset: &Preset, seed: u64, choice: &Choice) -> Result<Found, Failure> {
    read_text(preset.text, seed, choice).map_err(|problems| {
        let texts: Vec<String> = problems.into_iter().map(|p| p.what).collect();
        Failure::usage(format!("plan {}: {}", preset.name, texts.join("; ")))
    })
}

/// Puts the plan in its place and makes it as small as was asked for.
fn prepare(
    draft: &mut Draft,
    folder: Option<&Path>,
    choice: &Choice,
    scaled: &mut Vec<String>,
) -> Result<(), Problem> {
    let problem = |key: &str, what| Problem { key: key.to_owned(), what, help: None };
    let (smaller, said) = choice.scale.apply(draft).map_err(|what| problem("small", what))?;
    (*draft, *scaled) = (smaller, said);
    match &choice.place {
        PlaceChoice::Server => {
            draft.lab = None;
            // A host that is named stands for all that the plan says of one; from where data go is
            // another matter.
            let bind = std::mem::take(&mut draft.hosts.bind);
            draft.hosts = Hosts { bind, ..Hosts::default() };
        }
        PlaceChoice::World(world) => {
            draft.lab = Some(Lab { made: Some(world.clone()), ..Lab::default() });
            // In place of the hosts that the plan names.
            draft.hosts = Hosts::default();
        }
        PlaceChoice::OfPlan => {
            let named = draft.lab.as_mut().and_then(|lab| Some((lab.world.clone()?, lab)));
            if let Some((name, lab)) = named {
                let found = match folder {
                    Some(folder) => worlds::read_beside(folder, &name),
                    None => worlds::named(&name),
                };
                let wrong = |failure: Failure| problem("lab.world", failure.what().to_owned());
                lab.made = Some(found.map_err(wrong)?.1);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::arm::PerArm;

    fn preset(name: &str, choice: &Choice) -> Found {
        read_preset(find(name).unwrap(), 7, choice).unwrap_or_else(|f| panic!("{name}: {f:?}"))
    }

    #[test]
    fn a_host_that_is_named_stands_in_for_that_of_the_plan() {
        let text = "v6gap = 1\n[hosts]\nserver = \"a\"\nv4 = \"192.0.2.7\"\nv6 = \"fd12::7\"\n\
                    bind = [\"192.0.2.1\"]\n[[measure]]\nmetric = \"rtt\"\n";
        let hosts = |place| {
            let choice = Choice { place, ..Choice::default() };
            read_text(text, 7, &choice).unwrap().draft.hosts
        };
        let of_plan = hosts(PlaceChoice::OfPlan);
        assert_eq!(of_plan.v4.as_deref(), Some("192.0.2.7"));
        let bind = of_plan.bind.clone();
        assert_eq!(hosts(PlaceChoice::Server), Hosts { bind, ..Hosts::default() });
    }

    #[test]
    fn every_plan_that_comes_with_the_program_is_right() {
        for preset in &PRESETS {
            let name = preset.name;
            let found = self::preset(name, &Choice::default());
            assert!(found.draft.name.is_some() && found.draft.description.is_some(), "{name}");
            assert!(!found.plan.cells.is_empty());
            // A study's plan runs anywhere, in its own network and at every scale.
            let Some(reference) = &found.plan.reference else { continue };
            assert!(name.starts_with(reference.split('/').next().unwrap()), "{name}: {reference}");
            assert!(found.plan.world.is_some() && found.plan.design.summary.is_some(), "{name}");
            for scale in [Scale::Paper, Scale::Small, Scale::Share(0.01)] {
                for place in [PlaceChoice::OfPlan, PlaceChoice::Server] {
                    let scaled = self::preset(name, &Choice { scale, place });
                    assert_eq!(scaled.scaled.is_empty(), scale == Scale::Paper, "{name}");
                    assert!(scaled.plan.cells.len() <= found.plan.cells.len(), "{name}");
                }
            }
        }
    }

    #[test]
    fn the_first_look_is_the_same_written_and_typed() {
        let written = preset("first-look", &Choice::default()).plan;
        assert_eq!(written, v6gap_core::plan::preset::first_look(PerArm::FAMILIES, None, 7));
    }

    #[test]
    fn the_null_plan_compares_a_family_with_itself() {
        assert!(preset("null", &Choice::default()).plan.design.arms.is_null());
    }

    #[test]
    fn a_server_takes_the_place_of_a_lab() {
        let choice = Choice { place: PlaceChoice::Server, ..Choice::default() };
        assert!(preset("goyal-ping", &choice).plan.world.is_none());
        let inside =
            preset("goyal-router-to-router", &Choice::default()).plan.world.clone().unwrap();
        let names = [inside.client, inside.server].map(|node| inside.nodes[node].name.clone());
        assert_eq!(names, ["router1", "router3"]);
    }

    #[test]
    fn a_name_that_is_nearly_right_is_recognised() {
        let text = find("size").unwrap_err().render(&Default::default());
        assert!(text.contains("\"sizes\" was meant"), "{text}");
    }
}
