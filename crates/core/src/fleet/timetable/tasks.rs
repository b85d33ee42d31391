//! Visits that come and go, as the mesh changes and the days of its samples.

use super::{Class, Order, State, Task, Visit, part_ns};
use alloc::vec::Vec;

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
        let (state, carried_ns, spent_day, wanted) = (State::Gone, 0, 0, true);
        let new = Task { visit, takes, carried_by, last_ns, carried_ns, spent_day, state, wanted };
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

    /// The clock was ahead and shows this time again: what was measured meanwhile was measured now,
    /// and nothing waits longer than its period for the time that the clock had shown.
    pub(super) fn turn_back(&mut self, now_ns: u64) {
        let tasks: Vec<u32> = self.by_visit.values().copied().collect();
        for task in tasks {
            let Some(of) = self.task(task) else { continue };
            let (state, last_ns) = (of.state, of.last_ns);
            let every_ns = self.measures.get(of.visit.measure).map_or(0, |of| of.every_ns);
            // One that was never begun is due from the first.
            let is_new = of.carried_ns == 0 && last_ns > now_ns;
            if let Some(of) = self.task_mut(task) {
                of.last_ns = last_ns.min(now_ns);
                of.carried_ns = of.carried_ns.min(now_ns);
            }
            match state {
                State::Running(began_ns) if began_ns > now_ns => {
                    if let Some(of) = self.task_mut(task) {
                        of.state = State::Running(now_ns);
                    }
                }
                State::Idle(due_ns) if due_ns > now_ns.saturating_add(every_ns) => {
                    self.take_out(task);
                    self.rest(task, is_new.then_some(now_ns));
                }
                // It would come behind all that fall due until the clock shows that time again.
                State::Waiting(_, key) if key.since > now_ns / part_ns(every_ns) => {
                    self.take_out(task);
                    self.rest(task, Some(now_ns));
                }
                State::Idle(_) | State::Waiting(..) | State::Running(_) | State::Gone => {}
            }
        }
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
}
