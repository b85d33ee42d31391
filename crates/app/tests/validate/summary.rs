//! The figures of all rows as Markdown, from the journals as this version analyses them.

use crate::results::Results;
use crate::{between, demos, idle_figures, known, speed, trouble};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use v6gap_core::arm::PerArm;
use v6gap_core::metric::{Better, Metric};
use v6gap_judge::analysis::{Analysis, Question, Verdict};
use v6gap_stats::{loss, summary};

/// One answered question of a run with a known truth.
struct Judged {
    row: String,
    case: String,
    seed: u64,
    cell: String,
    metric: Metric,
    truth: f64,
    estimate: f64,
    low: f64,
    high: f64,
    verdict: Verdict,
    caveats: usize,
}

impl Judged {
    fn holds(&self) -> bool {
        self.low <= self.truth && self.truth <= self.high
    }

    /// A verdict of a difference in the other direction than the truth, or where there is none.
    fn is_wrong(&self) -> bool {
        let advantage = match self.metric.better() {
            Better::Higher => self.truth,
            Better::Lower => -self.truth,
        };
        match self.verdict {
            Verdict::Better => advantage <= 0.0,
            Verdict::Worse => advantage >= 0.0,
            _ => false,
        }
    }

    /// The range excludes zero on the right side.
    fn found(&self) -> bool {
        if self.truth > 0.0 { self.low > 0.0 } else { self.high < 0.0 }
    }

    fn is_of(&self, metric: Metric, size: f64) -> bool {
        self.metric == metric && (self.truth.abs() - size).abs() < 0.1 * size
    }
}

/// What the runs found that are judged by themselves.
#[derive(Default)]
struct Seen<'a> {
    judged: Vec<Judged>,
    troubled: Vec<(&'a Value, Analysis)>,
    /// Questions without a range.
    none: usize,
    seconds: f64,
}

impl<'a> Seen<'a> {
    fn of(results: &Results, lines: &'a [Value]) -> Result<Self, String> {
        let bases = bases(results, lines)?;
        let mut seen = Seen::default();
        for done in lines.iter().filter(|done| !done["journal"].is_null()) {
            seen.seconds += done["span_s"].as_f64().unwrap_or(0.0);
            let row = done["row"].as_str().unwrap_or_default();
            if !["b", "c", "d", "f"].contains(&row) {
                continue;
            }
            let found = results.analysed(done)?;
            if row == "f" {
                seen.troubled.push((done, found));
                continue;
            }
            let (answers, without) = answers(done, &found, &bases);
            seen.judged.extend(answers);
            seen.none += without;
        }
        Ok(seen)
    }
}

/// How many questions of a known truth have a range, and those that are wrong: by the verdict's
/// sign, or by more than `slack` beyond the range.
///
/// # Errors
/// If a journal cannot be read.
pub(crate) fn wrong(results: &Results, slack: f64) -> Result<(usize, String), String> {
    let judged = Seen::of(results, &results.lines())?.judged;
    let is_wrong = |j: &&Judged| {
        let far = j.truth < j.low - slack || j.truth > j.high + slack;
        far || (j.truth != 0.0 && j.is_wrong())
    };
    Ok((judged.len(), judged.iter().filter(is_wrong).map(miss).collect()))
}

/// The table of all rows and the tables behind it.
///
/// # Errors
/// If a journal cannot be read.
pub(crate) fn write(results: &Results) -> Result<String, String> {
    let lines = results.lines();
    let Seen { judged, troubled, none, seconds } = Seen::of(results, &lines)?;
    let mut text = format!(
        "Measured in {seconds:.0} s of runs. Ranges in brackets are the exact binomial ones at \
         95 % (Clopper and Pearson).\n\n"
    );
    text.push_str("| row | figure | bound | found |\n|---|---|---|---|\n");
    text.push_str(
        "| a | vectors of the statistics and of the wire model | 1e-9 | \
         `cargo test -p v6gap-stats -p v6gap-core` |\n",
    );
    text.push_str(&rows_b_to_e(&judged, none));
    text.push_str(&row_d(&lines));
    text.push_str(&row_f(&troubled));
    text.push_str(&rows_h_and_i(&lines));
    let (row_j, next_runs) = between::summary(results);
    text.push_str(&row_j);
    text.push_str(&row_k(results, &lines)?);
    text.push_str(&demos::summary(results)?);
    text.push_str(&idle_figures::summary(results)?);
    text.push_str(&cases(&judged));
    text.push_str(&misses(&judged));
    text.push_str(&troubles(&troubled, &lines));
    text.push_str(&speeds(results, &lines)?);
    text.push_str(&next_runs);
    Ok(text)
}

