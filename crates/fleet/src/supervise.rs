//! `hub run`: servers, coordinator and sink of a hub as one, which begin and end together, with
//! what runs beside them.

use crate::beside::page::{self, Did as OfPage};
use crate::beside::{Beside, writer};
use crate::error::FleetError;
use crate::hub::Hub;
use crate::hub::config::Places;
use crate::hub::invite::Invited;
use crate::hub::server::{self, Did};
use crate::now::now;
use crate::pause::Pause;
use crate::{coordinator, sink};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::time::Instant;
use v6gap_core::fleet::metrics::Metrics;
use v6gap_core::fleet::names::HostName;
use v6gap_store::Store;

/// How soon a part that ended is begun again the first time, and at most.
const AGAIN: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(15)];

/// How often a part may end without anybody being told: a server that has just been begun is not
/// there at once.
const UNTOLD: u32 = 3;

/// What is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program nats-server.
    pub server: PathBuf,
    /// The node that runs here, from 0; all of them if none is named. The first has the archive.
    pub node: Option<usize>,
    /// What runs beside it.
    pub beside: Beside,
    /// Whether it tells what there is to be told to collectors of metrics.
    pub metrics: bool,
}

/// Asks for another link to the page.
#[derive(Debug)]
pub struct Asks(UnboundedSender<()>);

/// What is asked for by [`Asks`].
#[derive(Debug)]
pub struct Asked(UnboundedReceiver<()>);

/// Somebody who asks for links to the page, and whoever is to hear it.
pub fn asks() -> (Asks, Asked) {
    let (says, hears) = unbounded_channel();
    (Asks(says), Asked(hears))
}

impl Asks {
    /// Asks for one, and whether anybody heard it.
    pub fn ask(&self) -> bool {
        self.0.send(()).is_ok()
    }
}

/// What the page is called where it is told of it.
const PAGE: &str = "the page";

/// And the coordinator.
const COORDINATOR: &str = "the coordinator";

/// How often metrics are told, and how often it is looked whether somebody is let in no more.
const EVERY: Duration = Duration::from_secs(10);

/// What a hub tells whoever looks at it.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// Everything that runs here is ready for the first time.
    Ready {
        /// By which link the page can be opened, once; none if there is no page.
        page: Option<String>,
    },
    /// Another link to the page.
    Page(String),
    /// What collectors of metrics are told from now on.
    Metrics(Box<Metrics>),
    /// Results could not be written somewhere; they are in the archive all the same.
    Unwritten {
        /// To what.
        to: &'static str,
        /// Why, in words.
        why: String,
        /// When it is tried again; not by this hub if it ends.
        again: Option<Duration>,
    },
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

/// Runs a hub until `stop` says so; `asked` gives further links to its page.
///
/// # Errors
/// If there is no server that is new enough, or the folder cannot be written.
pub async fn run(
    hub: &Hub,
    options: &Options,
    told: &mut dyn FnMut(Told),
    asked: Asked,
    stop: watch::Receiver<bool>,
) -> Result<(), FleetError> {
    server::check(&options.server).await?;
    let count = hub.nodes.len();
    if let Some(node) = options.node.filter(|node| *node >= count) {
        return Err(FleetError::Nodes(format!("there is no node {}; {count} are", node + 1)));
    }
    hub.configure()?;
    // The page looks for it before anything is in there.
    Store::private_folder(&hub.folder.join("archive"))?;
    let (says, mut heard) = unbounded_channel();
    // Servers end last, so that the others can still say that they do, and before them what writes
    // what came last.
    let (end_servers, servers_end) = watch::channel(false);
    let (end_writers, writers_end) = watch::channel(false);
    let here = (0..count).filter(|index| options.node.is_none_or(|node| node == *index));
    let servers: Vec<_> = here
        .map(|index| {
            let places = Places::of(&hub.folder, index);
            let (program, end) = (options.server.clone(), servers_end.clone());
            tokio::spawn(node(index, program, places, says.clone(), end))
        })
        .collect();
    let (fresh, writes) = watch::channel(0);
    // There is one archive: parts of a run that two sinks take would be in none as a whole. What is
    // made of it is where it is.
    let keeps = options.node.is_none_or(|node| node == 0);
    let (mut writers, mut line) = (Vec::new(), None);
    if keeps {
        writers = begin_writers(hub, options, &says, &writes, &writers_end);
        line = options.beside.page(&hub.folder);
    }
    let missing = Missing::new(keeps, line.is_some());
    let metrics = options.metrics.then(Metrics::default);
    let mut tells = Tells { missing, page: None, fresh, metrics, told };
    let kept = async {
        if keeps {
            keep(hub, &says, stop.clone()).await;
        }
    };
    let parts = async {
        tokio::join!(
            coordinate(hub, &says, stop.clone()),
            kept,
            show(line, asked, &says, stop.clone()),
        );
    };
    hear(&mut tells, &mut heard, hub, parts).await;
    // What was said last is of results that came last.
    while let Ok(what) = heard.try_recv() {
        tells.take(what);
    }
    // Nobody else holds them: neither has ended.
    for (ends, tasks) in [(end_writers, writers), (end_servers, servers)] {
        let _ = ends.send(true);
        for task in tasks {
            let _ = task.await;
        }
    }
    while let Ok(what) = heard.try_recv() {
        tells.take(what);
    }
    Ok(())
}

