//! The ways to a host over both families side by side: who answered from each distance, and how
//! soon.

use super::drawing::{self, Align, Canvas, Ink, Stroke};
use super::{Figure, Kind, Paint, Table};
use crate::{ways, words};
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::PerFamily;
use v6gap_core::ladder::Rung;
use v6gap_core::unit::format_span;
use v6gap_judge::analysis::Analysis;
use v6gap_judge::analysis::words::counted;

/// Where the distances end, and where the marks of each arm stand: the longest address of IPv4
/// needs less room than one of IPv6.
const NUMBERS: f64 = 20.0;
const MARKS: PerArm<f64> = PerArm { a: 44.0, b: 216.0 };
/// From a mark to its words, and to a line that leads to it.
const WORDS: f64 = 14.0;
const APART: f64 = 8.0;
/// Where this host stands, and the first distance.
const START: f64 = 40.0;
const FIRST: f64 = 74.0;
const LINE: f64 = 16.0;
/// Between distances.
const GAP: f64 = 12.0;
/// Letters of this host's name that there is room for.
const NAME_MOST: usize = 20;

pub(super) fn figure(analysis: &Analysis, paint: Paint) -> Option<Figure> {
    let hops = analysis.run.hops.as_ref().filter(|hops| ways::distances(hops) > 0)?;
    let heights = heights(hops);
    let mut canvas = Canvas::default();
    for (index, y) in heights.iter().take(ways::distances(hops)).enumerate() {
        let number = (index + 1).to_string();
        canvas.text((NUMBERS, y + 4.0), &number, Align::End, Ink::Faint, false);
    }
    for arm in Arm::BOTH {
        way(&mut canvas, analysis, hops.get(analysis.family(arm)), arm, &heights);
    }
    let height = heights.last().copied().unwrap_or(FIRST);
    let id = "ladder";
    let (_, server) = words::hosts(analysis);
    let length = |arm| {
        let length = length(hops.get(analysis.family(arm)));
        format!("{length} over {}", analysis.arm_names.get(arm))
    };
    let lengths = Arm::BOTH.map(length).join(", ");
    let title = format!("The ways to {server}, router by router: {lengths}");
    let table = table(analysis, hops);
    let desc = describe(analysis, hops);
    let drawn = drawing::draw(id, &title, &desc, height, paint, vec![canvas]);
    Some(Figure {
        kind: Kind::Ladder,
        height,
        svg: drawn.svg,
        picture: drawn.picture,
        table,
        foot: "Whose address answered from each distance, and the shortest time to an answer. A \
               router that answers nobody forwards all the same, and one that answers late need \
               not forward late."
            .to_owned(),
        id: id.to_owned(),
        title,
        desc,
    })
}

/// Where the first line of each distance stands, and last where the figure ends.
fn heights(hops: &PerFamily<Vec<Rung>>) -> Vec<f64> {
    let lines = |way: &Vec<Rung>, index: usize| way.get(index).map_or(0, |rung| 2 * rung.by.len());
    let mut heights = vec![FIRST];
    let mut y = FIRST;
    for index in 0..ways::distances(hops) {
        let most = lines(&hops.v4, index).max(lines(&hops.v6, index)).max(1);
        y += most as f64 * LINE + GAP;
        heights.push(y);
    }
    heights
}

/// One of the ways, from this host down.
fn way(canvas: &mut Canvas, analysis: &Analysis, way: &[Rung], arm: Arm, heights: &[f64]) {
    let x = *MARKS.get(arm);
    let words_at = x + WORDS;
    let name = analysis.arm_names.get(arm);
    canvas.text((words_at, 16.0), name, Align::Start, Ink::ArmText(arm), true);
    let (client, _) = words::hosts(analysis);
    let client = words::shortened(client, NAME_MOST);
    canvas.text((words_at, START + 4.0), &client, Align::Start, Ink::Faint, false);
    canvas.value((x, START), arm, 4.2);
    let (mut from, mut is_known) = (START, true);
    for (rung, y) in way.iter().zip(heights) {
        if rung.by.is_empty() {
            canvas.text((words_at, y + 4.0), "no answer", Align::Start, Ink::Faint, false);
            is_known = false;
            continue;
        }
        // Past somebody who did not answer the way is not known.
        let stroke = if is_known { Stroke::of(arm) } else { Stroke::Dotted };
        canvas.stroke((x, from + APART), (x, y - APART), Ink::Arm(arm), 1.6, stroke);
        canvas.value((x, *y), arm, 4.2);
        let mut line = y + 4.0;
        for answered in &rung.by {
            let address = answered.address.to_string();
            canvas.text((words_at, line), &address, Align::Start, Ink::Text, rung.is_host);
            let span = format_span(answered.best_ns as f64);
            canvas.text((words_at, line + LINE), &span, Align::Start, Ink::Faint, false);
            line += 2.0 * LINE;
        }
        (from, is_known) = (*y, true);
    }
}

/// "3 routers", where the host is at the end.
fn length(way: &[Rung]) -> String {
    match way {
        [routers @ .., host] if host.is_host => match routers.len() {
            0 => "no router".to_owned(),
            n => counted(n, "router"),
        },
        _ => "not seen to its end".to_owned(),
    }
}

fn table(analysis: &Analysis, hops: &PerFamily<Vec<Rung>>) -> Table {
    let of_arm = |arm| [analysis.arm_names.get(arm).clone(), "shortest time".to_owned()];
    let own = std::iter::once("distance".to_owned());
    let heads = own.chain(Arm::BOTH.into_iter().flat_map(of_arm)).collect();
    let row = |index: usize| -> Vec<String> {
        let of_arm = |arm| match ways::answer(hops.get(analysis.family(arm)), index) {
            Some((who, best_ns)) => {
                let span = best_ns.map_or_else(|| "–".to_owned(), |ns| format_span(ns as f64));
                [who, span]
            }
            None => ["–", "–"].map(str::to_owned),
        };
        let own = std::iter::once((index + 1).to_string());
        own.chain(Arm::BOTH.into_iter().flat_map(of_arm)).collect()
    };
    Table { heads, rows: (0..ways::distances(hops)).map(row).collect() }
}

/// What stands at each distance.
fn describe(analysis: &Analysis, hops: &PerFamily<Vec<Rung>>) -> String {
    let row = |index: usize| {
        let of_arm = |arm| {
            let answer = ways::answer(hops.get(analysis.family(arm)), index);
            (analysis.arm_names.get(arm).clone(), answer)
        };
        ways::told(index, Arm::BOTH.map(of_arm))
    };
    (0..ways::distances(hops)).map(row).collect::<Vec<_>>().join("; ") + "."
}
