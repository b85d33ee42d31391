//! TLS of a visit: a fresh configuration each time, which resumes nothing, and certificates that
//! are written down while the clock runs and judged when it does not.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, HandshakeKind, ProtocolVersion, RootCertStore,
    SignatureScheme,
};
use std::sync::{Arc, Mutex, PoisonError};
use v6gap_core::workload::Http;

/// The certificates of a server, as they came: the first is its own.
pub type Chain = Vec<Vec<u8>>;

/// What a handshake agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secured {
    /// As in `TLS 1.3`.
    pub version: &'static str,
    /// Whether the server asked for another key share, which takes a round trip more.
    pub asked_again: bool,
    /// Whether it took a ticket of an earlier visit.
    pub resumed: bool,
    /// The protocol above it that was agreed on (ALPN).
    pub protocol: Option<String>,
}

/// A configuration of its own, and where the certificates will be. Tickets that come are kept for
/// those who are made from the same one.
pub(crate) fn config(http: Http) -> Result<(ClientConfig, Seen), Error> {
    let provider = Arc::new(ring::default_provider());
    let seen = Seen { chain: Arc::default(), provider: provider.clone() };
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = match http {
        Http::Three => builder.with_protocol_versions(&[&rustls::version::TLS13])?,
        Http::One | Http::Two => builder.with_safe_default_protocol_versions()?,
    };
    let verifier = Arc::new(seen.clone());
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    let mut config = builder.with_no_client_auth();
    config.resumption = Resumption::in_memory_sessions(1);
    config.alpn_protocols = vec![http.alpn().to_vec()];
    Ok((config, seen))
}

/// A configuration that takes what these roots vouch for, and nothing else.
pub(crate) fn trusting(roots: Roots) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots.0).with_no_client_auth())
}

/// What was agreed on.
pub(crate) fn secured(connection: &rustls::ClientConnection) -> Secured {
    let kind = connection.handshake_kind();
    let protocol = connection.alpn_protocol();
    Secured {
        version: match connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => "TLS 1.3",
            Some(ProtocolVersion::TLSv1_2) => "TLS 1.2",
            _ => "TLS",
        },
        asked_again: kind == Some(HandshakeKind::FullWithHelloRetryRequest),
        resumed: kind == Some(HandshakeKind::Resumed),
        protocol: protocol.map(|name| String::from_utf8_lossy(name).into_owned()),
    }
}

/// Takes any certificate, but only with the signature of its key, and keeps the chain.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    chain: Arc<Mutex<Chain>>,
    provider: Arc<CryptoProvider>,
}

impl Seen {
    /// The certificates that came.
    pub fn chain(&self) -> Chain {
        self.chain.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ServerCertVerifier for Seen {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let all = std::iter::once(end_entity).chain(intermediates);
        let all = all.map(|certificate| certificate.as_ref().to_vec()).collect();
        *self.chain.lock().unwrap_or_else(PoisonError::into_inner) = all;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// The public key of a certificate, as it stands there (SubjectPublicKeyInfo).
pub fn public_key(certificate: &[u8]) -> Option<Vec<u8>> {
    let certificate = CertificateDer::from(certificate);
    let parsed = rustls::server::ParsedCertificate::try_from(&certificate).ok()?;
    Some(parsed.subject_public_key_info().as_ref().to_vec())
}

/// Who this system trusts.
#[derive(Debug)]
pub struct Roots(RootCertStore);

impl Roots {
    /// Those of the system; empty where it has none.
    pub fn of_system() -> Self {
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Roots(store)
    }

    /// Nobody.
    pub fn none() -> Self {
        Roots(RootCertStore::empty())
    }

    /// Whether it is nobody, so that nothing can be said of any certificate.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is wrong with a chain that came from `host` at this time, in s since 1970; `None` if a
    /// browser would take it.
    pub fn objection(&self, chain: &Chain, host: &str, unix_s: u64) -> Option<String> {
        let provider = Arc::new(ring::default_provider());
        let roots = Arc::new(self.0.clone());
        let built = WebPkiServerVerifier::builder_with_provider(roots, provider).build();
        let verifier = match built {
            Ok(verifier) => verifier,
            Err(error) => return Some(format!("this system has no roots to check it by: {error}")),
        };
        let Ok(name) = ServerName::try_from(host) else {
            return Some(format!("{host} is no name that a certificate can have"));
        };
        let certificates: Vec<CertificateDer<'_>> =
            chain.iter().map(|bytes| CertificateDer::from(&bytes[..])).collect();
        let Some((own, others)) = certificates.split_first() else {
            return Some("no certificate came".to_owned());
        };
        let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(unix_s));
        verifier.verify_server_cert(own, others, &name, &[], now).err().map(|e| e.to_string())
    }
}
