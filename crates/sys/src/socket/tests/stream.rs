//! TCP: connecting, options, data in both directions, timeouts, closing, and the kernel's account.

use super::*;
use std::io::ErrorKind;

#[test]
fn both_ends_are_of_the_family_asked_for() {
    both(|address| {
        let listener = Listener::bind(address, 4).expect("loopback has this family");
        assert_eq!(listener.domain().expect("readable"), Domain::of(&address));
        let remote = listener.local().expect("it is bound");
        let near = Stream::connect(Some(address), remote, &StreamOptions::default(), PATIENCE_NS)
            .expect("somebody listens");
        let far = listener.accept().expect("somebody connected");
        for end in [&near, &far] {
            assert_eq!(end.domain().expect("readable"), Domain::of(&address));
        }
        assert_eq!(near.peer().expect("connected"), far.local().expect("connected"));
        assert_eq!(near.local().expect("connected"), far.peer().expect("connected"));
        assert_eq!(near.peer().expect("connected"), remote);
        assert_eq!(near.local().expect("connected").ip(), address.ip());
    });
}

#[test]
fn chosen_local_port_is_used() {
    both(|address| {
        let listener = Listener::bind(address, 4).expect("loopback has this family");
        let remote = listener.local().expect("it is bound");
        let found = Listener::bind(address, 1).expect("loopback has this family");
        let local = found.local().expect("it is bound");
        drop(found);
        let stream = Stream::connect(Some(local), remote, &StreamOptions::default(), PATIENCE_NS)
            .expect("the port is free for TCP");
        assert_eq!(stream.local().expect("connected"), local);
    });
}

/// On Linux all of 127.0.0.0/8 is loopback, so this address is free of the other tests' ports.
#[cfg(target_os = "linux")]
#[test]
fn any_address_of_v6_leaves_v4_alone() {
    let six = Listener::bind(parse("[::]:0"), 4).expect("this host has IPv6");
    let port = six.local().expect("it is bound").port();
    let four = SocketAddr::from(([127, 0, 0, 77], port));
    // With a dual-stack socket the first line would connect and the second find the port in use.
    let error = Stream::connect(None, four, &StreamOptions::default(), PATIENCE_NS)
        .expect_err("nobody listens on IPv4");
    assert_eq!(error.class(), ErrorClass::Refused, "{error}");
    Listener::bind(four, 4).expect("the same port is free on IPv4");
}

#[test]
fn a_connection_that_has_begun_takes_bytes_when_it_stands_and_else_says_why() {
    both(|address| {
        let listener = Listener::bind(address, 4).expect("loopback has this family");
        let remote = listener.local().expect("it is bound");
        let begin = || Stream::begin(None, remote, &StreamOptions::default());
        let near = begin().expect("a socket").stream;
        let mut stands = near.write_if_connected(remote, b"early").expect("somebody listens");
        if !stands {
            assert!(near.wait_writable(PATIENCE_NS).expect("waits"));
            stands = near.write_if_connected(remote, b"early").expect("somebody listens");
        }
        assert!(stands);
        let (far, source) = listener.accept_now().expect("accepts").expect("somebody connected");
        assert_eq!(source, near.local().expect("connected"));
        assert!(far.wait_readable(PATIENCE_NS).expect("waits"));
        assert_eq!(far.read(&mut [0; 10]).expect("there are some"), 5);
        let nothing = far.read(&mut [0; 10]).expect_err("it does not wait");
        assert_eq!(ErrorClass::of(&nothing), ErrorClass::WouldBlock);
        assert!(listener.accept_now().expect("accepts").is_none());

        drop(listener);
        let refused = begin().and_then(|begun| {
            if !begun.stream.write_if_connected(remote, b"early")? {
                assert!(begun.stream.wait_writable(PATIENCE_NS).expect("waits"));
                begun.stream.write_if_connected(remote, b"early")?;
            }
            Ok(())
        });
        assert_eq!(refused.expect_err("nobody listens").class(), ErrorClass::Refused);
    });
}

