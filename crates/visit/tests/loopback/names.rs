//! Questions to a name server on loopback whose answers do not fit a datagram.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use v6gap_core::budget::{Budget, Use};
use v6gap_core::family::{Family, PerFamily};
use v6gap_visit::{Lookup, Place, Record, Site, Stranger};

/// The answer to a question: one address, or none where it is cut.
fn answer(mut question: Vec<u8>, is_cut: bool) -> Vec<u8> {
    question[2] |= if is_cut { 0x82 } else { 0x80 };
    if !is_cut {
        question[7] = 1;
        question.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]);
    }
    question
}

/// A name server that answers one question, which it cuts over UDP, and whole over TCP unless it
/// refuses that.
fn server(has_tcp: bool) -> SocketAddr {
    let (udp, tcp) = loop {
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()) {
            break (udp, tcp);
        }
    };
    let (at, tcp) = (udp.local_addr().unwrap(), has_tcp.then_some(tcp));
    std::thread::spawn(move || {
        let mut question = [0; 512];
        let (length, from) = udp.recv_from(&mut question).unwrap();
        udp.send_to(&answer(question[..length].to_vec(), true), from).unwrap();
        let Some(tcp) = tcp else { return };
        let (mut stream, _) = tcp.accept().unwrap();
        let mut length = [0; 2];
        stream.read_exact(&mut length).unwrap();
        let mut question = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut question).unwrap();
        let whole = answer(question, false);
        let length = (whole.len() as u16).to_be_bytes();
        stream.write_all(&[&length[..], &whole].concat()).unwrap();
    });
    at
}

/// A host that is looked up there.
fn stranger(server: SocketAddr) -> Stranger {
    let place = Place {
        site: Site::parse("host.example").unwrap(),
        addresses: Vec::new(),
        local: PerFamily::default(),
        resolvers: vec![server],
        agent: String::new(),
        silence_ns: 5_000_000_000,
        processor: None,
    };
    Stranger::new(place, Budget::default())
}

#[test]
fn a_question_over_tcp_is_counted() {
    let mut stranger = stranger(server(true));
    let told = stranger.address_record(0, Family::V4).unwrap().unwrap();
    assert_eq!(told.addresses, [IpAddr::from([192, 0, 2, 7])]);
    assert!(told.over_tcp_ns.is_some(), "{told:?}");
    assert_eq!(stranger.budget.used(Use::Query), 2);
}

/// A name server that refuses TCP has answered all the same.
#[test]
fn a_cut_answer_without_its_whole_is_one() {
    let told = stranger(server(false)).address_record(0, Family::V4).unwrap().unwrap();
    assert!(told.cut && told.over_tcp_ns.is_none() && told.addresses.is_empty(), "{told:?}");
    let (server, name, record) = (server(false), "host.example", Record::A);
    let lookup = Lookup { server, local: None, name, record, id: 7, timeout_ns: 5_000_000_000 };
    let why = lookup.ask().unwrap_err();
    assert!(why.to_string().contains("cut (TC), and over TCP there is none"), "{why}");
}
