//! A match on workloads or on metrics names all of them: an arm for "all others" would say of a new
//! one what nobody decided.

use super::Finding;
use super::source::Source;

/// What is never matched with an arm for all others.
const NAMED: [&str; 2] = ["Workload::", "Metric::"];

/// Finds arms for all others.
pub fn check(source: &Source) -> Vec<Finding> {
    let code = source.code.as_str();
    let mut findings = Vec::new();
    for (at, _) in code.match_indices("match ") {
        let line = code[..at].matches('\n').count() + 1;
        let is_word = code[..at].ends_with(|c: char| c == '_' || c.is_alphanumeric());
        if is_word || source.is_test(line) {
            continue;
        }
        let patterns = patterns(&code[at..]);
        let named = |p: &&&str| NAMED.iter().any(|kind| p.contains(kind));
        if patterns.iter().any(|p| named(&p)) && patterns.iter().any(|p| is_any(p)) {
            let message = "an arm for all other workloads or metrics; name them";
            findings.push(Finding::new(&source.path, line, message));
        }
    }
    findings
}

/// Whether a pattern fits everything.
fn is_any(pattern: &str) -> bool {
    let pattern = pattern.split(" if ").next().unwrap_or(pattern).trim();
    let is_name = |c: char| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit();
    !pattern.is_empty() && pattern.chars().all(is_name) && !["true", "false"].contains(&pattern)
}

/// The patterns of the match that `code` begins with.
fn patterns(code: &str) -> Vec<&str> {
    let Some(open) = code.find('{') else { return Vec::new() };
    let (mut found, mut depth, mut start, mut in_arm) = (Vec::new(), 0_u32, open + 1, false);
    for (i, c) in code.char_indices().skip_while(|(i, _)| *i < open) {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
                // A block ends its arm without a comma.
                if c == '}' && depth == 1 && in_arm {
                    (start, in_arm) = (i + 1, false);
                }
            }
            ',' if depth == 1 => (start, in_arm) = (i + 1, false),
            '=' if depth == 1 && !in_arm && code[i..].starts_with("=>") => {
                found.push(code[start..i].trim());
                in_arm = true;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&Source::new("crates/x/src/a.rs", text)).into_iter().map(|f| f.line).collect()
    }

    #[test]
    fn an_arm_for_all_other_kinds_is_found() {
        let any = "fn f() {\n match w {\n  Workload::Echo(e) => { g(e) }\n  _ => 1,\n }\n}\n";
        assert_eq!(lines(any), [2]);
        assert_eq!(lines(&any.replace("_ =>", "other if h() =>")), [2]);
        assert!(lines(&any.replace("_ =>", "Workload::Connect(_) =>")).is_empty());
    }

    #[test]
    fn other_matches_and_tests_are_left_alone() {
        let text = "fn f() {\n match text {\n  \"rtt\" => Metric::Rtt,\n  _ => x,\n }\n}\n";
        assert!(lines(text).is_empty());
        let test = "#[cfg(test)]\nmod tests {\n    fn f() {\n        match m {\n            \
            Metric::Rtt => 1,\n            _ => 2,\n        }\n    }\n}\n";
        assert!(lines(test).is_empty());
    }
}
