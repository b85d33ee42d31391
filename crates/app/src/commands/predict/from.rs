//! `predict --from`: what a stored run measured, carried to other sizes, lines and flows.

use crate::args::PredictArgs;
use crate::commands::stored;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::Context;
use serde_json::{Value, json};
use v6gap_core::record::{Line, RunHeader};
use v6gap_core::unit::{format_bytes, format_rate, format_span, significant};
use v6gap_judge::analysis::costmodel::{Carried, Model, MtuOf, Ranged, Target, transfers};
use v6gap_judge::analysis::models;

/// Columns of the sentences below the table.
const WIDTH: usize = 79;

/// A carried figure and what it is of.
struct Row {
    name: String,
    what: &'static str,
    size_bytes: Option<u32>,
    flows: Option<u32>,
    carried: Carried,
    processor_bound: bool,
}

/// Prints the table or its JSON.
///
/// # Errors
/// If there is no such result, or none that can be carried.
pub fn execute(args: &PredictArgs, context: &Context) -> Result<Outcome, Failure> {
    let reference = args.from.as_deref().unwrap_or("last");
    let found = stored::load(reference, context)?;
    let run = &found.analysis.run;
    if !found.analysis.valid {
        return Err(Failure::usage(format!(
            "a check of run {} failed, so nothing is predicted from it",
            run.id
        )));
    }
    let rate_bps = match args.rate {
        None => None,
        Some(rate) => Some(
            rate.0.ok_or_else(|| Failure::usage("a line without a rate has nothing to predict"))?
                as f64,
        ),
    };
    let models = models(&found.lines)?;
    let usable: Vec<&Model> = models.iter().filter(|m| m.cost.fitted.is_some()).collect();
    if usable.is_empty() {
        return Err(without_sweep(run, &models));
    }
    let mut rows = Vec::new();
    for model in &usable {
        round_trips(args, rate_bps, model, &mut rows);
    }
    let known = usable.iter().find_map(|m| m.cost.line_rate_bps).map(|rate| rate.a);
    match rate_bps.or(known) {
        Some(rate) => goodput(args, rate, run, &found.lines, &mut rows)?,
        None if args.flows.is_empty() => {}
        None => {
            let why = "the rate of the run's line is not known, so flows need --rate";
            return Err(Failure::usage(why));
        }
    }
    let text = match args.json {
        true => output::document(&document(run, &usable, &rows)),
        false => output::fit(&context.output.results, &table(run, &usable, &rows)),
    };
    output::to_stdout(&text);
    Ok(Outcome::Done)
}

fn without_sweep(run: &RunHeader, models: &[Model]) -> Failure {
    let why = models.iter().find_map(|m| m.cost.why_none.as_deref());
    let why = why.unwrap_or("it has no round trips of three sizes or more, compared by family");
    Failure::usage(format!("nothing can be carried from run {}: {why}", run.id))
        .run(format!("v6gap plan run sizes {}", run.target), "to measure enough sizes")
}

fn round_trips(args: &PredictArgs, rate_bps: Option<f64>, model: &Model, rows: &mut Vec<Row>) {
    let sizes = match args.messages.as_slice() {
        [] => &model.cost.sizes_bytes,
        sizes => sizes,
    };
    for &message_bytes in sizes {
        let to = Target { message_bytes, rate_bps, links: args.hops, mtu: args.mtu };
        // The largest datagrams do not exist.
        let Some(carried) = model.carry(&to) else { continue };
        let size = format_bytes(message_bytes.into());
        rows.push(Row {
            name: format!("round trip {size}, {}", model.cost.transport.name()),
            what: "rtt",
            size_bytes: Some(message_bytes),
            flows: None,
            carried,
            processor_bound: false,
        });
    }
}

fn goodput(
    args: &PredictArgs,
    rate_bps: f64,
    run: &RunHeader,
    lines: &[Line],
    rows: &mut Vec<Row>,
) -> Result<(), Failure> {
    let Some(transfers) = transfers(lines)? else {
        return match args.flows.is_empty() {
            true => Ok(()),
            false => Err(Failure::usage(format!(
                "run {} has no TCP transfers of one stream whose processor time is known, so it \
                 says nothing of flows",
                run.id
            ))),
        };
    };
    let of = |host: &v6gap_core::record::Host| host.facts.get("processors")?.parse::<u32>().ok();
    let hosts = [of(&run.hosts.client), of(&run.hosts.server)];
    let processors = hosts.into_iter().flatten().min().unwrap_or(1);
    let one = [1];
    let flows = if args.flows.is_empty() { &one[..] } else { &args.flows[..] };
    for &flows in flows {
        let (carried, processor_bound) = transfers.carry(rate_bps, args.mtu, flows, processors);
        rows.push(Row {
            name: format!("TCP goodput, {flows} flow{}", if flows == 1 { "" } else { "s" }),
            what: "throughput",
            size_bytes: None,
            flows: Some(flows),
            carried,
            processor_bound,
        });
    }
    Ok(())
}

