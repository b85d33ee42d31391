//! The kernel's form for sets of numbers.

/// Largest number that is taken: more processors than any machine has.
const NUMBER_MAX: usize = 1 << 16;

/// The numbers of a list such as `0-2,5`, as written.
pub(super) fn numbers(text: &str) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last > NUMBER_MAX {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_nonsense_is_not() {
        assert_eq!(numbers("0-2,5\n"), Some(vec![0, 1, 2, 5]));
        assert_eq!(numbers("7"), Some(vec![7]));
        assert_eq!(numbers("\n"), Some(Vec::new()));
        for text in ["2-0", "a", "0-99999999999", "1-", "-1"] {
            assert_eq!(numbers(text), None, "{text}");
        }
    }
}
