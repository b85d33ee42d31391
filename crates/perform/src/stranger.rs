//! A host that does not run this program: finding it, and a first look over each family.

mod broken;
mod pairs;
mod servers;

pub use broken::Broken;

use crate::target::{self, Target};
use crate::trouble::Trouble;
use crate::{resolver, same_host};
use broken::Tried;
use pairs::{FIRST, certified};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use v6gap_core::budget::{Budget, Owner};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::host::names;
use v6gap_core::ladder::Rung;
use v6gap_core::nat64::Prefix;
use v6gap_core::path_mtu::PathMtu;
use v6gap_core::plan::Plan;
use v6gap_core::plan::estimate::{Downloads, downloads};
use v6gap_core::record::Host;
use v6gap_core::unit::{format_bytes, format_span};
use v6gap_core::wire::foreign::{FACT_BYTES_MAX, line};
use v6gap_core::workload::{Http, Visit};
use v6gap_engine::run::RunError;
use v6gap_judge::eyeballs::{Attempt, Policy, Seen, race};
use v6gap_judge::sameness::same;
use v6gap_visit::{Answer, LookError, Record, Stranger, Visited};

pub use v6gap_visit::{BadUrl, Scheme, Site};

/// Most redirects that are followed before anything is measured.
const REDIRECTS_MAX: usize = 3;

/// Who is visited and how.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The service.
    pub site: Site,
    /// Addresses to visit in place of those of the name.
    pub addresses: PerFamily<Option<String>>,
    /// Whether all addresses of the name are visited, and not the first of each family alone.
    pub all: bool,
    /// Addresses of this host to go from.
    pub bind: Vec<String>,
    /// The name servers to ask, of which the first also tells the addresses; by default the system
    /// tells those, and its first server is asked. What is asked besides looking up the name is
    /// asked of the first.
    pub resolvers: Vec<SocketAddr>,
    /// Versions of HTTP to try; by default the best that both families speak.
    pub http: Vec<Http>,
    /// Whether the host is the user's own, which lifts the counts of what may be asked for.
    pub mine: bool,
    /// Bytes of the body that each measured visit reads, if that is to be measured: a host that is
    /// neither near nor the user's own is not asked for it.
    pub download: Option<u64>,
    /// Whether the way there is looked for.
    pub path: bool,
    /// How the user can be reached, which is told to the host.
    pub contact: Option<String>,
    /// Longest wait for anything that is due, in ns.
    pub silence_ns: u64,
}

/// A host as the first look found it.
#[derive(Debug)]
pub struct Found {
    /// The service, behind its redirects.
    pub site: Site,
    /// Where it is.
    pub target: Target,
    /// Versions of HTTP that both families speak, of those that were to be tried.
    pub http: Vec<Http>,
    /// The name servers to ask, if there are any.
    pub resolvers: Vec<SocketAddr>,
    /// The way there, if it was looked for and the system tells.
    pub hops: Option<PerFamily<Vec<Rung>>>,
    /// How large packets may be on it.
    pub path_mtu: Option<PerFamily<PathMtu>>,
    /// What is worth a note.
    pub notes: Vec<String>,
    /// What of each family does not work.
    pub broken: PerFamily<Option<Broken>>,
    /// What it answered over each family.
    seen: PerFamily<Option<Visited>>,
    /// After how long a family that is refused was, in ns.
    refused_ns: PerFamily<Option<u64>>,
    /// Whether the name server does not answer for an address, but does for the other.
    unanswered: PerFamily<bool>,
    /// What the name server answered for the addresses, once it was asked.
    told: Option<PerFamily<Option<Answer>>>,
    /// Whether an answer of a name server was cut, so that the question was asked again over TCP.
    asks_again: bool,
    /// How long it took to find the addresses of its name, which nothing may have kept ready, in
    /// ns.
    cold_ns: Option<u64>,
    /// Whether the IPv6 address is made of the IPv4 address.
    is_translated: bool,
    /// The prefix of this network's translator, if it told one.
    prefix: Option<Prefix>,
    /// The pairs of its addresses besides that of the target.
    further: Vec<PerFamily<SocketAddr>>,
    /// What is said of addresses that are not visited.
    beyond: Option<String>,
    budget: Budget,
    agent: String,
    silence_ns: u64,
}

