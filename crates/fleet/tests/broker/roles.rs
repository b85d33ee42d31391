//! What a process of this suite does that has a role: the real coordinator, the real sink, or the
//! agents of many hosts whose measuring is made up. What is of use to the suite it says in lines.

use crate::cluster::block_on;
use crate::fake::{Fake, World};
use crate::mesh;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::LocalSet;
use v6gap_core::fleet::work::Outcome;
use v6gap_fleet::agent::{self, Files, Offline, Options};
use v6gap_fleet::coordinator::{self, Told};
use v6gap_fleet::hub::Hub;
use v6gap_fleet::sink;
use v6gap_store::Store;

/// How soon a part that ended is begun again, as by what supervises it.
const AGAIN: Duration = Duration::from_millis(500);

/// Plays a role for good.
pub fn play(arguments: &[String]) -> ! {
    match arguments {
        [role, folder] if role == "coordinator" => coordinate(Path::new(folder)),
        [role, folder] if role == "sink" => keep(Path::new(folder)),
        [role, folder, which] if role == "agents" => agents(Path::new(folder), &numbers(which)),
        _ => panic!("no role: {arguments:?}"),
    }
}

/// Hosts as they stand among arguments.
pub fn listed(which: &[usize]) -> String {
    which.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn numbers(which: &str) -> Vec<usize> {
    which.split(',').map(|number| number.parse().unwrap()).collect()
}

/// The folder of a host.
pub fn folder(hub: &Path, number: usize) -> PathBuf {
    hub.join("agents").join(number.to_string())
}

/// Where the credentials of a host are.
pub fn credentials(hub: &Path, name: &str) -> PathBuf {
    hub.join(format!("{}.creds", name.replace('/', "-")))
}

fn coordinate(folder: &Path) -> ! {
    loop {
        let hub = Hub::open(folder).unwrap();
        let (_keep, stop) = watch::channel(false);
        if let Err(why) = block_on(coordinator::go_on(&hub, &mut say, stop)) {
            println!("ended {why}");
        }
        std::thread::sleep(AGAIN);
    }
}

fn say(what: Told) {
    match what {
        Told::Leads(leads) => println!("leads {leads}"),
        Told::Silent(silent) => println!("silent {silent}"),
        Told::Answered { grants, took_ns, came } => println!("answered {grants} {took_ns} {came}"),
        Told::Came { outcome: Outcome::GivenUp { why, .. }, .. } => println!("given-up {why}"),
        Told::Came { outcome: Outcome::Failed { why, .. }, .. } => println!("failed {why}"),
        Told::NoMesh { why, .. } => println!("no-mesh {why}"),
        Told::NoList { why } => println!("no-list {why}"),
        Told::Came { outcome: Outcome::Measured { .. } | Outcome::Lost { .. }, .. }
        | Told::Ready
        | Told::Heard(_)
        | Told::Stands { .. }
        | Told::Applied { .. } => {}
    }
}

fn keep(folder: &Path) -> ! {
    let mut told = |what| match what {
        sink::Told::Ready => println!("ready"),
        sink::Told::NoPart { subject, why, .. } => println!("no-part {subject} {why:?}"),
        sink::Told::Unwritten(why) => println!("unwritten {why}"),
        sink::Told::Has { .. } => {}
    };
    loop {
        let hub = Hub::open(folder).unwrap();
        let (_keep, stop) = watch::channel(false);
        if let Err(why) = block_on(sink::go_on(&hub, &mut told, stop)) {
            println!("ended {why}");
        }
        std::thread::sleep(AGAIN);
    }
}

fn agents(folder: &Path, which: &[usize]) -> ! {
    let world = Arc::new(World::new(folder));
    let local = LocalSet::new();
    for number in which {
        local.spawn_local(host(folder.to_owned(), *number, Arc::clone(&world)));
    }
    block_on(local.run_until(std::future::pending::<()>()));
    unreachable!("what is pending does not end")
}

async fn host(folder_of_hub: PathBuf, number: usize, world: Arc<World>) {
    let name = mesh::name(number);
    let store = Store::at(&folder(&folder_of_hub, number));
    let options = options(credentials(&folder_of_hub, &name));
    loop {
        // Nobody stops it: its process is killed.
        let (_keep, stop) = watch::channel(false);
        let files = Files::open(&store).unwrap();
        let fake = Fake::new(&store, &files, &world);
        if let Err(why) = agent::go_on(&options, files, fake, &mut |_| {}, stop).await {
            println!("{name} ended {why}");
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// What an agent of this host is told.
pub fn options(credentials: PathBuf) -> Options {
    Options {
        credentials,
        service: None,
        hubs: Vec::new(),
        plaintext: false,
        limits: None,
        offline: Offline::Finish,
        addresses: vec![std::net::Ipv6Addr::LOCALHOST.into()],
        program: "test".to_owned(),
        features: Vec::new(),
    }
}
