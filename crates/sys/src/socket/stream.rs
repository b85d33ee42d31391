//! A TCP connection.

use super::error::{Operation, SocketError};
use super::options::{self, Granted, KeepAlive, StreamOptions, TcpInfo};
use super::{Domain, confine, create, platform, refuse_mapped, refuse_mixed};
use super::{ancillary, call, marks, wait};
use crate::{Unavailable, clock};
use rustix::event::PollFlags;
use rustix::io::Errno;
use socket2::{Protocol, SockRef, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// A TCP connection of one family, in blocking mode unless told otherwise.
///
/// Its methods take `&self`: one thread may read while another writes.
#[derive(Debug)]
pub struct Stream {
    pub(crate) inner: TcpStream,
    /// Whether the peer asked for the connection.
    pub(super) accepted: bool,
}

/// How long the two steps of connecting took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectTimes {
    /// Creating the socket, without setting its options, ns.
    pub socket_ns: u64,
    /// From the call of `connect` until the connection stood, ns.
    pub connect_ns: u64,
}

/// A connection that has only begun.
#[derive(Debug)]
pub struct Begun {
    /// The socket.
    pub stream: Stream,
    /// Creating it took so long, in ns.
    pub socket_ns: u64,
    /// When `connect` was called, by the monotonic clock in ns.
    pub start_ns: u64,
}

impl Stream {
    /// Connects to `remote`, from `local` if given (port 0 lets the system choose).
    ///
    /// # Errors
    /// Mapped or mixed addresses, a refused option, or the system's answer; after `timeout_ns` one
    /// of class [`TimedOut`](super::ErrorClass::TimedOut).
    pub fn connect(
        local: Option<SocketAddr>,
        remote: SocketAddr,
        options: &StreamOptions,
        timeout_ns: u64,
    ) -> Result<Self, SocketError> {
        Self::connect_timed(local, remote, options, timeout_ns).map(|(stream, _)| stream)
    }

    /// As [`Stream::connect`], and says how long it took.
    ///
    /// # Errors
    /// As [`Stream::connect`].
    pub fn connect_timed(
        local: Option<SocketAddr>,
        remote: SocketAddr,
        options: &StreamOptions,
        timeout_ns: u64,
    ) -> Result<(Self, ConnectTimes), SocketError> {
        let (socket, remote, socket_ns) = not_waiting(local, remote, options)?;
        let failed = SocketError::at(Operation::Connect, remote);
        let start = clock::now_ns();
        connect_within(&socket, remote, timeout_ns).map_err(&failed)?;
        let connect_ns = clock::now_ns() - start;
        socket.set_nonblocking(false).map_err(&failed)?;
        Ok((Self::asked_for(socket), ConnectTimes { socket_ns, connect_ns }))
    }

    /// Begins to connect and returns at once. The stream does not wait; when it is writable,
    /// [`Stream::connected`] says what came of it.
    ///
    /// # Errors
    /// As [`Stream::connect`].
    pub fn begin(
        local: Option<SocketAddr>,
        remote: SocketAddr,
        options: &StreamOptions,
    ) -> Result<Begun, SocketError> {
        let (socket, remote, socket_ns) = not_waiting(local, remote, options)?;
        Self::begin_on(socket, remote, socket_ns)
    }

    /// As [`Stream::begin`], and what routers tell of its packets is kept ([`Stream::heard`]).
    ///
    /// # Errors
    /// As [`Stream::connect`]; `Ok(Err(..))` off Linux.
    pub fn begin_hearing(
        local: Option<SocketAddr>,
        remote: SocketAddr,
        options: &StreamOptions,
    ) -> Result<Result<Begun, Unavailable>, SocketError> {
        let (socket, remote, socket_ns) = not_waiting(local, remote, options)?;
        match ancillary::hear_routers(&socket, Ok(Domain::of(&remote))) {
            Ok(()) => Self::begin_on(socket, remote, socket_ns).map(Ok),
            Err(unavailable) => Ok(Err(unavailable)),
        }
    }

    fn begin_on(socket: Socket, remote: SocketAddr, socket_ns: u64) -> Result<Begun, SocketError> {
        let start_ns = clock::now_ns();
        match socket.connect(&remote.into()) {
            Ok(()) => {}
            Err(error) if is_under_way(&error) => {}
            Err(error) => return Err(SocketError::at(Operation::Connect, remote)(error)),
        }
        Ok(Begun { stream: Self::asked_for(socket), socket_ns, start_ns })
    }

