//! Programs and services that are told, on loopback.

use super::*;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, TcpListener};
use v6gap_judge::changes::{Moment, Outage};

fn outage(path: &str) -> Event {
    let since = Moment { visit: 3, unix_ns: 5 };
    let outage = Outage { since, visits: 1, over: false };
    let what = What::Outage { family: Family::V6, outage };
    Event { path: path.to_owned(), at_unix_ns: 7, what }
}

/// One that tells what an event is called, with hardly a pause.
fn teller(to: Hearer) -> Teller {
    let document = |event: &Event| format!("{{\"path\":\"{}\"}}", event.path);
    Teller::with_pause(OnChange { to, document }, 1000).unwrap()
}

/// Waits for what becomes of one event.
fn became(teller: &mut Teller) -> Notified {
    teller.came.recv().unwrap()
}

/// A service that answers with these, one connection after the other, and gives what it was sent.
fn service(address: IpAddr, answers: &'static [u16]) -> (u16, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = move |status: &u16| {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(&stream);
        let (mut head, mut line, mut bytes) = (String::new(), String::new(), 0);
        while reader.read_line(&mut line).unwrap() > 2 {
            if let Some((name, value)) = line.split_once(": ")
                && name.eq_ignore_ascii_case("content-length")
            {
                bytes = value.trim().parse().unwrap();
            }
            head += &std::mem::take(&mut line);
        }
        let mut body = vec![0; bytes];
        reader.read_exact(&mut body).unwrap();
        let text = format!("HTTP/1.1 {status} so\r\ncontent-length: 0\r\n\r\n");
        (&stream).write_all(text.as_bytes()).unwrap();
        head + &String::from_utf8(body).unwrap()
    };
    (port, std::thread::spawn(move || answers.iter().map(answer).collect()))
}

#[test]
fn who_is_told_is_a_url_or_a_program() {
    let service = Hearer::parse("http://[::1]:8080/hook?x=1").unwrap();
    let Hearer::Service(site) = &service else { panic!("{service:?}") };
    assert_eq!((site.host.as_str(), site.port), ("::1", 8080));
    let mail = Hearer::parse(" mail -s  changed ops@example.net").unwrap();
    let words = ["-s", "changed", "ops@example.net"].map(str::to_owned).to_vec();
    assert_eq!(mail, Hearer::Program(PathBuf::from("mail"), words));
    for wrong in ["", "  ", "ftp://example.net/", "http://me:secret@example.net/"] {
        assert!(Hearer::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_service_that_fails_twice_is_told_the_third_time() {
    for family in Family::BOTH {
        let (port, sent) = service(family.loopback(), &[500, 503, 204]);
        let at = SocketAddr::new(family.loopback(), port);
        let mut teller = teller(Hearer::parse(&format!("http://{at}/hook")).unwrap());
        teller.tell(&outage("lab-b"));
        let Notified { path, about, tries, why, .. } = became(&mut teller);
        assert_eq!((path.as_str(), about, tries, why), ("lab-b", About::Outage, 3, None));
        let sent = sent.join().unwrap();
        assert_eq!(sent.len(), 3);
        for request in sent {
            assert!(request.starts_with("POST /hook HTTP/1.1\r\n"), "{request}");
            assert!(request.to_lowercase().contains("content-type: application/json\r\n"));
            assert!(request.ends_with("{\"path\":\"lab-b\"}"), "{request}");
        }
        assert!(teller.end().is_empty());
    }
}

#[test]
fn who_never_hears_is_given_up() {
    let port = TcpListener::bind((Family::V4.loopback(), 0)).unwrap().local_addr().unwrap().port();
    let mut teller = teller(Hearer::parse(&format!("http://127.0.0.1:{port}/s3cret")).unwrap());
    teller.tell(&outage("lab-b"));
    let Notified { tries, why, .. } = became(&mut teller);
    assert_eq!(tries, TRIES_MAX);
    let why = why.unwrap();
    assert!(why.starts_with(&format!("http://127.0.0.1:{port}: ")), "{why}");
    assert!(!why.contains("s3cret"), "{why}");
    teller.tell(&outage("nas"));
    // At the end each is tried once more, and none is told twice.
    let rest = teller.end();
    assert_eq!(rest.len(), 1);
    assert!(rest[0].path == "nas" && rest[0].why.is_some(), "{rest:?}");
}

/// A resolver that tells nothing before the test is over.
#[test]
fn a_name_that_nobody_looks_up_in_time_is_given_up_in_time() {
    let site = Site::parse("http://hooks.example.net/s3cret").unwrap();
    let (over, waits) = channel::<()>();
    let look_up = move |_: &Site| {
        let _ = waits.recv();
        resolve("::1", 80, None, None)
    };
    let why = hand_over(&site, "{}", Duration::from_millis(1), look_up).unwrap_err();
    assert_eq!(why, "http://hooks.example.net: looking up its name took too long");
    drop(over);
}

#[test]
fn a_program_reads_the_event_and_its_end_says_whether_it_did() {
    let to = |words: [&str; 2]| {
        Hearer::Program(PathBuf::from("/bin/sh"), words.map(str::to_owned).to_vec())
    };
    let mut heard = teller(to(["-c", "read event; test \"$event\" = '{\"path\":\"lab-b\"}'"]));
    heard.tell(&outage("lab-b"));
    assert_eq!((became(&mut heard).why, heard.heard().len()), (None, 0));
    heard.tell(&outage("nas"));
    let Notified { tries, why, .. } = became(&mut heard);
    assert_eq!((tries, why.as_deref()), (TRIES_MAX, Some("/bin/sh ended with 1")));
}

/// Nobody takes anything out of line while the first event waits for its answer.
#[test]
fn what_does_not_fit_in_line_is_lost_and_delays_nothing() {
    let listener = TcpListener::bind((Family::V6.loopback(), 0)).unwrap();
    let at = listener.local_addr().unwrap();
    let mut teller = teller(Hearer::parse(&format!("http://{at}/")).unwrap());
    teller.tell(&outage("first"));
    let (stream, _) = listener.accept().unwrap();
    for _ in 0..WAITING_MAX + 3 {
        teller.tell(&outage("other"));
    }
    let lost = teller.heard();
    assert_eq!(lost.len(), 3);
    assert!(lost.iter().all(|one| one.tries == 0 && one.why.is_some()), "{lost:?}");
    drop((stream, listener));
    let rest = teller.end();
    assert_eq!(rest.len(), WAITING_MAX + 1);
    assert!(rest.iter().all(|one| one.why.is_some()), "{rest:?}");
}
