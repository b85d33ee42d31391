//! Which path is measured next. Those that are due are taken by how overdue they are, as a share of
//! their period; among equals the one first whose most loaded host or link has most work waiting,
//! and after that by the rounds of a tournament in which everybody meets everybody. One is begun
//! as soon as all that it takes is free: there are no rounds that wait for the last.
//!
//! It is told the time and what ended, and decides nothing but the order: whoever asks holds what a
//! visit takes until it says that the visit ended.

mod budgets;
mod queues;
mod standing;
mod tasks;
mod works;

pub use standing::Standing;
pub use works::{MeshTimetable, Planned};

use super::mesh::{Carriers, Class, Hours, Measure, Mesh, Pair};
use crate::watch::{DAY_NS, Moment};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;
use budgets::Budgets;
use core::cmp::Reverse;
use queues::{Key, Queues};

/// Visits whose last ones were within this share of a period are equally overdue.
const PARTS: u64 = 8;

/// So many bits of a load count.
const LOAD_BITS: u32 = 4;

/// Minutes begin and end quiet hours, in ns.
const MINUTE_NS: u64 = 60_000_000_000;

/// After how long a visit is asked for again that something in the way of which nothing is known
/// here kept from being made, in ns.
pub const AGAIN_NS: u64 = 5_000_000_000;

/// What one visit of a measurement takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Longest time from when it is given out until it ended, in ns.
    pub longest_ns: u64,
    /// Bytes that it moves.
    pub bytes: u64,
}

/// A visit: a measurement of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Visit {
    /// Position of the measurement in the mesh plan.
    pub measure: usize,
    /// The path.
    pub pair: Pair,
}

/// How a visit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It measured.
    Measured,
    /// It did not, and is not to be tried again before this time since the Unix epoch, in ns.
    Failed {
        /// The time.
        again_unix_ns: u64,
        /// Whether it was begun, so that links may have carried something for it.
        began: bool,
    },
}

/// The visits of a mesh in their order.
#[derive(Debug, Clone, Default)]
pub struct Order {
    measures: Vec<Of>,
    hosts: usize,
    carriers: Carriers,
    tasks: Vec<Task>,
    /// Places among the tasks that are free.
    spare: Vec<u32>,
    by_visit: BTreeMap<Visit, u32>,
    /// What is not due yet, by when it is, in ns.
    idle: BTreeSet<(u64, u32)>,
    queues: Queues,
    /// Hosts, and behind them links.
    taken: Vec<Taken>,
    budgets: Budgets,
    /// The latest time that it was told, in ns.
    told_ns: u64,
    /// How often a visit was looked at.
    #[cfg(test)]
    pub(crate) looked: usize,
}

/// A measurement.
#[derive(Debug, Clone)]
struct Of {
    every_ns: u64,
    class: Class,
    quiet: Hours,
    slot: Slot,
}

/// A visit that is made again and again.
#[derive(Debug, Clone)]
struct Task {
    visit: Visit,
    /// The hosts and, of an exclusive one, the links that it takes.
    takes: Vec<usize>,
    /// The links that carry it.
    carried_by: Vec<usize>,
    /// When the last one that measured began, in ns.
    last_ns: u64,
    /// When the last one of which links carried something began or ended, as far as that is known,
    /// in ns.
    carried_ns: u64,
    /// From which day's budgets the one that is being made was taken.
    spent_day: u64,
    state: State,
    /// Whether it is part of the mesh still.
    wanted: bool,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Not due before this time, in ns.
    Idle(u64),
    /// It waits at a place.
    Waiting(usize, Key),
    /// It began at this time, in ns.
    Running(u64),
    /// There is no such visit any more.
    Gone,
}

/// A host or a link.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    by: Option<u32>,
    /// Work that waits for it, in ns.
    work_ns: u64,
}

