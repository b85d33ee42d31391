//! Which hosts of a large group are measured with each other on a day: the same for whoever asks,
//! others the next day, and each host as often as each other one.

use super::{Mesh, Pair};
use alloc::format;
use alloc::vec::Vec;
use siphasher::sip::SipHasher24;

/// At least so many others for each of `hosts` on `day`, and exactly so many unless both their
/// number and that of the hosts are odd: the hosts are put in a ring in an order of that day, and
/// each is measured with those next to it.
pub(super) fn pairs(
    mesh: &Mesh,
    hosts: &[usize],
    partners: usize,
    group: &str,
    day: u64,
) -> Vec<Pair> {
    let hasher = SipHasher24::new_with_key(&[0; 16]);
    let mut ring: Vec<(u64, usize)> = hosts
        .iter()
        .filter_map(|at| Some((at, mesh.hosts.get(*at)?)))
        .map(|(at, host)| (hasher.hash(format!("{day} {group} {}", host.name).as_bytes()), *at))
        .collect();
    ring.sort_unstable();
    let mut found: Vec<Pair> = Vec::with_capacity(ring.len() * partners.div_ceil(2));
    let mut with = |at: usize, step: usize| {
        let other = (at + step) % ring.len();
        if let (Some((_, one)), Some((_, other))) = (ring.get(at), ring.get(other))
            && one != other
        {
            found.push(Pair { from: *one.min(other), to: *one.max(other) });
        }
    };
    for step in 1..=partners / 2 {
        (0..ring.len()).for_each(|at| with(at, step));
    }
    if partners % 2 == 1 {
        // The host opposite; of an odd number one is so twice.
        let half = ring.len() / 2;
        (0..ring.len().div_ceil(2)).for_each(|at| with(at, half));
    }
    found.sort_unstable();
    found.dedup();
    found
}
