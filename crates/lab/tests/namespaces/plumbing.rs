//! Checks that worlds come up as described and go away.

use crate::traffic::{
    Outcome, ensure, passes, placed, server_address, tcp_goodput, tcp_pair, udp_pair,
};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::world::{Link, LinkModel, World};
use v6gap_lab::{Lab, LabError, LabOptions};
use v6gap_sys::{clock, cpu, packet};

const MODELS: [(LinkModel, Option<u64>); 3] = [
    (LinkModel::Bare, None),
    (LinkModel::Shaped, Some(100_000_000)),
    (LinkModel::Wire, Some(100_000_000)),
];

/// The kernel stops for 50 ms of each second who leaves others nothing.
const BESIDE: Duration = Duration::from_secs(2);
const STOPPED_NS: u64 = 20_000_000;

pub fn every_model_carries_both_families() -> Outcome<String> {
    let mut figures = String::new();
    for (model, rate) in MODELS {
        let start = clock::now_ns();
        let lab = Lab::build(&World::client_router_server(model, rate))?;
        figures += &format!("{model:?} built in {} ms; ", (clock::now_ns() - start) / 1_000_000);
        exchange(&lab)?;
        let facts = lab.describe();
        let expected = format!("{model:?}").to_lowercase();
        ensure(facts["lab.model"] == expected, || format!("facts: {facts:?}"))?;
        let offloads = facts["lab.router.link2.offloads"].is_empty();
        ensure(offloads == (model != LinkModel::Bare), || format!("facts: {facts:?}"))?;
        ensure(matches!(lab.node("printer"), Err(LabError::NoNode(_))), || "a printer".to_owned())?;
    }
    Ok(figures)
}

/// A datagram and a line each way in both families.
fn exchange(lab: &Lab) -> Outcome<()> {
    for family in Family::BOTH {
        let (near, far) = udp_pair(lab, family)?;
        for bytes in [0, 1, 1200, 9000] {
            let both = passes(&near, &far, bytes)? && passes(&far, &near, bytes)?;
            ensure(both, || format!("{family} lost a datagram of {bytes} bytes"))?;
        }
        let (mut near, mut far) = tcp_pair(lab, family)?;
        let mut heard = [0; 4];
        near.write_all(b"ping")?;
        far.read_exact(&mut heard)?;
        far.write_all(&heard)?;
        near.read_exact(&mut heard)?;
        ensure(&heard == b"ping", || format!("{family} garbled {heard:?}"))?;
    }
    Ok(())
}

pub fn longer_chain() -> Outcome<String> {
    for (model, rate) in MODELS {
        exchange(&Lab::build(&World::chain(model, vec![Link::ethernet(rate); 4]))?)?;
    }
    Ok("3 routers".to_owned())
}

pub fn absent_family_has_no_address() -> Outcome<String> {
    for absent in Family::BOTH {
        let mut world = World::client_router_server(LinkModel::Bare, None);
        world.families = PerFamily::from_fn(|family| family != absent);
        let lab = Lab::build(&world)?;
        let (near, far) = udp_pair(&lab, absent.other())?;
        ensure(passes(&near, &far, 100)?, || format!("{} is cut off", absent.other()))?;
        for node in lab.nodes() {
            let addresses = node.addresses;
            ensure(addresses.get(absent).is_none(), || format!("{} has {addresses:?}", node.name))?;
        }
        let target: SocketAddr = match absent {
            Family::V4 => "10.46.2.2:9".parse()?,
            Family::V6 => "[fd46:2::2]:9".parse()?,
        };
        let tried = lab
            .node("client")?
            .run(|| UdpSocket::bind(SocketAddr::new(absent.unspecified(), 0))?.connect(target))?;
        ensure(tried.is_err(), || format!("the client reaches {target}"))?;
        ensure(server_address(&lab, absent, 9).is_err(), || "an address".to_owned())?;
    }
    Ok("either way".to_owned())
}

pub fn nothing_left_after_drop() -> Outcome<String> {
    let before = (network_namespaces()?, threads()?);
    let world = World::client_router_server(LinkModel::Wire, Some(100_000_000));
    let lab = Lab::build(&world)?;
    let during = (network_namespaces()?, threads()?);
    drop(lab);
    let after = (network_namespaces()?, threads()?);
    ensure(during.0.len() >= before.0.len() + 3, || format!("{before:?}, {during:?}"))?;
    ensure(during.1 == before.1 + 1, || format!("{} threads", during.1))?;
    ensure(after == before, || format!("{before:?} became {after:?}"))?;
    let mut broken = world;
    broken.links[1].conditions.v4.loss = 2.0;
    ensure(Lab::build(&broken).is_err(), || "loss of 2".to_owned())?;
    ensure((network_namespaces()?, threads()?) == before, || "a failed build leaks".to_owned())?;
    Ok(format!("{} namespaces and 1 thread came and went", during.0.len() - before.0.len()))
}

