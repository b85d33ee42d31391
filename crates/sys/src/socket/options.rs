//! Options of TCP sockets: what is asked for, what the system granted, and its own account of a
//! connection.

use super::error::{Operation, SocketError};
use super::marks::Marks;
use super::platform;
use socket2::{Socket, TcpKeepalive};
use std::io;
use std::time::Duration;

/// What to set before connecting or listening, so that it holds from the first segment on.
/// `None` leaves the system's default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamOptions {
    /// Send small segments at once instead of collecting (`TCP_NODELAY`).
    pub no_delay: bool,
    /// `SO_SNDBUF` in bytes; ends automatic sizing, and Linux grants twice as much, up to
    /// twice `net.core.wmem_max`.
    pub send_buffer: Option<u32>,
    /// `SO_RCVBUF` in bytes; as above with `net.core.rmem_max`.
    pub receive_buffer: Option<u32>,
    /// Congestion control by its name, as in "cubic" (Linux only).
    pub congestion: Option<String>,
    /// Upper limit of the segment size in bytes (`TCP_MAXSEG`, Unix only).
    pub mss: Option<u32>,
    /// How packets are marked.
    pub marks: Marks,
}

/// What a TCP socket has, read back from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// `SO_SNDBUF` in bytes; Linux counts its bookkeeping in.
    pub send_buffer: u32,
    /// `SO_RCVBUF` in bytes; Linux counts its bookkeeping in.
    pub receive_buffer: u32,
    /// `TCP_NODELAY`.
    pub no_delay: bool,
    /// Name of the congestion control, where the platform tells.
    pub congestion: Option<String>,
    /// `TCP_MAXSEG` in bytes, where the platform tells.
    pub mss: Option<u32>,
}

impl Granted {
    /// Whether the receive buffer is what was asked for, as this system reports what it grants
    /// (Linux says twice as much), and the send buffer no less, so that it is not the limit.
    pub fn window_as_asked(&self, asked: u32) -> bool {
        platform::buffer_as_asked(asked, self.receive_buffer)
            && self.send_buffer >= self.receive_buffer
    }
}

/// When a TCP connection whose peer's host is gone ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepAlive {
    /// Silence after which the system asks the other one, in s.
    pub idle_s: u16,
    /// Time from one such probe to the next, in s.
    pub interval_s: u16,
    /// Probes without an answer that end it. On Linux and the BSDs; elsewhere the system's number.
    pub probes: u8,
    /// How long what was sent, probes included, may stay without an answer, in ms. Linux only.
    pub unanswered_ms: u32,
}

impl KeepAlive {
    /// The part that all platforms know.
    pub(super) fn common(&self) -> TcpKeepalive {
        TcpKeepalive::new()
            .with_time(Duration::from_secs(self.idle_s.into()))
            .with_interval(Duration::from_secs(self.interval_s.into()))
    }
}

/// Where the packets of a socket came in last; `None` where the system does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Incoming {
    /// Processor that took them from the interface (`SO_INCOMING_CPU`).
    pub processor: Option<u32>,
    /// Receive queue of the interface, by the kernel's number (`SO_INCOMING_NAPI_ID`); cables that
    /// are not real have none.
    pub queue: Option<u32>,
}

/// The kernel's account of one connection. Counts run since it began; `None` means that this kernel
/// is too old to tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Segment size used for sending: payload bytes without TCP options.
    pub snd_mss: u32,
    /// Size of the segments that come, as far as the kernel can tell: payload bytes without TCP
    /// options.
    pub rcv_mss: u32,
    /// Path MTU in bytes.
    pub pmtu: u32,
    /// Smoothed round-trip time, µs.
    pub rtt_us: u32,
    /// Smoothed mean deviation of the round-trip time, µs.
    pub rtt_var_us: u32,
    /// Congestion window in segments.
    pub snd_cwnd: u32,
    /// Segments sent again.
    pub total_retrans: u32,
    /// Whether both ends agreed on TCP timestamps, which take 12 bytes of each segment.
    pub timestamps: bool,
    /// Smallest round-trip time seen, µs; `None` also before the first.
    pub min_rtt_us: Option<u32>,
    /// Payload bytes sent, repeats included.
    pub bytes_sent: Option<u64>,
    /// Payload bytes sent again.
    pub bytes_retrans: Option<u64>,
    /// Payload bytes that the peer acknowledged.
    pub bytes_acked: Option<u64>,
    /// Payload bytes received.
    pub bytes_received: Option<u64>,
    /// Segments sent, those without payload included.
    pub segs_out: Option<u32>,
    /// Segments received, those without payload included.
    pub segs_in: Option<u32>,
    /// Segments with payload sent, repeats included.
    pub data_segs_out: Option<u32>,
    /// Window that the peer offers, in bytes.
    pub snd_wnd: Option<u32>,
    /// Time with data outstanding, µs.
    pub busy_us: Option<u64>,
    /// Time limited by the peer's window, µs.
    pub rwnd_limited_us: Option<u64>,
    /// Time limited by the send buffer, µs.
    pub sndbuf_limited_us: Option<u64>,
    /// Segments delivered with a congestion mark (ECN).
    pub delivered_ce: Option<u32>,
}

/// Sets every option asked for.
pub(super) fn apply(socket: &Socket, options: &StreamOptions) -> Result<(), SocketError> {
    if !options.no_delay {
        set("TCP_NODELAY", socket.set_tcp_nodelay(false))?;
    }
    apply_to_new(socket, options)
}

/// As [`apply`] for a socket that has the system's defaults, of which `TCP_NODELAY` is off.
pub(super) fn apply_to_new(socket: &Socket, options: &StreamOptions) -> Result<(), SocketError> {
    if options.no_delay {
        set("TCP_NODELAY", socket.set_tcp_nodelay(true))?;
    }
    if let Some(bytes) = options.send_buffer {
        set("SO_SNDBUF", socket.set_send_buffer_size(bytes as usize))?;
    }
    if let Some(bytes) = options.receive_buffer {
        set("SO_RCVBUF", socket.set_recv_buffer_size(bytes as usize))?;
    }
    if let Some(name) = &options.congestion {
        set("TCP_CONGESTION", platform::set_congestion(socket, name))?;
    }
    if let Some(bytes) = options.mss {
        set("TCP_MAXSEG", platform::set_mss(socket, bytes))?;
    }
    Ok(())
}

fn set(name: &'static str, outcome: io::Result<()>) -> Result<(), SocketError> {
    outcome.map_err(SocketError::during(Operation::SetOption(name)))
}

/// Reads every option back.
pub(super) fn granted(socket: &Socket) -> Result<Granted, SocketError> {
    Ok(Granted {
        send_buffer: buffer("SO_SNDBUF", socket.send_buffer_size())?,
        receive_buffer: buffer("SO_RCVBUF", socket.recv_buffer_size())?,
        no_delay: socket
            .tcp_nodelay()
            .map_err(SocketError::during(Operation::ReadOption("TCP_NODELAY")))?,
        congestion: platform::congestion(socket),
        mss: platform::mss(socket),
    })
}

/// The outcome of reading a buffer size; the system keeps these in 32 bits.
pub(super) fn buffer(name: &'static str, size: io::Result<usize>) -> Result<u32, SocketError> {
    size.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX))
        .map_err(SocketError::during(Operation::ReadOption(name)))
}
