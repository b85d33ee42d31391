//! `hub run`: servers, coordinator and sink of a hub as one, which begin and end together.

use crate::error::FleetError;
use crate::hub::Hub;
use crate::hub::config::Places;
use crate::hub::server::{self, Did};
use crate::now::stopped;
use crate::{coordinator, sink};
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::watch;

/// How soon a part that ended is begun again, and at most: twice as long each time.
const AGAIN: Duration = Duration::from_millis(500);
/// See [`AGAIN`].
const AGAIN_MAX: Duration = Duration::from_secs(15);

/// What is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program nats-server.
    pub server: PathBuf,
    /// The node that runs here, from 0; all of them if none is named. The first has the archive.
    pub node: Option<usize>,
}

/// What a hub tells whoever looks at it.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// Everything that runs here is ready for the first time.
    Ready,
    /// The server of a node, from 0, did something.
    Server(usize, Did),
    /// Of the coordinator.
    Coordinator(coordinator::Told),
    /// Of the sink.
    Sink(sink::Told),
    /// A part ended, and is begun again.
    Trouble {
        /// Which part.
        part: &'static str,
        /// Why, in words.
        why: String,
    },
}

/// Runs a hub until `stop` says so.
///
/// # Errors
/// If there is no server that is new enough, or the folder cannot be written.
pub async fn run(
    hub: &Hub,
    options: &Options,
    told: &mut dyn FnMut(Told),
    stop: watch::Receiver<bool>,
) -> Result<(), FleetError> {
    server::check(&options.server).await?;
    let count = hub.nodes.len();
    if let Some(node) = options.node.filter(|node| *node >= count) {
        return Err(FleetError::Nodes(format!("there is no node {}; {count} are", node + 1)));
    }
    hub.configure()?;
    let (says, mut heard) = unbounded_channel();
    // Servers end last, so that the others can still say that they do.
    let (end_servers, servers_end) = watch::channel(false);
    let here = (0..count).filter(|index| options.node.is_none_or(|node| node == *index));
    let servers: Vec<_> = here
        .map(|index| {
            let places = Places::of(&hub.folder, index);
            let (program, end) = (options.server.clone(), servers_end.clone());
            tokio::spawn(node(index, program, places, says.clone(), end))
        })
        .collect();
    // There is one archive: parts of a run that two sinks take would be in none as a whole.
    let keeps = options.node.is_none_or(|node| node == 0);
    let kept = async {
        if keeps {
            keep(hub, &says, stop.clone()).await;
        }
    };
    let parts = async {
        tokio::join!(coordinate(hub, &says, stop.clone()), kept);
    };
    let mut parts = pin!(parts);
    let mut missing = 1 + usize::from(keeps);
    loop {
        tokio::select! {
            Some(what) = heard.recv() => {
                let is_ready = matches!(
                    what,
                    Told::Coordinator(coordinator::Told::Ready) | Told::Sink(sink::Told::Ready)
                );
                told(what);
                if is_ready && missing > 0 {
                    missing -= 1;
                    if missing == 0 {
                        told(Told::Ready);
                    }
                }
            }
            () = &mut parts => break,
        }
    }
    // Nobody else holds it: the servers have not ended.
    let _ = end_servers.send(true);
    for server in servers {
        let _ = server.await;
    }
    Ok(())
}

async fn node(
    index: usize,
    program: PathBuf,
    places: Places,
    says: UnboundedSender<Told>,
    end: watch::Receiver<bool>,
) {
    let (did, mut heard) = unbounded_channel();
    let server = server::keep_up(program, places, did, end);
    let mut server = pin!(server);
    loop {
        tokio::select! {
            Some(did) = heard.recv() => drop(says.send(Told::Server(index, did))),
            () = &mut server => return,
        }
    }
}

async fn coordinate(hub: &Hub, says: &UnboundedSender<Told>, stop: watch::Receiver<bool>) {
    let mut wait = AGAIN;
    loop {
        let mut told = |what| drop(says.send(Told::Coordinator(what)));
        let ended = coordinator::go_on(hub, &mut told, stop.clone()).await;
        if is_over("the coordinator", ended, says, &mut wait, stop.clone()).await {
            return;
        }
    }
}

async fn keep(hub: &Hub, says: &UnboundedSender<Told>, stop: watch::Receiver<bool>) {
    let mut wait = AGAIN;
    loop {
        let mut told = |what| drop(says.send(Told::Sink(what)));
        let ended = sink::go_on(hub, &mut told, stop.clone()).await;
        if is_over("the sink", ended, says, &mut wait, stop.clone()).await {
            return;
        }
    }
}

/// Whether a part ended since it was stopped; otherwise waits until it is to be begun again. That a
/// server is not there yet when it has just been begun is not told.
async fn is_over(
    part: &'static str,
    ended: Result<(), FleetError>,
    says: &UnboundedSender<Told>,
    wait: &mut Duration,
    mut stop: watch::Receiver<bool>,
) -> bool {
    if *stop.borrow() {
        return true;
    }
    let why = ended.err();
    if why.as_ref().is_none_or(|why| !why.may_pass() || *wait > 4 * AGAIN) {
        let why = why.map_or_else(|| "it lost the hub".to_owned(), |why| why.to_string());
        let _ = says.send(Told::Trouble { part, why });
    }
    let pause = *wait;
    *wait = (*wait * 2).min(AGAIN_MAX);
    tokio::select! {
        () = tokio::time::sleep(pause) => false,
        () = stopped(&mut stop) => true,
    }
}
