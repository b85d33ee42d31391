//! Whether both families lead to one machine, by what the first visits saw.

use std::net::IpAddr;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::nat64::Prefix;
use v6gap_judge::sameness::{Difference, Evidence, Same, Seen};
use v6gap_sys::clock;
use v6gap_visit::{Roots, Visited, public_key};

const NS_PER_S: u64 = 1_000_000_000;

/// Headers by which networks of caches name the place that answered, and whether it stands behind
/// the last hyphen: what is in front of it differs from one answer to the next.
const EDGES: [(&str, bool); 3] = [("cf-ray", true), ("x-served-by", true), ("x-amz-cf-pop", false)];

/// What is wrong with the certificates of each family; nothing where there are none, and `None`
/// where this system trusts nobody, so that nothing can be said of those that came.
pub(crate) fn objections(
    seen: &PerFamily<Option<Visited>>,
    host: &str,
) -> Option<PerFamily<Option<String>>> {
    let has_any = seen.v4.iter().chain(&seen.v6).any(|visited| !visited.chain.is_empty());
    if !has_any {
        return Some(PerFamily::default());
    }
    by_roots(&Roots::of_system(), seen, host)
}

fn by_roots(
    roots: &Roots,
    seen: &PerFamily<Option<Visited>>,
    host: &str,
) -> Option<PerFamily<Option<String>>> {
    let now_s = clock::wall_ns() / NS_PER_S;
    (!roots.is_empty()).then(|| {
        seen.as_ref().map(|visited| {
            let chain = visited.as_ref().map(|visited| &visited.chain);
            roots.objection(chain.filter(|chain| !chain.is_empty())?, host, now_s)
        })
    })
}

/// What browsers would say of certificates that they would take over neither family.
pub(crate) fn objected(PerFamily { v4, v6 }: PerFamily<&str>) -> String {
    match v4 == v6 {
        true => format!("browsers would not take its certificate: {v4}"),
        false => format!("browsers would take neither certificate: over IPv4 {v4}; over IPv6 {v6}"),
    }
}

/// What of it tells whether they are the same.
pub(crate) fn evidence(
    seen: &PerFamily<Option<Visited>>,
    ticket: Option<bool>,
    translated: bool,
) -> Evidence {
    let of = seen.as_ref().map(|visited| visited.as_ref().map(of_one).unwrap_or_default());
    Evidence { of, ticket, translated }
}

fn of_one(visited: &Visited) -> Seen {
    let header = |name: &str| {
        let headers = &visited.told.as_ref()?.headers;
        headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    Seen {
        key: visited.chain.first().and_then(|certificate| public_key(certificate)),
        status: visited.told.as_ref().map(|told| told.status),
        server: header("server"),
        edge: edge(header),
    }
}

/// The place that answered.
fn edge(header: impl Fn(&str) -> Option<String>) -> Option<String> {
    EDGES.into_iter().find_map(|(name, is_behind)| {
        let value = header(name)?;
        let place = value.rsplit('-').next().filter(|_| is_behind).map(str::to_owned);
        place.or(Some(value))
    })
}

/// Whether the IPv6 address is made of the IPv4 address by a translator (RFC 6052): by the prefix
/// that is for all, or by the network's own.
pub(crate) fn is_translated(addresses: PerFamily<Option<IpAddr>>, own: Option<Prefix>) -> bool {
    let (Some(IpAddr::V4(four)), Some(six @ IpAddr::V6(of_six))) = (addresses.v4, addresses.v6)
    else {
        return false;
    };
    let by_all =
        || Family::arriving(&six) == Some(Family::V4) && of_six.octets()[12..] == four.octets();
    by_all() || own.is_some_and(|prefix| prefix.of(of_six) == Some(four))
}

/// What follows of it, as a note of the result.
pub(crate) fn words(same: Same) -> &'static str {
    match same {
        Same::Proved => {
            "one machine: the IPv6 address is made of the IPv4 address by a translator (NAT64)"
        }
        Same::Service => "one service: a TLS ticket from IPv4 was accepted over IPv6",
        Same::Unknown => "whether both addresses lead to one machine is not known",
        Same::Different(Difference::Key) => {
            "two machines are compared: their certificates have different keys"
        }
        Same::Different(Difference::Status) => {
            "two answers are compared, perhaps of one machine: their statuses differ"
        }
        Same::Different(Difference::Server) => {
            "two machines are compared: they call themselves differently (Server)"
        }
        Same::Different(Difference::Edge) => {
            "two machines are compared: different edges of a network answer"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_translator_holds_the_other_one() {
        let of = |six: &str| {
            let v4 = Some("192.0.2.33".parse().unwrap());
            let own = Prefix::told(["2001:db8:64::192.0.0.170".parse().unwrap()]);
            is_translated(PerFamily { v4, v6: Some(six.parse().unwrap()) }, own)
        };
        assert!(of("64:ff9b::192.0.2.33") && of("2001:db8:64::192.0.2.33"));
        assert!(!of("64:ff9b::192.0.2.34") && !of("2001:db8::192.0.2.33"));
    }

    /// What cannot be checked is not refused, and what is refused has a reason for each family.
    #[test]
    fn certificates_are_objected_to_by_roots_alone() {
        let visited = Visited { chain: vec![vec![1]], ..Visited::default() };
        let seen = PerFamily { v4: Some(visited.clone()), v6: Some(visited) };
        assert_eq!(by_roots(&Roots::none(), &seen, "example.org"), None);
        let none = PerFamily { v4: None, v6: None };
        assert_eq!(objections(&none, "example.org"), Some(PerFamily::default()));
        let both = objected(PerFamily { v4: "expired", v6: "unknown" });
        assert!(both.contains("over IPv4 expired; over IPv6 unknown"), "{both}");
    }

    /// A machine may turn away who comes from addresses of one family.
    #[test]
    fn another_status_is_another_answer_and_no_other_machine() {
        let said = words(Same::Different(Difference::Status));
        assert!(said.starts_with("two answers") && !said.contains("two machines"), "{said}");
    }

    #[test]
    fn an_edge_is_named_without_what_differs_each_time() {
        let of = |name: &str, value: &str| {
            edge(|asked| (asked == name).then(|| value.to_owned())).unwrap()
        };
        assert_eq!(of("cf-ray", "8f1b2c3d4e5f6a7b-FRA"), "FRA");
        assert_eq!(of("x-served-by", "cache-fra-eddf8230092-FRA"), "FRA");
        assert_eq!(of("x-amz-cf-pop", "FRA56-P4"), "FRA56-P4");
        assert_eq!(edge(|_| None), None);
    }
}
