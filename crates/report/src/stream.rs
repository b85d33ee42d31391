//! What happens in a run, one JSON object a line, as it happens: `--json-stream`.
//!
//! Every line has `event` and nothing that a later version would have to take away; units are those
//! of the document. A run is `state`, `begin`, then for each block `block`, two `trial` and after
//! each round `pair`; at its end the `check` and `verdict` lines of the whole and `end`.

use crate::sentences;
use crate::words;
use serde::Serialize;
use std::collections::BTreeMap;
use v6gap_core::arm::{Arm, BlockKind, PerArm};
use v6gap_core::family::Family;
use v6gap_core::host::names;
use v6gap_core::ladder::Rung;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{EndReport, Measured};
use v6gap_core::plan::Stop;
use v6gap_core::record::{RunHeader, TrialRecord};
use v6gap_core::run::SoFar;
use v6gap_core::watch::log::Fact;
use v6gap_core::workload::Cell;
use v6gap_judge::analysis::{Analysis, Check, Question, Verdict};
use v6gap_judge::analysis::{path, places};

/// Points of a trial's course that are told at most.
const POINTS_MAX: usize = 24;

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Line<'a> {
    State {
        text: &'a str,
    },
    Begin {
        id: &'a str,
        client: &'a str,
        target: &'a str,
        v4: Option<String>,
        v6: Option<String>,
        plan: &'a str,
        arms: [Family; 2],
        stop: &'a Stop,
        questions: Vec<Asked<'a>>,
        /// What is known of the path and of the far end, from visit to visit perhaps another.
        facts: Vec<Fact>,
    },
    Block {
        round: u32,
        cell: &'a str,
        null: bool,
        turn: usize,
        turns: usize,
    },
    Trial {
        block: u32,
        round: u32,
        cell: &'a str,
        null: bool,
        arm: Arm,
        family: Family,
        valid: bool,
        started_s: f64,
        duration_s: f64,
        values: &'a BTreeMap<Metric, f64>,
        /// Seconds since the trial's first byte, and bit/s.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        course: Vec<(f64, f64)>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        connections: Vec<OfConnection>,
        /// The address that it went to.
        #[serde(skip_serializing_if = "Option::is_none")]
        address: Option<String>,
        /// As the client's kernel assumed, in bytes.
        #[serde(skip_serializing_if = "Option::is_none")]
        path_mtu: Option<u32>,
        /// Fewest that its packets passed on the way to the server.
        #[serde(skip_serializing_if = "Option::is_none")]
        routers: Option<u8>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        findings: Vec<&'a str>,
        /// Names of the gates that discard its block, one for each of `findings`.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        gates: Vec<&'a str>,
    },
    Pair {
        pairs: u32,
        elapsed_s: f64,
        so_far: Vec<Open<'a>>,
    },
    Check(&'a Check),
    Verdict {
        cell: &'a str,
        label: &'a str,
        metric: Metric,
        verdict: Verdict,
        answer: String,
        text: &'a str,
        range: Option<[f64; 3]>,
        margin: f64,
        /// The effect that headers predict.
        predicted: Option<f64>,
        sentence: &'a str,
    },
    End {
        id: &'a str,
        valid: bool,
        headline: String,
        code: Option<&'static str>,
        stopped: Option<&'a str>,
        pairs: u32,
        trials: usize,
    },
}

/// A connection at the end of a transfer, as its sender's kernel tells.
#[derive(Serialize)]
struct OfConnection {
    sender: &'static str,
    sent_bytes: u64,
    rtt_s: Option<f64>,
    /// Congestion window, in segments.
    cwnd: Option<u32>,
    /// Segments sent again.
    sent_again: Option<u32>,
}

#[derive(Serialize)]
struct Asked<'a> {
    cell: &'a str,
    metric: Metric,
    label: String,
    unit: &'static str,
}

