//! Metrics of a hub, as Prometheus reads them; docs/metrics.md has the names.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use std::fmt;
use v6gap_core::fleet::metrics::{GRANT_NS, Metrics, OfAgent, RESULTS, STATES, Took};
use v6gap_core::fleet::timetable::Standing;

/// Nanoseconds of a second.
const NS: f64 = 1e9;

/// The text that is scraped.
pub fn metrics(of: &Metrics) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Told(of.clone())));
    let mut text = String::new();
    // Text takes whatever is written to it.
    let _ = encode_registry(&mut text, &registry);
    text
}

/// Names of all metrics.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, ..)| *name).chain([GRANT_DURATION])
}

#[derive(Debug)]
struct Told(Metrics);

/// A value with its label, if it has one.
type Series = (Option<(&'static str, String)>, f64);

/// A metric: its name, whether it counts, what it is, and its series.
type Row = (&'static str, bool, &'static str, fn(&Metrics) -> Vec<Series>);

static TABLE: [Row; 11] = [
    ("v6gap_fleet_agents", false, "Agents by what they do", |all| {
        let count = |state: &str| all.agents.values().filter(|a| a.state() == state).count();
        STATES.map(|state| labelled("state", state, count(state) as f64)).into()
    }),
    ("v6gap_fleet_agent_up", false, "Whether the agent is heard", |all| {
        of_agents(all, |agent| f64::from(u8::from(!agent.is_silent)))
    }),
    ("v6gap_fleet_unarchived_runs", false, "Runs that the archive lacks", |all| {
        of_agents(all, |agent| agent.said.unarchived as f64)
    }),
    ("v6gap_fleet_free_bytes", false, "Free space on the agent's disk", |all| {
        of_agents(all, |agent| agent.said.free_bytes as f64)
    }),
    ("v6gap_fleet_clock_ahead_seconds", false, "Its wall clock less the hub's", |all| {
        of_agents(all, |agent| agent.clock_ahead_ns as f64 / NS)
    }),
    ("v6gap_fleet_coordinators", false, "Coordinators here by what they do", |all| {
        let leads = f64::from(u8::from(all.leads));
        [("leads", leads), ("stands-by", 1.0 - leads)]
            .map(|(state, value)| labelled("state", state, value))
            .into()
    }),
    ("v6gap_fleet_epoch", false, "Number of the lead, where a coordinator leads", |all| {
        all.epoch.iter().map(|epoch| (None, epoch.0 as f64)).collect()
    }),
    ("v6gap_fleet_paths", false, "Paths of a mesh plan, where a coordinator leads", |all| {
        of_meshes(all, |mesh| mesh.paths)
    }),
    ("v6gap_fleet_overdue_paths", false, "Those that two periods were not enough for", |all| {
        of_meshes(all, |mesh| mesh.overdue)
    }),
    ("v6gap_fleet_jobs_total", true, "Jobs by how they came out", |all| {
        let count = |result: &str| all.jobs.get(result).copied().unwrap_or(0) as f64;
        RESULTS.map(|result| labelled("result", result, count(result))).into()
    }),
    ("v6gap_fleet_unwritten_total", true, "Times that results could not be written", |all| {
        all.unwritten.iter().map(|(to, count)| labelled("to", to, *count as f64)).collect()
    }),
];

/// The one that is a histogram.
const GRANT_DURATION: &str = "v6gap_fleet_grant_duration_seconds";

fn labelled(label: &'static str, text: &str, value: f64) -> Series {
    (Some((label, text.to_owned())), value)
}

fn of_agents(all: &Metrics, value: impl Fn(&OfAgent) -> f64) -> Vec<Series> {
    let series = all.agents.iter();
    series.map(|(name, agent)| labelled("agent", &name.to_string(), value(agent))).collect()
}

fn of_meshes(all: &Metrics, count: impl Fn(&Standing) -> usize) -> Vec<Series> {
    all.meshes.iter().map(|(name, mesh)| labelled("mesh", name, count(mesh) as f64)).collect()
}

impl Collector for Told {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (name, counts, help, series) in &TABLE {
            let series = series(&self.0);
            if series.is_empty() {
                continue;
            }
            let of = if *counts { MetricType::Counter } else { MetricType::Gauge };
            let mut metric = encoder.encode_descriptor(name, help, None, of)?;
            for (label, value) in &series {
                // As in metrics of a watch: a counter has its whole name in its description.
                match label {
                    Some((label, text)) => {
                        let labels = vec![(*label, text.as_str())];
                        metric.encode_family(&labels)?.encode_gauge(value)?;
                    }
                    None => metric.encode_gauge(value)?,
                }
            }
        }
        grants(&self.0.grants, &mut encoder)
    }
}

/// How long it took until jobs were granted.
fn grants(of: &Took, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let help = "Time from when jobs were asked for until they were granted";
    let of_type = MetricType::Histogram;
    let mut metric = encoder.encode_descriptor(GRANT_DURATION, help, None, of_type)?;
    let ends = GRANT_NS.map(|end_ns| end_ns as f64 / NS).into_iter().chain([f64::INFINITY]);
    let classes: Vec<(f64, u64)> = ends.zip(of.counts).collect();
    let count = of.counts.iter().sum();
    metric.encode_histogram::<NoLabelSet>(of.sum_ns as f64 / NS, count, &classes, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::fleet::id::Epoch;

    const DOCUMENT: &str = include_str!("../../../../docs/metrics.md");
    const RULES: &str = include_str!("../../../../share/prometheus/v6gap-fleet.rules.yml");

    /// Before any agent is there, too, so that a rule can tell that there is none.
    #[test]
    fn what_is_counted_is_there_from_the_start() {
        let mut of = Metrics { leads: true, ..Metrics::default() };
        of.unwritten("archive");
        of.unwritten("archive");
        let text = metrics(&of);
        for line in [
            "# TYPE v6gap_fleet_jobs_total counter",
            "v6gap_fleet_agents{state=\"silent\"} 0.0",
            "v6gap_fleet_coordinators{state=\"leads\"} 1.0",
            "v6gap_fleet_coordinators{state=\"stands-by\"} 0.0",
            "v6gap_fleet_jobs_total{result=\"given-up\"} 0.0",
            "v6gap_fleet_unwritten_total{to=\"archive\"} 2.0",
            "v6gap_fleet_grant_duration_seconds_count 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
    }

    /// Whoever stands by says nothing of it: what it knew once is not so any more.
    #[test]
    fn who_leads_says_for_which_time_and_how_far_behind_it_is() {
        let mut of = Metrics::default();
        of.lead(true);
        of.stands(Epoch(7), [("two".to_owned(), Standing { paths: 12, overdue: 3 })].into());
        of.granted(4_000_000);
        of.granted(6_000_000_000);
        let text = metrics(&of);
        for line in [
            "v6gap_fleet_epoch 7.0",
            "v6gap_fleet_paths{mesh=\"two\"} 12.0",
            "v6gap_fleet_overdue_paths{mesh=\"two\"} 3.0",
            "# TYPE v6gap_fleet_grant_duration_seconds histogram",
            "v6gap_fleet_grant_duration_seconds_sum 6.004",
            "v6gap_fleet_grant_duration_seconds_count 2",
            "v6gap_fleet_grant_duration_seconds_bucket{le=\"0.002\"} 0",
            "v6gap_fleet_grant_duration_seconds_bucket{le=\"0.005\"} 1",
            "v6gap_fleet_grant_duration_seconds_bucket{le=\"5.0\"} 1",
            "v6gap_fleet_grant_duration_seconds_bucket{le=\"+Inf\"} 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        of.lead(false);
        let text = metrics(&of);
        for name in ["epoch", "paths", "overdue_paths"] {
            assert!(!text.contains(&format!("v6gap_fleet_{name}")), "{name}: {text}");
        }
    }

    #[test]
    fn each_metric_is_described_and_rules_ask_for_no_other() {
        for name in names() {
            assert!(DOCUMENT.contains(&format!("`{name}`")), "{name}");
        }
        let words = RULES.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
        for word in words.filter(|word| word.starts_with("v6gap_fleet_")) {
            // A rule asks for the classes of a histogram, which it does not have in its name.
            let word = word.trim_end_matches("_bucket");
            assert!(names().any(|name| name == word), "{word}");
        }
    }
}
