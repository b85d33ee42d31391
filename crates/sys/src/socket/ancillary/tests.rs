//! Marks and times of datagrams over loopback, both families.

use super::{KernelTimes, notes, wait_either};
use crate::clock;
use crate::socket::Datagram;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const WAIT_NS: u64 = 10_000_000_000;

fn pair(ip: IpAddr) -> (Datagram, Datagram) {
    let bind = || Datagram::bind(SocketAddr::new(ip, 0)).unwrap();
    let (near, far) = (bind(), bind());
    near.connect(far.local().unwrap()).unwrap();
    (near, far)
}

fn both() -> [IpAddr; 2] {
    [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
}

#[test]
fn a_datagram_comes_with_its_sender_and_nothing_that_was_not_asked_for() {
    for ip in both() {
        let (near, far) = pair(ip);
        near.send(&[7; 30]).unwrap();
        let mut bytes = [0; 20];
        let arrived = far.receive(&mut bytes).unwrap();
        assert_eq!((arrived.bytes, arrived.source), (20, near.local().unwrap()));
        assert_eq!((arrived.hop_limit, arrived.wall_ns, arrived.local), (None, None, None));
        assert_eq!(bytes, [7; 20]);
        assert_eq!(near.departed().unwrap(), None);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn marks_are_those_of_the_family() {
    for ip in both() {
        let (near, far) = pair(ip);
        far.report_marks(true).unwrap();
        near.send(&[1]).unwrap();
        let arrived = far.receive(&mut [0; 8]).unwrap();
        assert!(arrived.hop_limit.is_some_and(|hops| hops > 0), "{arrived:?}");
        assert_eq!(arrived.traffic_class, Some(0), "{arrived:?}");
        far.report_marks(false).unwrap();
        near.send(&[1]).unwrap();
        assert_eq!(far.receive(&mut [0; 8]).unwrap().hop_limit, None);
    }
}

/// A socket that is bound to no address answers from the one that was asked, where the system would
/// choose another by itself.
#[cfg(target_os = "linux")]
#[test]
fn an_answer_comes_from_the_address_that_was_asked() {
    let any: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    let asked: [IpAddr; 2] = [Ipv4Addr::new(127, 0, 0, 2).into(), Ipv6Addr::LOCALHOST.into()];
    for ((any, asked), near) in any.into_iter().zip(asked).zip(both()) {
        let far = Datagram::bind(SocketAddr::new(any, 0)).unwrap();
        far.report_local(true).unwrap();
        let near = Datagram::bind(SocketAddr::new(near, 0)).unwrap();
        near.set_read_timeout(Some(WAIT_NS)).unwrap();
        let place = SocketAddr::new(asked, far.local().unwrap().port());
        near.send_to(&[7; 30], place).unwrap();
        let mut bytes = [0; 40];
        let arrived = far.receive(&mut bytes).unwrap();
        assert_eq!(arrived.local, Some(asked));
        assert_eq!(far.answer(&bytes[..arrived.bytes], &arrived).unwrap(), 30);
        let answer = near.receive(&mut [0; 40]).unwrap();
        assert_eq!((answer.bytes, answer.source), (30, place));
        far.report_local(false).unwrap();
        near.send_to(&[1], place).unwrap();
        assert_eq!(far.receive(&mut bytes).unwrap().local, None);
    }
}

/// An address of many is nobody's to answer from, also now that the kernel asks no more whose the
/// source of an answer is.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_answered_from_an_address_of_many() {
    let of_many: [IpAddr; 2] =
        [Ipv4Addr::new(224, 0, 0, 1).into(), Ipv6Addr::new(0xff05, 0, 0, 0, 0, 0, 0, 1).into()];
    for (of_many, ip) in of_many.into_iter().zip(both()) {
        let (near, far) = pair(ip);
        far.report_local(true).unwrap();
        near.send(&[7; 3]).unwrap();
        let arrived = far.receive(&mut [0; 8]).unwrap();
        assert_eq!(arrived.local, Some(ip));
        let came_to_many = super::Arrived { local: Some(of_many), ..arrived };
        let refused = far.answer(&[7; 3], &came_to_many).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::AddrNotAvailable);
        far.answer(&[7; 3], &arrived).unwrap();
        near.set_read_timeout(Some(WAIT_NS)).unwrap();
        assert_eq!(near.receive(&mut [0; 8]).unwrap().source, far.local().unwrap());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_kernel_lets_go_before_it_has_and_both_lie_between_the_program_s_times() {
    for ip in both() {
        let (near, far) = pair(ip);
        far.report_times(KernelTimes::Arrivals).unwrap();
        near.report_times(KernelTimes::Arrivals).unwrap();
        let deadline_ns = clock::now_ns() + WAIT_NS;
        loop {
            near.send(&[1]).unwrap();
            if far.receive(&mut [0; 8]).unwrap().wall_ns.is_some() {
                break;
            }
            assert!(clock::now_ns() < deadline_ns, "the kernel takes no times");
        }
        near.report_times(KernelTimes::Both).unwrap();
        for number in 0..3 {
            let before = clock::wall_ns();
            near.send(&[1]).unwrap();
            let arrived = far.receive(&mut [0; 8]).unwrap();
            let after = clock::wall_ns();
            let woken = wait_either(&near, None, WAIT_NS).unwrap();
            assert_eq!(woken, [true, false]);
            let departed = near.departed().unwrap().unwrap();
            let came = arrived.wall_ns.unwrap();
            assert_eq!(departed.number, number);
            assert!(before <= departed.wall_ns && departed.wall_ns <= came && came <= after);
            assert_eq!(near.departed().unwrap(), None);
        }
    }
}

#[test]
fn either_socket_ends_the_wait() {
    let (near, far) = pair(both()[0]);
    let (other_near, other_far) = pair(both()[1]);
    assert_eq!(wait_either(&far, Some(&other_far), 0).unwrap(), [false, false]);
    other_near.send(&[1]).unwrap();
    assert_eq!(wait_either(&far, Some(&other_far), WAIT_NS).unwrap(), [false, true]);
    near.send(&[1]).unwrap();
    assert_eq!(wait_either(&far, Some(&other_far), WAIT_NS).unwrap(), [true, true]);
    assert_eq!(wait_either(&far, None, WAIT_NS).unwrap(), [true, false]);
}

/// A control message as the kernel writes it: its length with the head, level, kind, value.
#[cfg(target_os = "linux")]
fn control(level: libc::c_int, kind: libc::c_int, value: &[u8]) -> Vec<u8> {
    let head = [level.to_ne_bytes(), kind.to_ne_bytes()].concat();
    let length = size_of::<usize>() + head.len() + value.len();
    let mut bytes = [&length.to_ne_bytes()[..], &head, value].concat();
    bytes.resize(length.next_multiple_of(size_of::<usize>()), 0);
    bytes
}

#[cfg(target_os = "linux")]
#[test]
fn control_messages_are_read_as_far_as_they_are_there() {
    let hops = control(libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT, &61_i32.to_ne_bytes());
    let class = control(libc::IPPROTO_IP, libc::IP_TOS, &[0xb8]);
    let times: Vec<u8> = [7_i64, 5, 0, 0, 0, 0].iter().flat_map(|n| n.to_ne_bytes()).collect();
    let time = control(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, &times);
    let mut cause = [0; 16];
    cause[..4].copy_from_slice(&9_u32.to_ne_bytes());
    cause[4] = libc::SO_EE_ORIGIN_TIMESTAMPING;
    cause[12..].copy_from_slice(&3_u32.to_ne_bytes());
    let departure = control(libc::IPPROTO_IP, libc::IP_RECVERR, &cause);
    let four = [&[0; 4][..], &[9; 4], &[192, 0, 2, 1]].concat();
    let local = control(libc::IPPROTO_IP, libc::IP_PKTINFO, &four);
    let all = [hops, class, time, departure, local].concat();
    let found = notes(&all);
    assert_eq!(found.local, Some(Ipv4Addr::new(192, 0, 2, 1).into()));
    assert_eq!((found.hop_limit, found.traffic_class), (Some(61), Some(0xb8)));
    assert_eq!((found.wall_ns, found.departure), (Some(7_000_000_005), Some(3)));
    // Cut anywhere, and with any byte changed: less is told, and nothing behind the end is read.
    for end in 0..all.len() {
        let _ = notes(&all[..end]);
    }
    for at in 0..all.len() {
        for value in [0, 1, 0x10, 0x11, 0xff] {
            let mut changed = all.clone();
            changed[at] = value;
            let _ = notes(&changed);
        }
    }
    // As the kernel leaves the last one where memory was too short: a head that promises less.
    let mut short = control(libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT, &[]);
    assert_eq!(notes(&short).hop_limit, None);
    short.extend_from_slice(&61_i32.to_ne_bytes());
    assert_eq!(notes(&short).hop_limit, None);
}
