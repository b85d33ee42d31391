//! Plays every stored input of every target: what a fuzzer found once stays found.

use std::path::{Path, PathBuf};
use v6gap_fuzz::ALL;

/// Largest corpus of all, in bytes: it is part of the repository.
const CORPUS_BYTES_MAX: u64 = 2_000_000;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// The inputs below a folder, in order.
fn inputs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut inputs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    inputs.sort();
    inputs
}

#[test]
fn every_stored_input_keeps_every_oracle() {
    let mut broken = Vec::new();
    for target in ALL {
        let inputs = inputs(&corpus().join(target.name));
        assert!(!inputs.is_empty(), "{} has no corpus", target.name);
        for path in &inputs {
            let data = std::fs::read(path).unwrap();
            if std::panic::catch_unwind(|| (target.run)(&data)).is_err() {
                broken.push(path.display().to_string());
            }
        }
        println!("{:16} {:5} inputs", target.name, inputs.len());
    }
    assert!(broken.is_empty(), "these break an oracle:\n{}", broken.join("\n"));
}

/// The empty input, and the shortest ones, are inputs too.
#[test]
fn short_inputs_keep_every_oracle() {
    for target in ALL {
        (target.run)(&[]);
        // A page takes a tenth of a second without optimisation.
        let step = if target.name == "analyse_report" { 64 } else { 7 };
        for byte in (0..=255).step_by(step) {
            (target.run)(&[byte]);
            (target.run)(&[byte; 40]);
        }
    }
}

#[test]
fn the_corpora_belong_to_targets_and_are_small() {
    let mut bytes = 0;
    for folder in inputs(&corpus()) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        assert!(v6gap_fuzz::find(&name).is_some(), "no target is called {name}");
        let sizes = inputs(&folder).into_iter().map(|path| path.metadata().unwrap().len());
        bytes += sizes.sum::<u64>();
    }
    assert!(bytes < CORPUS_BYTES_MAX, "{bytes} bytes of corpora");
}
