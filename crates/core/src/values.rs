//! From what both ends saw to the value of each metric of a trial: the one place that says what a
//! metric is (method.md, part A). What a share counts stands here too, so that its value and its
//! count are the same.

use crate::capacity::{PATH_MTU_USUAL, ip_bytes, maximum_bps};
use crate::cost;
use crate::family::Family;
use crate::ippm::percentile::rank;
use crate::metric::Metric;
use crate::observation::{Connections, Ends, Far, Measured, Received, Returned, Sent, Times};
use crate::wiremodel::UDP_HEADER_BYTES;
use crate::workload::{Capacity, Search, Workload};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

const NS_PER_S: f64 = 1e9;

/// The value of each metric of `workload` in SI units. A metric whose evidence is missing is left
/// out, so that a trial without a value cannot be taken for one.
pub fn values(workload: &Workload, ends: &Ends) -> BTreeMap<Metric, f64> {
    let value = |&metric: &Metric| value(metric, workload, ends).map(|v| (metric, v));
    workload.metrics().iter().filter_map(value).collect()
}

fn value(metric: Metric, workload: &Workload, ends: &Ends) -> Option<f64> {
    match metric {
        Metric::Throughput => throughput(ends),
        Metric::Rtt | Metric::Connect | Metric::FirstByte => phase(metric, ends).or_else(|| {
            times(metric, ends).filter(|t| t.count > 0).map(|t| t.trimmed_mean_ns / NS_PER_S)
        }),
        Metric::Lookup | Metric::Tls | Metric::Quic | Metric::Response => phase(metric, ends),
        Metric::RttP50 => percentile(times(metric, ends)?, 500_000),
        Metric::RttP90 => percentile(times(metric, ends)?, 900_000),
        Metric::RttP99 => percentile(times(metric, ends)?, 990_000),
        Metric::ConnectRate => match &ends.client.measured {
            Measured::Connections(all) => connect_rate(all),
            _ => None,
        },
        Metric::Ipdv => {
            let ipdv = &returned(ends)?.there.ipdv;
            (ipdv.count > 0).then(|| ipdv.mean_ns / NS_PER_S)
        }
        Metric::Pdv => {
            let there = &returned(ends)?.there;
            (there.packets > 0).then(|| there.pdv_p999_ns as f64 / NS_PER_S)
        }
        Metric::FrameLateness => {
            let frames = received(ends)?.frames?;
            (frames.whole > 0).then(|| frames.late_p95_ns as f64 / NS_PER_S)
        }
        Metric::PacketRate => packet_rate(received(ends)?),
        Metric::Capacity => Some(capacity(workload, ends)? * ip_per_payload(workload, ends)?),
        Metric::RateAtLoss => Some(found(ends)? * ip_per_payload(workload, ends)?),
        Metric::Loss if has_drops_of_unknown_size(workload, ends) => None,
        Metric::Loss
        | Metric::LossBack
        | Metric::FrameLoss
        | Metric::Reordering
        | Metric::Duplication => {
            let (part, whole) = counted(metric, ends)?;
            (whole > 0).then(|| part as f64 / whole as f64)
        }
        Metric::Cpu => processor_time(ends),
    }
}

