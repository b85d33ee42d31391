//! Sessions over a simulated network of two hosts: whatever finite trouble the network and the
//! clocks make, both machines come to an end in bounded time, and nothing is mistaken for something
//! else.
//!
//! Every run is a function of its seed. A failing test prints the seed; `V6GAP_SEED=N cargo test -p
//! v6gap-core --test sim` repeats that run alone.

mod client;
mod clock;
mod link;
mod ring;
mod server;

use client::ClientHost;
use clock::HostClock;
use link::{Link, Trouble};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use ring::Ring;
use server::ServerHost;
use v6gap_core::session::Ending;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

/// Upper bound of every session here: 5 tasks, each with all its timeouts, greeting, queue and
/// idling.
const LONGEST: u64 = 600 * SECOND;

/// Runs `body` for many seeds, or for the one that the environment names.
#[expect(clippy::disallowed_methods, reason = "a test is a program: it reads its seed once")]
#[expect(clippy::disallowed_macros, reason = "a failing test shows what it printed")]
fn for_seeds(count: u64, body: impl Fn(u64)) {
    let chosen = std::env::var("V6GAP_SEED").ok().map(|text| text.parse().expect("a number"));
    let seeds = chosen.map_or(0..count, |seed: u64| seed..seed + 1);
    for seed in seeds {
        println!("seed {seed}");
        body(seed);
    }
}

/// How a run came out.
#[derive(Debug, PartialEq)]
struct Outcome {
    client: Ending,
    server: Ending,
    tasks_done: u32,
    exchanges: u32,
    strays: u32,
    /// True time of the later end.
    ended_at: u64,
    /// How far the clocks' offset that was found lies outside of its own uncertainty.
    offset_beyond: Option<u64>,
}

/// The network and the clocks of a run.
struct Setting {
    out: Trouble,
    back: Trouble,
    client_clock: HostClock,
    server_clock: HostClock,
    tasks: u32,
}

impl Setting {
    fn calm(seed: u64) -> Self {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        Setting {
            out: Trouble::delay(rng.next_u64() % (200 * MS)),
            back: Trouble::delay(rng.next_u64() % (200 * MS)),
            client_clock: HostClock::drifting(&mut rng),
            server_clock: HostClock::drifting(&mut rng),
            tasks: 5,
        }
    }

    fn run(self, seed: u64) -> Outcome {
        let mut ring = Ring::new(
            ClientHost::new(self.client_clock, seed, self.tasks),
            Link::new(self.out, seed ^ 0x5eed),
            ServerHost::new(self.server_clock, seed),
            Link::new(self.back, seed ^ 0xfeed),
        );
        let ended_at = ring.run(LONGEST);
        let (client, server) = (&ring.client, &ring.server);
        let offset_beyond = client.offset.map(|(offset, at)| {
            let truth = server.clock.show(at) as i64 - client.clock.show(at) as i64;
            truth.abs_diff(offset.ns).saturating_sub(offset.uncertainty_ns)
        });
        Outcome {
            client: client.ending().unwrap_or_else(|| panic!("seed {seed}: client hangs")),
            server: server.ending().unwrap_or_else(|| panic!("seed {seed}: server hangs")),
            tasks_done: client.tasks_done,
            exchanges: client.exchanges,
            strays: client.strays + server.strays,
            ended_at,
            offset_beyond,
        }
    }
}

#[test]
fn a_calm_session_does_every_task() {
    for_seeds(100, |seed| {
        let outcome = Setting::calm(seed).run(seed);
        assert_eq!(outcome.client, Ending::Complete, "seed {seed}: {outcome:?}");
        assert_eq!(outcome.server, Ending::PeerLeft, "seed {seed}: {outcome:?}");
        assert_eq!((outcome.tasks_done, outcome.strays), (5, 0), "seed {seed}: {outcome:?}");
        assert_eq!(outcome.exchanges, 5 * client::EXCHANGES, "seed {seed}: {outcome:?}");
        // Two clocks of 100 ppm drift apart by less than that while the questions are asked.
        assert!(outcome.offset_beyond.is_some_and(|ns| ns < MS), "seed {seed}: {outcome:?}");
    });
}

#[test]
fn a_session_under_any_finite_trouble_ends() {
    for_seeds(500, |seed| {
        let mut rng = ChaCha12Rng::seed_from_u64(!seed);
        let mut setting = Setting::calm(seed);
        setting.out = Trouble::any(&mut rng);
        setting.back = Trouble::any(&mut rng);
        setting.client_clock.step_at_random(&mut rng);
        setting.server_clock.step_at_random(&mut rng);
        let outcome = setting.run(seed);
        if outcome.client == Ending::Complete {
            assert_eq!(outcome.tasks_done, 5, "seed {seed}: {outcome:?}");
        }
    });
}

#[test]
fn datagram_trouble_alone_costs_exchanges_but_no_task() {
    for_seeds(100, |seed| {
        let mut rng = ChaCha12Rng::seed_from_u64(!seed);
        let mut setting = Setting::calm(seed);
        setting.out.disturb_datagrams(&mut rng);
        setting.back.disturb_datagrams(&mut rng);
        let outcome = setting.run(seed);
        assert_eq!(outcome.client, Ending::Complete, "seed {seed}: {outcome:?}");
        assert_eq!(outcome.tasks_done, 5, "seed {seed}: {outcome:?}");
    });
}

#[test]
fn clock_steps_do_not_break_a_session() {
    for_seeds(100, |seed| {
        let mut rng = ChaCha12Rng::seed_from_u64(!seed);
        let mut setting = Setting::calm(seed);
        setting.client_clock.step_at_random(&mut rng);
        setting.server_clock.step_at_random(&mut rng);
        let outcome = setting.run(seed);
        assert_eq!(outcome.client, Ending::Complete, "seed {seed}: {outcome:?}");
        assert_eq!(outcome.tasks_done, 5, "seed {seed}: {outcome:?}");
    });
}

#[test]
fn a_cut_connection_is_told_as_lost_at_both_ends() {
    for_seeds(100, |seed| {
        let mut setting = Setting::calm(seed);
        // Long enough that no session is over before the cut: greeting, 8 questions, 5 tasks.
        (setting.out.delay, setting.back.delay) = (200 * MS, 200 * MS);
        let at = ChaCha12Rng::seed_from_u64(!seed).next_u64() % (4 * SECOND);
        setting.out.cut_at = Some(at);
        setting.back.cut_at = Some(at);
        let outcome = setting.run(seed);
        assert!(matches!(outcome.client, Ending::Lost { .. }), "seed {seed}: {outcome:?}");
        assert!(matches!(outcome.server, Ending::Lost { .. }), "seed {seed}: {outcome:?}");
    });
}

#[test]
fn junk_starts_nothing_and_ends_the_session() {
    for_seeds(300, |seed| {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let mut server = ServerHost::new(HostClock::drifting(&mut rng), seed);
        let mut now = 0;
        while server.ending().is_none() {
            assert!(now < LONGEST, "seed {seed}: server hangs");
            server.on_junk(&mut rng, now);
            now += rng.next_u64() % (2 * SECOND);
        }
        assert_eq!(server.tasks_started, 0, "seed {seed}");
    });
}

#[test]
fn a_run_is_a_function_of_its_seed() {
    for_seeds(10, |seed| {
        let run = || {
            let mut setting = Setting::calm(seed);
            setting.out = Trouble::any(&mut ChaCha12Rng::seed_from_u64(seed));
            setting.run(seed)
        };
        assert_eq!(run(), run(), "seed {seed}");
    });
}
