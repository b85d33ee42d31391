//! Null runs: a family against itself must not differ.

use super::sites::{AT, NAME, PORT, caddy};
use super::support::{Home, document, figure, number, question, times, told};
use super::two_hosts::Lab;
use serde_json::Value;

const PLAN: &str = r#"
v6gap = 1
name = "Null"
[lab]
model = "wire"
[design]
arms = ["FAMILY", "FAMILY"]
max_time = "25 s"
null_blocks = 2
seed = SEED
[[measure]]
metric = "rtt"
protocol = ["tcp", "udp"]
message = "64 B"
[[measure]]
metric = "throughput"
time = "350 ms"
"#;

/// Of all runs at most one in twenty may be called different; the spread of the RTT ratio is small.
pub fn agree() {
    let runs = times(2, 40);
    let home = Home::new("nulls");
    let mut different = Vec::new();
    let mut ratios = Vec::new();
    for run in 0..runs {
        let family = ["v4", "v6"][run % 2];
        let plan = PLAN.replace("FAMILY", family).replace("SEED", &(1000 + run).to_string());
        let result = home.plan_run(&plan);
        for (cell, metric) in
            [("rtt-tcp-64", "rtt"), ("rtt-udp-64", "rtt"), ("throughput-tcp", "throughput")]
        {
            let q = question(&result, cell, metric);
            let verdict = q["verdict"].as_str().unwrap();
            if verdict == "better" || verdict == "worse" {
                different.push(format!("run {run} {family} {}", q["sentence"]));
            }
            if metric == "rtt" && !q["effect"].is_null() {
                ratios.push(number(&q["effect"]["estimate"]));
            }
        }
        assert_ne!(result["headline"], "", "{result:#}");
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let sum: f64 = ratios.iter().map(|r| (r - mean).powi(2)).sum();
    let sd = (sum / (ratios.len() - 1) as f64).sqrt() * 100.0;
    figure("null runs", runs);
    figure("called different", format!("{} {different:?}", different.len()));
    figure(
        "null RTT ratios, mean off 1 and standard deviation, %",
        format!("{:+.3}, {sd:.3}", mean * 100.0),
    );
    assert!(different.len() * 20 <= runs.max(20), "{different:?}");
    assert!(sd <= 0.3, "{sd} %");
}

/// Of visits to a site whose families are alike at most one run in twenty calls anything different,
/// and in at most one a family differs from itself.
pub fn visits_agree() {
    let home = Home::new("visits-alike");
    let lab = Lab::up("visitsalike", &["--delay", "5ms"]);
    let server = caddy(&lab, &home);
    let runs = times(1, 20);
    let (mut different, mut restless) = (Vec::new(), Vec::new());
    for run in 0..runs {
        let mut probe = lab.command(&home, "client");
        let [four, six] = AT;
        probe.args(["probe", &format!("https://{NAME}:{PORT}/"), "--v4", four, "--v6", six]);
        probe.args(["--measure", "first-byte", "--http", "2", "--pairs", "16"]);
        probe.args(["--seed", &(1000 + run).to_string(), "--mine", "--no-report", "--no-path"]);
        let output = probe.args(["--json", "-q"]).output().unwrap();
        // A run in which a family differs from itself has no verdict, and is counted.
        let ended = matches!(output.status.code(), Some(0 | 6));
        assert!(ended, "{}", told(&output));
        let result = document(&output);
        let questions = result["questions"].as_array().unwrap().iter();
        let here = questions.filter(|q| q["verdict"] == "better" || q["verdict"] == "worse");
        let here: Vec<&Value> = here.map(|q| &q["sentence"]).collect();
        if !here.is_empty() {
            different.push(format!("run {run}: {here:?}"));
        }
        let differs = |c: &&Value| c["id"] == "null" && c["state"] == "failed";
        restless.extend(result["checks"].as_array().unwrap().iter().find(differs).cloned());
    }
    drop(server);
    figure("runs of visits", runs);
    figure("with anything called different", format!("{} {different:?}", different.len()));
    figure("in which a family differs from itself", format!("{} {restless:?}", restless.len()));
    let most = runs.max(20);
    assert!(different.len() * 20 <= most && restless.len() * 20 <= most);
}
