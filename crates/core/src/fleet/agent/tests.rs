//! The agent alone: what it answers to each event.

use super::limits::{Asked, LimitsDraft, check};
use super::*;
use crate::fleet::id::{JobId, Nonce, Word};
use crate::fleet::message::{
    Ack, Command, Measured, Order, Peer, Prepare, Refusal, Role, RunHeld, Start,
};
use crate::fleet::{CLOCK_NS_MAX, DISK_BYTES_MIN, READY_NS, SECOND_NS};
use crate::record::RunId;
use crate::watch::Moment;
use alloc::vec;

fn now(s: u64) -> Now {
    let wall = Moment { unix_ns: 1_795_392_000 * SECOND_NS, offset_s: 0 };
    Now { ns: s * SECOND_NS, wall }
}

fn agent(known: Known) -> Agent {
    let (me, features) = ("rome/a".parse().unwrap(), vec!["echo".to_string()]);
    let mut agent = Agent::new(Setup { me, features, known, kept: vec![], seed: [1; 32] });
    agent.step(Event::Disk(DISK_BYTES_MIN), now(0));
    let draft =
        LimitsDraft { v6gap: 1, bytes_a_day: Some("20 B".into()), ..LimitsDraft::default() };
    agent.step(Event::Limits(Ok(Box::new(check(&draft).unwrap()))), now(0));
    agent
}

fn order(order: Order) -> Event {
    let asked = matches!(order, Order::Prepare(_)).then(|| Asked {
        kinds: vec![],
        rate_bps: None,
        bytes: Some(6),
        time_ns: 29 * SECOND_NS,
    });
    let to = "rome/a".parse().unwrap();
    let (command, asked) = (Box::new(Command { version: 1, to, number: 1, order }), asked.map(Ok));
    Event::Command { command, asked }
}

fn prepare(token: u64, role: Role) -> Event {
    order(Order::Prepare(Box::new(Prepare {
        job: JobId::from_bits(token),
        token: Token(token),
        attempt: 0,
        role,
        peer: Peer { name: "oslo/a".parse().unwrap(), addresses: vec![] },
        port: None,
        word: Word::new("word".into()),
        longest_ns: 30 * SECOND_NS,
        plan: String::new(),
        needs: vec!["echo".to_string()],
        continued: None,
    })))
}

fn start(token: u64, nonce: Nonce) -> Event {
    start_by(token, nonce, None)
}

/// A start by somebody whose clock of the wall is so far ahead of [`now`].
fn start_by(token: u64, nonce: Nonce, ahead_ns: Option<i64>) -> Event {
    let unix_ns = ahead_ns.map(|ahead_ns| now(0).wall.unix_ns.saturating_add_signed(ahead_ns));
    order(Order::Start(Start { token: Token(token), nonce, unix_ns }))
}

fn answers(actions: &[Action]) -> Vec<&Answer> {
    let replies = actions.iter().filter_map(|action| match action {
        Action::Reply(reply) => Some(&reply.answer),
        _ => None,
    });
    replies.collect()
}

fn nonce(actions: &[Action]) -> Nonce {
    match answers(actions)[..] {
        [Answer::Ready { nonce }] => *nonce,
        _ => panic!("{actions:?}"),
    }
}

fn measures(actions: &[Action]) -> bool {
    actions.iter().any(|action| matches!(action, Action::Measure { .. }))
}

fn refused(actions: &[Action]) -> &Refusal {
    match answers(actions)[..] {
        [Answer::Refused { why }] => why,
        _ => panic!("{actions:?}"),
    }
}

fn ended(bytes: u64) -> Event {
    let measured = Measured { run: Some(RunId::from_bits(1)), bytes };
    Event::Ended(Box::new(Ended { measured, bytes: 2, failure: None }))
}

