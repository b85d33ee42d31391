//! Sentences about results are made in `report` alone: what the judge gives is values, which every
//! form words alike and a reader of JSON need not take apart.

use super::Finding;
use super::source::Source;

/// Where no sentences are made.
const SILENT: &str = "crates/judge/src/";

/// So many words in one literal are a sentence or a part of one.
const WORDS: usize = 3;

/// Files that still make some. The list only becomes shorter: a file without any has to leave it.
/// What gates see stands in the record as words, so those stay until the record has values.
const NOT_YET: [&str; 27] = [
    "analysis/beside.rs",
    "analysis/checks.rs",
    "analysis/compare/change.rs",
    "analysis/compare/set_up.rs",
    "analysis/compare/words.rs",
    "analysis/costmodel/carry.rs",
    "analysis/costmodel/fit.rs",
    "analysis/diagnostics.rs",
    "analysis/limited.rs",
    "analysis/links.rs",
    "analysis/mod.rs",
    "analysis/offloads.rs",
    "analysis/placement.rs",
    "analysis/questions.rs",
    "analysis/routes.rs",
    "analysis/sizes.rs",
    "analysis/suspects.rs",
    "analysis/windows.rs",
    "analysis/words.rs",
    "fitness/facts.rs",
    "fitness/noise.rs",
    "fitness/watched.rs",
    "gate/family.rs",
    "gate/host.rs",
    "gate/marking.rs",
    "gate/mod.rs",
    "gate/path.rs",
];

/// Finds literals that read like sentences, and files that need no exception any more.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    judge(sources, &NOT_YET)
}

fn judge(sources: &[Source], not_yet: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut speaking = Vec::new();
    for source in sources.iter().filter(|source| source.path.starts_with(SILENT)) {
        let said: Vec<usize> = sentences(source).collect();
        match not_yet.iter().find(|path| source.path[SILENT.len()..] == ***path) {
            Some(path) if !said.is_empty() => speaking.push(*path),
            _ => findings.extend(said.into_iter().map(|line| {
                let message = "a sentence in the judge: give values, and word them in report";
                Finding::new(&source.path, line, message)
            })),
        }
    }
    let clean = not_yet.iter().filter(|path| !sources.is_empty() && !speaking.contains(path));
    findings.extend(clean.map(|path| {
        let message = "makes no sentences any more: take it from the list in tidy/sentences.rs";
        Finding::new(&format!("{SILENT}{path}"), 0, message)
    }));
    findings
}

/// The lines of literals that read like sentences, but for what is said when the code is wrong and
/// for errors.
fn sentences(source: &Source) -> impl Iterator<Item = usize> {
    let lines: Vec<&str> = source.text.lines().collect();
    let about_code = move |line: usize| {
        let before = line.checked_sub(2).and_then(|i| lines.get(i)).copied().unwrap_or_default();
        let here = lines.get(line - 1).copied().unwrap_or_default();
        let marks = ["#[error(", ".expect(", "reason = ", "assert"];
        marks.iter().any(|mark| here.contains(mark))
            || marks.iter().any(|mark| before.trim_end().ends_with(mark))
    };
    let literals = source.strings.iter().filter(|(line, _)| !source.is_test(*line));
    literals
        .filter(|(_, text)| words(text) >= WORDS)
        .map(|(line, _)| *line)
        .filter(move |line| !about_code(*line))
}

/// Words of a literal; a placeholder is none, and neither is what ends a line of code.
fn words(text: &str) -> usize {
    let is_word = |word: &&str| word.chars().any(char::is_alphabetic) && !word.starts_with('{');
    text.split_whitespace().filter(is_word).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str, not_yet: &[&str]) -> Vec<usize> {
        let sources = [Source::new(path, text)];
        judge(&sources, not_yet).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_sentence_in_the_judge_is_found() {
        let judge = "crates/judge/src/a.rs";
        let says = "fn a() -> &'static str {\n    \"only {n} valid pairs\"\n}\n";
        assert_eq!(found(judge, says, &[]), [2]);
        assert!(found("crates/report/src/a.rs", says, &[]).is_empty());
        assert!(found("crates/judge/tests/a.rs", says, &[]).is_empty());
        for silent in [
            "fn a() -> &'static str {\n    \"path-mtu\"\n}\n",
            "fn a() -> &'static str {\n    \"{a} {b} {c} of\"\n}\n",
            "#[error(\"the journal holds two runs\")]\nstruct A;\n",
            "#[error(\n    \"the journal holds two runs\"\n)]\nstruct A;\n",
            "fn a() { b().expect(\"a sample is never empty\") }\n",
            "// \"the journal holds two runs\"\n",
            "#[cfg(test)]\nmod tests {\n    const A: &str = \"only three valid pairs\";\n}\n",
        ] {
            assert!(found(judge, silent, &[]).is_empty(), "{silent}");
        }
    }

    #[test]
    fn an_exception_that_nothing_needs_is_found() {
        let (judge, says) = ("crates/judge/src/a.rs", "const A: &str = \"no valid pair\";\n");
        assert!(found(judge, says, &["a.rs"]).is_empty());
        assert_eq!(found(judge, "const A: u8 = 1;\n", &["a.rs"]), [0]);
        assert_eq!(found(judge, says, &["a.rs", "gone.rs"]), [0]);
    }
}
