//! Both ends in one thread: the same exchanges over the same cable, with no process at the far end.

use super::common::{Service, echo, slice};
use super::support::{Outcome, addresses, ensure, lab};
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::observation::Measured;
use v6gap_core::workload::{Echo, Method, Parity, Transport, Wait, Workload};
use v6gap_engine::trial::{Kind, TrialError, client};
use v6gap_lab::Node;
use v6gap_sys::network::Network;

/// The far node's network.
pub fn network(far: &Node) -> Outcome<Network> {
    Ok(Network::of(far.namespace()?.try_clone_to_owned()?))
}

/// Every exchange is answered, over the family that it is booked under, in one message and in many,
/// and with a response of another size.
pub fn both_ends_in_one_thread() -> Outcome {
    let lab = lab()?;
    let (near, far) = (lab.node("client")?, lab.node("server")?);
    let addresses = addresses(far)?;
    let service = far.run(|| Service::at(addresses))?;
    let usual =
        |transport, bytes| Echo { method: Method::Stack, ..echo(transport, bytes, Wait::Yield) };
    let cases = [
        usual(Transport::Tcp, 64),
        usual(Transport::Tcp, 1_000_000),
        Echo { response_bytes: Some(20_000), ..usual(Transport::Tcp, 64) },
        Echo { parity: Parity::Packet, ..usual(Transport::Tcp, 64) },
        usual(Transport::Udp, 64),
        Echo { response_bytes: Some(100), ..usual(Transport::Udp, 4_000) },
    ];
    for workload in cases {
        let what = format!("{workload:?}");
        let counted = u64::from(workload.turns * workload.turn_exchanges);
        let mut context = service.context(workload.transport);
        let task = slice(Workload::Echo(workload), PerArm::FAMILIES);
        let perform = |context: &client::ClientContext| {
            let half = || near.run(|| client::run(&task, context));
            far.run(|| service.perform_with(&task, half))
        };
        let (refused, _) = perform(&context)?;
        let is_missing = |e: &TrialError| e.kind() == Kind::Missing;
        ensure(refused?.is_err_and(|e| is_missing(&e)), || format!("{what}: without a network"))?;
        context.far = Some(network(far)?);
        let (client, server) = perform(&context)?;
        let (client, server) = (client??, server?);
        for ((arm, report), (_, far)) in client.iter().zip(&server) {
            let family = *PerArm::FAMILIES.get(*arm);
            let Measured::Times(times) = &report.measured else { return Err("no times".into()) };
            ensure((times.count, times.lost) == (counted, 0), || format!("{what}: {times:?}"))?;
            let ends = report.endpoints.ok_or("no proof")?;
            let of = [ends.local, ends.peer].map(|end| Family::of(&end.ip()));
            ensure(of == [Some(family); 2], || format!("{what}: {ends:?}"))?;
            ensure(ends.peer.ip() == *addresses.get(family), || format!("{what}: {ends:?}"))?;
            // No process answered, and the far kernel counted what came.
            let came = far.counter(match family {
                Family::V4 => "Ip.InReceives",
                Family::V6 => "Ip6.InReceives",
            });
            let is_seen = far.endpoints.is_none() && came >= i64::try_from(counted)?;
            ensure(is_seen, || format!("{what}: {came} came over {family}"))?;
        }
    }
    Ok(())
}
