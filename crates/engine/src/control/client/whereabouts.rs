//! From the server's address of one family to one of the other: the server is asked for it.
//!
//! It may name whatever it likes, so what it names is no more than a candidate. A candidate gets a
//! connection and a control preamble, eight bytes that say nothing; then the server, asked again
//! over the session, has to prove the nonce that the candidate answered with
//! ([`v6gap_core::wire::whereabouts`]). Whoever else is there gets nothing more, and only a few are
//! tried: nobody has us send anything to a third party through a name of his choice.

use super::{Connection, Driver, unexpected};
use crate::control::greeting::{self, Greeted};
use crate::control::{ClientOptions, FamilyProblem, Trouble};
use std::net::{IpAddr, SocketAddr};
use std::thread;
use v6gap_core::family::Family;
use v6gap_core::session::ClientAction;
use v6gap_core::wire::version::VersionRange;
use v6gap_core::wire::whereabouts::{Addresses, proof};
use v6gap_sys::clock;

/// Most candidates.
const CANDIDATES_MAX: usize = 4;

/// How long each of them has to answer, in ns; they are greeted at the same time. Shorter than the
/// time that a server keeps a connection which has said no more than its preamble.
const GREETING_NS: u64 = 2_000_000_000;

/// Why the server has no address of the other family that can be used.
#[derive(Debug, thiserror::Error)]
pub enum Unlocated {
    /// It told none that proved to be its own. Holds those that were greeted, each with what was
    /// wrong, in words.
    #[error("none of {} addresses proved to lead to the same server", .0.len())]
    Nowhere(Vec<(IpAddr, String)>),
    /// The session is over.
    #[error(transparent)]
    Session(Box<FamilyProblem>),
}

impl From<FamilyProblem> for Unlocated {
    fn from(problem: FamilyProblem) -> Self {
        Unlocated::Session(Box::new(problem))
    }
}

impl Connection {
    /// An address of this server in `family`, which is not that of the session: the first that it
    /// tells and that has proved, a moment ago, to lead to it; `wanted` alone, if that is given.
    /// Each that it tells is sent a control preamble and nothing else. `options` are those of the
    /// session, which must have wanted [`Whereabouts`](v6gap_core::workload::Feature::Whereabouts).
    ///
    /// # Errors
    /// If there is none, after which the session goes on, or if the session is over.
    pub fn locate(
        &self,
        family: Family,
        wanted: Option<IpAddr>,
        options: &ClientOptions,
    ) -> Result<SocketAddr, Unlocated> {
        let known = self.address();
        // Who is reached from elsewhere has no business with what listens on this computer alone.
        let is_candidate = |address: &IpAddr| {
            Family::of(address) == Some(family)
                && (known.ip().is_loopback() || !address.is_loopback())
                && wanted.is_none_or(|wanted| wanted == *address)
        };
        let told = self.attended(Driver::ask_addresses)?.addresses.into_iter();
        let candidates: Vec<SocketAddr> = told
            .filter(is_candidate)
            .take(CANDIDATES_MAX)
            .map(|address| SocketAddr::new(address, known.port()))
            .collect();
        if candidates.is_empty() {
            return Err(Unlocated::Nowhere(Vec::new()));
        }
        // They stay connected until the server has said of which it knows.
        let greeted = greet_all(&candidates, *options.local.get(family), options.versions);
        let proved = self.attended(|driver| driver.proved(&greeted))?;
        if let Some(address) = proved.and_then(|position| candidates.get(position)) {
            return Ok(*address);
        }
        let why = |greeted: Result<Greeted, Trouble>| match greeted {
            Ok(_) => "another server answers there".to_string(),
            Err(trouble) => trouble.to_string(),
        };
        let addresses = candidates.iter().map(SocketAddr::ip);
        Err(Unlocated::Nowhere(addresses.zip(greeted.into_iter().map(why)).collect()))
    }
}

impl Driver {
    /// Where else the server says that it is, and what it proves.
    fn ask_addresses(&mut self) -> Result<Addresses, FamilyProblem> {
        // A session that is over already says better why.
        if self.told.is_empty() {
            let asked = self.machine.ask_addresses(clock::now_ns());
            asked.map_err(|e| self.problem(Trouble::System(e.to_string())))?;
        }
        match self.next_event()? {
            ClientAction::Told(addresses) => Ok(addresses),
            other => Err(self.problem(unexpected(&other))),
        }
    }

    /// The place of the first of those that answered whose nonce the server proves in this session.
    fn proved(
        &mut self,
        greeted: &[Result<Greeted, Trouble>],
    ) -> Result<Option<usize>, FamilyProblem> {
        let Addresses { proofs, .. } = self.ask_addresses()?;
        let handshake = self.channel.handshake();
        let is_proved = |greeted: &Greeted| proofs.contains(&proof(greeted.nonce(), handshake));
        Ok(greeted.iter().position(|greeted| greeted.as_ref().is_ok_and(is_proved)))
    }
}

/// Greets all candidates at once, so that a silent one takes its time only once.
fn greet_all(
    candidates: &[SocketAddr],
    local: Option<SocketAddr>,
    versions: VersionRange,
) -> Vec<Result<Greeted, Trouble>> {
    let greet = |address| greeting::greet(local, address, versions, GREETING_NS);
    thread::scope(|scope| {
        let begun: Vec<_> = candidates
            .iter()
            .map(|&address| thread::Builder::new().spawn_scoped(scope, move || greet(address)))
            .collect();
        let ended = begun.into_iter().zip(candidates).map(|(thread, &address)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // One after the other where there is no thread.
            Err(_) => greet(address),
        });
        ended.collect()
    })
}
