//! Where a plan is performed: between hosts, in a lab, or on loopback where there can be no lab.

use crate::against::Against;
use crate::placement::Placement;
use crate::stranger::Found;
use crate::target::Target;
use crate::trouble::{NoLab, Trouble};
use crate::world::{self, RealWorld};
use std::path::Path;
use v6gap_core::plan::Plan;

/// Name of the far end of a run over loopback.
pub const LOOPBACK: &str = "loopback";

/// Where a plan is performed.
pub enum Place {
    /// From here to a server elsewhere.
    Host(Target),
    /// Between client and server of a lab: see [`made`](Place::made) and [`held`](Place::held).
    Lab(Box<RealWorld>),
    /// From here to a host that does not run this program.
    Stranger(Box<Found>),
    /// From here to an unmodified server of another tool.
    Against(Box<Against>),
    /// Over loopback.
    Loopback {
        /// Why not in a lab.
        why: String,
    },
}

impl Place {
    /// Whether `plan` may be performed there: what floods the path again and again belongs on
    /// networks that were made for testing (RFC 6815).
    ///
    /// # Errors
    /// If it may not.
    pub fn bears(&self, plan: &Plan) -> Result<(), Trouble> {
        let Place::Host(target) = self else { return Ok(()) };
        let mut addresses = [target.addresses.v4, target.addresses.v6].into_iter().flatten();
        match plan.out_of_place() {
            Some(cell) if !addresses.all(|address| address.ip().is_loopback()) => {
                Err(Trouble::OutOfPlace(cell.id.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Makes the lab that `plan` asks for; `kernel` is the folder with the kernel of its emulated
    /// system. The process must have one thread still.
    ///
    /// # Errors
    /// If the system gives no namespaces, this host lacks what the world needs, or it does not come
    /// up.
    pub fn made(plan: &Plan, kernel: Option<&Path>) -> Result<RealWorld, NoLab> {
        let wanted = plan.world.as_ref().ok_or(NoLab::NotAsked)?;
        world::enter().map_err(NoLab::Refused)?;
        world::provides(wanted, kernel).map_err(NoLab::NotProvided)?;
        let link = Placement::choose().link;
        RealWorld::build(wanted, link, plan.seed, kernel).map_err(NoLab::NotBuilt)
    }

    /// Joins the lab called `name` that another process holds, between the nodes that the plan's
    /// world names. The process must have one thread still.
    ///
    /// # Errors
    /// If it cannot be joined, or senders are not held to a rate there that the plan needs held.
    pub fn held(plan: &Plan, name: &str) -> Result<RealWorld, NoLab> {
        let wanted = plan.world.as_ref().ok_or(NoLab::NotAsked)?;
        let joined = RealWorld::join(name).map_err(NoLab::NotJoined)?;
        if let Some((node, cell)) = plan.unpaced_in(joined.world()) {
            let node = joined.world().nodes[node].name.clone();
            return Err(NoLab::NotPaced { lab: name.to_owned(), node, cell: cell.id.clone() });
        }
        Ok(joined.measured(wanted.client, wanted.server))
    }
}
