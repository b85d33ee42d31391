//! Hours in which nothing is measured: spans of local time, as in `Mon-Fri 08:00-18:00`.

use super::Moment;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Names of the days, the first of the week first.
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Weekday of 1 January 1970, by the index of [`DAYS`].
const WEEKDAY_OF_EPOCH: i64 = 3;

/// Minutes of a day.
const DAY_MIN: i64 = 1440;

/// A minute in ns.
const MINUTE_NS: u64 = 60_000_000_000;

/// One span, on some days of the week. One that ends before it begins goes on into the next day.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    /// Whether it begins on that day.
    days: [bool; 7],
    from_min: i64,
    to_min: i64,
}

/// Spans of local time in which nothing is measured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Quiet(Vec<Span>);

impl Quiet {
    /// Adds the span that `text` says.
    ///
    /// # Errors
    /// In words, if it says none.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        self.0.push(span(text)?);
        Ok(())
    }

    /// Whether it is quiet at any time from `now` on for `length_ns`.
    pub fn touches(&self, now: Moment, length_ns: u64) -> bool {
        if self.0.is_empty() {
            return false;
        }
        // Spans begin and end at whole minutes.
        let steps = length_ns / MINUTE_NS;
        let between = (0..=steps).map(|step| now.later(step * MINUTE_NS));
        between.chain([now.later(length_ns)]).any(|moment| self.holds(moment))
    }

    /// In how many ns it is quiet, if that is within `length_ns` from `now` on.
    pub fn begins(&self, now: Moment, length_ns: u64) -> Option<u64> {
        // Spans begin at whole minutes.
        let to_minute = MINUTE_NS - now.unix_ns % MINUTE_NS;
        let minutes = (0..=length_ns / MINUTE_NS).map(|step| to_minute + step * MINUTE_NS);
        let all = core::iter::once(0).chain(minutes).take_while(|ns| *ns <= length_ns);
        all.filter(|_| !self.0.is_empty()).find(|ns| self.holds(now.later(*ns)))
    }

    fn holds(&self, moment: Moment) -> bool {
        let local_s = (moment.unix_ns / 1_000_000_000) as i64 + i64::from(moment.offset_s);
        let minutes = local_s.div_euclid(60);
        let (day, minute) = (minutes.div_euclid(DAY_MIN), minutes.rem_euclid(DAY_MIN));
        let weekday = (day + WEEKDAY_OF_EPOCH).rem_euclid(7) as usize;
        self.0.iter().any(|span| span.holds(weekday, minute))
    }
}

impl Span {
    fn holds(&self, weekday: usize, minute: i64) -> bool {
        let (today, yesterday) = (self.days[weekday], self.days[(weekday + 6) % 7]);
        match self.from_min < self.to_min {
            true => today && (self.from_min..self.to_min).contains(&minute),
            false => (today && minute >= self.from_min) || (yesterday && minute < self.to_min),
        }
    }
}

fn span(text: &str) -> Result<Span, String> {
    let wrong =
        || format!("\"{text}\" is no span of hours: write it as in \"Mon-Fri 08:00-18:00\"");
    if let Some(zone) = zone(text) {
        return Err(format!(
            "\"{text}\" names a zone, \"{zone}\": these hours are local time; write it as in \
             \"Mon-Fri 08:00-18:00\""
        ));
    }
    let mut words = text.split_whitespace();
    let (days, hours) = match (words.next(), words.next(), words.next()) {
        (Some(hours), None, None) => ([true; 7], hours),
        (Some(named), Some(hours), None) => (days(named).ok_or_else(wrong)?, hours),
        _ => return Err(wrong()),
    };
    let (from, to) = hours.split_once('-').ok_or_else(wrong)?;
    let from_min = minute(from).filter(|&minute| minute < DAY_MIN).ok_or_else(wrong)?;
    let to_min = minute(to).ok_or_else(wrong)?;
    if from_min == to_min {
        return Err(format!("\"{text}\" begins when it ends: all day is 00:00-24:00"));
    }
    Ok(Span { days, from_min, to_min })
}

/// What stands behind hours and can only be meant as a zone.
fn zone(text: &str) -> Option<&str> {
    let (before, last) = text.trim().rsplit_once(char::is_whitespace)?;
    let is_hours = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    (before.split_whitespace().any(is_hours) && !is_hours(last)).then_some(last)
}

/// The days of `Mon-Fri`, `Sat,Sun` or `Mon`.
fn days(text: &str) -> Option<[bool; 7]> {
    let number = |name: &str| DAYS.into_iter().position(|day| day == name);
    let mut found = [false; 7];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (mut day, last) = (number(first)?, number(last)?);
        found[day] = true;
        while day != last {
            day = (day + 1) % 7;
            found[day] = true;
        }
    }
    Some(found)
}

