//! Packets vanish without a word for a second, or from the first one on.

use super::checks::{Check, say};
use super::oracle;
use super::plans::{KINDS, Kind, plan};
use super::site::{CLIENT, Site, Ways, await_event};
use std::time::{Duration, Instant};

/// A server that does not answer is named after this.
const NAMED: Duration = Duration::from_secs(15);

pub fn checks(full: bool) -> Vec<Check> {
    let mut checks = vec![Check::new("a_silent_network_is_named_in_time", greeting)];
    for (k, kind) in KINDS.into_iter().enumerate() {
        for (w, (word, ways)) in Ways::ALL.into_iter().enumerate() {
            if full || [(0, 0), (3, 0), (6, 1)].contains(&(k, w)) {
                let name = format!("partition_{word}_for_a_second_{}", kind.0);
                checks.push(Check::new(name, move || for_a_second(kind, ways, 7 * w + k)));
            }
        }
    }
    checks
}

/// Nothing comes back from the server's address: the client says so within its time for it.
fn greeting() {
    let site = Site::up("greeting");
    let server = site.serve(&[]);
    let cut = site.cut("client", Ways::TO_CLIENT);
    let home = site.home("greeting");
    let mut client = site.run("client", &home, &["--pairs", "6"]);
    let start = Instant::now();
    let ended = client.end(NAMED);
    oracle::is_clear(&ended, 4);
    say("named after", ended.at - start);
    oracle::serves(&site, "other");
    drop((cut, server));
}

/// The run goes on, and its answer is none that the fault made.
fn for_a_second(kind: Kind, ways: Ways, number: usize) {
    let site = Site::up(&format!("sec{number}-"));
    let server = site.serve(&[]);
    let home = site.home("measuring");
    let mut client = site.run_plan("client", &home, &plan(kind, 6));
    await_event(&client, "block", 2);
    std::thread::sleep(Duration::from_millis(300));
    let cut = site.cut("client", ways);
    std::thread::sleep(Duration::from_secs(1));
    drop(cut);
    let start = Instant::now();
    let ended = client.end(CLIENT * 3);
    say("ended after", ended.at - start);
    assert!(matches!(ended.code, Some(0 | 6)), "{:?}: {}", ended.code, ended.said);
    let shown = oracle::nothing_is_lost(&home, &client.out);
    assert!(shown["stopped"].is_null(), "{}", shown["stopped"]);
    oracle::no_answer_is_wrong(&shown);
    drop(server);
}
