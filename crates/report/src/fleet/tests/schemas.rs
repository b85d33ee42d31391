//! The documents of a fleet against their published schemas (docs/schema): each fits, and what has
//! a field too much or too few does not.

use super::{fleet, small};
use crate::fleet::plan::tests::mesh;
use crate::fleet::{estimate_json, explain_json, matrix_json};
use jsonschema::validator_for;
use serde_json::{Value, json};
use v6gap_core::fleet::estimate::{Takes, estimate_mesh};
use v6gap_judge::matrix::Matrix;

const CHECK: &str = include_str!("../../../../../docs/schema/fleet-check.json");
const ESTIMATE: &str = include_str!("../../../../../docs/schema/fleet-estimate.json");
const MATRIX: &str = include_str!("../../../../../docs/schema/fleet-matrix.json");

const SECOND: u64 = 1_000_000_000;

/// Every object is closed in these schemas, so that a field that they do not name is refused.
fn fits(schema: &str, document: &Value) {
    let validator = validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    let mut more = document.clone();
    more["more"] = json!(1);
    assert!(!validator.is_valid(&more));
    let mut less = document.clone();
    less.as_object_mut().unwrap().remove("schema");
    assert!(!validator.is_valid(&less));
}

#[test]
fn what_is_said_of_a_mesh_plan_fits() {
    let mesh = mesh();
    fits(CHECK, &explain_json(&mesh));
    let takes = [(20, 20, 1e6), (20, 75, 6e8)].map(|(shortest, longest, bytes)| Takes {
        shortest_ns: shortest * SECOND,
        longest_ns: longest * SECOND,
        bytes,
    });
    fits(ESTIMATE, &estimate_json(&mesh, &estimate_mesh(&mesh, &takes)));
}

#[test]
fn a_matrix_fits_with_what_is_shared_and_without_anything() {
    for of in [small(), fleet(10), Matrix::default()] {
        fits(MATRIX, &matrix_json(&of));
    }
    // All that can be shared, as it is told.
    let mut document = matrix_json(&fleet(10));
    let mut shared = document["shared"][0].clone();
    assert_eq!(shared["is"], "hop");
    shared.as_object_mut().unwrap().remove("address");
    document["shared"][0] = shared;
    let validator = validator_for(&serde_json::from_str(MATRIX).unwrap()).unwrap();
    assert!(!validator.is_valid(&document), "a hop without its address");
}
