//! What the runs of a fleet say of its paths, and what is said of chance.

use super::*;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec;
use v6gap_core::family::Family;

const HOUR: u64 = 3_600_000_000_000;

fn host(at: usize) -> HostName {
    format!("s{}/h{}", at / 5, at % 5).parse().unwrap()
}

fn answer(verdict: Verdict, effect: f64) -> Answer {
    Answer {
        cell: "rtt-tcp-64".to_owned(),
        metric: Metric::Rtt,
        verdict,
        within: None,
        effect: Some([Some(effect), Some(effect - 0.01), Some(effect + 0.01)]),
        values: [None; 2],
        found: [None; 3],
    }
}

/// A run of a path that began at that hour.
fn said(from: usize, to: usize, hour: u64, verdict: Verdict, effect: f64) -> Said {
    Said {
        from: host(from),
        to: host(to),
        run: format!("r{from}x{to}x{hour}").parse().unwrap(),
        began_unix_ns: hour * HOUR,
        summary: Summary {
            schema: crate::analysis::summary::SCHEMA.to_owned(),
            by: "0".to_owned(),
            valid: true,
            headline: String::new(),
            granted: Vec::new(),
            questions: vec![answer(verdict, effect)],
            hops: PerFamily::default(),
        },
    }
}

fn asked(now_hour: u64) -> Asked<'static> {
    Asked { stale_ns: 2 * HOUR, now_unix_ns: now_hour * HOUR, ..Asked::default() }
}

fn router(n: u16) -> IpAddr {
    IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, n])
}

/// 50 hosts at 10 sites; paths between sites 0 and 1 are worse and cross a router of their own.
fn fleet() -> Vec<Said> {
    let mut all = Vec::new();
    for from in 0..50 {
        for to in from + 1..50 {
            let bad = (from / 5, to / 5) == (0, 1);
            let (verdict, effect) =
                if bad { (Verdict::Worse, 0.09) } else { (Verdict::Same, 0.001) };
            let mut one = said(from, to, 10, verdict, effect);
            let near = router(100 + from as u16 / 5);
            let middle = if bad { router(4) } else { router(5) };
            one.summary.hops.v6 = vec![vec![near], Vec::new(), vec![middle]];
            all.push(one);
        }
    }
    all
}

#[test]
fn the_newest_answer_of_a_path_counts() {
    let runs = [
        said(0, 1, 9, Verdict::Worse, 0.1),
        said(0, 1, 10, Verdict::Same, 0.0),
        said(0, 1, 8, Verdict::Better, -0.1),
        said(7, 1, 5, Verdict::CannotTell, 0.021),
    ];
    let matrix = Matrix::of(&runs, &asked(11));
    assert_eq!((matrix.measure.as_str(), matrix.metric), ("rtt-tcp-64", Some(Metric::Rtt)));
    assert_eq!(matrix.hosts, [host(0), host(1), host(7)]);
    let cell = matrix.cell(0, 1).unwrap();
    assert_eq!((cell.verdict, cell.stale), (Verdict::Same, false));
    // There is no run of the way back, which is the same path.
    assert_eq!(matrix.cell(1, 0), Some(cell));
    let open = matrix.cell(2, 1).unwrap();
    assert!(open.stale && open.verdict == Verdict::CannotTell);
    assert_eq!((matrix.fresh(), matrix.expected, matrix.oldest_ns()), (1, 2, Some(6 * HOUR)));
    assert_eq!((matrix.count(Verdict::Same), matrix.count(Verdict::CannotTell)), (1, 0));
}

#[test]
fn a_question_is_a_cell_or_a_metric_and_a_path_without_it_is_empty() {
    let mut runs = [said(0, 1, 9, Verdict::Worse, 0.1), said(0, 2, 9, Verdict::Worse, 0.1)];
    runs[1].summary.questions[0].metric = Metric::Connect;
    runs[1].summary.questions[0].cell = "connect".to_owned();
    let of = |measure| Matrix::of(&runs, &Asked { measure: Some(measure), ..asked(9) });
    for measure in ["rtt", "rtt-tcp-64"] {
        let matrix = of(measure);
        assert!(matrix.cell(0, 1).is_some() && matrix.cell(0, 2).is_none());
    }
    assert!(of("loss").cells.is_empty() && of("loss").metric.is_none());
    runs[0].summary.valid = false;
    let matrix = Matrix::of(&runs, &Asked { measure: Some("rtt"), ..asked(9) });
    assert_eq!(matrix.cell(0, 1).unwrap().verdict, Verdict::None);
}

#[test]
fn paths_that_should_be_there_are_counted() {
    let expected = [(host(0), host(1)), (host(1), host(2)), (host(0), host(9))];
    let runs = [said(0, 1, 9, Verdict::Same, 0.0)];
    let matrix = Matrix::of(&runs, &Asked { expected: &expected, ..asked(9) });
    assert_eq!((matrix.hosts.len(), matrix.expected, matrix.fresh()), (4, 3, 1));
}

