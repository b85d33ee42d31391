//! From a draft to a checked plan: all problems at once, each with the key it concerns.

use super::draft::{self, Draft};
pub use super::levels::CELLS_MAX;
use super::{Design, Order, PAIRS_TO_DECIDE, Parts, Plan, Stop, Summary, defaults, fit, scale};
use crate::arm::PerArm;
use crate::family::{Family, PerFamily};
use crate::metric::Metric;
use crate::problem::Problems;
pub use crate::problem::{Problem, nearest};
use crate::published;
use crate::unit;
use crate::workload::{Cell, Path};
use crate::world::{World, model};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Most null blocks of each family for each cell that has them.
pub const NULL_BLOCKS_MAX: u32 = 100;

/// Most pairs of a fixed number.
const PAIRS_MAX: u32 = 10_000;

mod belongs;
mod capacity;
mod cells;
mod hosts;
mod lab;
mod marking;
mod parity;
mod probe;
mod tcp_bulk;
mod timed;
mod udp_bulk;
mod visit;

pub use visit::download;

/// The plan that `draft` describes, with every default explicit. `seed` is used where it names
/// none.
///
/// # Errors
/// Every problem found, in the order of the keys.
pub fn check(draft: &Draft, seed: u64) -> Result<Plan, Vec<Problem>> {
    let (plan, problems) = assembled(draft, seed);
    if problems.is_empty() { Ok(plan) } else { Err(problems.into_found()) }
}

/// The plan, and all that is wrong with it.
pub(super) fn assembled(draft: &Draft, seed: u64) -> (Plan, Problems) {
    let mut problems = Problems::default();
    if draft.v6gap != draft::VERSION {
        let what = format!("version {} of the plan language is not known", draft.v6gap);
        problems.add("v6gap", what);
    }
    let world = lab::world(draft, &mut problems);
    hosts::check(draft, &mut problems);
    if let Some(small) = &draft.small {
        scale::check_small(small, &mut problems);
    }
    let payload_max = payload_max(&draft.design);
    let mtu = world.as_ref().map(|world| PerFamily::from_fn(|f| model::path_mtu(world, f)));
    let path = world.as_ref().map(fit::path_in);
    let bare = world.as_ref().is_some_and(World::is_of_cables);
    let place = cells::Place { lab: world.is_some(), bare, payload_max, mtu, path };
    let cells = cells::cells(draft, place, &mut problems);
    if cells.len() > CELLS_MAX {
        problems.add("measure", format!("{} cells are more than {CELLS_MAX}", cells.len()));
    }
    let design = design(draft, &cells, &mut problems);
    if let Some(reference) = &draft.reference
        && published::find(reference).is_none()
    {
        problems.add("reference", format!("\"{reference}\" is no published experiment"));
    }
    let margins = margins(&draft.design.margin, &mut problems);
    if let Some(World { families, .. }) = &world {
        let PerArm { a, b } = design.arms;
        if !(*families.get(a) && *families.get(b)) {
            problems.add("lab", "a comparison needs both families");
        }
    }
    let plan = Plan(Parts {
        name: draft.name.clone().unwrap_or_else(|| "Unnamed".to_string()),
        description: draft.description.clone().unwrap_or_default(),
        reference: draft.reference.clone(),
        cells,
        design,
        margins,
        world,
        seed: draft.design.seed.unwrap_or(seed),
    });
    // A number that was asked for is kept.
    let plan = match draft.design.null_blocks {
        None => plan.with_nulls_in_time(path.unwrap_or(Path::USUAL)),
        Some(_) => plan,
    };
    (plan, problems)
}

/// Largest datagram that every family of the design can carry, in bytes.
fn payload_max(draft: &draft::Design) -> u32 {
    let v6_alone = draft.arms.as_ref().is_some_and(|arms| arms.iter().all(|arm| arm == "v6"));
    let least = if v6_alone { Family::V6 } else { Family::V4 };
    least.udp_payload_bytes_max()
}

fn design(whole: &Draft, cells: &[Cell], problems: &mut Problems) -> Design {
    let draft = &whole.design;
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
    let time = problems.read_optional("design.max_time", draft.max_time.as_ref(), unit::parse_span);
    if time == Some(0) {
        problems.add("design.max_time", "a time must be above 0");
    }
    let stop = match (draft.pairs, time) {
        (Some(pairs), _) => {
            // A study's own number is kept, and a family with itself is described in any case.
            let described = whole.reference.is_some() || arms.is_null();
            if let Some(wrong) = wrong_pairs(pairs, described) {
                problems.add("design.pairs", wrong);
            }
            Stop::Pairs { pairs }
        }
        (None, time) => time.map(Stop::within).unwrap_or_default(),
    };
    let null_blocks = draft.null_blocks.unwrap_or(defaults::NULL_BLOCKS);
    check_null_blocks("design.null_blocks", null_blocks, problems);
    let order = order(draft, problems);
    if draft.pairs.is_some() && !draft.precision.is_empty() {
        problems.add("design.precision", "a number of pairs is given already");
    }
    Design {
        arms,
        stop,
        precision: shares("precision", &draft.precision, problems),
        null_blocks,
        null_cells: defaults::null_cells(cells),
        null_fewer: BTreeMap::new(),
        blocks_max: match (stop, order) {
            (Stop::Adaptive { .. }, Order::Random) => defaults::BLOCKS_MAX,
            (Stop::Pairs { .. }, _) | (_, Order::Sequential) => 1,
        },
        order,
        summary: summary(draft, problems),
        different_links: draft.different_links,
        sentinel_every: if null_blocks == 0 { 0 } else { defaults::SENTINEL_EVERY },
        settle_ns: 20_000_000,
        confidence: defaults::CONFIDENCE,
    }
}

/// Refuses more null blocks than there may be.
pub(super) fn check_null_blocks(key: &str, null_blocks: u32, problems: &mut Problems) {
    if null_blocks > NULL_BLOCKS_MAX {
        problems.add(key, format!("more than {NULL_BLOCKS_MAX} null blocks"));
    }
}

/// What is wrong with a fixed number of pairs, which need not allow a verdict if they are
/// `described` alone.
pub(super) fn wrong_pairs(pairs: u32, described: bool) -> Option<String> {
    let least = if described { 2 } else { PAIRS_TO_DECIDE };
    match pairs {
        pairs if (least..=PAIRS_MAX).contains(&pairs) => None,
        2..PAIRS_TO_DECIDE => {
            Some(format!("{pairs} pairs can never decide: write {PAIRS_TO_DECIDE} or more"))
        }
        _ => Some(format!("pairs must be between {least} and {PAIRS_MAX}")),
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
        shares.extend(problems.read(&key, text, |text| share(table, text)).map(|s| (metric, s)));
    }
    shares
}

/// The share that `text` says, as of a `margin` or a `precision`: above 0 and below 1.
///
/// # Errors
/// If it is no share, or none of these, in words.
pub fn share(of: &str, text: &str) -> Result<f64, String> {
    match unit::parse_share(text).map_err(|e| e.to_string())? {
        share if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err(format!("a {of} must be above 0 and below 100 %")),
    }
}

#[cfg(test)]
mod tests;
