//! Round trips through the lab's router: as long as the wire model says, and refused where the link
//! cannot give them.

use super::support::{Home, figure, number, question};
use v6gap_core::family::Family;
use v6gap_core::wiremodel::{self, TcpOptions};
use v6gap_core::world::{LinkModel, World};

/// How far a round trip may be off the model: so many µs, or this share of it.
const OFF_US_MAX: f64 = 5.0;
const OFF_SHARE_MAX: f64 = 0.03;

const SIZES: [u32; 6] = [64, 256, 1024, 1408, 4096, 16_384];

/// For each transport one host term is fitted over both families and all sizes; what is left must
/// be at most 3 % or 5 µs.
pub fn rise_with_size() {
    let home = Home::new("round-trips");
    let result = home.plan_run(
        r#"
v6gap = 1
name = "Round trips"
[lab]
model = "wire"
[design]
pairs = 6
null_blocks = 2
[[measure]]
metric = "rtt"
protocol = ["tcp", "udp"]
message = ["64 B", "256 B", "1024 B", "1408 B", "4096 B", "16384 B"]
"#,
    );
    for transport in ["tcp", "udp"] {
        let mut rows = Vec::new();
        for size in SIZES {
            let q = question(&result, &format!("rtt-{transport}-{size}"), "rtt");
            for (family, key) in [(Family::V4, "v4"), (Family::V6, "v6")] {
                let seen_us = number(&q[key]["estimate"]) * 1e6;
                rows.push((size, key, seen_us, wire_us(transport, family, size)));
            }
        }
        let host_us = host_term(&rows);
        figure(&format!("{transport}: host term, µs"), format!("{host_us:.1}"));
        let mut missed = Vec::new();
        for (size, family, seen, wire) in rows {
            let off = seen - wire - host_us;
            let share = off / (wire + host_us) * 100.0;
            let line = format!("{seen:.1} µs, model {wire:.1}, off {off:+.1} µs ({share:+.1} %)");
            figure(&format!("{transport} {size} B {family}"), line);
            if off.abs() > OFF_US_MAX && share.abs() > OFF_SHARE_MAX * 100.0 {
                missed.push(format!("{transport} {size} {family}: {off} µs"));
            }
        }
        assert!(missed.is_empty(), "{missed:?}");
    }
}

/// The host term, in µs, that suits all rows: each row allows a range of them, and this is the
/// middle of what all allow (where they allow nothing in common, the rows at the ends will say so).
fn host_term(rows: &[(u32, &str, f64, f64)]) -> f64 {
    let (least, most) = rows.iter().fold((f64::MIN, f64::MAX), |(least, most), row| {
        let (_, _, seen, wire) = row;
        let off_max = (OFF_SHARE_MAX * seen).max(OFF_US_MAX);
        (least.max(seen - wire - off_max), most.min(seen - wire + off_max))
    });
    f64::midpoint(least, most)
}

fn wire_us(transport: &str, family: Family, size: u32) -> f64 {
    let world = World::client_router_server(LinkModel::Wire, Some(100_000_000));
    let packets = match transport {
        "tcp" => wiremodel::tcp_packets(size, family, 1500, TcpOptions::TIMESTAMPS),
        _ => wiremodel::udp_packets(size, family, 1500).unwrap(),
    };
    wiremodel::world_round_trip_ns(&world, family, &packets) / 1000.0
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
