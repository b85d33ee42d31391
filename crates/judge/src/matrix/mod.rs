//! How the paths between many hosts do: of each the newest verdict on one question, how old it is,
//! and what those have in common that are worse.

mod shared;
mod sites;

pub use shared::{Shared, What};
pub use sites::{Between, Sites};

use crate::analysis::Verdict;
use crate::analysis::summary::{Answer, Summary};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use v6gap_core::family::PerFamily;
use v6gap_core::fleet::names::HostName;
use v6gap_core::metric::Metric;
use v6gap_core::record::RunId;

/// What a run between two hosts of a fleet says.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The near end.
    pub from: HostName,
    /// The far end.
    pub to: HostName,
    /// The run.
    pub run: RunId,
    /// When it began, in ns since the Unix epoch.
    pub began_unix_ns: u64,
    /// What it says.
    pub summary: Summary,
}

/// The paths of a fleet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    /// The question: a cell, as in `rtt-tcp-64`, or a metric.
    pub measure: String,
    /// What is measured there; nothing where no path has an answer.
    pub metric: Option<Metric>,
    /// Cells that the runs answer, in the order of their names.
    pub measures: Vec<String>,
    /// The hosts in the order of sites and names.
    pub hosts: Vec<HostName>,
    /// The newest answer of each path, by the positions of its hosts.
    pub cells: BTreeMap<(usize, usize), Cell>,
    /// Paths that there should be; those that are there, if nobody said.
    pub expected: usize,
    /// Those that somebody said there should be, by their places among the hosts.
    asked: BTreeSet<(usize, usize)>,
    /// An answer older than this is stale, in ns.
    pub stale_ns: u64,
    /// When it was looked at, in ns since the Unix epoch.
    pub now_unix_ns: u64,
}

/// The newest answer of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The verdict.
    pub verdict: Verdict,
    /// The margin, of a difference that is there and lies within it.
    pub within: Option<f64>,
    /// The effect on the scale of results and both ends of its 95 % range, an endless end none.
    pub effect: Option<[Option<f64>; 3]>,
    /// The run.
    pub run: RunId,
    /// When it began, in ns since the Unix epoch.
    pub began_unix_ns: u64,
    /// Whether it is older than it should be.
    pub stale: bool,
    /// Who answered on the way, by distance.
    hops: PerFamily<Vec<Vec<IpAddr>>>,
}

/// What a matrix is asked.
#[derive(Debug, Clone, Default)]
pub struct Asked<'a> {
    /// The cell or the metric; the first of the newest run where nobody says.
    pub measure: Option<&'a str>,
    /// An answer older than this is stale, in ns.
    pub stale_ns: u64,
    /// The time, in ns since the Unix epoch.
    pub now_unix_ns: u64,
    /// The paths that there should be, near end first; those that are there, if there are none.
    pub expected: &'a [(HostName, HostName)],
}

impl Matrix {
    /// The matrix of what these runs say, in any order.
    pub fn of(said: &[Said], asked: &Asked<'_>) -> Matrix {
        let mut newest_first: Vec<&Said> = said.iter().collect();
        newest_first
            .sort_by(|a, b| b.began_unix_ns.cmp(&a.began_unix_ns).then_with(|| b.run.cmp(&a.run)));
        let measure = match asked.measure {
            Some(measure) => measure.to_string(),
            None => first_cell(&newest_first).unwrap_or_default(),
        };
        let ends = |said: &&Said| [said.from.clone(), said.to.clone()];
        let expected = asked.expected.iter().flat_map(|(from, to)| [from.clone(), to.clone()]);
        let mut hosts: Vec<HostName> = newest_first.iter().flat_map(ends).chain(expected).collect();
        hosts.sort_by(|a, b| (a.site(), a.host()).cmp(&(b.site(), b.host())));
        hosts.dedup();
        let questions = newest_first.iter().flat_map(|said| &said.summary.questions);
        let measures: BTreeSet<&str> = questions.map(|answer| answer.cell.as_str()).collect();
        let mut matrix = Matrix {
            measure,
            measures: measures.into_iter().map(ToString::to_string).collect(),
            hosts,
            stale_ns: asked.stale_ns,
            now_unix_ns: asked.now_unix_ns,
            ..Matrix::default()
        };
        for said in newest_first {
            matrix.take(said);
        }
        let place = |host: &HostName| matrix.hosts.iter().position(|known| known == host);
        let pair = |(from, to): &(HostName, HostName)| Some((place(from)?, place(to)?));
        matrix.asked = asked.expected.iter().filter_map(pair).collect();
        matrix.expected = match matrix.asked.len() {
            0 => matrix.cells.len(),
            asked => asked,
        };
        matrix
    }

