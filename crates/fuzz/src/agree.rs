//! What a server agrees to do can be done: whatever task passes, its turns, schedule, series and
//! pace can be made, in bounded room and by bounded steps.

use crate::document;
use crate::templates::TASKS;
use allocation_counter::measure;
use arbitrary::{Result, Unstructured};
use serde_json::Value;
use v6gap_core::session::agree;
use v6gap_core::task::Task;
use v6gap_core::wire::control::Limits;
use v6gap_core::workload::law::{self, Schedule};
use v6gap_core::workload::{Sizes, UdpBulk, Workload};
use v6gap_engine::hot::pace::{CATCH_UP_MAX, Pace, Step};
use v6gap_engine::hot::series::Series;
use v6gap_engine::hot::turns::Turns;

/// Most room that the plan of a task may take, in bytes; buffers of messages not counted.
const ROOM_BYTES_MAX: u64 = 64 << 20;

/// What a rate in whole packets per second may be off by, in bit/s: one datagram each second.
const DATAGRAM_BITS: u64 = 8 * 65_535;

/// Steps of a pace that are looked at.
const STEPS: usize = 64;

/// A known task with changes, under limits that are the usual ones or changed as well.
pub fn run(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let Ok((task, limits)) = proposal(&mut bytes) else { return };
    let (Ok(task), Ok(limits)) =
        (serde_json::from_value::<Task>(task), serde_json::from_value::<Limits>(limits))
    else {
        return;
    };
    if agree::check(&task, &limits).is_err() {
        return;
    }
    let bound_ns = agree::bound_ns(&task.workload, &limits);
    assert!(bound_ns <= limits.task_ns, "a task of {bound_ns} ns");
    if let Some(most) = limits.rate_bps {
        let asked = task.workload.rate_bps_most();
        let held = task.workload.held_bps(&limits);
        let rate = asked.into_iter().chain(held).min();
        assert!(rate.is_some_and(|r| r <= most + DATAGRAM_BITS), "{rate:?} bit/s of {most}");
    }
    let room = measure(|| perform(&task, bound_ns));
    assert!(room.bytes_max <= ROOM_BYTES_MAX, "{} B", room.bytes_max);
}

fn proposal(bytes: &mut Unstructured<'_>) -> Result<(Value, Value)> {
    let kind: u8 = bytes.arbitrary()?;
    let limited: u8 = bytes.arbitrary()?;
    let task = &TASKS[usize::from(kind) % TASKS.len()];
    let mut limits = Limits::default();
    if limited & 1 != 0 {
        limits.rate_bps = Some(50_000_000);
    }
    if limited & 2 != 0 {
        limits.task_bytes = Some(1 << 30);
    }
    let mut task = serde_json::to_value(task).unwrap_or_default();
    document::change(&mut task, bytes);
    Ok((task, serde_json::to_value(limits).unwrap_or_default()))
}

/// Makes what the engine makes before it begins.
fn perform(task: &Task, bound_ns: u64) {
    if let Workload::Capacity(capacity) = &task.workload {
        let trials = capacity.trials_max();
        assert!(trials <= 64, "{trials} trials");
        let stream = UdpBulk { rate_bps: Some(capacity.rate_bps_max), ..capacity.stream() };
        paced(&stream, task.seed);
    } else if let Some(bulk) = task.workload.datagrams() {
        paced(&bulk, task.seed);
    }
    if let Workload::Echo(echo) = &task.workload {
        let turns = Turns::new(task.order, echo).expect("its turns can be numbered");
        let last = turns.at(turns.count - 1).expect("the last turn");
        assert!(u32::from(last.connection) < echo.connections);
        assert_eq!(turns.at(turns.count), None);
    }
    if let Workload::TcpBulk(bulk) = &task.workload {
        let streams = bulk.streams.min(4);
        let all: Vec<Series> =
            (0..streams).map(|_| Series::one_of(bulk.streams, bulk.duration_ns)).collect();
        drop(Series::sum(all).received(Some(bulk.warmup_ns), bulk.duration_ns));
    }
    if let Workload::Probe(probe) = &task.workload {
        let gap = law::Pace::Gap(probe.interval_ns);
        let (bytes, turn_ns) = (probe.payload_bytes, probe.turn_ns());
        let schedule = Schedule::new(probe.law, Sizes::Fixed, bytes, gap, task.seed);
        look(schedule, turn_ns, CATCH_UP_MAX);
        if let Some(udp) = probe.load.as_ref().and_then(|load| load.udp) {
            paced(&udp.stream(bound_ns), task.seed);
        }
    }
}

fn paced(bulk: &UdpBulk, seed: u64) {
    drop(Series::new(bulk.duration_ns).received(Some(bulk.warmup_ns), bulk.duration_ns));
    let Some(schedule) = bulk.schedule(seed) else { return };
    look(schedule, bulk.duration_ns, CATCH_UP_MAX.max(u64::from(bulk.batch)));
}

/// The first steps of a sender that is always in time, and of one that was held up.
fn look(schedule: Schedule, duration_ns: u64, catch_up: u64) {
    let start_ns = 1_000_000;
    let mut pace = Pace::new(start_ns, schedule, duration_ns, catch_up);
    let mut held_up = pace.clone();
    let mut now_ns = start_ns;
    for _ in 0..STEPS {
        match pace.step(now_ns) {
            Step::WaitUntil(due_ns) => {
                assert!(due_ns > now_ns, "waits until {due_ns} at {now_ns}");
                now_ns = due_ns;
            }
            Step::Send(due) => {
                assert!(due.at_ns <= now_ns && due.at_ns < start_ns.saturating_add(duration_ns));
            }
            Step::Done => break,
        }
    }
    for _ in 0..4 {
        if held_up.step(start_ns.saturating_add(duration_ns)) == Step::Done {
            break;
        }
    }
}
