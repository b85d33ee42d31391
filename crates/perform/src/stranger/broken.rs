//! What does not work over a family, and what follows of first visits by several versions of HTTP.

use v6gap_core::family::PerFamily;
use v6gap_core::workload::Http;
use v6gap_sys::socket::ErrorClass;
use v6gap_visit::{Failure, Phase, Visited, Why, declines};

/// What does not work over a family.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// The name has no such address.
    #[error("no address")]
    NoAddress,
    /// The name server does not answer for such an address.
    #[error("no address: the name server does not answer for {0}")]
    Unanswered(&'static str),
    /// The name server answers for such an address that something is wrong.
    #[error("no address: the name server answers {1} for {0}")]
    Untold(&'static str, String),
    /// This host has no way there.
    #[error("no route")]
    NoRoute,
    /// Nobody listens there, or a firewall answers so.
    #[error("refused")]
    Refused,
    /// Nothing came back.
    #[error("no answer")]
    NoAnswer,
    /// Nothing came back over UDP, where QUIC was tried.
    #[error("HTTP/3: no answer over UDP")]
    NoQuic,
    /// Somebody on the way does not let it pass.
    #[error("prohibited")]
    Prohibited,
    /// No connection of TLS or QUIC.
    #[error("TLS: {0}")]
    Tls(String),
    /// It began and did not go on.
    #[error("stalls after {0} B")]
    Stalls(u64),
    /// The same, but not with small segments.
    #[error(
        "stalls after {0} B, and not with segments of {size} B: larger packets vanish on the way",
        size = v6gap_visit::SMALL_BYTES
    )]
    StallsIfLarge(u64),
    /// The server answers that it cannot.
    #[error("answers {0}")]
    Answers(u16),
    /// Browsers would not take its certificate, and take that of the other family.
    #[error("wrong site: {0}")]
    WrongSite(String),
    /// What came is not what was asked for.
    #[error("{0}")]
    Other(String),
}

impl Broken {
    pub(super) fn of(failure: &Failure) -> Self {
        let silent = matches!(failure.why, Why::Silent(_));
        match (&failure.why, failure.phase) {
            (Why::Socket(error), Phase::Connect | Phase::Quic) => match error.class() {
                ErrorClass::Refused => Broken::Refused,
                ErrorClass::TimedOut => Broken::NoAnswer,
                ErrorClass::NoRoute | ErrorClass::AddressUnavailable => Broken::NoRoute,
                ErrorClass::Permission => Broken::Prohibited,
                _ => Broken::Other(failure.to_string()),
            },
            _ if silent && failure.bytes == 0 && failure.phase == Phase::Quic => Broken::NoQuic,
            _ if silent => Broken::Stalls(failure.bytes),
            (why, Phase::Tls | Phase::Quic) => Broken::Tls(why.to_string()),
            _ => Broken::Other(failure.to_string()),
        }
    }

    /// A server that says it cannot is broken.
    pub(super) fn answers(visited: &Visited) -> Option<Self> {
        let status = visited.told.as_ref()?.status;
        (status >= 500).then_some(Broken::Answers(status))
    }

    /// Whether the server asks to be left alone.
    pub(super) fn is_plea(&self) -> bool {
        matches!(self, Broken::Answers(status) if declines(*status))
    }
}

/// What failed over each family.
type Failures = PerFamily<Option<Broken>>;

/// What became of the first visits, version by version.
#[derive(Debug, Default)]
pub(super) struct Tried {
    /// Versions that work over both families.
    pub(super) http: Vec<Http>,
    /// Whether one does, be it a connection alone.
    works: bool,
    /// What failed last over one family alone.
    of_one: Option<Failures>,
    /// What failed last over both.
    of_both: Option<Failures>,
    /// That the server says it cannot.
    answers: Option<Failures>,
    /// Versions that fail over both, in words.
    unspoken: Vec<String>,
}

impl Tried {
    /// Takes note of the visits by a version.
    pub(super) fn came(&mut self, http: Option<Http>, failures: Failures) {
        let both = [&failures.v4, &failures.v6];
        if both.iter().any(|of| matches!(of, Some(Broken::Answers(_)))) {
            self.answers = Some(failures);
            return;
        }
        match (&failures.v4, &failures.v6) {
            (None, None) => {
                self.works = true;
                self.http.extend(http);
            }
            (Some(four), Some(six)) => {
                self.unspoken.extend(http.map(|http| unspoken(http, four, six)));
                self.of_both = Some(failures);
            }
            (_, _) => self.of_one = Some(failures),
        }
    }

