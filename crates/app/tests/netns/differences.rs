//! Worlds with a known difference: it must be found, with the right sign, and the range must hold
//! it.

use super::support::{Home, figure, number, question, times};

const RATE: &str = r#"
v6gap = 1
name = "IPv6 2 % slower"
[lab]
model = "shaped"
v6 = { rate = "98 Mbit/s" }
[design]
max_time = "30 s"
null_blocks = 2
seed = SEED
[[measure]]
metric = "throughput"
time = "400 ms"
"#;

const DELAY: &str = r#"
v6gap = 1
name = "IPv6 1 ms later each way"
[lab]
model = "wire"
v6 = { delay = "500 µs" }
[design]
max_time = "20 s"
null_blocks = 2
seed = SEED
[[measure]]
metric = "rtt"
protocol = "udp"
message = "64 B"
turns = 8
"#;

/// What IPv6 costs the hosts beyond its headers is not part of an injected delay, in s of a round
/// trip: they take longer to wake up the longer they wait, on a virtual machine 10 µs after 1 ms.
const HOST_S: f64 = 20e-6;

/// IPv6 at 98 of 100 Mbit/s carries 0.98 · 1428 / 1448 of what IPv4 does, exactly: the kernel's
/// token bucket keeps its rate over a trial, where the user-space link is fed 0.1 % below its own.
pub fn rate() {
    check(RATE, "throughput-tcp", "throughput", "worse", |_| 0.98 * 1428.0 / 1448.0 - 1.0);
}

/// A delay of 500 µs each way makes the round trip 1 ms longer, beside the 6.4 µs of the headers.
pub fn delay() {
    check(DELAY, "rtt-udp-64", "rtt", "worse", |v4| (1000e-6 + 6.4e-6) / v4);
}

/// At least 19 of 20 runs must give `verdict` with a range that holds the truth.
fn check(plan: &str, cell: &str, metric: &str, verdict: &str, truth: impl Fn(f64) -> f64) {
    let runs = times(1, 20);
    let home = Home::new(cell);
    let mut missed = Vec::new();
    let mut estimates = Vec::new();
    for run in 0..runs {
        let result = home.plan_run(&plan.replace("SEED", &(2000 + run).to_string()));
        let q = question(&result, cell, metric);
        let truth = truth(number(&q["v4"]["estimate"]));
        let (low, high) = (number(&q["effect"]["low"]), number(&q["effect"]["high"]));
        let allowance = if metric == "rtt" { HOST_S / number(&q["v4"]["estimate"]) } else { 0.0 };
        let held = low - allowance <= truth && truth <= high + allowance;
        estimates.push(format!("{:+.2}", number(&q["effect"]["estimate"]) * 100.0));
        if q["verdict"] != verdict || !held {
            missed.push(format!("run {run}: truth {truth:.5}, {}", q["sentence"]));
        }
    }
    figure("runs", runs);
    figure("estimates, %", estimates.join(" "));
    figure("missed", format!("{} {missed:?}", missed.len()));
    assert!(missed.len() * 20 <= runs, "{missed:?}");
}
