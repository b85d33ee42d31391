//! What is written is read back by a reader that shares nothing with the writer.

#[path = "../../tests/common/pcapng.rs"]
mod pcapng;

use super::file::{File, Interface};
use super::*;
use pcapng::read;
use std::sync::{Arc, Mutex};

/// Keeps what is written, and is full at some point.
#[derive(Clone)]
struct Sink {
    bytes: Arc<Mutex<Vec<u8>>>,
    room: usize,
}

impl Sink {
    fn new(room: usize) -> Self {
        Sink { bytes: Arc::default(), room }
    }

    fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = self.bytes.lock().unwrap();
        if kept.len() + bytes.len() > self.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        kept.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn setup(limit_bytes: u64) -> Setup {
    Setup {
        limit_bytes,
        snap_bytes: 128,
        filter: "none".to_owned(),
        program: "v6gap 1".to_owned(),
        system: "Linux".to_owned(),
        names: vec![
            ("192.0.2.1".parse().unwrap(), "client".to_owned()),
            ("2001:db8::7".parse().unwrap(), "server".to_owned()),
        ],
        processor: None,
    }
}

fn place(interface: &str, link: Link) -> Interface {
    Interface { node: "router".to_owned(), interface: interface.to_owned(), link }
}

fn file(sink: &Sink, limit_bytes: u64) -> File {
    let places = vec![place("link1", Link::Ethernet), place("tun0", Link::Ip)];
    File::new(Box::new(sink.clone()), places, &setup(limit_bytes), limit_bytes)
}

fn seen(bytes: &[u8], length: usize, at_unix_ns: u64, outgoing: bool) -> Frame<'_> {
    Frame { bytes, tag: None, length, at_unix_ns, outgoing }
}

/// 2026-11-22 in ns, so that both halves of a stamp are used.
const NOW: u64 = 1_795_305_600_123_456_789;

#[test]
fn what_is_written_is_read_again() {
    let sink = Sink::new(1 << 20);
    let mut file = file(&sink, 1 << 20);
    let frame: Vec<u8> = (0..101).collect();
    file.begin("trial 0, é");
    assert!(file.frame(0, &seen(&frame, 1514, NOW, true)));
    assert!(file.frame(1, &seen(&frame[..40], 40, NOW + 1, false)));
    let tagged = Frame { tag: Some([0x81, 0, 0, 7]), ..seen(&frame, 101, NOW + 2, false) };
    assert!(file.frame(0, &tagged));
    let count = |frames| {
        let mut count = Tapped { dropped: 3, ..Tapped::default() };
        (0..frames).for_each(|_| count.sent.other.add(60));
        count
    };
    file.end(&[count(2), count(1)], NOW + 3);
    file.begin("trial 1");
    file.end(&[count(0), count(0)], NOW + 4);
    assert_eq!(file.trouble(), None);

    let sections = read(&sink.bytes());
    assert_eq!(sections.len(), 2);
    assert_eq!(
        sections.iter().map(|s| s.comment.as_str()).collect::<Vec<_>>(),
        ["trial 0, é", "trial 1"]
    );
    let first = &sections[0];
    assert_eq!(first.application, "v6gap 1");
    let names: Vec<(&str, u16)> =
        first.interfaces.iter().map(|i| (i.name.as_str(), i.link)).collect();
    assert_eq!(names, [("router:link1", 1), ("router:tun0", 101)]);
    for interface in &first.interfaces {
        assert_eq!((interface.resolution, interface.snap), (9, 128));
        assert_eq!((interface.filter.as_str(), interface.system.as_str()), ("none", "Linux"));
    }
    assert_eq!(first.names[0], (vec![192, 0, 2, 1], "client".to_owned()));
    assert_eq!((first.names[1].0.len(), first.names[1].1.as_str()), (16, "server"));
    let packets = &first.packets;
    assert_eq!((packets[0].ticks, packets[0].length, packets[0].flags), (NOW, 1514, 2));
    assert_eq!(packets[0].bytes, frame);
    assert_eq!((packets[1].interface, packets[1].flags), (1, 1));
    assert_eq!(packets[1].bytes, frame[..40]);
    let whole = [&frame[..12], &[0x81, 0, 0, 7], &frame[12..]].concat();
    assert_eq!((&packets[2].bytes, packets[2].length), (&whole, 105));
    assert_eq!(first.statistics, [(0, 2, 3), (1, 1, 3)]);
    assert!(sections[1].packets.is_empty());
}