#[test]
fn a_job_goes_from_ready_to_done_once() {
    let mut agent = agent(Known::default());
    let actions = agent.step(prepare(5, Role::Client), now(1));
    assert!(matches!(actions[0], Action::Remember(Known { highest: Token(5), .. })));
    let nonce = nonce(&actions);
    // The same order again is answered again.
    assert_eq!(answers(&agent.step(prepare(5, Role::Client), now(2))), [&Answer::Ready { nonce }]);
    assert!(measures(&agent.step(start(5, nonce), now(3))));
    assert_eq!(answers(&agent.step(start(5, nonce), now(4))), [&Answer::Started]);
    let done = agent.step(ended(100), now(9));
    assert!(matches!(answers(&done)[..], [Answer::Done(_)]), "{done:?}");
    assert!(matches!(answers(&agent.step(start(5, nonce), now(9)))[..], [Answer::Done(_)]));
    assert!(!measures(&agent.step(prepare(5, Role::Client), now(9))));
    assert_eq!(agent.state(), State::Idle);
}

#[test]
fn a_start_that_comes_late_or_for_another_readiness_begins_nothing() {
    let mut agent = agent(Known::default());
    let first = nonce(&agent.step(prepare(5, Role::Client), now(1)));
    assert!(!measures(&agent.step(start(5, Nonce(first.0 ^ 1)), now(2))));
    let late = agent.step(start(5, first), now(1 + READY_NS / SECOND_NS));
    assert!(!measures(&late), "{late:?}");
    assert!(matches!(answers(&late)[..], [Answer::Failed(_)]), "{late:?}");
}

/// By a minute and the time that a start may be on its way; nothing of it is begun or spent.
#[test]
fn nothing_is_measured_by_a_clock_that_is_off() {
    let mut agent = agent(Known::default());
    let most = (CLOCK_NS_MAX + READY_NS).cast_signed();
    for (token, ahead_ns) in (1..).zip([most + 1, -most - 1]) {
        let nonce = nonce(&agent.step(prepare(token, Role::Client), now(1)));
        let off = agent.step(start_by(token, nonce, Some(ahead_ns)), now(2));
        assert_eq!(refused(&off), &Refusal::Clock);
        assert!(!measures(&off) && agent.state() == State::Idle, "{off:?}");
        // Said again it is answered as before.
        let again = agent.step(start_by(token, nonce, Some(0)), now(3));
        assert_eq!(refused(&again), &Refusal::Clock);
    }
    for (token, ahead_ns) in (3..).zip([most, -most]) {
        let nonce = nonce(&agent.step(prepare(token, Role::Client), now(4)));
        assert!(measures(&agent.step(start_by(token, nonce, Some(ahead_ns)), now(5))));
        agent.step(ended(1), now(6));
    }
    // A server has no record of its own.
    agent.step(prepare(5, Role::Server), now(7));
    let nonce = nonce(&agent.step(Event::Listens, now(7)));
    let started = agent.step(start_by(5, nonce, Some(most + 1)), now(8));
    assert_eq!(answers(&started), [&Answer::Started]);
}

#[test]
fn an_order_of_the_past_is_refused_also_after_a_new_beginning() {
    let mut first = agent(Known::default());
    let actions = first.step(prepare(5, Role::Client), now(1));
    let [Action::Remember(known), ..] = actions[..] else { panic!("{actions:?}") };
    let mut second = agent(known);
    for token in [4, 5] {
        let actions = second.step(prepare(token, Role::Client), now(2));
        assert_eq!(refused(&actions), &Refusal::Old { highest: Token(5) });
    }
    // Refused once is refused for ever.
    second.step(Event::Taken(true), now(2));
    assert_eq!(refused(&second.step(prepare(6, Role::Client), now(2))), &Refusal::Busy);
    second.step(Event::Taken(false), now(3));
    let again = second.step(prepare(6, Role::Client), now(3));
    assert_eq!(refused(&again), &Refusal::Old { highest: Token(6) });
}

