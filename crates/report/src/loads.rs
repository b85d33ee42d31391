//! What the load beside probes reached: medians over the valid trials of each cell and family, as
//! its receivers saw it.

use crate::transfers::median;
use std::collections::BTreeMap;
use v6gap_core::family::Family;
use v6gap_core::observation::{LoadDatagrams, Loaded, Measured};
use v6gap_core::record::Line;
use v6gap_core::unit::{format_rate, format_share};

/// One sentence for each cell and family that was probed under load. The family is that of the
/// probes; the cell's name says whether the load had the other one.
pub(crate) fn loads(lines: &[Line]) -> Vec<String> {
    let mut found: BTreeMap<(&str, Family), [Vec<Loaded>; 2]> = BTreeMap::new();
    for line in lines {
        let Line::Trial(trial) = line else { continue };
        if trial.findings.iter().any(|finding| finding.fatal) {
            continue;
        }
        let there = trial.ends.server.seen().and_then(|server| load(&server.measured));
        let back = load(&trial.ends.client.measured);
        if there.is_some() || back.is_some() {
            let all = found.entry((&trial.cell, trial.family)).or_default();
            all[0].extend(there);
            all[1].extend(back);
        }
    }
    let say = |((cell, family), all): ((&str, Family), [Vec<Loaded>; 2])| {
        let ways = ["to the server", "back"].into_iter().zip(&all);
        let ways: Vec<String> = ways.filter_map(|(way, all)| reached(way, all)).collect();
        (!ways.is_empty())
            .then(|| format!("{cell}, {family}: the load reached {}.", ways.join("; ")))
    };
    found.into_iter().filter_map(say).collect()
}

fn load(measured: &Measured) -> Option<Loaded> {
    match measured {
        Measured::Probed(probed) => probed.load,
        Measured::Returned(returned) => returned.load,
        _ => None,
    }
}

fn reached(way: &str, all: &[Loaded]) -> Option<String> {
    let rate = median(all.iter().filter_map(Loaded::received_bps).collect())?;
    let lost = all.iter().filter_map(|load| load.datagrams.as_ref()?.lost_share());
    let lost = median(lost.collect());
    let lost = lost.map_or(String::new(), |share| {
        format!(", where {} of its datagrams were lost", format_share(share))
    });
    let dropped = median(all.iter().filter_map(|load| dropped_share(load.datagrams?)).collect());
    let dropped = dropped
        .filter(|share| *share > 0.0)
        .map_or(String::new(), |share| format!(", and {} by the host", format_share(share)));
    Some(format!("{} {way}{lost}{dropped}", format_rate(rate)))
}

/// What the host that received dropped, of all that were sent.
fn dropped_share(datagrams: LoadDatagrams) -> Option<f64> {
    let announced = datagrams.announced.filter(|count| *count > 0)?;
    Some(datagrams.dropped? as f64 / announced as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrived_is_said_with_what_was_lost() {
        let datagrams = LoadDatagrams {
            received: 900,
            announced: Some(1_000),
            dropped: Some(0),
            ..LoadDatagrams::default()
        };
        let udp = Loaded {
            received_bytes: 12_500_000,
            span_ns: 1_000_000_000,
            datagrams: Some(datagrams),
            ..Loaded::default()
        };
        let text = reached("back", &[udp]).unwrap();
        assert_eq!(text, "100 Mbit/s back, where 10 % of its datagrams were lost");
        let tcp = Loaded { datagrams: None, ..udp };
        assert_eq!(reached("to the server", &[tcp]).unwrap(), "100 Mbit/s to the server");
        let full = LoadDatagrams { dropped: Some(100), ..datagrams };
        let text = reached("back", &[Loaded { datagrams: Some(full), ..udp }]).unwrap();
        assert!(text.ends_with("lost, and 10 % by the host"), "{text}");
        // Both are shares of what was sent.
        let half = LoadDatagrams { received: 400, ..full };
        let text = reached("back", &[Loaded { datagrams: Some(half), ..udp }]).unwrap();
        assert!(text.ends_with("where 50 % of its datagrams were lost, and 10 % by the host"));
        assert_eq!(reached("back", &[Loaded::default()]), None);
    }
}
