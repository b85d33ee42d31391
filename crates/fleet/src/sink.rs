//! The sink: drives its machine. What agents send is written into the archive, and only then is it
//! said to be there.

use crate::archive::{Archive, Unwritten};
use crate::error::FleetError;
use crate::hub::Hub;
use crate::letter::Letter;
use crate::nats::connect::{Way, connect};
use crate::nats::streams;
use crate::now::{now, stopped};
use crate::parts::{self, NoPart};
use crate::rights::Role;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::{AckKind, Context, Message};
use futures_util::StreamExt;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::sync::watch;
use v6gap_core::fleet::message::Ack;
use v6gap_core::fleet::names::HostName;
use v6gap_core::fleet::sink::{AGAIN_NS, Action, Event, RunOf, Sink};
use v6gap_core::fleet::subject::{self, RESULTS};
use v6gap_core::session::throttle::Often;
use v6gap_store::KeptLines;

/// What the stream calls whoever takes results.
const NAME: &str = "sink";

/// Most parts that are waited for at a time: 512 kB each.
const UNDER_WAY: i64 = 256;

/// Parts that are asked for at once.
const AT_ONCE: usize = 32;

/// How long the stream waits for a word on a part before it sends it again.
const PATIENCE: Duration = Duration::from_secs(60);

/// Most parts of one host that may have to come again at a time, so that what one lacks keeps out
/// no other.
const OF_ONE_HOST: usize = 32;

/// How often a part is tried to be written: for five minutes.
const TRIES: i64 = 60;

/// How long it may fail to read, time after time, before it comes to the hub anew, in ns: the
/// stream may be gone. A node that went takes some seconds.
const FAILS_NS: u64 = 30_000_000_000;

/// How far apart two failures are of which the later one says nothing of the earlier, in ns. One
/// that hears nothing of the stream fails every 30 s.
const APART_NS: u64 = 60_000_000_000;

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
        /// How many before it of which nothing was told.
        left_out: u64,
    },
    /// A part could not be written, and will come again.
    Unwritten(String),
}

/// A sink that goes on.
struct Going<'a> {
    machine: Sink,
    archive: Archive,
    context: Context,
    /// Messages that no word was said on yet.
    open: BTreeMap<u64, (Message, HostName, Vec<u8>)>,
    number: u64,
    /// Numbers in the stream of parts that come again, by host.
    again: BTreeMap<HostName, BTreeSet<u64>>,
    /// Hosts of which nothing more is written for now: their parts are not waited for.
    sated: BTreeSet<HostName>,
    /// Messages that are no parts of which was told: who was invited may send as many as he likes.
    no_parts: Often,
    told: &'a mut dyn FnMut(Told),
}

/// Since when it fails to read, and when it did last, in ns.
#[derive(Debug, Default)]
struct Fails(Option<(u64, u64)>);

impl Fails {
    /// Whether it has failed for too long, now that it fails again.
    fn again(&mut self, now_ns: u64) -> bool {
        let is_near = |last_ns: u64| now_ns.saturating_sub(last_ns) < APART_NS;
        let since_ns = self.0.filter(|(_, last_ns)| is_near(*last_ns));
        let since_ns = since_ns.map_or(now_ns, |(since_ns, _)| since_ns);
        self.0 = Some((since_ns, now_ns));
        now_ns.saturating_sub(since_ns) >= FAILS_NS
    }
}

/// Takes the results of a fleet into the archive of its hub, until `stop` says so.
///
/// # Errors
/// If another sink has the archive, or the hub is not there, refuses or says nothing for half a
/// minute.
pub async fn go_on(
    hub: &Hub,
    told: &mut dyn FnMut(Told),
    mut stop: watch::Receiver<bool>,
) -> Result<(), FleetError> {
    let archive = Archive::of(&hub.folder);
    let _lock = KeptLines::open(&archive.folder.join(LOCK), &mut |_| {})?;
    let (context, mut messages) = tokio::select! {
        begun = begin(hub) => begun?,
        () = stopped(&mut stop) => return Ok(()),
    };
    told(Told::Ready);
    let (open, number, mut fails) = (BTreeMap::new(), 0, Fails::default());
    let (again, sated, no_parts) = (BTreeMap::new(), BTreeSet::new(), Often::default());
    let mut going = Going {
        machine: Sink::new(),
        archive,
        context,
        open,
        number,
        again,
        sated,
        no_parts,
        told,
    };
    loop {
        let message = tokio::select! {
            message = messages.next() => message,
            () = stopped(&mut stop) => return Ok(()),
        };
        match message {
            Some(Ok(message)) => {
                fails = Fails::default();
                going.take(message).await;
            }
            Some(Err(error)) if fails.again(now().ns) => return Err(refused(&error)),
            // The stream is looked for again: a node may have gone.
            Some(Err(_)) => tokio::time::sleep(Duration::from_millis(200)).await,
            None => return Err(refused(&"there are no more")),
        }
    }
}