/// What the truth of delays follows from, beside what was added.
struct Bases {
    /// How much longer round trips over IPv6 are where no difference was added: the mean logarithm
    /// of their ratio, by session and cell.
    ratios: BTreeMap<(String, String), f64>,
    /// What they grow by for each second added, beyond that second, by transport: see
    /// [`plain`](crate::plain).
    growth: BTreeMap<String, f64>,
}

/// From all references of each session, and all that a plain program said.
fn bases(results: &Results, lines: &[Value]) -> Result<Bases, String> {
    // What else a host does in a session of some seconds is in one of them.
    let growth = grown(lines).into_iter().map(|(over, seen)| (over, summary::median(&seen)));
    let growth = growth.collect();
    let mut seen: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    for done in lines.iter().filter(|done| done["row"] == "reference") {
        for q in results.analysed(done)?.questions {
            let Some(effect) = &q.effect else { continue };
            let session = done["session"].as_str().unwrap_or_default().to_owned();
            seen.entry((session, q.cell)).or_default().push(effect.estimate.ln_1p());
        }
    }
    let ratios = seen.into_iter().map(|(key, ratios)| (key, summary::mean(&ratios))).collect();
    Ok(Bases { ratios, growth })
}

/// What a plain program said in each session, by transport.
fn grown(lines: &[Value]) -> BTreeMap<String, Vec<f64>> {
    let mut seen: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for done in lines.iter().filter(|done| done["row"] == "plain") {
        let over = done["transport"].as_str().unwrap_or_default().to_owned();
        seen.entry(over).or_default().extend(done["growth"].as_f64());
    }
    seen
}

/// What the lab's own figure is corrected by.
fn row_d(lines: &[Value]) -> String {
    let line = |(over, seen): (String, Vec<f64>)| {
        let [median, sd] = [summary::median(&seen), summary::sd(&seen)].map(|share| share * 100.0);
        let sessions = seen.len();
        format!(
            "| d | round trips over {over} grow by more than what is added to them, as a plain \
             program sees it | – | {median:+.2} % of that, the median of {sessions} sessions, SD \
             {sd:.2} |\n"
        )
    };
    grown(lines).into_iter().map(line).collect()
}

/// The questions of a run whose truth is known, and how many of them have no range.
fn answers(done: &Value, found: &Analysis, bases: &Bases) -> (Vec<Judged>, usize) {
    let part = |key: &str| done[key].as_str().unwrap_or_default().to_owned();
    let asked = |q: &&Question| part("case").starts_with("loss") == (q.metric == Metric::Loss);
    let mut answers = Vec::new();
    let mut none = 0;
    for q in found.questions.iter().filter(asked) {
        let truth = truth(done, q, bases);
        let effect = q.effect.as_ref().filter(|e| e.range95.high.is_finite());
        match (truth, effect) {
            (Some(truth), Some(effect)) if q.verdict != Verdict::None => answers.push(Judged {
                row: part("row"),
                case: part("case"),
                seed: done["seed"].as_u64().unwrap_or_default(),
                cell: q.cell.clone(),
                metric: q.metric,
                truth,
                estimate: effect.estimate,
                low: effect.range95.low,
                high: effect.range95.high,
                verdict: q.verdict,
                caveats: q.caveats.len(),
            }),
            _ => none += 1,
        }
    }
    (answers, none)
}

/// What was true of a question of a run.
fn truth(done: &Value, q: &Question, bases: &Bases) -> Option<f64> {
    let truth = &done["truth"];
    if let Some(effect) = truth["effect"].as_f64() {
        return Some(effect);
    }
    let session = done["session"].as_str()?.to_owned();
    let ratio = bases.ratios.get(&(session, q.cell.clone()))?.exp();
    let growth = bases.growth.get(truth["transport"].as_str()?).copied().unwrap_or(0.0);
    let added_s = |family: &str| Some(truth["added_ns"][family].as_f64()? / 1e9 * (1.0 + growth));
    let added_s = PerArm { a: added_s("v4")?, b: added_s("v6")? };
    // The family without a difference says how long a round trip was in this run: the hosts' own
    // part of it was another some minutes ago.
    let v4_s = if added_s.a == 0.0 { q.values.a? } else { q.values.b? / ratio };
    Some((v4_s * ratio + added_s.b) / (v4_s + added_s.a) - 1.0)
}

