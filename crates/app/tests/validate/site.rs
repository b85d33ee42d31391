//! A lab with a server in it, where one run follows the other: what `v6gap plan run` does, without
//! building everything anew for each run.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use v6gap_core::arm::{Arm, BlockKind, PerArm, TurnOrder};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::observation::{Far, Lateness, PerEnd};
use v6gap_core::plan::Plan;
use v6gap_core::record::{Host, Line, RunHeader, RunId};
use v6gap_core::run::Event;
use v6gap_core::run::Machine;
use v6gap_core::selftest::{self, TestBlock};
use v6gap_core::wire;
use v6gap_core::workload::Wait;
use v6gap_core::world::{LinkModel, World};
use v6gap_engine::control::{ClientOptions, Connection, Key};
use v6gap_engine::run::{self, Hooks};
use v6gap_engine::server::{Server, ServerOptions};
use v6gap_engine::trial::client::ClientContext;
use v6gap_judge::stopping::Interim;
use v6gap_lab::{Lab, LabOptions};
use v6gap_sys::clock;

/// How long the server may be silent, in ns.
const TIMEOUT_NS: u64 = 5_000_000_000;

/// Where the threads of a run are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placement {
    /// Processor of both ends; `None` leaves them to the scheduler.
    pub ends: Option<usize>,
    /// Processor of the user-space link.
    pub link: Option<usize>,
}

impl Placement {
    /// As the program does it: the ends on the first allowed processor, the link on the last.
    pub(crate) fn usual() -> Self {
        let allowed = v6gap_sys::cpu::allowed().unwrap_or_default();
        let link = allowed.last().copied().filter(|_| allowed.len() > 1);
        Placement { ends: allowed.first().copied(), link }
    }

    /// The ends go where the scheduler puts them.
    pub(crate) fn unpinned() -> Self {
        Placement { ends: None, ..Placement::usual() }
    }
}

/// A lab with a server.
pub(crate) struct Site<'a> {
    pub lab: &'a Arc<Lab>,
    pub placement: Placement,
    addresses: PerFamily<Option<SocketAddr>>,
    /// What the self-test said.
    notes: Vec<String>,
    /// Metrics that the self-test refused.
    refused: selftest::SelfTest,
    /// Whether the ends sleep while they wait, since the links gave no true round trips otherwise.
    sleeping: bool,
}

/// Called after every valid comparing block with how many there were.
pub(crate) type Meanwhile<'a> = dyn FnMut(usize) + 'a;

/// Builds `world`, starts its server, tests its links and hands it to `work`.
///
/// # Errors
/// If the lab cannot be built or the server not be reached, and those of `work`.
pub(crate) fn with<T>(
    world: &World,
    placement: Placement,
    seed: u64,
    work: impl FnOnce(&Site<'_>) -> Result<T, String>,
) -> Result<T, String> {
    let options = LabOptions { wire_cpu: placement.link, seed, kernel: None };
    let lab = Arc::new(Lab::build_with(world, &options).map_err(|e| e.to_string())?);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (ready, listening) = mpsc::channel();
        let (lab, stop) = (&lab, &stop);
        let server = scope.spawn(move || serve(lab, placement.ends, ready, stop));
        let outcome = listening.recv().map_err(|_| "the server ended at once".to_owned());
        let outcome = outcome.and_then(|()| {
            lab.node("client").and_then(|node| node.enter()).map_err(|e| e.to_string())?;
            let ip = lab.node("server").map_err(|e| e.to_string())?.addresses;
            let addresses = ip.map(|ip| ip.map(|ip| SocketAddr::new(ip, wire::PORT)));
            let refused = selftest::SelfTest::default();
            let mut site =
                Site { lab, placement, addresses, notes: Vec::new(), refused, sleeping: false };
            site.test_links(world)?;
            work(&site)
        });
        stop.store(true, Ordering::Relaxed);
        let served = server.join().map_err(|_| "the server panicked".to_owned())?;
        served.and(outcome)
    })
}

fn serve(
    lab: &Lab,
    processor: Option<usize>,
    ready: mpsc::Sender<()>,
    stop: &AtomicBool,
) -> Result<(), String> {
    lab.node("server").and_then(|node| node.enter()).map_err(|e| e.to_string())?;
    let mut options = ServerOptions::new(tool(), host("server"));
    options.processors = processor.into_iter().collect();
    let server = Server::bind(&options).map_err(|e| e.to_string())?;
    // Who asked for it waits.
    let _ = ready.send(());
    server.run(stop, &mut |_| ()).map_err(|e| e.to_string())
}

fn tool() -> String {
    "v6gap validate".to_owned()
}

fn host(name: &str) -> Host {
    let facts = v6gap_sys::host::facts();
    let told = [("kernel", facts.kernel), ("processor", facts.cpu_model)];
    let facts = told.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Host { name: name.to_owned(), facts: facts.collect() }
}

