//! The matrix for the pages of `v6gap web`: what they show, as they show it.

use super::fleet::matrix_fragment;
use super::fleet_links::Links;
use super::fleet_words::headline;
use crate::fleet::is_by_hosts;
use crate::words;
use serde_json::{Value, json};
use v6gap_judge::matrix::Matrix;

/// Name and version of the document's form.
pub const PAGE_SCHEMA: &str = "v6gap.fleet.page/1";

/// The matrix of the fleet of that name as a part of a page, with its headline and what else may be
/// asked for.
pub fn page_json(name: &str, of: &Matrix) -> Value {
    let html = matrix_fragment(of, &Links::OF_PAGES).into_string();
    json!({
        "schema": PAGE_SCHEMA,
        "name": name,
        "at_unix_ns": of.now_unix_ns,
        "measure": of.measure,
        "measures": of.measures,
        "paths": of.cells.len(),
        "by_sites": !is_by_hosts(of),
        "headline": headline(of),
        "html": words::harmless(&html),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::tests::{fleet, small};

    #[test]
    fn a_page_has_the_matrix_and_what_else_is_measured() {
        let page = page_json("backbone", &small());
        assert_eq!(page["headline"], "1 path of 2 is worse over IPv6 (rtt-tcp-64)");
        assert_eq!((&page["paths"], &page["by_sites"]), (&json!(3), &json!(false)));
        assert_eq!(page["measures"], json!(["rtt-tcp-64"]));
        let html = page["html"].as_str().unwrap();
        assert!(html.contains("<a href=\"/fleet/oslo/a/rome/a\""), "{html}");
        assert_eq!(page_json("backbone", &fleet(13))["by_sites"], true);
        let nothing = page_json("backbone", &Matrix::default());
        assert_eq!(nothing["paths"], 0);
    }
}
