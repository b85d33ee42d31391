//! What a message costs, as rows of two families and their difference: the terms of the cost model
//! with their ranges, and the sentences that say what they mean.

use crate::{number, sentences, words};
use v6gap_core::arm::PerArm;
use v6gap_core::unit::significant;
use v6gap_judge::analysis::Analysis;
use v6gap_judge::analysis::costmodel::{CostModel, Fitted, Ranged};

/// A sweep of sizes as a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Costs {
    /// Heads of the columns.
    pub heads: [String; 4],
    /// A name, the value of each arm and their difference; empty if nothing could be fitted.
    pub rows: Vec<[String; 4]>,
    /// What it says, and what to doubt.
    pub sentences: Vec<String>,
}

/// The tables of all sweeps.
pub(crate) fn costs(analysis: &Analysis) -> Vec<Costs> {
    analysis.cost_models.iter().map(|cost| one(analysis, cost)).collect()
}

fn one(analysis: &Analysis, cost: &CostModel) -> Costs {
    let names = &analysis.arm_names;
    let transport = cost.transport.name();
    let difference = format!("{} − {}", names.b, names.a);
    let mut said = vec![sentences::costs(analysis, cost)];
    said.extend(cost.caveats.iter().map(|caveat| words::sentence(&words::capital(caveat))));
    Costs {
        heads: [format!("round trip, {transport}"), names.a.clone(), names.b.clone(), difference],
        rows: cost.fitted.as_ref().map(rows).unwrap_or_default(),
        sentences: said,
    }
}

fn rows(fitted: &Fitted) -> Vec<[String; 4]> {
    let PerArm { a, b } = &fitted.arms;
    let difference = &fitted.difference;
    let mut rows = Vec::new();
    let mut add = |name: &str, units: &[Unit], found: [&Ranged; 3]| {
        let largest = found[0].estimate.abs().max(found[1].estimate.abs());
        let fits = |(size, _): &&Unit| largest / size >= 1.0;
        let (size, unit) = units.iter().rev().find(fits).unwrap_or(&units[0]);
        let [a, b, d] = found.map(|r| with_range(r, *size));
        rows.push([format!("{name}, {unit}"), a, b, d]);
    };
    add("constant", &TIMES, [&a.constant_ns, &b.constant_ns, &difference.constant_ns]);
    let packets = (&a.per_packet_ns, &b.per_packet_ns, &difference.per_packet_ns);
    if let (Some(a), Some(b), Some(d)) = packets {
        add("each packet", &TIMES, [a, b, d]);
    }
    let bytes = [&a.per_byte_ns, &b.per_byte_ns, &difference.per_byte_ns];
    add("each byte on the line", &TIMES[..1], bytes);
    let PerArm { a, b } = &fitted.apparent_rate_bps;
    add("as a line of", &RATES, [a, b, a]);
    // A difference of rates says nothing that the costs per byte do not.
    if let Some([_, _, _, difference]) = rows.last_mut() {
        *difference = "–".to_owned();
    }
    rows
}

/// How much a unit is, and its name.
type Unit = (f64, &'static str);

const TIMES: [Unit; 3] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms")];
const RATES: [Unit; 3] = [(1e3, "kbit/s"), (1e6, "Mbit/s"), (1e9, "Gbit/s")];

/// As in "98.4 (98.1 to 98.7)".
fn with_range(found: &Ranged, size: f64) -> String {
    let Ranged { estimate, low, high } = *found;
    if !low.is_finite() || !high.is_finite() {
        return format!("{} (unbounded)", significant(estimate / size, 3).replace('-', "−"));
    }
    let [middle, low, high] = number::ranged(estimate / size, low / size, high / size);
    format!("{middle} ({low} to {high})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_stands_with_its_range() {
        let found = Ranged { estimate: -411.0, low: -1260.0, high: 512.0 };
        assert_eq!(with_range(&found, 1e3), "−0.4 (−1.3 to 0.6)");
        let narrow = Ranged { estimate: 161_042.0, low: 160_831.0, high: 161_238.0 };
        assert_eq!(with_range(&narrow, 1e3), "161.0 (160.8 to 161.3)");
        let open = Ranged { estimate: 80.04, low: f64::NEG_INFINITY, high: f64::INFINITY };
        assert_eq!(with_range(&open, 1.0), "80.0 (unbounded)");
    }
}
