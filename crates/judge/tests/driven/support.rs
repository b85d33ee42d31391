//! What all of these runs share: ends, noise, and how a run is driven.

#[path = "../../../core/tests/common/splitmix.rs"]
mod splitmix;

use std::net::{IpAddr, SocketAddr};
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::observation::{EndReport, Endpoints, Measured};
use v6gap_core::record::{Line, RunHeader};
use v6gap_core::run::{Action, Attempt, Machine, Observed};
use v6gap_judge::stopping::Interim;

pub const MS: u64 = 1_000_000;

/// An end whose socket was of this family.
pub fn end(family: Family, port: u16, measured: Measured) -> EndReport {
    let address: IpAddr = match family {
        Family::V4 => [10, 46, 1, 2].into(),
        Family::V6 => [0xfd46, 1, 0, 0, 0, 0, 0, 2].into(),
    };
    let local = SocketAddr::new(address, port);
    let endpoints = Some(Endpoints { domain: family, local, peer: local });
    EndReport { endpoints, measured, ..EndReport::default() }
}

/// The sum of four uniform parts, about normal, standard deviation 1.
pub fn noise(seed: u64) -> f64 {
    let mut state = seed;
    let mut uniform = || (splitmix::next(&mut state) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
    (0..4).map(|_| uniform()).sum::<f64>() * 3_f64.sqrt()
}

/// A run: its journal, what was asked for with the journal's length at that time, and its time.
pub struct Driven {
    pub lines: Vec<Line>,
    pub asked: Vec<(usize, String)>,
    pub time_ns: u64,
}

/// Drives a run in which every attempt gives what is observed at that time, and takes as long.
pub fn drive(
    header: &RunHeader,
    observed: impl Fn(&Attempt<'_>, u64) -> PerArm<Observed>,
) -> Driven {
    let mut machine: Machine<'_, String> = Machine::new(header, Box::new(Interim::of(header)));
    let mut lines = vec![Line::Run(Box::new(header.clone()))];
    let (mut asked, mut now_ns) = (Vec::new(), 0);
    loop {
        match machine.next(now_ns, false) {
            Action::Measure(attempt) => {
                asked.push((lines.len(), format!("{attempt:?}")));
                let found = observed(&attempt, now_ns);
                now_ns += found.a.duration_ns + found.b.duration_ns;
                machine.measured(found, None);
            }
            Action::Store(stored) => lines.extend(stored),
            Action::Tell(_) | Action::Settle(_) => {}
            Action::End(_) => return Driven { lines, asked, time_ns: now_ns },
        }
    }
}
