//! `run HOST --against TOOL`: an unmodified server of another tool at the other end.

use super::plan;
use crate::args::{DesignArgs, KeyArgs, RunArgs};
use crate::commands::plan::expect;
use crate::failure::{Failure, Outcome};
use crate::key;
use crate::session;
use crate::settings::Context;
use crate::target::RunOptions;
use std::path::PathBuf;
use v6gap_core::metric::Metric;
use v6gap_core::plan::draft::Wanted;
use v6gap_core::wire;
use v6gap_core::workload::Transport;
use v6gap_perform::against::{self, Tool};
use v6gap_perform::{Job, Place};

/// Longest wait for a server that measures for somebody else, in ns.
const BUSY_NS: u64 = 60_000_000_000;

/// The same where nobody is waited for: a server of iperf3 is busy for a moment behind each test of
/// one's own, in ns.
const OWN_NS: u64 = 1_000_000_000;

/// Measures against the server of `tool` at the host.
///
/// # Errors
/// If it cannot be found or measured.
pub fn execute(
    args: &RunArgs,
    tool: Tool,
    options: &RunOptions,
    context: &Context,
) -> Result<Outcome, Failure> {
    if let Some(only) = args.only() {
        let what = format!("--against compares both families, and {only} alone is asked for");
        return Err(Failure::usage(what));
    }
    let plan = plan(&asked(&args.design, tool), None, None)?;
    let key = match tool {
        Tool::Stamp => {
            let KeyArgs { key_file, word, credentials, .. } = &args.connect.key;
            if word.is_some() {
                let why = "the key of a reflector is read from a file: --key-file FILE";
                return Err(Failure::usage(why));
            }
            let read = |path: &PathBuf| key::of_stamp(path, credentials.as_deref());
            key_file.as_ref().map(read).transpose()?
        }
        Tool::Iperf3 => None,
    };
    for cell in &plan.cells {
        tool.takes(&cell.workload, key.is_some())
            .map_err(|why| Failure::usage(format!("{}: {why}", cell.id)))?;
    }
    // As between two hosts; a server of iperf3 is asked for no exchange that could tell how long
    // the way is.
    let fit = tool == Tool::Stamp;
    if args.result.dry_run {
        return expect::dry_run(&plan, Some(args.host()), fit, args.result.json, context);
    }
    let mut connect = args.connect.clone();
    if connect.port == wire::PORT {
        connect.port = tool.port();
    }
    let wanted = against::Wanted {
        tool,
        target: connect.target(args.host())?.comparable()?,
        mine: args.mine,
        silence_ns: args.connect.connect_timeout,
        busy_ns: if args.connect.no_wait { OWN_NS } else { BUSY_NS },
        key,
    };
    session::in_turn(options.turn(context)?, &options.result, |turn| {
        let found = against::look(wanted)?;
        let job = Job { fit, ..options.job(plan, &context.keys)? };
        session::measure(job, Place::Against(Box::new(found)), turn, options, context)
    })
}

/// The design, with what the tool's server can be asked for where nothing is named.
fn asked(design: &DesignArgs, tool: Tool) -> DesignArgs {
    let mut design = design.clone();
    if design.measure.is_empty() {
        design.measure = match (tool, design.knobs.udp) {
            (Tool::Stamp, _) => {
                vec![Wanted::Metric(Metric::Rtt), Wanted::Transport(Transport::Udp)]
            }
            (Tool::Iperf3, false) => {
                vec![Wanted::Metric(Metric::Throughput), Wanted::Transport(Transport::Tcp)]
            }
            (Tool::Iperf3, true) => vec![
                Wanted::Metric(Metric::Throughput),
                Wanted::Metric(Metric::Loss),
                Wanted::Transport(Transport::Udp),
            ],
        };
    }
    if tool == Tool::Stamp && design.knobs.length.is_empty() {
        // Sizes that every reflector takes, and of which one fits all authenticated packets.
        design.knobs.length = ["128", "1024"].map(str::to_owned).to_vec();
    }
    design
}