/// `k of n`, the share and its exact range, in %.
fn share(k: usize, n: usize) -> String {
    if n == 0 {
        return "not measured yet".to_owned();
    }
    let range = loss::interval(k as u64, n as u64, 0.95);
    let percent = |x: f64| format!("{:.1}", x * 100.0);
    let all = percent(k as f64 / n as f64);
    format!("{k} of {n}: {all} % [{}, {}]", percent(range.low), percent(range.high))
}

fn rows_b_to_e(judged: &[Judged], none: usize) -> String {
    let of_rows =
        |rows: &[&str]| judged.iter().filter(|j| rows.contains(&&*j.row)).collect::<Vec<_>>();
    let count = |all: &[&Judged], fits: fn(&Judged) -> bool| {
        share(all.iter().filter(|j| fits(j)).count(), all.len())
    };
    let (nulls, known) = (of_rows(&["b"]), of_rows(&["c", "d"]));
    let mut text = String::new();
    let runs: BTreeSet<u64> = nulls.iter().map(|j| j.seed).collect();
    let wrong: BTreeSet<u64> = nulls.iter().filter(|j| j.is_wrong()).map(|j| j.seed).collect();
    text.push_str(&format!(
        "| b | null runs in which anything was called different | ≤ 5 % | {} |\n\
         | b | null questions called different | ≤ 5 % | {} |\n\
         | c | 95 % ranges that hold the truth | ≥ 94 % | {} |\n\
         | c | verdicts of the wrong sign | 0 | {} |\n",
        share(wrong.len(), runs.len()),
        count(&nulls, Judged::is_wrong),
        count(&known, Judged::holds),
        count(&known, Judged::is_wrong),
    ));
    let of =
        |metric, size| known.iter().copied().filter(|j| j.is_of(metric, size)).collect::<Vec<_>>();
    let asked = [
        (Metric::Throughput, 0.01, "default", "1 % of throughput"),
        (Metric::Throughput, 0.01, "rate", "1 % of throughput in 9 s, trials of 250 ms"),
        (Metric::Throughput, 0.01, "brief", "1 % of throughput in 9 s, trials of 120 ms"),
        (Metric::Rtt, 0.03, "delay", "3 % of round trips"),
    ];
    for (metric, size, kind, words) in asked {
        let mut of = of(metric, size);
        of.retain(|j| j.case.starts_with(kind));
        let found = count(&of, Judged::found);
        text.push_str(&format!("| d | a true difference of {words} found | ≥ 95 % | {found} |\n"));
    }
    for (metric, size, words) in
        [(Metric::Throughput, 0.02, "2 % of throughput"), (Metric::Rtt, 0.05, "5 % of round trips")]
    {
        // Downwards the margin ends at 1 / (1 + m), short of what is added in those cases.
        let mut at_it = of(metric, size);
        at_it.retain(|j| j.truth > 0.0);
        let same = count(&at_it, |j| j.verdict == Verdict::Same);
        let what = "“same” at a true difference of the margin";
        text.push_str(&format!("| e | {what}, {words} | ≤ 5 % | {same} |\n"));
    }
    text.push_str(&format!("| b, c | questions without a verdict | – | {none} |\n"));
    text
}

fn row_f(troubled: &[(&Value, Analysis)]) -> String {
    let all = troubled.iter().flat_map(|(_, found)| &found.questions);
    let (mut wrong, mut count) = (0, 0);
    for question in all {
        count += 1;
        wrong += usize::from(matches!(question.verdict, Verdict::Better | Verdict::Worse));
    }
    format!("| f | wrong verdicts of difference on bad hosts | 0 | {} |\n", share(wrong, count))
}

