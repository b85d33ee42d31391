//! Problems in a plan file, each with its line, the place in it, and what may be meant.

use v6gap_store::PlanProblem;

/// The first line of the error, and everything below it: all problems, each with its place.
pub fn problems(path: &str, text: &str, problems: &[PlanProblem]) -> (String, String) {
    let mut blocks = problems.iter().map(|problem| {
        let title = format!("{path}, line {}: {}", problem.line, problem.what);
        (title, excerpt(text, problem))
    });
    let Some((what, mut rest)) = blocks.next() else {
        return (format!("{path} is not a plan"), String::new());
    };
    for (title, excerpt) in blocks {
        rest.push_str(&format!("\nerror: {title}\n{excerpt}"));
    }
    (what, rest)
}

/// The line before, the line itself, and carets below the place.
fn excerpt(text: &str, problem: &PlanProblem) -> String {
    let help = problem.help.as_deref().unwrap_or_default();
    let Some((start, line)) = line_at(text, problem.line) else {
        return String::new();
    };
    if problem.span.is_empty() {
        // The problem is about something that is missing, which has no place.
        return if help.is_empty() { String::new() } else { format!("      {help}") };
    }
    let width = problem.line.to_string().len().max(2);
    let mut out = String::new();
    if let Some((_, before)) = problem.line.checked_sub(1).and_then(|n| line_at(text, n)) {
        out.push_str(&format!("   {:>width$} | {}\n", problem.line - 1, before));
    }
    out.push_str(&format!("   {:>width$} | {}\n", problem.line, line));
    let columns = |from: usize, to: usize| {
        text.get(from..to.min(start + line.len())).map_or(0, |part| part.chars().count())
    };
    let indent = " ".repeat(columns(start, problem.span.start));
    let carets = "^".repeat(columns(problem.span.start, problem.span.end).max(1));
    out.push_str(&format!("   {:width$} | {indent}{carets} {help}", ""));
    out.trim_end().to_owned()
}

/// Where line `number` (from 1) begins, and the line without its end.
fn line_at(text: &str, number: usize) -> Option<(usize, &str)> {
    let mut start = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if index + 1 == number {
            return Some((start, line.trim_end_matches(['\n', '\r'])));
        }
        start += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "v6gap = 1\nmetric  = \"rtt\"\nmesage  = [\"64 B\"]\n";

    fn problem(span: std::ops::Range<usize>, line: usize) -> PlanProblem {
        let help = Some("did you mean \"message\"?".to_owned());
        PlanProblem { span, line, what: "unknown key \"mesage\"".to_owned(), help }
    }

    #[test]
    fn the_place_is_shown_with_the_line_before() {
        let start = TEXT.find("mesage").unwrap();
        let (what, rest) = problems("my.toml", TEXT, &[problem(start..start + 6, 3)]);
        assert_eq!(what, "my.toml, line 3: unknown key \"mesage\"");
        let expected = [
            "    2 | metric  = \"rtt\"",
            "    3 | mesage  = [\"64 B\"]",
            "      | ^^^^^^ did you mean \"message\"?",
        ];
        assert_eq!(rest.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn odd_places_do_no_harm() {
        for (span, line) in [(0..0, 1), (0..9999, 1), (9999..9999, 77), (3..5, 0)] {
            let (what, _) = problems("my.toml", TEXT, &[problem(span, line)]);
            assert!(what.starts_with("my.toml"));
        }
        assert_eq!(problems("my.toml", "", &[]).0, "my.toml is not a plan");
    }
}
