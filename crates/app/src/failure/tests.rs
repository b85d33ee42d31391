//! Errors have the promised form, and every code can be explained.

use super::*;
use crate::args::{Cli, Command};
use clap::Parser;
use std::net::{IpAddr, SocketAddr};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::record::RunId;
use v6gap_core::wire::control::{RefusalCode, Refused};
use v6gap_core::wire::version::{VersionMismatch, VersionRange};
use v6gap_perform::NoLab;
use v6gap_perform::errors::{ConnectError, FamilyProblem, RunError, Trouble};
use v6gap_perform::target::Asked;

/// What the server is called.
const NAME: &str = "vps-fra";

fn problem(family: Family, trouble: Trouble) -> FamilyProblem {
    let addresses = PerFamily { v4: "198.51.100.7:4466", v6: "[2001:db8:9::7]:4466" };
    let address: SocketAddr = addresses.get(family).parse().unwrap();
    FamilyProblem { family, address, trouble }
}

fn text(failure: &Failure) -> String {
    failure.render(&Style::default())
}

fn of_both(v4: Option<Trouble>, v6: Option<Trouble>) -> Failure {
    let problems = PerFamily {
        v4: v4.map(|trouble| problem(Family::V4, trouble)),
        v6: v6.map(|trouble| problem(Family::V6, trouble)),
    };
    Failure::of_connect(NAME, &ConnectError { problems: Box::new(problems) })
}

fn no_answer() -> Trouble {
    Trouble::NoAnswer { waited_ns: 5_000_000_000 }
}

#[test]
fn no_server_anywhere_is_one_error_about_both() {
    let failure = of_both(Some(Trouble::Refused), Some(Trouble::Refused));
    let expected = "\
error: no v6gap server answers on vps-fra, port 4466
  IPv4 198.51.100.7: connection refused. IPv6 2001:db8:9::7: connection refused.
  The computer is up; nothing listens on that port.
  Try:    v6gap serve   on vps-fra
  [E201, exit 4]
";
    assert_eq!(text(&failure), expected);
}

#[test]
fn a_server_on_one_family_only_is_told_apart_from_a_firewall() {
    let refused = Failure::one_family(NAME, &problem(Family::V6, Trouble::Refused));
    let shown = text(&refused);
    assert!(shown.starts_with("error: the server on vps-fra answers over IPv4 but not over IPv6"));
    assert!(shown.contains("expect a line with [::]:4466"), "{shown}");
    assert!(shown.ends_with("  [E202, exit 3]\n"), "{shown}");
    let silent = Failure::one_family(NAME, &problem(Family::V6, no_answer()));
    assert!(text(&silent).contains("within 5 s over IPv6"));
    assert!(text(&silent).ends_with("  [E203, exit 3]\n"));
}

#[test]
fn no_route_names_the_family() {
    let system = "Network is unreachable (os error 101)".to_owned();
    let failure = Failure::one_family(NAME, &problem(Family::V6, Trouble::NoRoute { system }));
    let shown = text(&failure);
    assert!(shown.starts_with("error: this computer has no IPv6 route to vps-fra (2001:db8:9::7)"));
    assert!(shown.contains("v6gap run vps-fra -4"), "{shown}");
    assert!(shown.ends_with("  [E101, exit 3]\n"));
}

