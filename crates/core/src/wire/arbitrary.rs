//! Arbitrary messages for property tests, here and in the session.

use super::control::{Hello, Limits, Message, Queued, RefusalCode, Refused, Report, Welcome};
use crate::arm::{Arm, TurnOrder};
use crate::family::Family;
use crate::observation::{EndReport, Endpoints, Granted, Measured, Received, Sent, Times};
use crate::record::Host;
use crate::task::{Task, TaskArm, Token};
use crate::workload::{
    Connect, Direction, Echo, Marking, StreamSettings, TcpBulk, Transport, UdpBulk, Wait, Workload,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use core::net::SocketAddr;
use proptest::collection::{btree_map, vec as many};
use proptest::option::of;
use proptest::prelude::*;

/// Numbers of all sizes, small ones often.
fn small_or_any_u32() -> impl Strategy<Value = u32> + Clone {
    prop_oneof![0_u32..100, any::<u32>()]
}

/// Numbers of all sizes, small ones often.
fn small_or_any_u64() -> impl Strategy<Value = u64> + Clone {
    prop_oneof![0_u64..100, any::<u64>()]
}

fn number() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO
}

fn text() -> impl Strategy<Value = String> {
    ".{0,12}"
}

pub(crate) fn arm() -> impl Strategy<Value = Arm> {
    prop_oneof![Just(Arm::A), Just(Arm::B)]
}

fn family() -> impl Strategy<Value = Family> {
    prop_oneof![Just(Family::V4), Just(Family::V6)]
}

fn host() -> impl Strategy<Value = Host> {
    (text(), btree_map(text(), text(), 0..4)).prop_map(|(name, facts)| Host { name, facts })
}

fn workload() -> impl Strategy<Value = Workload> {
    let direction = prop_oneof![Just(Direction::Send), Just(Direction::Receive)];
    let transport = prop_oneof![Just(Transport::Tcp), Just(Transport::Udp)];
    let wait = prop_oneof![Just(Wait::Block), Just(Wait::Yield)];
    let bulk = (small_or_any_u64(), small_or_any_u64(), small_or_any_u32());
    let paced = bulk.clone();
    prop_oneof![
        (bulk, direction, settings(), marking()).prop_map(|(n, direction, settings, marking)| {
            let (duration_ns, warmup_ns, write_bytes) = n;
            Workload::TcpBulk(TcpBulk {
                duration_ns,
                warmup_ns,
                write_bytes,
                direction,
                settings,
                marking,
            })
        }),
        (paced, of(small_or_any_u64()), marking()).prop_map(|(n, rate_bps, marking)| {
            let (duration_ns, warmup_ns, payload_bytes) = n;
            Workload::UdpBulk(UdpBulk { payload_bytes, rate_bps, duration_ns, warmup_ns, marking })
        }),
        (transport, proptest::array::uniform5(small_or_any_u32()), wait, settings(), marking())
            .prop_map(|(transport, n, wait, settings, marking)| {
                let [message_bytes, connections, turn_exchanges, turns, warmup_exchanges] = n;
                Workload::Echo(Echo {
                    transport,
                    message_bytes,
                    connections,
                    turn_exchanges,
                    turns,
                    warmup_exchanges,
                    wait,
                    settings,
                    marking,
                })
            }),
        small_or_any_u32().prop_map(|count| Workload::Connect(Connect { count })),
    ]
}

fn settings() -> impl Strategy<Value = StreamSettings> {
    (of(text()), of(any::<u32>()), of(any::<u32>()), any::<bool>()).prop_map(
        |(congestion, buffer_bytes, mss_bytes, no_delay)| StreamSettings {
            congestion,
            buffer_bytes,
            mss_bytes,
            no_delay,
        },
    )
}

fn marking() -> impl Strategy<Value = Marking> {
    (of(any::<u8>()), of(any::<u8>()), of(any::<u32>())).prop_map(
        |(traffic_class, hop_limit, flow_label)| Marking { traffic_class, hop_limit, flow_label },
    )
}

pub(crate) fn task() -> impl Strategy<Value = Task> {
    let arms = many((arm(), family()).prop_map(|(arm, family)| TaskArm { arm, family }), 0..4);
    let order = prop_oneof![Just(TurnOrder::Ab), Just(TurnOrder::Ba)];
    (any::<(u32, u64, [u8; 16])>(), workload(), arms, order).prop_map(
        |(n, workload, arms, order)| {
            let (number, seed, token) = n;
            Task { number, workload, arms, order, seed, token: Token(token) }
        },
    )
}

