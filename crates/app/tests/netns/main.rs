//! The real program on real kernel networks with a known truth.
//!
//! Each scenario runs the built binary in namespaces that the test made itself and compares what it
//! says with what the world is. Arguments choose scenarios by a part of their name. `V6GAP_FULL=1`
//! runs all of them and repeats the statistical ones as often as docs/validation reports; otherwise
//! those of the night wait (`tier.rs`), and a small number shows that the others run.

mod addresses;
mod answered;
mod broken;
mod capacity;
mod capture;
mod changes;
#[path = "../../../lab/tests/scenarios/coherent.rs"]
mod coherent;
mod crash;
mod demo;
mod differences;
mod doctor;
mod downloads;
mod fleet;
mod fleet_time;
mod fleet_truth;
mod goodput;
mod half_broken;
mod iperf3;
mod labs;
mod limits;
mod machines;
mod name_servers;
mod nat64;
mod nulls;
mod pages;
mod politeness;
mod predicted;
mod presets;
mod probe;
#[allow(dead_code, unused_imports, reason = "the suite of a broker uses the rest")]
#[path = "../broker/programs.rs"]
mod programs;
mod quick_start;
mod readme;
mod resolvers;
mod round_trips;
mod rounds;
mod same;
mod scenarios;
mod sites;
mod snmp;
mod ssh;
mod stamp;
mod support;
#[path = "../../../lab/tests/namespaces/tier.rs"]
mod tier;
mod trouble;
mod two_hosts;
mod two_systems;
mod views;
mod watched;
mod ways;
mod workers;

use std::process::ExitCode;
use tier::Tier::{Day, Night, Witness};

