//! Reading quantities: decimal arithmetic on whole numbers, so that "0.1 s" is exactly 10^8 ns.

use super::{Quantity, UnitError};
use alloc::string::ToString;

/// Digits behind the point that are looked at; more cannot change a value in base units.
const FRACTION_DIGITS: usize = 18;

/// Reads a size in bytes: "64 KiB", "1448", "1 MB", "64K".
///
/// KiB, MiB … are powers of 1024 and kB, MB … powers of 1000; K, M, G and T alone are powers of
/// 1024, as iperf3 reads them for sizes. "KB", which people use for both, is refused. Fractions are
/// rounded to the nearest byte.
///
/// # Errors
/// [`UnitError`] for anything else.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    parse_one(text, Quantity::Size, bytes_in)
}

/// Reads a rate in bit/s: "100 Mbit/s", "10M", "1 Gbps".
///
/// Prefixes are powers of 1000, also when they stand alone, as iperf3 reads them for rates.
/// Fractions are rounded to the nearest bit per second.
///
/// # Errors
/// [`UnitError`] for anything else.
pub fn parse_rate(text: &str) -> Result<u64, UnitError> {
    parse_one(text, Quantity::Rate, bits_per_second_in)
}

/// Reads a span of time in ns: "200 ms", "1.5 s", "10 µs", "1 h 30 m"; a number alone is seconds.
///
/// Parts with units are added up. Fractions are rounded to the nearest nanosecond.
///
/// # Errors
/// [`UnitError`] for anything else.
pub fn parse_span(text: &str) -> Result<u64, UnitError> {
    let input = Input { text, quantity: Quantity::Span };
    let mut rest = text.trim();
    if !rest.is_empty() && rest.bytes().all(is_number_byte) {
        return input.scaled(rest, 1_000_000_000);
    }
    let mut total: u64 = 0;
    loop {
        let (number, after) = input.split_number(rest)?;
        let unit_end = after.find(|c: char| c.is_ascii_digit() || c.is_whitespace() || c == '.');
        let (unit, next) = after.split_at(unit_end.unwrap_or(after.len()));
        let part =
            input.scaled(number, nanoseconds_in(unit).ok_or_else(|| input.unknown(unit))?)?;
        total = total.checked_add(part).ok_or_else(|| input.out_of_range())?;
        rest = next.trim_start();
        if rest.is_empty() {
            return Ok(total);
        }
    }
}

/// Reads a share from 0 to 1: "2 %", "0.02", and "0.1 pp" for percentage points.
///
/// # Errors
/// [`UnitError`] for anything else, and for more than the whole.
pub fn parse_share(text: &str) -> Result<f64, UnitError> {
    let input = Input { text, quantity: Quantity::Share };
    let (number, unit) = input.split_number(text.trim())?;
    let divisor = match unit {
        "" => 1.0,
        "%" | "pp" => 100.0,
        _ => return Err(input.unknown(unit)),
    };
    let value: f64 = number.parse().map_err(|_| input.not_a_number())?;
    let share = value / divisor;
    if share <= 1.0 { Ok(share) } else { Err(input.out_of_range()) }
}

/// What was typed and for what, to name both in errors.
struct Input<'a> {
    text: &'a str,
    quantity: Quantity,
}

impl Input<'_> {
    /// Cuts a leading decimal number off; the rest comes without blanks before it.
    fn split_number<'a>(&self, text: &'a str) -> Result<(&'a str, &'a str), UnitError> {
        let end = text.bytes().position(|byte| !is_number_byte(byte)).unwrap_or(text.len());
        let (number, rest) = text.split_at(end);
        let digits = number.bytes().filter(u8::is_ascii_digit).count();
        if digits == 0 || number.len() > digits + 1 {
            return Err(self.not_a_number());
        }
        Ok((number, rest.trim_start()))
    }

    /// The number times `factor`, to the nearest whole.
    fn scaled(&self, number: &str, factor: u64) -> Result<u64, UnitError> {
        let (number, _) = self.split_number(number)?;
        let value = scale(number, factor).ok_or_else(|| self.out_of_range())?;
        let vanished = value == 0 && number.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
        if vanished { Err(self.out_of_range()) } else { Ok(value) }
    }

    fn not_a_number(&self) -> UnitError {
        UnitError::NotANumber { typed: self.text.to_string(), quantity: self.quantity }
    }

    fn unknown(&self, unit: &str) -> UnitError {
        let (typed, unit) = (self.text.to_string(), unit.to_string());
        UnitError::UnknownUnit { typed, unit, quantity: self.quantity }
    }

    fn out_of_range(&self) -> UnitError {
        UnitError::OutOfRange { typed: self.text.to_string(), quantity: self.quantity }
    }
}

/// Reads a number and one unit, which may be empty.
fn parse_one(
    text: &str,
    quantity: Quantity,
    unit_value: fn(&str) -> Option<u64>,
) -> Result<u64, UnitError> {
    let input = Input { text, quantity };
    let (number, unit) = input.split_number(text.trim())?;
    let factor = unit_value(unit).ok_or_else(|| input.unknown(unit))?;
    input.scaled(number, factor)
}

fn is_number_byte(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'.'
}

/// `number` (digits with at most one point) times `factor`, rounded half up; `None` above `u64`.
fn scale(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction = &fraction[..fraction.len().min(FRACTION_DIGITS)];
    let mut parts: u128 = 0;
    let mut parts_per_one: u128 = 1;
    for digit in fraction.bytes() {
        parts = parts * 10 + u128::from(digit - b'0');
        parts_per_one *= 10;
    }
    let factor = u128::from(factor);
    let rounded = (parts * factor + parts_per_one / 2) / parts_per_one;
    u64::try_from((u128::from(whole) * factor).checked_add(rounded)?).ok()
}

fn bytes_in(unit: &str) -> Option<u64> {
    match unit {
        "" | "B" | "byte" | "bytes" => Some(1),
        "kB" => Some(1000),
        "MB" => Some(1000_u64.pow(2)),
        "GB" => Some(1000_u64.pow(3)),
        "TB" => Some(1000_u64.pow(4)),
        _ => prefix_power(unit.strip_suffix("iB").unwrap_or(unit)).map(|p| 1024_u64.pow(p)),
    }
}

fn bits_per_second_in(unit: &str) -> Option<u64> {
    let suffixes = ["bit/s", "bits/s", "b/s", "bps"];
    let prefix = suffixes.iter().find_map(|suffix| unit.strip_suffix(suffix)).unwrap_or(unit);
    if prefix.is_empty() { Some(1) } else { prefix_power(prefix).map(|p| 1000_u64.pow(p)) }
}

fn prefix_power(prefix: &str) -> Option<u32> {
    match prefix {
        "K" | "k" => Some(1),
        "M" | "m" => Some(2),
        "G" | "g" => Some(3),
        "T" | "t" => Some(4),
        _ => None,
    }
}

fn nanoseconds_in(unit: &str) -> Option<u64> {
    const SECOND: u64 = 1_000_000_000;
    match unit {
        "ns" => Some(1),
        // Both the micro sign and the Greek letter are in use.
        "us" | "\u{b5}s" | "\u{3bc}s" => Some(1000),
        "ms" => Some(1_000_000),
        "s" | "sec" | "second" | "seconds" => Some(SECOND),
        "m" | "min" | "minute" | "minutes" => Some(60 * SECOND),
        "h" | "hour" | "hours" => Some(3600 * SECOND),
        "d" | "day" | "days" => Some(86_400 * SECOND),
        _ => None,
    }
}