/// What a share counts: (datagrams or frames lost or otherwise as they should not be, all of them);
/// `None` of other metrics, and where the ends did not count any.
///
/// Lost are those sent that never came (RFC 7680): duplicates do not make up for lost ones, and
/// those that the receiving host dropped itself had come, those that the sending host dropped never
/// left. A frame is lost if any of its datagrams is. Of probes the way there is what the server
/// saw, the way back what the client saw.
pub fn counted(metric: Metric, ends: &Ends) -> Option<(u64, u64)> {
    let missing = |sent: u64, came: u64| (sent.saturating_sub(came), sent);
    let probes = match &ends.client.measured {
        Measured::Probed(probed) => returned(ends).map(|server| (probed, server)),
        _ => None,
    };
    match (metric, probes) {
        (Metric::Loss, Some((probed, server))) => Some(missing(probed.sent, server.there.packets)),
        (Metric::Loss, None) => {
            let sent = sent(ends)?;
            Some((received(ends)?.lost_of(sent), sent.packets))
        }
        (Metric::LossBack, Some((probed, server))) => {
            Some(missing(server.returned, probed.back.packets))
        }
        (Metric::FrameLoss, _) => {
            let frames = received(ends)?.frames?;
            let all = sent(ends)?.packets.div_ceil(frames.datagrams_each.max(1).into());
            Some(missing(all, frames.whole))
        }
        (Metric::Reordering, Some((_, server))) => {
            Some((server.there.reordered, server.there.packets))
        }
        (Metric::Reordering, None) => received(ends).map(|r| (r.reordered, r.packets)),
        (Metric::Duplication, Some((_, server))) => {
            Some((server.there.duplicates, server.there.packets))
        }
        (Metric::Duplication, None) => received(ends).map(|r| (r.duplicates, r.packets)),
        (Metric::LossBack, None)
        | (
            Metric::Throughput
            | Metric::Rtt
            | Metric::RttP50
            | Metric::RttP90
            | Metric::RttP99
            | Metric::Connect
            | Metric::FirstByte
            | Metric::Lookup
            | Metric::Tls
            | Metric::Quic
            | Metric::Response
            | Metric::ConnectRate
            | Metric::Ipdv
            | Metric::Pdv
            | Metric::FrameLateness
            | Metric::PacketRate
            | Metric::Capacity
            | Metric::RateAtLoss
            | Metric::Cpu,
            _,
        ) => None,
    }
}

/// Connections or exchanges that were lost or failed, and of how many; `None` where nothing of that
/// kind was asked for.
pub fn lost(ends: &Ends) -> Option<(u64, u64)> {
    match &ends.client.measured {
        Measured::Connections(all) => Some(all.lost()),
        _ => times(Metric::Connect, ends).map(|times| (times.lost, times.with_lost())),
    }
}

/// The time of a phase of a visit, or of a question to a name server, in s.
fn phase(metric: Metric, ends: &Ends) -> Option<f64> {
    let ns = match &ends.client.measured {
        Measured::LookedUp(answer) => (metric == Metric::Lookup).then(|| answer.whole_ns()),
        Measured::Visited(visited) => visited.phase_ns(metric),
        _ => None,
    };
    ns.map(|ns| ns as f64 / NS_PER_S)
}

/// The single times behind a metric, if it has any: variation of delay is seen by the end that
/// receives, all else by the client.
pub fn times(metric: Metric, ends: &Ends) -> Option<&Times> {
    let client = &ends.client.measured;
    match (metric, client) {
        (
            Metric::Rtt | Metric::RttP50 | Metric::RttP90 | Metric::RttP99 | Metric::Connect,
            Measured::Times(times),
        ) => Some(times),
        (Metric::Rtt, Measured::Probed(probed)) => Some(&probed.round_trip),
        (Metric::Connect, Measured::Connections(all)) => Some(&all.connect),
        (Metric::FirstByte, Measured::Connections(all)) => all.first_byte.as_ref(),
        (Metric::Ipdv, _) => Some(&returned(ends)?.there.ipdv),
        (Metric::Pdv, _) => Some(&returned(ends)?.there.pdv),
        (
            Metric::Rtt
            | Metric::RttP50
            | Metric::RttP90
            | Metric::RttP99
            | Metric::Connect
            | Metric::FirstByte
            | Metric::Lookup
            | Metric::Tls
            | Metric::Quic
            | Metric::Response
            | Metric::Throughput
            | Metric::ConnectRate
            | Metric::PacketRate
            | Metric::Capacity
            | Metric::RateAtLoss
            | Metric::Loss
            | Metric::LossBack
            | Metric::FrameLoss
            | Metric::FrameLateness
            | Metric::Reordering
            | Metric::Duplication
            | Metric::Cpu,
            _,
        ) => None,
    }
}

