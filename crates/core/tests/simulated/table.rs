//! The timetable of a simulation: what is longest overdue.

use std::rc::Rc;
use v6gap_core::fleet::ATTEMPTS;
use v6gap_core::fleet::id::JobId;
use v6gap_core::fleet::work::{Now, Outcome, Timetable, Work};

pub struct Table {
    works: Vec<Work>,
    /// When each is due, by true time; none while it is under way.
    due_ns: Vec<Option<u64>>,
    /// True time, which is set before each step.
    pub now_ns: u64,
}

impl Table {
    pub fn new(works: &Rc<Vec<Work>>) -> Table {
        Table { works: works.to_vec(), due_ns: vec![Some(0); works.len()], now_ns: 0 }
    }
}

impl Timetable for Table {
    fn next(&mut self, _: Now, is_free: &dyn Fn(&Work) -> bool) -> Option<Work> {
        let due = self.due_ns.iter().enumerate();
        let due =
            due.filter_map(|(at, ns)| Some(((*ns)?, at))).filter(|(ns, _)| *ns <= self.now_ns);
        let free = due.filter(|(_, at)| is_free(&self.works[*at]));
        let (_, at) = free.min()?;
        self.due_ns[at] = None;
        assert!(self.works[at].failed < ATTEMPTS, "{:?}", self.works[at]);
        Some(self.works[at].clone())
    }

    fn came(&mut self, work: &Work, _: &JobId, outcome: &Outcome, _: Now) {
        let at = self.works.iter().position(|other| other.key() == work.key());
        let at = at.expect("work that was never given came back");
        assert!(self.due_ns[at].is_none(), "work came back twice: {work:?}");
        let (failed, continued, after_ns) = match outcome {
            Outcome::Measured { .. } | Outcome::GivenUp { .. } => (0, None, work.every_ns),
            Outcome::Failed { again_ns, run, .. } => (work.failed + 1, run.clone(), *again_ns),
            Outcome::Lost { .. } => (work.failed, work.continued.clone(), 0),
        };
        self.works[at] = Work { failed, continued, ..work.clone() };
        self.due_ns[at] = Some(self.now_ns + after_ns);
    }
}
