//! The real program on real kernel networks with a known truth.
//!
//! Each scenario runs the built binary in namespaces that the test made itself and compares what it
//! says with what the world is. Arguments filter scenarios by name. `V6GAP_FULL=1` runs all of them
//! and repeats the statistical ones as often as docs/validation reports; otherwise those that only
//! judge figures wait for that night (`tier.rs`), and a small number shows that the others run.

mod capacity;
mod capture;
mod changes;
mod crash;
mod demo;
mod differences;
mod doctor;
mod goodput;
mod labs;
mod limits;
mod nulls;
mod pages;
mod predicted;
mod presets;
mod readme;
mod round_trips;
mod scenarios;
mod snmp;
mod support;
#[path = "../../../lab/tests/namespaces/tier.rs"]
#[expect(dead_code, reason = "what is judged here fails by panicking")]
mod tier;
mod trouble;
mod two_hosts;
mod two_systems;
mod views;

use std::process::ExitCode;
use std::time::Instant;
use tier::Judges::{self, Conduct, Figures, Witness};

/// A scenario: its name, what it does and what it judges; it fails by panicking.
type Scenario = (&'static str, fn(), Judges);

const SCENARIOS: [Scenario; 50] = [
    ("demo_answers_an_ordinary_user_in_time", demo::answers_in_time, Witness),
    ("demo_leaves_nothing_behind_when_killed", demo::leaves_nothing_behind, Conduct),
    ("demo_stops_in_its_self_test", demo::stops_in_its_self_test, Conduct),
    ("demo_measures_loopback_where_namespaces_are_refused", demo::falls_back_to_loopback, Conduct),
    ("the_view_is_drawn_on_a_terminal", views::drawn_on_a_terminal, Conduct),
    ("the_view_is_drawn_in_ascii", views::drawn_in_ascii, Conduct),
    ("the_view_of_a_plan_has_a_row_for_each_level", views::of_levels, Conduct),
    ("labs_come_and_go", labs::come_and_go, Conduct),
    ("labs_are_measured_inside", labs::measure_inside, Figures),
    ("labs_are_brought_up_by_the_run", labs::run_brings_its_own, Witness),
    ("labs_are_shown", labs::are_shown, Conduct),
    ("two_hosts_measure_each_other", two_hosts::measure_each_other, Witness),
    ("doctor_looks_at_both_hosts", doctor::looks_at_both_hosts, Witness),
    ("tcp_goodput_is_the_model_s", goodput::tcp, Witness),
    ("tcp_goodput_on_a_slow_line", goodput::tcp_slow, Figures),
    ("tcp_goodput_on_a_fast_line", goodput::tcp_fast, Figures),
    ("tcp_goodput_through_tunnels", goodput::through_tunnels, Figures),
    ("udp_goodput_of_long_datagrams", goodput::udp_long, Witness),
    ("udp_goodput_of_short_datagrams", goodput::udp_short, Figures),
    ("udp_goodput_on_a_slow_line_of_long_datagrams", goodput::udp_slow_long, Figures),
    ("udp_goodput_on_a_slow_line_of_short_datagrams", goodput::udp_slow_short, Figures),
    ("goodput_of_translated_packets_is_the_model_s", goodput::translated, Figures),
    ("capacity_is_the_link_s", capacity::by_load, Witness),
    ("the_highest_rate_without_loss_is_the_link_s", capacity::by_halving, Figures),
    ("round_trips_are_the_model_s", round_trips::rise_with_size, Witness),
    ("round_trips_on_a_slow_line", round_trips::rise_with_size_on_a_slow_line, Figures),
    ("the_cliff_of_fragments_is_where_it_must_be", round_trips::the_cliff_of_fragments, Figures),
    ("a_run_says_what_a_slower_line_takes", predicted::slower_line, Figures),
    ("a_token_bucket_refuses_round_trips", round_trips::refused_on_shaped, Witness),
    ("nothing_is_found_where_nothing_is", nulls::agree, Witness),
    ("a_slower_family_is_found", differences::rate, Figures),
    ("a_later_family_is_found", differences::delay, Witness),
    ("a_change_between_runs_is_found", changes::are_found, Figures),
    ("a_killed_end_loses_no_finished_block", crash::survives, Conduct),
    ("a_limited_server_answers_what_it_can", limits::answers_what_it_can, Conduct),
    ("trouble_is_named", trouble::is_named, Conduct),
    ("two_links_are_not_two_protocols", trouble::two_links, Conduct),
    ("a_black_hole_is_named", trouble::black_hole, Conduct),
    ("blocked_udp_is_named_and_tcp_measured", trouble::udp_blocked, Conduct),
    ("capture_in_a_lab_has_every_frame", capture::in_a_lab, Witness),
    ("capture_between_hosts_has_what_is_measured", capture::between_hosts, Figures),
    ("snmp_counts_what_passes", snmp::counts_agree, Witness),
    ("snmp_that_cannot_be_asked_is_named", snmp::trouble_is_named, Conduct),
    ("snmp_that_fails_loses_no_measurement", snmp::failure_loses_nothing, Conduct),
    ("two_systems_are_compared", two_systems::are_compared, Conduct),
    ("two_systems_that_cannot_be_are_named", two_systems::that_cannot_be_are_named, Conduct),
    ("scenarios_find_what_they_must", scenarios::hold, Figures),
    ("every_published_experiment_runs_end_to_end", presets::of_studies, Conduct),
    ("every_other_plan_runs_end_to_end", presets::of_our_own, Conduct),
    ("every_command_of_the_readme_runs", readme::runs, Witness),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if let [_, word, form] = &words[..]
        && word == pages::ASK
    {
        pages::ask(form);
        return ExitCode::SUCCESS;
    }
    let filters: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted =
        |name: &str| filters.is_empty() || filters.iter().any(|f| name.contains(f.as_str()));
    if let Some(code) = tier::refused() {
        return code;
    }
    let mut failed = 0;
    for (name, scenario, judges) in SCENARIOS.into_iter().filter(|(name, ..)| wanted(name)) {
        let tries = tier::tries(judges, !filters.is_empty());
        if tries == 0 {
            println!("scenario {name} waits for cargo xtask truth");
            continue;
        }
        println!("scenario {name} …");
        let start = Instant::now();
        let good = (1..=tries).any(|nth| holds(nth, scenario));
        let word = if good { "ok" } else { "FAILED" };
        println!("scenario {name} {word} ({:.1} s)", start.elapsed().as_secs_f64());
        failed += usize::from(!good);
    }
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn holds(nth: usize, scenario: fn()) -> bool {
    if nth > 1 {
        println!("    again, for the {nth}. time");
    }
    std::panic::catch_unwind(scenario).is_ok()
}
