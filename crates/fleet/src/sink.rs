//! The sink: drives its machine. What agents send is written into the archive, and only then is it
//! said to be there.
//!
//! Each host has a folder of its own in the archive, which is one of this program's data: every
//! verb reads it as it reads results that were measured here.

use crate::error::FleetError;
use crate::hub::Hub;
use crate::letter::Letter;
use crate::nats::connect::{Way, connect};
use crate::nats::streams;
use crate::now::stopped;
use crate::parts::{self, NoPart};
use crate::rights::Role;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::{AckKind, Context, Message};
use futures_util::StreamExt;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::watch;
use v6gap_core::fleet::message::Ack;
use v6gap_core::fleet::names::HostName;
use v6gap_core::fleet::sink::{AGAIN_NS, Action, Event, RunOf, Sink};
use v6gap_core::fleet::subject::{self, RESULTS};
use v6gap_store::{KeptLines, Store};

/// What the stream calls whoever takes results.
const NAME: &str = "sink";

/// Most parts that are waited for at a time: 512 kB each.
const UNDER_WAY: i64 = 256;

/// Parts that are asked for at once.
const AT_ONCE: usize = 32;

/// How long the stream waits for a word on a part before it sends it again.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often a part is tried to be written: for five minutes.
const TRIES: i64 = 60;

/// Held by the one sink that writes into an archive.
const LOCK: &str = "sink.lock";

/// What a sink tells whoever looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// It takes results.
    Ready,
    /// So many bytes of a run are in the archive now.
    Has {
        /// The run.
        run: RunOf,
        /// Bytes of its journal.
        bytes: u64,
    },
    /// A message was no part of a run, and is gone.
    NoPart {
        /// Under what it came.
        subject: String,
        /// Why it is none.
        why: NoPart,
    },
    /// A part could not be written, and will come again.
    Unwritten(String),
}

/// The archive: a folder of this program's data for each host.
#[derive(Debug, Clone)]
pub struct Archive {
    folder: PathBuf,
}

impl Archive {
    /// The archive of the hub in `folder`.
    pub fn of(folder: &Path) -> Self {
        Archive { folder: folder.join("archive") }
    }

    /// The results of a host.
    pub fn store(&self, host: &HostName) -> Store {
        // A name is one part of a path, whatever its letters.
        Store::at(&self.folder.join(host.site()).join(host.host()))
    }
}

/// A sink that goes on.
struct Going<'a> {
    machine: Sink,
    archive: Archive,
    context: Context,
    /// Messages that no word was said on yet.
    open: BTreeMap<u64, (Message, Vec<u8>)>,
    number: u64,
    told: &'a mut dyn FnMut(Told),
}

