//! The agent of a host: drives its machine. Orders come in, processes are begun and ended, and what
//! was measured is sent until the archive has it.

mod addresses;
mod away;
mod files;
mod log;
mod program;
mod sending;
mod speed;

pub use away::Offline;
pub use files::{Files, Runs};
pub use program::Program;

use crate::error::FleetError;
use crate::heard;
use crate::letter::Letter;
use crate::nats::connect::{Link, Way, connect_heard};
use crate::now::{now, stopped};
use crate::orders::Reader;
use async_nats::{Client, Subscriber};
use away::{Away, Change};
use futures_util::StreamExt;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use v6gap_core::fleet::agent::limits::Asked;
use v6gap_core::fleet::agent::{Action, Agent, Event, Setup};
use v6gap_core::fleet::message::{ClockState, Command, Heartbeat, Order, Prepare};
use v6gap_core::fleet::names::HostName;
use v6gap_core::fleet::subject;
use v6gap_sys::clock;

/// How old may be what is known of the disk, of the owner's limits and of what else is measured
/// here, in ns, when something happens. Nobody wakes up for that: it is looked at before an order
/// is obeyed, a result is sent or a heartbeat says it.
const FRESH_NS: u64 = 5_000_000_000;

/// While it has something measured it wakes as often as that, in ns, since no timer goes on while a
/// host sleeps: what its time is over for is then ended soon.
const BUSY_NS: u64 = 5_000_000_000;

/// Pause before a hub that is not there is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// What measures for an agent. Whatever it begins says how it ends by one [`Event::Ended`], and
/// dies with the agent.
pub trait Measures {
    /// Begins a server for one client, which says [`Event::Listens`] when it is one.
    fn serve(&mut self, prepare: &Prepare, says: UnboundedSender<Event>);

    /// Begins to measure from the host `me`, to be over by `until_ns` of the agent's clock.
    fn measure(
        &mut self,
        me: &HostName,
        prepare: &Prepare,
        until_ns: u64,
        says: UnboundedSender<Event>,
    );

    /// Ends what was begun at once.
    fn kill(&mut self);

    /// Whether something that is not the agent's is measured on the host; asked for when nothing of
    /// the agent's is.
    fn is_taken(&self) -> bool;

    /// What a plan takes, from its text.
    ///
    /// # Errors
    /// In words, if it is none.
    fn asked(&self, plan: &str) -> Result<Asked, String>;
}

/// What an agent is told when it is started.
#[derive(Debug, Clone)]
pub struct Options {
    /// The file with its credentials.
    pub credentials: PathBuf,
    /// The folder of a service's credentials, if this is one.
    pub service: Option<PathBuf>,
    /// Other addresses of the hub than the credentials name.
    pub hubs: Vec<String>,
    /// Whether a hub beyond this host may be one that does not encrypt.
    pub plaintext: bool,
    /// The file with what the owner of this host allows; nothing is limited without one.
    pub limits: Option<PathBuf>,
    /// What becomes of a measurement when the hub is gone.
    pub offline: Offline,
    /// Addresses that others reach this host by; those that it has if none are named, that by
    /// which it comes to the hub first.
    pub addresses: Vec<IpAddr>,
    /// What the program is called in heartbeats.
    pub program: String,
    /// What the program can do, by name.
    pub features: Vec<String>,
}

/// What an agent tells whoever looks at it.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// It cannot come to the hub for this reason, and tries again.
    Waits(String),
    /// It is at the hub and takes orders.
    Ready(HostName),
    /// What it does is another thing now.
    Does(Box<Heartbeat>),
    /// The hub is gone, and the archive does not have so many runs that are here. What is measured
    /// is finished or stopped, as it was told.
    Gone(u64),
    /// It is at the hub again.
    Back,
    /// What must be remembered of an order cannot be written, so that it is refused.
    Unwritten(String),
    /// An order came that is none.
    NoOrder(crate::orders::NoOrder),
}

/// An agent that goes on.
struct Going<'a, M> {
    machine: Agent,
    me: HostName,
    client: Client,
    reader: Reader,
    files: Files,
    measures: M,
    options: &'a Options,
    says: UnboundedSender<Event>,
    told: &'a mut dyn FnMut(Told),
    /// Whether something of the agent's is measured, or a server waits for it.
    is_busy: bool,
    /// Whether it was looked what is to be known of this host; before, it is closed.
    has_looked: bool,
    /// When that was the last time, by the clock of deadlines in ns.
    looked_ns: u64,
    away: Away,
    /// Where the hub is.
    hubs: Vec<SocketAddr>,
    letter: &'a Letter,
    /// Who is told that this agent is let in no more.
    ends: UnboundedSender<FleetError>,
}

/// What an agent listens to.
struct Listened {
    orders: Subscriber,
    acks: Subscriber,
    /// What was begun says how it goes.
    heard: UnboundedReceiver<Event>,
    links: UnboundedReceiver<Link>,
    ends: UnboundedReceiver<FleetError>,
}

