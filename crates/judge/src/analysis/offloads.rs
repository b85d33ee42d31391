//! Whether a network card does as much for one family as for the other.
//!
//! Segmentation and checksums have a bit for each family. Where they differ, the difference that is
//! measured is that of protocol and card together.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use v6gap_core::host::Host;

/// Pairs of features: what is taken over, the bit of IPv4, the bit of IPv6, and a bit that holds
/// for both.
const PAIRS: [(&str, &str, &str, &str); 2] = [
    ("TCP segmentation", "tx-tcp-segmentation", "tx-tcp6-segmentation", ""),
    ("checksums", "tx-checksum-ipv4", "tx-checksum-ipv6", "tx-checksum-ip-generic"),
];

/// Something that an interface does for one family alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Name of the interface.
    pub interface: String,
    /// What it does, in words.
    pub what: &'static str,
    /// For which family.
    pub family: &'static str,
    /// The feature of that family by the kernel's name, which can be switched off.
    pub feature: &'static str,
}

/// What differs at `host`, one sentence for each interface and feature.
pub(super) fn differences(host: &Host) -> Vec<String> {
    let sentence = |d: Difference| {
        format!(
            "{} at {} does {} for {} alone: what is measured is that of stack and card together",
            d.interface, host.name, d.what, d.family
        )
    };
    found(host).into_iter().map(sentence).collect()
}

/// What differs at `host`, for each interface and feature.
pub(crate) fn found(host: &Host) -> Vec<Difference> {
    let mut found = Vec::new();
    for (fact, on) in &host.facts {
        let of = fact.strip_prefix("interface.").and_then(|f| f.strip_suffix(".offloads"));
        let Some(interface) = of else { continue };
        let has = |feature: &str| on.split(' ').any(|name| name == feature);
        for (what, v4, v6, both) in PAIRS {
            if has(v4) != has(v6) && !has(both) {
                let (family, feature) = if has(v4) { ("IPv4", v4) } else { ("IPv6", v6) };
                found.push(Difference { interface: interface.into(), what, family, feature });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn host(on: &str) -> Host {
        let facts = [("interface.eth0.offloads".to_string(), on.to_string())].into();
        Host { name: "near".to_string(), facts }
    }

    #[test]
    fn a_card_that_serves_one_family_is_named() {
        assert!(differences(&host("")).is_empty());
        assert!(differences(&host("tx-tcp-segmentation tx-tcp6-segmentation")).is_empty());
        assert!(differences(&host("tx-checksum-ip-generic tx-checksum-ipv4")).is_empty());
        let found = differences(&host("tx-checksum-ipv6 tx-tcp-segmentation"));
        assert_eq!(found.len(), 2);
        assert!(found[0].contains("eth0 at near does TCP segmentation for IPv4 alone"));
        assert!(found[1].contains("checksums for IPv6 alone"));
    }
}
