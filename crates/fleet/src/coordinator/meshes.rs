//! The mesh plans that are applied, and which path of all of them is measured next.

use crate::{parts, plans};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use v6gap_core::fleet::id::JobId;
use v6gap_core::fleet::names::HostName;
use v6gap_core::fleet::timetable::{MeshTimetable, Planned, Standing};
use v6gap_core::fleet::work::{Key, Now, Outcome, SentPlan, Timetable, Work};
use v6gap_core::watch::Moment;
use v6gap_store::parse_mesh;

/// Digits of a plan's hash.
const HASH_DIGITS: usize = 16;

/// A mesh plan as the operator applied it, with everything that it names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// Version of this form: 1.
    pub v6gap: u8,
    /// The mesh plan as it was written.
    pub mesh: String,
    /// Texts of the plans, by what the mesh plan calls them.
    pub plans: BTreeMap<String, String>,
    /// Whether all paths are due at once, also those that were measured a moment ago.
    #[serde(default)]
    pub afresh: bool,
}

/// All mesh plans that are applied.
#[derive(Debug, Clone, Default)]
pub struct Meshes {
    tables: BTreeMap<String, MeshTimetable>,
    /// The one that was asked first last time.
    last: Option<String>,
}

impl Applied {
    /// The timetable that it makes from `now` on.
    ///
    /// # Errors
    /// In words, the first thing that is wrong.
    pub fn timetable(&self, now: Moment) -> Result<MeshTimetable, String> {
        if self.v6gap != 1 {
            return Err(format!("it is of version {}, which is not known here", self.v6gap));
        }
        let mesh = parse_mesh(&self.mesh).map_err(|problems| {
            let first = problems.first();
            first.map_or_else(String::new, |first| format!("line {}: {}", first.line, first.what))
        })?;
        let planned = mesh.measures.iter().map(|measure| self.planned(&measure.plan));
        let planned = planned.collect::<Result<Vec<Planned>, String>>()?;
        let table = MeshTimetable::new(mesh, planned, now);
        Ok(if self.afresh { table.afresh() } else { table })
    }

    fn planned(&self, name: &str) -> Result<Planned, String> {
        let text = self.plans.get(name).ok_or_else(|| format!("the plan {name} is not with it"))?;
        let asked = plans::asked(text).map_err(|why| format!("the plan {name}: {why}"))?;
        let plan = SentPlan {
            name: name.to_owned(),
            text: text.clone(),
            hash: hash(text),
            needs: Vec::new(),
        };
        let longest_ns = plans::longest_ns(&asked);
        // At the usual rate it is known.
        let bytes = asked.bytes.unwrap_or(u64::MAX);
        Ok(Planned { plan: Arc::new(plan), longest_ns, bytes })
    }
}

/// What a text is known by.
pub(super) fn hash(text: &str) -> String {
    let mut digits = parts::hash(text.as_bytes());
    digits.truncate(HASH_DIGITS);
    digits
}

impl Meshes {
    /// A mesh plan of that name is applied, in place of the one that was; or none any more.
    pub fn set(&mut self, name: &str, table: Option<MeshTimetable>) {
        match table {
            Some(table) => self.tables.insert(name.to_owned(), table),
            None => self.tables.remove(name),
        };
    }

    /// Names of those that are applied, with how many paths each has today.
    pub fn names(&self) -> Vec<(&str, usize)> {
        self.tables.iter().map(|(name, table)| (name.as_str(), table.works().count())).collect()
    }

    /// How far behind each of them is at this moment, by its name.
    pub fn standing(&self, now: Moment) -> BTreeMap<String, Standing> {
        self.tables.iter().map(|(name, table)| (name.clone(), table.standing(now))).collect()
    }

    /// Work of that key of the mesh plan of that name was measured last at that time, in ns since
    /// the Unix epoch: `now`, where that was said by a clock that was ahead.
    pub fn measured(&mut self, name: &str, key: Key<'_>, at_unix_ns: u64, now_unix_ns: u64) {
        match self.tables.get_mut(name) {
            Some(table) if at_unix_ns > now_unix_ns => table.was_measured(key, now_unix_ns),
            Some(table) => table.measured(key, at_unix_ns),
            None => {}
        }
    }

    /// Addresses of hosts, before those that their agents say.
    pub fn addresses(&self) -> BTreeMap<HostName, Vec<String>> {
        let hosts = self.tables.values().flat_map(|table| &table.mesh().hosts);
        let named = hosts.filter_map(|host| {
            let of = [&host.addresses.v4, &host.addresses.v6];
            let all: Vec<String> = of.into_iter().flatten().cloned().collect();
            (!all.is_empty()).then(|| (host.name.clone(), all))
        });
        named.collect()
    }
}