#[test]
fn a_full_file_is_whole_and_says_so_once() {
    let sink = Sink::new(1 << 30);
    let mut file = file(&sink, 2000);
    file.begin("x");
    let frame = [9; 128];
    let written = (0..40).filter(|i| file.frame(0, &seen(&frame, 1514, NOW + i, true))).count();
    file.end(&[Tapped::default(), Tapped::default()], NOW);
    assert!((5..14).contains(&written), "{written}");
    let told = file.trouble().expect("told");
    assert!(told.contains("only counted"), "{told}");
    file.begin("y");
    assert!(!file.frame(0, &seen(&frame, 1514, NOW, true)));
    assert_eq!(file.trouble(), None);
    let bytes = sink.bytes();
    assert!(bytes.len() <= 2000, "{}", bytes.len());
    assert_eq!(read(&bytes)[0].packets.len(), written);
}

#[test]
fn a_full_disk_is_told_and_loses_nothing_else() {
    let sink = Sink::new(700);
    let mut file = file(&sink, 1 << 30);
    file.begin("x");
    let frame = [9; 128];
    for i in 0..20_000 {
        file.frame(0, &seen(&frame, 1514, NOW + i, true));
    }
    file.end(&[Tapped::default()], NOW);
    let told = file.trouble().expect("told");
    assert!(told.contains("cannot be written"), "{told}");
}

#[test]
fn frames_are_counted_by_what_they_are() {
    let mut frame = vec![0; 60];
    frame[12..14].copy_from_slice(&0x86dd_u16.to_be_bytes());
    frame[14 + 6] = 6;
    let mut count = Tapped::default();
    note(&mut count, Link::Ethernet, &seen(&frame, 1514, NOW, true));
    note(&mut count, Link::Ip, &seen(&[0x45; 20], 1500, NOW, false));
    let tagged = Frame { tag: Some([0x81, 0, 0, 7]), ..seen(&frame, 1514, NOW, true) };
    note(&mut count, Link::Ethernet, &tagged);
    assert_eq!((count.sent.packets.v6.frames, count.sent.packets.v6.octets), (2, 1514 + 1518));
    assert_eq!((count.received.packets.v4.frames, count.received.packets.v4.octets), (1, 1500));
    assert_eq!(count.sent.all().frames + count.received.all().frames, 3);
}

/// The thread with real interfaces, where this process may listen: what is sent in a section is in
/// it, what is sent before is not.
#[test]
fn a_section_has_what_was_sent_in_it() {
    use std::net::UdpSocket;
    use v6gap_core::family::Family;
    use v6gap_sys::capture::{Filter, Refused};
    let interface = "lo";
    let address = std::net::SocketAddr::new(Family::V4.loopback(), 0);
    let receiver = UdpSocket::bind(address).unwrap();
    let to = receiver.local_addr().unwrap();
    let filter = Filter::Between { pairs: vec![(to.ip(), to.ip())], port: to.port() };
    let tap = match Tap::open(interface, &filter, 128, 1 << 16) {
        Ok(tap) => tap,
        Err(Refused::NotPermitted | Refused::Unavailable(_)) => return,
        Err(error) => panic!("{error}"),
    };
    let sink = Sink::new(1 << 20);
    let spot = Spot { node: "here".to_owned(), taps: vec![tap], sink: Box::new(sink.clone()) };
    let mut recorder = Recorder::start(vec![spot], setup(1 << 20)).unwrap();
    let sender = UdpSocket::bind(address).unwrap();
    let send = |byte: u8| {
        sender.send_to(&[byte; 30], to).unwrap();
        assert_eq!(receiver.recv(&mut [0; 40]).unwrap(), 30);
    };
    send(1);
    recorder.begin("first");
    send(2);
    send(3);
    let captured = recorder.end();
    send(4);
    drop(recorder);
    assert_eq!(captured.troubles, Vec::<String>::new());
    let frames = captured.taps[0].received.packets.v4;
    assert_eq!((frames.frames, frames.octets), (2, 2 * (14 + 20 + 8 + 30)));
    let sections = read(&sink.bytes());
    let last: Vec<u8> = sections[0].packets.iter().map(|p| p.bytes[71]).collect();
    assert_eq!((sections.len(), last), (1, vec![2, 3]));
}
