//! Every knob of TCP bulk transfer over both families on loopback, both halves in this process.

use crate::common::{Reports, Service, assert_proved, trial, values_of};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{Connection, EndReport, Received, Sent};
use v6gap_core::task::Task;
use v6gap_core::workload::{
    Direction, Load, Probe, StreamSettings, TcpBulk, Transport, Workload, ZeroCopy,
};
use v6gap_engine::trial::{TrialError, client};
use v6gap_sys::host;

const MS: u64 = 1_000_000;

/// A short transfer.
fn usual() -> TcpBulk {
    TcpBulk { duration_ns: 200 * MS, warmup_ns: 50 * MS, ..TcpBulk::default() }
}

fn with(settings: StreamSettings) -> TcpBulk {
    TcpBulk { settings, ..usual() }
}

/// Performs it in each family.
fn in_both(bulk: &TcpBulk, mut look: impl FnMut(Family, &Task, Reports, Reports)) {
    let service = Service::new();
    for family in Family::BOTH {
        let task = trial(Workload::TcpBulk(bulk.clone()), family);
        let (client, server) = service.perform(&task, &service.context(Transport::Tcp));
        look(family, &task, client, server);
    }
}

/// As [`in_both`], with the reports of the only arm and its throughput.
fn succeeds(bulk: &TcpBulk, look: impl Fn(&EndReport, &EndReport, f64)) {
    in_both(bulk, |family, task, client, server| {
        let (client, server) = (client.unwrap(), server.unwrap());
        assert_proved(family, &client[0].1, &server[0].1, task);
        let values = values_of(task, &client, &server);
        let (client, server) = (&client[0].1, &server[0].1);
        for end in [client, server] {
            assert_eq!(end.connections.len() as u64, bulk.connections());
            assert!(end.connections.iter().all(|c| c.endpoints.domain == family));
        }
        for (near, far) in client.connections.iter().zip(&server.connections) {
            assert_eq!(near.endpoints.local.port(), far.endpoints.peer.port());
            assert_eq!(near.sent_bytes, far.received_bytes, "all was read before the end");
            assert_eq!(near.received_bytes, far.sent_bytes);
        }
        look(client, server, values[0][&Metric::Throughput]);
    });
}

fn received(end: &EndReport) -> &Received {
    end.measured.received().expect("it received")
}

fn sent(end: &EndReport) -> &Sent {
    end.measured.sent().expect("it sent")
}

fn sum(connections: &[Connection], of: impl Fn(&Connection) -> u64) -> u64 {
    connections.iter().map(of).sum()
}

#[test]
fn several_streams_are_summed() {
    for direction in [Direction::Send, Direction::Receive] {
        let bulk = TcpBulk { streams: 5, direction, ..usual() };
        succeeds(&bulk, |client, server, rate| {
            let (sender, receiver) = match direction {
                Direction::Send => (client, server),
                _ => (server, client),
            };
            let received = received(receiver);
            assert_eq!(sent(sender).bytes, received.bytes);
            assert_eq!(sum(&sender.connections, |c| c.sent_bytes), received.bytes);
            assert!(sender.connections.iter().all(|c| c.sent_bytes > 0));
            assert_eq!(rate, received.rate_bps);
            assert!(rate > 0.0);
            assert!(received.series.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1));
        });
    }
}

#[test]
fn both_ways_at_once_are_reported_by_both_ends() {
    for streams in [1, 3] {
        let bulk = TcpBulk { streams, direction: Direction::Both, ..usual() };
        succeeds(&bulk, |client, server, rate| {
            assert_eq!(sent(client).bytes, received(server).bytes);
            assert_eq!(sent(server).bytes, received(client).bytes);
            assert_eq!(rate, received(client).rate_bps + received(server).rate_bps);
            // Its own half is what each connection carried, and nothing the other way.
            for (number, connection) in client.connections.iter().enumerate() {
                let own = bulk.client_sends(number as u64);
                assert_eq!((connection.sent_bytes > 0, connection.received_bytes > 0), (own, !own));
            }
        });
    }
}

