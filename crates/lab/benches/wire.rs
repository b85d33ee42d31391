//! What the user-space link holds: datagrams of three sizes at rising rates over one link without a
//! rate of its own, and how late they came, until the link falls behind.
//!
//! The sender has one processor and the link, with what the kernel does for the receiver, another;
//! with one processor for both the figures say little. A step is held if the lab lost nothing and
//! the schedule was kept.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program of its own, which prints"
)]

use std::error::Error;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;
use v6gap_core::family::Family;
use v6gap_core::world::{Link, LinkModel, World};
use v6gap_lab::{Lab, LabOptions, Lateness};
use v6gap_sys::{clock, cpu, netns};

/// Rates that are tried, in packets per second.
const STEPS: [u64; 9] =
    [25_000, 50_000, 100_000, 150_000, 200_000, 250_000, 300_000, 400_000, 500_000];
/// Payloads: the shortest frame, and the longest of both families.
const PAYLOADS: [usize; 3] = [18, 512, 1452];
const STEP_NS: u64 = 1_000_000_000;
/// A step is held if so much of its schedule was sent.
const SENT_SHARE: f64 = 0.99;

fn main() {
    if let Err(refusal) = netns::probe() {
        println!("SKIPPED: {refusal}");
        return;
    }
    netns::enter_user_namespace().expect("the probe succeeded");
    if let Err(error) = measure() {
        eprintln!("wire: {error}");
        std::process::exit(1);
    }
}

fn measure() -> Result<(), Box<dyn Error>> {
    let allowed = cpu::allowed()?;
    let (near, wire_cpu) = (allowed[0], allowed[allowed.len() - 1]);
    if near == wire_cpu {
        println!("one processor for the sender and the link: figures of no use");
    }
    cpu::pin_thread(near).map_err(|unavailable| unavailable.to_string())?;
    let world = World::chain(LinkModel::Wire, vec![Link::ethernet(None)]);
    let lab =
        Lab::build_with(&world, &LabOptions { wire_cpu: Some(wire_cpu), seed: 1, kernel: None })?;
    println!("family payload   asked/s    came/s   p50 ns   p99 ns    max ns faults  Mbit/s  cpu");
    for family in Family::BOTH {
        let (from, to) = pair(&lab, family)?;
        for payload in PAYLOADS {
            let mut highest = None;
            for rate in STEPS {
                let step = step(&lab, &from, to, payload, rate)?;
                let Lateness { p50_ns, p99_ns, max_ns, faults, .. } = step.seen;
                let bits = (payload + 28 + 38 + if family == Family::V6 { 20 } else { 0 }) * 8;
                println!(
                    "{family:6} {payload:7} {rate:9} {:9.0} {p50_ns:8} {p99_ns:8} {max_ns:9} \
                     {faults:6} {:7.0} {:4.0}%",
                    step.came,
                    step.came * bits as f64 / 1e6,
                    100.0 * step.processor
                );
                if faults > 0 || step.sent_share < SENT_SHARE {
                    break;
                }
                highest = Some(rate);
            }
            match highest {
                Some(rate) => println!("{family}, {payload} B: holds {rate} packets/s\n"),
                None => println!("{family}, {payload} B: holds no step\n"),
            }
        }
    }
    Ok(())
}

/// What came of a step.
struct Step {
    seen: Lateness,
    /// Packets per second that the link delivered.
    came: f64,
    /// Share of the schedule that was sent.
    sent_share: f64,
    /// Processors that the link's thread kept busy.
    processor: f64,
}

fn step(
    lab: &Lab,
    from: &UdpSocket,
    to: SocketAddr,
    payload: usize,
    rate: u64,
) -> Result<Step, Box<dyn Error>> {
    let message = vec![7; payload];
    lab.reset_wire();
    let (busy_before, start_ns) = (wire_ticks()?, clock::now_ns());
    let planned = rate * STEP_NS / 1_000_000_000;
    let mut sent = 0;
    while clock::now_ns() - start_ns < STEP_NS {
        let due = (clock::now_ns() - start_ns) * rate / 1_000_000_000;
        if sent <= due {
            from.send_to(&message, to)?;
            sent += 1;
        } else {
            std::hint::spin_loop();
        }
    }
    let busy = wire_ticks()? - busy_before;
    std::thread::sleep(Duration::from_millis(50));
    let seen = lab.wire_lateness().ok_or("no wire")?;
    let seconds = STEP_NS as f64 / 1e9;
    Ok(Step {
        came: seen.frames as f64 / seconds,
        sent_share: sent as f64 / planned as f64,
        processor: busy as f64 / TICKS_PER_S / seconds,
        seen,
    })
}

/// A socket of the client and an address at the server, where a socket waits that nobody reads.
fn pair(lab: &Lab, family: Family) -> Result<(UdpSocket, SocketAddr), Box<dyn Error>> {
    let bind = |address| SocketAddr::new(address, 0);
    let address = |name: &str| -> Result<_, Box<dyn Error>> {
        (*lab.node(name)?.addresses.get(family)).ok_or_else(|| "no address".into())
    };
    let near = bind(address("client")?);
    let far = bind(address("server")?);
    let from = lab.node("client")?.run(|| UdpSocket::bind(near))??;
    let to = lab.node("server")?.run(|| UdpSocket::bind(far))??;
    let place = to.local_addr()?;
    // The link's frames go to it until the end; the kernel drops what finds no room.
    std::mem::forget(to);
    Ok((from, place))
}

/// The kernel's ticks of processor time (`USER_HZ`).
const TICKS_PER_S: f64 = 100.0;

/// Processor time of the link's thread until now, in ticks (proc_pid_stat(5)).
fn wire_ticks() -> Result<u64, Box<dyn Error>> {
    for task in std::fs::read_dir("/proc/self/task")? {
        let stat = std::fs::read_to_string(task?.path().join("stat"))?;
        let Some((head, tail)) = stat.rsplit_once(')') else { continue };
        if head.ends_with("(v6gap-wire") {
            let field = |at: usize| tail.split_whitespace().nth(at)?.parse::<u64>().ok();
            return Ok(field(11).ok_or("no user time")? + field(12).ok_or("no system time")?);
        }
    }
    Err("the link has no thread".into())
}
