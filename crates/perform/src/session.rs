//! A session with the far end: connecting to it, its limits, and how it breaks off.

use crate::facts::this_host;
use crate::job::Access;
use crate::news::{News, Watcher};
use crate::target::Target;
use crate::trouble::Trouble;
use crate::turn::{self, Turn};
use crate::{VERSION, tool, whereabouts};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::host::names;
use v6gap_core::observation::{Far, PerEnd};
use v6gap_core::plan::{Plan, Stop};
use v6gap_core::record::{Host, RunHeader, RunId};
use v6gap_core::task;
use v6gap_core::unit::format_span;
use v6gap_core::wire::control::{Limits, Queued};
use v6gap_core::workload::{Feature, Needed};
use v6gap_engine::control::{ClientOptions, Connection};
use v6gap_engine::run::RunError;
use v6gap_engine::trial::client::ClientContext;
use v6gap_sys::clock;

/// The far end's session began a little before this end knew of it, in ns.
const SESSION_ROUNDING_NS: u64 = 2_000_000_000;

/// A connection to the far end and how to measure over it.
pub struct Session {
    /// The connection.
    pub connection: Connection,
    /// How to measure.
    pub client: ClientContext,
    target: Target,
    /// That the server told an address of the target, if it did.
    located: Option<String>,
    opened_ns: u64,
}

impl Session {
    /// A session as [`Session::open`] gives it, for which this host has its `turn`; `None` if it
    /// was stopped before.
    ///
    /// A server is waited for without the turn, and the turn without a session: two hosts that
    /// measure each other would otherwise wait for each other for ever.
    ///
    /// # Errors
    /// Those, and if somebody else measures here and is not to be waited for.
    pub(crate) fn open_in_turn(
        plan: &Plan,
        target: &Target,
        access: &Access,
        processors: Vec<usize>,
        turn: &mut Turn,
        watch: &mut dyn Watcher,
        stop: &AtomicBool,
    ) -> Result<Option<Self>, Trouble> {
        let access = Access { measurement: Some(turn.measurement()), ..access.clone() };
        let is_stopped = || stop.load(Ordering::Relaxed);
        loop {
            if !turn.wait(watch, &is_stopped)? {
                return Ok(None);
            }
            let session = Self::open(plan, target, &access, processors.clone(), watch, stop)?;
            if turn.try_take() {
                return Ok(Some(session));
            }
            session.connection.close();
            turn::rest()?;
        }
    }

    /// Connects to measure `plan` against `target`, over each family that the plan measures, and
    /// waits its turn if `access` says so, which `watch` is told once. A far end of which one
    /// address alone is known is asked for the other.
    ///
    /// # Errors
    /// If the far end cannot be reached over each of them, or does not tell the address that is not
    /// known.
    pub fn open(
        plan: &Plan,
        target: &Target,
        access: &Access,
        processors: Vec<usize>,
        watch: &mut dyn Watcher,
        stop: &AtomicBool,
    ) -> Result<Self, Trouble> {
        let options = options(plan, target, access);
        let connection = connect(plan, target, &options, watch, stop)?;
        let opened_ns = clock::now_ns();
        let (target, located) = match located(plan, target, &connection, &options) {
            Ok(located) => located,
            Err(trouble) => {
                connection.close();
                return Err(trouble);
            }
        };
        if let Some(note) = &located {
            watch.told(&News::Located(note));
        }
        let client = ClientContext {
            server: target.addresses,
            processors,
            timeout_ns: access.timeout_ns,
            local: target.local,
            limits: connection.opened().welcome.limits,
            reflector: None,
            far: None,
        };
        Ok(Session { connection, client, target, located, opened_ns })
    }

    /// The target with all addresses that are measured, and what is to be noted where the far end
    /// had to be asked for one.
    pub(crate) fn target(&self) -> (&Target, Option<&str>) {
        (&self.target, self.located.as_deref())
    }

    /// The facts of a run of `plan` over it, called `id` and begun now. This end is `client`.
    pub(crate) fn header(&self, id: RunId, plan: Plan, client: Host) -> RunHeader {
        let Session { connection, target, .. } = self;
        RunHeader {
            tool: VERSION.to_owned(),
            started_unix_ns: clock::wall_ns(),
            target: target.name.clone(),
            addresses: target.addresses.map(|address| address.map(|a| a.ip())),
            bind: target.local.map(|address| address.map(|a| a.ip())),
            session: Far::Seen(connection.session()),
            hosts: PerEnd { client, server: self.server() },
            ..RunHeader::new(id, plan)
        }
    }

