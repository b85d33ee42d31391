//! What this host provides of what worlds may ask for beyond plain links, found out by trying.
//! Never a version number decides: kernels are built in too many ways.

use crate::LabOptions;
use crate::emulated;
use crate::netlink::{Delayed, Netlink};
use crate::tunnel::{self, translate};
use v6gap_core::tunnel::TunnelKind;
use v6gap_core::world::{LinkModel, World};
use v6gap_sys::Unavailable;

/// Number of the loopback interface, the first of every network namespace.
const LOOPBACK_INDEX: u32 = 1;

/// Something that a host may provide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provided {
    /// Name of what is provided; that of a kind of tunnel or of a link model as in a world.
    pub name: &'static str,
    /// Description in a few words.
    pub what: &'static str,
    /// Whether it is there, or why not and how to get it.
    pub found: Result<(), Unavailable>,
}

/// Everything, in the order in which it is shown. To be asked where labs can be built; where they
/// cannot, `refusal` says why, which holds for all that programs alone do not decide.
pub fn list(refusal: Option<&str>) -> Vec<Provided> {
    let tried = |name, what, probe: &dyn Fn() -> Result<(), Unavailable>| {
        let found = match refusal {
            None => probe(),
            Some(why) => {
                let because = needs_programs(name).err().unwrap_or_else(|| why.to_owned());
                Err(Unavailable::new(name, because))
            }
        };
        Provided { name, what, found }
    };
    let tunnels =
        TunnelKind::ALL.map(|kind| tried(kind.name(), kind.what(), &|| tunnel::available(kind)));
    let mut all = tunnels.to_vec();
    all.push(tried(TRANSLATION, "NAT64 and 464XLAT (RFC 6146, RFC 6877)", &translate::available));
    let of_default = || emulated::available(LabOptions::default().kernel_folder());
    all.push(tried(EMULATION, "hosts that are other systems, by QEMU", &of_default));
    all.push(tried("netem", "the link model of the kernel's sch_netem", &netem));
    all
}

/// Name of translation between the families.
const TRANSLATION: &str = "translation";
/// Name of systems with a kernel of their own.
const EMULATION: &str = "emulation";

/// Whether the programs of a kind are installed.
fn needs_programs(name: &str) -> Result<(), String> {
    match name {
        TRANSLATION => translate::program_is_there(),
        EMULATION => {
            let folder = LabOptions::default();
            emulated::available(folder.kernel_folder()).map_err(|missing| missing.because)
        }
        _ if name == TunnelKind::WireGuard.name() => tunnel::wireguard_is_there(),
        _ if name == TunnelKind::Esp.name() => tunnel::esp_is_there(),
        _ => Ok(()),
    }
}

/// Whether this host has all that a world asks for. To be asked where labs can be built.
///
/// # Errors
/// With the reason, for the first that it lacks.
pub fn needed(world: &World, options: &LabOptions) -> Result<(), Unavailable> {
    if world.nodes.iter().any(|node| node.emulated) {
        emulated::available(options.kernel_folder())?;
    }
    if world.model == LinkModel::Netem {
        netem()?;
    }
    if world.translation.is_some() {
        translate::available()?;
    }
    world.tunnels.iter().try_for_each(|laid| tunnel::available(laid.tunnel.kind))
}

/// Whether links can be of the model `netem`. To be asked where labs can be built.
///
/// # Errors
/// With the reason and what to use instead, if they cannot.
pub fn netem() -> Result<(), Unavailable> {
    let add = || {
        let nothing = Delayed { limit_packets: 1000, ..Delayed::default() };
        let made = Netlink::new().add_netem_root(LOOPBACK_INDEX, &nothing);
        made.map_err(|_| "this kernel has no sch_netem".to_owned())
    };
    tunnel::in_scratch(add).map_err(|why| {
        let help = "`sudo modprobe sch_netem` loads it where it is a module; without it \
                    --model wire does the same";
        Unavailable::new("netem", format!("{why}: {help}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_no_lab_can_be_built_that_is_the_reason() {
        let all = list(Some("it is forbidden here"));
        assert!(all.iter().all(|provided| provided.found.is_err()));
        let of = |name: &str| all.iter().find(|p| p.name == name).unwrap().found.clone();
        assert_eq!(of("gre").unwrap_err().because, "it is forbidden here");
    }
}
