//! Row j: does the range of one run hold for the next? Each run is the program itself as a user
//! starts it, in a lab of its own; the truth is the mean of all other runs of its case.

use crate::results::Results;
use crate::{Budget, program, say};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use v6gap_core::metric::Scale;
use v6gap_core::record::Line;
use v6gap_judge::analysis::compare::Of;
use v6gap_judge::analysis::{Analysis, Question, Verdict, alike, analyse};
use v6gap_stats::between::{Found, between};
use v6gap_stats::{loss, multiplicity};

/// Runs of each case.
pub(crate) const RUNS: usize = 120;

/// The worlds: a router between links of 100 Mbit/s that a program forwards, a cable as the kernel
/// makes it, and two hosts at the kernel's bridge.
const WORLDS: [(&str, &str); 3] = [
    (
        "router",
        "hosts = [\"client\", \"server\"]\nrouters = [\"router\"]\n\
         [every]\nrate = \"100 Mbit/s\"\n\
         [[links]]\nbetween = [\"client\", \"router\"]\n\
         [[links]]\nbetween = [\"router\", \"server\"]\n",
    ),
    (
        "cable",
        "model = \"bare\"\nhosts = [\"client\", \"server\"]\n\
         [[links]]\nbetween = [\"client\", \"server\"]\n",
    ),
    (
        "bridge",
        "model = \"bare\"\nhosts = [\"client\", \"server\"]\nswitches = [\"bridge\"]\n\
         [[links]]\nbetween = [\"client\", \"bridge\"]\n\
         [[links]]\nbetween = [\"bridge\", \"server\"]\n",
    ),
];

/// When a run ends: when it is sure, or after so many pairs. A run that may take less than 30 s
/// stays in one lab, and so says nothing of others.
const DESIGNS: [(&str, &str); 2] = [("adaptive", "max_time = \"30 s\""), ("fixed", "pairs = 24")];

/// What is measured in each: so little that all runs together take four hours and a half.
const MEASURED: &str = "[[measure]]\nmetric = \"rtt\"\nprotocol = [\"tcp\", \"udp\"]\n\
                        message = \"64 B\"\n\
                        [[measure]]\nmetric = \"throughput\"\ntime = \"120 ms\"\n";

/// Names of the cases, the world first.
pub(crate) fn cases() -> Vec<String> {
    let with = |(world, _): (&str, &str)| DESIGNS.map(|(design, _)| format!("{world}-{design}"));
    WORLDS.into_iter().flat_map(with).collect()
}

/// Runs what is missing of the wanted cases, each `runs` times, the cases in turn.
///
/// # Errors
/// If the disk refuses or the program says something that is no result.
pub(crate) fn run(
    runs: usize,
    wants: impl Fn(&str) -> bool,
    results: &Results,
    budget: &Budget,
) -> Result<(), String> {
    let folder = results.folder().join("between");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for turn in 0..runs {
        for (world, links) in WORLDS {
            for (design, stop) in DESIGNS {
                let case = format!("{world}-{design}");
                if wants(&case) && results.count("j", &case) <= turn {
                    if budget.is_used_up() {
                        return Ok(());
                    }
                    let seed = results.next_seed();
                    let lines = one(&folder, links, stop, seed)?;
                    let answers = answered(&analyse(&lines).map_err(|e| e.to_string())?);
                    let facts =
                        json!({ "row": "j", "case": case, "seed": seed, "answers": answers });
                    let found = results.keep(facts, &lines)?;
                    let seconds = found.span_ns as f64 / 1e9;
                    say(&format!("{case} {}: {seconds:.0} s", turn + 1));
                }
            }
        }
    }
    Ok(())
}

/// What the program writes down when it is asked once.
fn one(folder: &Path, links: &str, stop: &str, seed: u64) -> Result<Vec<Line>, String> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok::<PathBuf, String>(path)
    };
    write("world.toml", &format!("v6gap = 1\n{links}"))?;
    let plan = format!(
        "v6gap = 1\nname = \"Between runs\"\n[lab]\nworld = \"world.toml\"\n\
         [design]\n{stop}\n{MEASURED}"
    );
    let plan = write("plan.toml", &plan)?;
    let (plan, seed) = (plan.to_string_lossy(), seed.to_string());
    program::run(&["plan", "run", &plan, "--seed", &seed], &folder.join("data"))
}

/// What a run found of a question, on the scale on which its blocks are averaged.
struct Answer {
    found: Found,
    low: f64,
    high: f64,
}

