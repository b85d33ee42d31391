//! The published schemas of the documents (docs/schema) against what is written: every document
//! fits, every field stands in its schema, and what is wrong is refused.

use crate::fixtures::runs::{another_day, comparison};
use crate::fixtures::{self, hostile, invalid, journal, lab, null_run};
use crate::studies;
use jsonschema::{Validator, validator_for};
use serde_json::{Value, json as value};
use v6gap_core::arm::BlockKind;
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::record::Line;
use v6gap_core::run::SoFar;
use v6gap_judge::analysis::alike::AnyRun;
use v6gap_judge::analysis::beside::{OctetsBeside, OctetsOf, Way};
use v6gap_judge::analysis::compare::Of;
use v6gap_judge::analysis::history::ChangePoint;
use v6gap_judge::analysis::{Analysis, Choice, Failures, Modes, OrderEffect, Outlier, Range};
use v6gap_report::figure::{self, Paint};
use v6gap_report::{json, json_comparison, paper, stream};

const RESULT: &str = include_str!("../../../docs/schema/result.json");
const COMPARISON: &str = include_str!("../../../docs/schema/comparison.json");

const FIGURE: &str = include_str!("../../../docs/schema/figure.json");

const EVENT: &str = include_str!("../../../docs/schema/event.json");

/// The schema with every object closed, so that a field that it does not name is refused.
fn strict(schema: &str) -> Validator {
    fn close(schema: &mut Value) {
        match schema {
            Value::Object(map) => {
                if map.contains_key("properties") && !map.contains_key("additionalProperties") {
                    map.insert("additionalProperties".to_owned(), Value::Bool(false));
                }
                map.values_mut().for_each(close);
            }
            Value::Array(all) => all.iter_mut().for_each(close),
            _ => {}
        }
    }
    let mut schema: Value = serde_json::from_str(schema).unwrap();
    close(&mut schema);
    validator_for(&schema).unwrap()
}

fn fits(validator: &Validator, document: &str) -> Value {
    let document: Value = serde_json::from_str(document).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    document
}

/// A result that has everything which is null or empty in others.
fn everything() -> Analysis {
    let mut analysis = studies::studied();
    analysis.stopped = Some("interrupted".to_owned());
    let range = Range { low: -0.1, high: 0.1 };
    analysis.questions[0].any_run = Some(AnyRun { range, tau: 0.01, runs: 5 });
    analysis.questions[0].change_points.push(ChangePoint {
        of: Of::First,
        first: analysis.run.id.clone(),
        before: 3,
        since: 5,
        by: 0.0,
        range,
    });
    analysis.questions[0].place = Some("192.0.2.1 and 2001:db8::1".to_owned());
    let way = Way { sent: 1_000, received: 900 };
    analysis.beside.push(OctetsBeside {
        cell: "throughput-tcp".to_owned(),
        family: Some(Family::V6),
        trials: 3,
        own: way,
        others: vec![OctetsOf {
            who: "sockets".to_owned(),
            trials: 3,
            octets: way,
            upkeep: Some(way),
            ratio: Way { sent: Some(1.0), received: None },
        }],
    });
    analysis.sensitivity = [true, false].map(fixtures::runs::by_writes).to_vec();
    let segments = fixtures::runs::by_choice(Choice::SecondSegments);
    analysis.sensitivity.push(segments);
    let exchanges = Some(fixtures::runs::exchanges());
    analysis.failures = Some(Failures { exchanges, ..fixtures::runs::failures() });
    analysis.discards = Some(fixtures::runs::discards());
    analysis.claims = vec![fixtures::runs::claim()];
    analysis.run.hops = Some(fixtures::runs::hops());
    analysis.run.path_mtu = Some(fixtures::runs::path_mtu());
    analysis.races = vec![fixtures::runs::race()];
    let diagnostics = &mut analysis.questions[0].diagnostics;
    diagnostics.modes =
        Some(Modes { effects: [0.0, 0.1], shares: [0.5, 0.5], goes_with: Some("a port".into()) });
    diagnostics.outliers = vec![Outlier { block: 3, far: true }];
    diagnostics.order = Some(OrderEffect { p: 0.2, means: [0.01, 0.02], stratified: 0.015 });
    diagnostics.unsteady = Some("it rose".to_owned());
    analysis
}

