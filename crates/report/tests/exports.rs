//! JSON and CSV hold what scripts rely on.

use crate::fixtures::runs::{another_day, comparison};
use crate::fixtures::{hostile, invalid, journal, lab, null_run};
use serde_json::Value;
use v6gap_core::arm::Arm;
use v6gap_core::metric::Metric;
use v6gap_core::record::{self, Line};
use v6gap_judge::analysis::{Question, Range};
use v6gap_report::figure::{Paint, all};
use v6gap_report::paper;
use v6gap_report::{
    CiteForm, SCHEMA, bibtex, cite, csv_trials, json, json_line, latex, latex_comparison, sockets,
    stream,
};

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("a JSON document")
}

#[test]
fn advantage_is_positive_where_ipv6_is_better() {
    let document = parse(&json(&lab()));
    assert_eq!(document["schema"], SCHEMA);
    let questions = document["questions"].as_array().expect("questions");
    for q in questions {
        let advantage = q["advantage_v6"]["estimate"].as_f64().expect("an estimate");
        match q["verdict"].as_str().expect("a verdict") {
            "worse" => assert!(advantage < 0.0),
            "better" => assert!(advantage > 0.0),
            "same" | "inconclusive" => {}
            other => panic!("{other} is no verdict of this run"),
        }
        let low = q["advantage_v6"]["low"].as_f64().expect("a low end");
        let high = q["advantage_v6"]["high"].as_f64().expect("a high end");
        assert!(low <= advantage && advantage <= high);
    }
    assert_eq!(questions[0]["v4"]["estimate"], 94.13e6);
    assert_eq!(questions[0]["unit"], "bit/s");
    assert_eq!(questions[0]["better"], "higher");
    assert_eq!(questions[3]["level"]["bytes"], 64);
}

#[test]
fn ends_without_limit_are_null() {
    let mut analysis = lab();
    let effect = analysis.questions[0].effect.as_mut().expect("an effect");
    effect.range95 = Range { low: f64::NEG_INFINITY, high: f64::INFINITY };
    let document = parse(&json(&analysis));
    let q = &document["questions"][0];
    assert!(q["effect"]["low"].is_null() && q["effect"]["high"].is_null());
    assert!(q["advantage_v6"]["low"].is_null() && q["advantage_v6"]["high"].is_null());
}

#[test]
fn a_run_without_verdict_says_so_and_why() {
    let document = parse(&json(&invalid()));
    assert_eq!(document["valid"], false);
    for q in document["questions"].as_array().expect("questions") {
        assert_eq!(q["verdict"], "none");
        assert!(q["why_none"].is_string());
    }
    assert_eq!(document["checks"][0]["state"], "failed");
}

#[test]
fn a_null_run_claims_no_advantage_of_a_family() {
    let document = parse(&json(&null_run()));
    let q = &document["questions"][0];
    assert!(q["advantage_v6"].is_null());
    assert!(q["first"]["estimate"].is_number() && q["second"]["estimate"].is_number());
    assert_eq!(document["design"]["arms"]["a"], document["design"]["arms"]["b"]);
}

/// Reads CSV by RFC 4180.
fn read(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            c => cell.push(c),
        }
    }
    rows
}

#[test]
fn every_trial_is_a_row_with_every_field_in_full() {
    let lines = journal::lines();
    let rows = read(&csv_trials(&lines));
    let trials: Vec<_> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Trial(trial) => Some(trial),
            _ => None,
        })
        .collect();
    assert_eq!(rows.len(), trials.len() + 1);
    let heads = &rows[0];
    assert!(rows.iter().all(|row| row.len() == heads.len()));
    let cell = |row: usize, name: &str| {
        let column = heads.iter().position(|head| head == name);
        rows[row + 1][column.unwrap_or_else(|| panic!("no column {name}"))].as_str()
    };
    for (i, trial) in trials.iter().enumerate() {
        assert_eq!(cell(i, "started_ns"), trial.started_ns.to_string());
        assert_eq!(cell(i, "kind"), trial.kind.to_string());
        for (metric, value) in &trial.values {
            let text = cell(i, &format!("values.{metric}"));
            assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(value.to_bits()));
        }
    }
    assert_eq!(cell(0, "block_valid"), "true");
    assert_eq!(cell(2, "block_valid"), "false");
    assert_eq!(cell(4, "block_valid"), "", "its block was never completed");
    assert_eq!(cell(0, "ends.client.counters.Tcp.RetransSegs"), "3");
    assert!(cell(2, "findings").contains("by 3 ms"));
    assert_eq!(cell(0, "link.max_ns"), "410000");
    assert_eq!(cell(2, "link.max_ns"), "");
    assert!(!heads.iter().any(|head| head == "link"), "a group is no column");
}

