//! The server's one loop over all connections: accept, find out what each is for, drive the
//! sessions, and pass between them and the task at hand.

use super::door::{Door, Open};
use super::lobby::Lobby;
use super::pending::{self, Became, Client, Pending};
use super::session::Session;
use super::task::{Happened, Running, Workshop};
use super::telling::Telling;
use super::{ServerEvent, TurnedAway};
use crate::control::Key;
use crate::hot::answer::Arrival;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::session::access::Access;
use v6gap_core::session::queue::{Queue, Room, Turn};
use v6gap_core::session::{Ending, ServerAction};
use v6gap_core::task::Task;
use v6gap_core::wire::control::{Message, TaskFailure};
use v6gap_core::wire::version::VersionRange;
use v6gap_core::wire::whereabouts::Addresses;
use v6gap_sys::clock;
use v6gap_sys::socket::{Interest, Listener, Stream, wait_any};

/// Longest wait, in ns: how soon a stop is noticed.
const WAIT_NS_MAX: u64 = 200_000_000;

/// Connections accepted in one turn of the loop; others have their turn in between.
const ACCEPT_MAX: usize = 64;

/// How long no connection is accepted after the system refused one, in ns. It has run out of
/// something, and asking on would only take the processor from the trial.
const ACCEPT_PAUSE_NS: u64 = 100_000_000;

/// Most sessions that only say their last words; beyond, the oldest is closed at once.
const CLOSING_MAX: usize = 32;

/// Everything that the loop holds.
pub(super) struct Front {
    listeners: Arc<PerFamily<Option<Listener>>>,
    access: Access,
    key: Key,
    versions: VersionRange,
    telling: Telling,
    workshop: Workshop,
    lobby: Lobby,
    sessions: Vec<Session>,
    sessions_begun: u64,
    queue: Queue<u64>,
    door: Box<dyn Door>,
    /// The session that the door has let in.
    inside: Option<u64>,
    running: Option<Running>,
    accept_from_ns: u64,
}

/// Who hears what happens.
type OnEvent<'a> = &'a mut dyn FnMut(ServerEvent);

impl Front {
    /// A front without connections.
    pub(super) fn new(
        listeners: Arc<PerFamily<Option<Listener>>>,
        workshop: Workshop,
        access: Access,
        key: Key,
        versions: VersionRange,
        telling: Telling,
        per_source: u32,
    ) -> Self {
        let queue = Queue::new(telling.facts.limits.waiting, per_source);
        Front {
            listeners,
            access,
            key,
            versions,
            telling,
            workshop,
            lobby: Lobby::default(),
            sessions: Vec::new(),
            sessions_begun: 0,
            queue,
            door: Box::new(Open),
            inside: None,
            running: None,
            accept_from_ns: 0,
        }
    }

    /// Sessions measure only when `door` lets them.
    pub(super) fn put_behind(&mut self, door: Box<dyn Door>) {
        self.door = door;
    }

    /// Turns until `stop` is set, then takes leave of everybody.
    pub(super) fn run(mut self, stop: &AtomicBool, on_event: OnEvent<'_>) -> io::Result<()> {
        while !stop.load(Ordering::Acquire) {
            self.turn(on_event)?;
        }
        for i in 0..self.sessions.len() {
            self.sessions[i].machine.shut_down(clock::now_ns());
            self.perform(i, on_event);
        }
        if let Some(running) = self.running.take() {
            running.join();
        }
        Ok(())
    }

    /// Waits once and does all that has become possible.
    fn turn(&mut self, on_event: OnEvent<'_>) -> io::Result<()> {
        let (ready_lobby, ready_sessions, accept) = self.wait()?;
        self.workshop.waker.clear();
        while let Some(happened) = self.workshop.happened() {
            self.on_task(happened, on_event);
        }
        for (i, ready) in ready_sessions.into_iter().enumerate() {
            self.drive(i, ready, on_event);
        }
        for (pending, became) in self.lobby.advance(&ready_lobby, &self.key, self.versions) {
            self.on_became(pending, became, on_event);
        }
        let passed_on: Vec<Arrival> =
            std::iter::from_fn(|| self.workshop.arrived()).take(ACCEPT_MAX).collect();
        for arrival in passed_on {
            self.admit(arrival, on_event);
        }
        if accept {
            self.accept(on_event);
        }
        self.lobby.expire(clock::now_ns());
        while let Some(peer) = self.lobby.turned_away() {
            on_event(ServerEvent::TurnedAway { peer, why: TurnedAway::Crowded });
        }
        if let Some(id) = self.queue.overdue(clock::now_ns()) {
            self.give_way(id, on_event);
        }
        self.forget();
        Ok(())
    }

