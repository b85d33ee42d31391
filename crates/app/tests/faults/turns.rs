//! Nobody waits long for a client that is gone or stands still: in each phase, whatever happened to
//! it, the server's turn is free after 15 s.

use super::checks::{Check, say};
use super::network;
use super::oracle;
use super::outputs;
use super::plans::{KINDS, Kind, plan};
use super::processes::{self, End, Moment};
use super::site::{CLIENT, PATIENCE, SERVER, Site, Ways, addresses, await_event};
use super::told::{Program, Told};
use std::time::{Duration, Instant};

/// The server's turn is free after this.
const FREE: Duration = Duration::from_secs(15);

/// Until whoever waits is told, and for the machine.
const SLACK: Duration = Duration::from_secs(2);

pub fn checks(full: bool) -> Vec<Check> {
    let mut checks = vec![
        Check::new("whoever_vanishes_while_waiting_is_passed_over", waiting),
        Check::new("a_client_that_nobody_reads_holds_up_nobody", client_unread),
        Check::new("an_address_goes_away", address_goes),
    ];
    let quick = [(0, 0, Moment::Between), (1, 0, Moment::Within), (5, 2, Moment::Within)];
    for (k, kind) in KINDS.into_iter().enumerate() {
        for (w, (word, ways)) in Ways::ALL.into_iter().enumerate() {
            for moment in [Moment::Between, Moment::Within] {
                // Between trials all kinds are alike.
                let night = full && (moment == Moment::Within || k == 0);
                if night || quick.contains(&(k, w, moment)) {
                    let name = format!("partition_{word}_{moment:?}_{}", kind.0).to_lowercase();
                    let number = 7 * w + k;
                    checks.push(Check::new(name, move || for_good(kind, ways, moment, number)));
                }
            }
        }
    }
    for end in [End::Client, End::Server] {
        for moment in [Moment::Between, Moment::Within] {
            let name = format!("stopped_{end:?}_{moment:?}_for_30_s").to_lowercase();
            if full || matches!((end, moment), (End::Client, Moment::Between)) {
                checks.push(Check::new(name, move || for_long(end, moment)));
            }
        }
    }
    checks
}

/// When the server's turn came to the `nth` client (from 0) of `host` that it let in.
fn turn_of(server: &Program, client: &Program, host: &str, nth: usize, since: Instant) -> Duration {
    let address = format!("{}:", addresses(host)[0]);
    let mut from = 0;
    let mut joined = String::new();
    for _ in 0..=nth {
        let joins = |line: &str| line.starts_with(&address) && line.contains("session ");
        let found = server.out.find(from, PATIENCE, joins);
        let Some((at, (_, line))) = found else { panic!("not let in: {}", client.err.text()) };
        (from, joined) = (at + 1, line);
    }
    let (_, number) = joined.split_once("session ").unwrap();
    let mark = format!("session {number}  measures");
    let limit = Duration::from_secs(180);
    let Some((_, (when, _))) = server.out.find(from, limit, |line| line.starts_with(&mark)) else {
        panic!("no turn within {limit:?}: {}", client.err.text());
    };
    when.saturating_duration_since(since)
}

/// Who comes next has the turn in time, although who had it vanished at `start`.
#[track_caller]
fn is_free_in_time(server: &Program, next: &Program, start: Instant) {
    let free = turn_of(server, next, "other", 0, start);
    say("turn free after", free);
    assert!(free <= FREE + SLACK, "{free:?}");
}

/// Somebody in the queue vanishes. When it is their turn, who comes after them waits no longer than
/// for anybody else who vanished.
fn waiting() {
    let site = Site::up("waiting");
    let server = site.serve(&[]);
    let homes = ["first", "second"].map(|name| site.home(name));
    let mut first = site.run_plan("client", &homes[0], &plan(KINDS[3], 6));
    await_event(&first, "block", 1);
    let mut second = site.run("other", &homes[1], &["--measure", "connect", "--pairs", "6"]);
    await_event(&second, "state", 1);
    let cut = site.cut("other", Ways::BOTH);
    let ended = first.end(PATIENCE);
    assert_eq!(ended.code.filter(|code| ![0, 6].contains(code)), None, "{}", ended.said);
    oracle::nothing_is_lost(&homes[0], &first.out);
    let third = site.waits("client");
    let free = turn_of(&server, &third, "client", 1, ended.at);
    say("turn free after", free);
    assert!(free <= FREE + SLACK, "{free:?}");
    let ended = second.end(CLIENT);
    oracle::is_clear(&ended, 4);
    drop(cut);
}

