//! Frames of a video over both families on loopback, both ways.

use crate::common::{Service, assert_proved, trial, values_of};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::Measured;
use v6gap_core::workload::{Direction, Frames, Transport, Workload};

const MS: u64 = 1_000_000;

/// Every frame comes whole, in as many datagrams as it takes, and late by what this host takes.
#[test]
fn frames_come_whole_and_in_time() {
    let service = Service::new();
    for family in Family::BOTH {
        for direction in [Direction::Send, Direction::Receive] {
            let frames = Frames {
                frame_bytes: 2_500,
                payload_bytes: 1_000,
                every_ns: 10 * MS,
                duration_ns: 300 * MS,
                direction,
                ..Frames::default()
            };
            let task = trial(Workload::Frames(frames), family);
            let (client, server) = service.perform(&task, &service.context(Transport::Udp));
            let (client, server) = (client.unwrap(), server.unwrap());
            assert_proved(family, &client[0].1, &server[0].1, &task);
            let (sent, received) = match (&client[0].1.measured, &server[0].1.measured) {
                (Measured::Sent(sent), Measured::Received(received))
                | (Measured::Received(received), Measured::Sent(sent)) => (sent, received),
                other => panic!("{other:?}"),
            };
            assert_eq!((sent.packets, sent.bytes, sent.skipped), (90, 75_000, 0));
            assert_eq!(received.packets + received.dropped.unwrap_or(0), 90);
            let found = received.frames.expect("frames");
            assert_eq!((found.datagrams_each, found.whole), (3, 30));
            assert!(found.late_p50_ns <= found.late_p95_ns && found.late_p95_ns > 0, "{found:?}");
            assert!(found.late_max_ns < 300 * MS, "{found:?}");
            let values = &values_of(&task, &client, &server)[0];
            assert_eq!(values[&Metric::FrameLoss], 0.0);
            assert_eq!(values[&Metric::FrameLateness], found.late_p95_ns as f64 / 1e9);
        }
    }
}
