//! From what both ends saw to the value of each metric of a trial.

use super::capacity::PATH_MTU_USUAL;
use std::collections::BTreeMap;
use v6gap_core::capacity::{ip_bytes, maximum_bps};
use v6gap_core::cost;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{
    Connections, EndReport, Measured, PerEnd, Probed, Received, Returned, Sent,
};
use v6gap_core::workload::{Capacity, Search, Workload};

const NS_PER_S: f64 = 1e9;

/// The value of each metric of `workload` in SI units. A metric whose evidence is missing is left
/// out, so that a trial without a value cannot be taken for one.
pub fn values(workload: &Workload, ends: &PerEnd<EndReport>) -> BTreeMap<Metric, f64> {
    let value = |&metric: &Metric| value(metric, workload, ends).map(|v| (metric, v));
    workload.metrics().iter().filter_map(value).collect()
}

fn value(metric: Metric, workload: &Workload, ends: &PerEnd<EndReport>) -> Option<f64> {
    if let Measured::Probed(probed) = &ends.client.measured {
        return of_probes(metric, probed, &ends.server.measured);
    }
    match metric {
        Metric::Throughput => throughput(ends),
        Metric::Rtt | Metric::Connect | Metric::FirstByte => {
            let times = ends.client.measured.times(metric);
            times.filter(|t| t.count > 0).map(|t| t.trimmed_mean_ns / NS_PER_S)
        }
        Metric::ConnectRate => match &ends.client.measured {
            Measured::Connections(all) => connect_rate(all),
            _ => None,
        },
        Metric::PacketRate => packet_rate(received(ends)?),
        Metric::Capacity => Some(capacity(workload, ends)? * ip_per_payload(workload, ends)?),
        Metric::RateAtLoss => Some(found(ends)? * ip_per_payload(workload, ends)?),
        Metric::Loss => loss(sent(ends)?, received(ends)?),
        Metric::Cpu => processor_time(ends),
        Metric::Reordering => share(received(ends)?.reordered, received(ends)?.packets),
        Metric::Duplication => share(received(ends)?.duplicates, received(ends)?.packets),
        _ => None,
    }
}

/// What arrived at both ends together: of a transfer both ways the sum of the two directions.
fn throughput(ends: &PerEnd<EndReport>) -> Option<f64> {
    let rates: Vec<f64> =
        both(ends).into_iter().filter_map(Measured::received).map(|r| r.rate_bps).collect();
    (!rates.is_empty() && rates.iter().all(|&rate| rate > 0.0)).then(|| rates.iter().sum())
}

/// Processor time of both ends, in s, for each byte that arrived.
fn processor_time(ends: &PerEnd<EndReport>) -> Option<f64> {
    let cost = cost::of_trial(ends)?;
    Some(cost.ns() / NS_PER_S / cost.bytes as f64)
}

/// Datagrams sent that never came, RFC 7680; duplicates do not make up for lost ones, and those
/// that the receiving host dropped itself had come, those that the sending host dropped never left.
fn loss(sent: &Sent, received: &Received) -> Option<f64> {
    share(received.lost_of(sent), sent.packets)
}

/// Datagrams per s after the warm-up: as many as the bytes, by their mean length.
fn packet_rate(received: &Received) -> Option<f64> {
    let bytes = received.bytes as f64 / received.packets as f64;
    (received.packets > 0 && received.rate_bps > 0.0).then(|| received.rate_bps / 8.0 / bytes)
}

/// The way there is what the server saw, the way back what the client saw.
fn of_probes(metric: Metric, probed: &Probed, server: &Measured) -> Option<f64> {
    if metric == Metric::Rtt {
        let times = Some(&probed.round_trip).filter(|t| t.count > 0)?;
        return Some(times.trimmed_mean_ns / NS_PER_S);
    }
    let Measured::Returned(returned) = server else { return None };
    let Returned { there, returned, .. } = returned.as_ref();
    match metric {
        Metric::Ipdv => Some(&there.ipdv).filter(|t| t.count > 0).map(|t| t.mean_ns / NS_PER_S),
        Metric::Pdv => (there.packets > 0).then(|| there.pdv_p999_ns as f64 / NS_PER_S),
        Metric::Loss => missing(probed.sent, there.packets),
        Metric::LossBack => missing(*returned, probed.back.packets),
        Metric::Reordering => share(there.reordered, there.packets),
        Metric::Duplication => share(there.duplicates, there.packets),
        _ => None,
    }
}

/// Payload bit/s of the best second of a search by load, as the receiver saw it.
fn capacity(workload: &Workload, ends: &PerEnd<EndReport>) -> Option<f64> {
    let Workload::Capacity(Capacity { search: Search::Load { duration_ns }, .. }) = workload else {
        return None;
    };
    maximum_bps(&received(ends)?.series, *duration_ns)
}

