//! A mesh plan back in words, so that who wrote it sees what it was taken for.

use super::counted;
use serde_json::{Value, json};
use v6gap_core::fleet::mesh::{Carriers, Carries, Class, Group, Mesh, Paths};
use v6gap_core::unit::{format_bytes, format_span};

/// Name and version of the document's form.
pub const CHECK_SCHEMA: &str = "v6gap.fleet.check/1";

/// Everything that the plan says, a line for each thing.
pub fn explain(mesh: &Mesh) -> String {
    let agents = mesh.hosts.iter().filter(|host| host.agent).count();
    let (hosts, sites) = (counted(mesh.hosts.len(), "host"), counted(mesh.sites().len(), "site"));
    let mut out = format!("{}: {hosts} at {sites}, {} with an agent\n", mesh.name, agents);
    for link in &mesh.links {
        let what = match &link.carries {
            Carries::Site(hosts) => {
                let site = mesh.hosts.get(hosts.start).map_or("", |host| host.name.site());
                format!("every path that leaves {site}")
            }
            Carries::Between(pairs) => counted(pairs.len(), "kind") + " of paths",
        };
        let budget = link
            .budget_bytes
            .map_or(String::new(), |bytes| format!(", at most {} a day", format_bytes(bytes)));
        out.push_str(&format!("link {}: {what}{budget}\n", link.name));
    }
    for (at, measure) in mesh.measures.iter().enumerate() {
        let group = mesh.groups.get(measure.group);
        let (name, how) = group.map_or(("", String::new()), |group| (&*group.name, how(group)));
        let paths = counted(mesh.paths(at, 0).len(), "path");
        let every = format_span(measure.every_ns as f64);
        let quiet = if measure.quiet.is_empty() { "" } else { ", not in its quiet hours" };
        out.push_str(&format!(
            "{name}: {paths}{how}, plan {}, {}, every {every}{quiet}\n",
            measure.plan,
            takes(mesh, at),
        ));
    }
    out
}

/// How the paths of a group are chosen, where that is not plain.
fn how(group: &Group) -> String {
    let sampled = match &group.paths {
        Paths::All(_) => String::new(),
        Paths::Sample { partners, .. } => format!(" a day, {partners} others for each host"),
    };
    let both = if group.both_directions { " in both directions" } else { "" };
    sampled + both
}

/// What a measurement takes for itself.
fn takes(mesh: &Mesh, measure: usize) -> String {
    let class = mesh.measures.get(measure).map_or(Class::Light, |of| of.class);
    match class {
        Class::Light => "light (both hosts)".to_owned(),
        Class::Exclusive => {
            let carriers = Carriers::of(mesh);
            let carried = mesh.paths(measure, 0);
            let carried = carried.into_iter().filter(|pair| !carriers.links(*pair).is_empty());
            format!("exclusive (both hosts; {} over links)", counted(carried.count(), "path"))
        }
    }
}

/// The same for programs.
pub fn explain_json(mesh: &Mesh) -> Value {
    let measures = mesh.measures.iter().enumerate().map(|(at, measure)| {
        json!({
            "group": mesh.groups.get(measure.group).map(|group| &group.name),
            "plan": measure.plan,
            "class": measure.class.name(),
            "every_ns": measure.every_ns,
            "paths": mesh.paths(at, 0).len(),
        })
    });
    let links = mesh
        .links
        .iter()
        .map(|link| json!({ "name": link.name.as_str(), "budget_bytes": link.budget_bytes }));
    let hosts =
        mesh.hosts.iter().map(|host| json!({ "name": host.name.as_str(), "agent": host.agent }));
    json!({
        "schema": CHECK_SCHEMA,
        "name": mesh.name,
        "sites": mesh.sites().len(),
        "hosts": hosts.collect::<Vec<_>>(),
        "links": links.collect::<Vec<_>>(),
        "measures": measures.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use v6gap_core::fleet::mesh::check::check;
    use v6gap_core::fleet::mesh::draft::{Draft, GroupDraft, HostDraft, LinkDraft, MeasureDraft};

    pub(in crate::fleet) fn mesh() -> Mesh {
        let names = ["rome/a", "rome/b", "oslo/a", "oslo/b", "ext/nas"];
        let host = |name: &str| HostDraft { agent: Some(name != "ext/nas"), ..Default::default() };
        let group = GroupDraft {
            name: "all".to_owned(),
            kind: "mesh".to_owned(),
            hosts: vec!["*".to_owned()],
            ..GroupDraft::default()
        };
        let measure = |plan: &str, class: &str, every: &str| MeasureDraft {
            group: "all".to_owned(),
            plan: plan.to_owned(),
            class: Some(class.to_owned()),
            every: Some(every.to_owned()),
            quiet: vec!["02:00-03:00".to_owned()],
        };
        let link = LinkDraft {
            name: "rome-uplink".to_owned(),
            site: Some("rome".to_owned()),
            budget: Some("200 GB/day".to_owned()),
            ..LinkDraft::default()
        };
        let draft = Draft {
            v6gap: 1,
            name: Some("backbone".to_owned()),
            hosts: names.map(|name| (name.to_owned(), host(name))).into(),
            links: vec![link],
            groups: vec![group],
            measure: vec![
                measure("rtt", "light", "1 min"),
                measure("first-look", "exclusive", "6 h"),
            ],
        };
        check(&draft).unwrap()
    }

    #[test]
    fn a_plan_is_said_back() {
        let expected = "\
backbone: 5 hosts at 3 sites, 4 with an agent
link rome-uplink: every path that leaves rome, at most 200 GB a day
all: 10 paths, plan rtt, light (both hosts), every 60 s, not in its quiet hours
all: 10 paths, plan first-look, exclusive (both hosts; 6 paths over links), every 6 h, \
not in its quiet hours
";
        assert_eq!(explain(&mesh()), expected);
        let document = explain_json(&mesh());
        assert_eq!(document["hosts"][0], json!({ "name": "ext/nas", "agent": false }));
        assert_eq!(document["measures"][1]["paths"], 10);
    }
}
