//! Plans of the suite, in the language of plan files and checked as such.

use v6gap_core::plan::draft::Draft;
use v6gap_core::plan::{Plan, check};
use v6gap_core::world::World;

/// Throughput and round trips with a family against itself.
pub(crate) const NULL: &str = r#"
v6gap = 1
name = "Null"
[lab]
model = "wire"
[design]
arms = ["FAMILY", "FAMILY"]
max_time = "7 s"
null_blocks = 2
[[measure]]
metric = "rtt"
protocol = ["tcp", "udp"]
message = "64 B"
[[measure]]
metric = "throughput"
time = "120 ms"
"#;

/// TCP throughput.
pub(crate) const THROUGHPUT: &str = r#"
v6gap = 1
name = "Throughput"
[lab]
model = "shaped"
[design]
arms = ["v4", "v6"]
max_time = "9 s"
null_blocks = 2
[[measure]]
metric = "throughput"
time = "250 ms"
"#;

/// TCP throughput as the default run has it: its trials, its null blocks and its time.
pub(crate) const THROUGHPUT_DEFAULT: &str = r#"
v6gap = 1
name = "Throughput"
[lab]
model = "shaped"
[design]
arms = ["v4", "v6"]
[[measure]]
metric = "throughput"
"#;

/// Round trips of 64 B.
pub(crate) const ROUND_TRIP: &str = r#"
v6gap = 1
name = "Round trips"
[lab]
model = "wire"
[design]
arms = ["v4", "v6"]
max_time = "25 s"
null_blocks = 1
[[measure]]
metric = "rtt"
protocol = ["tcp", "udp"]
message = "64 B"
"#;

/// Lost datagrams, with time for eight pairs where the control connection loses packets as well.
pub(crate) const LOSS: &str = r#"
v6gap = 1
name = "Loss"
[lab]
model = "wire"
[design]
arms = ["v4", "v6"]
max_time = "12 s"
null_blocks = 2
[[measure]]
metric = "loss"
payload = "1408 B"
time = "120 ms"
"#;

/// Round trips of 64 B over TCP with a family against itself; pairs and turns are filled in.
pub(crate) const IDLE: &str = r#"
v6gap = 1
name = "Beside an idle process"
[lab]
model = "wire"
[design]
arms = ["FAMILY", "FAMILY"]
pairs = PAIRS
null_blocks = 0
[[measure]]
metric = "rtt"
protocol = "tcp"
message = "64 B"
turn = 20
turns = TURNS
"#;

/// TCP throughput in trials of half the time.
pub(crate) fn brief() -> String {
    THROUGHPUT.replace("250 ms", "120 ms")
}

/// Round trips over one transport, as plans call it.
pub(crate) fn round_trip(transport: &str) -> String {
    ROUND_TRIP.replace(r#"["tcp", "udp"]"#, &format!("\"{transport}\""))
}

/// The plan of `text` in `world`.
///
/// # Errors
/// If the text is no plan.
pub(crate) fn plan(text: &str, world: &World, seed: u64) -> Result<Plan, String> {
    let draft: Draft = toml::from_str(text).map_err(|e| e.to_string())?;
    let mut plan = check::check(&draft, seed).map_err(|problems| format!("{problems:?}"))?;
    plan.parts_mut().world = Some(world.clone());
    Ok(plan)
}

/// A null plan for `family`, as plans call it.
pub(crate) fn null(text: &str, family: &str) -> String {
    text.replace("FAMILY", family).replace(r#"arms = ["v4", "v6"]"#, &arms(family))
}

fn arms(family: &str) -> String {
    format!(r#"arms = ["{family}", "{family}"]"#)
}
