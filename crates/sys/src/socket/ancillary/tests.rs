//! Marks and times of datagrams over loopback, both families.

use super::{KernelTimes, wait_either};
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
        assert_eq!((arrived.hop_limit, arrived.wall_ns), (None, None));
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
