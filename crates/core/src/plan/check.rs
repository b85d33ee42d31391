//! From a draft to a checked plan: all problems at once, each with the key it concerns.

use super::draft::{self, Draft, Levels};
use super::{Design, Order, Parts, Plan, Stop, Summary, preset};
use crate::arm::PerArm;
use crate::family::{Family, PerFamily};
use crate::metric::Metric;
use crate::problem::Problems;
pub use crate::problem::{Problem, nearest};
use crate::published;
use crate::unit;
use crate::workload::Cell;
use crate::world::World;
use crate::world::model;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

mod capacity;
mod cells;
mod lab;
mod marking;
mod probe;
mod tcp_bulk;
mod timed;
mod udp_bulk;

/// Most cells of one plan.
pub const CELLS_MAX: usize = 256;

/// The plan that `draft` describes, with every default explicit. `seed` is used where it names
/// none.
///
/// # Errors
/// Every problem found, in the order of the keys.
pub fn check(draft: &Draft, seed: u64) -> Result<Plan, Vec<Problem>> {
    let mut problems = Problems::default();
    if draft.v6gap != draft::VERSION {
        let what = format!("version {} of the plan language is not known", draft.v6gap);
        problems.add("v6gap", what);
    }
    let world = lab::world(draft, &mut problems);
    let payload_max = payload_max(&draft.design);
    let mtu = world.as_ref().map(|world| PerFamily::from_fn(|f| model::path_mtu(world, f)));
    let place = cells::Place { lab: world.is_some(), payload_max, mtu };
    let cells = cells::cells(&draft.measure, place, &mut problems);
    if cells.len() > CELLS_MAX {
        problems.add("measure", format!("{} cells are more than {CELLS_MAX}", cells.len()));
    }
    let design = design(&draft.design, &cells, &mut problems);
    if let Some(reference) = &draft.reference
        && published::find(reference).is_none()
    {
        problems.add("reference", format!("\"{reference}\" is no published experiment"));
    }
    let margins = margins(&draft.design.margin, &mut problems);
    if let Some(World { families, .. }) = &world
        && !(families.v4 && families.v6)
    {
        problems.add("lab", "a comparison needs both families");
    }
    if !problems.is_empty() {
        return Err(problems.into_found());
    }
    Ok(Plan(Parts {
        name: draft.name.clone().unwrap_or_else(|| "Unnamed".to_string()),
        description: draft.description.clone().unwrap_or_default(),
        reference: draft.reference.clone(),
        cells,
        design,
        margins,
        world,
        seed: draft.design.seed.unwrap_or(seed),
    }))
}

/// Largest datagram that every family of the design can carry, in bytes.
fn payload_max(draft: &draft::Design) -> u32 {
    let v6_alone = draft.arms.as_ref().is_some_and(|arms| arms.iter().all(|arm| arm == "v6"));
    let least = if v6_alone { Family::V6 } else { Family::V4 };
    least.udp_payload_bytes_max()
}

fn design(draft: &draft::Design, cells: &[Cell], problems: &mut Problems) -> Design {
    let time = problems.read_optional("design.max_time", draft.max_time.as_ref(), unit::parse_span);
    let stop = match (draft.pairs, time) {
        (Some(pairs), _) => {
            if !(2..=10_000).contains(&pairs) {
                problems.add("design.pairs", "pairs must be between 2 and 10000");
            }
            Stop::Pairs { pairs }
        }
        (None, time) => time.map(Stop::within).unwrap_or_default(),
    };
    let arms = match &draft.arms {
        None => PerArm::FAMILIES,
        Some([a, b]) => PerArm {
            a: family("design.arms[0]", a, problems),
            b: family("design.arms[1]", b, problems),
        },
    };
    if arms == (PerArm { a: Family::V6, b: Family::V4 }) {
        problems.add("design.arms", "IPv6 is compared with IPv4: write [\"v4\", \"v6\"]");
    }
    let null_blocks = draft.null_blocks.unwrap_or(preset::NULL_BLOCKS);
    if null_blocks > 100 {
        problems.add("design.null_blocks", "more than 100 null blocks");
    }
    if draft.pairs.is_some() && !draft.precision.is_empty() {
        problems.add("design.precision", "a number of pairs is given already");
    }
    Design {
        arms,
        stop,
        precision: shares("precision", &draft.precision, problems),
        null_blocks,
        null_cells: preset::null_cells(cells),
        order: order(draft, problems),
        summary: summary(draft, problems),
        different_links: draft.different_links,
        sentinel_every: if null_blocks == 0 { 0 } else { preset::SENTINEL_EVERY },
        settle_ns: 20_000_000,
        confidence: preset::CONFIDENCE,
    }
}

