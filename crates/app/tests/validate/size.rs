//! Row h: how long it takes to analyse large stored runs again. They are made from the trials of a
//! real one, through the types that are stored.

use crate::results::Results;
use crate::say;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use v6gap_core::arm::{Arm, BlockKind, TurnOrder};
use v6gap_core::observation::Measured;
use v6gap_core::plan::Stop;
use v6gap_core::record::{self, BlockRecord, Ending, Line, TrialRecord};
use v6gap_judge::analysis;

/// The cell of the large runs.
const CELL: &str = "rtt-udp-64";

/// What a large run is called, its blocks, the exchanges of each trial, and buckets of a histogram.
const SIZES: [(&str, u32, u64, u64); 2] =
    [("1e8-exchanges", 1_000, 50_000, 700), ("1e5-blocks", 100_000, 800, 300)];

/// Makes both runs, analyses them in memory and by `v6gap show`, and keeps how long that took.
///
/// # Errors
/// If there is no run of round trips to start from, or something fails.
pub(crate) fn run(results: &Results) -> Result<(), String> {
    let template = template(results)?;
    for (name, blocks, exchanges, buckets) in SIZES {
        if results.count("h", name) > 0 {
            continue;
        }
        let lines = large(&template, blocks, exchanges, buckets)?;
        let start = Instant::now();
        let found = analysis::analyse(&lines).map_err(|e| e.to_string())?;
        let analysed_s = start.elapsed().as_secs_f64();
        let counted: u64 = found.questions[0].histograms.a.iter().map(|(_, count)| count).sum();
        let path = results.folder().join(format!("{name}.jsonl"));
        let bytes = write(&path, &lines)?;
        drop(lines);
        let shown_s = shown(&path)?;
        std::fs::remove_file(&path).map_err(|e| e.to_string())?;
        say(&format!("{name}: {analysed_s:.2} s; with reading {bytes} B {shown_s:.2} s"));
        results.append(&json!({
            "row": "h", "case": name, "blocks": blocks, "exchanges": 2 * counted,
            "analysed_s": analysed_s, "shown_s": shown_s, "bytes": bytes,
        }))?;
    }
    Ok(())
}

/// A stored run of round trips.
fn template(results: &Results) -> Result<Vec<Line>, String> {
    let lines = results.lines();
    let journals = lines.iter().filter(|done| done["row"] == "reference");
    for journal in journals.filter_map(|done| done["journal"].as_str()) {
        let path = results.folder().join("journals").join(journal);
        let lines = v6gap_store::read_journal(&path).map_err(|e| e.to_string())?;
        // Where the self-test refused round trips there are none.
        if lines.iter().any(|line| matches!(line, Line::Trial(t) if t.cell == CELL)) {
            return Ok(lines);
        }
    }
    Err("row h starts from a reference run of row c; none is there yet".to_owned())
}

fn large(
    template: &[Line],
    blocks: u32,
    exchanges: u64,
    buckets: u64,
) -> Result<Vec<Line>, String> {
    let pair = |arm: Arm| {
        let trials = template.iter().filter_map(|line| match line {
            Line::Trial(trial) => Some(trial.as_ref()),
            _ => None,
        });
        let mut of_udp = trials.filter(|t| t.cell == CELL && t.kind == BlockKind::Compare);
        of_udp.find(|t| t.arm == arm).ok_or("no round trips in the run to start from")
    };
    let (a, b) = (pair(Arm::A)?, pair(Arm::B)?);
    let Some(Line::Run(header)) = template.first() else { return Err("no header".to_owned()) };
    let mut header = header.clone();
    header.plan.parts_mut().cells.retain(|cell| cell.id == CELL);
    header.plan.parts_mut().design.stop = Stop::Adaptive { time_ns_max: u64::MAX, pairs_min: 8 };
    let mut lines = vec![Line::Run(header)];
    for block in 0..blocks {
        for trial in [a, b] {
            let trial = varied(trial, block, exchanges, buckets);
            lines.push(Line::Trial(Box::new(trial)));
        }
        lines.push(Line::Block(BlockRecord { block, valid: true, drawn: None }));
    }
    lines.push(Line::End(Ending::Complete));
    Ok(lines)
}

/// The trial as block number `block`, with as many exchanges in so many buckets and values that
/// scatter by a few parts per thousand.
fn varied(trial: &TrialRecord, block: u32, exchanges: u64, buckets: u64) -> TrialRecord {
    let mut trial = trial.clone();
    trial.block = block;
    trial.round = block + 1;
    trial.order = if block.is_multiple_of(2) { TurnOrder::Ab } else { TurnOrder::Ba };
    trial.started_unix_ns += u64::from(block) * 300_000_000;
    let step = (u64::from(block) * 7_919 + if trial.arm == Arm::A { 0 } else { 4_099 }) % 1000;
    for value in trial.values.values_mut() {
        *value *= 1.0 + (step as f64 - 500.0) / 1e5;
    }
    if let Measured::Times(times) = &mut trial.ends.client.measured {
        let least = times.min_ns;
        let bucket =
            |i: u64| (least + 64 * i, exchanges / buckets + u64::from(i < exchanges % buckets));
        times.histogram = (0..buckets).map(bucket).collect();
        times.count = exchanges;
    }
    trial
}

fn write(path: &Path, lines: &[Line]) -> Result<u64, String> {
    let wrong = |e: std::io::Error| format!("{}: {e}", path.display());
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).map_err(wrong)?);
    for line in lines {
        writeln!(file, "{}", record::encode(line)).map_err(wrong)?;
    }
    file.flush().map_err(wrong)?;
    Ok(std::fs::metadata(path).map_err(wrong)?.len())
}

/// How long `v6gap show` takes for a journal.
fn shown(path: &PathBuf) -> Result<f64, String> {
    let start = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_v6gap"));
    let output = command.arg("show").arg(path).stdin(Stdio::null()).output();
    let output = output.map_err(|e| e.to_string())?;
    match output.status.success() {
        true => Ok(start.elapsed().as_secs_f64()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
