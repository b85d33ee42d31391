//! Batches: whole, in parts, cut and put together by the kernel.

use super::*;
use crate::socket::ErrorClass;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

fn both(test: impl Fn(SocketAddr)) {
    test((Ipv4Addr::LOCALHOST, 0).into());
    test((Ipv6Addr::LOCALHOST, 0).into());
}

fn pair(address: SocketAddr) -> (Datagram, Datagram) {
    let near = Datagram::bind(address).expect("loopback has this family");
    let far = Datagram::bind(address).expect("loopback has this family");
    near.connect(far.local().expect("bound")).expect("same family");
    far.set_read_timeout(Some(2_000_000_000)).expect("settable");
    (near, far)
}

/// All datagrams that come until there are `count`.
fn received(far: &Datagram, batch: &mut ReceiveBatch, count: usize) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while found.len() < count {
        let messages = batch.receive(far).expect("they were sent");
        for index in 0..messages {
            found.extend(batch.message(index).datagrams().map(<[u8]>::to_vec));
        }
    }
    found
}

fn numbered(batch: &mut SendBatch) {
    for slot in 0..batch.slots() {
        batch.slot(slot)[0] = slot as u8;
    }
}

#[test]
fn a_batch_arrives_whole_and_in_order() {
    both(|address| {
        let (near, far) = pair(address);
        for offload in [false, true] {
            if offload && near.segments().is_err() {
                continue;
            }
            let mut batch = SendBatch::new(10, &[7; 100], offload);
            assert_eq!((batch.slots(), batch.segments()), (10, if offload { 64 } else { 1 }));
            numbered(&mut batch);
            batch.set_length(9, 40);
            for coalescing in [false, true] {
                if far.set_coalescing(coalescing).is_err() {
                    continue;
                }
                let mut incoming = ReceiveBatch::new(16, if coalescing { 65_536 } else { 101 });
                let mut taken = 0;
                while taken < 10 {
                    taken += batch.send(&near, taken..10).expect("loopback");
                }
                let found = received(&far, &mut incoming, 10);
                assert_eq!(found.len(), 10);
                for (number, datagram) in found.iter().enumerate() {
                    assert_eq!(datagram.len(), if number == 9 { 40 } else { 100 });
                    assert_eq!((datagram[0], datagram[1]), (number as u8, 7));
                }
            }
        }
    });
}

#[test]
fn pieces_stay_within_a_packet_of_either_family() {
    let batch = |slots, bytes: usize| SendBatch::new(slots, &vec![0; bytes], true).segments();
    assert_eq!(batch(1000, 20), 64);
    assert_eq!(batch(1000, 1400), 46);
    assert_eq!(batch(1000, 65_507), 1);
    both(|address| {
        let (near, far) = pair(address);
        if near.segments().is_err() {
            return;
        }
        // The default receive buffer holds the 100 datagrams only while they are few pieces.
        far.set_coalescing(true).expect("as old as the other half");
        let mut batch = SendBatch::new(100, &[1; 1400], true);
        numbered(&mut batch);
        let mut taken = 0;
        while taken < 100 {
            taken += batch.send(&near, taken..100).expect("loopback");
        }
        let found = received(&far, &mut ReceiveBatch::new(4, 65_536), 100);
        let numbers: Vec<u8> = found.iter().map(|datagram| datagram[0]).collect();
        assert_eq!(numbers, (0..100).collect::<Vec<u8>>());
        assert!(found.iter().all(|datagram| datagram.len() == 1400));
    });
}

#[test]
fn nothing_in_time_is_a_timeout_and_an_empty_datagram_is_a_message_without_any() {
    both(|address| {
        let (near, far) = pair(address);
        far.set_nonblocking(true).expect("settable");
        let mut batch = ReceiveBatch::new(8, 100);
        let error = batch.receive(&far).expect_err("nothing was sent");
        assert!(ErrorClass::of(&error).is_timeout(), "{error}");
        far.set_nonblocking(false).expect("settable");
        near.send(&[]).expect("loopback");
        assert_eq!(batch.receive(&far).expect("one was sent"), 1);
        assert_eq!(batch.message(0).datagrams().count(), 0);
    });
}

#[test]
fn what_a_full_buffer_drops_is_counted() {
    both(|address| {
        let (near, far) = pair(address);
        let Ok(before) = far.drops() else { return };
        let granted = far.set_receive_buffer(4096).expect("settable");
        let message = vec![0; 1000];
        let sent = 2 * granted as usize / message.len() + 10;
        for _ in 0..sent {
            near.send(&message).expect("loopback");
        }
        let dropped = far.drops().expect("as before").wrapping_sub(before) as usize;
        let mut batch = ReceiveBatch::new(64, 1001);
        let kept = received(&far, &mut batch, sent - dropped).len();
        assert!(dropped > 0);
        assert_eq!(kept + dropped, sent);
        far.set_nonblocking(true).expect("settable");
        assert!(batch.receive(&far).is_err(), "that was all");
    });
}
