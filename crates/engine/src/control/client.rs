//! A session as the client's run sees it: open, one task after the other, close.

use super::greeting::{self, Greeted};
use super::{Channel, ChannelError, ConnectError, FamilyProblem, Key, TaskError, Trouble};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use v6gap_core::arm::Arm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::feature::Features;
use v6gap_core::observation::EndReport;
use v6gap_core::record::Host;
use v6gap_core::session::{Client, ClientAction, Opened};
use v6gap_core::task::Task;
use v6gap_core::wire::control::{Hello, Queued};
use v6gap_core::wire::version::{SPOKEN, VersionRange};
use v6gap_sys::clock;

/// What the client brings to a session.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// The shared key.
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
            host: self.host.clone(),
            want: self.want.iter().map(|feature| feature.name().to_owned()).collect(),
            wait: self.wait,
        }
    }
}

/// The reports of the server's half of a task, one for each arm.
pub type EndReports = Vec<(Arm, EndReport)>;

/// An open session with a server.
pub struct Connection {
    driver: Driver,
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
            Ok((driver, opened)) => Ok(Connection { driver, version, opened, problems, tasks: 0 }),
            Err(problem) => {
                let family = problem.family;
                *problems.get_mut(family) = Some(problem);
                Err(ConnectError { problems })
            }
        }
    }

    /// The family that the control connection uses.
    pub fn family(&self) -> Family {
        self.driver.family
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
        let driver = &mut self.driver;
        let misuse = |driver: &Driver, e: v6gap_core::session::NotNow| {
            TaskError::session(driver.problem(Trouble::System(e.to_string())))
        };
        if let Err(e) = driver.machine.prepare(task.clone(), clock::now_ns()) {
            return Err(misuse(driver, e));
        }
        match driver.next_event().map_err(TaskError::session)? {
            ClientAction::Start(_) => {}
            other => return Err(driver.unexpected(other)),
        }
        let own = work(task);
        if let Err(e) = driver.machine.finish(clock::now_ns()) {
            return Err(misuse(driver, e));
        }
        match driver.next_event().map_err(TaskError::session)? {
            ClientAction::Report(report) => {
                own.map(|own| (own, report.ends)).map_err(TaskError::Own)
            }
            // Both halves failed: this one's reason is nearer to the person who asks, unless it is
            // that the server had one that lasts.
            ClientAction::Failed { number, why, lasting } => match own {
                Err(own) if !lasting => Err(TaskError::Own(own)),
                _ => Err(TaskError::Server { number, why, lasting }),
            },
            other => Err(driver.unexpected(other)),
        }
    }

    /// Takes leave of the server.
    pub fn close(mut self) {
        self.driver.machine.close(clock::now_ns());
        // The machine's own closing is all that follows; nothing can be done about trouble in it.
        let _ = self.driver.next_event();
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
        let other = scope.spawn(|| greet(Family::V6, addresses.v6));
        let v4 = greet(Family::V4, addresses.v4);
        let v6 = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
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
struct Driver {
    channel: Channel,
    machine: Client,
    family: Family,
    address: SocketAddr,
    /// Why the channel failed, if it did; the machine only knows that it is lost.
    detail: Option<String>,
}

impl Driver {
    /// Opens the session with a server that has greeted.
    fn begin(
        server: Found,
        options: &ClientOptions,
        on_waiting: &mut dyn FnMut(&Queued) -> ControlFlow<()>,
    ) -> Result<(Self, Opened), FamilyProblem> {
        let Found { family, address, greeted } = server;
        let channel = greeted.seal(&options.key).map_err(|trouble| FamilyProblem {
            family,
            address,
            trouble,
        })?;
        let machine = Client::new(options.hello(), clock::now_ns());
        let mut driver = Driver { channel, machine, family, address, detail: None };
        loop {
            match driver.next_event()? {
                ClientAction::Opened(opened) => return Ok((driver, *opened)),
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
            while let Some(action) = self.machine.poll() {
                match action {
                    ClientAction::Send(message) => {
                        if let Err(e) = self.channel.send(&message) {
                            self.lost(&e);
                        }
                    }
                    ClientAction::Close(ending) => {
                        let detail = self.detail.take();
                        return Err(self.problem(Trouble::of_ending(ending, detail)));
                    }
                    event => return Ok(event),
                }
            }
            match self.channel.receive(self.machine.deadline()) {
                Ok(message) => self.machine.on_message(message, clock::now_ns()),
                Err(ChannelError::TimedOut) => self.machine.on_timer(clock::now_ns()),
                Err(e) => self.lost(&e),
            }
        }
    }

    fn lost(&mut self, error: &ChannelError) {
        self.detail = Some(error.to_string());
        self.machine.on_lost(clock::now_ns());
    }

    fn problem(&self, trouble: Trouble) -> FamilyProblem {
        FamilyProblem { family: self.family, address: self.address, trouble }
    }

    /// The error for an event that is not the awaited one: the server failed the task, or else the
    /// machine and this shell disagree about the phase.
    fn unexpected<E>(&self, action: ClientAction) -> TaskError<E> {
        match action {
            ClientAction::Failed { number, why, lasting } => {
                TaskError::Server { number, why, lasting }
            }
            other => TaskError::session(self.problem(Trouble::System(format!(
                "the session took an unexpected turn: {other:?}"
            )))),
        }
    }
}
