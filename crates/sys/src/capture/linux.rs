//! Linux: a packet socket with a receive ring and a filter in the kernel.

use super::filter::{self, Instruction};
use super::{Filter, Frame, Link, Refused, SNAP_BYTES_MAX, SNAP_BYTES_MIN};
use crate::interface;
use crate::packet::Port;
use crate::{Unavailable, packet};
use std::io;

/// An interface that is listened to from its opening on.
#[derive(Debug)]
pub struct Tap {
    interface: String,
    link: Link,
    /// Whether each frame is seen twice, as it goes and as it comes.
    loops: bool,
    port: Port,
}

impl Tap {
    /// Listens along at `interface` of the calling thread's network namespace; up to `snap_bytes`
    /// of each frame are kept ([`SNAP_BYTES_MIN`] to [`SNAP_BYTES_MAX`]; others are brought there),
    /// in a ring of about `ring_bytes`. The tap may then be used by any thread.
    ///
    /// # Errors
    /// Without the right to, if there is no such interface or memory is short.
    pub fn open(
        interface: &str,
        filter: &Filter,
        snap_bytes: u32,
        ring_bytes: usize,
    ) -> Result<Self, Refused> {
        let (index, kind) = interface::kind(interface).map_err(Refused::Failed)?;
        let link = match kind {
            libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK => Link::Ethernet,
            // A tunnel's frames begin with the IP header.
            libc::ARPHRD_NONE | libc::ARPHRD_TUNNEL | libc::ARPHRD_TUNNEL6 | libc::ARPHRD_SIT => {
                Link::Ip
            }
            other => {
                let because = format!("{interface} is of kind {other}, which is not known here");
                return Err(Refused::Unavailable(Unavailable::new("capturing", because)));
            }
        };
        let snap_bytes = snap_bytes.clamp(SNAP_BYTES_MIN, SNAP_BYTES_MAX);
        let program: Vec<libc::sock_filter> =
            filter::program(filter, snap_bytes).into_iter().map(raw).collect();
        let slots = ring_bytes / packet::slot_bytes(snap_bytes as usize);
        let port = Port::listen(index, slots, snap_bytes as usize, &program);
        let port = port.map_err(|error| match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => Refused::NotPermitted,
            _ => Refused::Failed(error),
        })?;
        let loops = kind == libc::ARPHRD_LOOPBACK;
        Ok(Self { interface: interface.to_owned(), link, loops, port })
    }

    /// Name of the interface.
    pub fn interface(&self) -> &str {
        &self.interface
    }

    /// How its frames begin.
    pub fn link(&self) -> Link {
        self.link
    }

    /// Hands the oldest frame that is waiting to `look`; `None` if there is none. On the loopback
    /// interface, where each frame passes as sent and as received, it is taken as it comes.
    pub fn take<T>(&mut self, look: impl FnOnce(Frame<'_>) -> T) -> Option<T> {
        loop {
            let frame = self.port.receive()?;
            if self.loops && frame.outgoing {
                continue;
            }
            return Some(look(Frame {
                bytes: frame.bytes,
                tag: frame.tag,
                length: frame.length,
                at_unix_ns: frame.arrival_realtime_ns,
                outgoing: frame.outgoing,
            }));
        }
    }

    /// Frames that did not fit into the ring since the last call.
    ///
    /// # Errors
    /// Only if the socket is broken.
    pub fn dropped(&self) -> io::Result<u32> {
        self.port.overruns()
    }
}

fn raw(instruction: Instruction) -> libc::sock_filter {
    let Instruction { code, yes, no, value } = instruction;
    libc::sock_filter { code, jt: yes, jf: no, k: value }
}
