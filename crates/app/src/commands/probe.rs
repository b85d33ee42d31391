//! `probe`: compare IPv6 with IPv4 to a host that does not run this program.

use crate::args::{Addresses, Asked, ConnectArgs, ProbeArgs, Probed};
use crate::commands::plan::expect;
use crate::commands::run::{random_seed, refused};
use crate::conditions;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use crate::settings::Context;
use crate::target::RunOptions;
use std::net::IpAddr;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::plan::draft::{Overall, Site as DraftSite};
use v6gap_core::plan::{Plan, check::check, preset};
use v6gap_core::workload::Http;
use v6gap_perform::stranger::{self, Broken, Found, Scheme, Site, Wanted as Whom};
use v6gap_perform::turn::Turn;
use v6gap_perform::{Place, resolver};
use v6gap_report::stream;

/// Visits a host over both families.
///
/// # Errors
/// If it cannot be found, or a family does not work.
pub fn execute(args: &ProbeArgs, context: &Context) -> Result<Outcome, Failure> {
    let site = Site::parse(&args.host).map_err(|why| Failure::usage(why.to_string()))?;
    let path_alone = !args.measure.is_empty() && args.measure.iter().all(|m| *m == Probed::Path);
    if let Some(why) = contradiction(args, &site, path_alone) {
        return Err(Failure::usage(why));
    }
    let options = RunOptions {
        connect: ConnectArgs { no_wait: args.no_wait, ..ConnectArgs::local() },
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
        // How many addresses the name has is not asked for.
        let named = site.host.parse::<IpAddr>().is_err();
        let plan = plan(args, &site, &http, (named, 1))?;
        return expect::dry_run(&plan, Some(&site.url()), false, args.result.json, context);
    }
    let whom = Whom {
        site,
        addresses: PerFamily { v4: args.four.map(|a| a.to_string()), v6: args.six.clone() },
        // There is one way to look for, that to the first.
        all: args.addresses == Addresses::All && !path_alone,
        bind: args.bind.clone(),
        resolvers: args.resolver.clone(),
        http: args.http.clone(),
        mine: args.mine,
        download: args.download,
        path: !args.no_path,
        contact: args.contact.clone(),
        silence_ns: args.timeout,
    };
    session::in_turn(options.turn(context)?, &args.result, |turn| {
        visit(args, &whom, path_alone, turn, &options, context)
    })
}

/// Looks at the host, and then visits it.
fn visit(
    args: &ProbeArgs,
    whom: &Whom,
    path_alone: bool,
    turn: Turn,
    options: &RunOptions,
    context: &Context,
) -> Result<Outcome, Failure> {
    if args.result.json_stream {
        output::to_stdout(&stream::state(&format!("a first look at {}", whom.site.url())));
    }
    let mut found = stranger::look(whom)?;
    let is_broken = found.broken.v4.is_some() || found.broken.v6.is_some();
    if path_alone || is_broken {
        ways(&found, path_alone, args, context);
    }
    let counts = args.result.fail_if.iter().any(|asked| asked.asked == Asked::Broken);
    if let Some(failure) = not_working(&found, counts) {
        return Err(failure);
    }
    if path_alone {
        return Ok(conditions::outcome_without_verdicts(&args.result));
    }
    let plan = allowed(args, &mut found)?;
    let job = options.job(plan, &context.keys)?;
    session::measure(job, Place::Stranger(Box::new(found)), turn, options, context)
}

/// Which options say what cannot be done together, in words.
fn contradiction(args: &ProbeArgs, site: &Site, path_alone: bool) -> Option<String> {
    if path_alone && args.no_path {
        return Some("--measure path and --no-path leave nothing to do".to_owned());
    }
    resolver::objection(&args.resolver)
        .or_else(|| unaskable(args, site).map(str::to_owned))
        .or_else(|| of_all_addresses(args, site))
}

/// Why the site cannot be asked for what is typed.
fn unaskable(args: &ProbeArgs, site: &Site) -> Option<&'static str> {
    match site.scheme {
        Scheme::Tcp if args.download.is_some() => {
            Some("a connection alone has no body to download")
        }
        Scheme::Tcp if !args.http.is_empty() => {
            Some("HOST:PORT is a connection alone: --http takes a URL (https://HOST:PORT/)")
        }
        Scheme::Http if args.http.contains(&Http::Three) => {
            Some("HTTP/3 is spoken over https:// alone")
        }
        Scheme::Tcp | Scheme::Http | Scheme::Https => None,
    }
}

