//! Checks of the holder, played by other processes of this very program.

use crate::traffic::{Outcome, ensure};
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use v6gap_core::world::{LinkModel, World};
use v6gap_lab::{LabError, LabOptions, holder};

/// First arguments that make this program a holder or a guest instead of the checks.
const HOLD: &str = "--play-holder";
const JOIN: &str = "--play-guest";
/// An address that only the server of the lab can open a socket on.
const SERVER: &str = "10.46.2.2:0";

/// Plays the role that the arguments ask for; returns its exit code, or `None` for the checks.
pub fn play_role(arguments: &[String]) -> Option<i32> {
    let outcome = match arguments {
        [role, name] if role == HOLD => {
            let world = World::client_router_server(LinkModel::Wire, Some(100_000_000));
            holder::hold(name, &world, &LabOptions::default(), |_| println!("ready"))
        }
        [role, name, node] if role == JOIN => entered(name, node).map(|()| {
            println!(
                "{}",
                if UdpSocket::bind(SERVER).is_ok() { "at the server" } else { "elsewhere" }
            );
        }),
        _ => return None,
    };
    Some(outcome.map_or_else(
        |error| {
            println!("{error}");
            1
        },
        |()| 0,
    ))
}

fn entered(name: &str, node: &str) -> Result<(), LabError> {
    holder::lab(name)?.node(node)?.enter()
}

fn program(arguments: &[&str]) -> Outcome<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments);
    Ok(command)
}

/// A holder that is up.
fn start(name: &str) -> Outcome<Child> {
    let mut child = program(&[HOLD, name])?.stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    ensure(line == "ready\n", || format!("the holder says {line:?}"))?;
    Ok(child)
}

fn output(arguments: &[&str]) -> Outcome<String> {
    Ok(String::from_utf8(program(arguments)?.output()?.stdout)?)
}

pub fn up_status_join_down() -> Outcome<String> {
    let name = &format!("test-{}", std::process::id());
    let gone = |outcome: Result<String, LabError>| matches!(outcome, Err(LabError::NoLab(_)));
    ensure(gone(holder::status(name)), || "up before it was started".to_owned())?;
    let mut child = start(name)?;
    ensure(holder::list()?.contains(name), || "not listed".to_owned())?;
    let status = holder::status(name)?;
    for part in
        ["\"name\":\"router\"", "\"v6\":\"fd46:2::2\"", "\"p99_ns\"", "\"lab.model\":\"wire\""]
    {
        ensure(status.contains(part), || format!("{part} is not in {status}"))?;
    }
    let server = output(&[JOIN, name, "server"])?;
    let client = output(&[JOIN, name, "client"])?;
    ensure(server == "at the server\n" && client == "elsewhere\n", || server + &client)?;
    let nowhere = output(&[JOIN, name, "printer"])?;
    ensure(nowhere.contains("no node called `printer`"), || nowhere.clone())?;
    let second = output(&[HOLD, name])?;
    ensure(second.contains("is up already"), || second.clone())?;
    holder::down(name)?;
    ensure(gone(holder::status(name)), || "up after it was taken down".to_owned())?;
    ensure(child.wait()?.success(), || "the holder failed".to_owned())?;
    ensure(!holder::list()?.contains(name), || "still listed".to_owned())?;
    Ok(format!("status of {} bytes", status.len()))
}

pub fn nothing_left_after_kill() -> Outcome<String> {
    let name = &format!("test-{}", std::process::id());
    let mut child = start(name)?;
    child.kill()?;
    child.wait()?;
    ensure(!holder::list()?.contains(name), || "still listed".to_owned())?;
    // The name is free again.
    let mut again = start(name)?;
    holder::down(name)?;
    ensure(again.wait()?.success(), || "the second holder failed".to_owned())?;
    Ok("the name was free at once".to_owned())
}
