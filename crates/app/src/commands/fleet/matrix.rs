//! `fleet matrix`: how all paths do.

use super::archive;
use crate::args::{FleetMatrixArgs, MatrixFormat};
use crate::commands::stored;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use crate::settings::Context;
use std::sync::atomic::Ordering;
use v6gap_core::fleet::mesh::Mesh;
use v6gap_core::fleet::names::HostName;
use v6gap_judge::matrix::{Asked, Matrix, Said};
use v6gap_perform::always::fleet::follow;
use v6gap_report::fleet::{matrix, matrix_json};
use v6gap_report::html::{Links, fleet_page, page_json};
use v6gap_report::json_escaped;
use v6gap_store::read_mesh_file;

/// What is older is stale where nothing says how often paths are measured, in ns.
const WITHIN_NS: u64 = 24 * 3600 * 1_000_000_000;

/// What a fleet without a mesh plan is called.
const NAME: &str = "fleet";

/// Shows the matrix.
///
/// # Errors
/// If runs or the mesh plan cannot be read, or the file cannot be written.
pub(super) fn execute(args: &FleetMatrixArgs, context: &Context) -> Result<Outcome, Failure> {
    if !args.follow {
        stored::write(&said(args, context)?, args.output.as_deref())?;
        return Ok(Outcome::Done);
    }
    let stop = session::interruptible()?;
    if args.stop_at_eof {
        session::stop_at_end_of_input(&stop);
    }
    let mut look = || -> Result<(), Failure> {
        output::to_stdout(&said(args, context)?);
        if output::is_lost() {
            stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    };
    follow::<Failure>(&archive::folder(&args.runs, context), args.runs.since, &stop, &mut look)?;
    Ok(Outcome::Done)
}

/// The matrix as it is to be written.
fn said(args: &FleetMatrixArgs, context: &Context) -> Result<String, Failure> {
    let mesh = args.mesh.as_deref().map(read_mesh_file).transpose()?;
    let now_unix_ns = archive::now_unix_ns(&args.runs);
    let at_site = |host: &HostName| args.sites.iter().any(|site| site == host.site());
    let is_of =
        |from: &HostName, to: &HostName| args.sites.is_empty() || (at_site(from) && at_site(to));
    let mut expected = mesh.as_ref().map_or(Vec::new(), |mesh| paths(mesh, now_unix_ns));
    expected.retain(|(from, to)| is_of(from, to));
    let every_ns = mesh.iter().flat_map(|mesh| &mesh.measures).map(|of| of.every_ns).min();
    let usual_ns = every_ns.map_or(WITHIN_NS, |every_ns| every_ns.saturating_mul(2));
    let asked = Asked {
        measure: args.measure.as_deref(),
        stale_ns: args.within.unwrap_or(usual_ns),
        now_unix_ns,
        expected: &expected,
    };
    let runs = archive::read(&args.runs, context, &is_of)?;
    let said: Vec<Said> = runs.iter().filter_map(archive::said).collect();
    let found = Matrix::of(&said, &asked);
    let name = mesh.as_ref().map_or(NAME, |mesh| mesh.name.as_str());
    let format = if args.json { MatrixFormat::Json } else { args.format };
    let json = |document: serde_json::Value| match args.follow {
        // One line is one time.
        true => json_escaped(document.to_string()),
        false => output::document(&document),
    };
    Ok(match format {
        MatrixFormat::Text if said.is_empty() => {
            let nothing = "No run between hosts of a fleet is stored here.  \
                           v6gap fleet matrix --runs FOLDER";
            output::fit(&context.output.results, nothing)
        }
        MatrixFormat::Text => {
            output::fit(&context.output.results, &matrix(&found, &context.output.results))
        }
        MatrixFormat::Html => fleet_page(name, &found, &Links::NONE, env!("CARGO_PKG_VERSION")),
        MatrixFormat::Json => json(matrix_json(&found)),
        MatrixFormat::Page => json(page_json(name, &found)),
    })
}

/// The paths of a mesh plan on the day of that time, each once.
fn paths(mesh: &Mesh, unix_ns: u64) -> Vec<(HostName, HostName)> {
    let day = unix_ns / 86_400_000_000_000;
    let measures = 0..mesh.measures.len();
    let mut pairs: Vec<_> = measures.flat_map(|measure| mesh.paths(measure, day)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let name = |at: usize| mesh.hosts.get(at).map(|host| host.name.clone());
    pairs.into_iter().filter_map(|pair| Some((name(pair.from)?, name(pair.to)?))).collect()
}
