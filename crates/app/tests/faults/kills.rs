//! `kill -9` of either end at random moments, from before it greets to after its answer.

use super::chance::Chance;
use super::checks::{Check, say};
use super::oracle;
use super::site::{CLIENT, Site};
use super::told::Program;
use std::time::{Duration, Instant};

/// Moments lie within this from the client's start: about as long as its run takes.
const RUN: Duration = Duration::from_secs(5);

/// What is killed.
#[derive(Debug, Clone, Copy)]
enum End {
    Client,
    Server,
}

pub fn checks(full: bool) -> Vec<Check> {
    // Several with hosts of their own, so that they run beside each other.
    let (sites, kills) = if full { (5, 10) } else { (1, 3) };
    let ends = [End::Client, End::Server];
    let of = |end: End| {
        (0..sites).map(move |site| {
            let name = format!("killed_{end:?}_{site}").to_lowercase();
            Check::new(name, move || at_random_moments(end, site, kills))
        })
    };
    ends.into_iter().flat_map(of).collect()
}

fn at_random_moments(end: End, number: u64, kills: u64) {
    let site = Site::up(&format!("kill{}{number}-", end as u8));
    let mut kept = Vec::new();
    let mut longest = Duration::ZERO;
    for kill in 0..kills {
        let moment = Chance::new(1000 * (end as u64 + 1) + 100 * number + kill).moment(RUN);
        let (trials, took) = one(&site, end, kill, moment);
        kept.push(trials);
        longest = longest.max(took);
    }
    say("kills", &kills);
    say("trials announced before each", &format!("{kept:?}"));
    say("longest until the client had ended", longest);
}

/// How many trials had been announced, and how long the client took to end.
fn one(site: &Site, end: End, kill: u64, moment: Duration) -> (usize, Duration) {
    let mut server = site.serve(&[]);
    let home = site.home(&format!("kill{kill}"));
    // Every third run moves bulk data as well.
    let measure = if kill % 3 == 2 { "throughput,rtt,tcp" } else { "rtt,connect,udp,tcp" };
    let mut client = site.run("client", &home, &["--measure", measure, "--pairs", "6"]);
    std::thread::sleep(moment);
    let start = Instant::now();
    match end {
        End::Client => client.kill(),
        End::Server => server.kill(),
    }
    let took = match end {
        End::Client => Duration::ZERO,
        End::Server => lost_its_server(&mut client, start),
    };
    let announced = super::site::announced(&client.out).len();
    if !home.path().join("runs").exists() || oracle::is_without_facts(&home) {
        assert_eq!(announced, 0, "{moment:?}");
        return (0, took);
    }
    oracle::nothing_is_lost(&home, &client.out);
    if let End::Server = end {
        server = site.serve(&[]);
    }
    oracle::goes_on(site, "client", &home, &client.out);
    drop(server);
    (announced, took)
}

/// The client says clearly that its server is gone, unless it was done before.
fn lost_its_server(client: &mut Program, start: Instant) -> Duration {
    let ended = client.end(CLIENT);
    if !matches!(ended.code, Some(0 | 6)) {
        oracle::is_clear(&ended, 4);
    }
    ended.at - start
}
