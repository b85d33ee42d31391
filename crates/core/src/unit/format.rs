//! Writing quantities for people: three significant figures and the unit that suits them.
//!
//! Trailing zeros stay where something was rounded away ("94.0 Mbit/s" was measured) and go where
//! nothing was ("1 Gbit/s" was set).

use alloc::format;
use alloc::string::String;

/// Writes a size: exact as "1448 B" or "16 KiB" if it can be said so shortly, else as "1.18 MB".
pub fn format_bytes(bytes: u64) -> String {
    const BINARY: [(u64, &str); 4] =
        [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    const EXACT_BELOW: u64 = 100_000;
    for (unit, name) in BINARY {
        if bytes >= unit && bytes.is_multiple_of(unit) && bytes / unit < 1024 {
            return format!("{} {name}", bytes / unit);
        }
    }
    if bytes < EXACT_BELOW {
        return format!("{bytes} B");
    }
    with_unit(bytes as f64, &[(1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")])
}

/// Writes a rate given in bit/s: "94.1 Mbit/s".
pub fn format_rate(bits_per_second: f64) -> String {
    let units =
        [(1.0, "bit/s"), (1e3, "kbit/s"), (1e6, "Mbit/s"), (1e9, "Gbit/s"), (1e12, "Tbit/s")];
    with_unit(bits_per_second, &units)
}

/// Writes a span given in ns: µs below 1 ms, ms below 1 s, s below two minutes, then minutes and
/// seconds, from one hour hours and minutes.
pub fn format_span(nanoseconds: f64) -> String {
    const MINUTE: f64 = 60e9;
    let size = libm::fabs(nanoseconds);
    if size < 2.0 * MINUTE || !size.is_finite() {
        return with_unit(nanoseconds, &[(1e3, "µs"), (1e6, "ms"), (1e9, "s")]);
    }
    let sign = if nanoseconds < 0.0 { "-" } else { "" };
    let seconds = libm::round(size / 1e9) as u64;
    if seconds < 3600 {
        return format!("{sign}{}", two_parts(seconds, 60, "min", "s"));
    }
    let minutes = libm::round(size / MINUTE) as u64;
    format!("{sign}{}", two_parts(minutes, 60, "h", "min"))
}

/// Writes a share as a percentage: 0.014 is "1.4 %".
pub fn format_share(share: f64) -> String {
    format!("{} %", significant(share * 100.0, 3))
}

/// Writes a number with that many significant figures, 1 to 17, without exponent.
///
/// Digits before the point are never cut. Trailing zeros behind it are left out if nothing was
/// rounded away. Infinity is "∞".
pub fn significant(value: f64, figures: usize) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            format!("{value}")
        } else {
            format!("{value}").replace("inf", "∞")
        };
    }
    let decimals = (figures as i32 - 1 - exponent(value, figures)).max(0) as usize;
    let rounded = format!("{value:.decimals$}");
    // Decimal fractions are rarely exact in binary, so "nothing" means nothing that can be seen.
    let cut = rounded.parse::<f64>().map_or(0.0, |shown| libm::fabs(shown - value));
    if decimals == 0 || cut > libm::fabs(value) * 1e-12 {
        return rounded;
    }
    String::from(rounded.trim_end_matches('0').trim_end_matches('.'))
}

/// Decimal exponent of a value after it is rounded to that many figures.
fn exponent(value: f64, figures: usize) -> i32 {
    let scientific = format!("{:.*e}", figures.saturating_sub(1), value);
    scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// In the first unit that needs no more than three digits before the point, or the last there is.
fn with_unit(value: f64, units: &[(f64, &str)]) -> String {
    let mut text = String::new();
    for (size, name) in units {
        let scaled = value / size;
        text = format!("{} {name}", significant(scaled, 3));
        if exponent(scaled, 3) < 3 || !scaled.is_finite() {
            break;
        }
    }
    text
}

fn two_parts(amount: u64, small_per_big: u64, big: &str, small: &str) -> String {
    match (amount / small_per_big, amount % small_per_big) {
        (bigs, 0) => format!("{bigs} {big}"),
        (bigs, smalls) => format!("{bigs} {big} {smalls} {small}"),
    }
}
