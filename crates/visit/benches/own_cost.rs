//! What the timing of a visit costs by itself: its phases on loopback against the same calls
//! without a runtime and a library, in turns, for both families. What is between the two medians is
//! ours.
//!
//! `cargo bench -p v6gap-visit --bench own_cost`
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program of its own, which starts threads and prints"
)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use v6gap_core::family::Family;
use v6gap_core::workload::{Http, Visit};
use v6gap_sys::clock;
use v6gap_visit::{Limits, Manner, Site, Visitor};

/// Visits of each kind and family.
const VISITS: usize = 2_000;

/// The timing may cost so much, in µs.
const COST_US_MAX: f64 = 50.0;

/// And so much more over one family than over the other, in µs.
const APART_US_MAX: f64 = 5.0;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfine\n";

/// As long as what a visit asks with.
const QUESTION: &[u8] =
    b"GET / HTTP/1.1\r\nhost: 127.0.0.1:65535\r\nuser-agent: v6gap (a bench)\r\n\
    accept: */*\r\naccept-encoding: identity\r\nconnection: close\r\n\r\n";

fn main() -> ExitCode {
    let found = measured();
    let mut good = true;
    for phase in 0..2 {
        let what = ["connecting", "response"][phase];
        let costs = found.each_ref().map(|(family, [visits, plain])| {
            let (ours, theirs) = (median(visits[phase].clone()), median(plain[phase].clone()));
            println!("{what} {family}: {ours:.1} µs, without a runtime {theirs:.1} µs");
            ours - theirs
        });
        let apart = (costs[0] - costs[1]).abs();
        println!("{what}: own cost {:.1} and {:.1} µs, apart {apart:.1} µs", costs[0], costs[1]);
        good &= costs.iter().all(|cost| *cost <= COST_US_MAX) && apart <= APART_US_MAX;
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Times of connecting and of the response, in µs: of visits, and of plain calls.
type Times = [[Vec<f64>; 2]; 2];

/// Those of both families, whose visits alternate.
fn measured() -> [(Family, Times); 2] {
    let places = Family::BOTH.map(|family| (family, serve(family)));
    let visitor = Visitor::default();
    let mut found = Family::BOTH.map(|family| (family, Times::default()));
    for _ in 0..VISITS {
        for ((_, times), (_, remote)) in found.iter_mut().zip(places) {
            let all = [visited(&visitor, remote), plainly(remote)];
            for (way, ns) in times.iter_mut().zip(all) {
                way.iter_mut().zip(ns).for_each(|(phase, ns)| phase.push(ns as f64 / 1e3));
            }
        }
    }
    found
}

fn visited(visitor: &Visitor, remote: SocketAddr) -> [u64; 2] {
    let site = Site::parse(&format!("http://{remote}/")).unwrap();
    let limits = Limits::of(&Visit { body_bytes: 0, ..Visit::default() }, 5_000_000_000);
    let (http, local, agent) = (Some(Http::One), None, "v6gap (a bench)");
    let manner = Manner { site: &site, http, remote, local, agent, limits };
    let visited = visitor.visit(&manner).unwrap();
    [visited.connect_ns, visited.response_ns].map(Option::unwrap)
}

/// The same by plain calls.
fn plainly(remote: SocketAddr) -> [u64; 2] {
    let begun_ns = clock::now_ns();
    let mut stream = TcpStream::connect(remote).unwrap();
    let connected_ns = clock::now_ns();
    stream.set_nodelay(true).unwrap();
    let asked_ns = clock::now_ns();
    stream.write_all(QUESTION).unwrap();
    let read = stream.read(&mut [0; 512]).unwrap();
    let answered_ns = clock::now_ns();
    assert!(read > 0);
    [connected_ns - begun_ns, answered_ns - asked_ns]
}

/// Answers one connection after the other.
fn serve(family: Family) -> SocketAddr {
    let listener = TcpListener::bind((family.loopback(), 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            if stream.read(&mut [0; 1024]).is_ok_and(|read| read > 0) {
                let _ = stream.write_all(ANSWER);
            }
        }
    });
    address
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