impl Order {
    /// The visits of `mesh` from `now` on, whose measurements take `slots`, as many as there are.
    /// Every path is due at once, until [`Order::measured`] says otherwise.
    pub fn new(mesh: &Mesh, slots: &[Slot], now: Moment) -> Self {
        let of = |(measure, slot): (&Measure, &Slot)| Of {
            every_ns: measure.every_ns,
            class: measure.class,
            quiet: measure.quiet.clone(),
            slot: *slot,
        };
        let measures: Vec<Of> = mesh.measures.iter().zip(slots).map(of).collect();
        let (hosts, links) = (mesh.hosts.len(), mesh.links.len());
        // A place for all that is due, one for each host and link, and one for each budget.
        let places = 1 + hosts + 2 * links;
        let mut queues = Queues::new(places, measures.len());
        (0..=hosts + links).for_each(|place| queues.open(place));
        let budgets = mesh.links.iter().map(|link| link.budget_bytes);
        let mut order = Order {
            hosts,
            carriers: Carriers::of(mesh),
            tasks: Vec::new(),
            spare: Vec::new(),
            by_visit: BTreeMap::new(),
            idle: BTreeSet::new(),
            queues,
            taken: vec![Taken::default(); hosts + links],
            budgets: Budgets::new(budgets, now.day()),
            told_ns: now.unix_ns,
            #[cfg(test)]
            looked: 0,
            measures,
        };
        (0..order.measures.len()).for_each(|measure| {
            order.set_paths(measure, &mesh.paths(measure, now.day()), now);
        });
        order
    }

    /// These are the paths of a measurement from now on, as those of a sample are others each day;
    /// what is known of paths that stay is kept.
    pub fn set_paths(&mut self, measure: usize, paths: &[Pair], now: Moment) {
        let Some(of) = self.measures.get(measure) else { return };
        let first_ns = now.unix_ns.saturating_sub(of.every_ns);
        let known = self.by_visit.iter().filter(|(visit, _)| visit.measure == measure);
        let known: Vec<u32> = known.map(|(_, task)| *task).collect();
        let mut stay: BTreeSet<u32> = BTreeSet::new();
        for pair in paths {
            let visit = Visit { measure, pair: *pair };
            let task = match self.by_visit.get(&visit) {
                Some(task) => *task,
                None => self.add(visit, first_ns),
            };
            stay.insert(task);
        }
        for task in known {
            let stays = stay.contains(&task);
            if let Some(of) = self.task_mut(task) {
                of.wanted = stays;
            }
            if !stays {
                self.drop_unless_running(task);
            }
        }
    }

    /// The visit began at that time and measured: from the archive, when a timetable is made anew.
    pub fn measured(&mut self, visit: Visit, began_unix_ns: u64) {
        let Some(task) = self.by_visit.get(&visit).copied() else { return };
        let Some(of) = self.task_mut(task) else { return };
        of.last_ns = began_unix_ns;
        match of.state {
            State::Idle(_) | State::Waiting(..) => {
                self.take_out(task);
                self.rest(task, None);
            }
            State::Running(_) | State::Gone => {}
        }
    }

    /// The next visit to be made, if one can be at this moment and `may` be; what it takes is held
    /// until [`Order::ended`] says that it is free. One that may not is asked for again
    /// [`AGAIN_NS`] later.
    pub fn next(&mut self, now: Moment, may: &dyn Fn(Visit) -> bool) -> Option<Visit> {
        if now.unix_ns < self.told_ns {
            self.turn_back(now.unix_ns);
        }
        self.told_ns = now.unix_ns;
        if self.budgets.turn_to(now.day()) {
            let budgets = 1 + self.taken.len()..;
            let links = self.taken.len() - self.hosts;
            budgets.take(links).for_each(|place| self.let_all_in(place));
        }
        self.fall_due(now.unix_ns);
        let awake = |of: &Of| !of.quiet.touches(now, of.slot.longest_ns);
        let awake: Vec<bool> = self.measures.iter().map(awake).collect();
        while let Some((key, place, measure)) = self.first(now.unix_ns, &awake) {
            #[cfg(test)]
            {
                self.looked += 1;
            }
            self.queues.remove(place, measure, key);
            let task = key.task;
            let load_ns = Reverse(self.load_ns(task));
            if load_ns > key.load_ns {
                // Less work is left than when it began to wait: others may be before it now.
                self.wait_at(place, Key { load_ns, ..key });
                continue;
            }
            match self.obstacle(task) {
                None if self.task(task).is_some_and(|of| may(of.visit)) => {
                    return self.begin(task, now.unix_ns);
                }
                None => self.put_off(task, key, now.unix_ns.saturating_add(AGAIN_NS)),
                Some(obstacle) => self.wait_at(obstacle, key),
            }
        }
        None
    }

