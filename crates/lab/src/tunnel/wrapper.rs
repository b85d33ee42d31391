//! One end of a tunnel in user space: a thread that puts a header in front of what the tunnel's
//! interface sends, and takes it away from what comes from the other end.

use crate::LabError;
use std::io::{PipeReader, PipeWriter};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::thread::JoinHandle;
use std::time::Duration;
use v6gap_core::tunnel::TunnelKind;
use v6gap_sys::packet;
use v6gap_sys::tun::{RawIp, Tun};

/// Numbers of IP protocols (IANA): IPv4 and IPv6 inside IP, and GRE.
const IPV4: u8 = 4;
const IPV6: u8 = 41;
const GRE: u8 = 47;

/// Room for the longest packet and a header, in bytes.
const ROOM_BYTES: usize = 65_536 + GRE_BYTES;
/// GRE's header without options: flags and version, all 0, and the EtherType (RFC 2784 section 2).
const GRE_BYTES: usize = 4;
const ETHER_TYPE: [(u8, [u8; 2]); 2] = [(4, [0x08, 0x00]), (6, [0x86, 0xdd])];

/// The running thread; it ends and the interface goes on drop.
#[derive(Debug)]
pub(super) struct Wrapper {
    /// Closing it wakes and ends the thread.
    wake: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Wrapper {
    /// Makes the interface `name` in the calling thread's network namespace and starts to wrap,
    /// between addresses `outer`: this end's and the other's.
    pub fn start(name: &str, kind: TunnelKind, outer: [IpAddr; 2]) -> Result<Self, LabError> {
        let tun = Tun::open(name).map_err(LabError::system(format!("make interface {name}")))?;
        let [local, remote] = outer;
        let open = |protocol| {
            let operation = format!("open a socket for IP protocol {protocol}");
            RawIp::open(local, remote, protocol).map_err(LabError::system(operation))
        };
        let is_gre = kind == TunnelKind::Gre;
        let sockets = match is_gre {
            true => vec![open(GRE)?],
            false => vec![open(IPV4)?, open(IPV6)?],
        };
        let (sleep, wake) = std::io::pipe().map_err(LabError::system("make a pipe"))?;
        let ends = Ends { tun, sockets, is_gre };
        let named = std::thread::Builder::new().name("v6gap-tunnel".to_owned());
        let thread = named.spawn(move || ends.run(&sleep));
        let thread = thread.map_err(LabError::system("start a tunnel's thread"))?;
        Ok(Self { wake: Some(wake), thread: Some(thread) })
    }
}

impl Drop for Wrapper {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            // A panic in the thread has been printed already; there is nothing to save here.
            let _ = thread.join();
        }
    }
}

/// What the thread works between.
struct Ends {
    tun: Tun,
    /// One for GRE; else one for IPv4 and one for IPv6 inside.
    sockets: Vec<RawIp>,
    is_gre: bool,
}

impl Ends {
    /// Until the pipe is closed. What cannot be passed on is lost, as on any router.
    fn run(&self, sleep: &PipeReader) {
        let mut room = vec![0; ROOM_BYTES];
        loop {
            let sockets = self.sockets.iter().map(AsFd::as_fd);
            let own = [sleep.as_fd(), self.tun.as_fd()].into_iter();
            let woken = packet::wait(&own.chain(sockets).collect::<Vec<_>>(), None);
            let closed = packet::wait(&[sleep.as_fd()], Some(Duration::ZERO));
            if woken.is_err() || closed.unwrap_or(true) {
                return;
            }
            while let Ok(Some(length)) = self.tun.receive(&mut room[GRE_BYTES..]) {
                self.wrap(&mut room[..GRE_BYTES + length]);
            }
            for socket in &self.sockets {
                while let Ok(Some(payload)) = socket.receive(&mut room) {
                    if let Some(packet) = self.unwrap(&room[payload]) {
                        let _ = self.tun.send(packet);
                    }
                }
            }
        }
    }

    /// Sends the packet that stands after room for a header.
    fn wrap(&self, room: &mut [u8]) {
        let Some(version) = room.get(GRE_BYTES).map(|first| first >> 4) else { return };
        let Some(inner) = ETHER_TYPE.iter().position(|(found, _)| *found == version) else {
            return;
        };
        if self.is_gre {
            room[..2].fill(0);
            room[2..GRE_BYTES].copy_from_slice(&ETHER_TYPE[inner].1);
            let _ = self.sockets[0].send(room);
        } else {
            let _ = self.sockets[inner].send(&room[GRE_BYTES..]);
        }
    }

    /// The packet inside.
    fn unwrap<'a>(&self, payload: &'a [u8]) -> Option<&'a [u8]> {
        if !self.is_gre {
            return Some(payload);
        }
        let (header, packet) = payload.split_at_checked(GRE_BYTES)?;
        let known = header[..2] == [0, 0] && ETHER_TYPE.iter().any(|(_, t)| header[2..] == *t);
        known.then_some(packet)
    }
}
