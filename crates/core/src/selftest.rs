//! Which figures a lab's link model may give on this host: measured before a run, judged against
//! the wire model. A figure whose check fails is refused, not printed.

use crate::arm::PerArm;
use crate::family::Family;
use crate::metric::Metric;
use crate::plan::fit::path_in;
use crate::plan::{Plan, defaults};
use crate::unit;
use crate::wiremodel;
use crate::workload::{Cell, Echo, Kind, Transport, UdpBulk, Wait, Workload};
use crate::world::model;
use crate::world::{LinkModel, World};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A round trip may miss the model by this much, in ns, or by [`RTT_SHARE_MAX`], whichever is more.
const RTT_NS_MAX: f64 = 5_000.0;

/// A round trip may miss the model by this share.
const RTT_SHARE_MAX: f64 = 0.05;

/// Goodput may miss the model by this share.
const GOODPUT_SHARE_MAX: f64 = 0.005;

/// A family may differ from itself by this share in one interleaved block.
const NULL_SHARE_MAX: f64 = 0.02;

/// How often a block is measured that misses the model: other work on the host can only disturb, so
/// that one good reading shows what the links can do.
const ATTEMPTS: usize = 4;

/// Payload of the goodput block and of the larger round trip, in bytes, where the path takes it.
const LARGE_BYTES_MAX: u32 = 1408;

/// Payload of the smaller round trip, in bytes.
const SMALL_BYTES: u32 = 64;

/// A block that is measured before a run, to test the links of a lab.
#[derive(Debug, Clone, PartialEq)]
pub struct TestBlock {
    /// What to do.
    pub cell: Cell,
    /// Between which arms.
    pub arms: PerArm<Family>,
}

/// What a block gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The block.
    pub block: TestBlock,
    /// Value of each arm, in SI units.
    pub values: PerArm<f64>,
}

/// The judgement.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SelfTest {
    /// What was found, in words, one line for each check.
    pub findings: Vec<String>,
    /// Metrics that the link model may not give here, with the reason.
    pub refused: BTreeMap<Metric, String>,
}

/// Payload of the goodput block and of the larger round trip, in bytes: one packet of either
/// family. Fragments are the hosts' work, and one that a full queue loses takes others with it.
fn large_bytes(world: &World) -> u32 {
    let families = Family::BOTH.into_iter().filter(|f| *world.families.get(*f));
    let room = families.map(|family| {
        let headers = family.header_bytes() + wiremodel::UDP_HEADER_BYTES;
        model::path_mtu(world, family).saturating_sub(headers)
    });
    room.fold(LARGE_BYTES_MAX, u32::min)
}

/// What to measure in `world`; nothing where the model promises no figure that could be checked.
fn blocks(world: &World, wait: Wait) -> Vec<TestBlock> {
    let families = Family::BOTH.into_iter().filter(|f| *world.families.get(*f));
    let mut blocks = Vec::new();
    for family in families {
        let arms = PerArm::null(family);
        if world.model == LinkModel::Wire && has_fixed_delay(world, family) {
            for bytes in [SMALL_BYTES, large_bytes(world)] {
                let mut echo = defaults::echo(Transport::Udp, bytes, wait);
                echo.fit(path_in(world));
                blocks.push(TestBlock { cell: Cell::named(Workload::Echo(echo)), arms });
            }
        }
        if world.model != LinkModel::Bare && !lossy(world, family) {
            let bulk = goodput_workload(large_bytes(world));
            blocks.push(TestBlock { cell: Cell::named(Workload::UdpBulk(bulk)), arms });
        }
    }
    blocks
}

fn goodput_workload(payload_bytes: u32) -> UdpBulk {
    UdpBulk {
        payload_bytes,
        rate_bps: None,
        duration_ns: 300_000_000,
        warmup_ns: 75_000_000,
        ..UdpBulk::default()
    }
}

fn lossy(world: &World, family: Family) -> bool {
    world.ways(family).iter().flatten().any(|met| {
        met.mean_loss() > 0.0
            || met.duplication > 0.0
            || met.black_hole_above.is_some()
            || met.rate_bps.is_none()
    })
}

