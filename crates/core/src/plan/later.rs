//! What becomes of a plan after it was checked: each change has a name, and makes another plan.

use super::estimate::{estimate, lookups, visits};
use super::{PAIRS_MIN, PAIRS_TO_DECIDE, Plan, Stop, TIME_NS, fit};
use crate::arm::PerArm;
use crate::family::Family;
use crate::metric::Metric;
use crate::workload::{Path, Transport, Wait, Workload};
use alloc::format;
use alloc::vec::Vec;

/// Seconds in ns.
const SECOND: f64 = 1e9;

/// One in so many connections is kept for visits that have to be tried again.
const AGAIN_PART: u32 = 10;

/// Why nothing can be added to what a plan asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NothingToAdd {
    /// All of its pairs were measured.
    Complete {
        /// Blocks of each cell.
        pairs: u32,
    },
    /// A time was asked for, and the plan ends after a number of pairs.
    Counted {
        /// Blocks of each cell.
        pairs: u32,
    },
}

impl Plan {
    /// The plan with another end.
    #[must_use]
    pub fn ending(mut self, stop: Stop) -> Plan {
        self.0.design.stop = stop;
        self
    }

    /// The plan of a run that takes `time_ns` at most, unless it ends after a number of pairs. In a
    /// time below [`TIME_NS`], transfers, round trips and null blocks leave time for enough pairs.
    #[must_use]
    pub fn within(mut self, time_ns: u64) -> Plan {
        if let Stop::Adaptive { time_ns_max, .. } = &mut self.0.design.stop {
            *time_ns_max = time_ns;
        }
        if time_ns < TIME_NS {
            let part = time_ns as f64 / TIME_NS as f64;
            self.0.cells.iter_mut().for_each(|cell| cell.workload.shorten(part));
        }
        let path = self.path();
        self.with_nulls_in_time(path)
    }

    /// The path of the plan's lab by the lines of the families that it measures, or a usual one.
    pub fn path(&self) -> Path {
        let arms = self.design.arms;
        let in_lab = |world| fit::path_of_families(world, [arms.a, arms.b]);
        self.world.as_ref().map_or(Path::USUAL, in_lab)
    }

    /// The plan with time for its null blocks and fewest pairs, in whole seconds: what was asked
    /// for may make the trials long.
    #[must_use]
    pub fn with_time_enough(mut self) -> Plan {
        if let Some(enough_ns) = self.time_lacked_ns()
            && let Stop::Adaptive { time_ns_max, .. } = &mut self.0.design.stop
        {
            *time_ns_max = enough_ns;
        }
        self
    }

    /// Where the time of the plan is too short for its null blocks and fewest pairs, in its lab or
    /// on a usual path, one that is not, in ns and whole seconds.
    pub fn time_lacked_ns(&self) -> Option<u64> {
        let Stop::Adaptive { time_ns_max, .. } = self.design.stop else { return None };
        let fewest = self.clone().ending(Stop::Pairs { pairs: PAIRS_MIN });
        let needed_ns = estimate(&fewest, self.path()).total.time_ns * 1.2;
        let enough_ns = libm::ceil(needed_ns / SECOND) as u64 * SECOND as u64;
        (enough_ns > time_ns_max).then_some(enough_ns)
    }

    /// The plan of a session that goes on with a run, which takes `time_ns` if a time is asked for.
    ///
    /// # Errors
    /// If the run was planned with a number of pairs, and has them or a time is asked for.
    pub fn continued(mut self, time_ns: Option<u64>, complete: bool) -> Result<Plan, NothingToAdd> {
        match &mut self.0.design.stop {
            &mut Stop::Pairs { pairs } if complete => Err(NothingToAdd::Complete { pairs }),
            &mut Stop::Pairs { pairs } if time_ns.is_some() => Err(NothingToAdd::Counted { pairs }),
            Stop::Pairs { .. } => Ok(self),
            Stop::Adaptive { time_ns_max, .. } => {
                *time_ns_max = time_ns.unwrap_or(*time_ns_max);
                Ok(self)
            }
        }
    }

