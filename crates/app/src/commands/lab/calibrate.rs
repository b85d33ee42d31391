//! `lab calibrate`: how true each link model is on this host.
//!
//! Every figure is measured by the same trials as in any run and stands beside what the headers
//! predict. Medians are given: other work on the host can only take rate away and add time.

mod document;
mod table;

use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::Context;
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::Lateness;
use v6gap_core::plan::defaults;
use v6gap_core::wiremodel;
use v6gap_core::workload::{Cell, Transport, UdpBulk, Wait, Workload};
use v6gap_core::world::model;
use v6gap_core::world::{Link, LinkModel, World};
use v6gap_perform::site::Site;
use v6gap_perform::world as labs;

/// Payload of the datagrams whose goodput is measured, and of the larger round trip, in bytes.
const LARGE_BYTES: u32 = 1408;
/// Payload of the smaller round trip, in bytes.
const SMALL_BYTES: u32 = 64;
/// Time of a transfer, in ns.
const TRANSFER_NS: u64 = 500_000_000;
/// Payload of the datagrams that show how many packets the wire holds, in bytes: the shortest that
/// a trial takes.
const TINY_BYTES: u32 = 20;
/// What such a datagram takes on the line over IPv4, in bytes: headers of UDP, IP and Ethernet,
/// check sequence, preamble and gap (IEEE 802.3 section 4.4.2).
const TINY_WIRE_BYTES: u32 = TINY_BYTES + 8 + 20 + 14 + 4 + 20;
/// Share of the highest rate seen by which the rate that is tried goes down.
const STEP: f64 = 0.9;
/// Rates that are tried at most.
const STEPS_MAX: usize = 12;

/// Something to be measured.
struct Asked {
    /// Name of what is measured.
    what: &'static str,
    /// How.
    cell: Cell,
    /// Which of its values counts.
    metric: Metric,
}

impl Asked {
    fn new(what: &'static str, workload: Workload, metric: Metric) -> Self {
        Asked { what, cell: Cell::named(workload), metric }
    }
}

/// What is known of this host's links.
#[derive(Debug)]
pub struct Calibration {
    /// One for each link model and rate.
    links: Vec<LinkFigures>,
    /// How many packets the user-space link holds.
    packets: Result<Packets, String>,
    /// Link models that this host does not have, with the reason.
    unavailable: Vec<(&'static str, &'static str)>,
}

/// The figures of one link model at one rate.
#[derive(Debug)]
struct LinkFigures {
    model: LinkModel,
    rate_bps: Option<u64>,
    figures: Vec<Figure>,
    /// How late the user-space link was while these were measured.
    lateness: Option<Lateness>,
    /// Share of one processor that it took.
    wire_cpu: Option<f64>,
    /// What could not be measured, in words.
    failed: Vec<String>,
}

/// One measured figure.
#[derive(Debug)]
struct Figure {
    what: &'static str,
    family: Family,
    metric: Metric,
    /// Median, in SI units.
    measured: f64,
    /// What the headers alone predict; `None` where nothing but the hosts bounds it.
    model: Option<f64>,
}

/// The highest rate of packets.
#[derive(Debug)]
struct Packets {
    /// Delivered per second when the sender is not held back.
    flooded_per_s: f64,
    /// The highest rate tried at which the link itself lost none.
    held_per_s: Option<f64>,
    /// Bits per second on the line at that rate.
    held_bps: Option<f64>,
    /// How late it was at that rate.
    lateness: Option<Lateness>,
    /// Share of one processor that it took at that rate.
    wire_cpu: Option<f64>,
}

/// Measures every link model at every rate; the turn of this host is the caller's.
///
/// # Errors
/// If this host has no lab (E301).
pub fn execute(
    rates: &[u64],
    repeats: u32,
    json: bool,
    context: &Context,
) -> Result<Outcome, Failure> {
    if let Some(why) = labs::refusal() {
        return Err(Failure::namespaces(&why));
    }
    labs::enter().map_err(|why| Failure::namespaces(&why))?;
    let shaped = rates
        .iter()
        .flat_map(|&rate| [(LinkModel::Shaped, Some(rate)), (LinkModel::Wire, Some(rate))]);
    let mut measured = Vec::new();
    for (model, rate_bps) in [(LinkModel::Bare, None)].into_iter().chain(shaped) {
        output::to_stderr(&format!("measuring {}", table::name(model, rate_bps)));
        measured.push(links(model, rate_bps, repeats)?);
    }
    output::to_stderr("measuring how many packets the wire holds");
    let found = Calibration {
        links: measured,
        packets: packets(),
        unavailable: vec![(
            "netem",
            "they are not measured yet; `v6gap lab list --kinds` says if this host has them",
        )],
    };
    let text = match json {
        true => output::document(&document::json(&found)),
        false => output::fit(&context.output.results, &table::text(&found)),
    };
    output::to_stdout(&text);
    Ok(Outcome::Done)
}

