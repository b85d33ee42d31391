//! A session as the client's run sees it: open, one task after the other, close.

mod whereabouts;

pub use whereabouts::Unlocated;

use super::greeting::{self, Greeted};
use super::keeper::Keeper;
use super::{Channel, ChannelError, ConnectError, FamilyProblem, Key, TaskError, Trouble};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use v6gap_core::arm::Arm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::EndReport;
use v6gap_core::record::{Host, Session};
use v6gap_core::session::{Client, ClientAction, Opened};
use v6gap_core::task::Task;
use v6gap_core::wire::control::{Hello, Queued};
use v6gap_core::wire::foreign;
use v6gap_core::wire::version::{SPOKEN, VersionRange};
use v6gap_core::workload::Features;
use v6gap_sys::clock;
use v6gap_sys::socket::{Interest, Waker, wait_any};

/// What the client brings to a session.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// What this end proves itself with.
    pub key: Key,
    /// How long each address has to answer, in ns.
    pub timeout_ns: u64,
    /// Program and version, as in `v6gap 0.1.0`.
    pub tool: String,
    /// This host.
    pub host: Host,
    /// What the server must know; without it there is no session.
    pub want: Features,
    /// Whether to wait while the server measures for somebody else.
    pub wait: bool,
    /// The address of this host to connect from in each family, with port 0, where the system is
    /// not to choose.
    pub local: PerFamily<Option<SocketAddr>>,
    /// Protocol versions to speak.
    pub versions: VersionRange,
}

impl ClientOptions {
    /// The usual: 5 s for an answer, no special wants, ready to wait, all versions known here.
    pub fn new(key: Key, tool: String, host: Host) -> Self {
        ClientOptions {
            key,
            timeout_ns: 5_000_000_000,
            tool,
            host,
            want: Features::new(),
            wait: true,
            local: PerFamily::default(),
            versions: SPOKEN,
        }
    }

    fn hello(&self) -> Hello {
        Hello {
            tool: self.tool.clone(),
            host: foreign::host(&self.host, foreign::CLIENT_FACTS_BYTES_MAX),
            want: self.want.iter().map(|feature| feature.name().to_owned()).collect(),
            wait: self.wait,
        }
    }
}

/// The reports of the server's half of a task, one for each arm.
pub type EndReports = Vec<(Arm, EndReport)>;

/// An open session with a server.
pub struct Connection {
    keeper: Keeper,
    at: (Family, SocketAddr),
    version: u8,
    opened: Opened,
    problems: Box<PerFamily<Option<FamilyProblem>>>,
    tasks: u32,
}

impl Connection {
    /// Greets the server at every address given, all at once, and opens the session over IPv4 if it
    /// answered there, otherwise over IPv6. `on_waiting` hears of each place in the queue and may
    /// give up by breaking.
    ///
    /// # Errors
    /// If no address answered well, or the session was refused; with the trouble of each family.
    pub fn open(
        addresses: PerFamily<Option<SocketAddr>>,
        options: &ClientOptions,
        on_waiting: &mut dyn FnMut(&Queued) -> ControlFlow<()>,
    ) -> Result<Connection, ConnectError> {
        let PerFamily { v4, v6 } = greet_all(addresses, options);
        let (first, first_problem) = split(v4);
        let (second, second_problem) = split(v6);
        let mut problems = Box::new(PerFamily { v4: first_problem, v6: second_problem });
        // The second connection was only to see whether it answers; unused, it is closed here.
        let Some(server) = first.or(second) else {
            return Err(ConnectError { problems });
        };
        let version = server.greeted.version();
        match Driver::begin(server, options, on_waiting) {
            Ok((driver, keeper, opened)) => {
                let at = (driver.family, driver.address);
                keeper.keep(driver);
                Ok(Connection { keeper, at, version, opened, problems, tasks: 0 })
            }
            Err(problem) => {
                let family = problem.family;
                *problems.get_mut(family) = Some(problem);
                Err(ConnectError { problems })
            }
        }
    }

    /// The family that the control connection uses.
    pub fn family(&self) -> Family {
        self.at.0
    }

    /// The server's address that the control connection uses.
    pub fn address(&self) -> SocketAddr {
        self.at.1
    }

    /// What a record says of it.
    pub fn session(&self) -> Session {
        Session {
            protocol: u32::from(self.version()),
            control: self.family(),
            limits: Some(self.opened().welcome.limits),
        }
    }

    /// The protocol version agreed on.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// What the server said of itself, and its clock against ours.
    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// The trouble with a family over which the server's port did not answer although an address
    /// was given; the session goes over the other.
    pub fn problems(&self) -> &PerFamily<Option<FamilyProblem>> {
        &self.problems
    }