impl Site<'_> {
    /// The self-test of the program, once for all runs on these links; as there, with ends that
    /// sleep if others give no true round trips.
    fn test_links(&mut self, world: &World) -> Result<(), String> {
        if world.model == LinkModel::Bare {
            return Ok(());
        }
        self.refused = self.test(world, Wait::Yield)?;
        let late = self.refused.refused.contains_key(&Metric::Rtt);
        if late && world.model == LinkModel::Wire {
            self.sleeping = true;
            self.refused = self.test(world, Wait::Block)?;
        }
        let notes = self.refused.findings.iter().map(|text| format!("self-test: {text}"));
        self.notes = notes.collect();
        Ok(())
    }

    fn test(&self, world: &World, wait: Wait) -> Result<selftest::SelfTest, String> {
        let mut connection = self.connect()?;
        let readings =
            selftest::readings(world, wait, |block| self.values(block, &mut connection))?;
        connection.close();
        let frame = self.lab.largest_frame().and_then(|bytes| u32::try_from(bytes).ok());
        Ok(selftest::judge(world, &readings, frame))
    }

    fn values(
        &self,
        TestBlock { cell, arms }: &TestBlock,
        connection: &mut Connection,
    ) -> Result<PerArm<f64>, String> {
        let metric = cell.workload.metrics()[0];
        let context = self.context();
        let values = run::measure_block(cell, *arms, TurnOrder::Ab, 0, connection, &context);
        let values = values.map_err(|e| e.to_string())?;
        let value = |arm: Arm| values.get(arm).get(&metric).copied().unwrap_or(f64::NAN);
        Ok(PerArm::from_fn(value))
    }

    /// Which cells of `plan` the self-test refuses, with the reason.
    pub(crate) fn refused(&self, plan: &Plan) -> BTreeMap<String, String> {
        selftest::refused_cells(plan, &self.refused)
    }

    /// The server's address in a family.
    pub(crate) fn server(&self, family: Family) -> Result<SocketAddr, String> {
        self.addresses.get(family).ok_or_else(|| format!("the server has no {family} address"))
    }

    fn context(&self) -> ClientContext {
        let processors = self.placement.ends.into_iter().collect();
        ClientContext { processors, ..ClientContext::new(self.addresses, TIMEOUT_NS) }
    }

    fn connect(&self) -> Result<Connection, String> {
        let options = ClientOptions::new(Key::none(), tool(), host("client"));
        Connection::open(self.addresses, &options, &mut |_| ControlFlow::Continue(()))
            .map_err(|e| e.to_string())
    }

    /// One run from plan to journal, by the engine that the program uses.
    ///
    /// # Errors
    /// If the server is lost or a trial cannot be done.
    pub(crate) fn run(
        &self,
        plan: Plan,
        meanwhile: &mut Meanwhile<'_>,
    ) -> Result<Vec<Line>, String> {
        let plan = if self.sleeping { plan.with_sleeping_ends() } else { plan };
        let mut connection = self.connect()?;
        let header = RunHeader {
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            started_unix_ns: clock::wall_ns(),
            target: "server".to_owned(),
            addresses: self.addresses.map(|address| address.map(|a| a.ip())),
            session: Far::Seen(connection.session()),
            hosts: PerEnd {
                client: host("client"),
                server: connection.opened().welcome.host.clone(),
            },
            notes: self.notes.clone(),
            refused: self.refused(&plan),
            ..RunHeader::new(RunId::from_bits(plan.seed as u32), plan)
        };
        let mut journal = Journal {
            lines: vec![Line::Run(Box::new(header.clone()))],
            lab: self.lab,
            meanwhile,
            blocks: 0,
        };
        let stop = AtomicBool::new(false);
        let lines = journal.lines.clone();
        let machine = Machine::resumed(&header, &lines, Box::new(Interim::of(&header)));
        run::run(machine, &mut connection, &self.context(), &mut journal, &stop)
            .map_err(|e| e.to_string())?;
        connection.close();
        Ok(journal.lines)
    }
}

/// A journal in memory.
struct Journal<'a, 'b> {
    lines: Vec<Line>,
    lab: &'a Lab,
    meanwhile: &'a mut Meanwhile<'b>,
    blocks: usize,
}

impl Hooks for Journal<'_, '_> {
    fn store(&mut self, lines: &[Line]) -> std::io::Result<()> {
        self.lines.extend_from_slice(lines);
        Ok(())
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::Done { a, .. } = event
            && a.kind == BlockKind::Compare
        {
            self.blocks += 1;
            (self.meanwhile)(self.blocks);
        }
    }

    fn lateness(&mut self) -> Option<Lateness> {
        let seen = self.lab.wire_lateness()?;
        self.lab.reset_wire();
        Some(Lateness {
            frames: seen.frames,
            dropped: seen.queue_drops + seen.faults,
            p50_ns: seen.p50_ns,
            p99_ns: seen.p99_ns,
            max_ns: seen.max_ns,
        })
    }
}