/// The smallest time that so many in a million did not exceed, in s, by the buckets of the
/// histogram; those lost took longer than all (RFC 2681 section 4.1). `None` unless at least one
/// lies above it, and of whole turns, whose means have no such share.
fn percentile(times: &Times, millionths: u32) -> Option<f64> {
    let all = times.with_lost();
    let rank = rank(all, millionths);
    if times.exchanges_each != 1 || rank >= all {
        return None;
    }
    let mut seen = 0_u64;
    let reaches = |&(_, count): &(u64, u64)| {
        seen = seen.saturating_add(count);
        seen >= rank
    };
    times.histogram.iter().find(reaches).map(|(ns, _)| ns as f64 / NS_PER_S)
}

/// What arrived at both ends together: of a transfer both ways the sum of the two directions, of a
/// download what its body says.
fn throughput(ends: &Ends) -> Option<f64> {
    if let Measured::Visited(visited) = &ends.client.measured {
        return visited.body?.rate_bps();
    }
    if let (Measured::BothWays { .. }, Far::NotSeen(_)) = (&ends.client.measured, &ends.server) {
        return None;
    }
    let rates: Vec<f64> = both(ends).filter_map(Measured::received).map(|r| r.rate_bps).collect();
    (!rates.is_empty() && rates.iter().all(|&rate| rate > 0.0)).then(|| rates.iter().sum())
}

/// Processor time of both ends, in s, for each byte that arrived.
fn processor_time(ends: &Ends) -> Option<f64> {
    let cost = cost::of_trial(ends)?;
    Some(cost.ns() / NS_PER_S / cost.bytes as f64)
}

/// Datagrams per s after the warm-up: as many as the bytes, by their mean length.
fn packet_rate(received: &Received) -> Option<f64> {
    let bytes = received.bytes as f64 / received.packets as f64;
    (received.packets > 0 && received.rate_bps > 0.0).then(|| received.rate_bps / 8.0 / bytes)
}

/// Payload bit/s of the best second of a search by load, as the receiver saw it.
fn capacity(workload: &Workload, ends: &Ends) -> Option<f64> {
    let Workload::Capacity(Capacity { search: Search::Load { duration_ns }, .. }) = workload else {
        return None;
    };
    maximum_bps(&received(ends)?.series, *duration_ns)
}

/// Payload bit/s that a search by halving found; none if no rate was carried.
fn found(ends: &Ends) -> Option<f64> {
    let of_end = |measured: &Measured| match measured {
        Measured::Searched(searched) => searched.found_bps,
        _ => None,
    };
    both(ends).find_map(of_end).filter(|&bps| bps > 0.0)
}

/// Bytes at the IP layer for each byte of payload, fragments and their headers included. The path
/// MTU is the one that the client's kernel assumes: its socket is connected.
fn ip_per_payload(workload: &Workload, ends: &Ends) -> Option<f64> {
    let family = ends.client.endpoints?.domain;
    let payload_bytes = workload.level_bytes()?;
    let mtu = ends.client.granted.path_mtu.unwrap_or(PATH_MTU_USUAL);
    let ip_bytes = ip_bytes(payload_bytes, family, mtu).ok()?;
    Some(f64::from(ip_bytes) / f64::from(payload_bytes.max(1)))
}

fn both(ends: &Ends) -> impl Iterator<Item = &Measured> {
    ends.all().map(|end| &end.measured)
}

