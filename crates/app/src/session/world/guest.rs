//! Inside an emulated system of a lab, where this program is the first one.

use crate::output;
use crate::session::facts::this_host;
use crate::session::measure::tool;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::host::names;
use v6gap_core::record::Host;
use v6gap_core::wire;
use v6gap_engine::server::{Server, ServerOptions};
use v6gap_lab::emulated;

/// What is said of the times of such a system.
const EMULATION: &str = "QEMU (TCG): times include the emulation";

/// What this process does if it is the first one of an emulated system; it is told so by its first
/// argument. `None` in every other process.
pub fn first_process() -> Option<ExitCode> {
    let told = std::env::args_os().nth(1).is_some_and(|word| word == emulated::VERB);
    if !told || std::process::id() != 1 {
        return None;
    }
    if let Err(why) = serve() {
        // The kernel ends with its first process, and the lab shows what was said last.
        output::to_stderr(&why);
    }
    Some(ExitCode::FAILURE)
}

/// Sets the system up and serves for as long as it runs.
fn serve() -> Result<(), String> {
    let guest = emulated::start().map_err(|e| e.to_string())?;
    let mut host = this_host();
    host.facts.insert(names::EMULATION.to_owned(), EMULATION.to_owned());
    let name = guest.world.nodes[guest.node].name.clone();
    let mut options = ServerOptions::new(tool(), Host { name, ..host });
    let any = |family: Family| Some(SocketAddr::new(family.unspecified(), wire::PORT));
    let has = guest.world.families;
    options.addresses = PerFamily::from_fn(|family| any(family).filter(|_| *has.get(family)));
    let server = Server::bind(&options).map_err(|e| e.to_string())?;
    output::to_stdout(&guest.ready());
    server.run(&AtomicBool::new(false), &mut |_| ()).map_err(|e| e.to_string())
}
