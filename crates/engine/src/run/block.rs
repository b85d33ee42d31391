//! One block: both arms of a cell, next to each other in time.

use super::drawn::Drawn;
use super::{Hooks, Performer};
use crate::control::{Connection, FamilyProblem, TaskError};
use crate::trial::client::{self, ClientContext};
use crate::trial::{self, Idle, Kind, TrialError};
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;
use v6gap_core::arm::{Arm, PerArm, TurnOrder};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{Beside, EndReport, Ends, Far};
use v6gap_core::plan::Plan;
use v6gap_core::run::{Attempt, Observed, Trouble};
use v6gap_core::task::{Task, TaskArm, Token};
use v6gap_core::values;
use v6gap_core::wire::control::TaskFailure;
use v6gap_core::workload::{Cell, Interleaving, Workload};
use v6gap_core::world::{LinkModel, World};
use v6gap_sys::{Unavailable, clock, entropy};

/// Pause between the trials of a block outside a run, where no plan says how long, in ns.
const SETTLE_NS: u64 = 20_000_000;

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The server was lost.
    #[error("the server was lost: {0}")]
    Lost(Box<FamilyProblem>),
    /// This half of a task failed.
    #[error(transparent)]
    Trial(TrialError),
    /// The server could not do its half of a task.
    #[error("the server could not do its part: {}", .0.why)]
    Server(TaskFailure),
    /// A host that is a stranger's is asked for no more.
    #[error("{0}")]
    Declined(String),
    /// No random bytes.
    #[error(transparent)]
    Random(Unavailable),
    /// Lines could not be stored.
    #[error("the result could not be stored: {0}")]
    Store(io::Error),
}

impl RunError {
    /// What the error of a task of these arms means for its run.
    fn of_task(error: TaskError<TrialError>, arms: &[TaskArm]) -> Self {
        match error {
            TaskError::Session(problem) => RunError::Lost(problem),
            TaskError::Own(error) => RunError::Trial(error),
            // A server that has given up answers nobody: that is not blocked on the way.
            TaskError::Both { own, failure, before: true } if own.kind() == Kind::Blocked => {
                RunError::of_server(failure, arms)
            }
            TaskError::Both { own, failure, .. } => RunError::Trial(with_server(own, &failure.why)),
            TaskError::Server { failure, .. } => RunError::of_server(failure, arms),
        }
    }

    /// Of a family that it was not asked about a server has nothing to say.
    fn of_server(failure: TaskFailure, arms: &[TaskArm]) -> Self {
        let asked = |family: &Family| arms.iter().any(|arm| arm.family == *family);
        let family = failure.family.filter(asked);
        RunError::Server(TaskFailure { family, ..failure })
    }
}

/// An error of this half with the server's reason where that may be the cause: this end has seen no
/// more than that nothing went on.
fn with_server(own: TrialError, why: &str) -> TrialError {
    let (kind, family, address) = (own.kind(), own.family(), own.address());
    if kind != Kind::Peer {
        return own;
    }
    TrialError::Told { kind, family, address, why: format!("{own}; the server: {why}") }
}

impl Trouble for RunError {
    fn word(&self) -> &'static str {
        match self {
            RunError::Lost(_) => "server-lost",
            RunError::Trial(error) => error.kind().word(),
            RunError::Server(_) => "server",
            RunError::Declined(_) => "declined",
            RunError::Random(_) => "no-random-bytes",
            RunError::Store(_) => "not-stored",
        }
    }

    fn family(&self) -> Option<Family> {
        match self {
            RunError::Trial(error) => error.family(),
            RunError::Server(failure) => failure.family,
            RunError::Lost(_) | RunError::Declined(_) => None,
            RunError::Random(_) | RunError::Store(_) => None,
        }
    }
}

/// Who is told of the trials of an attempt, and what they are told.
struct Witness<'a> {
    hooks: &'a mut dyn Hooks,
    attempt: &'a Attempt<'a>,
}

/// What the arms of a task gave.
type Measured = Vec<(Arm, Observed)>;

/// A connection with what is needed to measure over it.
pub(super) struct Bench<'a> {
    connection: &'a mut Connection,
    context: &'a ClientContext,
    settle_ns: u64,
    drawn: Drawn,
    /// What this machine does when nothing is measured, once a trial needed it.
    idle: Option<Idle>,
    /// Whether the queue before an interface is that of a lab's link.
    shaped: bool,
}

