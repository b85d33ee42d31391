//! Metrics of a watch, as Prometheus reads them: its text format 0.0.4, which every version of it
//! and whatever else scrapes understands. docs/metrics.md has the names.
//!
//! The order is that of the table below and of names, so that the same values are the same bytes.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use std::fmt;
use v6gap_core::family::Family;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::watch::metrics::{Metrics, OfPath, Question, results};

/// What the text is, as HTTP says it.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Verdicts as documents have them, and as the label is.
const VERDICTS: [(&str, &str); 5] = [
    ("better", "better"),
    ("same", "same"),
    ("worse", "worse"),
    ("inconclusive", "cannot_tell"),
    ("none", "none"),
];

/// Bits of a byte.
const BITS: f64 = 8.0;

/// The text that is scraped.
pub fn text(metrics: &Metrics) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Told(metrics.clone())));
    let mut text = String::new();
    // Text takes whatever is written to it.
    let _ = encode_registry(&mut text, &registry);
    text
}

/// Names of all metrics.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|row| row.name)
}

#[derive(Debug)]
struct Told(Metrics);

impl Collector for Told {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for Row { name, counts, help, series } in &TABLE {
            let series = series(&self.0);
            if series.is_empty() {
                continue;
            }
            let of = if *counts { MetricType::Counter } else { MetricType::Gauge };
            let mut metric = encoder.encode_descriptor(name, help, None, of)?;
            for Series { labels, value } in &series {
                // A counter of this format has its whole name in its description, too, which a
                // gauge's way of writing gives it.
                metric.encode_family(labels)?.encode_gauge(value)?;
            }
        }
        Ok(())
    }
}

/// One value of a metric.
struct Series<'a> {
    labels: Vec<(&'static str, &'a str)>,
    value: f64,
}

/// A metric.
struct Row {
    name: &'static str,
    /// Whether it is a counter; the others are gauges.
    counts: bool,
    help: &'static str,
    series: fn(&Metrics) -> Vec<Series<'_>>,
}

const fn gauge(
    name: &'static str,
    help: &'static str,
    series: fn(&Metrics) -> Vec<Series<'_>>,
) -> Row {
    Row { name, counts: false, help, series }
}

const fn counter(
    name: &'static str,
    help: &'static str,
    series: fn(&Metrics) -> Vec<Series<'_>>,
) -> Row {
    Row { name, counts: true, help, series }
}

static TABLE: [Row; 22] = [
    gauge("v6gap_rtt_seconds", "Round trip in the last visit", |all| {
        of_values(all, Metric::Rtt, 1.0)
    }),
    gauge("v6gap_connect_seconds", "Time to connect in the last visit", |all| {
        of_values(all, Metric::Connect, 1.0)
    }),
    gauge("v6gap_throughput_bytes_per_second", "Throughput in the last visit", |all| {
        of_values(all, Metric::Throughput, 1.0 / BITS)
    }),
    gauge("v6gap_loss_ratio", "Share of packets lost in the last visit", |all| {
        of_values(all, Metric::Loss, 1.0)
    }),
    gauge("v6gap_effect_ratio", "IPv6 over IPv4, of the day so far", |all| ratios(all, 0)),
    gauge("v6gap_effect_lower_ratio", "Lower end of its 95 % range", |all| ratios(all, 1)),
    gauge("v6gap_effect_upper_ratio", "Upper end of its 95 % range", |all| ratios(all, 2)),
    gauge("v6gap_effect_difference_ratio", "IPv6 less IPv4, of shares", |all| differences(all, 0)),
    gauge("v6gap_effect_difference_lower_ratio", "Lower end of its 95 % range", |all| {
        differences(all, 1)
    }),
    gauge("v6gap_effect_difference_upper_ratio", "Upper end of its 95 % range", |all| {
        differences(all, 2)
    }),
    gauge("v6gap_margin_ratio", "A smaller difference does not matter", |all| {
        of_questions(all, |question| question.margin)
    }),
    gauge("v6gap_predicted_ratio", "IPv6 over IPv4 as the headers alone predict it", |all| {
        of_questions(all, |question| {
            let predicted = question.predicted.map(|effect| 1.0 + effect);
            predicted.filter(|_| question.metric.scale() == Scale::Ratio)
        })
    }),
    gauge("v6gap_verdict", "Whether this is the verdict on IPv6, of the day so far", verdicts),
    gauge("v6gap_family_up", "Whether the family gets there", up),
    gauge("v6gap_last_measured_timestamp_seconds", "End of the last visit that measured", |all| {
        of_paths(all, |path| path.measured_unix_ns.map(seconds))
    }),
    gauge("v6gap_every_seconds", "Time from one visit to the next", |all| {
        of_paths(all, |path| Some(seconds(path.every_ns)))
    }),
    gauge("v6gap_path_info", "Where a path leads", info),
    gauge("v6gap_build_info", "Which version of the program watches", |all| {
        let labels = vec![("from", &*all.from), ("version", &*all.version)];
        vec![Series { labels, value: 1.0 }]
    }),
    counter("v6gap_windows_total", "Visits that were due, by what became of them", windows),
    counter("v6gap_blocks_discarded_total", "Discarded blocks, by the gate", |all| {
        per_path(all, |path| path.counted.discarded.iter().map(|(gate, n)| ("gate", &**gate, *n)))
    }),
    counter("v6gap_changes_total", "Changes that were found", |all| {
        per_path(all, |path| path.counted.changes.iter().map(|(name, n)| ("measure", &**name, *n)))
    }),
    counter("v6gap_sent_bytes_total", "Payload of all visits", |all| {
        of_paths(all, |path| Some(path.counted.sent_bytes as f64))
    }),
];

