//! From options to a draft: the tables that a plan file would have, checked by the same rules.

use crate::args::{DesignArgs, KnobArgs, Precision};
use crate::failure::Failure;
use v6gap_core::arm::PerArm;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::plan::check::Problem;
use v6gap_core::plan::draft::{Counts, Draft, Levels, Measure, Overall, Wanted};
use v6gap_core::plan::preset;
use v6gap_core::workload::{TcpBulk, UdpBulk, Workload};
use v6gap_core::world::World;

/// What the options describe: the first look with what they change.
///
/// # Errors
/// An option that does not go with another, or that changes nothing of what is measured.
pub fn draft(args: &DesignArgs, world: Option<World>) -> Result<Draft, Failure> {
    let knobs = &args.knobs;
    let arms = args.null.map_or(PerArm::FAMILIES, PerArm::null);
    let mut draft = preset::first_look_draft(arms, world);
    let searches = shapes_search(args);
    if args.parity.is_some() {
        draft.measure.iter_mut().for_each(|table| unsized_by(args, table));
    }
    if let Some(option) = knobs.shapes_bulk().filter(|_| !searches) {
        let shaped = shaped(args, option)?;
        let rtt = shaped.metric == Metric::Rtt.name();
        draft.measure.retain(|table| !replaced(table, rtt, knobs.udp));
        draft.measure.insert(0, shaped);
    }
    let metrics = args.measure.iter().filter_map(metric);
    let spare = metrics.map(|m| if searches { search(knobs, m) } else { Ok(table(m)) });
    draft.overall = Overall {
        spare: spare.collect::<Result<_, _>>()?,
        only: args.measure.clone(),
        marks: knobs.marks().map(|_| marks(knobs)),
        ..Overall::default()
    };
    if args.tails {
        ask_of_round_trips(args, "--tails", &mut draft, |table| {
            table.also.push("tails".to_owned());
        })?;
    }
    if let Some(method) = &args.method {
        ask_of_round_trips(args, "--method", &mut draft, |table| {
            table.method = Some(method.clone());
        })?;
    }
    if let Some(parity) = &args.parity {
        ask_for_parity(args, parity, &mut draft)?;
    }
    draft.design.pairs = args.pairs;
    draft.design.seed = args.seed;
    draft.design.different_links = args.allow_different_links;
    let margins =
        args.margins.iter().map(|(metric, share)| (metric.name().to_owned(), share.clone()));
    draft.design.margin.extend(margins);
    for Precision { metric, share } in &args.precision {
        let all = Metric::ALL.into_iter().filter(|metric| metric.scale() == Scale::Ratio);
        let metrics: Vec<Metric> = metric.map_or_else(|| all.collect(), |m| vec![m]);
        let shares = metrics.into_iter().map(|metric| (metric.name().to_owned(), share.clone()));
        draft.design.precision.extend(shares);
    }
    Ok(draft)
}

/// What an option asks of every round trip that is measured.
fn ask_of_round_trips(
    args: &DesignArgs,
    option: &str,
    draft: &mut Draft,
    ask: impl Fn(&mut Measure),
) -> Result<(), Failure> {
    let mut named = args.measure.iter().filter_map(metric).peekable();
    if named.peek().is_some() && !named.any(|metric| metric == Metric::Rtt) {
        let what = format!("{option} is about round trips, which --measure leaves out");
        return Err(Failure::usage(what));
    }
    let tables = draft.measure.iter_mut().chain(&mut draft.overall.spare);
    tables.filter(|table| table.metric == Metric::Rtt.name()).for_each(ask);
    Ok(())
}

/// Leaves the sizes of a table of the first look to the parity that is asked for.
fn unsized_by(args: &DesignArgs, table: &mut Measure) {
    table.message = None;
    if args.parity.as_deref() == Some("frame") {
        table.payload = None;
    }
}

/// The same lengths of round trips and transfers over both families.
fn ask_for_parity(args: &DesignArgs, parity: &str, draft: &mut Draft) -> Result<(), Failure> {
    let has = |metric: Metric| metric == Metric::Rtt || is_of_bulk(metric);
    let mut named = args.measure.iter().filter_map(metric).peekable();
    if named.peek().is_some() && !named.any(has) {
        let what = "--parity is about round trips and transfers, which --measure leaves out";
        return Err(Failure::usage(what));
    }
    let tables = draft.measure.iter_mut().chain(&mut draft.overall.spare);
    for table in tables.filter(|table| Metric::from_name(&table.metric).is_some_and(has)) {
        table.parity = Some(parity.to_owned());
    }
    Ok(())
}

