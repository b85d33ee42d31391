//! Goodput of flows by what a byte was seen to cost, and figures under the right family.

use super::*;
use crate::analysis::costmodel::tests::{SIZES, lab, over, sweep, truth_s, two_links};
use crate::analysis::models;
use crate::analysis::tests::{EVEN, base, plan, run};
use v6gap_core::observation::{EndReport, Measured, Received};
use v6gap_core::record::TrialRecord;
use v6gap_core::tunnel::{Tunnel, TunnelKind};
use v6gap_core::wiremodel::TcpOptions;
use v6gap_core::workload::{Cell, Transport};
use v6gap_core::world::model;
use v6gap_core::world::{Conditions, LaidTunnel, LinkModel, World};

const SWAPPED: PerArm<Family> = PerArm { a: Family::V6, b: Family::V4 };

/// A run whose TCP transfers carry a million bytes each.
fn journal(arms: PerArm<Family>, lab: bool, change: impl Fn(&mut TrialRecord)) -> Vec<Line> {
    let mut plan = plan(arms, 5);
    if !lab {
        plan.parts_mut().world = None;
    }
    let mut lines = run(&plan, 12, &EVEN);
    for line in &mut lines {
        if let Line::Trial(trial) = line
            && trial.cell == "throughput-tcp"
        {
            let received = Received { bytes: 1_000_000, ..Received::default() };
            trial.ends.server.seen_mut().unwrap().measured = Measured::Received(received);
            change(trial);
        }
    }
    lines
}

fn is_v6(trial: &TrialRecord) -> bool {
    trial.family == Family::V6
}

fn busy(end: &mut EndReport, ns: u64) {
    (end.user_ns, end.system_ns) = (Some(ns / 4), Some(ns - ns / 4));
}

/// The server is the busier end: 8 ns a byte over IPv4, 10 ns over IPv6, some per cent more or less
/// from pair to pair.
fn costly(trial: &mut TrialRecord) {
    let ns = if is_v6(trial) { 10_000_000 } else { 8_000_000 };
    busy(
        trial.ends.server.seen_mut().unwrap(),
        ns + u64::from(trial.block % 5) * 100_000 - 200_000,
    );
    busy(&mut trial.ends.client, 2_000_000);
}

fn costly_run(arms: PerArm<Family>) -> Transfers {
    transfers(&journal(arms, true, costly)).unwrap().unwrap()
}

#[track_caller]
fn holds(found: &Ranged, truth: f64, width: f64) {
    let rounding = truth * 1e-12;
    let holds = found.low - rounding <= truth && truth <= found.high + rounding;
    assert!(holds, "{found:?} without {truth}");
    assert!(found.high - found.low <= width * truth, "{found:?}");
}

#[test]
fn processors_carry_as_many_flows_as_they_are() {
    let found = costly_run(PerArm::FAMILIES);
    // At 8 ns a byte a thread carries a bit in a nanosecond.
    let one = PerFamily { v4: 1e9, v6: 0.8e9 };
    for (flows, processors, threads) in [(1, 4, 1.0), (3, 4, 3.0), (64, 4, 4.0), (2, 0, 1.0)] {
        let (carried, bound) = found.carry(100e9, None, flows, processors);
        assert!(bound);
        for family in Family::BOTH {
            holds(carried.families.get(family), threads * one.get(family), 0.05);
        }
        holds(&carried.ratio, 0.8, 0.05);
        let mut beyond = Vec::from(["a line of 100 Gbit/s".to_string()]);
        beyond.extend((flows > 1).then(|| "flows".to_string()));
        assert_eq!(carried.beyond, beyond);
    }
}

#[test]
fn a_slow_line_is_the_limit_whatever_a_byte_costs() {
    let found = costly_run(PerArm::FAMILIES);
    let (carried, bound) = found.carry(100e6, None, 1, 1);
    assert!(!bound);
    let goodput = |family, mtu| {
        let options = TcpOptions::TIMESTAMPS;
        wiremodel::tcp_goodput_bps(100e6, mtu, family, options, Framing::default())
    };
    for family in Family::BOTH {
        holds(carried.families.get(family), goodput(family, 1500), 1e-12);
    }
    holds(&carried.ratio, 1428.0 / 1448.0, 1e-12);
    assert_eq!(carried.beyond, Vec::<String>::new(), "the lab's own line and MTU");
    let (small, _) = found.carry(100e6, Some(1280), 1, 1);
    assert_eq!((small.mtu_of, small.beyond), (MtuOf::Asked, ["MTU".to_string()].into()));
    holds(&small.families.v6, goodput(Family::V6, 1280), 1e-12);
    // Between the limits of the families: only the one whose bytes cost more is held by hosts.
    let (between, bound) = found.carry(1e9, None, 1, 1);
    assert!(bound);
    holds(&between.families.v4, goodput(Family::V4, 1500) * 10.0, 1e-12);
    holds(&between.families.v6, 0.8e9, 0.05);
}

