//! Measuring that is made up: it takes its time, and leaves a journal. What is under way at each
//! host is written down, so that two at once are seen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;
use v6gap_core::fleet::agent::limits::Asked;
use v6gap_core::fleet::agent::{Ended, Event, Trouble};
use v6gap_core::fleet::message::{Measured, Prepare};
use v6gap_core::fleet::names::HostName;
use v6gap_core::record::RunId;
use v6gap_fleet::agent::{Files, Measures, Runs};
use v6gap_store::Store;

/// Shortest and longest time that one takes, in ms.
const TIME_MS: (u64, u64) = (1_000, 2_000);

/// Bytes of a journal.
const JOURNAL_BYTES: usize = 8_192;

/// All hosts.
#[derive(Default)]
pub struct World {
    /// Hosts at which something is measured.
    busy: Mutex<BTreeSet<HostName>>,
    /// What ends a server, by the word of its job.
    servers: Mutex<BTreeMap<String, Arc<Notify>>>,
    /// Runs that were measured to their end, with their hosts.
    runs: Mutex<BTreeSet<(HostName, RunId)>>,
    begun: AtomicU64,
    overlaps: AtomicU64,
}

/// What measures at a host.
pub struct Fake {
    store: Store,
    runs: Runs,
    world: Arc<World>,
    kill: Arc<Notify>,
}

/// Hosts that are taken as long as this lives, however it ends.
struct Taken(Arc<World>, Vec<HostName>);

impl World {
    /// How many measurements were begun.
    pub fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// How many of them found one of their hosts taken.
    pub fn overlaps(&self) -> u64 {
        self.overlaps.load(Ordering::Relaxed)
    }

    /// Runs that were measured to their end.
    pub fn runs(&self) -> BTreeSet<(HostName, RunId)> {
        self.runs.lock().unwrap().clone()
    }

    fn take(self: &Arc<Self>, hosts: [&HostName; 2]) -> Taken {
        let mut busy = self.busy.lock().unwrap();
        let mine = hosts.into_iter().filter(|host| busy.insert((*host).clone()));
        let mine: Vec<HostName> = mine.cloned().collect();
        self.begun.fetch_add(1, Ordering::Relaxed);
        if mine.len() < hosts.len() {
            self.overlaps.fetch_add(1, Ordering::Relaxed);
        }
        Taken(Arc::clone(self), mine)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut busy = self.0.busy.lock().unwrap();
        self.1.iter().for_each(|host| drop(busy.remove(host)));
    }
}

impl Drop for Fake {
    /// What it began dies with the agent.
    fn drop(&mut self) {
        self.kill.notify_one();
    }
}

impl Fake {
    pub fn new(store: &Store, files: &Files, world: &Arc<World>) -> Self {
        Fake {
            store: store.clone(),
            runs: files.runs(),
            world: Arc::clone(world),
            kill: Arc::default(),
        }
    }
}

fn random() -> u64 {
    let mut bytes = [0; 8];
    v6gap_sys::entropy::random(&mut bytes).unwrap();
    u64::from_ne_bytes(bytes)
}

fn killed() -> Option<Trouble> {
    Some(Trouble { why: "it was killed".to_owned(), lasting: false })
}

impl Measures for Fake {
    fn serve(&mut self, prepare: &Prepare, says: UnboundedSender<Event>) {
        self.kill = Arc::default();
        let (kill, over) = (Arc::clone(&self.kill), Arc::new(Notify::new()));
        let word = prepare.word.as_str().to_owned();
        self.world.servers.lock().unwrap().insert(word.clone(), Arc::clone(&over));
        let world = Arc::clone(&self.world);
        tokio::spawn(async move {
            let _ = says.send(Event::Listens);
            let failure = tokio::select! {
                () = over.notified() => None,
                () = kill.notified() => killed(),
            };
            world.servers.lock().unwrap().remove(&word);
            let ended = Ended { measured: Measured::default(), bytes: 0, failure };
            let _ = says.send(Event::Ended(Box::new(ended)));
        });
    }

    fn measure(
        &mut self,
        me: &HostName,
        prepare: &Prepare,
        _until_ns: u64,
        says: UnboundedSender<Event>,
    ) {
        self.kill = Arc::default();
        let (kill, world) = (Arc::clone(&self.kill), Arc::clone(&self.world));
        let (store, runs, me) = (self.store.clone(), self.runs.clone(), me.clone());
        let (peer, word) = (prepare.peer.name.clone(), prepare.word.as_str().to_owned());
        tokio::spawn(async move {
            let taken = world.take([&me, &peer]);
            let (least, most) = TIME_MS;
            let time = Duration::from_millis(least + random() % (most - least));
            let is_killed = tokio::select! {
                () = tokio::time::sleep(time) => false,
                () = kill.notified() => true,
            };
            let mut ended = Ended { measured: Measured::default(), bytes: 0, failure: killed() };
            if !is_killed {
                let run = RunId::from_bits(random() as u32);
                let line = "x".repeat(JOURNAL_BYTES - 1) + "\n";
                runs.add(&run).unwrap();
                store.grow(&run, 0, line.as_bytes()).unwrap();
                world.runs.lock().unwrap().insert((me, run.clone()));
                let bytes = JOURNAL_BYTES as u64;
                ended =
                    Ended { measured: Measured { run: Some(run), bytes }, bytes, failure: None };
            }
            drop(taken);
            if let Some(server) = world.servers.lock().unwrap().get(&word) {
                server.notify_one();
            }
            let _ = says.send(Event::Ended(Box::new(ended)));
        });
    }

    fn kill(&mut self) {
        self.kill.notify_one();
    }

    fn is_taken(&self) -> bool {
        false
    }

    fn asked(&self, plan: &str) -> Result<Asked, String> {
        v6gap_fleet::asked(plan)
    }
}
