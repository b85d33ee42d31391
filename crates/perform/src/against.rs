//! Unmodified servers of other tools as the far end of a run: finding them, and a first look over
//! each family.

use crate::target::Target;
use crate::trouble::Trouble;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::iperf3::{self, Results};
use v6gap_core::plan::{Plan, fit};
use v6gap_core::record::Host;
use v6gap_core::wire::stamp;
use v6gap_core::workload::Workload;
use v6gap_engine::run::Performer;
use v6gap_engine::stamp::StampKey;
use v6gap_visit::{Iperf3, Iperf3Error, Iperf3Place, Stamp, StampPlace};

/// Whose server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// iperf3, of version 3.1 and later.
    Iperf3,
    /// A reflector of STAMP (RFC 8762) or TWAMP Light, as routers have them.
    Stamp,
}

impl Tool {
    /// All of them.
    pub const ALL: [Tool; 2] = [Tool::Iperf3, Tool::Stamp];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Tool::Iperf3 => "iperf3",
            Tool::Stamp => "stamp",
        }
    }

    /// The port that its server has.
    pub const fn port(self) -> u16 {
        match self {
            Tool::Iperf3 => iperf3::PORT,
            Tool::Stamp => stamp::PORT,
        }
    }

    /// Whether its server can be asked for what a cell measures, with or without a key.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn takes(self, workload: &Workload, sealed: bool) -> Result<(), String> {
        match self {
            Tool::Iperf3 => Iperf3::takes(workload),
            Tool::Stamp => Stamp::takes(workload, sealed),
        }
    }

    /// Whether its server is loaded, so that it must be the user's own.
    const fn loads(self) -> bool {
        match self {
            Tool::Iperf3 => true,
            Tool::Stamp => false,
        }
    }
}

/// Who is measured and how.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Whose server.
    pub tool: Tool,
    /// Where it is.
    pub target: Target,
    /// Whether the host is said to be the user's own.
    pub mine: bool,
    /// Longest wait for anything that is due, in ns.
    pub silence_ns: u64,
    /// Longest wait for a server that measures for somebody else, in ns.
    pub busy_ns: u64,
    /// By which packets of STAMP are authenticated, if they are.
    pub key: Option<StampKey>,
}

/// A server as the first look found it.
#[derive(Debug)]
pub struct Against {
    /// Where it is.
    pub target: Target,
    /// What is worth a note.
    pub notes: Vec<String>,
    wanted: Wanted,
    told: PerFamily<Option<Results>>,
    /// What an exchange takes over each family, in ns, of tools whose servers are asked for some.
    exchange_ns: PerFamily<Option<u64>>,
}

/// Why there is no test over a family.
#[derive(Debug, Clone, PartialEq, Eq)]
enum NoTest {
    /// The server measures for somebody else, which tells nothing of the family.
    Busy,
    /// In words.
    Because(String),
}

impl From<Iperf3Error> for NoTest {
    fn from(error: Iperf3Error) -> Self {
        match error {
            Iperf3Error::Busy => NoTest::Busy,
            error => NoTest::Because(error.to_string()),
        }
    }
}

/// Asks the server for a short test over each family.
///
/// # Errors
/// If the host is not said to be the user's own, or the server is busy or does not do its part.
pub fn look(wanted: Wanted) -> Result<Against, Trouble> {
    if wanted.tool.loads() && !wanted.mine && !wanted.target.is_near() {
        return Err(Trouble::NotYours(wanted.target.name));
    }
    let target = wanted.target.clone();
    let mut found = Against {
        target,
        notes: Vec::new(),
        wanted,
        told: PerFamily::default(),
        exchange_ns: PerFamily::default(),
    };
    let looks = Family::BOTH.map(|family| (family, found.look(family)));
    let works = |of: Family| looks.iter().any(|(family, look)| *family == of && look.is_ok());
    if looks.iter().any(|(_, look)| *look == Err(NoTest::Busy)) {
        let (target, tool) = (found.target.name, found.wanted.tool.name());
        return Err(Trouble::Busy { target, tool });
    }
    for (family, look) in &looks {
        let Err(NoTest::Because(why)) = look else { continue };
        let (target, tool, family) = (found.target.name, found.wanted.tool.name(), *family);
        let (other_works, why) = (works(family.other()), why.clone());
        return Err(Trouble::Foreign { target, tool, family, other_works, why });
    }
    if found.wanted.tool == Tool::Iperf3 {
        found.notes.extend(found.compared());
    }
    Ok(found)
}

