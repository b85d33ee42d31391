//! Systems without network namespaces: there is no value of it.

use std::convert::Infallible;
use std::io;

/// The network of another host.
#[derive(Debug, Clone)]
pub struct Network(Infallible);

impl Network {
    /// None.
    ///
    /// # Errors
    /// Always.
    pub fn here() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// Never.
    pub fn within<T: Send>(&self, _: impl FnOnce() -> T + Send) -> io::Result<T> {
        match self.0 {}
    }
}