    /// The plan with as many of its pairs as so many connections and so many lookups are enough
    /// for, a tenth of them kept for what has to be tried again. `None` where they are not enough
    /// for the fewest pairs that can decide.
    pub fn visiting_at_most(self, connections: u32, asked: u32) -> Option<Plan> {
        let most = |of: u32| u64::from(of - of / AGAIN_PART);
        let fits = |plan: &Plan| visits(plan) <= most(connections) && lookups(plan) <= most(asked);
        let Stop::Pairs { pairs } = self.design.stop else { return Some(self) };
        if fits(&self) {
            return Some(self);
        }
        let with =
            |pairs| self.clone().ending(Stop::Pairs { pairs }).with_nulls_in_time(Path::USUAL);
        (PAIRS_TO_DECIDE..pairs).rev().map(with).find(fits)
    }

    /// The plan of one family and no comparison.
    #[must_use]
    pub fn alone(mut self, only: Family) -> Plan {
        self.0.design.arms = PerArm::null(only);
        self.0.design.null_blocks = 0;
        self.0.design.sentinel_every = 0;
        self
    }

    /// The plan that compares `family` with itself for `time_ns`: its transfer and its smallest
    /// round trips, without null blocks of their own, and with no end but that of the time.
    #[must_use]
    pub fn of_noise(self, family: Family, time_ns: u64) -> Plan {
        let mut plan = self.alone(family);
        plan.0.name = format!("Noise of {family}");
        let mut met: Vec<(Metric, Transport)> = Vec::new();
        plan.0.cells.retain(|cell| {
            let floor = matches!(cell.workload, Workload::TcpBulk(_) | Workload::Echo(_));
            let kind = (cell.workload.metrics()[0], cell.workload.transport());
            let first = floor && !met.contains(&kind);
            if first {
                met.push(kind);
            }
            first
        });
        plan.0.design.null_cells.clear();
        plan.ending(Stop::Adaptive { time_ns_max: time_ns, pairs_min: u32::MAX })
    }