/// Whether a host dropped what it does not count in datagrams, so that how many of those that did
/// not come were its own is not known: a queue counts fragments, and with offload it and the
/// receiving socket count bundles. Asked alike of both families, by the longer header.
fn has_drops_of_unknown_size(workload: &Workload, ends: &Ends) -> bool {
    let Workload::UdpBulk(bulk) = workload else { return false };
    let queued = sent(ends).and_then(|sent| sent.queue_dropped);
    let received = received(ends).and_then(|received| received.dropped);
    let mtu = ends.client.granted.path_mtu.unwrap_or(PATH_MTU_USUAL);
    let headers = Family::V6.header_bytes() + UDP_HEADER_BYTES;
    let is_cut = bulk.over(Family::V6).payload_bytes.saturating_add(headers) > mtu;
    let any = |count: Option<u64>| count.is_some_and(|count| count > 0);
    any(queued) && (is_cut || bulk.offload) || any(received) && bulk.offload
}

/// Connections that were answered, per time.
fn connect_rate(all: &Connections) -> Option<f64> {
    let answered = all.first_byte.as_ref()?.count;
    (answered > 0 && all.span_ns > 0).then(|| answered as f64 * NS_PER_S / all.span_ns as f64)
}

fn received(ends: &Ends) -> Option<&Received> {
    both(ends).find_map(Measured::received)
}

fn sent(ends: &Ends) -> Option<&Sent> {
    both(ends).find_map(Measured::sent)
}