/// A question that is still open.
#[derive(Serialize)]
struct Open<'a> {
    cell: &'a str,
    metric: Metric,
    pairs: usize,
    text: &'a str,
    /// Estimate and both ends of its range, as relative differences.
    range: Option<[f64; 3]>,
}

fn line(of: &Line<'_>) -> String {
    // Plain data with string keys: nothing in it can fail to become JSON.
    let mut text = words::json_escaped(serde_json::to_string(of).unwrap_or_default());
    text.push('\n');
    text
}

/// What is being done before the first trial.
pub fn state(text: &str) -> String {
    line(&Line::State { text })
}

/// The run has a name, and this is what it will measure.
pub fn begin(header: &RunHeader) -> String {
    let plan = &header.plan;
    let address = |family| header.addresses.get(family).map(|a| a.to_string());
    line(&Line::Begin {
        id: header.id.as_str(),
        client: &header.hosts.client.name,
        target: &header.target,
        v4: address(Family::V4),
        v6: address(Family::V6),
        plan: &plan.name,
        arms: [plan.design.arms.a, plan.design.arms.b],
        stop: &plan.design.stop,
        questions: plan.cells.iter().flat_map(|cell| asked(header, cell)).collect(),
        facts: facts(header),
    })
}

/// What was looked at before the first trial and is told by no trial.
fn facts(header: &RunHeader) -> Vec<Fact> {
    let fact = |name: &str, family, value| Fact { name: name.to_owned(), family, value };
    let server = &header.hosts.server.facts;
    let of_both = [("server", names::PROGRAM), ("kernel", "kernel")].into_iter();
    let of_both = of_both.filter_map(|(name, of)| Some(fact(name, None, server.get(of)?.clone())));
    let mut all: Vec<Fact> = of_both.collect();
    for family in Family::BOTH {
        let mut put = |name: &str, value: Option<String>| {
            all.extend(value.map(|value| fact(name, Some(family), value)));
        };
        for name in ["server", names::CERTIFICATE] {
            put(name, server.get(&names::of_family(family, name)).cloned());
        }
        let mtu = header.path_mtu.as_ref().and_then(|of| of.get(family).found());
        put("path-mtu", mtu.map(|bytes| bytes.to_string()));
        let Some(rungs) = header.hops.as_ref().map(|hops| hops.get(family)) else { continue };
        let Some(routers) = rungs.iter().position(|rung| rung.is_host) else { continue };
        put("routers", Some(routers.to_string()));
        put("route", Some(route(&rungs[..routers])));
    }
    all
}

/// The routers on a way, by their addresses; one that does not answer is a dash.
fn route(rungs: &[Rung]) -> String {
    let router = |rung: &Rung| {
        let addresses: Vec<String> = rung.by.iter().map(|by| by.address.to_string()).collect();
        if addresses.is_empty() { "-".to_owned() } else { addresses.join("/") }
    };
    rungs.iter().map(router).collect::<Vec<_>>().join(" ")
}

fn asked<'a>(run: &'a RunHeader, cell: &'a Cell) -> impl Iterator<Item = Asked<'a>> {
    cell.workload.metrics().iter().map(|&metric| Asked {
        cell: &cell.id,
        metric,
        label: places::label(run, cell, metric, PerArm::default()),
        unit: metric.unit(),
    })
}

/// A block begins; it is the `turn.0`th of `turn.1` in its round.
pub fn block(round: u32, cell: &str, kind: BlockKind, turn: (usize, usize)) -> String {
    let null = kind != BlockKind::Compare;
    line(&Line::Block { round, cell, null, turn: turn.0, turns: turn.1 })
}