    /// Forgets sessions that are over.
    fn forget(&mut self) {
        let closing = self.sessions.iter().filter(|session| session.is_closing()).count();
        let mut too_many = closing.saturating_sub(CLOSING_MAX);
        self.sessions.retain(|session| {
            let dropped = session.is_closing() && too_many > 0;
            too_many -= usize::from(dropped);
            !dropped && !session.is_gone()
        });
    }

    /// Waits until something is ready: which of the lobby, which of the sessions, and whether there
    /// is something to accept.
    fn wait(&self) -> io::Result<(Vec<bool>, Vec<bool>, bool)> {
        let now = clock::now_ns();
        let accepting = now >= self.accept_from_ns;
        let listeners = self.open().filter(|_| accepting);
        let mut interests = vec![Interest::Wake(&self.workshop.waker)];
        interests.extend(self.lobby.iter().map(|pending| Interest::Read(&pending.stream)));
        let pending = interests.len() - 1;
        interests.extend(self.sessions.iter().map(Session::interest));
        interests.extend(listeners.map(Interest::Accept));

        let lobby = self.lobby.iter().map(Pending::deadline_ns);
        let sessions = self.sessions.iter().filter_map(Session::deadline_ns);
        let pause = (!accepting).then_some(self.accept_from_ns);
        let turn = self.queue.deadline();
        let next = lobby.chain(sessions).chain(pause).chain(turn).min().unwrap_or(u64::MAX);
        let ready = wait_any(&interests, next.saturating_sub(now).min(WAIT_NS_MAX))?;
        let (lobby, rest) = ready[1..].split_at(pending);
        let (sessions, listeners) = rest.split_at(self.sessions.len());
        Ok((lobby.to_vec(), sessions.to_vec(), listeners.contains(&true)))
    }

    /// The listeners whose connections no task accepts itself.
    fn open(&self) -> impl Iterator<Item = &Listener> {
        let lent = self.running.as_ref().and_then(Running::accepts);
        let open = Family::BOTH.into_iter().filter(move |family| Some(*family) != lent);
        open.filter_map(|family| self.listeners.get(family).as_ref())
    }

    fn accept(&mut self, on_event: OnEvent<'_>) {
        let (mut accepted, mut refused) = (Vec::new(), None);
        for listener in self.open() {
            for _ in 0..ACCEPT_MAX {
                match listener.accept_now() {
                    Ok(Some((stream, peer))) => accepted.push(Arrival::new(stream, peer)),
                    Ok(None) => break,
                    Err(error) => {
                        refused = Some(error);
                        break;
                    }
                }
            }
        }
        if let Some(error) = refused {
            on_event(ServerEvent::Trouble { what: error.to_string() });
            self.accept_from_ns = clock::now_ns().saturating_add(ACCEPT_PAUSE_NS);
        }
        for arrival in accepted {
            self.admit(arrival, on_event);
        }
    }

    /// Lets a connection in if its source is served. What it has said already is read at once, so
    /// that the many data connections of one task do not crowd the lobby.
    fn admit(&mut self, arrival: Arrival, on_event: OnEvent<'_>) {
        let peer = arrival.peer;
        if !self.access.admits(peer.ip()) {
            return on_event(ServerEvent::TurnedAway { peer, why: TurnedAway::NotServed });
        }
        let mut pending = Pending::new(arrival, clock::now_ns());
        match pending.advance(&self.key, self.versions) {
            Became::Pending => self.lobby.enter(pending),
            became => self.on_became(pending, became, on_event),
        }
    }

