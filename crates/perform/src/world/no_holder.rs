//! Systems without labs: nothing to hold.

use super::NotBuilt;
use super::absent::BECAUSE;
use std::path::Path;
use std::process::Command;
use v6gap_core::world::World;

fn refused<T>() -> Result<T, String> {
    Err(BECAUSE.to_owned())
}

/// Always refused.
pub fn list() -> Result<Vec<String>, String> {
    refused()
}

/// Always refused.
pub fn status(_: &str) -> Result<String, String> {
    refused()
}

/// Always refused.
pub fn down(_: &str) -> Result<(), String> {
    refused()
}

/// Always refused.
pub fn join(_: &str, _: &str) -> Result<(), String> {
    refused()
}

/// Always refused.
pub fn hold(_: &str, _: &World, _: Option<&Path>, _: impl FnOnce()) -> Result<(), NotBuilt> {
    Err(NotBuilt { why: BECAUSE.to_owned(), console: None })
}

/// Nothing to keep away.
pub fn detach(_: &mut Command) {}

/// Always refused.
pub fn become_program(_: &str, _: &[String]) -> std::io::Error {
    std::io::Error::other(BECAUSE)
}
