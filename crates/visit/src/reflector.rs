//! Round trips with an unmodified reflector of STAMP or TWAMP Light, as routers have them.

use super::turns::{exchanges, in_slices, unsuitable};
use std::net::SocketAddr;
use v6gap_core::arm::{PerArm, TurnOrder};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::plan::Plan;
use v6gap_core::run::{Attempt, Observed};
use v6gap_core::transport::Transport;
use v6gap_core::wire::stamp::{OPEN_BYTES, SEALED_BYTES};
use v6gap_core::workload::{Echo, Workload};
use v6gap_engine::run::{Hooks, Performer, RunError};
use v6gap_engine::stamp::StampKey;
use v6gap_engine::trial::ClientContext;
use v6gap_engine::trial::client::Reflector;

/// Where the reflector is and how it is spoken to.
#[derive(Debug, Clone)]
pub struct StampPlace {
    /// Its address in each family.
    pub addresses: PerFamily<Option<SocketAddr>>,
    /// Address of this end in each family, where the system is not to choose.
    pub local: PerFamily<Option<SocketAddr>>,
    /// Longest wait for anything that is due, in ns.
    pub silence_ns: u64,
    /// The processor to measure on; without one the system chooses.
    pub processor: Option<usize>,
    /// By which packets are authenticated, if they are.
    pub key: Option<StampKey>,
    /// Whether its host is said to be the user's own, so that packets follow each other at once.
    pub mine: bool,
}

/// Pause before each packet to a host of others, in ns.
const PAUSE_NS: u64 = 1_000_000;

/// A reflector.
#[derive(Debug)]
pub struct Stamp {
    place: StampPlace,
    number: u32,
}

impl Stamp {
    /// The reflector at `place`.
    pub fn new(place: StampPlace) -> Self {
        Stamp { place, number: 0 }
    }

    /// Whether a workload is one that a reflector answers, which authenticates packets or not.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn takes(workload: &Workload, sealed: bool) -> Result<(), String> {
        let least = if sealed { SEALED_BYTES } else { OPEN_BYTES };
        match workload {
            Workload::Echo(echo) if echo.transport == Transport::Udp && echo.outstanding == 1 => {
                let (shortest, _) = echo.bytes_over(Family::V6);
                match (shortest as usize) < least {
                    true => Err(format!("a packet of STAMP has {least} B or more")),
                    false => Ok(()),
                }
            }
            Workload::Echo(_)
            | Workload::TcpBulk(_)
            | Workload::UdpBulk(_)
            | Workload::Connect(_)
            | Workload::Probe(_)
            | Workload::Capacity(_)
            | Workload::Frames(_)
            | Workload::Visit(_)
            | Workload::Lookup(_) => {
                Err("a reflector of STAMP answers round trips over UDP alone".to_owned())
            }
        }
    }

    /// Round trips over `family` that nobody counts as measured; returns how long an exchange takes
    /// with what the reflector holds of it, in ns, unless the answers were lost at first.
    ///
    /// # Errors
    /// Why there is none.
    pub fn look(&mut self, family: Family) -> Result<Option<u64>, RunError> {
        let bytes = if self.place.key.is_some() { SEALED_BYTES } else { OPEN_BYTES };
        let echo = Echo {
            transport: Transport::Udp,
            message_bytes: bytes as u32,
            connections: 1,
            turn_exchanges: 1,
            turns: 1,
            warmup_exchanges: 0,
            ..Echo::default()
        };
        self.number += 1;
        let block = (self.number, TurnOrder::Ab, 0);
        let reports = exchanges(&echo, block, PerArm::null(family), &self.context())?;
        let held = reports.iter().filter_map(|(_, report)| report.held);
        // The second finds the way there known.
        Ok(held.map(|held| held.whole_ns as u64).min())
    }

    fn context(&self) -> ClientContext {
        let StampPlace { addresses, local, silence_ns, processor, key, mine } = &self.place;
        let pause_ns = if *mine { 0 } else { PAUSE_NS };
        ClientContext {
            local: *local,
            processors: processor.iter().copied().collect(),
            reflector: Some(Reflector { key: *key, pause_ns }),
            ..ClientContext::new(*addresses, *silence_ns)
        }
    }
}

impl Performer for Stamp {
    fn attempt(
        &mut self,
        plan: &Plan,
        attempt: &Attempt<'_>,
        hooks: &mut dyn Hooks,
    ) -> Result<PerArm<Observed>, RunError> {
        let Workload::Echo(echo) = attempt.workload() else {
            return Err(unsuitable("a reflector answers round trips alone".to_owned()));
        };
        self.number += 1;
        let block = (self.number, attempt.block.order, attempt.seed());
        let (arms, context) = (attempt.arms(plan), self.context());
        in_slices(attempt, hooks, || exchanges(&echo, block, arms, &context))
    }

    /// A reflector keeps nothing of what it answered.
    fn settle(&mut self, _workload: &Workload) {}
}
