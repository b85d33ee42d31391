//! What the reader of the plain form accepts, against the complete one.

use super::*;
use crate::observation::EndReport;
use crate::wire::arbitrary::end_report;
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;
use proptest::prelude::*;
use serde_json::Value;

/// What this reader accepts the complete one accepts and reads alike.
fn agrees<'a, T: Deserialize<'a> + PartialEq + Debug>(text: &'a str) -> Option<T> {
    let plain = read::<T>(text);
    if let Some(value) = &plain {
        assert_eq!(serde_json::from_str::<T>(text).ok().as_ref(), Some(value), "{text}");
    }
    plain
}

/// Text of the characters that JSON is made of.
fn json_like() -> impl Strategy<Value = String> {
    proptest::collection::vec("[-+.0123456789eE\\[\\]{},: tfnul\"a\\\\]", 0..12)
        .prop_map(|parts| parts.concat())
}

proptest! {
    /// Values of every shape, as the complete writer puts them.
    #[test]
    fn what_is_written_is_accepted_and_read_alike(
        whole: (u64, i64, u32, bool), real: f64, name in "[^\\\\\"[:cntrl:]]*", some: Option<i64>,
    ) {
        prop_assume!(real.is_finite());
        let (a, b, c, d) = whole;
        let text = format!("{{\"a\":{a},\"b\":{b},\"c\":[{c},{d}]}}");
        prop_assert!(agrees::<Value>(&text).is_some());
        prop_assert_eq!(agrees::<u64>(&format!("{}", whole.0)), Some(whole.0));
        prop_assert_eq!(agrees::<i64>(&format!("{}", whole.1)), Some(whole.1));
        prop_assert_eq!(agrees::<u32>(&format!("{}", whole.2)), Some(whole.2));
        let written = serde_json::to_string(&real).unwrap();
        prop_assert_eq!(agrees::<f64>(&written).map(f64::to_bits), Some(real.to_bits()));
        let written = serde_json::to_string(&name).unwrap();
        prop_assert_eq!(agrees::<Cow<'_, str>>(&written), Some(Cow::Borrowed(name.as_str())));
        let written = serde_json::to_string(&some).unwrap();
        prop_assert_eq!(agrees::<Option<i64>>(&written), Some(some));
    }

    /// The short way of fractions, at and beyond its limits.
    #[test]
    fn fractions_are_read_alike(
        whole in 0u64..1 << 40,
        fraction in 0u64..1 << 40,
        zeros in 0usize..9,
    ) {
        let text = format!("{whole}.{}{fraction}", "0".repeat(zeros));
        let nearest: f64 = text.parse().unwrap();
        prop_assert_eq!(agrees::<f64>(&text).map(f64::to_bits), Some(nearest.to_bits()));
    }

    /// The short way of histograms, with any byte changed.
    #[test]
    fn pairs_are_read_alike(
        pairs: Vec<(u64, u32)>,
        at: prop::sample::Index,
        with in "[-0-9\\[\\]{},. e]?",
        cut: bool,
    ) {
        let steps: Buckets = pairs.iter().map(|&(value, count)| (value, count.into())).collect();
        for text in [serde_json::to_string(&pairs), serde_json::to_string(&steps)] {
            let text = text.unwrap();
            prop_assert!(agrees::<Buckets>(&text).is_some());
            let at = at.index(text.len());
            let rest = &text[at + usize::from(cut)..];
            agrees::<Buckets>(&format!("{}{with}{rest}", &text[..at]));
        }
    }

    /// Nothing is accepted that the complete reader refuses or reads otherwise.
    #[test]
    fn no_other_text_is_accepted(text in json_like()) {
        agrees::<Value>(&text);
        agrees::<u64>(&text);
        agrees::<i64>(&text);
        agrees::<f64>(&text);
        agrees::<Option<bool>>(&text);
        agrees::<Vec<(u64, u64)>>(&text);
        agrees::<Buckets>(&text);
        agrees::<BTreeMap<String, f64>>(&text);
    }

    /// A written value with one byte changed, left out or put in.
    #[test]
    fn nor_one_that_is_nearly_right(
        report in end_report(),
        at: prop::sample::Index,
        with in "[-0-9a\\[\\]{}:,.\" ]?", cut: bool,
    ) {
        let text = serde_json::to_string(&report).unwrap();
        prop_assert_eq!(agrees::<EndReport>(&text).is_some(), !text.contains('\\'));
        let at = at.index(text.len());
        prop_assume!(text.is_char_boundary(at) && text.is_char_boundary(at + 1));
        let rest = &text[at + usize::from(cut)..];
        agrees::<EndReport>(&format!("{}{with}{rest}", &text[..at]));
    }
}

#[test]
fn unusual_forms_are_left_to_the_complete_reader() {
    for text in ["", " 1", "1 ", "01", "-01", "+1", "1.", ".5", "1e", "1e999", "nan", "-", "--1"] {
        assert_eq!(agrees::<f64>(text), None, "{text}");
    }
    for text in ["-0", "1.0", "1e3", "18446744073709551616", "00", "-1"] {
        assert_eq!(agrees::<u64>(text), None, "{text}");
    }
    assert_eq!(agrees::<u64>("18446744073709551615"), Some(u64::MAX));
    assert_eq!(agrees::<i64>("-9223372036854775808"), Some(i64::MIN));
    assert_eq!(agrees::<i64>("-9223372036854775809"), None);
    for text in ["[1,]", "[,1]", "[1 ,2]", "[1}", "[1", "[[1]"] {
        assert_eq!(agrees::<Value>(text), None, "{text}");
    }
    assert_eq!(agrees::<String>(r#""a\n""#), None);
    assert_eq!(agrees::<Value>(r#"{1:2}"#), None);
    assert_eq!(agrees::<Value>(r#"{"a":1,}"#), None);
}

/// Nesting takes room on the stack, and the text may come from anyone.
#[test]
fn deep_nesting_is_refused() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(agrees::<Value>(&deep(DEPTH_MAX as usize)).is_some());
    assert_eq!(agrees::<Value>(&deep(DEPTH_MAX as usize + 1)), None);
    assert_eq!(read::<Value>(&deep(1_000_000)), None);
}
