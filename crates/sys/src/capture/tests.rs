//! The filter, run by a small interpreter of its own, and a tap on loopback where it is permitted.

use super::filter::{self, IF_BITS, IF_EQUAL, Instruction};
use super::{Filter, Tap};
use std::net::IpAddr;

const SNAP: u32 = 128;

/// What classic BPF does with the packet `ip`, which starts with its IP header: the bytes kept.
fn kept(program: &[Instruction], ethertype: u32, ip: &[u8]) -> u32 {
    let load = |place: u32, bytes: usize| -> Option<u32> {
        if place == filter::PROTOCOL {
            return Some(ethertype);
        }
        let at = place.checked_sub(filter::NETWORK)? as usize;
        let found = ip.get(at..at + bytes)?;
        Some(found.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte)))
    };
    let (mut accumulator, mut next) = (0, 0);
    loop {
        let Instruction { code, yes, no, value } = program[next];
        next += 1;
        let loaded = match code {
            filter::LOAD_WORD => load(value, 4),
            filter::LOAD_HALF => load(value, 2),
            filter::LOAD_BYTE => load(value, 1),
            filter::RETURN => return value,
            IF_EQUAL | IF_BITS => {
                let holds = match code {
                    IF_EQUAL => accumulator == value,
                    _ => accumulator & value != 0,
                };
                next += usize::from(if holds { yes } else { no });
                continue;
            }
            other => panic!("instruction {other:#x}"),
        };
        // The kernel ends with "take nothing" where a packet is too short.
        let Some(loaded) = loaded else { return 0 };
        accumulator = loaded;
    }
}

/// An IP packet with ports behind its header.
fn packet(from: IpAddr, to: IpAddr, protocol: u8, ports: (u16, u16)) -> (u32, Vec<u8>) {
    let (ethertype, mut ip) = match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let mut ip = vec![0x45, 0, 0, 28, 0, 0, 0, 0, 64, protocol, 0, 0];
            ip.extend(from.octets());
            ip.extend(to.octets());
            (0x0800, ip)
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let mut ip = vec![0x60, 0, 0, 0, 0, 8, protocol, 64];
            ip.extend(from.octets());
            ip.extend(to.octets());
            (0x86dd, ip)
        }
        _ => panic!("mixed"),
    };
    ip.extend(ports.0.to_be_bytes());
    ip.extend(ports.1.to_be_bytes());
    ip.extend([0; 4]);
    (ethertype, ip)
}

fn pairs() -> Vec<(IpAddr, IpAddr)> {
    [("192.0.2.1", "198.51.100.7"), ("2001:db8::1", "2001:db8:0:1::7")]
        .map(|(here, there)| (here.parse().unwrap(), there.parse().unwrap()))
        .to_vec()
}

