//! A checked plan back in words: what each line of it does, and what it leaves to the program.
//! And a lab, which is the place of a plan.

use crate::text::wrap;
use crate::topology;
use crate::workload;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::plan::draft::Draft;
use v6gap_core::plan::{Design, Order, Plan, Stop, Summary};
use v6gap_core::unit::{format_share, format_span};
use v6gap_core::world::{LinkModel, World};
use v6gap_judge::analysis::words::counted;

/// Columns for the names of cells; what longer ones do begins on the next line.
const ID_COLUMNS: usize = 24;

/// What a plan does, in lines of at most `width` columns. `draft` is what was written of it, and
/// `scaled` says what was made smaller.
pub fn explain(draft: &Draft, plan: &Plan, scaled: &[String], width: usize) -> String {
    let mut said = vec![plan.description.clone()];
    said.retain(|text| !text.is_empty());
    if !scaled.is_empty() {
        said.push(format!("Made smaller: {}.", scaled.join(", ")));
    }
    said.extend(place(draft, plan));
    said.extend(design(draft, plan));
    said.extend(study(plan));
    said.push(margins(plan));
    said.push(format!(
        "Measures {}, all of them in every round{}:",
        counted(plan.cells.len(), "cell"),
        if rests(&plan.design) { " until what is asked of them is answered" } else { "" }
    ));
    let mut out = format!("{}\n", plan.name);
    for text in said {
        out.push_str(&format!("  {}\n", wrap(&text, width.saturating_sub(2), "    ")));
    }
    let longest = plan.cells.iter().map(|cell| cell.id.len()).max().unwrap_or(0);
    let column = longest.min(ID_COLUMNS) + 6;
    let indent = format!("\n{}", " ".repeat(column));
    for cell in &plan.cells {
        let said =
            workload::of(&cell.workload).long() + &workload::marking(cell.workload.marking());
        let what = wrap(&said, width.saturating_sub(column), "");
        let what = what.replace('\n', &indent);
        let id = format!("    {}", cell.id);
        // A long name has a line of its own.
        let gap = if id.len() < column { " ".repeat(column - id.len()) } else { indent.clone() };
        out.push_str(&format!("{id}{gap}{what}\n"));
    }
    out
}

fn place(draft: &Draft, plan: &Plan) -> Vec<String> {
    if let Some(world) = &plan.world {
        return lab(world);
    }
    let hosts = &draft.hosts;
    let mut line = match &hosts.server {
        Some(server) => format!("Between this computer and {server}"),
        None => "Between this computer and the server named at the start".to_owned(),
    };
    for address in [&hosts.v4, &hosts.v6].into_iter().flatten() {
        line.push_str(&format!(", at {address}"));
    }
    let from = match &hosts.bind[..] {
        [] => None,
        all => Some(format!("From {}.", all.join(" and "))),
    };
    let refused = plan.out_of_place().map(|cell| {
        format!(
            "Is refused except over loopback: {} floods the path, which belongs in a lab; \
             force = true does it on a network that is yours.",
            cell.id
        )
    });
    [line + "."].into_iter().chain(from).chain(refused).collect()
}

/// What a lab is: its path and each of its links.
pub fn lab(world: &World) -> Vec<String> {
    let model = match world.model {
        LinkModel::Bare => "bare links (no line: what the protocol stack costs)",
        LinkModel::Shaped => "shaped links (true rates, no round trips)",
        LinkModel::Wire => "wire links (true rates and round trips)",
        LinkModel::Netem => "netem links (true rates and delays of the kernel, no round trips)",
    };
    let names = |nodes: &[usize]| {
        let names: Vec<&str> = nodes.iter().map(|&node| world.nodes[node].name.as_str()).collect();
        names.join(" - ")
    };
    let mut lines = vec![format!("In a lab: {}, {model}.", names(&world.path_nodes()))];
    for (number, link) in world.links.iter().enumerate() {
        let [first, second] = link.ends.map(|node| &world.nodes[node].name);
        let words = topology::link_words(world.model, link).join("; ");
        lines.push(format!("Link {}, {first} to {second}: {words}.", number + 1));
    }
    for (number, laid) in world.tunnels.iter().enumerate() {
        let [first, second] = laid.ends.map(|node| &world.nodes[node].name);
        let words = topology::tunnel_words(world, laid);
        lines.push(format!("Tunnel {}, {first} to {second}: {words}.", number + 1));
    }
    if let Some(translation) = &world.translation {
        let words = topology::translation_words(world, translation);
        lines.push(format!("Translation: {words}."));
    }
    if let Some(node) = world.emulated() {
        lines.push(format!("{}.", topology::emulated_words(world, node)));
    }
    lines
}

