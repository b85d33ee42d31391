//! What a tunnel in user space is made of on Linux: an interface whose packets a program reads and
//! writes (`Documentation/networking/tuntap.rst`), and a socket for packets of any IP protocol
//! (raw(7)).

use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

/// Where such interfaces are asked for.
const DEVICE: &str = "/dev/net/tun";

/// An interface without a cable: IP packets sent to it are read here, and what is written here has
/// come in over it. Gone when dropped.
#[derive(Debug)]
pub struct Tun {
    file: File,
}

impl Tun {
    /// Makes an interface called `name` in the calling thread's network namespace; it is down.
    ///
    /// # Errors
    /// If the kernel has no such interfaces, this user may not make any, the name is taken, or is
    /// longer than 15 bytes.
    pub fn open(name: &str) -> io::Result<Self> {
        Ok(Self { file: made(name, libc::IFF_TUN)? })
    }

    /// The next IP packet that was sent to the interface; `None` if none is waiting. What does not
    /// fit into `into` is cut off.
    ///
    /// # Errors
    /// If the interface is gone.
    pub fn receive(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        waiting((&self.file).read(into))
    }

    /// An IP packet comes in over the interface. One that the interface cannot take now is lost, as
    /// on any other.
    ///
    /// # Errors
    /// If it is no IP packet, or the interface is down or gone.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        waiting((&self.file).write(packet)).map(|_| ())
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// One end of a cable whose other end is a program's: Ethernet frames sent to the interface are
/// read from the descriptor, and what is written there has come in over it. Gone when it and all of
/// its copies are closed.
#[derive(Debug)]
pub struct Tap {
    file: File,
}

impl Tap {
    /// Makes an interface called `name` in the calling thread's network namespace; it is down. With
    /// `unfinished` frames have a header that says what is left to do with them (`virtio_net.h`),
    /// so that both ends may leave checksums and segments to each other.
    ///
    /// # Errors
    /// As [`Tun::open`].
    pub fn open(name: &str, unfinished: bool) -> io::Result<Self> {
        let header = if unfinished { libc::IFF_VNET_HDR } else { 0 };
        Ok(Self { file: made(name, libc::IFF_TAP | header)? })
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// An interface of this kind, by its descriptor.
fn made(name: &str, kind: libc::c_int) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(DEVICE)
        .map_err(|e| io::Error::new(e.kind(), format!("{DEVICE}: {e}")))?;
    // SAFETY: all zeroes is a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.is_empty() || name.len() >= request.ifr_name.len() {
        let message = format!("`{name}` is no name for an interface");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (kind | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the descriptor is open, and the kernel reads and writes one live ifreq.
    let made = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if made < 0 { Err(io::Error::last_os_error()) } else { Ok(file) }
}

/// A socket for all packets of one IP protocol between two addresses. The kernel writes the IP
/// header of what is sent.
#[derive(Debug)]
pub struct RawIp {
    socket: Socket,
}

impl RawIp {
    /// Opens it in the calling thread's network namespace; `protocol` as in the IP header.
    ///
    /// # Errors
    /// If the addresses are of different families, `local` is not this host's, or this user may not
    /// open such sockets.
    pub fn open(local: IpAddr, remote: IpAddr, protocol: u8) -> io::Result<Self> {
        let [local, remote] = [local, remote].map(|ip| SockAddr::from(SocketAddr::new(ip, 0)));
        let domain = Domain::from(i32::from(local.family()));
        let socket = Socket::new(domain, Type::RAW, Some(Protocol::from(i32::from(protocol))))?;
        socket.set_nonblocking(true)?;
        socket.bind(&local)?;
        socket.connect(&remote)?;
        Ok(Self { socket })
    }

    /// What the next packet carries: `into` from the place that comes back first, as long as the
    /// second says. `None` if none is waiting. Of IPv4 the kernel hands the header over as well,
    /// which is passed over; what does not fit is cut off.
    ///
    /// # Errors
    /// If the kernel refuses, as where the network reported an error.
    pub fn receive(&self, into: &mut [u8]) -> io::Result<Option<std::ops::Range<usize>>> {
        let Some(length) = waiting((&self.socket).read(into))? else { return Ok(None) };
        let start = match self.socket.local_addr()?.domain() {
            Domain::IPV4 => usize::from(into.first().map_or(0, |first| first & 0x0f)) * 4,
            _ => 0,
        };
        Ok(Some(start.min(length)..length))
    }

    /// Sends a packet that carries `payload`. One for which the interface has no room is lost, as
    /// on any router.
    ///
    /// # Errors
    /// If it is too long for the path, or there is no way to the other end.
    pub fn send(&self, payload: &[u8]) -> io::Result<()> {
        waiting(self.socket.send(payload)).map(|_| ())
    }
}

impl AsFd for RawIp {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn waiting(done: io::Result<usize>) -> io::Result<Option<usize>> {
    match done {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(e) if e.raw_os_error() == Some(libc::ENOBUFS) => Ok(None),
        Err(e) => Err(e),
    }
}
