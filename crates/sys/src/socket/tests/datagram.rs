//! UDP: echo, fixed peers, timeouts, buffers, size limits and fragmentation.

use super::*;

fn bound(address: SocketAddr) -> (Datagram, SocketAddr) {
    let socket = Datagram::bind(address).expect("loopback has this family");
    let local = socket.local().expect("it is bound");
    (socket, local)
}

#[test]
fn datagrams_are_echoed_whole() {
    both(|address| {
        let ((client, client_address), (server, server_address)) = (bound(address), bound(address));
        assert_eq!(client.domain().expect("readable"), Domain::of(&address));
        client.connect(server_address).expect("same family");
        assert_eq!(client.peer().expect("it is fixed"), server_address);
        let mut bytes = [0; 2_000];
        for size in [0, 1, 18, 1_472] {
            assert_eq!(client.send(&vec![size as u8; size]).expect("loopback"), size);
            let (length, from) = server.recv_from(&mut bytes).expect("loopback");
            assert_eq!((length, from), (size, client_address));
            server.send_to(&bytes[..length], from).expect("loopback");
            assert_eq!(client.recv(&mut bytes).expect("loopback"), size);
            assert!(bytes[..size].iter().all(|&byte| byte == size as u8));
        }
    });
}

#[test]
fn fixed_peer_is_the_only_one_heard() {
    both(|address| {
        let ((one, here), (two, there), (stranger, _)) =
            (bound(address), bound(address), bound(address));
        one.connect(there).expect("same family");
        stranger.send_to(b"stranger", here).expect("loopback");
        two.send_to(b"peer", here).expect("loopback");
        let mut bytes = [0; 20];
        let length = one.recv(&mut bytes).expect("loopback");
        assert_eq!(&bytes[..length], b"peer");
    });
}

#[test]
fn a_new_socket_takes_the_place_of_the_old_one_and_nobody_else_can() {
    both(|address| {
        let ((service, here), (peer, _)) = (bound(address), bound(address));
        service.set_receive_buffer(4_096).expect("it may be small");
        let anew = match service.anew().expect("it is bound") {
            Ok(anew) => anew,
            Err(missing) => return println!("not tested: {missing}"),
        };
        let taken = || Datagram::bind(here).expect_err("the port is not free").class();
        assert_eq!(taken(), ErrorClass::AddressInUse);
        let buffer = anew.receive_buffer().expect("readable");
        assert!(buffer > service.receive_buffer().expect("readable"));
        drop(service);
        assert_eq!(taken(), ErrorClass::AddressInUse);
        peer.send_to(b"peer", here).expect("loopback");
        let mut bytes = [0; 20];
        assert_eq!(anew.recv(&mut bytes).expect("loopback"), 4);
    });
}

#[test]
fn what_is_not_kept_is_gone_and_fills_no_buffer() {
    both(|address| {
        let ((far, there), (near, _)) = (bound(address), bound(address));
        if let Err(missing) = far.keep_nothing(true) {
            return println!("not tested: {missing}");
        }
        near.send_to(b"gone", there).expect("loopback");
        far.keep_nothing(false).expect("it was on");
        near.send_to(b"kept", there).expect("loopback");
        let mut bytes = [0; 20];
        let (length, _) = far.recv_from(&mut bytes).expect("loopback");
        assert_eq!(&bytes[..length], b"kept");
        assert!(far.keep_nothing(false).is_err(), "it is off");
    });
}

#[test]
fn a_second_socket_on_a_port_gets_what_its_peer_sends() {
    both(|address| {
        let ((service, here), (peer, there), (other, _)) =
            (bound(address), bound(address), bound(address));
        let second = match service.apart_for(there, None).expect("same family") {
            Ok(second) => second,
            Err(missing) => return println!("not tested: {missing}"),
        };
        assert_eq!(second.local().expect("bound"), here);
        let mut bytes = [0; 20];
        for _ in 0..3 {
            other.send_to(b"other", here).expect("loopback");
            peer.send_to(b"peer", here).expect("loopback");
            let length = second.recv(&mut bytes).expect("loopback");
            assert_eq!(&bytes[..length], b"peer");
            let (length, _) = service.recv_from(&mut bytes).expect("loopback");
            assert_eq!(&bytes[..length], b"other");
        }
        let third = service.apart_for(other.local().expect("bound"), None).expect("same family");
        other.send_to(b"other", here).expect("loopback");
        let length = third.expect("as the second").recv(&mut bytes).expect("loopback");
        assert_eq!(&bytes[..length], b"other");
        second.send(b"back").expect("loopback");
        let (length, from) = peer.recv_from(&mut bytes).expect("loopback");
        assert_eq!((&bytes[..length], from), (&b"back"[..], here));
        // Nobody else may take the port, and what is left gets all when the second is gone.
        assert!(Datagram::bind(here).is_err());
        drop(second);
        peer.send_to(b"again", here).expect("loopback");
        let (length, _) = service.recv_from(&mut bytes).expect("loopback");
        assert_eq!(&bytes[..length], b"again");
    });
}

