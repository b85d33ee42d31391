//! Credentials: one file with all that an agent or a part of the hub needs. Who it is, where the
//! hub is, and by what it knows the hub and the coordinator.
//!
//! It is a row of sections between lines of dashes, as other programs write theirs: those for NATS
//! can be read by all programs of NATS, the certificate by all that read PEM.

use crate::error::FleetError;
use serde::{Deserialize, Serialize};
use std::path::Path;
use v6gap_sys::secrets;

const TOKEN: &str = "NATS USER JWT";
const SEED: &str = "USER NKEY SEED";
const REST: &str = "V6GAP FLEET";
const CERTIFICATE: &str = "CERTIFICATE";

/// Credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct Letter {
    /// The token that the hub lets in.
    pub token: String,
    /// The seed of the key that the token is of.
    pub user: String,
    /// What its owner is called.
    pub name: String,
    /// Addresses of the hub's nodes, as URLs.
    pub hubs: Vec<String>,
    /// The public key by which jobs are signed.
    pub jobs: String,
    /// The public key of who seals words.
    pub seals: String,
    /// The seed of the key for which words are sealed.
    pub seal: String,
    /// The certificate of the hub's authority, as PEM; none if the hub does not encrypt.
    pub authority: Option<String>,
}

/// What no other program reads.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rest {
    v6gap: u8,
    name: String,
    hubs: Vec<String>,
    jobs: String,
    seals: String,
    seal: String,
}

impl std::fmt::Debug for Letter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Letter({})", self.name)
    }
}

impl Letter {
    /// The file.
    pub fn text(&self) -> String {
        let Letter { token, user, name, hubs, jobs, seals, seal, authority } = self.clone();
        let rest = Rest { v6gap: 1, name, hubs, jobs, seals, seal };
        // Strings and lists of them can always be written.
        let rest = serde_json::to_string(&rest).unwrap_or_default();
        let mut text = section(TOKEN, &token) + &section(SEED, &user) + &section(REST, &rest);
        if let Some(authority) = authority {
            text += authority.trim_end();
            text.push('\n');
        }
        text
    }

    /// Reads a file.
    ///
    /// # Errors
    /// In words, if a section is missing or cannot be read.
    pub fn parse(text: &str) -> Result<Self, String> {
        let part =
            |label: &str| within(text, label).ok_or_else(|| format!("it has no section {label}"));
        let rest: Rest = serde_json::from_str(part(REST)?)
            .map_err(|error| format!("its section {REST} cannot be read: {error}"))?;
        let Rest { v6gap, name, hubs, jobs, seals, seal } = rest;
        if v6gap != 1 {
            return Err(format!("it is of version {v6gap}, which this program does not know"));
        }
        let authority = within(text, CERTIFICATE).map(|lines| section(CERTIFICATE, lines));
        let (token, user) = (part(TOKEN)?.to_owned(), part(SEED)?.to_owned());
        Ok(Letter { token, user, name, hubs, jobs, seals, seal, authority })
    }

    /// Reads the file at `path`, maybe one of a service's `credentials`.
    ///
    /// # Errors
    /// If it cannot be read, others may read it, or it holds no credentials.
    pub fn read(path: &Path, credentials: Option<&Path>) -> Result<Self, FleetError> {
        let secret = secrets::read(path, credentials).map_err(FleetError::io(path))?;
        if let Ok(others @ 1..) = secret.others {
            let why = format!("others may read or change it (mode bits {others:03o})");
            return Err(FleetError::file(path, why));
        }
        Letter::parse(&secret.text).map_err(|why| FleetError::file(path, why))
    }
}

fn section(label: &str, lines: &str) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.trim())
}

fn within<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
    let (lines, _) = rest.split_once(&format!("-----END {label}-----"))?;
    Some(lines.trim()).filter(|lines| !lines.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter() -> Letter {
        let text = |word: &str| word.to_owned();
        Letter {
            token: text("aa.bb-b.c_c"),
            user: text("SUAA"),
            name: text("rome/lab-a"),
            hubs: vec![text("tls://hub1:4222")],
            jobs: text("UA"),
            seals: text("XA"),
            seal: text("SXA"),
            authority: Some(section(CERTIFICATE, "AAAA\nBBBB")),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let letter = letter();
        assert_eq!(Letter::parse(&letter.text()), Ok(letter.clone()));
        let plain = Letter { authority: None, ..letter };
        assert_eq!(Letter::parse(&plain.text()), Ok(plain.clone()));
        assert!(!format!("{plain:?}").contains("SU"));
        let windows = plain.text().replace('\n', "\r\n");
        assert_eq!(Letter::parse(&windows), Ok(plain));
    }

    #[test]
    fn what_is_missing_is_named() {
        for label in [TOKEN, SEED, REST] {
            let text = letter().text().replace(label, "OTHER");
            assert!(Letter::parse(&text).unwrap_err().contains(label));
        }
        let later = letter().text().replace("\"v6gap\":1", "\"v6gap\":2");
        assert!(Letter::parse(&later).unwrap_err().contains("version 2"));
    }
}
