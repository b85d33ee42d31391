//! Measuring that is made up: it takes its time, and leaves a journal. The two ends of one are
//! joined by a socket, as real ones are, so that each ends when the other does; and each
//! measurement is written down when it begins and when it ends.

use crate::taken::Taken;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;
use v6gap_core::fleet::agent::limits::Asked;
use v6gap_core::fleet::agent::{Ended, Event, Trouble};
use v6gap_core::fleet::id::JobId;
use v6gap_core::fleet::message::{Measured, Prepare};
use v6gap_core::fleet::names::HostName;
use v6gap_core::record::RunId;
use v6gap_fleet::agent::{Files, Measures, Runs};
use v6gap_store::Store;

/// What is in the text of a plan that takes links, too.
pub const EXCLUSIVE: &str = "name = \"Exclusive\"";

/// Shortest and longest time that one takes, in ms.
const TIME_MS: (u64, u64) = (1_000, 2_000);

/// Lines of a journal, and random numbers of each: 8 kB.
const LINES: usize = 64;
const NUMBERS: usize = 8;

/// What all hosts of a process share.
pub struct World {
    folder: PathBuf,
    taken: Taken,
    /// How often anything was begun, by a server or by a client.
    begun: AtomicU64,
}

/// What measures at a host.
pub struct Fake {
    store: Store,
    runs: Runs,
    world: Arc<World>,
    kill: Arc<Notify>,
}

impl World {
    /// Below the folder of a hub.
    pub fn new(folder: &Path) -> Self {
        std::fs::create_dir_all(folder.join("s")).unwrap();
        World { folder: folder.to_owned(), taken: Taken::open(folder), begun: AtomicU64::new(0) }
    }

    /// How often anything was begun, by a server or by a client.
    pub fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// Where the server of a job listens.
    pub fn socket(&self, job: &JobId) -> PathBuf {
        self.folder.join("s").join(job.as_str())
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
    u64::from_ne_bytes(v6gap_sys::entropy::bytes().unwrap())
}

/// The journal of one run, unlike all others.
fn journal() -> String {
    let line = |_| -> String {
        let numbers: String = (0..NUMBERS).map(|_| format!("{:016x}", random())).collect();
        numbers + "\n"
    };
    (0..LINES).map(line).collect()
}

fn failed(why: &str) -> Ended {
    let failure = Some(Trouble { why: why.to_owned(), lasting: false });
    Ended { measured: Measured::default(), bytes: 0, failure }
}

/// Waits until the other end is gone.
async fn gone(stream: &mut UnixStream) {
    let mut nothing = [0];
    let _ = stream.read(&mut nothing).await;
}

/// One client is served until it goes.
async fn served(listener: UnixListener) -> Ended {
    match listener.accept().await {
        Ok((mut client, _)) => {
            gone(&mut client).await;
            Ended { measured: Measured::default(), bytes: 0, failure: None }
        }
        Err(error) => failed(&error.to_string()),
    }
}

/// Why it did not come to its end, if it did not.
async fn measured(socket: &Path, kill: &Notify) -> Option<&'static str> {
    let Ok(mut server) = UnixStream::connect(socket).await else { return Some("no server") };
    let (least, most) = TIME_MS;
    let time = Duration::from_millis(least + random() % (most - least));
    tokio::select! {
        () = tokio::time::sleep(time) => None,
        () = kill.notified() => Some("it was killed"),
        () = gone(&mut server) => Some("the server is gone"),
    }
}

impl Measures for Fake {
    fn serve(&mut self, prepare: &Prepare, says: UnboundedSender<Event>) {
        self.kill = Arc::default();
        self.world.begun.fetch_add(1, Ordering::Relaxed);
        let (kill, socket) = (Arc::clone(&self.kill), self.world.socket(&prepare.job));
        tokio::spawn(async move {
            let ended = match UnixListener::bind(&socket) {
                Ok(listener) => {
                    let _ = says.send(Event::Listens);
                    tokio::select! {
                        ended = served(listener) => ended,
                        () = kill.notified() => failed("it was killed"),
                    }
                }
                Err(error) => failed(&error.to_string()),
            };
            let _ = std::fs::remove_file(&socket);
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
        self.world.begun.fetch_add(1, Ordering::Relaxed);
        let (kill, world) = (Arc::clone(&self.kill), Arc::clone(&self.world));
        let (store, runs) = (self.store.clone(), self.runs.clone());
        let (me, peer, job) = (me.clone(), prepare.peer.name.clone(), prepare.job.clone());
        let exclusive = prepare.plan.contains(EXCLUSIVE);
        tokio::spawn(async move {
            world.taken.begins(job.as_str(), [&me, &peer], exclusive);
            let why = measured(&world.socket(&job), &kill).await;
            let ended = match why {
                Some(why) => {
                    world.taken.ends(job.as_str(), None);
                    failed(why)
                }
                None => {
                    let (run, text) = (RunId::from_bits(random() as u32), journal());
                    runs.add(&run).unwrap();
                    store.grow(&run, 0, text.as_bytes()).unwrap();
                    world.taken.ends(job.as_str(), Some(&run.to_string()));
                    let bytes = text.len() as u64;
                    let measured = Measured { run: Some(run), bytes };
                    Ended { measured, bytes, failure: None }
                }
            };
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
