//! Options of managed devices whose counters are read, for every verb that measures.

use super::values;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use v6gap_core::family::Family;
use v6gap_perform::{Cipher, Digest};

/// Switches and routers that are read by SNMP before and after each trial.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Devices")]
pub struct SnmpArgs {
    /// Read the counters of this switch or router before and after each trial; may be given again.
    /// In a lab: a router, where net-snmp's agent is started for it
    #[arg(long, value_name = "HOST[:PORT]", value_delimiter = ',')]
    pub snmp: Vec<String>,
    /// Ask over this family [IPv4 where the device has both]
    #[arg(long, value_name = "v4|v6", value_parser = values::family, requires = "snmp")]
    pub snmp_over: Option<Family>,
    /// The word of v2c, which is sent in the clear
    #[arg(
        long,
        value_name = "WORD",
        default_value = "public",
        env = "V6GAP_SNMP_COMMUNITY",
        hide_env_values = true,
        conflicts_with = "snmp_user"
    )]
    pub snmp_community: String,
    /// Ask as this user of v3; its keys are read from the variables V6GAP_SNMP_AUTH_KEY and
    /// V6GAP_SNMP_PRIV_KEY or from --snmp-key-file
    #[arg(long, value_name = "NAME", requires = "snmp")]
    pub snmp_user: Option<String>,
    /// File with the user's key for authentication in its first line and the one for privacy in the
    /// second
    #[arg(long, value_name = "FILE", requires = "snmp_user")]
    pub snmp_key_file: Option<PathBuf>,
    /// What authentication is computed with
    #[arg(long, value_name = "DIGEST", default_value = "sha256", requires = "snmp_user")]
    pub snmp_auth: SnmpDigest,
    /// What privacy is made of, where there is a key for it
    #[arg(long, value_name = "CIPHER", default_value = "aes", requires = "snmp_user")]
    pub snmp_priv: SnmpCipher,
    /// How long each request may take; there are three of each
    #[arg(long, value_name = "TIME", default_value = "1s", requires = "snmp",
          value_parser = values::span)]
    pub snmp_timeout: u64,
}

/// Digests of v3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SnmpDigest {
    /// MD5
    Md5,
    /// SHA-1
    Sha1,
    /// SHA-224
    Sha224,
    /// SHA-256
    #[default]
    Sha256,
    /// SHA-384
    Sha384,
    /// SHA-512
    Sha512,
}

/// Ciphers of v3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SnmpCipher {
    /// DES
    Des,
    /// AES with 128 bits
    #[default]
    Aes,
    /// AES with 192 bits
    Aes192,
    /// AES with 256 bits
    Aes256,
}

impl SnmpDigest {
    /// For the poller.
    pub fn digest(self) -> Digest {
        match self {
            SnmpDigest::Md5 => Digest::Md5,
            SnmpDigest::Sha1 => Digest::Sha1,
            SnmpDigest::Sha224 => Digest::Sha224,
            SnmpDigest::Sha256 => Digest::Sha256,
            SnmpDigest::Sha384 => Digest::Sha384,
            SnmpDigest::Sha512 => Digest::Sha512,
        }
    }
}

impl SnmpCipher {
    /// For the poller.
    pub fn cipher(self) -> Cipher {
        match self {
            SnmpCipher::Des => Cipher::Des,
            SnmpCipher::Aes => Cipher::Aes128,
            SnmpCipher::Aes192 => Cipher::Aes192,
            SnmpCipher::Aes256 => Cipher::Aes256,
        }
    }
}
