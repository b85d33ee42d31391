//! Where a host is: by names, by addresses, and as it was before.

use super::*;
use v6gap_core::plan::preset;

#[track_caller]
fn unusable(result: Result<Target, Unfit>) {
    let unfit = result.unwrap_err();
    assert!(matches!(unfit, Unfit::Unusable { .. }), "{unfit}");
}

#[test]
fn literal_addresses_need_no_resolver() {
    let target = resolve("192.0.2.7", 4466, None, Some("2001:db8::7")).unwrap();
    assert_eq!(target.addresses.v4, Some("192.0.2.7:4466".parse().unwrap()));
    assert_eq!(target.addresses.v6, Some("[2001:db8::7]:4466".parse().unwrap()));
    for wrong in ["[2001:db8::7]:70000", "[2001:db8::7]:50O0", "[2001:db8::7]99"] {
        unusable(resolve(wrong, 4466, None, None));
    }
    let target = resolve("[2001:db8::7]:99", 4466, None, None).unwrap();
    assert_eq!(target.addresses.v6, Some("[2001:db8::7]:99".parse().unwrap()));
    assert_eq!(target.addresses.v4, None);
    assert_eq!(resolve("192.0.2.7:99", 1, None, None).unwrap().addresses.v4.unwrap().port(), 99);
}

#[test]
fn a_name_needs_no_resolver_if_both_addresses_are_given() {
    let target = resolve("nas", 1, Some("192.0.2.7"), Some("2001:db8::7")).unwrap();
    assert_eq!(target.name, "nas");
    assert!(target.comparable().is_ok());
}

#[test]
fn what_was_given_goes_before_what_a_name_server_tells() {
    let six = "2001:db8::7".parse().ok();
    let tells = PerFamily { v4: "192.0.2.7".parse().ok(), v6: six };
    let target = |given, tells| told("nas", 1, given, tells).unwrap().addresses;
    let given = PerFamily { v4: Some("192.0.2.8"), v6: None };
    let [eight, seven] = ["192.0.2.8:1", "[2001:db8::7]:1"].map(|text| text.parse().ok());
    assert_eq!(target(given, tells), PerFamily { v4: eight, v6: seven });
    // IPv4 in the form of IPv6 would be measured under a wrong name.
    let mapped = PerFamily { v4: None, v6: "::ffff:192.0.2.7".parse().ok() };
    assert_eq!(target(given, mapped), PerFamily { v4: eight, v6: None });
}

#[test]
fn only_networks_of_one_s_own_are_near() {
    let near = |text: &str| is_near(text.parse().unwrap());
    for address in ["127.0.0.1", "10.1.2.3", "169.254.1.1", "::1", "fd12::1", "fe80::1"] {
        assert!(near(address), "{address}");
    }
    for address in ["192.0.2.1", "100.64.0.1", "2001:db8::1", "64:ff9b::1"] {
        assert!(!near(address), "{address}");
    }
    let of = |v6| resolve("it", 1, Some("10.1.2.3"), Some(v6)).unwrap().is_near();
    assert!(of("fd12::1") && !of("2001:db8::1"), "all of them have to be");
}

#[test]
fn a_missing_family_is_named() {
    let alone = resolve("192.0.2.7", 4466, None, None).unwrap();
    assert_eq!(alone.lacks(PerArm::FAMILIES), Some(Family::V6));
    assert_eq!(alone.lacks(PerArm { a: Family::V6, b: Family::V6 }), Some(Family::V6));
    assert_eq!(alone.lacks(PerArm { a: Family::V4, b: Family::V4 }), None);
    let both = resolve("nas", 4466, Some("192.0.2.7"), Some("2001:db8::7")).unwrap();
    assert_eq!(both.lacks(PerArm::FAMILIES), None);
    let found = alone.comparable().unwrap_err();
    assert!(matches!(found, Unfit::NoAddress { missing: Family::V6, .. }), "{found}");
}

#[test]
fn addresses_that_cannot_be_measured_are_refused() {
    let found = resolve("fe80::1", 1, None, None).unwrap_err();
    assert!(matches!(found, Unfit::NoZone { .. }), "{found}");
    unusable(resolve("::ffff:192.0.2.1", 1, None, None));
    unusable(resolve("x", 1, Some("2001:db8::1"), None));
    unusable(resolve("a:b:c", 1, None, None));
    unusable(resolve("192.0.2.1%eth0", 1, None, None));
}

