//! A whole run over loopback: a real server, a real session, the journal in memory.

mod rests;

use std::io;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use v6gap_core::arm::{Arm, BlockKind, PerArm, TurnOrder};
use v6gap_core::cost;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::observation::{Lateness, Measured};
use v6gap_core::plan::{Design, Parts, Plan, Stop, preset};
use v6gap_core::record::{Ending, GaveUp, Host, Line, RunHeader, TrialRecord};
use v6gap_core::run::{Event, Machine};
use v6gap_core::workload::{
    Cell, Connect, Echo, StreamSettings, TcpBulk, Transport, UdpBulk, Wait, Workload,
};
use v6gap_core::world::{LinkModel, World};
use v6gap_engine::control::{ClientOptions, Connection, Key};
use v6gap_engine::run::{self, Hooks, RunError};
use v6gap_engine::server::{Server, ServerOptions};
use v6gap_engine::trial::{ClientContext, TrialError};
use v6gap_judge::stopping::Interim;
use v6gap_sys::clock;
use v6gap_sys::socket::{Datagram, Listener};

const MS: u64 = 1_000_000;

fn plan(pairs: u32) -> Plan {
    let echo = Echo {
        transport: Transport::Udp,
        message_bytes: 64,
        connections: 2,
        turn_exchanges: 10,
        turns: 4,
        warmup_exchanges: 1,
        wait: Wait::Block,
        ..Echo::default()
    };
    let bulk = UdpBulk {
        payload_bytes: 500,
        rate_bps: Some(4_000_000),
        duration_ns: 60 * MS,
        warmup_ns: 10 * MS,
        ..UdpBulk::default()
    };
    let workloads = [
        Workload::Echo(echo),
        Workload::Connect(Connect { count: 5, ..Connect::default() }),
        Workload::UdpBulk(bulk),
    ];
    let mut plan = preset::first_look(PerArm::FAMILIES, None, 7);
    *plan.parts_mut() = Parts {
        name: "test".to_string(),
        description: String::new(),
        reference: None,
        cells: workloads.map(Cell::named).to_vec(),
        design: Design {
            arms: PerArm::FAMILIES,
            stop: Stop::Pairs { pairs },
            precision: Default::default(),
            null_blocks: 1,
            null_cells: vec![0, 1],
            sentinel_every: 0,
            null_fewer: Default::default(),
            blocks_max: 1,
            order: Default::default(),
            summary: None,
            different_links: false,
            settle_ns: MS,
            confidence: 0.95,
        },
        margins: Metric::ALL.into_iter().map(|m| (m, m.margin_default())).collect(),
        world: None,
        seed: 7,
    };
    plan
}

fn header(plan: Plan) -> RunHeader {
    RunHeader {
        tool: "test 1".to_string(),
        target: "loopback".to_string(),
        ..RunHeader::new("test".parse().unwrap(), plan)
    }
}

fn resumed<'a>(header: &'a RunHeader, lines: &'a [Line]) -> Machine<'a, RunError> {
    Machine::resumed(header, lines, Box::new(Interim::of(header)))
}

/// A journal in memory; sets `stop` after so many blocks.
struct Memory<'a> {
    lines: Vec<Line>,
    blocks: usize,
    stop_after: usize,
    stop: &'a AtomicBool,
    rounds: u32,
}

impl Hooks for Memory<'_> {
    fn store(&mut self, lines: &[Line]) -> io::Result<()> {
        self.lines.extend_from_slice(lines);
        self.blocks += lines.iter().filter(|line| matches!(line, Line::Block(_))).count();
        if self.blocks >= self.stop_after {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::Round { rounds, .. } = event {
            self.rounds = *rounds;
        }
    }

    fn lateness(&mut self) -> Option<Lateness> {
        None
    }
}

impl Memory<'_> {
    fn trials(&self) -> Vec<&TrialRecord> {
        self.lines
            .iter()
            .filter_map(|line| if let Line::Trial(trial) = line { Some(&**trial) } else { None })
            .collect()
    }
}

