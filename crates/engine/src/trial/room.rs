//! Whether this host has the memory that a task takes, asked before any of it is taken: an
//! allocation that fails ends the process, and where threads measure the server with everybody's
//! session.

use super::{Kind, TrialError};
use std::hint::black_box;
use v6gap_core::task::Task;
use v6gap_core::unit::format_bytes;
use v6gap_sys::Unavailable;

/// Refuses a task that would take more memory than there is.
pub(super) fn check(task: &Task) -> Result<(), TrialError> {
    let bytes = task.workload.notes_bytes().saturating_mul(task.arms.len() as u64);
    let mut room: Vec<u8> = Vec::new();
    let found = room.try_reserve_exact(usize::try_from(bytes).unwrap_or(usize::MAX));
    // Room that nobody looks at need not be asked for.
    black_box(&room);
    found.map_err(|_| {
        let why = format!("it takes up to {}, and the system gives less", format_bytes(bytes));
        let missing = Unavailable::new("memory for this task", why);
        TrialError::of_host(Kind::Unavailable, missing.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::arm::Arm;
    use v6gap_core::arm::TurnOrder;
    use v6gap_core::family::Family;
    use v6gap_core::task::{TaskArm, Token, native};
    use v6gap_core::workload::Echo;
    use v6gap_core::workload::Workload;

    #[test]
    fn more_than_any_host_has_is_refused_in_words() {
        let echo = Echo { turns: u32::MAX, turn_exchanges: u32::MAX, ..Echo::default() };
        let task = |echo| Task {
            number: 1,
            workload: Workload::Echo(echo),
            arms: vec![TaskArm { arm: Arm::A, family: Family::V4 }],
            order: TurnOrder::Ab,
            seed: 0,
            token: Token([0; 16]),
            arrives: native(),
            draw: None,
        };
        let refused = check(&task(echo)).unwrap_err();
        assert!(refused.to_string().contains("memory for this task unavailable"), "{refused}");
        assert_eq!((refused.family(), refused.is_lasting()), (None, true));
        check(&task(Echo::default())).unwrap();
    }
}
