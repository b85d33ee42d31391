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
fn all_addresses_are_told_those_beside_one_first() {
    let Ok(mut all) = addresses() else { return };
    let mut beside = addresses_beside("::1".parse().unwrap()).unwrap();
    assert!(beside[0].is_loopback(), "{beside:?}");
    all.sort_unstable();
    beside.sort_unstable();
    assert_eq!(all, beside);
}

#[test]
fn loopback_is_not_listed() {
    if let Ok(names) = up() {
        assert!(!names.iter().any(|name| name == "lo"), "{names:?}");
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]));
    }
}

#[test]
fn the_interface_of_an_address_is_found_where_there_is_one() {
    for loopback in ["127.0.0.1", "::1"] {
        match with_address(loopback.parse().unwrap()) {
            Ok(name) => {
                assert_eq!(name, "lo");
                assert!(addresses().unwrap().contains(&loopback.parse().unwrap()));
            }
            Err(missing) => assert!(!missing.because.is_empty()),
        }
    }
    if with_address("127.0.0.1".parse().unwrap()).is_ok() {
        assert!((1..100).any(|index| of_index(index).is_ok_and(|name| name == "lo")));
    }
    assert!(of_index(0x7fff_ffff).is_err());
    // An address for documentation (RFC 5737) is nobody's.
    assert!(with_address("192.0.2.1".parse().unwrap()).is_err());
    assert!(speed_bps("no-such-if0").is_err() && speed_bps("a/b").is_err());
}
