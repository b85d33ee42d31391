//! `fleet apply` and `fleet run`: have a mesh plan measured for good or once, with all plans that
//! it names.

use super::to_its_end;
use crate::args::{FleetApplyArgs, FleetRunArgs};
use crate::diag;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use std::collections::BTreeMap;
use std::path::Path;
use v6gap_core::fleet::mesh::Mesh;
use v6gap_fleet::coordinator::Applied;
use v6gap_fleet::operate;
use v6gap_store::{Store, parse_mesh};

/// Applies it, or takes it away.
///
/// # Errors
/// If it or a plan cannot be read, or the hub refuses.
pub fn execute(args: &FleetApplyArgs) -> Result<Outcome, Failure> {
    if args.remove {
        let (_, mesh) = read(&args.mesh)?;
        to_its_end(async |_| operate::take_away(&args.creds, &mesh.name).await)?;
        output::to_stdout(&format!("The mesh plan {} is measured no more.", mesh.name));
        return Ok(Outcome::Done);
    }
    let (mesh, applied) = with_plans(&args.mesh, false)?;
    to_its_end(async |_| operate::apply(&args.creds, &mesh.name, &applied).await)?;
    output::to_stdout(&format!("The mesh plan {} is applied.", mesh.name));
    Ok(Outcome::Done)
}

/// Has each path measured once.
///
/// # Errors
/// As [`execute`].
pub fn once(args: &FleetRunArgs) -> Result<Outcome, Failure> {
    let (mesh, applied) = with_plans(&args.mesh, true)?;
    let stop = session::stopper()?;
    let mut told = |done: usize, all: usize| {
        output::to_stdout(&format!("{done} of {all} measurements were made."));
    };
    let once = v6gap_fleet::block_on(&stop, async |stop| {
        operate::once(&args.creds, &mesh.name, &applied, &mut told, stop).await
    });
    let once = once.map_err(|error| Failure::unexpected(error.to_string()))??;
    for (work, why) in &once.missing {
        let why = why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let (from, to, plan, _) = work.key();
        output::to_stdout(&format!("Not measured: {from} to {to} ({plan}){why}"));
    }
    if let Some(why) = &once.left {
        output::to_stdout(&format!(
            "It may still be applied; `v6gap fleet apply {} --remove` ends that: {why}",
            args.mesh.display()
        ));
    }
    Ok(match (once.missing.is_empty() && once.left.is_none(), once.stopped) {
        (true, _) => Outcome::Done,
        (false, true) => Outcome::Interrupted,
        (false, false) => Outcome::Peer,
    })
}

/// A mesh plan and its text.
fn read(path: &Path) -> Result<(String, Mesh), Failure> {
    let text = Store::read_text(path)?;
    let mesh = parse_mesh(&text).map_err(|problems| {
        let (what, rest) = diag::problems(&path.display().to_string(), &text, &problems);
        Failure::new("E501", Outcome::Usage, what).verbatim(rest)
    })?;
    Ok((text, mesh))
}

/// The mesh plan with the texts of all plans that it names.
fn with_plans(file: &Path, afresh: bool) -> Result<(Mesh, Applied), Failure> {
    let (text, mesh) = read(file)?;
    let mut plans = BTreeMap::new();
    for (measure, found) in mesh.measures.iter().zip(super::mesh::plans(file, &mesh)?) {
        plans.insert(measure.plan.clone(), found.text);
    }
    Ok((mesh, Applied { v6gap: 1, mesh: text, plans, afresh }))
}