/// Minutes since midnight of `08:00`, to `24:00`.
fn minute(text: &str) -> Option<i64> {
    let (hours, minutes) = text.split_once(':')?;
    let two = |part: &str| match part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit()) {
        true => part.parse::<i64>().ok(),
        false => None,
    };
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    let total = hours * 60 + minutes;
    (minutes < 60 && total <= DAY_MIN).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Monday, 23 November 2026, 00:00 UTC.
    const MONDAY_S: u64 = 1_795_392_000;

    fn quiet(texts: &[&str]) -> Quiet {
        let mut quiet = Quiet::default();
        texts.iter().for_each(|text| quiet.add(text).unwrap());
        quiet
    }

    /// `day` days and `minute` minutes after that Monday began.
    fn at(day: u64, minute: u64, offset_s: i32) -> Moment {
        let unix_ns = (MONDAY_S + day * 86_400 + minute * 60) * 1_000_000_000;
        Moment { unix_ns, offset_s }
    }

    #[test]
    fn spans_hold_on_their_days_by_local_time() {
        let office = quiet(&["Mon-Fri 08:00-18:00"]);
        let holds = |day, minute, offset| office.touches(at(day, minute, offset), 0);
        assert!(holds(0, 480, 0) && holds(4, 1079, 0));
        assert!(!holds(0, 479, 0) && !holds(4, 1080, 0) && !holds(5, 600, 0) && !holds(6, 600, 0));
        // An hour ahead of UTC they begin an hour earlier.
        assert!(holds(0, 420, 3600) && !holds(0, 1020, 3600));
        assert!(!quiet(&[]).touches(at(0, 600, 0), u64::from(u32::MAX)));
    }

    #[test]
    fn a_span_may_go_past_midnight_and_past_the_end_of_the_week() {
        let night = quiet(&["Sun 22:00-06:00"]);
        let holds = |day, minute| night.touches(at(day, minute, 0), 0);
        assert!(holds(6, 1320) && holds(7, 0) && holds(7, 359));
        assert!(!holds(6, 1319) && !holds(7, 360) && !holds(8, 100) && !holds(6, 100));
        let week_end = quiet(&["Sat-Mon 00:00-24:00"]);
        let days: Vec<bool> = (0..7).map(|d| week_end.touches(at(d, 700, 0), 0)).collect();
        assert_eq!(days, [true, false, false, false, false, true, true]);
        assert!(quiet(&["12:00-12:01"]).touches(at(2, 720, 0), 0));
        let (minute, late) = (60_000_000_000, quiet(&["12:00-12:05"]));
        let begins = |before: u64, length_ns| {
            let now = at(2, 720, 0);
            late.begins(Moment { unix_ns: now.unix_ns - before, ..now }, length_ns)
        };
        assert_eq!(begins(90_000_000_000, 2 * minute), Some(90_000_000_000));
        assert_eq!((begins(2 * minute, minute), begins(0, 0)), (None, Some(0)));
        assert_eq!(quiet(&[]).begins(at(0, 600, 0), u64::from(u32::MAX)), None);
    }

    #[test]
    fn what_would_last_into_a_span_touches_it() {
        let noon = quiet(&["12:00-12:05"]);
        let second = 1_000_000_000;
        assert!(noon.touches(at(0, 719, 0), 60 * second));
        assert!(!noon.touches(at(0, 719, 0), 59 * second));
        // Longer than the whole span.
        assert!(noon.touches(at(0, 700, 0), 3600 * second));
        assert!(!noon.touches(at(0, 725, 0), 3600 * second));
    }

    #[test]
    fn what_is_no_span_is_refused_with_an_example() {
        for text in ["", "Mon", "8-18", "08:00", "Mon-Fry 08:00-18:00", "25:00-26:00", "a 1 2"] {
            assert!(Quiet::default().add(text).unwrap_err().contains("Mon-Fri 08:00"), "{text}");
        }
        for zone in ["UTC", "Europe/Rome", "+01:00", "-01:00"] {
            for hours in ["08:00-18:00", "Mon-Fri 08:00-18:00"] {
                let why = Quiet::default().add(&format!("{hours} {zone}")).unwrap_err();
                assert!(why.contains(&format!("a zone, \"{zone}\"")), "{why}");
            }
        }
        assert!(Quiet::default().add("10:00-10:00").unwrap_err().contains("all day"));
        assert!(Quiet::default().add("24:00-10:00").is_err());
        assert!(Quiet::default().add("1:00-02:60").is_err());
    }
}
