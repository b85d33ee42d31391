//! Probes that a link loses, and probes that a full queue holds up.

use super::common::{Service, slice, trial};
use super::support::{ETHERNET_BYTES, IPV6_BYTES, Outcome, addresses, ensure, own, pair, port};
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::observation::{Loaded, Measured};
use v6gap_core::task::Task;
use v6gap_core::wire::datagram::{Flags, Header};
use v6gap_core::workload::{Load, LoadFamily, Probe, Transport, UdpLoad, Workload};
use v6gap_core::world::{Link, LinkModel, World};
use v6gap_engine::trial::client;
use v6gap_lab::Lab;
use v6gap_sys::packet::Port;

/// A link that loses packets at random: what each end reports is what a capture saw come in there.
pub fn lost_probes_are_those_that_the_link_lost() -> Outcome {
    let mut link = Link::ethernet(Some(100_000_000));
    (link.conditions.v4.loss, link.conditions.v6.loss) = (0.05, 0.05);
    let lab = pair(LinkModel::Wire, link)?;
    let (near, far) = (lab.node("client")?, lab.node("server")?);
    let addresses = addresses(far)?;
    let service = far.run(|| Service::at(addresses))?;
    for family in Family::BOTH {
        let probe = Probe { turns: 2, turn_packets: 250, ..Probe::default() };
        let task = slice(Workload::Probe(probe), PerArm::null(family));
        let (mut at_client, mut at_server) = (port(near)?, port(far)?);
        let context = service.context(Transport::Udp);
        let both = || service.perform_with(&task, || near.run(|| client::run(&task, &context)));
        let (client, server) = far.run(both)?;
        let (came, back) = (probes(&mut at_server, family), probes(&mut at_client, family));
        let (mut sent, mut there, mut returned, mut here) = (0, 0, 0, 0);
        for ((_, client), (_, server)) in client??.into_iter().zip(server?) {
            let (Measured::Probed(probed), Measured::Returned(seen)) =
                (client.measured, server.measured)
            else {
                return Err("no probes".into());
            };
            sent += probed.sent;
            there += seen.there.packets + seen.there.late + seen.there.duplicates;
            returned += seen.returned;
            here += probed.back.packets + probed.back.late + probed.back.duplicates;
        }
        let all = format!("{family}: {sent} {there}/{came}, {returned} {here}/{back}");
        ensure(there == came && here == back, || all.clone())?;
        // 5 % of 1000, give or take 6 standard deviations.
        for (sent, arrived) in [(sent, there), (returned, here)] {
            let lost = (sent - arrived) as f64 / sent as f64;
            ensure((0.008..0.092).contains(&lost), || format!("{all}: lost {lost}"))?;
        }
    }
    Ok(())
}

/// What the slower link of [`a_full_queue_takes_its_drain_time`] can do.
const QUEUE_RATE_BPS: u64 = 10_000_000;
const QUEUE_FRAMES: u32 = 50;

/// A load of datagrams of either family keeps a queue of known length full: the round trip under it
/// is longer than that of the idle path by the time in which the queue drains, to 3 %. What is let
/// in finds one frame less than the queue holds, and the line busy with another. Probes are so rare
/// that no two of them wait at a time.
pub fn a_full_queue_takes_its_drain_time() -> Outcome {
    const MS: u64 = 1_000_000;
    const PAYLOAD: u32 = 1408;
    let slow = Link { queue_frames: QUEUE_FRAMES, ..Link::ethernet(Some(QUEUE_RATE_BPS)) };
    let fast = Link::ethernet(Some(10 * QUEUE_RATE_BPS));
    let world = World::chain(LinkModel::Shaped, vec![fast, slow]);
    let under = Under::build(&world)?;
    let usual = Probe { interval_ns: 61 * MS, timeout_ns: 500 * MS, ..Probe::default() };
    for family in Family::BOTH {
        let idle = Probe { turns: 2, turn_packets: 3, ..usual.clone() };
        let (idle_ns, _) = under.median_ns(&slice(Workload::Probe(idle), PerArm::null(family)))?;
        for beside in [LoadFamily::Same, LoadFamily::Other] {
            let load = Load {
                family: beside,
                lead_ns: 800 * MS,
                // A fifth more than the line carries.
                udp: Some(UdpLoad { payload_bytes: PAYLOAD, rate_bps: Some(12_000_000) }),
                ..Load::default()
            };
            let frame_bytes = match load.family_beside(family) {
                Family::V4 => PAYLOAD + 8 + 20 + 38,
                Family::V6 => PAYLOAD + 8 + 40 + 38,
            };
            let probe = Probe { turns: 2, turn_packets: 14, load: Some(load), ..usual.clone() };
            let (loaded_ns, seen) = under.median_ns(&trial(Workload::Probe(probe), family))?;
            let frame_ns = f64::from(frame_bytes) * 8e9 / QUEUE_RATE_BPS as f64;
            let frames = (loaded_ns - idle_ns) / frame_ns;
            let seen = seen.ok_or("no load")?;
            let goodput = seen.received_bps().ok_or("nothing of the load came")?;
            let lost = seen.datagrams.and_then(|all| all.lost_share()).ok_or("no end came")?;
            let all = format!(
                "{family}, load of {beside:?} family: idle {:.2} ms, loaded {:.2} ms, {frames:.2} \
                 frames; load {:.2} Mbit/s, {:.1} % lost",
                idle_ns / 1e6,
                loaded_ns / 1e6,
                goodput / 1e6,
                100.0 * lost
            );
            println!("       {all}");
            let full = f64::from(QUEUE_FRAMES);
            ensure((0.97 * full..=1.01 * full).contains(&frames), || all.clone())?;
            let line = f64::from(PAYLOAD) / f64::from(frame_bytes) * QUEUE_RATE_BPS as f64;
            // The queue fills first, and is emptied after the last was sent.
            ensure((0.9..1.1).contains(&(goodput / line)), || all.clone())?;
            ensure((0.1..0.25).contains(&lost), || all.clone())?;
        }
    }
    Ok(())
}