/// How often each family is compared with itself first: some cells may have no time for all.
fn times(design: &Design) -> String {
    let each = design.null_cells.iter().map(|&cell| design.null_blocks_of(cell) as usize);
    match (each.clone().min().unwrap_or(0), each.max().unwrap_or(0)) {
        (least, most) if least == most => counted(most, "time"),
        (least, most) => format!("{least} to {most} times"),
    }
}

fn design(draft: &Draft, plan: &Plan) -> Vec<String> {
    let design = &plan.design;
    let arms = match design.arms.is_null() {
        true => {
            format!("Compares {} with itself: any difference is the instrument's.", design.arms.a)
        }
        false => format!("Compares {} against {}.", design.arms.b, design.arms.a),
    };
    let stop = match design.stop {
        Stop::Pairs { pairs } => {
            let beside = draft.design.max_time.as_ref();
            let beside = beside.map_or("", |_| ", whatever max_time says");
            format!("Measures {pairs} pairs of every cell{beside}.")
        }
        Stop::Adaptive { time_ns_max, pairs_min } => format!(
            "Ends when every question is settled, after at least {pairs_min} pairs; at the latest \
             after {}.",
            format_span(time_ns_max as f64)
        ),
    };
    let precision = precision(plan);
    let nulls = match design.null_blocks {
        0 => {
            "Compares no family with itself first, so the run cannot show its own noise.".to_owned()
        }
        _ => format!(
            "Compares each family with itself first, {} in each of {}, and again every {} rounds.",
            times(design),
            counted(design.null_cells.len(), "cell"),
            design.sentinel_every
        ),
    };
    let seed = match draft.design.seed {
        Some(seed) => format!("Random choices follow the seed {seed}."),
        None => "Random choices follow a new seed for every run.".to_owned(),
    };
    let ranges = format!("Ranges hold with a confidence of {}.", format_share(design.confidence));
    [arms, stop].into_iter().chain(precision).chain([nulls, seed, ranges]).collect()
}

/// Whether cells rest in rounds in which all that is asked of them is answered.
pub(crate) fn rests(design: &Design) -> bool {
    matches!(design.stop, Stop::Adaptive { .. }) && design.blocks_max > 1
}

/// The published experiment that the plan repeats, and how its runs are combined beside.
fn study(plan: &Plan) -> Vec<String> {
    let order = (plan.design.order == Order::Sequential).then(|| {
        "Keeps the order of the plan, the first family always first: a facsimile, in which what \
         changes with time passes for a difference."
            .to_owned()
    });
    let reference = plan.reference.as_ref().map(|reference| {
        format!("Repeats {reference}: what was published stands beside what is measured.")
    });
    let summary = plan.design.summary.map(|summary| {
        let how = match summary {
            Summary::Mean => "the mean of its runs",
            Summary::MeanSd => "mean and standard deviation of its runs",
            Summary::TrimmedMean => "the mean of its runs without the lowest and the highest",
            Summary::ThreeOfFive => "the mean of three consistent runs of five",
        };
        format!("Gives beside its own ranges what the study would have given: {how}.")
    });
    order.into_iter().chain(reference).chain(summary).collect()
}

/// What is known well enough; nothing where the verdicts decide that.
fn precision(plan: &Plan) -> Option<String> {
    let text = |(metric, share): (&Metric, &f64)| format!("{metric} ±{}", size(*metric, *share));
    let asked = |(metric, _): &(&Metric, &f64)| measures(plan, **metric);
    let texts: Vec<String> = plan.design.precision.iter().filter(asked).map(text).collect();
    (!texts.is_empty()).then(|| format!("Known well enough: {}.", texts.join(", ")))
}

fn measures(plan: &Plan, metric: Metric) -> bool {
    plan.cells.iter().any(|cell| cell.workload.metrics().contains(&metric))
}

/// A difference with its unit.
fn size(metric: Metric, share: f64) -> String {
    match metric.scale() {
        Scale::Ratio => format_share(share),
        Scale::Difference => {
            format!("{} points", format_share(share).replace('%', "percentage"))
        }
    }
}

fn margins(plan: &Plan) -> String {
    let text = |metric: Metric| format!("{metric} {}", size(metric, plan.margin(metric)));
    let asked = |metric: &Metric| measures(plan, *metric);
    let texts: Vec<String> = Metric::ALL.into_iter().filter(asked).map(text).collect();
    format!("Does not matter: {}.", texts.join(", "))
}
