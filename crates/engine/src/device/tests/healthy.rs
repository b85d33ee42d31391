//! An agent of v2c that answers as RFC 3416 has it.

use super::super::tables::{self, IP_PORT_COLUMNS, PORT_COLUMNS};
use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::ops::Bound::{Excluded, Unbounded};
use v6gap_core::family::Family;

/// Tag of a request for what follows.
const GET_BULK: u8 = 0xa5;

/// Status and index of an answer without error.
const NO_ERROR: [u8; 6] = [0x02, 1, 0, 0x02, 1, 0];

/// What the agent has, and how it answers.
pub(super) struct Agent {
    /// Values by the BER of their names, which has the order of these: numbers below 128 have one
    /// byte, those below 16,384 two, of which the first is larger than any of one.
    pub(super) objects: BTreeMap<Vec<u8>, u8>,
    /// How often it sends each answer.
    pub(super) copies: usize,
    /// Most rows of one answer: its messages hold no more.
    pub(super) rows_max: usize,
}

impl Agent {
    /// One with so many interfaces, which all have one counter of their own and one of IP for each
    /// version.
    pub(super) fn with_ports(ports: u64) -> Agent {
        let errors = &tables::objects(&PORT_COLUMNS)[4];
        let received = &tables::objects(&IP_PORT_COLUMNS)[0];
        let mut objects = BTreeMap::new();
        for port in 1..=ports {
            objects.insert(name(errors, &[port]), 1);
            objects.insert(name(received, &[1, port]), 4);
            objects.insert(name(received, &[2, port]), 6);
        }
        Agent { objects, copies: 1, rows_max: usize::MAX }
    }

    /// Answers for as long as the tests run.
    pub(super) fn start(self) -> SocketAddr {
        let socket = UdpSocket::bind(SocketAddr::new(Family::V4.loopback(), 0)).unwrap();
        let address = socket.local_addr().unwrap();
        std::thread::spawn(move || self.serve(&socket));
        address
    }

    fn serve(&self, socket: &UdpSocket) {
        let mut bytes = [0; 4096];
        loop {
            // Some systems tell here that nobody had waited for an answer.
            let Ok((length, from)) = socket.recv_from(&mut bytes) else { continue };
            let answer = self.answer(&bytes[..length]);
            for _ in 0..self.copies {
                let _ = socket.send_to(&answer, from);
            }
        }
    }

    fn answer(&self, mut question: &[u8]) -> Vec<u8> {
        let mut message = take(&mut question).inside;
        let version = take(&mut message).whole;
        let community = take(&mut message).whole;
        let request = take(&mut message);
        let mut parts = request.inside;
        let id = take(&mut parts).whole;
        take(&mut parts);
        let rows = take(&mut parts).inside;
        let rows = rows.iter().fold(0_usize, |all, &byte| all * 256 + usize::from(byte));
        let mut list = take(&mut parts).inside;
        let mut names = Vec::new();
        while !list.is_empty() {
            let mut pair = take(&mut list).inside;
            names.push(take(&mut pair).inside.to_vec());
        }
        let bound = match request.tag {
            GET_BULK => self.following(names, rows),
            _ => self.these(&names),
        };
        let bound = wrapped(0x30, &bound);
        let response = wrapped(0xa2, &[id, &NO_ERROR[..], &bound[..]].concat());
        wrapped(0x30, &[version, community, &response[..]].concat())
    }

    fn these(&self, names: &[Vec<u8>]) -> Vec<u8> {
        let told = |name: &Vec<u8>| match self.objects.get(name) {
            Some(value) => binding(name, &wrapped(0x41, &[*value])),
            None => binding(name, &[0x81, 0]),
        };
        names.iter().flat_map(told).collect()
    }

    fn following(&self, mut names: Vec<Vec<u8>>, rows: usize) -> Vec<u8> {
        let mut bound = Vec::new();
        for _ in 0..rows.min(self.rows_max) {
            for name in &mut names {
                let behind = (Excluded(name.clone()), Unbounded);
                let value = match self.objects.range::<Vec<u8>, _>(behind).next() {
                    Some((next, value)) => {
                        name.clone_from(next);
                        wrapped(0x41, &[*value])
                    }
                    None => vec![0x82, 0],
                };
                bound.extend(binding(name, &value));
            }
        }
        bound
    }
}

/// The BER of the name of a row of a column.
fn name(column: &[u64], row: &[u64]) -> Vec<u8> {
    // The first two numbers are one: 1.3.
    let mut bytes = vec![43];
    for &number in column[2..].iter().chain(row) {
        if number >= 128 {
            bytes.push(0x80 | (number / 128) as u8);
        }
        bytes.push((number % 128) as u8);
    }
    bytes
}

fn binding(name: &[u8], value: &[u8]) -> Vec<u8> {
    wrapped(0x30, &[&wrapped(0x06, name)[..], value].concat())
}

fn wrapped(tag: u8, inside: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag, 0x82];
    bytes.extend((inside.len() as u16).to_be_bytes());
    bytes.extend_from_slice(inside);
    bytes
}

/// A value of BER.
struct Part<'a> {
    tag: u8,
    inside: &'a [u8],
    whole: &'a [u8],
}

/// Takes the first value off `bytes`.
fn take<'a>(bytes: &mut &'a [u8]) -> Part<'a> {
    let all = *bytes;
    let (head, length) = match all[1] {
        0x81 => (3, usize::from(all[2])),
        0x82 => (4, usize::from(u16::from_be_bytes([all[2], all[3]]))),
        length => (2, usize::from(length)),
    };
    let (whole, rest) = all.split_at(head + length);
    *bytes = rest;
    Part { tag: whole[0], inside: &whole[head..], whole }
}
