//! Standard output that nobody reads any more.

use super::checks::Check;
use super::oracle;
use super::plans::{KINDS, plan};
use super::site::{PATIENCE, SERVER, Site};
use std::io::{BufRead, BufReader, PipeReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Bytes that a pipe takes before who writes has to wait.
const PIPE_BYTES: usize = 65_536;

pub fn checks(_full: bool) -> Vec<Check> {
    vec![
        Check::new("a_reader_who_left_is_not_missed", reader_left),
        Check::new("a_server_that_nobody_reads_serves", server_unread),
    ]
}

/// The client of `exchanges-udp` with many events, ready to be given its standard output.
pub fn client(site: &Site, home: &super::support::Home, pairs: u32) -> Command {
    let file = home.path().join("plan.toml");
    std::fs::write(&file, plan(KINDS[1], pairs)).unwrap();
    let mut command = site.lab.command(home, "client");
    command.args(["plan", "run", file.to_str().unwrap()]).args(SERVER);
    command.args(["-q", "--json-stream"]).stderr(Stdio::piped());
    command
}

/// A pipe with so much room left.
pub fn nearly_full(room: usize) -> (PipeReader, Stdio) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&vec![b'\n'; PIPE_BYTES - room]).unwrap();
    (reader, writer.into())
}

/// `| head -1`, behind a client and behind a server: both go on.
fn reader_left() {
    let site = Site::up("left");
    let mut command = site.lab.command(&site.home, "server");
    let mut server = command.arg("serve").stdout(Stdio::piped()).spawn().unwrap();
    let mut first = BufReader::new(server.stdout.take().unwrap());
    first.read_line(&mut String::new()).unwrap();
    drop(first);
    let home = site.home("left");
    let mut child = client(&site, &home, 6).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = BufReader::new(child.stdout.take().unwrap());
    first.read_line(&mut String::new()).unwrap();
    drop(first);
    let output = child.wait_with_output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 6)), "{output:?}");
    let shown = oracle::shown(&home);
    assert!(shown["stopped"].is_null(), "{}", shown["stopped"]);
    assert_eq!(shown["trials"], oracle::lines(&home));
    oracle::serves(&site, "other");
    server.kill().unwrap();
    server.wait().unwrap();
}

/// A server whose events nobody reads goes on serving, and ends when it is asked to.
fn server_unread() {
    let site = Site::up("unread-server");
    let (reader, writer) = nearly_full(600);
    let mut command = site.lab.command(&site.home, "server");
    let mut server = command.arg("serve").stdout(writer).spawn().unwrap();
    // Nobody can read that it is ready.
    let start = Instant::now();
    while site.asks("other").end(PATIENCE).code != Some(0) {
        assert!(start.elapsed() < PATIENCE, "it does not serve");
    }
    for _ in 0..3 {
        oracle::serves(&site, "other");
    }
    super::told::signal(server.id(), "TERM");
    let start = Instant::now();
    while server.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            server.kill().unwrap();
            server.wait().unwrap();
            panic!("SIGTERM did nothing");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(reader);
}