/// What a driver does whose disk takes nothing: what is to be done, but for what is to be
/// remembered.
fn with_a_full_disk(agent: &mut Agent, event: Event, s: u64) -> Vec<Action> {
    let mut actions = agent.step(event, now(s));
    let is_memory = |action: &Action| matches!(action, Action::Remember(_));
    let Some(at) = actions.iter().position(is_memory) else { return actions };
    let rest = actions.split_off(at + 1);
    actions.pop();
    actions.extend(agent.unremembered(rest, now(s)));
    actions
}

#[test]
fn an_order_that_cannot_be_remembered_is_refused_and_nothing_of_it_is_begun() {
    for role in [Role::Client, Role::Server] {
        let mut agent = agent(Known::default());
        for token in [5, 6, 7, 8] {
            // As it looks before the system says that the disk is full.
            agent.step(Event::Disk(DISK_BYTES_MIN), now(token));
            let full = with_a_full_disk(&mut agent, prepare(token, role), token);
            // Four times six bytes are more than a day's: none of it was spent.
            assert_eq!(refused(&full), &Refusal::Disk { free_bytes: 0 });
            assert!(!full.iter().any(|action| matches!(action, Action::Serve(_))), "{full:?}");
            assert_eq!(agent.state(), State::Closed);
            // Said again it is answered as before, and no start is obeyed.
            let again = agent.step(prepare(token, role), now(token));
            assert_eq!(refused(&again), &Refusal::Disk { free_bytes: 0 });
            assert!(!measures(&agent.step(start(token, Nonce(0)), now(token))));
        }
        // It goes on where there is space again, and remembers once what it refused meanwhile.
        let free = agent.step(Event::Disk(DISK_BYTES_MIN), now(9));
        assert!(matches!(free[0], Action::Remember(Known { highest: Token(8), .. })), "{free:?}");
        let free = agent.step(Event::Disk(DISK_BYTES_MIN), now(9));
        assert!(!free.iter().any(|action| matches!(action, Action::Remember(_))), "{free:?}");
        let old = agent.step(prepare(7, Role::Client), now(9));
        assert_eq!(refused(&old), &Refusal::Old { highest: Token(8) });
        let actions = agent.step(prepare(9, Role::Client), now(9));
        assert!(matches!(actions[0], Action::Remember(Known { highest: Token(9), .. })));
        nonce(&actions);
    }
}

/// What was promised before stays so.
#[test]
fn a_full_disk_ends_no_job_that_was_remembered() {
    let mut agent = agent(Known::default());
    let nonce = nonce(&agent.step(prepare(5, Role::Client), now(1)));
    let other = with_a_full_disk(&mut agent, prepare(6, Role::Client), 2);
    assert_eq!(refused(&other), &Refusal::Busy);
    assert!(measures(&agent.step(start(5, nonce), now(3))));
    let other = with_a_full_disk(&mut agent, prepare(7, Role::Client), 4);
    assert_eq!(refused(&other), &Refusal::Busy);
    assert!(!other.contains(&Action::Kill));
    let done = agent.step(ended(100), now(9));
    assert!(matches!(answers(&done)[..], [Answer::Done(_)]), "{done:?}");
}

#[test]
fn an_order_of_another_version_is_refused_with_those_that_are_spoken() {
    let mut agent = agent(Known::default());
    let (lowest, highest) = (SPOKEN.lowest(), SPOKEN.highest());
    for (token, version) in [(1, lowest - 1), (2, highest + 1)] {
        let Event::Command { mut command, asked } = prepare(token, Role::Client) else {
            unreachable!()
        };
        command.version = version;
        let actions = agent.step(Event::Command { command, asked }, now(1));
        assert_eq!(refused(&actions), &Refusal::Version { lowest, highest });
        let is_spoken = |action: &Action| match action {
            Action::Reply(reply) => (lowest..=highest).contains(&reply.version),
            _ => true,
        };
        assert!(actions.iter().all(is_spoken), "{actions:?}");
    }
    nonce(&agent.step(prepare(3, Role::Client), now(1)));
}