/// A process that was killed while it stored a block leaves a trial of it, and the block is
/// measured again under its number.
#[test]
fn what_a_crash_left_of_a_block_is_none_of_it() {
    let mut lines = journal::lines();
    let first = lines.iter().position(|line| matches!(line, Line::Trial(_))).unwrap();
    lines.insert(first, lines[first].clone());
    let rows = read(&csv_trials(&lines));
    let column = rows[0].iter().position(|head| head == "block_valid").unwrap();
    let valid: Vec<&str> = rows[1..4].iter().map(|row| row[column].as_str()).collect();
    assert_eq!(valid, ["", "true", "true"]);
}

/// What was exported is what was stored, to the last bucket and loss.
#[test]
fn histograms_survive_every_export_of_trials() {
    let lines = journal::lines();
    let rows = read(&csv_trials(&lines));
    let column = |name: &str| {
        let found = rows[0].iter().position(|head| head == name);
        found.unwrap_or_else(|| panic!("no column {name}"))
    };
    let histogram = column("ends.client.measured.histogram");
    let lost = column("ends.client.measured.lost");
    let mut seen = 0;
    for (line, row) in lines.iter().filter(|l| matches!(l, Line::Trial(_))).zip(&rows[1..]) {
        let stored: Line = record::decode(&record::encode(line)).expect("our own line");
        let (Line::Trial(trial), Line::Trial(again)) = (line, stored) else { panic!() };
        let Some(times) = v6gap_core::values::times(Metric::Rtt, &trial.ends) else { continue };
        let from_csv: Vec<(u64, u64)> = serde_json::from_str(&row[histogram]).expect("a list");
        let lost: u64 = row[lost].parse().expect("a number");
        let from_json =
            v6gap_core::values::times(Metric::Rtt, &again.ends).expect("as before").clone();
        assert_eq!(from_csv.iter().map(|(_, count)| count).sum::<u64>(), times.count);
        assert_eq!((&from_csv, lost), (&times.histogram.iter().collect(), times.lost));
        assert_eq!((&from_json.histogram, from_json.lost), (&times.histogram, lost));
        assert!(lost > 0, "one is lost");
        seen += 1;
    }
    assert!(seen > 0);
}

/// The document gives back the histogram of each arm.
#[test]
fn histograms_survive_the_result_document() {
    let analysis = lab();
    let document = parse(&json(&analysis));
    let timed = |q: &&Question| !q.histograms.a.is_empty();
    assert_eq!(analysis.questions.iter().filter(timed).count(), 7, "six round trips, connecting");
    for (i, q) in analysis.questions.iter().enumerate() {
        for (arm, name) in [(Arm::A, "v4"), (Arm::B, "v6")] {
            let written = &document["questions"][i][name]["histogram"];
            if !timed(&q) {
                assert!(written.is_null());
                continue;
            }
            let buckets: Vec<(u64, u64)> =
                serde_json::from_value(written["buckets"].clone()).expect("a list");
            let lost = written["lost"].as_u64().expect("a number");
            assert_eq!((&buckets, lost), (q.histograms.get(arm), *q.lost.get(arm)));
            assert_eq!(written["count"], 4000);
        }
    }
}

#[test]
fn sockets_show_what_was_asked_and_what_each_family_got() {
    let rows = sockets(&journal::lines());
    let size = rows.iter().find(|row| row.setting == "segment size").expect("a segment size");
    assert_eq!((size.v4.as_str(), size.v6.as_str()), ("1448 B", "1428 B"));
    let congestion = rows.iter().find(|row| row.setting == "congestion control");
    assert_eq!(congestion.and_then(|row| row.asked.as_deref()), Some("cubic"));
}

/// A figure for a paper has a size, says where it comes from, and is still one element.
#[test]
fn figures_for_papers_are_whole() {
    for figure in all(&lab(), Paint::Paper, false) {
        let svg = paper::svg(&figure, &[&lab()], 122.0);
        assert!(svg.starts_with("<svg width=\"122mm\" height=\""), "{}", &svg[..80]);
        assert!(svg.contains("<metadata>run 7k2f9q, plan first-look"), "{svg}");
        assert_eq!((svg.matches("<svg").count(), svg.matches("</svg>").count()), (1, 1));
        assert!(!svg.contains("var(") && !svg.contains("class=\"page"), "{svg}");
        let rows = paper::csv(&figure);
        assert_eq!(rows.lines().count(), figure.table.rows.len() + 1, "{rows}");
        assert!(paper::caption(&figure, &[&lab()]).contains("run 7k2f9q"));
    }
    let svg = paper::svg(&all(&hostile(), Paint::Paper, false)[0], &[&hostile()], 122.0);
    assert!(!svg.contains("<script") && !svg.contains('\u{202e}'), "{svg}");
}

