//! What a page may not do and what a connection may not cost: no file is read by name, a request
//! has an end, and there are only so many connections at a time.

use crate::web::Web;
use serde_json::json;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A file of the folder that it was started in, named like a plan or a world.
#[test]
fn what_a_page_names_is_no_file() {
    let web = Web::known();
    for name in ["secretfile", "sizes", "cable"] {
        web.sandbox.write(name, "host = 1\npassword = \"hunter2\"\n");
    }
    let forms = [
        json!({"place": {"lab": ""}, "plan": "secretfile"}),
        json!({"place": {"lab": "secretfile"}, "options": {"quick": "true"}}),
        json!({"place": {"lab": "secretfile"}, "plan": "sizes"}),
    ];
    for form in forms {
        let answer = web.post("/estimate", &form);
        assert_eq!(answer.status, 400, "{form}: {answer:?}");
        assert!(answer.body.contains("is called"), "{form}: {answer:?}");
        assert!(!answer.body.contains("hunter2"), "{form}: {answer:?}");
        assert_eq!(web.post("/runs", &form).status, 400);
    }
    // What comes with the program is found all the same.
    let told = web.post("/estimate", &json!({"place": {"lab": "cable"}, "plan": "sizes"}));
    assert_eq!(told.status, 200, "{told:?}");
    assert_eq!(told.json()["command"], "v6gap plan run sizes --lab=cable");
    web.sandbox.run("plan check preset:sizes").ended(0);
    web.sandbox.run("plan check sizes").ended(2);
}

/// What a browser asks for by itself has no header: it carries a ticket, for that address alone.
#[test]
fn a_ticket_opens_one_address() {
    let web = Web::known();
    let path = "/runs/7k2f9q/report.html";
    let told = web.post("/tickets", &json!({ "path": path })).json();
    let ticket = told["ticket"].as_str().unwrap();
    let host = web.host();
    let asked = |method: &str, address: String| {
        let head = format!("{method} /api/v1{address} HTTP/1.1\r\nHost: {host}\r\n");
        let origin = format!("Origin: http://{host}\r\nConnection: close\r\n\r\n");
        web.raw((head + &origin).as_bytes()).status
    };
    assert_eq!(asked("GET", path.to_owned()), 403);
    assert_eq!(asked("GET", format!("{path}?ticket={ticket}")), 200);
    assert_eq!(asked("GET", format!("{path}?ticket={ticket}")), 200);
    assert_eq!(asked("GET", format!("{path}?x=1&ticket={ticket}")), 403);
    assert_eq!(asked("GET", format!("/runs?ticket={ticket}")), 403);
    assert_eq!(asked("GET", format!("{path}?ticket={ticket}0")), 403);
    assert_eq!(asked("POST", format!("{path}?ticket={ticket}")), 403);
    let told = web.post("/tickets", &json!({ "path": "/runs/7k2f9q" })).json();
    let ticket = told["ticket"].as_str().unwrap();
    assert_eq!(asked("DELETE", format!("/runs/7k2f9q?ticket={ticket}")), 403);
}

/// Seconds until the server ends a connection on which it was told so much, and what it said.
fn ended_after(web: &Web, told: &str) -> (f64, String) {
    let mut stream = TcpStream::connect(web.host()).unwrap();
    let start = Instant::now();
    stream.write_all(told.as_bytes()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut said = Vec::new();
    // Reset is an end, too.
    if let Err(error) = stream.read_to_end(&mut said) {
        assert_ne!(error.kind(), ErrorKind::WouldBlock, "open after 60 s");
    }
    (start.elapsed().as_secs_f64(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_request_has_to_come_to_its_end() {
    let web = Web::known();
    let host = web.host();
    let head = format!("GET / HTTP/1.1\r\nHost: {host}\r\n");
    let body = format!(
        "POST /api/v1/session HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n\
         Connection: close\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{{\"key\""
    );
    std::thread::scope(|scope| {
        let told = [("silent", ""), ("head", &head), ("body", &body)];
        let ends = told.map(|(name, told)| (name, scope.spawn(|| ended_after(&web, told))));
        for (name, ended) in ends {
            let (seconds, said) = ended.join().unwrap();
            assert!(seconds > 9.0 && seconds < 20.0, "{name}: {seconds} {said}");
            let slow = said.starts_with("HTTP/1.1 408 ") && said.contains("too slow");
            assert!(name != "body" || slow, "{said}");
        }
    });
}

#[test]
fn there_are_only_so_many_connections() {
    let web = Web::known();
    let host = web.host();
    let full =
        || -> Vec<TcpStream> { (0..64).map(|_| TcpStream::connect(&host).unwrap()).collect() };
    let open = full();
    let mut late = TcpStream::connect(&host).unwrap();
    let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    late.write_all(request.as_bytes()).unwrap();
    late.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut byte = [0];
    let waits = late.read(&mut byte).map_err(|error| error.kind());
    assert_eq!(waits, Err(ErrorKind::WouldBlock), "it did not wait for a place");
    drop(open);
    late.set_read_timeout(Some(Duration::from_secs(9))).unwrap();
    let mut said = String::new();
    late.read_to_string(&mut said).unwrap();
    assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
}