#[test]
fn connect_times_are_within_the_whole() {
    both(|address| {
        let listener = Listener::bind(address, 4).expect("loopback has this family");
        let remote = listener.local().expect("it is bound");
        let start = crate::clock::now_ns();
        let (_stream, times) =
            Stream::connect_timed(None, remote, &StreamOptions::default(), PATIENCE_NS)
                .expect("somebody listens");
        let whole = crate::clock::now_ns() - start;
        assert!(times.connect_ns > 0, "{times:?}");
        assert!(times.socket_ns + times.connect_ns <= whole, "{times:?} in {whole} ns");
    });
}

/// Neither an answer nor a connection that never comes is waited for longer than it may be.
#[test]
#[cfg(target_os = "linux")]
fn waits_without_limit_are_interrupted() {
    both(|address| {
        let listener = Listener::bind(address, 1).expect("loopback has this family");
        let remote = listener.local().expect("it is bound");
        let _interrupter = crate::Interrupter::every(1_000_000).expect("Linux has timers");
        let connect = || {
            let options = StreamOptions::default();
            Stream::connect_waiting(None, remote, &options, 20_000_000).map(|begun| begun.stream)
        };
        let silent = connect().expect("there is room in the queue");
        let nothing = silent.read_interruptible(&mut [0; 1]).expect_err("nobody writes");
        assert_eq!(ErrorClass::of(&nothing), ErrorClass::Interrupted);
        // Once its queue is full the system says nothing to further ones.
        let full: Result<Vec<Stream>, _> = (0..4).map(|_| connect()).collect();
        assert_eq!(full.expect_err("the queue is full").class(), ErrorClass::TimedOut);
    });
}

/// Without being told to, the system holds the acknowledgement back for 40 ms at least.
#[test]
#[cfg(target_os = "linux")]
fn what_was_read_is_acknowledged_at_once() {
    both(|address| {
        let (near, far) = pair(address, &StreamOptions::default());
        let say = |from: &Stream, to: &Stream| {
            from.write_all(b"word").expect("the peer reads");
            to.read_exact(&mut [0; 4]).expect("the peer writes");
        };
        let acknowledged = || near.info().expect("Linux tells").bytes_acked;
        let wait_ns = |_| {
            // Who answers again and again is expected to go on with it.
            for _ in 0..20 {
                say(&near, &far);
                say(&far, &near);
            }
            let before = acknowledged();
            say(&near, &far);
            let start = crate::clock::now_ns();
            far.acknowledge().expect("Linux can");
            while acknowledged() == before {
                std::thread::yield_now();
            }
            crate::clock::now_ns() - start
        };
        let least = (0..5).map(wait_ns).min();
        assert!(least < Some(20_000_000), "{least:?}");
    });
}

#[test]
fn options_are_read_back_at_both_ends() {
    let options = StreamOptions {
        no_delay: true,
        send_buffer: Some(30_000),
        receive_buffer: Some(40_000),
        congestion: cfg!(target_os = "linux").then(|| "reno".to_owned()),
        mss: cfg!(unix).then_some(1_000),
        marks: Marks::default(),
    };
    both(|address| {
        let (near, far) = pair(address, &options);
        for end in [near, far] {
            let got = end.got().expect("readable");
            assert!(got.no_delay);
            assert!((30_000..=60_000).contains(&got.send_buffer), "{got:?}");
            assert!((40_000..=80_000).contains(&got.receive_buffer), "{got:?}");
            assert_eq!(got.congestion, options.congestion);
            if cfg!(unix) {
                assert!(got.mss.is_some_and(|bytes| (500..=1_000).contains(&bytes)), "{got:?}");
            }
        }
        let (plain, _far) = pair(address, &StreamOptions::default());
        assert!(!plain.got().expect("readable").no_delay);
    });
}

/// A connection is accepted long after it began, and what its first congestion control asked for
/// may stay.
#[cfg_attr(not(target_os = "linux"), ignore = "nothing is lent there")]
#[test]
fn connections_begin_with_the_congestion_control_that_is_lent() {
    both(|address| {
        let options = StreamOptions::default();
        let listener = Listener::bind_with(address, 4, &options).expect("loopback has this family");
        let remote = listener.local().expect("it is bound");
        let accepted = || {
            let near = Stream::connect(None, remote, &options, PATIENCE_NS).expect("it listens");
            let far = listener.accept().expect("somebody connected");
            (far.got().expect("readable").congestion.expect("Linux tells"), near)
        };
        let (usual, _near) = accepted();
        let other = if usual == "reno" { "cubic" } else { "reno" };
        let before = listener.settings();
        let lent = listener.lend_congestion(other).expect("each kernel has it");
        assert_eq!(accepted().0, other);
        drop(lent);
        assert_eq!(accepted().0, usual);
        // What another process that is gone has lent is brought back.
        std::mem::forget(listener.lend_congestion(other));
        assert_eq!(accepted().0, other);
        listener.restore(&before);
        assert_eq!(accepted().0, usual);
        listener.lend_congestion("nosuch").expect_err("no such algorithm");
    });
}