#[test]
fn tags_take_their_part_of_a_line() {
    let mut lines = journal(PerArm::FAMILIES, true, costly);
    for line in &mut lines {
        if let Line::Run(run) = line {
            let plan = run.plan.parts_mut();
            plan.world = plan.world.take().map(|world| World { vlan_tags: 2, ..world });
        }
    }
    let (carried, _) = transfers(&lines).unwrap().unwrap().carry(100e6, None, 1, 1);
    for family in Family::BOTH {
        let (options, tagged) = (TcpOptions::TIMESTAMPS, Framing { vlan_tags: 2 });
        let truth = wiremodel::tcp_goodput_bps(100e6, 1500, family, options, tagged);
        holds(carried.families.get(family), truth, 1e-12);
    }
}

#[test]
fn nothing_is_said_where_nothing_is_known() {
    let none = |lines: &[Line]| assert!(transfers(lines).unwrap().is_none());
    none(&journal(PerArm::FAMILIES, true, |_| {}));
    none(&journal(PerArm::null(Family::V4), true, costly));
    none(&journal(PerArm::FAMILIES, true, |t| {
        costly(t);
        t.ends.client.user_ns = None;
    }));
    none(&run(&sweep(Transport::Tcp, &SIZES, lab()), 12, &over(two_links)));
    let one_pair = journal(PerArm::FAMILIES, true, |t| {
        if t.round == 1 {
            costly(t);
        }
    });
    none(&one_pair);
}

#[test]
fn the_path_has_the_mtu_of_the_run() {
    let of = |lab, mtu: fn(&TrialRecord) -> Option<u32>| {
        let lines = journal(PerArm::FAMILIES, lab, |t| {
            costly(t);
            t.ends.client.granted.path_mtu = mtu(t);
        });
        let (carried, _) = transfers(&lines).unwrap().unwrap().carry(1e6, None, 1, 1);
        (carried.mtu, carried.mtu_of, carried.families)
    };
    let goodput = |mtu, family| {
        let options = TcpOptions::TIMESTAMPS;
        wiremodel::tcp_goodput_bps(1e6, mtu, family, options, Framing::default())
    };
    let small = |t: &TrialRecord| Some(if is_v6(t) { 1280 } else { 9000 });
    let (mtu, from, families) = of(false, small);
    assert_eq!((mtu, from), (PerFamily { v4: 9000, v6: 1280 }, MtuOf::Run));
    holds(&families.v4, goodput(9000, Family::V4), 1e-12);
    holds(&families.v6, goodput(1280, Family::V6), 1e-12);
    let usual = PerFamily { v4: 1500, v6: 1500 };
    let (mtu, from, _) = of(true, small);
    assert_eq!((mtu, from), (usual, MtuOf::Run), "a lab's links are known");
    let (mtu, from, _) = of(false, |_| None);
    assert_eq!((mtu, from), (usual, MtuOf::Assumed));
    let (mtu, from, _) = of(false, |t| Some(1280).filter(|_| is_v6(t)));
    assert_eq!((mtu, from), (PerFamily { v4: 1500, v6: 1280 }, MtuOf::Assumed));
}

/// Which family was the reference is of no account.
#[test]
fn figures_stand_under_their_family() {
    let (carried, _) = costly_run(SWAPPED).carry(100e9, None, 1, 1);
    holds(&carried.families.v4, 1e9, 0.05);
    holds(&carried.families.v6, 0.8e9, 0.05);
    holds(&carried.ratio, 0.8, 0.05);
    let mut plan = sweep(Transport::Tcp, &SIZES, lab());
    plan.parts_mut().design.arms = SWAPPED;
    let lines = run(&plan, 20, &over(two_links));
    let model = &models(&lines).unwrap()[0];
    let to = Target { message_bytes: 64, rate_bps: Some(10e6), ..Target::default() };
    let carried = model.carry(&to).unwrap();
    let id = Cell::named(v6gap_core::workload::Workload::Echo(model.echo.clone()));
    let truth = PerFamily::from_fn(|family| truth_s(&id, family, 2, 10e6) * 1e9);
    for family in Family::BOTH {
        holds(carried.families.get(family), *truth.get(family), 0.02);
    }
    holds(&carried.ratio, truth.v6 / truth.v4, 0.02);
    assert_eq!((carried.mtu_of, carried.beyond), (MtuOf::Run, ["rate".to_string()].into()));
}

