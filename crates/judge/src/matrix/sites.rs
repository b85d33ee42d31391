//! The matrix by sites, where there are more hosts than anybody can look at.

use super::{Cell, Matrix};
use crate::analysis::Verdict;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The paths between two sites, or within one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Between {
    /// Positions of the sites, the smaller one first.
    pub sites: (usize, usize),
    /// Paths with a verdict that are worse, better and the same.
    pub worse: usize,
    /// See [`Between::worse`].
    pub better: usize,
    /// See [`Between::worse`].
    pub same: usize,
    /// Paths of which nothing can be told, for whatever reason.
    pub open: usize,
    /// Paths whose answer is stale; they are in none of the others.
    pub stale: usize,
    /// The effect of the path that is worse by most.
    pub worst: Option<f64>,
}

/// The matrix by sites.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sites {
    /// The sites in order.
    pub names: Vec<String>,
    /// The paths between them, the worst first: by the share of paths that are worse, and by how
    /// much the worst is.
    pub between: Vec<Between>,
}

impl Between {
    /// All paths.
    pub const fn paths(&self) -> usize {
        self.worse + self.better + self.same + self.open + self.stale
    }

    /// The verdict of all: worse if any is, otherwise better if any is, otherwise the same if all
    /// that are not stale are.
    pub const fn verdict(&self) -> Verdict {
        if self.worse > 0 {
            Verdict::Worse
        } else if self.better > 0 {
            Verdict::Better
        } else if self.same > 0 && self.open == 0 {
            Verdict::Same
        } else if self.same + self.open > 0 {
            Verdict::CannotTell
        } else {
            Verdict::None
        }
    }

    /// The share of the paths with an answer that are worse.
    fn share(&self) -> f64 {
        let answered = self.paths() - self.stale;
        self.worse as f64 / answered.max(1) as f64
    }

    fn take(&mut self, cell: &Cell) {
        if cell.stale {
            self.stale += 1;
            return;
        }
        match cell.verdict {
            Verdict::Worse => {
                self.worse += 1;
                if let Some([Some(effect), ..]) = cell.effect
                    && self.worst.is_none_or(|worst| effect.abs() > worst.abs())
                {
                    self.worst = Some(effect);
                }
            }
            Verdict::Better => self.better += 1,
            Verdict::Same => self.same += 1,
            Verdict::CannotTell | Verdict::None => self.open += 1,
        }
    }
}

pub(super) fn sites(matrix: &Matrix) -> Sites {
    let mut names: Vec<String> = matrix.hosts.iter().map(|host| host.site().to_string()).collect();
    names.dedup();
    let at = |host: usize| {
        let site = matrix.hosts.get(host)?.site();
        names.binary_search_by(|name| name.as_str().cmp(site)).ok()
    };
    let mut between: BTreeMap<(usize, usize), Between> = BTreeMap::new();
    for ((from, to), cell) in matrix.counted() {
        let (Some(one), Some(other)) = (at(from), at(to)) else { continue };
        let sites = (one.min(other), one.max(other));
        let of = between.entry(sites).or_insert_with(|| Between { sites, ..Between::default() });
        of.take(cell);
    }
    let mut between: Vec<Between> = between.into_values().collect();
    let by = |of: &Between| of.worst.map_or(0.0, f64::abs);
    between.sort_by(|a, b| {
        let order = b.share().total_cmp(&a.share()).then(by(b).total_cmp(&by(a)));
        order.then(b.stale.cmp(&a.stale)).then(a.sites.cmp(&b.sites))
    });
    Sites { names, between }
}
