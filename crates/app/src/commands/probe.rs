//! `probe`: compare IPv6 with IPv4 to a host that does not run this program.

use crate::args::{Asked, ConnectArgs, ProbeArgs};
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
        path: !args.no_path,
        contact: args.contact.clone(),
        silence_ns: args.timeout,
    };
    let found = stranger::look(&whom)?;
    for family in Family::BOTH {
        if let Some(broken) = found.broken.get(family) {
            let counts = args.result.fail_if.iter().any(|asked| asked.asked == Asked::Broken);
            let outcome = if counts { Outcome::NotMet } else { Outcome::OneFamily };
            return Err(not_working(&found, family, broken, outcome));
        }
    }
    let plan = plan(args, &found.site, &found.http, found.resolver.is_some())?;
    let job = options.job(plan, &context.keys)?;
    session::measure(job, Place::Stranger(Box::new(found)), &options, context)
}

/// What is asked of a site by these versions of HTTP.
fn plan(args: &ProbeArgs, site: &Site, http: &[Http], named: bool) -> Result<Plan, Failure> {
    let draft_site = DraftSite {
        url: site.url(),
        http: http.iter().map(|http| http.number().to_owned()).collect(),
        plain: site.scheme != Scheme::Https,
    };
    let mut draft = preset::visits_draft(draft_site, named, true);
    draft.overall = Overall { only: args.measure.clone(), ..Overall::default() };
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
    Failure::new("E403", outcome, what).seen(seen)
}
