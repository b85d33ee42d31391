//! Attacks by way of the log: nobody reads it, or there is too much of it.

use crate::attacked::{Serving, check};
use crate::field::{Field, Origin, PORT};
use crate::talk::{Talk, hello};
use crate::tier::is_night;
use crate::verdict::Findings;
use serde_json::json;
use std::time::{Duration, Instant};
use v6gap_core::family::Family;

/// Enough sessions to fill whatever holds some hundred lines, if there is time for them.
const SESSIONS: usize = 2_000;

/// Lines in the log that one source may make in a second. Programs that were not built for speed
/// take some 50 sessions in that time, each of three lines.
const LINES_PER_SECOND: f64 = 50.0;

/// A server whose output nobody reads serves on and ends when told.
pub fn stalled(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let (mut serving, unread) = Serving::unread(field.node("server"), &[]);
    let before = check(field, "client", &[]);
    assert!(before.good, "{}", before.said);
    unread.fill();
    knock(field, SESSIONS, Duration::from_secs(if is_night() { 20 } else { 4 }));
    let during = check(field, "client", &[]);
    let harmed = !during.good || during.took > before.took + Duration::from_secs(1);
    let figure = format!("{:.2?} alone, {:.2?} then: {}", before.took, during.took, during.good);
    findings.case("a client while nobody reads the log", harmed, figure);
    let start = Instant::now();
    let ended = serving.ends(Duration::from_secs(4));
    let figure = format!("ended: {ended}, after {:.2?}", start.elapsed());
    findings.case("SIGTERM while nobody reads the log", !ended, figure);
    findings
}

/// One source makes a bounded number of lines.
pub fn flooded(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let serving = Serving::start(field.node("server"), &[]);
    let start = Instant::now();
    let sessions = knock(field, usize::MAX, Duration::from_secs(3));
    let per_second = serving.log().len() as f64 / start.elapsed().as_secs_f64();
    let figure = format!("{per_second:.0} lines a second, of {sessions} sessions");
    findings.case("lines by one source", per_second > LINES_PER_SECOND, figure);
    findings
}

/// Opens sessions one after the other and leaves each, and returns how many were tried.
fn knock(field: &Field, most: usize, longest: Duration) -> usize {
    let server = field.at("server", Family::V4, PORT);
    let work = || {
        let start = Instant::now();
        let mut tried = 0;
        while tried < most && start.elapsed() < longest {
            tried += 1;
            let stream = crate::talk::connect_here(Origin::Range24.source(1), server);
            let session = stream.and_then(|stream| {
                stream.set_read_timeout(Some(Duration::from_millis(500)))?;
                let mut talk = Talk::over(stream, "")?;
                talk.say(&hello("log", false))?;
                talk.say(&json!({ "message": "bye" }))
            });
            if session.is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock) {
                // It has stopped already.
                break;
            }
        }
        tried
    };
    field.node("attacker").run(work).unwrap()
}
