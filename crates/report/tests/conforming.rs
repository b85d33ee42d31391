//! Every page as a browser's parser reads it: no parse error, no identifier twice, every reference
//! leads somewhere, and the page's own policy allows all that it holds.

use crate::fixtures::runs::{another_day, comparison};
use crate::fixtures::views::varied;
use crate::fixtures::{hostile, invalid, journal, lab, long, null_run};
use crate::parsed::{Element, parse};
use crate::studies::studied;
use std::collections::BTreeSet;
use v6gap_judge::analysis::{Analysis, analyse};
use v6gap_report::html::{PageInfo, comparison_page, page};
use v6gap_report::sockets;

/// The page of `v6gap web`, whose scripts fill it.
const SCREENS: &str = include_str!("../../serve/assets/index.html");

/// Attributes whose value is one identifier or several.
const REFERENCES: [&str; 5] =
    ["aria-labelledby", "aria-describedby", "aria-controls", "for", "headers"];

/// Largest page of a run of 660 trials, in bytes.
const BYTES_MAX: usize = 400_000;

/// The page of one result, as `v6gap report` writes it.
fn report(analysis: &Analysis, facsimile: bool) -> String {
    let sockets = sockets(&journal::lines());
    page(
        analysis,
        &PageInfo { title: "", command: "v6gap run lab-b", sockets: &sockets, facsimile },
    )
}

fn pages() -> Vec<(&'static str, String)> {
    let runs = [
        ("a lab", lab()),
        ("no verdict", invalid()),
        ("a null run", null_run()),
        ("hostile names", hostile()),
        ("a study", studied()),
        ("every view", varied()),
        ("a short journal", analyse(&journal::lines()).expect("an analysis")),
        ("a long run", analyse(&long::lines(660)).expect("an analysis")),
    ];
    let mut pages: Vec<_> = runs.iter().map(|(name, run)| (*name, report(run, true))).collect();
    pages.push((
        "a comparison",
        comparison_page(&comparison(&[lab(), another_day("8m1c3e")]), &[], "0.1.0"),
    ));
    pages.push(("the screens", SCREENS.to_owned()));
    pages
}

#[test]
fn every_page_is_parsed_without_an_error() {
    for (name, html) in pages() {
        let told = parse(&html);
        assert_eq!(told.errors, Vec::<String>::new(), "{name}");
        assert!(!told.quirks, "{name}: quirks mode");
        assert!(told.elements.len() > 10, "{name}");
    }
}

/// The parser would tell of what is wrong.
#[test]
fn errors_are_found() {
    let wrong = [
        "<!doctype html><title>x</title><p id=a id=b>x",
        "<!doctype html><title>x</title><b><i>x</b></i>",
        "<!doctype html><title>x</title><table><p>x</table>",
        "<!doctype html><title>x</title>&nonsense;",
        "<title>x</title>",
    ];
    for html in wrong {
        assert!(!parse(html).errors.is_empty(), "{html}");
    }
}

#[test]
fn identifiers_are_unique_and_references_lead_somewhere() {
    for (name, html) in pages() {
        let told = parse(&html);
        let elements = &told.elements;
        let ids: Vec<&str> =
            elements.iter().filter_map(|e| e.attributes.get("id")).map(String::as_str).collect();
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "{name}: an identifier stands twice");
        for element in elements.iter() {
            for attribute in REFERENCES {
                let to = element.attributes.get(attribute).map_or("", String::as_str);
                for id in to.split_whitespace() {
                    assert!(unique.contains(id), "{name}: {attribute} of {element:?}");
                }
            }
            let href = element.attributes.get("href").map_or("", String::as_str);
            if let Some(id) = href.strip_prefix('#') {
                assert!(unique.contains(id), "{name}: {element:?}");
            }
        }
    }
}

/// A page that is written to the disk forbids every script, and has none to forbid.
#[test]
fn the_policy_of_a_page_allows_what_it_holds() {
    for (name, html) in pages().into_iter().filter(|(name, _)| *name != "the screens") {
        let told = parse(&html);
        let elements = &told.elements;
        let value = |e: &Element, name: &str| e.attributes.get(name).cloned().unwrap_or_default();
        let policies: Vec<String> = elements
            .iter()
            .filter(|e| value(e, "http-equiv") == "Content-Security-Policy")
            .map(|e| value(e, "content"))
            .collect();
        let [policy] = &policies[..] else { panic!("{name}: {policies:?}") };
        assert!(policy.contains("default-src 'none'") && !policy.contains("script-src"), "{name}");
        for element in elements.iter() {
            let handler = element.attributes.keys().any(|key| key.starts_with("on"));
            let loads = ["src", "srcset", "data", "action"].map(|a| value(element, a));
            let script = element.name == "script" && value(element, "type") != "application/json";
            assert!(!handler && !script, "{name}: {element:?}");
            let inside = |to: &String| to.is_empty() || to.starts_with("data:");
            assert!(loads.iter().all(inside), "{name}: {element:?}");
        }
    }
}

#[test]
fn the_page_of_a_usual_run_is_small() {
    let analysis = analyse(&long::lines(660)).expect("an analysis");
    let bytes = report(&analysis, false).len();
    assert!(analysis.trials >= 600 && bytes < BYTES_MAX, "{} trials, {bytes}", analysis.trials);
}