    /// Connects as [`Stream::connect`] does, in a call that waits, which is the fewest that there
    /// can be. The stream waits as well, without limit; `timeout_ns` holds only while something
    /// interrupts the calling thread (an [`Interrupter`](crate::Interrupter)).
    ///
    /// # Errors
    /// As [`Stream::connect`].
    pub fn connect_waiting(
        local: Option<SocketAddr>,
        remote: SocketAddr,
        options: &StreamOptions,
        timeout_ns: u64,
    ) -> Result<Begun, SocketError> {
        let (socket, remote, socket_ns) = prepare(local, remote, options, Type::STREAM)?;
        let start_ns = clock::now_ns();
        connect_within(&socket, remote, timeout_ns)
            .map_err(SocketError::at(Operation::Connect, remote))?;
        Ok(Begun { stream: Self::asked_for(socket), socket_ns, start_ns })
    }

    /// What came of [`Stream::begin`] once the stream is writable.
    ///
    /// # Errors
    /// Why there is no connection.
    pub fn connected(&self, remote: SocketAddr) -> Result<(), SocketError> {
        let failed = SocketError::at(Operation::Connect, remote);
        match self.inner.take_error() {
            Ok(Some(error)) | Err(error) => Err(failed(error)),
            Ok(None) => Ok(()),
        }
    }

    /// Sends a few bytes over what [`Stream::begin`] made if it stands already, and says whether it
    /// does: near hosts answer before the system returns from there, which does not tell.
    ///
    /// # Errors
    /// Why there is no connection.
    pub fn write_if_connected(
        &self,
        remote: SocketAddr,
        bytes: &[u8],
    ) -> Result<bool, SocketError> {
        match self.write(bytes) {
            Ok(count) if count == bytes.len() => Ok(true),
            Ok(_) => Err(io::ErrorKind::WriteZero.into()),
            Err(error) if is_under_way(&error) => Ok(false),
            // So say the systems that would not wait for it here.
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error),
        }
        .map_err(SocketError::at(Operation::Connect, remote))
    }

    /// Memory that the kernel holds for this socket's data, in bytes: what waits to be read or
    /// sent, what it reserved, and options (SO_MEMINFO).
    ///
    /// # Errors
    /// Off Linux.
    pub fn memory_bytes(&self) -> Result<u64, Unavailable> {
        platform::memory_bytes(&SockRef::from(&self.inner))
    }

    fn asked_for(socket: Socket) -> Self {
        Self { inner: socket.into(), accepted: false }
    }

    /// Wraps a connection just accepted.
    pub(crate) fn accepted(inner: TcpStream) -> Self {
        Self { inner, accepted: true }
    }

    /// Reads what is there, at least one byte; 0 means that the peer has ended its direction.
    ///
    /// # Errors
    /// The system's answer; nothing in time is [`is_timeout`](super::ErrorClass::is_timeout).
    #[inline]
    pub fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        call::receive(&self.inner, bytes)
    }

    /// As [`Stream::read`], which is over when a signal interrupts it.
    ///
    /// # Errors
    /// The system's answer; class [`Interrupted`](super::ErrorClass::Interrupted) after a signal.
    #[inline]
    pub fn read_interruptible(&self, bytes: &mut [u8]) -> io::Result<usize> {
        call::receive_interruptible(&self.inner, bytes)
    }

    /// Writes as much as the system takes and returns how much.
    ///
    /// # Errors
    /// The system's answer.
    #[inline]
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        call::send(&self.inner, bytes)
    }

    /// Fills `bytes`.
    ///
    /// # Errors
    /// The system's answer, or `UnexpectedEof` if the peer ended before.
    #[inline]
    pub fn read_exact(&self, bytes: &mut [u8]) -> io::Result<()> {
        (&self.inner).read_exact(bytes)
    }

    /// Writes all `bytes`.
    ///
    /// # Errors
    /// The system's answer.
    #[inline]
    pub fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.inner).write_all(bytes)
    }

    /// A blocking read waits until so many bytes are there, or nothing more can come
    /// (`SO_RCVLOWAT`); the kernel wakes the reader no sooner, and grants at most half of the
    /// receive buffer.
    ///
    /// # Errors
    /// Off Linux.
    pub fn set_receive_low_water(&self, bytes: u32) -> Result<(), Unavailable> {
        platform::set_receive_low_water(&SockRef::from(&self.inner), bytes)
    }

    /// Acknowledges at once what was read (`TCP_QUICKACK`): the system would hold that back for
    /// tens of milliseconds, in the hope of an answer that takes it along.
    ///
    /// # Errors
    /// Off Linux.
    pub fn acknowledge(&self) -> Result<(), Unavailable> {
        platform::acknowledge(&SockRef::from(&self.inner))
    }

    /// Longest time a write waits, in ns; `None` for ever.
    ///
    /// # Errors
    /// The system's answer.
    pub fn set_write_timeout(&self, timeout_ns: Option<u64>) -> Result<(), SocketError> {
        self.inner
            .set_write_timeout(wait::timeout(timeout_ns))
            .map_err(SocketError::during(Operation::SetOption("SO_SNDTIMEO")))
    }

    /// Tells the peer that nothing more will come; reading goes on.
    ///
    /// # Errors
    /// The system's answer.
    pub fn shutdown_write(&self) -> Result<(), SocketError> {
        self.inner.shutdown(Shutdown::Write).map_err(SocketError::during(Operation::Shutdown))
    }

    /// Lets the system notice when the peer's host is gone (`SO_KEEPALIVE`, `TCP_USER_TIMEOUT`):
    /// what was sent is not acknowledged in time, or a silent connection's probes are not answered.
    ///
    /// # Errors
    /// The system's answer.
    pub fn keep_alive(&self, times: &KeepAlive) -> Result<(), SocketError> {
        let socket = SockRef::from(&self.inner);
        platform::keep_alive(&socket, times)
            .map_err(SocketError::during(Operation::SetOption("SO_KEEPALIVE")))
    }

    /// The same socket for a runtime, which does not wait; this one then does not either.
    ///
    /// # Errors
    /// The system's answer.
    pub fn share(&self) -> io::Result<TcpStream> {
        let shared = self.inner.try_clone()?;
        shared.set_nonblocking(true)?;
        Ok(shared)
    }

    /// Makes closing discard what is unsent and reset the connection (RST), which leaves no
    /// `TIME_WAIT` behind.
    ///
    /// # Errors
    /// The system's answer.
    pub fn linger_zero(&self) -> Result<(), SocketError> {
        SockRef::from(&self.inner)
            .set_linger(Some(Duration::ZERO))
            .map_err(SocketError::during(Operation::SetOption("SO_LINGER")))
    }

    /// Sets options on a connection that stands. A receive buffer bounds what is offered from now
    /// on, a segment size only what is sent.
    ///
    /// # Errors
    /// An option that the system refuses.
    pub fn set_options(&self, options: &StreamOptions) -> Result<(), SocketError> {
        options::apply(&SockRef::from(&self.inner), options)
    }

    /// The options in force.
    ///
    /// # Errors
    /// The system's answer.
    pub fn got(&self) -> Result<Granted, SocketError> {
        options::granted(&SockRef::from(&self.inner))
    }

    /// The kernel's account of this connection.
    ///
    /// # Errors
    /// Off Linux.
    pub fn info(&self) -> Result<TcpInfo, Unavailable> {
        platform::info(&SockRef::from(&self.inner))
    }
}