    /// A number for the next task; each is used once in a session.
    pub fn next_number(&mut self) -> u32 {
        self.tasks += 1;
        self.tasks
    }

    /// Does one task: has the server make it ready, calls `work` for this half of it, and returns
    /// what `work` did and the server's half.
    ///
    /// # Errors
    /// If either half failed, after which the session goes on, or if the session is over.
    pub fn run_task<T, E>(
        &mut self,
        task: &Task,
        work: impl FnOnce(&Task) -> Result<T, E>,
    ) -> Result<(T, EndReports), TaskError<E>> {
        let over = TaskError::<E>::session;
        let begun = self.attended(|driver| driver.begin_task(task)).map_err(over)?;
        if let ClientAction::Failed { number, failure } = begun {
            return Err(TaskError::Server { number, failure });
        }
        let own = work(task);
        let (said, before) = self.attended(Driver::finish_task).map_err(over)?;
        match said {
            ClientAction::Report(report) => {
                own.map(|own| (own, report.ends)).map_err(TaskError::Own)
            }
            // Both halves failed: this one's reason is nearer to the person who asks, unless the
            // server had one that lasts.
            ClientAction::Failed { number, failure } => match own {
                Err(own) if !failure.lasting => Err(TaskError::Both { own, failure, before }),
                _ => Err(TaskError::Server { number, failure }),
            },
            other => Err(TaskError::session(self.problem(unexpected(&other)))),
        }
    }

    /// Takes leave of the server.
    pub fn close(self) {
        if let Some(mut driver) = self.keeper.take() {
            driver.machine.close(clock::now_ns());
            // The machine's own closing is all that follows; nothing can be done about trouble in
            // it.
            let _ = driver.next_event();
        }
    }

    /// Lets the caller's thread attend to the session.
    fn attended<T>(
        &self,
        step: impl FnOnce(&mut Driver) -> Result<T, FamilyProblem>,
    ) -> Result<T, FamilyProblem> {
        let died = || self.problem(Trouble::System("the control thread has died".to_string()));
        let mut driver = self.keeper.take().ok_or_else(died)?;
        let outcome = step(&mut driver);
        self.keeper.keep(driver);
        outcome
    }

    fn problem(&self, trouble: Trouble) -> FamilyProblem {
        let (family, address) = self.at;
        FamilyProblem { family, address, trouble }
    }
}

/// The server at one address, having answered with its preamble.
struct Found {
    family: Family,
    address: SocketAddr,
    greeted: Greeted,
}

type Greeting = Option<Result<Found, FamilyProblem>>;

/// Greets all addresses at once, so that a silent one costs its time only once.
fn greet_all(
    addresses: PerFamily<Option<SocketAddr>>,
    options: &ClientOptions,
) -> PerFamily<Greeting> {
    let greet = |family, address: Option<SocketAddr>| {
        let address = address?;
        let local = *options.local.get(family);
        Some(match greeting::greet(local, address, options.versions, options.timeout_ns) {
            Ok(greeted) => Ok(Found { family, address, greeted }),
            Err(trouble) => Err(FamilyProblem { family, address, trouble }),
        })
    };
    std::thread::scope(|scope| {
        let v6 = || greet(Family::V6, addresses.v6);
        let other = std::thread::Builder::new().spawn_scoped(scope, v6);
        let v4 = greet(Family::V4, addresses.v4);
        let v6 = match other {
            Ok(other) => other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // One after the other where there is no thread.
            Err(_) => v6(),
        };
        PerFamily { v4, v6 }
    })
}

fn split(greeting: Greeting) -> (Option<Found>, Option<FamilyProblem>) {
    match greeting {
        Some(Ok(found)) => (Some(found), None),
        Some(Err(problem)) => (None, Some(problem)),
        None => (None, None),
    }
}

/// Does what the session's machine asks for.
pub(super) struct Driver {
    channel: Channel,
    machine: Client,
    family: Family,
    address: SocketAddr,
    /// What the machine had to say while nobody asked.
    told: VecDeque<ClientAction>,
    /// Why the channel failed, if it did; the machine only knows that it is lost.
    detail: Option<String>,
}

