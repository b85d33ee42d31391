//! Plans that come with the program: the files in `plans/`, as they are, and plans by name or file.

use crate::failure::{Failure, Outcome};
use std::path::Path;
use v6gap_core::plan::Plan;
use v6gap_core::plan::check::{self, nearest};
use v6gap_core::plan::draft::Draft;
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
    match read_plan(Path::new(plan), seed) {
        Ok(found) => Ok(found),
        Err(PlanFileError::Store(StoreError::Io { source, .. }))
            if source.kind() == std::io::ErrorKind::NotFound
                && !plan.contains(['/', '\\', '.']) =>
        {
            read_preset(find(plan)?, seed)
        }
        Err(error) => Err(error.into()),
    }
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