fn rows_h_and_i(lines: &[Value]) -> String {
    let mut text = String::new();
    for done in lines.iter().filter(|done| done["row"] == "h") {
        let number = |key: &str| done[key].as_f64().unwrap_or(f64::NAN);
        text.push_str(&format!(
            "| h | {}: {} blocks, {:.1e} exchanges, {:.0} MB | < 2 s | analysis {:.2} s; \
             `v6gap show`, reading included, {:.2} s |\n",
            done["case"].as_str().unwrap_or_default(),
            done["blocks"],
            number("exchanges"),
            number("bytes") / 1e6,
            number("analysed_s"),
            number("shown_s"),
        ));
    }
    let mut said: BTreeMap<&str, &Value> = BTreeMap::new();
    for done in lines.iter().filter(|done| done["row"] == "i") {
        said.insert(done["case"].as_str().unwrap_or_default(), done);
    }
    for (run, done) in said {
        let said = done["said"].as_str().unwrap_or_default().replace('\n', "; ");
        text.push_str(&format!("| i | SciPy against {run} | 1e-6 | {said} |\n"));
    }
    text
}

/// How often loss in bursts, as much as the margin, was called the same.
fn row_k(results: &Results, lines: &[Value]) -> Result<String, String> {
    let mut text = String::new();
    for case in known::cases().iter().filter(|case| case.row == "k") {
        let (mut same, mut count) = (0, 0);
        for done in lines.iter().filter(|done| done["case"] == case.name.as_str()) {
            let found = results.analysed(done)?;
            let mut of = found.questions.iter().filter(|q| q.metric == Metric::Loss);
            count += 1;
            same += usize::from(of.any(|q| q.verdict == Verdict::Same));
        }
        let found = share(same, count);
        text.push_str(&format!("| k | {}: “same” at the margin | ≤ 5 % | {found} |\n", case.name));
    }
    Ok(text)
}

/// A line for each case of rows b and c.
fn cases(judged: &[Judged]) -> String {
    let mut text = String::from(
        "\n## Worlds with a known truth\n\n\
         Effects of IPv6 against IPv4 in %, of loss in points. Waste is the half-width by 1.96 \
         standard deviations of the errors.\n\n\
         | case | cell | questions | truth | estimates: mean | SD | half-width, median | \
         waste | holds | too low | too high | called different | same | cannot tell | \
         with a doubt |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for case in known::cases() {
        let of_case: Vec<&Judged> = judged.iter().filter(|j| j.case == case.name).collect();
        let cells: BTreeSet<&str> = of_case.iter().map(|j| &*j.cell).collect();
        for cell in cells {
            let of: Vec<&Judged> = of_case.iter().copied().filter(|j| j.cell == cell).collect();
            let number =
                |verdicts: &[Verdict]| of.iter().filter(|j| verdicts.contains(&j.verdict)).count();
            let percent = |x: f64| format!("{:+.3}", x * 100.0);
            let mean = |value: fn(&Judged) -> f64| {
                of.iter().map(|j| value(j)).sum::<f64>() / of.len() as f64
            };
            let centre = mean(|j| j.estimate - j.truth);
            let squares = of.iter().map(|j| (j.estimate - j.truth - centre).powi(2)).sum::<f64>();
            let sd = (squares / (of.len() as f64 - 1.0).max(1.0)).sqrt();
            let mut halves: Vec<f64> = of.iter().map(|j| (j.high - j.low) / 2.0).collect();
            halves.sort_by(f64::total_cmp);
            let half = halves[halves.len() / 2];
            text.push_str(&format!(
                "| {} | {cell} | {} | {} | {} | {:.3} | {:.3} | {:.2} | {} | {} | {} | {} | \
                 {} | {} | {} |\n",
                case.name,
                of.len(),
                percent(mean(|j| j.truth)),
                percent(mean(|j| j.estimate)),
                sd * 100.0,
                half * 100.0,
                half / (1.96 * sd),
                of.iter().filter(|j| j.holds()).count(),
                of.iter().filter(|j| j.high < j.truth).count(),
                of.iter().filter(|j| j.low > j.truth).count(),
                number(&[Verdict::Better, Verdict::Worse]),
                number(&[Verdict::Same]),
                number(&[Verdict::CannotTell]),
                of.iter().filter(|j| j.caveats > 0).count(),
            ));
        }
    }
    text
}

