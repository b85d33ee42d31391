//! A run that rests between its rounds.

use super::*;
use v6gap_engine::run::Course;

/// Another server for each round: what is measured is that of one run. Who stops between two rounds
/// is heard, and nothing more is measured.
#[test]
fn a_run_rests_between_its_rounds_and_goes_on_over_another_connection() {
    for stopped_after in [None, Some(1)] {
        let header = header(plan(2));
        let stop = AtomicBool::new(false);
        let lines = vec![Line::Run(Box::new(header.clone()))];
        let mut machine = resumed(&header, &lines);
        let mut memory = Memory {
            lines: lines.clone(),
            blocks: 0,
            stop_after: usize::MAX,
            stop: &stop,
            rounds: 0,
        };
        let mut rests = 0_u32;
        let ending = loop {
            let server_stop = AtomicBool::new(false);
            let told = memory.trials().len();
            let course = served(&server_stop, |addresses| {
                let (mut connection, context) = connect(addresses);
                run::run_round(&mut machine, &mut connection, &context, &mut memory, &stop)
            });
            let rounds: Vec<u32> = memory.trials()[told..].iter().map(|t| t.round).collect();
            match course.unwrap() {
                // The null blocks come first, in four parts.
                Course::RoundOver => {
                    assert_eq!(rounds[..], vec![rests.saturating_sub(3); rounds.len()]);
                }
                Course::Over(ending) => break ending,
            }
            assert!(!rounds.is_empty());
            rests += 1;
            stop.store(stopped_after == Some(rests), Ordering::Relaxed);
        };
        match stopped_after {
            None => {
                assert_eq!(ending, Ending::Complete);
                // After each part of the null blocks and after each round but the last one.
                assert_eq!(rests, memory.rounds + 3);
                assert_measured(&header.plan, &memory);
            }
            Some(_) => {
                assert_eq!((ending, memory.rounds), (Ending::Stopped, 0));
                assert!(memory.trials().iter().all(|trial| trial.round == 0));
            }
        }
    }
}
