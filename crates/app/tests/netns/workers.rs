//! In a lab each end's workers are in its own network.

use super::support::{Home, told};
use serde_json::Value;
use std::collections::BTreeSet;

/// Each round of a lab has workers of its own, and each of them measures from its own node: the two
/// ends' addresses are of different hosts.
pub fn measure_inside() {
    let home = Home::new("workers");
    // Links without a rate are not tested first, which takes long on a busy machine.
    let measure = ["--measure", "connect,rtt,tcp", "--pairs", "6"];
    let ran = home.v6gap(&[&["demo", "--model", "bare", "-q"], &measure[..]].concat());
    // The machine may spoil the figures, which are not looked at.
    assert!(matches!(ran.status.code(), Some(0 | 6)), "{}", told(&ran));
    let run = std::fs::read_dir(home.path().join("runs")).unwrap().next().unwrap().unwrap();
    let journal = std::fs::read_to_string(run.path().join("journal.jsonl")).unwrap();
    let lines = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let (mut drawn, mut rounds) = (BTreeSet::new(), BTreeSet::new());
    for trial in lines.filter(|line| line["line"] == "trial") {
        let ends = [&trial["ends"]["client"], &trial["ends"]["server"]["seen"]];
        let numbers = ends.map(|end| end["process"].as_u64().expect("a worker measured"));
        let hosts = ends.map(|end| end["endpoints"]["local"].as_str().unwrap().to_owned());
        assert_ne!(hosts[0].rsplit_once(':').unwrap().0, hosts[1].rsplit_once(':').unwrap().0);
        drawn.insert(numbers);
        // Before the first comparison each block has its own.
        if trial["round"] != 0 {
            rounds.insert((trial["round"].as_u64(), numbers));
        }
    }
    let numbers: BTreeSet<u64> = drawn.iter().flatten().copied().collect();
    assert_eq!(numbers.len(), 2 * drawn.len(), "each is of one end and one draw: {drawn:?}");
    let of_rounds: BTreeSet<Option<u64>> = rounds.iter().map(|(round, _)| *round).collect();
    assert_eq!(of_rounds.len(), rounds.len(), "a round has one draw: {rounds:?}");
    assert!(of_rounds.len() >= 3 && drawn.len() > of_rounds.len(), "{drawn:?}");
}
