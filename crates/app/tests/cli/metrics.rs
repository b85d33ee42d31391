//! What is scraped of a watch that goes on: it is there when it is said where, and a visit is in it
//! when it is said that there was one.

use crate::ports::free;
use crate::support::Sandbox;
use crate::web_errors::Server;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout};

/// A watch of this host, and where it is scraped.
struct Scraped {
    child: Child,
    said: BufReader<ChildStdout>,
    address: String,
}

impl Scraped {
    fn start(sandbox: &Sandbox, line: &str) -> Self {
        let mut child = sandbox.start(line);
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        said.read_line(&mut first).unwrap();
        let address = first.trim().strip_prefix("Metrics  http://").unwrap();
        let address = address.strip_suffix("/metrics").unwrap().to_owned();
        Scraped { child, said, address }
    }

    /// Reads on to a line that has that in it.
    fn until(&mut self, what: &str) {
        let mut line = String::new();
        while !line.contains(what) {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "it ended");
        }
    }

    fn text(&self) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: {}\r\n\r\n", self.address).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{answer}");
        body.to_owned()
    }
}

impl Drop for Scraped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The value of the only series of a metric that has all these labels.
#[track_caller]
fn value(text: &str, name: &str, labels: &[&str]) -> f64 {
    let fits = |line: &&str| {
        line.starts_with(&format!("{name}{{")) && labels.iter().all(|label| line.contains(label))
    };
    let found: Vec<&str> = text.lines().filter(fits).collect();
    let [line] = found[..] else { panic!("{name} {labels:?}: {found:?} in\n{text}") };
    line.rsplit_once(' ').unwrap().1.parse().unwrap()
}

#[test]
fn a_visit_is_scraped_once_it_was_said() {
    let (sandbox, port) = (Sandbox::new(), free());
    let server = format!("serve --listen 127.0.0.1 --listen ::1 -p {port}");
    let server = Server::start(&sandbox, &server);
    let file = format!(
        "v6gap = 1\nevery = \"1 s\"\nlisten = \"[::1]:1\"\n\n[[paths]]\nname = \"here\"\n\
         host = \"here\"\nv4 = \"127.0.0.1\"\nv6 = \"::1\"\nport = {port}\ntime = \"1 s\"\n\
         measure = [\"connect\"]\n"
    );
    sandbox.write("watch.toml", &file);
    let mut watch = Scraped::start(&sandbox, "watch --config watch.toml --listen [::1]:0");
    // Before the first visit its paths are told.
    let text = watch.text();
    assert_eq!(value(&text, "v6gap_path_info", &["to=\"here\"", "host=\"here\""]), 1.0);
    assert_eq!(value(&text, "v6gap_build_info", &["version=\""]), 1.0);
    watch.until("  here  measured");
    watch.until("  here  measured");
    let text = watch.text();
    let windows = |text: &str, result| value(text, "v6gap_windows_total", &[result]);
    assert!(windows(&text, "result=\"measured\"") >= 2.0, "{text}");
    assert_eq!(value(&text, "v6gap_every_seconds", &["to=\"here\""]), 1.0);
    assert!(value(&text, "v6gap_sent_bytes_total", &[]) > 0.0, "{text}");
    for family in ["family=\"ipv4\"", "family=\"ipv6\""] {
        assert_eq!(value(&text, "v6gap_family_up", &[family]), 1.0);
        let measure = "measure=\"connect-tcp\"";
        assert!(value(&text, "v6gap_connect_seconds", &[family, measure]) > 0.0, "{text}");
    }
    let info = ["ipv4=\"127.0.0.1\"", "ipv6=\"::1\"", "host=\"here\""];
    assert_eq!(value(&text, "v6gap_path_info", &info), 1.0);
    let verdict = |name: &str| {
        let label = format!("verdict=\"{name}\"");
        value(&text, "v6gap_verdict", &["measure=\"connect-tcp\"", &label])
    };
    let all = ["better", "same", "worse", "cannot_tell", "none"].map(verdict);
    assert_eq!(all.iter().sum::<f64>(), 1.0, "{text}");
    drop(server);
    watch.until("  here  down: ");
    let text = watch.text();
    assert!(windows(&text, "result=\"down\"") >= 1.0, "{text}");
    assert_eq!(value(&text, "v6gap_family_up", &["family=\"ipv6\""]), 0.0);
}

#[test]
fn where_nobody_can_listen_nothing_is_watched() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("watch lab-b --listen 192.0.2.1:9466").ended(2);
    assert!(ran.err.contains("cannot tell metrics on 192.0.2.1:9466"), "{ran:?}");
    assert!(ran.err.ends_with("[E111, exit 2]\n"), "{ran:?}");
    let ran = sandbox.run("watch lab-b --listen 9466").ended(2);
    assert!(ran.err.contains("[2001:db8::1]:9466"), "{ran:?}");
    assert!(!sandbox.path("watch").exists());
}
