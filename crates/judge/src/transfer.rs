//! A TCP transfer in the words of RFC 6349, and between payload and line: computed from what a
//! trial stored (docs/method.md, section B.13).

use v6gap_core::family::Family;
use v6gap_core::observation::{Connection, Ends, TcpAccount};
use v6gap_core::wiremodel::{
    FRAME_CHECK_BYTES, Framing, INTER_PACKET_GAP_BYTES, PREAMBLE_BYTES, TCP_HEADER_BYTES,
    TcpOptions, window_limited_bps,
};

/// What one transfer was on the line and how it went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Transfer {
    /// Application bit/s: the value of the trial.
    pub payload_bps: f64,
    /// Bit/s that its data segments occupied the line with: headers, framing and repeats included.
    pub wire_bps: Option<f64>,
    /// Payload of a data segment, mean, in bytes.
    pub segment_bytes: Option<f64>,
    /// What each segment takes of the line beside its payload, in bytes.
    pub overhead_bytes: u32,
    /// Application bit/s from the first byte to the last.
    pub whole_bps: f64,
    /// Application bit/s of the settled part.
    pub steady_bps: Option<f64>,
    /// TCP Efficiency of RFC 6349 section 4.2, as a share: bytes not sent again of all sent.
    pub efficiency: Option<f64>,
    /// Buffer Delay of RFC 6349 section 4.3, as a share: how much longer round trips were, on
    /// average, than the shortest.
    pub buffer_delay: Option<f64>,
    /// What the peer's windows held the senders to.
    pub window: Option<Window>,
}

/// Windows that receivers offered and what they allowed, all connections together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// The windows offered, in bytes: means of what the senders' kernels told.
    pub bytes: f64,
    /// Mean of the connections' round trips, in µs.
    pub rtt_us: f64,
    /// The most that they allow, in bit/s: the sum of 8·W / RTT (RFC 6349 section 3.3).
    pub most_bps: f64,
    /// Part of the time with data under way in which the window was what kept the sender waiting.
    pub limited: f64,
}

/// What a segment takes of the line beside its payload, in bytes: IP and TCP headers, options,
/// Ethernet frame with its tags, preamble and gap.
pub fn overhead_bytes(family: Family, options: TcpOptions, framing: Framing) -> u32 {
    let frame = framing.header_bytes() + FRAME_CHECK_BYTES;
    let line = frame + PREAMBLE_BYTES + INTER_PACKET_GAP_BYTES;
    family.header_bytes() + TCP_HEADER_BYTES + options.bytes + line
}

/// TCP Efficiency (RFC 6349 section 4.2) as a share; `None` of nothing. What was sent includes what
/// was sent again.
pub fn efficiency(sent_bytes: u64, again_bytes: u64) -> Option<f64> {
    (sent_bytes > 0).then(|| 1.0 - again_bytes as f64 / sent_bytes as f64)
}

/// Buffer Delay (RFC 6349 section 4.3) as a share of the baseline; `None` without a baseline.
pub fn buffer_delay(mean_rtt_us: f64, baseline_us: f64) -> Option<f64> {
    (baseline_us > 0.0).then(|| mean_rtt_us / baseline_us - 1.0)
}

/// The transfer of a trial of `family` in such frames, all connections and directions together;
/// `None` if it was none over TCP.
pub fn of_trial(family: Family, ends: &Ends, framing: Framing) -> Option<Transfer> {
    if ends.all().all(|end| end.connections.is_empty()) {
        return None;
    }
    let received = || ends.all().filter_map(|end| end.measured.received());
    let payload_bps = received().map(|r| r.rate_bps).sum::<f64>();
    let steady = received().map(|r| r.steady.map(|steady| steady.rate_bps));
    let options = match ends.all().find_map(|end| end.granted.timestamps) {
        Some(false) => TcpOptions::NONE,
        _ => TcpOptions::TIMESTAMPS,
    };
    let overhead_bytes = overhead_bytes(family, options, framing);
    let senders = || senders(ends);
    let total = |of: fn(&TcpAccount) -> Option<u64>| sum(senders(), of);
    let sent = total(|account| account.bytes_sent).filter(|&bytes| bytes > 0);
    let again = total(|account| account.bytes_retransmitted);
    let segments = total(TcpAccount::data_segments);
    let on_line = sent.zip(again).zip(segments).filter(|((sent, again), _)| sent > again);
    Some(Transfer {
        payload_bps,
        wire_bps: on_line.map(|((sent, again), segments)| {
            let wire = sent as f64 + segments as f64 * f64::from(overhead_bytes);
            payload_bps * wire / (sent - again) as f64
        }),
        segment_bytes: sent.zip(segments).map(|(sent, n)| sent as f64 / n.max(1) as f64),
        overhead_bytes,
        whole_bps: received().map(|r| r.whole_bps).sum(),
        steady_bps: steady.sum(),
        efficiency: sent.zip(again).and_then(|(sent, again)| efficiency(sent, again)),
        buffer_delay: delay(senders()),
        window: window(ends),
    })
}

/// The connections that carried payload, each as the end that sent it tells.
fn senders(ends: &Ends) -> impl Iterator<Item = &Connection> + Clone {
    ends.all().flat_map(|end| &end.connections).filter(|c| c.sent_bytes > 0)
}

