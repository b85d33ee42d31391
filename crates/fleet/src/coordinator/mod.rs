//! The coordinator: drives its machine. It reads and writes grants, gives orders, and hears what
//! hosts say.

mod applies;
mod known;
mod list;
mod meshes;
mod silence;
pub(crate) mod visits;

pub(crate) use known::Asked;
pub use known::{Heard, Known, Part};
pub use meshes::{Applied, Meshes};
pub use visits::{Missed, Visited};

use crate::error::FleetError;
use crate::heard;
use crate::hub::Hub;
use crate::letter::Letter;
use crate::nats::connect::{Way, connect};
use crate::nats::grants::Grants;
use crate::nats::keys::{Bucket, name_of};
use crate::nats::streams::{self, bucket_subject};
use crate::now::{now, stopped};
use crate::orders::Writer;
use crate::rights::{ANSWERED, ASK, Role};
use applies::{Applies, Read, Said};
use async_nats::{Client, Message, Subscriber};
use futures_util::{FutureExt, StreamExt};
use list::List;
use silence::Silence;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use v6gap_core::fleet::coordinator::{Action, Coordinator, Event, Setup};
use v6gap_core::fleet::id::Epoch;
use v6gap_core::fleet::message::{Command, Heartbeat};
use v6gap_core::fleet::names::HostName;
use v6gap_core::fleet::subject::{self, HEARTBEATS, MESHES, REPLIES, STATE};
use v6gap_core::fleet::timetable::Standing;
use v6gap_core::fleet::work::{Now, Outcome, Work};
use v6gap_core::fleet::{REQUEST_NS, SILENT_NS};

/// Random bytes of what a coordinator calls itself.
const NAME_BYTES: usize = 8;

/// Most answers that are heard before a heartbeat: one agent's need not end.
const REPLIES_MAX: usize = 1_000;

/// How long one that ends waits for the broker's word that another one may lead.
const PARTING: Duration = Duration::from_secs(2);

/// How often it is looked which mesh plans are applied: what was said of that while the hub was
/// gone was not heard.
const READ: Duration = Duration::from_secs(60);

/// How often it says how it stands, in ns.
const STANDS_NS: u64 = 10_000_000_000;

/// What a coordinator tells whoever looks at it.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// It is at the hub.
    Ready,
    /// It leads from now on, or no more.
    Leads(bool),
    /// The broker has not answered for a while, or does again.
    Silent(bool),
    /// How it stands, every 10 s while it leads.
    Stands {
        /// Its lead.
        epoch: Epoch,
        /// How far behind each mesh plan is, by its name.
        meshes: BTreeMap<String, Standing>,
    },
    /// An agent says that it is there.
    Heard(Box<Heartbeat>),
    /// The broker answered a batch.
    Answered {
        /// Jobs that it grants.
        grants: usize,
        /// How long that took, in ns.
        took_ns: u64,
        /// Whether it came true, as far as is known.
        came: bool,
    },
    /// Work came out so.
    Came {
        /// The work.
        work: Box<Work>,
        /// How it came out.
        outcome: Outcome,
    },
    /// A mesh plan is applied, with so many paths; none if it is no more.
    Applied {
        /// Its name.
        name: String,
        /// Its paths today.
        paths: Option<usize>,
    },
    /// The list of who is invited cannot be read, so that whoever was in it before still is.
    NoList {
        /// In words.
        why: String,
    },
    /// A mesh plan that is no such.
    NoMesh {
        /// Its name.
        name: String,
        /// In words.
        why: String,
    },
}

/// What came of an action, and visits that are to be known before the machine hears of it.
type Answered = (Event, Vec<Visited>);

/// The key of a mesh plan and its text; none if it is applied no more.
type Text = (String, Vec<u8>);

