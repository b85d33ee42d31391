//! `schema`: the JSON Schemas that come with the program, and dashboards of its metrics.

use crate::args::{Document, SchemaArgs};
use crate::failure::{Failure, Outcome};
use crate::output;
use v6gap_report::grafana;

/// Writes the schema of a document.
///
/// # Errors
/// None.
pub fn execute(args: &SchemaArgs) -> Result<Outcome, Failure> {
    let dashboard;
    output::to_stdout(match args.document {
        Document::Result => include_str!("../../../../docs/schema/result.json"),
        Document::Event => include_str!("../../../../docs/schema/event.json"),
        Document::Figure => include_str!("../../../../docs/schema/figure.json"),
        Document::Comparison => include_str!("../../../../docs/schema/comparison.json"),
        Document::WatchEvent => include_str!("../../../../docs/schema/watch-event.json"),
        Document::FleetCheck => include_str!("../../../../docs/schema/fleet-check.json"),
        Document::FleetEstimate => include_str!("../../../../docs/schema/fleet-estimate.json"),
        Document::FleetMatrix => include_str!("../../../../docs/schema/fleet-matrix.json"),
        Document::FleetHistory => include_str!("../../../../docs/schema/fleet-history.json"),
        Document::Grafana => {
            dashboard = grafana::dashboard();
            dashboard.as_str()
        }
        Document::GrafanaFleet => {
            dashboard = grafana::fleet_dashboard();
            dashboard.as_str()
        }
        Document::GrafanaDashboards => grafana::DASHBOARDS,
        Document::GrafanaDatasources => grafana::DATASOURCES,
    });
    Ok(Outcome::Done)
}
