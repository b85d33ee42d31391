//! Requests to an agent: SNMP v2c (RFC 1901) and v3 with its user-based security (RFC 3414), by
//! `snmp2`.
//!
//! The crate is young and takes what it is sent with little suspicion, so it is pinned exactly and
//! named nowhere else, every table has an end here, and what it does with a hostile answer cannot
//! reach further than this module.

use super::{Access, Credentials, DeviceError, Digest};
use snmp2::v3::{Auth, AuthErrorKind, AuthProtocol, Cipher, Security};
use snmp2::{Error, Oid, SyncSession, Value};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use v6gap_sys::{clock, entropy};

/// Fewest characters of a password (RFC 3414 section 11.2).
const PASSWORD_MIN: usize = 8;

/// Values asked for at once: they fit one packet of any network.
const VALUES_AT_ONCE: usize = 40;

/// Rows that are read of a table with one for each interface.
pub(super) const ROWS_MAX: usize = 256;

/// How often a request is sent again.
const ATTEMPTS: u32 = 3;

/// Longest time for one reading, in ns.
const READING_NS_MAX: u64 = 20_000_000_000;

/// A value as far as counters need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scalar {
    /// A counter of 32 bits, a time or a number.
    Short(u32),
    /// A counter of 64 bits.
    Long(u64),
    /// A text.
    Text(String),
}

/// A value with the place in its table: the column as it was asked for, and the row.
pub(super) type Entry = (usize, Vec<u64>, Scalar);

/// What was read of a table.
pub(super) struct Rows {
    pub(super) entries: Vec<Entry>,
    /// There may be more of them.
    pub(super) cut: bool,
}

/// An agent that can be asked.
pub(super) struct Session {
    inner: Box<SyncSession>,
    access: Access,
    /// The socket may yet get an answer that nobody waits for any more.
    stale: bool,
    /// v3 has to learn the agent's identity first.
    introduced: bool,
    deadline_ns: u64,
    seconds: f64,
    /// Whether the key is one that could be wrong.
    keyed: bool,
}

impl Session {
    /// Makes a socket; nothing is sent.
    pub(super) fn open(access: &Access) -> Result<Self, DeviceError> {
        let timeout = Some(Duration::from_nanos(access.timeout_ns));
        // Numbers that a stranger could guess would let him answer in the agent's place.
        let start = entropy::bytes().map_err(|e| DeviceError::Socket(io::Error::other(e)))?;
        let start = i32::from_ne_bytes(start) & 0x3fff_ffff;
        let keyed = matches!(access.credentials, Credentials::User { .. });
        let inner = match &access.credentials {
            Credentials::Community(word) => {
                SyncSession::new_v2c(access.address, word.as_bytes(), timeout, start)
            }
            Credentials::User { .. } => {
                let security = security(&access.credentials)?;
                SyncSession::new_v3(access.address, timeout, start, security)
            }
        };
        Ok(Session {
            inner: Box::new(inner.map_err(DeviceError::Socket)?),
            access: access.clone(),
            stale: false,
            introduced: !keyed,
            deadline_ns: 0,
            seconds: access.timeout_ns as f64 / 1e9 * f64::from(ATTEMPTS),
            keyed,
        })
    }

    /// Begins a reading: from now on there is so much time.
    pub(super) fn begin(&mut self) {
        self.deadline_ns = clock::now_ns() + READING_NS_MAX;
    }

    /// Takes a new socket, on which no answer to an earlier request can come; v3 introduces itself
    /// again.
    fn renew(&mut self) -> Result<(), DeviceError> {
        let deadline_ns = self.deadline_ns;
        *self = Session { deadline_ns, ..Session::open(&self.access)? };
        Ok(())
    }

    /// The values of the scalars that the agent has.
    pub(super) fn scalars(&mut self, objects: &[Vec<u64>]) -> Result<Vec<Entry>, DeviceError> {
        let mut found = Vec::new();
        for (part, chunk) in objects.chunks(VALUES_AT_ONCE).enumerate() {
            let entries = self.request(Question::These, chunk)?;
            for (at, told) in entries {
                let position = chunk.iter().position(|object| *object == at);
                if let Some((index, told)) = position.zip(told) {
                    found.push((part * VALUES_AT_ONCE + index, Vec::new(), told));
                }
            }
        }
        Ok(found)
    }