/// What TeX would stop at: unbalanced groups, and characters that begin a command or a comment.
#[test]
fn latex_of_foreign_text_is_balanced() {
    let two = comparison(&[hostile(), another_day("8m1c3e")]);
    // How many columns a row has, less one; the citation has no rows.
    let texts = [
        (latex(&hostile()), 7),
        (latex_comparison(&two), 6),
        (cite(&hostile(), "v6gap run a_b --seed 1", CiteForm::Latex), 0),
    ];
    for (text, separators) in texts {
        let bare = text.replace("\\{", "").replace("\\}", "").replace("\\%", "");
        let count = |c| bare.chars().filter(|x| *x == c).count();
        assert_eq!(count('{'), count('}'), "{text}");
        assert_eq!(count('$') % 2, 0, "{text}");
        // A comment stands on a line of its own only.
        let comments = bare.lines().filter(|line| line.contains('%'));
        assert!(comments.clone().all(|line| line.starts_with('%')), "{text}");
        assert!(!text.contains('<') && !text.contains('\u{1b}'), "{text}");
        for row in text.lines().filter(|line| line.ends_with("\\\\")) {
            assert_eq!(row.replace("\\&", "").matches('&').count(), separators, "{row}");
        }
    }
}

/// Names of an imported result may hold anything, and no command of TeX.
#[test]
fn a_name_cannot_bring_a_command_into_a_citation() {
    for name in
        ["b\u{1}a}\\input{secret}\u{2}", "b\u{1}x", "b\u{2}", "b\u{1}\u{2}", "b\u{1}ab\u{2}"]
    {
        let mut analysis = lab();
        analysis.run.hosts.server.name = name.into();
        let text = cite(&analysis, "v6gap", CiteForm::Latex);
        assert!(!text.contains("\\input") && !text.contains("\\cite{a"), "{text}");
        assert!(text.contains("~\\cite{holm1979}") && !text.contains("\\cite{}"), "{text}");
    }
}

#[test]
fn a_repeated_study_is_cited() {
    let mut analysis = lab();
    assert!(!cite(&analysis, "v6gap", CiteForm::Text).contains("repeats"));
    analysis.run.plan.parts_mut().reference = Some("raicu/tcp-100".into());
    let text = cite(&analysis, "v6gap", CiteForm::Text);
    assert!(text.contains("of Raicu, “IPv6 Performance Results”."), "{text}");
    assert!(cite(&analysis, "v6gap", CiteForm::Latex).contains("~\\cite{raicu}."));
    assert!(bibtex(&analysis).contains("@misc{raicu,\n  author = {Raicu},"));
}

/// Every event is an object on a line of its own, and its end says what the document says.
#[test]
fn events_are_lines_and_end_as_the_document_does() {
    let analysis = lab();
    let document = parse(&json(&analysis));
    assert_eq!(parse(&json_line(&analysis)), document);
    assert_eq!(json_line(&analysis).matches('\n').count(), 1);
    let end = stream::end(&analysis);
    let lines: Vec<Value> = end.lines().map(parse).collect();
    let count = |event: &str| lines.iter().filter(|line| line["event"] == event).count();
    assert_eq!(count("verdict"), document["questions"].as_array().expect("questions").len());
    assert_eq!(count("check"), document["checks"].as_array().expect("checks").len());
    let last = lines.last().expect("an end");
    assert_eq!((&last["event"], &last["headline"]), (&"end".into(), &document["headline"]));
    let begin = parse(&stream::begin(&analysis.run));
    assert_eq!(begin["questions"].as_array().expect("questions").len(), count("verdict"));
    for line in journal::lines() {
        if let Line::Trial(trial) = line {
            let told = parse(&stream::trial(&trial, true));
            let values = serde_json::to_value(&trial.values).expect("values");
            assert_eq!((&told["event"], &told["values"]), (&"trial".into(), &values));
            assert!(told["course"].as_array().is_none_or(|course| course.len() <= 24));
        }
    }
}
