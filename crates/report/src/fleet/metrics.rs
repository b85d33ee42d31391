//! Metrics of a hub, as Prometheus reads them; docs/metrics.md has the names.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use std::fmt;
use v6gap_core::fleet::metrics::{Metrics, OfAgent, RESULTS, STATES};

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

#[derive(Debug)]
struct Told(Metrics);

/// A value with its label.
type Series = (&'static str, String, f64);

/// A metric: its name, whether it counts, what it is, and its series.
type Row = (&'static str, bool, &'static str, fn(&Metrics) -> Vec<Series>);

static TABLE: [Row; 8] = [
    ("v6gap_fleet_agents", false, "Agents by what they do", |all| {
        let count = |state: &str| all.agents.values().filter(|a| a.state() == state).count();
        STATES.map(|state| ("state", state.to_owned(), count(state) as f64)).into()
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
            .map(|(state, value)| ("state", state.to_owned(), value))
            .into()
    }),
    ("v6gap_fleet_jobs_total", true, "Jobs by how they came out", |all| {
        let count = |result: &str| all.jobs.get(result).copied().unwrap_or(0) as f64;
        RESULTS.map(|result| ("result", result.to_owned(), count(result))).into()
    }),
    ("v6gap_fleet_unwritten_total", true, "Times that results could not be written", |all| {
        all.unwritten.iter().map(|(to, count)| ("to", (*to).to_owned(), *count as f64)).collect()
    }),
];

fn of_agents(all: &Metrics, value: impl Fn(&OfAgent) -> f64) -> Vec<Series> {
    let series = all.agents.iter();
    series.map(|(name, agent)| ("agent", name.to_string(), value(agent))).collect()
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
            for (label, text, value) in &series {
                let labels = vec![(*label, text.as_str())];
                // As in metrics of a watch: a counter has its whole name in its description.
                metric.encode_family(&labels)?.encode_gauge(value)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
    }

    #[test]
    fn each_metric_is_described_and_rules_ask_for_no_other() {
        for (name, ..) in &TABLE {
            assert!(DOCUMENT.contains(&format!("`{name}`")), "{name}");
        }
        let words = RULES.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
        for word in words.filter(|word| word.starts_with("v6gap_fleet_")) {
            assert!(TABLE.iter().any(|(name, ..)| *name == word), "{word}");
        }
    }
}
