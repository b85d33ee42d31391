//! Others who see the trials: captures at nodes of the path, and managed devices on it.
//!
//! What they need is asked for before the first packet, so that a refusal costs nothing.

pub mod devices;

use crate::job::{Capture, Job};
use crate::news::Watcher;
use crate::placement::Placement;
use crate::target::Target;
use crate::tool;
use crate::trouble::{CaptureTrouble, Trouble};
use crate::world::RealWorld;
use devices::Devices;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::Beside;
use v6gap_core::record::RunId;
use v6gap_core::run::Attempt;
use v6gap_engine::capture::{RING_BYTES, Recorder, Setup, Spot};
use v6gap_store::Store;
use v6gap_sys::capture::{Filter, Refused, Tap};
use v6gap_sys::socket::Datagram;
use v6gap_sys::{cpu, host, interface, thread};

/// What this host is called in a capture between two hosts.
const HERE: &str = "client";

/// What is measured, and between whom.
pub struct Measuring<'a> {
    /// What is asked for.
    pub job: &'a Job,
    /// The far end.
    pub target: &'a Target,
    /// The lab, if it takes place in one.
    pub lab: Option<&'a RealWorld>,
    /// Processor of the measuring thread.
    pub processor: Option<usize>,
}

/// Interfaces that are listened to already, and what is to be told of them.
pub struct Prepared {
    nodes: Vec<(String, Vec<Tap>)>,
    setup: Setup,
    /// The file or folder that was named.
    wanted: Option<PathBuf>,
}

/// Everybody who sees the trials.
#[derive(Default)]
pub struct Witnesses {
    run: String,
    recorder: Option<Recorder>,
    files: Vec<PathBuf>,
    frames: u64,
    told: Vec<String>,
    devices: Devices,
    troubles: Vec<String>,
}

/// What was captured.
#[derive(Debug)]
pub struct Captured {
    /// Number of frames.
    pub frames: u64,
    /// Where they are.
    pub files: Vec<PathBuf>,
    /// What went wrong, in words.
    pub troubles: Vec<String>,
}

impl Prepared {
    /// Opens what the job asks for.
    ///
    /// # Errors
    /// If capturing is not permitted or a node, interface or file is not as it must be.
    pub fn of(measuring: &Measuring<'_>) -> Result<Option<Prepared>, Trouble> {
        let Some(capture) = &measuring.job.capture else { return Ok(None) };
        let filter = filter(measuring)?;
        let nodes = match measuring.lab {
            Some(lab) => at_nodes(measuring, lab, capture, &filter)?,
            None => vec![(HERE.to_owned(), here(capture, &filter)?)],
        };
        let wanted = capture.to.clone();
        if let Some(path) = wanted.as_deref().filter(|path| is_file(path)) {
            let paths = nodes.iter().map(|(node, _)| named(path, node, nodes.len()));
            if let Some(path) = paths.into_iter().find(|path| Store::exists(path)) {
                return Err(CaptureTrouble::Exists(path).into());
            }
        }
        let system = host::facts().os.clone().unwrap_or_default();
        let setup = Setup {
            limit_bytes: capture.limit_bytes,
            snap_bytes: capture.snap_bytes,
            filter: filter.describe(),
            program: tool(),
            system,
            names: names(measuring),
            processor: free_processor(measuring),
        };
        Ok(Some(Prepared { nodes, setup, wanted }))
    }

    /// What is noted with the run.
    pub fn note(&self) -> String {
        let nodes: Vec<&str> = self.nodes.iter().map(|(node, _)| node.as_str()).collect();
        let on = match self.setup.processor {
            Some(number) => format!("processor {number}, where no end measures"),
            None => "the processors that measure, as no other was free".to_owned(),
        };
        format!(
            "captured at {}, the first {} B of each frame, on {on}",
            nodes.join(" and "),
            self.setup.snap_bytes
        )
    }

    /// Opens the files and begins.
    ///
    /// # Errors
    /// If a file cannot be made.
    pub fn start(self, run: &RunId, store: &Store) -> Result<Witnesses, Trouble> {
        let count = self.nodes.len();
        let (mut spots, mut files) = (Vec::new(), Vec::new());
        for (node, taps) in self.nodes {
            let path = match &self.wanted {
                Some(path) if is_file(path) => named(path, &node, count),
                Some(folder) => free(|n| folder.join(format!("{run}-{node}{n}.pcapng"))),
                None => {
                    let folder = store.folder(run);
                    free(|n| folder.join(format!("{node}{n}.pcapng")))
                }
            };
            let sink = Box::new(Store::new_file(&path)?);
            spots.push(Spot { node, taps, sink });
            files.push(path);
        }
        let recorder = Recorder::start(spots, self.setup);
        let recorder = recorder.map_err(|e| Trouble::System(e.to_string()))?;
        Ok(Witnesses {
            run: run.to_string(),
            recorder: Some(recorder),
            files,
            ..Witnesses::default()
        })
    }
}