/// What hosts that cost 30 µs take for an exchange in that world.
fn truth_ns(cell: &Cell, family: Family, world: &World) -> f64 {
    let bytes = cell.workload.level_bytes().unwrap();
    let mtu = model::path_mtu(world, family);
    let packets = wiremodel::tcp_packets(bytes, family, mtu, TcpOptions::TIMESTAMPS);
    30_000.0 + model::world_round_trip_ns(world, family, &packets)
}

/// A run carried to its own path gives what it measured, also where one link is slower than the
/// other.
#[test]
fn links_of_different_rates_stay_as_they_are() {
    fn world() -> World {
        let mut world = lab().unwrap();
        let slow = Conditions::rate(Some(10_000_000));
        world.links[1].conditions = PerFamily { v4: slow, v6: slow };
        world
    }
    let factor = |cell: &Cell, family: Family| truth_ns(cell, family, &world()) / 1e9 / base(cell);
    let plan = sweep(Transport::Tcp, &SIZES, Some(world()));
    let lines = run(&plan, 20, &over(factor));
    let model = models(&lines).unwrap().remove(0);
    let mut slow = world();
    slow.links[0].conditions = slow.links[1].conditions;
    for cell in &plan.cells {
        let own =
            Target { message_bytes: cell.workload.level_bytes().unwrap(), ..Target::default() };
        for (to, world) in [(own, &world()), (Target { rate_bps: Some(10e6), ..own }, &slow)] {
            let carried = model.carry(&to).unwrap();
            for family in Family::BOTH {
                let found = carried.families.get(family).estimate;
                let share = found / truth_ns(cell, family, world) - 1.0;
                assert!(share.abs() < 0.01, "{} {family} {to:?}: {share}", cell.id);
            }
        }
    }
    // All links get the rate that the slower one has.
    let slowest = Target { message_bytes: 64, rate_bps: Some(10e6), ..Target::default() };
    let both = Target { rate_bps: None, links: Some(2), ..slowest };
    for to in [slowest, both] {
        assert_eq!(model.carry(&to).unwrap().beyond, ["rate"]);
    }
}

/// 6in4 over one link of two stays at another rate, and goes with another number of links.
#[test]
fn tunnels_stay_while_the_links_do() {
    fn world(rate_bps: u64) -> World {
        let mut world = World::client_router_server(LinkModel::Wire, Some(rate_bps));
        let carries = PerFamily { v4: false, v6: true };
        let tunnel = Tunnel { kind: TunnelKind::IpInIp, outer: Family::V4 };
        world.tunnels = [LaidTunnel { ends: [1, 2], tunnel, carries }].into();
        world
    }
    let (own, slow) = (world(100_000_000), world(10_000_000));
    fn factor(cell: &Cell, family: Family) -> f64 {
        truth_ns(cell, family, &world(100_000_000)) / 1e9 / base(cell)
    }
    let plan = sweep(Transport::Tcp, &SIZES, Some(own));
    let model = models(&run(&plan, 20, &over(factor))).unwrap().remove(0);
    let cell = &plan.cells[0];
    let to = Target { message_bytes: 64, rate_bps: Some(10e6), ..Target::default() };
    let carried = model.carry(&to).unwrap();
    assert_eq!(carried.beyond, ["rate"]);
    // 16 µs of each 20 bytes that the tunnel adds on a line of 10 Mbit/s.
    for family in Family::BOTH {
        let found = carried.families.get(family).estimate - truth_ns(cell, family, &slow);
        assert!(found.abs() < 1_600.0, "{family}: {found} ns");
    }
    let more = Target { rate_bps: None, links: Some(3), ..to };
    assert_eq!(model.carry(&more).unwrap().beyond, ["links", "tunnels"]);
}