/// Finds a host, and visits it once over each family.
///
/// # Errors
/// If it has no address at all, or an address cannot be used, or the host is not said to be the
/// user's own and is to be downloaded from.
pub fn look(wanted: &Wanted) -> Result<Found, Trouble> {
    let mut found = found(wanted, wanted.site.clone(), Budget::default())?;
    let mut followed = 0;
    loop {
        found.look(wanted)?;
        let Some(next) = found.leads_to().filter(|_| followed < REDIRECTS_MAX) else { break };
        followed += 1;
        let mut note = format!("{} leads to {}", found.site.url(), next.url());
        let has_addresses = wanted.addresses.v4.is_some() || wanted.addresses.v6.is_some();
        if has_addresses && !next.host.eq_ignore_ascii_case(&wanted.site.host) {
            let typed = &wanted.site.host;
            note.push_str(&format!(", which is not followed: addresses were given for {typed}"));
            found.notes.push(note);
            break;
        }
        let led = self::found(wanted, next, found.budget.clone())?;
        if led.leads_in() && !found.answers_near() && !led.is_itself(&found) {
            // A host of others must not choose what is asked for behind a firewall.
            note.push_str(", which is not followed: it is in this network, or this computer");
            found.notes.push(note);
            break;
        }
        let mut notes = found.notes;
        notes.push(note);
        found = Found { notes, ..led };
    }
    found.ask_for_addresses()?;
    if found.works() {
        found.compare()?;
    }
    if found.works() {
        found.look_further()?;
    }
    if wanted.path && found.is_left_alone() == PerFamily::default() {
        found.climb(&wanted.http)?;
    }
    Ok(found)
}

/// The host of `site` before it is visited, and what may still be asked of it.
fn found(wanted: &Wanted, site: Site, budget: Budget) -> Result<Found, Trouble> {
    let contact = wanted.contact.as_ref().map(|who| format!("; {who}")).unwrap_or_default();
    let agent = format!("v6gap/{} (paired IPv6/IPv4 measurement{contact})", crate::VERSION);
    let resolvers: Vec<SocketAddr> = match wanted.resolvers.as_slice() {
        [] => resolver::of_system().into_iter().collect(),
        named => named.to_vec(),
    };
    let mut found = Found {
        target: Target::at(site.host.as_str(), PerFamily::default()),
        site,
        http: Vec::new(),
        resolvers,
        hops: None,
        path_mtu: None,
        notes: Vec::new(),
        broken: PerFamily::default(),
        seen: PerFamily::default(),
        refused_ns: PerFamily::default(),
        budget,
        unanswered: PerFamily::default(),
        told: None,
        asks_again: false,
        cold_ns: None,
        is_translated: false,
        prefix: None,
        further: Vec::new(),
        beyond: None,
        agent,
        silence_ns: wanted.silence_ns,
    };
    let place = found.placed(wanted)?;
    let (host, typed) = (&found.site.host, &wanted.site.host);
    let is_mine = wanted.mine && is_under(host, typed);
    if wanted.download.is_some() && !is_mine && !place.is_all(target::is_near) {
        return Err(Trouble::NotYours(match host == typed {
            true => host.clone(),
            false => format!("{host}, to which {typed} leads,"),
        }));
    }
    let owner = match place.is_all(|address| address.is_loopback()) {
        true => Owner::Here,
        false if is_mine => Owner::User,
        false => Owner::Stranger,
    };
    (found.target, found.further, found.beyond) = (place.target, place.further, place.beyond);
    found.budget = found.budget.at(owner).downloading(wanted.download.unwrap_or(0));
    Ok(found)
}

/// Whether a host that was led to is that of who owns the one that was typed: the same one, or
/// one below it.
fn is_under(host: &str, typed: &str) -> bool {
    let (host, typed) = (host.to_ascii_lowercase(), typed.to_ascii_lowercase());
    // A name behind it that has no dot is everybody's.
    let bare = typed.strip_prefix("www.").filter(|bare| bare.contains('.'));
    let typed = bare.unwrap_or(&typed);
    host.strip_suffix(typed).is_some_and(|front| front.is_empty() || front.ends_with('.'))
}

impl Found {
    /// Whether an address of it is of this computer or of a network that is nobody else's.
    fn leads_in(&self) -> bool {
        let pairs = self.further.iter().flat_map(|pair| [pair.v4, pair.v6]);
        let PerFamily { v4, v6 } = self.target.addresses;
        let mut all = v4.into_iter().chain(v6).chain(pairs).map(|address| address.ip());
        all.any(|address| address.is_unspecified() || target::is_near(address))
    }

