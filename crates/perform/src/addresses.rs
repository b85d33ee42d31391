//! All addresses of a name, and which of them are compared with each other.

use crate::target::{Unfit, look_up};
use std::net::{IpAddr, SocketAddr};
use v6gap_core::family::{Family, PerFamily, wide};
use v6gap_core::workload::Visit;

/// The addresses of a name in each family, in the order of their bytes and each once: name servers
/// give them in another order each time.
///
/// # Errors
/// If it has none.
pub(crate) fn all(name: &str, port: u16) -> Result<PerFamily<Vec<SocketAddr>>, Unfit> {
    Ok(sorted(&look_up(name, port, false)?))
}

/// The same of those that a name server told.
pub(crate) fn told(told: &PerFamily<Vec<IpAddr>>, port: u16) -> PerFamily<Vec<SocketAddr>> {
    let both = told.v4.iter().chain(&told.v6);
    sorted(&both.map(|address| SocketAddr::new(*address, port)).collect::<Vec<_>>())
}

fn sorted(found: &[SocketAddr]) -> PerFamily<Vec<SocketAddr>> {
    PerFamily::from_fn(|family| {
        let own = found.iter().filter(|address| Family::of(&address.ip()) == Some(family));
        let mut own: Vec<SocketAddr> = own.copied().collect();
        own.sort_by_key(|address| wide(address.ip()));
        own.dedup();
        own
    })
}

/// Which are compared: the first of both families, the second, and so on, four pairs at most. Of
/// the family with fewer addresses the first follows the last, so that each is compared; none where
/// a family has no address.
pub(crate) fn pairs(all: &PerFamily<Vec<SocketAddr>>) -> Vec<PerFamily<SocketAddr>> {
    let of = |family: Family, index: usize| all.get(family).iter().cycle().nth(index).copied();
    let pair = |index| Some(PerFamily { v4: of(Family::V4, index)?, v6: of(Family::V6, index)? });
    let many = all.v4.len().max(all.v6.len()).min(usize::from(Visit::PAIRS_MAX));
    (0..many).map_while(pair).collect()
}

/// What is said where a name has more addresses than are visited.
pub(crate) fn beyond(all: &PerFamily<Vec<SocketAddr>>) -> Option<String> {
    let most = usize::from(Visit::PAIRS_MAX);
    let many = |family: Family| {
        let many = all.get(family).len();
        (many > most).then(|| format!("{most} of its {many} {family} addresses"))
    };
    let more: Vec<String> = Family::BOTH.into_iter().filter_map(many).collect();
    (!more.is_empty()).then(|| format!("only {} are visited", more.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(fours: &[&str], sixes: &[&str]) -> PerFamily<Vec<SocketAddr>> {
        let of = |texts: &[&str]| {
            let address = |text: &&str| SocketAddr::new(text.parse().unwrap(), 443);
            texts.iter().map(address).collect()
        };
        PerFamily { v4: of(fours), v6: of(sixes) }
    }

    fn paired(all: &PerFamily<Vec<SocketAddr>>) -> Vec<String> {
        let words = |pair: PerFamily<SocketAddr>| format!("{} {}", pair.v4.ip(), pair.v6.ip());
        pairs(all).into_iter().map(words).collect()
    }

    #[test]
    fn the_shorter_list_begins_again() {
        let all = known(&["192.0.2.1", "192.0.2.2", "192.0.2.3"], &["2001:db8::1", "2001:db8::2"]);
        let expected = ["192.0.2.1 2001:db8::1", "192.0.2.2 2001:db8::2", "192.0.2.3 2001:db8::1"];
        assert_eq!(paired(&all), expected);
        assert_eq!(beyond(&all), None);
        let one = known(&["192.0.2.1"], &["2001:db8::1", "2001:db8::2"]);
        assert_eq!(paired(&one), ["192.0.2.1 2001:db8::1", "192.0.2.1 2001:db8::2"]);
        // Without both families there is nothing to compare.
        assert!(paired(&known(&["192.0.2.1", "192.0.2.2"], &[])).is_empty());
        assert!(paired(&known(&[], &["2001:db8::1"])).is_empty());
    }

    #[test]
    fn four_pairs_are_enough_and_more_are_named() {
        let fours = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"];
        let all = known(&fours, &["2001:db8::1"]);
        assert_eq!(paired(&all).len(), 4);
        assert_eq!(paired(&all)[3], "192.0.2.4 2001:db8::1");
        assert_eq!(beyond(&all).as_deref(), Some("only 4 of its 5 IPv4 addresses are visited"));
    }

    #[test]
    fn an_address_is_that_of_its_family_alone() {
        let found = all("192.0.2.7", 443).unwrap();
        assert_eq!(found, known(&["192.0.2.7"], &[]));
        assert!(matches!(all("::ffff:192.0.2.1", 443), Err(Unfit::Unusable { .. })));
    }
}
