//! What name servers say of a host before anything is measured: where it is, for which family they
//! do not answer, and whether its network translates.

use super::pairs::{FIRST, Place};
use super::{Broken, Found, Wanted};
use crate::target::Unfit;
use crate::trouble::Trouble;
use std::net::{IpAddr, SocketAddr};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::nat64::Prefix;
use v6gap_core::unit::format_span;
use v6gap_core::workload::Lookup;
use v6gap_judge::eyeballs::NO_ANSWER_NS;
use v6gap_sys::clock;
use v6gap_visit::{Answer, Record};

/// By which a name server says that nothing is wrong.
const NO_ERROR: &str = "NOERROR";

/// What is said in place of a code where the answer was cut, and the whole is not to be had.
const CUT: &str = "with less than all (TC) and not over TCP";

const NS_PER_S: u64 = 1_000_000_000;

impl Found {
    /// Where it is: at the addresses that were given, otherwise at those that the name server tells
    /// that was named first, otherwise at the system's.
    pub(super) fn placed(&mut self, wanted: &Wanted) -> Result<Place, Trouble> {
        let given = wanted.addresses.as_ref().map(Option::is_some);
        let is_given = given.v4 && given.v6;
        if wanted.resolvers.is_empty() || is_given || !self.is_looked_up() {
            let begun_ns = clock::now_ns();
            let place = Place::of(wanted, &self.site, None)?;
            self.cold_ns = (!is_given).then(|| clock::now_ns() - begun_ns);
            return Ok(place);
        }
        let answers = self.answers()?;
        self.cold_ns = [&answers.v4, &answers.v6].into_iter().flatten().map(|of| of.ns).max();
        let addresses = |of: &Option<Answer>| of.as_ref().map(|answer| answer.addresses.clone());
        let told = answers.as_ref().map(|of| addresses(of).unwrap_or_default());
        if told.v4.is_empty() && told.v6.is_empty() && !given.v4 && !given.v6 {
            return Err(self.unknown_to(&wanted.resolvers, &answers).into());
        }
        Place::of(wanted, &self.site, Some(&told))
    }

    /// That the name server that was named knows no address of it.
    fn unknown_to(&self, servers: &[SocketAddr], answers: &PerFamily<Option<Answer>>) -> Unfit {
        let codes: Vec<String> =
            [&answers.v4, &answers.v6].into_iter().flatten().map(code).collect();
        // One that says that all is well explains nothing.
        let wrong = codes.iter().find(|code| *code != NO_ERROR);
        let says = wrong
            .or(codes.first())
            .map_or("does not answer".to_owned(), |code| format!("answers {code}"));
        let server = servers.first().map(Lookup::called).unwrap_or_default();
        Unfit::Unknown { name: self.site.host.clone(), system: format!("{server} {says}") }
    }

    /// What the first name server answers for the addresses of both families, each of which it is
    /// asked for once.
    fn answers(&mut self) -> Result<PerFamily<Option<Answer>>, Trouble> {
        if let Some(told) = &self.told {
            return Ok(told.clone());
        }
        let told = self.answers_of(FIRST)?;
        self.told = Some(told.clone());
        Ok(told)
    }

    /// What a name server answers for each address; `None` without an answer.
    fn answers_of(&mut self, server: u8) -> Result<PerFamily<Option<Answer>>, Trouble> {
        let mut stranger = self.stranger(None);
        let [v4, v6] = Family::BOTH.map(|family| stranger.address_record(server, family));
        self.budget = stranger.budget;
        let ended = |error| self.ended(error);
        let answers = PerFamily { v4: v4.map_err(ended)?, v6: v6.map_err(ended)? };
        let is_cut = |answer: &Answer| answer.cut || answer.over_tcp_ns.is_some();
        self.asks_again |= [&answers.v4, &answers.v6].into_iter().flatten().any(is_cut);
        Ok(answers)
    }

    /// Asks each name server once for both addresses: one that answers for one of them alone keeps
    /// those programs waiting that ask for both. That the first answers for neither is no finding,
    /// but what it is timed at is worth a note.
    pub(super) fn ask_for_addresses(&mut self) -> Result<(), Trouble> {
        if !self.is_looked_up() {
            return Ok(());
        }
        if let Some(ns) = self.cold_ns {
            let took = format_span(ns as f64);
            self.notes.push(format!("the first lookup took {took} and is not counted"));
        }
        let first = codes(&self.answers()?);
        for family in Family::BOTH {
            let (own, other) = (first.get(family), first.get(family.other()));
            if other.as_deref() == Some(NO_ERROR) && own.as_deref() != Some(NO_ERROR) {
                self.untold(family, own.as_deref());
            }
        }
        self.notes.extend(elsewhere(&first));
        self.notes.extend(half_silent(&first));
        let further = self.resolvers.clone().into_iter().skip(1);
        for (number, server) in (FIRST + 1..).zip(further) {
            let its = codes(&self.answers_of(number)?);
            let called = format!("the name server {}", Lookup::called(&server));
            let untold = |family| without(&called, family, its.get(family).as_deref());
            self.notes.extend(Family::BOTH.into_iter().filter_map(untold));
        }
        Ok(())
    }

