//! What the benches share: two hosts on a virtual cable, a service on the far one, programs of
//! others beside it, and comparing with them in turns.
#![allow(dead_code, reason = "each bench uses a part of it")]

#[path = "../../tests/common/mod.rs"]
mod loopback;

#[allow(unused_imports, reason = "each bench uses a part of it")]
pub use loopback::{Service, echo, relay, slice, trial};

use std::collections::BTreeMap;
use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::observation::{EndReport, PerEnd};
use v6gap_core::task::Task;
use v6gap_core::workload::{Transport, Workload};
use v6gap_core::world::{Link, LinkModel, World};
use v6gap_engine::trial::client;
use v6gap_lab::{Lab, Node};
use v6gap_stats::quantile::order_statistic_interval;
use v6gap_sys::{cpu, netns};

/// What a bench returns; the message of an error names the program that is missing.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// One second in ns.
pub const S: u64 = 1_000_000_000;

/// Longest time for a program of others to be ready.
const READY: Duration = Duration::from_secs(5);

/// Compiles a C program of `folder` anew, and says where it is.
pub fn compile(folder: &str, name: &str) -> Outcome<String> {
    let source = format!("{folder}/{name}.c");
    let program = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    let done = Command::new("cc").args(["-O2", "-Wall", "-o", &program, &source]).status();
    let done = done.map_err(|error| missing("cc", &error))?;
    if done.success() { Ok(program) } else { Err("cc failed".into()) }
}

/// Runs a bench as a program's `main`: says why it could not run, and then fails.
pub fn run(name: &str, bench: impl FnOnce() -> Outcome) {
    if let Err(error) = bench() {
        eprintln!("{name}: {error}");
        std::process::exit(1);
    }
}

/// A lab of two hosts joined by a bare cable, with our service on the far one.
pub struct Bed {
    lab: Lab,
    /// The service on the far host.
    pub service: Service,
    /// Addresses of the far host.
    pub addresses: PerFamily<IpAddr>,
    /// Processors of the near and the far end; the same one if there is no other.
    pub processors: (usize, usize),
}

impl Bed {
    /// Builds it. To be called before the program has any thread, as it enters a user namespace.
    pub fn new() -> Outcome<Self> {
        netns::enter_user_namespace()?;
        let world = World::chain(LinkModel::Bare, vec![Link::ethernet(None)]);
        let lab = Lab::build(&world)?;
        let far = lab.node("server")?;
        let addresses = PerFamily {
            v4: far.addresses.v4.ok_or("the server has no IPv4 address")?,
            v6: far.addresses.v6.ok_or("the server has no IPv6 address")?,
        };
        let allowed = cpu::allowed()?;
        let processors = (allowed[0], allowed[allowed.len() - 1]);
        let mut service = far.run(|| Service::at(addresses))?;
        service.processor = Some(processors.1);
        Ok(Bed { lab, service, addresses, processors })
    }

    /// The host on which clients run.
    pub fn near(&self) -> Outcome<&Node> {
        Ok(self.lab.node("client")?)
    }

    /// The host on which servers run.
    pub fn far(&self) -> Outcome<&Node> {
        Ok(self.lab.node("server")?)
    }

    /// One of our trials, each end on its processor: what the ends reported, arm by arm.
    pub fn perform(&self, task: &Task) -> Outcome<Vec<PerEnd<EndReport>>> {
        let mut context = self.service.context(task.workload.transport());
        context.processors = vec![self.processors.0];
        let near = self.near()?;
        let (client, server) =
            self.service.perform_with(task, || near.run(|| client::run(task, &context)));
        let pairs = client??.into_iter().zip(server?);
        Ok(pairs.map(|((_, client), (_, server))| PerEnd { client, server }).collect())
    }

