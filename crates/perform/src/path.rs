//! Before measuring: do full packets get through? Where large ones vanish without a word, every
//! transfer would stall, and the reason would look like anything but what it is.

use crate::session::Session;
use crate::trouble::Trouble;
use v6gap_core::arm::{PerArm, TurnOrder};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::plan::{Plan, fit};
use v6gap_core::wiremodel::UDP_HEADER_BYTES;
use v6gap_core::workload::{Cell, Echo, Path, Transport, Wait, Workload};
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

/// Largest IP packet for which the limit is looked, in bytes: the MTU of Ethernet.
const SEARCH_BYTES_MAX: u32 = 1500;

/// How often small packets must get through one after the other before larger ones are looked at,
/// and how often the limit must be found again: on a path that loses packets of any size by chance,
/// one that did not come says nothing about its size.
const CONFIRMED: u32 = 4;

/// A large message that takes so much longer than a small one tells of a slow line only if others
/// do too, in ns.
const LATE_NS: u64 = 5_000_000;

/// How many others.
const AGAIN_MAX: u32 = 3;

/// How many datagrams must be lost before a family is said to carry none.
const DATAGRAMS_MAX: u32 = 2;

/// Sends small and large messages over each family that the plan measures, and returns the path
/// that they tell of: the longest round trip of a small one, and the lowest rate.
///
/// # Errors
/// If small ones get through and large ones do not.
pub fn check(plan: &Plan, session: &mut Session) -> Result<Path, Trouble> {
    let arms = plan.design.arms;
    let mut path = fit::path_of(0);
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
        let mut large_ns = passes(Transport::Tcp, LARGE_BYTES, PATIENCE_NS)?;
        // What was lost or held up comes no slower the next time, but for a slow line.
        for _ in 0..AGAIN_MAX {
            let Some(ns) = large_ns.filter(|ns| *ns > round_trip_ns + LATE_NS) else { break };
            let again = passes(Transport::Tcp, LARGE_BYTES, PATIENCE_NS)?;
            large_ns = Some(again.unwrap_or(ns).min(ns));
        }
        let further_bytes = 2 * (LARGE_BYTES - SMALL_BYTES);
        let own = fit::path_timed(round_trip_ns, large_ns.unwrap_or(0), further_bytes);
        path = Path {
            rate_bps: path.rate_bps.min(own.rate_bps),
            round_trip_ns: path.round_trip_ns.max(own.round_trip_ns),
        };
        if large_ns.is_some() {
            continue;
        }
        let headers_bytes = family.header_bytes() + UDP_HEADER_BYTES;
        let mut fits = |packet: u32| {
            let payload = packet - headers_bytes;
            passes(Transport::Udp, payload, SEARCH_PATIENCE_NS).map(|time| time.is_some())
        };
        if let Some(largest) = search(SMALL_BYTES + headers_bytes, &mut fits)? {
            return Err(session.black_hole(family, largest));
        }
    }
    Ok(path)
}

/// Whether a datagram gets there and back over a family.
///
/// # Errors
/// If the session is lost.
pub fn carries_datagrams(family: Family, session: &mut Session) -> Result<bool, Trouble> {
    let context = ClientContext { timeout_ns: SEARCH_PATIENCE_NS, ..session.client.clone() };
    for _ in 0..DATAGRAMS_MAX {
        let datagram = (Transport::Udp, SMALL_BYTES);
        if passes(datagram, family, session, &context)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The time of the quicker of two exchanges of that size, in ns, if one succeeds; errors are those
/// that end the session.
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
        Ok(PerArm { a, b }) => {
            let times = [a, b].into_iter().filter_map(|values| values.get(&Metric::Rtt).copied());
            Ok(times.reduce(f64::min).map(|seconds| (seconds * 1e9) as u64))
        }
        Err(RunError::Trial(_) | RunError::Server(_)) => Ok(None),
        Err(error) => Err(session.broken_off(error)),
    }
}

/// The largest IP packet that passes, in bytes; `None` if full packets of Ethernet pass, so that
/// whatever stopped the large message was something else, or if packets as long as `small` do not
/// always pass, so that it cannot be told.
fn search<E>(small: u32, fits: &mut impl FnMut(u32) -> Result<bool, E>) -> Result<Option<u32>, E> {
    let (mut low, mut high) = (small, SEARCH_BYTES_MAX);
    if !always(|| fits(low))? || fits(high)? {
        return Ok(None);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle)? { low = middle } else { high = middle }
    }
    let stands = always(|| fits(low))? && always(|| fits(high).map(|fits| !fits))?;
    Ok(stands.then_some(low))
}

/// Whether something holds as often as it must.
fn always<E>(mut holds: impl FnMut() -> Result<bool, E>) -> Result<bool, E> {
    for _ in 0..CONFIRMED {
        if !holds()? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::convert::Infallible;

    /// What is found where packets up to `limit` pass, and of each that would, those pass that
    /// `chance` lets through.
    fn found(limit: u32, mut chance: impl FnMut() -> bool) -> Option<u32> {
        let mut fits = |packet| Ok::<_, Infallible>(packet <= limit && chance());
        let Ok(found) = search(92, &mut fits);
        found
    }

    #[test]
    fn the_largest_packet_that_passes_is_found() {
        for limit in [92, 576, 1279, 1280, 1281, 1499] {
            assert_eq!(found(limit, || true), Some(limit));
        }
        assert_eq!(found(1500, || true), None);
        assert_eq!(found(91, || true), None);
    }

    #[test]
    fn loss_by_chance_is_no_limit() {
        // A third of the packets, by a small generator (Numerical Recipes' constants).
        let mut state = 7_u32;
        let mut passes = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16 > 0x5555
        };
        let wrong = (0..10_000).filter(|_| found(1500, &mut passes).is_some()).count();
        assert!(wrong < 50, "{wrong} of 10,000");
    }
}