/// A coordinator that goes on.
struct Going<'a> {
    machine: Coordinator,
    meshes: Meshes,
    /// Since when a visit counts as one of the mesh plan of that name, in ns since the Unix epoch:
    /// of one that is measured afresh, since it was heard of.
    since: BTreeMap<String, u64>,
    client: Client,
    grants: Grants,
    state: Bucket,
    applied: Bucket,
    /// The mesh plans that are applied or on their way to be, by their keys, and how often that
    /// changed.
    texts: BTreeMap<String, Vec<u8>>,
    changes: u64,
    applies: Applies,
    writer: Writer,
    folder: PathBuf,
    /// Who is invited.
    list: List,
    /// What agents said last, and when.
    heard: BTreeMap<HostName, (Heartbeat, Now)>,
    /// Jobs of the batch that is asked for, and when that was, in ns.
    asked: (usize, u64),
    /// When it said last how it stands in this lead, in ns.
    stood_ns: Option<u64>,
    /// Whether it leads, or reads what there is once more.
    leads: bool,
    silence: Silence,
    says: UnboundedSender<Answered>,
    told: &'a mut dyn FnMut(Told),
}

/// Coordinates the fleet of a hub, until `stop` says so.
///
/// # Errors
/// If the hub is not there or refuses.
pub async fn go_on(
    hub: &Hub,
    told: &mut dyn FnMut(Told),
    stop: watch::Receiver<bool>,
) -> Result<(), FleetError> {
    let file = hub.part(Role::Coordinator);
    let letter = Letter::read(&file, None)?;
    let way = Way { letter: &letter, file: &file, hubs: &[], plaintext: true };
    let client = connect(&way).await?;
    let context = streams::make(&client, hub.nodes.len()).await?;
    let state = Bucket::of(&context, STATE).await?;
    let visited = state.clone();
    let (applies, were_read) = Applies::new(move || {
        let state = visited.clone();
        async move { visits::all(&state).await.ok() }
    });
    let listened = Listened {
        replies: subscribed(&client, REPLIES.to_owned()).await?,
        heartbeats: subscribed(&client, HEARTBEATS.to_owned()).await?,
        // Before they are read, so that none that is applied meanwhile is missed.
        meshes: subscribed(&client, bucket_subject(MESHES, ">")).await?,
        asked: subscribed(&client, ASK.to_owned()).await?,
        were_read,
    };
    let applied = Bucket::of(&context, MESHES).await?;
    let grants = Grants::of(&context).await.map_err(|e| FleetError::refused("grants", e))?;
    let keys = crate::hub::keys::Keys::read(&hub.folder)?;
    let (says, events) = unbounded_channel();
    let mut going = Going {
        machine: Coordinator::new(setup()?),
        meshes: Meshes::default(),
        since: BTreeMap::new(),
        grants,
        state,
        applied: applied.clone(),
        texts: BTreeMap::new(),
        changes: 0,
        applies,
        client,
        writer: Writer { jobs: keys.jobs, seals: keys.seals },
        folder: hub.folder.clone(),
        list: List::default(),
        heard: BTreeMap::new(),
        asked: (0, 0),
        stood_ns: None,
        leads: false,
        silence: Silence::default(),
        says,
        told,
    };
    let all = applied.all().await?;
    going.hear_all(0, all);
    (going.told)(Told::Ready);
    going.turn(listened, events, stop).await
}

/// What a coordinator listens to.
struct Listened {
    replies: Subscriber,
    heartbeats: Subscriber,
    meshes: Subscriber,
    asked: Subscriber,
    /// Mesh plans that may be applied now.
    were_read: UnboundedReceiver<Read>,
}

async fn subscribed(client: &Client, subject: String) -> Result<Subscriber, FleetError> {
    client.subscribe(subject.clone()).await.map_err(|error| FleetError::refused(&subject, error))
}

/// A coordinator that nobody was before.
fn setup() -> Result<Setup, FleetError> {
    let seed = v6gap_sys::entropy::bytes()?;
    let name: [u8; NAME_BYTES] = v6gap_sys::entropy::bytes()?;
    let who = name.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Setup { who, addresses: BTreeMap::new(), seed })
}

