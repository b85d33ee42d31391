//! The rate of the IP layer on a link of 100 Mbit/s, found by both searches: what is left of the
//! line after Ethernet's framing, nearly the same for both families.

use super::support::{Home, figure, number, question};

const MBIT: f64 = 1e6;

/// Of 1288 and 1308 bytes on the wire the IP layer has 1250 and 1270.
const MODEL: [(&str, f64); 2] = [("v4", 97.050), ("v6", 97.095)];

/// After RFC 9097, both ways.
pub fn by_load() {
    let home = Home::new("capacity");
    let ways = [("send", "capacity-udp-1222"), ("receive", "capacity-udp-1222-receive")];
    for (direction, cell) in ways {
        let result = home.plan_run(&format!(
            r#"
v6gap = 1
name = "Capacity"
[lab]
model = "shaped"
[design]
pairs = 6
null_blocks = 0
[[measure]]
metric = "capacity"
direction = "{direction}"
time = "2 s"
"#
        ));
        near(&result, cell, "capacity");
    }
}

/// In the style of RFC 2544.
pub fn by_halving() {
    let home = Home::new("rate-at-loss");
    let result = home.plan_run(
        r#"
v6gap = 1
name = "Highest rate without loss"
[lab]
model = "shaped"
[design]
pairs = 6
null_blocks = 0
[[measure]]
metric = "rate-at-loss"
bitrate = "200 Mbit/s"
time = "300 ms"
"#,
    );
    near(&result, "rate-at-loss-udp-1222", "rate-at-loss");
}

fn near(result: &serde_json::Value, cell: &str, metric: &str) {
    let q = question(result, cell, metric);
    for (family, model) in MODEL {
        let seen = number(&q[family]["estimate"]) / MBIT;
        let off = (seen / model - 1.0) * 100.0;
        figure(
            &format!("{cell} {family}, Mbit/s (model {model:.3})"),
            format!("{seen:.3}, {off:+.2} %"),
        );
        assert!(off.abs() < 1.0, "{cell} {family}: {seen} against {model}");
    }
    let ratio = number(&q["v6"]["estimate"]) / number(&q["v4"]["estimate"]);
    figure(&format!("{cell} ratio (model 1.00046)"), format!("{ratio:.5}"));
    assert!((ratio / 1.00046 - 1.0).abs() < 0.01, "{ratio}");
}