#[test]
fn what_worse_paths_share_is_named() {
    let matrix = Matrix::of(&fleet(), &asked(11));
    assert_eq!((matrix.cells.len(), matrix.count(Verdict::Worse)), (1225, 25));
    let shared = matrix.shared();
    let what: Vec<&What> = shared.iter().map(|shared| &shared.what).collect();
    let hop = What::Hop { family: Family::V6, address: router(4) };
    let sites = What::Sites(["s0".to_owned(), "s1".to_owned()]);
    assert_eq!(what, [&hop, &sites]);
    let of = &shared[0];
    assert_eq!((of.bad, of.good, of.distance), ((25, 25), (0, 1200), Some((3, 3))));
    // The 25 worse ones are one set of all sets of 25 of 1,225, times what was asked.
    assert!(of.p > 1.24e-52 && of.p < 2e-50, "{}", of.p);
}

#[test]
fn of_what_is_as_clear_ipv6_and_what_is_near_come_first() {
    let mut runs = fleet();
    for said in &mut runs {
        said.summary.hops.v4 = vec![vec![router(6)]];
        if said.summary.questions[0].verdict == Verdict::Worse {
            said.summary.hops.v6 = vec![vec![router(9)], vec![router(8)]];
            said.summary.hops.v4 = vec![vec![router(7)]];
        }
    }
    let shared = Matrix::of(&runs, &asked(11)).shared();
    let what: Vec<What> = shared.into_iter().map(|shared| shared.what).collect();
    let hop = |family, n| What::Hop { family, address: router(n) };
    let sites = What::Sites(["s0".to_owned(), "s1".to_owned()]);
    let (v4, v6) = (Family::V4, Family::V6);
    assert_eq!(what, [hop(v6, 9), hop(v6, 8), hop(v4, 7), sites]);
}

#[test]
fn chance_is_not_named() {
    // Three worse paths of many, which share nothing but what all have.
    let mut runs = fleet();
    for said in &mut runs {
        said.summary.questions[0].verdict = Verdict::Same;
        said.summary.hops.v6 = vec![vec![router(1)]];
    }
    for at in [3, 500, 1100] {
        runs[at].summary.questions[0].verdict = Verdict::Worse;
    }
    assert_eq!(Matrix::of(&runs, &asked(11)).shared(), []);
    // Nothing is worse, or nothing is fresh.
    assert_eq!(Matrix::of(&fleet(), &asked(99)).shared(), []);
    assert_eq!(Matrix::of(&[], &asked(11)).shared(), []);
}

#[test]
fn one_host_that_is_worse_to_all_is_named() {
    let mut runs = fleet();
    for said in &mut runs {
        let of_it = said.from == host(7) || said.to == host(7);
        said.summary.questions[0].verdict = if of_it { Verdict::Worse } else { Verdict::Same };
        said.summary.hops = PerFamily::default();
    }
    let shared = Matrix::of(&runs, &asked(11)).shared();
    assert_eq!(shared.len(), 1, "{shared:?}");
    assert_eq!((&shared[0].what, shared[0].bad), (&What::Host(7), (49, 49)));
}

#[test]
fn sites_are_told_with_the_worst_first() {
    let mut runs = fleet();
    runs.push(said(20, 25, 11, Verdict::Worse, 0.5));
    runs.push(said(45, 46, 11, Verdict::CannotTell, 0.0));
    runs.retain(|said| (&said.from, &said.to) != (&host(0), &host(5)));
    runs.push(said(0, 5, 1, Verdict::Worse, 0.7));
    let sites = Matrix::of(&runs, &asked(11)).sites();
    assert_eq!((sites.names.len(), sites.between.len()), (10, 55));
    let [first, second] = &sites.between[..2] else { panic!("55 of them") };
    assert_eq!((first.sites, first.worse, first.stale, first.worst), ((0, 1), 24, 1, Some(0.09)));
    assert_eq!((second.sites, second.worse, second.same), ((4, 5), 1, 24));
    let verdicts = |of: &Between| (of.verdict(), of.paths());
    assert_eq!(verdicts(first), (Verdict::Worse, 25));
    let within = sites.between.iter().find(|of| of.sites == (9, 9)).unwrap();
    assert_eq!(verdicts(within), (Verdict::CannotTell, 10));
    assert!(sites.between.iter().any(|of| of.verdict() == Verdict::Same));
}

/// Fresh answers of paths that nobody asks for any more are none of those that are missing.
#[test]
fn paths_that_nobody_asked_for_stand_for_no_others() {
    let expected = [(host(0), host(1)), (host(0), host(3)), (host(1), host(3))];
    let runs = [(0, 1), (0, 2), (1, 2)].map(|(a, b)| said(a, b, 9, Verdict::Same, 0.0));
    let matrix = Matrix::of(&runs, &Asked { expected: &expected, ..asked(9) });
    assert_eq!((matrix.expected, matrix.fresh()), (3, 1));
    assert_eq!(matrix.count(Verdict::Same), 1);
    // Where both ways are asked for, one that is there is none of the other.
    let both = [(host(0), host(1)), (host(1), host(0)), (host(0), host(3))];
    let matrix = Matrix::of(&runs, &Asked { expected: &both, ..asked(9) });
    assert_eq!((matrix.expected, matrix.fresh()), (3, 1));
    let unasked = Matrix::of(&runs, &asked(9));
    assert_eq!((unasked.expected, unasked.fresh()), (3, 3));
}
