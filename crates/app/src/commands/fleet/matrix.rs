//! `fleet matrix`: how all paths do.

use super::archive;
use crate::args::{FleetMatrixArgs, MatrixFormat};
use crate::commands::stored;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::Context;
use v6gap_core::fleet::mesh::Mesh;
use v6gap_core::fleet::names::HostName;
use v6gap_judge::matrix::{Asked, Matrix, Said};
use v6gap_report::fleet::{matrix, matrix_json};
use v6gap_report::html::fleet_page;
use v6gap_store::read_mesh_file;
use v6gap_sys::clock;

/// What is older is stale where nothing says how often paths are measured, in ns.
const WITHIN_NS: u64 = 24 * 3600 * 1_000_000_000;

/// What a fleet without a mesh plan is called.
const NAME: &str = "fleet";

/// Shows the matrix.
///
/// # Errors
/// If runs or the mesh plan cannot be read, or the file cannot be written.
pub(super) fn execute(args: &FleetMatrixArgs, context: &Context) -> Result<Outcome, Failure> {
    let mesh = args.mesh.as_deref().map(read_mesh_file).transpose()?;
    let expected = mesh.as_ref().map(paths).unwrap_or_default();
    let every_ns = mesh.iter().flat_map(|mesh| &mesh.measures).map(|of| of.every_ns).min();
    let usual_ns = every_ns.map_or(WITHIN_NS, |every_ns| every_ns.saturating_mul(2));
    let asked = Asked {
        measure: args.measure.as_deref(),
        stale_ns: args.within.unwrap_or(usual_ns),
        now_unix_ns: clock::wall_ns(),
        expected: &expected,
    };
    let runs = archive::read(&args.runs, context, &|_, _| true)?;
    let said: Vec<Said> = runs.iter().filter_map(archive::said).collect();
    let found = Matrix::of(&said, &asked);
    let name = mesh.as_ref().map_or(NAME, |mesh| mesh.name.as_str());
    let format = if args.json { MatrixFormat::Json } else { args.format };
    let text = match format {
        MatrixFormat::Text if said.is_empty() => {
            "No run between hosts of a fleet is stored here.  v6gap fleet matrix --runs FOLDER"
                .to_owned()
        }
        MatrixFormat::Text => matrix(&found, &context.output.results),
        MatrixFormat::Html => fleet_page(name, &found, &|_, _| None, env!("CARGO_PKG_VERSION")),
        MatrixFormat::Json => format!("{:#}", matrix_json(&found)),
    };
    let text = match format {
        MatrixFormat::Text => output::fit(&context.output.results, &text),
        MatrixFormat::Html | MatrixFormat::Json => text,
    };
    stored::write(&text, args.output.as_deref())?;
    Ok(Outcome::Done)
}

/// The paths of a mesh plan today, each once.
fn paths(mesh: &Mesh) -> Vec<(HostName, HostName)> {
    let day = clock::wall_ns() / 86_400_000_000_000;
    let measures = 0..mesh.measures.len();
    let mut pairs: Vec<_> = measures.flat_map(|measure| mesh.paths(measure, day)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let name = |at: usize| mesh.hosts.get(at).map(|host| host.name.clone());
    pairs.into_iter().filter_map(|pair| Some((name(pair.from)?, name(pair.to)?))).collect()
}
