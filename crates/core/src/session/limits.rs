//! Fits a plan to what the server allows, so that a server with limits is still useful: what would
//! be refused is asked smaller. What cannot be, as frames with a rate of their own, stays as it is,
//! and the server gives its reason.

use super::agree;
use crate::plan::Plan;
use crate::unit::{format_bytes, format_rate, format_span};
use crate::wire::control::Limits;
use crate::workload::{Capacity, Echo, Law, Probe, Search, TcpBulk, UdpBulk, Workload};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Share of the time of a transfer that warms it up, at most, where the time is made shorter.
const WARMUP_PART: u64 = 4;

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

/// Makes what `plan` asks for as small as `limits` demand, and says in words what was changed, one
/// entry for each change; none if it fits.
pub fn keep_to(plan: &mut Plan, limits: &Limits) -> Vec<String> {
    let mut changes = Changes::default();
    for cell in &mut plan.cells {
        let mut told = |what| changes.add(&cell.id, what);
        match &mut cell.workload {
            Workload::TcpBulk(bulk) => tcp_bulk(bulk, limits, &mut told),
            Workload::UdpBulk(bulk) => udp_bulk(bulk, limits, &mut told),
            Workload::Capacity(search) => capacity(search, limits, &mut told),
            Workload::Probe(probe) => probes(probe, limits, &mut told),
            Workload::Echo(echo) => exchanges(echo, limits, &mut told),
            Workload::Connect(_) => {}
        }
    }
    changes.in_words()
}

fn tcp_bulk(bulk: &mut TcpBulk, limits: &Limits, told: &mut dyn FnMut(String)) {
    shorten(&mut bulk.duration_ns, &mut bulk.warmup_ns, limits, told);
    if let (Some(bytes), Some(most)) = (&mut bulk.bytes, limits.task_bytes) {
        lower(bytes, most, told, |most| format!("at most {} are sent", format_bytes(most)));
    }
    if let (Some(pace), Some(most)) = (&mut bulk.pacing_bps, limits.rate_bps) {
        lower(pace, most, told, |most| format!("the pace is {}", format_rate(most as f64)));
    }
}

fn udp_bulk(bulk: &mut UdpBulk, limits: &Limits, told: &mut dyn FnMut(String)) {
    shorten(&mut bulk.duration_ns, &mut bulk.warmup_ns, limits, told);
    let too_many =
        |bulk: &UdpBulk, most| bulk.bytes_max().is_none_or(|bytes| bytes > u128::from(most));
    let of_bytes = limits.task_bytes.filter(|&most| too_many(bulk, most));
    let most = match of_bytes {
        Some(_) => limits.held_bps(bulk.duration_ns),
        None => limits.rate_bps,
    };
    let (Some(most), false) = (most, matches!(bulk.law, Law::Frames { .. })) else { return };
    if bulk.rate_bps.is_none_or(|asked| asked > most) {
        bulk.rate_bps = Some(most);
        told(format!("the rate is {}", format_rate(most as f64)));
    }
}

fn capacity(search: &mut Capacity, limits: &Limits, told: &mut dyn FnMut(String)) {
    if let Search::Load { duration_ns } = &mut search.search {
        shorten(duration_ns, &mut 0, limits, told);
    }
    if let Some(most) = limits.held_bps(search.sending_ns()) {
        let what = |most| format!("rates up to {} are tried", format_rate(most as f64));
        lower(&mut search.rate_bps_max, most, told, what);
    }
}

fn probes(probe: &mut Probe, limits: &Limits, told: &mut dyn FnMut(String)) {
    let before = probe.turns;
    while probe.turns > 1 && probe.longest_ns(2) > limits.task_ns {
        probe.turns = probe.turns.div_ceil(2);
    }
    if probe.turns < before {
        told(format!("there are {} turns of probes, not {before}", probe.turns));
    }
    let most = agree::load_bps_most(probe, limits);
    let load = probe.load.as_mut().and_then(|load| Some((load.streams, load.udp.as_mut()?)));
    if let (Some(most), Some((streams, udp))) = (most, load) {
        let each = most / u64::from(streams.max(1));
        if udp.rate_bps.is_none_or(|asked| asked > each) {
            udp.rate_bps = Some(each);
            told(format!("each stream of the load has {}", format_rate(each as f64)));
        }
    }
}

fn exchanges(echo: &mut Echo, limits: &Limits, told: &mut dyn FnMut(String)) {
    let most = agree::exchanged_bytes_most(limits).min(limits.task_bytes.unwrap_or(u64::MAX));
    let before = echo.exchanges();
    while echo.bytes_each_way().saturating_mul(2) > most {
        // Turns stay balanced; what opens connections goes last.
        match (echo.turns, echo.turn_exchanges, echo.connections, echo.warmup_exchanges) {
            (4.., ..) => echo.turns = (echo.turns / 2).next_multiple_of(2),
            (_, 2.., ..) => echo.turn_exchanges /= 2,
            (_, _, 2.., _) => echo.connections /= 2,
            (.., 1..) => echo.warmup_exchanges /= 2,
            _ => break,
        }
    }
    if echo.exchanges() < before {
        told(format!("there are {} exchanges in a trial, not {before}", echo.exchanges()));
    }
}

/// Cuts a time to that of a task.
fn shorten(
    duration_ns: &mut u64,
    warmup_ns: &mut u64,
    limits: &Limits,
    told: &mut dyn FnMut(String),
) {
    let what = |most| format!("a trial takes {}", format_span(most as f64));
    if lower(duration_ns, limits.task_ns, told, what) {
        *warmup_ns = (*warmup_ns).min(*duration_ns / WARMUP_PART);
    }
}

/// Lowers a number to the most that is allowed, and tells whether it was higher.
fn lower(
    value: &mut u64,
    most: u64,
    told: &mut dyn FnMut(String),
    what: impl FnOnce(u64) -> String,
) -> bool {
    let higher = *value > most;
    if higher {
        *value = most;
        told(what(most));
    }
    higher
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::{Arm, PerArm, TurnOrder};
    use crate::plan::preset;
    use crate::task::{self, Task, TaskArm, Token};
    use crate::workload::{Cell, Interleaving, Load, UdpLoad};

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
        };
        agree::check(&task, limits)
    }

    fn kept(cells: Vec<Workload>, limits: &Limits) -> (Plan, Vec<String>) {
        let mut plan = preset::first_look(PerArm::FAMILIES, None, 1);
        plan.cells = cells.into_iter().map(Cell::named).collect();
        let notes = keep_to(&mut plan, limits);
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