/// A trial is done; whether its block is `valid` was judged with the other one's.
pub fn trial(trial: &TrialRecord, valid: bool) -> String {
    let fatal = trial.findings.iter().filter(|finding| finding.fatal);
    line(&Line::Trial {
        block: trial.block,
        round: trial.round,
        cell: &trial.cell,
        null: trial.kind != BlockKind::Compare,
        arm: trial.arm,
        family: trial.family,
        valid,
        started_s: trial.started_ns as f64 / 1e9,
        duration_s: trial.duration_ns as f64 / 1e9,
        values: &trial.values,
        course: course(trial),
        connections: connections(trial),
        address: trial.ends.client.endpoints.map(|ends| ends.peer.ip().to_string()),
        path_mtu: trial.ends.client.granted.path_mtu,
        routers: path::routers(&trial.ends),
        findings: fatal.clone().map(|finding| finding.seen.as_str()).collect(),
        gates: fatal.map(|finding| finding.gate.as_str()).collect(),
    })
}

/// The connections of a transfer, each at the end that sent.
fn connections(trial: &TrialRecord) -> Vec<OfConnection> {
    let of = |(sender, end): (&'static str, &EndReport)| {
        let sent = end.connections.iter().filter(|connection| connection.sent_bytes > 0);
        let told = sent.map(|connection| OfConnection {
            sender,
            sent_bytes: connection.sent_bytes,
            rtt_s: connection.account.map(|account| f64::from(account.rtt_us) / 1e6),
            cwnd: connection.account.map(|account| account.cwnd),
            sent_again: connection.account.map(|account| account.retransmitted_segments),
        });
        told.collect::<Vec<_>>()
    };
    ["client", "server"].into_iter().zip(trial.ends.all()).flat_map(of).collect()
}

/// The rate in the course of a bulk transfer, from what had arrived at each time.
fn course(trial: &TrialRecord) -> Vec<(f64, f64)> {
    let received = trial.ends.all().find_map(|end| match &end.measured {
        Measured::Received(received) => Some(received),
        _ => None,
    });
    let Some(received) = received else { return Vec::new() };
    let every = received.series.len().div_ceil(POINTS_MAX).max(1);
    let points: Vec<(u64, u64)> = received.series.iter().copied().step_by(every).collect();
    let rate = |pair: &[(u64, u64)]| {
        let seconds = pair[1].0.checked_sub(pair[0].0).filter(|&ns| ns > 0)? as f64 / 1e9;
        let bytes = pair[1].1.saturating_sub(pair[0].1);
        Some((pair[1].0 as f64 / 1e9, bytes as f64 * 8.0 / seconds))
    };
    points.windows(2).filter_map(rate).collect()
}

/// A round of pairs is over.
pub fn pair(pairs: u32, elapsed_ns: u64, so_far: &[SoFar]) -> String {
    let elapsed_s = elapsed_ns as f64 / 1e9;
    line(&Line::Pair { pairs, elapsed_s, so_far: so_far.iter().map(open).collect() })
}

fn open(question: &SoFar) -> Open<'_> {
    Open {
        cell: &question.cell,
        metric: question.metric,
        pairs: question.blocks,
        text: &question.text,
        range: question.range.map(|(estimate, low, high)| [estimate, low, high]),
    }
}

/// What came out: every check, every verdict, and the end.
pub fn end(analysis: &Analysis) -> String {
    let mut text: String =
        sentences::checks::told(analysis).iter().map(|check| line(&Line::Check(check))).collect();
    text.extend(analysis.questions.iter().map(verdict));
    text.push_str(&line(&Line::End {
        id: analysis.run.id.as_str(),
        valid: analysis.valid,
        headline: sentences::headline(analysis),
        code: words::code(analysis),
        stopped: analysis.stopped.as_deref(),
        pairs: analysis.rounds,
        trials: analysis.trials,
    }));
    text
}

fn verdict(q: &Question) -> String {
    let range = q.effect.as_ref().map(|e| [e.estimate, e.range95.low, e.range95.high]);
    line(&Line::Verdict {
        cell: &q.cell,
        label: &q.label,
        metric: q.metric,
        verdict: q.verdict,
        answer: words::marked_answer(q),
        text: &q.text,
        range,
        margin: q.margin,
        predicted: q.prediction.as_ref().map(|prediction| prediction.effect),
        sentence: &q.sentence,
    })
}
