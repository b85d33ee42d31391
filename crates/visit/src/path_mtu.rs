//! Looking for the largest packet that passes on the way to a host: by echoes of ICMP, which come
//! back as large as they went, and by version negotiation of QUIC, whose answer is small. Neither
//! needs the routers to say anything.

use std::io;
use std::net::SocketAddr;
use v6gap_core::family::Family;
use v6gap_core::version_negotiation::{self, Ids};
use v6gap_sys::socket::{Datagram, ECHO_HEADER_BYTES, ECHO_ROOM_BYTES, ErrorClass, Ping};
use v6gap_sys::{clock, entropy};

/// Length of a UDP header, in bytes.
const UDP_HEADER_BYTES: usize = 8;

/// Room for the answer of a server that negotiates the version: it may name many of them.
const ANSWER_BYTES_MAX: usize = 2048;

/// What is sent in different sizes.
pub(crate) enum Sizes {
    /// Echoes of ICMP.
    Echoes(Ping),
    /// Questions of a version of QUIC that nobody speaks.
    Questions(Datagram),
}

/// Whose packets they are, and how long one may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    /// The host; its port is that of QUIC.
    pub remote: SocketAddr,
    /// Address of this end, where the system is not to choose.
    pub local: Option<SocketAddr>,
    /// Longest wait for an answer, in ns.
    pub wait_ns: u64,
}

impl Way {
    fn family(&self) -> Family {
        Family::of(&self.remote.ip()).unwrap_or(Family::V4)
    }

    fn local(&self) -> SocketAddr {
        let any = SocketAddr::new(self.family().unspecified(), 0);
        let mut local = self.local.unwrap_or(any);
        local.set_port(0);
        local
    }

    /// Echoes; `None` where this system or user may not send any.
    pub(crate) fn echoes(&self) -> Option<Sizes> {
        let identifier = u16::from_ne_bytes(entropy::bytes().ok()?);
        let opened = Ping::open(self.local(), self.remote, identifier);
        let ping = opened.ok()?.ok()?;
        ping.as_datagram().probe_path_mtu().ok()?;
        Some(Sizes::Echoes(ping))
    }

    /// Questions; `None` where this system does not let their size be chosen.
    pub(crate) fn questions(&self) -> Option<Sizes> {
        let socket = Datagram::bind(self.local()).ok()?;
        socket.connect(self.remote).ok()?;
        socket.probe_path_mtu().ok()?;
        Some(Sizes::Questions(socket))
    }

    /// What this system takes for the path MTU; asking sends nothing.
    pub(crate) fn told(&self) -> Option<u32> {
        let socket = Datagram::bind(self.local()).ok()?;
        socket.connect(self.remote).ok()?;
        socket.path_mtu().ok()
    }

    /// Whether an IP packet of so many bytes is answered. One that this system does not send, be it
    /// for its size, is not.
    pub(crate) fn passes(&self, what: &Sizes, packet_bytes: u32) -> bool {
        let header_bytes = self.family().header_bytes();
        let message = packet_bytes.saturating_sub(header_bytes) as usize;
        let passes = match what {
            Sizes::Echoes(ping) => self.echo_passes(ping, message),
            Sizes::Questions(socket) => {
                self.question_passes(socket, message.saturating_sub(UDP_HEADER_BYTES))
            }
        };
        passes.unwrap_or(false)
    }

    fn echo_passes(&self, ping: &Ping, bytes: usize) -> Option<bool> {
        let mut message = vec![0; bytes.max(ECHO_HEADER_BYTES)];
        // All of it is drawn: an answer is known by its payload.
        entropy::random(&mut message).ok()?;
        let sequence = u16::from_be_bytes([message[0], message[1]]);
        ping.send(sequence, &mut message).ok()?;
        let mut buffer = vec![0; bytes + ECHO_ROOM_BYTES];
        let is_answer = |buffer: &mut [u8]| {
            Ok(ping.recv(buffer)?.is_some_and(|(number, payload)| {
                number == sequence && *payload == message[ECHO_HEADER_BYTES..]
            }))
        };
        Some(self.comes(ping.as_datagram(), &mut buffer, is_answer))
    }

    fn question_passes(&self, socket: &Datagram, bytes: usize) -> Option<bool> {
        let ids = Ids { to: entropy::bytes().ok()?, from: entropy::bytes().ok()? };
        let mut packet = vec![0; bytes];
        version_negotiation::ask(&ids, &mut packet)?;
        socket.send(&packet).ok()?;
        let mut buffer = [0; ANSWER_BYTES_MAX];
        let is_answer = |buffer: &mut [u8]| {
            let count = socket.recv(buffer)?;
            Ok(version_negotiation::answers(&ids, &buffer[..count]))
        };
        Some(self.comes(socket, &mut buffer, is_answer))
    }

    /// Whether an answer comes in time. What the system tells of packets meanwhile is none.
    fn comes(
        &self,
        socket: &Datagram,
        buffer: &mut [u8],
        is_answer: impl Fn(&mut [u8]) -> io::Result<bool>,
    ) -> bool {
        let until_ns = clock::now_ns().saturating_add(self.wait_ns);
        loop {
            let left_ns = until_ns.saturating_sub(clock::now_ns());
            if left_ns == 0 || !socket.wait_readable(left_ns).unwrap_or(false) {
                return false;
            }
            match is_answer(buffer) {
                Ok(true) => return true,
                // Nobody has the port, so nobody will answer.
                Err(error) if ErrorClass::of(&error) == ErrorClass::Refused => return false,
                Ok(false) | Err(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const WAIT_NS: u64 = 1_000_000_000;

    /// A server that answers one question as the RFC says, whatever it is.
    fn negotiator(family: Family) -> (SocketAddr, thread::JoinHandle<()>) {
        let socket = std::net::UdpSocket::bind((family.loopback(), 0)).unwrap();
        let address = socket.local_addr().unwrap();
        let serve = move || {
            let mut question = [0; 2048];
            let (count, from) = socket.recv_from(&mut question).unwrap();
            assert!(count >= version_negotiation::BYTES_MIN);
            let [to, ours] = [&question[6..14], &question[15..23]];
            let answer = [&[0x80, 0, 0, 0, 0, 8][..], ours, &[8], to, &[0, 0, 0, 1]].concat();
            socket.send_to(&answer, from).unwrap();
        };
        (address, thread::spawn(serve))
    }

    #[test]
    fn a_question_is_answered_and_silence_is_not() {
        for family in Family::BOTH {
            let (remote, served) = negotiator(family);
            let way = Way { remote, local: None, wait_ns: WAIT_NS };
            // Where the system does not let it be chosen, there is nothing to look at.
            let Some(questions) = way.questions() else { return };
            assert!(way.passes(&questions, 1_400), "{family}");
            served.join().unwrap();
            assert!(!way.passes(&questions, 1_000), "shorter than is answered");
            let quick = Way { wait_ns: 1, ..way };
            assert!(!quick.passes(&questions, 1_400), "nobody is there any more");
        }
    }

    #[test]
    fn an_echo_of_any_size_passes_on_loopback() {
        for family in Family::BOTH {
            let remote = SocketAddr::new(family.loopback(), 9);
            let way = Way { remote, local: None, wait_ns: WAIT_NS };
            let Some(echoes) = way.echoes() else { return };
            for bytes in [60, 1_280, 1_500] {
                assert!(way.passes(&echoes, bytes), "{family} {bytes}");
            }
            assert!(way.told().is_none_or(|mtu| mtu > 1_500));
        }
    }
}