/// Has a host take part in a fleet, until `stop` says so.
///
/// # Errors
/// If the credentials or journals of its runs cannot be read, or the hub lets it in no more.
pub async fn go_on<M: Measures>(
    options: &Options,
    files: Files,
    measures: M,
    told: &mut dyn FnMut(Told),
    mut stop: watch::Receiver<bool>,
) -> Result<(), FleetError> {
    let letter = Letter::read(&options.credentials, options.service.as_deref())?;
    let me: HostName = letter
        .name
        .parse()
        .map_err(|_| FleetError::file(&options.credentials, "they are not those of an agent"))?;
    let (link, links) = unbounded_channel();
    let came = come_in(options, &letter, link, told, &mut stop).await?;
    let Some(client) = came else { return Ok(()) };
    let hubs = addresses::of_hubs(way(options, &letter).nodes()).await;
    let orders = subscribed(&client, subject::command(&me)).await?;
    let acks = subscribed(&client, subject::ack(&me)).await?;
    let seed = v6gap_sys::entropy::bytes()?;
    let setup = Setup {
        me: me.clone(),
        features: options.features.clone(),
        known: files.known(),
        kept: files.kept()?,
        seed,
    };
    let (says, heard) = unbounded_channel();
    let (ends, ended) = unbounded_channel();
    let listened = Listened { orders, acks, heard, links, ends: ended };
    let mut going = Going {
        machine: Agent::new(setup),
        me: me.clone(),
        client,
        reader: Reader::of(&letter)?,
        files,
        measures,
        options,
        says,
        told,
        is_busy: false,
        has_looked: false,
        looked_ns: 0,
        away: Away::new(options.offline),
        hubs,
        letter: &letter,
        ends,
    };
    (going.told)(Told::Ready(me));
    let ended = going.turn(listened, stop).await;
    going.measures.kill();
    ended
}

/// How the hub is come to.
fn way<'a>(options: &'a Options, letter: &'a Letter) -> Way<'a> {
    let (file, hubs) = (Path::new(&options.credentials), &options.hubs);
    Way { letter, file, hubs, plaintext: options.plaintext }
}

/// Comes to the hub, however long that takes: an agent is often there before its hub. Nothing if it
/// is stopped before.
async fn come_in(
    options: &Options,
    letter: &Letter,
    link: UnboundedSender<Link>,
    told: &mut dyn FnMut(Told),
    stop: &mut watch::Receiver<bool>,
) -> Result<Option<Client>, FleetError> {
    let way = way(options, letter);
    loop {
        let link = link.clone();
        // Nobody listens any more once the agent ends.
        let heard = move |what| {
            let _ = link.send(what);
        };
        let error = tokio::select! {
            came = connect_heard(&way, heard) => match came {
                Ok(client) => return Ok(Some(client)),
                Err(error) => error,
            },
            () = stopped(stop) => return Ok(None),
        };
        if !error.may_pass() {
            return Err(error);
        }
        told(Told::Waits(error.to_string()));
        tokio::select! {
            () = tokio::time::sleep(AGAIN) => {}
            () = stopped(stop) => return Ok(None),
        }
    }
}

async fn subscribed(client: &Client, subject: String) -> Result<Subscriber, FleetError> {
    client.subscribe(subject.clone()).await.map_err(|error| FleetError::refused(&subject, error))
}