    /// The values of one of our trials of one arm.
    pub fn values(&self, workload: Workload, family: Family) -> Outcome<BTreeMap<Metric, f64>> {
        let task = trial(workload, family);
        let ends = self.perform(&task)?;
        let first = ends.into_iter().next();
        let values = first.map(|ends| v6gap_core::values::values(&task.workload, &ends.into()));
        values.ok_or_else(|| "no report".into())
    }

    /// One value of one of our trials of one arm.
    pub fn value(&self, workload: Workload, family: Family, metric: Metric) -> Outcome<f64> {
        let values = self.values(workload, family)?;
        values.get(&metric).copied().ok_or_else(|| format!("no {metric}").into())
    }
}

/// A program of others in the background, killed when it is dropped.
pub struct Peer(Child);

impl Peer {
    /// Starts `program` on `node`, silent.
    pub fn start(node: &Node, program: &str, args: &[&str]) -> Outcome<Self> {
        let child = node.run(|| spawn(program, args))?;
        Ok(Peer(child.map_err(|error| missing(program, &error))?))
    }

    /// Starts `program` beside this one, silent.
    pub fn start_here(program: &str, args: &[&str]) -> Outcome<Self> {
        Ok(Peer(spawn(program, args).map_err(|error| missing(program, &error))?))
    }

    /// Waits until a socket waits at the address on `far`. Connecting to it instead would be a
    /// first client, which some servers do not expect.
    pub fn wait_until_bound(&self, far: &Node, transport: Transport, at: SocketAddr) -> Outcome {
        wait_until(at, || Ok(far.run(|| is_bound(transport, at))?))
    }

    /// The same beside this program.
    pub fn wait_until_bound_here(&self, transport: Transport, at: SocketAddr) -> Outcome {
        wait_until(at, || Ok(is_bound(transport, at)))
    }

    /// Its process number.
    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

fn spawn(program: &str, args: &[&str]) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn()
}

/// Whether a socket waits at the address, by the kernel's tables: that of its family, or that of
/// IPv6 where one socket serves both. To bind it to find out would be in the way of the program
/// that is about to.
fn is_bound(transport: Transport, at: SocketAddr) -> bool {
    let (tables, waiting) = match transport {
        Transport::Tcp => (["tcp", "tcp6"], "0A"),
        Transport::Udp | Transport::Icmp => (["udp", "udp6"], "07"),
    };
    let port = format!(":{:04X}", at.port());
    let waits = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        fields.next().is_some_and(|local| local.ends_with(&port)) && fields.nth(1) == Some(waiting)
    };
    tables.iter().any(|table| {
        let table = std::fs::read_to_string(format!("/proc/thread-self/net/{table}"));
        table.unwrap_or_default().lines().any(waits)
    })
}

