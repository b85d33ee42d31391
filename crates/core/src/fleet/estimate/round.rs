//! A round of a measurement, as its timetable lets it happen: each path once.

use super::{SET_UP_NS, Takes};
use crate::fleet::mesh::{Carriers, Class, Hours, Link, Measure, Mesh};
use crate::fleet::timetable::{Ended, Order, Slot, Visit};
use crate::watch::Moment;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use siphasher::sip::SipHasher24;

/// When the round begins, and a period, in ns: long enough for nothing to be due twice.
const LONG_NS: u64 = u64::MAX / 2;

/// A round.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Paths that are measured.
    pub jobs: usize,
    /// From the beginning of the first to the end of the last, in ns.
    pub time_ns: u64,
    /// No timetable can be quicker than this, in ns: what is most used takes so long by itself.
    pub bound_ns: u64,
    /// What is most used.
    pub busiest: Busiest,
    /// Measurements at once, on average.
    pub at_once: f64,
}

/// What holds a round up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Busiest {
    /// A host, by its position in the mesh.
    Host(usize),
    /// A link, by its position.
    Link(usize),
}

/// A round in which each takes its longest time.
pub(super) fn longest(mesh: &Mesh, measure: usize, takes: &Takes) -> Round {
    let slot_ns = takes.longest_ns.saturating_add(SET_UP_NS);
    happen(mesh, measure, slot_ns, &|_| slot_ns)
}

/// A round in which each ends somewhere between its shortest and its longest time, all as likely;
/// the same path always at the same time.
pub(super) fn settling(mesh: &Mesh, measure: usize, takes: &Takes) -> Round {
    let spread_ns = takes.longest_ns.saturating_sub(takes.shortest_ns);
    let hasher = SipHasher24::new_with_key(&[0; 16]);
    let length_ns = |visit: Visit| {
        let hash = hasher.hash(format!("{} {}", visit.pair.from, visit.pair.to).as_bytes());
        let share = hash as f64 / u64::MAX as f64;
        // Below the whole spread, which is one.
        let drawn_ns = (share * spread_ns as f64) as u64;
        takes.shortest_ns.saturating_add(drawn_ns).saturating_add(SET_UP_NS)
    };
    happen(mesh, measure, takes.longest_ns.saturating_add(SET_UP_NS), &length_ns)
}

/// Lets the timetable of one measurement happen; no visit is given more than `slot_ns`, and each
/// takes as long as `length_ns` says.
pub(crate) fn happen(
    mesh: &Mesh,
    measure: usize,
    slot_ns: u64,
    length_ns: &dyn Fn(Visit) -> u64,
) -> Round {
    let alone = mesh.measures.get(measure).map(|of| Measure {
        every_ns: LONG_NS,
        quiet: Hours::default(),
        ..of.clone()
    });
    let links = mesh.links.iter().map(|link| Link { budget_bytes: None, ..link.clone() });
    let mesh =
        Mesh { measures: alone.into_iter().collect(), links: links.collect(), ..mesh.clone() };
    let moment = |unix_ns| Moment { unix_ns, offset_s: 0 };
    let slot = Slot { longest_ns: slot_ns, bytes: 0 };
    let mut order = Order::new(&mesh, &[slot], moment(LONG_NS));
    let visits: Vec<Visit> = order.visits().collect();
    let (mut now_ns, mut running) = (LONG_NS, BTreeSet::new());
    loop {
        while let Some(visit) = order.next(moment(now_ns), &|_| true) {
            running.insert((now_ns.saturating_add(length_ns(visit)), visit));
        }
        let Some((ends_ns, visit)) = running.pop_first() else { break };
        now_ns = ends_ns;
        order.ended(visit, Ended::Measured);
        // What ends at the same time frees the way together.
        while let Some((_, visit)) = running.first().copied().filter(|(at, _)| *at == now_ns) {
            running.pop_first();
            order.ended(visit, Ended::Measured);
        }
    }
    #[cfg(test)]
    {
        // What a round costs does not grow with all that wait at each moment.
        assert!(order.looked <= 64 * visits.len(), "{} of {}", order.looked, visits.len());
    }
    summed(&mesh, &visits, length_ns, now_ns - LONG_NS)
}

fn summed(mesh: &Mesh, visits: &[Visit], length_ns: &dyn Fn(Visit) -> u64, time_ns: u64) -> Round {
    let carriers = Carriers::of(mesh);
    let is_exclusive = mesh.measures.first().is_some_and(|of| of.class == Class::Exclusive);
    let mut used_ns = vec![0_u64; mesh.hosts.len() + mesh.links.len()];
    let mut all_ns = 0.0;
    for visit in visits {
        let length_ns = length_ns(*visit);
        all_ns += length_ns as f64;
        let links = if is_exclusive { carriers.links(visit.pair) } else { Vec::new() };
        let links = links.into_iter().map(|link| mesh.hosts.len() + link);
        for resource in [visit.pair.from, visit.pair.to].into_iter().chain(links) {
            if let Some(used_ns) = used_ns.get_mut(resource) {
                *used_ns = used_ns.saturating_add(length_ns);
            }
        }
    }
    // Of several that are used as much the last one: a link rather than the hosts behind it.
    let most = used_ns.iter().enumerate().max_by_key(|(_, used_ns)| **used_ns);
    let (at, bound_ns) = most.map_or((0, 0), |(at, used_ns)| (at, *used_ns));
    let busiest = match at.checked_sub(mesh.hosts.len()) {
        Some(link) => Busiest::Link(link),
        None => Busiest::Host(at),
    };
    let at_once = if time_ns == 0 { 0.0 } else { all_ns / time_ns as f64 };
    Round { jobs: visits.len(), time_ns, bound_ns, busiest, at_once }
}