    /// Whether no further version is tried: a server that says it cannot says so by every version,
    /// and where the best alone is looked for it is found.
    pub(super) fn is_over(&self, best_alone: bool) -> bool {
        self.answers.is_some() || best_alone && self.works
    }

    /// What is broken, and what is worth a note. A version that works over one family alone is
    /// broken over the other, whatever others do, unless the best that both speak was looked for.
    /// One that works over neither is not spoken, if another is.
    pub(super) fn ended(self, best_alone: bool) -> (Failures, Vec<String>) {
        let of_one = self.of_one.filter(|_| !(best_alone && self.works));
        let of_both = self.of_both.filter(|_| !self.works);
        let broken = self.answers.or(of_one).or(of_both).unwrap_or_default();
        let is_told = self.works && !best_alone;
        (broken, if is_told { self.unspoken } else { Vec::new() })
    }
}

/// That a version is not spoken, and why.
fn unspoken(http: Http, four: &Broken, six: &Broken) -> String {
    match four == six {
        true => format!("{http} is not measured: it works over neither family ({four})"),
        false => format!(
            "{http} is not measured: it works over neither family (IPv4: {four}; IPv6: {six})"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: Failures = PerFamily { v4: None, v6: None };
    const SIX: Failures = PerFamily { v4: None, v6: Some(Broken::NoQuic) };
    const NEITHER: Failures = PerFamily { v4: Some(Broken::NoQuic), v6: Some(Broken::NoQuic) };

    /// What is broken, and which versions are spoken, after visits in this order.
    fn of(best_alone: bool, all: &[(Http, Failures)]) -> (Vec<Http>, Failures, Vec<String>) {
        let mut tried = Tried::default();
        for (http, failures) in all {
            if tried.is_over(best_alone) {
                break;
            }
            tried.came(Some(*http), failures.clone());
        }
        let http = tried.http.clone();
        let (broken, notes) = tried.ended(best_alone);
        (http, broken, notes)
    }

    /// On an interface that is not there: over TCP and over UDP alike.
    #[test]
    fn an_address_without_a_route_is_told_by_each_version() {
        use std::net::{SocketAddr, SocketAddrV6};
        use v6gap_core::workload::Visit;
        use v6gap_visit::{Limits, Manner, Site, Visitor};
        const NO_INTERFACE: u32 = 0x7fff_ffff;
        let link_local = SocketAddrV6::new("fe80::1".parse().unwrap(), 443, 0, NO_INTERFACE);
        let (site, remote) = (Site::parse("host.example").unwrap(), SocketAddr::V6(link_local));
        for http in Http::ALL {
            let visit = Visit { http: Some(http), ..Visit::default() };
            let limits = Limits::of(&visit, 50_000_000);
            let (site, http, agent) = (&site, visit.http, "v6gap/test");
            let manner = Manner { site, http, remote, local: None, agent, limits };
            let failure = Visitor::default().visit(&manner).unwrap_err();
            assert_eq!(Broken::of(&failure), Broken::NoRoute, "{failure}");
        }
    }

    /// In whatever order versions are asked for.
    #[test]
    fn a_version_that_works_over_one_family_alone_is_broken() {
        let (fine, six) = ((Http::Two, FINE), (Http::Three, SIX));
        for all in [[fine.clone(), six.clone()], [six, fine]] {
            assert_eq!(of(false, &all).1, SIX, "{all:?}");
        }
        // The best that both speak is not.
        assert_eq!(
            of(true, &[(Http::Two, SIX), (Http::One, FINE)]),
            (vec![Http::One], FINE, vec![])
        );
    }

    #[test]
    fn a_version_that_nobody_speaks_is_noted() {
        let (http, broken, notes) = of(false, &[(Http::Three, NEITHER), (Http::One, FINE)]);
        assert_eq!((http, broken), (vec![Http::One], FINE));
        assert!(notes[0].starts_with("HTTP/3 is not measured"), "{notes:?}");
        assert_eq!(of(false, &[(Http::Three, NEITHER)]).1, NEITHER);
    }

    #[test]
    fn a_server_that_cannot_is_asked_by_no_other_version() {
        let cannot = PerFamily { v4: None, v6: Some(Broken::Answers(500)) };
        let all = [(Http::Two, cannot.clone()), (Http::One, FINE)];
        assert_eq!(of(true, &all), (vec![], cannot, vec![]));
        assert!(Broken::Answers(503).is_plea() && !Broken::Answers(500).is_plea());
    }
}