fn order(draft: &draft::Design, problems: &mut Problems) -> Order {
    match draft.order.as_deref() {
        None | Some("random") => Order::Random,
        Some("sequential") => Order::Sequential,
        Some(other) => {
            problems.one_of("design.order", other, &["random", "sequential"]);
            Order::Random
        }
    }
}

fn summary(draft: &draft::Design, problems: &mut Problems) -> Option<Summary> {
    let name = draft.summary.as_deref()?;
    let found = Summary::ALL.into_iter().find(|summary| summary.name() == name);
    match found {
        None => problems.one_of("design.summary", name, &Summary::ALL.map(Summary::name)),
        Some(summary) => {
            let (least, what) = (summary.runs_min(), "design.summary");
            if draft.pairs.is_none_or(|pairs| pairs < least) {
                problems.add(what, format!("\"{name}\" needs pairs = {least} or more"));
            }
        }
    }
    found
}

fn family(key: &str, text: &str, problems: &mut Problems) -> Family {
    match text {
        "v4" => Family::V4,
        "v6" => Family::V6,
        _ => {
            problems.one_of(key, text, &["v4", "v6"]);
            Family::V4
        }
    }
}

fn margins(written: &BTreeMap<String, String>, problems: &mut Problems) -> BTreeMap<Metric, f64> {
    let mut margins: BTreeMap<Metric, f64> =
        Metric::ALL.into_iter().map(|m| (m, m.margin_default())).collect();
    margins.extend(shares("margin", written, problems));
    margins
}

/// A table of `[design]` that gives a share for each of some metrics.
fn shares(
    table: &str,
    written: &BTreeMap<String, String>,
    problems: &mut Problems,
) -> BTreeMap<Metric, f64> {
    let mut shares = BTreeMap::new();
    for (name, text) in written {
        let key = format!("design.{table}.{name}");
        let Some(metric) = Metric::from_name(name) else {
            problems.one_of(key, name, &Metric::ALL.map(Metric::name));
            continue;
        };
        match problems.read(&key, text, unit::parse_share) {
            Some(share) if share > 0.0 && share < 1.0 => {
                shares.insert(metric, share);
            }
            Some(_) => problems.add(key, format!("a {table} must be above 0 and below 100 %")),
            None => {}
        }
    }
    shares
}

/// The levels that `levels` stands for, each as text, for one key.
pub(super) fn expand(key: &str, levels: &Levels, problems: &mut Problems) -> Vec<String> {
    match levels {
        Levels::One(text) => alloc::vec![text.clone()],
        Levels::Many(texts) => {
            if texts.is_empty() {
                problems.add(key, "an empty list has no level");
            }
            texts.clone()
        }
        Levels::Range(range) => expand_range(key, range, problems),
    }
}

/// The same without a place for problems: `None` if there are any.
pub(super) fn expand_levels(levels: &Levels) -> Option<Vec<String>> {
    let mut problems = Problems::default();
    let found = expand("", levels, &mut problems);
    problems.is_empty().then_some(found)
}

fn expand_range(key: &str, range: &draft::Range, problems: &mut Problems) -> Vec<String> {
    let from = problems.read(key, &range.from, unit::parse_bytes);
    let to = problems.read(key, &range.to, unit::parse_bytes);
    let step = problems.read_optional(key, range.step.as_ref(), unit::parse_bytes);
    let (Some(from), Some(to)) = (from, to) else { return Vec::new() };
    let next = |level: u64| match (range.factor, step) {
        (Some(factor @ 2..), None) => level.checked_mul(u64::from(factor)),
        (None, Some(step @ 1..)) => level.checked_add(step),
        _ => None,
    };
    if from == 0 || from > to || next(from).is_none() {
        problems.add(key, "a range needs from ≤ to and either a factor ≥ 2 or a step > 0");
        return Vec::new();
    }
    let mut levels = Vec::new();
    let mut level = Some(from);
    while let Some(bytes) = level.filter(|&bytes| bytes <= to) {
        if levels.len() == CELLS_MAX {
            problems.add(key, format!("the range has more than {CELLS_MAX} levels"));
            return levels;
        }
        levels.push(bytes.to_string());
        level = next(bytes);
    }
    levels
}

#[cfg(test)]
mod tests;
