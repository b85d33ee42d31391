//! What a host is asked for, counted on its own interface by a program that knows nothing of ours:
//! never more than is allowed, and as many connections as are said.

use super::name_servers::{BOTH, DNS, bind9};
use super::sites::{AT, NAME, PORT, caddy, certified, nginx_of};
use super::support::{Home, figure, text, times, words};
use super::two_hosts::Lab;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Output, Stdio};

/// Sees every frame of an interface: connections of TCP and QUIC by their ports, echoes of ICMP,
/// questions of DNS, and bytes of payload that leave. What it saw is its last line, once its input
/// ends.
const COUNT: &str = r#"
import json, select, socket, struct, sys
seen = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
seen.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
seen.bind((sys.argv[1], 0))
print("ready", flush=True)
connections, echoes, queries, sent = set(), 0, 0, 0
while True:
    ready, _, _ = select.select([seen, sys.stdin], [], [])
    if seen not in ready:
        break
    frame, where = seen.recvfrom(65536)
    outgoing = where[2] == 4
    kind = struct.unpack("!H", frame[12:14])[0]
    if kind == 0x0800:
        protocol, source = frame[23], frame[26:30]
        body = frame[14 + (frame[14] & 15) * 4:14 + struct.unpack("!H", frame[16:18])[0]]
    elif kind == 0x86dd:
        protocol, source = frame[20], frame[22:38]
        body = frame[54:54 + struct.unpack("!H", frame[18:20])[0]]
    else:
        continue
    if protocol == 6:
        flags, header = body[13], (body[12] >> 4) * 4
        if outgoing:
            sent += len(body) - header
        elif flags & 0x12 == 2:
            connections.add((source, body[:2]))
    elif protocol == 17:
        if outgoing:
            sent += len(body) - 8
        elif body[2:4] == b"\0\x35":
            queries += 1
        elif len(body) > 1200 and body[9:13] == b"\0\0\0\1":
            connections.add((source, body[:2]))
        elif len(body) > 1200 and body[9:13] == b"\x1a\x2a\x3a\x4a":
            echoes += 1
    elif protocol in (1, 58) and not outgoing and body[0] in (8, 128):
        echoes += 1
counted = {"connections": len(connections), "echoes": echoes, "queries": queries, "sent": sent}
print(json.dumps(counted))
"#;

/// Counts at the server until asked.
struct Counter(Child);

