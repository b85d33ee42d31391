//! A calibration for programs.

use super::{Calibration, Figure, LinkFigures, Packets};
use serde_json::{Value, json};

/// Name and version of the document's form.
const SCHEMA: &str = "v6gap.lab.calibration/1";

/// All of it, in SI units.
pub fn json(found: &Calibration) -> Value {
    json!({
        "schema": SCHEMA,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Document;
    use crate::commands::schema::tests::fits;
    use v6gap_core::family::Family;
    use v6gap_core::metric::Metric;
    use v6gap_core::observation::Lateness;
    use v6gap_core::world::LinkModel;

    fn of_links(model: LinkModel, rate_bps: Option<u64>) -> LinkFigures {
        let figure = Figure {
            what: "TCP goodput",
            family: Family::V6,
            metric: Metric::Throughput,
            measured: 92.8e6,
            model: rate_bps.map(|_| 92.9e6),
        };
        LinkFigures {
            model,
            rate_bps,
            figures: vec![figure],
            lateness: rate_bps.map(|_| Lateness::default()),
            wire_cpu: rate_bps.map(|_| 0.2),
            failed: vec!["UDP goodput over IPv6: no answer".to_owned()],
        }
    }

    #[test]
    fn a_calibration_fits_its_schema_with_all_figures_and_with_none() {
        let packets = Packets {
            flooded_per_s: 1e6,
            held_per_s: Some(9e5),
            held_bps: Some(5e8),
            lateness: Some(Lateness::default()),
            wire_cpu: None,
        };
        let links = vec![
            of_links(LinkModel::Bare, None),
            of_links(LinkModel::Shaped, Some(1)),
            of_links(LinkModel::Wire, Some(1)),
        ];
        let unavailable = vec![("netem", "they are not measured yet")];
        let all = Calibration { links, packets: Ok(packets), unavailable };
        fits(Document::LabCalibration, &json(&all));
        let packets = Err("there is no wire".to_owned());
        let none = Calibration { links: Vec::new(), packets, unavailable: Vec::new() };
        fits(Document::LabCalibration, &json(&none));
    }
}
