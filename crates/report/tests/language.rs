//! What must never be said, over many made-up results: big words, differences without direction,
//! "same" where it cannot be told, numbers that are none.

use crate::fixtures::{Spec, echo, from_specs, tcp, udp};
use proptest::prelude::*;
use v6gap_core::metric::{Metric, Quantity, Scale};
use v6gap_core::workload::{Connect, Transport, Workload};
use v6gap_judge::analysis::{Analysis, Qualifier, Verdict};
use v6gap_report::html::{PageInfo, page};
use v6gap_report::text::{Style, table, verbose};
use v6gap_report::{json, markdown};

const FORBIDDEN: [&str; 9] = [
    "significant",
    "proves",
    "p-value",
    "p value",
    "sigma",
    "bootstrap",
    "tost",
    "null hypothesis",
    "overhead",
];

fn workload() -> impl Strategy<Value = (Workload, Metric)> {
    let bytes = prop::sample::select(vec![64u32, 512, 1024, 1408, 65_536]);
    prop_oneof![
        Just((tcp(), Metric::Throughput)),
        bytes.clone().prop_map(|n| (udp(n), Metric::Throughput)),
        bytes.clone().prop_map(|n| (udp(n), Metric::Loss)),
        bytes.clone().prop_map(|n| (echo(Transport::Tcp, n), Metric::Rtt)),
        bytes.prop_map(|n| (echo(Transport::Udp, n), Metric::Rtt)),
        Just((Workload::Connect(Connect { count: 100, ..Connect::default() }), Metric::Connect)),
    ]
}

fn spec() -> impl Strategy<Value = Spec> {
    let half = prop_oneof![4 => 0.0001..0.3f64, 1 => Just(f64::INFINITY), 1 => 1.0..50.0f64];
    let effect = prop_oneof![4 => -0.3..0.4f64, 1 => Just(0.0), 1 => 1.0..80.0f64];
    (workload(), 1e-9..1.0f64, effect, half, prop::option::of(-0.05..0.08f64)).prop_map(
        |((workload, metric), size, effect, half, predicted)| {
            let a = match metric.quantity() {
                Quantity::Rate => size * 1e11,
                Quantity::Frequency => size * 1e7,
                Quantity::Time => size,
                Quantity::Share => size * 0.1,
                Quantity::Cost => size * 1e-9,
            };
            let effect = if metric.scale() == Scale::Difference { effect * 0.01 } else { effect };
            Spec { workload, metric, a, effect, half, predicted }
        },
    )
}

fn analysis() -> impl Strategy<Value = Analysis> {
    prop::collection::vec(spec(), 0..7).prop_map(|specs| from_specs(&specs))
}

/// The text of a page without its tags and its style sheet.
fn readable(html: &str) -> String {
    let body = html.split_once("</style>").map_or(html, |(_, body)| body);
    let mut text = String::new();
    let mut inside = false;
    for c in body.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => text.push(c),
            _ => {}
        }
    }
    text
}

const DIRECTIONS: [&str; 8] =
    ["longer", "shorter", "slower", "faster", "quicker", "more", "fewer", "of"];

/// Whether each "n %" of a line is followed by a direction, belongs to a range, or names a range.
fn has_directions(line: &str) -> bool {
    line.match_indices(" %").all(|(at, _)| {
        let before = &line[..at];
        let after = line[at + 2..].trim_start();
        let number = before.rsplit(' ').next().unwrap_or("");
        let rest = before[..before.len() - number.len()].trim_end();
        DIRECTIONS.iter().any(|word| after.starts_with(word))
            || after.starts_with("range")
            || rest.ends_with('–')
            || rest.ends_with("≈ within")
    })
}

fn words_of(text: &str) -> Result<(), TestCaseError> {
    let lower = text.to_lowercase();
    for word in FORBIDDEN {
        prop_assert!(!lower.contains(word), "{word}");
    }
    for token in text.split(|c: char| !c.is_alphanumeric()) {
        prop_assert!(!["NaN", "inf", "Infinity"].contains(&token), "{token}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn text_keeps_to_the_rules(analysis in analysis(), width in 30usize..130) {
        let wide = Style { width: 400, ..Style::default() };
        let text = table(&analysis, &wide);
        words_of(&text)?;
        words_of(&verbose(&analysis, &[], &wide))?;
        words_of(&markdown(&analysis))?;
        let rows = text.lines().skip(5).take(analysis.questions.len());
        for (line, q) in rows.zip(&analysis.questions) {
            prop_assert!(has_directions(line), "{line}");
            if q.verdict == Verdict::CannotTell {
                prop_assert!(line.contains("? can't tell") && !line.contains("same"), "{line}");
            }
        }
        for line in table(&analysis, &Style { width, ..Style::default() }).lines() {
            prop_assert!(line.chars().count() <= width);
        }
    }

    #[test]
    fn pages_keep_to_the_rules(analysis in analysis()) {
        let html = page(&analysis, &PageInfo::default());
        words_of(&readable(&html))?;
        for bad in ["NaN", "inf,", "inf\"", "inf ", "Infinity"] {
            prop_assert!(!html.contains(bad), "{bad}");
        }
        let rows: Vec<&str> = html.split("<tr><th scope=\"row\"><span class=\"name\">").collect();
        prop_assert_eq!(rows.len(), analysis.questions.len() + 1);
        for (row, q) in rows.iter().skip(1).zip(&analysis.questions) {
            let row = readable(row.split("</tr>").next().unwrap_or(""));
            let same = q.verdict == Verdict::Same && q.qualifier == Qualifier::Plain;
            prop_assert_eq!(row.contains("Same"), same, "{}", row);
            let tiny = q.qualifier == Qualifier::RealButTiny;
            prop_assert_eq!(row.contains("Within"), tiny, "{}", row);
            prop_assert_eq!(row.contains("Can't tell"), q.verdict == Verdict::CannotTell);
        }
        prop_assert!(html.len() < 400_000);
    }

    #[test]
    fn json_is_a_document_with_known_verdicts(analysis in analysis()) {
        let document: serde_json::Value = serde_json::from_str(&json(&analysis))
            .map_err(|e| TestCaseError::fail(e.to_string()))?;
        for q in document["questions"].as_array().into_iter().flatten() {
            let verdict = q["verdict"].as_str().unwrap_or("");
            let known = ["worse", "better", "same", "inconclusive", "none"];
            prop_assert!(known.contains(&verdict));
        }
    }
}
