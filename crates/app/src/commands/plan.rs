//! `plan`: check, estimate, run, list, show and begin plans.

pub mod expect;
mod list;

use crate::args::{PlanArgs, PlanCommand, PlanRunArgs};
use crate::commands::run;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::presets::{self, Choice, PlaceChoice};
use crate::session;
use crate::settings::Context;
use crate::target::RunOptions;
use v6gap_core::plan::draft::{Design, Draft, Site};
use v6gap_core::plan::scale::Scale;
use v6gap_perform::via::quoted;
use v6gap_report::plan::explain;

/// A plan to fill in. What can be taken in begins with `#` and no space.
pub(super) const NEW: &str = include_str!("plan/new.toml");

/// Does what is asked with a plan.
///
/// # Errors
/// If there is no such plan, or it has problems, or as the run.
pub fn execute(args: &PlanArgs, context: &Context) -> Result<Outcome, Failure> {
    let style = &context.output.results;
    let text = match &args.command {
        PlanCommand::Check(args) => {
            let found = presets::read(&args.plan, 0, &at(args.scale, PlaceChoice::OfPlan))?;
            let explained = explain(&found.draft, &found.plan, &found.scaled, style.width);
            output::fit(style, &(explained + &expect::too_short(&found.plan)))
        }
        PlanCommand::Estimate(args) => {
            let place = args.host.as_ref().map_or(PlaceChoice::OfPlan, |_| PlaceChoice::Server);
            let found = presets::read(&args.plan, 0, &at(args.scale, place))?;
            expect::execute(args, &found.draft, &found.plan, context)?
        }
        PlanCommand::Run(args) => return measure(args, context),
        PlanCommand::List(args) if args.json => list::json()?,
        PlanCommand::List(_) => output::fit(style, &list::list(style.width)?),
        PlanCommand::Show(args) => output::fit(style, &list::show(&args.name, style.width)?),
        PlanCommand::New(_) => output::fit(style, NEW),
    };
    output::to_stdout(&text);
    Ok(Outcome::Done)
}

fn at(scale: Scale, place: PlaceChoice) -> Choice {
    Choice { scale, place }
}

fn measure(args: &PlanRunArgs, context: &Context) -> Result<Outcome, Failure> {
    let seed = match args.seed {
        Some(seed) => seed,
        None => run::random_seed()?,
    };
    let lab = args.lab.choose()?;
    let place = match (&lab, &args.host) {
        (Some(lab), _) => PlaceChoice::World(lab.world.clone()),
        (None, Some(_)) => PlaceChoice::Server,
        (None, None) => PlaceChoice::OfPlan,
    };
    let presets::Found { text, draft, plan, .. } =
        presets::read(&args.plan, seed, &at(args.scale, place))?;
    if let Some(site) = &draft.site {
        let what = format!("the plan {} visits a host of others, which probe does", args.plan);
        return Err(Failure::usage(what).run(probe_of(site, &draft), ""));
    }
    let mut connect = args.connect.clone();
    let hosts = draft.hosts;
    let host = args.host.clone().or(hosts.server);
    if args.result.dry_run {
        return expect::dry_run(&plan, host.as_deref(), false, args.result.json, context);
    }
    // What is typed wins over what the plan says, address by address.
    connect.four = match (connect.four, hosts.v4) {
        (None, Some(text)) => {
            Some(text.parse().map_err(|_| Failure::bad_address(&text, "it is no IPv4 address"))?)
        }
        (typed, _) => typed,
    };
    connect.six = connect.six.or(hosts.v6);
    if connect.bind.is_empty() {
        connect.bind = hosts.bind;
    }
    if plan.world.is_some() && !connect.bind.is_empty() {
        let what = "in a lab the hosts have addresses of their own, so --bind means nothing";
        return Err(Failure::usage(what));
    }
    let target = match (&plan.world, host) {
        (Some(_), _) => None,
        (None, Some(host)) => Some(connect.target(&host)?),
        (None, None) => {
            let what = format!("the plan {} names no server and no lab", args.plan);
            let command = format!("v6gap plan run {} HOST", args.plan);
            return Err(Failure::usage(what).run(command, ""));
        }
    };
    let options = RunOptions {
        connect,
        processor: args.processor,
        kernel: args.lab.kernel.clone(),
        capture: args.capture.clone(),
        snmp: args.snmp.clone(),
        result: args.result.clone(),
        written: Some(text),
    };
    let host = target.as_ref().map_or_else(String::new, |target| target.name.clone());
    let measured = match lab.and_then(|lab| lab.held) {
        Some(name) => session::in_held_lab(&name, plan, &options, context),
        None => run::execute_plan(plan, target, &options, context),
    };
    measured.map_err(|failure| options.connect.said_again(&host, failure))
}