/// What the peer's windows held the senders of a trial to.
pub fn window(ends: &Ends) -> Option<Window> {
    let connections = senders(ends);
    let count = connections.clone().count() as f64;
    let (mut bytes, mut rtt_us, mut most_bps) = (0.0, 0.0, 0.0);
    for connection in connections.clone() {
        let (window, trip_us) = connection.window_mean_bytes.zip(connection.rtt_mean_us)?;
        bytes += window;
        rtt_us += trip_us / count;
        most_bps += window_limited_bps(window, trip_us * 1e3);
    }
    let limited = sum(connections.clone(), |account| account.window_limited_us)?;
    let busy = sum(connections, |account| account.busy_us).filter(|&us| us > 0)?;
    Some(Window { bytes, rtt_us, most_bps, limited: limited as f64 / busy as f64 })
}

/// The sum over all connections; `None` if the kernel does not tell it of one of them.
fn sum<'a>(
    connections: impl Iterator<Item = &'a Connection>,
    of: fn(&TcpAccount) -> Option<u64>,
) -> Option<u64> {
    let mut told = connections.map(|connection| connection.account.as_ref().and_then(of));
    told.try_fold(0, |sum: u64, one| Some(sum.saturating_add(one?)))
}

/// Mean of the connections' round trips over the smallest of them all.
fn delay<'a>(connections: impl Iterator<Item = &'a Connection> + Clone) -> Option<f64> {
    let count = connections.clone().count();
    let means: Option<f64> = connections.clone().map(|c| c.rtt_mean_us).sum();
    let least = connections.filter_map(|c| c.account?.min_rtt_us).min()?;
    buffer_delay(means? / count as f64, f64::from(least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use v6gap_core::observation::{EndReport, Far};
    use v6gap_core::observation::{Endpoints, Measured, Received, Sent, Steady};

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
    }

    /// Known answers of docs/method.md: 100,000 bytes and 2,000 more sent again; 25 ms that became
    /// 32.
    #[test]
    fn the_metrics_of_rfc_6349() {
        close(efficiency(102_000, 2_000).unwrap(), 0.980_392_156_862_745);
        close(buffer_delay(32_000.0, 25_000.0).unwrap(), 0.28);
        assert_eq!((efficiency(0, 0), buffer_delay(1.0, 0.0)), (None, None));
    }

    #[test]
    fn overhead_is_the_wire_models() {
        for (family, payload) in [(Family::V4, 1448), (Family::V6, 1428)] {
            let overhead = overhead_bytes(family, TcpOptions::TIMESTAMPS, Framing::default());
            assert_eq!(payload + overhead, 1538);
            let tagged = Framing { vlan_tags: 2 };
            assert_eq!(overhead_bytes(family, TcpOptions::TIMESTAMPS, tagged), overhead + 8);
        }
    }

    fn connection(sent_bytes: u64, account: TcpAccount) -> Connection {
        let address = "[2001:db8::1]:9".parse().unwrap();
        let endpoints = Endpoints { domain: Family::V6, local: address, peer: address };
        let rtt_mean_us = (sent_bytes > 0).then_some(300.0);
        let account = Some(account);
        let received_bytes = 0;
        let (processor, window_mean_bytes) = (None, rtt_mean_us.map(|_| 20_000.0));
        Connection {
            endpoints,
            sent_bytes,
            received_bytes,
            rtt_mean_us,
            window_mean_bytes,
            processor,
            account,
        }
    }

    #[test]
    fn payload_and_line_differ_by_headers_framing_and_repeats() {
        let account = TcpAccount {
            bytes_sent: Some(142_800),
            bytes_retransmitted: Some(1_428),
            data_segments_out: Some(100),
            min_rtt_us: Some(200),
            busy_us: Some(1_000),
            window_limited_us: Some(900),
            ..TcpAccount::default()
        };
        let received = Received {
            rate_bps: 1_428e3,
            whole_bps: 1_300e3,
            steady: Some(Steady { from_ns: 0, rate_bps: 1_430e3 }),
            ..Received::default()
        };
        let client = EndReport {
            measured: Measured::Sent(Sent::default()),
            connections: vec![connection(70_000, account), connection(70_000, account)],
            ..EndReport::default()
        };
        let server = EndReport {
            measured: Measured::Received(received),
            connections: vec![connection(0, TcpAccount::default()); 2],
            ..EndReport::default()
        };
        let mut ends = Ends { client, server: Far::Seen(server) };
        let found = of_trial(Family::V6, &ends, Framing::default()).unwrap();
        close(found.wire_bps.unwrap(), 1_538e3 * 100.0 / 99.0);
        assert_eq!((found.segment_bytes, found.overhead_bytes), (Some(1_428.0), 110));
        assert_eq!((found.whole_bps, found.steady_bps), (1_300e3, Some(1_430e3)));
        close(found.efficiency.unwrap(), 0.99);
        close(found.buffer_delay.unwrap(), 0.5);
        // 20,000 B in 300 µs, twice.
        let window = found.window.unwrap();
        assert_eq!((window.bytes, window.rtt_us, window.limited), (40_000.0, 300.0, 0.9));
        close(window.most_bps, 2.0 * 20_000.0 * 8.0 / 300e-6);
        // What a kernel does not tell is not made up.
        ends.client.connections[1].account = None;
        let found = of_trial(Family::V6, &ends, Framing::default()).unwrap();
        assert_eq!((found.wire_bps, found.efficiency), (None, None));
        assert_eq!(of_trial(Family::V6, &Ends::default(), Framing::default()), None);
    }
}
