//! Every workload over both families with real sockets on loopback, both halves in this process.

use crate::common::{Service, assert_proved, echo, slice, trial, values_of};
use std::net::SocketAddr;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::observation::{Connections, EndReport, Measured, Received, Sent, Times};
use v6gap_core::workload::{
    Connect, Direction, Echo, Law, Load, Probe, Purpose, Sizes, TcpBulk, Timing, Transport,
    UdpBulk, UdpLoad, Wait, Workload,
};
use v6gap_engine::trial::TrialError;
use v6gap_engine::trial::client::ClientContext;
use v6gap_sys::socket::Datagram;

const MS: u64 = 1_000_000;

fn tcp_bulk(direction: Direction) -> TcpBulk {
    TcpBulk {
        duration_ns: 200 * MS,
        warmup_ns: 50 * MS,
        write_bytes: 128 * 1024,
        direction,
        ..TcpBulk::default()
    }
}

#[test]
fn tcp_bulk_both_ways() {
    let service = Service::new();
    for family in Family::BOTH {
        for direction in [Direction::Send, Direction::Receive] {
            let task = trial(Workload::TcpBulk(tcp_bulk(direction)), family);
            let (client, server) = service.perform(&task, &service.context(Transport::Tcp));
            let (client, server) = (client.unwrap(), server.unwrap());
            assert_proved(family, &client[0].1, &server[0].1, &task);
            let values = values_of(&task, &client, &server);
            assert!(values[0][&Metric::Throughput] > 1e6, "{values:?}");
            let (sender, receiver) = match direction {
                Direction::Send => (&client[0].1, &server[0].1),
                _ => (&server[0].1, &client[0].1),
            };
            let Measured::Sent(sent) = &sender.measured else { panic!("{sender:?}") };
            let Measured::Received(received) = &receiver.measured else { panic!("{receiver:?}") };
            assert_eq!(sent.bytes, received.bytes, "all was read before the end");
            assert!(sent.span_ns >= 200 * MS);
            assert!(received.series.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
        }
    }
}

fn assert_echoed(transport: Transport, bytes: u32, wait: Wait, families: PerArm<Family>) {
    let service = Service::new();
    let workload = echo(transport, bytes, wait);
    let counted = u64::from(workload.turns * workload.turn_exchanges);
    let task = slice(Workload::Echo(workload.clone()), families);
    let (client, server) = service.perform(&task, &service.context(transport));
    let (client, server) = (client.unwrap(), server.unwrap());
    for arm in Arm::BOTH {
        let index = usize::from(arm == Arm::B);
        assert_eq!((client[index].0, server[index].0), (arm, arm));
        assert_proved(*families.get(arm), &client[index].1, &server[index].1, &task);
        let Measured::Times(times) = &client[index].1.measured else { panic!() };
        assert_eq!(times.count + times.lost, counted);
        assert_eq!(times.turns_ns.len(), workload.turns as usize);
        assert_eq!(server[index].1.measured, Measured::Nothing);
    }
    for values in values_of(&task, &client, &server) {
        let rtt = values[&Metric::Rtt];
        assert!(rtt > 0.0 && rtt < 1.0, "{rtt}");
    }
}

#[test]
fn echo_over_both_transports_and_both_ways_of_waiting() {
    for transport in [Transport::Tcp, Transport::Udp] {
        for wait in [Wait::Block, Wait::Yield, Wait::Spin] {
            for bytes in [20, 64, 16_384] {
                assert_echoed(transport, bytes, wait, PerArm::FAMILIES);
            }
        }
    }
}

/// Buffers are asked for at both ends, and the service has its own again afterwards.
#[test]
fn echo_with_buffers_of_its_own() {
    let cases = [(8 << 10, 64), (8 << 10, 8 << 10), (60 << 10, 65_507)];
    for (transport, (buffer, bytes)) in
        [Transport::Tcp, Transport::Udp].into_iter().flat_map(|t| cases.map(|case| (t, case)))
    {
        let service = Service::new();
        let granted = |buffer: Option<u32>| {
            let mut workload = echo(transport, bytes, Wait::Block);
            workload.settings.buffer_bytes = buffer;
            let task = slice(Workload::Echo(workload), PerArm::FAMILIES);
            let (client, server) = service.perform(&task, &service.context(transport));
            let of = |(_, report): &(Arm, EndReport)| {
                [report.granted.send_buffer.unwrap(), report.granted.receive_buffer.unwrap()]
            };
            [client.unwrap(), server.unwrap()].map(|arms| [of(&arms[0]), of(&arms[1])])
        };
        let [_, before] = granted(None);
        for got in granted(Some(buffer)).into_iter().flatten().flatten() {
            assert!((buffer..=2 * buffer).contains(&got), "{transport:?}: {got} B");
        }
        let [_, after] = granted(None);
        assert!(transport == Transport::Tcp || before == after, "{before:?}, {after:?}");
    }
}

/// Both reports of a block, or `None` with the reason where this host lets nobody send echoes.
fn echo_block(workload: &Echo, families: PerArm<Family>) -> Option<[Vec<(Arm, EndReport)>; 2]> {
    let service = Service::new();
    let task = slice(Workload::Echo(workload.clone()), families);
    let (client, server) = service.perform(&task, &service.context(workload.transport));
    match client {
        Err(TrialError::Unavailable { missing, .. }) => {
            assert_eq!(workload.transport, Transport::Icmp);
            assert!(missing.because.contains("ping_group_range"), "{missing}");
            println!("not tested: {missing}");
            None
        }
        client => Some([client.unwrap(), server.unwrap()]),
    }
}

fn times_of((_, report): &(Arm, EndReport)) -> &Times {
    let Measured::Times(times) = &report.measured else { panic!("{report:?}") };
    times
}

#[test]
fn icmp_echoes_need_no_socket_at_the_far_end() {
    for wait in [Wait::Block, Wait::Spin] {
        for bytes in [20, 64, 1_472, 65_507] {
            let workload = echo(Transport::Icmp, bytes, wait);
            let counted = u64::from(workload.turns * workload.turn_exchanges);
            let Some([client, server]) = echo_block(&workload, PerArm::FAMILIES) else { return };
            for (index, arm) in Arm::BOTH.into_iter().enumerate() {
                let times = times_of(&client[index]);
                assert_eq!((times.count + times.lost, client[index].0), (counted, arm));
                let ends = client[index].1.endpoints.expect("read from the socket");
                let family = *PerArm::FAMILIES.get(arm);
                assert_eq!((ends.domain, ends.peer.ip()), (family, family.loopback()));
                assert_eq!((server[index].0, server[index].1.endpoints), (arm, None));
            }
        }
    }
}

/// A payload that only IPv6 can carry needs two arms of IPv6.
#[test]
fn the_largest_message_of_a_family() {
    for transport in [Transport::Udp, Transport::Icmp] {
        let workload = echo(transport, 65_527, Wait::Block);
        if let Some([client, _]) = echo_block(&workload, PerArm::null(Family::V6)) {
            assert!(times_of(&client[0]).count > 0);
        }
        let service = Service::new();
        let task = slice(Workload::Echo(workload), PerArm::FAMILIES);
        let (client, server) = service.perform(&task, &service.context(transport));
        for half in [client, server] {
            assert!(matches!(half.unwrap_err(), TrialError::Unsuitable { .. }));
        }
    }
    let large = Echo { turns: 2, turn_exchanges: 1, ..echo(Transport::Tcp, 1 << 21, Wait::Block) };
    let [client, _] = echo_block(&large, PerArm::FAMILIES).expect("TCP is always there");
    assert_eq!(times_of(&client[1]).count, 2);
}

#[test]
fn answers_of_another_size() {
    let cases =
        [(Transport::Tcp, 64, 40_000), (Transport::Tcp, 40_000, 64), (Transport::Udp, 30_000, 20)];
    for (transport, request, answer) in cases {
        for outstanding in [1, 5] {
            let one = echo(transport, request, Wait::Block);
            let workload = Echo { response_bytes: Some(answer), outstanding, ..one };
            let [client, _] = echo_block(&workload, PerArm::FAMILIES).expect("no ICMP");
            assert!(times_of(&client[0]).count > 0, "{transport:?} {request} {answer}");
        }
    }
    let one = echo(Transport::Udp, 64, Wait::Block);
    let larger = Echo { response_bytes: Some(65), ..one };
    let service = Service::new();
    let task = slice(Workload::Echo(larger), PerArm::FAMILIES);
    let (client, server) = service.perform(&task, &service.context(Transport::Udp));
    assert!(client.is_err() && server.is_err(), "no server sends more than it was sent");
}

/// More on the way than all buffers hold: neither end may wait for the other for ever.
#[test]
fn requests_outstanding() {
    for wait in [Wait::Block, Wait::Yield, Wait::Spin] {
        for (transport, bytes, outstanding) in
            [(Transport::Tcp, 64, 4), (Transport::Tcp, 1 << 19, 16), (Transport::Udp, 64, 4)]
        {
            let one = echo(transport, bytes, wait);
            let workload = Echo { outstanding, turns: 2, turn_exchanges: 20, ..one };
            let [client, _] = echo_block(&workload, PerArm::FAMILIES).expect("no ICMP");
            for report in &client {
                let times = times_of(report);
                assert_eq!(times.count + times.lost, 40);
                assert_eq!(times.turns_ns.len(), 2);
            }
        }
    }
}

#[test]
fn a_batch_has_one_time_for_each_turn() {
    for transport in [Transport::Tcp, Transport::Udp] {
        let one = echo(transport, 64, Wait::Yield);
        let workload = Echo { timing: Timing::Batch, ..one };
        let [client, _] = echo_block(&workload, PerArm::FAMILIES).expect("no ICMP");
        for report in &client {
            let times = times_of(report);
            assert_eq!(times.exchanges_each, workload.turn_exchanges);
            assert!(times.count <= 5 && (times.count == 5 || times.lost > 0));
        }
    }
}

#[test]
fn echo_in_null_blocks_uses_one_family_for_both_arms() {
    for family in Family::BOTH {
        for transport in [Transport::Tcp, Transport::Udp] {
            assert_echoed(transport, 64, Wait::Block, PerArm::null(family));
        }
    }
}

#[test]
fn connections_leave_no_time_wait_behind() {
    let service = Service::new();
    for family in Family::BOTH {
        let task = trial(Workload::Connect(Connect { count: 20, ..Connect::default() }), family);
        // Repeating a task repeats its source ports: had the first run left TIME_WAIT behind, its
        // ports would be in use and others would be drawn.
        let ports = [(); 2].map(|()| {
            let (client, server) = service.perform(&task, &service.context(Transport::Tcp));
            let (client, server) = (client.unwrap(), server.unwrap());
            assert_proved(family, &client[0].1, &server[0].1, &task);
            let Measured::Connections(all) = &client[0].1.measured else { panic!() };
            assert_eq!((all.connect.count, all.socket.count, all.connect.lost), (20, 20, 0));
            assert_eq!(all.first_byte, None);
            assert!(values_of(&task, &client, &server)[0][&Metric::Connect] > 0.0);
            client[0].1.endpoints.expect("read").local.port()
        });
        assert_eq!(ports[0], ports[1]);
    }
}

/// One trial of connecting, and what the client saw.
fn connected(service: &Service, workload: Connect, family: Family) -> Connections {
    let count = u64::from(workload.count);
    let task = trial(Workload::Connect(workload), family);
    let (client, server) = service.perform(&task, &service.context(Transport::Tcp));
    let (client, server) = (client.unwrap(), server.unwrap());
    assert_proved(family, &client[0].1, &server[0].1, &task);
    assert_eq!(times_of(&server[0]).count, count - 1, "times between connections");
    for value in values_of(&task, &client, &server)[0].values() {
        assert!(*value > 0.0);
    }
    match client.into_iter().next().expect("one arm").1.measured {
        Measured::Connections(all) => *all,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_first_byte_comes_after_the_connection() {
    let service = Service::new();
    for family in Family::BOTH {
        let purpose = Purpose::FirstByte;
        let workload = Connect { count: 10, purpose, ..Connect::default() };
        let all = connected(&service, workload, family);
        let first_byte = all.first_byte.expect("asked for");
        assert_eq!((first_byte.count, all.connect.count, all.connect.lost), (10, 10, 0));
        assert!(first_byte.min_ns > all.connect.min_ns);
    }
}

#[test]
fn connections_per_second() {
    let service = Service::new();
    for family in Family::BOTH {
        for concurrent in [1, 7, 64] {
            let purpose = Purpose::Rate;
            let workload = Connect { count: 100, purpose, concurrent };
            let all = connected(&service, workload, family);
            assert_eq!((all.connect.count, all.connect.lost, all.memory), (100, 0, None));
        }
    }
}

/// Far more than one thread each, or the soft limit of files, would allow.
#[test]
fn many_connections_are_held_open() {
    let service = Service::new();
    for family in Family::BOTH {
        let (purpose, concurrent) = (Purpose::Hold, 64);
        let workload = Connect { count: 1_500, purpose, concurrent };
        let all = connected(&service, workload, family);
        assert_eq!((all.connect.count, all.connect.lost), (1_500, 0));
        assert_eq!(all.memory.expect("some of it is always told").connections, 1_500);
    }
}

fn udp_bulk(rate_bps: Option<u64>) -> UdpBulk {
    UdpBulk {
        payload_bytes: 1000,
        rate_bps,
        duration_ns: 200 * MS,
        warmup_ns: 50 * MS,
        ..UdpBulk::default()
    }
}

#[test]
fn paced_datagrams_are_as_many_as_planned() {
    let service = Service::new();
    for family in Family::BOTH {
        // 8 Mbit/s of 8000 bits each: 1000 a second, 200 in all.
        let task = trial(Workload::UdpBulk(udp_bulk(Some(8_000_000))), family);
        let (client, server) = service.perform(&task, &service.context(Transport::Udp));
        let (client, server) = (client.unwrap(), server.unwrap());
        assert_proved(family, &client[0].1, &server[0].1, &task);
        let Measured::Sent(sent) = &client[0].1.measured else { panic!() };
        let skipped = held_up(&client[0].1);
        assert_eq!(sent.packets + skipped, 200);
        let Measured::Received(received) = &server[0].1.measured else { panic!() };
        assert_eq!((received.packets, received.duplicates), (sent.packets, 0));
        assert_eq!(received.bytes, sent.bytes);
        assert_eq!(values_of(&task, &client, &server)[0][&Metric::Loss], 0.0);
    }
}

/// Datagrams that a loaded machine kept the sender from sending in time.
fn held_up(sender: &EndReport) -> u64 {
    let words = sender.unavailable.iter().find(|w| w.contains("datagrams in time"));
    words.map_or(0, |w| w.split(' ').next().and_then(|n| n.parse().ok()).expect("starts so"))
}

#[test]
fn datagrams_at_full_speed_add_up() {
    let service = Service::new();
    for family in Family::BOTH {
        let task = trial(Workload::UdpBulk(udp_bulk(None)), family);
        let (client, server) = service.perform(&task, &service.context(Transport::Udp));
        let (client, server) = (client.unwrap(), server.unwrap());
        let Measured::Sent(sent) = &client[0].1.measured else { panic!() };
        let Measured::Received(received) = &server[0].1.measured else { panic!() };
        assert!(received.packets <= sent.packets && received.packets > 0);
        assert_eq!(received.bytes, received.packets * 1000);
        let values = values_of(&task, &client, &server);
        // What a loaded machine drops at the socket was not lost.
        let missing = sent.packets - received.packets - received.dropped.unwrap_or(0);
        let lost = missing as f64 / sent.packets as f64;
        assert!((values[0][&Metric::Loss] - lost).abs() < 1e-12);
        assert!(values[0][&Metric::Throughput] > 0.0);
    }
}

/// The sockets of the service are as before, whatever the way of waiting was.
#[test]
fn one_server_does_one_task_after_the_other() {
    let service = Service::new();
    let workloads = [
        Workload::Echo(echo(Transport::Udp, 64, Wait::Yield)),
        Workload::Echo(echo(Transport::Udp, 64, Wait::Block)),
    ];
    for workload in workloads {
        let task = slice(workload, PerArm::FAMILIES);
        let (client, server) = service.perform(&task, &service.context(Transport::Udp));
        assert!(client.is_ok() && server.is_ok(), "{client:?} {server:?}");
        let task = trial(Workload::UdpBulk(udp_bulk(Some(8_000_000))), Family::V6);
        let (client, server) = service.perform(&task, &service.context(Transport::Udp));
        assert!(client.is_ok() && server.is_ok(), "{client:?} {server:?}");
    }
}

#[test]
fn counters_and_costs_are_reported_where_the_host_has_them() {
    let service = Service::new();
    let task = trial(Workload::TcpBulk(tcp_bulk(Direction::Send)), Family::V6);
    let (client, server) = service.perform(&task, &service.context(Transport::Tcp));
    for (_, end) in client.unwrap().iter().chain(&server.unwrap()) {
        let told = |what: &str| end.unavailable.iter().any(|u| u.contains(what));
        let counted = end.counters.get("Ip6.InReceives").is_some_and(|n| n > 0);
        assert!(counted || told("counters"), "{:?}", end.unavailable);
        assert!(end.user_ns.is_some() || !end.unavailable.is_empty());
    }
}

/// All that a client opens goes from the address that it was given, in its family.
#[test]
fn everything_goes_from_the_address_that_was_asked_for() {
    let here: SocketAddr = "127.0.0.2:0".parse().unwrap();
    if Datagram::bind(here).is_err() {
        return println!("not tested: loopback has one address here");
    }
    let service = Service::new();
    let load = |udp| Load { udp, lead_ns: 0, ..Load::default() };
    let probe = Probe { turns: 2, turn_packets: 5, ..Probe::default() };
    let loaded = |udp| Workload::Probe(Probe { load: Some(load(udp)), ..probe.clone() });
    let paced = UdpLoad { payload_bytes: 100, rate_bps: Some(1_000_000) };
    let received = UdpBulk { direction: Direction::Receive, ..udp_bulk(Some(8_000_000)) };
    let both = |workload| slice(workload, PerArm::FAMILIES);
    let tasks = [
        trial(Workload::TcpBulk(tcp_bulk(Direction::Both)), Family::V4),
        trial(Workload::UdpBulk(udp_bulk(Some(8_000_000))), Family::V4),
        trial(Workload::UdpBulk(received), Family::V4),
        trial(Workload::Connect(Connect { count: 3, ..Connect::default() }), Family::V4),
        both(Workload::Echo(echo(Transport::Tcp, 64, Wait::Block))),
        both(Workload::Echo(echo(Transport::Udp, 64, Wait::Block))),
        both(Workload::Probe(probe.clone())),
        trial(loaded(None), Family::V4),
        trial(loaded(Some(paced)), Family::V4),
    ];
    for task in tasks {
        let context = service.context(task.workload.transport());
        let context = ClientContext { local: PerFamily { v4: Some(here), v6: None }, ..context };
        let (client, server) = service.perform(&task, &context);
        for ((_, client), (_, server)) in client.unwrap().iter().zip(&server.unwrap()) {
            let (near, far) = (client.endpoints.unwrap(), server.endpoints.unwrap());
            assert_eq!(near.local.is_ipv4(), near.local.ip() == here.ip(), "{near:?}");
            assert_eq!(far.peer, near.local);
            let all = client.connections.iter().map(|one| one.endpoints.local.ip());
            assert!(all.into_iter().all(|ip| !ip.is_ipv4() || ip == here.ip()));
        }
    }
    // One of another family, or of nobody, is said at once.
    for wrong in ["[::1]:0", "192.0.2.1:0"] {
        let task = trial(Workload::UdpBulk(udp_bulk(Some(8_000_000))), Family::V4);
        let local = PerFamily { v4: wrong.parse().ok(), v6: None };
        let context = ClientContext { local, ..service.context(Transport::Udp) };
        let (client, _) = service.perform(&task, &context);
        assert!(matches!(client, Err(TrialError::Socket { .. })), "{client:?}");
    }
}

#[test]
fn a_missing_server_address_is_named() {
    let service = Service::new();
    let task = trial(Workload::TcpBulk(tcp_bulk(Direction::Send)), Family::V6);
    let context = service.context(Transport::Tcp);
    let server = PerFamily { v6: None, ..context.server };
    let (client, server) = service.perform(&task, &ClientContext { server, ..context });
    let error = client.unwrap_err();
    assert_eq!(error.to_string(), "no IPv6 address of the server for the task");
    let error = server.unwrap_err();
    assert!(matches!(error, TrialError::Peer { family: Family::V6, .. }), "{error}");
}

#[test]
fn nobody_listening_is_an_error_that_names_the_address() {
    let service = Service::new();
    let nobody = Service::new();
    let gone = nobody.context(Transport::Tcp);
    drop(nobody);
    for family in Family::BOTH {
        let task = trial(Workload::Connect(Connect { count: 5, ..Connect::default() }), family);
        let (client, server) = service.perform(&task, &gone);
        let address = gone.server.get(family).expect("given").to_string();
        let error = client.unwrap_err().to_string();
        assert!(error.contains(&address), "{error}");
        assert!(server.is_err());
    }
}

#[test]
fn tasks_that_cannot_be_done_are_refused_at_both_ends() {
    let service = Service::new();
    let mut tasks = vec![
        trial(Workload::Echo(echo(Transport::Tcp, 64, Wait::Block)), Family::V4),
        slice(Workload::TcpBulk(tcp_bulk(Direction::Send)), PerArm::FAMILIES),
        slice(Workload::Echo(echo(Transport::Tcp, 19, Wait::Block)), PerArm::FAMILIES),
        slice(Workload::Echo(echo(Transport::Udp, 65_508, Wait::Block)), PerArm::FAMILIES),
    ];
    let mut silent = tcp_bulk(Direction::Send);
    silent.write_bytes = 0;
    tasks.push(trial(Workload::TcpBulk(silent), Family::V4));
    let mut short = udp_bulk(None);
    short.payload_bytes = 19;
    tasks.push(trial(Workload::UdpBulk(short), Family::V4));
    for task in tasks {
        let (client, server) = service.perform(&task, &service.context(Transport::Tcp));
        for half in [client, server] {
            assert!(matches!(half.unwrap_err(), TrialError::Unsuitable { number: 1, .. }));
        }
    }
}

/// Runs a UDP bulk trial and returns what was sent and what came.
fn datagrams(bulk: &UdpBulk, family: Family) -> (Sent, Received) {
    let service = Service::new();
    let task = trial(Workload::UdpBulk(bulk.clone()), family);
    let (client, server) = service.perform(&task, &service.context(Transport::Udp));
    let (client, server) = (client.unwrap(), server.unwrap());
    assert_proved(family, &client[0].1, &server[0].1, &task);
    match (&client[0].1.measured, &server[0].1.measured) {
        (Measured::Sent(sent), Measured::Received(received))
        | (Measured::Received(received), Measured::Sent(sent)) => (sent.clone(), received.clone()),
        other => panic!("{other:?}"),
    }
}

/// What was sent came, or is known to have been dropped by this host.
fn assert_accounted(sent: &Sent, received: &Received) {
    match received.dropped {
        Some(dropped) => assert_eq!(received.packets + dropped, sent.packets),
        None => assert!(received.packets <= sent.packets),
    }
    assert_eq!((received.duplicates, received.reordered), (0, 0));
}

#[test]
fn datagrams_go_both_ways_in_all_laws_and_sizes() {
    let ms = 1_000_000;
    let laws = [
        (Law::Constant, Sizes::Fixed),
        (Law::Periodic, Sizes::Random { least_bytes: 20 }),
        (Law::Poisson, Sizes::Stepped { least_bytes: 100, step_bytes: 300 }),
        (Law::OnOff { on_ns: 5 * ms, off_ns: 5 * ms }, Sizes::Fixed),
        (Law::Frames { frame_bytes: 5_000, every_ns: 10 * ms }, Sizes::Fixed),
    ];
    for (law, sizes) in laws {
        for direction in [Direction::Send, Direction::Receive] {
            for family in Family::BOTH {
                let framed = matches!(law, Law::Frames { .. });
                let bulk = UdpBulk {
                    payload_bytes: 1_000,
                    rate_bps: (!framed).then_some(4_000_000),
                    duration_ns: 60 * ms,
                    warmup_ns: 10 * ms,
                    direction,
                    law,
                    sizes,
                    ..UdpBulk::default()
                };
                let (sent, received) = datagrams(&bulk, family);
                assert!(sent.packets > 0, "{bulk:?}");
                assert_accounted(&sent, &received);
                if received.packets == sent.packets {
                    assert_eq!(received.bytes, sent.bytes, "{bulk:?}");
                }
                if framed && sent.skipped == 0 {
                    assert_eq!((sent.packets, sent.bytes), (30, 30_000));
                }
            }
        }
    }
}

#[test]
fn a_number_of_datagrams_in_batches_and_with_offload() {
    for family in Family::BOTH {
        for (batch, offload, payload_bytes) in [
            (1, false, 64),
            (64, false, 1_400),
            (64, true, 64),
            (1024, true, 1_400),
            (8, true, 4_000),
        ] {
            for direction in [Direction::Send, Direction::Receive] {
                let bulk = UdpBulk {
                    payload_bytes,
                    batch,
                    offload,
                    direction,
                    packets: Some(777),
                    duration_ns: 10_000_000_000,
                    ..UdpBulk::default()
                };
                let (sent, received) = datagrams(&bulk, family);
                assert_eq!(sent.packets, 777, "{bulk:?}");
                assert_eq!(sent.bytes, 777 * u64::from(payload_bytes));
                assert_accounted(&sent, &received);
                assert_eq!(received.bytes, received.packets * u64::from(payload_bytes));
            }
        }
    }
}

/// The size of datagrams is what was asked for in both families, and not derived from the segment
/// size of a connection (as in iperf3, where it differs by family) nor a default for each (as in
/// iperf); and UDP over IPv6 is there like UDP over IPv4 (which ntttcp-for-linux lacks).
#[test]
fn the_payload_is_the_same_in_both_families() {
    let bulk = UdpBulk { packets: Some(50), rate_bps: Some(80_000_000), ..UdpBulk::default() };
    let both = Family::BOTH.map(|family| datagrams(&bulk, family).0);
    assert_eq!(both[0].bytes, 50 * 1_408);
    assert_eq!((both[0].packets, both[0].bytes), (both[1].packets, both[1].bytes));
}
