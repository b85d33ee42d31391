//! One measurement: connect, test the lab's links, measure, store, conclude.

use super::conclude;
use super::devices;
use super::facts::this_host;
use super::hooks::AppHooks;
use super::path;
use super::progress::Progress;
use super::repeat::LOOPBACK;
use super::selftest;
use super::witness::{self, Witnesses};
use super::world::RealWorld;
use crate::args::ConnectArgs;
use crate::failure::{Failure, Outcome};
use crate::key;
use crate::output;
use crate::settings::Context;
use crate::target::{RunOptions, Target};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::host::names::{self, VIEW};
use v6gap_core::observation::PerEnd;
use v6gap_core::plan::{Plan, Stop, fit};
use v6gap_core::record::{Ending, Line, RunHeader, RunId};
use v6gap_core::run::Machine;
use v6gap_core::session::limits;
use v6gap_core::task;
use v6gap_core::unit::format_span;
use v6gap_core::wire::control::{Limits, Queued};
use v6gap_core::workload::{Feature, Needed};
use v6gap_engine::control::{ClientOptions, Connection};
use v6gap_engine::run::{self, RunError};
use v6gap_engine::trial::TrialError;
use v6gap_engine::trial::client::ClientContext;
use v6gap_judge::stopping::Interim;
use v6gap_store::Journal;
use v6gap_sys::{clock, entropy};

/// The server's session began a little before this end knew of it, in ns.
const SESSION_ROUNDING_NS: u64 = 2_000_000_000;

/// Everything that one measurement needs.
pub struct Measuring<'a> {
    /// What is measured.
    pub plan: Plan,
    /// Against whom.
    pub target: Target,
    /// The options that the plan does not hold.
    pub options: &'a RunOptions,
    /// The lab, if it takes place in one.
    pub lab: Option<&'a RealWorld>,
    /// Whether the plan may be fitted to the round trip of the path; a plan file is taken as it
    /// stands.
    pub fit: bool,
    /// What was noticed before, in words.
    pub notes: Vec<String>,
    /// The stored run to go on with.
    pub continued: Option<RunId>,
    /// Processor of the measuring thread.
    pub processor: Option<usize>,
}

/// Program and version, as the two ends tell each other.
pub fn tool() -> String {
    format!("v6gap {}", crate::settings::VERSION)
}

/// Measures and says what came out.
///
/// # Errors
/// If the server cannot be reached or is lost. What was measured until then is stored and shown.
pub fn measure(mut measuring: Measuring<'_>, context: &Context) -> Result<Outcome, Failure> {
    let stop = interruptible()?;
    if measuring.options.result.stop_at_eof {
        stop_at_end_of_input(&stop);
    }
    let mut progress = Progress::new(&measuring.options.result, context);
    // Before the first packet: what is not permitted should be known by then.
    let prepared = witness::prepare(&measuring)?;
    measuring.notes.extend(prepared.as_ref().map(witness::Prepared::note));
    let devices = devices::prepare(&measuring, &context.keys)?;
    let mut connection = connect(&measuring, &stop, &mut |text| progress.wait(text))?;
    let client = ClientContext {
        server: measuring.target.addresses,
        processor: measuring.processor,
        timeout_ns: measuring.options.connect.connect_timeout,
        local: measuring.target.local,
        limits: connection.opened().welcome.limits,
    };
    let session = Session::opened(&connection);
    let round_trip_ns = path::check(&measuring.target, &measuring.plan, &mut connection, &client)?;
    if measuring.fit {
        fit::fit(&mut measuring.plan, round_trip_ns);
    }
    if measuring.continued.is_none() {
        measuring.notes.extend(session.fitted(&mut measuring.plan));
    }
    let (header, journal, lines) = match &measuring.continued {
        Some(id) => continued(id, measuring.plan.design.stop, context)?,
        None => {
            let ends = (&mut connection, &client);
            match fresh(&measuring, ends, &mut progress, context, &stop)? {
                Some(opened) => opened,
                None => {
                    output::to_stderr("stopped before anything was measured; nothing is stored");
                    return Ok(Outcome::Interrupted);
                }
            }
        }
    };
    let witnesses = match prepared {
        Some(prepared) => prepared.start(&header.id, context)?,
        None => Witnesses::default(),
    };
    let witnesses = witnesses.with(devices);
    progress.begin(&header, &stop);
    let mut hooks = AppHooks { journal, lab: measuring.lab, progress, witnesses };
    let machine = Machine::resumed(&header, &lines, Box::new(Interim::of(&header)));
    let ending = run::run(machine, &mut connection, &client, &mut hooks, &stop);
    hooks.progress.end();
    if ending.is_ok() {
        connection.close();
    }
    // The lock goes with the journal, so that the result can be read and continued.
    let AppHooks { journal, witnesses, .. } = hooks;
    drop(journal);
    witnesses.finish(measuring.options.result.quiet);
    let addresses = measuring.target.addresses;
    let port = addresses.v4.or(addresses.v6).map(|address| address.port());
    let concluded = conclude::conclude(&header.id, port, &measuring.options.result, context);
    match ending {
        Ok(Ending::Stopped) => concluded.map(|_| Outcome::Interrupted),
        Ok(_) => concluded,
        Err(error) => {
            // Nothing is kept of a run that ended before its facts were stored.
            let kept = context.store.read_run(&header.id).is_ok();
            Err(session.over(&measuring.target, kept.then_some(&header.id), &error))
        }
    }
}

