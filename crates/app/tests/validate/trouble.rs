//! Row f: hosts and paths that go wrong in the middle of a run. A family is compared with itself,
//! so nothing differs, and a verdict that says otherwise is wrong.

use crate::plans;
use crate::results::Results;
use crate::site::{self, Placement, Site};
use crate::{Budget, say};
use serde_json::json;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use v6gap_core::family::Family;
use v6gap_core::plan::{Plan, Stop};
use v6gap_core::record::Line;
use v6gap_core::workload::Workload;
use v6gap_core::world::{LinkModel, World};
use v6gap_judge::analysis::Analysis;
use v6gap_judge::gate;

/// Runs of each kind.
pub(crate) const RUNS: usize = 6;

/// Pairs of a run, so many that there is a middle.
const PAIRS: u32 = 12;

/// Comparing blocks, of all cells, after which trouble begins.
const HALF: usize = 12;

/// Rate of the links, in bit/s.
const RATE_BPS: u64 = 100_000_000;

/// By how much a drifting delay grows with each block, in ns.
const DRIFT_NS: u64 = 2_000;

/// Share of the rate that a drifting rate loses with each block.
const DRIFT_SHARE: f64 = 0.005;

/// How often the MTU falls and rises again.
const MTU_CHANGES: usize = 3;

/// What a background flow sends: so many datagrams of so many bytes each 10 ms.
const BACKGROUND: (usize, usize) = (20, 1200);

/// How far a clock is set, in ns.
const CLOCK_STEP_NS: i64 = 250_000_000;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A program takes the processor of the ends from the middle of the run on.
    HogEnds,
    /// A program takes the processor of the link from the middle on.
    HogLink,
    /// The delay grows all the time, alike for both families.
    DelayDrift,
    /// The rate falls all the time, alike for both families.
    RateDrift,
    /// The ends are moved between processors as the scheduler likes.
    Unpinned,
    /// Another flow shares the path from the middle on.
    Background,
    /// The path carries smaller packets from the middle on.
    Mtu,
    /// A clock is set in some trials: the record of a calm run, changed as a set clock changes it.
    ClockStep,
}

