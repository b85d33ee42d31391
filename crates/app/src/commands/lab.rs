//! `lab`: networks on this computer that other programs can use.

use crate::args::{LabArgs, LabCommand};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session::world::{self, holder};
use crate::settings::Context;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use v6gap_core::world::World;

/// Does what is asked for.
///
/// # Errors
/// If there is no such lab, or the system refuses one.
pub fn execute(args: &LabArgs, context: &Context) -> Result<Outcome, Failure> {
    let say = |text: &str| output::to_stdout(&output::fit(&context.output.results, text));
    match &args.command {
        LabCommand::Up { name, foreground: true, world } => hold(name, &world.world(), &say)?,
        LabCommand::Up { name, foreground: false, .. } => {
            start(name)?;
            say(&format!("lab {name} is up:  v6gap lab exec --name {name} NODE -- PROGRAM"));
        }
        LabCommand::Exec { name, node, program } => return exec(name, node, program),
        LabCommand::Status { name } => say(&holder::status(name).map_err(failure)?),
        LabCommand::List => {
            let names = holder::list().map_err(failure)?;
            say(&if names.is_empty() { "no lab is up".to_owned() } else { names.join("\n") });
        }
        LabCommand::Down { name } => {
            holder::down(name).map_err(failure)?;
            say(&format!("lab {name} is gone"));
        }
    }
    Ok(Outcome::Done)
}

fn failure(why: String) -> Failure {
    Failure::new("E302", Outcome::Usage, why).run("v6gap lab list", "labs that are up")
}

fn hold(name: &str, world: &World, say: &dyn Fn(&str)) -> Result<(), Failure> {
    allowed()?;
    holder::hold(name, world, || say("ready")).map_err(failure)
}

fn allowed() -> Result<(), Failure> {
    world::refusal().map_or(Ok(()), |why| Err(Failure::namespaces(&why)))
}

/// Starts this program again to hold the lab, and waits until the lab is up or has failed.
#[expect(clippy::disallowed_methods, reason = "it is this same program that is started")]
fn start(name: &str) -> Result<(), Failure> {
    allowed()?;
    let trouble = |e: std::io::Error| Failure::unexpected(format!("cannot start a process: {e}"));
    let program = std::env::current_exe().map_err(trouble)?;
    let mut command = Command::new(program);
    command.args(std::env::args_os().skip(1)).arg("--foreground");
    // Nothing of this process may stay open there: who waits for its output waits for its end.
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    holder::detach(&mut command);
    let mut child = command.spawn().map_err(trouble)?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut line).map_err(trouble)?;
    }
    if line.trim() == "ready" {
        return Ok(());
    }
    let told = child.wait_with_output().map_err(trouble)?;
    let said = String::from_utf8_lossy(&told.stderr);
    Err(failure(format!("lab {name} is not up")).verbatim(said.trim_end()))
}

fn exec(name: &str, node: &str, program: &[String]) -> Result<Outcome, Failure> {
    holder::join(name, node).map_err(failure)?;
    let Some((program, arguments)) = program.split_first() else {
        return Err(Failure::usage("no program was named"));
    };
    let error = holder::become_program(program, arguments);
    Err(Failure::usage(format!("cannot run {program}: {error}")))
}
