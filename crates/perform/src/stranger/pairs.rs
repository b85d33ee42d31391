//! The addresses of a host that has several: each pair of them is looked at before it is visited,
//! over both families, and whether it is one machine is told of each by itself.

use super::{Broken, Found, Scheme, Site, Wanted};
use crate::target::{self, Target};
use crate::trouble::Trouble;
use crate::{addresses, same_host};
use std::net::{IpAddr, SocketAddr};
use v6gap_core::budget::Use;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::plan::{Plan, Stop};
use v6gap_core::workload::{Http, Visit};
use v6gap_judge::sameness::same;
use v6gap_visit::{LookError, Visited};

/// The number of the pair that everything goes to which is done once.
pub(super) const FIRST: u8 = 0;

/// Where a host is.
pub(super) struct Place {
    /// Its first address in each family.
    pub target: Target,
    /// The pairs that follow, where all are to be visited.
    pub further: Vec<PerFamily<SocketAddr>>,
    /// What is said of addresses that are not visited.
    pub beyond: Option<String>,
}

impl Place {
    /// That of a site, by the addresses that are wanted; those of its name are the ones that a name
    /// server `told`, otherwise the system's.
    ///
    /// # Errors
    /// If it has no address at all, or one cannot be used.
    pub(super) fn of(
        wanted: &Wanted,
        site: &Site,
        told: Option<&PerFamily<Vec<IpAddr>>>,
    ) -> Result<Self, Trouble> {
        let (target, further, beyond) = match wanted.all {
            true => {
                let all = match told {
                    Some(told) => addresses::told(told, site.port),
                    None => addresses::all(&site.host, site.port)?,
                };
                let first = all.as_ref().map(|of_one| of_one.first().copied());
                let further = addresses::pairs(&all).into_iter().skip(1).collect();
                (Target::at(&*site.host, first), further, addresses::beyond(&all))
            }
            false => {
                let given = wanted.addresses.as_ref().map(|text| text.as_deref());
                let target = match told {
                    Some(told) => {
                        let first = told.as_ref().map(|of_one| of_one.first().copied());
                        target::told(&site.host, site.port, given, first)?
                    }
                    None => target::resolve(&site.host, site.port, given.v4, given.v6)?,
                };
                (target, Vec::new(), None)
            }
        };
        Ok(Place { target: target.from(&wanted.bind)?.bound()?, further, beyond })
    }

    /// Whether all of its addresses are of this kind.
    pub(super) fn is_all(&self, kind: impl Fn(IpAddr) -> bool) -> bool {
        let first = Family::BOTH.into_iter().filter_map(|f| *self.target.addresses.get(f));
        let further = self.further.iter().flat_map(|pair| [pair.v4, pair.v6]);
        first.chain(further).all(|address| kind(address.ip()))
    }
}

/// What came of looking at a pair: what answered over each family, or which family is broken.
type Looked = Result<PerFamily<Option<Visited>>, (Family, Broken)>;

impl Found {
    /// How many pairs of addresses are to be visited.
    pub fn pairs(&self) -> usize {
        1 + self.further.len()
    }

    /// All pairs of addresses, as they are numbered.
    pub(super) fn numbered(&self) -> Vec<PerFamily<Option<SocketAddr>>> {
        let further = self.further.iter().map(|pair| pair.map(Some));
        std::iter::once(self.target.addresses).chain(further).collect()
    }

    /// The pairs of addresses by which a result names them, where there are several.
    pub(crate) fn address_pairs(&self) -> Vec<PerFamily<IpAddr>> {
        let first = self.first().filter(|_| !self.further.is_empty());
        let further = self.further.iter().copied();
        first.into_iter().chain(further).map(|pair| pair.map(|address| address.ip())).collect()
    }

    fn first(&self) -> Option<PerFamily<SocketAddr>> {
        let PerFamily { v4, v6 } = self.target.addresses;
        Some(PerFamily { v4: v4?, v6: v6? })
    }

    /// The plan with as many pairs of visits as this host may still be asked for.
    ///
    /// # Errors
    /// How many connections are left, if these are not enough for the fewest that can decide.
    pub fn fitted(&mut self, plan: Plan) -> Result<Plan, u32> {
        let left = [Use::Connection, Use::Query].map(|what| self.budget.left(what));
        let [Some(left), Some(questions)] = left else { return Ok(plan) };
        let usual = plan.design.stop;
        let lookups = questions / if self.asks_again { 2 } else { 1 };
        let plan = plan.visiting_at_most(left, lookups).ok_or(left)?;
        if let (Stop::Pairs { pairs }, true) = (&plan.design.stop, plan.design.stop != usual) {
            self.notes.push(format!(
                "{pairs} pairs: more would take more connections or questions than a host is asked \
                 for that is not said to be yours"
            ));
        }
        Ok(plan)
    }

    /// A note on the first pair, which is named where there are several.
    pub(super) fn of_first(&self, note: &str) -> String {
        match self.first().filter(|_| !self.further.is_empty()) {
            Some(pair) => format!("{}: {note}", named(&pair)),
            None => note.to_owned(),
        }
    }