/// Every range that missed the truth and every wrong verdict, for whoever looks for the reason.
fn misses(judged: &[Judged]) -> String {
    let missed: String = judged.iter().filter(|j| !j.holds() || j.is_wrong()).map(miss).collect();
    match missed.is_empty() {
        true => "\nEvery range held the truth.\n".to_owned(),
        false => format!("\nRanges that missed the truth, in %:\n\n{missed}"),
    }
}

fn miss(j: &Judged) -> String {
    let [truth, low, high] = [j.truth, j.low, j.high].map(|share| share * 100.0);
    format!(
        "- {} ({}, seed {}): truth {truth:+.3}, range {low:+.3} to {high:+.3}, {:?}, {} doubts\n",
        j.case, j.metric, j.seed, j.verdict, j.caveats,
    )
}

/// What each kind of trouble led to.
fn troubles(troubled: &[(&Value, Analysis)], lines: &[Value]) -> String {
    let mut text = String::from(
        "\n## Bad hosts\n\nA family against itself: nothing differs.\n\n\
         | trouble | runs | called different | same | cannot tell | none | what was said |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for (_, name) in trouble::Trouble::ALL {
        let of: Vec<&Analysis> =
            troubled.iter().filter(|(done, _)| done["case"] == name).map(|(_, f)| f).collect();
        let failed = lines.iter().filter(|d| d["case"] == name && !d["failed"].is_null()).count();
        let number = |verdicts: &[Verdict]| {
            let questions = of.iter().flat_map(|found| &found.questions);
            questions.filter(|q| verdicts.contains(&q.verdict)).count()
        };
        let mut said: BTreeMap<String, usize> = BTreeMap::new();
        for found in &of {
            let checks = found.checks.iter().filter(|c| c.state != OK && !usual(&c.id));
            let mut ids: Vec<String> = checks.map(|c| c.id.clone()).collect();
            let doubts = found.questions.iter().flat_map(|q| &q.caveats);
            ids.extend(doubts.map(|text| text.split(':').next().unwrap_or(text).to_owned()));
            ids.sort();
            ids.dedup();
            for id in ids {
                *said.entry(id).or_default() += 1;
            }
        }
        let said: Vec<String> = said.iter().map(|(id, n)| format!("{id} ({n})")).collect();
        text.push_str(&format!(
            "| {name} | {} | {} | {} | {} | {} | {} |\n",
            of.len() + failed,
            number(&[Verdict::Better, Verdict::Worse]),
            number(&[Verdict::Same]),
            number(&[Verdict::CannotTell]),
            number(&[Verdict::None]),
            said.join(", "),
        ));
    }
    text
}

const OK: v6gap_judge::analysis::CheckState = v6gap_judge::analysis::CheckState::Ok;

/// What every run in a lab says.
fn usual(check: &str) -> bool {
    ["self-test", "unavailable", "unmeasured"].contains(&check)
}

/// How long ±1 % takes.
fn speeds(results: &Results, lines: &[Value]) -> Result<String, String> {
    let mut text = String::from(
        "\n## Time to ±1 %\n\n\
         Null blocks included, at most 12 s measured; “about” goes on from the width then, as 1 \
         over the square.\n\n\
         | case | seconds, each run | width reached, ±% |\n|---|---|---|\n",
    );
    for (name, ..) in speed::CASES {
        let mut seconds = Vec::new();
        let mut widths = Vec::new();
        for done in lines.iter().filter(|done| done["row"] == "g" && done["case"] == name) {
            let found = results.analysed(done)?;
            let span_s = found.span_ns as f64 / 1e9;
            let effect = found.questions.first().and_then(|q| q.effect.as_ref());
            let Some(range) = effect.map(|effect| effect.range95) else {
                seconds.push("refused by the self-test".to_owned());
                widths.push("–".to_owned());
                continue;
            };
            let half = (range.high - range.low) / 2.0;
            widths.push(format!("{:.2}", half * 100.0));
            seconds.push(match half <= speed::PRECISION {
                true => format!("{span_s:.1}"),
                false => format!("about {:.0}", span_s * (half / speed::PRECISION).powi(2)),
            });
        }
        text.push_str(&format!("| {name} | {} | {} |\n", seconds.join(", "), widths.join(", ")));
    }
    Ok(text)
}
