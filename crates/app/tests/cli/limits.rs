//! A server with limits says what they are, and is measured within them.

use crate::ports::free;
use crate::support::{Sandbox, flat};
use std::io::{BufRead, BufReader};
use std::process::Child;

/// A server on loopback, ended with the test.
struct Server {
    child: Child,
    port: u16,
    /// What it says when it begins, without breaks of lines.
    opening: String,
}

impl Server {
    fn start(sandbox: &Sandbox, options: &str) -> Server {
        let port = free();
        let line = format!("serve -p {port} --listen 127.0.0.1 --listen ::1 {options}");
        let mut child = sandbox.start_with(&line, &[]);
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut opening = String::new();
        for _ in 0..3 {
            said.read_line(&mut opening).unwrap();
        }
        // A pipe that nobody reads must not hold it up.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let opening = flat(&opening);
        Server { child, port, opening }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

const STRICT: &str = "50 Mbit/s, 200 MB, 30 s a task; 5 min a session, 1 of an address; no marks \
                      of packets, no choice of congestion control; no spinning";

#[test]
fn what_is_allowed_is_said_at_both_ends() {
    let sandbox = Sandbox::new();
    let server = Server::start(&sandbox, "--public");
    let opening = &server.opening;
    assert!(opening.contains(STRICT), "{opening}");
    assert!(opening.contains("Anyone who can reach this port can use it"), "{opening}");
    let check = format!("check 127.0.0.1 --v6 ::1 -p {}", server.port);
    let said = sandbox.run(&check).ended(0).out;
    let words = flat(&said);
    assert!(words.contains(&format!("note Limits the server allows {STRICT}")), "{said}");
    let through = "ok Packets full ones and datagrams get through over both families";
    assert!(words.contains(through), "{said}");
    let free = Server::start(&sandbox, "-A 0");
    let said = sandbox.run(&format!("check 127.0.0.1 --v6 ::1 -p {}", free.port)).ended(0).out;
    let words = flat(&said);
    let expected = "ok Limits the server allows any rate, 10 min a task; 24 h a session, ";
    assert!(words.contains(expected), "{said}");
}

/// What was complete is kept, and a new session goes on with it.
#[test]
fn a_session_that_is_over_says_so_and_can_be_continued() {
    let sandbox = Sandbox::new();
    let server = Server::start(&sandbox, "--max-session 4s");
    let host = format!("127.0.0.1 --v6 ::1 -p {}", server.port);
    let line = format!("run {host} --measure connect,rtt --pairs 400 --no-report -q");
    let ran = sandbox.run(&line).ended(4);
    let words = flat(&ran.err);
    assert!(words.contains("the time of this session is over: 127.0.0.1 allows 4 s"), "{words}");
    assert!(words.contains("--continue") && words.contains("[E212, exit 4]"), "{words}");
    let trials =
        |journal: String| journal.lines().filter(|line| line.contains("\"block\"")).count();
    let first = trials(sandbox.run("export last --format jsonl").ended(0).out);
    assert!(first > 0);
    let again = format!("run {host} --continue last --no-report -q");
    sandbox.run(&again).ended(4);
    let both = trials(sandbox.run("export last --format jsonl").ended(0).out);
    assert!(both > first, "{both} after {first}");
}