    /// The values of some columns of a table, row by row until they end or are about `rows_max`.
    pub(super) fn columns(
        &mut self,
        columns: &[Vec<u64>],
        rows_max: usize,
    ) -> Result<Rows, DeviceError> {
        let mut found = Vec::new();
        let mut cut = false;
        for (part, chunk) in columns.chunks(VALUES_AT_ONCE / 4).enumerate() {
            // Where each column is to go on.
            let mut open: Vec<(usize, Vec<u64>)> = chunk.iter().cloned().enumerate().collect();
            let mut rows = 0;
            while !open.is_empty() {
                if rows >= rows_max {
                    cut = true;
                    break;
                }
                let from: Vec<Vec<u64>> = open.iter().map(|(_, at)| at.clone()).collect();
                let repeat = (VALUES_AT_ONCE / from.len()).max(1);
                let entries = self.request(Question::Next(repeat as u32), &from)?;
                if entries.is_empty() {
                    break;
                }
                // An agent answers with fewer rows than it is asked for where its messages cannot
                // hold them (RFC 3416 section 4.2.3).
                rows += entries.len().div_ceil(from.len()).max(1);
                // Answers come row by row, in the order of the question.
                for (number, (at, told)) in entries.into_iter().enumerate() {
                    let column = number % from.len();
                    let (index, last) = &mut open[column];
                    let base = &chunk[*index];
                    let inside = at.starts_with(base) && at > *last;
                    match told.filter(|_| inside && !last.is_empty()) {
                        Some(told) => {
                            let row = at[base.len()..].to_vec();
                            found.push((part * (VALUES_AT_ONCE / 4) + *index, row, told));
                            *last = at;
                        }
                        // The column is at its end, or the agent goes in circles.
                        None => last.clear(),
                    }
                }
                open.retain(|(_, last)| !last.is_empty());
            }
        }
        Ok(Rows { entries: found, cut })
    }

    /// Sends a request until it is answered, and takes the answer apart.
    fn request(&mut self, ask: Question, objects: &[Vec<u64>]) -> Result<Answer, DeviceError> {
        let oids = objects.iter().map(|object| Oid::from(object).map_err(|_| garbled("an object")));
        let oids: Vec<Oid<'static>> = oids.collect::<Result<_, _>>()?;
        let oids: Vec<&Oid<'_>> = oids.iter().collect();
        let mut last = Error::Receive;
        for _ in 0..ATTEMPTS {
            if clock::now_ns() > self.deadline_ns {
                return Err(DeviceError::Slow { seconds: READING_NS_MAX as f64 / 1e9 });
            }
            // The library reads one answer for each that it sends, whatever came before: one that
            // comes late would be that of the next request, and each one behind it likewise.
            if self.stale {
                self.renew()?;
            }
            let attempt = || self.attempt(ask, &oids);
            let outcome = catch_unwind(AssertUnwindSafe(attempt));
            self.stale = !matches!(outcome, Ok(Ok(_) | Err(Error::AuthUpdated)));
            match outcome {
                Ok(Ok(answer)) => return answer,
                // The first answer of v3 only tells the agent's time.
                Ok(Err(Error::AuthUpdated)) => {}
                Ok(Err(error)) => last = error,
                Err(_) => return Err(garbled("an answer that makes no sense")),
            }
        }
        Err(self.failure(last))
    }

