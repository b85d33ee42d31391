//! Searches for capacity over loopback, both ways: what is counted adds up at both ends, the rate
//! stays within its bounds, and a receiver sends no more than it got. No time is asserted: loopback
//! has no capacity of its own.

use crate::common::{Service, assert_proved, trial, values_of};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{EndReport, Measured, RateTrial, Received, Searched};
use v6gap_core::workload::{Capacity, Direction, Kind, Search, Transport, Workload};

const MBIT: u64 = 1_000_000;

/// The sender's and the receiver's report of a search.
fn searched(capacity: Capacity, family: Family) -> (Searched, Received, Option<f64>) {
    let service = Service::new();
    let (way, metric) = (capacity.direction, capacity.metrics()[0]);
    let task = trial(Workload::Capacity(capacity), family);
    let (client, server) = service.perform(&task, &service.context(Transport::Udp));
    let (client, server) = (client.unwrap(), server.unwrap());
    assert_proved(family, &client[0].1, &server[0].1, &task);
    let value = values_of(&task, &client, &server)[0].get(&metric).copied();
    let (sender, receiver): (&EndReport, &EndReport) = match way {
        Direction::Send => (&client[0].1, &server[0].1),
        Direction::Receive | Direction::Both => (&server[0].1, &client[0].1),
    };
    let Measured::Searched(searched) = &sender.measured else { panic!("{sender:?}") };
    let Measured::Received(received) = &receiver.measured else { panic!("{receiver:?}") };
    (searched.as_ref().clone(), received.clone(), value)
}

/// Every family and direction, at the same time: each search takes its seconds.
fn everywhere(check: impl Fn(Family, Direction) + Sync) {
    std::thread::scope(|scope| {
        for family in Family::BOTH {
            for direction in [Direction::Send, Direction::Receive] {
                let check = &check;
                scope.spawn(move || check(family, direction));
            }
        }
    });
}

#[test]
fn a_load_is_searched_up_to_its_highest_rate() {
    everywhere(|family, direction| {
        let capacity = Capacity {
            direction,
            rate_bps_max: 20 * MBIT,
            search: Search::Load { duration_ns: Capacity::LOAD_NS_MIN },
            ..Capacity::default()
        };
        let (searched, received, value) = searched(capacity, family);
        let sent = &searched.sent;
        assert_eq!(received.lost_of(sent), 0, "{family} {direction:?}");
        assert_eq!(received.bytes, received.packets * 1222);
        assert!(searched.reports > 0, "{searched:?}");
        assert_eq!(searched.rates[0], (0, MBIT / 2));
        assert!(searched.rates.iter().all(|&(_, bps)| bps <= 20 * MBIT), "{searched:?}");
        assert!(searched.rates.iter().any(|&(_, bps)| bps > MBIT / 2), "{searched:?}");
        // All that was sent at the IP layer bounds the best interval, which has 0.9 s at least.
        let all_bits = sent.packets as f64 * 1270.0 * 8.0;
        assert!(value.unwrap() > 0.0 && value.unwrap() <= all_bits / 0.9, "{value:?}");
    });
}

#[test]
fn a_rate_is_searched_by_halving() {
    everywhere(|family, direction| {
        let capacity = Capacity {
            direction,
            rate_bps_max: 4 * MBIT,
            search: Search::Halving {
                trial_ns: Capacity::TRIAL_NS_MIN,
                lost_ppm_max: 500_000,
                forced: true,
            },
            ..Capacity::default()
        };
        let trials_max = capacity.trials_max() as usize;
        let (searched, received, value) = searched(capacity, family);
        let of = |count: fn(&RateTrial) -> u64| -> u64 { searched.trials.iter().map(count).sum() };
        assert!((1..=trials_max).contains(&searched.trials.len()), "{searched:?}");
        assert_eq!(searched.trials[0].rate_bps, 4 * MBIT);
        assert_eq!(searched.sent.packets, of(|t| t.sent));
        assert_eq!(received.packets, of(|t| t.arrived));
        let carried = searched.trials.iter().filter(|t| t.carried);
        match carried.map(|t| t.rate_bps).max() {
            Some(most) => {
                let value = value.unwrap();
                assert!(value > 0.0 && value <= most as f64 * 1.001, "{value} {most}");
            }
            None => assert_eq!(value, None),
        }
    });
}

/// Both metrics are of the IP layer: the same packets are more bits over IPv6.
#[test]
fn what_arrives_is_counted_with_its_headers() {
    let duration_ns = Capacity::LOAD_NS_MIN;
    let search = Search::Load { duration_ns };
    let workload = Workload::Capacity(Capacity { search, ..Capacity::default() });
    let values = |family: Family| {
        let service = Service::new();
        let capacity = Capacity { rate_bps_max: MBIT, search, ..Capacity::default() };
        let task = trial(Workload::Capacity(capacity), family);
        let (client, server) = service.perform(&task, &service.context(Transport::Udp));
        let (mut client, mut server) = (client.unwrap(), server.unwrap());
        // A million bytes of payload in each of two seconds.
        let series = vec![(0, 0), (1_000_000_000, 1_000_000), (2_000_000_000, 2_000_000)];
        server[0].1.measured = Measured::Received(Received { series, ..Received::default() });
        client[0].1.granted.path_mtu = Some(1500);
        let task = v6gap_core::task::Task { workload: workload.clone(), ..task };
        values_of(&task, &client, &server)[0][&Metric::Capacity]
    };
    assert!((values(Family::V4) - 8e6 * 1250.0 / 1222.0).abs() < 1.0);
    assert!((values(Family::V6) - 8e6 * 1270.0 / 1222.0).abs() < 1.0);
}