    /// The answer to a path: its own, or that of the way back where it has none.
    pub fn cell(&self, from: usize, to: usize) -> Option<&Cell> {
        self.cells.get(&(from, to)).or_else(|| self.cells.get(&(to, from)))
    }

    /// The answers to the paths that somebody said there should be, or to all: the way back stands
    /// for a path unless it is one of them itself.
    fn counted(&self) -> impl Iterator<Item = ((usize, usize), &Cell)> {
        let is_asked = |&(from, to): &(usize, usize)| {
            let own = self.asked.contains(&(from, to));
            let back = self.asked.contains(&(to, from)) && !self.cells.contains_key(&(to, from));
            self.asked.is_empty() || own || back
        };
        self.cells.iter().map(|(at, cell)| (*at, cell)).filter(move |(at, _)| is_asked(at))
    }

    /// Answers that are not stale.
    pub fn fresh(&self) -> usize {
        self.counted().filter(|(_, cell)| !cell.stale).count()
    }

    /// The age of the oldest answer, in ns.
    pub fn oldest_ns(&self) -> Option<u64> {
        let began = self.counted().map(|(_, cell)| cell.began_unix_ns).min()?;
        Some(self.now_unix_ns.saturating_sub(began))
    }

    /// How many answers have that verdict, stale ones left out.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.counted().filter(|(_, cell)| !cell.stale && cell.verdict == verdict).count()
    }

    /// How many of those that are the same differ by what does not matter.
    pub fn tiny(&self) -> usize {
        self.counted().filter(|(_, cell)| !cell.stale && cell.within.is_some()).count()
    }

    /// What the paths that are worse have in common and others do not, the clearest first.
    pub fn shared(&self) -> Vec<Shared> {
        shared::shared(self)
    }

    /// The same by sites, the worst first.
    pub fn sites(&self) -> Sites {
        sites::sites(self)
    }

    /// Takes an answer; newer ones come first.
    fn take(&mut self, said: &Said) {
        let at = |name: &HostName| {
            let wanted = (name.site(), name.host());
            self.hosts.binary_search_by(|host| (host.site(), host.host()).cmp(&wanted)).ok()
        };
        let (Some(from), Some(to)) = (at(&said.from), at(&said.to)) else { return };
        let answer = said.summary.questions.iter().find(|answer| is_of(answer, &self.measure));
        let Some(answer) = answer else { return };
        let age_ns = self.now_unix_ns.saturating_sub(said.began_unix_ns);
        let stale = age_ns > self.stale_ns;
        self.metric.get_or_insert(answer.metric);
        self.cells.entry((from, to)).or_insert_with(|| Cell {
            verdict: if said.summary.valid { answer.verdict } else { Verdict::None },
            within: answer.within.filter(|_| said.summary.valid),
            effect: answer.effect,
            run: said.run.clone(),
            began_unix_ns: said.began_unix_ns,
            stale,
            hops: said.summary.hops.clone(),
        });
    }
}

/// Whether an answer is to the question: of the cell, or of the metric.
fn is_of(answer: &Answer, measure: &str) -> bool {
    answer.cell == measure || answer.metric.name() == measure
}

/// The first cell of the newest run that has any.
fn first_cell(newest_first: &[&Said]) -> Option<String> {
    let mut questions = newest_first.iter().flat_map(|said| &said.summary.questions);
    questions.next().map(|answer| answer.cell.clone())
}

#[cfg(test)]
mod tests;
