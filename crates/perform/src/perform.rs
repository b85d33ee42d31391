//! One measurement: connect, test the lab's links, measure, store.

use crate::against::Against;
use crate::ends::Ends;
use crate::facts::this_host;
use crate::hooks::Stored;
use crate::job::Job;
use crate::news::{News, Watcher};
use crate::place::Place;
use crate::rounds::rounds;
use crate::session::Session;
use crate::stranger::Found;
use crate::target::{Elsewhere, Target};
use crate::trouble::Trouble;
use crate::turn::Turn;
use crate::witness::{Captured, Measuring, Prepared, Witnesses, devices};
use crate::{path, selftest};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use v6gap_core::budget::Use;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::host::names;
use v6gap_core::ladder::Rung;
use v6gap_core::observation::{Far, PerEnd};
use v6gap_core::plan::{Plan, Stop};
use v6gap_core::record::{Ending, Host, Line, RunHeader, RunId};
use v6gap_core::run::Machine;
use v6gap_engine::run::{self, Performer, RunError};
use v6gap_judge::stopping::Interim;
use v6gap_store::{Journal, Store};
use v6gap_sys::{clock, entropy};
use v6gap_visit::{NOT_OURS, way};

/// How much longer than it measures a process of this program may take, in ns: to connect, to look
/// at the path, and to analyse what was measured. It is asked to stop then.
pub(crate) const PATIENCE_NS: u64 = 180_000_000_000;

/// How long it may take to stop, in ns, before it is ended or its connection cut.
pub(crate) const STOP_NS: u64 = 60_000_000_000;

/// What became of a run.
#[derive(Debug)]
pub struct Done {
    /// The stored run.
    pub id: RunId,
    /// Port of the far end.
    pub port: Option<u16>,
    /// What was captured, if anything was.
    pub captured: Option<Captured>,
    /// How it ended. What was measured before it broke off is stored.
    pub ended: Result<Ending, Trouble>,
}

/// Performs what `job` says at `place`, in the `turn` of this host, and stores it in `store`.
/// `None` if `stop` was set before anything was measured; nothing is stored then.
///
/// # Errors
/// If there was no run: somebody else measures here and is not to be waited for, or nothing could
/// be prepared, reached or stored.
pub fn perform(
    job: &Job,
    place: Place,
    mut turn: Turn,
    store: &Store,
    watch: &mut dyn Watcher,
    stop: &AtomicBool,
) -> Result<Option<Done>, Trouble> {
    place.bears(&job.plan)?;
    // Between hosts it depends on the other one when there is a turn to be had.
    let alone = !matches!(place, Place::Host(_));
    if alone && !turn.take(watch, &|| stop.load(Ordering::Relaxed))? {
        return Ok(None);
    }
    let mut notes = job.notes.clone();
    let ends = match place {
        Place::Host(target) => {
            let target = match &job.continued {
                None => target,
                Some(id) => target.as_before(header(&store.read_run(id)?, id)?)?,
            };
            Ends::between_hosts(target, job)
        }
        Place::Lab(lab) => Ends::in_lab(*lab, job)?,
        Place::Stranger(found) => {
            let run = Course { notes, turn: &mut turn, store, watch, stop };
            return visit(job, *found, run).map(Some);
        }
        Place::Against(found) => {
            let run = Course { notes, turn: &mut turn, store, watch, stop };
            return against(job, *found, run).map(Some);
        }
        Place::Loopback { why } => {
            notes.push(format!("measured over loopback, which has no line, router or rate: {why}"));
            Ends::on_loopback(job)?
        }
    };
    measure(job, ends, notes, &mut turn, store, watch, stop)
}