#[test]
fn takes_what_is_measured_and_nothing_else() {
    let pairs = pairs();
    let program = filter::program(&Filter::Between { pairs: pairs.clone(), port: 4466 }, SNAP);
    let strangers: [IpAddr; 2] = ["192.0.2.3".parse().unwrap(), "2001:db8::3".parse().unwrap()];
    for ((here, there), stranger) in pairs.into_iter().zip(strangers) {
        let (icmp, fragment) = if here.is_ipv4() { (1, 17) } else { (58, 44) };
        let seen = |from, to, protocol, ports| {
            let (ethertype, ip) = packet(from, to, protocol, ports);
            kept(&program, ethertype, &ip)
        };
        for protocol in [6, 17] {
            assert_eq!(seen(here, there, protocol, (50_000, 4466)), SNAP, "{here} {protocol}");
            assert_eq!(seen(there, here, protocol, (4466, 50_000)), SNAP, "{here} {protocol}");
            assert_eq!(seen(here, there, protocol, (50_000, 22)), 0, "another service");
            assert_eq!(seen(here, stranger, protocol, (50_000, 4466)), 0, "another host");
            assert_eq!(seen(stranger, here, protocol, (4466, 50_000)), 0, "another host");
            assert_eq!(seen(stranger, there, protocol, (50_000, 4466)), 0, "another client");
            assert_eq!(seen(there, there, protocol, (50_000, 4466)), 0, "not ours");
        }
        assert_eq!(seen(stranger, here, icmp, (0, 0)), SNAP, "an error from a router");
        assert_eq!(seen(here, there, icmp, (0, 0)), SNAP);
        assert_eq!(seen(stranger, there, icmp, (0, 0)), 0, "somebody else's error");
        assert_eq!(seen(here, there, 50, (0, 4466)), 0, "another protocol");
        let (ethertype, mut later) = packet(here, there, fragment, (1, 2));
        if here.is_ipv4() {
            later[7] = 185;
        }
        assert_eq!(kept(&program, ethertype, &later), SNAP, "a fragment has no ports");
        let (ethertype, ip) = packet(here, there, 6, (50_000, 4466));
        assert_eq!(kept(&program, 0x0806, &ip), 0, "ARP");
        for length in 0..ip.len() - 4 {
            kept(&program, ethertype, &ip[..length]);
        }
    }
}

#[test]
fn everything_is_everything() {
    let program = filter::program(&Filter::Everything, SNAP);
    assert_eq!(kept(&program, 0x0806, &[]), SNAP);
    assert_eq!(Filter::Everything.describe(), "none");
}

#[test]
fn no_jump_leads_out_of_the_program() {
    let port = 4466;
    for pairs in [pairs(), pairs()[..1].to_vec(), pairs()[1..].to_vec(), Vec::new()] {
        let program = filter::program(&Filter::Between { pairs, port }, SNAP);
        for (at, instruction) in program.iter().enumerate() {
            let jump = usize::from(instruction.yes.max(instruction.no));
            assert!(at + 1 + jump < program.len() || instruction.code == filter::RETURN);
        }
        assert!(program.len() < 160, "{}", program.len());
    }
}

#[test]
fn an_interface_that_is_not_there_is_refused() {
    let refused = Tap::open("none-such0", &Filter::Everything, SNAP, 1 << 16);
    assert!(refused.is_err());
}

/// Where this process may listen, it sees its own datagram with the length and the time that it
/// had; the kernel takes the filter's program.
#[cfg(target_os = "linux")]
#[test]
fn a_datagram_on_loopback_is_seen_once() {
    use super::Refused;
    use crate::clock;
    use std::net::UdpSocket;
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = receiver.local_addr().unwrap();
    let pairs = vec![(to.ip(), to.ip())];
    let filter = Filter::Between { pairs, port: to.port() };
    let mut tap = match Tap::open("lo", &filter, SNAP, 1 << 16) {
        Ok(tap) => tap,
        Err(Refused::NotPermitted) => return,
        Err(error) => panic!("{error}"),
    };
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    let before = clock::wall_ns();
    sender.send_to(&[7; 300], to).unwrap();
    let mut bytes = [0; 400];
    assert_eq!(receiver.recv(&mut bytes).unwrap(), 300);
    let after = clock::wall_ns();
    let seen = |tap: &mut Tap| tap.take(|seen| (seen.length, seen.bytes.to_vec(), seen.at_unix_ns));
    let (length, bytes, at) = seen(&mut tap).expect("it has arrived, so it was seen before");
    assert_eq!(length, 14 + 20 + 8 + 300);
    assert_eq!((bytes.len(), &bytes[bytes.len() - 4..]), (SNAP as usize, &[7; 4][..]));
    // The wall clock may be set meanwhile, but not by an hour.
    let hour = 3_600_000_000_000;
    assert!((before.saturating_sub(hour)..after + hour).contains(&at), "{before} {at} {after}");
    assert!(seen(&mut tap).is_none(), "seen twice");
    assert_eq!(tap.dropped().unwrap(), 0);
}