/// Ends the server when it is dropped, in a panic too.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Runs `work` beside a server on loopback; `stop` ends the server.
fn served<T>(stop: &AtomicBool, work: impl FnOnce(PerFamily<Option<SocketAddr>>) -> T) -> T {
    let any = |family: Family| Some(SocketAddr::new(family.loopback(), 0));
    let host = Host { name: "server".to_string(), ..Host::default() };
    let addresses = PerFamily::from_fn(any);
    let options = ServerOptions { addresses, ..ServerOptions::new("test 1".to_string(), host) };
    let server = Server::bind(&options).unwrap();
    let addresses = *server.addresses();
    thread::scope(|scope| {
        scope.spawn(move || server.run(stop, &mut |_| ()).unwrap());
        let _stop = StopOnDrop(stop);
        work(addresses)
    })
}

fn connect(addresses: PerFamily<Option<SocketAddr>>) -> (Connection, ClientContext) {
    let host = Host { name: "client".to_string(), ..Host::default() };
    let options = ClientOptions::new(Key::none(), "test 1".to_string(), host);
    let connection =
        Connection::open(addresses, &options, &mut |_| ControlFlow::Continue(())).unwrap();
    let context = ClientContext::new(addresses, 5_000 * MS);
    (connection, context)
}

#[test]
fn a_run_measures_every_cell_in_both_families_and_goes_on_where_it_stopped() {
    let server_stop = AtomicBool::new(false);
    served(&server_stop, |addresses| {
        let header = header(plan(2));
        let stop = AtomicBool::new(false);
        let lines = vec![Line::Run(Box::new(header.clone()))];
        // Round 0 has two null blocks of each family; stop in the middle of round 1.
        let mut memory = Memory { lines, blocks: 0, stop_after: 5, stop: &stop, rounds: 0 };
        let go_on = |memory: &mut Memory<'_>| {
            let (mut connection, context) = connect(addresses);
            let so_far = memory.lines.clone();
            let machine = resumed(&header, &so_far);
            let ending = run::run(machine, &mut connection, &context, memory, &stop).unwrap();
            connection.close();
            ending
        };
        assert_eq!(go_on(&mut memory), Ending::Stopped);
        stop.store(false, Ordering::Relaxed);
        memory.stop_after = usize::MAX;
        assert_eq!(go_on(&mut memory), Ending::Complete);
        // Blocks that a busy host spoils are measured again, in at most as many rounds more.
        assert!((2..=4).contains(&memory.rounds), "{} rounds", memory.rounds);
        assert_measured(&header.plan, &memory);
    });
}

/// Each cell has its null blocks and a comparing block in every round, in both orders, each with
/// all values.
fn assert_measured(plan: &Plan, memory: &Memory<'_>) {
    let trials = memory.trials();
    for (index, cell) in plan.cells.iter().enumerate() {
        let of = |kind, order| {
            let wanted = |t: &&&TrialRecord| {
                t.cell == cell.id && t.kind == kind && t.order == order && t.attempt == 0
            };
            trials.iter().filter(wanted).count()
        };
        let compared = [TurnOrder::Ab, TurnOrder::Ba].map(|order| of(BlockKind::Compare, order));
        assert!(compared.iter().all(|&trials| trials >= 2), "{} {compared:?}", cell.id);
        assert_eq!(compared[0] + compared[1], 2 * memory.rounds as usize, "{}", cell.id);
        let nulls = if plan.design.null_cells.contains(&index) { 2 } else { 0 };
        // Single blocks of the two families begin with different halves.
        for (family, order) in Family::BOTH.into_iter().zip([TurnOrder::Ab, TurnOrder::Ba]) {
            let [own, other] = [order, order.reversed()];
            let of_family = |order| of(BlockKind::Null(family), order);
            assert_eq!((of_family(own), of_family(other)), (nulls, 0), "{}", cell.id);
        }
    }
    for trial in &trials {
        let (_, cell) = plan.cell(&trial.cell).unwrap();
        let wanted: Vec<Metric> = cell.workload.metrics().to_vec();
        let found: Vec<Metric> = trial.values.keys().copied().collect();
        assert_eq!(found, wanted, "{trial:?}");
        let family = match (trial.kind, trial.arm) {
            (BlockKind::Null(family), _) => family,
            (BlockKind::Compare, Arm::A) => Family::V4,
            (BlockKind::Compare, Arm::B) => Family::V6,
        };
        assert_eq!(trial.family, family);
        for end in trial.ends.all() {
            assert_eq!(end.endpoints.unwrap().domain, family);
            // Threads of this program measured, which starts no workers, and it shows.
            assert_eq!(end.process, None);
        }
        assert!(trial.findings.iter().all(|f| f.gate != "family-proved"), "{:?}", trial.findings);
    }
    let mut ports: Vec<u16> =
        trials.iter().map(|t| t.ends.client.endpoints.unwrap().local.port()).collect();
    ports.sort();
    ports.dedup();
    assert!(ports.len() > trials.len() / 2, "source ports change from trial to trial");
}