    /// The visit ended, and what it took is free.
    pub fn ended(&mut self, visit: Visit, how: Ended) {
        let Some(task) = self.by_visit.get(&visit).copied() else { return };
        let Some(of) = self.task_mut(task) else { return };
        let State::Running(began_ns) = of.state else { return };
        let takes = of.takes.clone();
        let again_ns = match how {
            Ended::Measured => {
                of.last_ns = began_ns;
                None
            }
            Ended::Failed { again_unix_ns, began } => {
                if !began {
                    self.give_back(task);
                }
                Some(again_unix_ns)
            }
        };
        self.rest(task, again_ns);
        for resource in takes {
            if let Some(taken) = self.taken.get_mut(resource) {
                taken.by = None;
            }
            // What waited for it is looked at.
            self.queues.open(1 + resource);
        }
        self.drop_unless_running(task);
    }

    /// The visit is not to be made before this time since the Unix epoch, in ns.
    pub fn not_before(&mut self, visit: Visit, unix_ns: u64) {
        let Some(task) = self.by_visit.get(&visit).copied() else { return };
        let rests = match self.task(task).map(|of| of.state) {
            Some(State::Idle(due_ns)) => due_ns < unix_ns,
            Some(State::Waiting(..)) => true,
            Some(State::Running(_) | State::Gone) | None => false,
        };
        if rests {
            self.take_out(task);
            self.rest(task, Some(unix_ns));
        }
    }

    /// When to ask again although nothing ended, in ns since the Unix epoch; nothing if only what
    /// ends can change anything.
    pub fn wakes_unix_ns(&self, now: Moment) -> Option<u64> {
        let due = self.idle.first().map(|(due_ns, _)| *due_ns);
        let sleeps = |(at, of): (usize, &Of)| {
            self.queues.waits(at) && of.quiet.touches(now, of.slot.longest_ns)
        };
        let asleep = self.measures.iter().enumerate().any(sleeps);
        let minute = asleep.then(|| (now.unix_ns / MINUTE_NS + 1) * MINUTE_NS);
        let mut budgets = (1 + self.taken.len()..).take(self.taken.len() - self.hosts);
        let spent = budgets.any(|place| self.queues.waits_at(place));
        let day = spent.then(|| (now.day() + 1) * DAY_NS);
        [due, minute, day].into_iter().flatten().min()
    }

    /// Every visit, whatever its state, in order.
    pub fn visits(&self) -> impl Iterator<Item = Visit> {
        self.by_visit.keys().copied()
    }

    /// Whether there is such a visit.
    pub fn has(&self, visit: Visit) -> bool {
        self.by_visit.contains_key(&visit)
    }

    /// When the visit began, in ns since the Unix epoch, if it is being made.
    pub fn began_unix_ns(&self, visit: Visit) -> Option<u64> {
        match self.task(*self.by_visit.get(&visit)?)?.state {
            State::Running(began_ns) => Some(began_ns),
            State::Idle(_) | State::Waiting(..) | State::Gone => None,
        }
    }

