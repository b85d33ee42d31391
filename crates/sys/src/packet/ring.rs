//! One packet socket and its `TPACKET_V2` ring, as packet(7) and the kernel's
//! `Documentation/networking/packet_mmap.rst` describe them.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Memory is asked from the kernel in blocks of this size, in bytes: a power of two that every page
/// size of Linux divides.
const BLOCK_BYTES: usize = 64 * 1024;

/// Bytes of a slot before the frame: header, link-layer address and alignment, rounded up well.
const SLOT_HEAD_BYTES: usize = 128;

/// `PACKET_OUTGOING` of linux/if_packet.h: what this host sends.
const OUTGOING: u8 = 4;

/// Where in a slot the link-layer address lies: behind the header, aligned (`TPACKET_ALIGN`).
const ADDRESS_AT: usize = HEADER_BYTES.next_multiple_of(libc::TPACKET_ALIGNMENT);
const HEADER_BYTES: usize = size_of::<libc::tpacket2_hdr>();

/// Smallest slot of a port that carries frames, in bytes; holds a frame of an ordinary Ethernet
/// with MTU 1500.
const SLOT_BYTES_MIN: usize = 2048;

/// Longest frame that a slot can be made for, in bytes.
const FRAME_BYTES_MAX: usize = BLOCK_BYTES - SLOT_HEAD_BYTES;

/// An interface's end, open for raw frames: what others send to it is received, and what is sent
/// goes out past its queueing discipline.
#[derive(Debug)]
pub struct Port {
    socket: OwnedFd,
    ring: NonNull<u8>,
    ring_bytes: usize,
    slot_bytes: usize,
    slots: usize,
    next: usize,
}

// SAFETY: the ring belongs to this value alone, and its words shared with the kernel are atomics.
unsafe impl Send for Port {}

/// A received frame, still in the ring: its slot goes back to the kernel on drop.
#[derive(Debug)]
pub struct Frame<'port> {
    /// The frame from its destination address on, without frame check sequence; cut off if it was
    /// longer than the port was opened for.
    pub bytes: &'port [u8],
    /// Full length of the frame in bytes.
    pub length: usize,
    /// When it arrived by the kernel's wall clock, in ns since the Unix epoch.
    pub arrival_realtime_ns: u64,
    /// Whether this host sent it; only a port that listens along gets such frames.
    pub outgoing: bool,
    /// The VLAN tag that stood behind the two addresses, if the kernel took one out.
    pub tag: Option<[u8; 4]>,
    status: &'port AtomicU32,
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        self.status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
    }
}

impl Port {
    /// Opens interface number `interface` of the calling thread's network namespace, with room for
    /// at least `slots` waiting frames of up to `frame_bytes` bytes.
    ///
    /// # Errors
    /// Without the right to open packet sockets there, if there is no such interface, if memory is
    /// short, and for `frame_bytes` beyond 65408.
    pub fn open(interface: u32, slots: usize, frame_bytes: usize) -> io::Result<Self> {
        Self::with(interface, slots, frame_bytes, SLOT_BYTES_MIN, |socket| {
            set(socket, libc::PACKET_IGNORE_OUTGOING, &1_i32)?;
            set(socket, libc::PACKET_QDISC_BYPASS, &1_i32)
        })
    }

    /// Listens along at interface number `interface`: gets what comes and what goes, as far as the
    /// `program` of classic BPF takes it; the program says how many bytes of each frame are kept,
    /// and a slot holds up to `frame_bytes` of them.
    ///
    /// # Errors
    /// As [`open`](Self::open), and if the kernel does not take the program.
    pub(crate) fn listen(
        interface: u32,
        slots: usize,
        frame_bytes: usize,
        program: &[libc::sock_filter],
    ) -> io::Result<Self> {
        Self::with(interface, slots, frame_bytes, 1, |socket| attach(socket, program))
    }

    fn with(
        interface: u32,
        slots: usize,
        frame_bytes: usize,
        slot_bytes_min: usize,
        prepare: impl FnOnce(&OwnedFd) -> io::Result<()>,
    ) -> io::Result<Self> {
        if frame_bytes > FRAME_BYTES_MAX {
            let message = format!("a ring cannot hold frames of {frame_bytes} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let slot_bytes = slot_bytes(frame_bytes).max(slot_bytes_min);
        let blocks = (slots.max(1) * slot_bytes).div_ceil(BLOCK_BYTES);
        let ring_bytes = blocks * BLOCK_BYTES;
        let socket = packet_socket()?;
        // Asks for stamps from the moment a frame leaves its sender. Without it the ring's stamp is
        // taken once the frame has been copied into the ring, which takes the longer the longer
        // the frame is.
        set_at(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1_i32)?;
        set(&socket, libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as libc::c_int))?;
        prepare(&socket)?;
        let slots = ring_bytes / slot_bytes;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: small(blocks)?,
            tp_frame_size: slot_bytes as u32,
            tp_frame_nr: small(slots)?,
        };
        set(&socket, libc::PACKET_RX_RING, &request)?;
        let ring = map(&socket, ring_bytes)?;
        // From here on `port` unmaps the ring.
        let port = Self { socket, ring, ring_bytes, slot_bytes, slots, next: 0 };
        bind(&port.socket, interface)?;
        Ok(port)
    }

