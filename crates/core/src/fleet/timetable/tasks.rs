//! Visits that come and go, as the mesh changes and the days of its samples.

use super::{Class, Order, State, Task, Visit};

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
