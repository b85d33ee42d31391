//! The way to a host as `v6gap probe` finds it: every router, where it parts, and how large a
//! packet may be, in worlds where all of it is known. The host itself serves nothing: who refuses
//! a connection has answered.

use super::sites::{NAME, PORT, caddy};
use super::support::{Home, PROGRAM, figure, fits, text, times, words};
use super::tier::is_night;
use super::two_hosts::Lab;
use serde_json::Value;
use std::process::{Command, Output};

/// Addresses of the server behind so many links.
fn at(links: usize) -> [String; 2] {
    [format!("10.46.{links}.2"), format!("fd46:{links}::2")]
}

/// A chain with so many routers, and more about its links.
fn chain(routers: usize, more: &str) -> String {
    let names: Vec<String> = (1..=routers).map(|number| format!("router{number}")).collect();
    let mut nodes = vec!["client".to_owned()];
    nodes.extend(names.iter().cloned());
    nodes.push("server".to_owned());
    let links: String = nodes
        .windows(2)
        .map(|two| format!("[[links]]\nbetween = [\"{}\", \"{}\"]\n{more}\n", two[0], two[1]))
        .collect();
    format!(
        "v6gap = 1\nhosts = [\"client\", \"server\"]\nrouters = {names:?}\n\
         [every]\nrate = \"100 Mbit/s\"\n{links}"
    )
}

/// Words in front of a program that make its user an ordinary one, whom the system allows nothing.
const ANYBODY: [&str; 4] = ["unshare", "--user", "--map-user=1000", "--map-group=1000"];

/// A look at the way by a program with these words in front.
fn looking(lab: &Lab, home: &Home, before: &[&str], host: &str, at: &[String; 2]) -> Command {
    let [four, six] = at;
    let mut probe = lab.exec(home, "client");
    probe.args(before).args([PROGRAM, "probe", host, "--v4", four, "--v6", six]);
    probe.args(["--measure", "path", "--mine"]);
    probe
}

/// What a look at the way says, and the process.
fn look(
    lab: &Lab,
    home: &Home,
    (before, host): (&[&str], &str),
    addresses: &[String; 2],
    more: &[&str],
) -> (Value, Output) {
    let mut probe = looking(lab, home, before, host, addresses);
    let output = probe.arg("--json").args(more).output().unwrap();
    let told = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|why| panic!("{why}: {}", text(&output.stderr)));
    fits(include_str!("../../../../docs/schema/path.json"), &told);
    (told, output)
}

/// The addresses at each distance; nothing where nobody answered.
fn rungs(told: &Value, family: &str) -> Vec<String> {
    let rungs = told["hops"][family].as_array().unwrap_or_else(|| panic!("{told:#}"));
    let of = |rung: &Value| rung["by"][0]["address"].as_str().unwrap_or_default().to_owned();
    rungs.iter().map(of).collect()
}

fn found(told: &Value, family: &str) -> Option<u64> {
    told["path_mtu"][family]["both_ways"].as_u64()
}

/// What is said of the way, in one line.
fn said(lab: &Lab, home: &Home, addresses: &[String; 2]) -> String {
    words(&looking(lab, home, &[], CLOSED, addresses).output().unwrap().stdout)
}

/// The server's port that nobody serves.
const CLOSED: &str = "server:9";

/// Every router of one to four is found over both families.
pub fn have_every_router() {
    every_router(&[]);
}

/// Nor does that take any privilege.
pub fn are_found_by_anybody() {
    let home = Home::new("anybody");
    let lab = Lab::of_world(&home, "anybody", &chain(1, ""));
    let mut asked = lab.exec(&home, "client");
    asked.args(ANYBODY).args(["sh", "-c", "id -u; grep CapEff /proc/self/status"]);
    let seen = words(&asked.output().unwrap().stdout);
    assert_eq!(seen, "1000 CapEff: 0000000000000000");
    drop(lab);
    every_router(&ANYBODY);
}

fn every_router(before: &[&str]) {
    for routers in if is_night() { 1..=4 } else { 2..=2 } {
        let home = Home::new("ways-routers");
        let lab = Lab::of_world(&home, &format!("ways{routers}"), &chain(routers, ""));
        let last = at(routers + 1);
        let (told, output) = look(&lab, &home, (before, CLOSED), &last, &[]);
        for (family, host) in ["v4", "v6"].into_iter().zip(&last) {
            let mut expected: Vec<String> = (1..=routers)
                .map(|link| match family {
                    "v4" => format!("10.46.{link}.2"),
                    _ => format!("fd46:{link}::2"),
                })
                .collect();
            expected.push(host.clone());
            assert_eq!(rungs(&told, family), expected, "{told:#}");
            assert_eq!(found(&told, family), Some(1500), "{told:#}");
        }
        // Nobody serves there, which is said over both families.
        assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
        figure("routers", routers);
    }
}

/// Three routers of IPv4 and four of IPv6, of which the first and the last are the same.
const PARTING: &str = r#"
v6gap   = 1
hosts   = ["client", "server"]
routers = ["router1", "router2", "router3", "router4", "router5"]
[every]
rate = "100 Mbit/s"
[[links]]
between = ["client", "router1"]
[[links]]
between = ["router1", "router2"]
[[links]]
between = ["router2", "router3"]
[[links]]
between = ["router3", "server"]
[[links]]
between = ["router1", "router4"]
delay   = "3 ms"
[[links]]
between = ["router4", "router5"]
[[links]]
between = ["router5", "router3"]
"#;

