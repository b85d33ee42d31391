//! TLS to a database elsewhere, with the library that visits have, too. The name in the URL must be
//! that of the certificate, and somebody trusted must vouch for it.

use super::PostgresError;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::{TlsConnector, client};

/// What a server that speaks TLS from the first byte on must be told (PostgreSQL 17).
const PROTOCOL: &[u8] = b"postgresql";

/// How connections are encrypted.
#[derive(Clone)]
pub(super) struct Tls(Arc<ClientConfig>);

/// A connection that is about to be.
pub(super) struct Handshake {
    connector: TlsConnector,
    name: ServerName<'static>,
}

/// A connection that is encrypted.
pub(super) struct Encrypted<S>(client::TlsStream<S>);

impl Tls {
    /// Trusts these certificates, as PEM, or whom this system trusts.
    pub(super) fn trusting(roots: Option<&str>) -> Result<Self, PostgresError> {
        let mut store = RootCertStore::empty();
        let (certificates, none) = match roots {
            Some(text) => {
                let found: Result<Vec<_>, _> =
                    CertificateDer::pem_slice_iter(text.as_bytes()).collect();
                (found.map_err(|_| PostgresError::Roots)?, PostgresError::Roots)
            }
            None => (rustls_native_certs::load_native_certs().certs, PostgresError::NoRoots),
        };
        store.add_parsable_certificates(certificates);
        if store.is_empty() {
            return Err(none);
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions()?;
        let mut config = builder.with_root_certificates(store).with_no_client_auth();
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Tls(Arc::new(config)))
    }
}

impl<S> MakeTlsConnect<S> for Tls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type TlsConnect = Handshake;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, InvalidDnsNameError> {
        let name = ServerName::try_from(host)?.to_owned();
        Ok(Handshake { connector: TlsConnector::from(self.0.clone()), name })
    }
}

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let Handshake { connector, name } = self;
            connector.connect(name, stream).await.map(Encrypted)
        })
    }
}

impl<S> TlsStream for Encrypted<S>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    /// Nothing: it would take reading certificates. The server is known by its certificate, so
    /// that nobody between is spoken to.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S> AsyncRead for Encrypted<S>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_read(cx, buffer)
    }
}

impl<S> AsyncWrite for Encrypted<S>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().0).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_shutdown(cx)
    }
}
