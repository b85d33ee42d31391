//! How often suites of level 5 try a check, in one place for all of them.

/// Up to three times where it judges measured figures or waits for other programs: a machine whose
/// processors are taken away for a second gives other figures, and programs are late. Once where it
/// judges what the program does, and in the full form (`V6GAP_VALIDATE=full`), which is reported.
pub fn tries(judges_figures: bool) -> usize {
    let full = std::env::var("V6GAP_VALIDATE").is_ok_and(|form| form == "full");
    if judges_figures && !full { 3 } else { 1 }
}
