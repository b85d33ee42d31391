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
use std::io;
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
    #[error("no answer came in {} s", .0.as_secs())]
    Silent(Duration),
}

/// Hands a document of JSON to `site`, which is at `remote`; it is taken with any 2xx. Connecting
/// takes no longer than `limit`, and all the rest no longer again.
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
    let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
    let (stream, _) = Stream::connect_timed(None, remote, &StreamOptions::default(), limit_ns)?;
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    runtime.block_on(async {
        let asked = hand(&stream, site, agent, document);
        match tokio::time::timeout(limit, asked).await {
            Ok(Ok(status)) if (200..300).contains(&status) => Ok(()),
            Ok(Ok(status)) => Err(PostError::Refused(status)),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(PostError::Silent(limit)),
        }
    })
}

async fn hand(stream: &Stream, site: &Site, agent: &str, document: &str) -> Result<u16, PostError> {
    let socket = TcpStream::from_std(stream.share()?)?;
    match site.scheme {
        Scheme::Http | Scheme::Tcp => ask(socket, site, agent, document).await,
        Scheme::Https => {
            let config = tls::trusting(Roots::of_system())?;
            let name = ServerName::try_from(site.host.clone())?;
            let secured = TlsConnector::from(Arc::new(config)).connect(name, socket).await?;
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