    /// The name servers, where there are several.
    pub(crate) fn several_resolvers(&self) -> Vec<SocketAddr> {
        if self.resolvers.len() > 1 { self.resolvers.clone() } else { Vec::new() }
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

    /// The prefix of this network's translator, if there may be one and the network tells.
    pub(super) fn translator(&mut self) -> Result<Option<Prefix>, Trouble> {
        let six = self.target.addresses.v6.filter(|address| !address.ip().is_loopback());
        if six.is_none() || self.target.addresses.v4.is_none() {
            return Ok(None);
        }
        let mut stranger = self.stranger(None);
        let told = stranger.translator().map_err(|error| self.ended(error))?;
        self.budget = stranger.budget;
        Ok(told)
    }

    /// Whether the name server can be asked for its name.
    pub fn is_looked_up(&self) -> bool {
        !self.resolvers.is_empty() && self.site.host.parse::<IpAddr>().is_err()
    }
}

/// The code of each answer.
fn codes(answers: &PerFamily<Option<Answer>>) -> PerFamily<Option<String>> {
    answers.as_ref().map(|of| of.as_ref().map(code))
}

fn code(answer: &Answer) -> String {
    match answer.cut && answer.over_tcp_ns.is_none() {
        true => CUT.to_owned(),
        false => answer.code.clone(),
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

/// That the name server knows no address of the name, which this system has from elsewhere.
fn elsewhere(codes: &PerFamily<Option<String>>) -> Option<String> {
    let PerFamily { v4: Some(four), v6: Some(six) } = codes else { return None };
    (four != NO_ERROR && six != NO_ERROR).then(|| {
        let (a, aaaa) = (Record::A.name(), Record::Aaaa.name());
        let means = match four == CUT || six == CUT {
            true => "looking up fails",
            false => "looking up is how soon it says so, and the addresses are from elsewhere",
        };
        format!("the name server answers {four} for {a} and {six} for {aaaa}: {means}")
    })
}

/// What the name server says for both addresses where it is silent for one of them and knows none
/// of the other.
fn half_silent(codes: &PerFamily<Option<String>>) -> Vec<String> {
    let (PerFamily { v4: Some(code), v6: None } | PerFamily { v4: None, v6: Some(code) }) = codes
    else {
        return Vec::new();
    };
    let says = |family| without("the name server", family, codes.get(family).as_deref());
    if code == NO_ERROR { Vec::new() } else { Family::BOTH.into_iter().filter_map(says).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As of a name that is in this system's own table of hosts.
    #[test]
    fn a_name_that_the_name_server_does_not_know_is_noted() {
        let of = |v4: Option<&str>, v6: Option<&str>| {
            elsewhere(&PerFamily { v4: v4.map(str::to_owned), v6: v6.map(str::to_owned) })
        };
        let said = of(Some("NXDOMAIN"), Some("SERVFAIL")).unwrap();
        assert!(said.contains("NXDOMAIN for A and SERVFAIL for AAAA"), "{said}");
        for codes in [(Some(NO_ERROR), Some("NXDOMAIN")), (None, Some("NXDOMAIN")), (None, None)] {
            assert_eq!(of(codes.0, codes.1), None, "{codes:?}");
        }
        let half = |code: &str| half_silent(&PerFamily { v4: None, v6: Some(code.to_owned()) });
        assert_eq!(half(NO_ERROR), Vec::<String>::new());
        assert_eq!(half("SERVFAIL").len(), 2);
    }

    /// It is none that does not answer.
    #[test]
    fn a_name_server_whose_whole_answer_is_not_to_be_had_is_named() {
        let cut = Answer {
            ns: 1,
            code: NO_ERROR.to_owned(),
            addresses: Vec::new(),
            names: Vec::new(),
            offers: Vec::new(),
            ttl_s: None,
            cut: true,
            over_tcp_ns: None,
        };
        let whole = Answer { cut: false, over_tcp_ns: Some(1), ..cut.clone() };
        let codes = codes(&PerFamily { v4: Some(whole), v6: Some(cut) });
        assert_eq!(codes.v4.as_deref(), Some(NO_ERROR));
        let said = without("the name server", Family::V6, codes.v6.as_deref()).unwrap();
        assert_eq!(said, format!("the name server answers {CUT} for AAAA"));
        let both = PerFamily { v4: codes.v6.clone(), v6: codes.v6 };
        let said = elsewhere(&both).unwrap();
        assert!(said.ends_with(": looking up fails"), "{said}");
    }
}
