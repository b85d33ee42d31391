//! A host that does not run this program as the far end of a run: who performs its attempts, within
//! what may be asked of it.

mod way;

use super::failure::Failure;
use super::http::Told;
use super::lookup::{self, Record};
use super::site::Site;
use super::turns::{Trials, exchanges, in_slices, in_turns, unsuitable};
use super::visit::{self, Limits, Manner, Visitor};
use std::net::SocketAddr;
use std::time::Duration;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::budget::{Allowed, BYTES_IN_ALL, Budget, Spent, Use};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::{EndReport, Endpoints, LookedUp, Measured, Visited};
use v6gap_core::plan::Plan;
use v6gap_core::run::{Attempt, Observed};
use v6gap_core::unit::format_bytes;
use v6gap_core::workload::{Echo, Http, Kind, Lookup, Visit, Workload};
use v6gap_engine::run::{Hooks, Performer, RunError};
use v6gap_engine::trial::{ClientContext, TrialError, watched};
use v6gap_sys::{clock, entropy};

/// Why nothing is known of what the far end saw.
pub const NOT_OURS: &str = "it does not run v6gap";

/// "Too Many Requests" (RFC 6585 section 4).
const TOO_MANY: u16 = 429;

/// Segments of TCP that any path of IPv6 takes, whose packets have 1280 bytes at least (RFC 8200
/// section 5), inside a tunnel, too.
pub const SMALL_BYTES: u32 = 1_200;

/// Statuses by which a server asks to be left alone.
const DECLINES: [u16; 2] = [TOO_MANY, 503];

/// Whether a server asks by this status to be left alone.
pub fn declines(status: u16) -> bool {
    DECLINES.contains(&status)
}

/// Headers that tell of the machine that answered, of its caches and of what else it offers.
const TELLING: [&str; 12] = [
    "server",
    "via",
    "age",
    "x-cache",
    "x-served-by",
    "cf-ray",
    "x-amz-cf-pop",
    "etag",
    "location",
    "retry-after",
    "alt-svc",
    "content-length",
];

/// Most characters that are kept of a header.
const HEADER_CHARS: usize = 200;

/// Where the host is and how it is asked.
#[derive(Debug, Clone)]
pub struct Place {
    /// The service.
    pub site: Site,
    /// The pairs of its addresses, by their numbers. What is no visit goes to the first.
    pub addresses: Vec<PerFamily<Option<SocketAddr>>>,
    /// Address of this end in each family, where the system is not to choose.
    pub local: PerFamily<Option<SocketAddr>>,
    /// The name servers by their numbers, each asked over whichever family it has. What is not
    /// measured is asked of the first.
    pub resolvers: Vec<SocketAddr>,
    /// What is said of us (User-Agent).
    pub agent: String,
    /// Longest wait for anything that is due, in ns.
    pub silence_ns: u64,
    /// The processor to measure on; without one the system chooses.
    pub processor: Option<usize>,
}

impl Place {
    /// The address of a family in a pair.
    fn at(&self, pair: u8, family: Family) -> Option<SocketAddr> {
        *self.addresses.get(usize::from(pair))?.get(family)
    }

    /// The pair of addresses that everything goes to which is done once.
    fn first(&self) -> PerFamily<Option<SocketAddr>> {
        PerFamily::from_fn(|family| self.at(FIRST, family))
    }
}

/// The number of the first pair of addresses, and of the first name server.
const FIRST: u8 = 0;

/// The host with what was asked of it.
#[derive(Debug)]
pub struct Stranger {
    place: Place,
    visitor: Visitor,
    /// What it was asked for, and what is left.
    pub budget: Budget,
    number: u32,
}

impl Stranger {
    /// Nothing was asked of it yet.
    pub fn new(place: Place, budget: Budget) -> Self {
        Stranger { place, visitor: Visitor::default(), budget, number: 0 }
    }

    /// One visit over `family` that nobody counts as measured.
    ///
    /// # Errors
    /// The address that is not there, why the visit failed, or that the host asks to be left alone.
    pub fn look(&mut self, visit: &Visit, family: Family) -> Result<visit::Visited, LookError> {
        // What one that is overloaded answers first is an answer.
        self.look_by(visit, family, None, |status| status == TOO_MANY)
    }

