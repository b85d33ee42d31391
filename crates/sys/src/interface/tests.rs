//! The interfaces of the machine that runs the tests; every Linux has loopback.

use super::*;

#[test]
fn loopback_has_features_of_both_families_or_the_reason_is_told() {
    match features("lo") {
        Ok(features) => {
            for name in ["tx-tcp-segmentation", "tx-tcp6-segmentation", "rx-gro"] {
                assert!(features.contains_key(name), "{name} of {features:?}");
            }
            assert!(features.values().any(|on| *on), "loopback takes over something");
        }
        Err(unavailable) => assert!(unavailable.to_string().contains("features")),
    }
}

#[test]
fn what_is_no_interface_has_none() {
    for name in ["no-such-if0", "a-name-much-too-long-for-one", ""] {
        assert!(features(name).is_err(), "{name}");
    }
}

#[test]
fn loopback_is_not_listed() {
    if let Ok(names) = up() {
        assert!(!names.iter().any(|name| name == "lo"), "{names:?}");
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
