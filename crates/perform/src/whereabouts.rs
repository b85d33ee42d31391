//! One address is enough: where a target is known at one family's address alone, its server is
//! asked for one of the other.

use crate::target::{Asked, Target, Unfit};
use crate::trouble::Trouble;
use v6gap_core::family::{Family, PerFamily};
use v6gap_engine::control::{ClientOptions, ConnectError, Connection, Unlocated};

/// `target` with its address of the family that it lacks, which the server of `connection` told and
/// which proved to lead to it, and what is to be noted of that.
///
/// # Errors
/// If the server tells none that does, or the session is lost.
pub(crate) fn complete(
    target: &Target,
    lacking: Family,
    connection: &Connection,
    options: &ClientOptions,
) -> Result<(Target, String), Trouble> {
    let wanted = *target.wanted.get(lacking);
    let (name, found) = (target.name.clone(), connection.address().ip());
    match connection.locate(lacking, wanted, options) {
        Ok(address) => {
            let mut target = target.clone();
            *target.addresses.get_mut(lacking) = Some(address);
            let address = address.ip();
            let note = format!(
                "the {lacking} address {address} was told by the server at {found} and proved to \
                 lead to the same server"
            );
            Ok((target, note))
        }
        Err(Unlocated::Nowhere(passed_over)) => {
            let asked = Some(Box::new(Asked { passed_over, wanted }));
            Err(Unfit::NoAddress { name, missing: lacking, found, asked }.into())
        }
        Err(Unlocated::Session(problem)) => {
            let (mut problems, family) = (Box::new(PerFamily::default()), problem.family);
            *problems.get_mut(family) = Some(*problem);
            Err(Trouble::Connect { target: name, error: ConnectError { problems } })
        }
    }
}
