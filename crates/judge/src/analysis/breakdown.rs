//! What stands behind the values of trials: windows that were offered, the places that processor
//! time was spent in, the stages of opening a connection. Medians over the trials of valid blocks
//! with their ranges, without verdict.

use super::Range;
use super::collect::Collected;
use super::resources::{gather, range_of_median};
use super::windows::granted;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::cost;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::{Connections, Ends, Measured, Times};
use v6gap_core::record::TrialRecord;
use v6gap_core::workload::{Cell, Direction, Workload};
use v6gap_stats::summary;

/// A median over trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Typical {
    /// The median.
    pub value: f64,
    /// 95 % range of the median, from order statistics; `None` with fewer than six trials.
    pub range: Option<Range>,
    /// Trials behind it.
    pub trials: usize,
}

impl Typical {
    fn of(values: Vec<f64>) -> Option<Typical> {
        let (value, trials) =
            ((!values.is_empty()).then(|| summary::median(&values))?, values.len());
        Some(Typical { value, range: range_of_median(values), trials })
    }
}

/// The windows of the TCP transfers of a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Window {
    /// Identifier of the cell.
    pub cell: String,
    /// What the plan asked for, in bytes; the system's choice if it did not.
    pub asked_bytes: Option<u32>,
    /// Receive buffer that the kernel granted, in bytes, without what Linux adds for itself.
    pub granted_bytes: PerFamily<Option<Typical>>,
    /// Mean of what the receiver offered the sender, in bytes; of several connections that of one.
    pub offered_bytes: PerFamily<Option<Typical>>,
}

/// In whose name processor time was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The measuring threads in user mode.
    Program,
    /// The kernel in the name of those threads.
    Kernel,
    /// Interrupts, in nobody's name, beyond those of the idle machine.
    Interrupts,
}

/// At which end it was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The end that sends.
    Sender,
    /// The end that receives.
    Receiver,
    /// The client of a transfer both ways.
    Client,
    /// The server of a transfer both ways.
    Server,
    /// Both, which cannot be told apart on one machine.
    Both,
}

/// Processor time of one place, in ns for each byte of payload that arrived.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlaceCost {
    /// Identifier of the cell.
    pub cell: String,
    /// At which end.
    pub role: Role,
    /// In whose name.
    pub place: Place,
    /// What it was over each family.
    pub ns_per_byte: PerFamily<Option<Typical>>,
}

/// Stages of opening a connection: medians of the medians of trials, in s.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Opening {
    /// Identifier of the cell.
    pub cell: String,
    /// Creating the socket.
    pub socket: PerFamily<Option<Typical>>,
    /// From the call of `connect` until the connection stood.
    pub connect: PerFamily<Option<Typical>>,
    /// From the call of `connect` until the first byte of an answer.
    pub first_byte: PerFamily<Option<Typical>>,
}

/// The median of what `of` finds in the trials of a cell, for each family.
fn typical(
    found: &Collected<'_>,
    place: usize,
    of: impl Fn(&TrialRecord) -> Option<f64>,
) -> PerFamily<Option<Typical>> {
    let cell = &found.run.plan.cells[place].id;
    let mut all = gather(found, |trial| (trial.cell == *cell).then(|| of(trial)).flatten());
    let mut one = |family| Typical::of(all.remove(&(place, family))?);
    PerFamily { v4: one(Family::V4), v6: one(Family::V6) }
}

fn any(values: &PerFamily<Option<Typical>>) -> bool {
    values.v4.is_some() || values.v6.is_some()
}

/// Windows of every TCP transfer one way, in the order of the plan: of both at once each end has
/// its own.
pub(super) fn windows(found: &Collected<'_>) -> Vec<Window> {
    let hosts = &found.run.hosts;
    let cells = found.run.plan.cells.iter().enumerate();
    let window = |(place, cell): (usize, &Cell)| {
        let Workload::TcpBulk(bulk) = &cell.workload else { return None };
        let sends = match bulk.direction {
            Direction::Send => true,
            Direction::Receive => false,
            Direction::Both => return None,
        };
        let receiver = |trial: &TrialRecord| {
            let (end, host) = match sends {
                true => (trial.ends.server.seen()?, &hosts.server),
                false => (&trial.ends.client, &hosts.client),
            };
            granted(end, host).map(f64::from)
        };
        let offered = |trial: &TrialRecord| {
            let Ends { client, server } = &trial.ends;
            let sender = if sends { client } else { server.seen()? };
            let all: Vec<f64> =
                sender.connections.iter().filter_map(|c| c.window_mean_bytes).collect();
            (!all.is_empty()).then(|| summary::mean(&all))
        };
        let window = Window {
            cell: cell.id.to_string(),
            asked_bytes: bulk.settings.buffer_bytes,
            granted_bytes: typical(found, place, receiver),
            offered_bytes: typical(found, place, offered),
        };
        (any(&window.granted_bytes) || any(&window.offered_bytes)).then_some(window)
    };
    cells.filter_map(window).collect()
}

