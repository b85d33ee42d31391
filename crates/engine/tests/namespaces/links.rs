//! What a link was told to do to packets, found again by the instrument: loss, delay, copies,
//! reordering and jitter, other ones each way, and which packets go first.

use super::common::{Service, slice, trial};
use super::support::{Outcome, addresses, ensure, pair};
use v6gap_core::arm::PerArm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::{EndReport, Measured};
use v6gap_core::observation::{OneWay, Probed, Returned};
use v6gap_core::task::Task;
use v6gap_core::workload::{
    Direction, Load, Marking, Probe, Transport, UdpBulk, UdpLoad, Workload,
};
use v6gap_core::world::{Bursts, Conditions, Jitter, Link, LinkModel, Reordering, Spread, World};
use v6gap_engine::trial::client;
use v6gap_lab::Lab;
use v6gap_stats::loss;

const MS: u64 = 1_000_000;
const MBPS: u64 = 1_000_000;

/// A lab with a service at its server.
struct Site {
    lab: Lab,
    service: Service,
}

impl Site {
    fn of(lab: Lab) -> Outcome<Site> {
        let addresses = addresses(lab.node("server")?)?;
        let service = lab.node("server")?.run(|| Service::at(addresses))?;
        Ok(Site { lab, service })
    }

    /// What both ends saw, arm by arm.
    fn perform(&self, task: &Task) -> Outcome<Vec<(EndReport, EndReport)>> {
        let (near, far) = (self.lab.node("client")?, self.lab.node("server")?);
        let context = self.service.context(Transport::Udp);
        let client = || near.run(|| client::run(task, &context));
        let (client, server) = far.run(|| self.service.perform_with(task, client))?;
        let ends = client??.into_iter().zip(server?);
        Ok(ends.map(|((_, client), (_, server))| (client, server)).collect())
    }

    fn probe(&self, probe: &Probe, family: Family) -> Outcome<Vec<(Probed, Returned)>> {
        let task = match probe.load {
            None => slice(Workload::Probe(probe.clone()), PerArm::null(family)),
            Some(_) => trial(Workload::Probe(probe.clone()), family),
        };
        let both =
            |(client, server): (EndReport, EndReport)| match (client.measured, server.measured) {
                (Measured::Probed(probed), Measured::Returned(seen)) => Ok((*probed, *seen)),
                _ => Err("no probes".into()),
            };
        self.perform(&task)?.into_iter().map(both).collect()
    }
}

/// A share that was seen so often: the true one must be in the exact binomial range that is wrong
/// once in a million.
fn ensure_share(what: &str, seen: u64, of: u64, truth: f64) -> Outcome {
    let range = loss::interval(seen, of, 1.0 - 1e-6);
    ensure((range.low..=range.high).contains(&truth), || {
        format!("{what}: {seen} of {of} do not fit a share of {truth}")
    })
}

/// Time must agree to 1 %.
fn ensure_time(what: &str, seen_ns: f64, truth_ns: f64) -> Outcome {
    let off = seen_ns / truth_ns - 1.0;
    ensure(off.abs() < 0.01, || format!("{what}: {seen_ns:.0} ns are {:.2} % off", 100.0 * off))
}

/// What one way was told to do.
#[derive(Clone, Copy)]
struct Trouble {
    loss: f64,
    duplication: f64,
    reordering: f64,
    delay_ns: u64,
}

impl Trouble {
    fn conditions(self) -> Conditions {
        Conditions {
            loss: self.loss,
            duplication: self.duplication,
            reordering: Some(Reordering { share: self.reordering, by_ns: 10 * MS }),
            delay_ns: self.delay_ns,
            ..Conditions::rate(Some(100 * MBPS))
        }
    }

