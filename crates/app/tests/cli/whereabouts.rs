//! One address of a server is enough: it is asked for the other, and what came of that is said.

use crate::ports::free;
use crate::support::{Sandbox, flat};
use crate::web_errors::Server;

#[test]
fn a_server_tells_its_other_address() {
    let sandbox = Sandbox::new();
    let port = free();
    let serve = format!("serve --listen 127.0.0.1 --listen ::1 -p {port}");
    let _server = Server::start(&sandbox, &serve);
    for (one, other) in [("127.0.0.1", "IPv6 address ::1"), ("::1", "IPv4 address 127.0.0.1")] {
        let ran = sandbox.run(&format!("check {one} -p {port}")).ended(0);
        let said = format!(
            "the {other} was told by the server at {one} and proved to lead to the same server"
        );
        assert!(flat(&ran.out).contains(&said), "{ran:?}");
        assert!(ran.out.contains("can be measured over both families"), "{ran:?}");
    }
}

#[test]
fn a_public_server_tells_what_was_announced() {
    let sandbox = Sandbox::new();
    let port = free();
    let serve = format!("serve --public --listen 127.0.0.1 --listen ::1 -p {port}");
    let silent = Server::start(&sandbox, &serve);
    let ran = sandbox.run(&format!("check 127.0.0.1 -p {port}")).ended(3);
    let said = flat(&ran.err);
    assert!(said.contains("was asked for its IPv6 address and tells none"), "{ran:?}");
    assert!(said.contains("v6gap serve --announce ADDR"), "{ran:?}");
    assert!(said.ends_with("[E102, exit 3]"), "{ran:?}");
    drop(silent);
    let _server = Server::start(&sandbox, &format!("{serve} --announce ::1"));
    sandbox.run(&format!("check 127.0.0.1 -p {port}")).ended(0);
}

#[test]
fn what_cannot_be_announced_is_refused() {
    let sandbox = Sandbox::new();
    for address in ["fe80::1", "::ffff:192.0.2.7", "0.0.0.0", "ff02::1", "lab-b"] {
        let ran = sandbox.run(&format!("serve --announce {address}")).ended(2);
        assert!(ran.err.contains("--announce"), "{ran:?}");
    }
    let many = "--announce 192.0.2.7 ".repeat(9);
    let ran = sandbox.run(&format!("serve {many}")).ended(2);
    assert!(ran.err.contains("at most 8"), "{ran:?}");
}
