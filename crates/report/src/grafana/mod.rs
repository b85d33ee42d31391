//! Dashboards for Grafana, and what provisions them. They show what [`metrics`](crate::metrics) and
//! [`fleet::metrics`](crate::fleet::metrics) tell, by the names there.

mod fleet;
mod path;

pub use fleet::fleet_dashboard;
pub use path::dashboard;

use serde_json::{Value, json};

/// Version of the form, that of Grafana 10 and later.
const SCHEMA_VERSION: u32 = 39;

/// Columns of a dashboard.
const COLUMNS: u32 = 24;

/// Has Grafana take dashboards from a folder.
pub const DASHBOARDS: &str = "\
# Has Grafana show the dashboards of a folder: put path.json and fleet.json there,
# and this file into provisioning/dashboards.
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

/// A dashboard.
struct Dashboard {
    uid: &'static str,
    title: &'static str,
    description: &'static str,
    /// From when on it shows what was told, as Grafana says it.
    since: &'static str,
    variables: Vec<Value>,
    panels: Vec<Panel>,
}

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

impl Dashboard {
    /// It, as a file.
    fn file(self) -> String {
        let value = json!({
            "uid": self.uid,
            "title": self.title,
            "description": self.description,
            "tags": ["v6gap"],
            "schemaVersion": SCHEMA_VERSION,
            "version": 1,
            "editable": true,
            "graphTooltip": 1,
            "timezone": "",
            "refresh": "1m",
            "time": { "from": self.since, "to": "now" },
            "annotations": { "list": [] },
            "links": [],
            "templating": { "list": self.variables },
            "panels": placed(self.panels),
        });
        format!("{value:#}\n")
    }
}

/// The variable that says which Prometheus is asked.
fn source() -> Value {
    json!({
        "name": "source",
        "label": "Source",
        "type": "datasource",
        "query": "prometheus",
    })
}

/// A variable whose values Prometheus is asked for; of one with several, all are chosen at first.
fn asked(name: &str, label: &str, query: String, is_multi: bool) -> Value {
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
}

fn source_of() -> Value {
    json!({ "type": "prometheus", "uid": "${source}" })
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

/// What is drawn of a field that is found by its name.
fn drawn(name: &str, properties: &[(&str, Value)]) -> Value {
    let properties: Vec<Value> =
        properties.iter().map(|(id, value)| json!({ "id": id, "value": value })).collect();
    json!({ "matcher": { "id": "byName", "options": name }, "properties": properties })
}

/// A panel of bars that say how often something came.
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

/// A panel of what is so or not as time passes, with a word and a colour for either.
fn states(
    title: &'static str,
    legend: &'static str,
    expr: String,
    words: [(&str, &str); 2],
) -> Panel {
    Panel {
        defaults: json!({ "mappings": either(words), "custom": { "fillOpacity": 70 } }),
        options: json!({ "mergeValues": true, "showValue": "auto" }),
        ..Panel::new("state-timeline", title, vec![query(legend, expr)])
    }
}

/// What is shown in place of 0 and of 1.
fn either(words: [(&str, &str); 2]) -> Value {
    let [off, on] = words;
    json!([{ "type": "value", "options": { "0": shown(0, off), "1": shown(1, on) } }])
}

/// What is shown in place of a value, at that place in the list of all.
fn shown(index: u8, (text, colour): (&str, &str)) -> Value {
    json!({ "index": index, "text": text, "color": colour })
}