impl Timetable for Meshes {
    /// Each mesh plan is asked first in its turn, so that none waits for another that is overdue.
    fn next(&mut self, now: Now, is_free: &dyn Fn(&Work) -> bool) -> Option<Work> {
        let names: Vec<String> = self.tables.keys().cloned().collect();
        let after = |name: &&String| self.last.as_ref().is_none_or(|last| **name > *last);
        let start = names.iter().position(|name| after(&name)).unwrap_or(0);
        for name in names.iter().cycle().skip(start).take(names.len()) {
            let work = self.tables.get_mut(name).and_then(|table| table.next(now, is_free));
            if work.is_some() {
                self.last = Some(name.clone());
                return work;
            }
        }
        None
    }

    /// All are told: each knows its own.
    fn came(&mut self, work: &Work, job: &JobId, outcome: &Outcome, now: Now) {
        self.tables.values_mut().for_each(|table| table.came(work, job, outcome, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESH: &str = include_str!("../../../core/tests/common/two.mesh.toml");
    const PLAN: &str = "v6gap = 1\nname = \"x\"\n[[measure]]\nmetric = \"rtt\"\n";

    fn applied() -> Applied {
        let plans = BTreeMap::from([("smoke.toml".to_owned(), PLAN.to_owned())]);
        Applied { v6gap: 1, mesh: MESH.to_owned(), plans, afresh: false }
    }

    fn now() -> Now {
        let wall = Moment { unix_ns: 1_800_000_000_000_000_000, offset_s: 0 };
        Now { ns: 0, wall }
    }

    #[test]
    fn a_mesh_plan_that_is_applied_gives_work_and_one_that_is_gone_none() {
        let mut meshes = Meshes::default();
        assert_eq!(meshes.next(now(), &|_| true), None);
        meshes.set("two", Some(applied().timetable(now().wall).unwrap()));
        assert_eq!(meshes.names(), [("two", 1)]);
        let work = meshes.next(now(), &|_| true).unwrap();
        assert_eq!((work.plan.text.as_str(), work.plan.hash.len()), (PLAN, HASH_DIGITS));
        assert_eq!(meshes.next(now(), &|_| true), None, "it is under way");
        meshes.set("two", None);
        assert_eq!(meshes.names(), []);
    }

    #[test]
    fn what_was_measured_is_not_due_and_overdue_two_hours_later() {
        let mut meshes = Meshes::default();
        meshes.set("two", Some(applied().timetable(now().wall).unwrap()));
        let work = meshes.tables["two"].works().next().unwrap();
        let (from, to, plan, hash) = work.key();
        let now_unix_ns = now().wall.unix_ns;
        meshes.measured("two", (from, to, "another.toml", hash), now_unix_ns, now_unix_ns);
        // As it was before it was edited.
        meshes.measured("two", (from, to, plan, "0123abcd"), now_unix_ns, now_unix_ns);
        meshes.measured("another", work.key(), now_unix_ns, now_unix_ns);
        assert!(meshes.clone().next(now(), &|_| true).is_some(), "another was measured");
        // As a clock says that was a month ahead: it counts from now on.
        let ahead_unix_ns = now_unix_ns + 30 * 86_400_000_000_000;
        meshes.measured("two", work.key(), ahead_unix_ns, now_unix_ns);
        assert_eq!(meshes.next(now(), &|_| true), None);
        let wall = now().wall;
        let overdue = |hours: u64| {
            let unix_ns = wall.unix_ns + hours * 3_600_000_000_000;
            let standing = meshes.standing(Moment { unix_ns, ..wall });
            assert_eq!(standing["two"].paths, 1);
            standing["two"].overdue
        };
        assert_eq!([0, 1, 2].map(overdue), [0, 0, 1]);
    }

    #[test]
    fn what_is_missing_or_wrong_is_said() {
        let now = now().wall;
        let without = Applied { plans: BTreeMap::new(), ..applied() };
        assert!(without.timetable(now).unwrap_err().contains("smoke.toml"));
        let later = Applied { v6gap: 2, ..applied() };
        assert!(later.timetable(now).unwrap_err().contains("version 2"));
        let mut wrong = applied();
        wrong.plans.insert("smoke.toml".to_owned(), "x".to_owned());
        assert!(wrong.timetable(now).unwrap_err().contains("the plan smoke.toml"));
    }
}
