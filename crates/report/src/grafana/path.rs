//! The dashboard of the paths that a watch visits. It is about one path, above which all are in a
//! table; where questions are many, a panel is repeated for each.

use super::{COLUMNS, Dashboard, Panel, asked, counts, drawn, now, query, source, states};
use serde_json::{Value, json};

/// Labels of the path that is chosen.
const PATH: &str = r#"from=~"$host",to=~"$path""#;

/// The same of the questions that are chosen.
const QUESTION: &str = r#"from=~"$host",to=~"$path",measure=~"$measure""#;

/// Verdicts as numbers of a panel, with what is shown of each.
const VERDICTS: [(&str, &str, &str); 5] = [
    ("better", "better", "blue"),
    ("same", "same", "green"),
    ("cannot_tell", "can't tell", "text"),
    ("worse", "worse", "red"),
    ("none", "no verdict", "orange"),
];

/// The dashboard of the paths that are watched, as a file.
pub fn dashboard() -> String {
    let dashboard = Dashboard {
        uid: "v6gap-path",
        title: "IPv6 against IPv4",
        description: "What `v6gap watch` finds: docs/metrics.md",
        since: "now-7d",
        variables: variables(),
        panels: panels(),
    };
    dashboard.file()
}

fn variables() -> Vec<Value> {
    let paths = r#"label_values(v6gap_every_seconds{from=~"$host"}, to)"#.to_owned();
    vec![
        source(),
        asked("host", "From", "label_values(v6gap_every_seconds, from)".to_owned(), false),
        asked("path", "Path", paths, false),
        asked(
            "measure",
            "Question",
            format!("label_values(v6gap_verdict{{{PATH}}}, measure)"),
            true,
        ),
    ]
}

fn panels() -> Vec<Panel> {
    vec![
        verdicts_now(),
        last_visits(),
        verdicts(),
        families(),
        effect(),
        shares(),
        values("Round trip", "v6gap_rtt_seconds", "s"),
        values("Connecting", "v6gap_connect_seconds", "s"),
        values("Throughput", "v6gap_throughput_bytes_per_second", "Bps"),
        values("Loss", "v6gap_loss_ratio", "percentunit"),
        counts(
            "Visits",
            "{{result}}",
            format!("sum by (result) (increase(v6gap_windows_total{{{PATH}}}[$__rate_interval]))"),
        ),
        counts(
            "Changes found",
            "{{measure}}",
            format!("sum by (measure) (increase(v6gap_changes_total{{{PATH}}}[1h]))"),
        ),
        counts(
            "Discarded blocks",
            "{{gate}}",
            format!(
                "sum by (gate) (increase(v6gap_blocks_discarded_total{{{PATH}}}[$__rate_interval]))"
            ),
        ),
        payload(),
        addresses(),
    ]
}

