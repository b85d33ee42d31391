//! Arbitrary searches for capacity and what they found.

use super::{marking, number, sent, small_or_any_u32, small_or_any_u64};
use crate::observation::{RateTrial, Searched};
use crate::workload::{Capacity, Direction, Search};
use proptest::collection::vec as many;
use proptest::option::of;
use proptest::prelude::*;

pub(super) fn workload() -> BoxedStrategy<Capacity> {
    let direction =
        prop_oneof![Just(Direction::Send), Just(Direction::Receive), Just(Direction::Both)];
    let search = prop_oneof![
        small_or_any_u64().prop_map(|duration_ns| Search::Load { duration_ns }),
        any::<(u64, u32, bool)>().prop_map(|(trial_ns, lost_ppm_max, forced)| {
            Search::Halving { trial_ns, lost_ppm_max, forced }
        }),
    ];
    (small_or_any_u32(), small_or_any_u64(), direction, search, marking())
        .prop_map(|(payload_bytes, rate_bps_max, direction, search, marking)| Capacity {
            payload_bytes,
            direction,
            rate_bps_max,
            search,
            marking,
        })
        .boxed()
}

pub(super) fn searched() -> BoxedStrategy<Searched> {
    let rates = many(any::<(u64, u64)>(), 0..3);
    let counts = any::<(u64, u64)>();
    (sent(), rates, counts, many(trial(), 0..3), of(number()))
        .prop_map(|(sent, rates, (reports, silences), trials, found_bps)| Searched {
            sent,
            rates,
            reports,
            silences,
            trials,
            found_bps,
        })
        .boxed()
}

fn trial() -> BoxedStrategy<RateTrial> {
    (any::<[u64; 5]>(), of(number()), any::<bool>())
        .prop_map(|(n, arrived_bps, carried)| {
            let [rate_bps, sent, skipped, arrived, dropped] = n;
            RateTrial { rate_bps, sent, skipped, arrived, dropped, arrived_bps, carried }
        })
        .boxed()
}
