//! Arbitrary probes and what became of them. Strategies are boxed: as plain values they would fill
//! the stack of a test.

use super::{marking, number, settings, small_or_any_u32, small_or_any_u64};
use crate::observation::{Delay, LoadDatagrams, Loaded, OneWay, Probed, Returned, Times};
use crate::wire::probe::{self, Marks};
use crate::workload::{Direction, Law, Load, LoadFamily, Probe, UdpLoad, Wait};
use proptest::collection::vec as many;
use proptest::option::of;
use proptest::prelude::*;

pub(super) fn workload() -> BoxedStrategy<Probe> {
    let wait = prop_oneof![Just(Wait::Block), Just(Wait::Yield)];
    let law = prop_oneof![
        Just(Law::Constant),
        Just(Law::Periodic),
        Just(Law::Poisson),
        (any::<u64>(), any::<u64>()).prop_map(|(on_ns, off_ns)| Law::OnOff { on_ns, off_ns }),
    ];
    let sizes = proptest::array::uniform3(small_or_any_u32());
    let times = (small_or_any_u64(), small_or_any_u64(), of(any::<u64>()));
    (sizes, times, wait, law, any::<bool>(), of(load()), marking())
        .prop_map(|(sizes, times, wait, law, kernel_times, load, marking)| {
            let [payload_bytes, turn_packets, turns] = sizes;
            let (interval_ns, timeout_ns, clock_error_ns) = times;
            Probe {
                payload_bytes,
                interval_ns,
                law,
                turn_packets,
                turns,
                timeout_ns,
                wait,
                clock_error_ns,
                kernel_times,
                load,
                marking,
            }
        })
        .boxed()
}

fn load() -> BoxedStrategy<Load> {
    let family = prop_oneof![Just(LoadFamily::Same), Just(LoadFamily::Other)];
    let direction =
        prop_oneof![Just(Direction::Send), Just(Direction::Receive), Just(Direction::Both)];
    let udp = (small_or_any_u32(), of(small_or_any_u64()))
        .prop_map(|(payload_bytes, rate_bps)| UdpLoad { payload_bytes, rate_bps });
    (family, direction, small_or_any_u32(), any::<u64>(), settings(), of(udp))
        .prop_map(|(family, direction, streams, lead_ns, settings, udp)| Load {
            family,
            direction,
            streams,
            lead_ns,
            settings,
            udp,
        })
        .boxed()
}

fn loaded() -> BoxedStrategy<Option<Loaded>> {
    let datagrams = (any::<[u64; 3]>(), of(any::<u64>()), of(any::<u64>())).prop_map(
        |([sent, skipped, received], announced, dropped)| LoadDatagrams {
            sent,
            skipped,
            received,
            announced,
            dropped,
        },
    );
    let all = (any::<[u64; 3]>(), of(datagrams));
    of(all.prop_map(|([sent_bytes, received_bytes, span_ns], datagrams)| Loaded {
        sent_bytes,
        received_bytes,
        span_ns,
        datagrams,
    }))
    .boxed()
}

fn times() -> BoxedStrategy<Times> {
    let numbers = (any::<[u64; 4]>(), [number(), number(), number()], any::<u32>());
    (numbers, many(any::<(u64, u64)>(), 0..3), many(number(), 0..3))
        .prop_map(|((n, means, exchanges_each), histogram, turns_ns)| {
            let [count, lost, min_ns, max_ns] = n;
            let [trimmed_mean_ns, mean_ns, median_ns] = means;
            Times {
                count,
                lost,
                trimmed_mean_ns,
                mean_ns,
                median_ns,
                min_ns,
                max_ns,
                histogram: histogram.into_iter().collect(),
                turns_ns,
                exchanges_each,
            }
        })
        .boxed()
}

fn one_way() -> BoxedStrategy<OneWay> {
    let delay = (any::<[i64; 2]>(), number(), any::<u64>()).prop_map(
        |([min_ns, max_ns], median_ns, error_ns)| Delay { min_ns, median_ns, max_ns, error_ns },
    );
    let marks = || many(any::<(u8, u64)>(), 0..3);
    let variation = (times(), times(), number(), of(number()), any::<bool>());
    (any::<[u64; 9]>(), variation, of(delay), [marks(), marks()], of(times()))
        .prop_map(|(n, variation, delay, [hop_limits, traffic_classes], kernel)| {
            let [packets, late, duplicates, duplicated, reordered, extent, tcp, p999, beyond] = n;
            let (ipdv, pdv, jitter_ns, skew_ppm, skew_removed) = variation;
            OneWay {
                packets,
                late,
                duplicates,
                duplicated,
                reordered,
                reordering_extent: extent,
                reordered_for_tcp: tcp,
                ipdv,
                pdv,
                pdv_p999_ns: p999,
                jitter_ns,
                skew_ppm,
                skew_removed,
                delay,
                hop_limits,
                traffic_classes,
                kernel,
                beyond,
            }
        })
        .boxed()
}

pub(super) fn probed() -> BoxedStrategy<Probed> {
    let all = [times(), times(), times(), times()];
    (any::<[u64; 3]>(), all, of(times()), one_way(), loaded())
        .prop_map(|(n, all, outside, back, load)| {
            let [sent, skipped, sent_late] = n;
            let [round_trip, round_trip_sent, lateness, server] = all;
            Probed {
                sent,
                skipped,
                sent_late,
                round_trip,
                round_trip_sent,
                lateness,
                server,
                outside,
                back,
                load,
            }
        })
        .boxed()
}

pub(super) fn returned() -> BoxedStrategy<Returned> {
    (any::<[u64; 2]>(), of(times()), one_way(), loaded())
        .prop_map(|([returned, refused], inside, there, load)| Returned {
            returned,
            refused,
            inside,
            there,
            load,
        })
        .boxed()
}

proptest! {
    #[test]
    fn times_of_a_probe_survive_the_wire(
        times in any::<[u64; 3]>(),
        number in any::<u32>(),
        queued_ns in of(0..u32::MAX),
        marks in any::<[Option<u8>; 2]>(),
    ) {
        let [sent_ns, received_ns, returned_ns] = times;
        let [hop_limit, traffic_class] = marks;
        let marks = Marks { hop_limit, traffic_class };
        let times = probe::Times { sent_ns, received_ns, returned_ns, number, queued_ns, marks };
        let mut bytes = [0; probe::PROBE_BYTES];
        times.encode(&mut bytes);
        prop_assert_eq!(probe::Times::decode(&bytes), Some(times));
    }

    #[test]
    fn any_bytes_are_times_or_none(bytes in many(any::<u8>(), 0..80)) {
        let decoded = probe::Times::decode(&bytes);
        prop_assert_eq!(decoded.is_some(), bytes.len() >= probe::PROBE_BYTES);
    }
}