/// What the server returned of a client's probes.
fn returned(ends: &Ends) -> Option<&Returned> {
    match &ends.server.seen()?.measured {
        Measured::Returned(returned) => Some(returned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{Body, EndReport, OneWay, PerEnd, Probed, Visited};
    use crate::workload::{
        Connect, Direction, Echo, FrameArrivals, Frames, TcpBulk, UdpBulk, Visit,
    };
    use alloc::boxed::Box;

    /// Of 24 connections five stood and were not answered.
    #[test]
    fn a_connection_without_an_answer_failed_once() {
        let times = |count, lost| Times { count, lost, ..Times::default() };
        let answered = |first_byte| Connections {
            connect: times(24, 5),
            first_byte,
            ..Connections::default()
        };
        assert_eq!(answered(Some(times(19, 0))).lost(), (5, 24));
        assert_eq!(answered(None).lost(), (5, 29));
    }

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
        let ends = ends_of(Measured::Sent(sent), Measured::Received(received));
        let values = values(&udp(), &ends);
        assert_eq!(values[&Metric::Throughput], 9.5e7);
        assert!((values[&Metric::Loss] - 0.01).abs() < 1e-12);
    }

    #[test]
    fn what_the_hosts_dropped_is_not_lost() {
        let sent = Sent { packets: 1000, queue_dropped: Some(30), ..Sent::default() };
        let received = Received { packets: 900, dropped: Some(50), ..Received::default() };
        let ends = ends_of(Measured::Sent(sent), Measured::Received(received));
        assert_eq!(values(&udp(), &ends)[&Metric::Loss], 0.02);
    }

    /// A queue counts fragments, and offload bundles: nobody knows how many datagrams they were.
    #[test]
    fn what_is_dropped_in_other_units_than_datagrams_leaves_no_loss() {
        let lost = |queue_dropped, dropped, bulk: &UdpBulk| {
            let sent = Sent { packets: 1000, queue_dropped, ..Sent::default() };
            let received = Received { packets: 900, dropped, ..Received::default() };
            let ends = ends_of(Measured::Sent(sent), Measured::Received(received));
            values(&Workload::UdpBulk(bulk.clone()), &ends).get(&Metric::Loss).copied()
        };
        let Workload::UdpBulk(whole) = udp() else { unreachable!("it is of datagrams") };
        let cut = UdpBulk { payload_bytes: 1453, ..whole.clone() };
        let bundled = UdpBulk { offload: true, ..whole.clone() };
        for bulk in [&whole, &cut, &bundled] {
            assert_eq!(lost(None, Some(0), bulk), Some(0.1));
        }
        assert_eq!(
            (lost(Some(30), None, &whole), lost(None, Some(30), &cut)),
            (Some(0.07), Some(0.07))
        );
        for (queued, dropped, bulk) in
            [(Some(30), None, &cut), (Some(1), None, &bundled), (None, Some(1), &bundled)]
        {
            assert_eq!(lost(queued, dropped, bulk), None, "{bulk:?}");
        }
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
        let mut ends = Ends::from(PerEnd { client: both(1_000, 4e6), server: both(500, 5e6) });
        let bulk = TcpBulk { direction: Direction::Both, cpu: true, ..TcpBulk::default() };
        let workload = Workload::TcpBulk(bulk);
        let found = values(&workload, &ends);
        assert_eq!(found[&Metric::Throughput], 9e6);
        assert!((found[&Metric::Cpu] - 6e-6 / 1_500.0).abs() < 1e-18);
        // Half of the evidence is none.
        ends.server = Far::Seen(EndReport { user_ns: None, ..both(0, 0.0) });
        assert!(values(&workload, &ends).is_empty());
        ends.server = Far::NotSeen("it is a web server".into());
        assert!(values(&workload, &ends).is_empty());
    }

    #[test]
    fn times_become_seconds() {
        let times = Times { count: 3, trimmed_mean_ns: 1_500.0, ..Times::default() };
        let ends = ends_of(Measured::Times(times), Measured::Nothing);
        let values = values(&Workload::Connect(Connect { count: 3, ..Connect::default() }), &ends);
        assert_eq!(values, BTreeMap::from([(Metric::Connect, 1.5e-6)]));
    }

    #[test]
    fn the_first_byte_of_a_visit_comes_after_all_its_phases() {
        let ms = |ms: u64| Some(ms * 1_000_000);
        let visited = Visited {
            connect_ns: ms(20),
            tls_ns: ms(21),
            response_ns: ms(25),
            ..Visited::default()
        };
        let ends = ends_of(Measured::Visited(visited.into()), Measured::Nothing);
        let expected = [
            (Metric::Connect, 0.020),
            (Metric::FirstByte, 0.066),
            (Metric::Tls, 0.021),
            (Metric::Response, 0.025),
        ];
        let of = Workload::Visit(Visit::default());
        assert_eq!(values(&of, &ends), BTreeMap::from(expected));
    }

    #[test]
    fn a_download_has_the_rate_of_its_body() {
        let of = |body| {
            let visited = Visited { body, ..Visited::default() };
            let ends = ends_of(Measured::Visited(visited.into()), Measured::Nothing);
            let visit = Visit { body_bytes: 1_000_000, ..Visit::default() };
            values(&Workload::Visit(visit), &ends)
        };
        let body =
            Body { bytes: 1_000_000, later_bytes: 900_000, span_ns: 72_000_000, is_whole: true };
        assert_eq!(of(Some(body)), BTreeMap::from([(Metric::Throughput, 1e8)]));
        assert!(of(Some(Body { bytes: 1_000, ..body })).is_empty() && of(None).is_empty());
    }

    #[test]
    fn percentiles_count_what_was_lost_as_longest() {
        let workload = Workload::Echo(Echo { tails: true, ..Echo::default() });
        let of = |lost, exchanges_each| {
            let histogram = [(1_000, 90), (2_000, 8), (9_000, 2)].into_iter().collect();
            let times = Times { count: 100, lost, histogram, exchanges_each, ..Times::default() };
            values(&workload, &ends_of(Measured::Times(times), Measured::Nothing))
        };
        let of_metric = |values: &BTreeMap<Metric, f64>| {
            [Metric::RttP50, Metric::RttP90, Metric::RttP99].map(|m| values.get(&m).copied())
        };
        assert_eq!(of_metric(&of(0, 1)), [Some(1e-6), Some(1e-6), Some(9e-6)]);
        assert_eq!(of_metric(&of(1, 1)), [Some(1e-6), Some(2e-6), Some(9e-6)]);
        // The 99th percentile of 103 is the last but one, and that was lost.
        assert_eq!(of_metric(&of(3, 1)), [Some(1e-6), Some(2e-6), None]);
        assert_eq!(of_metric(&of(0, 20)), [None; 3]);
    }

    /// Counts come from the other host as well.
    #[test]
    fn percentiles_take_any_count() {
        let workload = Workload::Echo(Echo { tails: true, ..Echo::default() });
        let times = Times {
            count: u64::MAX,
            lost: u64::MAX,
            histogram: [(1_000, 1 << 63), (2_000, 1 << 63)].into_iter().collect(),
            exchanges_each: 1,
            ..Times::default()
        };
        let values = values(&workload, &ends_of(Measured::Times(times), Measured::Nothing));
        assert_eq!((values[&Metric::RttP50], values[&Metric::RttP99]), (1e-6, 2e-6));
    }

    #[test]
    fn missing_evidence_gives_no_value() {
        assert!(values(&udp(), &PerEnd::default()).is_empty());
        let ends =
            ends_of(Measured::Sent(Sent::default()), Measured::Received(Received::default()));
        assert!(values(&udp(), &ends).is_empty());
    }

    fn ends_of(client: Measured, server: Measured) -> Ends {
        PerEnd { client: end(client), server: end(server) }.into()
    }

    /// Of 60 frames of 6 datagrams 57 came whole.
    #[test]
    fn frames_are_counted_and_as_late_as_19_of_20_are() {
        let workload = Workload::Frames(Frames::default());
        let sent = Sent { packets: 360, ..Sent::default() };
        let arrivals = FrameArrivals {
            datagrams_each: 6,
            whole: 57,
            late_p95_ns: 2_500_000,
            ..FrameArrivals::default()
        };
        let came = |frames| Received { packets: 357, frames, ..Received::default() };
        let ends = |frames| ends_of(Measured::Sent(sent.clone()), Measured::Received(came(frames)));
        let whole = ends(Some(arrivals));
        let expected = [(Metric::FrameLateness, 2.5e-3), (Metric::FrameLoss, 0.05)];
        assert_eq!(values(&workload, &whole), BTreeMap::from(expected));
        assert_eq!(counted(Metric::FrameLoss, &whole), Some((3, 60)));
        assert!(values(&workload, &ends(None)).is_empty());
        let none = ends(Some(FrameArrivals { whole: 0, ..arrivals }));
        assert_eq!(values(&workload, &none), BTreeMap::from([(Metric::FrameLoss, 1.0)]));
    }

    #[test]
    fn every_share_counts_its_own_datagrams() {
        let sent = Sent { packets: 1000, ..Sent::default() };
        let received =
            Received { packets: 990, reordered: 7, duplicates: 2, ..Received::default() };
        let bulk = ends_of(Measured::Sent(sent), Measured::Received(received));
        let one_way =
            |packets| OneWay { packets, reordered: 3, duplicates: 1, ..OneWay::default() };
        let probed = Probed { sent: 100, back: one_way(80), ..Probed::default() };
        let returned = Returned { there: one_way(90), returned: 85, ..Returned::default() };
        let probes =
            ends_of(Measured::Probed(Box::new(probed)), Measured::Returned(Box::new(returned)));
        let of = |ends| Metric::ALL.map(|metric| (metric, counted(metric, ends)));
        let found = |ends| -> Vec<_> {
            of(ends).into_iter().filter_map(|(metric, count)| Some((metric, count?))).collect()
        };
        assert_eq!(
            found(&bulk),
            [
                (Metric::Loss, (10, 1000)),
                (Metric::Reordering, (7, 990)),
                (Metric::Duplication, (2, 990))
            ]
        );
        assert_eq!(
            found(&probes),
            [
                (Metric::Loss, (10, 100)),
                (Metric::LossBack, (5, 85)),
                (Metric::Reordering, (3, 90)),
                (Metric::Duplication, (1, 90))
            ]
        );
        assert!(found(&ends_of(Measured::Nothing, Measured::Nothing)).is_empty());
    }
}
