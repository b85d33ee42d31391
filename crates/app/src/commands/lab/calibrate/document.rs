//! A calibration for programs.

use super::{Calibration, Figure, LinkFigures, Packets};
use serde_json::{Value, json};

/// All of it, in SI units.
pub fn json(found: &Calibration) -> Value {
    json!({
        "links": found.links.iter().map(links).collect::<Vec<_>>(),
        "wire_packets": found.packets.as_ref().ok().map(packets),
        "wire_packets_failed": found.packets.as_ref().err(),
        "unavailable": found.unavailable.iter().map(|(model, because)| {
            json!({ "model": model, "because": because })
        }).collect::<Vec<_>>(),
    })
}

fn links(link: &LinkFigures) -> Value {
    json!({
        "model": link.model,
        "rate_bps": link.rate_bps,
        "figures": link.figures.iter().map(figure).collect::<Vec<_>>(),
        "lateness": link.lateness,
        "wire_cpu": link.wire_cpu,
        "failed": link.failed,
    })
}

fn figure(figure: &Figure) -> Value {
    json!({
        "what": figure.what,
        "family": figure.family,
        "metric": figure.metric.name(),
        "measured": figure.measured,
        "model": figure.model,
    })
}

fn packets(packets: &Packets) -> Value {
    json!({
        "flooded_per_s": packets.flooded_per_s,
        "held_per_s": packets.held_per_s,
        "held_bps": packets.held_bps,
        "lateness": packets.lateness,
        "wire_cpu": packets.wire_cpu,
    })
}