#[test]
fn every_metric_has_its_name_in_the_schemas() {
    let names = Metric::ALL.map(Metric::name);
    for schema in [RESULT, COMPARISON] {
        let schema: Value = serde_json::from_str(schema).unwrap();
        let listed = schema["$defs"]["metric"]["enum"].as_array().unwrap();
        let listed: Vec<&str> = listed.iter().filter_map(Value::as_str).collect();
        assert!(names.iter().all(|name| listed.contains(name)), "{listed:?}");
    }
}

#[test]
fn every_result_fits_its_schema_and_has_no_field_beyond_it() {
    let validator = strict(RESULT);
    for analysis in [lab(), null_run(), invalid(), hostile(), everything()] {
        fits(&validator, &json(&analysis));
    }
}

#[test]
fn every_comparison_fits_its_schema_and_has_no_field_beyond_it() {
    let validator = strict(COMPARISON);
    let studied = [lab(), another_day("8m1c3e")].map(studies::of_table_4);
    for runs in [
        vec![lab(), another_day("8m1c3e")],
        vec![another_day("9x2d4f"), lab(), another_day("8m1c3e")],
        vec![lab(), Analysis { run: another_day("x").run, ..invalid() }],
        studied.to_vec(),
    ] {
        fits(&validator, &json_comparison(&comparison(&runs)));
    }
}

#[test]
fn every_event_fits_its_schema() {
    let validator = strict(EVENT);
    let open = |range| SoFar {
        cell: "throughput-tcp".to_owned(),
        metric: Metric::Throughput,
        blocks: 3,
        text: String::new(),
        range,
    };
    let so_far = [open(None), open(Some((-0.01, -0.02, 0.0)))];
    let mut said = stream::state("testing the lab's links");
    said += &stream::block(1, "throughput-tcp", BlockKind::Null(Family::V4), (1, 9));
    said += &stream::pair(3, 5_000_000_000, &so_far);
    for analysis in [lab(), null_run(), invalid(), everything()] {
        said += &stream::begin(&analysis.run);
        said += &stream::end(&analysis);
    }
    for line in journal::lines() {
        if let Line::Trial(trial) = line {
            said += &stream::trial(&trial, false);
        }
    }
    for line in said.lines() {
        fits(&validator, line);
    }
    assert!(!validator.is_valid(&value!({"event": "later"})));
}

/// Also that the page and the files say the same: only their paint differs.
#[test]
fn the_numbers_of_every_figure_fit_their_schema() {
    let validator = strict(FIGURE);
    let mut cells = 0;
    for analysis in [lab(), null_run(), hostile(), everything()] {
        let drawn = [Paint::Page, Paint::Paper].map(|paint| figure::all(&analysis, paint, true));
        assert_eq!(drawn[0].len(), drawn[1].len());
        for (page, paper) in drawn[0].iter().zip(&drawn[1]) {
            let said = paper::json(page);
            assert_eq!(said, paper::json(paper));
            let document = fits(&validator, &said);
            let columns = document["columns"].as_array().map(Vec::len);
            for row in document["rows"].as_array().into_iter().flatten() {
                assert_eq!(row.as_array().map(Vec::len), columns, "{}", page.id);
                cells += columns.unwrap_or_default();
            }
        }
    }
    assert!(cells > 100, "{cells}");
}

#[test]
fn what_is_wrong_does_not_fit() {
    let validator = strict(RESULT);
    let right = fits(&validator, &json(&lab()));
    let wrong: [(&str, Value); 6] = [
        ("/schema", value!("v6gap.result/2")),
        ("/valid", value!("yes")),
        ("/started_unix_ns", value!(-1)),
        ("/questions/0/verdict", value!("perhaps")),
        ("/questions/0/effect/low", value!("0")),
        ("/design/stop", value!({"kind": "adaptive"})),
    ];
    for (place, wrong) in wrong {
        let mut document = right.clone();
        *document.pointer_mut(place).unwrap() = wrong;
        assert!(!validator.is_valid(&document), "{place}");
    }
    for missing in ["id", "questions", "tool"] {
        let mut document = right.clone();
        document.as_object_mut().unwrap().remove(missing);
        assert!(!validator.is_valid(&document), "{missing}");
    }
    let mut document = right;
    document["more"] = value!(1);
    assert!(!validator.is_valid(&document), "a field that no schema names");
}
