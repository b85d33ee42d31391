//! A fleet in the pages: what they are told is what the terminal says, also as runs are added, and
//! nothing that an address holds becomes an option.

use crate::support::Sandbox;
use crate::web::{Web, until};
use serde_json::Value;
use std::time::{SystemTime, UNIX_EPOCH};

const HOUR_NS: u64 = 3_600_000_000_000;

fn now_ns() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}

/// Two runs of one path, the way there and the way back, and one of another.
fn fleet() -> Sandbox {
    let sandbox = Sandbox::new();
    let ago = |hours: u64| now_ns() - hours * HOUR_NS;
    sandbox.store_between("aaa111", ["rome/lab-a", "oslo/lab-a"], ago(30));
    sandbox.store_between("bbb222", ["oslo/lab-a", "rome/lab-a"], ago(2));
    sandbox.store_between("ccc333", ["rome/lab-a", "rome/lab-b"], ago(1));
    sandbox
}

fn web(fleet: &Sandbox) -> Web {
    Web::known_with(&format!("--fleet {}", fleet.path("runs").display()))
}

#[test]
fn without_a_fleet_nothing_is_told_of_one() {
    let web = Web::known();
    assert_eq!(web.get("/info").json()["fleet"], Value::Null);
    let path = "/fleet/paths/rome/lab-a/oslo/lab-a";
    let asked = ["/fleet", "/fleet/events", "/fleet/status"].map(str::to_owned).into_iter();
    for asked in asked.chain(["strips", "report.html"].map(|of| format!("{path}/{of}"))) {
        let answer = web.get(&asked);
        assert_eq!(answer.status, 409, "{asked}: {answer:?}");
        assert!(answer.body.contains("v6gap web --fleet FOLDER"), "{answer:?}");
    }
    web.sandbox.run("web --no-open --fleet nosuch").ended(2);
    web.sandbox.run("web --no-open --fleet-mesh mesh.toml").ended(2);
}

#[test]
fn pages_are_told_of_a_fleet_what_the_terminal_says() {
    let fleet = fleet();
    let web = web(&fleet);
    assert_eq!(web.get("/info").json()["fleet"]["hub"], false);
    let page = web.get("/fleet?measure=rtt-tcp-64").json();
    let line = "fleet matrix --measure rtt-tcp-64 --format page";
    let terminal: Value = serde_json::from_str(&fleet.run(line).ended(0).out).unwrap();
    for part in ["schema", "headline", "measure", "measures", "paths", "by_sites"] {
        assert_eq!(page[part], terminal[part], "{part}");
    }
    let html = page["html"].as_str().unwrap();
    assert!(html.contains("<a href=\"/fleet/rome/lab-a/oslo/lab-a\""), "{html}");
    let rome = web.get("/fleet?sites=rome").json();
    assert_eq!(rome["paths"], 1, "{rome:#}");
    // The way there alone is drawn, and both are listed.
    let path = "/fleet/paths/rome/lab-a/oslo/lab-a";
    let told = web.get(&format!("{path}/strips?since=14d&measure=rtt-tcp-64")).json();
    assert_eq!(told["path"], "rome/lab-a to oslo/lab-a");
    assert_eq!(told["strips"][0]["rows"][0][2], "1", "{told:#}");
    let runs: Vec<&str> =
        told["runs"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap()).collect();
    assert_eq!(runs, ["bbb222", "aaa111"]);
    let newest = web.get(&format!("{path}/report.html"));
    assert!(newest.status == 200 && newest.body.contains("Run bbb222"), "{}", newest.status);
    let then = web.get(&format!("{path}/aaa111/report.html"));
    assert!(then.status == 200 && then.body.contains("Run aaa111"), "{}", then.status);
    // A run of another path is not one of this.
    assert_eq!(web.get(&format!("{path}/ccc333/report.html")).status, 400);
    let style = web.ask("GET", "/assets/matrix.css", &[("Host", &web.host())], "");
    assert!(style.status == 200 && style.body.contains(".matrix"), "{style:?}");
}

#[test]
fn nothing_in_an_address_becomes_an_option() {
    let fleet = fleet();
    let web = web(&fleet);
    let path = "/fleet/paths/rome/lab-a/oslo/lab-a";
    for asked in [
        "/fleet?measure=--output=x",
        "/fleet?sites=--runs",
        "/fleet?sites=rome,,oslo",
        "/fleet/paths/--help/x/oslo/lab-a/strips",
        "/fleet/paths/rome%2F..%2Fx/lab-a/oslo/lab-a/strips",
        "/fleet/paths/rome/lab%00/oslo/lab-a/strips",
        "/fleet/paths/rome/LAB-A/oslo/lab-a/strips",
    ] {
        assert_eq!(web.get(asked).status, 400, "{asked}");
    }
    for asked in ["strips?since=--help", "strips?since=soon", "--help/report.html"] {
        assert_eq!(web.get(&format!("{path}/{asked}")).status, 400, "{asked}");
    }
}

/// Without credentials no hub is asked.
#[test]
fn a_hub_is_asked_only_where_it_was_named() {
    let fleet = fleet();
    let answer = web(&fleet).get("/fleet/status");
    assert_eq!(answer.status, 409, "{answer:?}");
    let runs = fleet.path("runs");
    let more = format!("--fleet {} --fleet-creds nosuch.creds", runs.display());
    let web = Web::known_with(&more);
    assert_eq!(web.get("/info").json()["fleet"]["hub"], true);
    // It is not there, which is the program's to say.
    let answer = web.get("/fleet/status");
    assert!(answer.status >= 400 && answer.status != 409, "{answer:?}");
}

/// A page that is open is told of a run that another process stores.
#[test]
fn pages_follow_a_fleet() {
    let fleet = fleet();
    let web = web(&fleet);
    let mut page = web.events("/fleet/events?measure=rtt-tcp-64");
    let first = until(&mut page, "\n\n");
    let first = if first.contains("data:") { first } else { until(&mut page, "data:") };
    assert!(first.contains("event: fleet"), "{first}");
    fleet.store_between("ddd444", ["bern/lab-c", "rome/lab-a"], now_ns());
    let told = until(&mut page, "bern/lab-c");
    assert!(told.contains("bern/lab-c"), "{told}");
}

#[test]
fn following_a_fleet_ends_with_its_input() {
    let fleet = fleet();
    let line = "fleet matrix --json --follow --stop-at-eof";
    let said = fleet.run_on(line, "").ended(0).out;
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with('{') && said.contains("v6gap.fleet.matrix/1"), "{said}");
    fleet.run("fleet matrix --stop-at-eof").ended(2);
    fleet.run("fleet matrix --follow -o x.txt").ended(2);
}

#[test]
fn a_fleet_is_shown_as_it_was() {
    let fleet = fleet();
    let at = now_ns() - 20 * HOUR_NS;
    let line = format!("fleet matrix --measure rtt --json --at-unix-ns {at}");
    let then: Value = serde_json::from_str(&fleet.run(&line).ended(0).out).unwrap();
    let runs: Vec<&Value> = then["cells"].as_array().unwrap().iter().map(|c| &c["run"]).collect();
    assert_eq!(runs, ["aaa111"], "{then:#}");
    assert_eq!((&then["now_unix_ns"], &then["cells"][0]["stale"]), (&at.into(), &false.into()));
}
