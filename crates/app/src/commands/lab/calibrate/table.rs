//! A calibration for people.

use super::{Calibration, Figure, LinkFigures, Packets};
use v6gap_core::metric::Metric;
use v6gap_core::observation::Lateness;
use v6gap_core::unit::{format_rate, format_span};
use v6gap_core::world::LinkModel;

/// A link model and its rate.
pub fn name(model: LinkModel, rate_bps: Option<u64>) -> String {
    let model = format!("{model:?}").to_lowercase();
    let rate = rate_bps.map_or("no rate".to_owned(), |rate| format_rate(rate as f64));
    format!("{model} links, {rate}")
}

/// All of it.
pub fn text(found: &Calibration) -> String {
    let mut out = String::new();
    for link in &found.links {
        out += &links(link);
        out.push('\n');
    }
    out += &match &found.packets {
        Ok(packets) => held(packets),
        Err(why) => format!("how many packets wire links hold was not measured: {why}\n"),
    };
    out.push('\n');
    for (model, because) in &found.unavailable {
        out += &format!("{model} links: unavailable, because {because}\n");
    }
    out
}

fn links(link: &LinkFigures) -> String {
    let mut out = format!("{}, through one router\n", name(link.model, link.rate_bps));
    for figure in &link.figures {
        let Figure { what, family, measured, model, metric } = figure;
        let measured_text = value(*metric, *measured);
        let against = match model {
            None => String::new(),
            Some(model) => format!("   model {}   {}", value(*metric, *model), off(figure, *model)),
        };
        out += &format!("  {what:<23} {family}  {measured_text}{against}\n");
    }
    if let Some(late) = &link.lateness {
        out += &format!("  {}{}\n", lateness(late), processor(link.wire_cpu));
    }
    for failed in &link.failed {
        out += &format!("  not measured: {failed}\n");
    }
    out
}

/// How far a figure is from the model: a share of a rate, a time beyond that of the line.
fn off(figure: &Figure, model: f64) -> String {
    if figure.metric == Metric::Rtt {
        return format!("hosts add {}", format_span((figure.measured - model) * 1e9));
    }
    format!("off by {:+.2} %", (figure.measured / model - 1.0) * 100.0)
}

fn value(metric: Metric, value: f64) -> String {
    if metric == Metric::Rtt {
        return format!("{:>9.2} µs", value * 1e6);
    }
    format!("{:>9.3} Mbit/s", value / 1e6)
}

fn lateness(late: &Lateness) -> String {
    let span = |ns: u64| format_span(ns as f64);
    format!(
        "late by {} (p50), {} (p99), {} (most); {} frames, {} dropped",
        span(late.p50_ns),
        span(late.p99_ns),
        span(late.max_ns),
        late.frames,
        late.dropped
    )
}

fn processor(share: Option<f64>) -> String {
    share.map_or(String::new(), |share| format!("; {:.0} % of a processor", share * 100.0))
}

fn held(packets: &Packets) -> String {
    let mut out = format!(
        "wire links hold\n  flooded with datagrams of 20 bytes, {:.0} packets/s arrive\n",
        packets.flooded_per_s
    );
    match (packets.held_per_s, packets.held_bps) {
        (Some(per_s), Some(bps)) => {
            let rate = format_rate(bps);
            out +=
                &format!("  without a loss of its own {per_s:.0} packets/s ({rate} on the line)\n");
        }
        _ => out += "  no rate was found at which the link lost nothing of its own\n",
    }
    if let Some(late) = &packets.lateness {
        out += &format!("  {}{}\n", lateness(late), processor(packets.wire_cpu));
    }
    out
}
