//! Gates treat both families alike: exchanged evidence gives exchanged findings.

use super::{count, judge, plan, rtt_s, trial};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use v6gap_core::family::Family;
use v6gap_core::observation::{EndReport, Lateness};
use v6gap_core::plan::{Plan, preset};
use v6gap_core::record::TrialRecord;

/// Every counter of one family that a gate reads, with that of the same event over the other.
const COUNTERS: [[&str; 2]; 11] = [
    ["Ip.InReceives", "Ip6.InReceives"],
    ["Ip.ReasmFails", "Ip6.ReasmFails"],
    ["Ip.ReasmTimeout", "Ip6.ReasmTimeout"],
    ["Ip.ReasmReqds", "Ip6.ReasmReqds"],
    ["Ip.FragCreates", "Ip6.FragCreates"],
    ["Udp.RcvbufErrors", "Udp6.RcvbufErrors"],
    ["Udp.InCsumErrors", "Udp6.InCsumErrors"],
    ["Icmp.InDestUnreachs", "Icmp6.InDestUnreachs"],
    // Linux counts "fragmentation needed" among "destination unreachable".
    ["Icmp.InDestUnreachs", "Icmp6.InPktTooBigs"],
    // These hold both families.
    ["Tcp.RetransSegs", "Tcp.RetransSegs"],
    ["softnet.dropped", "softnet.dropped"],
];

type Spoil<'a> = &'a dyn Fn(&mut TrialRecord, Family);

/// The gates with findings in a trial of `family`, and whether they close.
fn found(plan: &Plan, cell: &str, family: Family, spoil: Spoil<'_>) -> Vec<(String, bool)> {
    let mut trial = trial(plan, cell, family);
    spoil(&mut trial, family);
    let (_, cell) = plan.cell(cell).unwrap();
    judge(plan, cell, &trial).into_iter().map(|finding| (finding.gate, finding.fatal)).collect()
}

/// Of each cell, in a lab and outside: what `spoil` does to a trial is found alike of both
/// families.
fn is_alike(what: &str, spoil: Spoil<'_>) {
    let outside = preset::first_look(super::PerArm::FAMILIES, None, 1);
    for plan in [plan(), outside] {
        for cell in &plan.cells {
            let [v4, v6] = Family::BOTH.map(|family| found(&plan, &cell.id, family, spoil));
            assert_eq!(v4, v6, "{what}: {}", cell.id);
        }
    }
}

#[test]
fn each_counter_weighs_alike_over_both_families() {
    let ends: [fn(&mut TrialRecord) -> &mut EndReport; 2] =
        [|trial| &mut trial.ends.client, |trial| trial.ends.server.seen_mut().unwrap()];
    for pair in COUNTERS {
        for end in ends {
            for by in [1, 40, 100_000] {
                // The trial's own family, and the other one meanwhile.
                let own = |trial: &mut TrialRecord, family: Family| {
                    count(end(trial), pair[usize::from(family == Family::V6)], by);
                };
                is_alike(pair[0], &own);
                is_alike(pair[0], &|trial, family| own(trial, family.other()));
            }
        }
    }
}

#[test]
fn a_path_mtu_that_changed_closes_over_neither_family() {
    let told = |trial: &mut TrialRecord, family: Family| {
        let name = match family {
            Family::V4 => "Icmp.InDestUnreachs",
            Family::V6 => "Icmp6.InPktTooBigs",
        };
        count(&mut trial.ends.client, name, 1);
    };
    let noted = [("path-mtu".to_string(), false)];
    for family in Family::BOTH {
        assert_eq!(found(&plan(), "throughput-tcp", family, &told), noted, "{family}");
        let others = |trial: &mut TrialRecord, family: Family| told(trial, family.other());
        assert_eq!(found(&plan(), "throughput-tcp", family, &others), [], "{family}");
    }
}

#[test]
fn what_no_family_has_its_own_of_weighs_alike() {
    let spoils: [(&str, Spoil<'_>); 5] = [
        ("clock", &|trial, _| trial.ends.client.clock_step_ns = 40_000_000),
        ("steal", &|trial, _| trial.ends.client.steal_share = Some(0.08)),
        ("value", &|trial, _| trial.values.clear()),
        ("unavailable", &|trial, _| trial.ends.client.unavailable.push("all".to_string())),
        ("late", &|trial, _| {
            trial.link = Some(Lateness { p50_ns: 20_000_000, dropped: 3, ..Lateness::default() });
        }),
    ];
    for (what, spoil) in spoils {
        is_alike(what, spoil);
        let passes = found(&plan(), "rtt-udp-64", Family::V6, spoil).is_empty();
        assert!(!passes, "{what} is found");
    }
}

/// A family with longer round trips bears no later link than the other one: neither does the trial
/// that was quicker come through alone.
#[test]
fn both_trials_of_a_block_bear_the_same_lateness() {
    let plan = plan();
    let (_, cell) = plan.cell("rtt-udp-64").unwrap();
    let late = |trial: &mut TrialRecord| {
        trial.link = Some(Lateness { p50_ns: 20_000, ..Lateness::default() });
    };
    let of = |family: Family, seconds: f64| {
        let mut trial = trial(&plan, "rtt-udp-64", family);
        rtt_s(&mut trial, seconds, late);
        trial
    };
    let gates = |trial: &TrialRecord, other: &TrialRecord| {
        let found = super::super::judge(&plan, cell, trial, other).into_iter();
        found.map(|finding| finding.gate).collect::<Vec<_>>()
    };
    for family in Family::BOTH {
        let (long, short) = (of(family, 28e-3), of(family.other(), 8e-3));
        assert_eq!(gates(&long, &short), ["link-late"], "{family}");
        assert_eq!(gates(&short, &long), ["link-late"], "{family}");
        let as_long = of(family.other(), 27e-3);
        assert!(gates(&long, &as_long).is_empty() && gates(&as_long, &long).is_empty());
    }
}