/// Whether round trips of one size all take the same time, which alone can be held against the
/// model by a few of them.
fn has_fixed_delay(world: &World, family: Family) -> bool {
    world.ways(family).iter().flatten().all(|way| way.has_fixed_delay())
}

/// Measures what tests `world` by `values`, which is given a block and gives the value of each arm,
/// with ends that wait as those of the run will. What misses the model is measured again, up to
/// four times in all.
///
/// # Errors
/// Those of `values`.
pub fn readings<E>(
    world: &World,
    wait: Wait,
    mut values: impl FnMut(&TestBlock) -> Result<PerArm<f64>, E>,
) -> Result<Vec<Reading>, E> {
    let mut readings = Vec::new();
    for block in blocks(world, wait) {
        readings.push(Reading { values: values(&block)?, block });
    }
    for _ in 1..ATTEMPTS {
        for index in missed(world, &readings) {
            let block = readings[index].block.clone();
            let again = Reading { values: values(&block)?, block };
            if !misses_more(world, &again, &readings[index]) {
                readings[index] = again;
            }
        }
    }
    Ok(readings)
}

/// The readings that miss the model; the round trips of a family do so together.
fn missed(world: &World, readings: &[Reading]) -> Vec<usize> {
    let miss = |reading: &Reading| {
        let family = reading.block.arms.a;
        match reading.is_of_goodput() {
            true => misses_rate(world, reading),
            false => {
                let mut of_family = readings.iter().filter(|r| r.block.arms.a == family);
                of_family.any(differs_from_itself)
                    || round_trips(world, family, readings).is_some_and(|found| !found.holds)
            }
        }
    };
    readings.iter().enumerate().filter(|(_, r)| miss(r)).map(|(index, _)| index).collect()
}

/// Whether a rate misses the model by more than before. Other work may take from it, and give it
/// what a link had gathered until then: only what always misses is the link's own.
fn misses_more(world: &World, again: &Reading, before: &Reading) -> bool {
    let off = |reading| rate_deviation(world, reading).map(f64::abs);
    off(again).zip(off(before)).is_some_and(|(again, before)| again >= before)
}

impl Reading {
    fn is_of_goodput(&self) -> bool {
        matches!(self.block.cell.workload, Workload::UdpBulk(_))
    }
}

fn deviation(seen: f64, expected: f64) -> f64 {
    seen / expected - 1.0
}

fn expected_goodput(world: &World, reading: &Reading) -> Option<f64> {
    let family = reading.block.arms.a;
    model::world_udp_goodput_bps(world, family, large_bytes(world)).ok()?
}

/// Judges the readings; `largest_frame` is the largest frame that passed a link between client and
/// server, in bytes.
pub fn judge(world: &World, readings: &[Reading], largest_frame: Option<u32>) -> SelfTest {
    let mut test = SelfTest::default();
    if matches!(world.model, LinkModel::Shaped | LinkModel::Netem) {
        let reason = "a token bucket gives no true round trip (use the wire model)".to_string();
        test.refused.insert(Metric::Rtt, reason.clone());
        test.refused.insert(Metric::Connect, reason);
    }
    for family in Family::BOTH {
        judge_round_trips(world, family, readings, &mut test);
    }
    for reading in readings {
        judge_null(reading, &mut test);
        judge_goodput(world, reading, &mut test);
    }
    judge_frames(world, largest_frame, &mut test);
    test
}

fn echo_reading(family: Family, bytes: u32, readings: &[Reading]) -> Option<&Reading> {
    readings.iter().find(|r| {
        let fits = matches!(&r.block.cell.workload, Workload::Echo(Echo { message_bytes, .. })
            if *message_bytes == bytes);
        fits && r.block.arms.a == family
    })
}

