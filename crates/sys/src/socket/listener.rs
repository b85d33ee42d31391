//! A TCP socket that accepts connections.

use super::error::{Operation, SocketError};
use super::options::{self, StreamOptions};
use super::wait;
use super::{Stream, open, platform};
use crate::Unavailable;
use rustix::event::PollFlags;
use socket2::{Protocol, SockRef, Socket, Type};
use std::net::{SocketAddr, TcpListener};

/// Accepts TCP connections of one family on one address.
#[derive(Debug)]
pub struct Listener {
    pub(crate) inner: TcpListener,
}

/// A listener whose connections are set up in another way as long as this lives.
#[derive(Debug)]
pub struct Loan {
    inner: TcpListener,
    before: ListenerSettings,
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.before.put_back(&SockRef::from(&self.inner));
    }
}

/// What a trial may change of a listener for its time, as far as it is known.
#[derive(Debug, PartialEq, Eq)]
pub struct ListenerSettings {
    receive_buffer: Option<(u32, i32)>,
    congestion: Option<String>,
}

impl ListenerSettings {
    fn put_back(&self, socket: &Socket) {
        if let Some(before) = self.receive_buffer {
            platform::restore_receive_buffer(socket, before);
        }
        if let Some(name) = &self.congestion
            && platform::congestion(socket).as_ref() != Some(name)
        {
            let _ = platform::set_congestion(socket, name);
        }
    }
}

/// A listener that waits for connections in the kernel as long as this lives, which is the only way
/// that needs no timer of high resolution: a virtual machine pays for each of these with an exit.
#[derive(Debug)]
pub struct Patient<'a> {
    listener: &'a Listener,
    timeout_ns: u64,
}

impl Patient<'_> {
    /// As [`Listener::accept_now`], but waits until something has come, and about as long as the
    /// timeout if nothing does.
    ///
    /// # Errors
    /// As [`Listener::accept`].
    #[inline]
    pub fn accept(&self) -> Result<Option<(Stream, SocketAddr)>, SocketError> {
        platform::await_connection(&self.listener.inner, self.timeout_ns)
            .map_err(SocketError::during(Operation::Accept))?;
        self.listener.accept_now()
    }
}

impl Drop for Patient<'_> {
    fn drop(&mut self) {
        platform::wait_no_longer(&self.listener.inner);
    }
}

impl Listener {
    /// Listens on `address` (port 0 lets the system choose) with room for `backlog` connections not
    /// yet accepted; the system may cap that.
    ///
    /// # Errors
    /// A mapped address, an address that is in use or not on this host, or what else the system
    /// says.
    pub fn bind(address: SocketAddr, backlog: u32) -> Result<Self, SocketError> {
        Self::bind_with(address, backlog, &StreamOptions::default())
    }

    /// As [`Listener::bind`], with options that the accepted connections inherit on Linux, FreeBSD
    /// and macOS; read them back with [`Stream::got`].
    ///
    /// # Errors
    /// As [`Listener::bind`], or an option that the system refuses.
    pub fn bind_with(
        address: SocketAddr,
        backlog: u32,
        options: &StreamOptions,
    ) -> Result<Self, SocketError> {
        let socket = open(address, Type::STREAM, Protocol::TCP)?;
        // On Windows this option would let another process take the port over.
        if cfg!(unix) {
            socket
                .set_reuse_address(true)
                .map_err(SocketError::at(Operation::SetOption("SO_REUSEADDR"), address))?;
        }
        options::apply(&socket, options)?;
        socket.bind(&address.into()).map_err(SocketError::at(Operation::Bind, address))?;
        let backlog = i32::try_from(backlog).unwrap_or(i32::MAX);
        socket.listen(backlog).map_err(SocketError::at(Operation::Listen, address))?;
        // Non-blocking, so that a connection which ends between wait and accept cannot block us.
        socket
            .set_nonblocking(true)
            .map_err(SocketError::at(Operation::SetOption("non-blocking mode"), address))?;
        Ok(Self { inner: socket.into() })
    }