#[test]
fn a_server_that_is_lost_ends_the_run_and_keeps_what_was_measured() {
    let server_stop = AtomicBool::new(false);
    served(&server_stop, |addresses| {
        let header = header(plan(10));
        let lines = vec![Line::Run(Box::new(header.clone()))];
        // Stopping the server instead of the run.
        let mut memory = Memory { lines, blocks: 0, stop_after: 3, stop: &server_stop, rounds: 0 };
        let (mut connection, context) = connect(addresses);
        let stop = AtomicBool::new(false);
        let so_far = memory.lines.clone();
        let error =
            run::run(resumed(&header, &so_far), &mut connection, &context, &mut memory, &stop)
                .unwrap_err();
        assert!(memory.blocks >= 3);
        let Some(Line::End(Ending::Failed { error: told })) = memory.lines.last() else {
            panic!("{:?}", memory.lines.last())
        };
        assert_eq!(*told, error.to_string());
    });
}

/// Runs `plan` from its beginning with a server and the context that `change` makes.
fn run_with(
    plan: Plan,
    change: impl FnOnce(&mut ClientContext),
) -> (Result<Ending, RunError>, Vec<Line>) {
    let server_stop = AtomicBool::new(false);
    served(&server_stop, |addresses| {
        let header = header(plan);
        let (mut connection, mut context) = connect(addresses);
        change(&mut context);
        let stop = AtomicBool::new(false);
        let lines = vec![Line::Run(Box::new(header.clone()))];
        let so_far = lines.clone();
        let mut memory =
            Memory { lines, blocks: 0, stop_after: usize::MAX, stop: &stop, rounds: 0 };
        let ending =
            run::run(resumed(&header, &so_far), &mut connection, &context, &mut memory, &stop);
        (ending, memory.lines)
    })
}

/// The cells given up in `lines`, whose last one must tell of `error`.
fn given_up(lines: &[Line], error: &RunError) -> usize {
    assert_eq!(lines.last(), Some(&Line::End(Ending::Failed { error: error.to_string() })));
    lines.iter().filter(|line| matches!(line, Line::GaveUp(_))).count()
}

#[test]
fn what_no_further_attempt_can_change_ends_the_run_and_gives_nothing_up() {
    let (ending, lines) = run_with(plan(2), |context| context.server.v6 = None);
    let error = ending.unwrap_err();
    assert!(matches!(error, RunError::Trial(TrialError::Missing { .. })), "{error}");
    assert_eq!(given_up(&lines, &error), 0);
}