/// Payload bit/s that a search by halving found; none if no rate was carried.
fn found(ends: &PerEnd<EndReport>) -> Option<f64> {
    let of_end = |measured: &Measured| match measured {
        Measured::Searched(searched) => searched.found_bps,
        _ => None,
    };
    both(ends).into_iter().find_map(of_end).filter(|&bps| bps > 0.0)
}

/// Bytes at the IP layer for each byte of payload, fragments and their headers included. The path
/// MTU is the one that the client's kernel assumes: its socket is connected.
fn ip_per_payload(workload: &Workload, ends: &PerEnd<EndReport>) -> Option<f64> {
    let family = ends.client.endpoints?.domain;
    let payload_bytes = workload.level_bytes()?;
    let mtu = ends.client.granted.path_mtu.unwrap_or(PATH_MTU_USUAL);
    let ip_bytes = ip_bytes(payload_bytes, family, mtu).ok()?;
    Some(f64::from(ip_bytes) / f64::from(payload_bytes.max(1)))
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The share of `sent` packets that did not come.
fn missing(sent: u64, came: u64) -> Option<f64> {
    share(sent.saturating_sub(came), sent)
}

fn both(ends: &PerEnd<EndReport>) -> [&Measured; 2] {
    [&ends.client.measured, &ends.server.measured]
}

/// Connections that were answered, per time.
fn connect_rate(all: &Connections) -> Option<f64> {
    let answered = all.first_byte.as_ref()?.count;
    (answered > 0 && all.span_ns > 0).then(|| answered as f64 * NS_PER_S / all.span_ns as f64)
}

fn received(ends: &PerEnd<EndReport>) -> Option<&Received> {
    both(ends).into_iter().find_map(Measured::received)
}

fn sent(ends: &PerEnd<EndReport>) -> Option<&Sent> {
    both(ends).into_iter().find_map(Measured::sent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::observation::Times;
    use v6gap_core::workload::{Connect, Direction, TcpBulk, UdpBulk};

    fn end(measured: Measured) -> EndReport {
        EndReport { measured, ..EndReport::default() }
    }

    fn udp() -> Workload {
        Workload::UdpBulk(UdpBulk {
            payload_bytes: 1408,
            rate_bps: None,
            duration_ns: 1,
            warmup_ns: 0,
            ..UdpBulk::default()
        })
    }

    #[test]
    fn loss_and_rate_of_datagrams() {
        let sent = Sent { packets: 1000, ..Sent::default() };
        let received = Received { packets: 990, rate_bps: 9.5e7, ..Received::default() };
        let ends =
            PerEnd { client: end(Measured::Sent(sent)), server: end(Measured::Received(received)) };
        let values = values(&udp(), &ends);
        assert_eq!(values[&Metric::Throughput], 9.5e7);
        assert!((values[&Metric::Loss] - 0.01).abs() < 1e-12);
    }

    #[test]
    fn what_the_hosts_dropped_is_not_lost() {
        let sent = Sent { packets: 1000, queue_dropped: Some(30), ..Sent::default() };
        let received = Received { packets: 900, dropped: Some(50), ..Received::default() };
        let ends =
            PerEnd { client: end(Measured::Sent(sent)), server: end(Measured::Received(received)) };
        assert_eq!(values(&udp(), &ends)[&Metric::Loss], 0.02);
    }

    #[test]
    fn both_ways_are_summed_and_cost_the_time_of_both_ends() {
        let both = |bytes, rate_bps| {
            let received = Received { bytes, rate_bps, ..Received::default() };
            EndReport {
                user_ns: Some(1_000),
                system_ns: Some(2_000),
                ..end(Measured::BothWays { received, sent: Sent::default() })
            }
        };
        let mut ends = PerEnd { client: both(1_000, 4e6), server: both(500, 5e6) };
        let bulk = TcpBulk { direction: Direction::Both, cpu: true, ..TcpBulk::default() };
        let workload = Workload::TcpBulk(bulk);
        let found = values(&workload, &ends);
        assert_eq!(found[&Metric::Throughput], 9e6);
        assert!((found[&Metric::Cpu] - 6e-6 / 1_500.0).abs() < 1e-18);
        // Half of the evidence is none.
        ends.server = both(0, 0.0);
        ends.server.user_ns = None;
        assert!(values(&workload, &ends).is_empty());
    }

    #[test]
    fn times_become_seconds() {
        let times = Times { count: 3, trimmed_mean_ns: 1_500.0, ..Times::default() };
        let ends = PerEnd { client: end(Measured::Times(times)), server: EndReport::default() };
        let values = values(&Workload::Connect(Connect { count: 3, ..Connect::default() }), &ends);
        assert_eq!(values, BTreeMap::from([(Metric::Connect, 1.5e-6)]));
    }

    #[test]
    fn missing_evidence_gives_no_value() {
        assert!(values(&udp(), &PerEnd::default()).is_empty());
        let ends = PerEnd {
            client: end(Measured::Sent(Sent::default())),
            server: end(Measured::Received(Received::default())),
        };
        assert!(values(&udp(), &ends).is_empty());
    }
}
