//! The timetable of a mesh as its coordinator asks it.

use super::{Ended, Order, Slot, Standing, Visit};
use crate::fleet::id::JobId;
use crate::fleet::mesh::{Carriers, Class, Mesh, Pair, Paths};
use crate::fleet::work::{Key, Now, Outcome, SentPlan, Timetable, Work};
use crate::record::RunId;
use crate::watch::Moment;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// How soon a path that could not be measured is tried again: a part of its period, and no sooner
/// than this, in ns.
const RETRY_PARTS: u64 = 4;
const RETRY_NS_MIN: u64 = 60_000_000_000;

/// What a measurement of the mesh plan sends and takes.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The plan, as agents get it.
    pub plan: Arc<SentPlan>,
    /// Longest time that the measuring takes, in ns.
    pub longest_ns: u64,
    /// Bytes that it moves.
    pub bytes: u64,
}

/// The timetable of a mesh plan.
#[derive(Debug, Clone)]
pub struct MeshTimetable {
    mesh: Mesh,
    carriers: Carriers,
    planned: Vec<Planned>,
    order: Order,
    day: u64,
    /// Whether what others measure counts for nothing here.
    afresh: bool,
    /// The latest time that it was told, in ns since the Unix epoch.
    told_ns: u64,
    /// What is known of paths whose last attempt failed.
    failed: BTreeMap<Visit, Failed>,
}

/// What the next attempt of a visit must know.
#[derive(Debug, Clone, Default)]
struct Failed {
    /// When it failed, in ns since the Unix epoch.
    unix_ns: u64,
    /// Attempts of its round that failed.
    attempts: u32,
    /// The run that broke off.
    run: Option<RunId>,
}

impl MeshTimetable {
    /// The timetable of `mesh` from `now` on; `planned` has what belongs to each of its
    /// measurements, in their order. Every path is due at once, but for those of which
    /// [`MeshTimetable::measured`] says otherwise.
    pub fn new(mesh: Mesh, planned: Vec<Planned>, now: Moment) -> Self {
        let slot = |of: &Planned| Slot { longest_ns: of.longest_ns, bytes: of.bytes };
        let slots: Vec<Slot> = planned.iter().map(slot).collect();
        let order = Order::new(&mesh, &slots, now);
        let (carriers, day) = (Carriers::of(&mesh), now.day());
        let (afresh, told_ns, failed) = (false, now.unix_ns, BTreeMap::new());
        MeshTimetable { carriers, planned, order, day, afresh, told_ns, failed, mesh }
    }

    /// The same, for which nothing counts that others measure.
    #[must_use]
    pub fn afresh(self) -> Self {
        MeshTimetable { afresh: true, ..self }
    }

    /// The work of that key was measured last at that time, in ns since the Unix epoch, as an
    /// archive says it: that counts for every group that has it.
    pub fn measured(&mut self, key: Key<'_>, began_unix_ns: u64) {
        // Links carried it, whichever text of the plan it was.
        let (from, to, plan, _) = key;
        let visits = self.visits((from, to, plan, ""));
        self.order.carried(&visits, began_unix_ns);
        self.was_measured(key, began_unix_ns);
    }

    /// The same, of a time that is known no better than not to be over yet, so that links are taken
    /// to have carried nothing today.
    pub fn was_measured(&mut self, key: Key<'_>, began_unix_ns: u64) {
        for visit in self.visits(key) {
            // What failed since then is tried again at its time.
            if self.failed.get(&visit).is_none_or(|failed| failed.unix_ns <= began_unix_ns) {
                self.failed.remove(&visit);
                self.order.measured(visit, began_unix_ns);
            }
        }
    }

    /// Every path with its measurement that is in the timetable today.
    pub fn works(&self) -> impl Iterator<Item = Work> {
        self.order.visits().filter_map(move |visit| self.work(visit))
    }

    /// When to ask again although nothing came out, in ns since the Unix epoch.
    pub fn wakes_unix_ns(&self, now: Moment) -> Option<u64> {
        self.order.wakes_unix_ns(now)
    }

    /// How far behind it is at this moment.
    pub fn standing(&self, now: Moment) -> Standing {
        self.order.standing(now)
    }

