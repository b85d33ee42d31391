//! Quantities people type and read, and the laws that hold for all of them.

use super::*;
use alloc::format;
use alloc::string::ToString;
use proptest::prelude::*;

#[test]
fn sizes_are_read() {
    for (text, bytes) in [
        ("64 KiB", 65_536),
        ("16KiB", 16_384),
        ("1448", 1448),
        ("64 B", 64),
        ("1 MB", 1_000_000),
        ("60 kB", 60_000),
        ("64K", 65_536),
        ("64k", 65_536),
        ("2m", 2 << 20),
        ("1 G", 1 << 30),
        ("1.5 KiB", 1536),
        ("1.4995 kB", 1500),
        (" 5 GB ", 5_000_000_000),
        ("0", 0),
        ("18446744073709551615", u64::MAX),
    ] {
        assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
    }
}

#[test]
fn rates_are_read() {
    for (text, rate) in [
        ("100 Mbit/s", 100_000_000),
        ("10M", 10_000_000),
        ("1 Gbit/s", 1_000_000_000),
        ("1Gbps", 1_000_000_000),
        ("2.5 Gb/s", 2_500_000_000),
        ("64k", 64_000),
        ("1500", 1500),
        ("9.6 kbit/s", 9600),
    ] {
        assert_eq!(parse_rate(text), Ok(rate), "{text}");
    }
}

#[test]
fn spans_are_read_exactly() {
    const S: u64 = 1_000_000_000;
    for (text, span) in [
        ("200 ms", S / 5),
        ("1.5 s", 3 * S / 2),
        ("2 min", 120 * S),
        ("1 h 30 m", 5400 * S),
        ("1h30m", 5400 * S),
        ("10 µs", 10_000),
        ("10 \u{3bc}s", 10_000),
        ("10us", 10_000),
        ("75", 75 * S),
        ("0.1 s", S / 10),
        (".5", S / 2),
        ("1 d", 86_400 * S),
        ("0.3333333333333333333333333333333333333333 s", 333_333_333),
    ] {
        assert_eq!(parse_span(text), Ok(span), "{text}");
    }
}

#[test]
fn shares_are_read() {
    for (text, share) in
        [("2 %", 0.02), ("0.02", 0.02), ("0.1 pp", 0.001), ("100%", 1.0), ("1", 1.0), ("0", 0.0)]
    {
        assert_eq!(parse_share(text), Ok(share), "{text}");
    }
}

#[test]
fn what_is_no_quantity_is_named() {
    let number = |text: &str, quantity| UnitError::NotANumber { typed: text.to_string(), quantity };
    for text in ["", " ", "K", "-5", "1.2.3", ".", "1..", "x 1"] {
        assert_eq!(parse_bytes(text), Err(number(text, Quantity::Size)));
        assert_eq!(parse_span(text), Err(number(text, Quantity::Span)));
        assert_eq!(parse_share(text), Err(number(text, Quantity::Share)));
    }
    let unknown = |typed: &str, unit: &str, quantity| UnitError::UnknownUnit {
        typed: typed.to_string(),
        unit: unit.to_string(),
        quantity,
    };
    assert_eq!(parse_bytes("64 KB"), Err(unknown("64 KB", "KB", Quantity::Size)));
    assert_eq!(parse_bytes("1 KiB 2"), Err(unknown("1 KiB 2", "KiB 2", Quantity::Size)));
    assert_eq!(parse_bytes("1,5 KiB"), Err(unknown("1,5 KiB", ",5 KiB", Quantity::Size)));
    assert_eq!(parse_rate("10 MB/s"), Err(unknown("10 MB/s", "MB/s", Quantity::Rate)));
    assert_eq!(parse_span("1 h 30"), Err(unknown("1 h 30", "", Quantity::Span)));
    assert_eq!(parse_span("1 fortnight"), Err(unknown("1 fortnight", "fortnight", Quantity::Span)));
    assert_eq!(parse_share("2 ‰"), Err(unknown("2 ‰", "‰", Quantity::Share)));
    let range =
        |typed: &str, quantity| UnitError::OutOfRange { typed: typed.to_string(), quantity };
    assert_eq!(parse_bytes("17000000 TiB"), Err(range("17000000 TiB", Quantity::Size)));
    assert_eq!(parse_span("0.1 ns"), Err(range("0.1 ns", Quantity::Span)));
    assert_eq!(parse_share("2"), Err(range("2", Quantity::Share)));
}

#[test]
fn an_error_says_what_was_typed_and_what_is_accepted() {
    let text = parse_bytes("64 KB").unwrap_err().to_string();
    assert_eq!(
        text,
        "\"64 KB\" is not a size: unknown unit \"KB\"; accepted: B, KiB, MiB, GiB, TiB (powers of \
         1024), kB, MB, GB, TB (powers of 1000), or K, M, G, T alone (powers of 1024), as in \
         \"64 KiB\""
    );
}

