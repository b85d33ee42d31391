//! Who may come in: a link that works once is exchanged for a cookie.
//!
//! The key stands in the fragment of the link, which browsers send to nobody. It is compared in a
//! time that does not depend on it, and gone when it was used.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use subtle::ConstantTimeEq;
use v6gap_sys::entropy;

/// Name of the cookie.
pub(crate) const COOKIE: &str = "v6gap";

/// Bytes of a key and of a cookie.
const BYTES: usize = 24;

/// Cookies that are known at once; the oldest goes.
const COOKIES_MAX: usize = 16;

/// A key or cookie as text.
type Secret = String;

/// Keys that were given out and not used, and cookies.
#[derive(Debug, Default)]
pub struct Keys {
    open: Mutex<Vec<Secret>>,
    cookies: Mutex<Vec<Secret>>,
}

impl Keys {
    /// A key for one more link.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn issue(&self) -> io::Result<String> {
        let key = secret()?;
        keep(&mut lock(&self.open), key.clone());
        Ok(key)
    }

    /// A cookie for a key, which cannot be used again; `None` if it is none.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub(crate) fn exchange(&self, key: &str) -> io::Result<Option<String>> {
        {
            let mut open = lock(&self.open);
            let Some(at) = position(&open, key) else { return Ok(None) };
            open.remove(at);
        }
        let cookie = secret()?;
        keep(&mut lock(&self.cookies), cookie.clone());
        Ok(Some(cookie))
    }

    /// Whether a cookie was given out here.
    pub(crate) fn knows(&self, cookie: &str) -> bool {
        position(&lock(&self.cookies), cookie).is_some()
    }
}

fn lock(secrets: &Mutex<Vec<Secret>>) -> MutexGuard<'_, Vec<Secret>> {
    secrets.lock().unwrap_or_else(PoisonError::into_inner)
}

fn keep(secrets: &mut Vec<Secret>, secret: Secret) {
    if secrets.len() >= COOKIES_MAX {
        secrets.remove(0);
    }
    secrets.push(secret);
}

/// Compares with all of them, so that the time tells nothing.
fn position(secrets: &[Secret], told: &str) -> Option<usize> {
    let mut found = None;
    for (at, secret) in secrets.iter().enumerate() {
        if bool::from(secret.as_bytes().ct_eq(told.as_bytes())) {
            found = Some(at);
        }
    }
    found
}

fn secret() -> io::Result<Secret> {
    let mut bytes = [0; BYTES];
    entropy::random(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_works_once() {
        let keys = Keys::default();
        let key = keys.issue().unwrap();
        assert_eq!(keys.exchange("").unwrap(), None);
        assert_eq!(keys.exchange(&key[1..]).unwrap(), None);
        let cookie = keys.exchange(&key).unwrap().unwrap();
        assert!(keys.knows(&cookie));
        assert_eq!(keys.exchange(&key).unwrap(), None);
        assert!(!keys.knows(&key));
        assert!(!keys.knows(""));
    }

    #[test]
    fn the_oldest_cookie_goes_first() {
        let keys = Keys::default();
        let cookie = || keys.exchange(&keys.issue().unwrap()).unwrap().unwrap();
        let first = cookie();
        let others: Vec<String> = (0..COOKIES_MAX).map(|_| cookie()).collect();
        assert!(!keys.knows(&first));
        assert!(others.iter().all(|cookie| keys.knows(cookie)));
    }
}
