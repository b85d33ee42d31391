//! Which family programs choose that try both, and what that costs them, reckoned from the visits
//! of each pair (docs/method.md section B.18).

use super::Range;
use super::collect::{Block, Collected};
use crate::eyeballs::{Attempt, Outcome, Policy, Seen, alone, race};
use crate::reach::ALPHA;
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::{BlockKind, PerArm};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::host::names;
use v6gap_core::observation::{Measured, Visited};
use v6gap_core::record::TrialRecord;
use v6gap_core::workload::{Http, Workload};
use v6gap_stats::quantile::order_statistic_interval;
use v6gap_stats::summary::median;

/// The family that systems put first where they have an address of both (RFC 6724).
const PREFERRED: Family = Family::V6;

/// What comes of one way to choose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Race {
    /// How it is chosen.
    pub policy: Policy,
    /// Pairs of visits that were looked at.
    pub pairs: usize,
    /// In how many of them IPv6 is chosen.
    pub v6: usize,
    /// How much later the connection stands than by IPv4 alone, the median in ns; less than 0 is
    /// sooner.
    pub stands_later_ns: f64,
    /// 95 % range of that, in ns; the whole line below 6 pairs.
    pub stands_later_range_ns: Range,
    /// How much later the first byte of the answer comes, likewise.
    pub first_byte_later_ns: f64,
    /// 95 % range of that, likewise.
    pub first_byte_later_range_ns: Range,
}

/// One for each policy, in their order; none where no site was visited.
pub(super) fn reckon(found: &Collected<'_>) -> Vec<Race> {
    let rounds = seen(found);
    Policy::ALL.into_iter().filter_map(|policy| of(policy, &rounds)).collect()
}

fn of(policy: Policy, rounds: &[PerFamily<Seen>]) -> Option<Race> {
    let both = |round: &PerFamily<Seen>| {
        Some((race(policy, round, PREFERRED)?, alone(policy, round, PREFERRED.other())?))
    };
    let ended: Vec<(Outcome, Outcome)> = rounds.iter().filter_map(both).collect();
    if ended.is_empty() {
        return None;
    }
    let later = |time: fn(&Outcome) -> u64| {
        let all = ended.iter().map(|(won, four)| time(won) as f64 - time(four) as f64);
        let all: Vec<f64> = all.collect();
        (median(&all), median_range(all))
    };
    let (stands_later_ns, stands_later_range_ns) = later(|outcome| outcome.stands_ns);
    let (first_byte_later_ns, first_byte_later_range_ns) = later(|outcome| outcome.first_byte_ns);
    Some(Race {
        policy,
        pairs: ended.len(),
        v6: ended.iter().filter(|(won, _)| won.family == PREFERRED).count(),
        stands_later_ns,
        stands_later_range_ns,
        first_byte_later_ns,
        first_byte_later_range_ns,
    })
}

/// 95 % range of the median, from one of the values to another, whatever their law
/// ([`order_statistic_interval`]); the whole line where they are too few.
fn median_range(mut values: Vec<f64>) -> Range {
    values.sort_by(f64::total_cmp);
    let (low, high) = order_statistic_interval(values.len(), 0.5, 1.0 - ALPHA);
    let value = |place: Option<usize>| values.get(place?.checked_sub(1)?).copied();
    Range {
        low: value(low).unwrap_or(f64::NEG_INFINITY),
        high: value(high).unwrap_or(f64::INFINITY),
    }
}

/// What each pair of visits over TCP measured of both families, by the version of HTTP that has the
/// phases, at the first pair of addresses and the first name server. A pair takes the times of
/// looking up of its own round, or what they are on average; of a family that the name server does
/// not answer for there is none.
fn seen(found: &Collected<'_>) -> Vec<PerFamily<Seen>> {
    let is_visit = |workload: &Workload| {
        let Workload::Visit(visit) = workload else { return false };
        visit.phases && visit.pair == 0 && visit.http != Some(Http::Three)
    };
    let is_lookup = |workload: &Workload| {
        let Workload::Lookup(lookup) = workload else { return false };
        lookup.server == 0
    };
    let cells = &found.run.plan.cells;
    let cell = cells.iter().find(|cell| is_visit(&cell.workload));
    let asked = cells.iter().find(|cell| is_lookup(&cell.workload));
    let compared = |block: &&Block<'_>| block.valid && block.kind() == BlockKind::Compare;
    let blocks = || found.blocks.iter().filter(compared);
    let looked_up: Vec<(u32, PerFamily<u64>)> = blocks()
        .filter(|block| asked.is_some_and(|cell| cell.id == block.cell()))
        .filter_map(|block| Some((block.round(), lookups(block)?)))
        .collect();
    let lookup = |round: u32| {
        let own = looked_up.iter().find(|(of, _)| *of == round).map(|(_, ns)| *ns);
        own.unwrap_or_else(|| mean(&looked_up))
    };
    let facts = &found.run.hosts.server.facts;
    let is_answered = |family| !facts.contains_key(names::unanswered(family));
    blocks()
        .filter(|block| cell.is_some_and(|cell| cell.id == block.cell()))
        .filter_map(|block| {
            let visits = families(block, |trial| match &trial.ends.client.measured {
                Measured::Visited(visited) => attempt(visited),
                _ => None,
            })?;
            let ns = lookup(block.round());
            let of = |family| Seen {
                lookup_ns: is_answered(family).then_some(*ns.get(family)),
                ..*visits.get(family)
            };
            Some(PerFamily { v4: of(Family::V4), v6: of(Family::V6) })
        })
        .collect()
}