    /// The next frame that has arrived, oldest first; `None` if none is waiting.
    pub fn receive(&mut self) -> Option<Frame<'_>> {
        let offset = self.next * self.slot_bytes;
        // SAFETY: next < slots, so the slot lies within the mapping, which lives as long as self
        // and is aligned to pages; slots are aligned to their size. The status word is only ever
        // accessed as an atomic.
        let (slot, status) = unsafe {
            let slot = self.ring.add(offset);
            (slot, slot.cast::<AtomicU32>().as_ref())
        };
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return None;
        }
        self.next = (self.next + 1) % self.slots;
        // SAFETY: the status says that the kernel has filled the slot and leaves it alone until it
        // is given back, which Frame does on drop; Frame borrows self, so no second one can exist.
        let header = unsafe { slot.cast::<libc::tpacket2_hdr>().read() };
        let start = usize::from(header.tp_mac).min(self.slot_bytes);
        let kept = (header.tp_snaplen as usize).min(self.slot_bytes - start);
        // SAFETY: start + kept lies within the slot by the two bounds above.
        let bytes = unsafe { std::slice::from_raw_parts(slot.add(start).as_ptr(), kept) };
        let seconds = u64::from(header.tp_sec) * 1_000_000_000;
        // SAFETY: the kernel writes the link-layer address behind the header, aligned to 16 bytes,
        // and a slot has room for both.
        let from = unsafe { slot.add(ADDRESS_AT).cast::<libc::sockaddr_ll>().read() };
        let tagged = header.tp_status & libc::TP_STATUS_VLAN_VALID != 0;
        Some(Frame {
            bytes,
            length: header.tp_len as usize,
            arrival_realtime_ns: seconds + u64::from(header.tp_nsec),
            outgoing: from.sll_pkttype == OUTGOING,
            tag: tagged.then(|| tag(&header)),
            status,
        })
    }

    /// Sends one frame, from its destination address on, past the queueing discipline.
    ///
    /// # Errors
    /// If the interface is down, its queue is full or the frame is longer than its MTU allows.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        let flags = libc::MSG_DONTWAIT;
        // SAFETY: the slice is live and its length is passed.
        let sent = unsafe {
            libc::send(self.socket.as_raw_fd(), frame.as_ptr().cast(), frame.len(), flags)
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Frames that the kernel threw away because the ring was full, since the last call.
    ///
    /// # Errors
    /// Only if the socket is broken.
    pub fn overruns(&self) -> io::Result<u32> {
        let mut counts = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: the structure is live and its length is passed.
        let returned = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut counts).cast(),
                &raw mut length,
            )
        };
        if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(counts.tp_drops) }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this address and length and nothing borrows from it.
        unsafe { libc::munmap(self.ring.as_ptr().cast(), self.ring_bytes) };
    }
}

/// Bytes of the ring that one frame of `frame_bytes` takes.
pub(crate) fn slot_bytes(frame_bytes: usize) -> usize {
    (frame_bytes + SLOT_HEAD_BYTES).next_power_of_two()
}

/// The tag as it stood on the line: its protocol, 802.1Q where the kernel does not say, and its
/// control information.
fn tag(header: &libc::tpacket2_hdr) -> [u8; 4] {
    const DOT1Q: u16 = 0x8100;
    let told = header.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
    let protocol = if told { header.tp_vlan_tpid } else { DOT1Q };
    let ([a, b], [c, d]) = (protocol.to_be_bytes(), header.tp_vlan_tci.to_be_bytes());
    [a, b, c, d]
}

/// Lets through only what `program` takes.
fn attach(socket: &OwnedFd, program: &[libc::sock_filter]) -> io::Result<()> {
    let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "the filter is too long");
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(|_| too_long())?,
        filter: program.as_ptr().cast_mut(),
    };
    let length = size_of::<libc::sock_fprog>() as libc::socklen_t;
    let value = (&raw const program).cast();
    let (socket, level) = (socket.as_raw_fd(), libc::SOL_SOCKET);
    // SAFETY: the structure and the instructions that it points to are live, and their number is
    // passed; the kernel copies them.
    let returned =
        unsafe { libc::setsockopt(socket, level, libc::SO_ATTACH_FILTER, value, length) };
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A packet socket that receives nothing until it is bound.
fn packet_socket() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: the descriptor is checked and owned by nobody else.
    unsafe {
        let socket = libc::socket(libc::AF_PACKET, kind, 0);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(socket))
    }
}

fn set<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> io::Result<()> {
    set_at(socket, libc::SOL_PACKET, option, value)
}

fn set_at<T>(
    socket: &OwnedFd,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value = std::ptr::from_ref(value).cast();
    // SAFETY: the value is live and its length is passed; the kernel only reads it.
    let returned = unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value, length) };
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn map(socket: &OwnedFd, bytes: usize) -> io::Result<NonNull<u8>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice cannot touch existing memory.
    let address = unsafe {
        let socket = socket.as_raw_fd();
        libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, socket, 0)
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(address.cast()).ok_or_else(|| io::Error::other("the ring was mapped at zero"))
}

fn bind(socket: &OwnedFd, interface: u32) -> io::Result<()> {
    // SAFETY: sockaddr_ll is plain data, for which zero is valid; it is live and its length is
    // passed.
    let returned = unsafe {
        let mut address: libc::sockaddr_ll = std::mem::zeroed();
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = interface.cast_signed();
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length)
    };
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A count that the kernel takes in 32 bits.
fn small(count: usize) -> io::Result<u32> {
    u32::try_from(count).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "ring too large"))
}
