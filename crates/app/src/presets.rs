//! Plans that come with the program: the files in `plans/`, as they are, and plans by name or file.

use crate::failure::{Failure, Outcome};
use crate::worlds;
use std::path::Path;
use v6gap_core::plan::Plan;
use v6gap_core::plan::check::{self, nearest};
use v6gap_core::plan::draft::{Draft, Lab};
use v6gap_core::world::World;
use v6gap_store::{PlanFileError, StoreError, read_plan};

/// A plan that comes with the program.
#[derive(Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub text: &'static str,
}

/// All of them.
pub const PRESETS: [Preset; 3] = [
    Preset { name: "first-look", text: include_str!("../../../plans/first-look.toml") },
    Preset { name: "null", text: include_str!("../../../plans/null.toml") },
    Preset { name: "sizes", text: include_str!("../../../plans/sizes.toml") },
];

/// The preset of that name.
///
/// # Errors
/// If there is none, with the nearest.
pub fn find(name: &str) -> Result<&'static Preset, Failure> {
    PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
        let failure = Failure::new("E510", Outcome::Usage, format!("no plan is called \"{name}\""));
        let names = PRESETS.map(|preset| preset.name);
        match nearest(name, &names) {
            Some(near) => failure.likely(format!("\"{near}\" was meant.")),
            None => failure,
        }
        .run("v6gap plan list", "plans that come with the program")
    })
}

/// The plan in a file, or the one of that name that comes with the program. A file wins.
///
/// # Errors
/// If there is neither, or the file is not a plan.
pub fn read(plan: &str, seed: u64) -> Result<(Draft, Plan), Failure> {
    read_in(plan, seed, None)
}

/// The same in the lab of a world, in place of the plan's own.
///
/// # Errors
/// As [`read`].
pub fn read_in(plan: &str, seed: u64, world: Option<World>) -> Result<(Draft, Plan), Failure> {
    let path = Path::new(plan);
    let lab = |lab: &mut Option<Lab>| match &world {
        Some(world) => {
            *lab = Some(Lab { made: Some(world.clone()), ..Lab::default() });
            Ok(())
        }
        None => lab.as_mut().map_or(Ok(()), |lab| with_world(lab, path)),
    };
    match read_plan(path, seed, &lab) {
        Ok(found) => Ok(found),
        Err(PlanFileError::Store(StoreError::Io { source, .. }))
            if source.kind() == std::io::ErrorKind::NotFound
                && !plan.contains(['/', '\\', '.']) =>
        {
            let (mut draft, plan) = read_preset(find(plan)?, seed)?;
            if world.is_none() {
                return Ok((draft, plan));
            }
            draft.lab = Some(Lab { made: world, ..Lab::default() });
            let plan = check::check(&draft, seed).map_err(|problems| {
                let texts = problems.into_iter().map(|p| format!("{}: {}", p.key, p.what));
                Failure::usage(texts.collect::<Vec<_>>().join("; "))
            })?;
            Ok((draft, plan))
        }
        Err(error) => Err(error.into()),
    }
}

/// Reads the world that a lab names, beside the plan at `path`.
fn with_world(lab: &mut Lab, path: &Path) -> Result<(), String> {
    let Some(name) = &lab.world else { return Ok(()) };
    let found = worlds::read_beside(path.parent().unwrap_or(Path::new("")), name);
    lab.made = Some(found.map_err(|failure| failure.what().to_owned())?.1);
    Ok(())
}

/// A plan that comes with the program, checked.
///
/// # Errors
/// If it is not right, which a test rules out.
pub fn read_preset(preset: &Preset, seed: u64) -> Result<(Draft, Plan), Failure> {
    let wrong = |why: String| Failure::unexpected(format!("plan {}: {why}", preset.name));
    let draft: Draft = toml::from_str(preset.text).map_err(|e| wrong(e.to_string()))?;
    let plan = check::check(&draft, seed).map_err(|problems| {
        let texts: Vec<String> =
            problems.into_iter().map(|p| format!("{}: {}", p.key, p.what)).collect();
        wrong(texts.join("; "))
    })?;
    Ok((draft, plan))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_that_comes_with_the_program_is_right() {
        for preset in &PRESETS {
            let (draft, plan) = read_preset(preset, 7).unwrap_or_else(|f| panic!("{f:?}"));
            assert!(draft.name.is_some() && draft.description.is_some(), "{}", preset.name);
            assert!(!plan.cells.is_empty());
        }
    }

    #[test]
    fn the_null_plan_compares_a_family_with_itself() {
        let (_, plan) = read_preset(find("null").unwrap(), 7).unwrap();
        assert!(plan.design.arms.is_null());
    }

    #[test]
    fn a_name_that_is_nearly_right_is_recognised() {
        let text = find("size").unwrap_err().render(&Default::default());
        assert!(text.contains("\"sizes\" was meant"), "{text}");
    }
}