/// The command that visits the site of a plan, with what is asked for there and by its design that
/// options say. Name servers are counted in a plan, not named.
fn probe_of(site: &Site, draft: &Draft) -> String {
    let mut command = format!("v6gap probe {}", quoted(&site.url));
    let mut metrics: Vec<&str> = draft.measure.iter().map(|one| one.metric.as_str()).collect();
    metrics.dedup();
    if !metrics.is_empty() {
        command.extend([" --measure ", &quoted(&metrics.join(","))]);
    }
    if !site.http.is_empty() {
        command.extend([" --http ", &quoted(&site.http.join(","))]);
    }
    if let Some(size) = &site.download {
        command.extend([" --download ", &quoted(size)]);
    }
    if site.addresses.is_some_and(|pairs| pairs > 1) {
        command.push_str(" --addresses all");
    }
    let Design { pairs, margin, seed, .. } = &draft.design;
    command.extend(pairs.map(|pairs| format!(" --pairs {pairs}")));
    let margins: Vec<String> =
        margin.iter().map(|(metric, by)| format!("{metric}={}", by.replace(' ', ""))).collect();
    if !margins.is_empty() {
        command.extend([" --margin ", &quoted(&margins.join(","))]);
    }
    command.extend(seed.map(|seed| format!(" --seed {seed}")));
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::plan::draft::Measure;
    use v6gap_store::parse_plan;

    #[test]
    fn a_plan_that_visits_a_site_leads_to_the_command_that_does_it() {
        let mut site = Site { url: "https://a.example/x?y".into(), ..Site::default() };
        let mut draft = Draft::default();
        assert_eq!(probe_of(&site, &draft), "v6gap probe 'https://a.example/x?y'");
        site.http = vec!["1.1".into(), "2".into()];
        (site.download, site.addresses) = (Some("20 MB".into()), Some(3));
        let measure = |metric: &str| Measure { metric: metric.into(), ..Measure::default() };
        draft.measure = ["tls", "first-byte", "first-byte"].map(measure).into();
        draft.design.margin = [("tls".into(), "10 %".into())].into();
        (draft.design.pairs, draft.design.seed) = (Some(8), Some(7));
        let all = "v6gap probe 'https://a.example/x?y' --measure tls,first-byte --http 1.1,2 \
                   --download '20 MB' --addresses all --pairs 8 --margin tls=10% --seed 7";
        assert_eq!(probe_of(&site, &draft), all);
    }

    /// The plan is right as it is, and with each line, or table, that can be taken in.
    #[test]
    fn all_that_a_new_plan_offers_can_be_taken_in() {
        let offered =
            |line: &str| line.strip_prefix('#').is_some_and(|rest| !rest.starts_with([' ', '\n']));
        let is_table = |part: &str| part.starts_with("#[");
        let parts: Vec<&str> = NEW.split_inclusive("\n\n").collect();
        let with = |at: usize, part: &str| {
            let plan: String =
                parts.iter().enumerate().map(|(i, old)| if i == at { part } else { old }).collect();
            let read = parse_plan(&plan, 1, &mut |_| Ok(()));
            assert!(read.is_ok(), "{plan}\n{:?}", read.err());
        };
        with(0, parts[0]);
        let mut taken = 0;
        for (at, part) in parts.iter().enumerate() {
            let lines: Vec<&str> = part.split_inclusive('\n').collect();
            let taking = |which: &dyn Fn(usize) -> bool| -> String {
                let line = |(i, line): (usize, &&str)| match which(i) && offered(line) {
                    true => line[1..].to_owned(),
                    false => (*line).to_owned(),
                };
                lines.iter().enumerate().map(line).collect()
            };
            if is_table(part) {
                with(at, &taking(&|_| true));
                taken += 1;
                continue;
            }
            for of in (0..lines.len()).filter(|of| offered(lines[*of])) {
                with(at, &taking(&|i| i == of));
                taken += 1;
            }
        }
        assert!(taken > 12, "{taken}");
    }
}
