//! The machine between two hosts in memory, whose connection fails at any step: what runs there
//! always ends, and no result is lost.

use super::*;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

const MOST: usize = 40;

fn host(name: &str) -> Option<Host> {
    Some(Host::parse(name).unwrap())
}

fn run() -> RunId {
    "7k2f9q".parse().unwrap()
}

/// Two hosts, and what happens to them.
#[derive(Debug, Default)]
struct World {
    has_program: bool,
    /// The number of the step at which the connection fails, and whether it does ever after.
    fails: Option<(usize, bool)>,
    /// The step before which somebody stops it.
    stops: Option<usize>,
    /// The step before which its time is over.
    late: Option<usize>,
    /// Whether the server says no.
    refuses: bool,
    serves: bool,
    measures: bool,
    /// Blocks on the disk of the host that measures, and here.
    stored: u32,
    fetched: u32,
    /// How often something was said while it measured.
    heard: u32,
    steps: usize,
}

impl World {
    fn is_broken(&self) -> bool {
        self.fails.is_some_and(|(at, ever)| self.steps == at || (ever && self.steps > at))
    }

    /// Does one thing.
    fn does(&mut self, what: &Do, machine: &mut Machine) {
        let lost = || Trouble::Lost { host: host("a").unwrap(), said: String::new() };
        let broken = self.is_broken();
        self.steps += 1;
        if broken {
            // The inputs of what runs are closed with the connection: it stops by itself.
            let there = Side::BOTH.map(|side| (side, machine.is_there(side)));
            (self.serves, self.measures) = (false, false);
            for (side, _) in there.into_iter().filter(|(_, there)| *there) {
                machine.came(Came::Lost(side, lost()));
            }
            if there.iter().all(|(_, there)| !there) {
                machine.came(Came::Failed(lost()));
            }
            return;
        }
        match what {
            Do::Look(side) => {
                machine.came(Came::Seen(*side, self.has_program));
            }
            Do::Copy(side) => machine.came(Came::Copied(*side)),
            Do::Try(side) => machine.came(Came::Runs(*side)),
            Do::Serve => {
                self.serves = true;
                machine.came(Came::Begun(Side::To));
            }
            Do::Measure => {
                self.measures = true;
                machine.came(Came::Begun(Side::From));
            }
            Do::Hear => self.hear(machine),
            Do::Stop(side) => {
                match side {
                    Side::From => self.measures = false,
                    Side::To => self.serves = false,
                }
                machine.asked_to_stop(*side);
            }
            Do::Fetch(id) => {
                assert_eq!(*id, run());
                self.fetched = self.stored;
                machine.came(Came::Fetched);
            }
            Do::Tidy => {
                assert_eq!(self.fetched, self.stored, "removed before it was fetched");
                self.stored = 0;
                machine.came(Came::Tidied);
            }
            Do::Leave => machine.came(Came::Closed),
            Do::End => {}
        }
    }

    fn hear(&mut self, machine: &mut Machine) {
        if machine.is_there(Side::From) {
            if !self.measures {
                return machine.came(Came::Over(Side::From, None));
            }
            self.heard += 1;
            match self.heard {
                1 => machine.came(Came::Named(run())),
                5 => {
                    self.measures = false;
                    machine.came(Came::Over(Side::From, None));
                }
                _ => self.stored += 1,
            }
        } else if !self.serves {
            machine.came(Came::Over(Side::To, None));
        } else if self.refuses {
            self.serves = false;
            let said = Complaint { code: "E209".to_owned(), ..Complaint::default() };
            machine.came(Came::Over(Side::To, Some(Box::new(said))));
        } else {
            machine.came(Came::Serves);
        }
    }
}

fn both() -> PerSide<Option<Host>> {
    PerSide { from: host("a"), to: host("b") }
}

/// Plays it to its end; what was done, and how it ended.
fn played(hosts: PerSide<Option<Host>>, world: &mut World) -> (Vec<Do>, Ended) {
    let mut machine = Machine::new(hosts);
    let mut done = Vec::new();
    while machine.next() != Do::End {
        assert!(done.len() < MOST, "{done:?}");
        if world.stops == Some(world.steps) {
            machine.came(Came::Stop);
        }
        if world.late == Some(world.steps) {
            machine.came(Came::Late);
        }
        let what = machine.next();
        if what == Do::End {
            break;
        }
        world.does(&what, &mut machine);
        done.push(what);
    }
    (done, machine.ended())
}

#[test]
fn a_run_is_prepared_measured_fetched_and_nothing_is_left() {
    let mut world = World::default();
    let (done, ended) = played(both(), &mut world);
    let begin = [
        Do::Look(Side::From),
        Do::Copy(Side::From),
        Do::Try(Side::From),
        Do::Look(Side::To),
        Do::Copy(Side::To),
        Do::Try(Side::To),
        Do::Serve,
        Do::Hear,
        Do::Measure,
    ];
    assert_eq!(done[..begin.len()], begin);
    let end = [Do::Stop(Side::To), Do::Hear, Do::Fetch(run()), Do::Tidy, Do::Leave];
    assert_eq!(done[done.len() - end.len()..], end);
    let expected = Ended { run: Some(run()), left: None, trouble: None, stopped: false };
    assert_eq!(ended, expected);
    assert_eq!((world.fetched, world.stored), (3, 0));
}

#[test]
fn what_is_there_is_not_copied_again() {
    let (done, _) = played(both(), &mut World { has_program: true, ..World::default() });
    assert!(!done.iter().any(|what| matches!(what, Do::Copy(_))), "{done:?}");
}

