//! Checks that links have the rate of a real Ethernet, to the byte.

use crate::tier::is_night;
use crate::traffic::{Outcome, ensure, median, tcp_goodput, udp_goodput};
use std::time::Duration;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::world::{LinkModel, World};
use v6gap_lab::{Lab, LabOptions};
use v6gap_sys::cpu;

const MBPS_100: Option<u64> = Some(100_000_000);
/// 1408 bytes of UDP on 100 Mbit/s: 1408 / 1474 and 1408 / 1494 of the rate.
const UDP_1408: PerFamily<f64> = PerFamily { v4: 95.522, v6: 94.244 };
/// Runs of each family by day and at night.
const RUNS: [usize; 2] = [3, 7];
const RUN: Duration = Duration::from_millis(500);

/// Compares the median goodput of each family with what theory says, which must be met within the
/// shares `below` and `above`.
fn check_udp(lab: &Lab, expected: PerFamily<f64>, below: f64, above: f64) -> Outcome<String> {
    let mut runs: PerFamily<Vec<f64>> = PerFamily::default();
    for _ in 0..RUNS[usize::from(is_night())] {
        for family in Family::BOTH {
            runs.get_mut(family).push(udp_goodput(lab, family, 1408, RUN)?);
        }
    }
    let seen = runs.clone().map(median);
    let figures = format!("{:.3} and {:.3} Mbit/s", seen.v4, seen.v6);
    for family in Family::BOTH {
        let error = seen.get(family) / expected.get(family) - 1.0;
        ensure((-below..=above).contains(&error), || format!("{figures}; runs {runs:.2?}"))?;
    }
    Ok(figures)
}

pub fn shaped_udp_goodput() -> Outcome<String> {
    let lab = Lab::build(&World::client_router_server(LinkModel::Shaped, MBPS_100))?;
    check_udp(&lab, UDP_1408, 0.005, 0.005)
}

pub fn shaped_rate_of_each_family() -> Outcome<String> {
    let mut world = World::client_router_server(LinkModel::Shaped, MBPS_100);
    world.links[0].conditions.v6.rate_bps = Some(10_000_000);
    let lab = Lab::build(&world)?;
    check_udp(&lab, PerFamily { v4: UDP_1408.v4, v6: UDP_1408.v6 / 10.0 }, 0.005, 0.005)
}

/// A busy machine preempts the link's thread, which can only lower the figure.
pub fn wire_udp_goodput() -> Outcome<String> {
    let wire_cpu = cpu::allowed()?.last().copied();
    let world = World::client_router_server(LinkModel::Wire, MBPS_100);
    let lab = Lab::build_with(&world, &LabOptions { wire_cpu, seed: 1, kernel: None })?;
    let figures = check_udp(&lab, UDP_1408, 0.05, 0.002)?;
    let late = lab.wire_lateness().ok_or("no wire")?;
    ensure(late.faults == 0 && late.frame_bytes_max == 1470, || format!("{late:?}"))?;
    Ok(format!("{figures}; {} frames, {} queue drops", late.frames, late.queue_drops))
}

/// Mean bytes that the client's interface was handed at a time while a TCP stream ran.
fn mean_frame(lab: &Lab, family: Family) -> Outcome<(f64, u64, u64)> {
    let before = lab.interface_counts()?;
    let goodput = tcp_goodput(lab, family, RUN)?;
    let after = lab.interface_counts()?;
    let mean = after[0].mean_frame_bytes_since(&before[0]).ok_or("nothing was sent")?;
    Ok((goodput, mean, after[0].frame_bytes_limit))
}

pub fn shaped_tcp_sends_single_frames() -> Outcome<String> {
    let lab = Lab::build(&World::client_router_server(LinkModel::Shaped, MBPS_100))?;
    let mut figures = String::new();
    for (family, most) in [(Family::V4, 94.9), (Family::V6, 93.6)] {
        let (goodput, mean, limit) = mean_frame(&lab, family)?;
        figures += &format!("{family} {goodput:.2} Mbit/s, mean frame {mean} bytes; ");
        ensure(mean <= limit && mean > limit / 2, || figures.clone())?;
        // With super-packets it would be 99.7.
        ensure((50.0..most).contains(&goodput), || figures.clone())?;
    }
    Ok(figures)
}

/// What the check above relies on: the counters show super-packets where there are some.
pub fn bare_tcp_shows_super_packets() -> Outcome<String> {
    let lab = Lab::build(&World::client_router_server(LinkModel::Bare, None))?;
    let (goodput, mean, limit) = mean_frame(&lab, Family::V6)?;
    ensure(mean > limit, || format!("mean frame {mean} bytes"))?;
    Ok(format!("{goodput:.0} Mbit/s, mean frame {mean} bytes"))
}
