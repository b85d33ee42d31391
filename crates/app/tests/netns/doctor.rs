//! `doctor` between two hosts: facts of both, and the noise of the path between them.

use super::support::{self, Home, document, figure, number};
use super::two_hosts::Lab;

pub fn looks_at_both_hosts() {
    let home = Home::new("doctor");
    let lab = Lab::up("fit", &[]);
    let server = lab.serve(&home, &[]);
    let asked = ["doctor", "10.46.2.2", "--v6", "fd46:2::2", "--for", "12s", "--json", "-q"];
    let output = lab.command(&home, "client").args(asked).output().unwrap();
    // A busy machine may be called unfit; whatever it is called, both hosts were looked at.
    let code = output.status.code();
    assert!([Some(0), Some(6)].contains(&code), "{}", support::told(&output));
    let told = document(&output);
    support::fits(include_str!("../../../../docs/schema/doctor.json"), &told);
    assert_eq!(told["fit"], code == Some(0));
    figure("fit", &told["fit"]);
    let findings = told["findings"].as_array().unwrap();
    for near in [true, false] {
        let of = |id: &str| findings.iter().find(|f| f["id"] == id && f["near"] == near);
        for id in ["processors", "offloads", "buffers", "congestion", "metrics-saved"] {
            let found = of(id).unwrap_or_else(|| panic!("no {id} of {near}: {told:#}"));
            assert_ne!(found["state"], "unavailable", "{found}");
        }
        // The virtual cards of both nodes do the same for both families.
        assert_eq!(of("offloads").unwrap()["state"], "ok");
    }
    let traffic = findings.iter().find(|f| f["id"] == "traffic").unwrap();
    figure("other traffic", &traffic["seen"]);
    assert_eq!(traffic["state"], "ok", "{traffic}");
    for found in told["noise"].as_array().unwrap() {
        let (cell, family) = (&found["cell"], &found["family"]);
        let spread = number(&found["sd"]) * 100.0;
        figure(&format!("{cell} {family}"), format!("{spread:.2} %, {} pairs", found["pairs"]));
        assert!(number(&found["value"]) > 0.0);
    }
    let rate = told["noise"].as_array().unwrap().iter().find(|n| n["metric"] == "throughput");
    // The line of the lab is 100 Mbit/s, and the headers take their part.
    let rate = number(&rate.expect("a transfer of each family fits the time")["value"]);
    assert!((85e6..96e6).contains(&rate), "{rate}");
    drop(server);
}