    fn on_became(&mut self, pending: Pending, became: Became, on_event: OnEvent<'_>) {
        match became {
            Became::Pending | Became::Nothing => {}
            Became::Stranger(public) => {
                let why = TurnedAway::Stranger(public);
                on_event(ServerEvent::TurnedAway { peer: pending.peer, why });
            }
            Became::Data(data) => {
                if let Some(running) = &self.running {
                    running.offer(data, pending.stream);
                }
            }
            // Nobody is kept waiting by one that has fallen silent after its hello.
            Became::Client(client) if !client.answered && self.queue.served().is_some() => {
                if let Some(pending) = pending.ask(client) {
                    self.lobby.enter(pending);
                }
            }
            Became::Client(client) => self.begin(pending.peer, pending.stream, client, on_event),
        }
    }

    fn begin(
        &mut self,
        peer: SocketAddr,
        stream: Stream,
        mut client: Client,
        on_event: OnEvent<'_>,
    ) {
        match self.queue.room(peer.ip(), clock::now_ns()) {
            Room::Free => {}
            Room::Instead(id) => self.give_way(id, on_event),
            Room::Crowded => {
                pending::crowded(&stream, &mut client.sealed);
                return on_event(ServerEvent::TurnedAway { peer, why: TurnedAway::Crowded });
            }
        }
        let name = client.who.name();
        // Whoever has proved who it is goes by that name, whatever it calls itself.
        client.hello.host.name = name.clone().unwrap_or(client.hello.host.name);
        let id = self.sessions_begun;
        self.sessions_begun += 1;
        let facts = self.telling.facts_for(peer);
        self.sessions.push(Session::new(id, (peer, stream), client.sealed, facts));
        on_event(ServerEvent::Joined { session: id, peer, name });
        let i = self.sessions.len() - 1;
        self.sessions[i].machine.on_message(Message::Hello(client.hello), clock::now_ns());
        self.perform(i, on_event);
        if client.answered {
            self.queue.heard(id);
        }
    }

    /// Ends a session whose place others want, and which has not said a word when it should have.
    fn give_way(&mut self, id: u64, on_event: OnEvent<'_>) {
        if let Some(i) = self.sessions.iter().position(|session| session.id == id) {
            self.sessions[i].machine.give_way(clock::now_ns());
            self.perform(i, on_event);
        }
    }

    /// Lets a session read or write if it is `ready`, and keep time.
    fn drive(&mut self, i: usize, ready: bool, on_event: OnEvent<'_>) {
        if ready {
            self.sessions[i].on_ready();
            self.perform(i, on_event);
            while let Some(message) = self.sessions[i].next_message() {
                self.queue.heard(self.sessions[i].id);
                self.sessions[i].machine.on_message(message, clock::now_ns());
                self.perform(i, on_event);
            }
        }
        self.sessions[i].on_timer(clock::now_ns());
        self.perform(i, on_event);
    }

    /// Does what a session's machine asks for.
    fn perform(&mut self, i: usize, on_event: OnEvent<'_>) {
        while let Some(action) = self.sessions[i].machine.poll() {
            let id = self.sessions[i].id;
            match action {
                ServerAction::Send(message) => {
                    if message == Message::Ping {
                        self.queue.asked(id, clock::now_ns());
                    }
                    self.sessions[i].send(&message);
                }
                ServerAction::Ask { by, wait, measurement } => {
                    self.ask(i, &by, wait, measurement.as_deref(), on_event);
                }
                ServerAction::Locate => self.locate(i),
                ServerAction::Start(task) => self.start(i, task, on_event),
                ServerAction::Finish => self.running_of(id).into_iter().for_each(Running::finish),
                ServerAction::Abort => self.running_of(id).into_iter().for_each(Running::abort),
                ServerAction::Close(ending) => self.close(i, ending, on_event),
            }
        }
    }

