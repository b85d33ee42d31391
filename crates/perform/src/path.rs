//! Before measuring: do full packets get through? Where large ones vanish without a word, every
//! transfer would stall, and the reason would look like anything but what it is.

use crate::session::Session;
use crate::trouble::Trouble;
use v6gap_core::arm::{PerArm, TurnOrder};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::plan::Plan;
use v6gap_core::workload::{Cell, Echo, Transport, Wait, Workload};
use v6gap_engine::run::{self, RunError};
use v6gap_engine::trial::client::ClientContext;

/// Message that fits one packet of any network.
const SMALL_BYTES: u32 = 64;

/// Message that fills several packets.
const LARGE_BYTES: u32 = 8192;

/// How long a full packet may take there and back before it counts as vanished, in ns.
const PATIENCE_NS: u64 = 3_000_000_000;

/// How long each packet of the search may take, in ns: the small ones have shown that the path
/// answers.
const SEARCH_PATIENCE_NS: u64 = 500_000_000;

/// Smallest and largest IP packet between which the limit is looked for, in bytes: the minimum MTU
/// of IPv6 (RFC 8200 section 5) and that of Ethernet.
const SEARCH_BYTES: (u32, u32) = (1280, 1500);

/// Length of a UDP header, in bytes.
const UDP_HEADER_BYTES: u32 = 8;

/// Sends small and large messages over each family that the plan measures, and returns the longest
/// round trip of a small one, in ns.
///
/// # Errors
/// If small ones get through and large ones do not.
pub fn check(plan: &Plan, session: &mut Session) -> Result<u64, Trouble> {
    let arms = plan.design.arms;
    let mut longest_ns = 0;
    for family in Family::BOTH {
        if arms.a != family && arms.b != family {
            continue;
        }
        let mut passes = |transport, bytes, timeout_ns| {
            let context = ClientContext { timeout_ns, ..session.client.clone() };
            passes((transport, bytes), family, session, &context)
        };
        let Some(round_trip_ns) = passes(Transport::Tcp, SMALL_BYTES, PATIENCE_NS)? else {
            continue;
        };
        longest_ns = longest_ns.max(round_trip_ns);
        if passes(Transport::Tcp, LARGE_BYTES, PATIENCE_NS)?.is_some() {
            continue;
        }
        // Where no datagram comes through, they cannot tell which sizes do.
        if passes(Transport::Udp, SMALL_BYTES, SEARCH_PATIENCE_NS)?.is_none() {
            continue;
        }
        let mut fits = |packet: u32| {
            let payload = packet - family.header_bytes() - UDP_HEADER_BYTES;
            passes(Transport::Udp, payload, SEARCH_PATIENCE_NS).map(|time| time.is_some())
        };
        if let Some(largest) = search(&mut fits)? {
            return Err(session.black_hole(family, largest));
        }
    }
    Ok(longest_ns)
}

/// The time of one exchange of that size, in ns, if it succeeds; errors are those that end the
/// session.
fn passes(
    (transport, message_bytes): (Transport, u32),
    family: Family,
    session: &mut Session,
    context: &ClientContext,
) -> Result<Option<u64>, Trouble> {
    let echo = Echo {
        transport,
        message_bytes,
        connections: 1,
        turn_exchanges: 1,
        turns: 1,
        warmup_exchanges: 0,
        wait: Wait::Block,
        ..Echo::default()
    };
    let cell = Cell::named(Workload::Echo(echo));
    let arms = PerArm::null(family);
    let connection = &mut session.connection;
    match run::measure_block(&cell, arms, TurnOrder::Ab, 0, connection, context) {
        Ok(values) => Ok(values.a.get(&Metric::Rtt).map(|seconds| (seconds * 1e9) as u64)),
        Err(RunError::Trial(_) | RunError::Server { .. }) => Ok(None),
        Err(error) => Err(session.broken_off(error)),
    }
}

/// The largest IP packet that passes, in bytes; `None` if full packets of Ethernet pass, so that
/// whatever stopped the large message was something else.
fn search(fits: &mut impl FnMut(u32) -> Result<bool, Trouble>) -> Result<Option<u32>, Trouble> {
    let (mut low, mut high) = SEARCH_BYTES;
    if fits(high)? {
        return Ok(None);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle)? { low = middle } else { high = middle }
    }
    Ok(Some(low))
}
