//! Starting, ending and speaking with workers.

use super::platform::named;
use super::*;
use crate::clock;
use crate::socket::StreamOptions;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::AsRawFd;

/// A moment that is never reached.
fn soon() -> u64 {
    clock::now_ns() + 30_000_000_000
}

/// Descriptors of this thread, whose table is its own.
fn open() -> usize {
    std::fs::read_dir("/proc/thread-self/fd").unwrap().count()
}

/// This test program, started with a word that names this test, which it does not run then: its
/// standard input is the conduit.
#[test]
fn what_is_started_is_this_program_with_a_conduit() {
    let program = Program::this(None, &[]).unwrap();
    let (mut process, conduit) = program.start(c"--list").unwrap();
    let command = std::fs::read(format!("/proc/{}/cmdline", process.id())).unwrap();
    // It may have ended already.
    assert!(command.is_empty() || command == b"v6gap\0--list\0", "{command:?}");
    // It lists its tests and ends.
    assert!(conduit.receive(soon()).unwrap().is_none());
    assert!(process.end().contains("exit status: 0") || process.end().contains("signal: 9"));
}

#[test]
fn a_worker_that_is_dropped_is_gone() {
    let program = Program::this(None, &[("A", "b".into())]).unwrap();
    let (process, conduit) = program.start(c"--list").unwrap();
    let id = process.id();
    drop(process);
    assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
    assert!(conduit.receive(soon()).unwrap().is_none());
    assert!(conduit.send(b"x", &[]).is_err());
}

#[test]
fn without_proc_the_name_leads_to_the_program() {
    let path = std::env::current_exe().unwrap();
    assert!(named(Some(path.as_os_str())).unwrap().unwrap().metadata().unwrap().len() > 0);
    assert!(named(Some("no/such".as_ref())).unwrap().is_err());
    for looked_for in [None, path.file_name()] {
        assert!(named(looked_for).is_none(), "{looked_for:?}");
    }
}

#[test]
fn frames_come_as_they_were_sent_with_their_sockets() {
    let (one, other) = Conduit::pair().unwrap();
    let listener = Listener::bind((Ipv6Addr::LOCALHOST, 0).into(), 8).unwrap();
    let datagram = Datagram::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let options = StreamOptions::default();
    let stream = Stream::connect(None, listener.local().unwrap(), &options, 5_000_000_000).unwrap();
    let long = vec![7; 3 << 20];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            one.send(b"first", &[Passed::Listener(&listener), Passed::Datagram(&datagram)])
                .unwrap();
            one.send(&long, &[]).unwrap();
            one.send(b"", &[Passed::Stream(&stream)]).unwrap();
        });
        let (frame, mut came) = other.receive(soon()).unwrap().unwrap();
        assert_eq!((frame.as_slice(), came.len()), (&b"first"[..], 2));
        let (second, first) = (came.pop().unwrap().datagram(), came.pop().unwrap().listener());
        assert_eq!(second.local().unwrap(), datagram.local().unwrap());
        assert_eq!(first.local().unwrap(), listener.local().unwrap());
        let (frame, came) = other.receive(soon()).unwrap().unwrap();
        assert!(frame == long && came.is_empty());
        let (frame, mut came) = other.receive(soon()).unwrap().unwrap();
        assert!(frame.is_empty());
        let through = came.pop().unwrap().stream();
        assert_eq!(through.local().unwrap(), stream.local().unwrap());
        // Descriptors that came are closed by a program that is started.
        let flags = rustix::io::fcntl_getfd(&through.inner).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC), "{}", through.inner.as_raw_fd());
    });
    drop(one);
    assert!(other.receive(soon()).unwrap().is_none());
}

#[test]
fn nothing_in_time_and_half_a_frame_are_errors() {
    let (one, other) = Conduit::pair().unwrap();
    let late = other.receive(clock::now_ns() + 1_000_000).unwrap_err();
    assert!(matches!(late.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{late}");
    rustix::io::write(one.end(), &[0, 0, 0, 9, 0, 1]).unwrap();
    drop(one);
    assert_eq!(other.receive(soon()).unwrap_err().kind(), ErrorKind::UnexpectedEof);
}

#[test]
fn what_is_no_frame_is_refused_without_taking_its_memory() {
    for header in [[0xff, 0xff, 0xff, 0xff, 0], [0, 0, 0, 0, 1]] {
        let (one, other) = Conduit::pair().unwrap();
        rustix::io::write(one.end(), &header).unwrap();
        assert_eq!(other.receive(soon()).unwrap_err().kind(), ErrorKind::InvalidData);
    }
    let (one, _other) = Conduit::pair().unwrap();
    let too_long = one.send(&vec![0; FRAME_BYTES_MAX + 1], &[]).unwrap_err();
    assert_eq!(too_long.kind(), ErrorKind::InvalidInput);
}

#[test]
fn an_end_that_takes_nothing_is_not_waited_for() {
    let (one, _other) = Conduit::pair().unwrap();
    one.set_send_timeout(1_000_000).unwrap();
    let error = one.send(&vec![0; FRAME_BYTES_MAX], &[]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
}

#[test]
fn sockets_that_nobody_takes_do_not_stay_open() {
    std::thread::spawn(|| {
        crate::files::keep_apart();
        let datagram = Datagram::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let before = open();
        for _ in 0..50 {
            let (one, other) = Conduit::pair().unwrap();
            one.send(b"x", &[Passed::Datagram(&datagram); SOCKETS_MAX]).unwrap();
            drop(other.receive(soon()).unwrap());
            one.send(b"y", &[Passed::Datagram(&datagram)]).unwrap();
        }
        assert_eq!(open(), before);
    })
    .join()
    .unwrap();
}