    /// Asks the queue, and then the door, whether a session may measure.
    fn ask(
        &mut self,
        i: usize,
        by: &str,
        wait: bool,
        measurement: Option<&str>,
        on_event: OnEvent<'_>,
    ) {
        let session = &mut self.sessions[i];
        let now = clock::now_ns();
        match self.queue.ask(session.id, session.peer.ip(), by, wait, now) {
            Turn::Now => match self.door.enter(measurement) {
                Ok(()) => {
                    self.inside = Some(session.id);
                    self.queue.entered(session.id, now);
                    session.admit(now);
                    on_event(ServerEvent::Admitted { session: session.id, by: by.to_string() });
                }
                Err(queued) if wait => {
                    self.queue.held_up(session.id);
                    session.machine.queued(queued, now);
                }
                Err(queued) => session.machine.busy(&queued, now),
            },
            Turn::Later(queued) => session.machine.queued(queued, now),
            Turn::Never(queued) => session.machine.busy(&queued, now),
            Turn::Soon(at) => session.machine.soon(at, now),
        }
    }

    /// Tells a client where else this server is, and proves to it the connections of the lobby that
    /// have said no more than their preamble.
    fn locate(&mut self, i: usize) {
        let session = &self.sessions[i];
        let peer = session.peer.ip();
        let addresses = session.local().map_or_else(Vec::new, |local| {
            self.telling.addresses_for(peer, local, &self.listeners)
        });
        let nonces = self.lobby.iter().filter_map(Pending::nonce);
        let proofs = nonces.map(|nonce| session.proof(nonce)).collect();
        self.sessions[i].machine.located(Addresses { addresses, proofs }, clock::now_ns());
    }

    fn start(&mut self, i: usize, task: Task, on_event: OnEvent<'_>) {
        let session = &mut self.sessions[i];
        on_event(ServerEvent::Task { session: session.id, number: task.number });
        match self.workshop.start(task, session.id) {
            Ok(running) => self.running = Some(running),
            Err(error) => {
                let why = format!("the server cannot start a thread: {error}");
                let failure = TaskFailure::passing(why);
                session.machine.ended(Err(failure), clock::now_ns());
            }
        }
    }

    fn close(&mut self, i: usize, ending: Ending, on_event: OnEvent<'_>) {
        let session = &mut self.sessions[i];
        session.close();
        let id = session.id;
        on_event(ServerEvent::Left { session: id, ending });
        // While its task's thread is still ending, nobody else may measure.
        if self.running_of(id).is_none() {
            self.leave(id, on_event);
        }
    }

    fn on_task(&mut self, happened: Happened, on_event: OnEvent<'_>) {
        let Some(id) = self.running.as_ref().map(|running| running.session) else {
            return;
        };
        let position = self.sessions.iter().position(|session| session.id == id);
        let now = clock::now_ns();
        match happened {
            Happened::Ready => {
                self.running.iter_mut().for_each(|running| running.ready = true);
                if let Some(i) = position {
                    self.sessions[i].machine.ready(now);
                    self.perform(i, on_event);
                }
            }
            Happened::Ended(outcome) => {
                if let Some(running) = self.running.take() {
                    running.join();
                }
                match position {
                    Some(i) if !self.sessions[i].machine.is_closed() => {
                        self.sessions[i].machine.ended(outcome, now);
                        self.perform(i, on_event);
                    }
                    _ => self.leave(id, on_event),
                }
            }
        }
    }

    /// Takes a session out of the queue and admits the next.
    fn leave(&mut self, id: u64, on_event: OnEvent<'_>) {
        let now = clock::now_ns();
        self.workshop.dismiss(id);
        if self.inside.take_if(|inside| *inside == id).is_some() {
            self.door.leave();
        }
        let was = self.queue.served();
        self.queue.leave(id, now);
        let served = self.queue.served();
        let next = self.sessions.iter().position(|session| Some(session.id) == served);
        if let Some(i) = next.filter(|_| was != served) {
            self.sessions[i].machine.ask_again(now);
            self.perform(i, on_event);
        }
    }

    /// The task at hand if it belongs to that session.
    fn running_of(&self, session: u64) -> Option<&Running> {
        self.running.as_ref().filter(|running| running.session == session)
    }
}
