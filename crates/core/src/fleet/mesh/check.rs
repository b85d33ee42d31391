//! From a draft to a checked mesh plan: all problems at once, each with the key it concerns.

use super::draft::{self, Draft, LinkDraft, MeasureDraft};
use super::{Carries, Class, Group, Hours, Link, Measure, Mesh, MeshHost, groups, pattern};
use crate::family::{Family, PerFamily};
use crate::fleet::names::{HostName, LinkName};
use crate::problem::{Problem, Problems};
use crate::unit::{format_span, parse_span};
use crate::watch::check::{budget, wrong_address, wrong_text};
use crate::watch::{DAY_NS, SECOND_NS};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Most hosts.
pub const HOSTS_MAX: usize = 100_000;

/// Most links, groups and measurements.
const LINKS_MAX: usize = 10_000;
const GROUPS_MAX: usize = 200;
const MEASURES_MAX: usize = 50;

/// Time between light measurements of a path where nothing is said, in ns.
pub const LIGHT_EVERY_NS: u64 = 30 * 60 * SECOND_NS;

/// The same of exclusive ones.
pub const EXCLUSIVE_EVERY_NS: u64 = 6 * 3600 * SECOND_NS;

/// Shortest and longest time between measurements of a path, in ns.
const EVERY_NS_MIN: u64 = 60 * SECOND_NS;
const EVERY_NS_MAX: u64 = 31 * DAY_NS;

/// What a plan without a name is called.
const NAME: &str = "mesh";

/// The mesh plan that `draft` describes, with every default explicit.
///
/// # Errors
/// Every problem found, in the order of the keys.
pub fn check(draft: &Draft) -> Result<Mesh, Vec<Problem>> {
    let mut problems = Problems::default();
    if draft.v6gap != draft::VERSION {
        let what = format!("version {} of the language of mesh plans is not known", draft.v6gap);
        problems.add("v6gap", what);
    }
    if let Some(wrong) = draft.name.as_deref().and_then(|name| wrong_text(name, false)) {
        problems.add("name", wrong);
    }
    let hosts = hosts(draft, &mut problems);
    counts(draft, &mut problems);
    let links = links(&draft.links, &hosts, &mut problems);
    let mut groups: Vec<Group> = Vec::new();
    for (at, draft) in draft.groups.iter().enumerate() {
        let key = format!("groups[{at}]");
        named(&key, &draft.name, groups.iter().map(|group| &group.name), &mut problems);
        groups.push(groups::group(&key, draft, &hosts, &mut problems));
    }
    let mut measures: Vec<Measure> = Vec::new();
    for (at, draft) in draft.measure.iter().enumerate() {
        measures.push(measure(&format!("measure[{at}]"), draft, &groups, &mut problems));
    }
    for (at, measure) in draft.measure.iter().enumerate() {
        let is_same =
            |other: &MeasureDraft| other.group == measure.group && other.plan == measure.plan;
        if draft.measure.iter().take(at).any(is_same) {
            let what = "this plan is measured in this group by another entry already";
            problems.add(format!("measure[{at}].plan"), what);
        }
    }
    let name = draft.name.clone().unwrap_or_else(|| NAME.to_string());
    let mesh = Mesh { name, hosts, links, groups, measures };
    if problems.is_empty() {
        for measure in 0..mesh.measures.len() {
            if mesh.paths(measure, 0).is_empty() {
                let what = "no path of this group has an agent at one of its ends";
                problems.add(format!("measure[{measure}].group"), what);
            }
        }
    }
    if problems.is_empty() { Ok(mesh) } else { Err(problems.into_found()) }
}

fn counts(draft: &Draft, problems: &mut Problems) {
    let counts = [
        ("hosts", draft.hosts.len(), 2, HOSTS_MAX),
        ("links", draft.links.len(), 0, LINKS_MAX),
        ("groups", draft.groups.len(), 1, GROUPS_MAX),
        ("measure", draft.measure.len(), 1, MEASURES_MAX),
    ];
    for (key, count, least, most) in counts {
        if count < least {
            problems.add(key, format!("there have to be {least} or more"));
        } else if count > most {
            problems.add(key, format!("{count} are more than {most}"));
        }
    }
}

fn hosts(draft: &Draft, problems: &mut Problems) -> Vec<MeshHost> {
    let mut hosts: Vec<MeshHost> = Vec::new();
    for (text, draft) in &draft.hosts {
        let key = format!("hosts.{text}");
        let Some(name) = problems.read(&key, text, str::parse::<HostName>) else { continue };
        let agent = draft.agent.unwrap_or(true);
        let addresses = PerFamily { v4: draft.v4.clone(), v6: draft.v6.clone() };
        for family in Family::BOTH {
            let address = addresses.get(family).as_deref();
            if let Some(wrong) = address.and_then(|text| wrong_address(text, family)) {
                let name = if family == Family::V4 { "v4" } else { "v6" };
                problems.add(format!("{key}.{name}"), wrong);
            }
        }
        match draft.port {
            Some(0) => problems.add(format!("{key}.port"), "a port is from 1 to 65535"),
            Some(_) if agent => {
                let what = "an agent says itself at which port its server is";
                problems.add(format!("{key}.port"), what);
            }
            Some(_) | None => {}
        }
        hosts.push(MeshHost { name, agent, addresses, port: draft.port });
    }
    hosts.sort_by(|a, b| (a.name.site(), a.name.host()).cmp(&(b.name.site(), b.name.host())));
    if !hosts.is_empty() && hosts.iter().all(|host| !host.agent) {
        problems.add("hosts", "no host has an agent, so that nobody would measure");
    }
    hosts
}