/// What the round trips of a family say of the links.
struct RoundTrips {
    /// What both hosts take of one, in ns.
    host_ns: f64,
    /// By how much the large message misses the model, in ns.
    off_ns: f64,
    /// Whether that is little enough.
    holds: bool,
}

/// One host term, from the small message, must carry over to the large one.
fn round_trips(world: &World, family: Family, readings: &[Reading]) -> Option<RoundTrips> {
    let large_bytes = large_bytes(world);
    let reading = |bytes| echo_reading(family, bytes, readings);
    let (small, large) = (reading(SMALL_BYTES)?, reading(large_bytes)?);
    let wire_ns = |bytes| {
        let packets = wiremodel::udp_packets(bytes, family, model::path_mtu(world, family));
        packets.map_or(f64::NAN, |p| model::world_round_trip_ns(world, family, &p))
    };
    let host_ns = small.values.a * 1e9 - wire_ns(SMALL_BYTES);
    let off_ns = large.values.a * 1e9 - wire_ns(large_bytes) - host_ns;
    let allowed = RTT_NS_MAX.max(RTT_SHARE_MAX * wire_ns(large_bytes));
    // What a translator takes is no fault of the link, which the other family shows. Written so
    // that a value that is not a number is refused as well.
    let holds = world.translated(family).is_some() || (off_ns.abs() <= allowed && host_ns > 0.0);
    Some(RoundTrips { host_ns, off_ns, holds })
}

fn judge_round_trips(world: &World, family: Family, readings: &[Reading], test: &mut SelfTest) {
    let Some(found) = round_trips(world, family, readings) else { return };
    let (bytes, off_us) = (large_bytes(world), found.off_ns / 1000.0);
    test.findings.push(format!(
        "{family} round trips: hosts {}, {bytes} B off the model by {off_us:.1} µs",
        unit::format_span(found.host_ns),
    ));
    if !found.holds {
        let reason =
            format!("the lab's link missed the model by {off_us:.1} µs at {bytes} B over {family}");
        test.refused.insert(Metric::Rtt, reason.clone());
        test.refused.insert(Metric::Connect, reason);
    }
}

/// Whether the two arms of a family's round trips are too far apart.
fn differs_from_itself(reading: &Reading) -> bool {
    let of_round_trips = matches!(reading.block.cell.workload, Workload::Echo(_));
    let near = deviation(reading.values.b, reading.values.a).abs() <= NULL_SHARE_MAX;
    of_round_trips && reading.block.arms.is_null() && !near
}

fn judge_null(reading: &Reading, test: &mut SelfTest) {
    if differs_from_itself(reading) {
        let off = deviation(reading.values.b, reading.values.a) * 100.0;
        let reason = format!("{} differed from itself by {off:.1} %", reading.block.arms.a);
        test.refused.entry(Metric::Rtt).or_insert(reason);
    }
}

/// How far a goodput block is off the model, as a share, where that says anything.
fn rate_deviation(world: &World, reading: &Reading) -> Option<f64> {
    let expected = expected_goodput(world, reading).filter(|_| reading.is_of_goodput())?;
    Some(deviation(reading.values.a, expected))
}

fn misses_rate(world: &World, reading: &Reading) -> bool {
    // A value that is not a number misses as well.
    let near = |off: f64| off.abs() <= GOODPUT_SHARE_MAX;
    rate_deviation(world, reading).is_some_and(|off| !near(off))
}

fn judge_goodput(world: &World, reading: &Reading, test: &mut SelfTest) {
    let Some(off) = rate_deviation(world, reading) else { return };
    let (family, off) = (reading.block.arms.a, off * 100.0);
    test.findings.push(format!("{family} UDP goodput off the model by {off:+.2} %"));
    if misses_rate(world, reading) {
        let reason = format!("the lab's link missed its rate by {off:+.2} % over {family}");
        test.refused.insert(Metric::Throughput, reason);
    }
}