/// Measures one block outside a run, as the lab's self-test does, and gives each arm's values.
///
/// # Errors
/// As a run.
pub fn measure_block(
    cell: &Cell,
    arms: PerArm<Family>,
    order: TurnOrder,
    seed: u64,
    connection: &mut Connection,
    context: &ClientContext,
) -> Result<PerArm<BTreeMap<Metric, f64>>, RunError> {
    let mut bench = Bench::new(connection, context, SETTLE_NS);
    let arms = bench.arms(&cell.workload.drawn(seed), arms, order, seed, None)?;
    let of = |arm| {
        let found = arms.iter().find(|(measured, _)| *measured == arm);
        found.map(|(_, of)| values::values(&cell.workload, &of.ends)).unwrap_or_default()
    };
    Ok(PerArm::from_fn(of))
}

impl<'a> Bench<'a> {
    /// `settle_ns` is how long packets may still be under way after a trial.
    pub fn new(connection: &'a mut Connection, context: &'a ClientContext, settle_ns: u64) -> Self {
        let drawn = Drawn::new();
        Bench { connection, context, settle_ns, drawn, idle: None, shaped: false }
    }

    /// This bench for trials over the links of `world`. One that works in user space does so on the
    /// processors of both ends, so that the machine's use is not theirs alone.
    pub fn in_world(mut self, world: Option<&World>) -> Self {
        self.shaped = world.is_some_and(|world| world.model != LinkModel::Bare);
        if world.is_some_and(|world| world.model == LinkModel::Wire) {
            self.idle = Some(Err("processor time of the whole machine is unavailable: the lab's \
                 link works on the same processors"
                .to_string()));
        }
        self
    }

    fn arms(
        &mut self,
        workload: &Workload,
        arms: PerArm<Family>,
        order: TurnOrder,
        seed: u64,
        mut witness: Option<Witness<'_>>,
    ) -> Result<Measured, RunError> {
        let member = |arm| TaskArm { arm, family: *arms.get(arm) };
        match workload.interleaving() {
            Interleaving::Slice => {
                let members = Arm::BOTH.map(member).to_vec();
                self.witnessed(workload, members, order, seed, witness.as_mut())
            }
            Interleaving::Trial => {
                let mut measured = Vec::new();
                for (turn, arm) in order.arms().into_iter().enumerate() {
                    if turn > 0 {
                        self.rest(workload);
                    }
                    // Ports of the two trials differ; what the lower half decides does not.
                    let seed = seed ^ ((turn as u64) << 32);
                    let members = vec![member(arm)];
                    let witness = witness.as_mut();
                    measured.extend(self.witnessed(workload, members, order, seed, witness)?);
                }
                Ok(measured)
            }
        }
    }

    /// Measures the arms at once or in turns, and asks what others saw of them meanwhile.
    fn witnessed(
        &mut self,
        workload: &Workload,
        arms: Vec<TaskArm>,
        order: TurnOrder,
        seed: u64,
        witness: Option<&mut Witness<'_>>,
    ) -> Result<Measured, RunError> {
        let Some(Witness { hooks, attempt }) = witness else {
            return self.task(workload, arms, order, seed);
        };
        let shared = arms.len() > 1;
        hooks.before(attempt, arms.first().map(|member| member.family).filter(|_| !shared));
        let measured = self.task(workload, arms, order, seed);
        let beside = hooks.beside().map(|beside| Box::new(Beside { shared, ..beside }));
        let mut measured = measured?;
        // Once, so that nobody counts it twice.
        if let Some((_, first)) = measured.iter_mut().min_by_key(|(arm, _)| *arm != Arm::A) {
            first.beside = beside;
        }
        Ok(measured)
    }

    fn task(
        &mut self,
        workload: &Workload,
        arms: Vec<TaskArm>,
        order: TurnOrder,
        seed: u64,
    ) -> Result<Measured, RunError> {
        // While the server still waits for the task, so that both machines are idle.
        let idle =
            trial::needs_idle(workload).then(|| self.idle.get_or_insert_with(trial::idle).clone());
        let token = entropy::bytes().map_err(RunError::Random)?;
        let number = self.connection.next_number();
        let workload = workload.clone();
        let (token, arrives) = (Token(token), self.context.arrives());
        let (draw, worker) = self.drawn.of_task(seed);
        let context = &self.context.of_draw(draw);
        let draw = Some(draw);
        let task = Task { number, workload, arms, order, seed, token, arrives, draw };
        let (started_unix_ns, started_ns) = (clock::wall_ns(), clock::now_ns());
        let half = |task: &Task| match worker {
            Some(worker) => worker.measure(task, context),
            None => client::run(task, context),
        };
        let outcome = self.connection.run_task(&task, half);
        let (own, server) = outcome.map_err(|error| RunError::of_task(error, &task.arms))?;
        let duration_ns = clock::now_ns() - started_ns;
        let shaped = self.shaped;
        let with_server = |(arm, client): (Arm, EndReport)| {
            let mut client = client;
            let mut server = server.iter().find(|(other, _)| *other == arm)?.1.clone();
            if !shaped {
                trial::note_queue_drops([&mut client, &mut server]);
            }
            let (ends, beside) = (Ends { client, server: Far::Seen(server) }, None);
            Some((arm, Observed { ends, started_unix_ns, started_ns, duration_ns, beside }))
        };
        Ok(trial::with_idle(own, idle).into_iter().filter_map(with_server).collect())
    }