/// Places that processor time of transfers was spent in, in the order of the plan.
pub(super) fn places(found: &Collected<'_>) -> Vec<PlaceCost> {
    let mut all = Vec::new();
    for (place, cell) in found.run.plan.cells.iter().enumerate() {
        let Some(direction) = cell.workload.direction() else { continue };
        for (role, name, of) in parts(direction) {
            let ns_per_byte = typical(found, place, |trial| {
                let cost = cost::of_trial(&trial.ends)?;
                Some(of(&trial.ends, &cost)? / cost.bytes as f64)
            });
            if any(&ns_per_byte) {
                all.push(PlaceCost { cell: cell.id.to_string(), role, place: name, ns_per_byte });
            }
        }
    }
    all
}

type OfPart = fn(&Ends, &cost::Cost) -> Option<f64>;

/// Each part of a transfer's cost, the sender's first.
fn parts(direction: Direction) -> Vec<(Role, Place, OfPart)> {
    let client: [(Place, OfPart); 3] = [
        (Place::Program, |ends, _| ends.client.user_ns.map(|ns| ns as f64)),
        (Place::Kernel, |ends, _| ends.client.system_ns.map(|ns| ns as f64)),
        (Place::Interrupts, |_, cost| apart(cost, cost.ends.client)),
    ];
    let server: [(Place, OfPart); 3] = [
        (Place::Program, |ends, _| ends.server.seen()?.user_ns.map(|ns| ns as f64)),
        (Place::Kernel, |ends, _| ends.server.seen()?.system_ns.map(|ns| ns as f64)),
        (Place::Interrupts, |_, cost| apart(cost, cost.ends.server)),
    ];
    let ends = match direction {
        Direction::Send => [(Role::Sender, client), (Role::Receiver, server)],
        Direction::Receive => [(Role::Sender, server), (Role::Receiver, client)],
        Direction::Both => [(Role::Client, client), (Role::Server, server)],
    };
    let together: (Role, Place, OfPart) = (Role::Both, Place::Interrupts, |_, cost| {
        cost.one_machine.then(|| cost.interrupts_ns()).flatten()
    });
    let own = ends.into_iter().flat_map(|(role, of)| of.map(|(place, of)| (role, place, of)));
    own.chain([together]).collect()
}

/// Interrupts of an end that has a machine of its own.
fn apart(cost: &cost::Cost, end: cost::EndCost) -> Option<f64> {
    (!cost.one_machine).then_some(())?;
    Some(end.machine?.interrupts_ns.max(0.0))
}