/// The verdict of each question as its number.
fn numbered(labels: &str) -> String {
    let one = |(number, (name, ..)): (usize, &(&str, &str, &str))| {
        let also = if labels.is_empty() { String::new() } else { format!(",{labels}") };
        format!(r#"{} * v6gap_verdict{{verdict="{name}"{also}}}"#, number + 1)
    };
    let all: Vec<String> = VERDICTS.iter().enumerate().map(one).collect();
    format!("sum by (from, to, measure) ({})", all.join(" or "))
}

fn mapped() -> Value {
    let mut options = json!({});
    for (at, (_, text, colour)) in VERDICTS.iter().enumerate() {
        options[(at + 1).to_string()] = json!({ "index": at, "text": text, "color": colour });
    }
    json!([{ "type": "value", "options": options }])
}

/// A column for each question and a row for each path.
fn verdicts_now() -> Panel {
    Panel {
        width: 16,
        defaults: json!({
            "mappings": mapped(),
            "custom": { "cellOptions": { "type": "color-background" } },
        }),
        transformations: json!([{
            "id": "groupingToMatrix",
            "options": { "columnField": "measure", "rowField": "to", "valueField": "Value" },
        }]),
        ..Panel::new("table", "All paths now", vec![now(numbered(r#"from=~"$host""#))])
    }
}

/// How many times the usual time each path has waited for a visit that measures.
fn last_visits() -> Panel {
    let expr = r#"(time() - v6gap_last_measured_timestamp_seconds{from=~"$host"})
  / v6gap_every_seconds{from=~"$host"}"#;
    Panel {
        width: 8,
        defaults: json!({
            "unit": "none",
            "decimals": 1,
            "min": 0,
            "thresholds": {
                "mode": "absolute",
                "steps": [
                    { "color": "green", "value": null },
                    { "color": "orange", "value": 2 },
                    { "color": "red", "value": 3 },
                ],
            },
        }),
        options: json!({ "orientation": "horizontal", "displayMode": "basic" }),
        ..Panel::new(
            "bargauge",
            "Age, in times between visits",
            vec![query("{{to}}", expr.to_owned())],
        )
    }
}

fn verdicts() -> Panel {
    Panel {
        defaults: json!({ "mappings": mapped(), "custom": { "fillOpacity": 70 } }),
        options: json!({ "mergeValues": true, "showValue": "auto" }),
        ..Panel::new("state-timeline", "Verdicts", vec![query("{{measure}}", numbered(QUESTION))])
    }
}

fn families() -> Panel {
    let expr = format!("v6gap_family_up{{{PATH}}}");
    states("Families that get there", "{{family}}", expr, [("down", "red"), ("up", "green")])
}

/// The ratio with its range as a band, between lines for the margin.
fn effect() -> Panel {
    let of = |name: &str| format!("{name}{{{QUESTION}}}");
    let queries = vec![
        query("lower", of("v6gap_effect_lower_ratio")),
        query("upper", of("v6gap_effect_upper_ratio")),
        query("IPv6 / IPv4", of("v6gap_effect_ratio")),
        query("predicted", of("v6gap_predicted_ratio")),
        query("margin above", format!("1 + {}", of("v6gap_margin_ratio"))),
        query("margin below", format!("1 / (1 + {})", of("v6gap_margin_ratio"))),
    ];
    let dashed = json!({ "fill": "dash", "dash": [6, 6] });
    Panel {
        defaults: json!({ "unit": "none", "decimals": 3 }),
        overrides: json!([
            drawn("lower", &[("custom.lineWidth", json!(0))]),
            drawn(
                "upper",
                &[
                    ("custom.lineWidth", json!(0)),
                    ("custom.fillBelowTo", json!("lower")),
                    ("custom.fillOpacity", json!(20)),
                ]
            ),
            drawn("margin above", &[("custom.lineStyle", dashed.clone())]),
            drawn("margin below", &[("custom.lineStyle", dashed)]),
        ]),
        is_repeated: true,
        ..Panel::new("timeseries", "IPv6 over IPv4: $measure", queries)
    }
}

fn shares() -> Panel {
    let of = |name: &str| format!("{name}{{{QUESTION}}}");
    let queries = vec![
        query("{{measure}} lower", of("v6gap_effect_difference_lower_ratio")),
        query("{{measure}} upper", of("v6gap_effect_difference_upper_ratio")),
        query("{{measure}}", of("v6gap_effect_difference_ratio")),
    ];
    Panel {
        width: COLUMNS,
        defaults: json!({ "unit": "percentunit" }),
        ..Panel::new("timeseries", "IPv6 less IPv4, of shares", queries)
    }
}

/// What the visits measured of both families.
fn values(title: &'static str, metric: &str, unit: &str) -> Panel {
    let expr = format!("{metric}{{{QUESTION}}}");
    Panel {
        defaults: json!({ "unit": unit }),
        ..Panel::new("timeseries", title, vec![query("{{measure}} {{family}}", expr)])
    }
}

fn payload() -> Panel {
    let expr = format!("rate(v6gap_sent_bytes_total{{{PATH}}}[$__rate_interval])");
    Panel {
        defaults: json!({ "unit": "Bps", "min": 0 }),
        ..Panel::new("timeseries", "Payload of visits", vec![query("{{to}}", expr)])
    }
}

fn addresses() -> Panel {
    let expr = format!(
        "v6gap_path_info{{{PATH}}} * on (from, instance) group_left (version) v6gap_build_info"
    );
    Panel::new("table", "Addresses", vec![now(expr)])
}
