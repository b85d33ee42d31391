//! The command that measured a run, for whoever wants to measure so again, or otherwise in one
//! thing.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use v6gap_core::record::RunHeader;
use v6gap_core::via::words::quoted;
use v6gap_core::wire::foreign::is_unsafe;

/// Commands that take all options of a measurement.
const MEASURING: [&str; 2] = ["run", "demo"];

/// What was typed, as a shell reads it; `None` where that is not known, where a terminal would act
/// on it, or where the plan came from standard input and is gone.
pub fn typed(run: &RunHeader) -> Option<String> {
    let (program, words) = run.argv.split_first()?;
    let is_gone = |word: &String| word == "-" || word.chars().any(is_unsafe);
    if program != "v6gap" || words.iter().any(is_gone) {
        return None;
    }
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    Some(format!("v6gap {}", words.join(" ")))
}

/// A command that measures between the same hosts or in the same lab, and takes more options.
pub fn command(run: &RunHeader) -> String {
    let measures = run.argv.get(1).is_some_and(|word| MEASURING.contains(&word.as_str()));
    let where_to = if run.plan.world.is_some() { "--lab FILE" } else { &run.target };
    typed(run).filter(|_| measures).unwrap_or_else(|| format!("v6gap run {where_to}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::plan;
    use alloc::string::ToString;
    use v6gap_core::arm::PerArm;
    use v6gap_core::plan::preset;
    use v6gap_core::record::RunId;

    fn said(words: &[&str], in_lab: bool) -> String {
        let mut plan = plan(PerArm::FAMILIES, 1);
        plan.parts_mut().world = in_lab.then(preset::demo_world);
        let mut run = RunHeader::new(RunId::from_bits(0), plan);
        run.target = "lab-b".to_string();
        run.argv = words.iter().map(|word| word.to_string()).collect();
        command(&run)
    }

    /// The node of a lab is no host that anybody could name.
    #[test]
    fn tests_are_made_where_it_was_measured() {
        let demo = ["v6gap", "demo", "--rate", "1G", "--label", "it's"];
        assert_eq!(said(&demo, true), r"v6gap demo --rate 1G --label 'it'\''s'");
        assert_eq!(said(&["v6gap", "plan", "run", "goyal-ping"], true), "v6gap run --lab FILE");
        assert_eq!(said(&["v6gap", "plan", "run", "x.toml"], false), "v6gap run lab-b");
        assert_eq!(said(&[], false), "v6gap run lab-b");
        assert_eq!(said(&["v6gap", "run", "x\u{1b}"], false), "v6gap run lab-b");
    }
}