impl Witnesses {
    /// With the devices that are to be read.
    pub fn with(self, devices: Devices) -> Self {
        Witnesses { devices, ..self }
    }

    /// A trial is about to begin. The devices are read first, so that it is not captured.
    pub fn before(
        &mut self,
        attempt: &Attempt<'_>,
        family: Option<Family>,
        watch: &mut dyn Watcher,
    ) {
        self.devices.before(&mut self.troubles, watch);
        if let Some(recorder) = &mut self.recorder {
            recorder.begin(&comment(&self.run, attempt, family));
        }
    }

    /// What they saw of it.
    pub fn beside(&mut self, watch: &mut dyn Watcher) -> Option<Beside> {
        let captured = self.recorder.as_mut().map(Recorder::end);
        let devices = self.devices.after(&mut self.troubles, watch);
        let mut troubles = std::mem::take(&mut self.troubles);
        if captured.is_none() && !self.devices.any() {
            return None;
        }
        let captured = captured.unwrap_or_default();
        self.frames += captured.taps.iter().map(|tap| tap.written).sum::<u64>();
        for trouble in &captured.troubles {
            self.told.push(format!("capture: {trouble}"));
        }
        troubles.extend(captured.troubles.iter().map(|why| format!("capture at {why}")));
        Some(Beside { taps: captured.taps, devices, troubles, ..Beside::default() })
    }

    /// Completes the files.
    pub fn finish(mut self) -> Option<Captured> {
        self.recorder.take()?;
        Some(Captured { frames: self.frames, files: self.files, troubles: self.told })
    }
}

/// What heads a section of the files.
fn comment(run: &str, attempt: &Attempt<'_>, family: Option<Family>) -> String {
    let family = match family {
        Some(family) => family.to_string(),
        None => "both arms in turns".to_owned(),
    };
    let Attempt { number, attempt, block, cell } = attempt;
    let again = if *attempt > 0 { format!(", attempt {}", attempt + 1) } else { String::new() };
    format!("v6gap run {run}, block {number}, round {}{again}: {}, {family}", block.round, cell.id)
}

/// All frames of a lab, which has no others; between hosts only what is measured.
fn filter(measuring: &Measuring<'_>) -> Result<Filter, Trouble> {
    if measuring.lab.is_some() {
        return Ok(Filter::Everything);
    }
    let far = [measuring.target.addresses.v4, measuring.target.addresses.v6];
    let far: Vec<SocketAddr> = far.into_iter().flatten().collect();
    let port = far.first().map_or(0, SocketAddr::port);
    let mut pairs = Vec::new();
    for there in far {
        pairs.push((source(there, &measuring.target.local)?, there.ip()));
    }
    Ok(Filter::Between { pairs, port })
}

/// The address that this host reaches another from; nothing is sent to find it.
fn source(there: SocketAddr, local: &PerFamily<Option<SocketAddr>>) -> Result<IpAddr, Trouble> {
    let family = Family::of(&there.ip()).unwrap_or(Family::V4);
    let any = SocketAddr::new(family.unspecified(), 0);
    let found = Datagram::bind(local.get(family).unwrap_or(any)).and_then(|socket| {
        socket.connect(there)?;
        socket.local()
    });
    found.map(|address| address.ip()).map_err(|e| Trouble::System(e.to_string()))
}

/// The interfaces that the measured addresses of this host are on.
fn here(capture: &Capture, filter: &Filter) -> Result<Vec<Tap>, Trouble> {
    if let Some(node) = capture.nodes.first() {
        return Err(CaptureTrouble::NoLab(node.clone()).into());
    }
    let Filter::Between { pairs, .. } = filter else { return Ok(Vec::new()) };
    let mut interfaces = Vec::new();
    for (own, _) in pairs {
        interfaces.push(interface::with_address(*own)?);
    }
    open(interfaces, filter, capture)
}

