//! Goodput on a link of 100 Mbit/s: the headers and nothing else.

use super::support::{Home, figure, number, question};

const MBIT: f64 = 1e6;

/// 1448 and 1428 of 1538 bytes on the wire.
pub fn tcp() {
    let home = Home::new("tcp-goodput");
    let result = home.plan_run(
        r#"
v6gap = 1
name = "TCP goodput"
[lab]
model = "shaped"
[design]
pairs = 10
null_blocks = 2
[[measure]]
metric = "throughput"
time = "1 s"
"#,
    );
    let q = question(&result, "throughput-tcp", "throughput");
    let (v4, v6) = (number(&q["v4"]["estimate"]) / MBIT, number(&q["v6"]["estimate"]) / MBIT);
    let ratio = 1.0 + number(&q["effect"]["estimate"]);
    figure("IPv4, Mbit/s (model 94.148)", format!("{v4:.3}"));
    figure("IPv6, Mbit/s (model 92.848)", format!("{v6:.3}"));
    figure("ratio (model 0.98619)", format!("{ratio:.5}"));
    assert!((v4 / 94.148 - 1.0).abs() < 0.003);
    assert!((v6 / 92.848 - 1.0).abs() < 0.003);
    assert!((ratio / 0.98619 - 1.0).abs() < 0.001);
    assert_eq!(q["residual"]["verdict"], "same", "{q:#}");
    assert_eq!(q["explained"], "all", "{q:#}");
    assert!(q["sentence"].as_str().unwrap().contains("header"), "{q:#}");
}

/// Payload, and what the model gives for IPv4 and IPv6 in Mbit/s: 100 · p / (p + 66) and / (p +
/// 86).
pub fn udp() {
    let home = Home::new("udp-goodput");
    let result = home.plan_run(
        r#"
v6gap = 1
name = "UDP goodput"
[lab]
model = "shaped"
[design]
pairs = 6
null_blocks = 0
[[measure]]
metric = "throughput"
protocol = "udp"
payload = ["128 B", "512 B", "1024 B", "1408 B"]
bitrate = "full"
time = "700 ms"
"#,
    );
    for payload in [128.0, 512.0, 1024.0, 1408.0] {
        let q = question(&result, &format!("throughput-udp-{payload}"), "throughput");
        for (family, overhead) in [("v4", 66.0), ("v6", 86.0)] {
            let seen = number(&q[family]["estimate"]) / MBIT;
            let model = 100.0 * payload / (payload + overhead);
            let off = (seen / model - 1.0) * 100.0;
            figure(&format!("{payload} B {family}"), format!("{seen:.3} Mbit/s, {off:+.2} %"));
            assert!(off.abs() < 0.3, "{payload} B {family}: {seen} against {model}");
        }
    }
}