    fn attempt(&mut self, ask: Question, oids: &[&Oid<'_>]) -> Result<Taken, Error> {
        if !self.introduced {
            self.inner.init()?;
            self.introduced = true;
        }
        let answer = match ask {
            Question::These => self.inner.get_many(oids)?,
            Question::Next(rows) => self.inner.getbulk(oids, 0, rows)?,
        };
        if answer.error_status != 0 {
            return Ok(Err(DeviceError::Refused { status: answer.error_status }));
        }
        let mut entries = Vec::new();
        for (oid, value) in answer.varbinds {
            let Some(at) = oid.iter().map(Iterator::collect::<Vec<u64>>) else {
                return Ok(Err(garbled("an object identifier too long")));
            };
            entries.push((at, told(value)));
        }
        Ok(Ok(entries))
    }

    fn failure(&self, error: Error) -> DeviceError {
        match error {
            Error::Receive => DeviceError::Silent { seconds: self.seconds },
            Error::Send => DeviceError::Unreachable,
            Error::AuthFailure(
                AuthErrorKind::NotAuthenticated
                | AuthErrorKind::SignatureMismatch
                | AuthErrorKind::UsernameMismatch
                | AuthErrorKind::ReplyNotEncrypted,
            ) if self.keyed => DeviceError::WrongKey,
            Error::CommunityMismatch => DeviceError::WrongKey,
            other => garbled(&other.to_string()),
        }
    }
}

type Answer = Vec<(Vec<u64>, Option<Scalar>)>;
type Taken = Result<Answer, DeviceError>;

/// What is asked about objects.
#[derive(Clone, Copy)]
enum Question {
    /// The values of the names asked for.
    These,
    /// So many that follow each of them.
    Next(u32),
}

/// Ends of tables and kinds of values that no counter has are `None`.
fn told(value: Value<'_>) -> Option<Scalar> {
    Some(match value {
        Value::Counter32(value) | Value::Unsigned32(value) | Value::Timeticks(value) => {
            Scalar::Short(value)
        }
        Value::Integer(value) => Scalar::Short(u32::try_from(value).ok()?),
        Value::Counter64(value) => Scalar::Long(value),
        Value::OctetString(bytes) => {
            // A name is shown on terminals and pages.
            let text = String::from_utf8_lossy(bytes);
            let seen = text.chars().filter(|c| !c.is_control()).take(64);
            Scalar::Text(seen.collect())
        }
        _ => return None,
    })
}

fn garbled(what: &str) -> DeviceError {
    DeviceError::Garbled { what: what.to_owned() }
}

fn security(credentials: &Credentials) -> Result<Security, DeviceError> {
    let Credentials::User { name, digest, password, secret } = credentials else {
        return Err(garbled("no user"));
    };
    let too_short = |what| DeviceError::Unsuitable {
        what: format!("{what} is shorter than {PASSWORD_MIN} characters"),
    };
    let auth = match (password, secret) {
        (None, None) => Auth::NoAuthNoPriv,
        (Some(_), None) => Auth::AuthNoPriv,
        (Some(_), Some(secret)) => {
            if secret.word.len() < PASSWORD_MIN {
                return Err(too_short("the key for privacy"));
            }
            let privacy_password = secret.word.clone().into_bytes();
            Auth::AuthPriv { cipher: cipher(secret.cipher), privacy_password }
        }
        (None, Some(_)) => {
            let what = "privacy needs a key for authentication too".to_owned();
            return Err(DeviceError::Unsuitable { what });
        }
    };
    let password = password.as_deref().unwrap_or_default();
    if auth != Auth::NoAuthNoPriv && password.len() < PASSWORD_MIN {
        return Err(too_short("the key for authentication"));
    }
    let protocol = match digest {
        Digest::Md5 => AuthProtocol::Md5,
        Digest::Sha1 => AuthProtocol::Sha1,
        Digest::Sha224 => AuthProtocol::Sha224,
        Digest::Sha256 => AuthProtocol::Sha256,
        Digest::Sha384 => AuthProtocol::Sha384,
        Digest::Sha512 => AuthProtocol::Sha512,
    };
    if let Auth::AuthPriv { cipher, .. } = &auth
        && cipher.priv_key_needs_extension(&protocol)
    {
        let what = "the digest is too short for the cipher; SHA-256 suits all".to_owned();
        return Err(DeviceError::Unsuitable { what });
    }
    let security = Security::new(name.as_bytes(), password.as_bytes());
    Ok(security.with_auth_protocol(protocol).with_auth(auth))
}

fn cipher(cipher: super::Cipher) -> Cipher {
    match cipher {
        super::Cipher::Des => Cipher::Des,
        super::Cipher::Aes128 => Cipher::Aes128,
        super::Cipher::Aes192 => Cipher::Aes192,
        super::Cipher::Aes256 => Cipher::Aes256,
    }
}