/// The world that figures are taken in: one router, as in the first look.
fn links(model: LinkModel, rate_bps: Option<u64>, repeats: u32) -> Result<LinkFigures, Failure> {
    let world = World::client_router_server(model, rate_bps);
    let asked = asked(&world);
    let measured = Site::measure(&world, |site| {
        site.reset();
        let start = site.spent();
        let mut figures = Vec::new();
        let mut failed = Vec::new();
        for asked in &asked {
            for family in Family::BOTH {
                match site.median(&asked.cell, asked.metric, family, repeats) {
                    Ok(measured) => figures.push(Figure {
                        what: asked.what,
                        family,
                        metric: asked.metric,
                        measured,
                        model: expected(&world, asked, family),
                    }),
                    Err(why) => failed.push(format!("{} over {family}: {why}", asked.what)),
                }
            }
        }
        let wire_cpu = start.share(&site.spent());
        Ok((figures, failed, site.lateness(), wire_cpu))
    });
    let (figures, failed, lateness, wire_cpu) = measured.map_err(Failure::unexpected)?;
    Ok(LinkFigures { model, rate_bps, figures, lateness, wire_cpu, failed })
}

/// What is measured on links of a model.
fn asked(world: &World) -> Vec<Asked> {
    let mut tcp = defaults::tcp_bulk(true);
    (tcp.duration_ns, tcp.warmup_ns) = (2 * TRANSFER_NS, TRANSFER_NS / 2);
    let udp = UdpBulk {
        payload_bytes: LARGE_BYTES,
        duration_ns: TRANSFER_NS,
        warmup_ns: TRANSFER_NS / 4,
        ..UdpBulk::default()
    };
    let udp = UdpBulk { rate_bps: None, ..udp };
    let mut asked = vec![
        Asked::new("TCP goodput", Workload::TcpBulk(tcp), Metric::Throughput),
        Asked::new("UDP goodput, 1408 B", Workload::UdpBulk(udp), Metric::Throughput),
    ];
    // A token bucket gives no true round trips.
    if world.model != LinkModel::Shaped {
        let echo = |bytes| Workload::Echo(defaults::echo(Transport::Udp, bytes, Wait::Yield));
        asked.push(Asked::new("UDP round trip, 64 B", echo(SMALL_BYTES), Metric::Rtt));
        asked.push(Asked::new("UDP round trip, 1408 B", echo(LARGE_BYTES), Metric::Rtt));
    }
    asked
}

/// What the headers predict for a figure.
fn expected(world: &World, asked: &Asked, family: Family) -> Option<f64> {
    if world.model == LinkModel::Bare {
        return None;
    }
    let workload = &asked.cell.workload;
    if let Workload::Echo(echo) = workload {
        let mtu = model::path_mtu(world, family);
        let packets = wiremodel::udp_packets(echo.message_bytes, family, mtu).ok()?;
        return Some(model::world_round_trip_ns(world, family, &packets) / 1e9);
    }
    if let Workload::UdpBulk(bulk) = workload {
        return model::world_udp_goodput_bps(world, family, bulk.payload_bytes).ok()?;
    }
    let is_tcp = matches!(workload, Workload::TcpBulk(_));
    is_tcp.then(|| model::world_tcp_goodput_bps(world, family)).flatten()
}

/// The highest rate of the shortest datagrams that the user-space link carries over one link: first
/// flooded, then with a sender that keeps a pace, ever slower, until the link loses nothing.
fn packets() -> Result<Packets, String> {
    let world = World::chain(LinkModel::Wire, vec![Link::ethernet(None)]);
    let family = Family::V4;
    Site::measure(&world, |site| {
        let flood = |rate_bps: Option<u64>| {
            Cell::named(Workload::UdpBulk(UdpBulk {
                payload_bytes: TINY_BYTES,
                duration_ns: TRANSFER_NS,
                warmup_ns: 0,
                rate_bps,
                ..UdpBulk::default()
            }))
        };
        let mut run = |rate_bps| {
            site.reset();
            let start = site.spent();
            site.median(&flood(rate_bps), Metric::Throughput, family, 1)?;
            let end = site.spent();
            let seen = site.lateness().ok_or("there is no wire")?;
            Ok::<_, String>((seen, start.share(&end)))
        };
        // Both arms of a block are one trial each.
        let seconds = 2.0 * TRANSFER_NS as f64 / 1e9;
        let (seen, _) = run(None)?;
        let flooded_per_s = seen.frames as f64 / seconds;
        let mut found = Packets {
            flooded_per_s,
            held_per_s: None,
            held_bps: None,
            lateness: None,
            wire_cpu: None,
        };
        let mut per_s = flooded_per_s;
        for _ in 0..STEPS_MAX {
            let (seen, wire_cpu) = run(Some((per_s * f64::from(TINY_BYTES) * 8.0) as u64))?;
            if seen.dropped == 0 {
                let held = seen.frames as f64 / seconds;
                found.held_per_s = Some(held);
                found.held_bps = Some(held * 8.0 * f64::from(TINY_WIRE_BYTES));
                found.lateness = Some(seen);
                found.wire_cpu = wire_cpu;
                break;
            }
            per_s *= STEP;
        }
        Ok(found)
    })
}
