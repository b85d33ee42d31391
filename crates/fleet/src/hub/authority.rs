//! The hub's own certificate authority: agents trust it and no other, so that nobody beside the
//! hub's owner can stand in for the hub.
//!
//! It certifies the nodes of one hub and is over: its key is in no file, so that nobody can certify
//! another one. Certificates are valid at every time: whoever is to be let in no more is revoked by
//! name, a date would end a fleet one night, and it would keep out hosts whose clocks are wrong,
//! which are among those that must say so.

use crate::error::FleetError;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

/// An authority, for as long as a hub is made.
#[derive(Debug)]
pub struct Authority {
    /// Its certificate, as PEM.
    pub certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, as PEM.
#[derive(Debug, Clone)]
pub struct Certified {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

impl Authority {
    /// A new one, which certifies hosts and no further authorities.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn generate() -> Result<Self, FleetError> {
        let mut params = CertificateParams::new(Vec::<String>::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.distinguished_name.push(DnType::CommonName, "v6gap fleet");
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?.pem();
        Ok(Authority { certificate, issuer: Issuer::new(params, key) })
    }

    /// Certifies that a node is who it says under all its `names`, which are names or addresses: as
    /// a server to agents, and as a client to the other nodes.
    ///
    /// # Errors
    /// If a name is none.
    pub fn certify(&self, names: &[String]) -> Result<Certified, FleetError> {
        let mut params = CertificateParams::new(names.to_vec())?;
        params.distinguished_name.push(DnType::CommonName, "v6gap hub");
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Certified { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}