impl Against {
    /// Who performs the attempts.
    pub(crate) fn performer(&self, processor: Option<usize>) -> Box<dyn Performer> {
        match self.wanted.tool {
            Tool::Iperf3 => Box::new(self.iperf3(processor)),
            Tool::Stamp => Box::new(self.stamp(processor)),
        }
    }

    /// A short test over `family`, or why there is none.
    fn look(&mut self, family: Family) -> Result<(), NoTest> {
        match self.wanted.tool {
            Tool::Iperf3 => {
                let told = self.iperf3(None).look(family)?;
                *self.told.get_mut(family) = Some(told);
                Ok(())
            }
            Tool::Stamp => {
                let look = self.stamp(None).look(family);
                let exchange_ns = look.map_err(|why| NoTest::Because(why.to_string()))?;
                *self.exchange_ns.get_mut(family) = exchange_ns;
                Ok(())
            }
        }
    }

    /// The plan as it is between two hosts that run this program: the same number of exchanges in
    /// turns as long, by the round trip of the slower family.
    pub(crate) fn fitted(&self, plan: Plan) -> Plan {
        let PerFamily { v4, v6 } = self.exchange_ns;
        match v4.max(v6) {
            Some(exchange_ns) => plan.fitted(fit::path_of(exchange_ns)),
            None => plan,
        }
    }

    fn stamp(&self, processor: Option<usize>) -> Stamp {
        let Target { addresses, local, .. } = self.target.clone();
        let Wanted { silence_ns, key, mine, .. } = self.wanted.clone();
        Stamp::new(StampPlace { addresses, local, silence_ns, processor, key, mine })
    }

    fn iperf3(&self, processor: Option<usize>) -> Iperf3 {
        let Target { addresses, local, .. } = self.target.clone();
        let Wanted { silence_ns, busy_ns, .. } = self.wanted;
        Iperf3::new(Iperf3Place { addresses, local, silence_ns, busy_ns, processor })
    }

    /// What the looks tell together: a server numbers its tests, so two that follow each other were
    /// done by one.
    fn compared(&self) -> Vec<String> {
        let numbers = self.told.as_ref().map(|told| told.as_ref().and_then(Results::test_number));
        let mut notes = Vec::new();
        notes.push(match (numbers.v4, numbers.v6) {
            (Some(v4), Some(v6)) if v6 == v4.wrapping_add(1) => {
                format!("one server: its tests {v4} and {v6} came over IPv4 and IPv6")
            }
            (Some(v4), Some(v6)) => format!(
                "whether both addresses lead to one server is not known: its test over IPv4 had \
                 number {v4}, and that over IPv6 {v6}"
            ),
            _ => "whether both addresses lead to one server is not known".to_owned(),
        });
        notes.extend(Family::BOTH.into_iter().filter_map(|family| self.translated(family)));
        notes
    }

    /// Where the server saw this host at another address than it has.
    fn translated(&self, family: Family) -> Option<String> {
        let seen = self.told.get(family).as_ref()?.accepted_from()?;
        (Family::of(&seen) != Some(family)).then(|| {
            format!("over {family} the server is asked from {seen}: packets are translated")
        })
    }

    /// What is known of the host.
    pub(crate) fn host(&self) -> Host {
        let port = |address: &SocketAddr| address.port().to_string();
        let ports = self.target.addresses.v4.as_ref().or(self.target.addresses.v6.as_ref());
        let tool = ("tool".to_owned(), self.wanted.tool.name().to_owned());
        let port = ports.map(|address| ("port".to_owned(), port(address)));
        let facts = BTreeMap::from_iter([tool].into_iter().chain(port));
        Host { name: self.target.name.clone(), facts }
    }
}