    /// The mesh plan.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    fn work(&self, visit: Visit) -> Option<Work> {
        let measure = self.mesh.measures.get(visit.measure)?;
        let planned = self.planned.get(visit.measure)?;
        let from = self.mesh.hosts.get(visit.pair.from)?;
        let to = self.mesh.hosts.get(visit.pair.to)?;
        let links = match measure.class {
            Class::Light => Vec::new(),
            Class::Exclusive => self.carriers.links(visit.pair),
        };
        let link = |at: usize| Some(self.mesh.links.get(at)?.name.clone());
        let Failed { attempts, run, .. } = self.failed.get(&visit).cloned().unwrap_or_default();
        Some(Work {
            from: from.name.clone(),
            to: to.name.clone(),
            to_is_agent: to.agent,
            class: measure.class,
            links: links.into_iter().filter_map(link).collect(),
            plan: planned.plan.clone(),
            longest_ns: planned.longest_ns,
            every_ns: measure.every_ns,
            port: to.port,
            failed: attempts,
            continued: run,
        })
    }

    /// The visits of that key: several groups may have the path with the same plan.
    fn visits(&self, (from, to, plan, hash): Key<'_>) -> Vec<Visit> {
        let (Some(from), Some(to)) = (self.mesh.host(from), self.mesh.host(to)) else {
            return Vec::new();
        };
        let pair = Pair { from, to };
        let is_of = |visit: &Visit| {
            let planned = self.planned.get(visit.measure);
            let is_it = |hashed: &str| hash.is_empty() || hash == hashed;
            planned.is_some_and(|of| of.plan.name == plan && is_it(&of.plan.hash))
        };
        let visits = (0..self.planned.len()).map(|measure| Visit { measure, pair });
        visits.filter(is_of).filter(|visit| self.order.has(*visit)).collect()
    }

    /// Samples are others each day. And what failed while the clock was ahead failed before now.
    fn turn_to(&mut self, now: Moment) {
        if now.unix_ns < self.told_ns {
            let failed = self.failed.values_mut();
            failed.for_each(|failed| failed.unix_ns = failed.unix_ns.min(now.unix_ns));
        }
        self.told_ns = now.unix_ns;
        if now.day() == self.day {
            return;
        }
        self.day = now.day();
        self.failed.retain(|visit, _| self.order.has(*visit));
        for (at, measure) in self.mesh.measures.iter().enumerate() {
            let group = self.mesh.groups.get(measure.group);
            if group.is_some_and(|group| matches!(group.paths, Paths::Sample { .. })) {
                self.order.set_paths(at, &self.mesh.paths(at, self.day), now);
            }
        }
    }
}

impl Timetable for MeshTimetable {
    fn next(&mut self, now: Now, is_free: &dyn Fn(&Work) -> bool) -> Option<Work> {
        self.turn_to(now.wall);
        // Taken out, so that works can be made while the order is changed.
        let mut order = core::mem::take(&mut self.order);
        let may = |visit| self.work(visit).is_some_and(|work| is_free(&work));
        let visit = order.next(now.wall, &may);
        self.order = order;
        self.work(visit?)
    }

    fn came(&mut self, work: &Work, _job: &JobId, outcome: &Outcome, now: Now) {
        let visits = self.visits(work.key());
        // They take the same hosts, so that one of them is under way at most.
        let under_way = visits.iter().find_map(|of| Some((*of, self.order.began_unix_ns(*of)?)));
        let unix_ns = now.wall.unix_ns;
        let Some((visit, began_unix_ns)) = under_way else {
            // It was begun by the timetable that was here before, or by another one. Another plan
            // of that name measures something else.
            let is_own =
                |of: &Planned| (&of.plan.name, &of.plan.hash) == (&work.plan.name, &work.plan.hash);
            let is_measured = matches!(outcome, Outcome::Measured { .. });
            if is_measured && !self.afresh && self.planned.iter().any(is_own) {
                self.measured(work.key(), unix_ns);
            }
            return;
        };
        let later = |ns: u64| unix_ns.saturating_add(ns);
        // Of several groups the one that wants it most often waits no longer for the others.
        let every_ns =
            visits.iter().filter_map(|of| Some(self.mesh.measures.get(of.measure)?.every_ns));
        let every_ns = every_ns.min().unwrap_or(work.every_ns);
        let retry_ns = (every_ns / RETRY_PARTS).max(RETRY_NS_MIN);
        let (again_unix_ns, began, attempts, run) = match outcome {
            Outcome::Measured { .. } => {
                self.order.ended(visit, Ended::Measured);
                // Whatever the clock of the wall says by now.
                visits.iter().for_each(|visit| drop(self.failed.remove(visit)));
                return self.was_measured(work.key(), began_unix_ns);
            }
            Outcome::Failed { run, again_ns, began, .. } => {
                (later(*again_ns), *began, work.failed.saturating_add(1), run.clone())
            }
            Outcome::GivenUp { lasting: true, began, .. } => (later(every_ns), *began, 0, None),
            Outcome::GivenUp { lasting: false, began, run, .. } => {
                (later(retry_ns), *began, 0, run.clone())
            }
            Outcome::Lost { began } => {
                let (again_unix_ns, began) = (unix_ns, *began);
                return self.order.ended(visit, Ended::Failed { again_unix_ns, began });
            }
        };
        self.order.ended(visit, Ended::Failed { again_unix_ns, began });
        for visit in visits {
            self.order.not_before(visit, again_unix_ns);
            self.failed.insert(visit, Failed { unix_ns, attempts, run: run.clone() });
        }
    }
}
