//! The matrix for programs: SI units and plain numbers, as everywhere; fields are only ever added.

use serde_json::{Value, json};
use v6gap_judge::matrix::{Between, Matrix, Shared, What};

/// Name and version of the document's form.
pub const MATRIX_SCHEMA: &str = "v6gap.fleet.matrix/1";

/// The matrix with what worse paths share, and by sites.
pub fn matrix_json(of: &Matrix) -> Value {
    let name = |at: usize| of.hosts.get(at).map(|host| host.as_str());
    let cells = of.cells.iter().map(|((from, to), cell)| {
        let [effect, low, high] = cell.effect.unwrap_or_default();
        json!({
            "from": name(*from),
            "to": name(*to),
            "verdict": cell.verdict,
            "within": cell.within,
            "effect": effect,
            "low": low,
            "high": high,
            "run": cell.run,
            "began_unix_ns": cell.began_unix_ns,
            "stale": cell.stale,
        })
    });
    let sites = of.sites();
    let site = |at: usize| sites.names.get(at);
    let between = sites.between.iter().map(|of: &Between| {
        json!({
            "sites": [site(of.sites.0), site(of.sites.1)],
            "verdict": of.verdict(),
            "worse": of.worse,
            "better": of.better,
            "same": of.same,
            "open": of.open,
            "stale": of.stale,
            "worst": of.worst,
        })
    });
    json!({
        "schema": MATRIX_SCHEMA,
        "measure": of.measure,
        "metric": of.metric,
        "measures": of.measures,
        "now_unix_ns": of.now_unix_ns,
        "stale_ns": of.stale_ns,
        "expected": of.expected,
        "fresh": of.fresh(),
        "oldest_ns": of.oldest_ns(),
        "hosts": of.hosts.iter().map(|host| host.as_str()).collect::<Vec<_>>(),
        "cells": cells.collect::<Vec<_>>(),
        "between_sites": between.collect::<Vec<_>>(),
        "shared": of.shared().iter().map(|found| shared(of, found)).collect::<Vec<_>>(),
    })
}

fn shared(of: &Matrix, shared: &Shared) -> Value {
    let mut document = match &shared.what {
        What::Hop { family, address } => {
            json!({ "is": "hop", "family": family, "address": address })
        }
        What::Sites(sites) => json!({ "is": "sites", "sites": sites }),
        What::Site(site) => json!({ "is": "site", "site": site }),
        What::Host(at) => {
            json!({ "is": "host", "host": of.hosts.get(*at).map(|host| host.as_str()) })
        }
    };
    document["distance"] = json!(shared.distance.map(|(least, most)| [least, most]));
    document["worse"] = json!({ "with": shared.bad.0, "of": shared.bad.1 });
    document["others"] = json!({ "with": shared.good.0, "of": shared.good.1 });
    document["p"] = json!(shared.p);
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::tests::{fleet, small};

    #[test]
    fn programs_are_told_each_path_and_what_is_shared() {
        let document = matrix_json(&small());
        assert_eq!(document["cells"][0]["from"], "oslo/a");
        assert_eq!(document["cells"][0]["verdict"], "worse");
        assert_eq!(document["cells"][0]["effect"], 0.089);
        assert_eq!((&document["fresh"], &document["expected"]), (&json!(2), &json!(3)));
        let document = matrix_json(&fleet(10));
        assert_eq!(document["shared"][0]["address"], "2001:db8::4");
        assert_eq!(document["shared"][0]["distance"], json!([2, 2]));
        assert_eq!(document["shared"][0]["worse"], json!({ "with": 25, "of": 25 }));
        assert_eq!(document["between_sites"][0]["sites"], json!(["s0", "s1"]));
        assert_eq!(document["cells"].as_array().unwrap().len(), 1225);
    }
}
