//! Sweeps with known terms: they must be found, and what cannot be told must be refused in words.

use super::*;
use crate::analysis::tests::{EVEN, Truth, base, plan, run};
use crate::analysis::{analyse, models};
use v6gap_core::family::Family;
use v6gap_core::plan::{Plan, Stop, defaults};
use v6gap_core::record::Line;
use v6gap_core::wiremodel::{self, TcpOptions};
use v6gap_core::workload::{Cell, Wait, Workload};
use v6gap_core::world::{LinkModel, World};

pub(super) const SIZES: [u32; 7] = [64, 256, 1024, 1408, 4096, 16_384, 65_536];

/// Terms of the made-up hosts: a constant for each family, a cost of packets, in ns.
const CONSTANT_NS: [f64; 2] = [20_000.0, 20_400.0];
const PACKET_NS: f64 = 300.0;

pub(super) fn sweep(transport: Transport, sizes: &[u32], world: Option<World>) -> Plan {
    let mut plan = plan(PerArm::FAMILIES, 11);
    let cell =
        |&bytes: &u32| Cell::named(Workload::Echo(defaults::echo(transport, bytes, Wait::Block)));
    plan.parts_mut().cells = sizes.iter().map(cell).collect();
    plan.parts_mut().design.null_cells = [0].into();
    plan.parts_mut().design.stop = Stop::Pairs { pairs: 20 };
    plan.parts_mut().world = world;
    plan
}

pub(super) fn lab() -> Option<World> {
    Some(World::client_router_server(LinkModel::Wire, Some(100_000_000)))
}

/// Round trip of the made-up hosts over so many links of a rate, in s.
pub(super) fn truth_s(cell: &Cell, family: Family, links: usize, rate_bps: f64) -> f64 {
    framed_s(cell, family, links, rate_bps, wiremodel::Framing::default())
}

fn framed_s(
    cell: &Cell,
    family: Family,
    links: usize,
    rate_bps: f64,
    framing: wiremodel::Framing,
) -> f64 {
    let Workload::Echo(echo) = &cell.workload else { unreachable!("a sweep of exchanges") };
    let packets = match echo.transport {
        Transport::Tcp => {
            wiremodel::tcp_packets(echo.message_bytes, family, 1500, TcpOptions::TIMESTAMPS)
        }
        _ => wiremodel::udp_packets(echo.message_bytes, family, 1500).unwrap(),
    };
    let link = wiremodel::LinkTiming::plain(rate_bps, 0.0);
    let line = wiremodel::round_trip_ns(&packets, &alloc::vec![link; links], framing);
    let constant = CONSTANT_NS[usize::from(family == Family::V6)];
    (constant + 2.0 * PACKET_NS * packets.len() as f64 + line) / 1e9
}

pub(super) fn over(links: fn(&Cell, Family) -> f64) -> Truth {
    Truth { factor: links, noise: 0.0005, ..EVEN }
}

pub(super) fn two_links(cell: &Cell, family: Family) -> f64 {
    truth_s(cell, family, 2, 100e6) / base(cell)
}

fn three_slow_links(cell: &Cell, family: Family) -> f64 {
    truth_s(cell, family, 3, 20e6) / base(cell)
}

