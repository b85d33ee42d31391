//! TCP bulk against iperf3 over the same virtual cable, in turns: an instrument that is slower than
//! the usual one would measure itself. Needs iperf3 and user namespaces; without them it says so
//! and fails.
//!
//! `cargo bench -p v6gap-engine --bench iperf3`
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program of its own, which starts another one and prints"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Service, trial, values_of};
use std::error::Error;
use std::net::IpAddr;
use std::process::{Child, Command, Stdio};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::workload::{Direction, TcpBulk, Transport, Workload};
use v6gap_core::world::{Link, LinkModel, World};
use v6gap_engine::trial::client;
use v6gap_lab::{Lab, Node};
use v6gap_sys::{cpu, netns};

/// Pairs of transfers for each family.
const PAIRS: usize = 7;

/// Time that counts of each transfer, in s, after a warm-up of 1 s.
const SECONDS: u64 = 2;

const S: u64 = 1_000_000_000;

fn main() {
    if let Err(error) = compare() {
        eprintln!("no comparison with iperf3: {error}");
        std::process::exit(1);
    }
}

fn compare() -> Result<(), Box<dyn Error>> {
    let version = Command::new("iperf3").arg("--version").stdout(Stdio::null()).status();
    version.map_err(|error| format!("iperf3 cannot be started: {error}"))?;
    netns::enter_user_namespace()?;
    let world = World {
        nodes: ["client", "server"].map(str::to_owned).to_vec(),
        links: vec![Link::ethernet(None)],
        ..World::client_router_server(LinkModel::Bare, None)
    };
    let lab = Lab::build(&world)?;
    let (near, far) = (lab.node("client")?, lab.node("server")?);
    let addresses = PerFamily {
        v4: far.addresses.v4.ok_or("the server has no IPv4 address")?,
        v6: far.addresses.v6.ok_or("the server has no IPv6 address")?,
    };
    let allowed = cpu::allowed()?;
    let processors = (allowed[0], allowed[allowed.len() - 1]);
    let mut service = far.run(|| Service::at(addresses))?;
    service.processor = Some(processors.1);
    let peer = Peer::start(far)?;
    for family in Family::BOTH {
        let mut ratios = Vec::new();
        for pair in 0..PAIRS {
            let theirs = || peer.measure(near, *addresses.get(family), processors);
            let ours = || measure(&service, near, family, processors.0);
            let (ours, theirs) = if pair % 2 == 0 {
                let ours = ours()?;
                (ours, theirs()?)
            } else {
                let theirs = theirs()?;
                (ours()?, theirs)
            };
            println!("{family}: v6gap {:.2} Gbit/s, iperf3 {:.2} Gbit/s", ours / 1e9, theirs / 1e9);
            ratios.push(ours / theirs);
        }
        ratios.sort_by(f64::total_cmp);
        let (low, high) = (ratios[0], ratios[PAIRS - 1]);
        println!("{family}: ratio median {:.3} [{low:.3}, {high:.3}]", ratios[PAIRS / 2]);
    }
    Ok(())
}

/// bit/s of one of our transfers.
fn measure(
    service: &Service,
    near: &Node,
    family: Family,
    processor: usize,
) -> Result<f64, Box<dyn Error>> {
    let workload = TcpBulk {
        duration_ns: (1 + SECONDS) * S,
        warmup_ns: S,
        write_bytes: 128 * 1024,
        direction: Direction::Send,
        ..TcpBulk::default()
    };
    let task = trial(Workload::TcpBulk(workload), family);
    let mut context = service.context(Transport::Tcp);
    context.processor = Some(processor);
    let (client, server) =
        service.perform_with(&task, || near.run(|| client::run(&task, &context)));
    let values = values_of(&task, &client??, &server?);
    values[0].get(&Metric::Throughput).copied().ok_or_else(|| "no value".into())
}

/// iperf3 as a server, until it is dropped.
struct Peer(Child);

impl Peer {
    fn start(far: &Node) -> Result<Self, Box<dyn Error>> {
        let start = || Command::new("iperf3").arg("-s").stdout(Stdio::null()).spawn();
        Ok(Peer(far.run(start)??))
    }

    /// bit/s of one of its transfers, as its receiver saw it.
    fn measure(
        &self,
        near: &Node,
        address: IpAddr,
        processors: (usize, usize),
    ) -> Result<f64, Box<dyn Error>> {
        let affinity = format!("{},{}", processors.0, processors.1);
        let seconds = SECONDS.to_string();
        let run = || {
            Command::new("iperf3")
                .args(["-J", "-O", "1", "-t", &seconds, "-A", &affinity, "-c"])
                .arg(address.to_string())
                .output()
        };
        let output = near.run(run)??;
        let report: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let rate = report["end"]["sum_received"]["bits_per_second"].as_f64();
        rate.ok_or_else(|| format!("iperf3 gave no rate: {}", report["error"]).into())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends with this process's namespaces at the latest.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
