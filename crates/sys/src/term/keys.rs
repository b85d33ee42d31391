//! Keys of the terminal, one at a time and unseen, for as long as the value lives.

use super::platform;
use crate::Unavailable;
use std::time::Duration;

/// Reads keys from the terminal behind standard input. While it lives keys come one at a time and
/// are not shown; Ctrl-C stays what it is. Its end puts the terminal back as it was.
#[derive(Debug)]
pub struct Keys {
    before: platform::Before,
}

impl Keys {
    /// Begins to read keys.
    ///
    /// # Errors
    /// If standard input is no terminal, this process is not the one that the terminal listens to,
    /// or the platform does not let it be set.
    pub fn read() -> Result<Self, Unavailable> {
        let before = platform::begin()?;
        Ok(Keys { before })
    }

    /// The next key, if one is or gets pressed within `wait`; `None` also at the end of the input.
    pub fn next(&self, wait: Duration) -> Option<u8> {
        platform::next(wait)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        platform::end(&self.before);
    }
}