/// Whether bulk transfers yield the metric.
fn is_of_bulk(metric: Metric) -> bool {
    let [tcp, udp] = [Workload::TcpBulk(TcpBulk::default()), Workload::UdpBulk(UdpBulk::default())];
    let of_datagrams = [Metric::PacketRate, Metric::Reordering, Metric::Duplication];
    let of_both = [tcp, udp].iter().any(|workload| workload.metrics().contains(&metric));
    of_both || of_datagrams.contains(&metric)
}

/// Whether a table of the first look gives way to the one that the options make.
fn replaced(table: &Measure, rtt: bool, udp: bool) -> bool {
    let is = |metric: Metric| table.metric == metric.name();
    if rtt { is(Metric::Rtt) } else { is(Metric::Throughput) || udp && is(Metric::Loss) }
}

fn metric(wanted: &Wanted) -> Option<Metric> {
    match wanted {
        Wanted::Metric(metric) => Some(*metric),
        Wanted::Transport(_) => None,
    }
}

/// Whether the options are about searches for capacity: nothing else is named that they shape.
fn shapes_search(args: &DesignArgs) -> bool {
    let metrics = args.measure.iter().filter_map(metric);
    let (searches, others): (Vec<Metric>, Vec<Metric>) = metrics.partition(|m| is_search(*m));
    !searches.is_empty() && !others.contains(&Metric::Throughput)
}

const fn is_search(metric: Metric) -> bool {
    matches!(metric, Metric::Capacity | Metric::RateAtLoss)
}

/// The table of a metric beside or of a search, shaped by the options if it is one.
fn search(knobs: &KnobArgs, metric: Metric) -> Result<Measure, Failure> {
    if !is_search(metric) {
        return Ok(table(metric));
    }
    let others = KnobArgs {
        time: None,
        udp: false,
        bitrate: None,
        target_loss: None,
        force_search: false,
        reverse: false,
        length: Vec::new(),
        ..knobs.clone()
    };
    if let Some(option) = others.shapes_bulk() {
        let what = format!("{option} is about throughput, which --measure leaves out");
        return Err(Failure::usage(what));
    }
    let halving = metric == Metric::RateAtLoss;
    Ok(Measure {
        payload: levels(&knobs.length),
        bitrate: knobs.bitrate.clone(),
        time: knobs.time.clone(),
        direction: knobs.reverse.then(|| "receive".to_owned()),
        target_loss: knobs.target_loss.clone().filter(|_| halving),
        force: knobs.force_search.then_some(true).filter(|_| halving),
        ..table(metric)
    })
}

/// The table of the measurement that the options are about.
fn shaped(args: &DesignArgs, option: &str) -> Result<Measure, Failure> {
    let knobs = &args.knobs;
    if knobs.target_loss.is_some() || knobs.force_search {
        let what = "--target-loss and --force-search belong to --measure rate-at-loss";
        return Err(Failure::usage(what));
    }
    if knobs.bitrate.is_some() && !knobs.udp {
        return Err(Failure::usage("--bitrate is of datagrams: it needs --udp"));
    }
    let named = |metric| args.measure.contains(&Wanted::Metric(metric));
    let bulk = args.measure.iter().all(|wanted| metric(wanted).is_none())
        || named(Metric::Throughput)
        || named(Metric::Loss) && knobs.udp;
    let only_length = KnobArgs { length: Vec::new(), ..knobs.clone() }.shapes_bulk().is_none();
    if !bulk && named(Metric::Rtt) && only_length {
        let protocol = Levels::Many(vec!["tcp".to_owned(), "udp".to_owned()]);
        let message = levels(&knobs.length);
        return Ok(Measure { protocol: Some(protocol), message, ..table(Metric::Rtt) });
    }
    if !bulk {
        let what = format!("{option} is about throughput, which --measure leaves out");
        return Err(Failure::usage(what));
    }
    let direction = match (knobs.reverse, knobs.both_ways) {
        (true, _) => Some("receive"),
        (_, true) => Some("both"),
        _ => None,
    };
    let measure = Measure {
        protocol: Some(Levels::One(if knobs.udp { "udp" } else { "tcp" }.to_owned())),
        direction: direction.map(str::to_owned),
        time: knobs.time.clone(),
        warmup: knobs.omit.clone(),
        ..table(Metric::Throughput)
    };
    Ok(match knobs.udp {
        true => {
            tcp_only(knobs)?;
            Measure { payload: levels(&knobs.length), bitrate: knobs.bitrate.clone(), ..measure }
        }
        false => Measure {
            write: levels(&knobs.length),
            streams: (!knobs.parallel.is_empty()).then(|| Counts::Many(knobs.parallel.clone())),
            bytes: levels(&knobs.bytes),
            window: levels(&knobs.window),
            mss: levels(&knobs.mss),
            no_delay: knobs.no_delay.then_some(true),
            congestion: knobs.congestion.clone(),
            zero_copy: knobs.zero_copy.then(|| "file".to_owned()),
            pacing: knobs.pacing.clone(),
            ..measure
        },
    })
}