#[test]
fn what_a_server_told_in_vain_is_said() {
    let address = |text: &str| text.parse::<IpAddr>().unwrap();
    let shown = |asked: Option<&Asked>| {
        let failure = Failure::no_address("192.0.2.7", Family::V6, address("192.0.2.7"), asked);
        assert_eq!((failure.code, failure.outcome), (Some("E102"), Outcome::OneFamily));
        text(&failure).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(!shown(None).contains("asked"));
    let (none, wanted) = (Vec::new(), Some(address("2001:db8::7")));
    let silent = shown(Some(&Asked { passed_over: none.clone(), wanted: None }));
    assert!(silent.contains("asked for its IPv6 address and tells none."), "{silent}");
    assert!(silent.contains("v6gap serve --announce ADDR on 192.0.2.7"), "{silent}");
    let elsewhere = shown(Some(&Asked { passed_over: none, wanted }));
    assert!(elsewhere.contains("does not tell 2001:db8::7, with which"), "{elsewhere}");
    let passed_over = vec![(address("2001:db8::7"), "no answer within 2 s".to_owned())];
    let strange = shown(Some(&Asked { passed_over, wanted }));
    assert!(strange.contains("lead to it: 2001:db8::7: no answer within 2 s."), "{strange}");
}

/// One that cannot be asked for its addresses can be given both.
#[test]
fn an_older_server_that_has_to_be_asked_is_named() {
    let shown = |feature: &str| {
        let why = format!("this server does not know {feature:?}");
        let refused = Refused { code: RefusalCode::TooOld, why };
        let failure = Failure::of_problem(NAME, &problem(Family::V4, Trouble::Session(refused)));
        assert_eq!(failure.code, Some("E205"));
        text(&failure)
    };
    assert!(shown("whereabouts").contains("v6gap run vps-fra --v4 ADDR --v6 ADDR"));
    assert!(!shown("capacity").contains("--v4"));
}

/// RFC 791, RFC 8200: the headers of IP and of ICMP are in the size that does not pass.
#[test]
fn a_black_hole_is_shown_by_a_packet_of_its_size_and_family() {
    let shown = |family| text(&Failure::black_hole(NAME, family, 1480));
    assert!(shown(Family::V4).contains("ping -4 -M do -s 1453 vps-fra "), "{}", shown(Family::V4));
    assert!(shown(Family::V6).contains("ping -6 -M do -s 1433 vps-fra "), "{}", shown(Family::V6));
}

#[test]
fn what_a_server_said_weighs_more_than_silence() {
    let failure = of_both(Some(no_answer()), Some(Trouble::Key));
    assert_eq!((failure.code, failure.outcome), (Some("E207"), Outcome::Peer));
    let failure = of_both(Some(no_answer()), Some(Trouble::Refused));
    assert_eq!(failure.code, Some("E201"));
    assert_eq!(of_both(Some(no_answer()), Some(no_answer())).outcome, Outcome::Peer);
}

/// A host that does not run v6gap is not asked by `v6gap run`, the less if it is to be left alone.
#[test]
fn only_a_run_that_can_go_on_is_offered_to() {
    let shown = |continues| {
        let error = RunError::Declined("it asks to be left alone".to_owned());
        let (target, kept) = (NAME.to_owned(), Some(RunId::from_bits(0)));
        text(&v6gap_perform::Trouble::BrokenOff { target, error, continues, kept }.into())
    };
    assert!(shown(true).contains("v6gap run vps-fra --continue "), "{}", shown(true));
    let ended = shown(false);
    assert!(!ended.contains("--continue") && ended.contains("v6gap show "), "{ended}");
    assert!(ended.contains("is kept as") && ended.ends_with("[E214, exit 7]\n"), "{ended}");
}

#[test]
fn every_trouble_has_a_code_that_can_be_explained() {
    let range = |low, high| VersionRange::new(low, high).unwrap();
    let old = VersionMismatch::PeerTooOld { here: range(2, 3), peer: range(1, 1) };
    let new = VersionMismatch::PeerTooNew { here: range(1, 1), peer: range(2, 3) };
    let troubles = [
        Trouble::Refused,
        no_answer(),
        Trouble::NoRoute { system: String::new() },
        Trouble::NotOurs { answered: "SSH-2.0".to_owned() },
        Trouble::TurnedAway,
        Trouble::Version(old),
        Trouble::Version(new),
        Trouble::Key,
        Trouble::Busy { why: "lab-a is measured".to_owned() },
        Trouble::System("odd".to_owned()),
    ];
    for trouble in troubles {
        let failure = Failure::of_problem(NAME, &problem(Family::V4, trouble));
        let code = failure.code.unwrap();
        assert!(texts::CODES.iter().any(|topic| topic.name == code), "{code}");
        let shown = text(&failure);
        assert!(shown.lines().all(|line| line.chars().count() <= 90), "{shown}");
    }
}

/// What has the port of iperf3 may be measured against as it is.
#[test]
fn a_server_of_iperf3_is_no_dead_end() {
    let of = |port: u16| {
        let address = std::net::SocketAddr::new([192, 0, 2, 7].into(), port);
        let trouble = Trouble::NotOurs { answered: String::new() };
        let problem = FamilyProblem { address, ..problem(Family::V4, trouble) };
        text(&Failure::of_problem(NAME, &problem))
    };
    assert!(of(5201).contains(&format!("v6gap run {NAME} --against iperf3")), "{}", of(5201));
    assert!(!of(4466).contains("--against"), "{}", of(4466));
}

#[test]
fn foreign_words_cannot_drive_the_terminal() {
    let answered = "\u{1b}[2J".to_owned();
    let failure = Failure::of_problem(NAME, &problem(Family::V4, Trouble::NotOurs { answered }));
    assert!(!text(&failure).contains('\u{1b}'));
    let style = Style { glyphs: v6gap_report::text::Glyphs::Ascii, ..Style::default() };
    assert!(Failure::namespaces("…").render(&style).is_ascii());
}

/// Who was told a port, an address or a key misses it in what is to be typed next.
#[test]
fn what_is_to_be_typed_reaches_the_server_as_this_did() {
    let reached = |options: &str, failure: Failure| {
        let line = format!("v6gap run {NAME} {options}");
        let parsed = Cli::try_parse_from(line.split_whitespace()).unwrap();
        let Command::Run(args) = parsed.command else { panic!("run was typed") };
        text(&args.connect.said_again(args.host(), failure))
    };
    let no_address = || {
        let found = "192.0.2.7".parse::<IpAddr>().unwrap();
        Failure::no_address(NAME, Family::V6, found, None)
    };
    let shown = reached("-p 5000 --v4 192.0.2.7 --key-file lab.key", no_address());
    let rest = "-p 5000 --v4 192.0.2.7 --key-file lab.key";
    for line in [format!("--v6 2001:db8::20 {rest} "), format!("-4 {rest} ")] {
        assert!(shown.contains(&format!("v6gap run {NAME} {line}")), "{shown}");
    }
    let system = "Network is unreachable (os error 101)".to_owned();
    let refused = Failure::one_family(NAME, &problem(Family::V6, Trouble::NoRoute { system }));
    let shown = reached("-p 5000 --v6 fd12::20 -B fd12::1 -B 192.0.2.1", refused);
    assert!(shown.contains(" vps-fra -4 -p 5000 --bind 192.0.2.1 "), "{shown}");
    let check = "v6gap check vps-fra -p 5000 --v6 fd12::20 --bind fd12::1 --bind 192.0.2.1\n";
    assert!(shown.contains(check), "{shown}");
    let key = Failure::of_problem(NAME, &problem(Family::V4, Trouble::Key));
    let shown = reached("-p 5000 --key old", key);
    assert!(shown.contains("v6gap run vps-fra --key-file FILE -p 5000 "), "{shown}");
    let moved = FamilyProblem {
        address: "198.51.100.7:5000".parse().unwrap(),
        ..problem(Family::V4, Trouble::Refused)
    };
    let silent = text(&Failure::of_problem(NAME, &moved));
    assert!(silent.contains("v6gap serve -p 5000 "), "{silent}");
    assert_eq!(reached("", no_address()), text(&no_address()));
}

#[test]
fn who_is_told_nothing_to_try_is_told_where_there_is_more() {
    let failure = Failure::new("E514", Outcome::Usage, "/dev/zero is no file");
    assert!(text(&failure).contains("\n  Try:    v6gap explain E514   says more of it\n"));
    assert_eq!(failure.json()["try"][0]["run"], "v6gap explain E514");
    let other = failure.run("v6gap list", "");
    assert!(!text(&other).contains("explain"));
}

#[test]
fn a_router_of_a_lab_that_is_up_is_refused_with_what_can_be_measured() {
    let [lab, node, cell] = ["net", "router1", "throughput-tcp"].map(str::to_owned);
    let shown = text(&NoLab::NotPaced { lab, node, cell }.into());
    for part in ["router1 only forwards", "E310, exit 2", "v6gap run --lab net", "rtt,connect"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}
