//! A time as people write it: `90 s`, `5min`, `8 h`.

use std::time::Duration;

/// The time that `text` names; without a unit it is seconds.
pub fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.trim().chars().take_while(char::is_ascii_digit).count();
    let (number, unit) = text.trim().split_at(digits);
    let seconds = match unit.trim() {
        "" | "s" => 1,
        "min" => 60,
        "h" => 3600,
        _ => return Err(format!("{text:?} is no time like 90 s, 5 min or 8 h")),
    };
    let number: u64 = number.parse().map_err(|_| format!("{text:?} begins with no number"))?;
    Ok(Duration::from_secs(number.saturating_mul(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in [("90", 90), ("90 s", 90), ("5min", 300), (" 8 h ", 28_800)] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "s", "-1 s", "1 day", "1.5 h"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