#[test]
fn a_number_of_bytes_ends_the_transfer_exactly_there() {
    for (streams, bytes) in [(1, 1), (1, 1_000_000), (3, 2), (3, 1_000_001)] {
        for direction in [Direction::Send, Direction::Receive, Direction::Both] {
            let bulk = TcpBulk {
                bytes: Some(bytes),
                streams,
                direction,
                duration_ns: 10_000 * MS,
                warmup_ns: 0,
                ..TcpBulk::default()
            };
            in_both(&bulk, |_, _, client, server| {
                let (client, server) = (&client.unwrap()[0].1, &server.unwrap()[0].1);
                for end in [client, server] {
                    assert!(end.measured.received().is_none_or(|r| r.bytes == bytes), "{end:?}");
                    assert!(end.measured.sent().is_none_or(|s| s.bytes == bytes), "{end:?}");
                }
                let both = [client, server].map(|end| end.measured.received().is_some());
                let expected = match direction {
                    Direction::Send => [false, true],
                    Direction::Receive => [true, false],
                    Direction::Both => [true, true],
                };
                assert_eq!(both, expected);
            });
        }
    }
}

#[test]
fn a_transfer_of_a_number_of_bytes_ends_with_its_time() {
    let bulk = TcpBulk { bytes: Some(u64::MAX), warmup_ns: 0, ..usual() };
    succeeds(&bulk, |client, server, rate| {
        assert!(sent(client).bytes < u64::MAX && sent(client).span_ns >= 200 * MS);
        assert_eq!(rate, received(server).whole_bps);
    });
}

/// Trap: the size of the window is set too late, at one end only, or not at all, and the figure is
/// booked under the size that was asked for.
#[test]
fn a_window_is_set_at_both_ends_before_data_flow_and_read_back() {
    let window = 16 * 1024;
    for direction in [Direction::Send, Direction::Receive] {
        let settings = StreamSettings { buffer_bytes: Some(window), ..StreamSettings::default() };
        succeeds(&TcpBulk { direction, ..with(settings) }, |client, server, _| {
            for end in [client, server] {
                // Linux reports twice what it was asked for.
                assert_eq!(end.granted.receive_buffer, Some(2 * window));
                // The sender has room for more, or its room would be the limit.
                assert_eq!(end.granted.send_buffer, Some(4 * window));
            }
        });
    }
}

#[test]
fn a_listener_lends_its_buffer_for_one_task_only() {
    let settings = StreamSettings { buffer_bytes: Some(16 * 1024), ..StreamSettings::default() };
    let service = Service::new();
    for family in Family::BOTH {
        let buffer = |bulk: &TcpBulk| {
            let task = trial(Workload::TcpBulk(bulk.clone()), family);
            let (_, server) = service.perform(&task, &service.context(Transport::Tcp));
            server.unwrap()[0].1.granted.receive_buffer.unwrap()
        };
        let one_byte = |bulk| TcpBulk { bytes: Some(1), warmup_ns: 0, ..bulk };
        let usual_bytes = buffer(&one_byte(usual()));
        assert_eq!(buffer(&one_byte(with(settings.clone()))), 32 * 1024);
        assert_eq!(buffer(&one_byte(usual())), usual_bytes);
    }
}

#[test]
fn another_window_than_the_one_insisted_on_is_an_error_at_both_ends() {
    let insist = |bytes| StreamSettings {
        buffer_bytes: Some(bytes),
        require_buffer: true,
        ..StreamSettings::default()
    };
    // The double that Linux reports is not another one.
    succeeds(&with(insist(64 * 1024)), |_, _, _| {});
    in_both(&with(insist(1 << 30)), |wanted, _, client, server| {
        let error = client.unwrap_err();
        assert!(
            matches!(error, TrialError::Buffers { family, asked, .. }
                if family == wanted && asked == 1 << 30),
            "{error}"
        );
        assert!(error.to_string().contains("1073741824 B were asked for"), "{error}");
        assert!(server.is_err());
    });
}