fn refused(why: &dyn std::fmt::Display) -> FleetError {
    FleetError::refused("results", why)
}

/// Comes to the hub, and has what is new in the stream of results.
async fn begin(hub: &Hub) -> Result<(Context, pull::Stream), FleetError> {
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
    let stream = context.get_stream(RESULTS).await.map_err(|error| refused(&error))?;
    let consumer =
        stream.get_or_create_consumer(NAME, config).await.map_err(|error| refused(&error))?;
    let messages = consumer.stream().max_messages_per_batch(AT_ONCE).messages().await;
    let messages = messages.map_err(|error| refused(&error))?;
    Ok((context, messages))
}

impl Going<'_> {
    async fn take(&mut self, message: Message) {
        let (header, bytes) = match parts::read(&message.subject, &message.payload) {
            Ok(part) => part,
            Err(why) => {
                if let Some(left_out) = self.no_parts.may_tell(now().ns) {
                    let subject = message.subject.to_string();
                    (self.told)(Told::NoPart { subject, why, left_out });
                }
                // Sent again it would be none either. Unsaid, it comes again and is none again.
                let _ = message.ack_with(AckKind::Term).await;
                return;
            }
        };
        let on_disk = match self.archive.store(&header.from).grown_bytes(&header.run) {
            Ok(bytes) => bytes,
            Err(error) => {
                (self.told)(Told::Unwritten(error.to_string()));
                self.again(&header.from, &message).await;
                return;
            }
        };
        self.number += 1;
        let number = self.number;
        self.open.insert(number, (message, header.from.clone(), bytes));
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
                if let Some((message, host, _)) = self.open.remove(&number) {
                    let _ = message.ack().await;
                    self.over(&host, &message);
                }
            }
            Action::Again(number) => {
                if let Some((message, host, _)) = self.open.remove(&number) {
                    self.again(&host, &message).await;
                }
            }
            Action::Ack(ack) => self.say(&ack).await,
        }
        None
    }

    /// Whether the part is on the disk now.
    fn append(&mut self, number: u64, run: &RunOf, skip: u64) -> bool {
        let Some((_, _, bytes)) = self.open.get(&number) else { return false };
        let rest = usize::try_from(skip).ok().and_then(|skip| bytes.get(skip..));
        match self.archive.append(run, rest.unwrap_or_default(), now().ns) {
            Ok(bytes) => {
                self.sated.remove(&run.host);
                (self.told)(Told::Has { run: run.clone(), bytes });
                true
            }
            Err(error) => {
                if let Unwritten::Share { host, .. } = &error {
                    self.sated.insert(host.clone());
                }
                if !matches!(error, Unwritten::Share { say: false, .. }) {
                    (self.told)(Told::Unwritten(error.to_string()));
                }
                false
            }
        }
    }

    /// Has a part come again, but for one that came too often, is one of too many of its host or of
    /// a host that has its share: so many are waited for at a time, and those of one host, whose
    /// beginning is lost, may not keep out all others. Its agent sends the whole again.
    async fn again(&mut self, host: &HostName, message: &Message) {
        let Ok(info) = message.info() else { return };
        let (number, often) = (info.stream_sequence, info.delivered >= TRIES);
        let held = self.again.entry(host.clone()).or_default();
        let crowded = held.len() >= OF_ONE_HOST && !held.contains(&number);
        if often || crowded || self.sated.contains(host) {
            let _ = message.ack_with(AckKind::Term).await;
            self.over(host, message);
            return;
        }
        held.insert(number);
        let _ = message.ack_with(AckKind::Nak(Some(Duration::from_nanos(AGAIN_NS)))).await;
    }

    /// A part does not come again.
    fn over(&mut self, host: &HostName, message: &Message) {
        let (Ok(info), Some(held)) = (message.info(), self.again.get_mut(host)) else { return };
        held.remove(&info.stream_sequence);
        if held.is_empty() {
            self.again.remove(host);
        }
    }

    /// Tells an agent. One that does not hear it sends again, and is told again.
    async fn say(&self, ack: &Ack) {
        if let Ok(text) = serde_json::to_vec(ack) {
            let _ = self.context.client().publish(subject::ack(&ack.to), text.into()).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_that_go_on_end_it_and_those_that_pass_do_not() {
        let mut fails = Fails::default();
        let s = 1_000_000_000;
        for (at_s, is_over) in [(0, false), (1, false), (29, false), (30, true), (31, true)] {
            assert_eq!(fails.again(at_s * s), is_over, "{at_s}");
        }
        // The next time that a node goes.
        for (at_s, is_over) in [(100, false), (129, false), (159, true)] {
            assert_eq!(fails.again(at_s * s), is_over, "{at_s}");
        }
    }
}
