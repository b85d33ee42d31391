//! What is found in which facts, one row for each rule.

use super::watched::{Busy, Clock, Place, Placement, Traffic};
use super::*;
use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec;
use v6gap_core::family::PerFamily;
use v6gap_core::host::names;

/// Facts of a host that is as it should be.
fn quiet_host() -> Host {
    let facts = [
        (names::PROCESSORS, "4"),
        (names::GOVERNOR, "performance"),
        (names::FREQUENCY_MIN, "800000"),
        (names::FREQUENCY_MAX, "3600000"),
        (names::FREQUENCY_NOW, "3600000"),
        (names::TURBO, "off"),
        (names::SLEEP_WAKE, "2"),
        (names::SLEEP_LIMIT, "none"),
        (names::HYPERVISOR, "no"),
        (names::INTERRUPTS_MOVED, "no"),
        (names::TRACKED, "none"),
        (names::CONGESTION, "cubic"),
        ("net.ipv4.tcp_no_metrics_save", "1"),
        ("net.ipv4.tcp_slow_start_after_idle", "0"),
        ("net.ipv4.tcp_rmem", "4096 131072 33554432"),
        ("net.ipv4.tcp_wmem", "4096 16384 33554432"),
        ("net.core.rmem_max", "212992"),
        ("net.core.wmem_max", "212992"),
        ("interface.eth0.offloads", "tx-tcp-segmentation tx-tcp6-segmentation"),
        ("interface.eth0.interrupts", "0 1"),
    ];
    let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    Host { name: "near".to_owned(), facts: facts.collect() }
}

fn placement(place: Place, v4: &[f64], v6: &[f64]) -> Placement {
    Placement { place, trips_ns: PerFamily { v4: v4.to_vec(), v6: v6.to_vec() } }
}

/// What is watched on such a host.
fn quiet() -> Watched {
    let trips = &[20e3, 20.5e3];
    Watched {
        clock: Clock {
            step_ns: 20,
            read_ns: 25,
            span_ns: 200_000_000,
            longest_ns: 50_000,
            held: 3,
            held_ns: 120_000,
        },
        busy: Ok(Busy { span_ns: 1_000_000_000, share: 0.02, steal: 0.0 }),
        traffic: Ok(vec![Traffic {
            interface: "eth0".to_owned(),
            bps: 20e3,
            line_bps: Some(1_000_000_000),
        }]),
        placements: Ok([Place::One, Place::Two, Place::Free]
            .map(|place| placement(place, trips, trips))
            .to_vec()),
    }
}

fn path() -> Path {
    Path { interfaces: vec!["eth0".to_owned()], round_trip_ns: Some(10e6) }
}

fn find<'a>(findings: &'a [Finding], id: &str, near: bool) -> &'a Finding {
    findings.iter().find(|f| f.id == id && f.near == near).unwrap_or_else(|| panic!("no {id}"))
}

#[test]
fn nothing_is_said_against_hosts_that_are_as_they_should_be() {
    let (near, far) = (quiet_host(), Host { name: "far".to_owned(), ..quiet_host() });
    let findings = judge(&near, Some(&far), &quiet(), &path());
    for finding in &findings {
        assert_eq!(finding.state, State::Ok, "{finding:?}");
        assert!(!finding.seen.is_empty() && finding.effect.is_none(), "{finding:?}");
        assert_eq!(finding.host, if finding.near { "near" } else { "far" });
    }
    assert!(is_fit(&findings));
    let ids: Vec<&str> = findings.iter().filter(|f| f.near).map(|f| f.id).collect();
    let all = [
        "clock",
        "held-up",
        "load",
        "steal",
        "traffic",
        "placement",
        "processors",
        "frequency",
        "turbo",
        "sleep",
        "hypervisor",
        "interrupts",
        "offloads",
        "buffers",
        "congestion",
        "metrics-saved",
        "idle-restart",
        "tracking",
    ];
    assert_eq!(ids, all);
}

/// Each row spoils one thing that is watched, and names the finding that must come of it.
#[test]
fn each_thing_that_is_watched_is_judged() {
    type Row = (&'static str, State, &'static str, fn(&mut Watched));
    let rows: [Row; 13] = [
        ("clock", State::Trouble, "of 20 µs", |w| w.clock.step_ns = 1_000),
        ("clock", State::Note, "rounded", |w| {
            w.clock.step_ns = 2_000;
            w.placements = Err("unavailable, because".to_owned());
        }),
        ("clock", State::Note, "cost of reading", |w| w.clock.read_ns = 900),
        ("held-up", State::Note, "slowest", |w| w.clock.held_ns = 2_000_000),
        ("held-up", State::Note, "slowest", |w| w.clock.longest_ns = 4_100_000),
        ("load", State::Note, "take turns", |w| w.busy.as_mut().unwrap().share = 0.6),
        ("steal", State::Note, "discarded", |w| w.busy.as_mut().unwrap().steal = 0.015),
        // Of the ticks of a second one or two may be rounding.
        ("steal", State::Trouble, "no verdict", |w| w.busy.as_mut().unwrap().steal = 0.045),
        ("traffic", State::Note, "1 %", |w| w.traffic.as_mut().unwrap()[0].bps = 11e6),
        ("traffic", State::Note, "1 %", |w| {
            let traffic = &mut w.traffic.as_mut().unwrap()[0];
            (traffic.bps, traffic.line_bps) = (2e6, None);
        }),
        ("placement", State::Note, "differ 5-fold", |w| {
            w.placements.as_mut().unwrap()[1] = placement(Place::Two, &[102.5e3], &[102.5e3]);
        }),
        ("placement", State::Note, "2.5-fold", |w| {
            w.placements.as_mut().unwrap()[2] = placement(Place::Free, &[20e3, 50e3], &[20e3]);
        }),
        ("load", State::Unavailable, "", |w| {
            w.busy = Err("processor use unavailable, because X".to_owned());
        }),
    ];
    for (id, state, effect, spoil) in rows {
        let mut watched = quiet();
        spoil(&mut watched);
        let findings = judge(&quiet_host(), None, &watched, &path());
        let finding = find(&findings, id, true);
        assert_eq!(finding.state, state, "{finding:?}");
        assert!(finding.effect.as_deref().unwrap_or_default().contains(effect), "{finding:?}");
        assert_eq!(is_fit(&findings), state != State::Trouble);
        if state >= State::Note {
            assert!(!finding.improve.is_empty(), "{finding:?}");
        }
    }
}

