//! Which links carry a path, asked of many paths.

use super::{Carries, Mesh, Pair};
use alloc::vec;
use alloc::vec::Vec;

/// The links of a mesh, by the hosts that they begin at.
#[derive(Debug, Clone, Default)]
pub struct Carriers {
    /// Of each host the links of its site, in ascending order.
    of_host: Vec<Vec<usize>>,
    /// Links between certain hosts, with these hosts.
    between: Vec<(usize, Vec<[Vec<usize>; 2]>)>,
}

impl Carriers {
    /// The links of `mesh`.
    pub fn of(mesh: &Mesh) -> Self {
        let mut of_host = vec![Vec::new(); mesh.hosts.len()];
        let mut between = Vec::new();
        for (at, link) in mesh.links.iter().enumerate() {
            match &link.carries {
                Carries::Site(hosts) => {
                    let of_site = of_host.get_mut(hosts.clone()).into_iter().flatten();
                    of_site.for_each(|links: &mut Vec<usize>| links.push(at));
                }
                Carries::Between(pairs) => between.push((at, pairs.clone())),
            }
        }
        Carriers { of_host, between }
    }

    /// Positions of the links that carry a path, in ascending order.
    pub fn links(&self, pair: Pair) -> Vec<usize> {
        let of = |host: usize| self.of_host.get(host).map_or(&[][..], Vec::as_slice);
        let (near, far) = (of(pair.from), of(pair.to));
        // What both ends have is of one site, which the path does not leave.
        let leaves = |links: &[usize], others: &[usize]| -> Vec<usize> {
            links.iter().filter(|link| !others.contains(link)).copied().collect()
        };
        let mut found = leaves(near, far);
        found.extend(leaves(far, near));
        let has = |hosts: &[usize], host: usize| hosts.binary_search(&host).is_ok();
        let joins = |[one, other]: &[Vec<usize>; 2]| {
            has(one, pair.from) && has(other, pair.to) || has(one, pair.to) && has(other, pair.from)
        };
        let between = self.between.iter().filter(|(_, pairs)| pairs.iter().any(joins));
        found.extend(between.map(|(at, _)| *at));
        found.sort_unstable();
        found
    }
}
