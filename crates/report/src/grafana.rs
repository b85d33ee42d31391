//! A dashboard of the paths that are watched, for Grafana, and what provisions it. It shows what
//! [`metrics`](crate::metrics) tells, by the names there.
//!
//! It is about one path, above which all are in a table; where questions are many, a panel is
//! repeated for each.

use serde_json::{Value, json};

/// Version of the form, that of Grafana 10 and later.
const SCHEMA_VERSION: u32 = 39;

/// Columns of a dashboard.
const COLUMNS: u32 = 24;

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

/// Has Grafana take the dashboard from a folder.
pub const DASHBOARDS: &str = "\
# Has Grafana show the dashboards of a folder: put path.json there, and this file into
# provisioning/dashboards.
apiVersion: 1
providers:
  - name: v6gap
    folder: v6gap
    type: file
    options:
      path: /var/lib/grafana/dashboards/v6gap
";

/// Has Grafana ask a Prometheus on the same host.
pub const DATASOURCES: &str = "\
# Has Grafana ask a Prometheus on this host: put this file into provisioning/datasources.
apiVersion: 1
datasources:
  - name: v6gap
    type: prometheus
    access: proxy
    url: http://localhost:9090
";

/// A query of a panel.
struct Query {
    expr: String,
    legend: &'static str,
    /// Whether it asks for the present alone, as a table does.
    is_instant: bool,
}

/// A panel.
struct Panel {
    kind: &'static str,
    title: &'static str,
    width: u32,
    height: u32,
    queries: Vec<Query>,
    /// What holds for each field.
    defaults: Value,
    overrides: Value,
    options: Value,
    transformations: Value,
    /// Whether there is one for each question.
    is_repeated: bool,
}

/// The dashboard, as a file.
pub fn dashboard() -> String {
    let value = json!({
        "uid": "v6gap-path",
        "title": "IPv6 against IPv4",
        "description": "What `v6gap watch` finds: docs/metrics.md",
        "tags": ["v6gap"],
        "schemaVersion": SCHEMA_VERSION,
        "version": 1,
        "editable": true,
        "graphTooltip": 1,
        "timezone": "",
        "refresh": "1m",
        "time": { "from": "now-7d", "to": "now" },
        "annotations": { "list": [] },
        "links": [],
        "templating": { "list": variables() },
        "panels": placed(panels()),
    });
    format!("{value:#}\n")
}

fn variables() -> Vec<Value> {
    let source = json!({
        "name": "source",
        "label": "Source",
        "type": "datasource",
        "query": "prometheus",
    });
    let asked = |name: &str, label: &str, query: String, is_multi: bool| {
        let mut variable = json!({
            "name": name,
            "label": label,
            "type": "query",
            "datasource": source_of(),
            "query": { "query": query, "refId": name },
            "refresh": 2,
            "sort": 1,
            "multi": is_multi,
            "includeAll": is_multi,
        });
        if is_multi {
            variable["allValue"] = json!(".*");
            variable["current"] = json!({ "text": ["All"], "value": ["$__all"] });
        }
        variable
    };
    let paths = r#"label_values(v6gap_every_seconds{from=~"$host"}, to)"#.to_owned();
    vec![
        source,
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

fn source_of() -> Value {
    json!({ "type": "prometheus", "uid": "${source}" })
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

/// Puts panels beside and below each other, in their order.
fn placed(panels: Vec<Panel>) -> Vec<Value> {
    let (mut x, mut y, mut row) = (0, 0, 0);
    let mut all = Vec::new();
    for (number, panel) in (1_u32..).zip(panels) {
        if x + panel.width > COLUMNS {
            (x, y, row) = (0, y + row, 0);
        }
        let place = json!({ "x": x, "y": y, "w": panel.width, "h": panel.height });
        (x, row) = (x + panel.width, row.max(panel.height));
        all.push(panel.value(number, place));
    }
    all
}

impl Panel {
    fn new(kind: &'static str, title: &'static str, queries: Vec<Query>) -> Self {
        Panel {
            kind,
            title,
            width: COLUMNS / 2,
            height: 8,
            queries,
            defaults: json!({}),
            overrides: json!([]),
            options: json!({}),
            transformations: json!([]),
            is_repeated: false,
        }
    }

    fn value(self, number: u32, place: Value) -> Value {
        let letters = ('A'..='Z').map(String::from);
        let target = |(letter, query): (String, Query)| {
            json!({
                "refId": letter,
                "datasource": source_of(),
                "expr": query.expr,
                "legendFormat": query.legend,
                "instant": query.is_instant,
                "range": !query.is_instant,
                "format": if query.is_instant { "table" } else { "time_series" },
            })
        };
        let targets: Vec<Value> = letters.zip(self.queries).map(target).collect();
        let mut value = json!({
            "id": number,
            "type": self.kind,
            "title": self.title,
            "datasource": source_of(),
            "gridPos": place,
            "targets": targets,
            "fieldConfig": { "defaults": self.defaults, "overrides": self.overrides },
            "options": self.options,
            "transformations": self.transformations,
        });
        if self.is_repeated {
            value["repeat"] = json!("measure");
            value["repeatDirection"] = json!("h");
        }
        value
    }
}

fn query(legend: &'static str, expr: String) -> Query {
    Query { expr, legend, is_instant: false }
}

fn now(expr: String) -> Query {
    Query { expr, legend: "", is_instant: true }
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
    let up = json!({
        "0": { "index": 0, "text": "down", "color": "red" },
        "1": { "index": 1, "text": "up", "color": "green" },
    });
    let expr = format!("v6gap_family_up{{{PATH}}}");
    Panel {
        defaults: json!({
            "mappings": [{ "type": "value", "options": up }],
            "custom": { "fillOpacity": 70 },
        }),
        options: json!({ "mergeValues": true, "showValue": "auto" }),
        ..Panel::new("state-timeline", "Families that get there", vec![query("{{family}}", expr)])
    }
}

/// What is drawn of a field that is found by its name.
fn drawn(name: &str, properties: &[(&str, Value)]) -> Value {
    let properties: Vec<Value> =
        properties.iter().map(|(id, value)| json!({ "id": id, "value": value })).collect();
    json!({ "matcher": { "id": "byName", "options": name }, "properties": properties })
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
        query("margin below", format!("1 - {}", of("v6gap_margin_ratio"))),
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

fn counts(title: &'static str, legend: &'static str, expr: String) -> Panel {
    Panel {
        width: 8,
        defaults: json!({
            "unit": "none",
            "min": 0,
            "custom": { "drawStyle": "bars", "stacking": { "mode": "normal" } },
        }),
        ..Panel::new("timeseries", title, vec![query(legend, expr)])
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
