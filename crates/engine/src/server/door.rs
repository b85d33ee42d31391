//! Whether the host is free: a server measures for one client at a time, and its host may be
//! measured by others, too.

use v6gap_core::wire::control::Queued;

/// Asked before a session whose turn it is may measure. Whoever runs a server knows what else is
/// measured on its host.
pub trait Door: Send {
    /// A session wants to measure. Asked again from time to time as long as it may not; it must not
    /// take long.
    ///
    /// # Errors
    /// What is measured instead, as the client is told.
    fn enter(&mut self, measurement: Option<&str>) -> Result<(), Queued>;

    /// The session that was let in is over.
    fn leave(&mut self);
}

/// For a server on whose host nothing else is measured, or that is not to care.
pub(super) struct Open;

impl Door for Open {
    fn enter(&mut self, _measurement: Option<&str>) -> Result<(), Queued> {
        Ok(())
    }

    fn leave(&mut self) {}
}
