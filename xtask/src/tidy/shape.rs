//! The shape of a file: it opens with its purpose, fits in a head, and its functions fit a screen.

use super::Finding;
use super::source::Source;

/// Longest file, in lines.
const FILE_LINES_MAX: usize = 600;
/// Longest function, in lines from `fn` to its closing brace.
const FUNCTION_LINES_MAX: usize = 70;
/// Longest line, in characters.
const COLUMNS_MAX: usize = 100;

/// What a crate begins with: the bans of clippy.toml hold for the product and not for its tests.
const BANS: &str =
    "#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]";

/// Checks one file.
pub fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |line, message: String| findings.push(Finding::new(&source.path, line, message));
    if !source.text.starts_with("//!") {
        add(1, "opens without a `//!` comment that says what the file is for".to_owned());
    }
    let lines = source.text.lines().count();
    if lines > FILE_LINES_MAX {
        add(0, format!("{lines} lines; at most {FILE_LINES_MAX}"));
    }
    for (i, line) in source.text.lines().enumerate() {
        let columns = line.chars().count();
        if columns > COLUMNS_MAX {
            add(i + 1, format!("{columns} columns; at most {COLUMNS_MAX}"));
        }
    }
    let root = ["/src/lib.rs", "/src/main.rs"].iter().any(|end| source.path.ends_with(end));
    if root && !source.text.lines().any(|line| line == BANS) {
        add(1, format!("the root of a crate says {BANS}"));
    }
    for f in source.functions() {
        let lines = f.last - f.first + 1;
        if lines > FUNCTION_LINES_MAX {
            let name = f.name;
            add(
                f.first,
                format!("function {name} has {lines} lines; at most {FUNCTION_LINES_MAX}"),
            );
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(text: &str) -> Vec<usize> {
        check(&Source::new("x.rs", text)).into_iter().map(|f| f.line).collect()
    }

    #[test]
    fn a_file_opens_with_its_purpose() {
        assert_eq!(lines_of("//! Why.\nfn a() {}\n"), [0_usize; 0]);
        assert_eq!(lines_of("// What.\nfn a() {}\n"), [1]);
        assert_eq!(lines_of("\n//! Late.\n"), [1]);
        assert_eq!(lines_of(""), [1]);
    }

    #[test]
    fn the_root_of_a_crate_bans_what_clippy_toml_names() {
        let found = |path, text: &str| check(&Source::new(path, text)).len();
        assert_eq!(found("crates/core/src/lib.rs", "//! Why.\n"), 1);
        assert_eq!(found("crates/core/src/lib.rs", &format!("//! Why.\n{BANS}\n")), 0);
        assert_eq!(found("crates/core/src/plan/mod.rs", "//! Why.\n"), 0);
    }

    #[test]
    fn a_file_has_at_most_600_lines() {
        let file = |lines: usize| format!("//! Why.\n{}", "\n".repeat(lines - 1));
        assert!(lines_of(&file(600)).is_empty());
        assert_eq!(lines_of(&file(601)), [0]);
    }

    #[test]
    fn a_line_has_at_most_100_characters() {
        let line = |n: usize| format!("//! Why.\n//{}\n", "é".repeat(n - 2));
        assert!(lines_of(&line(100)).is_empty());
        assert_eq!(lines_of(&line(101)), [2]);
    }

    #[test]
    fn a_function_has_at_most_70_lines() {
        let function =
            |n: usize| format!("//! Why.\n\nfn a() {{\n{}}}\n", "    b();\n".repeat(n - 2));
        assert!(lines_of(&function(70)).is_empty());
        assert_eq!(lines_of(&function(71)), [3]);
        let in_tests =
            format!("//! Why.\n#[cfg(test)]\nmod t {{\nfn a() {{\n{}}}\n}}\n", "\n".repeat(69));
        assert_eq!(lines_of(&in_tests), [4]);
    }
}