#[test]
fn unknown_congestion_control_is_refused_by_name() {
    let options = StreamOptions { congestion: Some("nosuch".to_owned()), ..Default::default() };
    both(|address| {
        let error = Listener::bind_with(address, 4, &options).expect_err("no such algorithm");
        assert!(error.to_string().starts_with("cannot set TCP_CONGESTION: "), "{error}");
    });
}

#[test]
fn bytes_arrive_in_order_and_end_in_order() {
    both(|address| {
        let (near, far) = pair(address, &StreamOptions::default());
        let sent: Vec<u8> = (0..1_000_000_u32).map(|i| (i % 251) as u8).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                near.write_all(&sent).expect("the peer reads");
                near.shutdown_write().expect("connected");
            });
            let mut received = vec![0; sent.len()];
            far.read_exact(&mut received).expect("the peer writes");
            assert!(received == sent, "content differs");
            assert_eq!(far.read(&mut [0; 10]).expect("an orderly end"), 0);
        });

        far.write_all(b"answer").expect("only one direction has ended");
        let mut answer = [0; 6];
        near.read_exact(&mut answer).expect("the peer wrote");
        assert_eq!(&answer, b"answer");
        drop(far);
        let error = near.read_exact(&mut answer).expect_err("the peer is gone");
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        assert_eq!(ErrorClass::of(&error), ErrorClass::Closed);
    });
}

#[test]
fn nothing_in_time_is_a_timeout() {
    both(|address| {
        let (near, far) = pair(address, &StreamOptions::default());
        let start = crate::clock::now_ns();
        near.set_read_timeout(Some(20_000_000)).expect("settable");
        let error = near.read(&mut [0; 1]).expect_err("nothing was sent");
        assert!(ErrorClass::of(&error).is_timeout(), "{error}");
        assert!(crate::clock::now_ns() - start >= 19_000_000);

        near.set_nonblocking(true).expect("settable");
        let error = near.read(&mut [0; 1]).expect_err("nothing was sent");
        assert_eq!(ErrorClass::of(&error), ErrorClass::WouldBlock, "{error}");

        assert!(!near.wait_readable(1_000_000).expect("waits"));
        assert!(near.wait_writable(PATIENCE_NS).expect("waits"));
        far.write_all(&[1]).expect("connected");
        assert!(near.wait_readable(PATIENCE_NS).expect("waits"));
        assert_eq!(near.read(&mut [0; 9]).expect("one byte is there"), 1);
    });
}

#[test]
fn full_buffers_end_a_timed_write() {
    both(|address| {
        let (near, _far) = pair(address, &StreamOptions::default());
        near.set_write_timeout(Some(20_000_000)).expect("settable");
        let error = near.write_all(&vec![0; 64 << 20]).expect_err("nobody reads 64 MiB");
        assert!(ErrorClass::of(&error).is_timeout(), "{error}");
    });
}

#[test]
fn accept_waits_no_longer_than_told() {
    both(|address| {
        let listener = Listener::bind(address, 4).expect("loopback has this family");
        let start = crate::clock::now_ns();
        assert!(listener.accept_timeout(5_000_000).expect("waits").is_none());
        assert!(crate::clock::now_ns() - start >= 5_000_000);
        let remote = listener.local().expect("it is bound");
        let _near = Stream::connect(None, remote, &StreamOptions::default(), PATIENCE_NS)
            .expect("somebody listens");
        assert!(listener.accept_timeout(PATIENCE_NS).expect("waits").is_some());
        assert!(listener.accept_timeout(0).expect("does not wait").is_none());
    });
}

