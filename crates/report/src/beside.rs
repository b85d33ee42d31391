//! The readings of captures and managed devices beside the client's own count, as rows and as
//! sentences.

use v6gap_core::unit::format_bytes;
use v6gap_judge::analysis::Analysis;
use v6gap_judge::analysis::beside::{OctetsBeside, OctetsOf};

/// Heads of the columns.
pub(crate) const HEADS: [&str; 6] =
    ["octets of the trials", "counted by", "sent", "received", "sent / own", "received / own"];

/// Why readings differ that count the same octets.
pub(crate) const WHY: &str = "Own is what the client's interface counted, without frame check \
    sequence. SNMP counts 4 octets more for each frame where the agent counts that sequence too; \
    the agent's own answers, ARP, neighbour discovery and the control connection fall between the \
    two readings as well. What the sockets say leaves all that out; where segments \
    are cut behind the interface (offloads), it counts headers once for many.";

/// One row for each cell, family and counter.
pub(crate) fn rows(analysis: &Analysis) -> Vec<[String; 6]> {
    analysis.beside.iter().flat_map(of_group).collect()
}

fn of_group(group: &OctetsBeside) -> Vec<[String; 6]> {
    let family = group.family.map_or("both in turns".to_owned(), |family| family.to_string());
    let name = format!("{}, {family}", group.cell);
    let octets = |count: u64| grouped(count);
    let own = [
        name,
        format!(
            "own interface, {} trial{}",
            group.trials,
            if group.trials == 1 { "" } else { "s" }
        ),
        octets(group.own.sent),
        octets(group.own.received),
        "1".to_owned(),
        "1".to_owned(),
    ];
    let other = |other: &OctetsOf| {
        let upkeep = other.upkeep.map_or(0, |way| way.sent + way.received);
        let who = match upkeep {
            0 => other.who.clone(),
            some => format!("{} ({} of ARP and the like)", other.who, format_bytes(some)),
        };
        let ratio = |ratio: Option<f64>| ratio.map_or("–".to_owned(), |r| format!("{r:.5}"));
        let ratios = [ratio(other.ratio.sent), ratio(other.ratio.received)];
        let [sent, received] = ratios;
        [
            String::new(),
            who,
            octets(other.octets.sent),
            octets(other.octets.received),
            sent,
            received,
        ]
    };
    std::iter::once(own).chain(group.others.iter().map(other)).collect()
}

/// A number with a blank before every three digits.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::family::Family;
    use v6gap_judge::analysis::beside::Way;

    #[test]
    fn each_counter_has_a_row_with_its_ratio() {
        let other = OctetsOf {
            who: "SNMP of sw, p1".to_owned(),
            trials: 2,
            octets: Way { sent: 10_040, received: 0 },
            upkeep: None,
            ratio: Way { sent: Some(1.004), received: None },
        };
        let group = OctetsBeside {
            cell: "throughput-tcp".to_owned(),
            family: Some(Family::V6),
            trials: 2,
            own: Way { sent: 10_000, received: 0 },
            others: vec![other],
        };
        let rows = of_group(&group);
        assert_eq!(rows[0][0], "throughput-tcp, IPv6");
        assert_eq!(rows[0][1], "own interface, 2 trials");
        assert_eq!(rows[1][1..], ["SNMP of sw, p1", "10 040", "0", "1.00400", "–"]);
    }
}