/// Larger frames mean that segmentation was left to a device that is not there: headers would be
/// counted once for many packets.
fn judge_frames(world: &World, largest: Option<u32>, test: &mut SelfTest) {
    let Some(largest) = largest.filter(|_| world.model != LinkModel::Bare) else { return };
    // A host learns a small MTU behind the first link by sending what does not fit it.
    let mtus = world.path().into_iter().filter_map(|hop| Some(world.links.get(hop.link)?.mtu));
    let limit = mtus.max().unwrap_or(0) + wiremodel::ETHERNET_HEADER_BYTES;
    test.findings.push(format!("largest frame {largest} B of {limit} B"));
    if largest > limit {
        let reason = format!("frames of {largest} B passed a link for {limit} B");
        for metric in Metric::ALL {
            test.refused.insert(metric, reason.clone());
        }
    }
}

/// How the ends of the test's round trips wait: as those of the plan, or where it has none so that
/// the link is seen best, since sleeping ends are woken at times of their own.
pub fn wait_of(plan: &Plan) -> Wait {
    let mut waits = plan.cells.iter().filter_map(|cell| {
        let Workload::Echo(echo) = &cell.workload else { return None };
        Some(echo.wait)
    });
    match waits.next() {
        None | Some(Wait::Yield) => Wait::Yield,
        Some(_) if waits.any(|wait| wait == Wait::Yield) => Wait::Yield,
        Some(_) => Wait::Block,
    }
}

