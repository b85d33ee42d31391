//! An IPv6 that is broken in each of the ways that `v6gap probe` names, made for real: the words,
//! the code, and what programs that try both families make of it.

use super::sites::{AT, NAME, PORT, caddy, curl, nginx};
use super::support::{Home, figure, times, words};
use super::two_hosts::Lab;

/// What is said of a visit that goes to `six` over IPv6.
fn visit(lab: &Lab, home: &Home, six: &str) -> String {
    visit_by(lab, home, six, "2")
}

/// The same by a version of HTTP.
fn visit_by(lab: &Lab, home: &Home, six: &str, http: &str) -> String {
    let mut probe = lab.command(home, "client");
    let four = AT[0];
    probe.args(["probe", &format!("https://{NAME}:{PORT}/"), "--v4", four, "--v6", six]);
    probe.args(["--mine", "--no-path", "--timeout", "1s", "-q", "--http", http]);
    words(&probe.output().unwrap().stderr)
}

/// Does to IPv6 in a node what breaks it, or undoes that.
fn ip(lab: &Lab, home: &Home, (node, does, what): (&str, &str, &str)) {
    let (object, rest) = what.split_once(' ').unwrap();
    lab.ip(home, node, &format!("-6 {object} {does} {rest}"));
}

/// What breaks IPv6 in which node, and what is said of it.
const WAYS: [(&str, &str, &str); 4] = [
    ("client", "route unreachable fd46:2::2", "no route"),
    ("router", "route prohibit fd46:2::2", "prohibited"),
    ("server", "rule pref 10 iif lo ipproto tcp blackhole", "no answer"),
    ("router", "route unreachable fd46:2::2", "no route"),
];

pub fn is_named() {
    let home = Home::new("broken");
    let lab = Lab::up("broken", &["--delay", "2ms"]);
    let server = nginx(&lab, &home, "TLSv1.3");
    for (node, breaks, said) in WAYS {
        ip(&lab, &home, (node, "add", breaks));
        let found = visit(&lab, &home, AT[1]);
        ip(&lab, &home, (node, "del", breaks));
        assert!(found.contains("IPv6 is broken") && found.contains(said), "{breaks}: {found}");
        assert!(found.contains("Over IPv4 it works"), "{found}");
        assert!(found.contains("[E403, exit 3]"), "{found}");
        figure(&format!("{node}: {breaks}"), said);
    }
    drop(server);
    let server = caddy(&lab, &home);
    ip(&lab, &home, ("server", "add", "rule pref 10 iif lo ipproto udp blackhole"));
    // Over TCP the host answers by IPv6 as well, which does not hide it.
    for http in ["3", "2,3"] {
        let found = visit_by(&lab, &home, AT[1], http);
        assert!(found.contains("IPv6 is broken"), "{found}");
        assert!(found.contains("HTTP/3: no answer over UDP"), "{found}");
    }
    let (node, unreachable, said) = WAYS[0];
    ip(&lab, &home, (node, "add", unreachable));
    let found = visit_by(&lab, &home, AT[1], "3");
    assert!(found.contains(said) && !found.contains("over UDP"), "{found}");
    drop(server);
}

/// curl is on IPv4 when it was foretold to be.
pub fn is_left_by_curl_as_was_reckoned() {
    let home = Home::new("broken-curl");
    let lab = Lab::up("brokencurl", &["--delay", "2ms"]);
    let server = nginx(&lab, &home, "TLSv1.3");
    let [.., (_, silent, _), _] = WAYS;
    // An address of the server on which nobody listens.
    let refused = "addr fd46:2::3/64 dev link2 nodad";
    for (six, breaks, said) in [(AT[1], silent, "no answer"), ("fd46:2::3", refused, "refused")] {
        ip(&lab, &home, ("server", "add", breaks));
        // The first one finds the neighbours.
        let found = [(); 2].map(|()| visit(&lab, &home, six))[1].clone();
        assert!(found.contains(said), "{found}");
        let foretold_ms = foretold(&found, "curl 7.88");
        let runs = times(5, 20);
        let places = format!("{NAME}:{PORT}:[{six}],{}", AT[0]);
        let stands = |_| {
            let (address, ms) = curl(lab.exec(&home, "client"), &["--resolve", &places]);
            assert_eq!(address, AT[0], "IPv6 is broken");
            ms
        };
        let mut seen: Vec<f64> = (0..runs).map(stands).collect();
        ip(&lab, &home, ("server", "del", breaks));
        seen.sort_by(f64::total_cmp);
        let median_ms = seen[runs / 2];
        figure(said, format!("{median_ms:.1} ms, foretold {foretold_ms:.1}"));
        assert!((median_ms - foretold_ms).abs() < 5.0, "{seen:?} {found}");
    }
    drop(server);
}

/// The time before "by `who`", in ms.
fn foretold(said: &str, who: &str) -> f64 {
    let (before, _) = said.split_once(&format!(" ms by {who}")).unwrap_or_else(|| panic!("{said}"));
    before.rsplit(' ').next().unwrap().parse().unwrap()
}