#[test]
fn quantities_are_written_for_people() {
    for (bytes, text) in [
        (0, "0 B"),
        (64, "64 B"),
        (1024, "1 KiB"),
        (1448, "1448 B"),
        (16_384, "16 KiB"),
        (65_507, "65507 B"),
        (57_344, "56 KiB"),
        (425_984, "416 KiB"),
        (6 << 20, "6 MiB"),
        (100_000_000, "100 MB"),
        (512_000_000, "512 MB"),
        (1_000_000_000, "1 GB"),
        (1_184_000, "1.18 MB"),
        (220_400_000_000, "220 GB"),
    ] {
        assert_eq!(format_bytes(bytes), text);
    }
    for (rate, text) in [
        (100e6, "100 Mbit/s"),
        (94_148_244.47, "94.1 Mbit/s"),
        (94_001_000.0, "94.0 Mbit/s"),
        (999_999.0, "1.00 Mbit/s"),
        (2.5e9, "2.5 Gbit/s"),
        (512.0, "512 bit/s"),
        (0.0, "0 bit/s"),
        (f64::INFINITY, "∞ bit/s"),
    ] {
        assert_eq!(format_rate(rate), text);
    }
    for (span, text) in [
        (480.0, "0.48 µs"),
        (145_400.0, "145 µs"),
        (999_700.0, "1.00 ms"),
        (11_289_600.0, "11.3 ms"),
        (200e6, "200 ms"),
        (1.5e9, "1.5 s"),
        (-6400.0, "-6.4 µs"),
        (75e9, "75 s"),
        (120e9, "2 min"),
        (150e9, "2 min 30 s"),
        (3_599.7e9, "1 h"),
        (23_640e9, "6 h 34 min"),
        (7200e9, "2 h"),
    ] {
        assert_eq!(format_span(span), text);
    }
    for (share, text) in [
        (0.014, "1.4 %"),
        (0.013_812, "1.38 %"),
        (-0.013_812, "-1.38 %"),
        (0.001, "0.1 %"),
        (1.0, "100 %"),
        (0.3125, "31.2 %"),
        (0.0, "0 %"),
    ] {
        assert_eq!(format_share(share), text);
    }
    assert_eq!(significant(0.013_812, 2), "0.014");
    assert_eq!(significant(-9.996, 3), "-10.0");
}

/// In ns.
const HOUR: u64 = 3_600_000_000_000;

/// Within half of the third significant figure.
fn near(read: u64, written: u64) -> bool {
    read.abs_diff(written) as f64 <= written as f64 * 0.005 + 0.5
}

/// Values of every magnitude, not mostly the largest; half of the range keeps rounding up in range.
fn any_magnitude() -> impl Strategy<Value = u64> {
    (1_u32..64, any::<u64>()).prop_map(|(shift, value)| value >> shift)
}

fn quantity_like() -> impl Strategy<Value = alloc::string::String> {
    "[0-9]{0,25}[.]?[0-9]{0,25} ?(KiB|MB|k|Mbit/s|Gbps|ms|µs|h|%|pp|d)?( [0-9]{1,3} ?(m|s))?"
}

proptest! {
    #[test]
    fn what_is_written_can_be_read(value in any_magnitude()) {
        prop_assert!(near(parse_bytes(&format_bytes(value)).unwrap(), value));
        prop_assert!(near(parse_rate(&format_rate(value as f64)).unwrap(), value));
        let span = parse_span(&format_span(value as f64)).unwrap();
        let half_a_minute = if value < HOUR { 0 } else { HOUR / 120 };
        prop_assert!(near(span, value) || span.abs_diff(value) <= half_a_minute);
    }

    #[test]
    fn small_and_round_sizes_come_back_exactly(value in 0_u64..100_000, power in 0_u32..4) {
        prop_assert_eq!(parse_bytes(&format_bytes(value)), Ok(value));
        let round = (value % 1024) << (10 * power);
        prop_assert_eq!(parse_bytes(&format_bytes(round)), Ok(round));
    }

    #[test]
    fn shares_come_back(share in 0.0_f64..=1.0) {
        let read = parse_share(&format_share(share)).unwrap();
        prop_assert!((read - share).abs() <= share * 0.005);
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in ".*", like in quantity_like()) {
        for text in [text, like] {
            let _ = (parse_bytes(&text), parse_rate(&text), parse_span(&text), parse_share(&text));
        }
    }

    #[test]
    fn no_number_makes_the_writers_panic(value in any::<f64>(), figures in 1_usize..18) {
        for text in [format_rate(value), format_span(value), format_share(value)] {
            prop_assert!(!text.is_empty());
        }
        prop_assert!(!significant(value, figures).contains('e') || value.is_nan());
    }

    #[test]
    fn every_error_names_what_was_typed(text in "[a-z ]{0,12}") {
        let message = format!("{}", parse_rate(&text).unwrap_err());
        prop_assert!(message.contains(text.as_str()));
    }
}
