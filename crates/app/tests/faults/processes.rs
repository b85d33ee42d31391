//! Either end stands still for a while, or is asked to end in each of its states.

use super::checks::{Check, say};
use super::oracle;
use super::plans::{KINDS, plan};
use super::site::{CLIENT, PATIENCE, Site, Ways, await_event};
use super::told::Program;
use std::time::{Duration, Instant};

/// Longest time until a process that was asked to end has: it may be in the middle of a block.
const END: Duration = Duration::from_secs(10);

/// Which end.
#[derive(Debug, Clone, Copy)]
pub enum End {
    Client,
    Server,
}

/// When.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Moment {
    Between,
    Within,
}

pub fn checks(full: bool) -> Vec<Check> {
    let mut checks = vec![
        Check::new("term_before_the_server_answers", term_while_greeting),
        Check::new("term_while_waiting", term_while_waiting),
        Check::new("term_while_measuring", term_while_measuring),
        Check::new("term_of_the_server", term_of_the_server),
    ];
    for end in [End::Client, End::Server] {
        for moment in [Moment::Between, Moment::Within] {
            let name = format!("stopped_{end:?}_{moment:?}_for_a_second").to_lowercase();
            if full || moment == Moment::Within {
                checks.push(Check::new(name, move || for_a_second(end, moment)));
            }
        }
    }
    checks
}

/// A run with trials of a second, and the moment.
pub fn measuring(site: &Site, moment: Moment) -> (super::support::Home, Program) {
    let home = site.home("measuring");
    let client = site.run_plan("client", &home, &plan(KINDS[1], 6));
    match moment {
        Moment::Between => await_event(&client, "pair", 2),
        Moment::Within => {
            let at = await_event(&client, "block", 3);
            std::thread::sleep(Duration::from_millis(300));
            at
        }
    };
    (home, client)
}

/// It goes on, whoever stood still.
fn for_a_second(end: End, moment: Moment) {
    let site = Site::up(&format!("still{}{}-", end as u8, moment as u8));
    let server = site.serve(&[]);
    let (home, mut client) = measuring(&site, moment);
    match end {
        End::Client => client.pause(Duration::from_secs(1)),
        End::Server => server.pause(Duration::from_secs(1)),
    }
    let ended = client.end(CLIENT);
    assert!(matches!(ended.code, Some(0 | 6)), "{:?}: {}", ended.code, ended.said);
    let shown = oracle::nothing_is_lost(&home, &client.out);
    assert!(shown["stopped"].is_null(), "{}", shown["stopped"]);
    oracle::no_answer_is_wrong(&shown);
}

/// Nothing is stored, and the end comes with what was under way: an answer awaited for 5 s.
fn term_while_greeting() {
    let site = Site::up("term-greeting");
    let cut = site.cut("client", Ways::BOTH);
    let home = site.home("greeting");
    let mut client = site.run("client", &home, &["--pairs", "6"]);
    std::thread::sleep(Duration::from_millis(300));
    client.signal("TERM");
    let ended = client.end(END);
    assert!(matches!(ended.code, Some(4 | 130)), "{:?} {}", ended.code, ended.said);
    assert!(!home.path().join("runs").exists());
    drop(cut);
}

fn term_while_waiting() {
    let site = Site::up("term-waiting");
    let server = site.serve(&[]);
    let homes = ["first", "second"].map(|name| site.home(name));
    let mut first = site.run_plan("client", &homes[0], &plan(KINDS[1], 6));
    await_event(&first, "block", 1);
    let mut second = site.run("other", &homes[1], &["--measure", "connect", "--pairs", "6"]);
    await_event(&second, "state", 1);
    second.signal("TERM");
    let ended = second.end(END);
    assert_ne!(ended.code, Some(0), "{}", ended.said);
    assert!(!homes[1].path().join("runs").exists());
    // Who measures does not notice.
    let ended = first.end(CLIENT);
    assert!(matches!(ended.code, Some(0 | 6)), "{:?} {}", ended.code, ended.said);
    oracle::nothing_is_lost(&homes[0], &first.out);
    drop(server);
}

/// Once: the block is finished and kept. Twice: at once, and what was complete before is kept.
fn term_while_measuring() {
    for signals in [1, 2] {
        let site = Site::up(&format!("term{signals}-"));
        let server = site.serve(&[]);
        let (home, mut client) = measuring(&site, Moment::Within);
        for _ in 0..signals {
            client.signal("TERM");
            std::thread::sleep(Duration::from_millis(20));
        }
        let ended = client.end(END);
        assert_eq!(ended.code, Some(130), "{}", ended.said);
        let shown = oracle::nothing_is_lost(&home, &client.out);
        assert!(!shown["stopped"].is_null(), "{}", shown["headline"]);
        oracle::serves(&site, "other");
        oracle::goes_on(&site, "client", &home, &client.out);
        drop(server);
    }
}

/// Without a client, with one that measures and with one that waits; each is told.
fn term_of_the_server() {
    let site = Site::up("term-server");
    let mut server = site.serve(&[]);
    server.signal("TERM");
    let ended = server.end(PATIENCE);
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    let mut server = site.serve(&[]);
    let (home, mut client) = measuring(&site, Moment::Within);
    let waits = site.home("waits");
    let mut second = site.run("other", &waits, &["--measure", "connect", "--pairs", "6"]);
    await_event(&second, "state", 1);
    let start = Instant::now();
    server.signal("TERM");
    let ended = server.end(END);
    say("server ended after", ended.at - start);
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    for client in [&mut client, &mut second] {
        let ended = client.end(CLIENT);
        oracle::is_clear(&ended, 4);
    }
    oracle::nothing_is_lost(&home, &client.out);
    let server = site.serve(&[]);
    oracle::goes_on(&site, "client", &home, &client.out);
    drop(server);
}