impl Trouble {
    pub(crate) const ALL: [(Trouble, &'static str); 8] = [
        (Trouble::HogEnds, "hog-ends"),
        (Trouble::HogLink, "hog-link"),
        (Trouble::DelayDrift, "delay-drift"),
        (Trouble::RateDrift, "rate-drift"),
        (Trouble::Unpinned, "unpinned"),
        (Trouble::Background, "background"),
        (Trouble::Mtu, "mtu"),
        (Trouble::ClockStep, "clock-step"),
    ];

    fn world(self) -> World {
        let model = if self == Trouble::RateDrift { LinkModel::Shaped } else { LinkModel::Wire };
        World::client_router_server(model, Some(RATE_BPS))
    }

    fn placement(self) -> Placement {
        match self {
            Trouble::Unpinned => Placement::unpinned(),
            _ => Placement::usual(),
        }
    }
}

/// Runs what is missing, each kind `runs` times, families in turn.
///
/// # Errors
/// If the disk refuses.
pub(crate) fn run(runs: usize, results: &Results, budget: &Budget) -> Result<(), String> {
    for turn in 0..runs {
        for (trouble, name) in Trouble::ALL {
            if budget.is_used_up() {
                return Ok(());
            }
            if results.count("f", name) > turn {
                continue;
            }
            if let Err(why) = one(trouble, name, turn, results) {
                // What cannot be measured has no verdict, which is right; it counts as such.
                say(&format!("{name}: {why}"));
                results.append(&json!({ "row": "f", "case": name, "failed": why }))?;
            }
        }
    }
    Ok(())
}

pub(crate) fn one(
    trouble: Trouble,
    name: &str,
    turn: usize,
    results: &Results,
) -> Result<(), String> {
    let family = Family::BOTH[turn % 2];
    let short = if family == Family::V4 { "v4" } else { "v6" };
    let world = trouble.world();
    let seed = results.next_seed();
    let mut plan = plans::plan(&plans::null(plans::NULL, short), &world, seed)?;
    plan.parts_mut().design.stop = Stop::Pairs { pairs: PAIRS };
    if trouble == Trouble::RateDrift {
        plan.parts_mut().cells.retain(|cell| cell.id == "throughput-tcp");
        plan.parts_mut().design.null_cells = vec![0];
    }
    if turn % 4 >= 2 || trouble == Trouble::HogEnds {
        // The other rule of stopping, with the ranges that belong to it.
        plan.parts_mut().design.stop =
            Stop::Adaptive { time_ns_max: 9_000_000_000, pairs_min: PAIRS };
    }
    if [Trouble::HogEnds, Trouble::Unpinned].contains(&trouble) {
        shorten(&mut plan);
    }
    let lines = site::with(&world, trouble.placement(), seed, |site| {
        let mut guards = Vec::new();
        let mut meanwhile = |blocks| act(trouble, site, &world, blocks, &mut guards);
        site.run(plan.clone(), &mut meanwhile)
    })?;
    let lines = if trouble == Trouble::ClockStep { with_clock_set(&plan, lines) } else { lines };
    let facts = json!({
        "row": "f", "case": name, "seed": seed, "session": "", "truth": { "effect": 0.0 }
    });
    let found = results.keep(facts, &lines)?;
    say(&format!("{name} {short}: {}", told(&found)));
    Ok(())
}

/// Fewer exchanges: each may take a slice of the scheduler's time in place of microseconds.
fn shorten(plan: &mut Plan) {
    for cell in &mut plan.parts_mut().cells {
        if let Workload::Echo(echo) = &mut cell.workload {
            echo.turns = 4;
        }
    }
}

fn told(found: &Analysis) -> String {
    let answers = found.questions.iter().map(|q| format!("{} {:?}", q.cell, q.verdict));
    format!("{}; valid {}", answers.collect::<Vec<_>>().join(", "), found.valid)
}

/// What happens after so many blocks; what it starts ends with its guard.
fn act(trouble: Trouble, site: &Site<'_>, world: &World, blocks: usize, guards: &mut Vec<Guard>) {
    let mut conditions = world.links[0].conditions;
    let mut set = |delay_ns: u64, rate_bps: u64| {
        for family in Family::BOTH {
            let met = conditions.get_mut(family);
            (met.delay_ns, met.rate_bps) = (delay_ns, Some(rate_bps));
        }
        site.lab.alter(0, conditions).map_err(|e| e.to_string())
    };
    let falling = |n: usize| (RATE_BPS as f64 * (1.0 - DRIFT_SHARE * n as f64)) as u64;
    let done = match (trouble, blocks) {
        (Trouble::HogEnds, HALF) => Ok(Some(hog(site.placement.ends))),
        (Trouble::HogLink, HALF) => Ok(Some(hog(site.placement.link))),
        (Trouble::Background, HALF) => background(site).map(Some),
        (Trouble::Mtu, HALF) => Ok(Some(smaller_packets(site))),
        (Trouble::DelayDrift, n) => set(n as u64 * DRIFT_NS, RATE_BPS).map(|()| None),
        (Trouble::RateDrift, n) => set(0, falling(n)).map(|()| None),
        _ => Ok(None),
    };
    match done {
        Ok(guard) => guards.extend(guard),
        Err(why) => say(&format!("{trouble:?} did not happen: {why}")),
    }
}

/// A thread that stops with it.
struct Guard {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Guard {
    fn start(body: impl Fn(&AtomicBool) + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        Guard { stop, thread: Some(std::thread::spawn(move || body(&told))) }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Its panic has been printed; the run is judged by its record.
            let _ = thread.join();
        }
    }
}

/// A program that computes all the time on a processor.
fn hog(processor: Option<usize>) -> Guard {
    Guard::start(move |stop| {
        if let Some(processor) = processor {
            // Elsewhere it disturbs less, and the run is judged by its record.
            let _ = v6gap_sys::cpu::pin_thread(processor);
        }
        while !stop.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    })
}

/// Routers pass smaller packets from a moment on that lies in the middle of a transfer.
fn smaller_packets(site: &Site<'_>) -> Guard {
    let lab = Arc::clone(site.lab);
    Guard::start(move |stop| {
        // Nearly all of the time is taken by transfers, each longer than this.
        for _ in 0..MTU_CHANGES {
            for mtu in [1300, 1500] {
                std::thread::sleep(Duration::from_millis(450));
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                if let Err(why) = lab.set_mtu(1, mtu) {
                    say(&format!("the MTU stays: {why}"));
                }
            }
        }
    })
}

/// Datagrams from the client's host to the server's, to a port where nobody listens to them.
fn background(site: &Site<'_>) -> Result<Guard, String> {
    let at = |node: &str, address: SocketAddr| {
        let node = site.lab.node(node).map_err(|e| e.to_string())?;
        let bound = node.run(|| UdpSocket::bind(address)).map_err(|e| e.to_string())?;
        bound.map_err(|e| e.to_string())
    };
    let to = SocketAddr::new(site.server(Family::V4)?.ip(), 9_999);
    let receiver = at("server", to)?;
    let sender = at("client", SocketAddr::new(Family::V4.unspecified(), 0))?;
    Ok(Guard::start(move |stop| {
        let (count, bytes) = BACKGROUND;
        let payload = vec![7; bytes];
        let start = Instant::now();
        let mut turn = 0;
        while !stop.load(Ordering::Relaxed) {
            for _ in 0..count {
                // A full queue is traffic as well.
                let _ = sender.send_to(&payload, to);
            }
            turn += 1;
            std::thread::sleep((Duration::from_millis(10) * turn).saturating_sub(start.elapsed()));
        }
        drop(receiver.local_addr());
    }))
}

/// The same record with a clock set at one end during every fifth block, judged anew: setting the
/// clock is not possible in a namespace, and what a trial knows of it is one number.
fn with_clock_set(plan: &Plan, mut lines: Vec<Line>) -> Vec<Line> {
    let mut invalid = false;
    for line in &mut lines {
        match line {
            Line::Trial(trial) if trial.block % 5 == 4 => {
                trial.ends.server.seen_mut().unwrap().clock_step_ns = CLOCK_STEP_NS;
                if let Some((_, cell)) = plan.cell(&trial.cell) {
                    trial.findings = gate::judge(plan, cell, trial, trial);
                }
                invalid |= trial.findings.iter().any(|finding| finding.fatal);
            }
            Line::Block(block) => block.valid &= !std::mem::take(&mut invalid),
            _ => {}
        }
    }
    lines
}
