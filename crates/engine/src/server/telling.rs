//! What a server tells of its host, and whom.

use std::net::{IpAddr, SocketAddr};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::session::ServerFacts;
use v6gap_core::session::access::Access;
use v6gap_sys::socket::Listener;
use v6gap_sys::{entropy, interface};

/// The clock that strangers are told is ahead by up to 2^53 ns, some 104 days.
const CLOCK_SHIFT: u32 = 11;

/// What there is to tell.
pub(super) struct Telling {
    /// What the server says of itself.
    pub(super) facts: ServerFacts,
    /// Who is told all of that, and which addresses this host has.
    pub(super) familiar: Access,
    /// The addresses that anybody is told, where it was said which; then nobody is told others.
    pub(super) announced: Option<Vec<IpAddr>>,
}

impl Telling {
    /// What a client from there is told of this host.
    pub(super) fn facts_for(&self, peer: SocketAddr) -> ServerFacts {
        if self.familiar.admits(peer.ip()) {
            return self.facts.clone();
        }
        // Without randomness the clock is told as it is; there was some for the nonce.
        let ahead = entropy::bytes().unwrap_or_default();
        self.facts.to_strangers(u64::from_ne_bytes(ahead) >> CLOCK_SHIFT)
    }

    /// Where a client from `peer`, which reached the server at `local`, finds it in the other
    /// family, the likeliest first. Only clients on loopback are told of loopback.
    pub(super) fn addresses_for(
        &self,
        peer: IpAddr,
        local: IpAddr,
        listeners: &PerFamily<Option<Listener>>,
    ) -> Vec<IpAddr> {
        let Some(family) = Family::of(&peer).map(Family::other) else { return Vec::new() };
        let all = match &self.announced {
            Some(announced) => announced.clone(),
            None if self.familiar.admits(peer) => listeners
                .get(family)
                .as_ref()
                .map_or_else(Vec::new, |listener| reached_at(listener, local)),
            None => Vec::new(),
        };
        let is_told = |address: &IpAddr| {
            Family::of(address) == Some(family) && (peer.is_loopback() || !address.is_loopback())
        };
        all.into_iter().filter(is_told).collect()
    }
}

/// The addresses at which a listener is reached: its own, or where it listens on every one those of
/// this host, the ones of the interface with `local` first, because that is on the same path.
fn reached_at(listener: &Listener, local: IpAddr) -> Vec<IpAddr> {
    match listener.local().map(|at| at.ip()) {
        Ok(at) if at.is_unspecified() => interface::addresses_beside(local).unwrap_or_default(),
        Ok(at) => vec![at],
        Err(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::record::Host;
    use v6gap_core::wire::control::Limits;

    const SIX: &str = "2001:db8::7";

    fn telling(familiar: Access, announced: Option<&[&str]>) -> Telling {
        let tool = "test 1".to_string();
        let (host, limits) = (Host::default(), Limits::default());
        let facts = ServerFacts { tool, host, limits, clock_ahead_ns: 0 };
        let parse = |text: &&str| text.parse::<IpAddr>().unwrap();
        let parsed = |all: &[&str]| all.iter().map(parse).collect();
        Telling { facts, familiar, announced: announced.map(parsed) }
    }

    fn listening(at: PerFamily<IpAddr>) -> PerFamily<Option<Listener>> {
        at.map(|at| Some(Listener::bind(SocketAddr::new(at, 0), 1).unwrap()))
    }

    /// What a client from `peer` is told that reached the server at `local`.
    fn told(telling: &Telling, at: PerFamily<IpAddr>, [peer, local]: [&str; 2]) -> Vec<String> {
        let [peer, local] = [peer, local].map(|text| text.parse().unwrap());
        let told = telling.addresses_for(peer, local, &listening(at));
        told.iter().map(ToString::to_string).collect()
    }

    const LOOPBACK: [&str; 2] = ["127.0.0.1", "127.0.0.1"];
    const NEAR: [&str; 2] = ["192.0.2.1", "192.0.2.7"];
    const FAR: [&str; 2] = ["8.8.8.8", "192.0.2.7"];

    #[test]
    fn what_was_configured_is_told_to_everybody_and_nothing_else() {
        let every = PerFamily::from_fn(Family::unspecified);
        let listed = telling(Access::Listed(Vec::new()), Some(&["192.0.2.7", SIX]));
        for from in [LOOPBACK, NEAR, FAR] {
            assert_eq!(told(&listed, every, from), [SIX], "{from:?}");
        }
        assert_eq!(told(&listed, every, ["2001:db8::1", SIX]), ["192.0.2.7"]);
        let silent = telling(Access::Anyone, Some(&[]));
        for from in [LOOPBACK, NEAR, FAR] {
            assert!(told(&silent, every, from).is_empty(), "{from:?}");
        }
    }

    #[test]
    fn its_own_are_told_to_who_is_told_all() {
        let loopback = PerFamily::from_fn(Family::loopback);
        let own = telling(Access::Near, None);
        assert_eq!(told(&own, loopback, LOOPBACK), ["::1"]);
        assert_eq!(told(&own, loopback, ["::1", "::1"]), ["127.0.0.1"]);
        // Nothing that listens on this computer alone is for others, near as they may be.
        assert!(told(&own, loopback, NEAR).is_empty());
        let every = PerFamily::from_fn(Family::unspecified);
        assert!(told(&own, every, FAR).is_empty());
        if interface::addresses().is_ok() {
            assert_eq!(told(&own, every, LOOPBACK)[0], "::1", "what is beside it comes first");
            assert!(!told(&own, every, NEAR).contains(&"::1".to_string()));
        }
    }

    #[test]
    fn a_family_that_is_not_served_is_not_told() {
        let own = telling(Access::Anyone, None);
        let [peer, local] = LOOPBACK.map(|text| text.parse().unwrap());
        let four = listening(PerFamily::from_fn(Family::unspecified)).v4;
        assert!(own.addresses_for(peer, local, &PerFamily { v4: four, v6: None }).is_empty());
    }
}