/// Between trials the user-space link must leave its processor to others.
pub fn wire_sleeps_between_trials() -> Outcome<String> {
    let lab = Lab::build(&World::client_router_server(LinkModel::Wire, Some(100_000_000)))?;
    exchange(&lab)?;
    let start = (wire_ticks()?, clock::now_ns());
    packet::wait(&[], Some(Duration::from_secs(2)))?;
    let ticks = wire_ticks()? - start.0;
    let seconds = (clock::now_ns() - start.1) as f64 / 1e9;
    // Of 200 ticks; frames of the hosts themselves, as for multicast, wake it for 20 ms each.
    ensure(ticks <= 30, || format!("{ticks} ticks of 10 ms in {seconds:.1} s"))?;
    Ok(format!("{ticks} ticks of 10 ms in {seconds:.1} s"))
}

/// What a lab says of its link's priority is what the kernel says.
pub fn wire_goes_first_where_it_may() -> Outcome<String> {
    let allowed = cpu::allowed()?;
    let own = allowed.last().copied().filter(|_| allowed.len() > 1);
    for wire_cpu in [own, None] {
        let options = LabOptions { wire_cpu, ..LabOptions::default() };
        let world = World::client_router_server(LinkModel::Wire, Some(100_000_000));
        let lab = Lab::build_with(&world, &options)?;
        let said = lab.describe().get("lab.wire_priority").ok_or("nothing is said")?;
        // SCHED_FIFO is 1.
        let policy: i32 = wire_stat(41)?.parse()?;
        let first = said == "real-time";
        ensure(first || said.starts_with("ordinary, because "), || said.clone())?;
        ensure(first == (policy == 1), || format!("{said}, policy {policy}"))?;
        ensure(wire_cpu.is_some() || !first, || "it may be on an end's processor".to_owned())?;
    }
    Ok(format!("processor {own:?}"))
}

/// A link that goes before others is not stopped for long, whatever else its processor has to do.
pub fn wire_goes_on_beside_other_work() -> Outcome<String> {
    placed(|options| {
        let world = World::client_router_server(LinkModel::Wire, Some(100_000_000));
        let lab = Lab::build_with(&world, options)?;
        let first = lab.describe().get("lab.wire_priority").is_some_and(|is| is == "real-time");
        let done = AtomicBool::new(false);
        let goodput = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let placed = options.wire_cpu.map(cpu::pin_thread).transpose();
                while placed.is_ok() && !done.load(Relaxed) {
                    std::hint::spin_loop();
                }
                placed
            });
            let goodput = tcp_goodput(&lab, Family::V4, BESIDE);
            done.store(true, Relaxed);
            other.join().map_err(|_| "the other work panicked")??;
            goodput
        })?;
        let late_ns = lab.wire_lateness().ok_or("there is no link")?.max_ns;
        ensure(!first || late_ns < STOPPED_NS, || format!("a frame was {late_ns} ns late"))?;
        let priority = if first { "first" } else { "as any other" };
        Ok(format!("{priority}: {goodput:.2} Mbit/s, at most {} µs late", late_ns / 1_000))
    })
}

/// Processor time of the user-space link's thread.
fn wire_ticks() -> Outcome<u64> {
    Ok(wire_stat(14)?.parse::<u64>()? + wire_stat(15)?.parse::<u64>()?)
}

/// A field of the user-space link's thread, as proc_pid_stat(5) counts them.
fn wire_stat(number: usize) -> Outcome<String> {
    for task in std::fs::read_dir("/proc/self/task")? {
        let line = std::fs::read_to_string(task?.path().join("stat"))?;
        // The name is the second.
        let Some((_, rest)) = line.split_once("(v6gap-wire) ") else { continue };
        return Ok(rest.split(' ').nth(number - 3).ok_or("too few fields")?.to_owned());
    }
    Err("there is no such thread".into())
}

/// The network namespaces that this process holds, by inode.
fn network_namespaces() -> Outcome<BTreeSet<u64>> {
    let mut held = BTreeSet::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let path = entry?.path();
        if std::fs::read_link(&path).is_ok_and(|to| to.to_string_lossy().starts_with("net:")) {
            held.insert(std::fs::metadata(&path)?.ino());
        }
    }
    for task in std::fs::read_dir("/proc/self/task")? {
        held.insert(std::fs::metadata(task?.path().join("ns/net"))?.ino());
    }
    Ok(held)
}

fn threads() -> Outcome<usize> {
    Ok(std::fs::read_dir("/proc/self/task")?.count())
}