    /// Looks at the further pairs. One of which a family is broken is left out with a note, and
    /// those that are left are numbered anew.
    pub(super) fn look_further(&mut self) -> Result<(), Trouble> {
        self.notes.extend(self.beyond.take());
        for pair in std::mem::take(&mut self.further) {
            // It is looked at under the number that it has if it stays.
            self.further.push(pair);
            let note = match self.look_at(&pair)? {
                Ok(seen) => self.told_apart(&pair, &seen)?,
                Err((family, broken)) => {
                    self.further.pop();
                    let address = pair.get(family).ip();
                    format!("left out, since {family} is broken at {address}: {broken}")
                }
            };
            self.notes.push(format!("{}: {note}", named(&pair)));
        }
        Ok(())
    }

    /// Visits the last of the further pairs over each family, by each version of HTTP that is
    /// spoken at the first.
    fn look_at(&mut self, pair: &PerFamily<SocketAddr>) -> Result<Looked, Trouble> {
        let versions: Vec<Option<Http>> = match self.http.as_slice() {
            [] => vec![None],
            spoken => spoken.iter().copied().map(Some).collect(),
        };
        let secure = self.site.scheme == Scheme::Https;
        let mut stranger = self.stranger(None);
        let mut seen: PerFamily<Option<Visited>> = PerFamily::default();
        for (http, family) in versions.iter().flat_map(|http| Family::BOTH.map(|f| (*http, f))) {
            let visit = Visit { http, secure, pair: self.last(), ..Visit::default() };
            let broken = match stranger.look_on(&visit, family) {
                Ok(visited) => match Broken::answers(&visited) {
                    Some(broken) => broken,
                    None => {
                        seen.get_mut(family).get_or_insert(visited);
                        continue;
                    }
                },
                Err(LookError::NoAddress(_)) => Broken::NoAddress,
                Err(LookError::Visit(failure)) => Broken::of(&failure),
                Err(LookError::Budget(error)) => return Err(self.ended(error)),
            };
            self.budget = stranger.budget;
            return Ok(Err((family, broken)));
        }
        self.budget = stranger.budget;
        let (wrong, note) = certified(&seen, &self.site.host);
        if let Some(broken) =
            Family::BOTH.into_iter().find_map(|f| Some((f, wrong.get(f).clone()?)))
        {
            return Ok(Err(broken));
        }
        let is_new = |note: &String| !self.notes.iter().any(|known| known.ends_with(note));
        if let Some(note) = note.filter(is_new) {
            self.notes.push(format!("{}: {note}", named(pair)));
        }
        Ok(Ok(seen))
    }

    /// The number of the last of the further pairs.
    fn last(&self) -> u8 {
        u8::try_from(self.further.len()).unwrap_or(u8::MAX)
    }

    /// What tells whether the last of the further pairs is one machine.
    fn told_apart(
        &mut self,
        pair: &PerFamily<SocketAddr>,
        seen: &PerFamily<Option<Visited>>,
    ) -> Result<String, Trouble> {
        let takes_ticket = self.takes_ticket(self.last())?;
        let addresses = pair.map(|address| Some(address.ip()));
        let is_translated = same_host::is_translated(addresses, self.prefix);
        let evidence = same_host::evidence(seen, takes_ticket, is_translated);
        Ok(same_host::words(same(&evidence)).to_owned())
    }

    /// Whether a ticket of TLS that IPv4 was given at a pair is taken over IPv6; `None` where there
    /// are none.
    pub(super) fn takes_ticket(&mut self, pair: u8) -> Result<Option<bool>, Trouble> {
        let http = self.http.iter().find(|http| **http != Http::Three).copied();
        let Some(http) = http.filter(|_| self.site.scheme == Scheme::Https) else {
            return Ok(None);
        };
        let visit = Visit { http: Some(http), pair, ..Visit::default() };
        let mut stranger = self.stranger(None);
        let taken = stranger.takes_ticket(&visit, http);
        self.budget = stranger.budget;
        match taken {
            Err(LookError::Budget(error)) => Err(self.ended(error)),
            // A visit that fails now and did not before tells nothing of tickets.
            taken => Ok(taken.ok()),
        }
    }
}

/// What is wrong with the certificates: what only one family has is its fault, and what both have
/// is a note.
pub(super) fn certified(
    seen: &PerFamily<Option<Visited>>,
    host: &str,
) -> (PerFamily<Option<Broken>>, Option<String>) {
    match same_host::objections(seen, host) {
        Some(PerFamily { v4: Some(v4), v6: Some(v6) }) => {
            let both = PerFamily { v4: v4.as_str(), v6: v6.as_str() };
            (PerFamily::default(), Some(same_host::objected(both)))
        }
        Some(certified) => (certified.map(|why| why.map(Broken::WrongSite)), None),
        None => {
            let note = "this system trusts nobody, so its certificate was not checked";
            (PerFamily::default(), Some(note.to_owned()))
        }
    }
}

/// A pair as notes name it.
fn named(pair: &PerFamily<SocketAddr>) -> String {
    format!("{} and {}", pair.v4.ip(), pair.v6.ip())
}
