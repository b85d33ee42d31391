//! From what a group says to its paths.

use super::draft::GroupDraft;
use super::pattern;
use super::sample;
use super::{Group, Mesh, MeshHost, Pair, Paths};
use crate::problem::Problems;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Most paths of a group. More are no table and no timetable: a sample of each day is.
pub const PATHS_MAX: usize = 500_000;

/// Kinds of groups.
const KINDS: [&str; 4] = ["mesh", "star", "disjoint", "list"];

/// Fewest hosts of a sample: among fewer each is measured with each.
const SAMPLED_MIN: usize = 3;

/// The group that `draft` describes, whose keys begin with `key`.
pub(super) fn group(
    key: &str,
    draft: &GroupDraft,
    all: &[MeshHost],
    problems: &mut Problems,
) -> Group {
    let mut asked = Asked { key, draft, all, problems };
    asked.keys_fit();
    let paths = asked.paths();
    let group = Group { name: draft.name.clone(), paths, both_directions: draft.both_directions };
    let is_empty = matches!(&group.paths, Paths::All(paths) if paths.is_empty());
    if is_empty && asked.problems.is_empty() {
        asked.problems.add(key, "there is no path in this group");
    }
    group
}

/// A group that is being checked.
struct Asked<'a> {
    key: &'a str,
    draft: &'a GroupDraft,
    all: &'a [MeshHost],
    problems: &'a mut Problems,
}

impl Asked<'_> {
    fn add(&mut self, name: &str, what: impl Into<String>) {
        self.problems.add(format!("{}.{name}", self.key), what);
    }

    /// Each kind has its own keys.
    fn keys_fit(&mut self) {
        let draft = self.draft;
        let kind = draft.kind.as_str();
        let of = |kinds: &[&str]| kinds.contains(&kind);
        let keys = [
            ("hosts", !draft.hosts.is_empty(), of(&["mesh", "star"])),
            ("centre", draft.centre.is_some(), of(&["star"])),
            ("from", !draft.from.is_empty(), of(&["disjoint"])),
            ("to", !draft.to.is_empty(), of(&["disjoint"])),
            ("paths", !draft.paths.is_empty(), of(&["list"])),
        ];
        if !KINDS.contains(&kind) {
            self.problems.one_of(format!("{}.kind", self.key), kind, &KINDS);
            return;
        }
        for (name, given, belongs) in keys {
            match (given, belongs) {
                (true, false) => self.add(name, format!("a group of kind \"{kind}\" has none")),
                (false, true) => {
                    self.add(name, format!("a group of kind \"{kind}\" does not do without"));
                }
                (true, true) | (false, false) => {}
            }
        }
        if draft.sample.is_some() && kind != "mesh" {
            self.add("sample", "a sample is drawn from a group of kind \"mesh\"");
        }
    }

    fn paths(&mut self) -> Paths {
        let draft = self.draft;
        let mut pairs: Vec<Pair> = match draft.kind.as_str() {
            "mesh" => {
                let hosts = self.hosts("hosts", &draft.hosts);
                if let Some(partners) = draft.sample {
                    return self.sampled(hosts, partners);
                }
                let count = hosts.len() * hosts.len().saturating_sub(1) / 2;
                if self.too_many("hosts", count) {
                    return Paths::All(Vec::new());
                }
                let later = |at: usize| hosts.get(at + 1..).unwrap_or_default();
                let of = |(at, from): (usize, &usize)| pairs_of(*from, later(at));
                hosts.iter().enumerate().flat_map(of).collect()
            }
            "star" => {
                let centre = self.hosts("centre", draft.centre.as_slice());
                let hosts = self.hosts("hosts", &draft.hosts);
                if centre.len() > 1 {
                    self.add("centre", "one host is in the middle of a star");
                }
                centre.first().map_or_else(Vec::new, |from| pairs_of(*from, &hosts))
            }
            "disjoint" => {
                let [from, to] = [self.hosts("from", &draft.from), self.hosts("to", &draft.to)];
                if let Some(both) = from.iter().find(|host| to.contains(host)) {
                    let name = self.all.get(*both).map_or(String::new(), |h| format!("{}", h.name));
                    self.add("to", format!("\"{name}\" stands on both sides"));
                }
                match self.too_many("from", from.len().saturating_mul(to.len())) {
                    true => Vec::new(),
                    false => from.iter().flat_map(|from| pairs_of(*from, &to)).collect(),
                }
            }
            _ => self.listed(),
        };
        pairs.sort_unstable();
        pairs.dedup();
        Paths::All(pairs)
    }

    fn listed(&mut self) -> Vec<Pair> {
        let draft = self.draft;
        let mut pairs = Vec::new();
        for (at, [from, to]) in draft.paths.iter().enumerate() {
            let key = format!("paths[{at}]");
            let from = self.hosts(&key, core::slice::from_ref(from));
            let to = self.hosts(&key, core::slice::from_ref(to));
            let count = pairs.len().saturating_add(from.len().saturating_mul(to.len()));
            if self.too_many(&key, count) {
                break;
            }
            pairs.extend(from.iter().flat_map(|from| pairs_of(*from, &to)));
        }
        pairs
    }

    fn sampled(&mut self, hosts: Vec<usize>, partners: u32) -> Paths {
        let partners = partners as usize;
        if hosts.len() < SAMPLED_MIN || !(1..hosts.len()).contains(&partners) {
            let most = hosts.len().saturating_sub(1);
            self.add("sample", format!("each host has 1 to {most} others to be measured with"));
        }
        let count = hosts.len().saturating_mul(partners.div_ceil(2));
        self.too_many("sample", count);
        Paths::Sample { hosts, partners }
    }

    /// The hosts that these patterns mean, in ascending order, each once.
    fn hosts(&mut self, name: &str, texts: &[String]) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for text in texts {
            match pattern::hosts(text, self.all) {
                Ok(hosts) => found.extend(hosts),
                Err(what) => self.add(name, what),
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn too_many(&mut self, name: &str, count: usize) -> bool {
        let is = count > PATHS_MAX;
        if is {
            let what = format!(
                "{count} paths are more than {PATHS_MAX}: smaller groups, or sample = 4 to measure \
                 each host with four others a day"
            );
            self.add(name, what);
        }
        is
    }
}

/// The paths from a host to each of the others.
fn pairs_of(from: usize, to: &[usize]) -> Vec<Pair> {
    to.iter().filter(|to| **to != from).map(|to| Pair { from, to: *to }).collect()
}

/// The paths of a group on a day, each once, in ascending order.
pub(super) fn paths(mesh: &Mesh, group: &Group, day: u64) -> Vec<Pair> {
    let drawn;
    let pairs = match &group.paths {
        Paths::All(pairs) => pairs,
        Paths::Sample { hosts, partners } => {
            drawn = sample::pairs(mesh, hosts, *partners, &group.name, day);
            &drawn
        }
    };
    let has_agent = |at: usize| mesh.hosts.get(at).is_some_and(|host| host.agent);
    let mut found: Vec<Pair> = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let turned = Pair { from: pair.to, to: pair.from };
        let (near, far) = (has_agent(pair.from), has_agent(pair.to));
        if near {
            found.push(*pair);
        }
        if far && (group.both_directions || !near) {
            found.push(turned);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
