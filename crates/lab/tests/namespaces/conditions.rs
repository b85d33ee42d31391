//! Checks that each family meets what its conditions say: round trip, delay, loss, black hole, MTU.

use crate::traffic::{
    Outcome, ensure, passes, placed, quantile, round_trips, server_address, tcp_pair, udp_pair,
};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::wiremodel::{Framing, LinkTiming, round_trip_ns as round_trip_ns_of, udp_packets};
use v6gap_core::world::model;
use v6gap_core::world::{Conditions, LinkModel, World};
use v6gap_lab::{Lab, LabOptions, Node};
use v6gap_sys::socket::{Datagram, ECHO_HEADER_BYTES, ECHO_ROOM_BYTES, ErrorClass, Ping};
use v6gap_sys::{clock, usage};

/// Rounds of alternating families, and round trips in each.
const ROUNDS: usize = 20;
const BLOCK: usize = 50;

fn wire(
    options: &LabOptions,
    rate_bps: Option<u64>,
    change: impl FnOnce(&mut World),
) -> Outcome<Lab> {
    let mut world = World::client_router_server(LinkModel::Wire, rate_bps);
    change(&mut world);
    Ok(Lab::build_with(&world, options)?)
}

/// The 10 % quantile of the round trip of 64 bytes of UDP, in ns, families in alternating blocks.
pub fn round_trip_ns(lab: &Lab) -> Outcome<PerFamily<u64>> {
    let pairs = PerFamily { v4: udp_pair(lab, Family::V4)?, v6: udp_pair(lab, Family::V6)? };
    let mut times: PerFamily<Vec<u64>> = PerFamily::default();
    for round in 0..ROUNDS {
        let order = if round % 2 == 0 { Family::BOTH } else { [Family::V6, Family::V4] };
        for family in order {
            let block = round_trips(pairs.get(family), 64, BLOCK)?;
            times.get_mut(family).extend(block);
        }
    }
    Ok(times.map(|mut times| quantile(&mut times, 10)))
}

/// 64 bytes of UDP are 118 and 138 bytes on the wire up to the last bit: 4 times 9.44 and 11.04 us.
pub fn wire_round_trip() -> Outcome<String> {
    placed(round_trip)
}

fn round_trip(options: &LabOptions) -> Outcome<String> {
    if options.wire_cpu.is_none() {
        return Ok("not judged: the link and the hosts need a processor each".to_owned());
    }
    let lab = wire(options, Some(100_000_000), |_| ())?;
    lab.reset_wire();
    let measured = round_trip_ns(&lab)?;
    let extra = (measured.v4 as f64 - 37_760.0, measured.v6 as f64 - 44_160.0);
    let late = lab.wire_lateness().ok_or("no wire")?;
    let figures = format!(
        "{} and {} ns, beyond the wire {:.0} and {:.0} ns; lateness p50 {} p99 {} max {} ns",
        measured.v4, measured.v6, extra.0, extra.1, late.p50_ns, late.p99_ns, late.max_ns
    );
    let bound = |extra: f64| (0.0..40_000.0).contains(&extra);
    ensure(bound(extra.0) && bound(extra.1), || figures.clone())?;
    ensure((extra.0 - extra.1).abs() < 4_000.0, || figures.clone())?;
    ensure(late.faults == 0 && late.frames >= 8_000, || format!("{late:?}"))?;
    Ok(figures)
}

/// A link that delays every frame for milliseconds has nothing to do meanwhile. If it spun, other
/// work would be given its processor in slices of milliseconds, which round trips would show.
pub fn wire_patience() -> Outcome<String> {
    const TRIPS: usize = 40;
    let lab = wire(&LabOptions::default(), Some(100_000_000), |world| {
        for link in &mut world.links {
            (link.conditions.v4.delay_ns, link.conditions.v6.delay_ns) = (2_000_000, 2_000_000);
        }
    })?;
    let pair = udp_pair(&lab, Family::V6)?;
    // The first finds the neighbours.
    round_trips(&pair, 64, 2)?;
    let (near, far) = &pair;
    near.set_nonblocking(false)?;
    far.set_nonblocking(false)?;
    let mut message = [7; 64];
    let spent = || usage::process().map(|used| used.user_ns + used.system_ns);
    let (before, start_ns) = (spent()?, clock::now_ns());
    let mut times = Vec::new();
    for _ in 0..TRIPS {
        let sent_ns = clock::now_ns();
        near.send(&message)?;
        far.recv(&mut message)?;
        far.send(&message)?;
        near.recv(&mut message)?;
        times.push(clock::now_ns() - sent_ns);
    }
    let (used_ns, took_ns) = (spent()? - before, clock::now_ns() - start_ns);
    let fastest_ns = quantile(&mut times, 10);
    let figures = format!("{fastest_ns} ns; {used_ns} ns of processor time in {took_ns} ns");
    ensure(fastest_ns >= 8_000_000 && used_ns < took_ns / 2, || figures.clone())?;
    Ok(figures)
}