/// A window that this host does not grant, and connections that the server does not allow: each
/// cell is given up at once, in words, and the rest is measured.
#[test]
fn what_lasts_ends_its_cell_without_another_attempt() {
    let mut plan = plan(2);
    plan.parts_mut().cells.truncate(1);
    plan.parts_mut().design.null_cells.clear();
    let huge = StreamSettings {
        buffer_bytes: Some(StreamSettings::BUFFER_BYTES_MAX),
        require_buffer: true,
        ..StreamSettings::default()
    };
    let windows =
        TcpBulk { duration_ns: 50 * MS, warmup_ns: 0, settings: huge, ..TcpBulk::default() };
    plan.parts_mut().cells.push(Cell::named(Workload::TcpBulk(windows)));
    let many = TcpBulk { duration_ns: 50 * MS, warmup_ns: 0, streams: 100, ..TcpBulk::default() };
    plan.parts_mut().cells.push(Cell::named(Workload::TcpBulk(many)));
    let (ending, lines) = run_with(plan.clone(), |_| {});
    assert_eq!(ending.unwrap(), Ending::Complete);
    let given_up: Vec<&GaveUp> = lines
        .iter()
        .filter_map(|line| if let Line::GaveUp(given_up) = line { Some(given_up) } else { None })
        .collect();
    assert_eq!(given_up.len(), 2);
    let why = |cell: &Cell| &given_up.iter().find(|g| g.cell == cell.id).unwrap().why;
    assert!(why(&plan.cells[1]).contains("socket buffers"), "{given_up:?}");
    assert!(why(&plan.cells[2]).contains("connections is 100"), "{given_up:?}");
    let measured = |cell: &Cell| {
        let of_cell = |l: &&Line| matches!(l, Line::Trial(trial) if trial.cell == cell.id);
        lines.iter().filter(of_cell).count()
    };
    assert!(measured(&plan.cells[0]) >= 4);
    assert_eq!((measured(&plan.cells[1]), measured(&plan.cells[2])), (0, 0));
}

#[test]
fn a_run_of_which_every_cell_fails_has_failed() {
    // Connections are made, but nobody ever says anything over them.
    let silent = PerFamily::from_fn(|family: Family| {
        Listener::bind(SocketAddr::new(family.loopback(), 0), 256).unwrap()
    });
    let mut plan = plan(2);
    plan.parts_mut().cells.retain(|cell| cell.workload.transport() == Transport::Tcp);
    let again = Cell { id: "again".to_string(), ..plan.cells[0].clone() };
    plan.parts_mut().cells.push(again);
    plan.parts_mut().design.null_cells.clear();
    let (ending, lines) = run_with(plan, |context| {
        context.server = PerFamily::from_fn(|f| silent.get(f).local().ok());
        context.timeout_ns = 200 * MS;
    });
    let error = ending.unwrap_err();
    assert!(matches!(error, RunError::Trial(_)), "{error}");
    // The last one is left for another try.
    assert_eq!(given_up(&lines, &error), 1);
}

/// Passes connections on to `servers` and no datagrams: these come to sockets that nobody reads.
/// Ends with the process, as its threads wait for connections.
fn only_tcp(
    servers: PerFamily<Option<SocketAddr>>,
) -> (PerFamily<Option<SocketAddr>>, [Datagram; 2]) {
    use std::net::{TcpListener, TcpStream};
    let copy = |from: &TcpStream, to: &TcpStream| {
        let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        thread::spawn(move || {
            // A connection that is reset has no more to pass on.
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(std::net::Shutdown::Write);
        });
    };
    let front = |family: Family| {
        let both = std::iter::repeat_with(|| {
            let listener = TcpListener::bind((family.loopback(), 0)).unwrap();
            let address = listener.local_addr().unwrap();
            Datagram::bind(address).ok().map(|datagram| (listener, datagram, address))
        });
        let (listener, datagram, address) = both.take(1000).find_map(|both| both).unwrap();
        let server = servers.get(family).unwrap();
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(server).unwrap());
                copy(&client, &server);
                copy(&server, &client);
            }
        });
        (address, datagram)
    };
    let (v4, v6) = (front(Family::V4), front(Family::V6));
    (PerFamily { v4: Some(v4.0), v6: Some(v6.0) }, [v4.1, v6.1])
}

