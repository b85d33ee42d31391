//! For which values one look is enough, and which law they may ask for.

use super::*;

const END: Validity = Validity::AtEnd { left: LEFT };
const EVEN: [f64; 12] = [1.0, -1.2, 0.8, -0.9, 1.1, -1.0, 0.9, -0.7, 1.0, -1.1, 0.8, -0.7];

#[test]
fn one_look_is_for_values_that_bear_it() {
    assert_eq!((END.of_values(&EVEN), END.of_values(&EVEN[..8])), (END, END));
    assert_eq!(END.of_values(&EVEN[..7]), Validity::AnyTime);
    let rising: [f64; 12] = core::array::from_fn(|i| i as f64 + EVEN[i]);
    assert_eq!(END.of_values(&rising), Validity::AnyTime);
    let mut far = EVEN;
    far[2] = 40.0;
    assert_eq!((END.of_values(&far), END.of_values(&far[..8])), (Validity::AnyTime, END));
    assert_eq!(Validity::FixedNumber.of_values(&far), Validity::FixedNumber);
    assert_eq!(Validity::AnyTime.at_once(true), Validity::AnyTime);
}

/// A hundred questions, corrected together, need more than twelve signed ranks can tell.
#[test]
fn so_few_signed_ranks_are_not_asked_for_many_questions() {
    assert!(!END.normal_must_do(12, 70) && END.normal_must_do(12, 100));
    assert!(!Validity::AnyTime.normal_must_do(12, 100));
}
