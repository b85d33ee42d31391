//! The two tiers of the suites of level 5, in one place for all of them: what everybody waits for
//! (`cargo xtask test --setup`) and what needs a quiet night (`cargo xtask truth`).

/// What a check judges, which says how often it is tried in which tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judges {
    /// What the program does: once is enough to condemn it.
    Conduct,
    /// What it measured, for one claim about figures, or something that waits for other programs: a
    /// machine whose processors are taken away for a second gives other figures, and programs are
    /// late, so it is tried up to three times.
    Witness,
    /// What it measured, at length: for the night alone, unless it is named.
    Figures,
}

/// Whether this is the night, which leaves nothing out, takes the bounds that are reported, and
/// tries everything once.
pub fn is_night() -> bool {
    std::env::var("V6GAP_FULL").is_ok_and(|form| form == "1")
}

/// How often a check is tried at most; 0 if it waits for the night. `named` says whether it was
/// asked for by name.
pub fn tries(judges: Judges, named: bool) -> usize {
    match judges {
        _ if is_night() => 1,
        Judges::Conduct => 1,
        Judges::Witness => 3,
        Judges::Figures => 3 * usize::from(named),
    }
}