    /// Whether it is the same host at the same addresses, on a port of the web.
    fn is_itself(&self, before: &Found) -> bool {
        let ips = |of: &Found| of.target.addresses.map(|address| address.map(|a| a.ip()));
        self.site.host.eq_ignore_ascii_case(&before.site.host)
            && ips(self) == ips(before)
            && matches!(self.site.port, 80 | 443)
    }

    /// Whether it answered at such an address.
    fn answers_near(&self) -> bool {
        Family::BOTH.into_iter().any(|family| {
            let address = self.target.addresses.get(family).map(|address| address.ip());
            self.seen.get(family).is_some() && address.is_some_and(target::is_near)
        })
    }

    /// Whether both families do, as far as is known.
    fn works(&self) -> bool {
        self.broken.v4.is_none() && self.broken.v6.is_none()
    }

    /// What tells whether both families lead to one machine, and what is wrong with certificates.
    fn compare(&mut self) -> Result<(), Trouble> {
        let (wrong, note) = certified(&self.seen, &self.site.host);
        self.broken = wrong;
        self.notes.extend(note);
        let takes_ticket = self.takes_ticket(FIRST)?;
        self.prefix = self.translator()?;
        let addresses = self.target.addresses.map(|address| address.map(|a| a.ip()));
        self.is_translated = same_host::is_translated(addresses, self.prefix);
        let evidence = same_host::evidence(&self.seen, takes_ticket, self.is_translated);
        let note = self.of_first(same_host::words(same(&evidence)));
        self.notes.push(note);
        Ok(())
    }

    /// Why what was to be tried was not.
    fn untried(&self, why: LookError) -> Trouble {
        match why {
            LookError::Budget(error) => self.ended(error),
            LookError::NoAddress(_) | LookError::Visit(_) => Trouble::System(why.to_string()),
        }
    }

    /// That no more is asked for.
    fn ended(&self, error: RunError) -> Trouble {
        Trouble::BrokenOff { target: self.site.url(), error, continues: false, kept: None }
    }

    /// Looks for the way there, and for how large packets may be on it.
    fn climb(&mut self, asked: &[Http]) -> Result<(), Trouble> {
        let mut stranger = self.stranger(None);
        let mut hops = stranger.climb().map_err(|error| self.ended(error))?;
        match &mut hops {
            Some(hops) => stranger.name_routers(hops).map_err(|error| self.ended(error))?,
            None => {
                let note = "this system does not tell which routers are on the way";
                self.notes.push(note.to_owned());
            }
        }
        let rungs = hops.clone().unwrap_or_default();
        let path_mtu = stranger.path_mtu(&rungs, self.speaks_quic(asked));
        let path_mtu = path_mtu.map_err(|error| self.ended(error))?;
        (self.hops, self.path_mtu, self.budget) = (hops, Some(path_mtu), stranger.budget);
        Ok(())
    }

    /// Whether it says that it speaks QUIC (Alt-Svc, RFC 7838), or is to be asked for HTTP/3.
    fn speaks_quic(&self, asked: &[Http]) -> bool {
        let says = |visited: &Visited| {
            let told = visited.told.as_ref();
            let headers = told.map(|told| told.headers.as_slice()).unwrap_or_default();
            headers.iter().any(|(name, value)| name == "alt-svc" && value.contains("h3"))
        };
        let seen = Family::BOTH.into_iter().filter_map(|family| self.seen.get(family).as_ref());
        self.site.scheme == Scheme::Https
            && (asked.contains(&Http::Three) || seen.into_iter().any(says))
    }

    /// Visits over each family by each version that is to be tried. What fails over both is not
    /// spoken; what fails over one is broken.
    fn look(&mut self, wanted: &Wanted) -> Result<(), Trouble> {
        let mut stranger = self.stranger(None);
        let versions: Vec<Option<Http>> = match (self.site.scheme, wanted.http.as_slice()) {
            (Scheme::Tcp, _) => vec![None],
            (Scheme::Http, []) => vec![Some(Http::One)],
            (Scheme::Https, []) => vec![Some(Http::Two), Some(Http::One)],
            (_, asked) => asked.iter().copied().map(Some).collect(),
        };
        // By default the best alone.
        let best_alone = wanted.http.is_empty();
        let mut tried = Tried::default();
        for http in versions {
            tried.came(http, self.look_by(&mut stranger, http)?);
            if tried.is_over(best_alone) {
                break;
            }
        }
        self.budget = stranger.budget;
        self.http.append(&mut tried.http);
        let (broken, notes) = tried.ended(best_alone);
        self.notes.extend(notes);
        self.broken = broken;
        if self.is_left_alone() == (PerFamily { v4: true, v6: true }) {
            let why = "answers over both families that it is to be left alone for now (503)";
            return Err(self.ended(RunError::Declined(format!("{} {why}", self.site.url()))));
        }
        Ok(())
    }

