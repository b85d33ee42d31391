//! The log of a server: nobody who reads it slowly, or not at all, holds up the server.

use crate::ports::free;
use crate::support::Sandbox;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use v6gap_core::family::PerFamily;
use v6gap_core::record::Host;
use v6gap_engine::control::{ClientOptions, Connection, Key};

/// A stream that takes nothing more, and its other end that nobody reads.
fn stuck() -> (UnixStream, UnixStream) {
    let (stuck, unread) = UnixStream::pair().unwrap();
    stuck.set_nonblocking(true).unwrap();
    while (&stuck).write(&[b'x'; 4096]).is_ok() {}
    stuck.set_nonblocking(false).unwrap();
    (stuck, unread)
}

fn open(port: u16) -> Result<Connection, String> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let addresses = PerFamily { v4: Some(address), v6: None };
    let host = Host { name: "reader\nforged".to_owned(), ..Host::default() };
    let options = ClientOptions::new(Key::none(), "test 1".to_owned(), host);
    let mut go_on = |_: &_| ControlFlow::Continue(());
    Connection::open(addresses, &options, &mut go_on).map_err(|e| e.to_string())
}

/// Ends a child whatever becomes of the test.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_whose_output_nobody_reads_serves_and_ends() {
    let sandbox = Sandbox::new();
    let port = free();
    let (output, _unread) = stuck();
    let server = Command::new(env!("CARGO_BIN_EXE_v6gap"))
        .args(["serve", "--listen", "127.0.0.1", "-p", &port.to_string()])
        .env("V6GAP_DATA", sandbox.path(""))
        .env("V6GAP_LOCKS", sandbox.path("locks"))
        .stdin(Stdio::null())
        .stdout(Stdio::from(OwnedFd::from(output)))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut server = Ending(server);
    let until = Instant::now() + Duration::from_secs(20);
    let mut sessions = 0;
    while sessions < 400 {
        match open(port) {
            Ok(connection) => {
                connection.close();
                sessions += 1;
            }
            // It may not listen yet.
            Err(_) if sessions == 0 && Instant::now() < until => std::thread::yield_now(),
            Err(error) => panic!("after {sessions} sessions: {error}"),
        }
    }
    let kill = Command::new("kill").args(["-TERM", &server.0.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let until = Instant::now() + Duration::from_secs(20);
    while server.0.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "SIGTERM does nothing");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(server.0.wait().unwrap().success());
}
