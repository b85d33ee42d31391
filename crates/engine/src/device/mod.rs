//! Reading the counters of a managed switch or router by SNMP, before and after a trial.
//!
//! The agent is a stranger: whatever it answers is data of bounded size, or an error that says what
//! was wrong. It is asked between trials only, so that its answers are not among what it counts.

mod session;
mod tables;
#[cfg(test)]
mod tests;

use session::{Entry, ROWS_MAX, Rows, Scalar, Session};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use tables::{IP_COLUMNS, IP_PORT_COLUMNS, OCTET_COLUMNS, PORT_COLUMNS, SYSTEM, TRANSPORT, Table};
use v6gap_core::device::{Counter, Reading};
use v6gap_core::family::Family;

/// UDP port of agents (RFC 3417 section 3.2).
pub const PORT: u16 = 161;

/// How to reach an agent.
#[derive(Debug, Clone)]
pub struct Access {
    /// What the device is called by who asks.
    pub name: String,
    /// Address and port of the agent.
    pub address: SocketAddr,
    /// Who asks.
    pub credentials: Credentials,
    /// How long each request may take, in ns; there are three of each.
    pub timeout_ns: u64,
}

/// Who asks. Keys are never shown.
#[derive(Clone)]
pub enum Credentials {
    /// v2c: a word that is sent in the clear.
    Community(String),
    /// v3: a user, with or without keys.
    User {
        /// Name of the user.
        name: String,
        /// What authentication is computed with.
        digest: Digest,
        /// The password for authentication.
        password: Option<String>,
        /// What privacy is made of.
        secret: Option<Secret>,
    },
}

/// What privacy is made of.
#[derive(Clone)]
pub struct Secret {
    /// The cipher.
    pub cipher: Cipher,
    /// The password.
    pub word: String,
}

/// What authentication is computed with (RFC 3414, RFC 7860).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digest {
    /// MD5.
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

/// Ciphers of v3 (RFC 3414, RFC 3826 and what vendors made of it).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cipher {
    /// DES.
    Des,
    /// AES with 128 bits.
    Aes128,
    /// AES with 192 bits.
    Aes192,
    /// AES with 256 bits.
    Aes256,
}

impl Digest {
    /// Usual name of the digest, as net-snmp writes it.
    pub fn name(self) -> &'static str {
        match self {
            Digest::Md5 => "MD5",
            Digest::Sha1 => "SHA",
            Digest::Sha224 => "SHA-224",
            Digest::Sha256 => "SHA-256",
            Digest::Sha384 => "SHA-384",
            Digest::Sha512 => "SHA-512",
        }
    }
}

impl Cipher {
    /// Usual name of the cipher, as net-snmp writes it.
    pub fn name(self) -> &'static str {
        match self {
            Cipher::Des => "DES",
            Cipher::Aes128 => "AES",
            Cipher::Aes192 => "AES-192",
            Cipher::Aes256 => "AES-256",
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Credentials::Community(_) => f.write_str("Community(…)"),
            Credentials::User { name, .. } => write!(f, "User({name}, …)"),
        }
    }
}

/// Why a device could not be read.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// No answer in time.
    #[error("no answer in {seconds} s")]
    Silent {
        /// How long it was waited for.
        seconds: f64,
    },
    /// The host says that nothing listens there, or there is no way to it.
    #[error("nothing can be sent to it")]
    Unreachable,
    /// The agent does not accept who asks.
    #[error("the agent accepts neither this user nor this key")]
    WrongKey,
    /// The agent answers with an error.
    #[error("the agent refuses with error {status} of SNMP")]
    Refused {
        /// Number of the error (RFC 3416 section 3).
        status: u32,
    },
    /// What comes back is not an answer.
    #[error("what it answers is no SNMP: {what}")]
    Garbled {
        /// What was wrong with it.
        what: String,
    },
    /// The agent's answers take too long in all.
    #[error("reading it took more than {seconds} s")]
    Slow {
        /// How long it may take.
        seconds: f64,
    },
    /// What was given to ask with cannot be used.
    #[error("{what}")]
    Unsuitable {
        /// What, in words.
        what: String,
    },
    /// This host has no socket for it.
    #[error("{0}")]
    Socket(io::Error),
}

/// Which end of a trial a reading stands at: the octets are read as near to it as can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Before its first packet.
    Before,
    /// After its last.
    After,
}

/// A part of a reading.
type Step = fn(&mut Device, &mut Reading) -> Result<(), DeviceError>;

/// A device that is read.
pub struct Device {
    name: String,
    session: Session,
    /// A table of the present reading may have more rows than were read.
    cut: bool,
}