/// Each fails by panicking.
const SCENARIOS: [tier::Scenario<fn()>; 88] = [
    ("demo_answers_an_ordinary_user_in_time", demo::answers_in_time, Day(60)),
    ("demo_leaves_nothing_behind_when_killed", demo::leaves_nothing_behind, Day(5)),
    ("demo_stops_in_its_self_test", demo::stops_in_its_self_test, Day(5)),
    ("demo_measures_loopback_where_namespaces_are_refused", demo::falls_back_to_loopback, Day(15)),
    ("the_view_is_drawn_on_a_terminal", views::drawn_on_a_terminal, Witness(10)),
    ("the_view_is_drawn_in_ascii", views::drawn_in_ascii, Night(10)),
    ("the_view_of_a_plan_has_a_row_for_each_level", views::of_levels, Night(10)),
    ("labs_come_and_go", labs::come_and_go, Night(15)),
    ("labs_are_measured_inside", labs::measure_inside, Night(60)),
    ("labs_are_brought_up_by_the_run", labs::run_brings_its_own, Witness(10)),
    ("each_round_has_a_lab_of_its_own", rounds::in_labs_of_their_own, Day(20)),
    ("rounds_are_kept_if_there_is_no_further_lab", rounds::keep_what_was_measured, Day(20)),
    ("labs_are_shown", labs::are_shown, Day(3)),
    ("rounds_of_a_lab_have_workers_of_their_own", workers::measure_inside, Day(15)),
    ("two_hosts_measure_each_other", two_hosts::measure_each_other, Witness(30)),
    ("one_address_is_enough", two_hosts::one_address_is_enough, Day(6)),
    ("doctor_looks_at_both_hosts", doctor::looks_at_both_hosts, Night(30)),
    ("goodput_is_the_model_s", goodput::of_both_transports, Witness(30)),
    ("tcp_goodput_on_a_slow_line", goodput::tcp_slow, Night(90)),
    ("tcp_goodput_on_a_fast_line", goodput::tcp_fast, Night(60)),
    ("tcp_goodput_through_tunnels", goodput::through_tunnels, Night(300)),
    ("udp_goodput_of_short_datagrams", goodput::udp_short, Night(90)),
    ("udp_goodput_on_a_slow_line_of_long_datagrams", goodput::udp_slow_long, Night(150)),
    ("udp_goodput_on_a_slow_line_of_short_datagrams", goodput::udp_slow_short, Night(120)),
    ("goodput_of_translated_packets_is_the_model_s", goodput::translated, Night(60)),
    ("capacity_is_the_link_s", capacity::by_load, Night(60)),
    ("the_highest_rate_without_loss_is_the_link_s", capacity::by_halving, Night(60)),
    ("round_trips_are_the_model_s", round_trips::rise_with_size, Witness(30)),
    ("round_trips_on_a_slow_line", round_trips::rise_with_size_on_a_slow_line, Night(120)),
    ("the_cliff_of_fragments_is_where_it_must_be", round_trips::the_cliff_of_fragments, Night(60)),
    ("a_run_says_what_a_slower_line_takes", predicted::slower_line, Night(90)),
    ("one_thread_has_both_ends", round_trips::in_one_thread, Witness(15)),
    ("a_token_bucket_refuses_round_trips", round_trips::refused_on_shaped, Witness(12)),
    ("nothing_is_found_where_nothing_is", nulls::agree, Night(1_500)),
    ("nothing_is_found_in_visits_that_are_alike", nulls::visits_agree, Night(700)),
    ("a_slower_family_is_found", differences::rate, Night(900)),
    ("a_later_family_is_found", differences::delay, Witness(20)),
    ("a_change_between_runs_is_found", changes::are_found, Night(120)),
    ("changes_of_watched_paths_are_found", watched::changes_are_found, Night(1_200)),
    ("a_killed_end_loses_no_finished_block", crash::survives, Day(25)),
    ("a_limited_server_answers_what_it_can", limits::answers_what_it_can, Night(60)),
    ("trouble_is_named", trouble::is_named, Day(10)),
    ("two_links_are_not_two_protocols", trouble::two_links, Day(10)),
    ("a_black_hole_is_named", trouble::black_hole, Day(15)),
    ("blocked_udp_is_named_and_tcp_measured", trouble::udp_blocked, Day(15)),
    ("a_family_that_fails_is_worse", answered::a_family_that_fails, Night(180)),
    ("whatever_a_path_allows_is_answered", answered::whatever_the_path_allows, Night(300)),
    ("capture_in_a_lab_has_every_frame", capture::in_a_lab, Witness(10)),
    ("capture_between_hosts_has_what_is_measured", capture::between_hosts, Day(10)),
    ("snmp_counts_what_passes", snmp::counts_agree, Night(60)),
    ("snmp_that_cannot_be_asked_is_named", snmp::trouble_is_named, Day(15)),
    ("snmp_that_fails_loses_no_measurement", snmp::failure_loses_nothing, Day(15)),
    ("two_systems_are_compared", two_systems::are_compared, Night(90)),
    ("two_systems_that_cannot_be_are_named", two_systems::that_cannot_be_are_named, Day(10)),
    ("scenarios_find_what_they_must", scenarios::hold, Night(300)),
    ("plans_run_end_to_end", presets::run_end_to_end, Night(900)),
    ("commands_of_the_readme_run", readme::runs, Witness(60)),
    ("a_site_is_as_far_as_the_world_says", probe::finds_the_world, Night(120)),
    ("an_older_tls_takes_a_round_trip_more", probe::finds_an_older_tls, Night(40)),
    ("phases_are_as_long_as_curl_s", probe::agrees_with_curl, Night(60)),
    ("downloads_have_the_goodput_of_the_line", downloads::have_the_goodput_of_the_line, Night(60)),
    ("sites_are_one_or_two_machines", same::are_told_apart, Night(90)),
    ("curl_chooses_as_was_reckoned", probe::foretells_curl, Night(120)),
    ("a_broken_ipv6_is_named", broken::is_named, Day(15)),
    ("curl_leaves_a_broken_ipv6_in_time", broken::is_left_by_curl_as_was_reckoned, Night(60)),
    ("an_ipv6_that_connects_and_fails_is_named", half_broken::is_named, Night(60)),
    ("a_black_hole_stalls_visits", half_broken::stalls_where_large_packets_vanish, Night(40)),
    ("name_servers_are_as_far_as_they_are", resolvers::are_as_far_as_they_are, Night(90)),
    ("name_servers_are_compared", resolvers::are_compared, Night(60)),
    ("addresses_are_compared", addresses::are_compared_machine_by_machine, Night(150)),
    ("an_answer_may_be_late", resolvers::may_be_late, Night(150)),
    ("an_answer_may_be_missing", resolvers::may_be_missing, Night(200)),
    ("a_translated_family_is_named", nat64::is_named, Night(120)),
    ("no_more_is_asked_than_is_allowed", politeness::is_kept, Night(600)),
    ("who_asks_to_be_left_alone_is", politeness::leaves_alone_who_asks, Night(40)),
    ("ways_have_every_router", ways::have_every_router, Witness(15)),
    ("ways_are_found_by_anybody", ways::are_found_by_anybody, Night(60)),
    ("ways_part_where_the_world_s_do", ways::part_where_the_world_s_do, Night(60)),
    ("ways_have_an_mtu", ways::have_an_mtu, Witness(20)),
    ("ways_tell_there_from_back", ways::tell_there_from_back, Night(40)),
    ("ways_name_their_tunnel", ways::name_their_tunnel, Night(40)),
    ("iperf3_is_measured_against", iperf3::is_measured_against, Witness(30)),
    ("reflectors_are_measured_against", stamp::is_measured_against, Night(1500)),
    ("iperf3_is_waited_for", iperf3::is_waited_for, Night(60)),
    ("two_hosts_are_measured_by_ssh", ssh::two_hosts_are_measured, Night(180)),
    ("a_fleet_s_matrix_is_the_world", fleet::is_the_world, Night(450)),
    ("a_fleet_s_quick_start_leads_to_a_matrix", quick_start::leads_to_a_matrix, Night(150)),
    ("iperf3_tells_one_server_from_two", iperf3::tells_one_server_from_two, Night(40)),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if let [_, word, form] = &words[..]
        && word == pages::ASK
    {
        pages::ask(form);
        return ExitCode::SUCCESS;
    }
    tier::refused().unwrap_or_else(|| {
        tier::ended(tier::run(&SCENARIOS, |scenario| {
            scenario();
            Ok(String::new())
        }))
    })
}
