//! What comes with the program by name: plans and worlds, each a file as it is.

use crate::failure::Failure;
use v6gap_core::plan::check::nearest;

/// What stands before a name that is no file, but that of a plan or world that comes with the
/// program.
pub const SHIPPED: &str = "preset:";

/// A plan or world that comes with the program.
#[derive(Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// Text of the file.
    pub text: &'static str,
}

/// The files of those names in a folder at the root of the workspace.
macro_rules! shipped {
    ($folder:literal: $($name:literal),* $(,)?) => {
        [$($crate::shipped::Preset {
            name: $name,
            text: include_str!(concat!("../../../", $folder, "/", $name, ".toml")),
        }),*]
    };
}
pub(crate) use shipped;

/// The one of that name.
///
/// # Errors
/// If there is none: `failure`, with the nearest.
pub fn named_among(
    all: &'static [Preset],
    name: &str,
    failure: Failure,
) -> Result<&'static Preset, Failure> {
    all.iter().find(|preset| preset.name == name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|preset| preset.name).collect();
        match nearest(name, &names) {
            Some(near) => failure.likely(format!("\"{near}\" was meant.")),
            None => failure,
        }
    })
}

/// Whether this can be a name and not a file.
pub fn is_name(text: &str) -> bool {
    !text.contains(['/', '\\', '.'])
}
