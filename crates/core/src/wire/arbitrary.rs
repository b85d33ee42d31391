//! Arbitrary messages for property tests, here and in the session.

mod probe;
mod search;

use super::control::{
    Hello, Limits, Message, Queued, RefusalCode, Refused, Report, TaskFailure, Welcome,
};
use super::whereabouts::Addresses;
use crate::arm::{Arm, TurnOrder};
use crate::family::{Family, PerFamily};
use crate::host::Host;
use crate::observation::{
    Arrivals, Busy, Connection, ConnectionMemory, Connections, EndReport, Endpoints, FreeRuns,
    Granted, Held, MachineUse, Measured, Received, Sent, Steady, TcpAccount, Times,
};
use crate::task::{Task, TaskArm, Token};
use crate::workload::{
    Asked, Connect, Direction, Echo, FrameArrivals, Frames, Law, Marking, Method, Parity, Purpose,
    Sizes, StreamSettings, TcpBulk, Timing, Transport, UdpBulk, Wait, Workload, ZeroCopy,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use core::net::{IpAddr, SocketAddr};
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

/// Boxed: as a plain value it would fill the stack of a test.
fn workload() -> BoxedStrategy<Workload> {
    let transport = prop_oneof![Just(Transport::Tcp), Just(Transport::Udp), Just(Transport::Icmp)];
    let wait = prop_oneof![Just(Wait::Block), Just(Wait::Yield), Just(Wait::Spin)];
    let timing = prop_oneof![Just(Timing::Each), Just(Timing::Batch)];
    let method = prop_oneof![Just(Method::Ends), Just(Method::Stack)];
    let asked = (any::<bool>(), parity(), method);
    let manner = (wait, timing, asked, of(small_or_any_u32()), small_or_any_u32());
    let paced = (small_or_any_u64(), small_or_any_u64(), small_or_any_u32());
    prop_oneof![
        tcp_bulk().prop_map(Workload::TcpBulk),
        (paced, of(small_or_any_u64()), marking(), stream()).prop_map(
            |(n, rate_bps, marking, s)| {
                let (duration_ns, warmup_ns, payload_bytes) = n;
                Workload::UdpBulk(UdpBulk {
                    payload_bytes,
                    rate_bps,
                    duration_ns,
                    warmup_ns,
                    marking,
                    ..s
                })
            }
        ),
        (transport, proptest::array::uniform5(small_or_any_u32()), manner, settings(), marking())
            .prop_map(|(transport, n, manner, settings, marking)| {
                let (wait, timing, (tails, parity, method), response_bytes, outstanding) = manner;
                let [message_bytes, connections, turn_exchanges, turns, warmup_exchanges] = n;
                Workload::Echo(Echo {
                    transport,
                    method,
                    message_bytes,
                    parity,
                    response_bytes,
                    outstanding,
                    timing,
                    tails,
                    connections,
                    turn_exchanges,
                    turns,
                    warmup_exchanges,
                    wait,
                    settings,
                    marking,
                })
            }),
        (small_or_any_u32(), small_or_any_u32(), purpose()).prop_map(
            |(count, concurrent, purpose)| {
                Workload::Connect(Connect { count, purpose, concurrent })
            }
        ),
        probe::workload().prop_map(Workload::Probe),
        search::workload().prop_map(Workload::Capacity),
        (any::<[u32; 2]>(), any::<[u64; 2]>(), stream(), marking()).prop_map(
            |([frame_bytes, payload_bytes], [every_ns, duration_ns], stream, marking)| {
                Workload::Frames(Frames {
                    frame_bytes,
                    payload_bytes,
                    every_ns,
                    duration_ns,
                    direction: stream.direction,
                    marking,
                })
            }
        ),
    ]
    .boxed()
}

fn tcp_bulk() -> impl Strategy<Value = TcpBulk> {
    let direction =
        prop_oneof![Just(Direction::Send), Just(Direction::Receive), Just(Direction::Both)];
    let times = (small_or_any_u64(), small_or_any_u64());
    let sizes = (small_or_any_u32(), small_or_any_u32(), of(small_or_any_u64()));
    let zero_copy = of(prop_oneof![Just(ZeroCopy::File), Just(ZeroCopy::Memory)]);
    let ways = (of(small_or_any_u64()), zero_copy, any::<[bool; 2]>());
    (times, sizes, ways, direction, settings(), marking()).prop_map(
        |(times, sizes, ways, direction, settings, marking)| {
            let (duration_ns, warmup_ns) = times;
            let (write_bytes, streams, bytes) = sizes;
            let (pacing_bps, zero_copy, [truncate, cpu]) = ways;
            TcpBulk {
                duration_ns,
                warmup_ns,
                write_bytes,
                write_drawn: false,
                direction,
                streams,
                bytes,
                pacing_bps,
                zero_copy,
                truncate,
                cpu,
                settings,
                marking,
            }
        },
    )
}

fn purpose() -> impl Strategy<Value = Purpose> {
    prop_oneof![
        Just(Purpose::Open),
        Just(Purpose::FirstByte),
        Just(Purpose::Rate),
        Just(Purpose::Hold)
    ]
}

/// What tells streams of datagrams apart besides rate, size and time.
fn stream() -> impl Strategy<Value = UdpBulk> {
    let direction = prop_oneof![Just(Direction::Send), Just(Direction::Receive)];
    let law = prop_oneof![
        Just(Law::Constant),
        Just(Law::Periodic),
        Just(Law::Poisson),
        any::<(u64, u64)>().prop_map(|(on_ns, off_ns)| Law::OnOff { on_ns, off_ns }),
        any::<(u32, u64)>()
            .prop_map(|(frame_bytes, every_ns)| Law::Frames { frame_bytes, every_ns }),
    ];
    let sizes = prop_oneof![
        Just(Sizes::Fixed),
        any::<u32>().prop_map(|least_bytes| Sizes::Random { least_bytes }),
        any::<(u32, u32)>()
            .prop_map(|(least_bytes, step_bytes)| Sizes::Stepped { least_bytes, step_bytes }),
    ];
    let asked = any::<[bool; 3]>().prop_map(|[packet_rate, reordering, duplication]| Asked {
        packet_rate,
        reordering,
        duplication,
    });
    let plain = (any::<(Option<u64>, u16, bool)>(), parity());
    (direction, law, sizes, asked, plain).prop_map(|(direction, law, sizes, asked, plain)| {
        let ((packets, batch, offload), parity) = plain;
        let usual = UdpBulk::default();
        UdpBulk { direction, packets, batch, offload, law, sizes, asked, parity, ..usual }
    })
}

fn parity() -> impl Strategy<Value = Parity> {
    prop_oneof![Just(Parity::Payload), Just(Parity::Packet)]
}

fn settings() -> impl Strategy<Value = StreamSettings> {
    (of(text()), of(any::<u32>()), of(any::<u32>()), any::<[bool; 2]>()).prop_map(
        |(congestion, buffer_bytes, mss_bytes, [no_delay, require_buffer])| StreamSettings {
            congestion,
            buffer_bytes,
            require_buffer,
            mss_bytes,
            no_delay,
        },
    )
}

fn marking() -> impl Strategy<Value = Marking> {
    (of(any::<u8>()), of(any::<u8>()), of(any::<u32>()), any::<bool>()).prop_map(
        |(traffic_class, hop_limit, flow_label, dont_fragment)| Marking {
            traffic_class,
            hop_limit,
            flow_label,
            dont_fragment,
        },
    )
}

pub(crate) fn task() -> impl Strategy<Value = Task> {
    let arms = many((arm(), family()).prop_map(|(arm, family)| TaskArm { arm, family }), 0..4);
    let order = prop_oneof![Just(TurnOrder::Ab), Just(TurnOrder::Ba)];
    let arrives = (family(), family()).prop_map(|(v4, v6)| PerFamily { v4, v6 });
    (any::<(u32, u64, [u8; 16], Option<u32>)>(), workload(), arms, order, arrives).prop_map(
        |(n, workload, arms, order, arrives)| {
            let (number, seed, token, draw) = n;
            Task { number, workload, arms, order, seed, token: Token(token), arrives, draw }
        },
    )
}

fn arrivals() -> impl Strategy<Value = Arrivals> {
    let table = many(any::<(u64, u64)>(), 0..3);
    (any::<[u64; 4]>(), proptest::array::uniform4(table)).prop_map(|(n, tables)| {
        let [replicated, runs, packets, squares] = n;
        let [extents, n_reordered, loss_periods, loss_distances] = tables;
        let free_runs = FreeRuns { runs, packets, squares };
        Arrivals { replicated, extents, n_reordered, free_runs, loss_periods, loss_distances }
    })
}

fn times() -> impl Strategy<Value = Times> {
    let histogram = many(any::<(u64, u64)>(), 0..4);
    (any::<([u64; 4], u32)>(), number(), number(), histogram, many(number(), 0..4)).prop_map(
        |(n, mean_ns, median_ns, histogram, turns_ns)| {
            let ([count, lost, min_ns, max_ns], exchanges_each) = n;
            Times {
                count,
                lost,
                trimmed_mean_ns: mean_ns,
                mean_ns,
                median_ns,
                min_ns,
                max_ns,
                histogram: histogram.into_iter().collect(),
                turns_ns,
                exchanges_each,
            }
        },
    )
}

fn connections() -> impl Strategy<Value = Connections> {
    let each = [of(number()), of(number()), of(number())];
    let memory = (any::<u32>(), each).prop_map(|(connections, each)| {
        let [slab_bytes_each, page_bytes_each, socket_bytes_each] = each;
        ConnectionMemory { connections, slab_bytes_each, page_bytes_each, socket_bytes_each }
    });
    (times(), times(), of(times()), any::<u64>(), of(memory)).prop_map(
        |(socket, connect, first_byte, span_ns, memory)| Connections {
            socket,
            connect,
            first_byte,
            span_ns,
            memory,
        },
    )
}

/// Boxed, as workloads are.
pub(crate) fn measured() -> BoxedStrategy<Measured> {
    prop_oneof![
        Just(Measured::Nothing),
        times().prop_map(Measured::Times),
        connections().prop_map(|all| Measured::Connections(Box::new(all))),
        received().prop_map(Measured::Received),
        sent().prop_map(Measured::Sent),
        (received(), sent()).prop_map(|(received, sent)| Measured::BothWays { received, sent }),
        (received(), sent()).prop_map(|(received, sent)| Measured::Delivered { received, sent }),
        probe::probed().prop_map(|probed| Measured::Probed(Box::new(probed))),
        probe::returned().prop_map(|returned| Measured::Returned(Box::new(returned))),
        search::searched().prop_map(|searched| Measured::Searched(Box::new(searched))),
    ]
    .boxed()
}

fn received() -> impl Strategy<Value = Received> {
    let series = many(any::<(u64, u64)>(), 0..4);
    let steady =
        (any::<u64>(), number()).prop_map(|(from_ns, rate_bps)| Steady { from_ns, rate_bps });
    let frames = of((any::<u32>(), any::<[u64; 4]>()).prop_map(|(datagrams_each, n)| {
        let [whole, late_p50_ns, late_p95_ns, late_max_ns] = n;
        FrameArrivals { datagrams_each, whole, late_p50_ns, late_p95_ns, late_max_ns }
    }));
    let drops = (any::<Option<u64>>(), of(arrivals()), frames);
    (any::<[u64; 5]>(), [number(), number()], of(steady), series, drops).prop_map(
        |(n, [rate_bps, whole_bps], steady, series, (dropped, arrivals, frames))| {
            let [bytes, span_ns, packets, duplicates, reordered] = n;
            Received {
                bytes,
                span_ns,
                rate_bps,
                whole_bps,
                steady,
                series,
                packets,
                duplicates,
                reordered,
                dropped,
                arrivals,
                frames,
            }
        },
    )
}

fn sent() -> impl Strategy<Value = Sent> {
    any::<([u64; 4], [Option<u64>; 3])>().prop_map(|(n, told)| {
        let [bytes, packets, span_ns, skipped] = n;
        let [retransmitted_segments, blocked_ns, queue_dropped] = told;
        Sent { bytes, packets, span_ns, retransmitted_segments, skipped, blocked_ns, queue_dropped }
    })
}

fn account() -> impl Strategy<Value = TcpAccount> {
    let counts = any::<([u32; 5], [Option<u32>; 5], [Option<u64>; 7])>();
    counts.prop_map(|(given, small, large)| {
        let [mss, rtt_us, rtt_var_us, cwnd, retransmitted_segments] = given;
        let [min_rtt_us, segments_out, segments_in, data_segments_out, delivered_ce] = small;
        let [bytes_sent, bytes_retransmitted, bytes_acked, bytes_received, busy_us, ..] = large;
        let [.., window_limited_us, buffer_limited_us] = large;
        TcpAccount {
            mss,
            rtt_us,
            rtt_var_us,
            min_rtt_us,
            cwnd,
            bytes_sent,
            bytes_retransmitted,
            bytes_acked,
            bytes_received,
            segments_out,
            segments_in,
            data_segments_out,
            retransmitted_segments,
            busy_us,
            window_limited_us,
            buffer_limited_us,
            delivered_ce,
        }
    })
}

fn connection() -> impl Strategy<Value = Connection> {
    let bytes = any::<(u64, u64, Option<u32>)>();
    let means = (of(number()), of(number()));
    (endpoints(), bytes, means, of(account())).prop_map(|(endpoints, bytes, means, account)| {
        let (sent_bytes, received_bytes, processor) = bytes;
        let (rtt_mean_us, window_mean_bytes) = means;
        Connection {
            endpoints,
            sent_bytes,
            received_bytes,
            rtt_mean_us,
            window_mean_bytes,
            processor,
            account,
        }
    })
}

fn endpoints() -> impl Strategy<Value = Endpoints> {
    (family(), address(), address()).prop_map(|(domain, local, peer)| Endpoints {
        domain,
        local,
        peer,
    })
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

pub(crate) fn end_report() -> impl Strategy<Value = EndReport> {
    let sizes = any::<[Option<u32>; 4]>();
    let switches = any::<([Option<bool>; 2], Option<u64>, [Option<u32>; 2])>();
    let granted = (sizes, of(text()), switches, marking(), of(marking())).prop_map(
        |(sizes, congestion, (switches, pacing_bps, incoming), marking, arrived)| {
            let [timestamps, no_delay] = switches;
            let [incoming_processor, incoming_queue] = incoming;
            let [send_buffer, receive_buffer, mss, path_mtu] = sizes;
            Granted {
                send_buffer,
                receive_buffer,
                congestion,
                mss,
                path_mtu,
                timestamps,
                no_delay,
                marking,
                arrived,
                pacing_bps,
                incoming_processor,
                incoming_queue,
            }
        },
    );
    let counters = btree_map(text(), any::<i64>(), 0..4);
    let cost = (any::<[Option<u64>; 7]>(), of(number()), any::<[Option<u32>; 2]>(), any::<i64>());
    let sockets = (of(endpoints()), many(connection(), 0..3), granted, of(machine()));
    let measured = (measured(), of(held()));
    (measured, sockets, cost, counters, many(text(), 0..3)).prop_map(
        |((measured, held), sockets, cost, counters, unavailable)| {
            let (endpoints, connections, granted, machine) = sockets;
            let (spent, steal_share, [processor, process], step) = cost;
            let [user_ns, system_ns, softirq_ns, switches, yields, cycles, instructions] = spent;
            EndReport {
                measured,
                held,
                endpoints,
                connections,
                granted,
                user_ns,
                system_ns,
                softirq_ns,
                machine,
                steal_share,
                switches_involuntary: switches,
                switches_voluntary: yields,
                cycles,
                instructions,
                processor,
                process,
                clock_step_ns: step,
                counters: counters.into(),
                unavailable,
            }
        },
    )
}

fn held() -> impl Strategy<Value = Held> {
    (any::<u64>(), number(), number(), number()).prop_map(
        |(max_ns, mean_ns, median_ns, whole_ns)| Held { mean_ns, median_ns, max_ns, whole_ns },
    )
}

fn machine() -> impl Strategy<Value = MachineUse> {
    let busy = || {
        any::<[u64; 3]>().prop_map(|[span_ns, busy_ns, interrupts_ns]| Busy {
            span_ns,
            busy_ns,
            interrupts_ns,
        })
    };
    (any::<u64>(), busy(), of(busy())).prop_map(|(machine, trial, idle)| MachineUse {
        machine,
        trial,
        idle,
    })
}

fn limits() -> impl Strategy<Value = Limits> {
    let of = any::<([u64; 4], [Option<u64>; 2], [u32; 5], [bool; 2])>();
    of.prop_map(|(times, maxima, counts, [spin, marking])| {
        let [session_ns, idle_ns, task_ns, exchanges] = times;
        let [task_bytes, rate_bps] = maxima;
        let [message_bytes, connections, waiting, held, per_source] = counts;
        Limits {
            session_ns,
            idle_ns,
            task_ns,
            task_bytes,
            rate_bps,
            message_bytes,
            connections,
            held,
            exchanges,
            waiting,
            per_source,
            spin,
            marking,
        }
    })
}

pub(crate) fn message() -> impl Strategy<Value = Message> {
    let code = prop_oneof![
        Just(RefusalCode::Busy),
        Just(RefusalCode::TooOld),
        Just(RefusalCode::Crowded),
        Just(RefusalCode::Stranger)
    ];
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
        Just(Message::Whereabouts),
        (many(any::<IpAddr>(), 0..12), many(any::<u64>(), 0..12))
            .prop_map(|(addresses, proofs)| Message::Addresses(Addresses { addresses, proofs })),
        task().prop_map(Message::Prepare),
        any::<u32>().prop_map(|number| Message::Ready { number }),
        any::<u32>().prop_map(|number| Message::Finish { number }),
        (any::<u32>(), many((arm(), end_report()), 0..3))
            .prop_map(|(number, ends)| Message::Report(Report { number, ends })),
        (any::<u32>(), text(), any::<bool>(), of(family())).prop_map(
            |(number, why, lasting, family)| {
                Message::Failed { number, failure: TaskFailure { why, lasting, family } }
            }
        ),
        Just(Message::Ping),
        Just(Message::Pong),
        Just(Message::Bye),
        Just(Message::Unknown),
    ]
}