fn attempt(visited: &Visited) -> Option<Seen> {
    Some(Seen {
        lookup_ns: None,
        connect: Attempt::Stands(visited.connect_ns?),
        tls_ns: visited.tls_ns.unwrap_or(0),
        response_ns: visited.response_ns.unwrap_or(0),
    })
}

fn lookups(block: &Block<'_>) -> Option<PerFamily<u64>> {
    families(block, |trial| match &trial.ends.client.measured {
        Measured::LookedUp(answer) => Some(answer.whole_ns()),
        _ => None,
    })
}

/// What the trials of a block say, by their families.
fn families<T>(block: &Block<'_>, of: impl Fn(&TrialRecord) -> Option<T>) -> Option<PerFamily<T>> {
    let PerArm { a, b } = block.trials;
    match (a.family, b.family) {
        (Family::V4, Family::V6) => Some(PerFamily { v4: of(a)?, v6: of(b)? }),
        (Family::V6, Family::V4) => Some(PerFamily { v4: of(b)?, v6: of(a)? }),
        _ => None,
    }
}

/// The mean of both families; 0 without any, as of an address that was given.
fn mean(all: &[(u32, PerFamily<u64>)]) -> PerFamily<u64> {
    let of = |family: Family| {
        let sum: u64 = all.iter().map(|(_, ns)| *ns.get(family)).sum();
        sum / (all.len() as u64).max(1)
    };
    PerFamily { v4: of(Family::V4), v6: of(Family::V6) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn round(six_later_ms: u64) -> PerFamily<Seen> {
        let of = |later_ms: u64| Seen {
            lookup_ns: Some(2 * MS),
            connect: Attempt::Stands((10 + later_ms) * MS),
            tls_ns: (10 + later_ms) * MS,
            response_ns: (20 + later_ms) * MS,
        };
        PerFamily { v4: of(0), v6: of(six_later_ms) }
    }

    #[test]
    fn what_a_choice_costs_is_told_against_ipv4_alone() {
        let rounds = [round(3), round(4), round(5)];
        let of = of(Policy::Rfc8305, &rounds).unwrap();
        assert_eq!((of.pairs, of.v6), (3, 3));
        assert_eq!((of.stands_later_ns, of.first_byte_later_ns), (4e6, 12e6));
        // Version 3 waits for TLS as well, of either family.
        let third = super::of(Policy::Version3, &rounds).unwrap();
        assert_eq!(third.stands_later_ns, 8e6);
        assert_eq!(super::of(Policy::Curl, &[]), None);
    }

    /// Of six pairs all lie within the range of the median, since 2 / 2^6 is less than 5 %; of nine
    /// all but the first and the last one.
    #[test]
    fn a_median_has_a_range_from_six_pairs_on() {
        let of = |later_ms: core::ops::Range<u64>| {
            let rounds: Vec<PerFamily<Seen>> = later_ms.map(round).collect();
            of(Policy::Rfc8305, &rounds).unwrap().stands_later_range_ns
        };
        assert_eq!(of(1..6), Range { low: f64::NEG_INFINITY, high: f64::INFINITY });
        assert_eq!(of(1..7), Range { low: 1e6, high: 6e6 });
        assert_eq!(of(1..10), Range { low: 2e6, high: 8e6 });
    }

    #[test]
    fn a_family_that_is_not_answered_for_costs_those_who_wait_for_both() {
        let mut rounds = [round(0); 3];
        rounds.iter_mut().for_each(|round| round.v6.lookup_ns = None);
        let usual = of(Policy::Rfc8305, &rounds).unwrap();
        assert_eq!((usual.v6, usual.stands_later_ns), (0, 50e6));
        let waits = of(Policy::OneAfterTheOther, &rounds).unwrap();
        assert_eq!((waits.v6, waits.stands_later_ns), (0, 14_998e6));
    }

    #[test]
    fn a_family_that_is_later_than_the_timer_is_not_chosen() {
        let rounds = [round(300), round(100), round(300)];
        let of = of(Policy::Rfc8305, &rounds).unwrap();
        assert_eq!((of.pairs, of.v6), (3, 1));
        assert_eq!(of.stands_later_ns, 250e6);
    }
}
