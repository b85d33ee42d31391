//! What name servers say of a host's addresses, before anything is measured.

use super::pairs::FIRST;
use super::{Broken, Found};
use crate::trouble::Trouble;
use std::net::SocketAddr;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::workload::Lookup;
use v6gap_judge::eyeballs::NO_ANSWER_NS;
use v6gap_visit::Record;

/// By which a name server says that nothing is wrong.
const NO_ERROR: &str = "NOERROR";

const NS_PER_S: u64 = 1_000_000_000;

impl Found {
    /// Asks each name server once for both addresses: one that answers for one of them alone keeps
    /// those programs waiting that ask for both. That the first answers for neither is no finding.
    pub(super) fn ask_for_addresses(&mut self) -> Result<(), Trouble> {
        if !self.is_looked_up() {
            return Ok(());
        }
        let codes = self.codes(FIRST)?;
        for family in Family::BOTH {
            let (own, other) = (codes.get(family), codes.get(family.other()));
            if other.as_deref() == Some(NO_ERROR) && own.as_deref() != Some(NO_ERROR) {
                self.untold(family, own.as_deref());
            }
        }
        let further = self.resolvers.clone().into_iter().skip(1);
        for (number, server) in (FIRST + 1..).zip(further) {
            let codes = self.codes(number)?;
            let called = format!("the name server {}", Lookup::called(&server));
            let untold = |family| without(&called, family, codes.get(family).as_deref());
            self.notes.extend(Family::BOTH.into_iter().filter_map(untold));
        }
        Ok(())
    }

    /// The name servers, where there are several.
    pub(crate) fn several_resolvers(&self) -> Vec<SocketAddr> {
        if self.resolvers.len() > 1 { self.resolvers.clone() } else { Vec::new() }
    }

    /// The code by which a name server answers for each address; `None` without an answer.
    fn codes(&mut self, server: u8) -> Result<PerFamily<Option<String>>, Trouble> {
        let mut stranger = self.stranger(None)?;
        let [v4, v6] = Family::BOTH.map(|family| stranger.code_of_address(server, family));
        self.budget = stranger.budget;
        let ended = |error| self.ended(error);
        Ok(PerFamily { v4: v4.map_err(ended)?, v6: v6.map_err(ended)? })
    }

    /// Takes note of what the name server says for one address, where it tells the other.
    fn untold(&mut self, family: Family, code: Option<&str>) {
        let record = Record::of(family).name();
        *self.unanswered.get_mut(family) = code.is_none();
        let broken = match code {
            Some(code) => Broken::Untold(record, code.to_owned()),
            None => Broken::Unanswered(record),
        };
        let note = without("the name server", family, code);
        let waits =
            format!(": programs that wait for both answers wait for {} s", NO_ANSWER_NS / NS_PER_S);
        let waits = if code.is_none() { waits } else { String::new() };
        match self.broken.get_mut(family) {
            Some(no_address) if *no_address == Broken::NoAddress => *no_address = broken,
            _ => self.notes.extend(note.map(|note| note + &waits)),
        }
    }
}

/// That a name server gives no address of a family; nothing where it does not say so.
fn without(server: &str, family: Family, code: Option<&str>) -> Option<String> {
    let record = Record::of(family).name();
    match code {
        Some(NO_ERROR) => None,
        Some(code) => Some(format!("{server} answers {code} for {record}")),
        None => Some(format!("{server} does not answer for {record}")),
    }
}