/// What a session with a server may be, and when it began.
struct Session {
    limits: Limits,
    opened_ns: u64,
}

impl Session {
    fn opened(connection: &Connection) -> Self {
        let limits = connection.opened().welcome.limits;
        Session { limits, opened_ns: clock::now_ns() }
    }

    /// Makes the plan as small as the server's limits demand, and says what was changed.
    fn fitted(&self, plan: &mut Plan) -> Vec<String> {
        let mut notes = limits::keep_to(plan, &self.limits);
        if let Stop::Adaptive { time_ns_max, .. } = plan.design.stop
            && time_ns_max > self.limits.session_ns
        {
            let [asked, most] = [time_ns_max, self.limits.session_ns];
            notes.push(format!(
                "the run may take {}, and the server allows sessions of {}: it ends then, and can \
                 be continued",
                format_span(asked as f64),
                format_span(most as f64)
            ));
        }
        for note in &notes {
            output::to_stderr(&output::wrap(&format!("note: {note}"), 80, "  "));
        }
        notes
    }

    /// The run broke off; a server that ends a session in time says nothing.
    fn over(&self, target: &Target, id: Option<&RunId>, error: &RunError) -> Failure {
        let elapsed_ns = clock::now_ns().saturating_sub(self.opened_ns);
        let is_over = elapsed_ns.saturating_add(SESSION_ROUNDING_NS) >= self.limits.session_ns;
        match error {
            RunError::Lost(_) if is_over => {
                let name = &target.name;
                let most = format_span(self.limits.session_ns as f64);
                let what = format!("the time of this session is over: {name} allows {most}");
                kept(Failure::new("E212", Outcome::Peer, what), target, id)
            }
            error => broken_off(target, id, error),
        }
    }
}

/// Ctrl-C stops after the present block; a second one ends the program at once.
///
/// # Errors
/// If the system does not let the program watch for it.
pub fn interruptible() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let status = Outcome::Interrupted as i32;
    for signal in [SIGINT, SIGTERM] {
        let again = Arc::clone(&stop);
        signal_hook::flag::register_conditional_shutdown(signal, status, again)
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .map_err(|e| Failure::unexpected(format!("cannot watch for Ctrl-C: {e}")))?;
    }
    Ok(stop)
}

/// The program that started this one lets go of it by closing its input, also by ending.
pub(super) fn stop_at_end_of_input(stop: &Arc<AtomicBool>) {
    let stop = Arc::clone(stop);
    let read = move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        stop.store(true, Ordering::Relaxed);
    };
    // Without it a signal still stops the measurement.
    let _ = std::thread::Builder::new().spawn(read);
}

fn connect(
    measuring: &Measuring<'_>,
    stop: &AtomicBool,
    waits: &mut dyn FnMut(&str),
) -> Result<Connection, Failure> {
    let target = Target { addresses: wanted(measuring), ..measuring.target.clone() };
    connect_for(&measuring.plan, &target, &measuring.options.connect, stop, waits)
}