/// A load at full speed over a line so slow that a sender waits long for room in its own queue,
/// longer than it looks whether its part is over: it is no error that the probes end meanwhile.
pub fn a_full_sender_is_stopped_without_error() -> Outcome {
    const MS: u64 = 1_000_000;
    let line = Link::ethernet(Some(QUEUE_RATE_BPS));
    let under = Under::build(&World::chain(LinkModel::Shaped, vec![line]))?;
    for family in Family::BOTH {
        let load = Load {
            lead_ns: 500 * MS,
            udp: Some(UdpLoad { payload_bytes: 1408, rate_bps: None }),
            ..Load::default()
        };
        let (interval_ns, timeout_ns) = (20 * MS, 1000 * MS);
        let probe = Probe { interval_ns, timeout_ns, load: Some(load), ..Probe::default() };
        let probe = Probe { turns: 1, turn_packets: 10, ..probe };
        let (loaded_ns, _) = under.median_ns(&trial(Workload::Probe(probe), family))?;
        println!("       {family}: {:.1} ms", loaded_ns / 1e6);
        ensure(loaded_ns > 50e6, || format!("{family}: {loaded_ns} ns is no full queue"))?;
    }
    Ok(())
}

/// A lab with a service at its server.
struct Under {
    lab: Lab,
    service: Service,
}

impl Under {
    fn build(world: &World) -> Outcome<Self> {
        let lab = Lab::build(world)?;
        let far = lab.node("server")?;
        let addresses = addresses(far)?;
        let service = far.run(|| Service::at(addresses))?;
        Ok(Under { lab, service })
    }

    /// The median round trip of the probes of `task`, and what its load was.
    fn median_ns(&self, task: &Task) -> Outcome<(f64, Option<Loaded>)> {
        let (near, far) = (self.lab.node("client")?, self.lab.node("server")?);
        let context = self.service.context(Transport::Udp);
        let client = || near.run(|| client::run(task, &context));
        let (client, server) = far.run(|| self.service.perform_with(task, client))?;
        let (client, server) = (client??.remove(0).1, server?.remove(0).1);
        match (client.measured, server.measured) {
            (Measured::Probed(probed), Measured::Returned(seen)) => {
                Ok((probed.round_trip.median_ns, seen.load))
            }
            _ => Err("no probes".into()),
        }
    }
}

/// Probes that came in at a port, without those that begin and end a trial.
fn probes(port: &mut Port, family: Family) -> u64 {
    let header_bytes = match family {
        Family::V4 => 20,
        Family::V6 => IPV6_BYTES,
    };
    let mut count = 0;
    while let Some(frame) = port.receive() {
        let payload = frame.bytes.get(ETHERNET_BYTES + header_bytes + 8..);
        let ours = own(frame.bytes, family, Transport::Udp).and(payload).and_then(Header::decode);
        let is_probe = |header: Header| [Flags::NONE, Flags::ANSWER].contains(&header.flags);
        count += u64::from(ours.is_some_and(is_probe));
    }
    count
}