/// Where no datagrams come through, that is found out once, in time, and said of every question
/// that needs them; the others are answered.
#[test]
fn what_goes_over_tcp_is_answered_where_udp_is_blocked() {
    struct Watching<'a> {
        memory: Memory<'a>,
        asked_ns: Vec<u64>,
        given_up_ns: Option<u64>,
    }
    impl Hooks for Watching<'_> {
        fn store(&mut self, lines: &[Line]) -> io::Result<()> {
            if lines.iter().any(|line| matches!(line, Line::GaveUp(_))) {
                self.given_up_ns.get_or_insert(clock::now_ns());
            }
            self.memory.store(lines)
        }
        fn event(&mut self, event: &Event<'_>) {
            if let Event::Block { cell, .. } = &event
                && cell.workload.transport() == Transport::Udp
            {
                self.asked_ns.push(clock::now_ns());
            }
            self.memory.event(event);
        }
        fn lateness(&mut self) -> Option<Lateness> {
            None
        }
    }
    let server_stop = AtomicBool::new(false);
    served(&server_stop, |servers| {
        let (addresses, _silent) = only_tcp(servers);
        let header = header(plan(2));
        let (mut connection, context) = connect(addresses);
        let stop = AtomicBool::new(false);
        let lines = vec![Line::Run(Box::new(header.clone()))];
        let so_far = lines.clone();
        let memory = Memory { lines, blocks: 0, stop_after: usize::MAX, stop: &stop, rounds: 0 };
        let mut hooks = Watching { memory, asked_ns: Vec::new(), given_up_ns: None };
        let ending =
            run::run(resumed(&header, &so_far), &mut connection, &context, &mut hooks, &stop)
                .unwrap();
        assert_eq!(ending, Ending::Complete);
        let Watching { memory, asked_ns, given_up_ns } = hooks;
        let took_ns = given_up_ns.unwrap() - asked_ns[0];
        assert!(took_ns <= 3_000 * MS, "{took_ns} ns");
        assert_eq!(asked_ns.len(), 1, "asked again");
        let of = |line: &Line| match line {
            Line::GaveUp(gone) => Some((gone.cell.clone(), gone.why.clone())),
            _ => None,
        };
        let gone: Vec<(String, String)> = memory.lines.iter().filter_map(of).collect();
        assert_eq!(gone.len(), 2, "{gone:?}");
        for (cell, why) in &gone {
            let (_, cell) = header.plan.cell(cell).unwrap();
            assert_eq!(cell.workload.transport(), Transport::Udp);
            assert!(why.contains("UDP over IPv") && why.contains("is blocked"), "{why}");
        }
        assert!(memory.rounds >= 2 && !memory.trials().is_empty());
    });
}

/// What is still under way after the first trial of a block must not disturb the second.
#[test]
fn both_trials_of_a_block_are_preceded_by_a_pause() {
    let mut plan = plan(1);
    plan.parts_mut().cells.retain(|cell| matches!(cell.workload, Workload::UdpBulk(_)));
    plan.parts_mut().design.null_cells.clear();
    plan.parts_mut().design.settle_ns = 150 * MS;
    let pause_ns = plan.design.settle_ns;
    let (ending, lines) = run_with(plan, |_| ());
    assert_eq!(ending.unwrap(), Ending::Complete);
    let mut trials: Vec<(u64, u64)> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Trial(trial) => Some((trial.started_ns, trial.duration_ns)),
            _ => None,
        })
        .collect();
    trials.sort_unstable();
    assert!(trials.len() >= 2);
    for pair in trials.windows(2) {
        assert!(pair[1].0 - (pair[0].0 + pair[0].1) >= pause_ns, "{trials:?}");
    }
}

