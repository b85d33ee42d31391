//! Code points of differentiated services by name.

use alloc::format;
use alloc::string::String;

/// Names and values: class selectors (RFC 2474 section 4.2.2.2), assured forwarding (RFC 2597
/// section 6), expedited forwarding (RFC 3246), voice admit (RFC 5865), lower effort (RFC 8622).
const NAMES: [(&str, u8); 23] = [
    ("cs0", 0),
    ("cs1", 8),
    ("cs2", 16),
    ("cs3", 24),
    ("cs4", 32),
    ("cs5", 40),
    ("cs6", 48),
    ("cs7", 56),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("ef", 46),
    ("va", 44),
    ("le", 1),
];

/// A code point, 0 to 63, by name or number.
///
/// # Errors
/// What was expected, in words.
pub fn parse_dscp(text: &str) -> Result<u8, String> {
    let lower = text.trim().to_ascii_lowercase();
    if let Some((_, value)) = NAMES.iter().find(|(name, _)| *name == lower) {
        return Ok(*value);
    }
    match parse_whole(&lower) {
        Some(value @ 0..=63) => Ok(value as u8),
        _ => Err(format!("\"{text}\" is no DSCP: a name such as EF, AF41 or CS1, or 0 to 63")),
    }
}

/// A whole number, decimal or with 0x before it.
pub fn parse_whole(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        let known = [("EF", 46), ("af41", 34), ("CS7", 56), ("0", 0), ("0x2e", 46), ("63", 63)];
        for (text, value) in known {
            assert_eq!(parse_dscp(text), Ok(value), "{text}");
        }
        for text in ["", "64", "ef1", "-1", "0x40"] {
            assert!(parse_dscp(text).is_err(), "{text}");
        }
    }

    /// Assured forwarding is 8 times the class and twice the drop precedence.
    #[test]
    fn assured_forwarding_follows_its_rule() {
        for (name, value) in NAMES.iter().filter(|(name, _)| name.starts_with("af")) {
            let digit = |index: usize| name.as_bytes()[index] - b'0';
            assert_eq!(*value, 8 * digit(2) + 2 * digit(3), "{name}");
        }
    }
}
