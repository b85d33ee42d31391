//! Handing a document to a service of the user's own: one POST over a connection of its own, which
//! nobody times. Unlike a visit it asks who the server is: over TLS the certificate has to be one
//! that this system trusts.

use super::site::{Scheme, Site};
use super::tls::{self, Roots};
use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, USER_AGENT};
use hyper::http::uri::Uri;
use hyper_util::rt::TokioIo;
use rustls::pki_types::{InvalidDnsNameError, ServerName};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio_rustls::TlsConnector;
use v6gap_sys::socket::{SocketError, Stream, StreamOptions};

/// Why a document could not be handed over.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    /// There was no connection.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The connection broke, or TLS would not be: also for a certificate that is not trusted.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// This system has no TLS.
    #[error(transparent)]
    Tls(#[from] rustls::Error),
    /// A name that no certificate can have.
    #[error(transparent)]
    Name(#[from] InvalidDnsNameError),
    /// What came is no HTTP.
    #[error(transparent)]
    Http(#[from] hyper::Error),
    /// No request can be made of it.
    #[error(transparent)]
    Request(#[from] hyper::http::Error),
    /// It answered, and did not take the document.
    #[error("the answer was {0}")]
    Refused(u16),
    /// Nothing came in time.
    #[error("no answer came in {:.0} s", .0.as_secs_f64())]
    Silent(Duration),
}

impl PostError {
    /// Whether the document was on its way, so that it may have been heard.
    pub fn may_be_heard(&self) -> bool {
        match self {
            PostError::Socket(_) | PostError::Io(_) | PostError::Tls(_) | PostError::Name(_) => {
                false
            }
            PostError::Http(_)
            | PostError::Request(_)
            | PostError::Refused(_)
            | PostError::Silent(_) => true,
        }
    }
}

/// Hands a document of JSON to `site`, which is at `remote`; it is taken with any 2xx. All of it
/// takes no longer than `limit`, and connecting, with TLS, no longer than half of that.
///
/// # Errors
/// If it was not taken.
pub fn post(
    site: &Site,
    remote: SocketAddr,
    agent: &str,
    document: &str,
    limit: Duration,
) -> Result<(), PostError> {
    let half = limit / 2;
    let half_ns = u64::try_from(half.as_nanos()).unwrap_or(u64::MAX);
    let (stream, times) = Stream::connect_timed(None, remote, &StreamOptions::default(), half_ns)?;
    let gone = Duration::from_nanos(times.connect_ns);
    let (until_secured, left) = (half.saturating_sub(gone), limit.saturating_sub(gone));
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    runtime.block_on(async {
        let asked = hand(&stream, site, agent, document, until_secured);
        match tokio::time::timeout(left, asked).await {
            Ok(Ok(status)) if (200..300).contains(&status) => Ok(()),
            Ok(Ok(status)) => Err(PostError::Refused(status)),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(PostError::Silent(left)),
        }
    })
}

async fn hand(
    stream: &Stream,
    site: &Site,
    agent: &str,
    document: &str,
    until_secured: Duration,
) -> Result<u16, PostError> {
    let socket = TcpStream::from_std(stream.share()?)?;
    match site.scheme {
        Scheme::Http | Scheme::Tcp => ask(socket, site, agent, document).await,
        Scheme::Https => {
            let config = tls::trusting(Roots::of_system())?;
            let name = ServerName::try_from(site.host.clone())?;
            let connecting = TlsConnector::from(Arc::new(config)).connect(name, socket);
            let late = |_| io::Error::new(ErrorKind::TimedOut, "TLS was not there in time");
            let secured = tokio::time::timeout(until_secured, connecting).await.map_err(late)??;
            ask(secured, site, agent, document).await
        }
    }
}

/// The status of the answer.
async fn ask<S>(stream: S, site: &Site, agent: &str, document: &str) -> Result<u16, PostError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let request = Request::post(Uri::from(site.path.clone()))
        .header(HOST, site.authority())
        .header(CONNECTION, "close")
        .header(USER_AGENT, agent)
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(document.to_owned())))?;
    let (mut sender, connection) = http1::Builder::new().handshake(TokioIo::new(stream)).await?;
    let driven = tokio::spawn(async { drop(connection.await) });
    let answer = sender.send_request(request).await;
    driven.abort();
    Ok(answer?.status().as_u16())
}
