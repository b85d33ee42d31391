//! What a process of this program complains of when it ends.

/// The title in the failure that a process wrote last, or its last words.
pub(crate) fn said_of(complaint: &str) -> String {
    let last = complaint.lines().next_back().unwrap_or("it was ended").to_owned();
    let failure: Option<serde_json::Value> = serde_json::from_str(&last).ok();
    let title = failure.as_ref().and_then(|failure| failure["title"].as_str());
    title.map_or(last.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_says_last_is_why() {
        assert_eq!(said_of("a\n{\"title\":\"no route\",\"code\":\"E101\"}\n"), "no route");
        assert_eq!(said_of("first\nlast words\n"), "last words");
        assert_eq!(said_of(""), "it was ended");
    }
}