/// Measures between two ends, wherever they are.
fn measure(
    job: &Job,
    mut ends: Ends,
    mut notes: Vec<String>,
    turn: &mut Turn,
    store: &Store,
    watch: &mut dyn Watcher,
    stop: &AtomicBool,
) -> Result<Option<Done>, Trouble> {
    let mut plan = job.plan.clone();
    // What is prepared next needs both addresses, so who has to be asked for one is asked first.
    let mut asked = None;
    if ends.target.lacks(plan.design.arms).is_some() {
        let Some(session) = opened_in_turn(job, &ends, turn, watch, stop)? else { return Ok(None) };
        let (target, note) = session.target();
        notes.extend(note.map(str::to_owned));
        ends.target = target.clone();
        asked = Some(session);
    }
    // Which paths of a fleet are worse is told from the routers on them. Before the session, which
    // would wait for that.
    let is_new = job.continued.is_none() && job.between.is_some();
    let hops = if is_new { way(ends.target.addresses, ends.target.local) } else { None };
    let measuring = ends.measuring(job);
    // Before the first packet: what is not permitted should be known by then.
    let prepared = Prepared::of(&measuring)?;
    notes.extend(prepared.as_ref().map(Prepared::note));
    let devices = devices::prepare(&measuring)?;
    let mut session = match asked {
        Some(session) => session,
        None => match opened_in_turn(job, &ends, turn, watch, stop)? {
            Some(session) => session,
            None => return Ok(None),
        },
    };
    let path = path::check(&plan, &mut session)?;
    if job.fit {
        plan = plan.fitted(path);
    }
    if job.continued.is_none() {
        let fitted;
        (plan, fitted) = session.fitted(plan);
        fitted.iter().for_each(|note| watch.told(&News::Fitted(note)));
        notes.extend(fitted);
    }
    let opened = match &job.continued {
        Some(id) => continued(id, plan.design.stop, &session, store)?,
        None => match tested(&measuring, plan, &mut session, watch, stop)? {
            Some(tested) => {
                let known = (notes, hops);
                fresh(&measuring, tested, known, turn, &session, store)?
            }
            None => return Ok(None),
        },
    };
    let drive = |machine: Machine<'_, RunError>, hooks: &mut Stored<'_>| {
        rounds(job, machine, session, hooks, stop)
    };
    conduct(ends, opened, (prepared, devices), store, (turn, watch), drive).map(Some)
}

/// A session for which this host has its turn; `None` if it was stopped before.
fn opened_in_turn(
    job: &Job,
    ends: &Ends,
    turn: &mut Turn,
    watch: &mut dyn Watcher,
    stop: &AtomicBool,
) -> Result<Option<Session>, Trouble> {
    let processors = ends.processors.clone();
    let (plan, target, access) = (&job.plan, &ends.target, &job.access);
    let opened = Session::open_in_turn(plan, target, access, processors, turn, watch, stop)?;
    let Some(mut session) = opened else { return Ok(None) };
    session.client.far = ends.far()?;
    Ok(Some(session))
}

/// Measures a host that does not run this program, and stores it.
///
/// # Errors
/// If there was no run.
fn visit(job: &Job, found: Found, run: Course<'_>) -> Result<Done, Trouble> {
    let ends = Ends::between_hosts(found.target.clone(), job);
    let mut stranger = found.stranger(ends.processors.first().copied());
    let known = RunHeader {
        target: found.site.url(),
        address_pairs: found.address_pairs(),
        resolvers: found.several_resolvers(),
        hops: found.hops.clone(),
        path_mtu: found.path_mtu,
        hosts: PerEnd { client: Host::default(), server: found.host() },
        notes: found.notes.clone(),
        ..RunHeader::new(identified()?, job.plan.clone())
    };
    let Course { notes, turn, store, watch, stop } = run;
    let run = Course { notes, turn, store, watch: &mut *watch, stop };
    let done = strange(job, ends, known, &mut stranger, run)?;
    watch.told(&News::Asked {
        connections: stranger.budget.used(Use::Connection),
        queries: stranger.budget.used(Use::Query),
        bytes: stranger.budget.bytes(),
    });
    Ok(done)
}

/// Measures against an unmodified server of another tool, and stores it.
///
/// # Errors
/// If there was no run.
fn against(job: &Job, found: Against, run: Course<'_>) -> Result<Done, Trouble> {
    let ends = Ends::between_hosts(found.target.clone(), job);
    let mut performer = found.performer(ends.processors.first().copied());
    let plan = job.plan.clone();
    let plan = if job.fit { found.fitted(plan) } else { plan };
    let known = RunHeader {
        target: found.target.name.clone(),
        hosts: PerEnd { client: Host::default(), server: found.host() },
        notes: found.notes.clone(),
        ..RunHeader::new(identified()?, plan)
    };
    strange(job, ends, known, performer.as_mut(), run)
}

