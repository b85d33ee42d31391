//! Reading, writing, sending and receiving must not allocate: an allocation in a measuring loop is
//! time and noise that the measurement would count as the network's.

#![expect(unsafe_code, reason = "a counting allocator is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::net::SocketAddr;
use v6gap_sys::clock;
use v6gap_sys::socket::{Datagram, Listener, Stream, StreamOptions};

thread_local! {
    /// Allocations of this thread; other test threads do not count.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is ending has no counter, and is none that a test looks at.
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and `alloc` was the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of this thread while `body` ran.
fn allocations(body: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    body();
    COUNT.get() - before
}

const LOOPBACK: [&str; 2] = ["127.0.0.1:0", "[::1]:0"];

fn addresses() -> impl Iterator<Item = SocketAddr> {
    LOOPBACK.into_iter().map(|text| text.parse().expect("a literal"))
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

#[test]
fn streams_do_not_allocate() {
    for address in addresses() {
        let listener = Listener::bind(address, 4).expect("loopback has this family");
        let remote = listener.local().expect("it is bound");
        let near = Stream::connect(None, remote, &StreamOptions::default(), 1_000_000_000)
            .expect("somebody listens");
        let far = listener.accept().expect("somebody connected");
        let mut bytes = [0; 1_000];
        let count = allocations(|| {
            for _ in 0..100 {
                clock::now_ns();
                near.write_all(&bytes).expect("connected");
                assert!(far.wait_readable(1_000_000_000).expect("waits"));
                far.read_exact(&mut bytes).expect("connected");
                let written = far.write(&bytes).expect("connected");
                near.read_exact(&mut bytes[..written]).expect("connected");
                near.set_read_timeout(Some(1_000_000_000)).expect("settable");
            }
            near.set_nonblocking(true).expect("settable");
            near.read(&mut bytes).expect_err("nothing was sent");
        });
        assert_eq!(count, 0, "{address}");
    }
}

#[test]
fn datagrams_do_not_allocate() {
    for address in addresses() {
        let one = Datagram::bind(address).expect("loopback has this family");
        let two = Datagram::bind(address).expect("loopback has this family");
        let (here, there) = (one.local().expect("bound"), two.local().expect("bound"));
        one.connect(there).expect("same family");
        let mut bytes = [0; 1_000];
        let count = allocations(|| {
            for _ in 0..100 {
                one.send(&bytes).expect("loopback");
                let (length, from) = two.recv_from(&mut bytes).expect("loopback");
                assert_eq!((length, from), (bytes.len(), here));
                two.send_to(&bytes, here).expect("loopback");
                assert!(one.wait_readable(1_000_000_000).expect("waits"));
                one.recv(&mut bytes).expect("loopback");
            }
            one.set_nonblocking(true).expect("settable");
            one.recv(&mut bytes).expect_err("nothing was sent");
        });
        assert_eq!(count, 0, "{address}");
    }
}