    /// Lets packets that are still under way arrive before the next trial.
    fn rest(&self, workload: &Workload) {
        if workload.lingers() {
            clock::rest(Duration::from_nanos(self.settle_ns));
        }
    }
}

impl Performer for Bench<'_> {
    fn attempt(
        &mut self,
        plan: &Plan,
        attempt: &Attempt<'_>,
        hooks: &mut dyn Hooks,
    ) -> Result<PerArm<Observed>, RunError> {
        let (workload, order) = (attempt.workload(), attempt.block.order);
        self.drawn.begin(&attempt.block);
        let witness = Some(Witness { hooks, attempt });
        let arms = attempt.arms(plan);
        let measured = self.arms(&workload, arms, order, attempt.seed(), witness)?;
        let mut found: PerArm<Option<Observed>> = PerArm::default();
        for (arm, observed) in measured {
            *found.get_mut(arm) = Some(observed);
        }
        let missing =
            |arm: Arm| RunError::Server(TaskFailure::passing(format!("no report of arm {arm:?}")));
        let PerArm { a, b } = found;
        Ok(PerArm { a: a.ok_or_else(|| missing(Arm::A))?, b: b.ok_or_else(|| missing(Arm::B))? })
    }

    fn settle(&mut self, workload: &Workload) {
        self.rest(workload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;
    use v6gap_core::workload::Impossible;

    /// Errors of a server that are about a family, and one for each way to be about none.
    fn errors(family: Family) -> (Vec<TrialError>, Vec<TrialError>) {
        let (operation, address) = ("receiving", SocketAddr::new(family.loopback(), 9));
        let source = io::Error::other("out of order");
        let missing = Unavailable::new("timestamps", "the kernel is old");
        let own = vec![
            TrialError::Missing { family, what: "UDP socket" },
            TrialError::Unavailable { family, missing },
            TrialError::Io { operation, family, address: Some(address), source },
            TrialError::Buffers { family, asked: 9, got: "8 B".into() },
            TrialError::TooBig { operation, family, address: None, path_mtu: Some(1280) },
            TrialError::Fragments { operation, family, address, payload_bytes: 9, path_mtu: 9 },
            TrialError::Blocked { family, address, patience_ms: 9, why: None },
            TrialError::Peer { operation, family, address: None, what: "nothing came in time" },
            TrialError::Aborted { operation, family },
        ];
        let of_host = vec![
            TrialError::Unsuitable { number: 1, why: Impossible::OF_STRANGERS },
            TrialError::panicked(),
            TrialError::of_worker("the process that measured ended (signal 9)".into()),
        ];
        (own, of_host)
    }

    fn of_server(error: &TrialError, families: &[Family]) -> Option<Family> {
        let arms = Arm::BOTH.into_iter().zip(families);
        let arms: Vec<TaskArm> = arms.map(|(arm, &family)| TaskArm { arm, family }).collect();
        RunError::of_task(TaskError::Server { number: 1, failure: error.told() }, &arms).family()
    }

    /// Who gets no answers from a server that has failed does not find UDP blocked.
    #[test]
    fn nothing_is_blocked_where_the_server_failed_before() {
        let family = Family::V6;
        let address = SocketAddr::new(family.loopback(), 9);
        let word = |before| {
            let own = TrialError::Blocked { family, address, patience_ms: 9, why: None };
            let failure = TaskFailure::passing("no descriptor is left");
            let found = RunError::of_task(TaskError::Both { own, failure, before }, &[]);
            (found.word(), found.to_string().contains("no descriptor"))
        };
        assert_eq!((word(true), word(false)), (("server", true), ("blocked", false)));
    }

    /// As if this half had met it: a failure that only the server sees counts against its family.
    #[test]
    fn a_server_that_fails_over_one_family_fails_of_that_family() {
        for family in Family::BOTH {
            let (own, of_host) = errors(family);
            for error in own {
                assert_eq!(of_server(&error, &[family]), Some(family), "{error}");
                assert_eq!(of_server(&error, &Family::BOTH), Some(family), "{error}");
                assert_eq!(of_server(&error, &[family.other()]), None, "{error}");
            }
            for error in of_host {
                assert_eq!(of_server(&error, &[family]), None, "{error}");
            }
        }
    }
}
