//! Probes that a link loses.

use super::common::{Service, slice};
use super::support::{ETHERNET_BYTES, IPV6_BYTES, Outcome, addresses, ensure, own, pair, port};
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::observation::Measured;
use v6gap_core::wire::datagram::{Flags, Header};
use v6gap_core::workload::{Probe, Transport, Workload};
use v6gap_core::world::{Link, LinkModel};
use v6gap_engine::trial::client;
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
        count += u64::from(ours.is_some_and(|header| header.flags == Flags::NONE));
    }
    count
}
