//! Datagrams with whatever source, put on the line as whole frames.

use std::net::{IpAddr, SocketAddr};
use v6gap_sys::packet::Port;

const UDP: u8 = 17;
const UDP_HEADER_BYTES: usize = 8;

pub struct Forger {
    port: Port,
    from: [u8; 6],
    to: [u8; 6],
}

impl Forger {
    pub fn new(port: Port, from: [u8; 6], to: [u8; 6]) -> Self {
        Forger { port, from, to }
    }

    /// Sends a datagram that seems to come from `source`.
    pub fn send(&self, source: SocketAddr, destination: SocketAddr, payload: &[u8]) {
        let (ethertype, packet) = packet(source, destination, payload);
        let mut frame = Vec::with_capacity(14 + packet.len());
        frame.extend(self.to);
        frame.extend(self.from);
        frame.extend(ethertype.to_be_bytes());
        frame.extend(packet);
        // The queue of the interface may be full for a moment.
        while self.port.send(&frame).is_err() {
            std::thread::yield_now();
        }
    }
}

/// The packet and its EtherType.
fn packet(source: SocketAddr, destination: SocketAddr, payload: &[u8]) -> (u16, Vec<u8>) {
    let length = (UDP_HEADER_BYTES + payload.len()) as u16;
    let mut datagram = Vec::new();
    datagram.extend(source.port().to_be_bytes());
    datagram.extend(destination.port().to_be_bytes());
    datagram.extend(length.to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(payload);
    let addresses = [octets(source.ip()), octets(destination.ip())].concat();
    let pseudo = [&addresses[..], &[0, UDP], &length.to_be_bytes()].concat();
    let sum = match checksum(&[&pseudo, &datagram]) {
        0 => u16::MAX,
        sum => sum,
    };
    datagram[6..8].copy_from_slice(&sum.to_be_bytes());
    match source {
        SocketAddr::V4(_) => {
            let mut header = vec![0x45, 0];
            header.extend((20 + length).to_be_bytes());
            header.extend([0, 0, 0x40, 0, 64, UDP, 0, 0]);
            header.extend(&addresses);
            let sum = checksum(&[&header]);
            header[10..12].copy_from_slice(&sum.to_be_bytes());
            (0x0800, [header, datagram].concat())
        }
        SocketAddr::V6(_) => {
            let mut header = vec![0x60, 0, 0, 0];
            header.extend(length.to_be_bytes());
            header.extend([UDP, 64]);
            header.extend(&addresses);
            (0x86dd, [header, datagram].concat())
        }
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// The Internet checksum (RFC 1071); all parts but the last have an even length.
fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0_u32;
    for part in parts {
        for pair in part.chunks(2) {
            sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