    /// The plan with ends that sleep while they wait: where other work keeps the processors busy,
    /// ends that wait in turns would wait for that work instead.
    #[must_use]
    pub fn with_sleeping_ends(mut self) -> Plan {
        for cell in &mut self.0.cells {
            if let Workload::Echo(echo) = &mut cell.workload {
                echo.wait = Wait::Block;
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{check, draft, preset};
    use crate::workload::BULK_NS_MIN;
    use alloc::string::ToString;

    fn look() -> Plan {
        preset::first_look(PerArm::FAMILIES, None, 1)
    }

    #[test]
    fn short_runs_have_short_trials() {
        let plan = look().within(20_000_000_000);
        assert_eq!(plan.design.stop, Stop::within(20_000_000_000));
        let nulls = plan.design.null_cells.iter().map(|&cell| plan.design.null_blocks_of(cell));
        assert!(nulls.sum::<u32>() < 10, "{:?}", plan.design.null_fewer);
        for cell in &plan.cells {
            if let Workload::TcpBulk(bulk) = &cell.workload {
                assert_eq!((bulk.duration_ns, bulk.warmup_ns), (BULK_NS_MIN, BULK_NS_MIN / 4));
            }
            if let Workload::Echo(echo) = &cell.workload {
                assert!(echo.turns >= 2 && echo.turns.is_multiple_of(2), "{echo:?}");
            }
        }
        let long = look().within(2 * TIME_NS);
        assert_eq!(long.cells, look().cells);
        let counted = look().ending(Stop::Pairs { pairs: 9 }).within(1_000_000_000);
        assert_eq!(counted.design.stop, Stop::Pairs { pairs: 9 });
    }

    #[test]
    fn one_family_alone_stays_without_null_blocks_in_any_time() {
        let plan = look().alone(Family::V6);
        assert_eq!(plan.design.arms, PerArm::null(Family::V6));
        for plan in [plan.clone(), plan.within(1_000_000_000)] {
            assert_eq!((plan.design.null_blocks, plan.design.sentinel_every), (0, 0));
        }
    }

    #[test]
    fn a_plan_with_long_trials_gets_time_for_its_fewest_pairs() {
        let counted = look().ending(Stop::Pairs { pairs: 9 });
        assert_eq!(counted.clone().with_time_enough(), counted);
        let brief = look().ending(Stop::within(1)).with_time_enough();
        let Stop::Adaptive { time_ns_max, .. } = brief.design.stop else { panic!("{brief:?}") };
        assert!(time_ns_max.is_multiple_of(1_000_000_000) && time_ns_max > 30_000_000_000);
        let hours = look().ending(Stop::within(u64::MAX));
        assert_eq!(hours.clone().with_time_enough(), hours);
    }

    /// 10 MB take 0.8 s on a usual line, and on a slow one the longest time that they may.
    #[test]
    fn a_plan_lacks_the_time_that_its_lab_takes() {
        let lacked = |rate: &str| {
            let table = r#"{"metric":"throughput","bytes":"10 MB"}"#;
            let draft = draft::Draft {
                v6gap: draft::VERSION,
                lab: Some(draft::Lab { rate: Some(rate.into()), ..draft::Lab::default() }),
                measure: alloc::vec![serde_json::from_str(table).unwrap()],
                ..draft::Draft::default()
            };
            check::check(&draft, 1).unwrap().time_lacked_ns()
        };
        assert_eq!(lacked("100 Mbit/s"), None);
        let seconds = lacked("1 Mbit/s").map(|ns| ns / SECOND as u64);
        assert!(seconds.is_some_and(|s| s > 1_000), "{seconds:?}");
    }

    #[test]
    fn visits_are_no_more_than_connections_may_be_made() {
        let of = |versions: &[&str], addresses| {
            let site = draft::Site {
                url: "https://example.org/".into(),
                http: versions.iter().map(ToString::to_string).collect(),
                addresses: Some(addresses),
                ..draft::Site::default()
            };
            check::check(&preset::visits_draft(site, true, true), 1).unwrap()
        };
        let one = of(&["2"], 1);
        assert_eq!(one.clone().visiting_at_most(140, 400), Some(one.clone()));
        // Two families, and null blocks of both.
        assert!(lookups(&one) > 48);
        let fewer = one.visiting_at_most(140, 45).unwrap();
        assert!((24..=41).contains(&lookups(&fewer)), "{} lookups", lookups(&fewer));
        let all = ["1.1", "2", "3"];
        for (versions, addresses) in [(&all[..], 1), (&all[1..2], 4), (&all[1..2], 3)] {
            let plan = of(versions, addresses).visiting_at_most(140, 400).unwrap();
            let Stop::Pairs { pairs } = plan.design.stop else { panic!("{plan:?}") };
            assert!((PAIRS_TO_DECIDE..preset::VISIT_PAIRS).contains(&pairs), "{pairs}");
            assert!(visits(&plan) <= 126, "{pairs} pairs take {} visits", visits(&plan));
        }
        // Twelve cells: six pairs of each take 144.
        assert_eq!(of(&all, 4).visiting_at_most(140, 400), None);
    }

    #[test]
    fn a_session_has_its_own_time_and_the_rest_of_the_plan_stays() {
        assert_eq!(look().continued(None, false), Ok(look()));
        let short = look().ending(Stop::within(7));
        assert_eq!(look().continued(Some(7), true), Ok(short));
    }

    #[test]
    fn fixed_pairs_can_be_finished_and_no_more() {
        let counted = look().ending(Stop::Pairs { pairs: 9 });
        assert_eq!(counted.clone().continued(None, false), Ok(counted.clone()));
        let complete = counted.clone().continued(None, true);
        assert_eq!(complete, Err(NothingToAdd::Complete { pairs: 9 }));
        let timed = counted.continued(Some(7), false);
        assert_eq!(timed, Err(NothingToAdd::Counted { pairs: 9 }));
    }

    #[test]
    fn the_noise_is_that_of_the_transfer_and_the_smallest_round_trips_of_one_family() {
        let plan = look().of_noise(Family::V6, 7);
        let ids: Vec<&str> = plan.cells.iter().map(|cell| cell.id.as_str()).collect();
        assert_eq!(ids, ["throughput-tcp", "rtt-tcp-64", "rtt-udp-64"]);
        assert_eq!(plan.design.arms, PerArm::null(Family::V6));
        assert!(crate::schedule::round(&plan, 0).is_empty());
        assert_eq!(crate::schedule::round(&plan, 10).len(), 3);
    }
}
