//! Round trips through the lab's router: as long as the wire model says, and refused where the link
//! cannot give them.

use super::support::{Home, figure, number, question, times};
use v6gap_core::family::Family;
use v6gap_core::wiremodel::{self, TcpOptions};
use v6gap_core::world::model;
use v6gap_core::world::{LinkModel, World};

/// How far IPv6 may be from IPv4 beyond what the model says: so many µs, or this share of the round
/// trip. A busy machine is given more in the short form, though little beside the 430 µs between
/// its sizes.
fn bounds() -> (f64, f64) {
    (times(25, 5) as f64, times(30, 5) as f64 / 1000.0)
}

/// What hosts may add to a round trip, in µs, and in parts of it: to wake up, which takes the
/// longer the longer they had to wait, and for each packet of a message.
fn hosts_max() -> (f64, f64) {
    (times(100, 60) as f64, times(3, 2) as f64 / 100.0)
}

/// Messages in bytes, with how many connections, turns and exchanges of a turn measure them.
type Sizes = (&'static [u32], [u32; 3]);

/// Round trips through the lab's router at 100 Mbit/s, by day of messages of one packet: while
/// other work takes the processors, a message of many is as late as its latest.
pub fn rise_with_size() {
    let sizes: [Sizes; 4] = [
        (&[64, 256, 1024, 1408], [times(4, 8) as u32, times(2, 4) as u32, 15]),
        (&[4_096], [2, 2, 10]),
        (&[16_384], [2, 2, 5]),
        (&[65_000], [2, 1, 5]),
    ];
    check_sizes(100, &sizes[..times(1, 4)]);
}

/// The same at a tenth of the rate, with fewer exchanges, which take ten times as long.
pub fn rise_with_size_on_a_slow_line() {
    let sizes: [Sizes; 4] = [
        (&[64, 256, 1024, 1408], [4, 2, 5]),
        (&[4_096], [2, 2, 3]),
        (&[16_384], [1, 2, 2]),
        (&[65_000], [1, 1, 2]),
    ];
    check_sizes(10, &sizes);
}

fn plan(rate_mbps: u64, measures: &str) -> String {
    let pairs = times(6, 10);
    format!(
        r#"
v6gap = 1
name = "Round trips"
[lab]
model = "wire"
rate = "{rate_mbps} Mbit/s"
[design]
pairs = {pairs}
null_blocks = 2
{measures}"#
    )
}

fn measure(protocol: &str, sizes: &[u32], [connections, turns, turn]: [u32; 3]) -> String {
    let sizes: Vec<String> = sizes.iter().map(|size| format!("\"{size} B\"")).collect();
    let sizes = sizes.join(", ");
    format!(
        r#"
[[measure]]
metric = "rtt"
protocol = {protocol}
message = [{sizes}]
connections = {connections}
turns = {turns}
turn = {turn}
"#
    )
}

/// A round trip takes what the model says and what hosts may add; and IPv6 differs from IPv4 by
/// what the model says, within [`bounds`].
fn check_sizes(rate_mbps: u64, sizes: &[Sizes]) {
    let home = Home::new("round-trips");
    let of_both = |(sizes, counts): &Sizes| measure(r#"["tcp", "udp"]"#, sizes, *counts);
    let measures: String = sizes.iter().map(of_both).collect();
    let result = home.plan_run(&plan(rate_mbps, &measures));
    let (off_us_max, off_share_max) = bounds();
    let (hosts_us_max, hosts_share_max) = hosts_max();
    let mut missed = Vec::new();
    for transport in ["tcp", "udp"] {
        for &size in sizes.iter().flat_map(|(sizes, _)| *sizes) {
            let q = question(&result, &format!("rtt-{transport}-{size}"), "rtt");
            let hosts_us = [(Family::V4, "v4"), (Family::V6, "v6")].map(|(family, key)| {
                let seen_us = number(&q[key]["estimate"]) * 1e6;
                let wire_us = wire_us(rate_mbps, transport, family, size);
                let added_us = seen_us - wire_us;
                let line =
                    format!("{seen_us:.1} µs, model {wire_us:.1}, hosts add {added_us:.1} µs");
                figure(&format!("{transport} {size} B {family}"), line);
                if !(0.0..hosts_us_max + hosts_share_max * wire_us).contains(&added_us) {
                    missed.push(format!("{transport} {size} {family}: {added_us} µs added"));
                }
                added_us
            });
            let off_us = hosts_us[1] - hosts_us[0];
            let off_us_max = off_us_max.max(off_share_max * number(&q["v6"]["estimate"]) * 1e6);
            figure(
                &format!("{transport} {size} B, IPv6 beyond the model"),
                format!("{off_us:+.1} µs"),
            );
            if off_us.abs() > off_us_max {
                missed.push(format!("{transport} {size}: IPv6 {off_us} µs beyond the model"));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

/// One more byte makes two packets of a datagram, for IPv6 beyond 1452 B and for IPv4 beyond 1472:
/// a step of a short packet's time on each of four lines. Beyond 1452 it must be there for IPv6
/// only.
pub fn the_cliff_of_fragments() {
    const CLIFFS: [(u32, u32); 2] = [(1_452, 1_453), (1_472, 1_473)];
    let home = Home::new("cliff");
    let sizes = CLIFFS.map(|(before, beyond)| [before, beyond]).concat();
    let measures = measure(r#""udp""#, &sizes, [4, 4, 15]);
    let result = home.plan_run(&plan(100, &measures));
    let seen_us = |size: u32, key: &str| {
        let q = question(&result, &format!("rtt-udp-{size}"), "rtt");
        number(&q[key]["estimate"]) * 1e6
    };
    let mut steps = Vec::new();
    for (before, beyond) in CLIFFS {
        for (family, key) in [(Family::V4, "v4"), (Family::V6, "v6")] {
            let step = seen_us(beyond, key) - seen_us(before, key);
            let model = |size| wire_us(100, "udp", family, size);
            let truth = model(beyond) - model(before);
            figure(
                &format!("{before} to {beyond} B, {family}"),
                format!("{step:+.1} µs, model {truth:+.1}"),
            );
            steps.push((step, truth));
        }
    }
    // Hosts add or save some µs, far less than the step that one family has and the other has not.
    let [(v4, _), (v6, truth), ..] = steps[..] else { panic!("{steps:?}") };
    assert!(v6 - v4 > truth / 3.0, "beyond 1452 B: IPv4 {v4} µs, IPv6 {v6} µs");
}

fn wire_us(rate_mbps: u64, transport: &str, family: Family, size: u32) -> f64 {
    let world = World::client_router_server(LinkModel::Wire, Some(rate_mbps * 1_000_000));
    let packets = match transport {
        "tcp" => wiremodel::tcp_packets(size, family, 1500, TcpOptions::TIMESTAMPS),
        _ => wiremodel::udp_packets(size, family, 1500).unwrap(),
    };
    model::world_round_trip_ns(&world, family, &packets) / 1000.0
}

/// Both ends in one thread, through a router of cables: the family is proved, and what is left
/// without a scheduler is far less than what two processes take on the same cables.
pub fn in_one_thread() {
    let home = Home::new("one-thread");
    let table = |method: &str| {
        format!(
            "[[measure]]\nmetric = \"rtt\"\nprotocol = [\"tcp\", \"udp\"]\nmessage = \"64 B\"\n\
             method = \"{method}\"\n"
        )
    };
    let result = home.plan_run(&format!(
        "v6gap = 1\nname = \"One thread\"\n[lab]\nmodel = \"bare\"\n[design]\npairs = 8\n{}{}",
        table("ends"),
        table("stack")
    ));
    for transport in ["tcp", "udp"] {
        let of = |suffix: &str| {
            let q = question(&result, &format!("rtt-{transport}-64{suffix}"), "rtt");
            ["v4", "v6"].map(|family| number(&q[family]["estimate"]) * 1e6)
        };
        let (two, one) = (of(""), of("-stack"));
        figure(
            &format!("{transport}, two processes and one thread"),
            format!("{two:?} {one:?} µs"),
        );
        assert!(one.iter().zip(two).all(|(one, two)| *one < 0.7 * two), "{one:?} and {two:?}");
        let q = question(&result, &format!("rtt-{transport}-64-stack"), "rtt");
        // Pairs of an unproved family do not count, and without any there is no effect.
        assert!(number(&q["effect"]["pairs"]) >= 2.0, "{q:#}");
    }
}

pub fn refused_on_shaped() {
    let home = Home::new("refused");
    let result = home.plan_run(
        r#"
v6gap = 1
name = "Refused"
[lab]
model = "shaped"
[design]
pairs = 6
null_blocks = 0
[[measure]]
metric = "rtt"
message = "64 B"
[[measure]]
metric = "throughput"
time = "200 ms"
"#,
    );
    let q = question(&result, "rtt-tcp-64", "rtt");
    assert_eq!(q["verdict"], "none");
    assert!(q["why_none"].as_str().unwrap().contains("token bucket"), "{q:#}");
    assert!(q["v4"]["estimate"].is_null(), "a refused figure must not be printed: {q:#}");
}
