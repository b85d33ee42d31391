//! Others who see the trials: captures at nodes of the path, and managed devices on it.
//!
//! What they need is asked for before the first packet, so that a refusal costs nothing.

use super::devices::Devices;
use super::local::Placement;
use super::measure::{Measuring, tool};
use crate::args::CaptureArgs;
use crate::failure::Failure;
use crate::output;
use crate::settings::Context;
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

/// Opens what the options ask for.
///
/// # Errors
/// If capturing is not permitted (E302) or a node, interface or file is not as it must be.
pub fn prepare(measuring: &Measuring<'_>) -> Result<Option<Prepared>, Failure> {
    let args = &measuring.options.capture;
    let Some(wanted) = args.capture.clone() else { return Ok(None) };
    let filter = filter(measuring)?;
    let nodes = match measuring.lab {
        Some(_) => at_nodes(measuring, &filter)?,
        None => vec![(HERE.to_owned(), here(measuring, &filter)?)],
    };
    if let Some(path) = wanted.as_deref().filter(|path| is_file(path)) {
        for (node, _) in &nodes {
            let path = named(path, node, nodes.len());
            if Store::exists(&path) {
                let what = format!("{} exists, and captures replace no file", path.display());
                return Err(Failure::usage(what));
            }
        }
    }
    let system = host::facts().os.clone().unwrap_or_default();
    let setup = Setup {
        limit_bytes: args.capture_limit,
        snap_bytes: args.capture_snap,
        filter: filter.describe(),
        program: tool(),
        system,
        names: names(measuring),
        processor: free_processor(measuring),
    };
    Ok(Some(Prepared { nodes, setup, wanted }))
}

impl Prepared {
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
    pub fn start(self, run: &RunId, context: &Context) -> Result<Witnesses, Failure> {
        let count = self.nodes.len();
        let (mut spots, mut files) = (Vec::new(), Vec::new());
        for (node, taps) in self.nodes {
            let path = match &self.wanted {
                Some(path) if is_file(path) => named(path, &node, count),
                Some(folder) => free(|n| folder.join(format!("{run}-{node}{n}.pcapng"))),
                None => {
                    let folder = context.store.folder(run);
                    free(|n| folder.join(format!("{node}{n}.pcapng")))
                }
            };
            let sink = Box::new(Store::new_file(&path)?);
            spots.push(Spot { node, taps, sink });
            files.push(path);
        }
        let recorder = Recorder::start(spots, self.setup);
        let recorder = recorder.map_err(|e| Failure::unexpected(e.to_string()))?;
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
    pub fn before(&mut self, attempt: &Attempt<'_>, family: Option<Family>) {
        self.devices.before(&mut self.troubles);
        if let Some(recorder) = &mut self.recorder {
            recorder.begin(&comment(&self.run, attempt, family));
        }
    }

    /// What they saw of it.
    pub fn beside(&mut self) -> Option<Beside> {
        let captured = self.recorder.as_mut().map(Recorder::end);
        let devices = self.devices.after(&mut self.troubles);
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

    /// Completes the files and says where they are.
    pub fn finish(mut self, quiet: bool) {
        if self.recorder.take().is_none() || quiet {
            return;
        }
        for trouble in &self.told {
            output::to_stderr(trouble);
        }
        let files: Vec<String> = self.files.iter().map(|path| path.display().to_string()).collect();
        let frames = self.frames;
        output::to_stderr(&format!("{frames} captured packets are in {}", files.join(" and ")));
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
fn filter(measuring: &Measuring<'_>) -> Result<Filter, Failure> {
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
fn source(there: SocketAddr, local: &PerFamily<Option<SocketAddr>>) -> Result<IpAddr, Failure> {
    let family = Family::of(&there.ip()).unwrap_or(Family::V4);
    let any = SocketAddr::new(family.unspecified(), 0);
    let found = Datagram::bind(local.get(family).unwrap_or(any)).and_then(|socket| {
        socket.connect(there)?;
        socket.local()
    });
    found.map(|address| address.ip()).map_err(|e| Failure::unexpected(e.to_string()))
}

/// The interfaces that the measured addresses of this host are on.
fn here(measuring: &Measuring<'_>, filter: &Filter) -> Result<Vec<Tap>, Failure> {
    let args = &measuring.options.capture;
    if let Some(node) = args.capture_at.first() {
        let what = format!("--capture-at {node}: only labs have nodes to capture at");
        return Err(Failure::usage(what).run("v6gap demo --capture", "captures in a lab"));
    }
    let Filter::Between { pairs, .. } = filter else { return Ok(Vec::new()) };
    let mut interfaces = Vec::new();
    for (own, _) in pairs {
        interfaces.push(interface::with_address(*own)?);
    }
    open(interfaces, filter, args).map_err(|(interface, why)| refused(measuring, &interface, why))
}

/// All interfaces of the nodes that were named.
fn at_nodes(
    measuring: &Measuring<'_>,
    filter: &Filter,
) -> Result<Vec<(String, Vec<Tap>)>, Failure> {
    let args = &measuring.options.capture;
    let known: Vec<&str> = node_names(measuring);
    let mut nodes = args.capture_at.clone();
    if nodes.is_empty() {
        let world = measuring.plan.world.iter();
        let ends = world.flat_map(|w| [w.client, w.server].map(|end| &w.nodes[end]));
        nodes = ends.filter(|node| !node.emulated).map(|node| node.name.clone()).collect();
    }
    nodes.dedup();
    let mut opened = Vec::new();
    for node in nodes {
        if !known.contains(&node.as_str()) {
            let what = format!("--capture-at {node}: the lab has {}", known.join(", "));
            return Err(Failure::usage(what));
        }
        let world = measuring.plan.world.iter();
        if world.flat_map(|w| &w.nodes).any(|other| other.emulated && other.name == node) {
            let what =
                format!("--capture-at {node}: it is another system, with a kernel of its own");
            return Err(
                Failure::usage(what).likely("a node at the other end of its link was meant.")
            );
        }
        // A thread of its own, which goes to the node and stays there.
        let work = || {
            if let Some(lab) = measuring.lab {
                lab.go_to(&node).map_err(Failure::unexpected)?;
            }
            let interfaces = interface::up()?;
            open(interfaces, filter, args).map_err(|(name, why)| refused(measuring, &name, why))
        };
        let taps = thread::aside(work).map_err(Failure::no_thread)??;
        opened.push((node, taps));
    }
    Ok(opened)
}

fn node_names<'a>(measuring: &'a Measuring<'_>) -> Vec<&'a str> {
    let world = measuring.plan.world.as_ref();
    world.map(|world| world.nodes.iter().map(|n| n.name.as_str()).collect()).unwrap_or_default()
}

/// Listens along at each interface once.
fn open(
    mut interfaces: Vec<String>,
    filter: &Filter,
    args: &CaptureArgs,
) -> Result<Vec<Tap>, (String, Refused)> {
    interfaces.sort();
    interfaces.dedup();
    let open = |name: String| {
        Tap::open(&name, filter, args.capture_snap, RING_BYTES).map_err(|why| (name, why))
    };
    interfaces.into_iter().map(open).collect()
}

fn refused(measuring: &Measuring<'_>, interface: &str, why: Refused) -> Failure {
    match why {
        Refused::NotPermitted => Failure::capture(interface, &measuring.target.name),
        Refused::Unavailable(unavailable) => unavailable.into(),
        Refused::Failed(error) => {
            Failure::unexpected(format!("cannot capture at {interface}: {error}"))
        }
    }
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