fn of_paths<'a>(all: &'a Metrics, value: impl Fn(&'a OfPath) -> Option<f64>) -> Vec<Series<'a>> {
    let mut series = Vec::new();
    for (to, path) in &all.paths {
        let labels = vec![("from", &*all.from), ("to", &**to)];
        series.extend(value(path).map(|value| Series { labels, value }));
    }
    series
}

/// Series of each path with one label more.
fn per_path<'a, I>(all: &'a Metrics, counts: impl Fn(&'a OfPath) -> I) -> Vec<Series<'a>>
where
    I: Iterator<Item = (&'static str, &'a str, u64)>,
{
    let mut series = Vec::new();
    for (to, path) in &all.paths {
        for (label, of, count) in counts(path) {
            let labels = vec![("from", &*all.from), ("to", &**to), (label, of)];
            series.push(Series { labels, value: count as f64 });
        }
    }
    series
}

/// A value of a question, with a label of its own where there are several.
type Labelled = (Option<(&'static str, &'static str)>, f64);

/// Series of each question, as many as there are values of it.
fn per_question<'a, const N: usize>(
    all: &'a Metrics,
    values: impl Fn(&'a Question) -> [Option<Labelled>; N],
) -> Vec<Series<'a>> {
    let mut series = Vec::new();
    for (to, path) in &all.paths {
        for (measure, question) in &path.questions {
            for (label, value) in values(question).into_iter().flatten() {
                let mut labels = vec![("from", &*all.from), ("to", &**to), ("measure", &**measure)];
                labels.extend(label);
                series.push(Series { labels, value });
            }
        }
    }
    series
}

fn of_questions<'a>(
    all: &'a Metrics,
    value: impl Fn(&'a Question) -> Option<f64>,
) -> Vec<Series<'a>> {
    per_question(all, |question| [value(question).map(|value| (None, value))])
}

/// The values of both families, of questions about that metric.
fn of_values(all: &Metrics, metric: Metric, factor: f64) -> Vec<Series<'_>> {
    per_question(all, |question| {
        let values = question.values.filter(|_| question.metric == metric);
        Family::BOTH.map(|family| {
            let value = values.map(|values| factor * values.get(family))?;
            value.is_finite().then_some((Some(("family", label(family))), value))
        })
    })
}

/// What a family is called in labels.
fn label(family: Family) -> &'static str {
    match family {
        Family::V4 => "ipv4",
        Family::V6 => "ipv6",
    }
}

/// An estimate or an end of its range, of what is compared by ratios.
fn ratios(all: &Metrics, at: usize) -> Vec<Series<'_>> {
    let effects = compared(Scale::Ratio, at);
    of_questions(all, |question| effects(question).map(|effect| 1.0 + effect))
}

/// The same of what is compared by differences.
fn differences(all: &Metrics, at: usize) -> Vec<Series<'_>> {
    of_questions(all, compared(Scale::Difference, at))
}

fn compared(scale: Scale, at: usize) -> impl Fn(&Question) -> Option<f64> {
    move |question: &Question| {
        question.range.filter(|_| question.metric.scale() == scale).map(|r| r[at])
    }
}

/// All five, so that a rule can ask for any without one that is missing.
fn verdicts(all: &Metrics) -> Vec<Series<'_>> {
    per_question(all, |question| {
        VERDICTS.map(|(verdict, name)| {
            let is_it = f64::from(u8::from(question.verdict == verdict));
            Some((Some(("verdict", name)), is_it))
        })
    })
}

fn up(all: &Metrics) -> Vec<Series<'_>> {
    per_path(all, |path| {
        let told = move |family: Family| {
            let up = path.is_up(family)?;
            Some(("family", label(family), u64::from(up)))
        };
        Family::BOTH.into_iter().filter_map(told)
    })
}

/// How often visits came out how; all of them, so that the first one of a kind counts as more.
fn windows(all: &Metrics) -> Vec<Series<'_>> {
    per_path(all, |path| {
        let count = move |name: &'static str| path.counted.windows.get(name).copied().unwrap_or(0);
        results().map(move |name| ("result", name, count(name)))
    })
}

fn info(all: &Metrics) -> Vec<Series<'_>> {
    let mut series = Vec::new();
    for (to, path) in &all.paths {
        let address = |family| path.addresses.get(family).as_deref().unwrap_or_default();
        let mut labels = vec![("from", &*all.from), ("to", &**to), ("host", &*path.host)];
        labels.extend(Family::BOTH.map(|family| (label(family), address(family))));
        series.push(Series { labels, value: 1.0 });
    }
    series
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