/// Stages of every cell that opens connections one after the other, in the order of the plan.
pub(super) fn openings(found: &Collected<'_>) -> Vec<Opening> {
    let cells = found.run.plan.cells.iter().enumerate();
    let opening = |(place, cell): (usize, &Cell)| {
        let Workload::Connect(connect) = &cell.workload else { return None };
        if connect.concurrent > 1 {
            return None;
        }
        let stage = |of: fn(&Connections) -> Option<&Times>| {
            typical(found, place, move |trial| match &trial.ends.client.measured {
                Measured::Connections(all) => {
                    of(all).filter(|t| t.count > 0).map(|t| t.median_ns / 1e9)
                }
                _ => None,
            })
        };
        let opening = Opening {
            cell: cell.id.to_string(),
            socket: stage(|all| Some(&all.socket)),
            connect: stage(|all| Some(&all.connect)),
            first_byte: stage(|all| all.first_byte.as_ref()),
        };
        any(&opening.connect).then_some(opening)
    };
    cells.filter_map(opening).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{EVEN, plan, run};
    use super::*;
    use crate::analysis::{Analysis, analyse};
    use v6gap_core::arm::PerArm;
    use v6gap_core::observation::{Busy, Connection, Endpoints, MachineUse, Received, Sent};
    use v6gap_core::record::Line;
    use v6gap_core::workload::TcpBulk;

    /// A run of one kind of transfer whose trials say the same at both ends, over IPv6 twice.
    fn transfers(direction: Direction, machines: [u64; 2]) -> Analysis {
        let mut plan = plan(PerArm::FAMILIES, 5);
        let mut bulk = TcpBulk { direction, ..TcpBulk::default() };
        bulk.settings.buffer_bytes = Some(65_536);
        plan.parts_mut().cells = alloc::vec![Cell::named(Workload::TcpBulk(bulk))];
        plan.parts_mut().design.null_cells.clear();
        let mut lines = run(&plan, 8, &EVEN);
        for line in &mut lines {
            let Line::Trial(trial) = line else { continue };
            let twice = if trial.family == Family::V6 { 2 } else { 1 };
            let sends = direction == Direction::Send;
            let Ends { client, server } = &mut trial.ends;
            for (end, machine, is_sender) in
                [(client, machines[0], sends), (server.seen_mut().unwrap(), machines[1], !sends)]
            {
                let sent = Measured::Sent(Sent { bytes: 1_000, ..Sent::default() });
                let received = Received { bytes: 1_000, ..Received::default() };
                end.measured = if is_sender { sent } else { Measured::Received(received) };
                // A sender takes 3 and 4 ns for a byte, a receiver 5 and 6.
                let of = if is_sender { (3_000, 4_000) } else { (5_000, 6_000) };
                (end.user_ns, end.system_ns) = (Some(of.0 * twice), Some(of.1 * twice));
                let busy = |ns: u64| Busy { span_ns: 1_000_000, busy_ns: ns, interrupts_ns: ns };
                let idle = Some(busy(0));
                end.machine = Some(MachineUse { machine, trial: busy(7_000 * twice), idle });
                end.granted.receive_buffer = Some(if is_sender { 1 } else { 65_536 });
                let address = "10.46.1.2:30000".parse().unwrap();
                end.connections = alloc::vec![Connection {
                    endpoints: Endpoints { domain: trial.family, local: address, peer: address },
                    sent_bytes: 0,
                    received_bytes: 0,
                    rtt_mean_us: None,
                    window_mean_bytes: is_sender.then_some(70_000.0),
                    processor: None,
                    account: None,
                }];
            }
        }
        analyse(&lines).unwrap()
    }

    fn costs(analysis: &Analysis) -> Vec<(Role, Place, f64, f64)> {
        let value = |t: &Option<Typical>| t.unwrap().value;
        let row =
            |p: &PlaceCost| (p.role, p.place, value(&p.ns_per_byte.v4), value(&p.ns_per_byte.v6));
        analysis.places.iter().map(row).collect()
    }

    #[test]
    fn each_place_has_its_share_whichever_end_sends() {
        for direction in [Direction::Send, Direction::Receive] {
            let expected = [
                (Role::Sender, Place::Program, 3.0, 6.0),
                (Role::Sender, Place::Kernel, 4.0, 8.0),
                (Role::Sender, Place::Interrupts, 7.0, 14.0),
                (Role::Receiver, Place::Program, 5.0, 10.0),
                (Role::Receiver, Place::Kernel, 6.0, 12.0),
                (Role::Receiver, Place::Interrupts, 7.0, 14.0),
            ];
            assert_eq!(costs(&transfers(direction, [1, 2])), expected);
        }
    }

    #[test]
    fn interrupts_of_one_machine_belong_to_neither_end() {
        let found = costs(&transfers(Direction::Send, [1, 1]));
        assert_eq!(found.len(), 5);
        assert_eq!(found[4], (Role::Both, Place::Interrupts, 7.0, 14.0));
    }

    #[test]
    fn windows_are_those_of_the_receiver_as_the_sender_was_offered_them() {
        for direction in [Direction::Send, Direction::Receive] {
            let analysis = transfers(direction, [1, 2]);
            let [window] = &analysis.windows[..] else { panic!("{:?}", analysis.windows) };
            let granted = window.granted_bytes.v6.unwrap();
            assert_eq!((window.asked_bytes, granted.value), (Some(65_536), 65_536.0));
            let offered = window.offered_bytes.v4.unwrap();
            assert_eq!((offered.value, offered.trials), (70_000.0, 8));
            assert_eq!(offered.range, Some(Range { low: 70_000.0, high: 70_000.0 }));
        }
    }

    #[test]
    fn openings_are_told_stage_by_stage() {
        let mut lines = run(&plan(PerArm::FAMILIES, 6), 8, &EVEN);
        for line in &mut lines {
            let Line::Trial(trial) = line else { continue };
            if trial.cell.starts_with("connect") {
                let times = |median_ns| Times { count: 24, median_ns, ..Times::default() };
                let (socket, connect) = (times(9_000.0), times(400_000.0));
                let all = Connections { socket, connect, ..Connections::default() };
                trial.ends.client.measured = Measured::Connections(alloc::boxed::Box::new(all));
            }
        }
        let analysis = analyse(&lines).unwrap();
        let [opening] = &analysis.openings[..] else { panic!("{:?}", analysis.openings) };
        let stage = |stage: &PerFamily<Option<Typical>>| stage.v6.unwrap().value;
        assert_eq!((stage(&opening.socket), stage(&opening.connect)), (9e-6, 400e-6));
        assert_eq!(opening.first_byte.v4, None);
    }
}
