//! A hub in a folder of its own, and its nodes as processes that are killed with the suite.

use crate::figures;
use async_nats::jetstream::stream::Info;
use async_nats::{Client, Subscriber};
use futures_util::StreamExt;
use std::collections::BTreeMap;
use std::net::{Ipv6Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use v6gap_core::fleet::subject::RESULTS;
use v6gap_fleet::hub::config::{ENVIRONMENT, Places};
use v6gap_fleet::hub::{Hub, nodes};
use v6gap_fleet::nats::connect::{Way, connect};
use v6gap_fleet::{Letter, Role};
use v6gap_sys::apart;

/// Where `cargo xtask truth --setup` installs the server.
const INSTALLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/nats/bin/nats-server");

/// Longest that anything is waited for; what was sent and not acknowledged is sent again after 150
/// s.
const PATIENCE: Duration = Duration::from_secs(400);

/// Longest that a node may take to let somebody in, and to hand on what was said.
const MOMENT: Duration = Duration::from_secs(60);

/// What is said to see whether it is heard, and how often.
const HELLO: &str = "hello";
const AGAIN: Duration = Duration::from_millis(50);

/// The stream of the grants.
pub const GRANTS: &str = "KV_grants";

/// All streams of a fleet.
const STREAMS: [&str; 4] = [GRANTS, "KV_meshes", "KV_state", RESULTS];

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A hub with its nodes.
pub struct Cluster {
    pub hub: Hub,
    server: PathBuf,
    nodes: Vec<Option<Child>>,
    /// Largest resident memory of each node that was killed, in bytes, and the processor time of
    /// all of them, in s.
    gone: (BTreeMap<usize, u64>, f64),
}

/// The server, if there is one that answers.
pub fn server() -> Option<PathBuf> {
    let is_one = |program: &PathBuf| {
        let said = Command::new(program).arg("--version").output();
        said.is_ok_and(|said| said.stdout.starts_with(b"nats-server: v2."))
    };
    [PathBuf::from(INSTALLED), PathBuf::from("nats-server")].into_iter().find(is_one)
}

/// A port that nobody has at this moment; nodes listen to each other 2000 above.
fn free() -> u16 {
    loop {
        let port = || {
            let listener = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).unwrap();
            listener.local_addr().unwrap().port()
        };
        let one = port();
        let other = one.checked_add(2000);
        if other.is_some_and(|other| TcpListener::bind((Ipv6Addr::LOCALHOST, other)).is_ok()) {
            return one;
        }
    }
}

/// Waits until there is something.
#[track_caller]
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("not within {} s: {what}", PATIENCE.as_secs());
}

impl Cluster {
    /// A hub of so many nodes on this host, all of which are begun.
    pub fn start(server: &Path, count: usize, encrypted: bool) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("v6gap-broker-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let names: Vec<String> = (0..count).map(|_| format!("localhost:{}", free())).collect();
        let nodes = nodes::parse(&names.join(",")).unwrap();
        let hub = Hub::init(&folder, nodes, encrypted).unwrap();
        let nodes = (0..count).map(|_| None).collect();
        let gone = (BTreeMap::new(), 0.0);
        let mut cluster = Cluster { hub, server: server.to_owned(), nodes, gone };
        (0..count).for_each(|index| cluster.begin(index));
        cluster
    }

    /// Begins a node.
    pub fn begin(&mut self, index: usize) {
        let Places { config, .. } = Places::of(&self.hub.folder, index);
        let mut command = Command::new(&self.server);
        command.arg("-c").arg(config).env(ENVIRONMENT.0, ENVIRONMENT.1);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        apart::bind(&mut command);
        self.nodes[index] = Some(command.spawn().unwrap());
    }

    /// Sends a signal to a node, as `STOP` and `CONT`.
    pub fn signal(&self, index: usize, signal: &str) {
        if let Some(node) = &self.nodes[index] {
            figures::signal(node.id(), signal);
        }
    }

    /// Kills a node.
    pub fn kill(&mut self, index: usize) {
        let memory = self.memory(index);
        if let Some(mut node) = self.nodes[index].take() {
            self.gone.0.insert(index, memory);
            self.gone.1 += figures::processor_s(node.id());
            node.kill().unwrap();
            node.wait().unwrap();
        }
    }

