//! An IPv6 that is broken in each of the ways that `v6gap probe` names, made for real: the words,
//! the code, and what programs that try both families make of it.

use super::sites::{AT, NAME, PORT, caddy, nginx};
use super::support::{Home, figure, text, times};
use super::two_hosts::Lab;
use std::process::Output;

/// A visit that goes to `six` over IPv6.
fn visit(lab: &Lab, home: &Home, six: &str) -> Output {
    visit_by(lab, home, six, "2")
}

/// The same by a version of HTTP.
fn visit_by(lab: &Lab, home: &Home, six: &str, http: &str) -> Output {
    let mut probe = lab.command(home, "client");
    let four = AT[0];
    probe.args(["probe", &format!("https://{NAME}:{PORT}/"), "--v4", four, "--v6", six]);
    probe.args(["--mine", "--no-path", "--timeout", "1s", "-q", "--http", http]);
    probe.output().unwrap()
}

fn words(output: &Output) -> String {
    text(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Does something to IPv6 in a node, in words of `ip -6`.
fn ip(lab: &Lab, home: &Home, node: &str, what: &str) {
    let output = lab.exec(home, node).args(["ip", "-6"]).args(what.split(' ')).output().unwrap();
    assert!(output.status.success(), "{what}: {}", text(&output.stderr));
}

/// What breaks IPv6 in which node, how that is undone, and what is said of it.
const WAYS: [(&str, &str, &str, &str); 4] = [
    ("client", "route add unreachable fd46:2::2", "route del unreachable fd46:2::2", "no route"),
    ("router", "route add prohibit fd46:2::2", "route del prohibit fd46:2::2", "prohibited"),
    (
        "server",
        "rule add pref 10 iif lo ipproto tcp blackhole",
        "rule del pref 10 iif lo ipproto tcp blackhole",
        "no answer",
    ),
    ("router", "route add unreachable fd46:2::2", "route del unreachable fd46:2::2", "no route"),
];

pub fn is_named() {
    let home = Home::new("broken");
    let lab = Lab::up("broken", &["--delay", "2ms"]);
    let server = nginx(&lab, &home, "TLSv1.3");
    for (node, breaks, mends, said) in WAYS {
        ip(&lab, &home, node, breaks);
        let output = visit(&lab, &home, AT[1]);
        ip(&lab, &home, node, mends);
        let found = words(&output);
        assert!(found.contains("IPv6 is broken") && found.contains(said), "{breaks}: {found}");
        assert!(found.contains("Over IPv4 it works"), "{found}");
        assert!(found.contains("[E403, exit 3]"), "{found}");
        figure(&format!("{node}: {breaks}"), said);
    }
    drop(server);
    let server = caddy(&lab, &home);
    let blocks = "rule add pref 10 iif lo ipproto udp blackhole";
    ip(&lab, &home, "server", blocks);
    let found = words(&visit_by(&lab, &home, AT[1], "3"));
    ip(&lab, &home, "server", "rule del pref 10 iif lo ipproto udp blackhole");
    assert!(found.contains("IPv6 is broken"), "{found}");
    assert!(found.contains("HTTP/3: no answer over UDP"), "{found}");
    drop(server);
}

/// curl is on IPv4 when it was foretold to be.
pub fn is_left_by_curl_as_was_reckoned() {
    let home = Home::new("broken-curl");
    let lab = Lab::up("brokencurl", &["--delay", "2ms"]);
    let server = nginx(&lab, &home, "TLSv1.3");
    let [.., silent, _] = WAYS;
    let refused = ("server", "", "", "refused");
    for (node, breaks, mends, said) in [silent, refused] {
        let six = if breaks.is_empty() { "fd46:2::3" } else { AT[1] };
        if breaks.is_empty() {
            // An address of the server on which nobody listens.
            ip(&lab, &home, node, "addr add fd46:2::3/64 dev link2 nodad");
        } else {
            ip(&lab, &home, node, breaks);
        }
        // The first one finds the neighbours.
        let found = [(); 2].map(|()| words(&visit(&lab, &home, six)))[1].clone();
        assert!(found.contains(said), "{found}");
        let foretold_ms = foretold(&found, "curl 7.88");
        let runs = times(5, 20);
        let mut seen: Vec<f64> = (0..runs).map(|_| curl(&lab, &home, six)).collect();
        if !mends.is_empty() {
            ip(&lab, &home, node, mends);
        }
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

/// After how many ms curl has a connection, which must be of IPv4.
fn curl(lab: &Lab, home: &Home, six: &str) -> f64 {
    let mut curl = lab.exec(home, "client");
    curl.args(["curl", "-sk", "-o", "/dev/null", "-w", "%{remote_ip} %{time_connect}"]);
    curl.args(["--resolve", &format!("{NAME}:{PORT}:[{six}],{}", AT[0])]);
    let output = curl.arg(format!("https://{NAME}:{PORT}/")).output().unwrap();
    let told = text(&output.stdout);
    let (address, seconds) = told.split_once(' ').unwrap_or_else(|| panic!("{output:?}"));
    assert_eq!(address, AT[0], "{told}");
    seconds.parse::<f64>().unwrap() * 1e3
}