#[test]
fn a_journal_that_cannot_be_written_ends_the_run() {
    struct Full;
    impl Hooks for Full {
        fn store(&mut self, _: &[Line]) -> io::Result<()> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn event(&mut self, _: &Event<'_>) {}
        fn lateness(&mut self) -> Option<Lateness> {
            None
        }
    }
    let server_stop = AtomicBool::new(false);
    served(&server_stop, |addresses| {
        let header = header(plan(1));
        let (mut connection, context) = connect(addresses);
        let stop = AtomicBool::new(false);
        let lines = [Line::Run(Box::new(header.clone()))];
        let error = run::run(resumed(&header, &lines), &mut connection, &context, &mut Full, &stop)
            .unwrap_err();
        assert!(matches!(error, RunError::Store(_)), "{error}");
    });
}

/// The lab's self-test measures blocks before the run over the same session.
#[test]
fn blocks_outside_a_run_share_its_session() {
    let server_stop = AtomicBool::new(false);
    served(&server_stop, |addresses| {
        let header = header(plan(1));
        let (mut connection, context) = connect(addresses);
        for seed in 0..2 {
            for cell in &header.plan.cells {
                let arms = PerArm::null(Family::V6);
                let order = TurnOrder::Ab;
                let values =
                    run::measure_block(cell, arms, order, seed, &mut connection, &context).unwrap();
                for metric in cell.workload.metrics() {
                    assert!(values.a.contains_key(metric) && values.b.contains_key(metric));
                }
            }
        }
        let stop = AtomicBool::new(false);
        let lines = vec![Line::Run(Box::new(header.clone()))];
        let so_far = lines.clone();
        let mut memory =
            Memory { lines, blocks: 0, stop_after: usize::MAX, stop: &stop, rounds: 0 };
        let ending =
            run::run(resumed(&header, &so_far), &mut connection, &context, &mut memory, &stop)
                .unwrap();
        assert_eq!(ending, Ending::Complete);
        let timed =
            memory.trials().iter().any(|t| matches!(t.ends.client.measured, Measured::Times(_)));
        assert!(timed);
    });
}

/// Trap: the time of a process leaves out what is done in interrupts, and that of a machine holds
/// what others do on it. Both ends say what their machine did in each trial and what it does when
/// idle; both are on one machine here, which counts once. A lab's link in user space would be in
/// it.
#[test]
fn processor_time_is_the_machine_s_less_that_of_the_idle_one() {
    let run = |world: Option<World>| {
        let mut plan = plan(1);
        let bulk = TcpBulk { duration_ns: 60 * MS, warmup_ns: 0, cpu: true, ..TcpBulk::default() };
        plan.parts_mut().cells = vec![Cell::named(Workload::TcpBulk(bulk))];
        (
            plan.parts_mut().design.null_blocks,
            plan.parts_mut().design.null_cells,
            plan.parts_mut().world,
        ) = (0, vec![], world);
        let (ending, lines) = run_with(plan, |_| ());
        assert_eq!(ending.unwrap(), Ending::Complete);
        let trials = lines.into_iter().filter_map(|line| match line {
            Line::Trial(trial) => Some(*trial),
            _ => None,
        });
        trials.collect::<Vec<TrialRecord>>()
    };
    for trial in run(None) {
        let cost = cost::of_trial(&trial.ends);
        let told = trial.ends.all().map(|end| {
            assert!(end.machine.is_some() || !end.unavailable.is_empty(), "{end:?}");
            end.machine
        });
        if let [Some(client), Some(server)] = told.collect::<Vec<_>>()[..] {
            let cost = cost.unwrap();
            assert_eq!(client.machine, server.machine);
            for machine in [client, server] {
                assert!(machine.trial.span_ns >= 60 * MS, "{machine:?}");
                assert!(machine.idle.is_some_and(|idle| idle.span_ns >= 500 * MS), "{machine:?}");
            }
            let ns = cost.machine_ns().expect("both ends know their machine");
            assert!(cost.one_machine && ns >= cost.threads_ns());
            let per_byte = trial.values[&Metric::Cpu];
            assert!((per_byte * 1e9 * cost.bytes as f64 / ns - 1.0).abs() < 1e-9);
        }
    }
    let world = World::client_router_server(LinkModel::Wire, None);
    for trial in run(Some(world)) {
        let client = &trial.ends.client;
        assert!(client.machine.is_none_or(|machine| machine.idle.is_none()));
        assert!(client.unavailable.iter().any(|why| why.contains("the same processors")));
        let Some(cost) = cost::of_trial(&trial.ends) else { continue };
        assert_eq!((cost.machine_ns(), cost.ns()), (None, cost.threads_ns()));
    }
}