/// What a run works with besides its ends.
struct Course<'a> {
    notes: Vec<String>,
    turn: &'a mut Turn,
    store: &'a Store,
    watch: &'a mut dyn Watcher,
    stop: &'a AtomicBool,
}

/// Measures a far end that does not run this program, of which so much is known already.
fn strange(
    job: &Job,
    ends: Ends,
    known: RunHeader,
    performer: &mut dyn Performer,
    run: Course<'_>,
) -> Result<Done, Trouble> {
    let Course { mut notes, turn, store, watch, stop } = run;
    let measuring = ends.measuring(job);
    let prepared = Prepared::of(&measuring)?;
    notes.extend(prepared.as_ref().map(Prepared::note));
    notes.extend(known.notes);
    notes.extend(turn.note());
    let devices = devices::prepare(&measuring)?;
    let Target { addresses, local, .. } = &ends.target;
    let header = RunHeader {
        tool: crate::VERSION.to_owned(),
        started_unix_ns: clock::wall_ns(),
        addresses: addresses.map(|address| address.map(|a| a.ip())),
        bind: local.map(|address| address.map(|a| a.ip())),
        session: Far::NotSeen(NOT_OURS.to_owned()),
        hosts: PerEnd { client: client_host(&measuring, turn), server: known.hosts.server },
        argv: job.argv.clone(),
        job: job.part_of.clone(),
        between: job.between.clone(),
        notes,
        ..known
    };
    let opened = begun(job, header, store)?;
    conduct(ends, opened, (prepared, devices), store, (turn, watch), |machine, hooks| {
        let target = hooks.ends.target.name.clone();
        let ended = run::run_by(machine, performer, hooks, stop);
        let continues = false;
        ended.map_err(|error| Trouble::BrokenOff { target, error, continues, kept: None })
    })
}

/// The course of a run whose journal is open, by whoever drives it.
fn conduct(
    ends: Ends,
    opened: Opened,
    (prepared, devices): (Option<Prepared>, devices::Devices),
    store: &Store,
    (turn, watch): (&mut Turn, &mut dyn Watcher),
    drive: impl FnOnce(Machine<'_, RunError>, &mut Stored<'_>) -> Result<Ending, Trouble>,
) -> Result<Done, Trouble> {
    let Opened { header, journal, lines, is_new } = opened;
    let started = match prepared {
        Some(prepared) => prepared.start(&header.id, store),
        None => Ok(Witnesses::default()),
    };
    let witnesses = match started {
        Ok(witnesses) => witnesses.with(devices),
        Err(refused) => {
            drop(journal);
            if is_new {
                // Nothing was measured into it, and the refusal is what is to be told.
                let _ = store.remove(&header.id);
            }
            return Err(refused);
        }
    };
    watch.told(&News::Begins(&header));
    let mut hooks = Stored { journal, ends, turn, watch, witnesses };
    let machine = Machine::resumed(&header, &lines, Box::new(Interim::of(&header)));
    let ended = drive(machine, &mut hooks);
    let Stored { journal, mut ends, watch, witnesses, .. } = hooks;
    // The lock goes with the journal, so that the result can be read and continued.
    drop(journal);
    watch.told(&News::Over);
    let ended = ended.map_err(|broken| {
        // Nothing is kept of a run that ended before its facts were stored.
        broken.keeping(store.read_run(&header.id).is_ok().then(|| header.id.clone()))
    });
    // What ends a server of ours early has ended the run as well, which says what is kept.
    let _ = ends.end();
    let addresses = ends.target.addresses;
    let port = addresses.v4.or(addresses.v6).map(|address| address.port());
    Ok(Done { id: header.id, port, captured: witnesses.finish(), ended })
}

/// The journal of a run with what is in it already.
struct Opened {
    header: RunHeader,
    journal: Journal,
    lines: Vec<Line>,
    /// It is of this session.
    is_new: bool,
}

/// A plan whose figures the lab's links may give, and the cells that they may not.
struct Tested {
    plan: Plan,
    findings: Vec<String>,
    refused: BTreeMap<String, String>,
}