/// Hears what the parts say until they have ended.
async fn hear(
    tells: &mut Tells<'_>,
    heard: &mut UnboundedReceiver<Told>,
    hub: &Hub,
    parts: impl Future<Output = ()>,
) {
    let mut parts = pin!(parts);
    let mut time = tokio::time::interval(EVERY);
    loop {
        tokio::select! {
            Some(what) = heard.recv() => tells.take(what),
            _ = time.tick() => {
                // A list that is just being copied here is looked at the next time.
                let _ = hub.keep_configured();
                tells.pass(&hub.folder);
            }
            () = &mut parts => return,
        }
    }
}

/// What was not ready yet.
#[derive(Debug)]
struct Missing {
    coordinator: bool,
    sink: bool,
    page: bool,
}

impl Missing {
    fn new(sink: bool, page: bool) -> Self {
        Missing { coordinator: true, sink, page }
    }

    /// Whether everything is ready now, and was not before. A page that cannot be shown keeps
    /// nothing up.
    fn take(&mut self, what: &Told) -> bool {
        let before = self.any();
        match what {
            Told::Coordinator(coordinator::Told::Ready) => self.coordinator = false,
            Told::Sink(sink::Told::Ready) => self.sink = false,
            Told::Page(_) | Told::Trouble { part: PAGE, .. } => self.page = false,
            _ => {}
        }
        before && !self.any()
    }

    fn any(&self) -> bool {
        self.coordinator || self.sink || self.page
    }
}

/// Tells whoever looks at a hub.
struct Tells<'a> {
    missing: Missing,
    /// The link that is told when all is ready.
    page: Option<String>,
    /// Changes with each result.
    fresh: watch::Sender<u64>,
    /// What is counted, if somebody wants to know.
    metrics: Option<Metrics>,
    told: &'a mut dyn FnMut(Told),
}

/// Counts what there is to be counted.
fn count(metrics: &mut Metrics, what: &Told) {
    match what {
        Told::Coordinator(coordinator::Told::Heard(beat)) => metrics.beat((**beat).clone(), now()),
        Told::Coordinator(coordinator::Told::Leads(leads)) => metrics.lead(*leads),
        Told::Coordinator(coordinator::Told::Stands { epoch, meshes }) => {
            metrics.stands(*epoch, meshes.clone());
        }
        Told::Coordinator(coordinator::Told::Answered { grants: 1.., took_ns, came: true }) => {
            metrics.granted(*took_ns);
        }
        Told::Coordinator(coordinator::Told::Came { outcome, .. }) => metrics.came(outcome),
        Told::Trouble { part: COORDINATOR, .. } => metrics.lead(false),
        Told::Sink(sink::Told::Unwritten(_)) => metrics.unwritten("archive"),
        Told::Unwritten { to, .. } => metrics.unwritten(to),
        _ => {}
    }
}

impl Tells<'_> {
    fn take(&mut self, what: Told) {
        if let Some(metrics) = &mut self.metrics {
            count(metrics, &what);
        }
        // For those who count alone.
        if let Told::Coordinator(coordinator::Told::Heard(_) | coordinator::Told::Stands { .. }) =
            what
        {
            return;
        }
        if matches!(what, Told::Sink(sink::Told::Has { .. })) {
            self.fresh.send_modify(|count| *count = count.wrapping_add(1));
        }
        let was_missing = self.missing.any();
        let is_ready = self.missing.take(&what);
        match what {
            Told::Page(link) if was_missing => self.page = Some(link),
            what => (self.told)(what),
        }
        if is_ready {
            (self.told)(Told::Ready { page: self.page.take() });
        }
    }

    /// Tells metrics, if somebody wants to know them.
    fn pass(&mut self, folder: &Path) {
        let Some(metrics) = &mut self.metrics else { return };
        // A list that cannot be read has nobody forgotten.
        let invited = Invited::read(folder).map(|all| all.seals()).ok();
        let is_invited =
            |agent: &HostName| invited.as_ref().is_none_or(|all| all.contains_key(agent));
        metrics.pass(now().ns, &is_invited);
        (self.told)(Told::Metrics(Box::new(metrics.clone())));
    }
}

