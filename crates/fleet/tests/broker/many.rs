//! Many agents in one process, with the true transport and machines, on three nodes; measuring is
//! made up. Parts are killed and put to sleep meanwhile. No host has two measurements at once, and
//! every run that came to its end is in the archive. What it took is printed.

use crate::cluster::{Cluster, block_on, memory, until};
use crate::fake::{Fake, World};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, LocalSet};
use v6gap_core::fleet::names::HostName;
use v6gap_fleet::agent::{self, Files, Offline, Options};
use v6gap_fleet::coordinator::{self, Applied};
use v6gap_fleet::hub::Hub;
use v6gap_fleet::sink::Archive;
use v6gap_fleet::{FleetError, Role, operate, sink};
use v6gap_store::Store;

/// Hosts of a site.
const OF_A_SITE: usize = 10;

/// How long it is left alone, before and after the faults.
const QUIET: Duration = Duration::from_secs(30);

/// The variable that says how many agents there are, and how many there are without it.
const AGENTS: (&str, usize) = ("V6GAP_AGENTS", 500);

/// Nobody performs it.
const PLAN: &str = "\
v6gap = 1
name = \"Fake\"
[design]
pairs = 6
[[measure]]
metric = \"rtt\"
";

/// What agents are asked for.
enum Ask {
    Begin(Vec<usize>),
    Kill(Vec<usize>),
}

/// A part of the hub in a thread of its own, which dies as a process does.
struct Part {
    dies: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

pub fn all(server: &Path) {
    let count = std::env::var(AGENTS.0).ok().and_then(|n| n.parse().ok()).unwrap_or(AGENTS.1);
    let mut cluster = Cluster::start(server, 3, true);
    let folder = cluster.hub.folder.clone();
    let names: Vec<String> =
        (0..count).map(|n| format!("s{}/h{}", n / OF_A_SITE, n % OF_A_SITE)).collect();
    let credentials: Vec<PathBuf> = names.iter().map(|name| cluster.invited(name)).collect();
    let world = Arc::new(World::default());
    let mut coordinators = [Part::coordinator(&folder), Part::coordinator(&folder)].map(Some);
    let mut sink = Part::sink(&folder);
    let asks = agents(&folder, names.clone(), credentials, &world);
    let (even, odd): (Vec<usize>, Vec<usize>) = (0..count).partition(|n| n % 2 == 0);
    asks.send(Ask::Begin((0..count).collect())).unwrap();
    let operator = cluster.hub.part(Role::Operator);
    let applied = Applied {
        v6gap: 1,
        mesh: mesh(&names),
        plans: BTreeMap::from([("fake.toml".to_owned(), PLAN.to_owned())]),
        afresh: false,
    };
    until("a mesh plan that is applied", || {
        block_on(operate::apply(&operator, "many", &applied)).ok()
    });
    until("a first measurement", || (!world.runs().is_empty()).then_some(()));
    rate("without faults", &world);

    println!("half of the agents are killed, and come back after 5 s");
    asks.send(Ask::Kill(even.clone())).unwrap();
    std::thread::sleep(Duration::from_secs(5));
    asks.send(Ask::Begin(even)).unwrap();
    recovered("half of the agents", &world);
    for index in 0..3 {
        cluster.kill(index);
        std::thread::sleep(Duration::from_secs(2));
        cluster.begin(index);
        recovered(&format!("node {} killed", index + 1), &world);
    }
    cluster.signal(0, "STOP");
    std::thread::sleep(Duration::from_secs(10));
    cluster.signal(0, "CONT");
    recovered("node 1 asleep for 10 s", &world);
    for coordinator in &mut coordinators {
        coordinator.take().unwrap().die();
        *coordinator = Some(Part::coordinator(&folder));
        recovered("a coordinator killed", &world);
    }
    sink.die();
    sink = Part::sink(&folder);
    asks.send(Ask::Kill(odd.clone())).unwrap();
    asks.send(Ask::Begin(odd)).unwrap();
    recovered("the sink and the other half of the agents", &world);
    rate("after the faults", &world);

    block_on(operate::take_away(&operator, "many")).unwrap();
    let archive = Archive::of(&folder);
    until("every run in the archive", || missing(&archive, &world).is_empty().then_some(()));
    assert_eq!(world.overlaps(), 0, "hosts were measured by two at once");
    let megabytes = |bytes: u64| bytes / 1_000_000;
    println!(
        "{} runs, 0 lost, 0 overlaps; nodes {:?} MB, all agents, coordinators and sink {} MB",
        world.runs().len(),
        [0, 1, 2].map(|index| megabytes(cluster.memory(index))),
        megabytes(memory(std::process::id()))
    );
    drop(asks);
    coordinators.into_iter().flatten().for_each(Part::die);
    sink.die();
}

/// Runs that the archive does not have, or not whole.
fn missing(archive: &Archive, world: &World) -> BTreeSet<(HostName, String)> {
    let runs = world.runs();
    let is_missing = |(host, run): &&(HostName, v6gap_core::record::RunId)| {
        !archive.store(host).grown_bytes(run).is_ok_and(|bytes| bytes > 0)
    };
    runs.iter().filter(is_missing).map(|(host, run)| (host.clone(), run.to_string())).collect()
}

/// Says how many measurements come to their end in a second.
fn rate(when: &str, world: &World) {
    let (before, start) = (world.runs().len(), Instant::now());
    std::thread::sleep(QUIET);
    let runs = world.runs().len() - before;
    println!("{when}: {:.1} measurements/s", runs as f64 / start.elapsed().as_secs_f64());
}

/// Waits until measurements come to their end again, and says how long that took.
fn recovered(what: &str, world: &World) {
    let (begun, start) = (world.begun(), Instant::now());
    until(what, || (world.begun() > begun).then_some(()));
    println!("{what}: the next measurement began {:.1} s later", start.elapsed().as_secs_f64());
}

/// Each host with four others.
fn mesh(names: &[String]) -> String {
    let hosts: String = names.iter().map(|name| format!("[hosts.\"{name}\"]\n")).collect();
    format!(
        "v6gap = 1\nname = \"many\"\n{hosts}[[groups]]\nname = \"all\"\nkind = \"mesh\"\n\
         hosts = [\"*\"]\nsample = 4\n[[measure]]\ngroup = \"all\"\nplan = \"fake.toml\"\n\
         every = \"1 min\"\n"
    )
}

impl Part {
    fn coordinator(folder: &Path) -> Part {
        Part::start(folder, |hub, dead| {
            let (_keep, stop) = watch::channel(false);
            block_on(until_dead(coordinator::go_on(&hub, &mut |_| {}, stop), dead))
        })
    }