    /// How overdue the most overdue path of a measurement is at this moment, as a share of its
    /// period: 1 is due now. Nothing if it has no path.
    pub fn overdue(&self, measure: usize, now_unix_ns: u64) -> Option<f64> {
        let every_ns = self.measures.get(measure)?.every_ns;
        let of = self.by_visit.iter().filter(|(visit, _)| visit.measure == measure);
        let last_ns = of.filter_map(|(_, task)| Some(self.task(*task)?.last_ns)).min()?;
        Some(now_unix_ns.saturating_sub(last_ns) as f64 / every_ns as f64)
    }

    /// The best of what is first for each measurement that is awake, with where it waits and for
    /// which measurement.
    fn first(&self, now_ns: u64, awake: &[bool]) -> Option<(Key, usize, usize)> {
        let measures = self.measures.iter().zip(awake).enumerate();
        let of = |(at, (of, awake)): (usize, (&Of, &bool))| {
            let (key, place) = awake.then(|| self.queues.first(at)).flatten()?;
            let part_ns = part_ns(of.every_ns);
            let parts = (now_ns / part_ns).saturating_sub(key.since);
            Some((Reverse(parts), key.load_ns, key, place, at))
        };
        let (_, _, key, place, at) = measures.filter_map(of).min()?;
        Some((key, place, at))
    }

    /// What is due waits with all others.
    fn fall_due(&mut self, now_ns: u64) {
        let mut due: Vec<u32> = Vec::new();
        while let Some((due_ns, task)) = self.idle.first().copied() {
            if due_ns > now_ns {
                break;
            }
            self.idle.remove(&(due_ns, task));
            due.push(task);
        }
        // All work is counted before any load is looked at: one may be too high in its queue and is
        // looked at again, but not too low.
        for task in &due {
            let Some(of) = self.tasks.get(*task as usize) else { continue };
            let measure = self.measures.get(of.visit.measure);
            let longest_ns = measure.map_or(0, |measure| measure.slot.longest_ns);
            for resource in &of.takes {
                if let Some(taken) = self.taken.get_mut(*resource) {
                    taken.work_ns = taken.work_ns.saturating_add(longest_ns);
                }
            }
        }
        for task in due {
            let Some(of) = self.task(task) else { continue };
            let every_ns = self.measures.get(of.visit.measure).map_or(1, |of| of.every_ns);
            let since = of.last_ns / part_ns(every_ns);
            let turn = turn(of.visit.pair, self.hosts);
            let load_ns = Reverse(self.load_ns(task));
            self.wait_at(ALL, Key { since, load_ns, turn, task });
        }
    }

    fn wait_at(&mut self, place: usize, key: Key) {
        let Some(task) = self.task_mut(key.task) else { return };
        task.state = State::Waiting(place, key);
        let measure = task.visit.measure;
        self.queues.insert(place, measure, key);
    }

    /// What waits at a place waits with all others from now on.
    fn let_all_in(&mut self, place: usize) {
        for measure in 0..self.measures.len() {
            while let Some(key) = self.queues.first_at(place, measure) {
                self.queues.remove(place, measure, key);
                self.wait_at(ALL, key);
            }
        }
    }

    /// A visit that was taken out of where it waited is not asked for before that time.
    fn put_off(&mut self, task: u32, key: Key, again_ns: u64) {
        self.wait_at(ALL, key);
        self.take_out(task);
        self.rest(task, Some(again_ns));
    }

    /// Most work that waits for any of what a visit takes, itself included, in ns and about: if
    /// each visit that begins made all others lighter that wait for the same, they would all have
    /// to be put in order again.
    fn load_ns(&self, task: u32) -> u64 {
        let takes = self.task(task).map_or(&[][..], |task| task.takes.as_slice());
        let work = takes.iter().filter_map(|at| Some(self.taken.get(*at)?.work_ns));
        about(work.max().unwrap_or(0))
    }

