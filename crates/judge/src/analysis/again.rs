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

/// What a run was measured with, as far as it decides whether pairs can be added later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum With {
    /// A lab, which can be made again.
    Lab,
    /// A server of this program on another host, which can be asked again.
    Server,
    /// A server that ended with the run.
    Loopback,
    /// Hosts that were reached by ssh, on which no server stays.
    Ssh,
    /// A host that does not run this program, or a server of another tool.
    Stranger,
}

/// What `run` was measured with.
pub fn with(run: &RunHeader) -> With {
    let typed = |option: &str| run.argv.iter().any(|word| word.split('=').next() == Some(option));
    if typed("--via") {
        With::Ssh
    } else if run.plan.world.is_some() {
        With::Lab
    } else if run.session.seen().is_none() {
        With::Stranger
    } else if run.argv.get(1).is_some_and(|verb| verb == "demo") {
        With::Loopback
    } else {
        With::Server
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::plan;
    use alloc::string::ToString;
    use v6gap_core::arm::PerArm;
    use v6gap_core::family::Family;
    use v6gap_core::observation::Far;
    use v6gap_core::plan::preset;
    use v6gap_core::record::{RunId, Session};

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

    #[test]
    fn what_a_run_was_measured_with_is_known_by_its_facts() {
        let found = |line: &str, in_lab: bool, session: Far<Session>| {
            let mut plan = plan(PerArm::FAMILIES, 1);
            plan.parts_mut().world = in_lab.then(preset::demo_world);
            let mut run = RunHeader { session, ..RunHeader::new(RunId::from_bits(0), plan) };
            run.argv = line.split(' ').map(ToString::to_string).collect();
            with(&run)
        };
        let ours = || Far::Seen(Session { protocol: 1, control: Family::V6, limits: None });
        let strange = || Far::NotSeen("it is a web server".to_string());
        assert_eq!(found("v6gap run lab-b", false, ours()), With::Server);
        assert_eq!(found("v6gap demo", true, ours()), With::Lab);
        assert_eq!(found("v6gap demo", false, ours()), With::Loopback);
        assert_eq!(found("v6gap run --via=ssh --to b", false, ours()), With::Ssh);
        assert_eq!(found("v6gap probe lab-b", false, strange()), With::Stranger);
        assert_eq!(found("v6gap run b --against stamp", false, strange()), With::Stranger);
    }
}