    /// Holds what came of `sent` packets against it. `told` had time to come back.
    fn ensure(self, what: &str, sent: u64, way: &[&OneWay]) -> Outcome {
        let sum = |of: fn(&OneWay) -> u64| way.iter().map(|way| of(way)).sum::<u64>();
        let came = sum(|way| way.packets + way.late);
        ensure_share(&format!("{what}: lost"), sent - came, sent, self.loss)?;
        let copies = sum(|way| way.duplicates);
        ensure_share(&format!("{what}: doubled"), copies, came, self.duplication)?;
        // One that is held back is overtaken but where all behind it were lost or held as well,
        // and where its copy was not.
        let reordered = sum(|way| way.reordered);
        let truth = self.reordering * (1.0 - self.duplication);
        ensure_share(&format!("{what}: reordered"), reordered, came, truth)?;
        let delays: Vec<f64> = way.iter().filter_map(|way| Some(way.delay?.median_ns)).collect();
        ensure(delays.len() == way.len(), || format!("{what}: no one-way delay"))?;
        for delay_ns in delays {
            ensure_time(&format!("{what}: delay"), delay_ns, self.delay_ns as f64)?;
        }
        Ok(())
    }
}

/// Each way has troubles of its own, and each end reports those of its way in.
pub fn troubles_of_each_way_are_found() -> Outcome {
    let troubles = [
        Trouble { loss: 0.03, duplication: 0.02, reordering: 0.05, delay_ns: 30 * MS },
        Trouble { loss: 0.01, duplication: 0.06, reordering: 0.02, delay_ns: 20 * MS },
    ];
    let [there, back] = troubles.map(|trouble| {
        let met = trouble.conditions();
        PerFamily { v4: met, v6: met }
    });
    let link = Link { conditions: there, back: Some(back), ..Link::ethernet(None) };
    let site = Site::of(pair(LinkModel::Wire, link)?)?;
    let probe = Probe {
        interval_ns: MS,
        turns: 2,
        turn_packets: 500,
        timeout_ns: 500 * MS,
        clock_error_ns: Some(1),
        ..Probe::default()
    };
    for family in Family::BOTH {
        let seen = site.probe(&probe, family)?;
        let sent = seen.iter().map(|(probed, _)| probed.sent).sum();
        let returned = seen.iter().map(|(_, seen)| seen.returned).sum();
        let ways = [
            seen.iter().map(|(_, seen)| &seen.there).collect::<Vec<_>>(),
            seen.iter().map(|(probed, _)| &probed.back).collect(),
        ];
        let names = ["there", "back"];
        let sizes = [sent, returned];
        for (((name, trouble), sent), way) in names.iter().zip(troubles).zip(sizes).zip(&ways) {
            let sum = |of: fn(&OneWay) -> u64| way.iter().map(|way| of(way)).sum::<u64>();
            println!(
                "       {family} {name}: of {sent} {} came, {} doubled, {} reordered, {:.3} ms",
                sum(|way| way.packets),
                sum(|way| way.duplicates),
                sum(|way| way.reordered),
                way[0].delay.map_or(f64::NAN, |delay| delay.median_ns / 1e6)
            );
            trouble.ensure(&format!("{family} {name}"), sent, way)?;
        }
        let round_trip_ns = seen[0].0.round_trip.median_ns;
        ensure_time(&format!("{family}: round trip"), round_trip_ns, (50 * MS) as f64)?;
    }
    Ok(())
}