/// Where IPv6 leaves the shorter way, at whose end both meet again.
const DETOUR: [(&str, &str); 2] =
    [("router1", "fd46:4::/64 via fd46:5::2"), ("router3", "fd46:1::/64 via fd46:7::1")];

/// The routers of each way, and the host behind them.
const PARTED: [(&str, &[&str]); 2] = [
    ("v4", &["10.46.1.2", "10.46.2.2", "10.46.3.2", "10.46.4.2"]),
    ("v6", &["fd46:1::2", "fd46:5::2", "fd46:6::2", "fd46:7::2", "fd46:4::2"]),
];

/// The ways part where the world's do, with every address right, and nothing is called lost.
pub fn part_where_the_world_s_do() {
    let home = Home::new("ways-part");
    let lab = Lab::of_world(&home, "part", PARTING);
    for (node, route) in DETOUR {
        lab.ip(&home, node, &format!("-6 route replace {route}"));
    }
    let (told, _) = look(&lab, &home, (&[], CLOSED), &at(4), &[]);
    for (family, expected) in PARTED {
        assert_eq!(rungs(&told, family), expected, "{told:#}");
    }
    let said = said(&lab, &home, &at(4));
    let parts = "The ways part at distance 2, by the times of the routers there.";
    assert!(said.contains(parts), "{said}");
    for word in ["loss", "lost", "no answer"] {
        assert!(!said.contains(word), "{word}: {said}");
    }
    figure("three and four routers", parts);
}

/// The largest packet is found exactly, whether routers tell it or not, one way or both.
pub fn have_an_mtu() {
    let limits: Vec<u32> = if is_night() {
        vec![1280, 1281, 1333, 1400, 1420, 1472, 1480, 1492, 1499]
    } else {
        vec![1400]
    };
    for limit in limits {
        let holes = [
            ("both", format!("v6 = {{ black_hole = {limit} }}")),
            ("back", format!("back = {{ v6 = {{ black_hole = {limit} }} }}")),
        ];
        for (which, hole) in &holes[..times(1, 2)] {
            let home = Home::new("ways-holes");
            let lab = Lab::of_world(&home, &format!("hole{which}{limit}"), &chain(1, hole));
            let (told, _) = look(&lab, &home, (&[], CLOSED), &at(2), &[]);
            assert_eq!(found(&told, "v4"), Some(1500), "{told:#}");
            assert_eq!(found(&told, "v6"), Some(u64::from(limit)), "{which} {told:#}");
            assert_eq!(told["path_mtu"]["v6"]["told"], 1500, "nobody tells: {told:#}");
            figure(&format!("black hole {which} at {limit} B"), "found");
        }
        let home = Home::new("ways-told");
        let lab = Lab::of_world(
            &home,
            &format!("told{limit}"),
            &chain(1, &format!("v6 = {{ mtu = {limit} }}")),
        );
        let (told, _) = look(&lab, &home, (&[], CLOSED), &at(2), &[]);
        assert_eq!(found(&told, "v6"), Some(u64::from(limit)), "{told:#}");
        assert_eq!(told["path_mtu"]["v6"]["told"], limit, "routers tell: {told:#}");
    }
}

/// Only what comes back is limited: echoes of QUIC tell the way there alone.
pub fn tell_there_from_back() {
    let home = Home::new("ways-quic");
    for (which, hole, there) in [
        ("back", "back = { v6 = { black_hole = 1400 } }", 1500),
        ("both", "v6 = { black_hole = 1400 }", 1400),
    ] {
        let lab = Lab::of_world(&home, &format!("quic{which}"), &chain(1, hole));
        let server = caddy(&lab, &home);
        let host = format!("https://{NAME}:{PORT}/");
        let (told, _) = look(&lab, &home, (&[], &host), &at(2), &["--http", "3"]);
        drop(server);
        let six = &told["path_mtu"]["v6"];
        assert_eq!((&six["both_ways"], &six["there"]), (&1400.into(), &there.into()), "{told:#}");
        figure(&format!("black hole {which}: both ways, there"), format!("1400, {there}"));
    }
}

/// A tunnel is named by what it leaves of the MTU.
pub fn name_their_tunnel() {
    for (kind, outer, mtu, named) in [
        ("ip-in-ip", "v4", 1480, "6in4 (RFC 4213)"),
        ("gre", "v4", 1476, "GRE over IPv4"),
        ("wireguard", "v6", 1420, "WireGuard"),
    ] {
        let home = Home::new("ways-tunnels");
        let world = format!(
            "{}[[tunnels]]\nbetween = [\"router1\", \"router2\"]\nkind = \"{kind}\"\n\
             over = \"{outer}\"\ncarries = [\"v6\"]\n",
            chain(2, "")
        );
        let lab = Lab::of_world(&home, &format!("tun{kind}"), &world);
        let said = said(&lab, &home, &at(3));
        let less = format!("up to {mtu} B over IPv6: {} B less over IPv6", 1500 - mtu);
        assert!(said.contains(&less) && said.contains(named), "{kind}: {said}");
        figure(kind, named);
    }
}