/// Each row changes one fact, and names the finding that must come of it.
#[test]
fn each_fact_is_judged_at_either_end() {
    let rows = [
        ("processors", names::PROCESSORS, "1", State::Note),
        ("frequency", names::GOVERNOR, "performance powersave", State::Note),
        ("turbo", names::TURBO, "on", State::Note),
        ("sleep", names::SLEEP_WAKE, "133", State::Note),
        ("hypervisor", names::HYPERVISOR, "KVM", State::Note),
        ("interrupts", names::INTERRUPTS_MOVED, "yes", State::Note),
        ("offloads", "interface.eth0.offloads", "tx-tcp-segmentation", State::Note),
        ("buffers", "net.ipv4.tcp_rmem", "4096 131072 1048576", State::Note),
        ("metrics-saved", "net.ipv4.tcp_no_metrics_save", "0", State::Note),
        ("idle-restart", "net.ipv4.tcp_slow_start_after_idle", "1", State::Note),
        ("tracking", names::TRACKED, "12", State::Note),
        ("tracking", names::TRACKED, "0", State::Ok),
        ("sleep", names::SLEEP_WAKE, "deep", State::Unavailable),
        ("frequency", names::GOVERNOR, "frequency unavailable, because X", State::Unavailable),
    ];
    for near in [true, false] {
        for (id, name, value, state) in rows {
            let mut host = quiet_host();
            host.facts.insert(name.to_owned(), value.to_owned());
            let (one, other) = (host, quiet_host());
            let (here, there) = if near { (one, other) } else { (other, one) };
            let findings = judge(&here, Some(&there), &quiet(), &path());
            let finding = find(&findings, id, near);
            assert_eq!(finding.state, state, "{near} {finding:?}");
            assert_eq!(finding.effect.is_some(), state == State::Note, "{finding:?}");
            assert_eq!(find(&findings, id, !near).state, State::Ok);
        }
    }
}

#[test]
fn what_limits_a_fast_processor_or_a_deep_sleep_is_seen() {
    let mut host = quiet_host();
    let mut put = |name: &str, value: &str| host.facts.insert(name.to_owned(), value.to_owned());
    put(names::GOVERNOR, "powersave");
    put(names::FREQUENCY_MIN, "3600000");
    put(names::SLEEP_WAKE, "133");
    put(names::SLEEP_LIMIT, "10");
    let findings = judge(&host, None, &quiet(), &path());
    assert_eq!(find(&findings, "frequency", true).state, State::Ok, "it has one speed");
    assert_eq!(find(&findings, "sleep", true).state, State::Ok, "somebody forbids deep sleep");
}

#[test]
fn an_end_that_tells_nothing_is_unavailable_and_no_trouble() {
    let far = Host { name: "old".to_owned(), ..Host::default() };
    let findings = judge(&quiet_host(), Some(&far), &quiet(), &path());
    for finding in findings.iter().filter(|f| !f.near) {
        assert_eq!(finding.state, State::Unavailable, "{finding:?}");
        assert!(finding.seen.contains(names::UNAVAILABLE), "{finding:?}");
    }
    assert!(is_fit(&findings));
}

#[test]
fn ends_with_other_congestion_controls_are_named() {
    let mut far = quiet_host();
    far.facts.insert(names::CONGESTION.to_owned(), "bbr".to_owned());
    let findings = judge(&quiet_host(), Some(&far), &quiet(), &path());
    let finding = find(&findings, "congestion", false);
    assert_eq!(finding.state, State::Note);
    assert_eq!(finding.improve, ["v6gap run HOST -C bbr"]);
}

#[test]
fn only_interfaces_on_the_route_count_here() {
    let mut host = quiet_host();
    let one_sided = "tx-checksum-ipv4".to_string();
    host.facts.insert("interface.wlan0.offloads".to_owned(), one_sided);
    let findings = judge(&host, None, &quiet(), &path());
    assert_eq!(find(&findings, "offloads", true).state, State::Ok);
    let path = Path { interfaces: vec!["wlan0".to_owned()], ..path() };
    let findings = judge(&host, None, &quiet(), &path);
    let finding = find(&findings, "offloads", true);
    assert!(finding.seen.contains("wlan0 does checksums for IPv4 alone"), "{finding:?}");
    assert_eq!(finding.improve, ["ethtool -K wlan0 tx-checksum-ipv4 off"]);
}

#[test]
fn a_reason_is_written_beside_values() {
    let watched = Watched { busy: Err("why".to_owned()), ..quiet() };
    let text = serde_json::to_string(&watched).unwrap();
    assert!(text.contains(r#""busy":{"unavailable":"why"}"#), "{text}");
    assert!(text.contains(r#""traffic":[{"interface":"eth0""#), "{text}");
}