    /// A further one: a host that asks to be left alone, also with an answer, is asked for nothing
    /// more.
    ///
    /// # Errors
    /// As [`Stranger::look`].
    pub fn look_on(&mut self, visit: &Visit, family: Family) -> Result<visit::Visited, LookError> {
        self.look_by(visit, family, None, declines)
    }

    /// Whether a visit that stalled does not with segments of TCP of [`SMALL_BYTES`] at most: then
    /// larger packets vanish.
    ///
    /// # Errors
    /// As [`Stranger::look`].
    pub fn heals(&mut self, visit: &Visit, family: Family) -> Result<bool, LookError> {
        match self.look_by(visit, family, Some(SMALL_BYTES), declines) {
            Ok(_) => Ok(true),
            Err(LookError::Visit(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn look_by(
        &mut self,
        visit: &Visit,
        family: Family,
        segment_bytes: Option<u32>,
        is_plea: fn(u16) -> bool,
    ) -> Result<visit::Visited, LookError> {
        let missing = LookError::NoAddress(family);
        let remote = self.place.at(visit.pair, family).ok_or(missing)?;
        self.wait_for(Use::Connection, 1).map_err(LookError::Budget)?;
        let usual = self.manner(visit, family, remote);
        let limits = Limits { segment_bytes, ..usual.limits };
        let outcome = self.visitor.visit(&Manner { limits, ..usual });
        self.count(&outcome);
        let visited = outcome?;
        if let Some(told) = visited.told.as_ref().filter(|told| is_plea(told.status)) {
            return Err(LookError::Budget(declined(remote, told)));
        }
        Ok(visited)
    }

    /// Whether what TLS gave for later in a visit over IPv4 is taken in one over IPv6, which tells
    /// that both are one service. Takes two visits by `http`.
    ///
    /// # Errors
    /// As [`Stranger::look`].
    pub fn takes_ticket(&mut self, visit: &Visit, http: Http) -> Result<bool, LookError> {
        self.visitor.remember(http)?;
        let looked = self.look_on(visit, Family::V4).and_then(|_| self.look_on(visit, Family::V6));
        self.visitor.forget();
        Ok(looked?.secured.is_some_and(|secured| secured.resumed))
    }

    fn manner(&self, visit: &Visit, family: Family, remote: SocketAddr) -> Manner<'_> {
        let Place { site, local, agent, silence_ns, .. } = &self.place;
        let limits = Limits::of(visit, *silence_ns);
        let local = *local.get(family);
        Manner { site, http: visit.http, remote, local, agent, limits }
    }

    /// Rests until so many may be asked for.
    fn wait_for(&mut self, what: Use, many: u32) -> Result<(), RunError> {
        loop {
            let now_ns = clock::now_ns();
            match self.budget.ask(what, many, now_ns) {
                Allowed::Now => return Ok(()),
                Allowed::From(at_ns) => clock::rest(Duration::from_nanos(at_ns - now_ns)),
                Allowed::Never(what) => return Err(spent(what)),
            }
        }
    }

    /// Takes note of what came of a visit, whatever became of it.
    fn count(&mut self, outcome: &Result<visit::Visited, Failure>) {
        self.budget.came(match outcome {
            Ok(visited) => visited.read_bytes,
            Err(failure) => failure.bytes,
        });
    }

    fn remote(&self, pair: u8, family: Family) -> Result<SocketAddr, RunError> {
        let missing = TrialError::Missing { family, what: "address of the host" };
        self.place.at(pair, family).ok_or(RunError::Trial(missing))
    }

    fn visit(&mut self, visit: &Visit, family: Family) -> Result<EndReport, RunError> {
        let remote = self.remote(visit.pair, family)?;
        self.wait_for(Use::Connection, 1)?;
        let mut manner = self.manner(visit, family, remote);
        manner.limits.body_bytes = self.budget.body_bytes(visit.body_bytes);
        let (outcome, report) = watched(self.place.processor, || self.visitor.visit(&manner));
        self.count(&outcome);
        let failed = |why: Failure| TrialError::of_stranger(family, remote, why.to_string());
        let mut visited = outcome.map_err(failed).map_err(RunError::Trial)?;
        if let Some(told) = visited.told.as_ref().filter(|told| declines(told.status)) {
            return Err(declined(remote, told));
        }
        let endpoints = visited.endpoints.map(|of| Endpoints { peer: remote, ..of });
        let granted = visited.granted.take().unwrap_or_default();
        let measured = Measured::Visited(Box::new(recorded(visited, visit.downloads())));
        Ok(EndReport { measured, endpoints, granted, ..report })
    }

    fn look_up(&mut self, asked: &Lookup, family: Family) -> Result<EndReport, RunError> {
        let no_server = || unsuitable("there is no name server to ask".to_owned());
        let server = self.place.resolvers.get(usize::from(asked.server)).copied();
        let server = server.ok_or_else(no_server)?;
        self.may_ask()?;
        let record = Record::of(family);
        let (host, timeout_ns) = (self.place.site.host.clone(), self.place.silence_ns);
        let (name, id) = (host.as_str(), drawn()?);
        let question = lookup::Lookup { server, local: None, name, record, id, timeout_ns };
        let (outcome, report) = watched(self.place.processor, || question.ask());
        self.asked(&outcome)?;
        let failed = |why: lookup::LookupError| {
            TrialError::of_stranger(family, server, format!("looking up {}: {why}", record.name()))
        };
        let answer = outcome.map_err(failed).map_err(RunError::Trial)?;
        let measured = Measured::LookedUp(Box::new(LookedUp {
            ns: answer.ns,
            record: record.name().to_owned(),
            code: answer.code,
            addresses: answer.addresses,
            ttl_s: answer.ttl_s,
            over_tcp_ns: answer.over_tcp_ns,
        }));
        Ok(EndReport { measured, ..report })
    }

    /// Waits until a question may be asked, after which one more may follow over TCP.
    fn may_ask(&mut self) -> Result<(), RunError> {
        self.wait_for(Use::Query, 1)?;
        match self.budget.left(Use::Query) {
            Some(0) => Err(spent(Spent::Count(Use::Query))),
            _ => Ok(()),
        }
    }

    /// Takes note of a question that was asked, and of the one over TCP where the answer was cut:
    /// nothing waits between the two, which would be measured, but what follows them does.
    fn asked(
        &mut self,
        outcome: &Result<lookup::Answer, lookup::LookupError>,
    ) -> Result<(), RunError> {
        if lookup::is_asked_again(outcome) { self.wait_for(Use::Query, 1) } else { Ok(()) }
    }

    /// Echoes of ICMP, which need no program at the far end.
    fn echoes(
        &mut self,
        echo: &Echo,
        attempt: &Attempt<'_>,
        arms: PerArm<Family>,
    ) -> Result<Vec<(Arm, EndReport)>, RunError> {
        let many = echo.exchanges_in_all();
        self.wait_for(Use::Echo, u32::try_from(many).unwrap_or(u32::MAX))?;
        let Place { silence_ns, local, processor, .. } = &self.place;
        let context = ClientContext {
            local: *local,
            processors: processor.iter().copied().collect(),
            ..ClientContext::new(self.place.first(), *silence_ns)
        };
        self.number += 1;
        exchanges(echo, (self.number, attempt.block.order, attempt.seed()), arms, &context)
    }
}

/// Why a look came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// The name has no address of the family.
    #[error("no {0} address")]
    NoAddress(Family),
    /// The visit failed.
    #[error(transparent)]
    Visit(#[from] Failure),
    /// No more may be asked for.
    #[error(transparent)]
    Budget(RunError),
}

/// That a host asks to be left alone, and for how long if it says so in seconds (RFC 9110 section
/// 10.2.3).
fn declined(remote: SocketAddr, told: &Told) -> RunError {
    let header = told.headers.iter().find(|(name, _)| name == "retry-after");
    let seconds = header.and_then(|(_, value)| value.parse::<u32>().ok());
    let time = seconds.map(|seconds| format!(" for {seconds} s")).unwrap_or_default();
    RunError::Declined(format!("{remote} answers {}: it asks to be left alone{time}", told.status))
}

fn spent(what: Spent) -> RunError {
    let most = match what {
        Spent::Count(what) => format!("{} {what}", what.in_all()),
        Spent::Bytes => format_bytes(BYTES_IN_ALL),
    };
    RunError::Declined(format!(
        "a run asks a host that is not yours for at most {most}: they are used up"
    ))
}

impl Trials for Stranger {
    fn trial(
        &mut self,
        workload: &Workload,
        family: Family,
        _seed: u64,
    ) -> Result<EndReport, RunError> {
        if let Workload::Visit(visit) = workload {
            return self.visit(visit, family);
        }
        if let Workload::Lookup(asked) = workload {
            return self.look_up(asked, family);
        }
        Err(unsuitable("that takes a host that runs v6gap".to_owned()))
    }
}

impl Performer for Stranger {
    fn attempt(
        &mut self,
        plan: &Plan,
        attempt: &Attempt<'_>,
        hooks: &mut dyn Hooks,
    ) -> Result<PerArm<Observed>, RunError> {
        if let Workload::Echo(echo) = attempt.workload() {
            let arms = attempt.arms(plan);
            return in_slices(attempt, hooks, || self.echoes(&echo, attempt, arms));
        }
        in_turns(self, plan, attempt, hooks)
    }

    /// What was asked for is over: its connections were reset.
    fn settle(&mut self, _workload: &Workload) {}
}

/// A number of a question, which nobody can guess.
fn drawn() -> Result<u16, RunError> {
    entropy::bytes().map(u16::from_ne_bytes).map_err(RunError::Random)
}

/// What of a visit is stored, of a download also how its body came.
fn recorded(visited: visit::Visited, downloads: bool) -> Visited {
    let (secured, told) = (visited.secured, visited.told);
    let telling = |(name, _): &(String, String)| TELLING.contains(&name.as_str());
    let short = |(name, value): (String, String)| {
        (name, value.chars().filter(|c| !c.is_control()).take(HEADER_CHARS).collect())
    };
    Visited {
        connect_ns: visited.connect_ns,
        syn_again: visited.asked_again,
        tls_ns: visited.tls_ns,
        quic_ns: visited.quic_ns,
        response_ns: visited.response_ns,
        tls: secured.as_ref().map(|of| of.version.to_owned()),
        hello_retry: secured.is_some_and(|of| of.asked_again),
        status: told.as_ref().map(|told| told.status),
        body: told.as_ref().filter(|_| downloads).map(|told| told.body),
        headers: told
            .map(|told| told.headers.into_iter().filter(telling).map(short).collect())
            .unwrap_or_default(),
        bytes: visited.read_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where there is nobody to ask, nobody has asked to be left alone.
    #[test]
    fn without_a_name_server_nothing_is_declined() {
        let place = Place {
            site: Site::parse("example.org").unwrap(),
            addresses: Vec::new(),
            local: PerFamily::default(),
            resolvers: Vec::new(),
            agent: String::new(),
            silence_ns: 1,
            processor: None,
        };
        let mut stranger = Stranger::new(place, Budget::default());
        let error = stranger.look_up(&Lookup::default(), Family::V4).unwrap_err();
        let RunError::Trial(why) = &error else { panic!("{error}") };
        assert_eq!(why.kind(), v6gap_engine::trial::Kind::Unsuitable, "{error}");
    }

    /// It is said what was used up, and not what would have been asked for next.
    #[test]
    fn the_bound_that_is_reached_is_named() {
        let of = |what| spent(what).to_string();
        assert!(of(Spent::Bytes).contains("at most 4 MiB:"), "{}", of(Spent::Bytes));
        let queries = of(Spent::Count(Use::Query));
        assert!(queries.contains("at most 400 queries:"), "{queries}");
    }
}
