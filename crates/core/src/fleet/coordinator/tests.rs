//! The coordinator alone: what it does at each event.

use super::*;
use crate::fleet::grant::{Entry, Leader, NotCommitted, Put, Stage, Value};
use crate::fleet::id::{Nonce, Word};
use crate::fleet::message::{Answer, Failure, Heartbeat, Measured, Refusal, Reply, State};
use crate::fleet::work::{Class, SentPlan};
use crate::fleet::{CLOCK_NS_MAX, COMMIT_NS, LEADER_NS, PREPARE_NS, SECOND_NS, hold_ns};
use crate::watch::Moment;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::{format, vec};

const LONGEST: u64 = 20 * SECOND_NS;

fn now(s: u64) -> Now {
    at(s * SECOND_NS)
}

fn at(ns: u64) -> Now {
    Now { ns, wall: Moment { unix_ns: ns, offset_s: 0 } }
}

/// Work that is given once, when its hosts are free, and again for each further attempt.
struct Table(Vec<Work>, Vec<Outcome>);

impl Timetable for Table {
    fn next(&mut self, _: Now, is_free: &dyn Fn(&Work) -> bool) -> Option<Work> {
        let at = self.0.iter().position(is_free)?;
        Some(self.0.remove(at))
    }

    fn came(&mut self, work: &Work, _: &JobId, outcome: &Outcome, _: Now) {
        if let Outcome::Failed { run, .. } = outcome {
            let (failed, continued) = (work.failed + 1, run.clone());
            self.0.push(Work { failed, continued, ..work.clone() });
        }
        self.1.push(outcome.clone());
    }
}

fn host(name: &str) -> HostName {
    name.parse().unwrap()
}

fn work(from: &str, to: &str) -> Work {
    let (name, text, hash, needs) = ("light".into(), String::new(), String::new(), vec![]);
    Work {
        from: host(from),
        to: host(to),
        to_is_agent: true,
        class: Class::Exclusive,
        links: vec!["uplink".parse().unwrap()],
        plan: Arc::new(SentPlan { name, text, hash, needs }),
        longest_ns: LONGEST,
        every_ns: 1,
        port: None,
        failed: 0,
        continued: None,
    }
}

/// A coordinator with what surrounds it.
struct Desk {
    machine: Coordinator,
    table: Table,
    sequence: u64,
}

impl Desk {
    fn step(&mut self, event: Event, s: u64) -> Vec<Action> {
        self.machine.step(event, now(s), &mut self.table)
    }

    fn hear(&mut self, name: &str, highest: u64, s: u64) -> Vec<Action> {
        self.hear_with(name, highest, s, |_| {})
    }

    /// A heartbeat that is not quite the usual one.
    fn hear_with(
        &mut self,
        name: &str,
        highest: u64,
        s: u64,
        change: impl FnOnce(&mut Heartbeat),
    ) -> Vec<Action> {
        let mut heartbeat = Heartbeat {
            from: host(name),
            version_lowest: 1,
            version_highest: 1,
            program: String::new(),
            features: vec![],
            addresses: vec![format!("{name}.example")],
            unix_ns: now(s).wall.unix_ns,
            clock: None,
            state: State::Idle,
            highest: Token(highest),
            free_bytes: 0,
            unarchived: 0,
            trouble: None,
        };
        change(&mut heartbeat);
        self.step(Event::Heartbeat(Box::new(heartbeat)), s)
    }

    /// The batch that it wants taken is.
    fn takes(&mut self, actions: &[Action], s: u64) -> (Batch, Vec<Action>) {
        let (number, batch) = batch(actions);
        self.sequence += batch.puts.len() as u64;
        (batch, self.step(Event::Committed { number, came: Ok(self.sequence) }, s))
    }

    fn says(&mut self, name: &str, token: Token, answer: Answer, s: u64) -> Vec<Action> {
        let reply = Reply { version: 1, from: host(name), number: 1, token, answer };
        self.step(Event::Reply(Box::new(reply)), s)
    }

    fn leader(&self, who: &str) -> Entry {
        let value = Value::Leader(Leader { who: who.into(), epoch: self.machine.epoch() });
        Entry { key: Key::Leader, value: Some(value), revision: 1 }
    }
}