impl Going<'_> {
    async fn turn(
        &mut self,
        mut listened: Listened,
        mut events: UnboundedReceiver<Answered>,
        mut stop: watch::Receiver<bool>,
    ) -> Result<(), FleetError> {
        let mut read = tokio::time::interval(READ);
        read.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (lists, mut were_listed) = unbounded_channel();
        loop {
            let wait_ns = self.machine.wake_ns().saturating_sub(now().ns);
            let event = tokio::select! {
                reply = listened.replies.next() => match reply {
                    Some(message) => replied(&message),
                    None => return Ok(()),
                },
                beat = listened.heartbeats.next() => match beat {
                    Some(message) => {
                        self.hear_before(&mut listened.replies).await;
                        self.beat(&message.subject, &message.payload)
                    }
                    None => return Ok(()),
                },
                asked = listened.asked.next() => match asked {
                    Some(message) => {
                        self.answer(&message.payload, message.reply).await;
                        None
                    }
                    None => return Ok(()),
                },
                mesh = listened.meshes.next() => match mesh {
                    Some(message) => {
                        let start = bucket_subject(MESHES, "");
                        if let Some(key) = message.subject.strip_prefix(start.as_str()) {
                            self.hear((key.to_owned(), message.payload.to_vec()));
                        }
                        None
                    }
                    None => return Ok(()),
                },
                _ = read.tick() => {
                    self.list_applied(lists.clone());
                    None
                }
                Some((since, all)) = were_listed.recv() => {
                    self.hear_all(since, all);
                    None
                }
                Some(ready) = listened.were_read.recv() => {
                    self.apply_read(ready);
                    Some(Event::Time)
                }
                Some((event, visits)) = events.recv() => {
                    self.recall(&visits);
                    Some(event)
                }
                () = tokio::time::sleep(Duration::from_nanos(wait_ns)) => Some(Event::Time),
                () = stopped(&mut stop) => {
                    let _ = tokio::time::timeout(PARTING, self.part(&mut events)).await;
                    return Ok(());
                }
            };
            if let Some(event) = event {
                self.step(event).await;
            }
        }
    }

    /// Hears what agents answered before one of them said that it is there: an order that it
    /// refused is no longer under way by then, and that is why.
    async fn hear_before(&mut self, replies: &mut Subscriber) {
        for _ in 0..REPLIES_MAX {
            let next = tokio::task::unconstrained(replies.next()).now_or_never();
            let Some(message) = next.flatten() else { return };
            if let Some(event) = replied(&message) {
                self.step(event).await;
            }
        }
    }

    /// Leads no more: another one may at once, and what runs goes on.
    async fn part(&mut self, events: &mut UnboundedReceiver<Answered>) {
        let leads = self.machine.leads();
        self.step(Event::Retire).await;
        // A batch that is on its way comes before the one that says so.
        while self.machine.leads()
            && let Some((event, _)) = events.recv().await
        {
            self.step(event).await;
        }
        if leads {
            // What came of that one: it is nobody's concern here.
            let _ = events.recv().await;
        }
    }

    fn beat(&mut self, of: &str, message: &[u8]) -> Option<Event> {
        let beat = heard::heartbeat(of, message)?;
        (self.told)(Told::Heard(Box::new(beat.clone())));
        self.heard.insert(beat.from.clone(), (beat.clone(), now()));
        Some(Event::Heartbeat(Box::new(beat)))
    }

    /// Says how the fleet does: the part that is asked for, to an operator.
    async fn answer(&mut self, asked: &[u8], to: Option<async_nats::Subject>) {
        self.look();
        // One that still says that it is there may have been invited at another node.
        let is_silent = |at: &Now| now().ns.saturating_sub(at.ns) > SILENT_NS;
        self.heard.retain(|host, (_, at)| !(self.list.is_gone(host) && is_silent(at)));
        let to = to.filter(|to| to.starts_with(ANSWERED));
        let asked = heard::read::<Asked>(asked).unwrap_or_default();
        let part = Part::of(&self.heard, &asked, self.machine.leads(), now().ns);
        if let (Some(to), Ok(text)) = (to, serde_json::to_vec(&part)) {
            let _ = self.client.publish(to, text.into()).await;
        }
    }

    async fn step(&mut self, event: Event) {
        if let Event::Committed { came, .. } = &event {
            let (grants, asked_ns) = self.asked;
            let took_ns = now().ns.saturating_sub(asked_ns);
            (self.told)(Told::Answered { grants, took_ns, came: came.is_ok() });
        }
        if let Some(is_silent) = self.silence.heard(&event, now().ns) {
            (self.told)(Told::Silent(is_silent));
        }
        for action in self.machine.step(event, now(), &mut self.meshes) {
            self.act(action).await;
        }
        self.stand();
    }

    /// Says how it stands, if it leads and has not said so for a while.
    fn stand(&mut self) {
        let now = now();
        let said = self.stood_ns.is_some_and(|at_ns| now.ns.saturating_sub(at_ns) < STANDS_NS);
        if said || !self.machine.leads() {
            return;
        }
        self.stood_ns = Some(now.ns);
        let meshes = self.meshes.standing(now.wall);
        (self.told)(Told::Stands { epoch: self.machine.epoch(), meshes });
    }

    async fn act(&mut self, action: Action) {
        let (grants, says) = (self.grants.clone(), self.says.clone());
        // Nobody listens to an answer any more once the coordinator ends.
        match action {
            Action::Look => drop(tokio::spawn(async move {
                let entry = grants.look(&v6gap_core::fleet::grant::Key::Leader).await;
                let _ = says.send((Event::Looked(entry), Vec::new()));
            })),
            Action::List { number } => {
                // Another one may have led since the mesh plans were applied. What the broker does
                // not tell of visits is measured once more.
                let state = (!self.leads).then(|| self.state.clone());
                drop(tokio::spawn(async move {
                    let (entries, visits) = tokio::join!(in_time(grants.list()), seen(state));
                    let _ = says.send((Event::Listed { number, entries }, visits));
                }));
            }
            Action::Commit { number, batch } => {
                self.asked = (batch.grants(), now().ns);
                drop(tokio::spawn(async move {
                    let came = grants.commit(&batch).await;
                    let _ = says.send((Event::Committed { number, came }, Vec::new()));
                }));
            }
            Action::Send(command) => self.send(&command).await,
            Action::Came { work, outcome, .. } => {
                let unix_ns = now().wall.unix_ns;
                self.applies.came(&work, &outcome, unix_ns);
                if let Some(kept) = visits::written(&work, &outcome, unix_ns) {
                    drop(tokio::spawn(visits::keep(self.state.clone(), kept)));
                }
                (self.told)(Told::Came { work, outcome });
            }
            Action::Leads(leads) => {
                self.stood_ns = None;
                self.leads = leads;
                (self.told)(Told::Leads(leads));
            }
        }
    }

    /// Gives an order. One that does not arrive is known by the answer that does not come, and one
    /// that cannot be given has failed.
    async fn send(&mut self, command: &Command) {
        self.look();
        match self.list.written(command, &self.writer) {
            Ok(message) => {
                let subject = subject::command(&command.to);
                let _ = self.client.publish(subject, message.into()).await;
            }
            Err(why) => {
                if let Some(reply) = list::not_given(command, why) {
                    let _ = self.says.send((Event::Reply(Box::new(reply)), Vec::new()));
                }
            }
        }
    }

    /// Looks who is invited.
    fn look(&mut self) {
        if let Some(why) = self.list.look(&self.folder, now().ns) {
            (self.told)(Told::NoList { why });
        }
    }

    /// Has it read which mesh plans are applied.
    fn list_applied(&self, lists: UnboundedSender<(u64, Vec<Text>)>) {
        let (applied, since) = (self.applied.clone(), self.changes);
        drop(tokio::spawn(async move {
            if let Ok(all) = applied.all().await {
                let _ = lists.send((since, all));
            }
        }));
    }

    /// These are the mesh plans that are applied, unless that has changed since it was asked.
    fn hear_all(&mut self, since: u64, all: Vec<Text>) {
        if since != self.changes {
            return;
        }
        let is_there = |key: &&String| all.iter().any(|(there, _)| there == *key);
        let gone: Vec<String> = self.texts.keys().filter(|key| !is_there(key)).cloned().collect();
        gone.into_iter().for_each(|key| self.hear((key, Vec::new())));
        for (key, text) in all {
            if self.texts.get(&key) != Some(&text) {
                self.hear((key, text));
            }
        }
    }

    /// A mesh plan is to be applied, or taken away if there is no text.
    fn hear(&mut self, said: Text) {
        self.changes += 1;
        let (key, text) = said;
        if text.is_empty() {
            self.texts.remove(&key);
            return self.take_away(&key);
        }
        self.texts.insert(key.clone(), text.clone());
        self.applies.want(Said { key, text, unix_ns: now().wall.unix_ns });
    }

    /// Visits were read, or nobody was there to answer.
    fn apply_read(&mut self, read: Read) {
        let Read { said, visits } = self.applies.take(read);
        for said in said {
            // Another one was said meanwhile, or none.
            if self.texts.get(&said.key) != Some(&said.text) {
                continue;
            }
            match &visits {
                Some(visits) => self.apply(&said, visits),
                // It is another one than will be listed soon, and so is heard again.
                None => drop(self.texts.insert(said.key, Vec::new())),
            }
        }
    }

    /// A mesh plan is applied no more.
    fn take_away(&mut self, key: &str) {
        let Some(name) = name_of(key) else { return };
        self.meshes.set(&name, None);
        self.since.remove(&name);
        (self.told)(Told::Applied { name, paths: None });
        self.machine.set_addresses(self.meshes.addresses());
    }

    /// A mesh plan is applied, of whose paths these visits are known.
    fn apply(&mut self, said: &Said, visits: &[Visited]) {
        let Some(name) = name_of(&said.key) else { return };
        let applied: Result<Applied, String> =
            serde_json::from_slice(&said.text).map_err(|error| error.to_string());
        let table = applied.and_then(|applied| {
            let table = applied.timetable(now().wall)?;
            Ok((table, applied.afresh))
        });
        match table {
            Err(why) => (self.told)(Told::NoMesh { name, why }),
            Ok((table, afresh)) => {
                self.meshes.set(&name, Some(table));
                let since = if afresh { said.unix_ns } else { 0 };
                self.since.insert(name.clone(), since);
                visits.iter().for_each(|visited| self.visited(&name, since, visited));
                let paths = self.meshes.names().iter().find(|(of, _)| *of == name).map(|of| of.1);
                (self.told)(Told::Applied { name, paths });
            }
        }
        self.machine.set_addresses(self.meshes.addresses());
    }

    /// Takes note of visits.
    fn recall(&mut self, visits: &[Visited]) {
        self.applies.seen(visits);
        for (name, since) in self.since.clone() {
            visits.iter().for_each(|visited| self.visited(&name, since, visited));
        }
    }

    fn visited(&mut self, mesh: &str, since_unix_ns: u64, visited: &Visited) {
        let now_unix_ns = now().wall.unix_ns;
        // The clock of whoever led then may have been ahead, and it is known no better when it was.
        let is_since = match since_unix_ns {
            0 => true,
            since_unix_ns => (since_unix_ns..=now_unix_ns).contains(&visited.unix_ns),
        };
        if is_since {
            self.meshes.measured(mesh, visited.of(), visited.unix_ns, now_unix_ns);
        }
    }
}

/// The answer in a message, if it is one.
fn replied(message: &Message) -> Option<Event> {
    let reply = heard::reply(&message.subject, &message.payload)?;
    Some(Event::Reply(Box::new(reply)))
}

/// What the broker answers, unless that takes longer than a request may.
async fn in_time<T>(asked: impl Future<Output = Option<T>>) -> Option<T> {
    tokio::time::timeout(Duration::from_nanos(REQUEST_NS), asked).await.ok().flatten()
}

/// The last visit of each path, as far as the broker tells it.
async fn seen(state: Option<Bucket>) -> Vec<Visited> {
    let Some(state) = state else { return Vec::new() };
    in_time(async { visits::all(&state).await.ok() }).await.unwrap_or_default()
}
