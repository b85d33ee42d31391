//! What paths that are worse have in common: routers on the way, hosts, sites. Each is a property
//! of paths; Fisher's exact test says whether the worse ones have it more often than chance lets
//! them, and Holm's correction that so many were asked.

use super::{Cell, Matrix};
use crate::analysis::Verdict;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use v6gap_core::family::Family;
use v6gap_stats::fisher::Table;
use v6gap_stats::multiplicity::holm;

/// Error rate of saying that anything is shared.
const ALPHA: f64 = 0.05;

/// A property is told if at least this share of the worse paths has it,
const NEARLY_ALL: f64 = 0.9;

/// and at most this share of the others.
const NEARLY_NONE: f64 = 0.1;

/// Something that several paths have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A router that answers on the way.
    Hop {
        /// Over this family.
        family: Family,
        /// With this address.
        address: IpAddr,
    },
    /// Both ends are of these sites.
    Sites([String; 2]),
    /// One end is of this site, and the other is not.
    Site(String),
    /// An end, as a position among the hosts.
    Host(usize),
}

/// What the worse paths share.
#[derive(Debug, Clone, PartialEq)]
pub struct Shared {
    /// What it is.
    pub what: What,
    /// Of a router its distances, the least and the greatest.
    pub distance: Option<(usize, usize)>,
    /// Worse paths that have it, and all worse paths of which that is known.
    pub bad: (usize, usize),
    /// Other paths that have it, and all others of which that is known.
    pub good: (usize, usize),
    /// The chance to find so much if chance alone said which paths are worse, corrected for all
    /// that was asked.
    pub p: f64,
}

/// How many paths have a property.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    bad: usize,
    good: usize,
    distance: Option<(usize, usize)>,
}

pub(super) fn shared(matrix: &Matrix) -> Vec<Shared> {
    let mut counts: BTreeMap<What, Count> = BTreeMap::new();
    // Paths in all, and of each family those whose way is known.
    let mut all = Count::default();
    let mut with_hops: BTreeMap<Family, Count> = BTreeMap::new();
    for ((from, to), cell) in matrix.counted() {
        let Some(is_bad) = is_bad(cell) else { continue };
        let add = |count: &mut Count| match is_bad {
            true => count.bad += 1,
            false => count.good += 1,
        };
        add(&mut all);
        for what in of_ends(matrix, from, to) {
            add(counts.entry(what).or_default());
        }
        for family in Family::BOTH {
            let hops = cell.hops.get(family);
            if hops.iter().all(Vec::is_empty) {
                continue;
            }
            add(with_hops.entry(family).or_default());
            let mut seen: BTreeSet<IpAddr> = BTreeSet::new();
            for (at, answered) in hops.iter().enumerate() {
                for address in answered.iter().filter(|address| seen.insert(**address)) {
                    let count = counts.entry(What::Hop { family, address: *address }).or_default();
                    add(count);
                    let (least, most) = count.distance.unwrap_or((at + 1, at + 1));
                    count.distance = Some((least.min(at + 1), most.max(at + 1)));
                }
            }
        }
    }
    let known = |what: &What| match what {
        What::Hop { family, .. } => with_hops.get(family).copied().unwrap_or_default(),
        What::Sites(_) | What::Site(_) | What::Host(_) => all,
    };
    let asked: Vec<Shared> = counts
        .into_iter()
        .map(|(what, n)| {
            let of = known(&what);
            judged(what, n, of)
        })
        .collect();
    clear(asked)
}

/// A property with the chance to see it so, by itself.
fn judged(what: What, n: Count, of: Count) -> Shared {
    let table = Table {
        with_has: n.bad as u64,
        with_not: of.bad.saturating_sub(n.bad) as u64,
        without_has: n.good as u64,
        without_not: of.good.saturating_sub(n.good) as u64,
    };
    Shared {
        what,
        distance: n.distance,
        bad: (n.bad, of.bad),
        good: (n.good, of.good),
        p: table.p_more(),
    }
}

/// Of all that was asked what is told: on nearly all worse paths and nearly none of the others.
fn clear(asked: Vec<Shared>) -> Vec<Shared> {
    let p: Vec<f64> = asked.iter().map(|shared| shared.p).collect();
    let share = |(some, all): (usize, usize)| some as f64 / all.max(1) as f64;
    let corrected = asked.into_iter().zip(holm(&p)).map(|(shared, p)| Shared { p, ..shared });
    let mut told: Vec<Shared> = corrected
        .filter(|shared| {
            shared.p <= ALPHA
                && share(shared.bad) >= NEARLY_ALL
                && share(shared.good) <= NEARLY_NONE
        })
        .collect();
    told.sort_by(|a, b| {
        let order = share(a.good).total_cmp(&share(b.good));
        let order = order.then(share(b.bad).total_cmp(&share(a.bad))).then(a.p.total_cmp(&b.p));
        order.then_with(|| place(a).cmp(&place(b)))
    });
    told
}

/// Where something stands among all that is as clear: first the routers that IPv6 passes, since it
/// is what is worse, the nearest before those behind it.
fn place(shared: &Shared) -> (u8, Option<(usize, usize)>, &What) {
    let kind = match &shared.what {
        What::Hop { family: Family::V6, .. } => 0,
        What::Hop { family: Family::V4, .. } => 1,
        What::Sites(_) => 2,
        What::Site(_) => 3,
        What::Host(_) => 4,
    };
    (kind, shared.distance, &shared.what)
}

/// Whether a path is worse; nothing of one that is not known to be worse or not now.
fn is_bad(cell: &Cell) -> Option<bool> {
    match cell.verdict {
        Verdict::Worse if !cell.stale => Some(true),
        Verdict::Same | Verdict::Better if !cell.stale => Some(false),
        Verdict::Worse | Verdict::Same | Verdict::Better | Verdict::CannotTell | Verdict::None => {
            None
        }
    }
}

/// What a path has by its ends.
fn of_ends(matrix: &Matrix, from: usize, to: usize) -> Vec<What> {
    let mut found = [What::Host(from), What::Host(to)].to_vec();
    if let (Some(one), Some(other)) = (matrix.hosts.get(from), matrix.hosts.get(to)) {
        let mut sites = [one.site(), other.site()];
        sites.sort_unstable();
        let [one, other]: [String; 2] = sites.map(Into::into);
        if one != other {
            found.extend([What::Site(one.clone()), What::Site(other.clone())]);
        }
        found.push(What::Sites([one, other]));
    }
    found
}
