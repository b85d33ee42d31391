//! `schema`: the JSON Schemas that come with the program, and dashboards of its metrics.

use crate::args::{Document, SchemaArgs};
use crate::failure::{Failure, Outcome};
use crate::output;
use std::borrow::Cow;
use v6gap_report::grafana;

/// Writes the schema of a document.
///
/// # Errors
/// None.
pub fn execute(args: &SchemaArgs) -> Result<Outcome, Failure> {
    output::to_stdout(&text(args.document));
    Ok(Outcome::Done)
}

fn text(document: Document) -> Cow<'static, str> {
    Cow::Borrowed(match document {
        Document::Result => include_str!("../../../../docs/schema/result.json"),
        Document::Event => include_str!("../../../../docs/schema/event.json"),
        Document::Comparison => include_str!("../../../../docs/schema/comparison.json"),
        Document::Figure => include_str!("../../../../docs/schema/figure.json"),
        Document::Check => include_str!("../../../../docs/schema/check.json"),
        Document::Doctor => include_str!("../../../../docs/schema/doctor.json"),
        Document::Path => include_str!("../../../../docs/schema/path.json"),
        Document::Estimate => include_str!("../../../../docs/schema/estimate.json"),
        Document::PlanList => include_str!("../../../../docs/schema/plan-list.json"),
        Document::Prediction => include_str!("../../../../docs/schema/prediction.json"),
        Document::Carried => include_str!("../../../../docs/schema/carried.json"),
        Document::List => include_str!("../../../../docs/schema/list.json"),
        Document::Note => include_str!("../../../../docs/schema/note.json"),
        Document::Index => include_str!("../../../../docs/schema/index.json"),
        Document::Archive => include_str!("../../../../docs/schema/archive.json"),
        Document::LabStatus => include_str!("../../../../docs/schema/lab-status.json"),
        Document::LabList => include_str!("../../../../docs/schema/lab-list.json"),
        Document::LabCalibration => include_str!("../../../../docs/schema/lab-calibration.json"),
        Document::WatchStatus => include_str!("../../../../docs/schema/watch-status.json"),
        Document::WatchHistory => include_str!("../../../../docs/schema/watch-history.json"),
        Document::WatchEvent => include_str!("../../../../docs/schema/watch-event.json"),
        Document::FleetStatus => include_str!("../../../../docs/schema/fleet-status.json"),
        Document::FleetCheck => include_str!("../../../../docs/schema/fleet-check.json"),
        Document::FleetEstimate => include_str!("../../../../docs/schema/fleet-estimate.json"),
        Document::FleetMatrix => include_str!("../../../../docs/schema/fleet-matrix.json"),
        Document::FleetHistory => include_str!("../../../../docs/schema/fleet-history.json"),
        Document::Grafana => return Cow::Owned(grafana::dashboard()),
        Document::GrafanaFleet => return Cow::Owned(grafana::fleet_dashboard()),
        Document::GrafanaDashboards => grafana::DASHBOARDS,
        Document::GrafanaDatasources => grafana::DATASOURCES,
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::{CommandFactory, ValueEnum};
    use jsonschema::validator_for;
    use serde_json::{Value, json};

    /// What each verb writes that has `--json`.
    const OF_VERBS: [(&str, &[Document]); 27] = [
        ("check", &[Document::Check]),
        ("compare", &[Document::Comparison]),
        ("demo", &[Document::Result, Document::Estimate]),
        ("doctor", &[Document::Doctor]),
        ("fleet check", &[Document::FleetCheck]),
        ("fleet estimate", &[Document::FleetEstimate]),
        ("fleet history", &[Document::FleetHistory]),
        ("fleet matrix", &[Document::FleetMatrix]),
        ("fleet status", &[Document::FleetStatus]),
        ("index archive", &[Document::Archive]),
        ("index postgres", &[Document::Archive]),
        ("index rebuild", &[Document::Index]),
        ("lab calibrate", &[Document::LabCalibration]),
        ("lab list", &[Document::LabList]),
        ("lab status", &[Document::LabStatus]),
        ("list", &[Document::List]),
        ("note", &[Document::Note]),
        ("plan estimate", &[Document::Estimate]),
        ("plan list", &[Document::PlanList]),
        ("plan run", &[Document::Result, Document::Estimate]),
        ("predict", &[Document::Prediction, Document::Carried]),
        ("probe", &[Document::Result, Document::Estimate, Document::Path]),
        ("replay", &[Document::Result]),
        ("run", &[Document::Result, Document::Estimate]),
        ("show", &[Document::Result]),
        ("watch history", &[Document::WatchHistory]),
        ("watch status", &[Document::WatchStatus]),
    ];

    /// Documents that are asked for in another way.
    const OTHERS: [Document; 3] = [Document::Event, Document::Figure, Document::WatchEvent];

    const NO_SCHEMAS: [Document; 4] = [
        Document::Grafana,
        Document::GrafanaFleet,
        Document::GrafanaDashboards,
        Document::GrafanaDatasources,
    ];

    /// Fails unless what the program writes fits the schema of that name, which refuses what it
    /// does not name.
    #[track_caller]
    pub fn fits(document: Document, written: &Value) {
        let schema: Value = serde_json::from_str(&text(document)).unwrap();
        let validator = validator_for(&schema).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(written)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{document:?}: {}", errors.join("\n"));
        let mut more = written.clone();
        if let Some(fields) = more.as_object_mut() {
            fields.insert("more".to_owned(), json!(1));
            assert!(!validator.is_valid(&more), "{document:?}: a field that no schema names");
        }
    }

    /// Names of all verbs below this one that have `--json`.
    fn with_json(verb: &clap::Command, name: &str, found: &mut Vec<String>) {
        if verb.get_arguments().any(|argument| argument.get_long() == Some("json")) {
            found.push(name.to_owned());
        }
        for below in verb.get_subcommands() {
            with_json(below, format!("{name} {}", below.get_name()).trim_start(), found);
        }
    }

    #[test]
    fn whatever_json_asks_for_has_a_schema() {
        let mut verbs = Vec::new();
        with_json(&Cli::command(), "", &mut verbs);
        verbs.sort();
        assert_eq!(verbs, OF_VERBS.map(|(verb, _)| verb));
        for document in Document::value_variants() {
            let is_written = OF_VERBS.iter().any(|(_, written)| written.contains(document));
            let is_other = OTHERS.contains(document) || NO_SCHEMAS.contains(document);
            assert!(is_written != is_other, "{document:?}");
            if !NO_SCHEMAS.contains(document) {
                let schema: Value = serde_json::from_str(&text(*document)).unwrap();
                assert!(validator_for(&schema).is_ok(), "{document:?}");
                // A program that is given one asks it what it is; arrays have no room for that.
                let required = schema["required"].as_array().cloned().unwrap_or_default();
                let is_named = required.contains(&json!("schema"));
                assert!(is_named || schema["type"] != "object", "{document:?} has no `schema`");
            }
        }
    }
}
