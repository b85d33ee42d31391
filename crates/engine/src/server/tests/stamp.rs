//! Test packets of STAMP over loopback: which are answered, and what the answers say. What is not
//! answered is seen by what comes next: a family's packets are answered in their order.

use super::*;
use crate::server::StampOptions;
use crate::stamp::{Sealer, StampKey};
use crate::trial::client::Reflector;
use v6gap_core::wire::stamp::{Answer, OPEN_BYTES, Question, SEALED_BYTES, Seal, answered, ask};
use v6gap_sys::clock;
use v6gap_sys::socket::Marks;

/// A server that answers test packets, too.
fn reflecting(key: Option<StampKey>, change: impl FnOnce(&mut ServerOptions)) -> Served {
    Served::new(|options| {
        options.stamp = Some(StampOptions { port: 0, key });
        change(options);
    })
}

/// A sender's socket, which gets only what comes from where its questions go.
fn sender(served: &Served, family: Family) -> Datagram {
    let socket = Datagram::bind(SocketAddr::new(family.loopback(), 0)).unwrap();
    socket.connect(served.stamp.get(family).unwrap()).unwrap();
    socket.set_read_timeout(Some(PATIENCE.as_nanos() as u64)).unwrap();
    socket
}

fn question(sequence: u32) -> Question {
    Question { sequence, sent_ns: clock::wall_ns(), session: 7 }
}

/// Sends a question of so many bytes, the rest of which is padding.
fn send(socket: &Datagram, sequence: u32, bytes: usize, seal: Seal<'_>) {
    let mut packet = vec![0x5a; bytes];
    ask(&question(sequence), &mut packet, seal).unwrap();
    assert_eq!(socket.send(&packet).unwrap(), bytes);
}

/// The next answer, and how many bytes it has.
fn hear(socket: &Datagram, seal: Seal<'_>) -> (Answer, usize) {
    let mut packet = [0; 10_000];
    let bytes = socket.recv(&mut packet).unwrap();
    (answered(&packet[..bytes], seal).unwrap(), bytes)
}

#[test]
fn a_question_comes_back_with_its_times_and_as_long_as_it_was() {
    let served = reflecting(None, |_| {});
    for family in Family::BOTH {
        let socket = sender(&served, family);
        socket.mark(&Marks { hop_limit: Some(200), ..Marks::default() }).unwrap();
        // Where the system tells it of what arrives.
        let _ = socket.report_marks(true);
        for (sequence, bytes) in (40..).zip([OPEN_BYTES, 45, SEALED_BYTES, 148, 1_452, 9_000]) {
            let before = clock::wall_ns();
            send(&socket, sequence, bytes, None);
            let mut packet = [0; 10_000];
            let arrived = socket.receive(&mut packet).unwrap();
            let after = clock::wall_ns();
            assert_eq!(arrived.bytes, bytes, "{family}");
            assert!(arrived.hop_limit.is_none_or(|hops| hops == 255), "{arrived:?}");
            assert!(packet[OPEN_BYTES..bytes].iter().all(|&octet| octet == 0x5a));
            let answer = answered(&packet[..bytes], None).unwrap();
            assert_eq!((answer.sequence, answer.asked), (sequence, sequence));
            assert_eq!(answer.session, 7);
            // 255 where the system does not tell.
            assert!([200, 255].contains(&answer.hops_left), "{answer:?}");
            let times = [before, answer.received_ns, answer.sent_ns, after];
            assert!(times.is_sorted(), "{family} {times:?}");
        }
    }
}

/// What a client of ours leaves out of its round trips it keeps: both together are what its own
/// clock saw.
#[test]
fn a_client_tells_what_was_held() {
    let served = reflecting(None, |_| {});
    let echo = Echo {
        transport: Transport::Udp,
        connections: 1,
        turn_exchanges: 4,
        turns: 2,
        warmup_exchanges: 1,
        ..Echo::default()
    };
    let arms = [(Arm::A, Family::V6), (Arm::B, Family::V4)];
    let arms = arms.map(|(arm, family)| TaskArm { arm, family }).to_vec();
    let task = Task { workload: Workload::Echo(echo), arms, ..task(0, 1) };
    let context = ClientContext {
        reflector: Some(Reflector::default()),
        ..ClientContext::new(served.stamp, PATIENCE.as_nanos() as u64)
    };
    let reports = trial::client::run(&task, &context).unwrap();
    assert_eq!(reports.len(), 2);
    for (_, report) in reports {
        let Measured::Times(times) = &report.measured else { panic!("{report:?}") };
        let held = report.held.expect("it answers with both of its times");
        assert!(times.count > 0 && held.median_ns <= held.max_ns as f64, "{report:?}");
        // Of fewer than ten nothing is trimmed, so that means add up.
        let sum_ns = times.trimmed_mean_ns + held.mean_ns;
        assert!((held.whole_ns - sum_ns).abs() < 1.0, "{report:?}");
    }
}