/// Echoes have the packets of datagrams, fragments included: what the wire adds for IPv6 is the
/// model's, at a size that fits and at one that does not.
pub fn wire_icmp_round_trip() -> Outcome<String> {
    placed(icmp_round_trip)
}

fn icmp_round_trip(options: &LabOptions) -> Outcome<String> {
    if options.wire_cpu.is_none() {
        return Ok("not judged: the link and the hosts need a processor each".to_owned());
    }
    let lab = wire(options, Some(100_000_000), |_| ())?;
    let link = LinkTiming::plain(100e6, 0.0);
    let mut figures = Vec::new();
    for bytes in [64_u32, 3_000] {
        let mut times: PerFamily<Vec<u64>> = PerFamily::default();
        for round in 0..ROUNDS {
            let order = if round % 2 == 0 { Family::BOTH } else { [Family::V6, Family::V4] };
            for family in order {
                let target = server_address(&lab, family, 0)?;
                let block = lab.nodes()[0].run(|| echoes(target, bytes, BLOCK))?;
                times.get_mut(family).extend(block.map_err(|error| error.to_string())?);
            }
        }
        let measured = times.map(|mut times| quantile(&mut times, 10) as f64);
        let model = PerFamily::from_fn(|family| {
            let packets = udp_packets(bytes, family, 1500).unwrap_or_default();
            round_trip_ns_of(&packets, &[link, link], Framing::default())
        });
        let extra = PerFamily { v4: measured.v4 - model.v4, v6: measured.v6 - model.v6 };
        let said = format!("{bytes} B: beyond the wire {:.0} and {:.0} ns", extra.v4, extra.v6);
        let bound = |extra: f64| (0.0..60_000.0).contains(&extra);
        ensure(bound(extra.v4) && bound(extra.v6), || said.clone())?;
        ensure((extra.v4 - extra.v6).abs() < 5_000.0, || said.clone())?;
        figures.push(said);
    }
    Ok(figures.join("; "))
}

/// Times of `count` echoes one after the other, in ns; spins, so that no wake-up adds to them.
fn echoes(target: SocketAddr, bytes: u32, count: usize) -> Result<Vec<u64>, String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let any = match target {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let socket = Ping::open(any, target, 7).map_err(|e| said(&e))?.map_err(|e| said(&e))?;
    socket.set_nonblocking(true).map_err(|e| said(&e))?;
    let mut out = vec![7; bytes as usize + ECHO_HEADER_BYTES];
    let mut back = vec![0; bytes as usize + ECHO_ROOM_BYTES];
    let mut times = Vec::with_capacity(count);
    for number in 0..count as u16 {
        let start = clock::now_ns();
        socket.send(number, &mut out).map_err(|e| said(&e))?;
        loop {
            match socket.recv(&mut back) {
                Ok(Some((found, payload))) if found == number => {
                    if payload.len() != bytes as usize {
                        return Err(format!("{} bytes came back", payload.len()));
                    }
                    break;
                }
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(said(&error)),
            }
            if clock::now_ns() - start > 500_000_000 {
                return Err("an echo was lost".to_owned());
            }
        }
        times.push(clock::now_ns() - start);
    }
    Ok(times)
}

pub fn delay_hits_its_family_only() -> Outcome<String> {
    placed(delay)
}

fn delay(options: &LabOptions) -> Outcome<String> {
    let lab = wire(options, None, |world| world.links[0].conditions.v6.delay_ns = 1_000_000)?;
    let measured = round_trip_ns(&lab)?;
    let difference = measured.v6 as f64 - measured.v4 as f64;
    let figures = format!("{} and {} ns", measured.v4, measured.v6);
    ensure((difference - 2e6).abs() < 1e5 && measured.v4 < 500_000, || figures.clone())?;
    Ok(figures)
}

pub fn loss_hits_its_family_only() -> Outcome<String> {
    placed(loss)
}

fn loss(options: &LabOptions) -> Outcome<String> {
    const SENT: u64 = 20_000;
    let lab = wire(options, None, |world| world.links[1].conditions.v6.loss = 0.01)?;
    let mut lost = PerFamily::default();
    for family in Family::BOTH {
        let (near, far) = udp_pair(&lab, family)?;
        far.set_nonblocking(true)?;
        lab.reset_wire();
        let mut buffer = [0; 64];
        // One at a time over both links, so that no queue can overflow.
        for _ in 0..SENT {
            let before = lab.wire_lateness().ok_or("no wire")?;
            near.send(&[7; 10])?;
            loop {
                if far.recv(&mut buffer).is_ok() {
                    break;
                }
                if lab.wire_lateness().ok_or("no wire")?.lost > before.lost {
                    *lost.get_mut(family) += 1;
                    break;
                }
            }
        }
    }
    let figures = format!("{} and {} of {SENT}", lost.v4, lost.v6);
    // 200 are expected; five standard deviations are 70.
    ensure(lost.v4 == 0 && (130..=270).contains(&lost.v6), || figures.clone())?;
    Ok(figures)
}

