//! `fleet check` and `fleet estimate`: what a mesh plan does and takes, before anything is sent.

use crate::args::{FleetCheckArgs, FleetEstimateArgs};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::presets::{self, Choice, Found, PlaceChoice};
use crate::settings::Context;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path as FilePath;
use v6gap_core::fleet::estimate::{Takes, estimate_mesh};
use v6gap_core::fleet::mesh::{Carriers, Class, Link, Mesh, Pair};
use v6gap_core::unit::format_bytes;
use v6gap_core::workload::{Path, Workload};
use v6gap_fleet::asked;
use v6gap_report::fleet::{estimate as in_words, estimate_json, explain, explain_json};
use v6gap_store::read_mesh_file;

/// Says what a mesh plan does.
///
/// # Errors
/// Everything that is wrong with it, or with a plan that it names.
pub(super) fn check(args: &FleetCheckArgs, context: &Context) -> Result<Outcome, Failure> {
    let mesh = read_mesh_file(&args.mesh)?;
    let plans = plans(&args.mesh, &mesh)?;
    show(args.json, context, || explain_json(&mesh), || explain(&mesh));
    warn(&mesh, &plans, context);
    Ok(Outcome::Done)
}

/// Says what a mesh plan takes.
///
/// # Errors
/// As [`check`].
pub(super) fn estimate(args: &FleetEstimateArgs, context: &Context) -> Result<Outcome, Failure> {
    let mesh = read_mesh_file(&args.mesh)?;
    let plans = plans(&args.mesh, &mesh)?;
    let rate_bps = args.rate.and_then(|rate| rate.0).map_or(Path::USUAL.rate_bps, |bps| bps as f64);
    let round_trip_ns = args.rtt.map_or(Path::USUAL.round_trip_ns, |ns| ns as f64);
    let path = Path { rate_bps, round_trip_ns };
    let takes: Vec<Takes> = plans.iter().map(|found| Takes::of(&found.plan, path)).collect();
    let found = estimate_mesh(&mesh, &takes);
    let text = || in_words(&mesh, &found, rate_bps);
    show(args.json, context, || estimate_json(&mesh, &found), text);
    warn(&mesh, &plans, context);
    Ok(Outcome::Done)
}

fn show(
    json: bool,
    context: &Context,
    document: impl FnOnce() -> Value,
    text: impl FnOnce() -> String,
) {
    match json {
        true => output::to_stdout(&output::document(&document())),
        false => output::to_stdout(&output::fit(&context.output.results, &text())),
    }
}

/// The plan of each measurement: a file beside the mesh plan, or one that comes with the program.
///
/// # Errors
/// If one cannot be read, or agents do not measure it, or it moves more than a link may carry.
pub(super) fn plans(file: &FilePath, mesh: &Mesh) -> Result<Vec<Found>, Failure> {
    let folder = file.parent().unwrap_or(FilePath::new(""));
    let choice = Choice { place: PlaceChoice::Server, ..Choice::default() };
    let read = |name: &str| presets::read_beside(folder, name, 0, &choice);
    let plans = mesh.measures.iter().map(|measure| read(&measure.plan));
    let plans: Vec<Found> = plans.collect::<Result<_, _>>()?;
    for (at, found) in plans.iter().enumerate() {
        is_borne(mesh, at, found)?;
    }
    Ok(plans)
}

/// Whether the links that carry a measurement may carry it once a day: otherwise it is never made.
fn is_borne(mesh: &Mesh, at: usize, found: &Found) -> Result<(), Failure> {
    let name = mesh.measures.get(at).map_or("", |measure| &measure.plan);
    let asked = asked(&found.text).map_err(|why| {
        Failure::new("E501", Outcome::Usage, format!("the plan {name}: {why}"))
            .run(format!("v6gap plan check {name}"), "shows all that is wrong with it")
    })?;
    let bytes = asked.bytes.unwrap_or(u64::MAX);
    let is_beyond = |link: &&Link| link.budget_bytes.is_some_and(|most| bytes > most);
    if !mesh.links.iter().any(|link| is_beyond(&link)) {
        return Ok(());
    }
    let carriers = Carriers::of(mesh);
    // A sample has come round to all paths by then.
    let days = 0..mesh.hosts.len() as u64;
    let paths: BTreeSet<Pair> = days.flat_map(|day| mesh.paths(at, day)).collect();
    let carrying = paths.into_iter().flat_map(|pair| carriers.links(pair));
    let carrying: BTreeSet<usize> = carrying.collect();
    let links = carrying.iter().filter_map(|link| mesh.links.get(*link));
    let Some(link) = links.into_iter().find(is_beyond) else { return Ok(()) };
    let (takes, most) = (format_bytes(bytes), format_bytes(link.budget_bytes.unwrap_or(0)));
    let what = format!(
        "a visit of the plan {name} moves up to {takes}, and the link {} may carry {most} a day: \
         it would never be made",
        link.name
    );
    let why = "What sends as fast as it can is reckoned at 100 Mbit/s.";
    Err(Failure::new("E501", Outcome::Usage, what).seen(why))
}

/// Says where a measurement that loads what it crosses shares links with others.
fn warn(mesh: &Mesh, plans: &[Found], context: &Context) {
    for (measure, Found { plan, .. }) in mesh.measures.iter().zip(plans) {
        let loads = plan.cells.iter().any(|cell| loads(&cell.workload));
        if measure.class == Class::Light && loads && !mesh.links.is_empty() {
            let text = format!(
                "note: plan {} loads the path, and its class is light: several may share a link at \
                 once; class = \"exclusive\" keeps them apart",
                measure.plan
            );
            output::to_stderr(&output::fit(&context.output.errors, &text));
        }
    }
}

/// Whether a workload sends as much as a path carries.
fn loads(workload: &Workload) -> bool {
    match workload {
        Workload::TcpBulk(_) | Workload::UdpBulk(_) | Workload::Capacity(_) => true,
        Workload::Probe(probe) => probe.load.is_some(),
        Workload::Echo(_)
        | Workload::Connect(_)
        | Workload::Frames(_)
        | Workload::Visit(_)
        | Workload::Lookup(_) => false,
    }
}
