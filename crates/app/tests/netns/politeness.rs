//! What a host is asked for, counted on its own interface by a program that knows nothing of ours:
//! never more than is allowed, and as many connections as are said.

use super::sites::{AT, NAME, PORT, caddy};
use super::support::{Home, figure, text, times};
use super::two_hosts::{Lab, Server};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

/// Sees every frame of an interface: connections of TCP and QUIC by their ports, echoes of ICMP,
/// and bytes of payload that leave. What it saw is its last line, once its input ends.
const COUNT: &str = r#"
import json, select, socket, struct, sys
seen = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
seen.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
seen.bind((sys.argv[1], 0))
print("ready", flush=True)
connections, echoes, sent = set(), 0, 0
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
        elif len(body) > 1200 and body[9:13] == b"\0\0\0\1":
            connections.add((source, body[:2]))
        elif len(body) > 1200 and body[9:13] == b"\x1a\x2a\x3a\x4a":
            echoes += 1
    elif protocol in (1, 58) and not outgoing and body[0] in (8, 128):
        echoes += 1
print(json.dumps({"connections": len(connections), "echoes": echoes, "sent": sent}))
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

/// Different runs to a host that is not said to be one's own.
const RUNS: [&str; 10] = [
    "--measure first-byte --http 2 --pairs 6",
    "--measure first-byte --http 1.1,2 --pairs 8",
    "--http 3 --measure quic --pairs 6",
    "--measure rtt --pairs 6",
    "--measure path",
    "--measure connect --pairs 12",
    "--measure first-byte --http 1.1,2,3 --pairs 24",
    "--pairs 60 --measure first-byte --http 2",
    "--measure tls --no-path --pairs 6",
    "--measure rtt,first-byte --pairs 6",
];

pub fn is_kept() {
    let home = Home::new("politeness");
    let lab = Lab::up("polite", &[]);
    let server: Server = caddy(&lab, &home);
    for options in &RUNS[..times(2, RUNS.len())] {
        let counter = Counter::start(&lab, &home);
        let mut probe = lab.command(&home, "client");
        let [four, six] = AT;
        probe.args(["probe", &format!("https://{NAME}:{PORT}/"), "--v4", four, "--v6", six]);
        let output = probe.args(options.split(' ')).arg("--no-report").output().unwrap();
        let counted = counter.end();
        let of = |what: &str| counted[what].as_u64().unwrap();
        let said = text(&output.stderr);
        figure(options, &counted);
        assert!(of("connections") <= 150, "{options}: {counted}");
        assert!(of("echoes") <= 1_000 && of("sent") <= 4 << 20, "{options}: {counted}");
        if let Some((_, rest)) = said.split_once("asked of the host in all: ") {
            let (number, _) = rest.split_once(" connections").unwrap();
            assert_eq!(number.parse(), Ok(of("connections")), "{options}: {said}");
        }
    }
    drop(server);
}
