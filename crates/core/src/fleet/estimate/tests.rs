//! How long rounds take, against what no timetable can be quicker than.

use super::round::happen;
use super::*;
use crate::fleet::mesh::check::check;
use crate::fleet::mesh::draft::{Draft, GroupDraft, HostDraft, LinkDraft, MeasureDraft, VERSION};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

const HOUR_NS: f64 = 3600e9;

/// Sites of five hosts, all measured with all, exclusively.
fn draft(sites: usize) -> Draft {
    let group = GroupDraft {
        name: "all".to_owned(),
        kind: "mesh".to_owned(),
        hosts: ["*".to_owned()].to_vec(),
        ..GroupDraft::default()
    };
    let measure = MeasureDraft {
        group: "all".to_owned(),
        plan: "first-look".to_owned(),
        every: Some("6 h".to_owned()),
        class: Some("exclusive".to_owned()),
        ..MeasureDraft::default()
    };
    let names = (0..sites * 5).map(|at| format!("s{}/h{}", at / 5, at % 5));
    Draft {
        v6gap: VERSION,
        hosts: names.map(|name| (name, HostDraft::default())).collect(),
        groups: [group].to_vec(),
        measure: [measure].to_vec(),
        ..Draft::default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Links {
    None,
    Uplinks,
    One,
}

/// 50 hosts at 10 sites.
fn mesh(links: Links) -> Mesh {
    let mut draft = draft(10);
    let site = |at: usize| format!("s{at}");
    draft.links = match links {
        Links::None => Vec::new(),
        Links::Uplinks => {
            let link =
                |at| LinkDraft { name: site(at), site: Some(site(at)), ..Default::default() };
            (0..10).map(link).collect()
        }
        Links::One => {
            let pair = |one: usize, other: usize| [format!("s{one}/*"), format!("s{other}/*")];
            let paths: Vec<[String; 2]> =
                (0..10).flat_map(|a| (a + 1..10).map(move |b| pair(a, b))).collect();
            [LinkDraft { name: "between".to_owned(), paths, ..Default::default() }].to_vec()
        }
    };
    check(&draft).unwrap()
}

fn takes(shortest_s: u64, longest_s: u64) -> Takes {
    let [shortest_ns, longest_ns] = [shortest_s, longest_s].map(|s| s * SECOND_NS);
    Takes { shortest_ns, longest_ns, bytes: 0.6e9 }
}

/// Every case: hosts alone, an uplink for each site, and one link for all; visits of 75 s, those
/// that end when settled, and those of 20 s. The bounds are what the busiest host or link takes.
#[test]
fn no_round_takes_much_longer_than_it_must() {
    let bounds_h = [
        (Links::None, [49.0 * 76.0, 49.0 * 21.0], 1.0),
        (Links::Uplinks, [225.0 * 76.0, 225.0 * 21.0], 1.1),
        (Links::One, [1125.0 * 76.0, 1125.0 * 21.0], 1.0),
    ];
    for (links, bounds_s, within) in bounds_h {
        let mesh = mesh(links);
        let [long, short] = [takes(75, 75), takes(20, 20)].map(|takes| {
            let estimate = estimate_mesh(&mesh, &[takes]);
            estimate.measures[0].clone()
        });
        for (measured, bound_s) in [(&long, bounds_s[0]), (&short, bounds_s[1])] {
            let round = &measured.longest;
            assert_eq!(round.jobs, 1225);
            assert_eq!(round.bound_ns as f64, bound_s * 1e9, "{links:?}");
            let ratio = round.time_ns as f64 / round.bound_ns as f64;
            assert!((1.0..=within).contains(&ratio), "{links:?}: {ratio}");
            // What always takes its longest time settles in no less.
            assert_eq!(measured.settling, measured.longest);
            let is_link = matches!(round.busiest, Busiest::Link(_));
            assert_eq!(is_link, links != Links::None);
        }
        let settling = &estimate_mesh(&mesh, &[takes(20, 75)]).measures[0].settling;
        let ratio = settling.time_ns as f64 / settling.bound_ns as f64;
        assert!((1.0..=1.15).contains(&ratio), "{links:?}: {ratio}");
        assert!(settling.time_ns < long.longest.time_ns, "{links:?}");
    }
}

#[test]
fn an_estimate_says_what_holds_it_up_and_what_would_do() {
    let mesh = mesh(Links::Uplinks);
    let found = estimate_mesh(&mesh, &[takes(20, 75)]);
    let of = &found.measures[0];
    assert!(of.fits && matches!(of.longest.busiest, Busiest::Link(_)), "{of:?}");
    let hours = of.longest.time_ns as f64 / HOUR_NS;
    assert!((4.75..5.25).contains(&hours), "{hours}");
    assert!((4.9..5.5).contains(&of.longest.at_once), "{}", of.longest.at_once);
    let [settling, longest] = of.hosts_alone_ns.unwrap().map(|ns| ns as f64 / HOUR_NS);
    assert!((0.62..0.83).contains(&settling) && (1.0..1.2).contains(&longest));
    assert_eq!((of.bytes, of.partners), (1225.0 * 0.6e9, None));
    // 225 visits of 76 s in 6 h.
    let (_, share) = found.busiest_link.unwrap();
    assert!((share - 225.0 * 76.0 / 21_600.0).abs() < 1e-9, "{share}");
    let (_, share) = found.busiest_host.unwrap();
    assert!((share - 49.0 * 76.0 / 21_600.0).abs() < 1e-9, "{share}");
}

/// As often as the group wants it that wants it most often, not as often as both together.
#[test]
fn a_path_that_two_groups_measure_by_one_plan_takes_its_hosts_once() {
    let shares = |change: &dyn Fn(&mut Draft)| {
        let mut draft = draft(2);
        change(&mut draft);
        let mesh = check(&draft).unwrap();
        let takes = mesh.measures.iter().map(|_| takes(20, 30)).collect::<Vec<Takes>>();
        let found = estimate_mesh(&mesh, &takes);
        found.busiest_host.unwrap().1
    };
    let again = |draft: &mut Draft, plan: &str| {
        let name = "core".to_owned();
        draft.groups.push(GroupDraft { name: name.clone(), ..draft.groups[0].clone() });
        let (plan, every) = (plan.to_owned(), Some("3 h".to_owned()));
        draft.measure.push(MeasureDraft { group: name, plan, every, ..draft.measure[0].clone() });
    };
    let one = shares(&|_| {});
    let twice = shares(&|draft| again(draft, "first-look"));
    let another = shares(&|draft| again(draft, "another"));
    assert!((twice / one - 2.0).abs() < 1e-9, "{twice} of {one}");
    assert!((another / one - 3.0).abs() < 1e-9, "{another} of {one}");
}

#[test]
fn what_does_not_fit_is_told_with_what_would() {
    let mut mesh = mesh(Links::None);
    (mesh.measures[0].every_ns, mesh.measures[0].class) = (900 * SECOND_NS, Class::Light);
    let of = &estimate_mesh(&mesh, &[takes(20, 20)]).measures[0];
    // 49 visits of 21 s are 17 min 9 s.
    assert!(!of.fits);
    assert_eq!((of.allow_ns, of.partners), (1200 * SECOND_NS, Some(37)));
    assert_eq!(of.hosts_alone_ns, None);
}

/// Ten times the hosts, each with four others: ten times the work, and not a hundred times.
#[test]
fn a_round_of_many_hosts_costs_as_much_for_each_path() {
    let mut draft = draft(400);
    draft.groups[0].sample = Some(4);
    let site = |at: usize| format!("s{at}");
    let link = |at| LinkDraft { name: site(at), site: Some(site(at)), ..Default::default() };
    draft.links = (0..400).map(link).collect();
    let mesh = check(&draft).unwrap();
    // Looks are counted where it happens.
    let slot_ns = 76 * SECOND_NS;
    let round = happen(&mesh, 0, slot_ns, &|_| slot_ns);
    assert_eq!(round.jobs, 4000);
    assert!(round.time_ns >= round.bound_ns && round.at_once > 100.0, "{round:?}");
}

#[test]
fn a_plan_takes_as_long_as_it_may() {
    use crate::arm::PerArm;
    use crate::plan::preset;
    let adaptive = |time_ns_max| {
        let look = preset::first_look(PerArm::FAMILIES, None, 7);
        Takes::of(&look.ending(Stop::Adaptive { time_ns_max, pairs_min: 8 }), Path::USUAL)
    };
    let long = adaptive(600 * SECOND_NS);
    assert_eq!(long.longest_ns, 600 * SECOND_NS);
    assert!(long.shortest_ns > SECOND_NS && long.shortest_ns < long.longest_ns, "{long:?}");
    // Some 0.6 GB in 75 s at 100 Mbit/s.
    assert!((2e9..8e9).contains(&long.bytes), "{long:?}");
    assert_eq!(adaptive(SECOND_NS).shortest_ns, SECOND_NS);
    let look = preset::first_look(PerArm::FAMILIES, None, 7);
    let fixed = Takes::of(&look.ending(Stop::Pairs { pairs: 9 }), Path::USUAL);
    assert_eq!(fixed.shortest_ns, fixed.longest_ns);
}
