//! Trials counted three times: by themselves, by the kernel's counters and by a capture of the
//! link, in both families, fragments included.
//!
//! Not under the usual harness, because a user namespace can be entered only by a process with a
//! single thread. Where the host gives no namespaces it says `SKIPPED` and passes, or fails if
//! `V6GAP_REQUIRE_NAMESPACES=1` is set. Nothing here depends on times but the queue, whose time is
//! far longer than what a busy machine adds. Arguments choose checks by a part of their name.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program of its own, which reads its environment, runs `ip` and prints"
)]

#[path = "../common/mod.rs"]
mod common;
mod exchanges;
mod links;
mod probes;
mod searches;
mod stack;
mod support;
#[path = "../../../lab/tests/namespaces/tier.rs"]
mod tier;
mod transfers;

use std::process::ExitCode;
use support::Outcome;
use tier::Tier::{Day, Night, Witness};
use v6gap_sys::netns;

/// Each says what was wrong.
const CHECKS: [tier::Scenario<fn() -> Outcome>; 17] = [
    ("transfers_agree", transfers::agree, Day(5)),
    ("exchanges_agree", exchanges::counts_agree, Day(5)),
    ("both_ends_in_one_thread", stack::both_ends_in_one_thread, Day(5)),
    (
        "lost_probes_are_those_that_the_link_lost",
        probes::lost_probes_are_those_that_the_link_lost,
        Day(8),
    ),
    (
        "what_does_not_fit_is_refused_with_the_path_mtu",
        exchanges::what_does_not_fit_is_refused_with_the_path_mtu,
        Day(5),
    ),
    (
        "what_is_longer_than_the_path_takes_is_cut",
        exchanges::what_is_longer_than_the_path_takes_is_cut,
        Day(5),
    ),
    ("troubles_of_each_way_are_found", links::troubles_of_each_way_are_found, Witness(8)),
    ("jitter_is_found", links::jitter_is_found, Night(60)),
    ("bursts_are_found", links::bursts_are_found, Night(60)),
    ("each_way_has_its_rate", links::each_way_has_its_rate, Witness(8)),
    ("marked_packets_go_first", links::marked_packets_go_first, Night(60)),
    ("a_full_queue_takes_its_drain_time", probes::a_full_queue_takes_its_drain_time, Witness(15)),
    (
        "a_full_sender_is_stopped_without_error",
        probes::a_full_sender_is_stopped_without_error,
        Day(5),
    ),
    (
        "searches_find_a_slower_link_behind_a_faster_one",
        searches::find_a_slower_link_behind_a_faster_one,
        Night(60),
    ),
    ("a_link_local_zone_is_kept", exchanges::a_link_local_zone_is_kept, Day(5)),
    (
        "a_server_answers_in_the_zone_that_it_was_asked_in",
        exchanges::a_server_answers_in_the_zone_that_it_was_asked_in,
        Day(5),
    ),
    (
        "a_server_answers_at_an_address_that_a_route_makes_its_own",
        exchanges::a_server_answers_at_an_address_that_a_route_makes_its_own,
        Day(5),
    ),
];

fn main() -> ExitCode {
    if let Some(code) = tier::refused() {
        return code;
    }
    netns::enter_user_namespace().expect("the probe succeeded");
    let call = |check: fn() -> Outcome| check().map_err(|e| e.to_string());
    tier::ended(tier::run(&CHECKS, |check| call(check).map(|()| String::new())))
}
