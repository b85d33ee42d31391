//! The fleet of the suite: sites of ten hosts, each host with many others, and some sites whose
//! uplinks carry one exclusive measurement at a time.

use crate::fake::EXCLUSIVE;
use std::collections::BTreeMap;
use v6gap_core::fleet::names::HostName;
use v6gap_fleet::coordinator::Applied;

/// Hosts of a site.
pub const OF_A_SITE: usize = 10;

/// Sites with an uplink: the first ones.
const LINKED: usize = 4;

/// With how many others a host is measured: at one a minute more than 500 hosts can do in one.
const PARTNERS: usize = 48;

/// Fewest hosts: all sites with an uplink, and others.
pub const FEWEST: usize = 50;

/// What nobody performs, but for its longest time.
const PLAN: &str = "\
v6gap = 1
NAME
[design]
pairs = 6
[[measure]]
metric = \"rtt\"
";

/// What the host of that number is called.
pub fn name(number: usize) -> String {
    format!("s{}/h{}", number / OF_A_SITE, number % OF_A_SITE)
}

/// The links of an exclusive measurement, reckoned apart from the program.
pub fn links(from: &HostName, to: &HostName) -> Vec<String> {
    if from.site() == to.site() {
        return Vec::new();
    }
    let linked = |site: &&str| (0..LINKED).any(|number| *site == format!("s{number}"));
    [from.site(), to.site()].into_iter().filter(linked).map(str::to_owned).collect()
}

/// What is applied to so many hosts.
pub fn applied(count: usize) -> Applied {
    let named = |name: &str| PLAN.replace("NAME", name);
    let plans = [("light.toml", "name = \"Light\""), ("exclusive.toml", EXCLUSIVE)];
    let plans = plans.map(|(file, name)| (file.to_owned(), named(name)));
    Applied { v6gap: 1, mesh: text(count), plans: BTreeMap::from(plans), afresh: false }
}

fn text(count: usize) -> String {
    let hosts: String =
        (0..count).map(|number| format!("[hosts.\"{}\"]\n", name(number))).collect();
    let link = |number| format!("[[links]]\nname = \"up-{number}\"\nsite = \"s{number}\"\n");
    let links: String = (0..LINKED).map(link).collect();
    let sites: Vec<String> = (0..LINKED).map(|number| format!("\"s{number}/*\"")).collect();
    let measure = |group: &str, class: &str| {
        format!(
            "[[measure]]\ngroup = \"{group}\"\nplan = \"{class}.toml\"\nevery = \"1 min\"\n\
             class = \"{class}\"\n"
        )
    };
    let group = |name: &str, hosts: &str, sample: usize| {
        format!(
            "[[groups]]\nname = \"{name}\"\nkind = \"mesh\"\nhosts = [{hosts}]\n\
             sample = {sample}\n"
        )
    };
    let groups = group("all", "\"*\"", PARTNERS) + &group("linked", &sites.join(", "), 2);
    let measures = measure("all", "light") + &measure("linked", "exclusive");
    format!("v6gap = 1\nname = \"many\"\n{hosts}{links}{groups}{measures}")
}
