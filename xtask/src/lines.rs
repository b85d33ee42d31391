//! How many lines the product has, by crate: each is read, built and kept true by somebody, so that
//! fewer for the same are better.
//!
//! Counted are the files below `src` up to the first module for tests in them; files and modules
//! for tests alone are not. The fuzz targets are tests, and are counted apart.

use crate::tidy::{self, source::Source};
use crate::workspace;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The crate that is no part of the product.
const TESTS: &str = "fuzz";

/// Prints the table for this workspace.
pub fn print() -> Result<(), String> {
    let (sources, _) = tidy::read_all(&workspace::root())?;
    print!("{}", table(&lengths(&sources)));
    Ok(())
}

/// Lengths of the files of each crate, ascending.
fn lengths(sources: &[Source]) -> BTreeMap<String, Vec<usize>> {
    let mut all: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let left_out: BTreeSet<String> = sources.iter().flat_map(test_modules).collect();
    for source in sources {
        let Some((folder, _)) = source.path.split_once("/src/") else { continue };
        let lines = match inline_tests(source) {
            Some(first) => first - 1,
            None => source.text.lines().count(),
        };
        let module = source.path.trim_end_matches(".rs").trim_end_matches("/mod");
        let for_tests = module.match_indices('/').any(|(at, _)| left_out.contains(&module[..at]));
        let product = (1..=lines).any(|line| !source.is_test(line));
        if product && !for_tests && !left_out.contains(module) {
            let name = folder.rsplit('/').next().unwrap_or(folder);
            all.entry(name.to_owned()).or_default().push(lines);
        }
    }
    all.values_mut().for_each(|lengths| lengths.sort_unstable());
    all
}

/// Paths, without their ends, of the modules in files of their own that only tests compile.
fn test_modules(source: &Source) -> Vec<String> {
    let folder = source.path.trim_end_matches(".rs");
    let roots = ["/mod", "/lib", "/main"];
    let folder = roots.iter().find_map(|root| folder.strip_suffix(root)).unwrap_or(folder);
    let named = modules(source).filter_map(|(_, module)| module.strip_suffix(';'));
    named.map(|name| format!("{folder}/{name}")).collect()
}

/// Line of the attribute over the first module for tests that stands in the file itself.
fn inline_tests(source: &Source) -> Option<usize> {
    let (line, _) = modules(source).find(|(_, module)| module.ends_with('{'))?;
    Some((1..line).rev().find(|&before| !source.is_test(before)).map_or(1, |before| before + 1))
}

/// What follows `mod` in the lines that belong to tests.
fn modules(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let tests = source.code_lines().filter(|(number, _)| source.is_test(*number));
    tests.filter_map(|(number, line)| Some((number, line.split_once("mod ")?.1.trim_end())))
}

fn table(crates: &BTreeMap<String, Vec<usize>>) -> String {
    let mut text =
        format!("{:10}{:>8}{:>8}{:>8}{:>8}\n", "crate", "files", "lines", "median", "max");
    let mut row = |name: &str, lengths: &[usize]| {
        let median = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
        let (lines, max) = (lengths.iter().sum::<usize>(), lengths.last().copied().unwrap_or(0));
        let _ = writeln!(text, "{name:10}{:>8}{lines:>8}{median:>8}{max:>8}", lengths.len());
    };
    let product = crates.iter().filter(|(name, _)| *name != TESTS);
    product.clone().for_each(|(name, lengths)| row(name, lengths));
    let mut all: Vec<usize> = product.flat_map(|(_, lengths)| lengths.clone()).collect();
    all.sort_unstable();
    row("all", &all);
    crates.get(TESTS).into_iter().for_each(|lengths| row("(fuzz)", lengths));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_shipped_is_counted() {
        let files = [
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod made;\n#[cfg(any(unix, test))]\nmod b;\n"),
            ("crates/a/src/made.rs", "fn a() {}\n"),
            ("crates/a/src/made/more.rs", "fn a() {}\n"),
            ("crates/a/src/b/mod.rs", "// one\nmod c;\n\n#[cfg(test)]\nmod tests {\n}\n"),
            ("crates/a/src/b/tests.rs", "fn a() {}\n"),
            ("crates/a/tests/all.rs", "fn a() {}\n"),
            ("crates/fuzz/src/lib.rs", "fn a() {}\n"),
            ("xtask/src/main.rs", "fn main() {\n}\n"),
        ];
        let sources = files.map(|(path, text)| Source::new(path, text));
        let found = lengths(&sources);
        assert_eq!(found["a"], [3, 4]);
        assert_eq!((&found["fuzz"][..], &found["xtask"][..]), (&[1][..], &[2][..]));
        let expected = "crate        files   lines  median     max\n\
                        a                2       7       4       4\n\
                        xtask            1       2       2       2\n\
                        all              3       9       3       4\n\
                        (fuzz)           1       1       1       1\n";
        assert_eq!(table(&found), expected);
    }
}
