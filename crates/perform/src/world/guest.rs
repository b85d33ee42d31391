//! Inside an emulated system of a lab, where this program is the first one.

use crate::facts::this_host;
use crate::tool;
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::host::names;
use v6gap_core::record::Host;
use v6gap_core::wire;
use v6gap_engine::server::{Server, ServerOptions};
use v6gap_lab::emulated;

/// What is said of the times of such a system.
const EMULATION: &str = "QEMU (TCG): times include the emulation";

/// Whether this process is the first one of an emulated system; `word` is its first argument, which
/// tells it so.
pub fn is_first(word: Option<&OsStr>) -> bool {
    word.is_some_and(|word| word == emulated::VERB) && std::process::id() == 1
}

/// Sets the system up and serves for as long as it runs; `ready` is given the line by which the lab
/// knows that it does.
///
/// # Errors
/// In words.
pub fn serve(ready: impl FnOnce(&str)) -> Result<(), String> {
    let guest = emulated::start().map_err(|e| e.to_string())?;
    let mut host = this_host();
    host.facts.insert(names::EMULATION.to_owned(), EMULATION.to_owned());
    let name = guest.world.nodes[guest.node].name.clone();
    let mut options = ServerOptions::new(tool(), Host { name, ..host });
    let any = |family: Family| Some(SocketAddr::new(family.unspecified(), wire::PORT));
    let has = guest.world.families;
    options.addresses = PerFamily::from_fn(|family| any(family).filter(|_| *has.get(family)));
    let server = Server::bind(&options).map_err(|e| e.to_string())?;
    ready(&guest.ready());
    server.run(&AtomicBool::new(false), &mut |_| ()).map_err(|e| e.to_string())
}
