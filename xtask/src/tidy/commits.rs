//! The history is read by those who come after: a subject that fits, and a body that says why where
//! much was changed.

use super::Finding;
use crate::command::Line;
use std::path::Path;

/// What was committed before is older than the rule.
const SINCE: &str = "2026-11-24T00:00:00Z";

/// Longest subject, in characters.
const SUBJECT_MAX: usize = 72;

/// Most changed lines that a subject alone explains.
const ALONE_MAX: u32 = 50;

/// Marks the start of a commit and the end of its fields in what git prints.
const MARKS: [char; 2] = ['\u{1}', '\u{2}'];

/// Looks at every commit since the rule began; at none where there is no history, as in an archive.
pub fn check(root: &Path) -> Result<Vec<Finding>, String> {
    if !root.join(".git").exists() {
        return Ok(Vec::new());
    }
    let format = "--format=%x01%h%x02%s%x02%b%x02";
    let options = [format!("--since={SINCE}"), format.to_owned(), "--shortstat".to_owned()];
    let text = Line::new("git", "log --no-merges").args(options).output()?;
    Ok(text.split(MARKS[0]).skip(1).filter_map(judge).collect())
}

/// What is wrong with a commit: its hash, subject and body, and how much it changed.
fn judge(commit: &str) -> Option<Finding> {
    let mut fields = commit.split(MARKS[1]);
    let mut field = || fields.next().unwrap_or_default().trim();
    let [hash, subject, body, changed] = [field(), field(), field(), field()];
    let length = subject.chars().count();
    let lines = changed_lines(changed);
    let message = if length > SUBJECT_MAX {
        format!("the subject has {length} characters; at most {SUBJECT_MAX}")
    } else if subject.ends_with('.') {
        "the subject ends with a period".to_owned()
    } else if body.is_empty() && lines > ALONE_MAX {
        format!("{lines} changed lines and no body that says why")
    } else {
        return None;
    };
    Some(Finding::new(&format!("commit {hash}"), 0, message))
}

/// Insertions and deletions of git's short statistics.
fn changed_lines(text: &str) -> u32 {
    let parts = text.split(", ").filter(|part| part.contains("(+)") || part.contains("(-)"));
    parts.filter_map(|part| part.split(' ').next()?.parse::<u32>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(subject: &str, body: &str, changed: &str) -> Option<String> {
        judge(&format!("abc\u{2}{subject}\u{2}{body}\u{2}\n\n {changed}\n")).map(|f| f.message)
    }

    #[test]
    fn a_subject_fits_and_much_has_a_reason() {
        let few = "1 file changed, 20 insertions(+), 30 deletions(-)";
        let many = "2 files changed, 21 insertions(+), 30 deletions(-)";
        assert_eq!(found("core: do it", "", few), None);
        assert_eq!(found("core: do it", "Because.", many), None);
        assert!(found("core: do it", "", many).unwrap().starts_with("51 changed lines"));
        assert!(found(&"x".repeat(73), "Because.", few).unwrap().contains("73 characters"));
        assert!(found("core: do it.", "", few).unwrap().contains("period"));
        assert_eq!(found("docs: nothing", "", ""), None);
    }
}
