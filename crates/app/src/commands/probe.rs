//! `probe`: compare IPv6 with IPv4 to a host that does not run this program.

use crate::args::{Asked, ConnectArgs, ProbeArgs, Probed};
use crate::commands::plan::expect;
use crate::commands::run::{random_seed, refused};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use crate::settings::Context;
use crate::target::RunOptions;
use std::net::SocketAddr;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::plan::draft::{Overall, Site as DraftSite};
use v6gap_core::plan::{Plan, check::check, preset};
use v6gap_core::workload::Http;
use v6gap_perform::Place;
use v6gap_perform::stranger::{self, Broken, Found, Scheme, Site, Wanted as Whom};
use v6gap_report::stream;

/// Port of DNS.
const DNS_PORT: u16 = 53;

/// Visits a host over both families.
///
/// # Errors
/// If it cannot be found, or a family does not work.
pub fn execute(args: &ProbeArgs, context: &Context) -> Result<Outcome, Failure> {
    let site = Site::parse(&args.host).map_err(|why| Failure::usage(why.to_string()))?;
    let path_alone = !args.measure.is_empty() && args.measure.iter().all(|m| *m == Probed::Path);
    if path_alone && args.no_path {
        return Err(Failure::usage("--measure path and --no-path leave nothing to do".to_owned()));
    }
    if site.scheme == Scheme::Tcp && args.download.is_some() {
        return Err(Failure::usage("a connection alone has no body to download".to_owned()));
    }
    let options = RunOptions {
        connect: ConnectArgs::local(),
        processor: None,
        kernel: None,
        capture: args.capture.clone(),
        snmp: args.snmp.clone(),
        result: args.result.clone(),
        written: None,
    };
    if args.result.dry_run {
        let http = match (site.scheme, args.http.as_slice()) {
            (Scheme::Tcp, _) => Vec::new(),
            (Scheme::Https, []) => vec![Http::Two],
            (Scheme::Http, []) => vec![Http::One],
            (_, asked) => asked.to_vec(),
        };
        let plan = plan(args, &site, &http, true)?;
        return expect::dry_run(&plan, Some(&site.url()), false, args.result.json, context);
    }
    if args.result.json_stream {
        output::to_stdout(&stream::state(&format!("a first look at {}", site.url())));
    }
    let whom = Whom {
        site,
        addresses: PerFamily { v4: args.four.map(|a| a.to_string()), v6: args.six.clone() },
        bind: args.bind.clone(),
        resolver: args.resolver.map(|address| SocketAddr::new(address, DNS_PORT)),
        http: args.http.clone(),
        mine: args.mine,
        download: args.download,
        path: !args.no_path,
        contact: args.contact.clone(),
        silence_ns: args.timeout,
    };
    let found = stranger::look(&whom)?;
    let is_broken = found.broken.v4.is_some() || found.broken.v6.is_some();
    if path_alone || is_broken {
        ways(&found, path_alone, args, context);
    }
    for family in Family::BOTH {
        if let Some(broken) = found.broken.get(family) {
            let counts = args.result.fail_if.iter().any(|asked| asked.asked == Asked::Broken);
            let outcome = if counts { Outcome::NotMet } else { Outcome::OneFamily };
            return Err(not_working(&found, family, broken, outcome));
        }
    }
    if path_alone {
        return Ok(Outcome::Done);
    }
    let plan = plan(args, &found.site, &found.http, found.is_looked_up())?;
    let job = options.job(plan, &context.keys)?;
    session::measure(job, Place::Stranger(Box::new(found)), &options, context)
}

/// What is asked of a site by these versions of HTTP.
fn plan(args: &ProbeArgs, site: &Site, http: &[Http], named: bool) -> Result<Plan, Failure> {
    let draft_site = DraftSite {
        url: site.url(),
        http: http.iter().map(|http| http.number().to_owned()).collect(),
        plain: site.scheme != Scheme::Https,
        download: args.download.map(|bytes| bytes.to_string()),
        ..DraftSite::default()
    };
    let mut draft = preset::visits_draft(draft_site, named, true);
    let only = |measured: &Probed| match measured {
        Probed::Of(wanted) => Some(*wanted),
        Probed::Path => None,
    };
    let only = args.measure.iter().filter_map(only).collect();
    draft.overall = Overall { only, ..Overall::default() };
    draft.design.pairs = args.pairs.or(draft.design.pairs);
    draft.design.seed = args.seed;
    let margins = args.margins.iter();
    draft.design.margin.extend(margins.map(|(m, share)| (m.name().to_owned(), share.clone())));
    let seed = match args.seed {
        Some(seed) => seed,
        None => random_seed()?,
    };
    check(&draft, seed).map_err(refused)
}

/// Prints the ways there: where they are what was asked for, as JSON too.
fn ways(found: &Found, path_alone: bool, args: &ProbeArgs, context: &Context) {
    let (hops, path_mtu) = (found.hops.as_ref(), found.path_mtu.as_ref());
    if path_alone && args.result.json {
        let document = serde_json::json!({
            "schema": "v6gap.path/1",
            "target": found.site.url(),
            "v4": found.target.addresses.v4.map(|address| address.ip()),
            "v6": found.target.addresses.v6.map(|address| address.ip()),
            "hops": hops,
            "path_mtu": path_mtu,
            "notes": found.notes,
        });
        return output::to_stdout(&document.to_string());
    }
    if !args.result.json && !args.result.quiet {
        output::to_stdout(&v6gap_report::text::ways(hops, path_mtu, &context.output.results));
    }
}

/// That a family does not work, which is a finding of its own.
fn not_working(found: &Found, family: Family, broken: &Broken, outcome: Outcome) -> Failure {
    let (url, address) = (found.site.url(), *found.target.addresses.get(family));
    let at = address.map(|address| format!(" ({})", address.ip())).unwrap_or_default();
    let what = format!("{family} is broken: {url}{at}: {broken}");
    let other = family.other();
    let seen = match found.broken.get(other) {
        None => format!("Over {other} it works."),
        Some(broken) => format!("Over {other}: {broken}."),
    };
    let failure = Failure::new("E403", outcome, what).seen(seen);
    let mtu = found.path_mtu.as_ref().map(|of| of.get(family));
    let failure = match mtu.and_then(|of| v6gap_report::hole(of, family)) {
        Some(hole) => failure.seen(hole),
        None => failure,
    };
    match found.fallbacks() {
        Some((alone_ns, by)) => failure.seen(v6gap_report::fallbacks(alone_ns, &by)),
        None => failure,
    }
}
