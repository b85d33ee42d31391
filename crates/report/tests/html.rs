//! The page is well formed, complete without network or scripts, and escapes what is foreign.

use crate::fixtures::{hostile, invalid, journal, lab, null_run};
use std::collections::BTreeSet;
use v6gap_core::plan::Stop;
use v6gap_judge::analysis::{Analysis, Qualifier, Verdict};
use v6gap_report::html::{PageInfo, page};
use v6gap_report::sockets;

fn html(analysis: &Analysis) -> String {
    let sockets = sockets(&journal::lines());
    page(
        analysis,
        &PageInfo { title: "", command: "v6gap run lab-b", sockets: &sockets, facsimile: false },
    )
}

/// A tag as it stands in the text.
#[derive(Debug)]
struct Tag<'a> {
    name: &'a str,
    text: &'a str,
    closes: bool,
    empty: bool,
}

impl<'a> Tag<'a> {
    fn attribute(&self, name: &str) -> Option<&'a str> {
        let from = self.text.find(&format!(" {name}=\""))? + name.len() + 3;
        let rest = &self.text[from..];
        rest.find('"').map(|end| &rest[..end])
    }
}

const VOID: [&str; 2] = ["meta", "br"];

/// All tags in order; comments and the style sheet are skipped.
fn tags(html: &str) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    let mut rest = html.strip_prefix("<!DOCTYPE html>").expect("a document type");
    while let Some(start) = rest.find('<') {
        rest = &rest[start..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = &comment[comment.find("-->").expect("the comment ends") + 3..];
            continue;
        }
        let end = rest.find('>').expect("the tag ends");
        let text = &rest[1..end];
        let closes = text.starts_with('/');
        let name = text.trim_start_matches('/');
        let name = name.split([' ', '/']).next().unwrap_or("");
        let empty = text.ends_with('/') || VOID.contains(&name);
        tags.push(Tag { name, text, closes, empty });
        rest = &rest[end + 1..];
        if name == "style" && !closes {
            rest = &rest[rest.find("</style>").expect("the style sheet ends")..];
        }
    }
    tags
}

