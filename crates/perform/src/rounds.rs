//! The rounds of a run. In a lab that was made for it, each has a lab of its own: labs of the same
//! world differ by where the kernel put them, and a run within one lab would know nothing of that.

use crate::ends::Ends;
use crate::hooks::Stored;
use crate::job::Job;
use crate::session::Session;
use crate::trouble::Trouble;
use crate::world::RealWorld;
use std::sync::atomic::{AtomicBool, Ordering};
use v6gap_core::plan::Plan;
use v6gap_core::record::{Ending, Line};
use v6gap_core::run::Machine;
use v6gap_engine::run::{self, Course, Hooks, RunError};
use v6gap_engine::trial;

/// Measures to the end of the run, first over `session`.
///
/// # Errors
/// Why it broke off; nothing is said of what is kept.
pub(crate) fn rounds(
    job: &Job,
    mut machine: Machine<'_, RunError>,
    mut session: Session,
    hooks: &mut Stored<'_>,
    stop: &AtomicBool,
) -> Result<Ending, Trouble> {
    if hooks.ends.lab.as_ref().is_some_and(RealWorld::is_own) {
        machine.enter_lab();
    }
    if !hooks.ends.are_drawn(job) {
        let Session { connection, client, .. } = &mut session;
        let ended = run::run(machine, connection, client, hooks, stop);
        return closed(session, ended);
    }
    trial::watch_once();
    loop {
        let Session { connection, client, .. } = &mut session;
        match run::run_round(&mut machine, connection, client, hooks, stop) {
            // Somebody wants the end, which the machine knows how to make.
            Ok(Course::RoundOver) if stop.load(Ordering::Relaxed) => {}
            Ok(Course::RoundOver) => {
                let number = machine.enter_lab();
                let opened = in_another_lab(job, machine.plan(), number, session, hooks, stop);
                session = opened.map_err(|error| no_further_lab(error, hooks))?;
            }
            Ok(Course::Over(ending)) => return closed(session, Ok(ending)),
            Err(error) => return closed(session, Err(error)),
        }
    }
}

fn closed(session: Session, ended: Result<Ending, RunError>) -> Result<Ending, Trouble> {
    let ending = ended.map_err(|error| session.over(error))?;
    session.connection.close();
    Ok(ending)
}

/// A session in the lab of that number, in place of the one that is.
fn in_another_lab(
    job: &Job,
    plan: &Plan,
    number: u32,
    session: Session,
    hooks: &mut Stored<'_>,
    stop: &AtomicBool,
) -> Result<Session, Trouble> {
    let before = session.connection.session();
    // The server wakes up when the session ends.
    hooks.ends.leave();
    session.connection.close();
    hooks.ends.again(job, number)?;
    let Ends { target, processors, .. } = &hooks.ends;
    let processors = processors.clone();
    let mut session = Session::open(plan, target, &job.access, processors, hooks.watch, stop)?;
    session.client.far = hooks.ends.far()?;
    let now = session.connection.session();
    if (now.protocol, now.limits) != (before.protocol, before.limits) {
        let what = "the server of another lab speaks another protocol or allows something else";
        return Err(Trouble::System(what.to_owned()));
    }
    Ok(session)
}

/// That the run ends because of `error`, which the journal is told.
fn no_further_lab(error: Trouble, hooks: &mut Stored<'_>) -> Trouble {
    let target = hooks.ends.target.name.clone();
    let error = Trouble::NoFurtherLab { target, error: Box::new(error), kept: None };
    // Without that line the run ends as if it had been killed, which is as good.
    let _ = hooks.store(&[Line::End(Ending::Failed { error: error.to_string() })]);
    error
}
