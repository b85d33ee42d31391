//! Numbers that stand side by side: both arms in one unit, with as many digits as their difference
//! needs. Single quantities are written by `v6gap_core::unit`.

use v6gap_core::metric::{Metric, Quantity};
use v6gap_core::unit::significant;
use v6gap_judge::analysis::words::outwards;
use v6gap_judge::analysis::{Question, Range};

/// A unit in which a quantity is shown, and how many of its SI unit it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    /// Symbol of the unit; empty for a share.
    pub symbol: &'static str,
    /// Divide the SI value by this.
    pub size: f64,
}

const TIME: [Unit; 3] = [
    Unit { symbol: "s", size: 1.0 },
    Unit { symbol: "ms", size: 1e-3 },
    Unit { symbol: "µs", size: 1e-6 },
];
const RATE: [Unit; 4] = [
    Unit { symbol: "Gbit/s", size: 1e9 },
    Unit { symbol: "Mbit/s", size: 1e6 },
    Unit { symbol: "kbit/s", size: 1e3 },
    Unit { symbol: "bit/s", size: 1.0 },
];
const FREQUENCY: [Unit; 3] = [
    Unit { symbol: "million/s", size: 1e6 },
    Unit { symbol: "thousand/s", size: 1e3 },
    Unit { symbol: "/s", size: 1.0 },
];
/// 1 ns of processor time per byte is 1 s per gigabyte.
const COST: [Unit; 1] = [Unit { symbol: "s/GB", size: 1e-9 }];
const SHARE: [Unit; 1] = [Unit { symbol: "%", size: 0.01 }];

/// The largest unit of which the smallest value that is not 0 fills at least one.
pub(crate) fn unit(metric: Metric, values: &[f64]) -> Unit {
    let units: &[Unit] = match metric.quantity() {
        Quantity::Rate => &RATE,
        Quantity::Frequency => &FREQUENCY,
        Quantity::Time => &TIME,
        Quantity::Share => &SHARE,
        Quantity::Cost => &COST,
    };
    let least = values
        .iter()
        .map(|v| v.abs())
        .filter(|v| *v > 0.0 && v.is_finite())
        .fold(f64::INFINITY, f64::min);
    *units.iter().find(|u| least >= u.size && least.is_finite()).unwrap_or(&units[units.len() - 1])
}

/// Decimals that show `value` with `digits` significant figures.
fn decimals(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    (digits - 1 - value.abs().log10().floor() as i32).clamp(0, 9) as usize
}

/// What something is at most, as its amount and unit: two digits, rounded up.
pub(crate) fn at_most(metric: Metric, bound: f64) -> String {
    // What is a round number but for the last bits is one.
    two_digits(metric, bound, |digits| (digits - 1e-6).ceil())
}

/// What something is at least, as its amount and unit: two digits, rounded down.
pub(crate) fn at_least(metric: Metric, bound: f64) -> String {
    two_digits(metric, bound, |digits| (digits + 1e-6).floor())
}

fn two_digits(metric: Metric, bound: f64, rounded: fn(f64) -> f64) -> String {
    let percent = 100.0 * bound;
    let digit = 10f64.powf(percent.log10().floor() - 1.0);
    let told = if percent > 0.0 { rounded(percent / digit) * digit } else { percent };
    format!("{} {}", significant(told, 3), metric.scale().unit())
}

/// An estimate and both ends of its range, with the decimals that [`outwards`] gives the ends.
/// Three figures each where the range has no width.
pub(crate) fn ranged(estimate: f64, low: f64, high: f64) -> [String; 3] {
    if !low.is_finite() || !high.is_finite() || low >= high {
        return [estimate, low, high].map(|x| significant(x, 3).replace('-', "−"));
    }
    let ([least, most], places) = outwards(&Range { low, high }, 1.0, 6);
    [estimate, least, most].map(|x| {
        let size = format!("{:.places$}", x.abs());
        let is_none = size.chars().all(|c| matches!(c, '0' | '.'));
        if x < 0.0 && !is_none { format!("−{size}") } else { size }
    })
}

/// Both values of a question and their unit, as shown in tables.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown {
    /// The first arm's value; a dash where nothing was measured.
    pub a: String,
    /// The second arm's value.
    pub b: String,
    /// Unit of both values; empty where neither has a value.
    pub unit: String,
}

/// How a question's values are shown: counts for loss, else both in one unit.
pub(crate) fn shown(question: &Question) -> Shown {
    if let Some(counts) = lost(question) {
        return counts;
    }
    let present: Vec<f64> = [question.values.a, question.values.b].into_iter().flatten().collect();
    let unit = unit(question.metric, &present);
    let scaled = question.values.map(|v| v.map(|v| v / unit.size));
    let places = match (scaled.a, scaled.b) {
        // The smaller one has two figures at least.
        (Some(a), Some(b)) => {
            let smaller =
                [a, b].into_iter().map(f64::abs).filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
            let two = if smaller.is_finite() { decimals(smaller, 2) } else { 0 };
            places(a, b).max(two)
        }
        (a, b) => decimals(a.or(b).unwrap_or(0.0), 3),
    };
    let show = |v: Option<f64>| v.map_or("–".to_owned(), |v| format!("{v:.places$}"));
    let symbol = if present.is_empty() { "" } else { unit.symbol };
    Shown { a: show(scaled.a), b: show(scaled.b), unit: symbol.to_owned() }
}

