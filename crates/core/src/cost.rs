//! What a trial cost the hosts in processor time (docs/method.md section B.9).
//!
//! The time of the measuring threads is known exactly, but much of the work on packets is done in
//! interrupts, in nobody's name. The whole machine has all of it, and with it whatever else the
//! machine does: that is measured while nothing is and taken off.

use crate::observation::{Busy, EndReport, Ends, PerEnd};

/// What a trial cost one end.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EndCost {
    /// Processor time of the measuring threads, in ns.
    pub threads_ns: f64,
    /// The whole machine beyond what it does when idle; `None` where the system does not tell or
    /// the idle machine was not watched.
    pub machine: Option<Beyond>,
}

/// What a machine did beyond what it does when nothing is measured. By the kernel's tick, so little
/// work may come out below 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Beyond {
    /// Processor time of everything, interrupts included, in ns.
    pub busy_ns: f64,
    /// The part of it in interrupts, in ns.
    pub interrupts_ns: f64,
    /// Processors that the idle machine keeps busy, which are taken off: 0.02 are 2 % of one.
    pub idle_processors: f64,
}

/// What a trial cost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// Each end by itself.
    pub ends: PerEnd<EndCost>,
    /// Whether both ends are on one machine, which then stands at both.
    pub one_machine: bool,
    /// Payload bytes that arrived.
    pub bytes: u64,
    /// Packets that carried them: datagrams that arrived, or segments with payload that TCP sent.
    pub packets: Option<u64>,
}

impl Cost {
    /// Processor time of the measuring threads of both ends, in ns.
    pub fn threads_ns(&self) -> f64 {
        self.ends.client.threads_ns + self.ends.server.threads_ns
    }

    /// Processor time of the machines beyond that of the idle ones, in ns. One machine counts once;
    /// and none did less than its threads, though by the tick it may seem so.
    pub fn machine_ns(&self) -> Option<f64> {
        Some(self.both(|machine| machine.busy_ns)?.max(self.threads_ns()))
    }

    /// The part of it in interrupts, in ns.
    pub fn interrupts_ns(&self) -> Option<f64> {
        self.both(|machine| machine.interrupts_ns)
    }

    /// The machines' time, or that of the threads where the machines' is not known, in ns.
    pub fn ns(&self) -> f64 {
        self.machine_ns().unwrap_or_else(|| self.threads_ns())
    }

    fn both(&self, of: fn(&Beyond) -> f64) -> Option<f64> {
        let client = of(&self.ends.client.machine?);
        if self.one_machine {
            return Some(client);
        }
        Some(client + of(&self.ends.server.machine?))
    }
}

/// The cost of a transfer; `None` if nothing arrived or a system does not tell what threads use.
pub fn of_trial(ends: &Ends) -> Option<Cost> {
    let server = ends.server.seen()?;
    let received = ends.all().filter_map(|end| end.measured.received());
    let bytes = received.map(|r| r.bytes).fold(0, u64::saturating_add);
    if bytes == 0 {
        return None;
    }
    let number = |end: &EndReport| end.machine.map(|machine| machine.machine);
    Some(Cost {
        ends: PerEnd { client: of_end(&ends.client)?, server: of_end(server)? },
        one_machine: number(&ends.client).is_some_and(|client| number(server) == Some(client)),
        bytes,
        packets: packets(ends),
    })
}

fn of_end(end: &EndReport) -> Option<EndCost> {
    let threads_ns = end.user_ns? as f64 + end.system_ns? as f64;
    let machine = end.machine.and_then(|m| beyond(&m.trial, &m.idle?));
    Some(EndCost { threads_ns, machine })
}

fn beyond(trial: &Busy, idle: &Busy) -> Option<Beyond> {
    if trial.span_ns == 0 || idle.span_ns == 0 {
        return None;
    }
    let idle_share = |ns: u64| ns as f64 / idle.span_ns as f64;
    let over = |ns: u64, idle: u64| ns as f64 - idle_share(idle) * trial.span_ns as f64;
    Some(Beyond {
        busy_ns: over(trial.busy_ns, idle.busy_ns),
        interrupts_ns: over(trial.interrupts_ns, idle.interrupts_ns),
        idle_processors: idle_share(idle.busy_ns),
    })
}