fn links(drafts: &[LinkDraft], hosts: &[MeshHost], problems: &mut Problems) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    for (at, draft) in drafts.iter().enumerate() {
        let key = format!("links[{at}]");
        let name_key = format!("{key}.name");
        let name = problems.read(&name_key, &draft.name, str::parse::<LinkName>);
        if links.iter().any(|link| Some(&link.name) == name.as_ref()) {
            problems.add(name_key, format!("another one is called \"{}\"", draft.name));
        }
        let carries = match (&draft.site, draft.paths.is_empty()) {
            (Some(site), true) => {
                let of_site = pattern::of_site(site, hosts);
                if of_site.is_empty() {
                    let what = format!("no host of site \"{site}\" is among the hosts");
                    problems.add(format!("{key}.site"), what);
                }
                Carries::Site(of_site)
            }
            (None, false) => Carries::Between(between(&key, &draft.paths, hosts, problems)),
            (Some(_), false) | (None, true) => {
                problems.add(&*key, "a link has either a site or paths");
                Carries::Between(Vec::new())
            }
        };
        let budget_key = format!("{key}.budget");
        let budget_bytes = problems.read_optional(&budget_key, draft.budget.as_ref(), budget);
        links.extend(name.map(|name| Link { name, carries, budget_bytes }));
    }
    links
}

fn between(
    key: &str,
    paths: &[[String; 2]],
    hosts: &[MeshHost],
    problems: &mut Problems,
) -> Vec<[Vec<usize>; 2]> {
    let mut found = Vec::new();
    for (at, ends) in paths.iter().enumerate() {
        let key = format!("{key}.paths[{at}]");
        let [one, other] = ends.each_ref().map(|text| {
            let found = problems.read(&key, text, |text| pattern::hosts(text, hosts));
            found.map_or_else(Vec::new, Iterator::collect)
        });
        found.push([one, other]);
    }
    found
}

/// Whether a name can be one, and is no other one's.
fn named<'a>(
    key: &str,
    name: &str,
    mut others: impl Iterator<Item = &'a String>,
    problems: &mut Problems,
) {
    let key = format!("{key}.name");
    if let Some(wrong) = wrong_text(name, false) {
        problems.add(key, wrong);
    } else if others.any(|other| other == name) {
        problems.add(key, format!("another one is called \"{name}\""));
    }
}

fn measure(key: &str, draft: &MeasureDraft, groups: &[Group], problems: &mut Problems) -> Measure {
    let of = |name: &str| format!("{key}.{name}");
    let group = groups.iter().position(|group| group.name == draft.group);
    if group.is_none() {
        let known: BTreeMap<&str, ()> = groups.iter().map(|g| (g.name.as_str(), ())).collect();
        let known: Vec<&str> = known.into_keys().collect();
        problems.one_of(of("group"), &draft.group, &known);
    }
    if let Some(wrong) = wrong_text(&draft.plan, false) {
        problems.add(of("plan"), wrong);
    }
    let class = draft.class.as_deref().map_or(Class::Light, |name| {
        let found = Class::ALL.into_iter().find(|class| class.name() == name);
        found.unwrap_or_else(|| {
            problems.one_of(of("class"), name, &Class::ALL.map(Class::name));
            Class::Light
        })
    });
    let every_ns = problems.read_optional(&of("every"), draft.every.as_ref(), every);
    let usual_ns = match class {
        Class::Light => LIGHT_EVERY_NS,
        Class::Exclusive => EXCLUSIVE_EVERY_NS,
    };
    let mut quiet = Hours::default();
    for (at, text) in draft.quiet.iter().enumerate() {
        problems.read(&of(&format!("quiet[{at}]")), text, |text| quiet.add(text));
    }
    Measure {
        group: group.unwrap_or(0),
        plan: draft.plan.clone(),
        every_ns: every_ns.unwrap_or(usual_ns),
        class,
        quiet,
    }
}

fn every(text: &str) -> Result<u64, String> {
    match parse_span(text).map_err(|e| e.to_string())? {
        ns @ EVERY_NS_MIN..=EVERY_NS_MAX => Ok(ns),
        _ => {
            let [least, most] = [EVERY_NS_MIN, EVERY_NS_MAX].map(|ns| format_span(ns as f64));
            Err(format!("time between measurements of a path is from {least} to {most}"))
        }
    }
}
