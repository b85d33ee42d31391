//! The words of changes, held to what a known log must say, and events to their schema.

use super::*;
use crate::made;
use jsonschema::{Validator, validator_for};
use serde_json::Value;
use v6gap_core::watch::log::{Answer, Ended, Fact, Outcome};
use v6gap_judge::changes::{Suspect, Watched};

const SCHEMA: &str = include_str!("../../../../docs/schema/watch-event.json");

/// A visit; from number 60 on a round trip over IPv6 is 8.9 % longer than over IPv4, before it was
/// 0.7 %, and there are three routers more.
fn visit(number: u64) -> Ended {
    let (longer, routers) = if number >= 60 { (1.089, "12") } else { (1.007, "9") };
    Ended {
        answers: vec![Answer {
            cell: "rtt-tcp-64".to_owned(),
            metric: Metric::Rtt,
            label: "Round trip 64 B, TCP".to_owned(),
            verdict: "same".to_owned(),
            answer: "= same".to_owned(),
            text: String::new(),
            range: None,
            margin: None,
            predicted: None,
        }],
        facts: vec![Fact {
            name: "routers".to_owned(),
            family: Some(Family::V6),
            value: routers.to_owned(),
        }],
        ..made::visit(number, longer, 1e-4)
    }
}

fn followed() -> (Watched, Vec<Event>) {
    let mut path = Watched::keeping(0);
    let down = Ended {
        outcome: Outcome::Down { family: Some(Family::V6), why: "no answer".to_owned() },
        seen: Vec::new(),
        ..visit(100)
    };
    let log = (0..100).map(visit).chain([down, visit(101)]);
    let events = log.flat_map(|ended| path.take(&ended)).collect();
    (path, events)
}

fn validator() -> Validator {
    validator_for(&serde_json::from_str(SCHEMA).unwrap()).unwrap()
}

#[test]
fn a_change_is_told_with_whose_it_is_and_what_else_was_another() {
    let (_, events) = followed();
    assert_eq!(events.len(), 3, "{events:?}");
    let expected = "Round trip 64 B, TCP: over IPv6 0.70 % longer until 1970-01-01 15:00 (UTC), \
                    8.9 % longer since. The change is of IPv6 alone: IPv4 1.00 times as before, \
                    IPv6 1.08. Routers to lab-b over IPv6: 9 before, 12 since.";
    assert_eq!(event(&events[0]), expected);
    let outage = "IPv6 to lab-b does not answer, since 1970-01-02 01:00 (UTC).";
    assert_eq!(event(&events[1]), outage);
    let over = "IPv6 to lab-b answers again, after 1 visit since 1970-01-02 01:00 (UTC).";
    assert_eq!(event(&events[2]), over);
}

#[test]
fn spells_are_rows_of_a_table() {
    let (path, _) = followed();
    let [spells] = &path.spells()[..] else { panic!("one question") };
    let rows: Vec<[String; 7]> = spells
        .all
        .iter()
        .enumerate()
        .map(|(number, spell)| spell_in_words(&spells.asked, spell, number == 1))
        .collect();
    let [before, since] = &rows[..] else { panic!("{rows:?}") };
    let expected =
        ["1970-01-01 00:00", "1970-01-01 14:45", "60", "+0.70 %", "+0.69 to +0.71", "≈ within 5 %"];
    assert_eq!(before[..6], expected);
    assert_eq!(before[6], "");
    let expected = ["1970-01-01 15:00", "now", "41", "+8.9 %", "+8.89 to +8.91", "▼ worse"];
    assert_eq!(since[..6], expected);
    assert!(
        since[6].starts_with("1970-01-01 1") && since[6].ends_with(" visits after"),
        "{since:?}"
    );
}

