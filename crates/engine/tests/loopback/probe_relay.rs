//! Probes that are lost, doubled, swapped and held on the way, each direction by a rule of its own:
//! what was done to them is what both ends report.

use crate::common::relay::{self, Fate, Rule};
use crate::common::{Service, slice, values_of};
use v6gap_core::arm::PerArm;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{Measured, OneWay, Probed, Returned};
use v6gap_core::wire::datagram::{Flags, Header};
use v6gap_core::workload::{Probe, Workload};

const MS: u64 = 1_000_000;

/// All but the packets that begin and end a trial.
fn is_probe(packet: &[u8]) -> bool {
    let flags = Header::decode(packet).expect("only packets of ours").flags;
    [Flags::NONE, Flags::ANSWER].contains(&flags)
}

/// Both ends' notes of each arm after probes through relays with these rules, and the values.
fn through(workload: Probe, rules: [Rule; 2]) -> Vec<(Probed, Returned, [f64; 2])> {
    let service = Service::new();
    let task = slice(Workload::Probe(workload), PerArm::FAMILIES);
    let (client, server) = relay::through(service.datagrams(), rules, is_probe, |addresses| {
        service.perform(&task, &Service::context_at(addresses))
    });
    let (client, server) = (client.unwrap(), server.unwrap());
    let values = values_of(&task, &client, &server);
    let ends = client.into_iter().zip(server).zip(values);
    ends.map(|(((_, client), (_, server)), values)| {
        let Measured::Probed(probed) = client.measured else { panic!("{client:?}") };
        let Measured::Returned(returned) = server.measured else { panic!("{server:?}") };
        (*probed, *returned, [values[&Metric::Loss], values[&Metric::LossBack]])
    })
    .collect()
}

fn workload() -> Probe {
    Probe { turns: 4, turn_packets: 50, interval_ns: MS / 2, ..Probe::default() }
}

/// Asserts that a receiver saw what `rule` did to `sent` packets.
fn assert_done(way: &OneWay, rule: Rule, sent: u64) {
    let of = |fate| (0..sent).filter(|&n| rule(n) == fate).count() as u64;
    // There must be a next one to go behind, and it must pass.
    let swapped = (0..sent).filter(|&n| rule(n) == Fate::Swap && n + 1 < sent).count() as u64;
    let stuck = of(Fate::Swap) - swapped;
    assert_eq!(way.packets + way.late, sent - of(Fate::Lose) - stuck, "packets of {sent}");
    assert_eq!((way.duplicates, way.duplicated), (of(Fate::Double), of(Fate::Double)));
    assert_eq!((way.reordered, way.beyond), (swapped, 0));
    assert_eq!(way.reordering_extent, u64::from(swapped > 0));
    assert_eq!(way.reordered_for_tcp, 0);
}

#[test]
fn what_is_done_to_probes_is_reported_for_each_direction() {
    let there: Rule = |number| match number % 10 {
        3 => Fate::Lose,
        5 => Fate::Double,
        7 => Fate::Swap,
        _ => Fate::Pass,
    };
    let back: Rule = |number| match number % 20 {
        1 | 2 => Fate::Lose,
        6 => Fate::Swap,
        11 | 13 | 15 => Fate::Double,
        _ => Fate::Pass,
    };
    for (probed, returned, [loss, loss_back]) in through(workload(), [there, back]) {
        assert_eq!(probed.sent + probed.skipped, 200);
        assert_done(&returned.there, there, probed.sent);
        assert_done(&probed.back, back, returned.returned);
        assert_eq!(returned.returned, returned.there.packets + returned.there.late);
        let lost = probed.sent - returned.there.packets;
        assert!((loss - lost as f64 / probed.sent as f64).abs() < 1e-12, "{loss}");
        let lost_back = returned.returned - probed.back.packets;
        let expected = lost_back as f64 / returned.returned as f64;
        assert!((loss_back - expected).abs() < 1e-12, "{loss_back}");
        // What is lost either way has no round trip.
        assert_eq!(probed.round_trip.count + probed.round_trip.lost, probed.sent);
        assert_eq!(probed.round_trip.lost, lost + lost_back);
    }
}

/// Every tenth packet takes 40 ms longer on one way, and the variation of that way shows it.
#[test]
fn a_delay_is_told_for_the_way_that_has_it() {
    const HELD_NS: u64 = 40 * MS;
    let rule: Rule = |number| if number % 10 == 4 { Fate::Hold(HELD_NS) } else { Fate::Pass };
    let none: Rule = |_| Fate::Pass;
    // So far apart that none overtakes another.
    let workload = Probe { turns: 2, turn_packets: 12, interval_ns: 50 * MS, ..Probe::default() };
    for rules in [[rule, none], [none, rule]] {
        for (probed, returned, _) in through(workload.clone(), rules) {
            let held = (probed.sent - 5) / 10 + 1;
            let is_there = rules[0](4) != Fate::Pass;
            let (slow, fast) = match is_there {
                true => (&returned.there, &probed.back),
                false => (&probed.back, &returned.there),
            };
            let above = |way: &OneWay| {
                let slow = way.pdv.histogram.iter().filter(|(ns, _)| *ns >= HELD_NS * 9 / 10);
                slow.map(|(_, count)| count).sum::<u64>()
            };
            assert!(above(slow) >= held, "{slow:?}");
            assert!(fast.pdv.median_ns < HELD_NS as f64, "{fast:?}");
            assert!(slow.pdv_p999_ns >= HELD_NS * 9 / 10);
            let slow_trips = probed.round_trip_sent.histogram.iter();
            let slow_trips = slow_trips.filter(|(ns, _)| *ns >= HELD_NS).map(|(_, n)| n);
            assert!(slow_trips.sum::<u64>() >= held);
        }
    }
}