fn packets(ends: &Ends) -> Option<u64> {
    let received = ends.all().filter_map(|end| end.measured.received());
    let datagrams = received.map(|r| r.packets).fold(0, u64::saturating_add);
    if datagrams > 0 {
        return Some(datagrams);
    }
    let senders = ends.all().flat_map(|end| &end.connections).filter(|c| c.sent_bytes > 0);
    let each = senders.map(|c| c.account?.data_segments());
    let segments = each.reduce(|all, one| Some(all?.saturating_add(one?))).flatten();
    segments.filter(|&segments| segments > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::Family;
    use crate::observation::{
        Connection, Endpoints, Far, MachineUse, Measured, Received, Sent, TcpAccount,
    };
    use alloc::vec;

    fn end(machine: u64, busy_ns: u64, measured: Measured) -> EndReport {
        let busy = |span_ns, busy_ns| Busy { span_ns, busy_ns, interrupts_ns: busy_ns / 4 };
        let idle = Some(busy(500_000_000, 20_000_000));
        EndReport {
            measured,
            user_ns: Some(100_000_000),
            system_ns: Some(400_000_000),
            machine: Some(MachineUse { machine, trial: busy(2_000_000_000, busy_ns), idle }),
            ..EndReport::default()
        }
    }

    fn ends(machines: [u64; 2], busy_ns: [u64; 2]) -> Ends {
        let sent = Measured::Sent(Sent { packets: 1_100, ..Sent::default() });
        let received = Received { bytes: 1_000_000, packets: 1_000, ..Received::default() };
        PerEnd {
            client: end(machines[0], busy_ns[0], sent),
            server: Far::Seen(end(machines[1], busy_ns[1], Measured::Received(received))),
        }
    }

    #[test]
    fn the_idle_machine_is_taken_off_at_both_ends() {
        // 20 ms in 500 ms are 80 ms in 2 s, of which a quarter are interrupts.
        let cost = of_trial(&ends([1, 2], [900_000_000, 800_000_000])).unwrap();
        assert_eq!(cost.threads_ns(), 1e9);
        assert_eq!(cost.machine_ns(), Some(1_540e6));
        assert_eq!(cost.interrupts_ns(), Some(385e6));
        assert_eq!(cost.ns(), 1_540e6);
        let machine = cost.ends.client.machine.unwrap();
        assert_eq!((machine.idle_processors, machine.busy_ns), (0.04, 820e6));
        assert_eq!((cost.bytes, cost.packets), (1_000_000, Some(1_000)));
    }

    #[test]
    fn one_machine_counts_once() {
        let cost = of_trial(&ends([7, 7], [1_680_000_000, 1_690_000_000])).unwrap();
        assert!(cost.one_machine);
        assert_eq!(cost.machine_ns(), Some(1.6e9));
    }

    #[test]
    fn no_machine_did_less_than_its_threads() {
        let cost = of_trial(&ends([7, 7], [90_000_000, 90_000_000])).unwrap();
        assert_eq!(cost.ns(), 1e9);
    }

    #[test]
    fn without_an_idle_machine_the_threads_stand_alone() {
        let mut ends = ends([1, 2], [900_000_000, 800_000_000]);
        if let Some(machine) = &mut ends.server.seen_mut().unwrap().machine {
            machine.idle = None;
        }
        let cost = of_trial(&ends).unwrap();
        assert_eq!((cost.machine_ns(), cost.interrupts_ns(), cost.ns()), (None, None, 1e9));
        ends.server.seen_mut().unwrap().user_ns = None;
        assert_eq!(of_trial(&ends), None);
    }

    #[test]
    fn segments_of_the_senders_are_the_packets_of_a_transfer() {
        let mut ends = ends([1, 2], [0, 0]);
        let address = "10.46.1.2:30000".parse().unwrap();
        let connection = |sent_bytes, segments| Connection {
            endpoints: Endpoints { domain: Family::V4, local: address, peer: address },
            sent_bytes,
            received_bytes: 0,
            rtt_mean_us: None,
            window_mean_bytes: None,
            processor: None,
            account: Some(TcpAccount { data_segments_out: segments, ..TcpAccount::default() }),
        };
        ends.client.connections = vec![connection(9, Some(4)), connection(9, Some(5))];
        ends.server.seen_mut().unwrap().connections =
            vec![connection(0, Some(2)), connection(0, Some(2))];
        let received = Received { bytes: 18, ..Received::default() };
        ends.server.seen_mut().unwrap().measured = Measured::Received(received);
        assert_eq!(of_trial(&ends).unwrap().packets, Some(9));
        ends.client.connections[0] = connection(9, None);
        assert_eq!(of_trial(&ends).unwrap().packets, None, "half a count is none");
    }
}
