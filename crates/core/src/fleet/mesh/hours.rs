//! Hours in which a measurement is not made, each in its own zone.

use crate::watch::Moment;
use crate::watch::quiet::Quiet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Spans of the week: those that name no zone are local time where the mesh is coordinated.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hours(Vec<(Option<i32>, Quiet)>);

/// How far from UTC a zone may be, in minutes.
const OFFSET_MIN_MAX: i32 = 14 * 60;

impl Hours {
    /// Adds the span that `text` says, as in `Mon-Fri 08:00-18:00`, with its zone behind it if it
    /// is another one: `UTC`, or how far it is ahead of UTC, as in `+01:00`.
    ///
    /// # Errors
    /// In words, if it says none.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let (span, offset_s) = match text.trim_end().rsplit_once(char::is_whitespace) {
            Some((span, zone)) if is_zone(zone) => (span, Some(offset(zone)?)),
            _ => (text, None),
        };
        let mut quiet = Quiet::default();
        quiet.add(span.trim_end())?;
        self.0.push((offset_s, quiet));
        Ok(())
    }

    /// Whether it is quiet at any time from `now` on for `length_ns`.
    pub fn touches(&self, now: Moment, length_ns: u64) -> bool {
        self.0.iter().any(|(offset_s, quiet)| {
            let offset_s = offset_s.unwrap_or(now.offset_s);
            quiet.touches(Moment { offset_s, ..now }, length_ns)
        })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether a word can only be meant as a zone: hours begin with digits.
fn is_zone(word: &str) -> bool {
    let signed = word.starts_with(['+', '-', '−']);
    signed || word.starts_with(|c: char| c.is_alphabetic())
}

/// The offset of a zone, in s.
fn offset(zone: &str) -> Result<i32, String> {
    let wrong = || {
        format!(
            "\"{zone}\" is no zone that is known here, where of all names only UTC is: write how \
             far it is ahead of UTC as in +01:00, or nothing for local time where the mesh is \
             coordinated"
        )
    };
    if zone == "UTC" {
        return Ok(0);
    }
    let (sign, rest) = match zone.strip_prefix('+') {
        Some(rest) => (1, rest),
        None => (-1, zone.strip_prefix(['-', '−']).ok_or_else(wrong)?),
    };
    let two = |part: &str| match part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit()) {
        true => part.parse::<i32>().ok(),
        false => None,
    };
    let (hours, minutes) = rest.split_once(':').ok_or_else(wrong)?;
    let (hours, minutes) = two(hours).zip(two(minutes)).ok_or_else(wrong)?;
    let all = hours * 60 + minutes;
    if minutes >= 60 || all > OFFSET_MIN_MAX {
        return Err("a zone is at most 14 hours from UTC".to_string());
    }
    Ok(sign * all * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Monday, 23 November 2026, 10:30 UTC.
    const NOW: Moment = Moment { unix_ns: (1_795_392_000 + 630 * 60) * 1_000_000_000, offset_s: 0 };

    fn holds(text: &str, offset_s: i32) -> bool {
        let mut hours = Hours::default();
        hours.add(text).unwrap();
        hours.touches(Moment { offset_s, ..NOW }, 0)
    }

    #[test]
    fn a_span_without_a_zone_is_local_time() {
        assert!(holds("Mon 10:00-11:00", 0) && !holds("Mon 10:00-11:00", 3600));
        assert!(holds("11:00-12:00", 3600));
    }

    #[test]
    fn a_span_may_name_its_zone() {
        // Whatever local time is.
        for offset_s in [0, 3600, -36_000] {
            assert!(holds("Mon-Fri 10:00-11:00 UTC", offset_s));
            assert!(holds("12:00-13:00 +02:00", offset_s));
            assert!(holds("05:00-06:00 -05:30", offset_s));
            assert!(!holds("Mon 10:00-11:00 +02:00", offset_s));
        }
    }

    #[test]
    fn what_is_no_zone_is_refused() {
        let refused = |text: &str| Hours::default().add(text).unwrap_err();
        for zone in ["Europe/Rome", "+1", "+01:60", "-1:00", "CET"] {
            let text = refused(&format!("Mon-Fri 08:00-18:00 {zone}"));
            assert!(text.contains("zone"), "{text}");
            assert!(text.contains("+01:00") || zone == "+01:60", "what to write instead: {text}");
        }
        assert!(refused("08:00-18:00 +15:00").contains("14 hours"));
        assert!(refused("UTC").contains("Mon-Fri 08:00"));
        assert!(Hours::default().is_empty());
    }
}
