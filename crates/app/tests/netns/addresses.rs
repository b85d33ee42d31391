//! A name with two addresses of each family, of two machines: each is compared by itself, and said
//! to be what it is.

use super::name_servers::{DNS, asking, bind9};
use super::sites::{AT, NAME, PORT, certified, nginx_at, nginx_of};
use super::support::{
    Home, PROGRAM, figure, measured, noted, number, question, text, times, words,
};
use super::two_hosts::{Lab, Server};
use serde_json::Value;
use std::process::Output;

/// Two machines behind a router, of which IPv6 of the second is farther.
const WORLD: &str = r#"
v6gap   = 1
hosts   = ["client", "server", "second"]
routers = ["router"]
[every]
rate  = "100 Mbit/s"
[[links]]
between = ["client", "router"]
delay   = "5 ms"
[[links]]
between = ["router", "server"]
delay   = "5 ms"
[[links]]
between  = ["router", "second"]
delay    = "5 ms"
v6.delay = "15 ms"
"#;

/// How much longer a round trip to the second machine is over IPv6, in ms.
const FARTHER_MS: f64 = 20.0;

/// Addresses of the second machine.
const SECOND: [&str; 2] = ["10.46.3.2", "fd46:3::2"];

/// Records of the site, not in the order in which they are visited.
const RECORDS: [&str; 4] = ["A 10.46.3.2", "A 10.46.2.2", "AAAA fd46:3::2", "AAAA fd46:2::2"];

/// Where nginx listens.
fn listen([four, six]: [&str; 2]) -> [String; 2] {
    [format!("listen {four}:{PORT} ssl http2;"), format!("listen [{six}]:{PORT} ssl http2;")]
}

/// What a probe of all addresses says, whose system asks the lab's name server for them.
fn probed(lab: &Lab, home: &Home, pairs: usize) -> (Output, Value) {
    let mut probe = asking(lab, home, "client", AT[0]);
    probe.arg(PROGRAM).args(["probe", &format!("https://{NAME}:{PORT}/"), "--addresses", "all"]);
    probe.args(["--measure", "first-byte", "--http", "2", "--pairs", &pairs.to_string()]);
    probe.args(["--mine", "--no-path", "--no-report", "--timeout", "1s", "--json", "-q"]);
    let output = probe.output().unwrap();
    measured(&output);
    let result = serde_json::from_slice(&output.stdout).unwrap();
    (output, result)
}

/// The second machine, with another key over IPv6 if it listens there at all.
fn second(lab: &Lab, home: &Home, has_six: bool) -> Server {
    let [at_four, at_six] = listen(SECOND);
    let site = |at: String, name| format!("{at} {}", certified(home, name));
    let mut sites = vec![site(at_four, "one")];
    sites.extend(has_six.then(|| site(at_six, "other")));
    nginx_at(lab, home, "second", &sites)
}

pub fn are_compared_machine_by_machine() {
    let [home, other] = ["addresses", "addresses-second"].map(Home::new);
    let lab = Lab::of_world(&home, "addresses", WORLD);
    let site = format!("{} {}", listen(AT).concat(), certified(&home, "site"));
    let servers = [nginx_of(&lab, &home, &[site]), bind9(&lab, &home, DNS, &RECORDS, "")];
    let far = second(&lab, &other, true);
    let (_, result) = probed(&lab, &home, times(6, 24));
    drop(far);
    let [first, next] = [AT, SECOND].map(|[four, six]| format!("{four} and {six}"));
    for (cell, place, later_ms) in [
        ("first-byte-tcp-http-2", &first, 0.0),
        ("first-byte-tcp-http-2-addresses-2", &next, FARTHER_MS),
    ] {
        let q = question(&result, cell, "connect");
        assert_eq!(q["label"], format!("Connecting, at {place}"), "{q:#}");
        let [four, six] = ["v4", "v6"].map(|family| number(&q[family]["estimate"]) * 1e3);
        figure(&format!("IPv6 later at {place}, ms ({later_ms})"), format!("{:.2}", six - four));
        assert!((six - four - later_ms).abs() < 0.3, "{q:#}");
    }
    // Sameness is told of each.
    for said in [
        format!("{first}: one service: a TLS ticket from IPv4 was accepted over IPv6"),
        format!("{next}: two machines are compared: their certificates have different keys"),
    ] {
        assert!(noted(&result, &said), "{said}: {:#}", result["checks"]);
    }
    let shown = words(&home.v6gap(&["show", "last"]).stdout);
    let alone = format!("That is reckoned from visits to {first} alone.");
    assert!(shown.contains(&alone) && shown.contains(SECOND[1]), "{shown}");
    // Where the second machine has no IPv6, it is left out, and the first is measured as before.
    let far = second(&lab, &other, false);
    let (output, result) = probed(&lab, &home, 6);
    drop((far, servers));
    let said = format!("{next}: left out, since IPv6 is broken at {}: refused", SECOND[1]);
    assert!(noted(&result, &said), "{said}: {:#}", result["checks"]);
    let cells = result["questions"].as_array().unwrap();
    let is_first = |q: &Value| q["cell"] == "first-byte-tcp-http-2" && q["place"].is_null();
    assert!(cells.iter().all(is_first), "{cells:#?} {}", text(&output.stderr));
    figure("left out", said);
}
