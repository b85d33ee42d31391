//! One measurement, from what was asked for to the answer.

use super::conclude;
use super::progress::Progress;
use super::turn::{in_turn, stopped};
use crate::args::ResultArgs;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::Context;
use crate::target::RunOptions;
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use v6gap_core::host::names::VIEW;
use v6gap_core::plan::Plan;
use v6gap_core::record::{Ending, Line, RunId};
use v6gap_perform::turn::Turn;
use v6gap_perform::{Captured, Job, Place, perform};
use v6gap_sys::stop::{Stopper, signalled};

/// Measures in the `turn` of this host and says what came out.
///
/// # Errors
/// If the server cannot be reached or is lost. What was measured until then is stored and shown.
pub fn measure(
    mut job: Job,
    place: Place,
    turn: Turn,
    options: &RunOptions,
    context: &Context,
) -> Result<Outcome, Failure> {
    let result = &options.result;
    let stop = stoppable(result)?;
    let mut progress = Progress::new(result, &stop, context);
    job.argv = context.typed.clone();
    job.facts.insert(VIEW.to_owned(), progress.name().to_owned());
    let Some(done) = perform(&job, place, turn, &context.store, &mut progress, &stop)? else {
        return Ok(stopped());
    };
    if let Some(captured) = done.captured.filter(|_| !result.quiet) {
        say_captured(&captured);
    }
    let concluded = conclude::conclude(&done.id, done.port, result, context);
    match done.ended? {
        Ending::Stopped => concluded.map(|_| Outcome::Interrupted),
        _ => concluded,
    }
}

/// Measures `plan` in the lab that it asks for. The process must have one thread still.
///
/// # Errors
/// If the lab cannot be built (E301), or as any measurement.
pub fn in_lab(
    plan: Plan,
    options: &RunOptions,
    continued: Option<RunId>,
    context: &Context,
) -> Result<Outcome, Failure> {
    let turn = Turn::of_lab(&context.locks(), options.waits())?;
    in_turn(turn, &options.result, |turn| {
        let lab = Place::made(&plan, options.kernel.as_deref())?;
        let job = options.job(plan, &context.keys)?;
        let job = Job { continued, ..job };
        measure(job, Place::Lab(Box::new(lab)), turn, options, context)
    })
}

/// Measures `plan` in the lab called `name` that another process holds, between the nodes that the
/// plan's world names. The process must have one thread still.
///
/// # Errors
/// If it cannot be joined, or as any measurement.
pub fn in_held_lab(
    name: &str,
    plan: Plan,
    options: &RunOptions,
    context: &Context,
) -> Result<Outcome, Failure> {
    // Whoever holds it may have other processors than this process.
    in_turn(options.turn(context)?, &options.result, |turn| {
        let lab = Place::held(&plan, name)?;
        let job = options.job(plan, &context.keys)?;
        measure(job, Place::Lab(Box::new(lab)), turn, options, context)
    })
}

/// Measures `plan` over the loopback interface; `why` says why not in a lab.
///
/// # Errors
/// As any measurement.
pub fn on_loopback(
    plan: Plan,
    why: String,
    options: &RunOptions,
    context: &Context,
) -> Result<Outcome, Failure> {
    let (job, turn) = (options.job(plan, &context.keys)?, options.turn(context)?);
    measure(job, Place::Loopback { why }, turn, options, context)
}

/// Plays a stored run `speed` times as fast, and says what came out; with `keep` it is stored again
/// as it goes.
///
/// # Errors
/// If it does not begin with the facts of a run, or cannot be stored.
pub fn replay(
    lines: &[Line],
    speed: f64,
    keep: bool,
    result: &ResultArgs,
    context: &Context,
) -> Result<Outcome, Failure> {
    let Some((Line::Run(header), rest)) = lines.split_first() else {
        return Err(Failure::unexpected("it does not begin with the facts of a run"));
    };
    let stop = stoppable(result)?;
    let mut progress = Progress::new(result, &stop, context);
    let store = keep.then_some(&context.store);
    let played = v6gap_perform::replay(header, rest, speed, store, &mut progress, &stop)?;
    // Without a place of its own its report would lie beside another result.
    let no_report = result.no_report || (!keep && result.output.is_none());
    let result = ResultArgs { no_report, ..result.clone() };
    let lagging = store.and_then(|store| store.lagging(&header.id));
    let outcome = conclude::say(&played.lines, lagging, None, &result, context)?;
    Ok(if played.stopped { Outcome::Interrupted } else { outcome })
}

fn say_captured(captured: &Captured) {
    captured.troubles.iter().for_each(|trouble| output::to_stderr(trouble));
    let files = captured.files.iter().map(|path| path.display().to_string());
    let files: Vec<String> = files.collect();
    let frames = captured.frames;
    output::to_stderr(&format!("{frames} captured packets are in {}", files.join(" and ")));
}

/// What stops a run: a signal, and the end of the input if the options say so.
fn stoppable(result: &ResultArgs) -> Result<Arc<AtomicBool>, Failure> {
    let stop = interruptible()?;
    if result.stop_at_eof {
        stop_at_end_of_input(&stop);
    }
    Ok(stop)
}

/// Ctrl-C stops after the present block; a second one ends the program at once.
///
/// # Errors
/// If the system does not let the program watch for it.
pub fn interruptible() -> Result<Arc<AtomicBool>, Failure> {
    signalled(Some(Outcome::Interrupted as i32)).map_err(|e| unwatched(&e))
}

/// The same for what is idle most of the time: whoever waits is told of it.
///
/// # Errors
/// As [`interruptible`].
pub fn stopper() -> Result<Stopper, Failure> {
    Stopper::by_signals(Some(Outcome::Interrupted as i32)).map_err(|e| unwatched(&e))
}

/// Nobody can be told of Ctrl-C.
pub fn unwatched(error: &std::io::Error) -> Failure {
    Failure::unexpected(format!("cannot watch for Ctrl-C: {error}"))
}

/// The program that started this one lets go of it by closing its input, also by ending.
pub fn stop_at_end_of_input(stop: &Arc<AtomicBool>) {
    let stop = Arc::clone(stop);
    let read = move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        stop.store(true, Ordering::Relaxed);
    };
    // Without it a signal still stops the measurement.
    let _ = std::thread::Builder::new().spawn(read);
}

/// Asks `again` at each line that is typed, until it says no or there are no more.
pub fn at_each_line(again: impl Fn() -> bool + Send + 'static) {
    let read = move || {
        for line in std::io::stdin().lock().lines() {
            if line.is_err() || !again() {
                break;
            }
        }
    };
    // Without it lines do nothing.
    let _ = std::thread::Builder::new().spawn(read);
}