    /// Visits over each family by a version.
    fn look_by(
        &mut self,
        stranger: &mut Stranger,
        http: Option<Http>,
    ) -> Result<PerFamily<Option<Broken>>, Trouble> {
        let visit = Visit { http, secure: self.site.scheme == Scheme::Https, ..Visit::default() };
        let mut failures: PerFamily<Option<Broken>> = PerFamily::default();
        for family in Family::BOTH {
            *failures.get_mut(family) = match stranger.look(&visit, family) {
                Ok(visited) => {
                    let broken = Broken::answers(&visited);
                    self.seen.get_mut(family).get_or_insert(visited);
                    broken
                }
                Err(LookError::NoAddress(_)) => Some(Broken::NoAddress),
                Err(LookError::Visit(failure)) => {
                    let broken = Broken::of(&failure);
                    let refused = matches!(broken, Broken::Refused | Broken::Prohibited);
                    *self.refused_ns.get_mut(family) = failure.connect_ns.filter(|_| refused);
                    match broken {
                        Broken::Stalls(bytes) if http != Some(Http::Three) => {
                            self.look_again(stranger, &visit, family, bytes)?
                        }
                        broken => Some(broken),
                    }
                }
                Err(LookError::Budget(error)) => return Err(self.ended(error)),
            };
        }
        Ok(failures)
    }

    /// What is broken where a visit stalled after so many bytes: by small segments, and then, since
    /// a host may only have been slow the first time, as before.
    fn look_again(
        &mut self,
        stranger: &mut Stranger,
        visit: &Visit,
        family: Family,
        bytes: u64,
    ) -> Result<Option<Broken>, Trouble> {
        if !stranger.heals(visit, family).map_err(|why| self.untried(why))? {
            return Ok(Some(Broken::Stalls(bytes)));
        }
        match stranger.look_on(visit, family) {
            Ok(visited) => {
                let waited = format_span(self.silence_ns as f64);
                self.notes.push(format!(
                    "the first answer over {family} took longer than {waited}, and the next did not"
                ));
                let broken = Broken::answers(&visited);
                self.seen.get_mut(family).get_or_insert(visited);
                Ok(broken)
            }
            Err(LookError::Visit(failure)) => Ok(Some(match Broken::of(&failure) {
                Broken::Stalls(_) => Broken::StallsIfLarge(bytes),
                broken => broken,
            })),
            Err(why) => Err(self.untried(why)),
        }
    }

    /// Whether it asks over a family to be left alone: nothing more is asked of it then.
    fn is_left_alone(&self) -> PerFamily<bool> {
        self.broken.as_ref().map(|of| of.as_ref().is_some_and(Broken::is_plea))
    }

    /// When programs that try both families (Happy Eyeballs) stand on IPv4 where IPv6 cannot be
    /// connected to, in ns after they begin; those of IPv4 alone first. Nothing where it is not the
    /// connection that is broken, or IPv4 is.
    pub fn fallbacks(&self) -> Option<(u64, Vec<(Policy, u64)>)> {
        let (lookup_ns, connect) = match (self.broken.v6.as_ref()?, self.refused_ns.v6) {
            (Broken::Refused | Broken::Prohibited, Some(ns)) => (Some(0), Attempt::Fails(ns)),
            (Broken::NoAnswer, _) => (Some(0), Attempt::Silent),
            (Broken::Unanswered(_), _) => (None, Attempt::Silent),
            _ => return None,
        };
        let visited = self.seen.v4.as_ref().filter(|_| self.broken.v4.is_none())?;
        let (tls_ns, response_ns) = (visited.tls_ns.unwrap_or(0), visited.response_ns.unwrap_or(0));
        let stands = Attempt::Stands(visited.connect_ns?);
        let of = |lookup_ns, connect| Seen { lookup_ns, connect, tls_ns, response_ns };
        let both = PerFamily { v4: of(Some(0), stands), v6: of(lookup_ns, connect) };
        let won = |policy| Some((policy, race(policy, &both, Family::V6)?.stands_ns));
        Some((visited.connect_ns?, Policy::ALL.into_iter().filter_map(won).collect()))
    }

