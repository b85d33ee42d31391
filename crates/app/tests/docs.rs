//! Commands in the documentation are commands of the program: each `v6gap …` in a console block of
//! README.md is given to the program's own parser.

// The module is shared with the program, which uses the rest of it.
#[allow(dead_code, unused_imports, reason = "only the parser is used here")]
#[path = "../src/args/mod.rs"]
mod args;

use args::{Cli, Typed, normalise};
use clap::Parser;
use std::path::Path;

/// Words of a command line: split at blanks, quotes kept together, comments cut off.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '#') if word.is_empty() => break,
            (None, c) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            (_, c) => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Commands in the console blocks of a document, with or without `$ ` before them.
fn commands(document: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in document.lines() {
        if let Some(kind) = line.trim_start().strip_prefix("```") {
            inside = !inside && ["console", "sh", "shell", "bash"].contains(&kind.trim());
            continue;
        }
        let command = line.trim_start();
        let command = command.strip_prefix("$ ").unwrap_or(command);
        let command = command.strip_prefix("cargo run --release -- ").map_or_else(
            || command.strip_prefix("v6gap ").map(str::to_owned),
            |rest| Some(rest.to_owned()),
        );
        if let (true, Some(command)) = (inside, command) {
            let end = ["|", ">", "&&", "&", ";"];
            let words = words(&command);
            let count = words.iter().position(|word| end.contains(&word.as_str()));
            found.push(words[..count.unwrap_or(words.len())].join("\u{0}"));
        }
    }
    found
}

#[test]
fn commands_are_found_where_they_are_shown() {
    let document = "x\n```console\n$ v6gap lab-b --for 10min   # why\nv6gap 0.1.0 ok | less\n```\n\
                    v6gap not this\n```rust\nv6gap nor this\n```\n";
    assert_eq!(commands(document), ["lab-b\u{0}--for\u{0}10min", "0.1.0\u{0}ok"]);
}

#[test]
fn every_command_in_the_readme_is_understood() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("README.md shows the first commands; {error}"));
    let commands = commands(&text);
    assert!(!commands.is_empty(), "README.md shows no command in a console block");
    for command in commands {
        let typed: Vec<String> = command.split('\u{0}').map(str::to_owned).collect();
        let full = match normalise(&typed) {
            Typed::Verb(full) | Typed::Implied(full, _) => full,
            Typed::Nothing | Typed::ShortHelp => continue,
        };
        let parsed = Cli::try_parse_from(std::iter::once("v6gap".to_owned()).chain(full));
        if let Err(error) = parsed {
            let shown = !error.use_stderr();
            assert!(shown, "README.md: v6gap {}: {error}", typed.join(" "));
        }
    }
}

/// The document of traps names a test for each; a renamed or deleted one must not stay in it.
#[test]
fn every_test_named_in_the_document_of_traps_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("docs/traps.md")).unwrap();
    let mut found = 0;
    for line in text.lines().filter(|line| line.contains("`crates/")) {
        let names: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        let [.., file, test] = names.as_slice() else { panic!("{line}") };
        let code =
            std::fs::read_to_string(root.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert!(
            code.contains(&format!("fn {test}(")) || code.contains(&format!("\"{test}\"")),
            "{file}: {test}"
        );
        found += 1;
    }
    assert!(found > 10, "docs/traps.md names its tests");
}
