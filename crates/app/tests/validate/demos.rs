//! Row l: what a newcomer sees. The demo, on a machine that is quiet and beside a compiler, answers
//! its questions in time, and none of them wrongly.

use crate::results::Results;
use crate::{Budget, program, say};
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;
use v6gap_core::metric::Metric;
use v6gap_judge::analysis::{Analysis, Question, Verdict};

/// Runs of each case.
pub(crate) const RUNS: usize = 20;

/// The cases, and whether a compiler is busy beside them.
pub(crate) const CASES: [(&str, bool); 2] = [("demo-quiet", false), ("demo-compiler", true)];

/// Functions of the file that is compiled, as a large one has.
const FUNCTIONS: usize = 3_000;

/// Runs what is missing, each case `runs` times.
///
/// # Errors
/// If the disk refuses or the demo has no result.
pub(crate) fn run(
    runs: usize,
    wants: impl Fn(&str) -> bool,
    results: &Results,
    budget: &Budget,
) -> Result<(), String> {
    for turn in 0..runs {
        for (case, busy) in CASES.into_iter().filter(|(case, _)| wants(case)) {
            if results.count("l", case) <= turn && !budget.is_used_up() {
                one(case, busy, results)?;
            }
        }
    }
    Ok(())
}

fn one(case: &str, busy: bool, results: &Results) -> Result<(), String> {
    let data = results.folder().join("demo");
    let begin = Instant::now();
    let measured = || program::run(&["demo"], &data);
    let lines = if busy { beside_a_compiler(results.folder(), measured) } else { measured() }?;
    let seconds = begin.elapsed().as_secs_f64();
    let facts = json!({ "row": "l", "case": case, "seed": results.next_seed(), "took_s": seconds });
    let found = results.keep(facts, &lines)?;
    let Answers { answered, asked, wrong } = answers(&found);
    say(&format!("{case}: {answered} of {asked} answered, {wrong} wrong, in {seconds:.0} s"));
    Ok(())
}

/// Does `work` while a compiler has work without a pause.
fn beside_a_compiler<T>(
    folder: &Path,
    work: impl FnOnce() -> Result<T, String>,
) -> Result<T, String> {
    let (source, object) = (folder.join("busy.c"), folder.join("busy.o"));
    let function = |n| {
        format!(
            "int f{n}(int a,int b){{int s=0;for(int i=0;i<a;i++){{s+=i*b^{n};if(s&{n})s-=b;\
             for(int j=0;j<b;j++)s^=j*i;}}return s;}}\n"
        )
    };
    let text: String = (0..FUNCTIONS).map(function).collect();
    std::fs::write(&source, text).map_err(|e| format!("{}: {e}", source.display()))?;
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let compiling = scope.spawn(|| {
            while !done.load(Relaxed) {
                let mut compiler = Command::new("cc");
                compiler.args(["-O2", "-c"]).arg(&source).arg("-o").arg(&object);
                let mut running = compiler.stdout(Stdio::null()).spawn()?;
                while running.try_wait()?.is_none() {
                    if done.load(Relaxed) {
                        running.kill()?;
                    }
                    std::thread::sleep(std::time::Duration::from_millis(50));
                }
            }
            Ok::<(), std::io::Error>(())
        });
        let outcome = work();
        done.store(true, Relaxed);
        let compiled = compiling.join().map_err(|_| "the compiler's thread panicked".to_owned())?;
        compiled.map_err(|e| format!("cc: {e}"))?;
        outcome
    })
}

/// How many questions but loss were asked, answered, and answered wrongly.
struct Answers {
    asked: usize,
    answered: usize,
    wrong: usize,
}

/// IPv6 has the longer header on links that treat both alike: it is better at nothing, and loses
/// nothing. What may be chance among so many questions, as headlines and caveats say, is no answer.
fn answers(found: &Analysis) -> Answers {
    let of =
        |loss: bool| found.questions.iter().filter(move |q| (q.metric == Metric::Loss) == loss);
    let told = |q: &Question| if q.may_be_chance() { Verdict::CannotTell } else { q.verdict };
    let is = |verdict: Verdict| of(false).filter(|q| told(q) == verdict).count();
    let open = is(Verdict::CannotTell) + is(Verdict::None);
    let lost = of(true).filter(|q| matches!(told(q), Verdict::Better | Verdict::Worse)).count();
    let asked = of(false).count();
    Answers { asked, answered: asked - open, wrong: is(Verdict::Better) + lost }
}

/// The figures of row l: a line of the table for each case.
///
/// # Errors
/// If a journal cannot be read.
pub(crate) fn summary(results: &Results) -> Result<String, String> {
    let lines = results.lines();
    let mut rows = String::new();
    for (case, _) in CASES {
        let (mut answered, mut wrong, mut seconds) = (Vec::new(), 0, Vec::new());
        for done in lines.iter().filter(|done| done["row"] == "l" && done["case"] == case) {
            let found = answers(&results.analysed(done)?);
            answered.push(format!("{}/{}", found.answered, found.asked));
            wrong += found.wrong;
            seconds.extend(done["took_s"].as_f64());
        }
        seconds.sort_by(f64::total_cmp);
        let figures = match (seconds.first(), seconds.last()) {
            (Some(least), Some(most)) => format!(
                "{} answered; {wrong} wrong; {least:.0} to {most:.0} s",
                answered.join(", ")
            ),
            _ => "not measured yet".to_owned(),
        };
        rows.push_str(&format!("| l | {case}, {} runs | | {figures} |\n", answered.len()));
    }
    Ok(rows)
}