#[test]
fn spells_are_rows_of_csv() {
    let (path, _) = followed();
    let [spells] = &path.spells()[..] else { panic!("one question") };
    let columns = SPELL_CSV_HEAD.split(',').count();
    let rows: Vec<String> =
        spells.all.iter().map(|spell| spell_csv(&spells.asked, spell, false)).collect();
    assert!(rows.iter().all(|row| row.split(',').count() == columns), "{rows:?}");
    let begins = "rtt-tcp-64,rtt,0,53100000000000,false,60,0.00";
    assert!(rows[0].starts_with(begins), "{rows:?}");
    assert!(rows[0].ends_with(",same,,,") && rows[1].ends_with(",v6"), "{rows:?}");
}

#[test]
fn whose_a_change_is_follows_what_moved() {
    let (_, events) = followed();
    let What::Changed { change, .. } = &events[0].what else { panic!("{events:?}") };
    let told = |who, other, effect| {
        let mut change = (**change).clone();
        change.who = who;
        change.amounts.families.v4.moved = other;
        change.amounts.effect.moved = effect;
        whose(Metric::Rtt, &change).split(": ").next().map(str::to_owned)
    };
    for (who, other, effect, expected) in [
        (Who::One(Family::V6), Moved::No, Moved::Yes, "The change is of IPv6 alone"),
        (
            Who::One(Family::V6),
            Moved::Unknown,
            Moved::Yes,
            "The change is of IPv6; whether IPv4 changed cannot be told",
        ),
        (Who::Both, Moved::Yes, Moved::No, "Both families changed alike"),
        (Who::Both, Moved::Yes, Moved::Yes, "Both families changed"),
        (
            Who::Effect,
            Moved::Unknown,
            Moved::Yes,
            "Neither family is known to have changed by itself",
        ),
    ] {
        assert_eq!(told(who, other, effect).as_deref(), Some(expected));
    }
    let points = by(Metric::Loss, 0.003);
    assert_eq!((points.as_str(), by(Metric::Rtt, 0.0)), ("+0.30 points", "1.00".to_owned()));
}

#[test]
fn suspects_say_how_much_they_are_worth() {
    let (_, events) = followed();
    let What::Changed { change, .. } = &events[0].what else { panic!("{events:?}") };
    let mut suspect = change.suspects[0].clone();
    (suspect.lasting, suspect.times, suspect.family) = (false, 9, None);
    suspect.name = "route".to_owned();
    suspect.before = "é".repeat(200);
    let expected = format!(
        "Route to lab-b: {}… before, 12 then, and another since. It changed 9 times in all.",
        "é".repeat(120)
    );
    assert_eq!(suspects::sentence("lab-b", &suspect), expected);
    let (before, after) = ("5.00 ms".to_owned(), "25.0 ms".to_owned());
    suspect = Suspect { before, after, lasting: true, times: 1, ..suspect };
    suspect.family = Some(Family::V6);
    for (name, begins) in [
        ("delay", "Short exchanges with lab-b"),
        ("loss", "Share lost between here and lab-b"),
        ("rate", "What the rate decides at lab-b, and short exchanges do not show,"),
    ] {
        suspect.name = name.to_owned();
        let expected = format!("{begins} over IPv6: 5.00 ms before, 25.0 ms since.");
        assert_eq!(suspects::sentence("lab-b", &suspect), expected);
    }
}

#[test]
fn every_event_fits_its_schema() {
    let (_, events) = followed();
    let validator = validator();
    for told in &events {
        let text = event_json(told);
        assert!(!text.contains('\n'), "{text}");
        let document: Value = serde_json::from_str(&text).unwrap();
        let wrong: Vec<String> = validator.iter_errors(&document).map(|e| e.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:?}: {text}");
        assert_eq!(document["text"], event(told));
        let mut more = document.clone();
        more["more"] = Value::from(1);
        assert!(!validator.is_valid(&more), "a field that no schema names");
    }
    let change: Value = serde_json::from_str(&event_json(&events[0])).unwrap();
    let change = &change["change"];
    assert_eq!(change["who"], "v6");
    assert_eq!(change["suspects"][0]["before"], "9");
    assert!((change["v6"]["by"]["estimate"].as_f64().unwrap() - 0.0814).abs() < 1e-3, "{change}");
    assert!((change["v6"]["before"]["mean"].as_f64().unwrap() - 146e-6).abs() < 1e-7, "{change}");
}