/// Trap (iperf3 on macOS): a segment size that holds for one family only.
#[test]
fn a_segment_size_holds_both_ways_in_both_families() {
    for direction in [Direction::Send, Direction::Receive] {
        let settings = StreamSettings { mss_bytes: Some(1000), ..StreamSettings::default() };
        succeeds(&TcpBulk { direction, ..with(settings) }, |client, server, _| {
            let sender = if direction == Direction::Send { client } else { server };
            let options = if sender.granted.timestamps == Some(true) { 12 } else { 0 };
            assert_eq!(sender.granted.mss, Some(1000 - options));
            let account = sender.connections[0].account.expect("Linux tells");
            let segments = u64::from(account.data_segments_out.expect("Linux tells"));
            let bytes = account.bytes_sent.expect("Linux tells");
            assert!(segments >= bytes / (1000 - u64::from(options)), "{account:?}");
        });
    }
}

/// Trap (iperf3's server): one dual-stack socket serves both families, so that IPv4 goes the mapped
/// way at one end and the plain way at the other.
#[test]
fn no_end_of_any_stream_is_mapped() {
    in_both(
        &TcpBulk { streams: 2, direction: Direction::Both, ..usual() },
        |family, _, near, far| {
            for (_, end) in near.unwrap().iter().chain(&far.unwrap()) {
                for Connection { endpoints, .. } in &end.connections {
                    assert_eq!(endpoints.domain, family, "the socket itself");
                    for address in [endpoints.local, endpoints.peer] {
                        assert_eq!(Family::of(&address.ip()), Some(family), "{address}");
                    }
                }
            }
        },
    );
}

#[test]
fn no_delay_is_set_at_both_ends() {
    for no_delay in [true, false] {
        let settings = StreamSettings { no_delay, ..StreamSettings::default() };
        succeeds(&with(settings), |client, server, _| {
            for end in [client, server] {
                assert_eq!(end.granted.no_delay, Some(no_delay));
            }
        });
    }
}

#[test]
fn the_kernels_account_of_every_connection_is_stored() {
    let bulk = TcpBulk { streams: 2, duration_ns: 300 * MS, ..usual() };
    succeeds(&bulk, |client, server, _| {
        for (near, far) in client.connections.iter().zip(&server.connections) {
            let (near, bytes) = (near.account.expect("Linux tells"), near.sent_bytes);
            let far = far.account.expect("Linux tells");
            let repeated = near.bytes_retransmitted.expect("Linux tells");
            // The introduction of the connection goes before the data.
            let preamble = v6gap_core::wire::preamble::Data::BYTES as u64;
            assert_eq!(near.bytes_sent, Some(bytes + preamble + repeated));
            let came = far.bytes_received.expect("Linux tells");
            // It counts the end as a byte.
            assert!((bytes + preamble..=bytes + preamble + 1).contains(&came), "{came}");
            assert!(near.min_rtt_us.is_some() && near.segments_out > near.data_segments_out);
            assert!(near.busy_us.is_some_and(|us| us > 0));
        }
        assert!(client.connections.iter().all(|c| c.rtt_mean_us.is_some()));
        assert!(client.connections.iter().all(|c| c.window_mean_bytes.is_some_and(|b| b > 0.0)));
        assert!(server.connections.iter().all(|c| c.rtt_mean_us.is_none()));
    });
}

