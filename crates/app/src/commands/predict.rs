//! `predict`: what the headers alone cost, by arithmetic; nothing is sent.

mod figures;
pub mod from;

use crate::args::PredictArgs;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::OutputStyle;
use figures::{Figures, Row};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::unit::{format_bytes, format_rate, format_share, format_span, significant};

/// Rate of the line where none is asked for, in bit/s.
const RATE_BPS: u64 = 100_000_000;

/// Prints the table or its JSON.
///
/// # Errors
/// If the line has no rate.
pub fn execute(args: &PredictArgs, style: &OutputStyle) -> Result<Outcome, Failure> {
    let Some(rate_bps) = args.rate.map_or(Some(RATE_BPS), |rate| rate.0) else {
        return Err(Failure::usage("a line without a rate has no goodput to predict"));
    };
    let figures = Figures::new(args, rate_bps as f64);
    let text = match args.json {
        true => output::document(&figures.json()),
        false => output::fit(&style.results, &table(&figures)),
    };
    output::to_stdout(&text);
    Ok(Outcome::Done)
}

fn table(figures: &Figures) -> String {
    let options = if figures.options.bytes > 0 { "with" } else { "without" };
    let tags = match figures.framing.vlan_tags {
        0 => String::new(),
        n => format!(", {n} VLAN tag{}", if n == 1 { "" } else { "s" }),
    };
    let mut out = format!(
        "Cost of the headers alone: Ethernet, {}, MTU {}, TCP {options} timestamps{tags}.\n\n",
        format_rate(figures.rate_bps),
        figures.mtu
    );
    let mbits = |bps: f64| format!("{:.3}", bps / 1e6);
    out.push_str(&head("Goodput of a full line, Mbit/s"));
    for row in figures.goodput() {
        out.push_str(&line(&row, mbits, ["faster", "slower"]));
    }
    for &flows in &figures.flows {
        let flow = if flows == 1 { "flow" } else { "flows" };
        out.push_str(&format!("\n{}", head(&format!("What layers leave, {flows} {flow}"))));
        for row in figures.layers(flows) {
            out.push_str(&line(&row, mbits, ["more", "less"]));
        }
    }
    let links = match figures.hops {
        1 => "1 link".to_owned(),
        n => format!("{n} links"),
    };
    out.push_str(&format!("\n{}", head(&format!("Round trip over {links}, hosts apart"))));
    for row in figures.round_trips() {
        out.push_str(&line(&row, format_span, ["longer", "shorter"]));
    }
    let longest = Family::V4.udp_payload_bytes_max();
    if figures.sizes.iter().any(|size| *size > longest) {
        out.push_str(&format!(
            "  UDP: no datagram of both families carries more than {longest} B.\n"
        ));
    }
    out.push_str(&composition(figures));
    out
}

fn head(title: &str) -> String {
    format!("{title:<32}{:>11}{:>11}{:>10}\n", "○ IPv4", "◆ IPv6", "IPv6/IPv4")
}

/// One row; `words` are for more and for less.
fn line(row: &Row, format: impl Fn(f64) -> String, words: [&str; 2]) -> String {
    let PerFamily { v4, v6 } = row.values;
    let ratio = v6 / v4;
    let word = if ratio > 1.0 { words[0] } else { words[1] };
    let by = match significant((ratio - 1.0).abs() * 100.0, 3) {
        by if by == "0" => "the same".to_owned(),
        by => format!("{by} % {word}"),
    };
    let name = format!("  {}", row.name);
    format!("{name:<32}{:>11}{:>11}{ratio:>10.5}  {by}\n", format(v4), format(v6))
}

/// What a full packet is made of: the four columns of Raicu's Table 1, with every base named.
fn composition(figures: &Figures) -> String {
    let columns = figures.composition();
    let mut out = String::from("\nA full packet, in bytes             ");
    for column in &columns {
        out.push_str(&format!("{:>11}", column.name));
    }
    out.push('\n');
    let mut row = |name: &str, value: &dyn Fn(&figures::Column) -> String| {
        out.push_str(&format!("  {name:<34}"));
        for column in &columns {
            out.push_str(&format!("{:>11}", value(column)));
        }
        out.push('\n');
    };
    row("payload", &|c| c.parts.payload_bytes.to_string());
    row("Ethernet header", &|c| c.parts.link_header_bytes.to_string());
    row("IP header", &|c| c.parts.ip_header_bytes.to_string());
    row("TCP or UDP header", &|c| c.parts.transport_header_bytes.to_string());
    row("on the line, with gap and checksum", &|c| c.parts.wire_bytes.to_string());
    row("headers, share of the payload", &|c| format_share(c.parts.headers_per_payload()));
    row("headers, share of the frame", &|c| format_share(c.parts.headers_share_of_frame()));
    row("all but payload, per payload", &|c| format_share(c.parts.line_overhead_per_payload()));
    row("all but payload, share of the line", &|c| format_share(c.parts.line_overhead_share()));
    let smallest = format_bytes(figures::SMALL_BYTES.into());
    let small = figures.composition_of(figures::SMALL_BYTES);
    let shares: Vec<String> =
        small.iter().map(|c| format_share(c.parts.headers_per_payload())).collect();
    let name = format!("  headers, share of {smallest} of payload");
    out.push_str(&format!("{name:<36}"));
    shares.iter().for_each(|share| out.push_str(&format!("{share:>11}")));
    out.push('\n');
    out
}
