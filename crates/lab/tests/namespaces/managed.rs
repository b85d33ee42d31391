//! A managed router: its agent comes and goes with the lab.

use crate::traffic::{Outcome, ensure};
use std::net::UdpSocket;
use std::path::Path;
use std::time::Duration;
use v6gap_core::world::{LinkModel, World};
use v6gap_lab::Lab;

const AGENT: &str = "/usr/sbin/snmpd";

/// `sysUpTime` asked for by v2c with the community `public`.
const REQUEST: [u8; 40] = [
    0x30, 38, 2, 1, 1, 4, 6, b'p', b'u', b'b', b'l', b'i', b'c', 0xa0, 25, 2, 1, 7, 2, 1, 0, 2, 1,
    0, 0x30, 14, 0x30, 12, 6, 8, 0x2b, 6, 1, 2, 1, 1, 3, 0, 5, 0,
];

pub fn comes_and_goes() -> Outcome<String> {
    if !Path::new(AGENT).is_file() {
        let required = std::env::var("V6GAP_REQUIRE_NAMESPACES").is_ok_and(|value| value == "1");
        ensure(!required, || format!("{AGENT} is not installed: apt-get install snmpd"))?;
        return Ok(format!("SKIPPED: {AGENT} is not installed (Debian: apt-get install snmpd)"));
    }
    let before = agents()?;
    let mut world = World::client_router_server(LinkModel::Bare, None);
    world.nodes[1].snmp = true;
    let lab = Lab::build(&world)?;
    ensure(agents()? == before + 1, || "no agent runs".to_owned())?;
    let addresses = lab.node("router")?.addresses;
    for address in [addresses.v4, addresses.v6].into_iter().flatten() {
        let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let answer = lab.node("client")?.run(|| -> std::io::Result<Vec<u8>> {
            let socket = UdpSocket::bind(any)?;
            socket.set_read_timeout(Some(Duration::from_secs(10)))?;
            socket.send_to(&REQUEST, (address, 161))?;
            let mut bytes = [0; 1500];
            let length = socket.recv(&mut bytes)?;
            Ok(bytes[..length].to_vec())
        })??;
        // A response to the request of that number.
        let is_answer = answer.windows(5).any(|found| found[0] == 0xa2 && found[2..5] == [2, 1, 7]);
        ensure(is_answer, || format!("{address} answered {answer:?}"))?;
    }
    drop(lab);
    ensure(agents()? == before, || "the agent is left".to_owned())?;
    Ok("both families were answered".to_owned())
}

fn agents() -> Outcome<usize> {
    let folders = std::fs::read_dir("/proc")?.flatten();
    let links = folders.filter_map(|folder| std::fs::read_link(folder.path().join("exe")).ok());
    Ok(links.filter(|exe| exe.starts_with(AGENT)).count())
}
