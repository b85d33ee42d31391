//! What is learnt of the way to the host before anything is measured: its routers, their names, and
//! how large packets may be on it.

use super::{FIRST, Stranger, drawn};
use crate::hop;
use crate::lookup::{Answer, Lookup, LookupError, Record, reverse_name};
use crate::path_mtu::{Sizes, Way};
use std::net::IpAddr;
use std::time::Duration;
use v6gap_core::budget::Use;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::ladder::{Heard, Ladder, Next, Rung};
use v6gap_core::nat64::{self, Prefix};
use v6gap_core::path_mtu::{PathMtu, Search};
use v6gap_engine::run::RunError;
use v6gap_sys::clock;

/// Longest wait for the answer of a router or a name server, in ns: those that answer do so soon.
const HOP_WAIT_NS: u64 = 1_000_000_000;

/// An answer is awaited so many times as long as the host's shortest took, and this much longer, in
/// ns: what does not come by then has vanished.
const TIMES: u64 = 3;
/// As [`TIMES`].
const LONGER_NS: u64 = 200_000_000;

impl Stranger {
    /// The way to the host over both families, by distances that are asked in turns. `None` where
    /// the system does not tell what routers say.
    ///
    /// # Errors
    /// What the system says to a packet, or that no more may be asked for.
    pub fn climb(&mut self) -> Result<Option<PerFamily<Vec<Rung>>>, RunError> {
        let there = self.place.first().map(|address| address.is_some());
        let mut ladder = Ladder::new();
        loop {
            let now_ns = clock::now_ns();
            let question = match ladder.next(there, now_ns) {
                Next::Ask(question) => question,
                Next::Rest(until_ns) => {
                    clock::rest(Duration::from_nanos(until_ns.saturating_sub(now_ns)));
                    continue;
                }
                Next::Over => return Ok(Some(ladder.into_rungs())),
            };
            let remote = self.remote(FIRST, question.family)?;
            let local = *self.place.local.get(question.family);
            let wait_ns = self.place.silence_ns.min(HOP_WAIT_NS);
            let asked_ns = clock::now_ns();
            let heard = match hop::ask(remote, local, question.distance, wait_ns) {
                Ok(Ok(heard)) => heard,
                Ok(Err(_unavailable)) => return Ok(None),
                // A packet that the system does not send is one that nobody answers.
                Err(_) => Heard::Nothing,
            };
            if matches!(heard, Heard::End { .. }) {
                self.wait_for(Use::Connection, 1)?;
            }
            ladder.heard(question, heard, asked_ns);
        }
    }

    /// Asks the name server for the names of those who answered. One that does not answer itself
    /// is asked for no more.
    ///
    /// # Errors
    /// That no more may be asked for.
    pub fn name_routers(&mut self, rungs: &mut PerFamily<Vec<Rung>>) -> Result<(), RunError> {
        let of_both = rungs.v4.iter_mut().chain(&mut rungs.v6);
        for answered in of_both.flat_map(|rung| &mut rung.by) {
            if answered.address.is_loopback() {
                continue;
            }
            let name = reverse_name(&answered.address);
            match self.ask(FIRST, Record::Ptr, &name, HOP_WAIT_NS)?.map(|found| found.names) {
                Some(names) => answered.name = names.into_iter().next(),
                None => break,
            }
        }
        Ok(())
    }

    /// The prefix of the network's translator (RFC 7050), if it tells that it has one.
    ///
    /// # Errors
    /// That no more may be asked for.
    pub fn translator(&mut self) -> Result<Option<Prefix>, RunError> {
        let six = |address: IpAddr| match address {
            IpAddr::V6(v6) => Some(v6),
            IpAddr::V4(_) => None,
        };
        let told = self.ask(FIRST, Record::Aaaa, nat64::KNOWN_NAME, HOP_WAIT_NS)?;
        let addresses = told.into_iter().flat_map(|found| found.addresses);
        Ok(Prefix::told(addresses.filter_map(six)))
    }

    /// What the name server of a number answers for the host's address of a family; `None` if there
    /// is no such server, or no answer.
    ///
    /// # Errors
    /// That no more may be asked for.
    pub fn address_record(
        &mut self,
        server: u8,
        family: Family,
    ) -> Result<Option<Answer>, RunError> {
        let (name, wait_ns) = (self.place.site.host.clone(), self.place.silence_ns);
        self.ask(server, Record::of(family), &name, wait_ns)
    }

    /// What a name server answers in time; `None` if there is no such server, or no answer.
    fn ask(
        &mut self,
        server: u8,
        record: Record,
        name: &str,
        wait_ns: u64,
    ) -> Result<Option<Answer>, RunError> {
        let server = self.place.resolvers.get(usize::from(server)).copied();
        let Some(server) = server else { return Ok(None) };
        self.may_ask()?;
        let timeout_ns = self.place.silence_ns.min(wait_ns);
        let question = Lookup { server, local: None, name, record, id: drawn()?, timeout_ns };
        let outcome = question.ask();
        self.asked(&outcome)?;
        Ok(outcome.map_or_else(LookupError::into_answer, Some))
    }

    /// How large packets may be on the way over each family: by echoes, and by questions of QUIC
    /// where the host speaks it.
    ///
    /// # Errors
    /// That no more may be asked for.
    pub fn path_mtu(
        &mut self,
        rungs: &PerFamily<Vec<Rung>>,
        speaks_quic: bool,
    ) -> Result<PerFamily<PathMtu>, RunError> {
        let mut found = PerFamily::default();
        for family in Family::BOTH {
            let Some(remote) = self.place.at(FIRST, family) else { continue };
            let wait_ns = patience_ns(rungs.get(family)).min(self.place.silence_ns);
            let way = Way { remote, local: *self.place.local.get(family), wait_ns };
            let both_ways = self.search(&way, way.echoes())?;
            let questions = if speaks_quic { way.questions() } else { None };
            let there = self.search(&way, questions)?;
            *found.get_mut(family) = PathMtu { both_ways, there, told: way.told() };
        }
        Ok(found)
    }

    fn search(&mut self, way: &Way, what: Option<Sizes>) -> Result<Option<u32>, RunError> {
        let Some(what) = what else { return Ok(None) };
        let mut search = Search::default();
        while let Some(bytes) = search.next() {
            self.wait_for(Use::Echo, 1)?;
            search.heard(bytes, way.passes(&what, bytes));
        }
        Ok(search.found())
    }
}

/// How long an answer of the host is awaited, in ns.
fn patience_ns(rungs: &[Rung]) -> u64 {
    let host = rungs.last().filter(|rung| rung.is_host);
    host.and_then(Rung::best_ns)
        .map_or(HOP_WAIT_NS, |ns| ns.saturating_mul(TIMES).saturating_add(LONGER_NS))
}
