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
//! Arguments choose attacks by a part of their name. Where namespaces are refused it says
//! `SKIPPED`.

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
mod tier;
mod turns;
mod vanish;
mod verdict;

use field::Field;
use std::process::ExitCode;
use tier::Tier::{Day, Night, Witness};
use verdict::{Expected, Findings};

/// How an attack is made.
type Attack = fn(&Field) -> Findings;

const ATTACKS: [tier::Scenario<Attack>; 20] = [
    ("floods_of_victims", flood::of_victims, Day(120)),
    ("loops_of_answers", loops::of_answers, Day(120)),
    ("reflection_to_victims", reflect::to_victims, Day(120)),
    ("relay_of_payload", reflect::of_payload, Day(120)),
    ("an_empty_key", keys::empty, Day(120)),
    ("an_unknown_key", keys::unknown, Witness(120)),
    ("first_messages_replayed", keys::replayed, Witness(120)),
    ("crowds_shut_out", crowd::shuts_out, Witness(120)),
    ("names_fill_memory", names::fill_memory, Witness(120)),
    ("names_drive_terminals", names::drive_terminals, Day(120)),
    ("tasks_beyond_limits", turns::beyond_limits, Day(120)),
    ("a_queue_filled", turns::queue_filled, Day(120)),
    ("a_turn_kept_by_questions", turns::kept_by_questions, Night(300)),
    ("a_turn_kept_by_the_vanished", vanish::keeps_the_turn, Witness(120)),
    ("a_stalled_log", logs::stalled, Witness(120)),
    ("a_flooded_log", logs::flooded, Day(120)),
    ("a_processor_kept_busy", odds::spin, Witness(120)),
    ("connections_uncollected", odds::uncollected, Witness(120)),
    ("facts_of_the_host", odds::facts, Day(120)),
    ("hostile_servers", hostile::servers, Day(120)),
];

fn main() -> ExitCode {
    if let Some(code) = tier::refused() {
        return code;
    }
    v6gap_sys::netns::enter_user_namespace().expect("the probe succeeded");
    let expected = Expected::told();
    let field = Field::build();
    tier::ended(tier::run(&ATTACKS, |attack| match attack(&field).are(expected) {
        true => Ok(String::new()),
        false => Err("not as expected".to_owned()),
    }))
}
