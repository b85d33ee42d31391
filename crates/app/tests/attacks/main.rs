//! Attacks on the real program, over real sockets in network namespaces: each must fail.
//!
//! The attacker is this suite's own: its control connections, its datagrams with forged sources and
//! its hostile server use nothing of the program. What a victim's interface counts is what was done
//! to it. Each attack speaks both dialects of the protocol, so that it can be seen to succeed where
//! there is no defence:
//!
//! | Variable | Means |
//! |---|---|
//! | `V6GAP_ATTACKED=PATH` | the program under attack, in place of the one just built |
//! | `V6GAP_EXPECT=harm` | every attack must succeed, as against a program of protocol 1 |
//! | `V6GAP_FULL=1` | all of it at full length, as at night; otherwise what is quick |
//!
//! Arguments filter attacks by name. Where namespaces are refused it says `SKIPPED`.

mod attacked;
mod crowd;
mod field;
mod flood;
mod forge;
mod hostile;
mod keys;
mod logs;
mod loops;
mod names;
mod odds;
mod reflect;
#[path = "../netns/support.rs"]
#[expect(dead_code, reason = "what reads results is for suites that measure")]
mod support;
mod talk;
mod tasks;
#[path = "../../../lab/tests/namespaces/tier.rs"]
#[expect(dead_code, reason = "what is judged here fails by panicking")]
mod tier;
mod turns;
mod vanish;
mod verdict;

use field::Field;
use std::process::ExitCode;
use std::time::Instant;
use tier::{Judges, tries};
use verdict::{Expected, Findings};

use Judges::{Conduct, Figures, Witness};

/// An attack: its name, how it is made and what it judges.
type Attack = (&'static str, fn(&Field) -> Findings, Judges);

const ATTACKS: [Attack; 20] = [
    ("floods_of_victims", flood::of_victims, Conduct),
    ("loops_of_answers", loops::of_answers, Conduct),
    ("reflection_to_victims", reflect::to_victims, Conduct),
    ("relay_of_payload", reflect::of_payload, Conduct),
    ("an_empty_key", keys::empty, Conduct),
    ("an_unknown_key", keys::unknown, Witness),
    ("first_messages_replayed", keys::replayed, Witness),
    ("crowds_shut_out", crowd::shuts_out, Witness),
    ("names_fill_memory", names::fill_memory, Witness),
    ("names_drive_terminals", names::drive_terminals, Conduct),
    ("tasks_beyond_limits", turns::beyond_limits, Conduct),
    ("a_queue_filled", turns::queue_filled, Conduct),
    ("a_turn_kept_by_questions", turns::kept_by_questions, Figures),
    ("a_turn_kept_by_the_vanished", vanish::keeps_the_turn, Witness),
    ("a_stalled_log", logs::stalled, Witness),
    ("a_flooded_log", logs::flooded, Conduct),
    ("a_processor_kept_busy", odds::spin, Witness),
    ("connections_uncollected", odds::uncollected, Witness),
    ("facts_of_the_host", odds::facts, Conduct),
    ("hostile_servers", hostile::servers, Conduct),
];

fn main() -> ExitCode {
    if let Some(code) = tier::refused() {
        return code;
    }
    v6gap_sys::netns::enter_user_namespace().expect("the probe succeeded");
    let filters: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let named = !filters.is_empty();
    let wanted = |name: &str| !named || filters.iter().any(|f| name.contains(f.as_str()));
    let expected = Expected::told();
    let field = Field::build();
    let mut failed = 0;
    for (name, attack, judges) in ATTACKS.into_iter().filter(|(name, ..)| wanted(name)) {
        let tries = match expected {
            Expected::Held => tries(judges, named),
            // What fails to do harm is not looked at again until it does.
            Expected::Harm => 1,
        };
        if tries == 0 {
            continue;
        }
        println!("attack {name} …");
        let start = Instant::now();
        let good = (1..=tries).any(|_| is_as_expected(&field, attack, expected));
        let word = if good { "ok" } else { "FAILED" };
        println!("attack {name} {word} ({:.1} s)", start.elapsed().as_secs_f64());
        failed += usize::from(!good);
    }
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn is_as_expected(field: &Field, attack: fn(&Field) -> Findings, expected: Expected) -> bool {
    let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| attack(field)));
    made.is_ok_and(|findings| findings.are(expected))
}