pub fn black_hole_takes_large_packets() -> Outcome<String> {
    let lab = wire(&LabOptions::default(), Some(100_000_000), |world| {
        world.links[1].conditions.v6.black_hole_above = Some(1400);
    })?;
    for (family, bytes, expected) in
        [(Family::V6, 1400 - 48, true), (Family::V6, 1400 - 47, false), (Family::V4, 1472, true)]
    {
        let (near, far) = udp_pair(&lab, family)?;
        let passed = passes(&near, &far, bytes)?;
        ensure(passed == expected, || format!("{family}, {bytes} bytes: passed is {passed}"))?;
    }
    let taken = lab.wire_lateness().ok_or("no wire")?.black_holed;
    ensure(taken == 1, || format!("{taken} frames taken"))?;
    Ok("1400 passes, 1401 does not, the other family is untouched".to_owned())
}

pub fn small_mtu_is_discovered() -> Outcome<String> {
    for (model, rate) in [(LinkModel::Bare, None), (LinkModel::Wire, Some(100_000_000))] {
        let mut world = World::client_router_server(model, rate);
        world.links[1].mtu = 1300;
        let lab = Lab::build(&world)?;
        for family in Family::BOTH {
            let (mut near, mut far) = tcp_pair(&lab, family)?;
            let sending = std::thread::spawn(move || near.write_all(&vec![7; 200_000]));
            let mut received = Vec::new();
            far.read_to_end(&mut received)?;
            sending.join().map_err(|_| "the sender panicked")??;
            ensure(received.len() == 200_000, || format!("{family}: {} bytes", received.len()))?;
        }
    }
    Ok("200 kB of TCP arrive over an MTU of 1300 behind one of 1500".to_owned())
}

/// Each family has the MTU that the world says, from both ends, and datagrams beyond it are cut: by
/// the router where the sender lets it (RFC 791), else by the sender once it has been told
/// (RFC 1191, RFC 8201).
pub fn each_family_has_its_mtu() -> Outcome<String> {
    let mut world = World::client_router_server(LinkModel::Wire, Some(100_000_000));
    world.links[1].mtus = PerFamily { v4: Some(1400), v6: Some(1300) };
    for model in [LinkModel::Bare, LinkModel::Wire] {
        let rate_bps = world.links[0].conditions.v4.rate_bps.filter(|_| model == LinkModel::Wire);
        let conditions = PerFamily::from_fn(|_| Conditions::rate(rate_bps));
        world.links.iter_mut().for_each(|link| link.conditions = conditions);
        let lab = Lab::build(&World { model, ..world.clone() })?;
        for family in Family::BOTH {
            let expected = model::path_mtu(&world, family);
            for ends in [(lab.client(), lab.server()), (lab.server(), lab.client())] {
                narrow(family, expected, ends).map_err(|e| format!("{model:?} {family}: {e}"))?;
            }
        }
    }
    Ok("1400 B for IPv4 and 1300 B for IPv6 on the same link, from both ends".to_owned())
}

/// Payload that fits the other link of the path, but not this one.
const BEYOND: usize = 1440;

fn narrow(family: Family, expected: u32, (from, to): (&Node, &Node)) -> Outcome<()> {
    let address = to.addresses.get(family).ok_or("there is no such address")?;
    let far = to.run(|| Datagram::bind(SocketAddr::new(address, 0)))??;
    far.set_read_timeout(Some(500_000_000))?;
    let target = far.local()?;
    let near = from.run(|| {
        let socket = Datagram::bind(SocketAddr::new(family.unspecified(), 0))?;
        socket.connect(target).map(|()| socket)
    })??;
    let mut arrived = [0; 2048];
    let mut passes = |what: &str| {
        near.send(&[7; BEYOND])?;
        let count = far.recv(&mut arrived).map_err(|e| format!("{what}: {e}"))?;
        ensure(count == BEYOND, || format!("{what}: {count} B came"))
    };
    near.set_dont_fragment(false)?;
    if family == Family::V4 {
        passes("cut on the way")?;
    }
    near.set_dont_fragment(true)?;
    for _ in 0..50 {
        // What does not fit is refused at once where this end has the narrow link itself.
        let _ = near.send(&[7; BEYOND]);
        if near.path_mtu()? == expected {
            break;
        }
        near.wait_readable(20_000_000)?;
    }
    let mtu = near.path_mtu()?;
    ensure(mtu == expected, || format!("a path MTU of {mtu} B, not {expected}"))?;
    let refused = near.send(&[7; BEYOND]).map_err(|error| ErrorClass::of(&error));
    ensure(refused == Err(ErrorClass::TooBig), || format!("{BEYOND} B: {refused:?}"))?;
    near.set_dont_fragment(false)?;
    passes("cut by the sender")
}
