//! Linux: traffic class, flow label by the flow label manager, and what arrived.
//!
//! A label must be leased for a destination before packets may carry it (`flowlabel_consistency`).
//! It is leased for anybody and may be leased again, so that runs in a row can use the same one.

use super::super::Domain;
use super::super::platform::{get, get_int, set, set_int};
use super::Marks;
use socket2::Socket;
use std::io;
use std::net::Ipv6Addr;

/// `IPV6_FL_A_GET`, `IPV6_FL_F_CREATE` and `IPV6_FL_S_ANY` of linux/in6.h.
const ACTION_GET: u8 = 0;
const FLAG_CREATE: u16 = 1;
const SHARE_ANY: u8 = 255;

/// `IPV6_FLOWLABEL_MGR`, `IPV6_FLOWINFO_SEND`, `IPV6_FLOWINFO` and `IPV6_2292PKTOPTIONS` of
/// linux/in6.h.
const FLOW_LABEL_MANAGER: libc::c_int = 32;
const FLOW_INFO_SEND: libc::c_int = 33;
const FLOW_INFO: libc::c_int = 11;
const PACKET_OPTIONS_V6: libc::c_int = 6;
/// `IP_PKTOPTIONS` of linux/in.h.
const PACKET_OPTIONS_V4: libc::c_int = 9;

/// `struct in6_flowlabel_req` of linux/in6.h.
#[repr(C)]
#[derive(Clone, Copy)]
struct FlowLabelRequest {
    destination: [u8; 16],
    /// In the order of the wire.
    label: u32,
    action: u8,
    share: u8,
    flags: u16,
    expires_s: u16,
    linger_s: u16,
    padding: u32,
}

pub(super) fn set_traffic_class(socket: &Socket, domain: Domain, octet: u8) -> io::Result<()> {
    let (level, name) = traffic_class_option(domain);
    set_int(socket, level, name, octet.into())
}

pub(super) fn traffic_class(socket: &Socket, domain: Domain) -> Option<u8> {
    let (level, name) = traffic_class_option(domain);
    get_int(socket, level, name).ok().and_then(|value| u8::try_from(value).ok())
}

fn traffic_class_option(domain: Domain) -> (libc::c_int, libc::c_int) {
    match domain {
        Domain::V4 => (libc::IPPROTO_IP, libc::IP_TOS),
        Domain::V6 => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
    }
}

pub(super) fn lease_flow_label(socket: &Socket, to: Ipv6Addr, label: u32) -> io::Result<()> {
    let request = FlowLabelRequest {
        destination: to.octets(),
        label: label.to_be(),
        action: ACTION_GET,
        share: SHARE_ANY,
        flags: FLAG_CREATE,
        expires_s: 0,
        linger_s: 0,
        padding: 0,
    };
    set(socket, libc::IPPROTO_IPV6, FLOW_LABEL_MANAGER, &request)?;
    set_int(socket, libc::IPPROTO_IPV6, FLOW_INFO_SEND, 1)
}

/// The label of a connection, as the manager tells it; none where the system chose one.
pub(super) fn flow_label(socket: &Socket, domain: Domain) -> Option<u32> {
    if domain == Domain::V4 {
        return None;
    }
    let mut request = FlowLabelRequest {
        destination: [0; 16],
        label: 0,
        action: ACTION_GET,
        share: 0,
        flags: 0,
        expires_s: 0,
        linger_s: 0,
        padding: 0,
    };
    get(socket, libc::IPPROTO_IPV6, FLOW_LABEL_MANAGER, &mut request).ok()?;
    Some(u32::from_be(request.label)).filter(|&label| label != 0)
}

/// What the kernel kept of the packets that made an accepted connection.
pub(super) fn arrived(socket: &Socket, domain: Domain) -> io::Result<Marks> {
    let (level, name, wanted) = match domain {
        Domain::V4 => {
            (libc::IPPROTO_IP, PACKET_OPTIONS_V4, [libc::IP_RECVTTL, libc::IP_RECVTOS].as_slice())
        }
        Domain::V6 => (
            libc::IPPROTO_IPV6,
            PACKET_OPTIONS_V6,
            [libc::IPV6_RECVHOPLIMIT, libc::IPV6_RECVTCLASS, FLOW_INFO].as_slice(),
        ),
    };
    for &option in wanted {
        set_int(socket, level, option, 1)?;
    }
    let mut notes = [0_u64; 32];
    let length = get(socket, level, name, &mut notes)?;
    for &option in wanted {
        set_int(socket, level, option, 0)?;
    }
    Ok(parse(&notes, length.min(size_of_val(&notes))))
}

/// Reads control messages: a header of length, level and type, then the value, all aligned to 8
/// bytes on every 64-bit Linux and to 4 on 32-bit ones.
fn parse(notes: &[u64], length: usize) -> Marks {
    let bytes: Vec<u8> = notes.iter().flat_map(|word| word.to_ne_bytes()).take(length).collect();
    let word = size_of::<usize>();
    let header = word + 8;
    let number = |at: usize, count: usize| bytes.get(at..at + count);
    let mut marks = Marks::default();
    let mut at = 0;
    while let Some(head) = number(at, header) {
        let mut size = [0; size_of::<usize>()];
        size.copy_from_slice(&head[..word]);
        let size = usize::from_ne_bytes(size);
        let int = |offset: usize| {
            head.get(offset..offset + 4)
                .and_then(|b| b.try_into().ok())
                .map_or(0, libc::c_int::from_ne_bytes)
        };
        let (level, kind) = (int(word), int(word + 4));
        let value = number(at + header, 4).and_then(|b| b.try_into().ok()).unwrap_or([0; 4]);
        let small = || u8::try_from(libc::c_int::from_ne_bytes(value)).ok();
        match (level, kind) {
            (libc::IPPROTO_IP, libc::IP_TTL) | (libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT) => {
                marks.hop_limit = small();
            }
            // One octet for IPv4, a number for IPv6.
            (libc::IPPROTO_IP, libc::IP_TOS) => marks.traffic_class = Some(value[0]),
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => marks.traffic_class = small(),
            (libc::IPPROTO_IPV6, FLOW_INFO) => {
                marks.flow_label = Some(u32::from_be_bytes(value) & super::FLOW_LABEL_MAX);
            }
            _ => {}
        }
        if size < header {
            break;
        }
        at += size.next_multiple_of(word);
    }
    marks
}
