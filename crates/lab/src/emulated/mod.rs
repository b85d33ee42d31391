//! A node that is another system: a kernel of its own under QEMU, which computes every instruction
//! of it (TCG), so that no support of the processor is needed and nothing of this kernel is in it.
//!
//! Its only interface is the far end of a tap, which takes the place of a cable's end. The first
//! program of that system is this one, out of an archive in memory: it does with the system what
//! the lab does with the namespaces of other nodes, and then serves. QEMU is a child of a thread
//! of its own and dies with it, so nothing is left whatever happens.

mod archive;
mod guest;
mod kernel;

pub use guest::{Guest, start};

use crate::tunnel::installed;
use crate::{LabError, LabOptions, layout};
use archive::Archive;
use guest::Task;
use kernel::Kernel;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use v6gap_core::world::{End, LinkModel, World};
use v6gap_sys::child::spawn_heard;
use v6gap_sys::tun::Tap;
use v6gap_sys::{Unavailable, clock, cpu};

/// The program that emulates.
const PROGRAM: &str = "qemu-system-x86_64";
/// What its name begins with where programs are linked when they start (ld.so(8)).
const LOADER: &str = "ld-";
/// Verb of this program by which it is the first one of a system.
pub const VERB: &str = "guest-init";
/// Memory of the system beside its archive, which it holds twice while it unpacks it, in MiB.
const MEMORY_MIB: usize = 256;
/// The system has this long to come up, in ns: four times what it takes on a slow computer.
const READY_NS: u64 = 60_000_000_000;
/// What it says last is kept, in lines.
const LAST_LINES: usize = 12;

/// What the system says of itself when it serves, before facts as JSON.
pub const READY: &str = "v6gap serves ";

/// Modules that its only interface needs, and those that shape it.
const INTERFACE: [&str; 2] = ["virtio_pci", "virtio_net"];
const SHAPING: [&str; 3] = ["sch_htb", "cls_u32", "sch_netem"];

/// Facts of a lab, by name.
type Facts = BTreeMap<String, String>;

/// A running system; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Machine {
    child: Child,
    /// Listens to it for as long as it runs.
    thread: Option<JoinHandle<()>>,
}

/// A system that does not serve yet.
#[derive(Debug)]
pub(crate) struct Starting {
    machine: Machine,
    node: String,
    /// The console, line by line.
    said: Receiver<String>,
    deadline_ns: u64,
}