/// Begins what writes results, which goes on to the end of the hub.
fn begin_writers(
    hub: &Hub,
    options: &Options,
    says: &UnboundedSender<Told>,
    fresh: &watch::Receiver<u64>,
    end: &watch::Receiver<bool>,
) -> Vec<tokio::task::JoinHandle<()>> {
    let begin = |(to, line)| {
        let says = says.clone();
        let unwritten = move |what: writer::Unwritten| {
            let writer::Unwritten { why, again } = what;
            drop(says.send(Told::Unwritten { to, why, again }));
        };
        tokio::spawn(writer::keep_writing(line, fresh.clone(), unwritten, end.clone()))
    };
    options.beside.writers(&hub.folder).into_iter().map(begin).collect()
}

/// Has the page shown, if there is to be one.
async fn show(
    line: Option<crate::beside::Line>,
    asked: Asked,
    says: &UnboundedSender<Told>,
    stop: watch::Receiver<bool>,
) {
    let Some(line) = line else { return };
    let tell = |did| {
        let what = match did {
            OfPage::Opened(link) => Told::Page(link),
            OfPage::Ended(why) => Told::Trouble { part: PAGE, why },
        };
        drop(says.send(what));
    };
    page::keep_up(line, asked.0, tell, stop).await;
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
    let mut told = |what| drop(says.send(Told::Coordinator(what)));
    again(COORDINATOR, says, stop.clone(), async || {
        coordinator::go_on(hub, &mut told, stop.clone()).await
    })
    .await;
}

async fn keep(hub: &Hub, says: &UnboundedSender<Told>, stop: watch::Receiver<bool>) {
    let mut told = |what| drop(says.send(Told::Sink(what)));
    again("the sink", says, stop.clone(), async || sink::go_on(hub, &mut told, stop.clone()).await)
        .await;
}

/// Begins a part whenever it ends, until it is stopped. That a server is not there yet when it has
/// just been begun is not told.
async fn again(
    part: &'static str,
    says: &UnboundedSender<Told>,
    mut stop: watch::Receiver<bool>,
    mut begin: impl AsyncFnMut() -> Result<(), FleetError>,
) {
    let [first, most] = AGAIN;
    let mut pause = Pause::new(first, most);
    loop {
        let began = Instant::now();
        let why = begin().await.err();
        if *stop.borrow() {
            return;
        }
        let ran = began.elapsed();
        if why.as_ref().is_none_or(|why| !why.may_pass() || pause.times(ran) >= UNTOLD) {
            let why = why.map_or_else(|| "it lost the hub".to_owned(), |why| why.to_string());
            let _ = says.send(Told::Trouble { part, why });
        }
        if pause.pass(ran, &mut stop).await {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However often a part is begun again, and with a page that cannot be shown.
    #[test]
    fn it_is_ready_once_and_with_the_link() {
        let coordinator = || Told::Coordinator(coordinator::Told::Ready);
        let sink = || Told::Sink(sink::Told::Ready);
        let page = || Told::Page("link".to_owned());
        let trouble = || Told::Trouble { part: PAGE, why: String::new() };
        let ready = |has_page, all: Vec<Told>| {
            let mut found = Vec::new();
            let mut told = |what: Told| {
                if let Told::Ready { page } = what {
                    found.push(page);
                }
            };
            let missing = Missing::new(true, has_page);
            let (fresh, _) = watch::channel(0);
            let mut tells = Tells { missing, page: None, fresh, metrics: None, told: &mut told };
            all.into_iter().for_each(|what| tells.take(what));
            found
        };
        let link = Some("link".to_owned());
        assert_eq!(ready(false, vec![coordinator(), coordinator()]), []);
        assert_eq!(ready(false, vec![coordinator(), sink(), sink()]), [None]);
        assert_eq!(ready(true, vec![page(), coordinator(), sink(), page()]), vec![link.clone()]);
        assert_eq!(ready(true, vec![coordinator(), sink(), page()]), [link]);
        assert_eq!(ready(true, vec![coordinator(), sink()]), []);
        assert_eq!(ready(true, vec![coordinator(), trouble(), sink()]), [None]);
    }
}