#[test]
fn what_is_too_short_or_too_long_is_not_answered() {
    let served = reflecting(None, |_| {});
    for family in Family::BOTH {
        let socket = sender(&served, family);
        for bytes in [0, 1, OPEN_BYTES - 1, 9_001] {
            socket.send(&vec![0; bytes]).unwrap();
        }
        send(&socket, 5, OPEN_BYTES, None);
        let (answer, bytes) = hear(&socket, None);
        assert_eq!((answer.sequence, bytes), (5, OPEN_BYTES), "{family}");
    }
}

#[test]
fn with_a_key_only_what_it_authenticates_is_answered() {
    let keys = ["0x00112233445566778899aabbccddeeff", "another"];
    let [key, other] = keys.map(|text| StampKey::of_text(text).unwrap());
    let served = reflecting(Some(key), |_| {});
    let (sealer, forger) = (Sealer::new(&key), Sealer::new(&other));
    let sealing = |octets: &[u8]| sealer.seal(octets);
    let forging = |octets: &[u8]| forger.seal(octets);
    let (seal, forged): (Seal<'_>, Seal<'_>) = (Some(&sealing), Some(&forging));
    for family in Family::BOTH {
        let socket = sender(&served, family);
        send(&socket, 1, SEALED_BYTES, forged);
        send(&socket, 2, OPEN_BYTES, None);
        send(&socket, 3, SEALED_BYTES, None);
        for (sequence, length) in [(4, SEALED_BYTES), (5, 200)] {
            send(&socket, sequence, length, seal);
            let (answer, bytes) = hear(&socket, seal);
            assert_eq!((answer.asked, bytes), (sequence, length), "{family}");
            assert!(answer.received_ns <= answer.sent_ns, "{answer:?}");
        }
    }
}

#[test]
fn only_sources_of_the_list_are_answered() {
    let here = Family::BOTH.map(|family| Prefix::new(family.loopback(), 32).unwrap());
    let served = reflecting(None, |options| options.allow = here.to_vec());
    for family in Family::BOTH {
        let socket = sender(&served, family);
        send(&socket, 9, OPEN_BYTES, None);
        assert_eq!(hear(&socket, None).0.asked, 9, "{family}");
    }
    // A key of STAMP lets nobody in whom the list leaves out.
    let elsewhere = ["192.0.2.0/24", "2001:db8::/32"];
    let elsewhere = elsewhere.map(|text| text.parse::<Prefix>().unwrap());
    for key in [None, Some(StampKey::of_text("word").unwrap())] {
        let served = reflecting(key, |options| options.allow = elsewhere.to_vec());
        let sealer = key.as_ref().map(Sealer::new);
        let sealing = |octets: &[u8]| sealer.as_ref().unwrap().seal(octets);
        let seal: Seal<'_> = if key.is_some() { Some(&sealing) } else { None };
        let sockets = Family::BOTH.map(|family| sender(&served, family));
        sockets.iter().for_each(|socket| send(socket, 1, SEALED_BYTES, seal));
        // The threads that answer end before this returns.
        drop(served);
        for socket in sockets {
            socket.set_nonblocking(true).unwrap();
            let error = socket.recv(&mut [0; 200]).unwrap_err();
            assert!(ErrorClass::of(&error).is_timeout(), "{error}");
        }
    }
}

/// Two that answer each other would not stop.
#[test]
fn a_packet_from_the_reflector_s_own_port_is_not_answered() {
    let served = reflecting(None, |_| {});
    let place = served.stamp.v4.unwrap();
    let Ok(twin) = Datagram::bind(SocketAddr::new("127.0.0.2".parse().unwrap(), place.port()))
    else {
        return println!("not tested: loopback has one address here");
    };
    twin.connect(place).unwrap();
    send(&twin, 1, OPEN_BYTES, None);
    let socket = sender(&served, Family::V4);
    send(&socket, 2, OPEN_BYTES, None);
    assert_eq!(hear(&socket, None).0.asked, 2);
    twin.set_nonblocking(true).unwrap();
    let error = twin.recv(&mut [0; 100]).unwrap_err();
    assert!(ErrorClass::of(&error).is_timeout(), "{error}");
}

#[test]
fn without_being_told_to_a_server_answers_no_test_packets() {
    assert_eq!(Served::new(|_| {}).stamp, PerFamily::default());
}
