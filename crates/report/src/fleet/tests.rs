//! Fleets to tell of.

mod schemas;

use v6gap_core::family::PerFamily;
use v6gap_core::metric::Metric;
use v6gap_judge::analysis::Verdict;
use v6gap_judge::analysis::summary::{Answer, SCHEMA, Summary};
use v6gap_judge::matrix::{Asked, Matrix, Said};

const MINUTE_NS: u64 = 60_000_000_000;

/// When it is looked at, in minutes since the Unix epoch.
const NOW_MIN: u64 = 30_000_000;

fn said(from: &str, to: &str, verdict: Verdict, effect: f64, age_min: u64) -> Said {
    let answer = Answer {
        cell: "rtt-tcp-64".to_owned(),
        metric: Metric::Rtt,
        verdict,
        within: None,
        effect: Some([Some(effect), Some(effect - 0.003), Some(effect + 0.003)]),
        values: [None; 2],
        found: [None; 3],
    };
    Said {
        from: from.parse().unwrap(),
        to: to.parse().unwrap(),
        run: "7k2f9q".parse().unwrap(),
        began_unix_ns: (NOW_MIN - age_min) * MINUTE_NS,
        summary: Summary {
            schema: SCHEMA.to_owned(),
            by: "0".to_owned(),
            valid: true,
            headline: String::new(),
            granted: Vec::new(),
            questions: vec![answer],
            hops: PerFamily::default(),
        },
    }
}

fn matrix(said: &[Said]) -> Matrix {
    let asked =
        Asked { stale_ns: 30 * MINUTE_NS, now_unix_ns: NOW_MIN * MINUTE_NS, ..Asked::default() };
    Matrix::of(said, &asked)
}

/// Three hosts: a worse path, one that is the same, and one that is stale.
pub(crate) fn small() -> Matrix {
    matrix(&[
        said("oslo/a", "rome/a", Verdict::Worse, 0.089, 5),
        said("rome/a", "rome/b", Verdict::Same, 0.001, 10),
        said("oslo/a", "rome/b", Verdict::CannotTell, 0.021, 41),
    ])
}

/// So many sites of five hosts: the paths between two of them are worse and cross a router of their
/// own.
pub(crate) fn fleet(sites: usize) -> Matrix {
    let name = |at: usize| format!("s{}/h{}", at / 5, at % 5);
    let router = |n: u16| std::net::IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, n]);
    let mut all = Vec::new();
    for from in 0..sites * 5 {
        for to in from + 1..sites * 5 {
            let bad = (from / 5, to / 5) == (0, 1);
            let (verdict, effect) =
                if bad { (Verdict::Worse, 0.089) } else { (Verdict::Same, 0.001) };
            let mut one = said(&name(from), &name(to), verdict, effect, 5);
            let far = router(if bad { 4 } else { 5 });
            one.summary.hops.v6 = vec![vec![router(1)], vec![far]];
            all.push(one);
        }
    }
    matrix(&all)
}