    /// Where it leads to, if over each family that answers it leads to the same other place; that
    /// it leads to different ones is a note.
    fn leads_to(&mut self) -> Option<Site> {
        let PerFamily { v4, v6 } = self.seen.as_ref().map(|seen| {
            let told = seen.as_ref()?.told.as_ref()?;
            let place = told.headers.iter().find(|(name, _)| name == "location");
            let (_, place) = place.filter(|_| (300..400).contains(&told.status))?;
            self.site.led_to(place)
        });
        match (v4, v6) {
            // What is asked for may be drawn anew for each visitor.
            (Some(four), Some(six)) if four != six && four.is_beside(&six) => {
                let is_elsewhere = !four.is_beside(&self.site);
                if is_elsewhere {
                    let note = "what it leads to asks for something else at each visit";
                    self.notes.push(format!("{note}: {} is followed", four.url()));
                }
                is_elsewhere.then_some(four)
            }
            (Some(four), Some(six)) if four != six => {
                let (four, six) = (four.url(), six.url());
                let note = format!("IPv4 leads to {four} and IPv6 to {six}: neither is followed");
                self.notes.push(note);
                None
            }
            (Some(four), Some(_)) => Some(four),
            (Some(four), None) => self.seen.v6.is_none().then_some(four),
            (None, six) => six.filter(|_| self.seen.v4.is_none()),
        }
    }

    pub(crate) fn stranger(&self, processor: Option<usize>) -> Stranger {
        let place = v6gap_visit::Place {
            site: self.site.clone(),
            addresses: self.numbered(),
            local: self.target.local,
            resolvers: self.resolvers.clone(),
            agent: self.agent.clone(),
            silence_ns: self.silence_ns,
            processor,
        };
        Stranger::new(place, self.budget.clone())
    }

    /// What is known of the host.
    pub(crate) fn host(&self) -> Host {
        let mut facts = BTreeMap::new();
        if self.is_translated {
            facts.insert(names::translated(Family::V6).to_owned(), names::NAT64.to_owned());
        }
        for family in Family::BOTH {
            if *self.unanswered.get(family) {
                let record = Record::of(family).name().to_owned();
                facts.insert(names::unanswered(family).to_owned(), record);
            }
            let Some(visited) = self.seen.get(family) else { continue };
            let secured = visited.secured.as_ref();
            let told = visited.told.as_ref();
            let header = |name: &str| {
                let headers = told.map(|told| &told.headers)?;
                let header = headers.iter().find(|(known, _)| known == name);
                header.map(|(_, value)| line(value, FACT_BYTES_MAX))
            };
            let known = [
                ("tls", secured.map(|secured| secured.version.to_owned())),
                ("status", told.map(|told| told.status.to_string())),
                ("server", header("server")),
                (
                    names::CERTIFICATE,
                    visited.chain.first().map(|certificate| fingerprint(certificate)),
                ),
            ];
            let of_family = |(name, value): (&str, Option<String>)| {
                Some((names::of_family(family, name), value?))
            };
            facts.extend(known.into_iter().filter_map(of_family));
        }
        Host { name: self.site.host.clone(), facts }
    }
}

/// A short name of a certificate, which tells one from the next and proves nothing (FNV-1a).
fn fingerprint(certificate: &[u8]) -> String {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", certificate.iter().fold(0xcbf2_9ce4_8422_2325, step))
}

/// What a plan will download, in words; `None` where it downloads nothing.
pub fn to_download(plan: &Plan) -> Option<String> {
    let Downloads { visits, bytes } = downloads(plan);
    (visits > 0).then(|| format!("{visits} downloads, {} in all at most", format_bytes(bytes)))
}

/// What was asked of a host, in words.
pub fn asked(connections: u32, queries: u32, bytes: u64) -> String {
    let mut parts = vec![format!("{connections} connections")];
    parts.extend((queries > 0).then(|| format!("{queries} queries")));
    parts.push(format_bytes(bytes));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_owns_a_host_owns_what_is_below_it_and_nothing_else() {
        for host in ["example.org", "www.example.org", "dl.Example.org"] {
            assert!(is_under(host, "example.org") && is_under(host, "www.example.org"), "{host}");
        }
        for host in ["example.net", "notexample.org", "org", "example.org.cdn.example"] {
            assert!(!is_under(host, "example.org"), "{host}");
        }
        assert!(!is_under("example.com", "www.com") && is_under("a.www.com", "www.com"));
    }
}