/// Takes the results of a fleet into the archive of its hub, until `stop` says so.
///
/// # Errors
/// If another sink has the archive, or the hub is not there or refuses.
pub async fn go_on(
    hub: &Hub,
    told: &mut dyn FnMut(Told),
    mut stop: watch::Receiver<bool>,
) -> Result<(), FleetError> {
    let archive = Archive::of(&hub.folder);
    let _lock = KeptLines::open(&archive.folder.join(LOCK), &mut |_| {})?;
    let file = hub.part(Role::Sink);
    let letter = Letter::read(&file, None)?;
    let way = Way { letter: &letter, file: &file, hubs: &[], plaintext: true };
    let client = connect(&way).await?;
    let context = streams::make(&client, hub.nodes.len()).await?;
    let config = pull::Config {
        durable_name: Some(NAME.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: PATIENCE,
        max_ack_pending: UNDER_WAY,
        ..pull::Config::default()
    };
    let refused = |error: &dyn std::fmt::Display| FleetError::refused("results", error);
    let stream = context.get_stream(RESULTS).await.map_err(|error| refused(&error))?;
    let consumer =
        stream.get_or_create_consumer(NAME, config).await.map_err(|error| refused(&error))?;
    let messages = consumer.stream().max_messages_per_batch(AT_ONCE).messages().await;
    let mut messages = messages.map_err(|error| refused(&error))?;
    told(Told::Ready);
    let (open, number) = (BTreeMap::new(), 0);
    let mut going = Going { machine: Sink::new(), archive, context, open, number, told };
    loop {
        let message = tokio::select! {
            message = messages.next() => message,
            () = stopped(&mut stop) => return Ok(()),
        };
        match message {
            Some(Ok(message)) => going.take(message).await,
            // The stream is looked for again: a node may have gone.
            Some(Err(_)) => tokio::time::sleep(Duration::from_millis(200)).await,
            None => return Err(refused(&"there are no more")),
        }
    }
}

impl Going<'_> {
    async fn take(&mut self, message: Message) {
        let (header, bytes) = match parts::read(&message.subject, &message.payload) {
            Ok(part) => part,
            Err(why) => {
                (self.told)(Told::NoPart { subject: message.subject.to_string(), why });
                // Sent again it would be none either. Unsaid, it comes again and is none again.
                let _ = message.ack_with(AckKind::Term).await;
                return;
            }
        };
        let on_disk = match self.archive.store(&header.from).grown_bytes(&header.run) {
            Ok(bytes) => bytes,
            Err(error) => {
                (self.told)(Told::Unwritten(error.to_string()));
                again(&message).await;
                return;
            }
        };
        self.number += 1;
        let number = self.number;
        self.open.insert(number, (message, bytes));
        let mut events = vec![Event::Chunk { message: number, header: Box::new(header), on_disk }];
        while let Some(event) = events.pop() {
            for action in self.machine.step(event) {
                events.extend(self.act(action).await);
            }
        }
    }

    async fn act(&mut self, action: Action) -> Option<Event> {
        match action {
            Action::Append { message, run, skip } => {
                let on_disk = self.append(message, &run, skip);
                return Some(Event::Appended { run, on_disk });
            }
            // What is not heard comes again, and is known then.
            Action::Done(number) => {
                if let Some((message, _)) = self.open.remove(&number) {
                    let _ = message.ack().await;
                }
            }
            Action::Again(number) => {
                if let Some((message, _)) = self.open.remove(&number) {
                    again(&message).await;
                }
            }
            Action::Ack(ack) => self.say(&ack).await,
        }
        None
    }

    /// Whether the part is on the disk now.
    fn append(&mut self, number: u64, run: &RunOf, skip: u64) -> bool {
        let Some((_, bytes)) = self.open.get(&number) else { return false };
        let store = self.archive.store(&run.host);
        let rest = usize::try_from(skip).ok().and_then(|skip| bytes.get(skip..));
        let written = store.grown_bytes(&run.run).and_then(|at| {
            store.grow(&run.run, at, rest.unwrap_or_default())?;
            Ok(at + rest.unwrap_or_default().len() as u64)
        });
        match written {
            Ok(bytes) => {
                (self.told)(Told::Has { run: run.clone(), bytes });
                true
            }
            Err(error) => {
                (self.told)(Told::Unwritten(error.to_string()));
                false
            }
        }
    }

    /// Tells an agent. One that does not hear it sends again, and is told again.
    async fn say(&self, ack: &Ack) {
        if let Ok(text) = serde_json::to_vec(ack) {
            let _ = self.context.client().publish(subject::ack(&ack.to), text.into()).await;
        }
    }
}

/// Has a part come again, but for one that came too often: so many are waited for at a time, and
/// those of one host, whose beginning is lost, may not keep out all others. Its agent sends the
/// whole again.
async fn again(message: &Message) {
    let often = message.info().is_ok_and(|info| info.delivered >= TRIES);
    let kind = match often {
        true => AckKind::Term,
        false => AckKind::Nak(Some(Duration::from_nanos(AGAIN_NS))),
    };
    let _ = message.ack_with(kind).await;
}
