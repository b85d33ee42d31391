//! The dashboard of a fleet: its agents, who leads, whether the mesh plans are measured as often as
//! they want it, and what becomes of jobs and results.
//!
//! Several hubs tell of the same agents, and the one that leads of the mesh plans: so what they
//! tell is asked for over all of them.

use super::{Dashboard, Panel, asked, counts, drawn, either, now, query, source, states};
use serde_json::{Value, json};

/// Labels of the agents that are chosen.
const AGENT: &str = r#"agent=~"$agent""#;

/// And of the mesh plans.
const MESH: &str = r#"mesh=~"$mesh""#;

/// Columns of a panel of which three stand beside each other.
const THIRD: u32 = 8;

/// How an agent is shown that is not heard, and one that is.
const HEARD: [(&str, &str); 2] = [("silent", "red"), ("heard", "green")];

/// The dashboard of a fleet, as a file.
pub fn fleet_dashboard() -> String {
    let dashboard = Dashboard {
        uid: "v6gap-fleet",
        title: "IPv6 against IPv4: fleet",
        description: "What `v6gap fleet hub run --metrics` tells: docs/metrics.md",
        since: "now-24h",
        variables: vec![
            source(),
            asked("mesh", "Mesh plan", "label_values(v6gap_fleet_paths, mesh)".to_owned(), true),
            asked("agent", "Agent", "label_values(v6gap_fleet_agent_up, agent)".to_owned(), true),
        ],
        panels: panels(),
    };
    dashboard.file()
}

fn panels() -> Vec<Panel> {
    let leads = r#"max by (instance) (v6gap_fleet_coordinators{state="leads"})"#;
    let words = [("stands by", "text"), ("leads", "green")];
    vec![
        agents(),
        agents_now(),
        states("Agents that are heard", "{{agent}}", of_agents("v6gap_fleet_agent_up"), HEARD),
        states("Who leads", "{{instance}}", leads.to_owned(), words),
        overdue(),
        meshes_now(),
        third("Number of the lead", "none", "lead", "max(v6gap_fleet_epoch)".to_owned()),
        counts(
            "Jobs",
            "{{result}}",
            "sum by (result) (increase(v6gap_fleet_jobs_total[$__rate_interval]))".to_owned(),
        ),
        grants(),
        counts(
            "Results that could not be written",
            "{{to}}",
            "sum by (to) (increase(v6gap_fleet_unwritten_total[1h]))".to_owned(),
        ),
        of_agent("Runs that the archive lacks", "none", "v6gap_fleet_unarchived_runs"),
        of_agent("Free space", "bytes", "v6gap_fleet_free_bytes"),
        of_agent("Clocks ahead of the hub's", "s", "v6gap_fleet_clock_ahead_seconds"),
    ]
}

/// What is told of the chosen agents, once for each.
fn of_agents(metric: &str) -> String {
    format!("max by (agent) ({metric}{{{AGENT}}})")
}

/// And of the chosen mesh plans.
fn of_meshes(metric: &str) -> String {
    format!("max by (mesh) ({metric}{{{MESH}}})")
}

fn agents() -> Panel {
    let expr = "max by (state) (v6gap_fleet_agents)".to_owned();
    Panel {
        defaults: json!({
            "unit": "none",
            "min": 0,
            "custom": { "fillOpacity": 50, "stacking": { "mode": "normal" } },
        }),
        ..Panel::new("timeseries", "Agents by what they do", vec![query("{{state}}", expr)])
    }
}

/// The columns of a table, in the order of its queries, without the time of the values.
fn columns(names: &[&str]) -> Value {
    let letters = ('A'..='Z').map(|letter| format!("Value #{letter}"));
    let renamed: serde_json::Map<String, Value> =
        letters.zip(names.iter().map(|name| json!(name))).collect();
    json!([
        { "id": "merge", "options": {} },
        {
            "id": "organize",
            "options": { "excludeByName": { "Time": true }, "renameByName": renamed },
        },
    ])
}

fn agents_now() -> Panel {
    let metrics = [
        "v6gap_fleet_agent_up",
        "v6gap_fleet_unarchived_runs",
        "v6gap_fleet_free_bytes",
        "v6gap_fleet_clock_ahead_seconds",
    ];
    Panel {
        overrides: json!([
            drawn("heard", &[("mappings", either(HEARD))]),
            drawn("free", &[("unit", json!("bytes"))]),
            drawn("clock ahead", &[("unit", json!("s"))]),
        ]),
        transformations: columns(&["heard", "not archived", "free", "clock ahead"]),
        ..Panel::new(
            "table",
            "All agents now",
            metrics.iter().map(|metric| now(of_agents(metric))).collect(),
        )
    }
}

fn meshes_now() -> Panel {
    let metrics = ["v6gap_fleet_paths", "v6gap_fleet_overdue_paths"];
    Panel {
        width: THIRD,
        transformations: columns(&["paths", "overdue"]),
        ..Panel::new(
            "table",
            "Mesh plans now",
            metrics.iter().map(|metric| now(of_meshes(metric))).collect(),
        )
    }
}

fn overdue() -> Panel {
    let [overdue, all] = ["v6gap_fleet_overdue_paths", "v6gap_fleet_paths"].map(of_meshes);
    let expr = format!("{overdue}\n  / {all}");
    Panel {
        defaults: json!({ "unit": "percentunit", "min": 0, "max": 1 }),
        ..third("Overdue paths", "percentunit", "{{mesh}}", expr)
    }
}

/// How long half of the grants took at most, and nearly all of them.
fn grants() -> Panel {
    let classes = "sum by (le) (rate(v6gap_fleet_grant_duration_seconds_bucket[$__rate_interval]))";
    let of = |share: &str| format!("histogram_quantile({share}, {classes})");
    Panel {
        width: THIRD,
        defaults: json!({ "unit": "s", "min": 0 }),
        ..Panel::new(
            "timeseries",
            "Time to grant",
            vec![query("median", of("0.5")), query("99 %", of("0.99"))],
        )
    }
}

fn third(title: &'static str, unit: &str, legend: &'static str, expr: String) -> Panel {
    Panel {
        width: THIRD,
        defaults: json!({ "unit": unit }),
        ..Panel::new("timeseries", title, vec![query(legend, expr)])
    }
}

fn of_agent(title: &'static str, unit: &str, metric: &str) -> Panel {
    third(title, unit, "{{agent}}", of_agents(metric))
}