#[test]
fn what_the_host_does_not_allow_is_refused() {
    let mut agent = agent(Known::default());
    nonce(&agent.step(prepare(1, Role::Client), now(1)));
    assert_eq!(refused(&agent.step(prepare(2, Role::Client), now(1))), &Refusal::Busy);
    agent.step(Event::Time, now(12));
    agent.step(Event::Disk(DISK_BYTES_MIN - 1), now(12));
    let full = agent.step(prepare(3, Role::Client), now(12));
    assert!(matches!(refused(&full), Refusal::Disk { .. }), "{full:?}");
    agent.step(Event::Disk(DISK_BYTES_MIN), now(12));
    // Twenty bytes a day: after jobs that took two and thirteen there is no room for six.
    let first = nonce(&agent.step(prepare(5, Role::Client), now(12)));
    agent.step(start(5, first), now(13));
    agent.step(ended(1), now(14));
    let second = nonce(&agent.step(prepare(6, Role::Client), now(15)));
    agent.step(start(6, second), now(16));
    let Event::Ended(mut much) = ended(1) else { unreachable!() };
    much.bytes = 13;
    agent.step(Event::Ended(much), now(17));
    let more = agent.step(prepare(7, Role::Client), now(18));
    assert!(matches!(refused(&more), Refusal::Limits { .. }), "{more:?}");
    agent.step(Event::Limits(Err("broken".into())), now(19));
    let broken = agent.step(prepare(8, Role::Client), now(19));
    assert!(matches!(refused(&broken), Refusal::NoLimits { .. }), "{broken:?}");
}

#[test]
fn what_lasts_too_long_is_killed_until_it_ends() {
    let mut agent = agent(Known::default());
    assert!(matches!(agent.step(prepare(5, Role::Server), now(1))[1], Action::Serve(_)));
    let nonce = nonce(&agent.step(Event::Listens, now(2)));
    assert!(!measures(&agent.step(start(5, nonce), now(3))));
    let kills = |agent: &mut Agent, s| agent.step(Event::Time, now(s)).contains(&Action::Kill);
    assert!(!kills(&mut agent, 32));
    assert!(kills(&mut agent, 33) && !kills(&mut agent, 34) && kills(&mut agent, 38));
    let none = Ended { measured: Measured::default(), bytes: 0, failure: None };
    let over = agent.step(Event::Ended(Box::new(none)), now(39));
    assert!(matches!(answers(&over)[..], [Answer::Failed(_)]), "{over:?}");
}

#[test]
fn what_is_measured_when_the_hub_is_gone_ends_if_the_owner_wants_it() {
    let mut agent = agent(Known::default());
    assert!(agent.step(Event::Abandoned, now(1)).is_empty());
    let nonce = nonce(&agent.step(prepare(5, Role::Client), now(1)));
    agent.step(start(5, nonce), now(2));
    assert!(agent.step(Event::Abandoned, now(3)).contains(&Action::Kill));
    let over = agent.step(ended(7), now(4));
    assert!(matches!(answers(&over)[..], [Answer::Failed(_)]), "{over:?}");
    // What was measured until then is kept.
    assert_eq!(agent.unarchived(), 1);
    // Who is back says so at once, though nothing is another than was said.
    let beats = |actions: &[Action]| actions.iter().any(|action| matches!(action, Action::Beat(_)));
    assert!(!beats(&agent.step(Event::Time, now(5))));
    assert!(beats(&agent.step(Event::Back, now(5))));
}

