//! Goodput on links of 10, 100 and 1000 Mbit/s: the headers and nothing else.

use super::support::{Home, figure, full_form, number, question, times};
use v6gap_core::family::Family;
use v6gap_core::wiremodel;
use v6gap_core::world::{LinkModel, Translation, TranslationKind, World};

const MBIT: f64 = 1e6;

/// How far the median of the runs may be off the model, in percent: what the lab promises, and more
/// of it in the short form, whose runs are few and short.
fn off_percent_max(rate_mbps: u64) -> f64 {
    let promised = if rate_mbps < 1_000 { 0.1 } else { 0.5 };
    promised * times(3, 1) as f64
}

fn lab(rate_mbps: u64) -> World {
    World::client_router_server(LinkModel::Shaped, Some(rate_mbps * 1_000_000))
}

fn plan(rate_mbps: u64, measure: &str) -> String {
    let (pairs, null_blocks) = (times(6, 10), times(2, 0));
    format!(
        r#"
v6gap = 1
name = "Goodput"
[lab]
model = "shaped"
rate = "{rate_mbps} Mbit/s"
[design]
pairs = {pairs}
null_blocks = {null_blocks}
[[measure]]
metric = "throughput"
{measure}"#
    )
}

/// 1448 and 1428 of 1538 bytes on the wire.
pub fn tcp() {
    let home = Home::new("tcp-goodput");
    let result = home.plan_run(&plan(100, "time = \"1 s\""));
    let q = question(&result, "throughput-tcp", "throughput");
    let (v4, v6) = (number(&q["v4"]["estimate"]) / MBIT, number(&q["v6"]["estimate"]) / MBIT);
    let ratio = 1.0 + number(&q["effect"]["estimate"]);
    figure("IPv4, Mbit/s (model 94.148)", format!("{v4:.3}"));
    figure("IPv6, Mbit/s (model 92.848)", format!("{v6:.3}"));
    figure("ratio (model 0.98619)", format!("{ratio:.5}"));
    let off = off_percent_max(100) / 100.0;
    assert!((v4 / 94.148 - 1.0).abs() < off);
    assert!((v6 / 92.848 - 1.0).abs() < off);
    assert!((ratio / 0.98619 - 1.0).abs() < off);
    assert_eq!(q["residual"]["verdict"], "same", "{q:#}");
    assert_eq!(q["explained"], "all", "{q:#}");
    assert!(q["sentence"].as_str().unwrap().contains("header"), "{q:#}");
}

/// A slow line, on which the first window is a large part of a transfer.
pub fn tcp_slow() {
    check_tcp(10, "2 s");
}

/// A fast line, which only a machine without other work carries.
pub fn tcp_fast() {
    if full_form() {
        check_tcp(1_000, "1 s");
    }
}

fn check_tcp(rate_mbps: u64, time: &str) {
    let home = Home::new("tcp-goodput-rates");
    let result = home.plan_run(&plan(rate_mbps, &format!("time = \"{time}\"")));
    let q = question(&result, "throughput-tcp", "throughput");
    for (family, key) in [(Family::V4, "v4"), (Family::V6, "v6")] {
        let model = wiremodel::world_tcp_goodput_bps(&lab(rate_mbps), family).unwrap();
        check(rate_mbps, &format!("TCP {key}"), number(&q[key]["estimate"]), model);
    }
}

fn check(rate_mbps: u64, what: &str, seen_bps: f64, model_bps: f64) {
    let off = (seen_bps / model_bps - 1.0) * 100.0;
    let what = format!("{what} at {rate_mbps} Mbit/s");
    figure(&what, format!("{:.4} Mbit/s, {off:+.3} %", seen_bps / MBIT));
    let most = off_percent_max(rate_mbps);
    assert!(off.abs() < most, "{what}: {seen_bps} against {model_bps}");
}

/// Payloads of datagrams in bytes: the last is one packet for IPv4 and two for IPv6.
const LONG: [u32; 4] = [512, 1_024, 1_408, 1_472];
const SHORT: [u32; 3] = [64, 128, 256];

/// Datagrams of every payload: 100 · p / (p + 66) and / (p + 86) while they are one packet.
///
/// In the short form without the one that is cut, which costs a busy machine packets.
pub fn udp_long() {
    check_udp(100, if times(0, 1) == 1 { &LONG } else { &LONG[..3] });
}

