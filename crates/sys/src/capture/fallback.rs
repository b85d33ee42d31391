//! Other platforms: none.

use super::{Filter, Frame, Link, Refused};
use crate::Unavailable;
use std::io;

/// An interface that is listened to; there is no value of it here.
#[derive(Debug)]
pub enum Tap {}

impl Tap {
    /// Always refused.
    ///
    /// # Errors
    /// Always.
    pub fn open(_: &str, _: &Filter, _: u32, _: usize) -> Result<Self, Refused> {
        let because = "this program has it on Linux only; tcpdump or dumpcap can be run beside it";
        Err(Refused::Unavailable(Unavailable::new("capturing", because)))
    }

    /// Not reached.
    pub fn interface(&self) -> &str {
        match *self {}
    }

    /// Not reached.
    pub fn link(&self) -> Link {
        match *self {}
    }

    /// Not reached.
    pub fn take<T>(&mut self, _: impl FnOnce(Frame<'_>) -> T) -> Option<T> {
        match *self {}
    }

    /// Not reached.
    ///
    /// # Errors
    /// Not reached.
    pub fn dropped(&self) -> io::Result<u32> {
        match *self {}
    }
}