/// Tests the lab's links, if there is a lab. `None` if it was stopped meanwhile.
fn tested(
    measuring: &Measuring<'_>,
    plan: Plan,
    session: &mut Session,
    watch: &mut dyn Watcher,
    stop: &AtomicBool,
) -> Result<Option<Tested>, Trouble> {
    let (Some(world), Some(lab)) = (&plan.world, measuring.lab) else {
        return Ok(Some(Tested { plan, findings: Vec::new(), refused: BTreeMap::new() }));
    };
    watch.told(&News::Tests);
    let ends = (&mut session.connection, &session.client);
    let tested = selftest::perform(world, &plan, lab, ends, stop);
    let Some(allowed) = tested.map_err(|error| session.broken_off(error))? else { return Ok(None) };
    let findings = allowed.test.findings.into_iter();
    let findings = findings.map(|finding| format!("self-test: {finding}")).collect();
    Ok(Some(Tested { plan: allowed.plan, findings, refused: allowed.refused }))
}

/// A new run: its facts, and the journal that begins with them.
fn fresh(
    measuring: &Measuring<'_>,
    tested: Tested,
    (mut notes, hops): (Vec<String>, Option<PerFamily<Vec<Rung>>>),
    turn: &Turn,
    session: &Session,
    store: &Store,
) -> Result<Opened, Trouble> {
    let Tested { plan, findings, refused } = tested;
    notes.extend(findings);
    notes.extend(turn.note());
    let job = measuring.job;
    let header = RunHeader {
        argv: job.argv.clone(),
        job: job.part_of.clone(),
        between: job.between.clone(),
        notes,
        refused,
        hops,
        ..session.header(identified()?, plan, client_host(measuring, turn))
    };
    begun(job, header, store)
}

/// An identifier that no other run has.
fn identified() -> Result<RunId, Trouble> {
    Ok(RunId::from_bits(u32::from_ne_bytes(entropy::bytes()?)))
}

/// What is said of the host that measures.
fn client_host(measuring: &Measuring<'_>, turn: &Turn) -> Host {
    let Measuring { job, target, lab, .. } = measuring;
    let mut host = this_host();
    host.facts.extend(job.facts.clone());
    host.facts.insert(names::TURN.to_owned(), turn.fact());
    let way_out = |f| Some((names::way_out(f).to_owned(), target.way_out(f)?));
    host.facts.extend(Family::BOTH.into_iter().filter_map(way_out));
    if let Some(lab) = lab {
        host.name = lab.client();
        let facts = lab.facts().iter().map(|(k, v)| (format!("lab.{k}"), v.clone()));
        host.facts.extend(facts);
    }
    host
}

/// The journal of a run that begins with its facts.
fn begun(job: &Job, header: RunHeader, store: &Store) -> Result<Opened, Trouble> {
    let journal = store.create(&header)?;
    if let Some(text) = &job.written {
        store.write_plan(&header.id, text)?;
    }
    let lines = vec![Line::Run(Box::new(header.clone()))];
    Ok(Opened { header, journal, lines, is_new: true })
}

/// A stored run, and its facts with the end of this session: the lines keep the end that was
/// planned, which is what is analysed.
fn continued(id: &RunId, stop: Stop, session: &Session, store: &Store) -> Result<Opened, Trouble> {
    let (journal, lines) = store.resume(id)?;
    let mut header = header(&lines, id)?.clone();
    header.plan = header.plan.ending(stop);
    let server = session.server();
    let (now, before) = (&server.name, &header.hosts.server.name);
    let are_known = !now.is_empty() && !before.is_empty();
    if header.plan.world.is_none() && are_known && now != before {
        // One address may be that of two hosts: behind another port, or on another link.
        let (id, before, now) = (id.clone(), header.hosts.server.name, server.name);
        return Err(Elsewhere::Another { id, before, now }.into());
    }
    // What is told of this session; what is stored says of whom the run was begun.
    header.hosts.server = server;
    Ok(Opened { header, journal, lines, is_new: false })
}

/// The facts that the lines of a run begin with.
fn header<'a>(lines: &'a [Line], id: &RunId) -> Result<&'a RunHeader, Trouble> {
    match lines.first() {
        Some(Line::Run(header)) => Ok(header),
        _ => Err(Trouble::NoHeader(id.clone())),
    }
}