fn batch(actions: &[Action]) -> (u64, Batch) {
    let found = actions.iter().find_map(|action| match action {
        Action::Commit { number, batch } => Some((*number, batch.clone())),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{actions:?}"))
}

fn list(actions: &[Action]) -> u64 {
    let found = actions.iter().find_map(|action| match action {
        Action::List { number } => Some(*number),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{actions:?}"))
}

/// To whom an order of a kind goes, with its token.
fn sent(actions: &[Action], kind: &str) -> Vec<(HostName, Token)> {
    let order = |action: &Action| match action {
        Action::Send(command) => {
            let (is, token) = match &command.order {
                Order::Prepare(prepare) => ("prepare", prepare.token),
                Order::Start(start) => ("start", start.token),
                Order::Stop { token } => ("stop", *token),
                Order::Status => ("status", Token(0)),
            };
            (is == kind).then(|| (command.to.clone(), token))
        }
        _ => None,
    };
    actions.iter().filter_map(order).collect()
}

/// One that has just taken the lead, and found `entries` besides.
fn leading(works: Vec<Work>, entries: Vec<Entry>) -> (Desk, Vec<Action>) {
    let setup = Setup { who: "me".into(), addresses: BTreeMap::new(), seed: [3; 32] };
    let mut desk =
        Desk { machine: Coordinator::new(setup), table: Table(works, vec![]), sequence: 0 };
    for name in ["rome/a", "oslo/a", "bern/a"] {
        desk.hear(name, 0, 100);
    }
    let nobody = Entry { key: Key::Leader, value: None, revision: 0 };
    let actions = desk.step(Event::Looked(Some(nobody)), 100);
    let (taken, actions) = desk.takes(&actions, 100);
    assert_eq!((taken.puts.len(), taken.puts[0].expected), (1, 0));
    let number = list(&actions);
    let mut all = entries;
    all.push(desk.leader("me"));
    let actions = desk.step(Event::Listed { number, entries: Some(all) }, 100);
    assert!(desk.machine.leads() && actions.contains(&Action::Leads(true)), "{actions:?}");
    (desk, actions)
}

#[test]
fn a_job_takes_everything_at_once_and_starts_when_both_are_ready() {
    let (mut desk, actions) = leading(vec![work("rome/a", "oslo/a")], vec![]);
    let (_, batch) = batch(&actions);
    let keys: Vec<String> = batch.puts.iter().take(4).map(|put| put.key.text()).collect();
    assert_eq!(keys, ["leader", "host.rome.a", "host.oslo.a", "link.uplink"]);
    assert_eq!(batch.puts.iter().map(|put| put.expected).collect::<Vec<_>>(), [1, 0, 0, 0, 0]);
    let (_, actions) = desk.takes(&actions, 101);
    let token = Token(desk.sequence);
    assert_eq!(sent(&actions, "prepare"), [(host("oslo/a"), token), (host("rome/a"), token)]);
    let ready = |number| Answer::Ready { nonce: Nonce(number) };
    assert!(sent(&desk.says("rome/a", token, ready(1), 102), "start").is_empty());
    // Nobody else's word counts.
    assert!(sent(&desk.says("bern/a", token, ready(2), 102), "start").is_empty());
    assert_eq!(sent(&desk.says("oslo/a", token, ready(3), 103), "start").len(), 2);
    desk.says("oslo/a", token, Answer::Done(Measured::default()), 104);
    assert_eq!(desk.machine.jobs().count(), 1);
    desk.says("rome/a", token, Answer::Done(Measured::default()), 104);
    assert_eq!(desk.machine.jobs().count(), 0);
    assert_eq!(desk.table.1, [Outcome::Measured { run: None }]);
}

#[test]
fn a_grant_whose_answer_was_held_up_starts_nothing() {
    let (mut desk, actions) = leading(vec![work("rome/a", "oslo/a")], vec![]);
    let s = 100 + PREPARE_NS / SECOND_NS;
    // Nothing else was heard meanwhile: it slept.
    let (_, actions) = desk.takes(&actions, s);
    let token = Token(desk.sequence);
    assert_eq!(sent(&actions, "stop").len(), 2);
    for (name, number) in [("rome/a", 1), ("oslo/a", 2)] {
        let actions = desk.says(name, token, Answer::Ready { nonce: Nonce(number) }, s);
        assert!(sent(&actions, "start").is_empty(), "{actions:?}");
    }
    assert_eq!(desk.machine.jobs().count(), 0);
    // Nobody could have answered, so that it was no attempt.
    assert_eq!(desk.table.1, [Outcome::Lost { began: false }]);
}

#[test]
fn one_that_was_replaced_sees_that_and_grants_nothing() {
    let (mut desk, actions) = leading(vec![work("rome/a", "oslo/a")], vec![]);
    let (number, _) = batch(&actions);
    let refused = Event::Committed { number, came: Err(NotCommitted::Refused) };
    let actions = desk.step(refused, 101);
    let number = list(&actions);
    assert!(sent(&actions, "prepare").is_empty());
    // An answer to another question says nothing.
    let old = Event::Listed { number: number - 1, entries: Some(vec![desk.leader("me")]) };
    assert!(desk.step(old, 101).is_empty());
    let other = vec![desk.leader("another")];
    let actions = desk.step(Event::Listed { number, entries: Some(other) }, 102);
    assert!(actions.contains(&Action::Leads(false)) && !desk.machine.leads(), "{actions:?}");
    assert_eq!(desk.table.1, [Outcome::Lost { began: false }]);
}

#[test]
fn a_leader_is_silent_only_while_the_broker_answers() {
    let setup = Setup { who: "me".into(), addresses: BTreeMap::new(), seed: [3; 32] };
    let (machine, table) = (Coordinator::new(setup), Table(vec![], vec![]));
    let mut desk = Desk { machine, table, sequence: 0 };
    let (other, most_s) = (desk.leader("another"), LEADER_NS / SECOND_NS);
    for (answer, s, takes) in [
        (Some(other.clone()), 0, false),
        (Some(other.clone()), most_s - 1, false),
        // Neither the leader nor the broker was heard.
        (None, most_s, false),
        (Some(other.clone()), most_s + 1, false),
        (Some(other.clone()), 2 * most_s, false),
        (Some(other), 2 * most_s + 1, true),
    ] {
        let actions = desk.step(Event::Looked(answer), 100 + s);
        let took = actions.iter().any(|action| matches!(action, Action::Commit { .. }));
        assert_eq!(took, takes, "after {s} s: {actions:?}");
    }
}

#[test]
fn a_word_of_the_leader_that_is_lost_costs_it_nothing() {
    let (mut desk, actions) = leading(vec![], vec![]);
    desk.takes(&actions, 100);
    let (number, mut ns) = loop {
        let ns = desk.machine.wake_ns();
        let actions = desk.machine.step(Event::Time, at(ns), &mut desk.table);
        if actions.iter().any(|action| matches!(action, Action::Commit { .. })) {
            break (batch(&actions).0, ns);
        }
    };
    ns += COMMIT_NS;
    let unknown = Event::Committed { number, came: Err(NotCommitted::Unknown) };
    let number = list(&desk.machine.step(unknown, at(ns), &mut desk.table));
    // It did not come true; and to read that took a while.
    ns += SECOND_NS;
    let listed = Event::Listed { number, entries: Some(vec![desk.leader("me")]) };
    let actions = desk.machine.step(listed, at(ns), &mut desk.table);
    assert_eq!(batch(&actions).1.puts.len(), 1, "{actions:?}");
    assert!(desk.machine.leads() && ns - 100 * SECOND_NS < LEADER_NS - SECOND_NS, "{ns}");
}

#[test]
fn a_leader_whose_broker_is_silent_leads_no_more_until_it_answers() {
    let (mut desk, actions) = leading(vec![], vec![]);
    let (number, _) = batch(&actions);
    let unknown = Event::Committed { number, came: Err(NotCommitted::Unknown) };
    let mut asked = desk.step(unknown, 102);
    for (s, is_told) in [(103, false), (107, true), (110, false)] {
        let silent = Event::Listed { number: list(&asked), entries: None };
        let actions = desk.step(silent, s);
        assert_eq!(actions.contains(&Action::Leads(false)), is_told, "{s}: {actions:?}");
        asked = desk.step(Event::Time, s + 1);
    }
    let entries = Some(vec![desk.leader("me")]);
    let actions = desk.step(Event::Listed { number: list(&asked), entries }, 112);
    assert!(desk.machine.leads() && actions.contains(&Action::Leads(true)), "{actions:?}");
}

#[test]
fn a_batch_of_which_nobody_knows_is_looked_up() {
    let (mut desk, actions) = leading(vec![work("rome/a", "oslo/a")], vec![]);
    let (number, batch) = batch(&actions);
    let unknown = Event::Committed { number, came: Err(NotCommitted::Unknown) };
    let number = list(&desk.step(unknown, 101));
    // It came true.
    let entry = |(put, revision): (&Put, u64)| {
        let (key, value) = (put.key.clone(), Some(put.value.clone()));
        Entry { key, value, revision }
    };
    let entries = batch.puts.iter().zip(2..).map(entry).collect();
    let actions = desk.step(Event::Listed { number, entries: Some(entries) }, 102);
    assert_eq!(sent(&actions, "prepare").len(), 2);
    assert_eq!(sent(&actions, "prepare")[0].1, Token(6));
}

#[test]
fn who_takes_the_lead_holds_what_may_still_run() {
    let (granting, _) = leading(vec![], vec![]);
    let record = granting.machine.record(&work("rome/a", "oslo/a"), now(1));
    assert_eq!(record.stage, Stage::Granted);
    let id = JobId::from_bits(9);
    let entry = Entry { key: Key::Job(id), value: Some(Value::Job(record)), revision: 77 };
    // The same link, other hosts.
    let (mut desk, actions) = leading(vec![work("bern/a", "oslo/a")], vec![entry.clone()]);
    assert_eq!(sent(&actions, "status").len(), 2);
    assert_eq!(batch(&actions).1.puts.len(), 1, "nothing is granted but the lead kept");
    desk.takes(&actions, 100);
    let over_s = 101 + hold_ns(LONGEST) / SECOND_NS;
    let free = |desk: &Desk| desk.machine.jobs().count() == 0;
    for s in [over_s - 2, over_s] {
        for name in ["bern/a", "oslo/a"] {
            // An agent that has not seen the job may still be asked for it.
            desk.hear(name, 76, s);
        }
        assert_eq!(free(&desk), s == over_s, "{s}");
    }
    // Both say that it is over: then it is.
    let (mut desk, _) = leading(vec![], vec![entry]);
    desk.hear("rome/a", 77, 101);
    assert!(!free(&desk));
    desk.hear("oslo/a", 78, 101);
    assert!(free(&desk));
}

/// The one before freed a job and granted the next on the same link, and only that was written.
#[test]
fn what_two_records_have_is_held_until_both_are_over() {
    let (granting, _) = leading(vec![], vec![]);
    let entry = |from: &str, revision: u64| {
        let record = granting.machine.record(&work(from, "oslo/a"), now(1));
        let (key, value) = (Key::Job(JobId::from_bits(revision)), Some(Value::Job(record)));
        Entry { key, value, revision }
    };
    let next = Work { to_is_agent: false, ..work("rome/a", "ext/nas") };
    let entries = vec![entry("rome/a", 77), entry("bern/a", 78)];
    let (mut desk, actions) = leading(vec![next], entries);
    desk.takes(&actions, 100);
    desk.hear("rome/a", 77, 101);
    desk.hear("oslo/a", 77, 101);
    assert_eq!((desk.machine.jobs().count(), desk.table.0.len()), (1, 1));
    desk.hear("oslo/a", 78, 101);
    desk.hear("bern/a", 78, 101);
    assert_eq!((desk.machine.jobs().count(), desk.table.0.len()), (0, 0));
}

#[test]
fn three_attempts_are_made_and_the_last_one_is_said() {
    let (mut desk, mut actions) = leading(vec![work("rome/a", "oslo/a")], vec![]);
    for attempt in 0..3 {
        let (taken, asked) = desk.takes(&actions, 100);
        let granted = taken.puts.iter().find_map(|put| match &put.value {
            Value::Job(record) if record.stage == Stage::Granted => Some(record.attempt),
            _ => None,
        });
        assert_eq!(granted, Some(attempt));
        let token = sent(&asked, "prepare")[0].1;
        let why = Refusal::Busy;
        actions = desk.says("rome/a", token, Answer::Refused { why }, 100);
        assert_eq!(sent(&actions, "stop"), [(host("oslo/a"), token)]);
        // Nothing is held for the next attempt, which is the timetable's to ask for.
        assert_eq!(desk.machine.jobs().count(), 0);
    }
    let again_s = |outcome: &Outcome| match outcome {
        Outcome::Failed { again_ns, .. } => again_ns / SECOND_NS,
        Outcome::GivenUp { attempts: 3, lasting: false, .. } => u64::MAX,
        _ => panic!("{outcome:?}"),
    };
    assert_eq!(desk.table.1.iter().map(again_s).collect::<Vec<_>>(), [15, 30, u64::MAX]);
}

#[test]
fn an_order_that_is_not_answered_is_given_again_to_whom_does_not_answer() {
    let (mut desk, actions) = leading(vec![work("rome/a", "oslo/a")], vec![]);
    let (_, first) = desk.takes(&actions, 101);
    let token = Token(desk.sequence);
    desk.says("rome/a", token, Answer::Ready { nonce: Nonce(1) }, 101);
    assert!(sent(&desk.step(Event::Time, 103), "prepare").is_empty());
    assert!(desk.machine.wake_ns() <= 104 * SECOND_NS);
    let again = desk.step(Event::Time, 104);
    assert_eq!(sent(&again, "prepare"), [(host("oslo/a"), token)]);
    assert_eq!(prepared(&again), prepared(&first), "another word than the client has");
    // An agent that began anew or came back says so, and has not seen it.
    let again = desk.hear("oslo/a", token.0 - 1, 105);
    assert_eq!(sent(&again, "prepare"), [(host("oslo/a"), token)]);
    let started = desk.says("oslo/a", token, Answer::Ready { nonce: Nonce(2) }, 106);
    assert_eq!(sent(&started, "start").len(), 2);
    assert!(sent(&desk.step(Event::Time, 110), "prepare").is_empty());
}

#[test]
fn a_host_that_does_not_answer_holds_up_the_other_once_and_is_free_when_it_is_heard() {
    let works = vec![work("rome/a", "oslo/a"), work("rome/a", "bern/a")];
    let (mut desk, actions) = leading(works, vec![]);
    desk.takes(&actions, 100);
    let token = Token(desk.sequence);
    desk.says("rome/a", token, Answer::Ready { nonce: Nonce(1) }, 101);
    // It does not stay ready for as long as the other one may take.
    let why = "nobody said start in time".to_string();
    let waited = Failure { why, lasting: false, measured: Measured::default() };
    let actions = desk.says("rome/a", token, Answer::Failed(waited), 111);
    assert_eq!(sent(&actions, "stop"), [(host("oslo/a"), token)]);
    let [Outcome::Failed { why, again_ns: SECOND_NS, began: false, .. }] = &desk.table.1[..] else {
        panic!("{:?}", desk.table.1)
    };
    assert_eq!(why, "oslo/a: it did not answer");
    // The other path is granted in place of it, though it comes later.
    let (_, batch) = batch(&actions);
    assert!(batch.puts.iter().any(|put| put.key.text() == "host.bern.a"), "{batch:?}");
    let silent = Some((host("oslo/a"), Obstacle::Silent));
    let of = |desk: &Desk| desk.machine.obstacle(&work("bern/a", "oslo/a"), now(116));
    assert_eq!(of(&desk), silent);
    desk.hear("oslo/a", 0, 116);
    assert_eq!(of(&desk), None);
}

#[test]
fn a_server_that_takes_long_and_says_so_is_not_gone() {
    let (mut desk, actions) = leading(vec![work("rome/a", "oslo/a")], vec![]);
    desk.takes(&actions, 100);
    let token = Token(desk.sequence);
    desk.hear_with("oslo/a", token.0, 101, |heartbeat| heartbeat.state = State::Ready { token });
    desk.step(Event::Time, 100 + PREPARE_NS / SECOND_NS);
    let silent = |name| {
        let obstacle = desk.machine.obstacle(&work(name, "bern/a"), now(116));
        obstacle == Some((host(name), Obstacle::Silent))
    };
    assert_eq!([silent("rome/a"), silent("oslo/a")], [true, false]);
}

#[test]
fn a_server_that_dies_is_why_the_client_cannot_go_on() {
    for is_said_first in [true, false] {
        let (mut desk, actions) = leading(vec![work("rome/a", "oslo/a")], vec![]);
        desk.takes(&actions, 100);
        let token = Token(desk.sequence);
        for name in ["rome/a", "oslo/a"] {
            desk.says(name, token, Answer::Ready { nonce: Nonce(1) }, 101);
        }
        let why = "the connection broke".to_string();
        let broke = Failure { why, lasting: false, measured: Measured::default() };
        if is_said_first {
            desk.says("rome/a", token, Answer::Failed(broke), 102);
            assert_eq!(desk.machine.jobs().count(), 1);
            desk.hear("oslo/a", token.0, 103);
        } else {
            desk.hear("oslo/a", token.0, 102);
            assert_eq!(desk.machine.jobs().count(), 1);
            desk.says("rome/a", token, Answer::Failed(broke), 103);
        }
        assert!(
            matches!(desk.table.1[..], [Outcome::Failed { again_ns: SECOND_NS, began: true, .. }]),
            "{:?}",
            desk.table.1
        );
    }
}

#[test]
fn who_says_nothing_of_what_was_started_is_given_nothing_more() {
    let (mut desk, actions) = leading(vec![work("rome/a", "oslo/a")], vec![]);
    desk.takes(&actions, 100);
    let token = Token(desk.sequence);
    for name in ["rome/a", "oslo/a"] {
        desk.says(name, token, Answer::Ready { nonce: Nonce(1) }, 101);
    }
    desk.says("rome/a", token, Answer::Done(Measured::default()), 120);
    let over_s = 101 + hold_ns(LONGEST) / SECOND_NS;
    desk.step(Event::Time, over_s);
    assert_eq!(desk.table.1, [Outcome::Measured { run: None }]);
    let obstacle = |name| desk.machine.obstacle(&work(name, "bern/a"), now(over_s));
    assert_eq!(obstacle("oslo/a"), Some((host("oslo/a"), Obstacle::Silent)));
    assert_ne!(obstacle("rome/a"), Some((host("rome/a"), Obstacle::Silent)));
}

#[test]
fn a_server_that_began_anew_before_it_was_used_is_not_waited_for() {
    let (mut desk, actions) = leading(vec![work("rome/a", "oslo/a")], vec![]);
    desk.takes(&actions, 101);
    let token = Token(desk.sequence);
    desk.says("rome/a", token, Answer::Ready { nonce: Nonce(1) }, 101);
    let actions = desk.hear("oslo/a", token.0, 102);
    assert_eq!(sent(&actions, "stop"), [(host("rome/a"), token)]);
    assert!(matches!(desk.table.1[..], [Outcome::Failed { again_ns: SECOND_NS, .. }]));
}

#[test]
fn what_an_agent_says_at_length_does_not_make_a_record_too_long_to_write() {
    let (mut desk, actions) = leading(vec![work("rome/a", "oslo/a")], vec![]);
    desk.takes(&actions, 101);
    let token = Token(desk.sequence);
    let why = "\u{e9}".repeat(1_000_000);
    let failed = Answer::Failed(Failure { why, lasting: true, measured: Measured::default() });
    // By then the lead is to be kept, and what is over is written with it.
    let actions = desk.says("rome/a", token, failed, 102);
    let given_up = |outcome: &Outcome| match outcome {
        Outcome::GivenUp { why, .. } => why.starts_with("rome/a: \u{e9}") && why.len() < 2_000,
        Outcome::Measured { .. } | Outcome::Failed { .. } | Outcome::Lost { .. } => false,
    };
    assert!(desk.table.1.iter().all(given_up) && desk.table.1.len() == 1);
    let (_, batch) = batch(&actions);
    let record = batch.puts.iter().find_map(|put| match &put.value {
        Value::Job(record) => record.came.clone(),
        Value::Leader(_) | Value::Taken { .. } => None,
    });
    assert!(record.is_some_and(|came| came.len() < 2_000));
}

/// The addresses of the other end in the first *prepare*, which is the server's if it has an agent,
/// and the word.
fn prepared(actions: &[Action]) -> Option<(Vec<String>, Word)> {
    actions.iter().find_map(|action| match action {
        Action::Send(command) => match &command.order {
            Order::Prepare(prepare) => Some((prepare.peer.addresses.clone(), prepare.word.clone())),
            Order::Start(_) | Order::Stop { .. } | Order::Status => None,
        },
        _ => None,
    })
}

#[test]
fn a_host_without_an_agent_is_where_it_was_said_to_be_last_and_knows_no_word() {
    let nas = Work { to_is_agent: false, ..work("rome/a", "ext/nas") };
    let (mut desk, actions) = leading(vec![nas], vec![]);
    let address = "192.0.2.7".to_string();
    desk.machine.set_addresses([(host("ext/nas"), vec![address.clone()])].into());
    let (_, actions) = desk.takes(&actions, 101);
    let (addresses, word) = prepared(&actions).unwrap();
    assert_eq!((addresses, word), (vec![address], Word::none()));
    assert!(desk.machine.leads());
}

#[test]
fn what_a_mesh_plan_says_of_a_family_comes_before_what_the_agent_says() {
    let (mut desk, actions) = leading(vec![work("rome/a", "oslo/a")], vec![]);
    let [planned, bridge, six] = ["192.0.2.7", "172.17.0.1", "2001:db8::7"].map(String::from);
    let said = vec![bridge.clone(), six.clone(), planned.clone()];
    desk.hear_with("rome/a", 0, 100, |heartbeat| heartbeat.addresses = said);
    desk.machine.set_addresses([(host("rome/a"), vec![planned.clone()])].into());
    let (_, actions) = desk.takes(&actions, 101);
    // Each takes the first one of a family.
    assert_eq!(prepared(&actions).unwrap().0, [planned, bridge, six]);
}

#[test]
fn a_host_whose_clock_is_a_minute_off_gets_no_job_until_it_is_right() {
    let (mut desk, _) = leading(vec![], vec![]);
    let (s, work) = (200, work("rome/a", "oslo/a"));
    for off_ns in [CLOCK_NS_MAX + 1, CLOCK_NS_MAX] {
        for unix_ns in [now(s).wall.unix_ns + off_ns, now(s).wall.unix_ns - off_ns] {
            desk.hear("oslo/a", 0, s);
            desk.hear_with("rome/a", 0, s, |heartbeat| heartbeat.unix_ns = unix_ns);
            let expected = (off_ns > CLOCK_NS_MAX).then(|| (host("rome/a"), Obstacle::Clock));
            assert_eq!(desk.machine.obstacle(&work, now(s)), expected, "{unix_ns}");
        }
    }
}

#[test]
fn an_agent_gets_jobs_if_it_shares_a_version_of_the_messages_and_else_by_name_none() {
    let (mut desk, _) = leading(vec![], vec![]);
    let (s, work) = (200, work("rome/a", "oslo/a"));
    desk.hear("oslo/a", 0, s);
    let (own, later) = (SPOKEN.highest(), SPOKEN.highest() + 1);
    let refused = Some((host("rome/a"), Obstacle::Version));
    for (lowest, highest, expected) in [
        (own, later, None),
        (later, later, refused.clone()),
        (SPOKEN.lowest() - 1, SPOKEN.lowest() - 1, refused.clone()),
        (later, own, refused),
    ] {
        desk.hear_with("rome/a", 0, s, |heartbeat| {
            (heartbeat.version_lowest, heartbeat.version_highest) = (lowest, highest);
        });
        assert_eq!(desk.machine.obstacle(&work, now(s)), expected, "{lowest} to {highest}");
    }
}
