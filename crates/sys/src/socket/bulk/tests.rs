//! Paces, sending without copying and receiving without looking, on loopback.

use super::super::{Listener, Stream, StreamOptions};
use super::*;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

const PATTERN: [u8; 4] = [7, 11, 13, 17];

fn pairs() -> impl Iterator<Item = (Stream, Stream)> {
    let loopback = [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), (Ipv6Addr::LOCALHOST, 0).into()];
    loopback.into_iter().map(|address| {
        let listener = Listener::bind(address, 1).unwrap();
        let options = StreamOptions::default();
        let near =
            Stream::connect(None, listener.local().unwrap(), &options, 1_000_000_000).unwrap();
        (near, listener.accept().unwrap())
    })
}

#[test]
fn a_pace_is_read_back() {
    for (near, _far) in pairs() {
        match near.set_pace(12_500_000_000) {
            Ok(()) => assert_eq!(near.pace().unwrap(), Some(12_500_000_000)),
            Err(missing) => assert!(missing.to_string().contains("pacing"), "{missing}"),
        }
    }
}

#[test]
fn a_file_arrives_from_its_start_each_time() {
    for (near, far) in pairs() {
        let Ok(file) = MemoryFile::new(&PATTERN) else { return };
        for count in [4, 2] {
            assert_eq!(near.send_file(&file, count).unwrap(), count);
            let mut bytes = vec![0; count];
            far.read_exact(&mut bytes).unwrap();
            assert_eq!(bytes, PATTERN[..count]);
        }
    }
}

#[test]
fn what_is_written_in_place_arrives_and_is_reaped() {
    for (near, far) in pairs() {
        if near.allow_in_place().is_err() {
            return;
        }
        let writes = 3;
        for _ in 0..writes {
            assert_eq!(near.write_in_place(&PATTERN).unwrap(), PATTERN.len());
        }
        let mut bytes = [0; 12];
        far.read_exact(&mut bytes).unwrap();
        assert_eq!(bytes, [PATTERN, PATTERN, PATTERN].concat()[..]);
        // What the peer has read may still be on its way back as a completion.
        let mut reaped = Reaped::default();
        while reaped.writes < writes {
            let more = near.reap().unwrap();
            reaped.writes += more.writes;
            reaped.copied += more.copied;
            std::thread::yield_now();
        }
        assert_eq!(reaped.writes, writes);
        assert!(reaped.copied <= writes);
        assert_eq!(near.reap().unwrap(), Reaped::default());
    }
}

#[test]
fn what_is_discarded_is_gone() {
    for (near, far) in pairs() {
        if Stream::can_discard().is_err() {
            return;
        }
        near.write_all(&PATTERN).unwrap();
        assert!(far.wait_readable(1_000_000_000).unwrap());
        assert_eq!(far.discard(3).unwrap(), 3);
        let mut rest = [0];
        far.read_exact(&mut rest).unwrap();
        assert_eq!(rest, PATTERN[3..]);
        drop(near);
        assert_eq!(far.discard(3).unwrap(), 0, "the peer has ended");
    }
}
