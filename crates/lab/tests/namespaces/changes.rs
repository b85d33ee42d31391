//! Checks that links change while they are up: delay, rate and MTU.

use crate::conditions::round_trip_ns;
use crate::traffic::{Outcome, ensure, placed, tcp_pair, udp_goodput};
use std::io::{Read, Write};
use std::time::Duration;
use v6gap_core::family::Family;
use v6gap_core::world::{LinkModel, World};
use v6gap_lab::{Lab, LabOptions};

/// Link that is changed: that of the client.
const LINK: usize = 0;
/// Rates before and after, in bit/s.
const RATES_BPS: [u64; 2] = [100_000_000, 20_000_000];
/// 1408 bytes of UDP over IPv4, as a share of the rate.
const SHARE_UDP_1408: f64 = 1408.0 / 1474.0;

pub fn delay_changes() -> Outcome<String> {
    placed(delay)
}

fn delay(options: &LabOptions) -> Outcome<String> {
    let world = World::client_router_server(LinkModel::Wire, None);
    let lab = Lab::build_with(&world, options)?;
    let before = round_trip_ns(&lab)?;
    let mut conditions = world.links[LINK].conditions;
    conditions.v6.delay_ns = 1_000_000;
    lab.alter(LINK, conditions)?;
    let after = round_trip_ns(&lab)?;
    let figures = format!("{before:?} and then {after:?} ns");
    let longer = after.v6 as f64 - before.v6 as f64;
    ensure((longer - 2e6).abs() < 1e5 && after.v4 < 500_000, || figures.clone())?;
    Ok(figures)
}

pub fn rate_changes() -> Outcome<String> {
    let mut world = World::client_router_server(LinkModel::Shaped, Some(RATES_BPS[0]));
    let lab = Lab::build(&world)?;
    let mut seen = Vec::new();
    for rate in RATES_BPS {
        let conditions = &mut world.links[LINK].conditions;
        (conditions.v4.rate_bps, conditions.v6.rate_bps) = (Some(rate), Some(rate));
        lab.alter(LINK, *conditions)?;
        let goodput = udp_goodput(&lab, Family::V4, 1408, Duration::from_millis(500))?;
        let expected = rate as f64 / 1e6 * SHARE_UDP_1408;
        seen.push(format!("{goodput:.3} of {expected:.3} Mbit/s"));
        ensure((goodput / expected - 1.0).abs() < 0.02, || seen.join(", "))?;
    }
    Ok(seen.join(", "))
}

pub fn mtu_changes() -> Outcome<String> {
    let lab = Lab::build(&World::client_router_server(LinkModel::Bare, None))?;
    for family in Family::BOTH {
        let (mut near, mut far) = tcp_pair(&lab, family)?;
        lab.set_mtu(1, 1300)?;
        let sending = std::thread::spawn(move || near.write_all(&vec![7; 200_000]));
        let mut received = Vec::new();
        far.read_to_end(&mut received)?;
        sending.join().map_err(|_| "the sender panicked")??;
        ensure(received.len() == 200_000, || format!("{family}: {} bytes", received.len()))?;
        lab.set_mtu(1, 1500)?;
    }
    ensure(lab.set_mtu(2, 1500).is_err(), || "there is no third link".to_owned())?;
    Ok("200 kB of TCP arrive over an MTU that shrank after the handshake".to_owned())
}