#[test]
fn a_patient_listener_waits_in_accepting_until_it_is_not_any_more() {
    both(|address| {
        let listener = Listener::bind(address, 4).expect("loopback has this family");
        let remote = listener.local().expect("it is bound");
        let patient = listener.patient(5_000_000).expect("settable");
        let start = crate::clock::now_ns();
        assert!(patient.accept().expect("waits").is_none());
        // The kernel's ticks may be shorter than they are told to be by less than one of them.
        assert!(crate::clock::now_ns() - start >= 1_000_000);
        let near = Stream::connect(None, remote, &StreamOptions::default(), PATIENCE_NS)
            .expect("somebody listens");
        let (_, source) = patient.accept().expect("accepts").expect("somebody connected");
        assert_eq!(source, near.local().expect("connected"));
        drop(patient);
        assert!(listener.accept_now().expect("does not wait").is_none());
    });
}

#[test]
fn no_linger_resets_the_connection() {
    both(|address| {
        let (near, far) = pair(address, &StreamOptions::default());
        near.linger_zero().expect("settable");
        drop(near);
        let error = far.read(&mut [0; 1]).expect_err("a reset is no orderly end");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        assert_eq!(ErrorClass::of(&error), ErrorClass::Closed);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn account_of_a_connection_is_plausible() {
    both(|address| {
        let (near, far) = pair(address, &StreamOptions { mss: Some(1_200), ..Default::default() });
        let mut bytes = vec![3; 100_000];
        std::thread::scope(|scope| {
            scope.spawn(|| near.write_all(&[3; 100_000]).expect("the peer reads"));
            far.read_exact(&mut bytes).expect("the peer writes");
        });
        // The answer comes after all data, so everything sent is acknowledged with it.
        far.write_all(&[1]).expect("connected");
        near.read_exact(&mut [0]).expect("the peer writes");

        let info = near.info().expect("Linux has TCP_INFO");
        let options = if info.timestamps { 12 } else { 0 };
        assert_eq!(info.snd_mss, 1_200 - options, "{info:?}");
        assert!(info.pmtu >= 1_280 && info.snd_cwnd > 0, "{info:?}");
        let came = far.info().expect("Linux has TCP_INFO");
        assert!((1..=1_200).contains(&came.rcv_mss), "{came:?}");
        assert!((1..10_000_000).contains(&info.rtt_us), "{info:?}");
        assert!(info.min_rtt_us.is_some_and(|us| us <= 10_000_000), "{info:?}");
        let retrans = info.bytes_retrans.expect("since Linux 4.19");
        assert_eq!(info.bytes_sent.expect("since Linux 4.19"), 100_000 + retrans);
        // The kernel counts the SYN as one byte.
        assert!(matches!(info.bytes_acked, Some(100_000..=100_001)), "{info:?}");
        assert_eq!(info.bytes_received, Some(1));
        assert!(info.data_segs_out.is_some_and(|segments| segments >= 100_000 / 1_200), "{info:?}");
        assert!(info.segs_out >= info.data_segs_out && info.segs_in.is_some(), "{info:?}");
        assert!(info.busy_us.is_some() && info.rwnd_limited_us.is_some(), "{info:?}");
        assert!(info.snd_wnd.is_some_and(|bytes| bytes > 0), "{info:?}");
        assert_eq!(info.delivered_ce, Some(0));
    });
}

#[cfg(not(target_os = "linux"))]
#[test]
fn account_of_a_connection_is_unavailable_with_a_reason() {
    both(|address| {
        let (near, _far) = pair(address, &StreamOptions::default());
        assert_eq!(near.info().expect_err("Linux only").what, "TCP_INFO");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_listener_tells_the_room_of_its_queue_and_a_connection_where_its_packets_came_in() {
    both(|address| {
        let listener = Listener::bind(address, 3).expect("loopback has this family");
        // No system grants less than three.
        assert_eq!(listener.queue_max(), Ok(3));
        let remote = listener.local().expect("it is bound");
        let near = Stream::connect(None, remote, &StreamOptions::default(), PATIENCE_NS)
            .expect("somebody listens");
        let far = listener.accept().expect("somebody connected");
        assert_eq!(near.write(&[1; 10]).expect("the connection stands"), 10);
        far.read(&mut [0; 10]).expect("the connection stands");
        let incoming = far.incoming();
        assert!(incoming.processor.is_some(), "{incoming:?}");
        assert_eq!(incoming.queue, None, "loopback is no card");
    });
}