/// Uniform jitter on the way there: packets so far apart that none waits for the one before.
pub fn jitter_is_found() -> Outcome {
    const SPREAD_NS: u64 = MS;
    const DELAY_NS: u64 = 20 * MS;
    let mut link = Link::ethernet(Some(100 * MBPS));
    link.back = Some(link.conditions);
    let jitter = Jitter { spread_ns: SPREAD_NS, spread: Spread::Uniform, reorders: false };
    for family in Family::BOTH {
        let met = link.conditions.get_mut(family);
        (met.delay_ns, met.jitter) = (DELAY_NS, Some(jitter));
    }
    let site = Site::of(pair(LinkModel::Wire, link)?)?;
    let probe = Probe {
        interval_ns: 2_200_000,
        turns: 1,
        turn_packets: 500,
        timeout_ns: 500 * MS,
        clock_error_ns: Some(1),
        ..Probe::default()
    };
    for family in Family::BOTH {
        for (_, seen) in site.probe(&probe, family)? {
            let way = &seen.there;
            let delay = way.delay.ok_or("no one-way delay")?;
            let spread = SPREAD_NS as f64;
            println!(
                "       {family}: delay {:.3} to {:.3} ms, median {:.3}; ipdv {:.3}, pdv {:.3} ms",
                delay.min_ns as f64 / 1e6,
                delay.max_ns as f64 / 1e6,
                delay.median_ns / 1e6,
                way.ipdv.median_ns / 1e6,
                way.pdv.median_ns / 1e6
            );
            ensure(way.reordered == 0, || format!("{family}: {} reordered", way.reordered))?;
            ensure_time(&format!("{family}: delay"), delay.median_ns, DELAY_NS as f64)?;
            ensure(delay.min_ns >= (DELAY_NS - SPREAD_NS).cast_signed(), || {
                format!("{family}: {} ns are too short", delay.min_ns)
            })?;
            // Delays above the least are uniform over twice the spread; differences of two
            // neighbours have a triangular distribution with this median.
            let pdv = way.pdv.median_ns / spread;
            ensure((0.8..1.2).contains(&pdv), || format!("{family}: pdv {pdv} spreads"))?;
            let ipdv = way.ipdv.median_ns / (2.0 * spread * (1.0 - 0.5_f64.sqrt()));
            ensure((0.8..1.2).contains(&ipdv), || format!("{family}: ipdv {ipdv} of the truth"))?;
        }
    }
    Ok(())
}

/// Loss in bursts: the periods in which packets of a stream are lost are as long as the bursts.
pub fn bursts_are_found() -> Outcome {
    let bursts = Bursts { begin: 0.01, end: 0.25, loss: 1.0 };
    let mut link = Link::ethernet(Some(100 * MBPS));
    link.back = Some(link.conditions);
    link.conditions.v4.bursts = Some(bursts);
    link.conditions.v6.bursts = Some(bursts);
    let site = Site::of(pair(LinkModel::Wire, link)?)?;
    for family in Family::BOTH {
        let bulk = UdpBulk {
            payload_bytes: 200,
            rate_bps: Some(16 * MBPS),
            duration_ns: 1_000 * MS,
            warmup_ns: 0,
            ..UdpBulk::default()
        };
        let ends = site.perform(&trial(Workload::UdpBulk(bulk), family))?;
        let (client, server) = ends.into_iter().next().ok_or("no ends")?;
        let (Measured::Sent(sent), Measured::Received(received)) =
            (client.measured, server.measured)
        else {
            return Err("no datagrams".into());
        };
        let arrivals = received.arrivals.as_ref().ok_or("no pattern of arrivals")?;
        let lost = received.lost_of(&sent);
        let periods: u64 = arrivals.loss_periods.iter().map(|(_, count)| count).sum();
        println!(
            "       {family}: {lost} of {} lost ({:.2} %), in {periods} periods, {:.2} each",
            sent.packets,
            100.0 * lost as f64 / sent.packets as f64,
            lost as f64 / periods as f64
        );
        // Every lost packet but the last of a burst stays in it.
        ensure_share(&format!("{family}: ends"), periods, lost, bursts.end)?;
        ensure_share(&format!("{family}: begins"), periods, sent.packets - lost, bursts.begin)?;
    }
    Ok(())
}

/// Rates of their own each way: datagrams at full speed come at the rate of their way.
pub fn each_way_has_its_rate() -> Outcome {
    let [there, back] = [20, 5].map(|rate| {
        let met = Conditions::rate(Some(rate * MBPS));
        PerFamily { v4: met, v6: met }
    });
    for model in [LinkModel::Wire, LinkModel::Shaped] {
        let link = Link { conditions: there, back: Some(back), ..Link::ethernet(None) };
        let site = Site::of(pair(model, link)?)?;
        for family in Family::BOTH {
            for (direction, rate) in [(Direction::Send, 20), (Direction::Receive, 5)] {
                let bulk = UdpBulk {
                    payload_bytes: 1_408,
                    rate_bps: None,
                    direction,
                    duration_ns: 600 * MS,
                    warmup_ns: 200 * MS,
                    ..UdpBulk::default()
                };
                let ends = site.perform(&trial(Workload::UdpBulk(bulk), family))?;
                let received = ends.iter().find_map(|(client, server)| {
                    client.measured.received().or(server.measured.received())
                });
                let received = received.ok_or("nothing was received")?;
                let goodput = received.rate_bps;
                let line = f64::from(1_408) / f64::from(1_408 + 8 + family.header_bytes() + 38);
                let truth = (rate * MBPS) as f64 * line;
                let off = goodput / truth - 1.0;
                println!("       {model:?} {family} {direction:?}: {:+.2} %", 100.0 * off);
                ensure(off.abs() < 0.02, || format!("{model:?} {family} {direction:?}: {off}"))?;
            }
        }
    }
    Ok(())
}