/// A kind of task during which packets begin to vanish, and do not come back before the end.
fn for_good(kind: Kind, ways: Ways, moment: Moment, number: usize) {
    let site = Site::up(&format!("cut{}{number}-", moment as u8));
    let server = site.serve(&[]);
    let home = site.home("measuring");
    let mut client = site.run_plan("client", &home, &plan(kind, 6));
    await_event(&client, "pair", 2);
    let cut = match moment {
        Moment::Between => {
            client.signal("STOP");
            let cut = site.cut("client", ways);
            client.signal("CONT");
            cut
        }
        Moment::Within => {
            await_event(&client, "block", 3);
            std::thread::sleep(Duration::from_millis(400));
            site.cut("client", ways)
        }
    };
    let start = Instant::now();
    let next = site.waits("other");
    // Control goes over IPv4 where both answer, so without IPv6 alone the client is still there.
    let control = ways.families[0];
    if control {
        is_free_in_time(&server, &next, start);
    }
    let ended = client.end(CLIENT);
    say("client ended after", ended.at - start);
    oracle::is_clear(&ended, 4);
    if !control {
        let free = turn_of(&server, &next, "other", 0, ended.at);
        assert!(free <= SLACK, "{free:?}");
    }
    oracle::nothing_is_lost(&home, &client.out);
    drop((cut, next));
    oracle::goes_on(&site, "client", &home, &client.out);
}

/// It may go on or end with a clear error, whoever stood still; nobody else waits for a client that
/// does for longer than for one that vanished.
fn for_long(end: End, moment: Moment) {
    let site = Site::up(&format!("long{}{}-", end as u8, moment as u8));
    let server = site.serve(&[]);
    let (home, mut client) = processes::measuring(&site, moment);
    let start = Instant::now();
    let stopped = match end {
        End::Client => &client,
        End::Server => &server,
    };
    stopped.signal("STOP");
    if let End::Client = end {
        let next = site.waits("other");
        let free = turn_of(&server, &next, "other", 0, start);
        say("turn free after", free);
        assert!(free <= FREE + SLACK, "{free:?}");
    }
    std::thread::sleep(Duration::from_secs(30).saturating_sub(start.elapsed()));
    stopped.signal("CONT");
    let ended = client.end(CLIENT);
    say("client ended after", ended.at - start);
    if !matches!(ended.code, Some(0 | 6)) {
        oracle::is_clear(&ended, 4);
    }
    oracle::nothing_is_lost(&home, &client.out);
    oracle::goes_on(&site, "client", &home, &client.out);
}

/// The client stands still in its output between two trials: others are served all the same, and
/// everything that was announced is kept.
fn client_unread() {
    let site = Site::up("unread");
    let server = site.serve(&[]);
    let home = site.home("unread");
    let (reader, writer) = outputs::nearly_full(6000);
    let mut child = outputs::client(&site, &home, 6).stdout(writer).spawn().unwrap();
    let errors = Told::of(child.stderr.take().unwrap());
    let journal = || v6gap_store::read_journal(&oracle::journal(&home)).map_or(0, |l| l.len());
    let runs = home.path().join("runs");
    let stands_still = |since: &mut (usize, Instant)| {
        let now = if runs.exists() { journal() } else { 0 };
        if now != since.0 {
            *since = (now, Instant::now());
        }
        since.0 > 1 && since.1.elapsed() > Duration::from_secs(3)
    };
    let mut since = (0, Instant::now());
    let start = Instant::now();
    while !stands_still(&mut since) {
        assert!(start.elapsed() < CLIENT, "it did not stand still: {}", errors.text());
        std::thread::sleep(Duration::from_millis(50));
    }
    let next = site.waits("other");
    let free = turn_of(&server, &next, "other", 0, since.1);
    say("turn free after", free);
    assert!(free <= FREE + SLACK, "{free:?}");
    let told = Told::of(reader);
    let code = child.wait().unwrap().code();
    assert!(matches!(code, Some(0 | 4 | 6)), "{code:?}: {}", errors.text());
    oracle::nothing_is_lost(&home, &told);
    oracle::goes_on(&site, "client", &home, &told);
}

/// The client's addresses are taken away in the middle of a trial and come back later.
fn address_goes() {
    let site = Site::up("address");
    let server = site.serve(&[]);
    let (home, mut client) = network::within(&site, KINDS[1]);
    let start = Instant::now();
    let [four, six] = addresses("client");
    site.at("client", &format!("ip addr del {four}/24 dev link1"));
    site.at("client", &format!("ip -6 addr del {six}/64 dev link1"));
    let next = site.waits("other");
    is_free_in_time(&server, &next, start);
    let ended = client.end(CLIENT);
    say("client ended after", ended.at - start);
    oracle::is_clear(&ended, 4);
    oracle::nothing_is_lost(&home, &client.out);
    drop(next);
    site.at("client", &format!("ip addr add {four}/24 dev link1"));
    site.at("client", &format!("ip -6 addr add {six}/64 dev link1 nodad"));
    for (family, net, via) in
        [("-4", "10.46.2.0/24", "10.46.1.2"), ("-6", "fd46:2::/64", "fd46:1::2")]
    {
        site.at("client", &format!("ip {family} route replace {net} via {via} dev link1"));
    }
    let mut check = site.lab.command(&home, "client");
    let found = Program::start({
        check.arg("check").args(SERVER);
        check
    })
    .end(PATIENCE);
    assert_eq!(found.code, Some(0), "{}", found.said);
    oracle::goes_on(&site, "client", &home, &client.out);
}
