//! Sockets whose calls are stamped, and what lies on them: when a byte left, and when the read
//! returned that brought what was waited for.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use v6gap_core::http2::Frames;
use v6gap_core::workload::Http;
use v6gap_sys::clock;

/// When something happened on a connection, in ns of the monotonic clock; 0 if it did not yet.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    first_write_ns: AtomicU64,
    last_read_ns: AtomicU64,
    read_bytes: AtomicU64,
    asked_ns: AtomicU64,
    answered_ns: AtomicU64,
}

fn at(stamp: &AtomicU64) -> Option<u64> {
    Some(stamp.load(Relaxed)).filter(|&ns| ns > 0)
}

fn set_once(stamp: &AtomicU64, ns: u64) {
    let _ = stamp.compare_exchange(0, ns, Relaxed, Relaxed);
}

impl Stamps {
    /// Before the first byte was written.
    pub fn first_write_ns(&self) -> Option<u64> {
        at(&self.first_write_ns)
    }

    /// After the last call that read something.
    pub fn last_read_ns(&self) -> Option<u64> {
        at(&self.last_read_ns)
    }

    /// All bytes that were read.
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Relaxed)
    }

    /// Before the first byte of the request was written.
    pub fn asked_ns(&self) -> Option<u64> {
        at(&self.asked_ns)
    }

    /// After the call that read the first byte of the answer.
    pub fn answered_ns(&self) -> Option<u64> {
        at(&self.answered_ns)
    }

    pub(crate) fn wrote(&self, before_ns: u64) {
        set_once(&self.first_write_ns, before_ns);
    }

    pub(crate) fn read(&self, bytes: usize) {
        if bytes > 0 {
            self.last_read_ns.store(clock::now_ns(), Relaxed);
            self.read_bytes.fetch_add(bytes as u64, Relaxed);
        }
    }

    /// The request is about to be written.
    pub(crate) fn asks(&self) {
        set_once(&self.asked_ns, clock::now_ns());
    }

    /// What was read last holds the first byte of the answer.
    pub(crate) fn answered(&self) {
        set_once(&self.answered_ns, self.last_read_ns.load(Relaxed));
    }
}

/// A socket whose calls are stamped.
#[derive(Debug)]
pub(crate) struct Stamped<S> {
    inner: S,
    stamps: Arc<Stamps>,
}

impl<S> Stamped<S> {
    pub fn new(inner: S, stamps: Arc<Stamps>) -> Self {
        Stamped { inner, stamps }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stamped<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        self.stamps.read(buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stamped<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let before_ns = clock::now_ns();
        let written = ready!(Pin::new(&mut self.inner).poll_write(context, bytes))?;
        self.stamps.wrote(before_ns);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

/// What an exchange of HTTP goes over: the bytes of the request leave at once when it is complete,
/// and the first byte of the answer has the stamp of the read that brought it.
#[derive(Debug)]
pub(crate) struct Exchange<S> {
    inner: S,
    stamps: Arc<Stamps>,
    http: Http,
    frames: Frames,
    /// What waits to be written.
    out: Vec<u8>,
}

/// Most bytes that wait for the end of a request.
const OUT_BYTES_MAX: usize = 16 << 10;

impl<S> Exchange<S> {
    pub fn new(inner: S, stamps: Arc<Stamps>, http: Http) -> Self {
        Exchange { inner, stamps, http, frames: Frames::default(), out: Vec::new() }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Exchange<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.inner).poll_read(context, buffer))?;
        let came = &buffer.filled()[before..];
        let is_answer = match this.http {
            Http::Two => this.frames.hold_answer(came),
            Http::One | Http::Three => !came.is_empty(),
        };
        if is_answer {
            this.stamps.answered();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> Exchange<S> {
    /// Writes what waits.
    fn poll_out(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.out.is_empty() {
            self.stamps.asks();
            let written = ready!(Pin::new(&mut self.inner).poll_write(context, &self.out))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.out.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Exchange<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.out.len() >= OUT_BYTES_MAX {
            ready!(self.poll_out(context))?;
        }
        self.out.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_out(context))?;
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_out(context))?;
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