/// Expedited forwarding (RFC 3246), in the octet that carries it.
const EF: u8 = 46;

/// What a probe beside a load that is more than the slow link carries saw.
struct Beside {
    idle_ns: f64,
    loaded_ns: f64,
    sent: u64,
    lost: u64,
}

fn beside(site: &Site, family: Family, marked: bool) -> Outcome<Beside> {
    let marking = Marking { traffic_class: marked.then_some(EF << 2), ..Marking::default() };
    let usual = Probe {
        // Never in step with the load's datagrams.
        interval_ns: 5_700_000,
        timeout_ns: 500 * MS,
        marking,
        ..Probe::default()
    };
    let idle = Probe { turns: 1, turn_packets: 20, ..usual.clone() };
    let idle = site.probe(&idle, family)?.remove(0).0;
    let load = Load {
        lead_ns: 600 * MS,
        udp: Some(UdpLoad { payload_bytes: 1_408, rate_bps: Some(13 * MBPS) }),
        ..Load::default()
    };
    let loaded = Probe { turns: 1, turn_packets: 150, load: Some(load), ..usual };
    let (probed, seen) = site.probe(&loaded, family)?.remove(0);
    Ok(Beside {
        idle_ns: idle.round_trip_sent.median_ns,
        loaded_ns: probed.round_trip_sent.median_ns,
        sent: probed.sent,
        lost: probed.sent - seen.there.packets,
    })
}

/// Beside a load that is a third more than the link behind the router carries, marked packets pass
/// as on an idle link, but for the frame on the line; others wait for the whole queue and are lost
/// as the load is. Without priorities the mark changes nothing.
pub fn marked_packets_go_first() -> Outcome {
    const QUEUE_FRAMES: u32 = 50;
    for model in [LinkModel::Wire, LinkModel::Shaped] {
        for priority in [true, false] {
            let slow = Link { queue_frames: QUEUE_FRAMES, ..Link::ethernet(Some(10 * MBPS)) };
            let links = vec![Link::ethernet(Some(100 * MBPS)), slow];
            let world = World {
                priority: if priority { vec![EF] } else { Vec::new() },
                ..World::chain(model, links)
            };
            let site = Site::of(Lab::build(&world)?)?;
            for family in Family::BOTH {
                for marked in [true, false] {
                    let seen = beside(&site, family, marked)?;
                    let frame = 1_408 + 8 + family.header_bytes() + 38;
                    let frame_ns = f64::from(frame) * 8e9 / (10 * MBPS) as f64;
                    let more = (seen.loaded_ns - seen.idle_ns) / frame_ns;
                    let kind = if marked { "marked" } else { "unmarked" };
                    let with = if priority { "priority" } else { "one queue" };
                    let all = format!(
                        "{model:?}, {with}, {family}, {kind}: {:.2} ms idle, {:.2} ms beside the \
                         load ({more:+.2} frames), {} of {} lost",
                        seen.idle_ns / 1e6,
                        seen.loaded_ns / 1e6,
                        seen.lost,
                        seen.sent
                    );
                    println!("       {all}");
                    if priority && marked {
                        ensure(seen.lost == 0 && (-0.2..1.1).contains(&more), || all)?;
                    } else {
                        let full = f64::from(QUEUE_FRAMES);
                        ensure((0.85 * full..1.05 * full).contains(&more), || all.clone())?;
                        let share = seen.lost as f64 / seen.sent as f64;
                        ensure((0.05..0.9).contains(&share), || all)?;
                    }
                }
            }
        }
    }
    Ok(())
}