fn measured() -> impl Strategy<Value = Measured> {
    let histogram = many(any::<(u64, u64)>(), 0..4);
    prop_oneof![
        Just(Measured::Nothing),
        (any::<[u64; 4]>(), number(), number(), histogram.clone(), many(number(), 0..4)).prop_map(
            |([count, lost, min_ns, max_ns], mean_ns, median_ns, histogram, turns_ns)| {
                Measured::Times(Times {
                    count,
                    lost,
                    trimmed_mean_ns: mean_ns,
                    mean_ns,
                    median_ns,
                    min_ns,
                    max_ns,
                    histogram,
                    turns_ns,
                })
            }
        ),
        (any::<[u64; 5]>(), number(), histogram).prop_map(|(n, rate_bps, series)| {
            let [bytes, span_ns, packets, duplicates, reordered] = n;
            Measured::Received(Received {
                bytes,
                span_ns,
                rate_bps,
                series,
                packets,
                duplicates,
                reordered,
            })
        }),
        any::<([u64; 3], Option<u64>)>().prop_map(|(n, retransmitted_segments)| {
            let [bytes, packets, span_ns] = n;
            Measured::Sent(Sent { bytes, packets, span_ns, retransmitted_segments })
        }),
    ]
}

fn address() -> impl Strategy<Value = SocketAddr> {
    any::<SocketAddr>().prop_map(|address| match address {
        // Their text form, which is what crosses the wire, has no flow label.
        SocketAddr::V6(mut v6) => {
            v6.set_flowinfo(0);
            SocketAddr::V6(v6)
        }
        v4 => v4,
    })
}

fn end_report() -> impl Strategy<Value = EndReport> {
    let endpoints = (family(), address(), address()).prop_map(|(domain, local, peer)| Endpoints {
        domain,
        local,
        peer,
    });
    let granted = (any::<[Option<u32>; 4]>(), of(text()), any::<Option<bool>>()).prop_map(
        |([send_buffer, receive_buffer, mss, path_mtu], congestion, timestamps)| Granted {
            send_buffer,
            receive_buffer,
            congestion,
            mss,
            path_mtu,
            timestamps,
        },
    );
    let counters = btree_map(text(), any::<i64>(), 0..4);
    let cost = (any::<[Option<u64>; 4]>(), of(number()), any::<Option<u32>>(), any::<i64>());
    (measured(), of(endpoints), granted, cost, counters, many(text(), 0..3)).prop_map(
        |(measured, endpoints, granted, cost, counters, unavailable)| {
            let ([user_ns, system_ns, softirq_ns, switches], steal_share, processor, step) = cost;
            EndReport {
                measured,
                endpoints,
                granted,
                user_ns,
                system_ns,
                softirq_ns,
                steal_share,
                switches_involuntary: switches,
                processor,
                clock_step_ns: step,
                counters,
                unavailable,
            }
        },
    )
}

fn limits() -> impl Strategy<Value = Limits> {
    any::<([u64; 4], [Option<u64>; 2], [u32; 3])>().prop_map(|(times, maxima, counts)| {
        let [session_ns, idle_ns, task_ns, exchanges] = times;
        let [task_bytes, rate_bps] = maxima;
        let [message_bytes, connections, waiting] = counts;
        Limits {
            session_ns,
            idle_ns,
            task_ns,
            task_bytes,
            rate_bps,
            message_bytes,
            connections,
            exchanges,
            waiting,
        }
    })
}

pub(crate) fn message() -> impl Strategy<Value = Message> {
    let code = prop_oneof![Just(RefusalCode::Busy), Just(RefusalCode::TooOld)];
    prop_oneof![
        (text(), host(), many(text(), 0..4), any::<bool>())
            .prop_map(|(tool, host, want, wait)| Message::Hello(Hello { tool, host, want, wait })),
        (any::<(u32, u64)>(), text()).prop_map(|((place, seconds), by)| Message::Queued(Queued {
            place,
            seconds,
            by
        })),
        (text(), many(text(), 0..4), limits(), host()).prop_map(
            |(tool, features, limits, host)| {
                Message::Welcome(Box::new(Welcome { tool, features, limits, host }))
            }
        ),
        (code, text()).prop_map(|(code, why)| Message::Refused(Refused { code, why })),
        any::<u64>().prop_map(|asked_ns| Message::Clock { asked_ns }),
        any::<(u64, u64)>()
            .prop_map(|(asked_ns, server_ns)| Message::ClockReply { asked_ns, server_ns }),
        task().prop_map(Message::Prepare),
        any::<u32>().prop_map(|number| Message::Ready { number }),
        any::<u32>().prop_map(|number| Message::Finish { number }),
        (any::<u32>(), many((arm(), end_report()), 0..3))
            .prop_map(|(number, ends)| Message::Report(Report { number, ends })),
        (any::<u32>(), text()).prop_map(|(number, why)| Message::Failed { number, why }),
        Just(Message::Bye),
        Just(Message::Unknown),
    ]
}