/// Values of one metric in one unit, with as many digits as their differences need; a dash where
/// there is none.
pub(crate) fn series(metric: Metric, values: &[Option<f64>]) -> (Vec<String>, &'static str) {
    let present: Vec<f64> = values.iter().flatten().copied().collect();
    let unit = unit(metric, &present);
    let scaled: Vec<f64> = present.iter().map(|v| v / unit.size).collect();
    let pairs = scaled.iter().flat_map(|a| scaled.iter().map(move |b| places(*a, *b)));
    let places = pairs.max().unwrap_or(0);
    let show = |v: &Option<f64>| {
        v.map_or_else(|| "–".to_owned(), |v| format!("{:.places$}", v / unit.size))
    };
    let symbol = if present.is_empty() { "" } else { unit.symbol };
    (values.iter().map(show).collect(), symbol)
}

/// Three figures, or four where three would blur the difference.
fn places(a: f64, b: f64) -> usize {
    let three = decimals(a.abs().max(b.abs()), 3);
    let blurred = (a - b).abs() < 5.0 * 10f64.powi(-(three as i32));
    if blurred && a != b { three + 1 } else { three }
}

/// Lost packets as counts, where both arms sent about as many.
fn lost(question: &Question) -> Option<Shown> {
    let events = question.events.filter(|_| question.metric.is_loss())?;
    let (low, high) = (events.a.1.min(events.b.1), events.a.1.max(events.b.1));
    if low == 0 || high as f64 > low as f64 * 1.05 {
        return None;
    }
    let unit = format!("of {}", count(low));
    Some(Shown { a: events.a.0.to_string(), b: events.b.0.to_string(), unit })
}

/// A count in words where it is large: "1.20 million".
pub(crate) fn count(n: u64) -> String {
    match n {
        0..10_000 => n.to_string(),
        10_000..1_000_000 => format!("{} {:03}", n / 1000, n % 1000),
        _ => format!("{} million", significant(n as f64 / 1e6, 3)),
    }
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A date and a time of day in UTC from ns since the Unix epoch: ("19 Nov 2026", "14:02").
pub(crate) fn utc(unix_ns: u64) -> (String, String) {
    let s = unix_ns / 1_000_000_000;
    let (year, month, day) = civil(s / 86_400);
    let date = format!("{day} {} {year}", MONTHS[month as usize]);
    (date, format!("{:02}:{:02}", s / 3600 % 24, s / 60 % 60))
}

/// The same as it sorts: "2026-11-19 14:02".
pub fn date(unix_ns: u64) -> String {
    let s = unix_ns / 1_000_000_000;
    let (year, month, day) = civil(s / 86_400);
    let (hour, minute) = (s / 3600 % 24, s / 60 % 60);
    format!("{year}-{:02}-{day:02} {hour:02}:{minute:02}", month + 1)
}

/// Year, month from 0 and day of a day since the Unix epoch, by Howard Hinnant's "chrono-compatible
/// low-level date algorithms": years that begin in March put the leap day last.
fn civil(day: u64) -> (u64, u64, u64) {
    let days = day + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let index = (month + 2) % 12;
    (year_of_era + era * 400 + u64::from(index < 2), index, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let at = |s: u64| utc(s * 1_000_000_000);
        assert_eq!(at(0), ("1 Jan 1970".into(), "00:00".into()));
        assert_eq!(at(951_782_400), ("29 Feb 2000".into(), "00:00".into()));
        assert_eq!(at(1_794_924_120), ("17 Nov 2026".into(), "14:02".into()));
        assert_eq!(at(4_107_542_399), ("28 Feb 2100".into(), "23:59".into()));
    }

    #[test]
    fn dates_that_sort_follow_the_civil_calendar() {
        let at = |seconds: u64| date(seconds * 1_000_000_000);
        assert_eq!(at(0), "1970-01-01 00:00");
        assert_eq!(at(951_827_696), "2000-02-29 12:34");
        assert_eq!(at(1_709_251_199), "2024-02-29 23:59");
        assert_eq!(at(4_107_542_400), "2100-03-01 00:00");
    }

    #[test]
    fn digits_follow_the_difference() {
        assert_eq!(places(94.13, 92.83), 1);
        assert_eq!(places(11.49, 11.64), 2);
        assert_eq!(places(145.0, 153.0), 0);
        assert_eq!(places(0.0, 0.0), 0);
    }

    #[test]
    fn ranges_have_the_figures_of_their_width_and_leave_nothing_out() {
        let shown = |estimate, low, high| ranged(estimate, low, high).join(" ");
        assert_eq!(shown(161.042, 160.831, 161.238), "161.0 160.8 161.3");
        assert_eq!(shown(4.6, 4.46, 4.74), "4.60 4.46 4.74");
        assert_eq!(shown(8.0, 4.0, 16.0), "8 4 16");
        assert_eq!(shown(30.2, -60.4, 120.1), "30 −61 121");
        // What holds no zero does not seem to.
        assert_eq!(shown(0.7, 0.004, 1.5), "0.700 0.004 1.500");
        assert_eq!(shown(-0.02, -1.5, 1.0), "0.0 −1.5 1.0");
        assert_eq!(shown(-6.4, -6.4, -6.4), "−6.4 −6.4 −6.4");
        assert_eq!(shown(80.04, f64::NEG_INFINITY, 90.0), "80.0 −∞ 90");
    }

    #[test]
    fn large_counts_stay_readable() {
        assert_eq!(count(9_999), "9999");
        assert_eq!(count(12_345), "12 345");
        assert_eq!(count(1_198_390), "1.20 million");
    }
}