impl Answer {
    fn half(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// As [`answered`] writes it; `None` where the question had no answer.
    fn read(line: &Value) -> Option<Self> {
        let number = |key: &str| line[key].as_f64();
        let found =
            Found { estimate: number("estimate")?, standard_error: number("standard_error")? };
        Some(Answer { found, low: number("low")?, high: number("high")? })
    }
}

/// A line for each question of a run. They stay with the line of the run, so that those of several
/// days and computers can be put together where nobody has all the journals.
fn answered(analysis: &Analysis) -> Vec<Value> {
    let stop = &analysis.run.plan.design.stop;
    let line = |q: &Question| {
        let effect = q.effect.as_ref().filter(|e| e.range95.low.is_finite());
        let said = effect.filter(|_| q.verdict != Verdict::None);
        let found = alike::moments(q, Of::Difference, stop, analysis.questions.len());
        let mut line = json!({ "cell": q.cell, "metric": q.metric.to_string() });
        if let (Some(effect), Some(found)) = (said, found.map(alike::found)) {
            let scaled = |x: f64| if effect.scale == Scale::Ratio { x.ln_1p() } else { x };
            line["estimate"] = json!(found.estimate);
            line["standard_error"] = json!(found.standard_error);
            line["low"] = json!(scaled(effect.range95.low));
            line["high"] = json!(scaled(effect.range95.high));
        }
        line
    };
    analysis.questions.iter().map(line).collect()
}

/// Answers by case, cell and metric, and how many questions had none.
type Answers = BTreeMap<(String, String, String), (Vec<Answer>, usize)>;

fn answers(results: &Results) -> Answers {
    let mut answers = Answers::new();
    for done in results.lines().iter().filter(|done| done["row"] == "j") {
        for line in done["answers"].as_array().into_iter().flatten() {
            let part = |of: &Value| of.as_str().unwrap_or_default().to_owned();
            let of = (part(&done["case"]), part(&line["cell"]), part(&line["metric"]));
            let (with, without) = answers.entry(of).or_default();
            match Answer::read(line) {
                Some(answer) => with.push(answer),
                None => *without += 1,
            }
        }
    }
    answers
}

/// The figures of row j: a line of the table for each case, and a table of its questions.
pub(crate) fn summary(results: &Results) -> (String, String) {
    let answers = answers(results);
    let mut rows = String::new();
    let mut table = String::from(
        "\n## Ranges for the next run\n\n\
         Differences in %, on the logarithmic scale; a range holds if the mean of all other runs \
         lies in it. Needed is 1.96 times the scatter between runs and the error within one; p \
         is that of 95 % held, after Holm over the case. The range of any run like it is that of \
         five runs in a row; it holds if the sixth lies in it.\n\n\
         | case | question | runs | without | mean | SD of runs | error within | between (tau) | \
         held | p | half-width, median | of needed | any run like it |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for case in cases() {
        let of = answers.iter().filter(|(of, (with, _))| of.0 == case && with.len() > 2);
        let questions: Vec<_> = of.map(|(of, (with, without))| (of, with, *without)).collect();
        let held: Vec<usize> = questions.iter().map(|(_, with, _)| held(with)).collect();
        let all: usize = questions.iter().map(|(_, with, _)| with.len()).sum();
        let total: usize = held.iter().sum();
        let share = loss::interval(total as u64, all.max(1) as u64, 0.95);
        rows.push_str(&match all {
            0 => format!("| j | {case} | ≥ 93 % | not measured yet |\n"),
            _ => format!(
                "| j | {case}: ranges that hold the mean of the other runs | ≥ 93 % | \
                 {total} of {all}: {:.1} % [{:.1}, {:.1}] |\n",
                100.0 * total as f64 / all as f64,
                share.low * 100.0,
                share.high * 100.0
            ),
        });
        let counts = questions.iter().zip(&held);
        let p: Vec<f64> =
            counts.map(|((_, with, _), held)| as_few_p(*held, with.len(), 0.95)).collect();
        let p = multiplicity::holm(&p);
        for (((of, with, without), held), p) in questions.iter().zip(held).zip(p) {
            table.push_str(&line(of, with, *without, held, p));
        }
    }
    (rows, table)
}

/// How many ranges hold the mean of the others.
fn held(answers: &[Answer]) -> usize {
    let sum: f64 = answers.iter().map(|answer| answer.found.estimate).sum();
    let others = (answers.len() - 1) as f64;
    let holds = |answer: &&Answer| {
        let mean = (sum - answer.found.estimate) / others;
        answer.low <= mean && mean <= answer.high
    };
    answers.iter().filter(holds).count()
}

/// Of how many sets of runs in a row, the fewest that the program tells it from, the range of any
/// run like them holds the next one, and of how many in all.
fn next_held(answers: &[Answer]) -> (usize, usize) {
    let holds = |runs: &[Answer]| {
        let (next, like) = runs.split_last()?;
        let like: Vec<Found> = like.iter().map(|answer| answer.found).collect();
        let range = between(&like, 0.05)?.next(like.last()?.standard_error, 0.05);
        Some(range.contains(next.found.estimate))
    };
    let all: Vec<bool> = answers.windows(alike::RUNS_MIN + 1).filter_map(holds).collect();
    (all.iter().filter(|held| **held).count(), all.len())
}

/// P(X <= k) for X binomial with `n` trials of probability `share`.
fn as_few_p(k: usize, n: usize, share: f64) -> f64 {
    let mut term = (1.0 - share).powi(n as i32);
    let mut sum = term;
    for at in 0..k.min(n) {
        term *= (n - at) as f64 / (at + 1) as f64 * share / (1.0 - share);
        sum += term;
    }
    sum.min(1.0)
}

fn line(
    (case, cell, metric): &(String, String, String),
    answers: &[Answer],
    without: usize,
    held: usize,
    p: f64,
) -> String {
    let n = answers.len() as f64;
    let runs: Vec<Found> = answers.iter().map(|answer| answer.found).collect();
    let mean = runs.iter().map(|run| run.estimate).sum::<f64>() / n;
    let squares = runs.iter().map(|run| (run.estimate - mean).powi(2)).sum::<f64>();
    let error = median(runs.iter().map(|run| run.standard_error));
    let tau = between(&runs, 0.05).map_or(f64::NAN, |between| between.tau);
    let half = median(answers.iter().map(Answer::half));
    let needed = 1.96 * (error * error + tau * tau).sqrt();
    let percent = |x: f64| format!("{:.3}", x * 100.0);
    let (next, sets) = next_held(answers);
    format!(
        "| {case} | {cell} {metric} | {} | {without} | {:+.3} | {} | {} | {} | {held} | {p:.2} | \
         {} | {:.2} | {next} of {sets} |\n",
        answers.len(),
        mean * 100.0,
        percent((squares / (n - 1.0)).sqrt()),
        percent(error),
        percent(tau),
        percent(half),
        half / needed,
    )
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    v6gap_stats::summary::median(&values.collect::<Vec<_>>())
}
