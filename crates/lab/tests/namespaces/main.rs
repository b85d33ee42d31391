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
use tier::Tier::{Day, Night, Witness};
use v6gap_sys::netns;

/// A check returns the figures that it saw, or what was wrong.
type Check = fn() -> Result<String, Box<dyn std::error::Error>>;

/// Checks that start other processes, before this one enters its user namespace.
const OUTSIDE: [tier::Scenario<Check>; 2] = [
    ("holder_up_status_join_down", holding::up_status_join_down, Day(5)),
    ("holder_leaves_nothing_after_kill", holding::nothing_left_after_kill, Day(5)),
];

/// Checks that build labs in this process.
const INSIDE: [tier::Scenario<Check>; 34] = [
    ("every_model_carries_both_families", plumbing::every_model_carries_both_families, Day(5)),
    ("longer_chain", plumbing::longer_chain, Day(5)),
    ("every_shape_forwards", topologies::every_shape_forwards_by_the_right_routers, Day(5)),
    ("a_large_graph_is_whole", topologies::a_large_graph_is_whole, Day(5)),
    ("dumb_bell_carries_cross_traffic", topologies::dumb_bell_carries_cross_traffic, Witness(5)),
    ("own_subnets_are_used", topologies::own_subnets_are_used, Day(5)),
    ("offloads_are_as_the_link_says", topologies::offloads_are_as_the_link_says, Day(5)),
    ("absent_family_has_no_address", plumbing::absent_family_has_no_address, Day(5)),
    ("managed_router_comes_and_goes", managed::comes_and_goes, Day(5)),
    ("nothing_left_after_drop", plumbing::nothing_left_after_drop, Day(5)),
    ("wire_sleeps_between_trials", plumbing::wire_sleeps_between_trials, Witness(5)),
    ("wire_goes_first_where_it_may", plumbing::wire_goes_first_where_it_may, Day(5)),
    ("wire_goes_on_beside_other_work", plumbing::wire_goes_on_beside_other_work, Witness(5)),
    ("small_mtu_is_discovered", conditions::small_mtu_is_discovered, Day(5)),
    ("each_family_has_its_mtu", conditions::each_family_has_its_mtu, Day(5)),
    ("black_hole_takes_large_packets", conditions::black_hole_takes_large_packets, Day(5)),
    ("loss_hits_its_family_only", conditions::loss_hits_its_family_only, Day(5)),
    ("delay_hits_its_family_only", conditions::delay_hits_its_family_only, Witness(5)),
    ("delay_changes", changes::delay_changes, Witness(5)),
    ("rate_changes", changes::rate_changes, Witness(5)),
    ("mtu_changes", changes::mtu_changes, Day(5)),
    ("wire_round_trip", conditions::wire_round_trip, Witness(5)),
    ("wire_icmp_round_trip", conditions::wire_icmp_round_trip, Night(60)),
    ("wire_patience", conditions::wire_patience, Night(60)),
    ("shaped_udp_goodput", rates::shaped_udp_goodput, Night(30)),
    ("shaped_rate_of_each_family", rates::shaped_rate_of_each_family, Witness(12)),
    ("shaped_tcp_sends_single_frames", rates::shaped_tcp_sends_single_frames, Witness(5)),
    ("wire_udp_goodput", rates::wire_udp_goodput, Night(60)),
    ("bare_tcp_shows_super_packets", rates::bare_tcp_shows_super_packets, Witness(5)),
    ("tunnels_add_what_the_model_says", tunnels::each_adds_what_the_model_says, Night(60)),
    ("tunnels_carry_what_they_are_told", tunnels::only_what_is_carried_is_wrapped, Day(5)),
    ("translation_exchanges_the_header", tunnels::translation_exchanges_the_header, Witness(5)),
    ("what_is_missing_is_said", tunnels::what_is_missing_is_said, Day(5)),
    ("what_is_provided_is_listed", tunnels::what_is_provided_is_listed, Day(5)),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = holding::play_role(&arguments) {
        std::process::exit(code);
    }
    if let Some(code) = tier::refused() {
        return code;
    }
    let call = |check: Check| check().map_err(|e| e.to_string());
    let outside = tier::run(&OUTSIDE, call);
    netns::enter_user_namespace().expect("the probe succeeded");
    tier::ended(outside + tier::run(&INSIDE, call))
}