/// Trap: the time of one thread or process stands for the cost of all. The measuring threads of
/// both ends are in the value, and the machine's soft interrupts stand beside it.
#[test]
fn processor_time_is_a_value_only_when_asked_for() {
    for cpu in [false, true] {
        let bulk = TcpBulk { cpu, streams: 2, ..usual() };
        in_both(&bulk, |_, task, client, server| {
            let (client, server) = (client.unwrap(), server.unwrap());
            let values = values_of(task, &client, &server);
            let told = [&client[0].1, &server[0].1].iter().all(|end| end.user_ns.is_some());
            let value = values[0].get(&Metric::Cpu);
            assert_eq!(value.is_some(), cpu && told);
            for end in [&client[0].1, &server[0].1] {
                assert!(end.softirq_ns.is_some() || !end.unavailable.is_empty(), "{end:?}");
            }
            assert!(value.is_none_or(|&seconds| seconds > 0.0 && seconds < 1e-3), "{value:?}");
        });
    }
}

#[test]
fn a_congestion_control_is_set_at_both_ends() {
    for direction in [Direction::Send, Direction::Receive] {
        let congestion = Some("reno".to_owned());
        let settings = StreamSettings { congestion, ..StreamSettings::default() };
        succeeds(&TcpBulk { direction, ..with(settings) }, |client, server, _| {
            for end in [client, server] {
                assert_eq!(end.granted.congestion.as_deref(), Some("reno"));
            }
        });
    }
}

/// Who begins with another keeps what that asks for: BBR paces for good.
#[test]
fn connections_begin_with_the_congestion_control_that_is_asked_for() {
    let service = Service::new();
    let listener = service.listener(Family::V4);
    let is_other = |name: &&str| Some(*name) != host::facts().congestion_default.as_deref();
    let other = ["reno", "cubic"].into_iter().find(is_other).expect("one of two");
    let lends = listener.lend_congestion(other).is_ok();
    let settings = StreamSettings { congestion: Some(other.into()), ..StreamSettings::default() };
    let load = Load { settings: settings.clone(), lead_ns: 20 * MS, ..Load::default() };
    let probe = Probe { load: Some(load), turns: 1, turn_packets: 5, ..Probe::default() };
    for workload in [Workload::TcpBulk(with(settings)), Workload::Probe(probe)] {
        let task = trial(workload, Family::V4);
        let before = listener.settings();
        // Its port is that of its socket for UDP.
        let context = service.context(Transport::Tcp);
        let ((client, during), server) = service.perform_with(&task, || {
            let during = listener.settings();
            (client::run(&task, &context), during)
        });
        assert!(client.is_ok() && server.is_ok(), "{client:?} {server:?}");
        assert_eq!(during != before, lends);
        assert_eq!(listener.settings(), before);
    }
}

#[test]
fn a_pace_is_kept_by_the_kernel_and_shared_by_the_streams() {
    let bulk = TcpBulk { pacing_bps: Some(80_000_000), streams: 2, ..usual() };
    succeeds(&bulk, |client, server, rate| {
        let told = client.unavailable.iter().any(|missing| missing.contains("pacing"));
        assert!(told || client.granted.pacing_bps == Some(40_000_000), "{client:?}");
        assert_eq!(server.granted.pacing_bps, None, "it only receives");
        // How much earlier than that it may be is the kernel's business, so the bound is wide.
        assert!(rate < 160e6, "{rate}");
    });
}

#[test]
fn zero_copy_sends_the_same_bytes_or_says_why_not() {
    for zero_copy in [ZeroCopy::File, ZeroCopy::Memory] {
        for truncate in [false, true] {
            for direction in [Direction::Send, Direction::Both] {
                let zero_copy = Some(zero_copy);
                let bulk = TcpBulk { zero_copy, truncate, direction, streams: 2, ..usual() };
                succeeds(&bulk, |client, server, rate| {
                    assert!(rate > 0.0);
                    assert!(sent(client).bytes > 0 && received(server).bytes > 0);
                });
            }
        }
    }
    // Exactly as many bytes as asked for, from a file that is longer.
    let bulk = TcpBulk {
        zero_copy: Some(ZeroCopy::File),
        bytes: Some(1_000_001),
        warmup_ns: 0,
        duration_ns: 10_000 * MS,
        ..usual()
    };
    succeeds(&bulk, |_, server, _| assert_eq!(received(server).bytes, 1_000_001));
}