/// As [`prepare`], a socket that does not wait.
fn not_waiting(
    local: Option<SocketAddr>,
    remote: SocketAddr,
    options: &StreamOptions,
) -> Result<(Socket, SocketAddr, u64), SocketError> {
    let prepared = prepare(local, remote, options, platform::NOT_WAITING)?;
    platform::not_waiting(&prepared.0).map_err(SocketError::at(Operation::Connect, prepared.1))?;
    Ok(prepared)
}

/// A socket that is ready to connect, the address with what marks add to it, and how long creating
/// the socket took, in ns.
///
/// Nothing is set that a new socket has anyway: thousands of connections are made by this, and each
/// call counts in their rate.
fn prepare(
    local: Option<SocketAddr>,
    remote: SocketAddr,
    options: &StreamOptions,
    kind: Type,
) -> Result<(Socket, SocketAddr, u64), SocketError> {
    refuse_mapped(Operation::Connect, remote)?;
    if let Some(local) = local {
        refuse_mapped(Operation::Bind, local)?;
        refuse_mixed(Operation::Connect, local, remote)?;
    }
    let start = clock::now_ns();
    let socket = create(remote, kind, Protocol::TCP)?;
    let socket_ns = clock::now_ns() - start;

    confine(&socket, remote)?;
    options::apply_to_new(&socket, options)?;
    marks::apply(&socket, Domain::of(&remote), &options.marks)?;
    let remote = marks::labelled(&socket, remote, &options.marks)?;
    if let Some(local) = local {
        platform::choose_port_late(&socket, local)
            .map_err(SocketError::at(Operation::SetOption("late port choice"), local))?;
        socket.bind(&local.into()).map_err(SocketError::at(Operation::Bind, local))?;
    }
    Ok((socket, remote, socket_ns))
}

/// Connects a socket, waiting up to `timeout_ns`; one that waits itself does so until it is
/// interrupted.
///
/// Our own and not the library's, because that would switch the mode inside the time measured.
fn connect_within(socket: &Socket, remote: SocketAddr, timeout_ns: u64) -> io::Result<()> {
    match socket.connect(&remote.into()) {
        Ok(()) => return Ok(()),
        Err(error) if is_under_way(&error) => {}
        Err(error) => return Err(error),
    }
    if !wait::ready(socket, PollFlags::OUT, Some(timeout_ns))? {
        return Err(io::ErrorKind::TimedOut.into());
    }
    match socket.take_error()? {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Whether `connect` has only begun: Windows says "would block", the others "in progress", and
/// after a signal the attempt goes on as well.
fn is_under_way(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
        || error.raw_os_error() == Some(Errno::INPROGRESS.raw_os_error())
}
