//! Fits a plan to what the server allows, so that a server with limits is still useful: what would
//! be refused is asked smaller. What cannot be, as frames with a rate of their own, stays as it is,
//! and the server gives its reason.

use crate::plan::Plan;
use crate::workload::Limits;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What was changed, with the cells in which it was.
#[derive(Default)]
struct Changes(BTreeMap<String, Vec<String>>);

impl Changes {
    fn add(&mut self, cell: &str, what: String) {
        self.0.entry(what).or_default().push(cell.into());
    }

    fn in_words(self) -> Vec<String> {
        let line = |(what, cells): (String, Vec<String>)| {
            format!("because of the server's limits, {what}: {}", cells.join(", "))
        };
        self.0.into_iter().map(line).collect()
    }
}

impl Plan {
    /// The plan that asks for as little as `limits` demand, and what was changed in words, one
    /// entry for each change; none if it fits.
    #[must_use]
    pub fn keeping_to(mut self, limits: &Limits) -> (Plan, Vec<String>) {
        let mut changes = Changes::default();
        for cell in &mut self.0.cells {
            let mut told = |what| changes.add(&cell.id, what);
            cell.workload.keep_to(limits, &mut told);
        }
        (self, changes.in_words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::{Arm, PerArm, TurnOrder};
    use crate::plan::preset;
    use crate::session::agree;
    use crate::task::{self, Task, TaskArm, Token};
    use crate::workload::{
        Capacity, Cell, Echo, Interleaving, Load, Probe, Search, TcpBulk, UdpBulk, UdpLoad,
        Workload,
    };

    const MBIT: u64 = 1_000_000;

    fn agreed(workload: &Workload, limits: &Limits) -> Result<(), agree::Objection> {
        let arms: &[Arm] = match workload.interleaving() {
            Interleaving::Slice => &Arm::BOTH,
            Interleaving::Trial => &[Arm::A],
        };
        let member = |&arm: &Arm| TaskArm { arm, family: *PerArm::FAMILIES.get(arm) };
        let task = Task {
            number: 1,
            workload: workload.clone(),
            arms: arms.iter().map(member).collect(),
            order: TurnOrder::Ab,
            seed: 1,
            token: Token([7; 16]),
            arrives: task::native(),
            draw: None,
        };
        agree::check(&task, limits)
    }

    fn kept(cells: Vec<Workload>, limits: &Limits) -> (Plan, Vec<String>) {
        let mut plan = preset::first_look(PerArm::FAMILIES, None, 1);
        plan.parts_mut().cells = cells.into_iter().map(Cell::named).collect();
        let (plan, notes) = plan.keeping_to(limits);
        for cell in &plan.cells {
            let answer = agreed(&cell.workload, limits);
            assert!(answer.is_ok(), "{}: {answer:?}", cell.id);
        }
        (plan, notes)
    }

    #[test]
    fn a_first_look_passes_at_a_strict_server_as_it_is() {
        let first = preset::first_look(PerArm::FAMILIES, None, 1);
        let workloads: Vec<Workload> = first.cells.iter().map(|c| c.workload.clone()).collect();
        let (plan, notes) = kept(workloads.clone(), &Limits::strict());
        assert!(notes.is_empty(), "{notes:?}");
        assert!(plan.cells.iter().map(|c| &c.workload).eq(&workloads));
        for rate_bps in [MBIT, 5 * MBIT, 20 * MBIT] {
            kept(workloads.clone(), &Limits { rate_bps: Some(rate_bps), ..Limits::strict() });
        }
    }

    #[test]
    fn what_is_too_long_too_much_or_too_fast_is_asked_smaller() {
        let long = 60_000_000_000;
        let bulk = TcpBulk { duration_ns: long, pacing_bps: Some(90 * MBIT), ..TcpBulk::default() };
        let counted = TcpBulk { bytes: Some(u64::MAX), ..TcpBulk::default() };
        let stream = UdpBulk { duration_ns: long, rate_bps: None, ..UdpBulk::default() };
        let search = Capacity { search: Search::Load { duration_ns: long }, ..Capacity::default() };
        let udp = UdpLoad { rate_bps: None, ..UdpLoad::default() };
        let load = Load { udp: Some(udp), streams: 3, ..Load::default() };
        let probe = Probe { load: Some(load), turns: 32_000, ..Probe::default() };
        let echo = Echo { message_bytes: 1 << 20, ..Echo::default() };
        let cells = [
            Workload::TcpBulk(bulk),
            Workload::TcpBulk(counted),
            Workload::UdpBulk(stream),
            Workload::Capacity(search),
            Workload::Probe(probe),
            Workload::Echo(echo),
        ];
        let (plan, notes) = kept(cells.to_vec(), &Limits::strict());
        let notes = notes.join("\n");
        for part in [
            "a trial takes 30 s: ",
            "at most 200 MB are sent: ",
            "the pace is 50 Mbit/s: ",
            "the rate is 50 Mbit/s: ",
            "rates up to 50 Mbit/s are tried: ",
            "turns of probes, not 32000: ",
            "each stream of the load has ",
            "exchanges in a trial, not ",
        ] {
            assert!(notes.contains(part), "{part}: {notes}");
        }
        let Workload::TcpBulk(bulk) = &plan.cells[0].workload else { panic!("the first cell") };
        assert!(bulk.warmup_ns < bulk.duration_ns);
    }

    #[test]
    fn where_bytes_alone_are_limited_a_number_of_datagrams_keeps_its_speed() {
        let limits = Limits { task_bytes: Some(1_000_000), ..Limits::default() };
        let counted = UdpBulk { rate_bps: None, packets: Some(500), ..UdpBulk::default() };
        let (plan, notes) = kept(alloc::vec![Workload::UdpBulk(counted.clone())], &limits);
        assert_eq!((plan.cells[0].workload.clone(), notes.len()), (Workload::UdpBulk(counted), 0));
    }
}