impl Device {
    /// Makes ready to ask; nothing is sent.
    ///
    /// # Errors
    /// If a key cannot be used, or this host has no socket.
    pub fn open(access: &Access) -> Result<Self, DeviceError> {
        Ok(Device { name: access.name.clone(), session: Session::open(access)?, cut: false })
    }

    /// What the device is called by who asks.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads all counters. Tables that the agent does not have are empty.
    ///
    /// # Errors
    /// If it does not answer, or not as an agent does.
    pub fn read(&mut self, side: Side) -> Result<Reading, DeviceError> {
        self.session.begin();
        self.cut = false;
        let mut reading = Reading::default();
        let steps: [Step; 5] = [Self::system, Self::ip, Self::transport, Self::ports, Self::octets];
        match side {
            Side::Before => steps.into_iter().try_for_each(|step| step(self, &mut reading))?,
            Side::After => steps.into_iter().rev().try_for_each(|step| step(self, &mut reading))?,
        }
        if self.cut {
            let (count, name) = (reading.ports.len(), &self.name);
            let what = format!("tables of {name} were not read to their ends: {count} interfaces");
            reading.left_out.push(what);
        }
        Ok(reading)
    }

    fn system(&mut self, reading: &mut Reading) -> Result<(), DeviceError> {
        for (index, _, told) in self.session.scalars(&tables::objects(&SYSTEM))? {
            match (SYSTEM[index].0, told) {
                ("sysUpTime", Scalar::Short(ticks)) => reading.uptime = ticks,
                ("sysName", Scalar::Text(name)) => reading.name = name,
                _ => {}
            }
        }
        Ok(())
    }

    fn ip(&mut self, reading: &mut Reading) -> Result<(), DeviceError> {
        for (index, row, told) in self.table(&IP_COLUMNS, ROWS_MAX)? {
            let family = row.first().and_then(|&version| tables::family(version));
            if let Some((family, counter)) = family.zip(counter(&told)) {
                reading.ip.get_mut(family).insert(IP_COLUMNS[index].0, counter);
            }
        }
        Ok(())
    }

    fn transport(&mut self, reading: &mut Reading) -> Result<(), DeviceError> {
        for (index, _, told) in self.session.scalars(&tables::objects(&TRANSPORT))? {
            if let Some(counter) = counter(&told) {
                reading.transport.insert(TRANSPORT[index].0, counter);
            }
        }
        Ok(())
    }

    fn ports(&mut self, reading: &mut Reading) -> Result<(), DeviceError> {
        for (index, row, told) in self.table(&PORT_COLUMNS, ROWS_MAX)? {
            let Some(port) = row.first().and_then(|&port| u32::try_from(port).ok()) else {
                continue;
            };
            match (PORT_COLUMNS[index].0, told) {
                ("ifName", Scalar::Text(name)) if !name.is_empty() => {
                    reading.names.insert(port, name);
                }
                ("ifDescr", Scalar::Text(name)) => {
                    reading.names.entry(port).or_insert(name);
                }
                (name, told) => {
                    if let Some(counter) = counter(&told) {
                        reading.ports.entry(port).or_default().insert(name, counter);
                    }
                }
            }
        }
        // One row for each version and interface, all of the first version before the other's.
        let rows_max = Family::BOTH.len() * ROWS_MAX;
        for (index, row, told) in self.table(&IP_PORT_COLUMNS, rows_max)? {
            let [version, port] = row[..] else { continue };
            let family: Option<Family> = tables::family(version);
            let port = u32::try_from(port).ok();
            let Some(((family, port), counter)) = family.zip(port).zip(counter(&told)) else {
                continue;
            };
            // Only of interfaces that the other tables know.
            if let Some(counters) = reading.ports.get_mut(&port) {
                counters.insert(tables::of_family(index, family), counter);
            }
        }
        Ok(())
    }

    fn octets(&mut self, reading: &mut Reading) -> Result<(), DeviceError> {
        for (index, row, told) in self.table(&OCTET_COLUMNS, ROWS_MAX)? {
            let port = row.first().and_then(|&port| u32::try_from(port).ok());
            if let Some((port, counter)) = port.zip(counter(&told)) {
                reading.ports.entry(port).or_default().insert(OCTET_COLUMNS[index].0, counter);
            }
        }
        Ok(())
    }

    fn table<const N: usize>(
        &mut self,
        table: &Table<N>,
        rows_max: usize,
    ) -> Result<Vec<Entry>, DeviceError> {
        let Rows { entries, cut } = self.session.columns(&tables::objects(table), rows_max)?;
        self.cut |= cut;
        Ok(entries)
    }
}

fn counter(told: &Scalar) -> Option<Counter> {
    match told {
        Scalar::Short(value) => Some(Counter::Short(*value)),
        Scalar::Long(value) => Some(Counter::Long(*value)),
        Scalar::Text(_) => None,
    }
}
