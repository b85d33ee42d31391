//! Other troubles of networks: resets, packets too long without a word of it, loss, an address that
//! goes away.

use super::checks::{Check, say};
use super::oracle;
use super::plans::{KINDS, Kind, plan};
use super::site::{CLIENT, Site, await_event};
use super::support::Home;
use super::told::{Ended, Program};
use super::two_hosts::Lab;
use std::time::{Duration, Instant};

/// After a reset everybody knows at once.
const AT_ONCE: Duration = Duration::from_secs(10);

const BULK: Kind = KINDS[3];

pub fn checks(full: bool) -> Vec<Check> {
    let mut checks = vec![
        Check::new("connections_are_reset_at_the_client", || reset("client", "dport")),
        Check::new("connections_are_reset_at_the_server", || reset("server", "sport")),
        Check::new("packets_become_too_long", || smaller_packets(true)),
    ];
    if full {
        checks.push(Check::new("packets_become_too_long_without_icmp", || smaller_packets(false)));
        checks.push(Check::new("a_third_of_all_packets_is_lost", loss));
    }
    checks
}

/// A run in the middle of its third block.
pub fn within(site: &Site, kind: Kind) -> (Home, Program) {
    let home = site.home("measuring");
    let client = site.run_plan("client", &home, &plan(kind, 6));
    await_event(&client, "block", 3);
    std::thread::sleep(Duration::from_millis(300));
    (home, client)
}

/// It is over with a clear error, or done.
fn is_over(ended: &Ended) {
    if !matches!(ended.code, Some(0 | 6)) {
        oracle::is_clear(ended, 4);
    }
}

/// All connections of the session end with RST.
fn reset(node: &str, port: &str) {
    let site = Site::up(&format!("reset-{node}"));
    let server = site.serve(&[]);
    let (home, mut client) = within(&site, KINDS[0]);
    let start = Instant::now();
    site.at(node, &format!("ss -K -t state established {port} = 4466"));
    let ended = client.end(CLIENT);
    say("client ended after", ended.at - start);
    oracle::is_clear(&ended, 4);
    assert!(ended.at - start < AT_ONCE);
    oracle::serves(&site, "other");
    oracle::nothing_is_lost(&home, &client.out);
    oracle::goes_on(&site, "client", &home, &client.out);
    drop(server);
}

/// The router's link to the server takes smaller packets from now on; it says so, or it may not.
fn smaller_packets(says_so: bool) {
    let site = Site::up(&format!("mtu{}-", u8::from(says_so)));
    let server = site.serve(&[]);
    if !says_so {
        for family in ["-4", "-6"] {
            let protocol = if family == "-4" { "icmp" } else { "ipv6-icmp" };
            // Neighbours are found by ICMPv6, so only what goes to the client is dropped.
            let client = super::site::addresses("client")[usize::from(family == "-6")];
            let rule = format!("iif lo to {client} ipproto {protocol} blackhole pref 10");
            site.at("router", &format!("ip {family} rule add {rule}"));
        }
    }
    let (home, mut client) = within(&site, BULK);
    let start = Instant::now();
    site.at("router", "ip link set link2 mtu 1300");
    let ended = client.end(CLIENT * 3);
    say("client ended after", ended.at - start);
    is_over(&ended);
    oracle::nothing_is_lost(&home, &client.out);
    let trials = oracle::trials(&home);
    if says_so {
        let told =
            |gate: &str| trials.iter().any(|(t, _)| t.findings.iter().any(|f| f.gate == gate));
        assert!(told("path-mtu"), "no trial noticed the smaller packets");
        assert!(matches!(ended.code, Some(0 | 6)), "{}", ended.said);
    } else {
        site.at("router", "ip link set link2 mtu 1500");
        oracle::goes_on(&site, "client", &home, &client.out);
    }
    drop(server);
}

/// Control and data alike lose packets on their way to the server.
fn loss() {
    const WORLD: &str = "v6gap = 1\nmodel = \"wire\"\nhosts = [\"client\", \"server\"]\n\
        routers = [\"router\"]\n[every]\nrate = \"100 Mbit/s\"\n\
        [[links]]\nbetween = [\"client\", \"router\"]\nloss = \"30 %\"\n\
        [[links]]\nbetween = [\"router\", \"server\"]\n";
    let home = Home::new("fault-loss");
    let world = home.path().join("lossy.toml");
    std::fs::write(&world, WORLD).unwrap();
    let site = Site { lab: Lab::up("loss", &[world.to_str().unwrap()]), home };
    let server = site.serve(&[]);
    let mut outcomes = Vec::new();
    for turn in 0..5 {
        let home = site.home(&format!("loss{turn}"));
        let mut client = site.run("client", &home, &["--measure", "rtt,udp", "--pairs", "6"]);
        let ended = client.end(CLIENT * 3);
        outcomes.push(ended.code);
        match home.path().join("runs").exists() {
            true => drop(oracle::nothing_is_lost(&home, &client.out)),
            // A request for a connection is repeated twice in the time for an answer.
            false => assert!(matches!(ended.code, Some(3 | 4)), "{}", ended.said),
        }
        assert!(!ended.said.contains("panicked"), "{}", ended.said);
    }
    say("exit codes", &format!("{outcomes:?}"));
    drop(server);
}