/// Refuses what datagrams do not have.
fn tcp_only(knobs: &KnobArgs) -> Result<(), Failure> {
    let of_tcp = KnobArgs {
        time: None,
        omit: None,
        udp: false,
        bitrate: None,
        reverse: false,
        both_ways: false,
        length: Vec::new(),
        ..knobs.clone()
    };
    match of_tcp.shapes_bulk() {
        Some(option) => Err(Failure::usage(format!("{option} is of TCP, and --udp is given"))),
        None => Ok(()),
    }
}

/// A table that does nothing but carry the marks.
fn marks(knobs: &KnobArgs) -> Measure {
    Measure {
        tos: knobs.tos.clone(),
        dscp: knobs.dscp.clone(),
        flow_label: knobs.flow_label.clone(),
        hop_limit: knobs.hop_limit,
        dont_fragment: knobs.dont_fragment.then_some(true),
        ..table(Metric::Throughput)
    }
}

fn table(metric: Metric) -> Measure {
    Measure { metric: metric.name().to_owned(), ..Measure::default() }
}

fn levels(texts: &[String]) -> Option<Levels> {
    (!texts.is_empty()).then(|| Levels::Many(texts.to_vec()))
}

/// The refusal of what was typed, each problem under the name of its option.
pub fn refused(problems: Vec<Problem>) -> Failure {
    Failure::usage(problems.iter().map(said).collect::<Vec<_>>().join("; "))
}

fn said(problem: &Problem) -> String {
    let Problem { key, what, help } = problem;
    let help = help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
    match key.rsplit('.').next().unwrap_or(key) {
        "only" => format!("--measure {what}"),
        key => format!("{}: {what}{help}", KnobArgs::option_of(key)),
    }
}

#[cfg(test)]
mod tests {
    use crate::args::{Cli, Command};
    use crate::commands::run::plan;
    use clap::Parser;
    use v6gap_core::plan::Stop;

    fn cells(flags: &str) -> Result<Vec<String>, String> {
        let words = ["v6gap", "run", "host", "--seed", "1"].into_iter();
        let parsed = Cli::try_parse_from(words.chain(flags.split_whitespace()));
        let Command::Run(args) = parsed.map_err(|error| error.to_string())?.command else {
            panic!("run was typed")
        };
        let made = plan(&args.design, None, None).map_err(|failure| format!("{failure:?}"))?;
        Ok(made.cells.iter().map(|cell| cell.id.clone()).collect())
    }

    #[test]
    fn knobs_change_the_transfer_and_leave_the_rest() {
        let usual = cells("").unwrap();
        let parallel = cells("-P 4").unwrap();
        assert_eq!(parallel.len(), usual.len());
        assert_eq!(parallel[0], "throughput-tcp-streams-4");
        assert_eq!(parallel[1..], usual[1..]);
        let only = "--measure throughput,tcp";
        assert_eq!(cells(&format!("-R {only}")).unwrap(), ["throughput-tcp-receive"]);
        assert_eq!(cells(&format!("--bidir {only}")).unwrap(), ["throughput-tcp-both"]);
    }

    #[test]
    fn what_is_named_is_measured_and_nothing_else() {
        assert_eq!(cells("").unwrap().len(), 9);
        assert_eq!(cells("--measure connect").unwrap(), ["connect-tcp"]);
        let udp = ["rtt-udp-64", "rtt-udp-1024", "rtt-udp-16384"];
        assert_eq!(cells("--measure rtt,udp").unwrap(), udp);
        assert_eq!(cells("--measure loss").unwrap(), ["throughput-udp-1408"]);
    }

    /// One transfer tells all that is asked of transfers over UDP.
    #[test]
    fn what_one_transfer_tells_is_measured_with_one() {
        let one = ["throughput-udp-1408"];
        for metrics in ["reordering,duplication", "reordering,loss", "duplication,udp"] {
            assert_eq!(cells(&format!("--measure {metrics}")).unwrap(), one, "{metrics}");
        }
        let slow = cells("-u -b 1M --measure loss,duplication,reordering").unwrap();
        assert_eq!(slow, one);
        let rates = cells("--measure packet-rate,reordering").unwrap();
        assert_eq!(rates, ["packet-rate-udp-1408"]);
    }