fn table(run: &RunHeader, models: &[&Model], rows: &[Row]) -> String {
    let mut out =
        format!("Carried from run {}: 95 % ranges; the model itself is taken to hold.\n", run.id);
    for row in rows {
        let shown = |value: f64| match row.what {
            "rtt" => format_span(value),
            _ => format_rate(value),
        };
        let ranged = |r: &Ranged, shown: &dyn Fn(f64) -> String| {
            format!("{} ({} to {})", shown(r.estimate), shown(r.low), shown(r.high))
        };
        let families = &row.carried.families;
        let ratio = ranged(&row.carried.ratio, &|x| significant(x, 4));
        out.push_str(&format!(
            "\n{}\n  ○ IPv4     {}\n  ◆ IPv6     {}\n  IPv6/IPv4  {ratio}\n",
            row.name,
            ranged(&families.v4, &shown),
            ranged(&families.v6, &shown)
        ));
        out.push_str(&match row.carried.beyond.as_slice() {
            [] => "  within what was measured\n".to_owned(),
            beyond => format!("  beyond what was measured: {}\n", beyond.join(", ")),
        });
        if row.processor_bound {
            out.push_str("  a processor is the limit, by its measured cost per byte\n");
        }
    }
    let mut say = |text: &str| {
        out.push_str(&format!("\n{}\n", output::wrap(text, WIDTH, "")));
    };
    mtus(rows).iter().for_each(|text| say(text));
    if models.iter().any(|m| m.cost.line_rate_bps.is_none()) {
        say("The rate of the run's line is not known: \
             all of its cost per byte is taken for the line's.");
    }
    for text in caveats(models) {
        say(&format!("Beware: {text}."));
    }
    out
}

/// Each MTU that rows were carried with, and where it is from.
fn mtus(rows: &[Row]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for Carried { mtu, mtu_of, .. } in rows.iter().map(|row| &row.carried) {
        let (v4, v6) = (format_bytes(mtu.v4.into()), format_bytes(mtu.v6.into()));
        let bytes = match mtu.v4 == mtu.v6 {
            true => v4,
            false => format!("{v4} over IPv4 and {v6} over IPv6"),
        };
        let text = match mtu_of {
            MtuOf::Asked => format!("Path MTU {bytes}, as asked for."),
            MtuOf::Run => format!("Path MTU {bytes}, that of the run."),
            MtuOf::Assumed => format!(
                "Path MTU {bytes}: where the run does not tell it, that of Ethernet is taken."
            ),
        };
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

/// What there is to doubt about the models, each once.
fn caveats<'a>(models: &[&'a Model]) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for text in models.iter().flat_map(|m| &m.cost.caveats) {
        if !all.contains(&text.as_str()) {
            all.push(text);
        }
    }
    all
}

fn document(run: &RunHeader, models: &[&Model], rows: &[Row]) -> Value {
    let row = |row: &Row| {
        // Times are carried in ns; documents have SI units.
        let scale = if row.what == "rtt" { 1e-9 } else { 1.0 };
        let ranged = |r: &Ranged, scale: f64| {
            let [estimate, low, high] = [r.estimate, r.low, r.high].map(|x| x * scale);
            json!({ "estimate": estimate, "low": low, "high": high })
        };
        json!({
            "metric": row.what,
            "name": row.name,
            "size_bytes": row.size_bytes,
            "flows": row.flows,
            "v4": ranged(&row.carried.families.v4, scale),
            "v6": ranged(&row.carried.families.v6, scale),
            "ratio": ranged(&row.carried.ratio, 1.0),
            "mtu_bytes": row.carried.mtu,
            "mtu_of": match row.carried.mtu_of {
                MtuOf::Asked => "asked",
                MtuOf::Run => "run",
                MtuOf::Assumed => "assumed",
            },
            "beyond": row.carried.beyond,
            "processor_bound": row.processor_bound,
        })
    };
    json!({
        "schema": "v6gap.carried/1",
        "from": run.id,
        "caveats": caveats(models),
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
    })
}