/// Why all addresses cannot be visited.
fn of_all_addresses(args: &ProbeArgs, site: &Site) -> Option<String> {
    if args.addresses == Addresses::One {
        return None;
    }
    if site.host.parse::<IpAddr>().is_ok() {
        let host = &site.host;
        return Some(format!("{host} is one address, and --addresses all takes a name"));
    }
    if args.four.is_some() || args.six.is_some() {
        return Some("--addresses all are those of the name: leave --v4 and --v6 out".to_owned());
    }
    // Its filter would leave out all pairs but the first.
    let captures = args.capture.capture.is_some();
    captures.then(|| "--capture takes one pair of addresses: leave --addresses all out".to_owned())
}

/// What is asked of a site that was found: in fewer pairs than usual, if nobody asked for a number,
/// where those would take more connections than may be made.
fn allowed(args: &ProbeArgs, found: &mut Found) -> Result<Plan, Failure> {
    let usual = plan(args, &found.site, &found.http, (found.is_looked_up(), found.pairs()))?;
    match args.pairs {
        Some(_) => Ok(usual),
        None => found.fitted(usual).map_err(too_many),
    }
}

/// That a host may not be asked for so much.
fn too_many(left: u32) -> Failure {
    let what = format!(
        "the fewest visits that can decide take more than the {left} connections that are left of \
         those that a host is asked for"
    );
    Failure::usage(what)
        .likely("fewer versions of HTTP (--http), or one pair of addresses, fit.")
        .run("--mine", "says that the host is yours, which lifts the count")
}

/// What is asked of a site by these versions of HTTP: whether it is looked up by its name, and at
/// how many pairs of addresses it is visited.
fn plan(
    args: &ProbeArgs,
    site: &Site,
    http: &[Http],
    (named, pairs): (bool, usize),
) -> Result<Plan, Failure> {
    let several = |many: usize| (many > 1).then_some(many as u32);
    let draft_site = DraftSite {
        url: site.url(),
        http: http.iter().map(|http| http.number().to_owned()).collect(),
        plain: site.scheme != Scheme::Https,
        download: args.download.map(|bytes| bytes.to_string()),
        addresses: several(pairs),
        resolvers: several(args.resolver.len()),
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
    let for_programs = args.result.json || args.result.json_stream;
    if path_alone && for_programs {
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
    if !for_programs && !args.result.quiet {
        output::to_stdout(&v6gap_report::text::ways(hops, path_mtu, &context.output.results));
    }
}

/// That a family does not work, which is a finding of its own, or that none does; `counts` is
/// whether a condition asks for that.
fn not_working(found: &Found, counts: bool) -> Option<Failure> {
    let url = found.site.url();
    let ends = |otherwise| if counts { Outcome::NotMet } else { otherwise };
    let at = |family: Family| {
        let address = *found.target.addresses.get(family);
        address.map(|address| format!(" ({})", address.ip())).unwrap_or_default()
    };
    let of_one = |family: Family, broken: &Broken| {
        let what = format!("{family} is broken: {url}{}: {broken}", at(family));
        let failure = Failure::new("E403", ends(Outcome::OneFamily), what);
        failure.of(family).seen(format!("Over {} it works.", family.other()))
    };
    let mut failure = match (&found.broken.v4, &found.broken.v6) {
        (None, None) => return None,
        (Some(broken), None) => of_one(Family::V4, broken),
        (None, Some(broken)) => of_one(Family::V6, broken),
        (Some(four), Some(six)) => {
            let over =
                |family: Family, broken: &Broken| format!("Over {family}{}: {broken}.", at(family));
            Failure::new("E403", ends(Outcome::Peer), format!("neither family works: {url}"))
                .seen(over(Family::V4, four))
                .seen(over(Family::V6, six))
        }
    };
    for family in Family::BOTH.into_iter().filter(|of| found.broken.get(*of).is_some()) {
        let mtu = found.path_mtu.as_ref().map(|of| of.get(family));
        if let Some(hole) = mtu.and_then(|of| v6gap_report::hole(of, family)) {
            failure = failure.seen(hole);
        }
    }
    Some(match found.fallbacks() {
        Some((alone_ns, by)) => failure.seen(v6gap_report::fallbacks(alone_ns, &by)),
        None => failure,
    })
}