    fn sink(folder: &Path) -> Part {
        Part::start(folder, |hub, dead| {
            let (_keep, stop) = watch::channel(false);
            block_on(until_dead(sink::go_on(&hub, &mut |_| {}, stop), dead))
        })
    }

    fn start(
        folder: &Path,
        go_on: impl Fn(Hub, watch::Receiver<bool>) -> Result<(), String> + Send + 'static,
    ) -> Part {
        let (folder, dies) = (folder.to_owned(), Arc::new(AtomicBool::new(false)));
        let dead = Arc::clone(&dies);
        let thread = std::thread::spawn(move || {
            while !dead.load(Ordering::Relaxed) {
                let (end, stop) = watch::channel(false);
                let (watched, over) = (Arc::clone(&dead), Arc::new(AtomicBool::new(false)));
                let done = Arc::clone(&over);
                let watcher = std::thread::spawn(move || {
                    while !watched.load(Ordering::Relaxed) && !done.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    let _ = end.send(true);
                });
                if let Err(why) = go_on(Hub::open(&folder).unwrap(), stop) {
                    println!("begun again: {why}");
                    std::thread::sleep(Duration::from_millis(500));
                }
                over.store(true, Ordering::Relaxed);
                watcher.join().unwrap();
            }
        });
        Part { dies, thread }
    }

    fn die(self) {
        self.dies.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

/// Performs it until it ends, or is cut off in the middle of whatever it does.
async fn until_dead(
    goes_on: impl Future<Output = Result<(), FleetError>>,
    mut dead: watch::Receiver<bool>,
) -> Result<(), String> {
    tokio::select! {
        ended = goes_on => ended.map_err(|error| error.to_string()),
        _ = dead.wait_for(|dead| *dead) => Ok(()),
    }
}

/// A thread with all agents, which are begun and killed as they are asked to.
fn agents(
    folder: &Path,
    names: Vec<String>,
    credentials: Vec<PathBuf>,
    world: &Arc<World>,
) -> mpsc::UnboundedSender<Ask> {
    let (asks, mut asked) = mpsc::unbounded_channel();
    let (folder, world) = (folder.join("agents"), Arc::clone(world));
    std::thread::spawn(move || {
        // Nobody stops them: they are killed.
        let (_keep, stop) = watch::channel(false);
        let local = LocalSet::new();
        let goes_on = local.run_until(async {
            let mut alive: BTreeMap<usize, AbortHandle> = BTreeMap::new();
            while let Some(ask) = asked.recv().await {
                match ask {
                    Ask::Kill(which) => which.iter().for_each(|n| {
                        if let Some(agent) = alive.remove(n) {
                            agent.abort();
                        }
                    }),
                    Ask::Begin(which) => {
                        // What was killed has let go of its files by then.
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        for n in which {
                            let store = Store::at(&folder.join(n.to_string()));
                            let world = Arc::clone(&world);
                            let agent = agent_of(
                                store,
                                names[n].clone(),
                                credentials[n].clone(),
                                world,
                                stop.clone(),
                            );
                            alive.insert(n, tokio::task::spawn_local(agent).abort_handle());
                        }
                    }
                }
            }
        });
        block_on(goes_on);
    });
    asks
}

async fn agent_of(
    store: Store,
    name: String,
    credentials: PathBuf,
    world: Arc<World>,
    stop: watch::Receiver<bool>,
) {
    let files = Files::open(&store).unwrap();
    let fake = Fake::new(&store, &files, &world);
    let options = Options {
        credentials,
        service: None,
        hubs: Vec::new(),
        plaintext: false,
        limits: None,
        offline: Offline::Finish,
        addresses: vec![std::net::Ipv6Addr::LOCALHOST.into()],
        program: "test".to_owned(),
        features: Vec::new(),
    };
    if let Err(why) = agent::go_on(&options, files, fake, &mut |_| {}, stop).await {
        println!("{name} ended: {why}");
    }
}
