//! The way to a host as `v6gap probe` finds it: every router, where it parts, and how large a
//! packet may be, in worlds where all of it is known. The host itself serves nothing: who refuses
//! a connection has answered.

use super::sites::{NAME, PORT, caddy};
use super::support::{Home, figure, text, times};
use super::tier::is_night;
use super::two_hosts::Lab;
use serde_json::Value;
use std::process::Output;

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

/// What a look at the way says, and the process.
fn look(
    lab: &Lab,
    home: &Home,
    host: &str,
    addresses: &[String; 2],
    more: &[&str],
) -> (Value, Output) {
    let [four, six] = addresses;
    let mut probe = lab.command(home, "client");
    probe.args(["probe", host, "--v4", four, "--v6", six, "--measure", "path", "--mine", "--json"]);
    let output = probe.args(more).output().unwrap();
    let told = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|why| panic!("{why}: {}", text(&output.stderr)));
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

/// Every router of one to four is found over both families, and nothing is claimed to be lost.
pub fn have_every_router() {
    for routers in if is_night() { 1..=4 } else { 2..=2 } {
        let home = Home::new("ways-routers");
        let lab = Lab::of_world(&home, &format!("ways{routers}"), &chain(routers, ""));
        let last = at(routers + 1);
        let (told, output) = look(&lab, &home, "server:9", &last, &[]);
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
        assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
        figure("routers", routers);
    }
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
            let (told, _) = look(&lab, &home, "server:9", &at(2), &[]);
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
        let (told, _) = look(&lab, &home, "server:9", &at(2), &[]);
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
        let (told, _) = look(&lab, &home, &host, &at(2), &["--http", "3"]);
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
        let [four, six] = at(3);
        let mut probe = lab.command(&home, "client");
        probe.args(["probe", "server:9", "--v4", &four, "--v6", &six, "--measure", "path"]);
        let output = probe.arg("--mine").output().unwrap();
        let said = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        let less = format!("up to {mtu} B over IPv6: {} B less over IPv6", 1500 - mtu);
        assert!(said.contains(&less) && said.contains(named), "{kind}: {said}");
        figure(kind, named);
    }
}