/// All interfaces of the nodes that were named.
fn at_nodes(
    measuring: &Measuring<'_>,
    lab: &RealWorld,
    capture: &Capture,
    filter: &Filter,
) -> Result<Vec<(String, Vec<Tap>)>, Trouble> {
    let known: Vec<&str> = node_names(measuring);
    let world = measuring.job.plan.world.as_ref();
    let mut nodes = capture.nodes.clone();
    if nodes.is_empty() {
        let ends = world.into_iter().flat_map(|w| [w.client, w.server].map(|end| &w.nodes[end]));
        nodes = ends.filter(|node| !node.emulated).map(|node| node.name.clone()).collect();
    }
    nodes.dedup();
    let mut opened = Vec::new();
    for node in nodes {
        if !known.contains(&node.as_str()) {
            let known = known.iter().map(ToString::to_string).collect();
            return Err(CaptureTrouble::NoNode { node, known }.into());
        }
        let mut all = world.into_iter().flat_map(|w| &w.nodes);
        if all.any(|other| other.emulated && other.name == node) {
            return Err(CaptureTrouble::OtherSystem(node).into());
        }
        // A thread of its own, which goes to the node and stays there.
        let work = || {
            lab.go_to(&node).map_err(Trouble::System)?;
            open(interface::up()?, filter, capture)
        };
        let no_thread = |e| Trouble::System(format!("cannot start a thread: {e}"));
        let taps = thread::aside(work).map_err(no_thread)??;
        opened.push((node, taps));
    }
    Ok(opened)
}

fn node_names<'a>(measuring: &'a Measuring<'_>) -> Vec<&'a str> {
    let world = measuring.job.plan.world.as_ref();
    world.map(|world| world.nodes.iter().map(|n| n.name.as_str()).collect()).unwrap_or_default()
}

/// Listens along at each interface once.
fn open(
    mut interfaces: Vec<String>,
    filter: &Filter,
    capture: &Capture,
) -> Result<Vec<Tap>, Trouble> {
    interfaces.sort();
    interfaces.dedup();
    let open = |interface: String| {
        let tap = Tap::open(&interface, filter, capture.snap_bytes, RING_BYTES);
        tap.map_err(|why| match why {
            Refused::NotPermitted => CaptureTrouble::NotPermitted { interface }.into(),
            Refused::Unavailable(missing) => missing.into(),
            Refused::Failed(error) => {
                Trouble::System(format!("cannot capture at {interface}: {error}"))
            }
        })
    };
    interfaces.into_iter().map(open).collect()
}

/// Names of the addresses that a reader meets.
fn names(measuring: &Measuring<'_>) -> Vec<(IpAddr, String)> {
    let mut names = Vec::new();
    let mut put = |addresses: PerFamily<Option<IpAddr>>, name: &str| {
        let both = [addresses.v4, addresses.v6].into_iter().flatten();
        names.extend(both.map(|address| (address, name.to_owned())));
    };
    match measuring.lab {
        Some(lab) => {
            for node in node_names(measuring) {
                put(lab.addresses(node), node);
            }
        }
        None => {
            let target = &measuring.target;
            let far = target.addresses.map(|address| address.map(|a| a.ip()));
            let near = target.addresses.map(|far| source(far?, &target.local).ok());
            put(near, host::facts().hostname.as_deref().unwrap_or(HERE));
            put(far, &target.name);
        }
    }
    names
}

/// A processor on which nothing measures, if this process has one.
fn free_processor(measuring: &Measuring<'_>) -> Option<usize> {
    let mut taken = vec![measuring.processor?];
    if measuring.lab.is_some() {
        taken.extend(Placement::choose().link);
    }
    let allowed = cpu::allowed().ok()?;
    allowed.into_iter().rev().find(|number| !taken.contains(number))
}

/// Whether a path names a file; otherwise it names a folder.
fn is_file(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "pcapng" || ending == "pcap")
}

/// The file of one of `count` nodes.
fn named(path: &Path, node: &str, count: usize) -> PathBuf {
    if count < 2 {
        return path.to_owned();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{node}.pcapng"))
}

/// The first name that is not taken, as when a run goes on.
fn free(name: impl Fn(&str) -> PathBuf) -> PathBuf {
    let numbered = (2..).map(|n| name(&format!("-{n}")));
    let mut names = std::iter::once(name("")).chain(numbered);
    names.find(|path| !Store::exists(path)).unwrap_or_else(|| name(""))
}
