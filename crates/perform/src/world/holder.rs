//! Labs that a process of their own holds, and the system calls that belong to them.

use super::NotBuilt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use v6gap_core::world::World;

/// Names of this user's labs.
pub fn list() -> Result<Vec<String>, String> {
    v6gap_lab::holder::list().map_err(|e| e.to_string())
}

/// What a lab is and how it is doing, as JSON.
pub fn status(name: &str) -> Result<String, String> {
    v6gap_lab::holder::status(name).map_err(|e| e.to_string())
}

/// Takes a lab down.
pub fn down(name: &str) -> Result<(), String> {
    v6gap_lab::holder::down(name).map_err(|e| e.to_string())
}

/// Moves this process to a node of a lab.
pub fn join(name: &str, node: &str) -> Result<(), String> {
    super::RealWorld::join(name)?.go_to(node)
}

/// Holds a lab until it is taken down.
pub fn hold(
    name: &str,
    world: &World,
    kernel: Option<&Path>,
    ready: impl FnOnce(),
) -> Result<(), NotBuilt> {
    let allowed = v6gap_sys::cpu::allowed().unwrap_or_default();
    let wire_cpu = allowed.last().copied().filter(|_| allowed.len() > 1);
    let options = super::real::options(wire_cpu, 0, kernel);
    Ok(v6gap_lab::holder::hold(name, world, &options, |_| ready())?)
}

/// Keeps a terminal's Ctrl-C away from the process.
pub fn detach(command: &mut Command) {
    command.process_group(0);
}

/// Puts a program in the place of this process; returns only if that fails.
#[expect(clippy::disallowed_methods, reason = "this is what `lab exec` is for")]
pub fn become_program(program: &str, arguments: &[String]) -> std::io::Error {
    Command::new(program).args(arguments).exec()
}