/// Connects to measure `plan` against `target`, over both families if it has both, and waits its
/// turn in the server's queue unless the options forbid it, which `waits` is told once.
///
/// # Errors
/// If the server cannot be reached over each of the families.
pub fn connect_for(
    plan: &Plan,
    target: &Target,
    options: &ConnectArgs,
    stop: &AtomicBool,
    waits: &mut dyn FnMut(&str),
) -> Result<Connection, Failure> {
    let key = key::of_client(&options.key)?;
    let mut client = ClientOptions::new(key, tool(), this_host());
    client.timeout_ns = options.connect_timeout;
    client.wait = !options.no_wait;
    client.local = target.local;
    client.want = plan.cells.iter().flat_map(|cell| Needed::of(&cell.workload)).collect();
    if task::arriving(target.addresses.map(|a| a.map(|a| a.ip()))) != task::native() {
        client.want.insert(Feature::Translated);
    }
    let name = &target.name;
    let mut told = false;
    let mut waiting = |queued: &Queued| {
        if !std::mem::replace(&mut told, true) {
            let by = &queued.by;
            let text = format!(
                "waiting: {name} is measuring for {by} (since {} s); place {} in the queue",
                queued.seconds, queued.place
            );
            waits(&text);
            output::to_stderr(&format!("{text}\n  Ctrl-C gives up; --no-wait fails at once."));
        }
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let connection = Connection::open(target.addresses, &client, &mut waiting)
        .map_err(|error| Failure::of_connect(target, &error))?;
    for family in Family::BOTH {
        if let Some(problem) = connection.problems().get(family) {
            return Err(Failure::one_family(target, problem));
        }
    }
    Ok(connection)
}

/// The addresses of the families that the plan measures.
fn wanted(measuring: &Measuring<'_>) -> PerFamily<Option<std::net::SocketAddr>> {
    let arms = measuring.plan.design.arms;
    let measured = |family| arms.a == family || arms.b == family;
    PerFamily::from_fn(|f| measuring.target.addresses.get(f).filter(|_| measured(f)))
}

type Opened = (RunHeader, Journal, Vec<Line>);

/// A new run: the lab's self-test first, then the journal with the facts. `None` if it was stopped
/// before there is anything to store.
fn fresh(
    measuring: &Measuring<'_>,
    (connection, client): (&mut Connection, &ClientContext),
    progress: &mut Progress,
    context: &Context,
    stop: &AtomicBool,
) -> Result<Option<Opened>, Failure> {
    let mut plan = measuring.plan.clone();
    let mut notes = measuring.notes.clone();
    let mut refused = BTreeMap::new();
    if let (Some(world), Some(lab)) = (&measuring.plan.world, measuring.lab) {
        progress.say("testing the lab's links");
        let tested = selftest::perform(world, &plan, lab, (connection, client), stop)
            .map_err(|error| broken_off(&measuring.target, None, &error))?;
        let Some(allowed) = tested else { return Ok(None) };
        let findings = allowed.test.findings.into_iter();
        notes.extend(findings.map(|finding| format!("self-test: {finding}")));
        (plan, refused) = (allowed.plan, allowed.refused);
    }
    let mut client_host = this_host();
    client_host.facts.insert(VIEW.to_owned(), progress.name().to_owned());
    let way_out = |f| Some((names::way_out(f).to_owned(), measuring.target.way_out(f)?));
    client_host.facts.extend(Family::BOTH.into_iter().filter_map(way_out));
    if let Some(lab) = measuring.lab {
        client_host.name = lab.client();
        let facts = lab.facts().iter().map(|(k, v)| (format!("lab.{k}"), v.clone()));
        client_host.facts.extend(facts);
    }
    let mut random = [0; 4];
    entropy::random(&mut random).map_err(|e| Failure::unexpected(e.to_string()))?;
    let header = RunHeader {
        id: RunId::from_bits(u32::from_ne_bytes(random)),
        tool: crate::settings::VERSION.to_owned(),
        protocol: u32::from(connection.version()),
        started_unix_ns: clock::wall_ns(),
        target: measuring.target.name.clone(),
        addresses: measuring.target.addresses.map(|address| address.map(|a| a.ip())),
        bind: measuring.target.local.map(|address| address.map(|a| a.ip())),
        control: connection.family(),
        hosts: PerEnd { client: client_host, server: connection.opened().welcome.host.clone() },
        plan,
        notes,
        refused,
        limits: Some(client.limits),
    };
    let journal = context.store.create(&header)?;
    if let Some(text) = &measuring.options.written {
        context.store.write_plan(&header.id, text)?;
    }
    let lines = vec![Line::Run(Box::new(header.clone()))];
    Ok(Some((header, journal, lines)))
}

/// A stored run, and its facts with the end of this session: the lines keep the end that was
/// planned, which is what is analysed.
fn continued(id: &RunId, stop: Stop, context: &Context) -> Result<Opened, Failure> {
    let (journal, lines) = context.store.resume(id)?;
    match lines.first() {
        Some(Line::Run(header)) => {
            let mut header = (**header).clone();
            header.plan.design.stop = stop;
            Ok((header, journal, lines))
        }
        _ => Err(Failure::unexpected(format!("{id} does not begin with the facts of a run"))),
    }
}

/// The run ended before it was complete; there is no `id` if nothing was stored yet.
pub fn broken_off(target: &Target, id: Option<&RunId>, error: &RunError) -> Failure {
    let failure = match error {
        RunError::Lost(problem) => Failure::lost(target, &problem.trouble),
        RunError::Store(error) => Failure::not_stored(error),
        RunError::Random(_) => Failure::unexpected(error.to_string()),
        RunError::Trial(error @ TrialError::Blocked { family, address, .. }) => {
            Failure::udp_blocked(target, *family, *address).seen(format!("{error}."))
        }
        RunError::Trial(_) | RunError::Server { .. } => {
            let what = format!("a measurement with {} failed", target.name);
            Failure::new("E211", Outcome::Peer, what).seen(format!("{error}."))
        }
    };
    kept(failure, target, id)
}

/// Adds what is kept of a run, and how to go on.
fn kept(failure: Failure, target: &Target, id: Option<&RunId>) -> Failure {
    match id {
        None => failure,
        Some(id) => {
            let failure = failure.seen(format!("What was measured until then is kept as {id}."));
            // Its server went with this process.
            if target.name == LOOPBACK {
                return failure;
            }
            failure.run(format!("v6gap run {} --continue {id}", target.name), "goes on with it")
        }
    }
}