    /// Takes everything away that a node has kept, which must not run.
    pub fn wipe(&self, index: usize) {
        assert!(self.nodes[index].is_none());
        let Places { config, .. } = Places::of(&self.hub.folder, index);
        std::fs::remove_dir_all(config.with_file_name("streams")).unwrap();
    }

    /// The node that leads a stream.
    pub fn leader(&self, stream: &str) -> usize {
        until("a leader of the stream", || {
            let leader = block_on(info(&self.hub, stream))?.cluster?.leader?;
            leader.strip_prefix("v6gap-")?.parse::<usize>().ok()?.checked_sub(1)
        })
    }

    /// Waits until all nodes have all that there is in all streams.
    pub fn until_whole(&self) {
        until("nodes that have everything", || {
            STREAMS.iter().try_for_each(|stream| {
                let cluster = block_on(info(&self.hub, stream))?.cluster?;
                let others = &cluster.replicas;
                let are_there = others.iter().all(|other| other.current && !other.offline);
                let is_whole = cluster.leader.is_some() && others.len() + 1 == self.nodes.len();
                (is_whole && are_there).then_some(())
            })
        });
    }

    /// Credentials in a file, as an agent has them.
    pub fn invited(&self, name: &str) -> PathBuf {
        let path = self.hub.folder.join(format!("{}.creds", name.replace('/', "-")));
        self.hub.invite_to(&name.parse().unwrap(), &path).unwrap();
        path
    }

    /// Largest resident memory of a node until now, in bytes, also of what it was before it was
    /// killed.
    pub fn memory(&self, index: usize) -> u64 {
        let now = self.nodes[index].as_ref().map_or(0, |node| figures::memory(node.id()));
        self.gone.0.get(&index).copied().unwrap_or(0).max(now)
    }

    /// Processor time of all nodes until now, in s.
    pub fn processor_s(&self) -> f64 {
        let now = self.nodes.iter().flatten().map(|node| figures::processor_s(node.id()));
        self.gone.1 + now.sum::<f64>()
    }
}

/// What the leader of a stream says of it; nothing if there is none at the moment.
async fn info(hub: &Hub, stream: &str) -> Option<Info> {
    let client = client(&hub.part(Role::Coordinator)).await;
    let context = async_nats::jetstream::new(client);
    let stream = context.get_stream_no_info(stream).await.ok()?;
    stream.get_info().await.ok()
}

impl Drop for Cluster {
    fn drop(&mut self) {
        (0..self.nodes.len()).for_each(|index| self.kill(index));
        // A folder that stays is for those who look into a failed test.
        if !std::thread::panicking() {
            std::fs::remove_dir_all(&self.hub.folder).unwrap();
        }
    }
}

/// What comes of it, if that takes no longer than a moment.
pub async fn in_a_moment<T>(what: &str, perform: impl Future<Output = T>) -> T {
    match tokio::time::timeout(MOMENT, perform).await {
        Ok(came) => came,
        Err(_) => panic!("not within {} s: {what}", MOMENT.as_secs()),
    }
}

/// Waits until the server knows what a client listens to, by what somebody says to that subject;
/// what was subscribed to before, on the same connection, it knows then as well. To flush does not
/// do: that hands it to the system, and what others say may be quicker.
///
/// The same word may come to `subscriber` several times.
pub async fn until_heard(speaker: &Client, subject: &'static str, subscriber: &mut Subscriber) {
    in_a_moment(subject, async {
        loop {
            speaker.publish(subject, HELLO.into()).await.unwrap();
            if let Ok(message) = tokio::time::timeout(AGAIN, subscriber.next()).await
                && message.unwrap().payload[..] == *HELLO.as_bytes()
            {
                return;
            }
        }
    })
    .await;
}

/// Connects with credentials, as soon as the hub is there.
pub async fn client(file: &Path) -> Client {
    let letter = Letter::read(file, None).unwrap();
    let way = Way { letter: &letter, file, hubs: &[], plaintext: true };
    let (start, what) = (Instant::now(), format!("a connection with {}", file.display()));
    loop {
        match in_a_moment(&what, connect(&way)).await {
            Ok(client) => return client,
            Err(error) if error.may_pass() && start.elapsed() < PATIENCE => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Err(error) => panic!("{what}: {error}"),
        }
    }
}

/// Performs it in this thread.
pub fn block_on<T>(perform: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(perform)
}