impl Counter {
    fn start(lab: &Lab, home: &Home) -> Self {
        let mut command = lab.exec(home, "server");
        command.args(["python3", "-c", COUNT, "link2"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::with_capacity(1, child.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
        assert_eq!(first, "ready\n");
        Counter(child)
    }

    fn end(mut self) -> Value {
        drop(self.0.stdin.take());
        let mut told = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut told).unwrap();
        self.0.wait().unwrap();
        serde_json::from_str(&told).unwrap_or_else(|why| panic!("{why}: {told}"))
    }
}

/// A run to a host that is not said to be one's own: the page, the address of IPv6, and options.
type Run = (&'static str, &'static str, &'static str);

/// An address of the router, which serves nothing.
const REFUSES: &str = "fd46:2::1";

/// Different ones: by versions, by what is measured, over a redirect, with an IPv6 that is broken,
/// and one that asks for more than is allowed.
const RUNS: [Run; 10] = [
    ("", AT[1], "--measure first-byte --http 2 --pairs 6"),
    ("", AT[1], "--measure first-byte --http 1.1,2 --pairs 8"),
    ("", AT[1], "--http 3 --measure quic --pairs 6"),
    ("", AT[1], "--measure rtt --pairs 6"),
    ("", AT[1], "--measure path"),
    ("", AT[1], "--measure lookup,connect --pairs 8"),
    ("moved", AT[1], "--measure tls --no-path --pairs 6"),
    ("", REFUSES, "--pairs 6"),
    ("", AT[1], "--measure first-byte --http 1.1,2,3 --pairs 24"),
    ("", AT[1], "--measure first-byte --http 2 --pairs 60"),
];

/// What a run says, and what was counted meanwhile.
fn counted(lab: &Lab, home: &Home, (page, six, options): Run) -> (Output, Value) {
    let counter = Counter::start(lab, home);
    let mut probe = lab.command(home, "client");
    let four = AT[0];
    probe.args(["probe", &format!("https://{NAME}:{PORT}/{page}"), "--v4", four, "--v6", six]);
    probe.args(["--resolver", four, "--no-report"]).args(options.split(' '));
    let output = probe.output().unwrap();
    (output, counter.end())
}

/// The number in front of a word, of those that a run says it asked for.
fn asked(said: &str, word: &str) -> Option<u64> {
    let (_, all) = said.split_once("asked of the host in all: ")?;
    let (before, _) = all.lines().next()?.split_once(word)?;
    before.trim_end().rsplit(' ').next()?.parse().ok()
}

pub fn is_kept() {
    let home = Home::new("politeness");
    let lab = Lab::up("polite", &[]);
    let servers = [caddy(&lab, &home), bind9(&lab, &home, DNS, &BOTH, "")];
    for run in &RUNS[..times(2, RUNS.len())] {
        let (output, counted) = counted(&lab, &home, *run);
        let of = |what: &str| counted[what].as_u64().unwrap();
        let said = text(&output.stderr);
        figure(&format!("{run:?}"), &counted);
        assert!(of("connections") <= 150, "{run:?}: {counted}");
        assert!(of("echoes") <= 1_000 && of("queries") <= 400, "{run:?}: {counted}");
        assert!(of("sent") <= 4 << 20, "{run:?}: {counted}");
        if said.contains("asked of the host in all: ") {
            assert_eq!(asked(&said, "connections"), Some(of("connections")), "{run:?}: {said}");
            assert_eq!(asked(&said, "queries"), Some(of("queries")), "{run:?}: {said}");
        }
    }
    drop(servers);
}

/// Requests that a server answers before it says that there were too many.
const ALLOWED: usize = 12;

/// A host that asks to be left alone is, from its first answer on: before anything is measured, and
/// in the middle of a run.
pub fn leaves_alone_who_asks() {
    let home = Home::new("declines");
    let lab = Lab::up("declines", &[]);
    let server = caddy(&lab, &home);
    let (output, counted) = counted(&lab, &home, ("busy", AT[1], "--pairs 24"));
    drop(server);
    let said = words(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
    assert!(said.contains("answers 429: it asks to be left alone for 5 s"), "{said}");
    assert!(said.contains("[E214, exit 7]"), "{said}");
    assert_eq!(counted["connections"], 1, "{counted}");
    let pages = home.path().join("pages");
    std::fs::create_dir_all(&pages).unwrap();
    std::fs::write(pages.join("page"), "what is asked for\n").unwrap();
    let [four, six] = AT;
    let (burst, root) = (ALLOWED - 1, pages.display());
    let site = format!(
        "listen {four}:{PORT} ssl http2; listen [{six}]:{PORT} ssl http2; {} access_log asked; \
         location /page {{ limit_req zone=all burst={burst} nodelay; limit_req_status 429; \
         root {root}; }}",
        certified(&home, "site")
    );
    let server = nginx_of(&lab, &home, &[site]);
    let mut probe = lab.command(&home, "client");
    probe.args(["probe", &format!("https://{NAME}:{PORT}/page"), "--v4", four, "--v6", six]);
    probe.args(["--measure", "first-byte", "--no-path", "--no-report", "-q"]);
    let output = probe.output().unwrap();
    drop(server);
    let said = words(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
    assert!(said.contains("answers 429: it asks to be left alone"), "{said}");
    assert!(said.contains("What was measured until then is kept as"), "{said}");
    let asked = std::fs::read_to_string(home.path().join("nginx/asked")).unwrap();
    let [answered, declined] = ["\" 200 ", "\" 429 "].map(|status| asked.matches(status).count());
    figure("answered, declined", format!("{answered}, {declined}"));
    assert_eq!((answered, declined), (ALLOWED, 1), "{asked}");
}