impl<M: Measures> Going<'_, M> {
    async fn turn(
        &mut self,
        mut listened: Listened,
        mut stop: watch::Receiver<bool>,
    ) -> Result<(), FleetError> {
        // The last of them opens it.
        for event in self.look() {
            self.has_looked = matches!(event, Event::Limits(_));
            self.take(event).await;
        }
        loop {
            let wait = tokio::time::sleep(Duration::from_nanos(self.left_ns(now().ns)));
            let events = tokio::select! {
                order = listened.orders.next() => match order {
                    Some(message) => self.order(&message.payload).into_iter().collect(),
                    None => return Ok(()),
                },
                ack = listened.acks.next() => match ack {
                    Some(message) => {
                        heard::ack(&message.payload).map(Event::Ack).into_iter().collect()
                    }
                    None => return Ok(()),
                },
                Some(event) = listened.heard.recv() => vec![event],
                Some(link) = listened.links.recv() => self.link(link).into_iter().collect(),
                Some(why) = listened.ends.recv() => return Err(why),
                () = wait => vec![Event::Time],
                () = stopped(&mut stop) => return Ok(()),
            };
            for event in self.known_now(now().ns).into_iter().chain(events) {
                self.take(event).await;
            }
        }
    }

    /// How long nothing has to be done if nothing happens, in ns.
    fn left_ns(&self, now_ns: u64) -> u64 {
        let wake_ns = self.away.wake_ns().into_iter().fold(self.machine.wake_ns(), u64::min);
        let most_ns = if self.is_busy { BUSY_NS } else { u64::MAX };
        wake_ns.saturating_sub(now_ns).min(most_ns)
    }

    async fn take(&mut self, event: Event) {
        self.is_busy &= !matches!(event, Event::Ended(_));
        let mut actions = self.machine.step(event, now()).into_iter();
        while let Some(action) = actions.next() {
            if !self.act(action).await {
                actions = self.machine.unremembered(actions.collect(), now()).into_iter();
            }
        }
    }

    fn order(&mut self, message: &[u8]) -> Option<Event> {
        let command: Command = match self.reader.read(message) {
            Ok(command) => command,
            Err(why) => {
                (self.told)(Told::NoOrder(why));
                return None;
            }
        };
        let asked = match &command.order {
            Order::Prepare(prepare) => Some(self.measures.asked(&prepare.plan)),
            Order::Start(_) | Order::Stop { .. } | Order::Status => None,
        };
        Some(Event::Command { command: Box::new(command), asked })
    }

    /// What became of the connection.
    fn link(&mut self, link: Link) -> Option<Event> {
        if link == Link::Refused {
            let ends = self.ends.clone();
            tokio::spawn(away::ask_again(self.options.clone(), self.letter.clone(), ends));
        }
        match self.away.link(link, now().ns)? {
            Change::Gone => {
                (self.told)(Told::Gone(self.machine.unarchived()));
                None
            }
            Change::Back => {
                (self.told)(Told::Back);
                Some(Event::Back)
            }
        }
    }

    /// What is to be known before anything else is done.
    fn known_now(&mut self, now_ns: u64) -> Vec<Event> {
        // Nothing is begun while something is measured, so that nobody need look meanwhile.
        let is_fresh = now_ns.saturating_sub(self.looked_ns) < FRESH_NS;
        let known = if is_fresh || self.is_busy { Vec::new() } else { self.look() };
        let abandoned = self.away.ends(now_ns).then_some(Event::Abandoned);
        abandoned.into_iter().chain(known).collect()
    }

    /// What is to be known of this host at this moment, the owner's limits last.
    fn look(&mut self) -> Vec<Event> {
        self.looked_ns = now().ns;
        let limits = self.files.limits(self.options.limits.as_deref());
        // What the agent itself has measured is not somebody else's.
        let taken = !self.is_busy && self.measures.is_taken();
        // First what keeps results from being sent.
        vec![Event::Taken(taken), Event::Disk(self.files.free_bytes()), Event::Limits(limits)]
    }

    /// Does it; returns false if it was to be remembered and could not be.
    async fn act(&mut self, action: Action) -> bool {
        match action {
            Action::Remember(known) => {
                let remembered = self.files.remember(known);
                if let Err(why) = &remembered {
                    (self.told)(Told::Unwritten(why.to_string()));
                }
                return remembered.is_ok();
            }
            Action::Serve(prepare) => {
                self.is_busy = true;
                self.measures.serve(&prepare, self.says.clone());
            }
            Action::Measure { prepare, until_ns } => {
                self.is_busy = true;
                self.measures.measure(&self.me, &prepare, until_ns, self.says.clone());
            }
            Action::Kill => self.measures.kill(),
            Action::Reply(reply) => {
                self.say(subject::reply(&self.me, reply.number), &*reply).await;
            }
            Action::Beat(beat) => self.beat(*beat).await,
            Action::Publish { run, at, bytes, .. } if self.away.is_it() => {
                let end = at.saturating_add(bytes);
                let _ = self.says.send(Event::Published { run, end, taken: false });
            }
            Action::Publish { run, job, at, bytes } => {
                let part = sending::Part { host: self.me.clone(), run, job, at, bytes };
                let journal = self.files.journal(&part.run);
                tokio::spawn(sending::send(self.client.clone(), part, journal, self.says.clone()));
            }
            // What a full disk does not keep is sent and told again once the agent begins anew.
            Action::Held { run, bytes } => drop(self.files.held(&run, bytes)),
            Action::Remove(run) => {
                if self.files.remove(&run) {
                    let _ = self.says.send(Event::Removed(run));
                }
            }
        }
        true
    }

    async fn beat(&mut self, mut beat: Heartbeat) {
        beat.program.clone_from(&self.options.program);
        beat.addresses = addresses::told(&self.options.addresses, &self.hubs);
        beat.clock = clock::kept()
            .map(|kept| ClockState { synchronised: kept.synchronised, error_ns: kept.error_ns });
        if self.has_looked {
            (self.told)(Told::Does(Box::new(beat.clone())));
        }
        self.say(subject::heartbeat(&self.me), &beat).await;
    }

    /// Says something. What does not arrive is said again when it is asked for, or with the next
    /// heartbeat.
    async fn say(&self, subject: String, what: &impl serde::Serialize) {
        if self.away.is_it() {
            return;
        }
        if let Ok(text) = serde_json::to_vec(what) {
            let _ = self.client.publish(subject, text.into()).await;
        }
    }
}