fn only(lines: &[Line]) -> CostModel {
    let mut all = analyse(lines).unwrap().cost_models;
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[track_caller]
fn holds(found: &Ranged, truth: f64) {
    assert!(found.low <= truth && truth <= found.high, "{found:?} without {truth}");
    assert!(found.low <= found.estimate && found.estimate <= found.high, "{found:?}");
}

#[test]
fn known_terms_are_found_on_a_known_line() {
    let lines = run(&sweep(Transport::Tcp, &SIZES, lab()), 20, &over(two_links));
    let cost = only(&lines);
    let fitted = cost.fitted.as_ref().unwrap();
    for (arm, constant) in [(&fitted.arms.a, CONSTANT_NS[0]), (&fitted.arms.b, CONSTANT_NS[1])] {
        holds(&arm.constant_ns, constant);
        holds(&arm.per_packet_ns.unwrap(), PACKET_NS);
        holds(&arm.per_byte_ns, 80.0);
        assert!((arm.per_byte_ns.estimate / 80.0 - 1.0).abs() < 1e-3, "{arm:?}");
    }
    holds(&fitted.difference.constant_ns, 400.0);
    assert!(fitted.misfit < 0.002, "{fitted:?}");
    assert_eq!((cost.links, cost.links_known, cost.rounds), (2, true, 20));
    let share = cost.smallest.unwrap();
    assert!((share.line_ns.estimate - 6400.0).abs() < 1e-6, "{share:?}");
    holds(&share.rest_ns, 400.0);
    assert_eq!(cost.line_rate_bps, Some(PerArm { a: 100e6, b: 100e6 }));
    assert_eq!(cost.caveats, Vec::<String>::new());
    // The same journal gives the same bytes.
    assert_eq!(only(&lines), cost);
}

/// Tags lengthen each packet, which is the line's time and none of the hosts'.
#[test]
fn tags_are_part_of_the_line() {
    fn tagged(cell: &Cell, family: Family) -> f64 {
        framed_s(cell, family, 2, 100e6, wiremodel::Framing { vlan_tags: 2 }) / base(cell)
    }
    let world = lab().map(|world| World { vlan_tags: 2, ..world });
    let lines = run(&sweep(Transport::Tcp, &SIZES, world), 20, &over(tagged));
    let fitted = only(&lines).fitted.unwrap();
    holds(&fitted.arms.a.constant_ns, CONSTANT_NS[0]);
    holds(&fitted.arms.b.constant_ns, CONSTANT_NS[1]);
    holds(&fitted.arms.a.per_packet_ns.unwrap(), PACKET_NS);
}

#[test]
fn an_unknown_line_shows_its_rate_and_its_links() {
    let plan = sweep(Transport::Tcp, &SIZES, None);
    let cost = only(&run(&plan, 20, &over(three_slow_links)));
    let fitted = cost.fitted.as_ref().unwrap();
    assert_eq!((cost.links, cost.links_known), (3, false));
    holds(&fitted.apparent_rate_bps.a, 20e6);
    holds(&fitted.apparent_rate_bps.b, 20e6);
    let share = cost.smallest.unwrap();
    // 20 bytes more on three links there and back, at 400 ns a byte.
    assert!((share.line_ns.estimate / 48_000.0 - 1.0).abs() < 0.01, "{share:?}");
    assert_eq!((cost.line_rate_bps, cost.delay_ns), (None, None));
}

#[test]
fn whole_datagrams_have_no_cost_of_packets_of_their_own() {
    let plan = sweep(Transport::Udp, &[64, 256, 512, 1024, 1452], lab());
    let cost = only(&run(&plan, 20, &over(two_links)));
    let fitted = cost.fitted.unwrap();
    assert_eq!(fitted.arms.a.per_packet_ns, None);
    holds(&fitted.arms.a.constant_ns, CONSTANT_NS[0] + 2.0 * PACKET_NS);
    holds(&fitted.arms.b.per_byte_ns, 80.0);
    assert!(cost.caveats[0].contains("every size is one packet"), "{:?}", cost.caveats);
}

#[test]
fn what_cannot_be_told_apart_is_said() {
    let refused = |sizes: &[u32], rounds, truth: &Truth| {
        let cost = only(&run(&sweep(Transport::Tcp, sizes, lab()), rounds, truth));
        assert_eq!((cost.fitted, cost.smallest), (None, None));
        cost.why_none.unwrap()
    };
    assert!(refused(&SIZES[..2], 8, &over(two_links)).contains("2 sizes are too few"));
    assert!(refused(&SIZES, 1, &over(two_links)).contains("one round"));
    let shrinking = Truth { factor: |cell, _| 1e-4 / base(cell), noise: 0.0, ..EVEN };
    assert!(refused(&SIZES, 8, &shrinking).contains("do not grow"));
    let square = |cell: &Cell, _: Family| {
        let bytes = f64::from(cell.workload.level_bytes().unwrap_or(0));
        (1e-5 + bytes * bytes * 1e-11) / base(cell)
    };
    let curved = refused(&SIZES, 8, &Truth { factor: square, noise: 0.0, ..EVEN });
    assert!(curved.contains("below zero") || curved.contains("do not follow"), "{curved}");
    let kinked = |cell: &Cell, family: Family| {
        let odd = if cell.workload.level_bytes() == Some(256) { 1.6 } else { 1.0 };
        odd * truth_s(cell, family, 2, 100e6) / base(cell)
    };
    let kinked = refused(&SIZES, 8, &Truth { factor: kinked, noise: 0.0, ..EVEN });
    assert!(kinked.contains("do not follow size and packets"), "{kinked}");
}

#[test]
fn three_sizes_are_fitted_and_doubted() {
    let cost = only(&run(&sweep(Transport::Tcp, &[64, 1024, 16_384], lab()), 9, &over(two_links)));
    assert!(cost.fitted.is_some());
    assert!(cost.caveats[0].starts_with("9 rounds are few"), "{:?}", cost.caveats);
    assert!(cost.caveats[1].starts_with("3 sizes leave none"), "{:?}", cost.caveats);
}

/// A rule that looks at the values leaves no fixed number of rounds.
#[test]
fn a_run_that_ends_by_what_it_sees_is_doubted() {
    let mut plan = sweep(Transport::Tcp, &SIZES, lab());
    plan.parts_mut().design.stop = Stop::Adaptive { time_ns_max: 1, pairs_min: 8 };
    let caveats = only(&run(&plan, 20, &over(two_links))).caveats;
    assert_eq!(caveats.len(), 1);
    assert!(caveats[0].contains("for a fixed number of rounds"), "{caveats:?}");
    let few = only(&run(&plan, 11, &over(two_links))).caveats;
    assert_eq!(few.len(), 2);
    assert!(few[0].starts_with("11 rounds are few"), "{few:?}");
    assert!(only(&run(&plan, 12, &over(two_links))).caveats.len() == 1);
}

/// What IPv6 takes longer is said of IPv6, whichever arm it is.
#[test]
fn the_longer_header_is_that_of_its_family() {
    let said = |arms| {
        let mut plan = sweep(Transport::Tcp, &SIZES, lab());
        plan.parts_mut().design.arms = arms;
        only(&run(&plan, 20, &over(two_links)))
    };
    let swapped = said(PerArm { a: Family::V6, b: Family::V4 });
    let share = swapped.smallest.unwrap();
    assert!((share.line_ns.estimate + 6400.0).abs() < 1e-6, "{share:?}");
    let usual = said(PerArm::FAMILIES).smallest.unwrap().line_ns;
    assert_eq!(share.of_the_first().line_ns.estimate, usual.estimate);
    holds(&share.rest_ns, -400.0);
    let fitted = swapped.fitted.unwrap();
    holds(&fitted.arms.a.constant_ns, CONSTANT_NS[1]);
    holds(&fitted.difference.constant_ns, -400.0);
}

#[test]
fn a_family_against_itself_has_no_model() {
    let mut plan = sweep(Transport::Tcp, &SIZES, lab());
    plan.parts_mut().design.arms = PerArm::null(Family::V6);
    let lines = run(&plan, 8, &over(two_links));
    assert!(analyse(&lines).unwrap().cost_models.is_empty());
    assert!(models(&lines).unwrap().is_empty());
}

/// One round that something disturbed does not decide.
#[test]
fn a_disturbed_round_changes_little() {
    let mut lines = run(&sweep(Transport::Tcp, &SIZES, lab()), 20, &over(two_links));
    for line in &mut lines {
        if let Line::Trial(trial) = line
            && trial.round == 7
        {
            trial.values.values_mut().for_each(|v| *v *= 3.0);
        }
    }
    let fitted = only(&lines).fitted.unwrap();
    assert!((fitted.arms.a.per_byte_ns.estimate / 80.0 - 1.0).abs() < 2e-3, "{fitted:?}");
    assert!((fitted.arms.a.constant_ns.estimate / 20_000.0 - 1.0).abs() < 0.02, "{fitted:?}");
}

/// Ranges of the difference hold the truth about as often as they say.
#[test]
fn ranges_hold_the_truth() {
    let (mut held, runs) = (0, 40);
    for seed in 0..runs {
        let mut plan = sweep(Transport::Tcp, &SIZES, lab());
        plan.parts_mut().seed = seed;
        let truth = Truth { factor: two_links, noise: 0.01, ..EVEN };
        let rest = only(&run(&plan, 20, &truth)).smallest.unwrap().rest_ns;
        held += u32::from(rest.low <= 400.0 && 400.0 <= rest.high);
    }
    // At least 33 of 40 at a true share of 0.92: the binomial's lowest half per cent.
    assert!(held >= 33, "{held} of {runs}");
}