fn wait_until(at: SocketAddr, taken: impl Fn() -> Outcome<bool>) -> Outcome {
    let until = Instant::now() + READY;
    while !taken()? {
        if Instant::now() > until {
            return Err(format!("nothing waits at {at}").into());
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends with this process's namespaces at the latest.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The standard output of `program`, run on `node` to its end.
pub fn output(node: &Node, program: &str, args: &[&str]) -> Outcome<String> {
    let output = node.run(|| Command::new(program).args(args).output())?;
    let output = output.map_err(|error| missing(program, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    Err(format!("{program} failed: {}", String::from_utf8_lossy(&said).trim()).into())
}

fn missing(program: &str, error: &std::io::Error) -> String {
    format!(
        "{program} cannot be started: {error} (`cargo xtask bench --setup` installs what is \
         missing)"
    )
}

/// Ratios of pairs of measurements.
#[derive(Debug, Clone, Copy)]
pub struct Ratio {
    /// Median of ours divided by theirs.
    pub median: f64,
    /// Lower end of the median's 95 % range, by order statistics.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Median of ours.
    pub ours: f64,
    /// Median of theirs.
    pub theirs: f64,
}

/// Measures `pairs` pairs in alternating order, so that what changes with time meets both alike,
/// and prints the medians, with `show` for the values, and the 95 % range of the ratio's.
pub fn compare(
    name: &str,
    pairs: usize,
    show: impl Fn(f64) -> String,
    mut ours: impl FnMut() -> Outcome<f64>,
    mut theirs: impl FnMut() -> Outcome<f64>,
) -> Outcome<Ratio> {
    let (mut our_values, mut their_values, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..pairs {
        let (x, y) = if pair % 2 == 0 {
            let x = ours()?;
            (x, theirs()?)
        } else {
            let y = theirs()?;
            (ours()?, y)
        };
        println!("  {name}: v6gap {}, theirs {}", show(x), show(y));
        our_values.push(x);
        their_values.push(y);
        ratios.push(x / y);
    }
    let (ours, _, _) = spread(&mut our_values)?;
    let (theirs, _, _) = spread(&mut their_values)?;
    let (median, _, _) = spread(&mut ratios)?;
    let (low, high) = order_statistic_interval(pairs, 0.5, 0.95);
    let low = low.map_or(f64::NEG_INFINITY, |rank| ratios[rank - 1]);
    let high = high.map_or(f64::INFINITY, |rank| ratios[rank - 1]);
    println!(
        "{name}: ratio {median:.3} [{low:.3}, {high:.3}], v6gap {}, theirs {} (medians of {pairs})",
        show(ours),
        show(theirs)
    );
    Ok(Ratio { median, low, high, ours, theirs })
}

/// Median, smallest and largest.
pub fn spread(values: &mut [f64]) -> Outcome<(f64, f64, f64)> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => Err("nothing was measured".into()),
        _ if n % 2 == 1 => Ok((values[n / 2], values[0], values[n - 1])),
        _ => Ok(((values[n / 2 - 1] + values[n / 2]) / 2.0, values[0], values[n - 1])),
    }
}

/// Whether the comparison of that name was asked for: one of the words on the command line is part
/// of it, or there are none.
pub fn wanted(name: &str) -> bool {
    // Cargo adds a flag of its own.
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--")).peekable();
    words.peek().is_none() || words.any(|word| name.contains(&word))
}

/// Processor time in user mode and in the kernel, in s.
#[derive(Debug, Clone, Copy)]
pub struct Spent {
    /// Of all threads of the process.
    pub own: f64,
    /// Of its children that have ended.
    pub children: f64,
}

/// What a process has used since it began, by proc(5), in steps of 10 ms.
pub fn processor_seconds(process: u32) -> Outcome<Spent> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name of the program, which may hold blanks, ends with the last parenthesis.
    let (_, fields) = stat.rsplit_once(')').ok_or("an unknown form of /proc/PID/stat")?;
    let fields: Vec<f64> = fields.split_whitespace().filter_map(|f| f.parse().ok()).collect();
    // All but the state are numbers: utime is field 14 of the file, the 11th behind the state.
    match fields[..] {
        [_, _, _, _, _, _, _, _, _, _, user, system, child_user, child_system, ..] => Ok(Spent {
            own: (user + system) / 100.0,
            children: (child_user + child_system) / 100.0,
        }),
        _ => Err("an unknown form of /proc/PID/stat".into()),
    }
}

/// A rate in Gbit/s.
pub fn gigabits(bps: f64) -> String {
    format!("{:.2} Gbit/s", bps / 1e9)
}

/// A time in µs.
pub fn microseconds(seconds: f64) -> String {
    format!("{:.2} µs", seconds * 1e6)
}

/// Notes in `short` each ratio that is not at least `least`.
pub fn at_least(least: f64, name: &str, ratio: Ratio, short: &mut Vec<String>) {
    if ratio.median < least {
        short.push(format!("{name}: {:.3} is below {least:.2}", ratio.median));
    }
}

/// Fails if anything fell short.
pub fn judge(short: &[String]) -> Outcome {
    if short.is_empty() { Ok(()) } else { Err(short.join("; ").into()) }
}
