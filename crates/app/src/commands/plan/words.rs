//! A checked plan back in words: what each line of it does, and what it leaves to the program.

use crate::output;
use crate::presets::Found;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::plan::draft::Draft;
use v6gap_core::plan::{Order, Plan, Stop, Summary};
use v6gap_core::unit::{format_bytes, format_rate, format_share, format_span};
use v6gap_core::workload::{
    Capacity, Cell, Connect, Direction, Echo, Law, LoadFamily, Probe, Purpose, Search, Sizes,
    TcpBulk, Timing, UdpBulk, Wait, Workload, ZeroCopy,
};
use v6gap_core::world::{Conditions, Link, LinkModel, World};
use v6gap_report::topology;

/// Columns for the names of cells; what longer ones do begins on the next line.
const ID_COLUMNS: usize = 24;

/// All of it, in lines of at most `width` columns.
pub(super) fn explain(found: &Found, width: usize) -> String {
    let Found { draft, plan, scaled, .. } = found;
    let mut said = vec![plan.description.clone()];
    said.retain(|text| !text.is_empty());
    if !scaled.is_empty() {
        said.push(format!("Made smaller: {}.", scaled.join(", ")));
    }
    said.extend(place(draft, plan));
    said.extend(design(draft, plan));
    said.extend(study(plan));
    said.push(margins(plan));
    said.push(format!("Measures {}, all of them in every round:", count(plan.cells.len(), "cell")));
    let mut out = format!("{}\n", plan.name);
    for text in said {
        out.push_str(&format!("  {}\n", output::wrap(&text, width.saturating_sub(2), "    ")));
    }
    let longest = plan.cells.iter().map(|cell| cell.id.len()).max().unwrap_or(0);
    let column = longest.min(ID_COLUMNS) + 6;
    let indent = format!("\n{}", " ".repeat(column));
    for cell in &plan.cells {
        let said = what(cell) + &marking(cell);
        let what = output::wrap(&said, width.saturating_sub(column), "");
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
        lines.push(format!("Link {}, {first} to {second}: {}.", number + 1, on_link(link)));
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

fn on_link(link: &Link) -> String {
    let met = match link.back {
        None => on_way(&link.conditions),
        Some(back) => format!("there {}; back {}", on_way(&link.conditions), on_way(&back)),
    };
    format!("{met}; {}", topology::mtu_words(link))
}

fn on_way(way: &PerFamily<Conditions>) -> String {
    match way.v4 == way.v6 {
        true => topology::conditions(&way.v4),
        false => Family::BOTH
            .map(|family| format!("{family} {}", topology::conditions(way.get(family))))
            .join("; "),
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
        Stop::Pairs { pairs } => format!("Measures {pairs} pairs of every cell."),
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
        blocks => format!(
            "Compares each family with itself first, {} in each of {}, and again every {} rounds.",
            count(blocks as usize, "time"),
            count(design.null_cells.len(), "cell"),
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
    let text = |(metric, share): (&Metric, &f64)| format!("{metric} ±{}", format_share(*share));
    let asked = |(metric, _): &(&Metric, &f64)| measures(plan, **metric);
    let texts: Vec<String> = plan.design.precision.iter().filter(asked).map(text).collect();
    (!texts.is_empty()).then(|| format!("Known well enough: {}.", texts.join(", ")))
}

fn measures(plan: &Plan, metric: Metric) -> bool {
    plan.cells.iter().any(|cell| cell.workload.metrics().contains(&metric))
}

fn margins(plan: &Plan) -> String {
    let text = |metric: Metric| {
        let margin = plan.margin(metric);
        match metric.scale() {
            Scale::Ratio => format!("{metric} {}", format_share(margin)),
            Scale::Difference => {
                format!("{metric} {} points", format_share(margin).replace('%', "percentage"))
            }
        }
    };
    let asked =
        |metric: &Metric| plan.cells.iter().any(|cell| cell.workload.metrics().contains(metric));
    let texts: Vec<String> = Metric::ALL.into_iter().filter(asked).map(text).collect();
    format!("Does not matter: {}.", texts.join(", "))
}

fn what(cell: &Cell) -> String {
    match &cell.workload {
        Workload::TcpBulk(bulk) => tcp_bulk(bulk),
        Workload::UdpBulk(bulk) => udp_bulk(bulk),
        Workload::Echo(echo) => exchanges(echo),
        Workload::Connect(connect) => connecting(connect),
        Workload::Probe(probe) => probes(probe),
        Workload::Capacity(search) => searching(search),
    }
}

fn tcp_bulk(bulk: &TcpBulk) -> String {
    let way = match bulk.direction {
        Direction::Send => "to the server",
        Direction::Receive => "from the server",
        Direction::Both => "both ways at the same time",
    };
    let over = match bulk.streams {
        1 => "TCP".to_owned(),
        streams => format!("{streams} TCP connections at a time"),
    };
    let write = format_bytes(bulk.write_bytes.into());
    let span = format_span(bulk.duration_ns as f64);
    let mut text = match bulk.bytes {
        Some(bytes) => {
            let bytes = format_bytes(bytes);
            format!("sends {bytes} {way} over {over} in writes of {write}, for at most {span}")
        }
        None => {
            let without = format_span(bulk.warmup_ns as f64);
            format!(
                "sends {way} over {over} for {span} in writes of {write}, without the first \
                 {without}"
            )
        }
    };
    let settings = &bulk.settings;
    if let Some(name) = &settings.congestion {
        text.push_str(&format!(", congestion control {name}"));
    }
    if let Some(bytes) = settings.buffer_bytes {
        text.push_str(&format!(", window {}", format_bytes(bytes.into())));
        if settings.require_buffer {
            text.push_str(" or not at all");
        }
    }
    if let Some(bytes) = settings.mss_bytes {
        text.push_str(&format!(", segments of at most {}", format_bytes(bytes.into())));
    }
    if let Some(rate) = bulk.pacing_bps {
        text.push_str(&format!(", at most {}", format_rate(rate as f64)));
    }
    match bulk.zero_copy {
        Some(ZeroCopy::File) => text.push_str(", from a file without copying"),
        Some(ZeroCopy::Memory) => text.push_str(", from memory without copying"),
        None => {}
    }
    if bulk.truncate {
        text.push_str(", received without copying");
    }
    if settings.no_delay {
        text.push_str(", small segments at once");
    }
    if bulk.cpu {
        text.push_str("; also asks for the processor time");
    }
    text
}

fn udp_bulk(bulk: &UdpBulk) -> String {
    let rate = match bulk.rate_bps {
        Some(rate) => format!("at {}", format_rate(rate as f64)),
        None => "as fast as the socket takes them".to_owned(),
    };
    let span = |ns: u64| format_span(ns as f64);
    let bytes = |bytes: u32| format_bytes(bytes.into());
    let law = match bulk.law {
        Law::Constant => rate,
        Law::Periodic => format!("{rate} from a random moment on"),
        Law::Poisson => format!("{rate} at random moments (Poisson)"),
        Law::OnOff { on_ns, off_ns } => {
            format!("{rate} for {} of every {}", span(on_ns), span(on_ns.saturating_add(off_ns)))
        }
        Law::Frames { frame_bytes, every_ns } => {
            format!("as frames of {} every {}", bytes(frame_bytes), span(every_ns))
        }
    };
    let most = bytes(bulk.payload_bytes);
    let sizes = match bulk.sizes {
        Sizes::Fixed => most,
        Sizes::Random { least_bytes } => format!("{} to {most} at random", bytes(least_bytes)),
        Sizes::Stepped { least_bytes, step_bytes } => {
            format!("{} to {most} in steps of {}", bytes(least_bytes), bytes(step_bytes))
        }
    };
    let way = match bulk.direction {
        Direction::Send => "",
        Direction::Receive | Direction::Both => "from the server ",
    };
    let mut text = format!(
        "sends datagrams of {sizes} {way}{law} for {}, without the first {}",
        span(bulk.duration_ns),
        span(bulk.warmup_ns),
    );
    if let Some(packets) = bulk.packets {
        text.push_str(&format!(", {packets} at most"));
    }
    text.push_str(&match bulk.batch {
        1 => ", one a call".to_owned(),
        batch => format!(", up to {batch} a call"),
    });
    if bulk.offload {
        text.push_str(" with segmentation and receive offload");
    }
    text
}

fn probes(probe: &Probe) -> String {
    let wait = match probe.wait {
        Wait::Block => "",
        Wait::Yield | Wait::Spin => ", without sleeping",
    };
    let clocks = match probe.clock_error_ns {
        Some(ns) => format!(", by clocks alike to {}", format_span(ns as f64)),
        None => String::new(),
    };
    let load = probe.load.as_ref().map_or(String::new(), |load| {
        let way = match load.direction {
            Direction::Send => "to the server",
            Direction::Receive => "from the server",
            Direction::Both => "each way",
        };
        let family = match load.family {
            LoadFamily::Same => "the same family",
            LoadFamily::Other => "the other family",
        };
        let streams = match load.udp {
            None => count(load.streams as usize, "TCP stream"),
            Some(udp) => {
                let streams = count(load.streams as usize, "UDP stream");
                let payload = format_bytes(udp.payload_bytes.into());
                match udp.rate_bps {
                    Some(rate_bps) => {
                        format!("{streams} of {payload} at {}", format_rate(rate_bps as f64))
                    }
                    None => format!("{streams} of {payload} at full speed"),
                }
            }
        };
        format!(", while {streams} of {family} {way} fill the path")
    });
    format!(
        "sends UDP probes of {} every {} for {} in {} turns, lost after {}{load}{clocks}{wait}",
        format_bytes(probe.payload_bytes.into()),
        format_span(probe.interval_ns as f64),
        format_span(probe.sending_ns() as f64),
        probe.turns,
        format_span(probe.timeout_ns as f64),
    )
}

fn searching(search: &Capacity) -> String {
    let way = match search.direction {
        Direction::Send => "",
        Direction::Receive | Direction::Both => " from the server",
    };
    let most = format_rate(search.rate_bps_max as f64);
    let what = format!(
        "datagrams of {}{way}, at most {most} of the IP layer",
        format_bytes(search.payload_bytes.into())
    );
    match search.search {
        Search::Load { duration_ns } => format!(
            "searches the rate that the path carries (RFC 9097) for {} with {what}",
            format_span(duration_ns as f64)
        ),
        Search::Halving { trial_ns, lost_ppm_max, forced } => {
            let lost = match lost_ppm_max {
                0 => "nothing".to_owned(),
                ppm => format!("at most {}", format_share(f64::from(ppm) / 1e6)),
            };
            let forced = if forced { ", also outside a lab" } else { "" };
            format!(
                "searches the highest rate at which {lost} is lost (as RFC 2544 does) by up to {} \
                 trials of {} with {what}{forced}",
                search.trials_max(),
                format_span(trial_ns as f64)
            )
        }
    }
}

fn exchanges(echo: &Echo) -> String {
    let wait = match echo.wait {
        Wait::Block => "",
        Wait::Yield => ", without sleeping",
        Wait::Spin => ", without sleeping or giving way",
    };
    let timed = match echo.timing {
        Timing::Each => "",
        Timing::Batch => ", timed by the turn",
    };
    let outstanding = match echo.outstanding {
        1 => String::new(),
        many => format!(", {many} requests on the way at a time"),
    };
    let buffers = echo.settings.buffer_bytes.map_or(String::new(), |bytes| {
        format!(", socket buffers of {}", format_bytes(bytes.into()))
    });
    let back = match echo.response_bytes {
        None => "there and back".to_owned(),
        Some(bytes) => format!("there and {} back", format_bytes(bytes.into())),
    };
    format!(
        "{} {back} over {}, {} turns of {} exchanges over {}{buffers}{outstanding}{timed}{wait}",
        format_bytes(echo.message_bytes.into()),
        echo.transport.name(),
        echo.turns,
        echo.turn_exchanges,
        count(echo.connections as usize, "connection"),
    )
}

fn marking(cell: &Cell) -> String {
    let marking = cell.workload.marking();
    let mut text = String::new();
    if let Some(octet) = marking.traffic_class {
        text.push_str(&format!(", traffic class {octet:#04x} (DSCP {})", octet >> 2));
    }
    if let Some(hops) = marking.hop_limit {
        text.push_str(&format!(", hop limit {hops}"));
    }
    if let Some(label) = marking.flow_label {
        text.push_str(&format!(", flow label {label:#07x} from the client"));
    }
    if marking.dont_fragment {
        text.push_str(", never in fragments");
    }
    text
}

fn connecting(connect: &Connect) -> String {
    let some = count(connect.count as usize, "TCP connection");
    let way = match connect.concurrent {
        1 => "one after the other".to_owned(),
        many => format!("{many} at a time"),
    };
    match connect.purpose {
        Purpose::Open => format!("opens {some} {way}"),
        Purpose::FirstByte => format!("opens {some} {way}, each for a request and its answer"),
        Purpose::Rate => {
            format!("opens {some} {way}, as fast as it can, each for a request and its answer")
        }
        Purpose::Hold => format!("opens {some} {way} and keeps all of them open"),
    }
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
