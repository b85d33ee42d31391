//! `lab`: networks on this computer that other programs can use.

mod calibrate;
mod list;
mod status;

use crate::args::{LabArgs, LabCommand};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use crate::settings::Context;
use crate::worlds;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use v6gap_core::world::World;
use v6gap_perform::turn::Turn;
use v6gap_perform::world::{self, NotBuilt, holder};
use v6gap_report::{plan, topology};
use v6gap_store::Store;

/// Does what is asked for.
///
/// # Errors
/// If there is no such lab or world, or the system refuses one.
pub fn execute(args: &LabArgs, context: &Context) -> Result<Outcome, Failure> {
    let style = &context.output.results;
    let say = |text: &str| output::to_stdout(&output::fit(style, text));
    match &args.command {
        LabCommand::Check { world } => {
            let (draft, world) = worlds::read(world)?;
            let first = draft.description.into_iter();
            let lines: Vec<String> = first.chain(plan::lab(&world)).collect();
            let lines = lines.iter().map(|line| output::wrap(line, style.width, "  "));
            say(&lines.collect::<Vec<_>>().join("\n"));
        }
        LabCommand::Show { world } => say(worlds::find(world)?.text),
        LabCommand::Up { file, name, kernel, foreground, world } => {
            let world = match file {
                Some(file) => worlds::read(file)?.1,
                None => world.world(),
            };
            if *foreground {
                hold(name, &world, kernel.as_deref(), &say)?;
            } else {
                start(name)?;
                say(&format!("lab {name} is up:  v6gap lab exec --name {name} NODE -- PROGRAM"));
            }
        }
        LabCommand::Exec { name, node, program } => return exec(name, node, program),
        LabCommand::Shell { name, node } => return shell(name, node.as_deref()),
        LabCommand::Status { name, json: true } => {
            say(&holder::status(name).map_err(Failure::of_lab)?);
        }
        LabCommand::Status { name, json: false } => {
            say(&status::Status::of(name)?.text());
        }
        LabCommand::Graph { world, name, output } => {
            let world = match world {
                Some(world) => worlds::read(world)?.1,
                None => status::Status::of(name)?.world,
            };
            draw(&world, output.as_deref())?;
        }
        LabCommand::List { worlds, kinds, json } => {
            let text = list::text(*worlds, *kinds, *json)?;
            output::to_stdout(&if *json { text } else { output::fit(style, &text) });
        }
        LabCommand::Calibrate { rate, repeats, no_wait, json } => {
            let rates: Vec<u64> = rate.iter().filter_map(|rate| rate.0).collect();
            let turn = Turn::of_lab(&context.locks(), !no_wait)?;
            return session::in_turn_unstored(turn, |_turn| {
                calibrate::execute(&rates, *repeats, *json, context)
            });
        }
        LabCommand::Down { name } => {
            holder::down(name).map_err(Failure::of_lab)?;
            say(&format!("lab {name} is gone"));
        }
    }
    Ok(Outcome::Done)
}

/// Writes the drawing as it is: an SVG file is no text for a terminal.
fn draw(world: &World, to: Option<&Path>) -> Result<(), Failure> {
    let drawing = topology::svg(world);
    match to.filter(|path| *path != Path::new("-")) {
        None => output::to_stdout(&drawing),
        Some(path) => Store::write_file(path, &drawing)?,
    }
    Ok(())
}

fn shell(name: &str, node: Option<&str>) -> Result<Outcome, Failure> {
    let node = match node {
        Some(node) => node.to_owned(),
        None => status::Status::of(name)?.client(),
    };
    let shell = std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned());
    exec(name, &node, &[shell])
}

fn hold(
    name: &str,
    world: &World,
    kernel: Option<&Path>,
    say: &dyn Fn(&str),
) -> Result<(), Failure> {
    allowed()?;
    holder::hold(name, world, kernel, || say("ready")).map_err(|error| match error {
        NotBuilt { why, console: None } => Failure::of_lab(why),
        system => system.into(),
    })
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
    Err(Failure::of_lab(format!("lab {name} is not up")).verbatim(said.trim_end()))
}

fn exec(name: &str, node: &str, program: &[String]) -> Result<Outcome, Failure> {
    holder::join(name, node).map_err(Failure::of_lab)?;
    let Some((program, arguments)) = program.split_first() else {
        return Err(Failure::usage("no program was named"));
    };
    let error = holder::become_program(program, arguments);
    Err(Failure::usage(format!("cannot run {program}: {error}")))
}
