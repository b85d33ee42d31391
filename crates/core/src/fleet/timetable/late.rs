//! Visits that come and go, and those that wait too long: what takes hosts and links at once would
//! find them all free only by chance where each is wanted by others all the time, so for one that
//! is late they are kept free.

use super::{Class, Obstacle, Order, State, Task, Visit};
use alloc::vec::Vec;

/// From so many periods after the last one on a visit is late.
const LATE: u64 = 2;

impl Order {
    pub(super) fn task(&self, task: u32) -> Option<&Task> {
        self.tasks.get(task as usize)
    }

    pub(super) fn task_mut(&mut self, task: u32) -> Option<&mut Task> {
        self.tasks.get_mut(task as usize)
    }

    /// A new visit, as if it had been measured at that time.
    pub(super) fn add(&mut self, visit: Visit, last_ns: u64) -> u32 {
        let carried_by = self.carriers.links(visit.pair);
        let mut takes = [visit.pair.from, visit.pair.to].to_vec();
        let is_exclusive = |measure: &super::Of| measure.class == Class::Exclusive;
        if self.measures.get(visit.measure).is_some_and(is_exclusive) {
            takes.extend(carried_by.iter().map(|link| self.hosts + link));
        }
        let new = Task { visit, takes, carried_by, last_ns, state: State::Gone, wanted: true };
        let task = match self.spare.pop() {
            Some(task) => {
                if let Some(place) = self.task_mut(task) {
                    *place = new;
                }
                task
            }
            None => {
                self.tasks.push(new);
                // A mesh has far fewer.
                (self.tasks.len() - 1) as u32
            }
        };
        self.by_visit.insert(visit, task);
        self.rest(task, None);
        task
    }

    /// It is not due until its period has passed, nor before that time, if one is given.
    pub(super) fn rest(&mut self, task: u32, again_ns: Option<u64>) {
        let Some(of) = self.tasks.get_mut(task as usize) else { return };
        let every_ns = self.measures.get(of.visit.measure).map_or(0, |measure| measure.every_ns);
        let due_ns = again_ns.unwrap_or_else(|| of.last_ns.saturating_add(every_ns));
        of.state = State::Idle(due_ns);
        self.idle.insert((due_ns, task));
    }

    /// Takes a visit out of wherever it waits.
    pub(super) fn take_out(&mut self, task: u32) {
        let Some(of) = self.task(task) else { return };
        let (visit, takes) = (of.visit, of.takes.clone());
        match of.state {
            State::Idle(due_ns) => {
                self.idle.remove(&(due_ns, task));
            }
            State::Waiting(place, key) => {
                self.queues.remove(place, visit.measure, key);
                let longest_ns =
                    self.measures.get(visit.measure).map_or(0, |of| of.slot.longest_ns);
                for resource in takes {
                    if let Some(taken) = self.taken.get_mut(resource) {
                        taken.work_ns = taken.work_ns.saturating_sub(longest_ns);
                    }
                }
                self.keep_nothing_for(task);
            }
            State::Running(_) | State::Gone => {}
        }
    }

    /// A visit that is part of the mesh no more goes, if it is not being made.
    pub(super) fn drop_unless_running(&mut self, task: u32) {
        let Some(of) = self.task(task) else { return };
        if of.wanted || matches!(of.state, State::Running(_) | State::Gone) {
            return;
        }
        let visit = of.visit;
        self.take_out(task);
        if let Some(of) = self.task_mut(task) {
            of.state = State::Gone;
        }
        self.by_visit.remove(&visit);
        self.spare.push(task);
    }

    /// Keeps all that a late visit takes free for it, if what is in its way passes and none of it
    /// is kept for another one.
    pub(super) fn keep_if_late(&mut self, task: u32, obstacle: Obstacle, now_ns: u64) {
        if !obstacle.passes {
            self.keep_nothing_for(task);
            return;
        }
        let Some(of) = self.task(task) else { return };
        let every_ns = self.measures.get(of.visit.measure).map_or(u64::MAX, |of| of.every_ns);
        let late_ns = of.last_ns.saturating_add(every_ns.saturating_mul(LATE));
        // Two hosts are found free together often enough.
        if now_ns < late_ns || of.takes.len() <= 2 || self.reserving.contains(&task) {
            return;
        }
        let takes = of.takes.clone();
        let free = |at: &usize| self.taken.get(*at).is_some_and(|taken| taken.kept_for.is_none());
        if takes.iter().all(free) {
            for resource in takes {
                if let Some(taken) = self.taken.get_mut(resource) {
                    taken.kept_for = Some(task);
                }
                self.queues.close(1 + resource);
            }
            self.reserving.insert(task);
        }
    }

    /// Nothing is kept free for this visit any more.
    pub(super) fn keep_nothing_for(&mut self, task: u32) {
        if !self.reserving.remove(&task) {
            return;
        }
        let takes = self.task(task).map_or_else(Vec::new, |of| of.takes.clone());
        for resource in takes {
            if let Some(taken) = self.taken.get_mut(resource) {
                taken.kept_for = None;
            }
            self.freed(resource);
        }
    }

    /// In its quiet hours a measurement keeps nothing free.
    pub(super) fn keep_nothing_for_sleepers(&mut self, awake: &[bool]) {
        let sleeps = |task: &u32| {
            let measure = self.task(*task).map(|of| of.visit.measure);
            measure.and_then(|at| awake.get(at)).is_some_and(|awake| !awake)
        };
        let sleepers: Vec<u32> = self.reserving.iter().copied().filter(sleeps).collect();
        sleepers.into_iter().for_each(|task| self.keep_nothing_for(task));
    }
}