#[test]
fn addresses_to_measure_from_are_of_this_host_and_one_of_a_family() {
    let target = resolve("127.0.0.1", 1, None, None).unwrap();
    let from = |bind: &[&str]| {
        let bind: Vec<String> = bind.iter().map(ToString::to_string).collect();
        target.clone().from(&bind)
    };
    assert_eq!(from(&[]).unwrap().local, PerFamily::default());
    let local = from(&["127.0.0.1"]).unwrap().local;
    assert_eq!(local, PerFamily { v4: Some("127.0.0.1:0".parse().unwrap()), v6: None });
    // An address for documentation (RFC 5737) is nobody's.
    let found = from(&["192.0.2.1"]).unwrap_err();
    assert!(matches!(found, Unfit::NotHere { .. }), "{found}");
    unusable(from(&["localhost"]));
    unusable(from(&["127.0.0.1%lo"]));
    let found = from(&["127.0.0.1", "127.0.0.2"]).unwrap_err();
    assert!(matches!(found, Unfit::Two { family: Family::V4, .. }), "{found}");
    // The server may tell an address of that family.
    let found = from(&["::1"]).unwrap().bound().unwrap_err();
    assert!(matches!(found, Unfit::NoSuchWay { family: Family::V6, .. }), "{found}");
}

#[test]
fn a_run_goes_on_at_the_addresses_where_it_began() {
    let plan = preset::first_look(PerArm::FAMILIES, None, 1);
    let target = |v6| resolve("nas", 1, Some("127.0.0.1"), Some(v6)).unwrap();
    let mut header = RunHeader {
        addresses: target("2001:db8::7").addresses.map(|address| address.map(|a| a.ip())),
        ..RunHeader::new("7k2f9q".parse().unwrap(), plan)
    };
    assert!(target("2001:db8::7").as_before(&header).is_ok());
    let text = target("2001:db8::8").as_before(&header).unwrap_err().to_string();
    assert_eq!(text, "nas is 2001:db8::8, and 7k2f9q was measured with 2001:db8::7");
    // Whose other address has to be asked for has to be where it was.
    let one = resolve("127.0.0.1", 1, None, None).unwrap().as_before(&header).unwrap();
    assert_eq!(one.wanted, PerFamily { v4: None, v6: header.addresses.v6 });
    assert_eq!(one.addresses.v6, None);
    header.bind.v4 = Some("127.0.0.1".parse().unwrap());
    let again = target("2001:db8::7").as_before(&header).unwrap();
    assert_eq!(again.local.v4, Some("127.0.0.1:0".parse().unwrap()));
    let other = target("2001:db8::7").from(&["127.0.0.2".to_owned()]).unwrap();
    let found = other.as_before(&header).unwrap_err();
    assert!(matches!(found, Elsewhere::Here(_)), "{found}");
}

#[test]
fn a_run_goes_on_by_the_link_by_which_it_began() {
    let four = PerArm { a: Family::V4, b: Family::V4 };
    let target = resolve("127.0.0.1", 1, None, None).unwrap();
    let Some(link) = target.way_out(Family::V4) else {
        return println!("not tested: this system does not tell which way packets leave");
    };
    let addresses = target.addresses.map(|address| address.map(|a| a.ip()));
    let plan = preset::first_look(four, None, 1);
    let header = RunHeader { addresses, ..RunHeader::new("7k2f9q".parse().unwrap(), plan) };
    let by = |link: &str| {
        let mut header = header.clone();
        let facts = &mut header.hosts.client.facts;
        facts.insert(names::way_out(Family::V4).to_owned(), link.to_owned());
        target.clone().as_before(&header)
    };
    assert!(by(&link).is_ok() && target.clone().as_before(&header).is_ok());
    let text = by("eth9").unwrap_err().to_string();
    let expected = format!("IPv4 leaves this host by {link}, and 7k2f9q was measured by eth9");
    assert_eq!(text, expected);
}

#[test]
fn a_zone_may_be_a_number() {
    let target = resolve("fe80::1%3", 1, None, None).unwrap();
    assert!(matches!(target.addresses.v6, Some(SocketAddr::V6(a)) if a.scope_id() == 3));
}
