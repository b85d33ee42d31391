//! Claims as text, and hosts on which claims are shown, looked at, held and given up in any order.

use super::*;
use alloc::vec::Vec;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

fn uses() -> impl Strategy<Value = Uses> {
    prop_oneof![Just(Uses::Host), btree_set(0usize..5, 1..4).prop_map(Uses::Processors)]
}

fn claim() -> impl Strategy<Value = Claim> {
    let measurement = (0u64..4).prop_map(Measurement::from_bits);
    (measurement, uses(), "[a-z ]{0,20}")
        .prop_map(|(measurement, uses, what)| Claim::new(measurement, uses, &what))
}

/// What somebody is about who measures now and then.
enum Phase {
    Away,
    /// The claim is shown; these are seen, and so many of the others are still to be looked at.
    Looking {
        seen: Vec<Seen>,
        left: Vec<usize>,
    },
    Holding,
}

/// All who measure on a host, and what each of them shows.
struct Model {
    claims: Vec<Claim>,
    phases: Vec<Phase>,
    shown: Vec<Option<Seen>>,
    names: u64,
}

impl Model {
    fn new(claims: Vec<Claim>) -> Self {
        let phases = claims.iter().map(|_| Phase::Away).collect();
        let shown = claims.iter().map(|_| None).collect();
        Model { claims, phases, shown, names: 0 }
    }

    /// The others, beginning behind somebody, as they may be listed.
    fn others(&self, who: usize, turned: usize) -> Vec<usize> {
        let all = self.claims.len();
        (0..all).map(|i| (i + turned) % all).filter(|&other| other != who).collect()
    }

    /// One does the next thing; `random` is where it begins to look and what it is called.
    fn act(&mut self, who: usize, random: u8) {
        let others = self.others(who, random.into());
        let claim = self.claims[who].clone();
        let looking = |left| Phase::Looking { seen: Vec::new(), left };
        match &mut self.phases[who] {
            Phase::Away => {
                self.names += 1;
                let name = u64::from(random) << 32 | self.names;
                self.shown[who] = Some(Seen { name, claim: Some(claim), holds: false });
                self.phases[who] = looking(others);
            }
            Phase::Looking { seen, left } => {
                if let Some(other) = left.pop() {
                    seen.extend(self.shown[other].clone());
                    return;
                }
                let Some(own) = &mut self.shown[who] else { panic!("who looks shows a claim") };
                match step(own.name, &claim, seen) {
                    Step::Hold => {
                        own.holds = true;
                        self.phases[who] = Phase::Holding;
                    }
                    Step::LookAgain(_) => self.phases[who] = looking(others),
                    Step::GiveWay(_) => self.gone(who),
                }
            }
            Phase::Holding => self.gone(who),
        }
    }

    /// One is over, or killed.
    fn gone(&mut self, who: usize) {
        self.shown[who] = None;
        self.phases[who] = Phase::Away;
    }

    fn holding(&self) -> Vec<usize> {
        let holds = |who: &usize| matches!(self.phases[*who], Phase::Holding);
        (0..self.claims.len()).filter(holds).collect()
    }

    /// The first two that are held and may not be.
    fn conflict(&self) -> Option<(usize, usize)> {
        let holding = self.holding();
        let mut pairs = holding.iter().flat_map(|&a| holding.iter().map(move |&b| (a, b)));
        pairs.find(|&(a, b)| a < b && self.claims[a].conflicts(&self.claims[b]))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn never_are_two_held_that_conflict(
        claims in vec(claim(), 2..6),
        course in vec((any::<usize>(), any::<u8>(), 0u8..20), 0..300),
    ) {
        let mut model = Model::new(claims);
        for (who, random, killed) in course {
            let who = who % model.claims.len();
            match killed {
                0 => model.gone(who),
                _ => model.act(who, random),
            }
            prop_assert_eq!(model.conflict(), None);
        }
    }

    #[test]
    fn of_those_that_ask_at_once_one_is_served(
        claims in vec(claim(), 1..6),
        names in vec(any::<u8>(), 6),
    ) {
        let mut model = Model::new(claims);
        let all = model.claims.len();
        // All show their claims before any looks, and who gave way does not come again.
        (0..all).for_each(|who| model.act(who, names[who]));
        for _ in 0..10 * all {
            for (who, &name) in names.iter().enumerate().take(all) {
                if matches!(model.phases[who], Phase::Looking { .. }) {
                    model.act(who, name);
                }
            }
            prop_assert_eq!(model.conflict(), None);
        }
        prop_assert!(!model.holding().is_empty());
    }

    #[test]
    fn a_claim_reads_as_it_was_written(claim in claim()) {
        let text = claim.text();
        prop_assert!(text.len() < TEXT_BYTES_MAX);
        prop_assert_eq!(Claim::parse(&text), Some(claim));
    }

    #[test]
    fn no_text_is_too_strange(text in ".{0,80}", rest in "[a-z0-9 \n]{0,80}") {
        let _ = Claim::parse(&text);
        let _ = Claim::parse(&format!("{FORM}\n{rest}"));
    }
}

fn on(measurement: u64, processors: &[usize]) -> Claim {
    let uses = Uses::Processors(processors.iter().copied().collect());
    Claim::new(Measurement::from_bits(measurement), uses, "v6gap demo")
}

fn of_host(measurement: u64) -> Claim {
    Claim::new(Measurement::from_bits(measurement), Uses::Host, "v6gap run lab-b")
}

#[test]
fn both_ends_share_and_labs_are_told_apart_by_their_processors() {
    assert!(of_host(1).conflicts(&of_host(2)));
    assert!(!of_host(1).conflicts(&of_host(1)));
    assert!(of_host(1).conflicts(&on(2, &[0])));
    assert!(on(1, &[0, 1]).conflicts(&on(2, &[1, 2])));
    assert!(!on(1, &[0, 1]).conflicts(&on(2, &[2, 3])));
}

#[test]
fn what_is_not_understood_is_in_everybodys_way() {
    let strange = |name, holds| Seen { name, claim: None, holds };
    assert_eq!(step(5, &on(1, &[0]), &[strange(9, true)]), Step::GiveWay(0));
    assert_eq!(step(5, &on(1, &[0]), &[strange(9, false)]), Step::LookAgain(0));
    assert_eq!(step(5, &on(1, &[0]), &[strange(3, false)]), Step::GiveWay(0));
    assert_eq!(in_the_way(&on(1, &[0]), &[strange(9, false), strange(8, true)]), Some(1));
    assert_eq!(Claim::parse("v6gap claim 2\nmeasurement 0000000000000001\nuses host\n"), None);
}

#[test]
fn nobody_is_in_his_own_way() {
    let own = Seen { name: 5, claim: Some(of_host(1)), holds: false };
    assert_eq!(step(5, &of_host(1), &[own]), Step::Hold);
}

#[test]
fn words_of_a_claim_are_harmless() {
    let claim = Claim::new(Measurement::from_bits(7), Uses::Host, "a\nuses processors\x1b[2J");
    assert_eq!(claim.what, "a?uses processors?[2J");
    assert_eq!(Claim::parse(&claim.text()), Some(claim));
    let measurement: Result<Measurement, _> = "+00000000000000f".parse();
    assert_eq!(measurement, Err(NoMeasurement));
}
