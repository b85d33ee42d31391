//! Systems on which no worker is started: none of these values can be made there.

use super::Passed;
use crate::Unavailable;
use crate::network::Network;
use crate::socket::{Datagram, Listener, Stream};
use std::convert::Infallible;
use std::ffi::{CStr, OsStr, OsString};
use std::io;

/// The file that this program is.
#[derive(Debug)]
pub struct Program(Infallible);

/// A worker as its parent sees it.
#[derive(Debug)]
pub struct Process(Infallible);

/// One end of the conversation of two processes.
#[derive(Debug)]
pub struct Conduit(Infallible);

/// A socket that came with a frame.
#[derive(Debug)]
pub struct Came(Infallible);

impl Program {
    /// None.
    ///
    /// # Errors
    /// Always.
    pub fn this(_: Option<&OsStr>, _: &[(&str, OsString)]) -> Result<Self, Unavailable> {
        Err(Unavailable::here("processes of its own for trials"))
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// Never.
    pub fn start(&self, _: &CStr) -> io::Result<(Process, Conduit)> {
        match self.0 {}
    }
}

impl Process {
    /// Cannot be called.
    pub fn id(&self) -> u32 {
        match self.0 {}
    }

    /// Cannot be called.
    pub fn end(&mut self) -> String {
        match self.0 {}
    }
}

impl Came {
    /// Cannot be called.
    pub fn stream(self) -> Stream {
        match self.0 {}
    }

    /// Cannot be called.
    pub fn datagram(self) -> Datagram {
        match self.0 {}
    }

    /// Cannot be called.
    pub fn listener(self) -> Listener {
        match self.0 {}
    }

    /// Cannot be called.
    pub fn network(self) -> Network {
        match self.0 {}
    }
}

impl Conduit {
    /// None.
    pub fn inherited() -> Option<Self> {
        None
    }

    /// None.
    ///
    /// # Errors
    /// Always.
    pub fn pair() -> io::Result<(Self, Self)> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// Never.
    pub fn set_send_timeout(&self, _: u64) -> io::Result<()> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// Never.
    pub fn send(&self, _: &[u8], _: &[Passed<'_>]) -> io::Result<()> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// Never.
    pub fn receive(&self, _: u64) -> io::Result<Option<(Vec<u8>, Vec<Came>)>> {
        match self.0 {}
    }
}