    #[test]
    fn what_has_no_trials_of_its_own_is_named_with_what_to_type() {
        for (metric, expected) in [
            ("cpu", "--measure: cpu comes with transfers over TCP: also = [\\\"cpu\\\"]"),
            ("rtt-p99", "--tails"),
            ("tls", "v6gap probe HOST --measure tls"),
            ("lookup,udp", "v6gap probe HOST --measure lookup"),
        ] {
            let error = cells(&format!("--measure {metric}")).unwrap_err();
            assert!(error.contains(expected), "{metric}: {error}");
            assert!(!error.contains("not measured over"), "{metric}: {error}");
        }
    }

    #[test]
    fn lists_make_sweeps() {
        let made = cells("--measure throughput,tcp -w 8K,64K -n 1M,10M").unwrap();
        assert_eq!(made.len(), 4);
        let udp = cells("-u -l 64,512 -b 10M --measure throughput").unwrap();
        assert_eq!(udp, ["throughput-udp-64", "throughput-udp-512"]);
        let rtt = cells("--measure rtt -l 64,4K").unwrap();
        assert_eq!(rtt, ["rtt-tcp-64", "rtt-tcp-4096", "rtt-udp-64", "rtt-udp-4096"]);
    }

    #[test]
    fn a_search_takes_the_options_that_it_has() {
        let made = |flags: &str| cells(flags).unwrap();
        assert_eq!(made("--measure capacity"), ["capacity-udp-1222"]);
        let both = made("--measure capacity,rate-at-loss -R -l 512,1222 -t 3s -b 1G");
        let ids = ["512-receive", "1222-receive"].map(|end| format!("capacity-udp-{end}"));
        assert_eq!(both[..2], ids);
        assert_eq!(both[2..], ids.map(|id| id.replace("capacity", "rate-at-loss")));
        let lossy = made("--measure rate-at-loss --target-loss 0.1%");
        assert_eq!(lossy, ["rate-at-loss-udp-1222-lost1000ppm"]);
        let beside = made("--measure capacity,throughput -t 2");
        assert_eq!(beside, ["throughput-tcp", "throughput-udp-1408", "capacity-udp-1222"]);
        for (flags, expected) in [
            ("--measure capacity -P 4", "--parallel is about throughput"),
            ("--measure capacity -t 1s", "from 2 s"),
            ("--measure capacity -l 40", "--length"),
            ("--target-loss 1%", "rate-at-loss"),
        ] {
            let error = cells(flags).unwrap_err();
            assert!(error.contains(expected), "{flags}: {error}");
        }
    }

    #[test]
    fn long_trials_make_a_run_longer_and_nothing_else_does() {
        let time_s = |flags: &str| {
            let words = ["v6gap", "run", "host"].into_iter().chain(flags.split_whitespace());
            let Command::Run(args) = Cli::try_parse_from(words).unwrap().command else {
                panic!("run was typed")
            };
            match plan(&args.design, None, None).unwrap().design.stop {
                Stop::Adaptive { time_ns_max, .. } => time_ns_max / 1_000_000_000,
                Stop::Pairs { .. } => panic!("no pairs were typed"),
            }
        };
        assert_eq!(time_s(""), 75);
        assert_eq!(time_s("--dscp EF --measure rtt"), 75);
        assert_eq!(time_s("-P 4 --measure throughput,tcp"), 75);
        // A null pair of each family and eight pairs, two trials of 10 s each.
        assert!(time_s("-t 10 --measure throughput,tcp") > 10 * 20);
        assert_eq!(time_s("-t 10 --measure throughput,tcp --for 100s"), 100);
    }

    #[test]
    fn marks_are_for_everything_that_sends_data() {
        let made = cells("--dscp EF --measure throughput,rtt").unwrap();
        assert!(made.iter().all(|id| id.ends_with("-class-184")), "{made:?}");
    }

    #[test]
    fn what_cannot_be_is_refused_by_the_option_s_name() {
        for (flags, expected) in [
            ("-P 0", "--parallel"),
            ("-w 1zz", "--window"),
            ("-u -M 500", "--set-mss is of TCP"),
            ("--measure rtt -P 4", "--parallel is about throughput"),
            ("--dscp high", "--dscp"),
            ("-L 0x100000", "--flowlabel"),
            ("-b 10M", "--udp"),
            ("-R --bidir", "--bidir"),
            ("--measure connect,udp", "--measure leaves nothing to be measured"),
            ("--measure connect --dont-fragment", "--dont-fragment: nothing that is measured"),
        ] {
            let error = cells(flags).unwrap_err();
            assert!(error.contains(expected), "{flags}: {error}");
        }
    }
}