impl Starting {
    /// Starts the system of a node at `cable`, in the calling thread's network namespace.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn new(
        world: &World,
        (node, end): (usize, End),
        cable: Tap,
        options: &LabOptions,
    ) -> Result<Self, LabError> {
        let name = world.nodes[node].name.clone();
        let operation = || format!("start the system of {name}");
        let kernel = Kernel::find(options.kernel_folder()).map_err(io::Error::other);
        let kernel = kernel.map_err(LabError::system(operation()))?;
        let made = first_files(world, node, &kernel).map_err(LabError::system(operation()))?;
        let arguments = arguments(&kernel, &made, end, &cable);
        let processor = free_processor(world, options);
        let (tell, said) = channel();
        let (started, starting) = channel();
        let work = move || {
            if let Some(number) = processor {
                // Where that cannot be it runs anywhere, only less evenly.
                let _ = cpu::pin_thread(number);
            }
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let spawned = spawn_heard(PROGRAM, &arguments, &made.archive, cable.as_fd());
            drop((made, cable));
            match spawned {
                Ok((child, heard)) => {
                    let _ = started.send(Ok(child));
                    listen(BufReader::new(heard), &tell);
                }
                Err(error) => drop(started.send(Err(error))),
            }
        };
        let thread = std::thread::Builder::new().name("v6gap-machine".to_owned()).spawn(work);
        let thread = thread.map_err(LabError::system(operation()))?;
        let child = starting.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()));
        let child = child.map_err(LabError::system(operation()))?;
        let deadline_ns = clock::now_ns() + READY_NS;
        let machine = Machine { child, thread: Some(thread) };
        Ok(Starting { machine, node: name, said, deadline_ns })
    }

    /// Waits until the system serves, and returns it with what it says of itself.
    ///
    /// # Errors
    /// If it ends or does not come up in time, with what it said last.
    pub fn wait(self) -> Result<(Machine, Facts), LabError> {
        let mut console = VecDeque::new();
        let why = loop {
            let left_ns = self.deadline_ns.saturating_sub(clock::now_ns());
            match self.said.recv_timeout(Duration::from_nanos(left_ns)) {
                Ok(line) => {
                    let told = line.split_once(READY).map(|(_, facts)| serde_json::from_str(facts));
                    if let Some(Ok(facts)) = told {
                        return Ok((self.machine, facts));
                    }
                    console.push_back(line);
                    if console.len() > LAST_LINES {
                        console.pop_front();
                    }
                }
                Err(RecvTimeoutError::Timeout) => break "it did not serve after 60 s",
                Err(RecvTimeoutError::Disconnected) => break "it ended before it served",
            }
        };
        Err(LabError::NotUp { node: self.node, why, console: console.into() })
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Passes on what a system says, until it ends. After it serves nobody listens any more, but what
/// it says must be taken or it would wait for that.
fn listen(mut heard: impl BufRead, tell: &Sender<String>) {
    let mut bytes = Vec::new();
    while heard.read_until(b'\n', &mut bytes).is_ok_and(|length| length > 0) {
        let line = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        if !line.is_empty() {
            let _ = tell.send(line);
        }
        bytes.clear();
    }
}

/// The processor for the system: the last one that the user-space link does not take.
fn free_processor(world: &World, options: &LabOptions) -> Option<usize> {
    let taken = options.wire_cpu.filter(|_| world.model == LinkModel::Wire);
    cpu::allowed().ok()?.into_iter().rfind(|number| Some(*number) != taken)
}

/// What the system begins with.
struct First {
    archive: Vec<u8>,
    /// Path of the first program and what it is given before this program's own path.
    starter: String,
}

/// This program with its libraries, the modules and what is to be done.
fn first_files(world: &World, node: usize, kernel: &Kernel) -> io::Result<First> {
    let shaped = if world.model == LinkModel::Bare { &[][..] } else { &SHAPING };
    let modules = kernel.modules(&[&INTERFACE, shaped].concat())?;
    let mut archive = Archive::default();
    for folder in ["proc", "sys", "dev"] {
        archive.add_folder(folder);
    }
    archive.add("program", &fs::read("/proc/self/exe")?);
    let mut loader = None;
    for path in libraries(&fs::read_to_string("/proc/self/maps")?) {
        let name = path.rsplit('/').next().unwrap_or_default();
        let inside = format!("lib/{name}");
        archive.add(&inside, &fs::read(path)?);
        if name.starts_with(LOADER) {
            loader = Some(format!("rdinit=/{inside} -- --library-path /lib /program"));
        }
    }
    for (name, bytes) in &modules {
        archive.add(&format!("modules/{name}.ko"), bytes);
    }
    let modules = modules.into_iter().map(|(name, _)| name).collect();
    let task = Task { world: world.clone(), node, modules };
    archive.add(guest::TASK, &serde_json::to_vec(&task)?);
    let starter = loader.unwrap_or_else(|| "rdinit=/program --".to_owned());
    Ok(First { archive: archive.finish(), starter })
}

/// The libraries among what a process has in its memory (`/proc/PID/maps` of proc(5)).
fn libraries(maps: &str) -> BTreeSet<&str> {
    let files = maps.lines().filter_map(|line| Some(&line[line.find('/')?..]));
    files.filter(|path| path.contains(".so")).collect()
}

/// How the program that emulates is called.
fn arguments(kernel: &Kernel, first: &First, end: End, cable: &Tap) -> Vec<String> {
    let memory_mib = MEMORY_MIB + 2 * first.archive.len().div_ceil(1 << 20);
    let mac = layout::mac(end).map(|byte| format!("{byte:02x}")).join(":");
    let line = format!("console=ttyS0 quiet panic=-1 {} {VERB}", first.starter);
    let cable = cable.as_fd().as_raw_fd();
    let pairs = [
        ("-accel", "tcg".to_owned()),
        ("-cpu", "max".to_owned()),
        ("-m", format!("{memory_mib}M")),
        ("-display", "none".to_owned()),
        // What it says goes to the pipe, and it hears nothing.
        ("-serial", "file:/proc/self/fd/1".to_owned()),
        ("-kernel", kernel.image.display().to_string()),
        ("-initrd", "/proc/self/fd/0".to_owned()),
        ("-append", line),
        ("-netdev", format!("tap,id=cable,fd={cable}")),
        ("-device", format!("virtio-net-pci,netdev=cable,mac={mac},romfile=")),
    ];
    let flags = ["-nodefaults", "-no-reboot"].map(str::to_owned);
    let pairs = pairs.into_iter().flat_map(|(name, value)| [name.to_owned(), value]);
    flags.into_iter().chain(pairs).collect()
}

/// Whether this host can emulate a system with the kernel in `folder`.
///
/// # Errors
/// With what is missing and how to get it.
pub(crate) fn available(folder: &Path) -> Result<(), Unavailable> {
    let missing = |because: String| Err(Unavailable::new("emulation", because));
    if !cfg!(target_arch = "x86_64") {
        return missing("this program emulates systems on x86-64 only".to_owned());
    }
    if !installed(PROGRAM) {
        let how = "sudo apt install qemu-system-x86";
        return missing(format!("`{PROGRAM}` is not installed: {how}"));
    }
    match Kernel::find(folder) {
        Ok(_) => Ok(()),
        Err(why) => missing(format!(
            "there is no kernel: {why}. --kernel FOLDER names a folder into which one was \
             unpacked, as by `apt-get download PACKAGE && dpkg-deb -x PACKAGE*.deb FOLDER` with \
             the package that `linux-image-cloud-amd64` depends on"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_in_memory() {
        let maps = "55-56 r--p 00000000 fe:00 11 /usr/bin/v6gap\n\
            7f-80 r--p 00000000 fe:00 12 /usr/lib/libc.so.6\n\
            80-81 r-xp 00000000 fe:00 12 /usr/lib/libc.so.6\n\
            81-82 rw-p 00000000 00:00 0 \n\
            82-83 r--p 00000000 fe:00 13 /usr/lib/ld-linux-x86-64.so.2\n\
            83-84 rw-p 00000000 00:00 0 [stack]\n";
        let found: Vec<&str> = libraries(maps).into_iter().collect();
        assert_eq!(found, ["/usr/lib/ld-linux-x86-64.so.2", "/usr/lib/libc.so.6"]);
    }

    #[test]
    fn what_is_said_is_passed_on_line_by_line() {
        let (tell, said) = channel();
        listen(&b"one\r\n\r\n\xfftwo"[..], &tell);
        drop(tell);
        assert_eq!(said.iter().collect::<Vec<_>>(), ["one", "\u{fffd}two"]);
    }
}
