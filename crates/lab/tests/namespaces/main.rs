//! The lab on a real kernel: builds worlds and measures what their links do.
//!
//! Not under the usual harness, because a user namespace can be entered only by a process with a
//! single thread. Where the host gives no namespaces it says `SKIPPED` and passes, or fails if
//! `V6GAP_REQUIRE_NAMESPACES=1` is set. Arguments choose checks by a part of their name.
//!
//! Bounds leave room for a busy machine: the least or the median of several figures is judged.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program of its own, which plays client and server with plain sockets and prints"
)]

mod changes;
mod conditions;
mod holding;
mod managed;
mod plumbing;
mod rates;
mod tier;
mod topologies;
mod traffic;
mod tunnels;

use std::process::ExitCode;
use tier::{Judges, judged, tries};
use v6gap_sys::netns;

/// A check returns the figures that it saw, or what was wrong.
type Check = fn() -> Result<String, Box<dyn std::error::Error>>;

/// Checks that start other processes, before this one enters its user namespace.
const OUTSIDE: [(&str, Check); 2] = [
    ("holder_up_status_join_down", holding::up_status_join_down),
    ("holder_leaves_nothing_after_kill", holding::nothing_left_after_kill),
];

/// Checks that build labs in this process.
const INSIDE: [(&str, Check); 32] = [
    ("every_model_carries_both_families", plumbing::every_model_carries_both_families),
    ("longer_chain", plumbing::longer_chain),
    ("every_shape_forwards", topologies::every_shape_forwards_by_the_right_routers),
    ("a_large_graph_is_whole", topologies::a_large_graph_is_whole),
    ("dumb_bell_carries_cross_traffic", topologies::dumb_bell_carries_cross_traffic),
    ("own_subnets_are_used", topologies::own_subnets_are_used),
    ("offloads_are_as_the_link_says", topologies::offloads_are_as_the_link_says),
    ("absent_family_has_no_address", plumbing::absent_family_has_no_address),
    ("managed_router_comes_and_goes", managed::comes_and_goes),
    ("nothing_left_after_drop", plumbing::nothing_left_after_drop),
    ("wire_sleeps_between_trials", plumbing::wire_sleeps_between_trials),
    ("small_mtu_is_discovered", conditions::small_mtu_is_discovered),
    ("each_family_has_its_mtu", conditions::each_family_has_its_mtu),
    ("black_hole_takes_large_packets", conditions::black_hole_takes_large_packets),
    ("loss_hits_its_family_only", conditions::loss_hits_its_family_only),
    ("delay_hits_its_family_only", conditions::delay_hits_its_family_only),
    ("delay_changes", changes::delay_changes),
    ("rate_changes", changes::rate_changes),
    ("mtu_changes", changes::mtu_changes),
    ("wire_round_trip", conditions::wire_round_trip),
    ("wire_icmp_round_trip", conditions::wire_icmp_round_trip),
    ("wire_patience", conditions::wire_patience),
    ("shaped_udp_goodput", rates::shaped_udp_goodput),
    ("shaped_rate_of_each_family", rates::shaped_rate_of_each_family),
    ("shaped_tcp_sends_single_frames", rates::shaped_tcp_sends_single_frames),
    ("wire_udp_goodput", rates::wire_udp_goodput),
    ("bare_tcp_shows_super_packets", rates::bare_tcp_shows_super_packets),
    ("tunnels_add_what_the_model_says", tunnels::each_adds_what_the_model_says),
    ("tunnels_carry_what_they_are_told", tunnels::only_what_is_carried_is_wrapped),
    ("translation_exchanges_the_header", tunnels::translation_exchanges_the_header),
    ("what_is_missing_is_said", tunnels::what_is_missing_is_said),
    ("what_is_provided_is_listed", tunnels::what_is_provided_is_listed),
];

/// Those that judge times and rates, or wait for other programs to be ready.
const WITNESSES: [&str; 11] = [
    "translation_exchanges_the_header",
    "dumb_bell_carries_cross_traffic",
    "delay_hits_its_family_only",
    "delay_changes",
    "rate_changes",
    "wire_sleeps_between_trials",
    "wire_round_trip",
    "shaped_udp_goodput",
    "shaped_rate_of_each_family",
    "shaped_tcp_sends_single_frames",
    "bare_tcp_shows_super_packets",
];

/// Those that do so at length.
const FIGURES: [&str; 4] = [
    "tunnels_add_what_the_model_says",
    "wire_icmp_round_trip",
    "wire_patience",
    "wire_udp_goodput",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = holding::play_role(&arguments) {
        std::process::exit(code);
    }
    if let Some(code) = tier::refused() {
        return code;
    }
    let mut failures = run(&OUTSIDE, &arguments);
    netns::enter_user_namespace().expect("the probe succeeded");
    failures += run(&INSIDE, &arguments);
    println!("{failures} failed");
    ExitCode::from(u8::from(failures > 0))
}

/// Runs the chosen checks one after the other and returns how many failed.
fn run(checks: &[(&str, Check)], arguments: &[String]) -> usize {
    let mut wanted = arguments.iter().filter(|argument| !argument.starts_with('-')).peekable();
    let all = wanted.peek().is_none();
    let wanted: Vec<&String> = wanted.collect();
    let mut failures = 0;
    for (name, check) in checks {
        if !all && !wanted.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let tries = tries(judges(name), !all);
        match judged(name, tries, check) {
            _ if tries == 0 => println!("later  {name}: waits for cargo xtask truth"),
            Ok(figures) => println!("ok     {name}: {figures}"),
            Err(error) => {
                failures += 1;
                println!("FAILED {name}: {error}");
            }
        }
    }
    failures
}

fn judges(name: &str) -> Judges {
    match name {
        _ if WITNESSES.contains(&name) => Judges::Witness,
        _ if FIGURES.contains(&name) => Judges::Figures,
        _ => Judges::Conduct,
    }
}