#[test]
fn a_run_is_sent_until_the_archive_has_it() {
    let mut agent = agent(Known::default());
    let nonce = nonce(&agent.step(prepare(5, Role::Client), now(1)));
    agent.step(start(5, nonce), now(2));
    let run = RunId::from_bits(1);
    let sends = |actions: &[Action]| {
        actions.iter().find_map(|action| match action {
            Action::Publish { at, bytes, .. } => Some((*at, *bytes)),
            _ => None,
        })
    };
    let part = crate::fleet::PART_BYTES as u64;
    assert_eq!(sends(&agent.step(ended(part + 7), now(10))), Some((0, part)));
    let published = |end| Event::Published { run: run.clone(), end, taken: true };
    assert_eq!(sends(&agent.step(published(part), now(11))), Some((part, 7)));
    assert_eq!(sends(&agent.step(published(part + 7), now(12))), None);
    // All of it was sent, and lost.
    assert_eq!(sends(&agent.step(Event::Time, now(41))), None);
    assert_eq!(sends(&agent.step(Event::Time, now(42))), Some((0, part)));
    let ack = |bytes| {
        let runs = vec![RunHeld { run: run.clone(), bytes }];
        Event::Ack(Ack { version: 1, to: "rome/a".parse().unwrap(), runs })
    };
    let held = |bytes| Action::Held { run: run.clone(), bytes };
    assert!(agent.step(ack(part), now(163)).contains(&held(part)));
    assert!(agent.step(ack(part + 7), now(164)).contains(&held(part + 7)));
    assert_eq!(sends(&agent.step(Event::Time, now(10_000))), None);
}

const DAY_NS: u64 = 86_400 * SECOND_NS;

fn on_day(days: u64) -> Now {
    let (ns, unix_ns) = (days * DAY_NS, now(0).wall.unix_ns + days * DAY_NS);
    Now { ns, wall: Moment { unix_ns, offset_s: 0 } }
}

/// What is to be removed on a day.
fn removed(agent: &mut Agent, days: u64) -> Vec<RunId> {
    let actions = agent.step(Event::Time, on_day(days));
    let run = |action: &Action| match action {
        Action::Remove(run) => Some(run.clone()),
        _ => None,
    };
    actions.iter().filter_map(run).collect()
}

#[test]
fn a_run_is_removed_when_the_archive_has_all_of_it_for_as_long_as_the_owner_says() {
    let [whole, half, later] = [1, 2, 3].map(RunId::from_bits);
    let kept = |run: &RunId, held, days: u64| Kept {
        run: run.clone(),
        bytes: 100,
        held,
        since_unix_ns: on_day(days).wall.unix_ns,
    };
    let kept = vec![kept(&whole, 100, 0), kept(&half, 99, 0), kept(&later, 100, 5)];
    let (me, features) = ("rome/a".parse().unwrap(), vec![]);
    let known = Known::default();
    let mut agent = Agent::new(Setup { me, features, known, kept, seed: [1; 32] });
    let limits = |keep: Option<&str>| {
        let keep = keep.map(String::from);
        let draft = LimitsDraft { v6gap: 1, keep, ..LimitsDraft::default() };
        Event::Limits(Ok(Box::new(check(&draft).unwrap())))
    };
    // For ever, if nothing else is said, or as long as nobody knows.
    assert!(removed(&mut agent, 50).is_empty());
    agent.step(limits(None), on_day(60));
    assert!(removed(&mut agent, 61).is_empty());
    agent.step(Event::Taken(true), on_day(70));
    agent.step(limits(Some("30 d")), on_day(70));
    // Not while something is measured here.
    assert!(removed(&mut agent, 71).is_empty());
    agent.step(Event::Taken(false), on_day(71));
    assert_eq!(removed(&mut agent, 72), [whole.clone(), later.clone()]);
    // One that could not be is asked for again.
    agent.step(Event::Removed(later), on_day(72));
    assert_eq!(removed(&mut agent, 73), core::slice::from_ref(&whole));
    agent.step(Event::Removed(whole), on_day(73));
    assert!(removed(&mut agent, 74).is_empty());
    // The archive says that it has the rest.
    let runs = vec![RunHeld { run: half.clone(), bytes: 100 }];
    let ack = Ack { version: 1, to: "rome/a".parse().unwrap(), runs };
    agent.step(Event::Ack(ack), on_day(75));
    assert!(removed(&mut agent, 105).is_empty());
    assert_eq!(removed(&mut agent, 106), [half]);
}