    /// The place of what is in the way of a visit, if anything is.
    fn obstacle(&self, task: u32) -> Option<usize> {
        let of = self.task(task)?;
        let is_taken = |at: &&usize| self.taken.get(**at).is_some_and(|taken| taken.by.is_some());
        if let Some(resource) = of.takes.iter().find(is_taken) {
            return Some(1 + resource);
        }
        let bytes = self.measures.get(of.visit.measure)?.slot.bytes;
        let spent = of.carried_by.iter().find(|link| !self.budgets.bears(**link, bytes));
        spent.map(|link| 1 + self.taken.len() + link)
    }

    fn begin(&mut self, task: u32, now_ns: u64) -> Option<Visit> {
        let day = self.budgets.day();
        let of = self.task_mut(task)?;
        (of.state, of.carried_ns, of.spent_day) = (State::Running(now_ns), now_ns, day);
        let (visit, takes, carried_by) = (of.visit, of.takes.clone(), of.carried_by.clone());
        let slot = self.measures.get(visit.measure)?.slot;
        for resource in takes {
            if let Some(taken) = self.taken.get_mut(resource) {
                taken.by = Some(task);
                taken.work_ns = taken.work_ns.saturating_sub(slot.longest_ns);
            }
            self.queues.close(1 + resource);
        }
        carried_by.iter().for_each(|link| self.budgets.spend(*link, slot.bytes));
        Some(visit)
    }

    /// Links carried one visit that began or ended then, made before this timetable was or by
    /// another one. It counts for each of these, which are of one path.
    pub fn carried(&mut self, visits: &[Visit], unix_ns: u64) {
        let tasks: Vec<u32> =
            visits.iter().filter_map(|visit| self.by_visit.get(visit).copied()).collect();
        let of_all = || tasks.iter().filter_map(|task| self.task(*task));
        let last_ns = of_all().map(|of| of.carried_ns).max().unwrap_or(0);
        let Some((slot, links)) = of_all().next().and_then(|of| {
            Some((self.measures.get(of.visit.measure)?.slot, of.carried_by.clone()))
        }) else {
            return;
        };
        let is_other = unix_ns > last_ns.saturating_add(slot.longest_ns);
        if is_other && unix_ns / DAY_NS == self.budgets.day() {
            links.iter().for_each(|link| self.budgets.spend(*link, slot.bytes));
            for task in tasks {
                if let Some(of) = self.task_mut(task) {
                    of.carried_ns = unix_ns;
                }
            }
        }
    }

    /// What was given out was not begun, and links have carried nothing of it.
    fn give_back(&mut self, task: u32) {
        let Some(of) = self.task_mut(task) else { return };
        // Another one's may come any time.
        of.carried_ns = 0;
        let of = of.clone();
        let bytes = self.measures.get(of.visit.measure).map_or(0, |of| of.slot.bytes);
        for link in of.carried_by {
            self.budgets.give_back(of.spent_day, link, bytes);
            self.let_all_in(1 + self.taken.len() + link);
        }
    }
}

/// The place of all that is due and not in anything's way yet; those of hosts and links follow.
const ALL: usize = 0;

/// Those within such a part of a period are equally overdue, in ns.
fn part_ns(every_ns: u64) -> u64 {
    (every_ns / PARTS).max(1)
}

/// The number with all but its highest bits cleared: at most an eighth less.
fn about(n: u64) -> u64 {
    let length = u64::BITS - n.leading_zeros();
    let cleared = length.saturating_sub(LOAD_BITS);
    (n >> cleared) << cleared
}

/// The round in which two of so many meet, if each round has everybody meet one other: the circle
/// method of tournaments. The way there and the way back are in the same one.
fn turn(pair: Pair, hosts: usize) -> u32 {
    let (one, other) = (pair.from.min(pair.to), pair.from.max(pair.to));
    let rounds = if hosts.is_multiple_of(2) { hosts.saturating_sub(1) } else { hosts }.max(1);
    // Of an even number the last one stands in the middle of the circle.
    let met = if other == rounds { 2 * one } else { one + other };
    u32::try_from(met % rounds).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