    /// Wraps one that another process has made and that came from there.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(inner: TcpListener) -> Self {
        Self { inner }
    }

    /// Waits for the next connection.
    ///
    /// # Errors
    /// What the system says, for example that this process has too many open files.
    pub fn accept(&self) -> Result<Stream, SocketError> {
        loop {
            if let Some(stream) = self.accept_within(None)? {
                return Ok(stream);
            }
        }
    }

    /// The next connection, or `None` if none came within `timeout_ns`.
    ///
    /// # Errors
    /// As [`Listener::accept`].
    pub fn accept_timeout(&self, timeout_ns: u64) -> Result<Option<Stream>, SocketError> {
        self.accept_within(Some(timeout_ns))
    }

    /// A connection that waits to be accepted, which does not wait itself, and its source; `None`
    /// if there is none.
    ///
    /// # Errors
    /// As [`Listener::accept`].
    pub fn accept_now(&self) -> Result<Option<(Stream, SocketAddr)>, SocketError> {
        match wait::uninterrupted(|| platform::accept(&self.inner)) {
            Ok((stream, peer)) => Ok(Some((Stream::accepted(stream), super::without_label(peer)))),
            // The connection ended, or another handle of this socket took it.
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::ConnectionAborted
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(SocketError::during(Operation::Accept)(error)),
        }
    }

    /// Lets the one who accepts here wait up to `timeout_ns` in each call, in the system's
    /// granularity (on Linux a timer tick of 1 to 10 ms). [`Listener::accept_now`] waits too, then.
    ///
    /// # Errors
    /// The system's answer.
    pub fn patient(&self, timeout_ns: u64) -> Result<Patient<'_>, SocketError> {
        platform::wait_in_accept(&self.inner, timeout_ns)
            .map_err(SocketError::during(Operation::SetOption("SO_RCVTIMEO")))?;
        Ok(Patient { listener: self, timeout_ns })
    }

    /// Connections not yet accepted that it has room for: what was asked for, as far as the system
    /// grants that (`net.core.somaxconn`).
    ///
    /// # Errors
    /// Off Linux.
    pub fn queue_max(&self) -> Result<u32, Unavailable> {
        platform::queue_max(&SockRef::from(&self.inner))
    }

    /// Gives the connections that are made from now on a receive buffer of `bytes`, until the
    /// returned value is dropped. The window that a connection offers first is chosen before it can
    /// be accepted, so it is too late then.
    ///
    /// # Errors
    /// Off Linux, and before Linux 5.14, which cannot give the choice of the size back to the
    /// kernel.
    pub fn lend_receive_buffer(&self, bytes: u32) -> Result<Loan, Unavailable> {
        let what = "a receive buffer before the connection stands";
        let inner = self.inner.try_clone().map_err(|error| Unavailable::new(what, error))?;
        let receive_buffer = platform::lend_receive_buffer(&SockRef::from(&inner), bytes)?;
        let before = ListenerSettings { receive_buffer: Some(receive_buffer), congestion: None };
        Ok(Loan { inner, before })
    }

    /// Gives the connections that are made from now on this congestion control, until the returned
    /// value is dropped. One that began with another may keep what that asked for: Linux paces for
    /// good who began with BBR. Once it was lent another, a listener no longer follows the system
    /// where its default changes.
    ///
    /// # Errors
    /// Off Linux, and where the kernel does not have it.
    pub fn lend_congestion(&self, name: &str) -> Result<Loan, Unavailable> {
        let failed =
            |error| Unavailable::new("a congestion control before the connection stands", error);
        let inner = self.inner.try_clone().map_err(failed)?;
        let had = platform::congestion(&SockRef::from(&inner));
        if had.as_deref() != Some(name) {
            platform::set_congestion(&SockRef::from(&inner), name).map_err(failed)?;
        }
        let congestion = had.filter(|had| had != name);
        let before = ListenerSettings { receive_buffer: None, congestion };
        Ok(Loan { inner, before })
    }

    /// What [`restore`](Self::restore) brings back if another process that has this socket ends in
    /// the middle of a trial.
    pub fn settings(&self) -> ListenerSettings {
        let socket = SockRef::from(&self.inner);
        let receive_buffer = platform::receive_buffer(&socket).ok();
        ListenerSettings { receive_buffer, congestion: platform::congestion(&socket) }
    }

    /// Takes back what [`patient`](Self::patient) and the loans did since.
    pub fn restore(&self, before: &ListenerSettings) {
        platform::wait_no_longer(&self.inner);
        before.put_back(&SockRef::from(&self.inner));
    }

    /// Waits up to `timeout_ns`, or for ever, and accepts; `None` if there was nothing in the end.
    fn accept_within(&self, timeout_ns: Option<u64>) -> Result<Option<Stream>, SocketError> {
        let failed = SocketError::during(Operation::Accept);
        let start = crate::clock::now_ns();
        loop {
            let left = timeout_ns.map(|ns| ns.saturating_sub(crate::clock::now_ns() - start));
            if !wait::ready(&self.inner, PollFlags::IN, left).map_err(&failed)? {
                return Ok(None);
            }
            if let Some((stream, _)) = self.accept_now()? {
                stream.set_nonblocking(false)?;
                return Ok(Some(stream));
            }
        }
    }
}
