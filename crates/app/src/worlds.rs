//! Worlds that come with the program: the files in `worlds/`, as they are, and worlds by name or
//! file.

use crate::failure::{Failure, Outcome};
use crate::shipped::{Preset, SHIPPED, is_name, named_among, shipped};
use std::path::Path;
use v6gap_core::world::World;
use v6gap_core::world::draft::Draft;
use v6gap_store::{PlanFileError, StoreError, parse_world, read_world};

/// All of them.
pub const WORLDS: [Preset; 26] = shipped!["worlds":
    "cable",
    "cable-10",
    "switch",
    "one-router",
    "two-routers",
    "three-routers",
    "dumb-bell",
    "slower-v6",
    "farther-v6",
    "lossy-v6",
    "troubled",
    "black-hole",
    "small-mtu",
    "asymmetric",
    "priority",
    "6in4",
    "4in6",
    "gre",
    "vxlan",
    "segment-routing",
    "wireguard",
    "esp",
    "nat64",
    "464xlat",
    "two-systems",
    "bare",
];

/// The world of that name.
///
/// # Errors
/// If there is none, with the nearest.
pub fn find(name: &str) -> Result<&'static Preset, Failure> {
    let failure = Failure::new("E511", Outcome::Usage, format!("no world is called \"{name}\""));
    named_among(&WORLDS, name, failure).map_err(|failure| {
        failure.run("v6gap lab list --worlds", "worlds that come with the program")
    })
}

/// The world in a file, or the one of that name that comes with the program. A file wins, unless
/// [`SHIPPED`] stands before the name.
///
/// # Errors
/// If there is neither, or the file is not a world.
pub fn read(world: &str) -> Result<(Draft, World), Failure> {
    read_beside(Path::new(""), world)
}

/// [`read`], with the file in `folder` unless its path says otherwise.
///
/// # Errors
/// As [`read`].
pub fn read_beside(folder: &Path, world: &str) -> Result<(Draft, World), Failure> {
    if let Some(name) = world.strip_prefix(SHIPPED) {
        return named(name);
    }
    match read_world(&folder.join(world)) {
        Ok(found) => Ok(found),
        Err(PlanFileError::Store(StoreError::Io { source, .. }))
            if source.kind() == std::io::ErrorKind::NotFound && is_name(world) =>
        {
            named(world)
        }
        Err(error) => Err(error.into()),
    }
}

/// The world of that name that comes with the program.
///
/// # Errors
/// As [`find`].
pub fn named(name: &str) -> Result<(Draft, World), Failure> {
    read_preset(find(name)?)
}

/// Name of the world that comes with the program and is this one, whatever nodes are measured
/// between, with the places of its own client and server.
pub fn name_of(world: &World) -> Option<(&'static str, (usize, usize))> {
    WORLDS.iter().find_map(|preset| {
        let (_, known) = read_preset(preset).ok()?;
        let (client, server) = (known.client, known.server);
        let same = known.measured(world.client, world.server) == *world;
        same.then_some((preset.name, (client, server)))
    })
}

/// A world that comes with the program, checked.
///
/// # Errors
/// If it is not right, which a test rules out.
pub fn read_preset(preset: &Preset) -> Result<(Draft, World), Failure> {
    parse_world(preset.text).map_err(|problems| {
        let texts: Vec<String> = problems.into_iter().map(|problem| problem.what).collect();
        Failure::unexpected(format!("world {}: {}", preset.name, texts.join("; ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::plan::preset;

    #[test]
    fn every_world_that_comes_with_the_program_is_right() {
        for preset in &WORLDS {
            let (draft, world) = read_preset(preset).unwrap_or_else(|f| panic!("{f:?}"));
            assert!(draft.description.is_some(), "{}", preset.name);
            assert!(preset.text.starts_with("# "), "{} says nothing of itself", preset.name);
            assert!(!world.path().is_empty());
        }
    }

    #[test]
    fn every_file_in_the_folder_is_a_world_that_comes_with_the_program() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../worlds");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        let mut names = WORLDS.map(|preset| preset.name.to_owned()).to_vec();
        files.sort();
        names.sort();
        assert_eq!(files, names);
    }

    #[test]
    fn the_demo_s_network_is_among_them() {
        let (_, world) = read_preset(find("one-router").unwrap()).unwrap();
        assert_eq!(world, preset::demo_world());
    }

    #[test]
    fn a_name_that_is_nearly_right_is_recognised() {
        let text = find("dumbbell").unwrap_err().render(&Default::default());
        assert!(text.contains("\"dumb-bell\" was meant"), "{text}");
    }
}