#[test]
fn tags_are_balanced() {
    for analysis in [lab(), invalid(), null_run(), hostile()] {
        let html = html(&analysis);
        let mut open = Vec::new();
        for tag in tags(&html) {
            if tag.closes {
                assert_eq!(open.pop(), Some(tag.name), "at {}", tag.text);
            } else if !tag.empty {
                open.push(tag.name);
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }
}

#[test]
fn ids_are_unique_and_every_reference_leads_somewhere() {
    let html = html(&lab());
    let tags = tags(&html);
    let ids: Vec<&str> = tags.iter().filter_map(|tag| tag.attribute("id")).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len());
    for tag in &tags {
        if let Some(target) = tag.attribute("href") {
            assert!(unique.contains(target.trim_start_matches('#')), "{target}");
        }
        for id in tag.attribute("aria-labelledby").into_iter().flat_map(|ids| ids.split(' ')) {
            assert!(unique.contains(id), "{id}");
        }
    }
}

#[test]
fn every_figure_has_title_description_and_table() {
    let html = html(&lab());
    let figures: Vec<&str> = html.split("<figure").skip(1).collect();
    assert!(figures.len() >= 6);
    for figure in figures {
        let figure = figure.split("</figure>").next().unwrap_or("");
        for part in ["role=\"img\"", "<title id=", "<desc id=", "<figcaption>", "<table"] {
            assert_eq!(figure.matches(part).count(), 1, "{part}");
        }
        assert!(figure.contains("The numbers behind figure"));
    }
    let pictures = tags(&html).into_iter().filter(|tag| tag.name == "svg" && !tag.closes);
    for picture in pictures {
        let named = picture.attribute("aria-labelledby").is_some();
        assert!(named || picture.attribute("aria-hidden").is_some(), "{}", picture.text);
    }
}

#[test]
fn headings_are_in_order_and_landmarks_are_there() {
    for analysis in [lab(), invalid(), null_run()] {
        let html = html(&analysis);
        let tags = tags(&html);
        let mut last = 0;
        let mut first = 0;
        for tag in tags.iter().filter(|tag| !tag.closes) {
            let Some(level) = tag.name.strip_prefix('h').and_then(|n| n.parse::<u8>().ok()) else {
                continue;
            };
            assert!(level <= last + 1, "{} after h{last}", tag.text);
            first += u8::from(level == 1);
            last = level;
        }
        assert_eq!(first, 1);
        for landmark in ["main", "header", "footer", "nav"] {
            assert_eq!(tags.iter().filter(|t| t.name == landmark && !t.closes).count(), 1);
        }
        assert!(html.contains("<html lang=\"en\">"));
        assert!(html.contains("class=\"skip\" href=\"#answer\""));
    }
}

#[test]
fn the_page_is_small_and_loads_nothing() {
    let html = html(&lab());
    assert!(html.len() < 400_000, "{} bytes", html.len());
    assert!(html.contains("default-src 'none'"));
    for tag in tags(&html) {
        assert!(!["script", "link", "img", "iframe", "object"].contains(&tag.name));
        assert!(tag.attribute("src").is_none());
        assert!(!tag.text.contains(" on"), "no handlers: {}", tag.text);
    }
    let foreign = html.replace("http://www.w3.org/2000/svg", "");
    for word in ["http:", "https:", "@import", "url("] {
        assert!(!foreign.contains(word), "{word}");
    }
}

#[test]
fn a_long_run_makes_no_heavy_page() {
    let mut analysis = lab();
    for q in &mut analysis.questions {
        let pairs = q.pairs.clone();
        q.pairs = pairs.iter().cycle().take(1000).cloned().collect();
    }
    let html = html(&analysis);
    assert!(html.len() < 400_000, "{} bytes", html.len());
    assert!(html.contains("pairs are not drawn"), "what is left out is said");
    assert!(html.contains(", the first 100 pairs in order") && !html.contains("every pair"));
}

/// What one would notice is no more certain than the answer that it follows from.
#[test]
fn what_one_would_notice_has_its_answer() {
    let mut analysis = lab();
    let noticed = |html: &str, word: &str| {
        let (_, row) = html.split_once("Copying a file of 1 GB ").unwrap();
        let (chip, _) = row.split_once("</span>").unwrap();
        assert!(chip.ends_with(word), "{chip}");
    };
    noticed(&html(&analysis), "Within 2 %");
    assert!(html(&analysis).contains("<dt>Within … (≈)</dt>"), "and its word is explained");
    analysis.questions[0].verdict = Verdict::CannotTell;
    analysis.questions[0].qualifier = Qualifier::Plain;
    noticed(&html(&analysis), "Can't tell");
}

/// Transfers of several sizes have the word that such a difference has elsewhere.
#[test]
fn a_size_that_hardly_matters_is_not_called_the_same() {
    let mut analysis = lab();
    let said = "<td>within 1 %</td>";
    assert!(!html(&analysis).contains(said));
    analysis.transfer_sizes[0].qualifier = Qualifier::RealButTiny;
    assert!(html(&analysis).contains(said));
}

/// "The same" may be decided by a range of 90 %, and pairs that are all alike have none.
#[test]
fn a_range_is_called_what_it_is() {
    let mut analysis = lab();
    assert!(html(&analysis).contains("95 % range 1.3 – 1.5 %"));
    for own in ["90 %: 1.3 – 1.9 %", "alike in all 29 pairs, another value in fewer than 10 %"] {
        analysis.questions[0].range_text = own.into();
        let html = html(&analysis);
        assert!(html.contains(own) && !html.contains(&format!("95 % range {own}")), "{own}");
    }
}

#[test]
fn the_method_names_the_ranges_of_few_planned_pairs() {
    let mut analysis = lab();
    analysis.run.plan.parts_mut().design.stop = Stop::Pairs { pairs: 8 };
    let html = html(&analysis);
    for said in ["The number of pairs (8)", "signed ranks (Wilcoxon 1945)", "Student’s t (1908)"]
    {
        assert!(html.contains(said), "{said}");
    }
}

#[test]
fn foreign_text_stays_text() {
    let html = html(&hostile());
    assert!(!html.contains("<script"));
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;"));
    assert!(html.chars().all(|c| c == '\n' || !c.is_control()));
    assert!(!html.contains('\u{202e}'));
    // As many tags as without the hostile strings, but for the items that only they have.
    let scripts = tags(&html).iter().filter(|tag| tag.name == "script").count();
    assert_eq!(scripts, 0);
}
