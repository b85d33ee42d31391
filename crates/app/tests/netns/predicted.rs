//! What one line says of another: a run at 100 Mbit/s is carried to 10 Mbit/s, and then that line
//! is measured.

use super::support::{Home, figure, number, question, text};
use serde_json::Value;

/// How far a measured round trip may be off the predicted one: so many µs, or this share of it.
const OFF_US_MAX: f64 = 10.0;
const OFF_SHARE_MAX: f64 = 0.05;

/// How far the measured ratio may be outside the predicted range.
const OFF_RATIO_MAX: f64 = 0.01;

const SIZES: [u32; 2] = [64, 4096];

fn plan(rate: &str, pairs: u32, sizes: &[u32]) -> String {
    let sizes: Vec<String> = sizes.iter().map(|size| format!("\"{size} B\"")).collect();
    format!(
        r#"
v6gap = 1
name = "Round trips at {rate}"
[lab]
model = "wire"
rate = "{rate}"
[design]
pairs = {pairs}
null_blocks = 2
[[measure]]
metric = "rtt"
protocol = "tcp"
message = [{}]
"#,
        sizes.join(", ")
    )
}

pub fn slower_line() {
    let home = Home::new("predicted");
    home.plan_run(&plan("100 Mbit/s", 8, &[64, 256, 1024, 4096, 16_384]));
    let sizes = SIZES.map(|size| size.to_string()).join(",");
    let output =
        home.v6gap(&["predict", "--from", "last", "--rate", "10M", "--message", &sizes, "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let predicted: Value = serde_json::from_slice(&output.stdout).unwrap();
    let measured = home.plan_run(&plan("10 Mbit/s", 6, &SIZES));
    let mut missed = Vec::new();
    for (row, size) in predicted["rows"].as_array().unwrap().iter().zip(SIZES) {
        assert_eq!(row["size_bytes"], size);
        assert_eq!(row["beyond"], serde_json::json!(["rate"]));
        assert_eq!((&row["mtu_bytes"]["v6"], &row["mtu_of"]), (&1500.into(), &"run".into()));
        let q = question(&measured, &format!("rtt-tcp-{size}"), "rtt");
        for family in ["v4", "v6"] {
            let [said, seen] = [row, q].map(|of| number(&of[family]["estimate"]) * 1e6);
            let (off, share) = (seen - said, (seen / said - 1.0) * 100.0);
            let line = format!("{seen:.1} µs, predicted {said:.1}, off {off:+.1} ({share:+.2} %)");
            figure(&format!("{size} B {family}"), line);
            if off.abs() > OFF_US_MAX && share.abs() > OFF_SHARE_MAX * 100.0 {
                missed.push(format!("{size} B {family}: {off:+.1} µs"));
            }
        }
        let [low, said, high] = ["low", "estimate", "high"].map(|end| number(&row["ratio"][end]));
        let seen = 1.0 + number(&q["effect"]["estimate"]);
        let line = format!("{seen:.4}, predicted {said:.4} ({low:.4} to {high:.4})");
        figure(&format!("{size} B ratio"), line);
        if seen < low - OFF_RATIO_MAX || seen > high + OFF_RATIO_MAX {
            missed.push(format!("{size} B ratio {seen:.4}"));
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}
