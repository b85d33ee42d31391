//! Runs tidy on this repository, so that plain `cargo test` refuses what breaks a rule.

use xtask::{tidy, workspace};

#[test]
fn this_repository_keeps_its_rules() {
    let report = tidy::check(&workspace::root(), &workspace::packages().unwrap()).unwrap();
    println!("{report}");
    assert!(report.findings.is_empty(), "\n{report}");
}

#[test]
fn tidy_sees_the_whole_repository() {
    let report = tidy::check(&workspace::root(), &workspace::packages().unwrap()).unwrap();
    assert!(report.files >= 40, "only {} Rust files were found", report.files);
}
