//! Whose turn it is to measure on a host: one measurement at a time, whoever starts it.
//!
//! Two measurements on one host disturb each other, and each would take that for the network. So
//! whoever measures *claims* what it uses, where all others of the host see it. Both ends of a
//! measurement name the same one, and do not stand in each other's way where both are on one host.
//! How claims are shown and seen is for others; here is what follows from them.
//!
//! A claim is asked for before it is held: it is shown first, and then the others are looked at. Of
//! two that conflict, at least the one that is shown later sees the other, so that never both are
//! held. Names break ties: of those that ask at once, all but one give way.

#[cfg(test)]
mod tests;

use crate::wire::foreign;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

/// Longest text of a claim, in bytes: one that names a thousand processors.
pub const TEXT_BYTES_MAX: usize = 16 << 10;

/// Longest description of what measures, in bytes.
const WHAT_BYTES_MAX: usize = 240;

/// The first line of a claim's text.
const FORM: &str = "v6gap claim 1";

/// A measurement, as both of its ends name it; drawn, so that nobody guesses that of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measurement(u64);

impl Measurement {
    /// The one of these random bits.
    pub const fn from_bits(bits: u64) -> Self {
        Measurement(bits)
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A text that names no measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoMeasurement;

impl FromStr for Measurement {
    type Err = NoMeasurement;

    fn from_str(text: &str) -> Result<Self, NoMeasurement> {
        let is_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 16 || !text.bytes().all(is_digit) {
            return Err(NoMeasurement);
        }
        u64::from_str_radix(text, 16).map(Measurement).map_err(|_| NoMeasurement)
    }
}

/// What a measurement uses of its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Uses {
    /// All of it: what leaves the host shares its links with everything.
    Host,
    /// Processors of these numbers and nothing else, as a lab does whose links are its own.
    Processors(BTreeSet<usize>),
}

impl Uses {
    /// Whether both use something.
    fn overlap(&self, other: &Uses) -> bool {
        match (self, other) {
            (Uses::Processors(own), Uses::Processors(others)) => !own.is_disjoint(others),
            _ => true,
        }
    }
}

/// That somebody measures, or wants to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// What is measured.
    pub measurement: Measurement,
    /// What of the host that takes.
    pub uses: Uses,
    /// What measures, as a person reads it: the command.
    pub what: String,
}

impl Claim {
    /// A claim in harmless words.
    pub fn new(measurement: Measurement, uses: Uses, what: &str) -> Self {
        Claim { measurement, uses, what: foreign::line(what, WHAT_BYTES_MAX) }
    }

    /// Whether both may not be held at once.
    pub fn conflicts(&self, other: &Claim) -> bool {
        self.measurement != other.measurement && self.uses.overlap(&other.uses)
    }

    /// The text by which others read it.
    pub fn text(&self) -> String {
        let uses = match &self.uses {
            Uses::Host => "host".to_string(),
            Uses::Processors(all) => {
                let numbers = all.iter().map(|number| format!(" {number}"));
                format!("processors{}", numbers.collect::<String>())
            }
        };
        format!("{FORM}\nmeasurement {}\nuses {uses}\nwhat {}\n", self.measurement, self.what)
    }

    /// What a text says; `None` if it is no claim or one of another form. Lines that are not known
    /// are passed over.
    pub fn parse(text: &str) -> Option<Self> {
        let lines = text.strip_prefix(FORM)?.strip_prefix('\n')?;
        let of = |name: &str| lines.lines().find_map(|line| line.strip_prefix(name));
        let uses = match of("uses ")? {
            "host" => Uses::Host,
            other => {
                let numbers = other.strip_prefix("processors")?.split_ascii_whitespace();
                Uses::Processors(numbers.map(|n| n.parse().ok()).collect::<Option<_>>()?)
            }
        };
        Some(Claim::new(of("measurement ")?.parse().ok()?, uses, of("what ")?))
    }
}

/// A claim of somebody, as it is seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its name, which no other one has.
    pub name: u64,
    /// What it says; `None` if that cannot be understood, and it may be anything.
    pub claim: Option<Claim>,
    /// Whether it is held; it is asked for otherwise.
    pub holds: bool,
}

impl Seen {
    fn conflicts(&self, claim: &Claim) -> bool {
        self.claim.as_ref().is_none_or(|other| other.conflicts(claim))
    }
}

/// What to do with a claim that is shown, after all others were looked at. Numbers are places in
/// what was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nobody is in the way: it is held from now on.
    Hold,
    /// That one asks, too, and has to give way: look again.
    LookAgain(usize),
    /// That one goes first: show the claim no longer.
    GiveWay(usize),
}

/// What to do with `claim`, shown under `name`; among the others it may be itself.
pub fn step(name: u64, claim: &Claim, others: &[Seen]) -> Step {
    let against = |is: &dyn Fn(&Seen) -> bool| {
        let mut places = others.iter();
        places.position(|other| other.name != name && other.conflicts(claim) && is(other))
    };
    let first =
        against(&|other: &Seen| other.holds).or_else(|| against(&|other: &Seen| other.name < name));
    match (first, against(&|_: &Seen| true)) {
        (Some(first), _) => Step::GiveWay(first),
        (None, Some(later)) => Step::LookAgain(later),
        (None, None) => Step::Hold,
    }
}

/// Who would be in the way of `claim`, which is not shown: its place in what was seen.
pub fn in_the_way(claim: &Claim, others: &[Seen]) -> Option<usize> {
    let held = |other: &Seen| other.holds && other.conflicts(claim);
    let any = |other: &Seen| other.conflicts(claim);
    others.iter().position(held).or_else(|| others.iter().position(any))
}