#[test]
fn nothing_in_time_is_a_timeout() {
    both(|address| {
        let (socket, local) = bound(address);
        let start = crate::clock::now_ns();
        socket.set_read_timeout(Some(20_000_000)).expect("settable");
        let error = socket.recv(&mut [0; 1]).expect_err("nothing was sent");
        assert!(ErrorClass::of(&error).is_timeout(), "{error}");
        assert!(crate::clock::now_ns() - start >= 19_000_000);

        socket.set_nonblocking(true).expect("settable");
        let error = socket.recv_from(&mut [0; 1]).expect_err("nothing was sent");
        assert_eq!(ErrorClass::of(&error), ErrorClass::WouldBlock, "{error}");

        assert!(!socket.wait_readable(1_000_000).expect("waits"));
        assert!(socket.wait_writable(PATIENCE_NS).expect("waits"));
        socket.send_to(&[1], local).expect("loopback, to itself");
        assert!(socket.wait_readable(PATIENCE_NS).expect("waits"));
    });
}

#[test]
fn closed_port_refuses_a_fixed_peer() {
    both(|address| {
        let (socket, _) = bound(address);
        let (gone, closed) = bound(address);
        drop(gone);
        socket.connect(closed).expect("same family");
        socket.set_read_timeout(Some(PATIENCE_NS)).expect("settable");
        socket.send(b"anyone?").expect("loopback");
        let error = socket.recv(&mut [0; 1]).expect_err("an ICMP error comes back");
        let expected = if cfg!(windows) { ErrorClass::Closed } else { ErrorClass::Refused };
        assert_eq!(ErrorClass::of(&error), expected, "{error}");
    });
}

#[test]
fn buffers_are_granted_and_read_back() {
    both(|address| {
        let (socket, _) = bound(address);
        let send = socket.set_send_buffer(30_000).expect("settable");
        let receive = socket.set_receive_buffer(40_000).expect("settable");
        assert!((30_000..=60_000).contains(&send), "{send}");
        assert!((40_000..=80_000).contains(&receive), "{receive}");
        assert_eq!(socket.send_buffer().expect("readable"), send);
        assert_eq!(socket.receive_buffer().expect("readable"), receive);
    });
}

#[test]
fn too_long_datagram_is_refused() {
    both(|address| {
        let (socket, local) = bound(address);
        // UDP's length field has 16 bits and counts its own 8 bytes.
        let error = socket.send_to(&[0; 65_528], local).expect_err("no datagram is that long");
        assert_eq!(ErrorClass::of(&error), ErrorClass::TooBig, "{error}");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn path_mtu_and_fragmentation_are_known() {
    both(|address| {
        let (socket, _) = bound(address);
        assert_eq!(socket.path_mtu().expect_err("no peer yet").what, "the path MTU");
        let (_peer, remote) = bound(address);
        socket.connect(remote).expect("same family");
        let mtu = socket.path_mtu().expect("Linux tells");
        assert!((1_280..=65_536).contains(&mtu), "{mtu}");
        for on in [true, false, true] {
            socket.set_dont_fragment(on).expect("Linux has it");
            assert_eq!(socket.dont_fragment(), Ok(on));
        }
    });
}

#[cfg(not(target_os = "linux"))]
#[test]
fn path_mtu_and_fragmentation_are_unavailable_with_a_reason() {
    both(|address| {
        let (socket, _) = bound(address);
        assert!(socket.path_mtu().is_err());
        assert!(socket.set_dont_fragment(true).is_err() && socket.dont_fragment().is_err());
    });
}
