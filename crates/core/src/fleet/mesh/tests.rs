//! Mesh plans: what they mean, and what is refused.

use super::check::{EXCLUSIVE_EVERY_NS, LIGHT_EVERY_NS, check};
use super::draft::{Draft, GroupDraft, HostDraft, LinkDraft, MeasureDraft, VERSION};
use super::*;
use crate::watch::Moment;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;

/// A mesh of all of these hosts, measured lightly.
fn draft(hosts: &[&str]) -> Draft {
    let group = GroupDraft {
        name: "all".to_owned(),
        kind: "mesh".to_owned(),
        hosts: vec!["*".to_owned()],
        ..GroupDraft::default()
    };
    let measure = MeasureDraft {
        group: "all".to_owned(),
        plan: "first-look".to_owned(),
        ..MeasureDraft::default()
    };
    Draft {
        v6gap: VERSION,
        hosts: hosts.iter().map(|name| (name.to_string(), HostDraft::default())).collect(),
        groups: vec![group],
        measure: vec![measure],
        ..Draft::default()
    }
}

const HOSTS: [&str; 5] = ["rome/a", "rome/b", "oslo/a", "rome-2/a", "oslo/b"];

fn mesh(change: impl FnOnce(&mut Draft)) -> Mesh {
    let mut draft = draft(&HOSTS);
    change(&mut draft);
    check(&draft).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// The keys of what is wrong after `change`.
fn wrong(change: impl FnOnce(&mut Draft)) -> Vec<String> {
    let mut draft = draft(&HOSTS);
    change(&mut draft);
    check(&draft).unwrap_err().into_iter().map(|problem| problem.key).collect()
}

fn named(mesh: &Mesh, pairs: &[Pair]) -> Vec<String> {
    let name = |at: usize| mesh.hosts[at].name.to_string();
    pairs.iter().map(|pair| format!("{} > {}", name(pair.from), name(pair.to))).collect()
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

#[test]
fn hosts_stand_by_sites_and_defaults_are_explicit() {
    let mesh = mesh(|draft| draft.measure[0].class = None);
    let names: Vec<String> = mesh.hosts.iter().map(|host| host.name.to_string()).collect();
    assert_eq!(names, ["oslo/a", "oslo/b", "rome/a", "rome/b", "rome-2/a"]);
    assert_eq!(mesh.sites(), [("oslo", 0..2), ("rome", 2..4), ("rome-2", 4..5)]);
    for (at, host) in mesh.hosts.iter().enumerate() {
        assert_eq!(mesh.host(&host.name), Some(at));
    }
    let measure = &mesh.measures[0];
    assert_eq!((measure.every_ns, measure.class), (LIGHT_EVERY_NS, Class::Light));
    assert_eq!(mesh.paths(0, 7).len(), 10);
    assert!(mesh.paths(0, 7).iter().all(|pair| pair.from < pair.to));
    assert_eq!(mesh.paths(1, 7), []);
    let exclusive = self::mesh(|draft| draft.measure[0].class = Some("exclusive".to_owned()));
    assert_eq!(exclusive.measures[0].every_ns, EXCLUSIVE_EVERY_NS);
}

#[test]
fn each_kind_of_group_has_its_paths() {
    let of = |change: &dyn Fn(&mut GroupDraft)| {
        let mesh = mesh(|draft| {
            draft.groups[0].hosts.clear();
            change(&mut draft.groups[0]);
        });
        named(&mesh, &mesh.paths(0, 0))
    };
    let star = of(&|group| {
        group.kind = "star".to_owned();
        group.centre = Some("rome/a".to_owned());
        group.hosts = texts(["rome/*", "oslo/a"]);
    });
    assert_eq!(star, ["rome/a > oslo/a", "rome/a > rome/b"]);
    let disjoint = of(&|group| {
        group.kind = "disjoint".to_owned();
        (group.from, group.to) = (texts(["rome-2/*"]), texts(["oslo/*"]));
        group.both_directions = true;
    });
    let both = ["oslo/a > rome-2/a", "oslo/b > rome-2/a", "rome-2/a > oslo/a", "rome-2/a > oslo/b"];
    assert_eq!(disjoint, both);
    let list = of(&|group| {
        group.kind = "list".to_owned();
        group.paths = [["oslo/a", "rome/*"], ["oslo/a", "rome/a"]]
            .map(|pair| pair.map(str::to_owned))
            .to_vec();
    });
    assert_eq!(list, ["oslo/a > rome/a", "oslo/a > rome/b"]);
}

#[test]
fn a_host_without_an_agent_is_the_far_end() {
    let without = |names: [&str; 2], both_directions| {
        let mesh = mesh(|draft| {
            draft.groups[0].both_directions = both_directions;
            for name in names {
                draft.hosts.get_mut(name).unwrap().agent = Some(false);
            }
        });
        named(&mesh, &mesh.paths(0, 0))
    };
    let paths = without(["oslo/a", "oslo/b"], false);
    assert_eq!(paths.len(), 9, "{paths:?}");
    assert!(paths.iter().all(|path| !path.starts_with("oslo")), "{paths:?}");
    // Both directions of the three paths between agents, one of the six others.
    assert_eq!(without(["oslo/a", "oslo/b"], true).len(), 12);
}

#[test]
fn links_carry_what_leaves_a_site_or_what_is_named() {
    let link = |name: &str| LinkDraft { name: name.to_owned(), ..LinkDraft::default() };
    let mesh = mesh(|draft| {
        let site = Some("rome".to_owned());
        let budget = Some("200 GB/day".to_owned());
        let paths = [["rome/*", "oslo/*"], ["rome-2/a", "oslo/b"]];
        let paths = paths.map(|pair| pair.map(str::to_owned)).to_vec();
        draft.links =
            vec![LinkDraft { site, budget, ..link("uplink") }, LinkDraft { paths, ..link("sea") }];
    });
    assert_eq!(mesh.links[0].budget_bytes, Some(200_000_000_000));
    let carriers = Carriers::of(&mesh);
    let at = |name: &str| mesh.host(&name.parse().unwrap()).unwrap();
    let links = |from: &str, to: &str| {
        let one = carriers.links(Pair { from: at(from), to: at(to) });
        assert_eq!(one, carriers.links(Pair { from: at(to), to: at(from) }));
        one
    };
    assert!(links("rome/a", "rome/b").is_empty());
    assert_eq!(links("rome/a", "oslo/a"), [0, 1]);
    assert_eq!(links("rome/b", "rome-2/a"), [0]);
    assert_eq!(links("rome-2/a", "oslo/b"), [1]);
    assert!(links("rome-2/a", "oslo/a").is_empty());
}

#[test]
fn a_sample_is_fair_and_another_one_each_day() {
    let names: Vec<String> = (0..101).map(|at| format!("s{}/h{at}", at / 10)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let of = |partners: u32, hosts: usize| {
        let mut draft = draft(&names[..hosts]);
        draft.groups[0].sample = Some(partners);
        check(&draft).unwrap()
    };
    for (partners, hosts) in [(4, 101), (4, 100), (3, 100), (99, 100), (1, 100), (2, 3)] {
        let mesh = of(partners, hosts);
        let [today, tomorrow] = [20_000, 20_001].map(|day| mesh.paths(0, day));
        assert_eq!(today, mesh.paths(0, 20_000));
        let mut degrees = vec![0; hosts];
        for pair in &today {
            degrees[pair.from] += 1;
            degrees[pair.to] += 1;
        }
        assert!(degrees.iter().all(|degree| *degree == partners), "{partners} of {hosts}");
        assert_eq!(today != tomorrow, partners + 1 < hosts as u32, "{partners} of {hosts}");
    }
    let odd = of(3, 101).paths(0, 0);
    let count = odd.iter().flat_map(|pair| [pair.from, pair.to]).collect::<BTreeSet<_>>().len();
    assert_eq!((count, odd.len()), (101, 101 + 51));
}

#[test]
fn quiet_hours_are_those_of_the_measurement() {
    let mesh = mesh(|draft| draft.measure[0].quiet = texts(["Mon-Sun 00:00-24:00"]));
    let now = Moment { unix_ns: 1, offset_s: 0 };
    assert!(mesh.measures[0].quiet.touches(now, 0));
}

#[test]
fn all_problems_are_found_at_once_with_their_keys() {
    let found = wrong(|draft| {
        draft.v6gap = 2;
        draft.hosts.insert("no-site".to_owned(), HostDraft::default());
        let four = HostDraft { v4: Some("2001:db8::1".to_owned()), ..HostDraft::default() };
        draft.hosts.insert("oslo/b".to_owned(), four);
        let port = HostDraft { port: Some(4466), ..HostDraft::default() };
        draft.hosts.insert("rome/a".to_owned(), port);
        draft.links = vec![
            LinkDraft { name: "x".to_owned(), ..LinkDraft::default() },
            LinkDraft {
                name: "x".to_owned(),
                site: Some("bern".to_owned()),
                budget: Some("5 GB".to_owned()),
                ..LinkDraft::default()
            },
        ];
        draft.groups[0].sample = Some(9);
        draft.groups.push(GroupDraft { kind: "ring".to_owned(), ..draft.groups[0].clone() });
        draft.measure.push(MeasureDraft {
            group: "al".to_owned(),
            class: Some("heavy".to_owned()),
            every: Some("1 s".to_owned()),
            quiet: texts(["at night"]),
            ..draft.measure[0].clone()
        });
    });
    let expected = [
        "v6gap",
        "hosts.no-site",
        "hosts.oslo/b.v4",
        "hosts.rome/a.port",
        "links[0]",
        "links[1].name",
        "links[1].site",
        "links[1].budget",
        "groups[0].sample",
        "groups[1].name",
        "groups[1].kind",
        "measure[1].group",
        "measure[1].class",
        "measure[1].every",
        "measure[1].quiet[0]",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_cannot_be_is_refused() {
    assert_eq!(wrong(|draft| draft.measure.clear()), ["measure"]);
    assert_eq!(wrong(|draft| draft.groups[0].hosts = texts(["bern/*"]))[0], "groups[0].hosts");
    assert_eq!(wrong(|draft| draft.groups[0].hosts = texts(["r*"]))[0], "groups[0].hosts");
    assert_eq!(wrong(|draft| draft.groups[0].hosts = texts(["rome/a"])), ["groups[0]"]);
    let star = wrong(|draft| draft.groups[0].kind = "star".to_owned());
    assert_eq!(star, ["groups[0].centre"]);
    let sides = wrong(|draft| {
        let group = &mut draft.groups[0];
        (group.kind, group.hosts) = ("disjoint".to_owned(), Vec::new());
        (group.from, group.to) = (texts(["rome/*"]), texts(["*"]));
    });
    assert_eq!(sides, ["groups[0].to"]);
    let nobody = wrong(|draft| draft.hosts.values_mut().for_each(|h| h.agent = Some(false)));
    assert_eq!(nobody, ["hosts"]);
    let twice = wrong(|draft| draft.measure.push(draft.measure[0].clone()));
    assert_eq!(twice, ["measure[1].plan"]);
    let names: Vec<String> = (0..1200).map(|at| format!("s/h{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let problems = check(&draft(&names)).unwrap_err();
    assert_eq!(problems[0].key, "groups[0].hosts");
    assert!(problems[0].what.contains("sample = 4"), "{problems:?}");
}