#[test]
fn this_host_needs_no_program_and_what_it_measures_is_here() {
    let hosts = PerSide { from: None, to: host("b") };
    let (done, ended) = played(hosts, &mut World::default());
    let is_of_far = |what: &Do| matches!(what, Do::Look(Side::From) | Do::Fetch(_) | Do::Tidy);
    assert!(!done.iter().any(is_of_far), "{done:?}");
    assert_eq!((ended.run, ended.left), (Some(run()), None));
    let hosts = PerSide { from: host("a"), to: None };
    let (done, ended) = played(hosts, &mut World::default());
    assert!(done.contains(&Do::Fetch(run())) && !done.contains(&Do::Look(Side::To)), "{done:?}");
    assert_eq!(ended.run, Some(run()));
}

#[test]
fn a_server_that_cannot_is_the_trouble() {
    let mut world = World { refuses: true, ..World::default() };
    let (done, ended) = played(both(), &mut world);
    assert!(!done.contains(&Do::Measure), "{done:?}");
    let Some(Trouble::Complaint { side: Side::To, said, .. }) = ended.trouble else {
        panic!("{:?}", ended.trouble)
    };
    assert_eq!(said.code, "E209");
}

/// At whatever step the connection fails, once or for good: it ends, nothing runs there any more,
/// and what was stored is here, or is there and named.
#[test]
fn no_failure_loses_a_result_or_leaves_a_process() {
    for ever in [false, true] {
        for at in 0..MOST {
            let mut world = World { fails: Some((at, ever)), ..World::default() };
            let (done, ended) = played(both(), &mut world);
            let context = (at, ever, &done, &ended);
            assert!(!world.serves && !world.measures, "{context:?}");
            let fetches = done.iter().filter(|what| matches!(what, Do::Fetch(_))).count();
            assert!(fetches <= 1, "{context:?}");
            match (&ended.run, &ended.left) {
                (Some(_), None) => assert!(world.fetched >= world.stored, "{context:?}"),
                (None, Some(left)) => assert_eq!(left.run, run(), "{context:?}"),
                (None, None) => assert_eq!(world.stored, 0, "{context:?}"),
                (Some(_), Some(_)) => panic!("{context:?}"),
            }
            assert!(ended.run.is_some() || ended.trouble.is_some(), "{context:?}");
        }
    }
}

/// Whenever somebody stops it, what was measured until then is fetched.
#[test]
fn stopping_keeps_what_was_measured() {
    for at in 0..MOST {
        let mut world = World { stops: Some(at), ..World::default() };
        let (done, ended) = played(both(), &mut world);
        assert!(!world.serves && !world.measures, "{at} {done:?}");
        assert_eq!(world.stored, 0, "{at} {done:?}");
        match &ended.run {
            Some(_) => assert_eq!((&ended.trouble, &ended.left), (&None, &None), "{at} {done:?}"),
            None => assert_eq!(ended.trouble, Some(Trouble::Stopped), "{at} {done:?}"),
        }
    }
}

/// Nobody stopped it: it is an error, also where there is a result, and no other end is.
#[test]
fn what_takes_too_long_is_stopped_fetched_and_said_to_be_late() {
    let mut world = World { late: Some(12), ..World::default() };
    let (done, ended) = played(both(), &mut world);
    assert!(done.contains(&Do::Stop(Side::From)) && done.contains(&Do::Fetch(run())), "{done:?}");
    assert!(!world.serves && !world.measures && world.stored == 0, "{done:?}");
    let trouble = Some(Trouble::Late { host: host("a") });
    assert_eq!(ended, Ended { run: Some(run()), left: None, trouble, stopped: false });
    let mut world = World { stops: Some(11), late: Some(12), ..World::default() };
    let (_, ended) = played(both(), &mut world);
    assert_eq!((ended.trouble, ended.stopped), (None, true));
}

/// A host without power says nothing and closes nothing, and nothing asks whether it is there.
#[test]
fn a_server_is_waited_for_no_longer_than_it_may_be_silent() {
    let (mut world, mut machine) = (World::default(), Machine::new(both()));
    while machine.next() != Do::Hear {
        assert!(!machine.is_mute(0, 60), "nothing was begun");
        let what = machine.next();
        world.does(&what, &mut machine);
    }
    assert_eq!([7, 67, 68].map(|now_ns| machine.is_mute(now_ns, 60)), [false, false, true]);
    let lost = Trouble::Lost { host: host("b").unwrap(), said: String::new() };
    machine.came(Came::Lost(Side::To, lost.clone()));
    assert!(!machine.is_mute(1000, 60) && !machine.is_there(Side::To));
    assert_eq!(machine.next(), Do::Leave);
    machine.came(Came::Closed);
    assert_eq!(machine.next(), Do::End);
    let expected = Ended { run: None, left: None, trouble: Some(lost), stopped: false };
    assert_eq!(machine.ended(), expected);
}

/// Who measures may wait for its turn for hours before its run has a name.
#[test]
fn a_server_that_said_so_may_be_silent_ever_after() {
    let (mut world, mut machine) = (World::default(), Machine::new(both()));
    while !machine.is_there(Side::From) {
        let what = machine.next();
        assert!(!machine.is_mute(0, 60), "{what:?}");
        world.does(&what, &mut machine);
    }
    assert!(!machine.is_mute(u64::MAX, 60));
    assert_eq!(machine.next(), Do::Hear);
}
