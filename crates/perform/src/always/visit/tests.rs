//! A visit whose program cannot be started.

use super::super::Tidings;
use super::super::followed::Followed;
use super::*;
use v6gap_core::watch::check::check;
use v6gap_core::watch::draft::{Draft, PathDraft, VERSION};
use v6gap_core::watch::known::Known;
use v6gap_core::watch::machine::{Action, Machine};
use v6gap_core::watch::{DAY_NS, Moment};
use v6gap_store::Store;
use v6gap_sys::stop::Stopper;

#[test]
fn a_visit_that_cannot_be_started_is_counted_and_the_watch_goes_on() {
    let folder = std::env::temp_dir().join(format!("v6gap-visit-{}", std::process::id()));
    let store = Store::at(&folder);
    let path = PathDraft {
        host: "localhost".to_owned(),
        every: Some("1 min".to_owned()),
        ..PathDraft::default()
    };
    let draft = Draft { v6gap: VERSION, paths: vec![path], ..Draft::default() };
    let start = Moment { unix_ns: 20_000 * DAY_NS, offset_s: 0 };
    let mut machine =
        Machine::new(check(&draft).unwrap(), &[], Known::default(), "this host", start);
    let Action::Wait(due_unix_ns) = machine.next(start, false) else { panic!("it waits") };
    let due = Moment { unix_ns: due_unix_ns, ..start };
    let Action::Start(visit) = machine.next(due, false) else { panic!("it is due") };
    let (stop, mut told) = (Stopper::default(), |_: &Tidings<'_>| {});
    let mut going = Going {
        machine,
        expected: Vec::new(),
        program: Path::new("/no/such/program"),
        log: store.open_watch_log().unwrap(),
        followed: Followed::default(),
        teller: None,
        told: &mut told,
        ears: Ears::new(&stop),
        stop: &stop,
    };
    let came = going.visit(&visit).unwrap();
    let How::Ended(Outcome::Failed { why }) = &came.how else { panic!("{came:?}") };
    assert!(why.starts_with("cannot start /no/such/program: "), "{why}");
    going.machine.ended(came, due);
    let next = going.machine.next(due, false);
    assert_eq!(next, Action::Wait(due_unix_ns + 60_000_000_000));
    let past = going.machine.known().past("localhost", visit.kind).unwrap();
    assert_eq!((past.failures, past.down()), (1, None));
    drop(going);
    std::fs::remove_dir_all(folder).unwrap();
}
