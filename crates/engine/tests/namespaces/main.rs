//! Trials counted three times: by themselves, by the kernel's counters and by a capture of the
//! link, in both families, fragments included.
//!
//! Not under the usual harness, because a user namespace can be entered only by a process with a
//! single thread. Where the host gives no namespaces it says `SKIPPED` and passes, or fails if
//! `V6GAP_REQUIRE_NAMESPACES=1` is set. Nothing here depends on times but the queue, whose time is
//! far longer than what a busy machine adds. Arguments filter checks by name.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program of its own, which reads its environment and prints"
)]

#[path = "../common/mod.rs"]
mod common;
mod exchanges;
mod links;
mod probes;
mod searches;
mod support;
#[path = "../../../lab/tests/namespaces/tier.rs"]
mod tier;
mod transfers;

use std::process::ExitCode;
use support::Outcome;
use tier::{Judges, judged, tries};
use v6gap_sys::netns;

/// A check says what was wrong.
type Check = fn() -> Outcome;

const CHECKS: [(&str, Check); 14] = [
    ("transfers_agree", transfers::agree),
    ("exchanges_agree", exchanges::counts_agree),
    ("lost_probes_are_those_that_the_link_lost", probes::lost_probes_are_those_that_the_link_lost),
    (
        "what_does_not_fit_is_refused_with_the_path_mtu",
        exchanges::what_does_not_fit_is_refused_with_the_path_mtu,
    ),
    (
        "what_is_longer_than_the_path_takes_is_cut",
        exchanges::what_is_longer_than_the_path_takes_is_cut,
    ),
    ("troubles_of_each_way_are_found", links::troubles_of_each_way_are_found),
    ("jitter_is_found", links::jitter_is_found),
    ("bursts_are_found", links::bursts_are_found),
    ("each_way_has_its_rate", links::each_way_has_its_rate),
    ("marked_packets_go_first", links::marked_packets_go_first),
    ("a_full_queue_takes_its_drain_time", probes::a_full_queue_takes_its_drain_time),
    ("a_full_sender_is_stopped_without_error", probes::a_full_sender_is_stopped_without_error),
    (
        "searches_find_a_slower_link_behind_a_faster_one",
        searches::find_a_slower_link_behind_a_faster_one,
    ),
    ("a_link_local_zone_is_kept", exchanges::a_link_local_zone_is_kept),
];

/// Those of the others that judge times and rates, not only counts.
const WITNESSES: [&str; 3] = [
    "troubles_of_each_way_are_found",
    "each_way_has_its_rate",
    "a_full_queue_takes_its_drain_time",
];

/// Those that do so at length.
const FIGURES: [&str; 4] = [
    "jitter_is_found",
    "bursts_are_found",
    "marked_packets_go_first",
    "searches_find_a_slower_link_behind_a_faster_one",
];

fn main() -> ExitCode {
    if let Some(code) = tier::refused() {
        return code;
    }
    netns::enter_user_namespace().expect("the probe succeeded");
    let filters: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted =
        |name: &str| filters.is_empty() || filters.iter().any(|f| name.contains(f.as_str()));
    let mut failed = 0;
    for (name, check) in CHECKS.into_iter().filter(|(name, _)| wanted(name)) {
        let tries = tries(judges(name), !filters.is_empty());
        match judged(name, tries, check) {
            _ if tries == 0 => println!("later  {name}: waits for cargo xtask truth"),
            Ok(()) => println!("ok     {name}"),
            Err(error) => {
                failed += 1;
                println!("FAILED {name}: {error}");
            }
        }
    }
    ExitCode::from(u8::from(failed > 0))
}

fn judges(name: &str) -> Judges {
    match name {
        _ if WITNESSES.contains(&name) => Judges::Witness,
        _ if FIGURES.contains(&name) => Judges::Figures,
        _ => Judges::Conduct,
    }
}
