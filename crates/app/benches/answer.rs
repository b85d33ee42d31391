//! Time from typing to an answer: how long a run in the lab takes until the paired 95 % range is
//! ±1 %, for TCP throughput and for round trips over TCP and UDP, self-test and null blocks
//! included. The usual way, ten runs of 10 s for each family, takes 200 s.
//!
//! `cargo bench -p v6gap --bench answer`
#![expect(
    clippy::disallowed_methods,
    reason = "a program of its own, which starts another one, measures it and prints"
)]

use serde_json::Value;
use std::error::Error;
use std::process::Command;
use std::time::Instant;

/// Runs of each plan.
const RUNS: usize = 3;

/// Half-width asked for, as a share.
const PRECISION: f64 = 0.01;

/// Time of ten runs of 10 s for each family, in s.
const USUAL_S: f64 = 200.0;

/// What is measured: its name, the lab's link model, the table that measures it.
const MEASURED: [(&str, &str, &str); 3] = [
    ("TCP throughput", "shaped", "metric = \"throughput\"\ntime = \"400 ms\""),
    ("TCP round trip 64 B", "wire", "metric = \"rtt\"\nmessage = \"64 B\""),
    ("UDP round trip 64 B", "wire", "metric = \"rtt\"\nprotocol = \"udp\"\nmessage = \"64 B\""),
];

fn main() {
    if let Err(error) = measure() {
        eprintln!("no time to an answer: {error}");
        std::process::exit(1);
    }
}

fn measure() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("v6gap-bench-answer-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    for (name, model, table) in MEASURED {
        let mut times = Vec::new();
        for seed in 0..RUNS {
            let plan = format!(
                "v6gap = 1\n[lab]\nmodel = \"{model}\"\n[design]\nseed = {seed}\nnull_blocks = 2\n\
                 precision = {{ throughput = \"1 %\", rtt = \"1 %\" }}\n[[measure]]\n{table}\n"
            );
            let file = folder.join("plan.toml");
            std::fs::write(&file, plan)?;
            let start = Instant::now();
            let output = Command::new(env!("CARGO_BIN_EXE_v6gap"))
                .args(["plan", "run", "-q", "--json"])
                .arg(&file)
                .env("V6GAP_DATA", &folder)
                .env("V6GAP_LOCKS", folder.join("locks"))
                .output()?;
            let seconds = start.elapsed().as_secs_f64();
            let half_width = half_width(&serde_json::from_slice(&output.stdout)?)?;
            println!("{name}: ±{:.2} % after {seconds:.1} s", half_width * 100.0);
            if half_width <= PRECISION {
                times.push(seconds);
            }
        }
        times.sort_by(f64::total_cmp);
        let Some(&median) = times.get(times.len() / 2) else {
            return Err(format!("{name}: no run came to ±1 %").into());
        };
        let (low, high) = (times[0], times[times.len() - 1]);
        let share = median / USUAL_S;
        println!("{name}: median {median:.1} s [{low:.1}, {high:.1}], {share:.3} of {USUAL_S} s");
        println!("{name}: {} of {RUNS} runs came to ±1 %", times.len());
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Half the width of the 95 % range of the first question.
fn half_width(result: &Value) -> Result<f64, Box<dyn Error>> {
    let effect = &result["questions"][0]["effect"];
    let bound = |key: &str| effect[key].as_f64().ok_or("the run gave no range");
    Ok((bound("high")? - bound("low")?) / 2.0)
}