    /// What the server says of its host.
    pub(crate) fn server(&self) -> Host {
        let welcome = &self.connection.opened().welcome;
        let mut host = welcome.host.clone();
        host.facts.insert(names::PROGRAM.to_owned(), welcome.tool.clone());
        host
    }

    /// The plan as small as the far end's limits demand, and what was changed.
    pub(crate) fn fitted(&self, plan: Plan) -> (Plan, Vec<String>) {
        let limits = &self.client.limits;
        let (plan, mut notes) = plan.keeping_to(limits);
        if let Stop::Adaptive { time_ns_max, .. } = plan.design.stop
            && time_ns_max > limits.session_ns
        {
            let [asked, most] = [time_ns_max, limits.session_ns];
            notes.push(format!(
                "the run may take {}, and the server allows sessions of {}: it ends then, and can \
                 be continued",
                format_span(asked as f64),
                format_span(most as f64)
            ));
        }
        (plan, notes)
    }

    /// Why it broke off; a far end that ends a session in time says nothing.
    pub(crate) fn over(&self, error: RunError) -> Trouble {
        let target = self.target.name.clone();
        let Limits { session_ns: most_ns, .. } = self.client.limits;
        let elapsed_ns = clock::now_ns().saturating_sub(self.opened_ns);
        let is_over = elapsed_ns.saturating_add(SESSION_ROUNDING_NS) >= most_ns;
        match error {
            RunError::Lost(_) if is_over => Trouble::TimeUp { target, most_ns, kept: None },
            error => Trouble::BrokenOff { target, error, continues: true, kept: None },
        }
    }

    /// That larger packets than `passes` bytes vanish.
    pub(crate) fn black_hole(&self, family: Family, passes: u32) -> Trouble {
        Trouble::BlackHole { target: self.target.name.clone(), family, passes }
    }

    /// As [`Session::over`] before anything was stored.
    pub(crate) fn broken_off(&self, error: RunError) -> Trouble {
        let target = self.target.name.clone();
        Trouble::BrokenOff { target, error, continues: true, kept: None }
    }
}

/// What this end brings to a session in which `plan` is measured.
fn options(plan: &Plan, target: &Target, access: &Access) -> ClientOptions {
    let mut client = ClientOptions::new(access.key.towards(&target.name), tool(), this_host());
    client.timeout_ns = access.timeout_ns;
    client.wait = access.wait;
    let claim = access.measurement.iter().map(|name| (names::CLAIM.to_owned(), name.clone()));
    client.host.facts.extend(claim);
    client.local = target.local;
    client.want = plan.cells.iter().flat_map(|cell| Needed::of(&cell.workload)).collect();
    if task::arriving(reached(plan, target).map(|a| a.map(|a| a.ip()))) != task::native() {
        client.want.insert(Feature::Translated);
    }
    if target.lacks(plan.design.arms).is_some() {
        client.want.insert(Feature::Whereabouts);
    }
    client
}

/// Where the far end is greeted: in each family that is measured, or where one of these is not
/// known, at the only address that is.
fn reached(plan: &Plan, target: &Target) -> PerFamily<Option<SocketAddr>> {
    let arms = plan.design.arms;
    let asks = target.lacks(arms).is_some();
    let is_reached = |family| asks || arms.a == family || arms.b == family;
    PerFamily::from_fn(|f| target.addresses.get(f).filter(|_| is_reached(f)))
}

/// The target with the address that it lacks, if it lacks one, and what is to be noted of that.
fn located(
    plan: &Plan,
    target: &Target,
    connection: &Connection,
    options: &ClientOptions,
) -> Result<(Target, Option<String>), Trouble> {
    let (target, note) = match target.lacks(plan.design.arms) {
        Some(lacking) => {
            let (target, note) = whereabouts::complete(target, lacking, connection, options)?;
            (target, Some(note))
        }
        None => (target.clone(), None),
    };
    Ok((target.bound()?, note))
}

fn connect(
    plan: &Plan,
    target: &Target,
    options: &ClientOptions,
    watch: &mut dyn Watcher,
    stop: &AtomicBool,
) -> Result<Connection, Trouble> {
    let mut told = false;
    let mut waiting = |queued: &Queued| {
        if !std::mem::replace(&mut told, true) {
            watch.told(&News::Waits { target: &target.name, queued });
        }
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let name = || target.name.clone();
    let connection = Connection::open(reached(plan, target), options, &mut waiting)
        .map_err(|error| Trouble::Connect { target: name(), error })?;
    for family in Family::BOTH {
        if let Some(problem) = connection.problems().get(family) {
            let problem = Box::new(problem.clone());
            return Err(Trouble::OneFamily { target: name(), problem });
        }
    }
    Ok(connection)
}