/// In the short form without the shortest, of which nearly 100 000 a second are needed.
pub fn udp_short() {
    check_udp(100, if times(0, 1) == 1 { &SHORT } else { &SHORT[1..] });
}

/// The same at a tenth of the rate.
pub fn udp_slow_long() {
    if full_form() {
        check_udp(10, &LONG);
    }
}

pub fn udp_slow_short() {
    check_udp(10, if times(0, 1) == 1 { &SHORT } else { &SHORT[..1] });
}

fn check_udp(rate_mbps: u64, payloads: &[u32]) {
    let home = Home::new("udp-goodput");
    let list: Vec<String> = payloads.iter().map(|bytes| format!("\"{bytes} B\"")).collect();
    let time = if rate_mbps < 100 { "1 s" } else { "700 ms" };
    let result = home.plan_run(&plan(
        rate_mbps,
        &format!(
            "protocol = \"udp\"\npayload = [{}]\nbitrate = \"full\"\ntime = \"{time}\"",
            list.join(", ")
        ),
    ));
    for &payload in payloads {
        let q = question(&result, &format!("throughput-udp-{payload}"), "throughput");
        for (family, key) in [(Family::V4, "v4"), (Family::V6, "v6")] {
            let model = wiremodel::world_udp_goodput_bps(&lab(rate_mbps), family, payload);
            let model = model.unwrap().unwrap();
            let what = format!("UDP {payload} B {key}");
            check(rate_mbps, &what, number(&q[key]["estimate"]), model);
        }
    }
}

/// Payload of the datagrams that are translated, in bytes.
const TRANSLATED: u32 = 1_408;

/// NAT64 and 464XLAT end to end: what is IPv6 before the router and IPv4 behind it has the goodput
/// that follows from both, and is nowhere called by the name of its family alone.
pub fn translated() {
    for (kind, key, name) in [
        (TranslationKind::Nat64, "v6", "IPv6 by NAT64"),
        (TranslationKind::Xlat464, "v4", "IPv4 by 464XLAT"),
    ] {
        let home = Home::new(kind.name());
        let model = World { translation: Some(Translation { kind, at: 1, client: 0 }), ..lab(100) };
        let file = home.path().join("world.toml");
        std::fs::write(&file, translated_world(kind)).unwrap();
        let (pairs, nulls, time) = (times(3, 10), times(1, 0), times(400, 1_000));
        let result = home.plan_run(&format!(
            r#"
v6gap = 1
name = "Translated"
[lab]
world = "{}"
[design]
pairs = {pairs}
null_blocks = {nulls}
[[measure]]
metric = "throughput"
time = "{time} ms"
[[measure]]
metric = "throughput"
protocol = "udp"
payload = "{TRANSLATED} B"
bitrate = "full"
time = "{time} ms""#,
            file.to_str().unwrap()
        ));
        let family = kind.translates();
        for (cell, expected) in [
            ("throughput-tcp".to_owned(), wiremodel::world_tcp_goodput_bps(&model, family)),
            (
                format!("throughput-udp-{TRANSLATED}"),
                wiremodel::world_udp_goodput_bps(&model, family, TRANSLATED).unwrap(),
            ),
        ] {
            let q = question(&result, &cell, "throughput");
            let (seen, expected) = (number(&q[key]["estimate"]), expected.unwrap());
            let off = (seen / expected - 1.0) * 100.0;
            figure(&format!("{name}, {cell}"), format!("{:.3} Mbit/s, {off:+.3} %", seen / MBIT));
            // A program on the way passes packets on when it has its turn.
            assert!(off.abs() < 3.0 * off_percent_max(100), "{name}: {q:#}");
            let caveat = format!("it is not native {family}");
            assert!(q["caveats"].to_string().contains(&caveat), "{q:#}");
        }
        assert!(result.to_string().contains(name), "{result:#}");
    }
}

fn translated_world(kind: TranslationKind) -> String {
    format!(
        r#"
v6gap = 1
model = "shaped"
hosts = ["client", "server"]
routers = ["router"]
translation = {{ kind = "{kind}", at = "router" }}
every = {{ rate = "100 Mbit/s" }}
links = [{{ between = ["client", "router"] }}, {{ between = ["router", "server"] }}]
"#
    )
}