impl Driver {
    /// Opens the session with a server that has greeted.
    fn begin(
        server: Found,
        options: &ClientOptions,
        on_waiting: &mut dyn FnMut(&Queued) -> ControlFlow<()>,
    ) -> Result<(Box<Self>, Keeper, Opened), FamilyProblem> {
        let Found { family, address, greeted } = server;
        let problem = |trouble| FamilyProblem { family, address, trouble };
        let keeper = Keeper::start().map_err(|e| problem(Trouble::System(e.to_string())))?;
        let channel = greeted.seal(&options.key).map_err(problem)?;
        let pinned = options.key.pinned().is_some();
        let machine = Client::new(options.hello(), clock::now_ns());
        let (told, detail) = (VecDeque::new(), None);
        let mut driver = Box::new(Driver { channel, machine, family, address, told, detail });
        loop {
            let event = driver.next_event().map_err(|problem| match &problem.trouble {
                // Its answer comes before the client's last message: until then it knows nobody.
                Trouble::Ended { .. } if pinned && !driver.channel.has_heard() => {
                    driver.problem(Trouble::TurnedAway)
                }
                _ => problem,
            })?;
            match event {
                ClientAction::Opened(opened) => return Ok((driver, keeper, *opened)),
                ClientAction::Waiting(queued) if on_waiting(&queued).is_break() => {
                    driver.machine.close(clock::now_ns());
                    let _ = driver.next_event();
                    return Err(driver.problem(Trouble::GaveUp));
                }
                _ => {}
            }
        }
    }

    /// Sends, receives and keeps time until there is something that the caller has to act on.
    fn next_event(&mut self) -> Result<ClientAction, FamilyProblem> {
        loop {
            match self.poll() {
                Some(ClientAction::Close(ending)) => {
                    let detail = self.detail.take();
                    return Err(self.problem(Trouble::of_ending(ending, detail)));
                }
                Some(event) => return Ok(event),
                None => {}
            }
            match self.channel.receive(self.machine.deadline()) {
                Ok(message) => self.machine.on_message(message, clock::now_ns()),
                Err(ChannelError::TimedOut) => self.machine.on_timer(clock::now_ns()),
                Err(e) => self.lost(&e),
            }
        }
    }

    /// What the caller has to act on, what was noted first.
    fn poll(&mut self) -> Option<ClientAction> {
        self.told.pop_front().or_else(|| self.poll_anew())
    }

    /// What the machine wants the caller to act on, once what it wants sent is sent.
    fn poll_anew(&mut self) -> Option<ClientAction> {
        while let Some(action) = self.machine.poll() {
            let ClientAction::Send(message) = action else {
                return Some(action);
            };
            if let Err(e) = self.channel.send(&message) {
                self.lost(&e);
            }
        }
        None
    }

    /// Proposes a task and waits until the server is ready.
    fn begin_task(&mut self, task: &Task) -> Result<ClientAction, FamilyProblem> {
        // A session that is over already says better why.
        if self.told.is_empty() {
            let prepared = self.machine.prepare(task.clone(), clock::now_ns());
            prepared.map_err(|e| self.problem(Trouble::System(e.to_string())))?;
        }
        match self.next_event()? {
            event @ (ClientAction::Start(_) | ClientAction::Failed { .. }) => Ok(event),
            other => Err(self.problem(unexpected(&other))),
        }
    }

    /// Tells that this half is over, unless the server's has failed meanwhile, and waits for what
    /// the server says. Returns whether it had said so before.
    fn finish_task(&mut self) -> Result<(ClientAction, bool), FamilyProblem> {
        let before = !self.told.is_empty();
        if !before {
            let finished = self.machine.finish(clock::now_ns());
            finished.map_err(|e| self.problem(Trouble::System(e.to_string())))?;
        }
        Ok((self.next_event()?, before))
    }

    /// Answers the server until `waker` is called, and notes what the caller has to act on. Time is
    /// not looked at: the caller sets the pace here.
    pub(super) fn keep(&mut self, waker: &Waker) {
        loop {
            while let Some(event) = self.poll_anew() {
                self.told.push_back(event);
            }
            let mut interests = vec![Interest::Wake(waker)];
            interests.extend((!self.machine.is_closed()).then(|| self.channel.interest()));
            match wait_any(&interests, u64::MAX) {
                Ok(ready) if ready[0] => return,
                Ok(ready) if ready.get(1) == Some(&true) => self.listen(),
                Ok(_) => {}
                Err(e) => return self.lost(&ChannelError::System(e)),
            }
        }
    }

    /// Takes what has come.
    fn listen(&mut self) {
        let mut read = self.channel.read();
        while read.is_ok() {
            match self.channel.next() {
                Ok(Some(message)) => self.machine.on_message(message, clock::now_ns()),
                Ok(None) => return,
                Err(e) => read = Err(e),
            }
        }
        if let Err(e) = read {
            self.lost(&e);
        }
    }

    fn lost(&mut self, error: &ChannelError) {
        self.detail = Some(error.to_string());
        self.machine.on_lost(clock::now_ns());
    }

    fn problem(&self, trouble: Trouble) -> FamilyProblem {
        FamilyProblem { family: self.family, address: self.address, trouble }
    }
}

/// The trouble with an event that is not the awaited one: the machine and this shell disagree about
/// the phase.
fn unexpected(action: &ClientAction) -> Trouble {
    Trouble::System(format!("the session took an unexpected turn: {action:?}"))
}
