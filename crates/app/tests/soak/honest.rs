//! Honest clients, one after the other: each looks whether the server can be measured, measures a
//! few fixed pairs, and what it says is kept.

use crate::attacked::{check, command};
use crate::field::Field;
use crate::support::Home;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use v6gap_core::family::Family;

/// What is measured: round trips, and datagrams at a rate that any machine keeps.
const RUN: [&str; 15] = [
    "-u",
    "--measure",
    "throughput,rtt,udp",
    "-b",
    "5M",
    "-t",
    "300ms",
    "-l",
    "1200",
    "--pairs",
    "6",
    "--json",
    "-q",
    "--no-report",
    "--seed=7",
];

/// A client that waits its turn for longer is not served.
const PATIENCE: Duration = Duration::from_secs(120);

/// The answers to one question: verdicts and effects, in order.
type Question = Vec<(String, f64)>;

/// What honest clients were told.
#[derive(Default)]
pub struct Answers {
    checks: [usize; 2],
    runs: [usize; 2],
    questions: BTreeMap<String, Question>,
    failures: BTreeMap<String, usize>,
}

/// Measures again and again until it is over.
pub fn measure(field: &Field, over: &AtomicBool) -> Answers {
    let mut answers = Answers::default();
    let home = Home::new("soak");
    let [four, six] = Family::BOTH.map(|family| field.address("server", family).to_string());
    while !over.load(Ordering::Relaxed) {
        let checked = check(field, "client", &[]);
        // Somebody else may have the turn, which is an answer too.
        let answered = checked.good || checked.said.contains("E204");
        answers.checks[usize::from(answered)] += 1;
        if !answered {
            *answers.failures.entry(checked.said).or_default() += 1;
        }
        let start = || {
            let mut run = command(&home);
            run.args(["run", &four, "--v6", &six]).args(RUN);
            run.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            run.spawn().unwrap()
        };
        let begun = Instant::now();
        let mut child = field.node("client").run(start).unwrap();
        while child.try_wait().unwrap().is_none() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(50));
        }
        // No harm if it has ended.
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        let result: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        answers.runs[usize::from(result.is_some())] += 1;
        match result {
            Some(result) => answers.add(&result),
            None => {
                *answers.failures.entry(crate::attacked::words(&output)).or_default() += 1;
            }
        }
    }
    answers
}

impl Answers {
    fn add(&mut self, result: &Value) {
        for question in result["questions"].as_array().into_iter().flatten() {
            let name = format!("{} {}", question["cell"], question["metric"]).replace('"', "");
            let verdict = question["verdict"].as_str().unwrap_or("none").to_owned();
            let effect = question["effect"]["estimate"].as_f64().unwrap_or(f64::NAN);
            self.questions.entry(name).or_default().push((verdict, effect));
        }
    }

    pub fn served(&self) -> String {
        let of = |[no, yes]: [usize; 2]| format!("{yes} of {}", yes + no);
        format!("{} checks, {} runs", of(self.checks), of(self.runs))
    }

    pub fn served_share(&self) -> f64 {
        let [[not_checked, checked], [not_run, run]] = [self.checks, self.runs];
        let served = (checked + run) as f64;
        served / (served + (not_checked + not_run) as f64)
    }

    /// Everything; of what went wrong, each once.
    pub fn as_json(&self) -> Value {
        json!({ "checks": self.checks, "runs": self.runs, "questions": self.questions,
            "failures": self.failures })
    }

    /// These answers of a quiet time against those of another.
    pub fn compared(&self, other: &Answers) -> Compared {
        let row = |(name, quiet): (&String, &Question)| {
            let mixed = other.questions.get(name).cloned().unwrap_or_default();
            (name.clone(), Told::of(quiet), Told::of(&mixed))
        };
        Compared(self.questions.iter().map(row).collect())
    }
}

/// What was told about one question in one part.
pub struct Told {
    verdicts: BTreeMap<String, usize>,
    /// The median of the effects, and the middle half of them.
    effects: Option<[f64; 3]>,
}

impl Told {
    fn of(question: &Question) -> Self {
        let mut verdicts = BTreeMap::new();
        for (verdict, _) in question {
            *verdicts.entry(verdict.clone()).or_default() += 1;
        }
        let mut sorted: Vec<f64> = question
            .iter()
            .map(|(_, effect)| *effect)
            .filter(|effect| effect.is_finite())
            .collect();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
        let effects = (!sorted.is_empty()).then(|| [0.25, 0.5, 0.75].map(at));
        Told { verdicts, effects }
    }

    fn words(&self) -> String {
        let verdicts: Vec<String> =
            self.verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
        let effects = self.effects.map_or(String::new(), |[low, median, high]| {
            format!("; {median:.4} ({low:.4} to {high:.4})")
        });
        verdicts.join(", ") + &effects
    }
}

/// Each question with what was told of it in both parts.
pub struct Compared(Vec<(String, Told, Told)>);

impl Compared {
    pub fn table(&self) -> String {
        let mut text =
            String::from("| Question | Quiet: verdicts; effect | Mixed |\n|---|---|---|\n");
        for (name, quiet, mixed) in &self.0 {
            text.push_str(&format!("| {name} | {} | {} |\n", quiet.words(), mixed.words()));
        }
        text
    }

    /// Whether each verdict that was the only one in the quiet is the usual one still, and the
    /// middle halves of the effects meet.
    pub fn unchanged(&self) -> bool {
        self.0.iter().all(|(_, quiet, mixed)| {
            let usual = mixed.verdicts.iter().max_by_key(|(_, count)| **count);
            let same = usual.is_some_and(|(verdict, _)| quiet.verdicts.contains_key(verdict));
            let meet = match (quiet.effects, mixed.effects) {
                (Some([low, _, high]), Some([low_too, _, high_too])) => {
                    low <= high_too && low_too <= high
                }
                (quiet, mixed) => quiet.is_none() == mixed.is_none(),
            };
            same && meet
        })
    }
}