/// The cells of `plan` that may not be measured, by identifier, with the reason.
pub fn refused_cells(plan: &Plan, test: &SelfTest) -> BTreeMap<String, String> {
    let reason = |cell: &Cell| test.refused.get(&cell.workload.metrics()[0]);
    let cells = plan.cells.iter();
    cells.filter_map(|c| reason(c).map(|r| (c.id.clone(), r.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::preset;
    use core::convert::Infallible;

    fn wire() -> World {
        World::client_router_server(LinkModel::Wire, Some(100_000_000))
    }

    fn expected(world: &World, family: Family, bytes: u32) -> f64 {
        model::world_udp_goodput_bps(world, family, bytes).unwrap().unwrap()
    }

    /// What a block gives on a link that keeps the model, with hosts that take 50 µs.
    fn true_values(world: &World, block: &TestBlock) -> PerArm<f64> {
        let family = block.arms.a;
        let value = match &block.cell.workload {
            Workload::Echo(echo) => {
                let packets = wiremodel::udp_packets(echo.message_bytes, family, 1500).unwrap();
                (model::world_round_trip_ns(world, family, &packets) + 50_000.0) / 1e9
            }
            _ => expected(world, family, large_bytes(world)),
        };
        PerArm { a: value, b: value }
    }

    fn true_readings(world: &World) -> Vec<Reading> {
        let values = |block: &TestBlock| Ok::<_, Infallible>(true_values(world, block));
        readings(world, Wait::Yield, values).unwrap()
    }

    #[test]
    fn a_true_link_is_not_refused() {
        let world = wire();
        let test = judge(&world, &true_readings(&world), Some(1514));
        assert!(test.refused.is_empty(), "{test:?}");
        assert_eq!(test.findings.len(), 5);
    }

    /// What a tunnel leaves of the MTU, and a small one, need no fragments in the test itself.
    #[test]
    fn no_block_is_cut_on_a_small_path() {
        let mut small = wire();
        small.links[1].mtu = 1280;
        for (world, bytes) in [(wire(), 1408), (small, 1232)] {
            assert_eq!(large_bytes(&world), bytes);
            for block in blocks(&world, Wait::Yield) {
                let (Workload::Echo(Echo { message_bytes: payload, .. })
                | Workload::UdpBulk(UdpBulk { payload_bytes: payload, .. })) = block.cell.workload
                else {
                    panic!("{block:?}")
                };
                let mtu = model::path_mtu(&world, block.arms.a);
                assert_eq!(wiremodel::fragments(payload, block.arms.a, mtu), Some(1));
            }
            // The first link may carry more than the path.
            let test = judge(&world, &true_readings(&world), Some(1514));
            assert!(test.refused.is_empty(), "{test:?}");
            let said = format!("{bytes} B off the model");
            assert!(test.findings.iter().any(|found| found.contains(&said)), "{test:?}");
        }
    }

    #[test]
    fn each_failing_check_refuses_its_figure() {
        let world = wire();
        let spoiled = |spoil: fn(&mut Reading)| {
            let mut readings = true_readings(&world);
            readings.iter_mut().for_each(spoil);
            judge(&world, &readings, Some(1514)).refused.into_keys().collect::<Vec<_>>()
        };
        let late = spoiled(|r| {
            let large = r.block.cell.id.ends_with("1408");
            if large && matches!(r.block.cell.workload, Workload::Echo(_)) {
                r.values = r.values.map(|v| v + 40e-6);
            }
        });
        assert_eq!(late, [Metric::Rtt, Metric::Connect]);
        let slow = spoiled(|r| {
            if matches!(r.block.cell.workload, Workload::UdpBulk(_)) {
                r.values.a *= 0.99;
            }
        });
        assert_eq!(slow, [Metric::Throughput]);
        let biased = spoiled(|r| {
            if matches!(r.block.cell.workload, Workload::Echo(_)) {
                r.values.b *= 1.05;
            }
        });
        assert_eq!(biased, [Metric::Rtt]);
        let large = judge(&world, &true_readings(&world), Some(65_000));
        assert_eq!(large.refused.len(), Metric::ALL.len());
    }

    /// What other work disturbed is measured again, and no more than that.
    #[test]
    fn a_disturbed_block_is_measured_again() {
        let world = wire();
        let measured = |spoil: &dyn Fn(&TestBlock, usize) -> f64| {
            let mut asked = Vec::new();
            let readings = readings(&world, Wait::Yield, |block| {
                asked.push(block.clone());
                let values = true_values(&world, block).map(|v| v * spoil(block, asked.len()));
                Ok::<_, Infallible>(values)
            });
            (asked.len(), judge(&world, &readings.unwrap(), None).refused.is_empty())
        };
        assert_eq!(measured(&|_, _| 1.0), (6, true));
        // Both sizes of the family whose second block was late.
        assert_eq!(measured(&|_, nth| if nth == 2 { 1.2 } else { 1.0 }), (8, true));
        let of_goodput = |block: &TestBlock| matches!(block.cell.workload, Workload::UdpBulk(_));
        for rate in [0.9, 1.02] {
            let once = |block: &TestBlock, nth: usize| match of_goodput(block) && nth <= 6 {
                true => rate,
                false => 1.0,
            };
            assert_eq!(measured(&once), (8, true));
            // A link that always misses its rate does so to the end.
            let always = |block: &TestBlock, _: usize| if of_goodput(block) { rate } else { 1.0 };
            assert_eq!(measured(&always), (6 + 3 * 2, false));
        }
    }

    #[test]
    fn a_token_bucket_refuses_round_trips() {
        let world = World { model: LinkModel::Shaped, ..wire() };
        let test = judge(&world, &true_readings(&world), Some(1514));
        let refused: Vec<Metric> = test.refused.into_keys().collect();
        assert_eq!(refused, [Metric::Rtt, Metric::Connect]);
        let plan = preset::first_look(PerArm::FAMILIES, Some(world), 1);
        let cells = refused_cells(&plan, &judge(&wire(), &[], Some(65_000)));
        assert_eq!(cells.len(), plan.cells.len());
    }

    /// Ends that sleep are woken at times of their own, for which no link can be blamed.
    #[test]
    fn the_test_waits_as_the_plan_does_or_as_well_as_it_can() {
        let mut plan = preset::first_look(PerArm::FAMILIES, Some(wire()), 1);
        assert_eq!(wait_of(&plan), Wait::Yield);
        assert_eq!(wait_of(&plan.clone().with_sleeping_ends()), Wait::Block);
        plan.parts_mut().cells.retain(|cell| !matches!(cell.workload, Workload::Echo(_)));
        assert_eq!(wait_of(&plan), Wait::Yield);
    }
}
