//! Who may come in: a link that works once is exchanged for a token, which the page sends with
//! every request in a header.
//!
//! No cookie: browsers send those to every port of a host, and so to other servers on this
//! computer, other people's too. A token goes where a page of this very origin sends it. What a
//! browser asks for by itself, as the page in a frame or a file that is saved, carries a ticket
//! instead, which opens one address and nothing else.
//!
//! The key stands in the fragment of the link, which browsers send to nobody. It is compared in a
//! time that does not depend on it, and gone when it was used.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use subtle::ConstantTimeEq;
use v6gap_sys::entropy;

/// Bytes of a key, a token and a ticket.
const BYTES: usize = 24;

/// Keys and tokens that are known at once; the oldest goes.
const SECRETS_MAX: usize = 16;

/// Tickets that are known at once; the oldest goes.
const TICKETS_MAX: usize = 256;

/// Longest address that a ticket opens, in bytes.
const PATH_BYTES_MAX: usize = 1024;

/// A key, token or ticket as text.
type Secret = String;

/// Keys that were given out and not used, tokens and tickets.
#[derive(Debug, Default)]
pub struct Keys {
    open: Mutex<Vec<Secret>>,
    tokens: Mutex<Vec<Secret>>,
    /// Each with the address that it opens.
    tickets: Mutex<Vec<(Secret, String)>>,
}

impl Keys {
    /// A key for one more link.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn issue(&self) -> io::Result<String> {
        let key = secret()?;
        keep(&mut lock(&self.open), key.clone(), SECRETS_MAX);
        Ok(key)
    }

    /// A token for a key, which cannot be used again; `None` if it is none.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub(crate) fn exchange(&self, key: &str) -> io::Result<Option<String>> {
        {
            let mut open = lock(&self.open);
            let Some(at) = position(open.iter().map(String::as_str), key) else {
                return Ok(None);
            };
            open.remove(at);
        }
        let token = secret()?;
        keep(&mut lock(&self.tokens), token.clone(), SECRETS_MAX);
        Ok(Some(token))
    }

    /// Whether a token was given out here.
    pub(crate) fn knows(&self, token: &str) -> bool {
        position(lock(&self.tokens).iter().map(String::as_str), token).is_some()
    }

    /// A ticket for one address; `None` if it is too long to be one.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub(crate) fn ticket(&self, path: &str) -> io::Result<Option<String>> {
        if path.len() > PATH_BYTES_MAX {
            return Ok(None);
        }
        let ticket = secret()?;
        keep(&mut lock(&self.tickets), (ticket.clone(), path.to_owned()), TICKETS_MAX);
        Ok(Some(ticket))
    }

    /// Whether a ticket opens an address.
    pub(crate) fn opens(&self, ticket: &str, path: &str) -> bool {
        let tickets = lock(&self.tickets);
        let at = position(tickets.iter().map(|(ticket, _)| ticket.as_str()), ticket);
        at.is_some_and(|at| tickets[at].1 == path)
    }
}

fn lock<T>(secrets: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    secrets.lock().unwrap_or_else(PoisonError::into_inner)
}

fn keep<T>(secrets: &mut Vec<T>, secret: T, most: usize) {
    if secrets.len() >= most {
        secrets.remove(0);
    }
    secrets.push(secret);
}

/// Compares with all of them, so that the time tells nothing.
fn position<'a>(secrets: impl Iterator<Item = &'a str>, told: &str) -> Option<usize> {
    let mut found = None;
    for (at, secret) in secrets.enumerate() {
        if bool::from(secret.as_bytes().ct_eq(told.as_bytes())) {
            found = Some(at);
        }
    }
    found
}

fn secret() -> io::Result<Secret> {
    let bytes: [u8; BYTES] = entropy::bytes().map_err(io::Error::other)?;
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
        let token = keys.exchange(&key).unwrap().unwrap();
        assert!(keys.knows(&token));
        assert_eq!(keys.exchange(&key).unwrap(), None);
        assert!(!keys.knows(&key));
        assert!(!keys.knows(""));
    }

    #[test]
    fn the_oldest_token_goes_first() {
        let keys = Keys::default();
        let token = || keys.exchange(&keys.issue().unwrap()).unwrap().unwrap();
        let first = token();
        let others: Vec<String> = (0..SECRETS_MAX).map(|_| token()).collect();
        assert!(!keys.knows(&first));
        assert!(others.iter().all(|token| keys.knows(token)));
    }

    #[test]
    fn a_ticket_opens_its_address_and_no_other() {
        let keys = Keys::default();
        let ticket = keys.ticket("/runs/a/report.html").unwrap().unwrap();
        assert!(keys.opens(&ticket, "/runs/a/report.html"));
        assert!(keys.opens(&ticket, "/runs/a/report.html"));
        assert!(!keys.opens(&ticket, "/runs/b/report.html"));
        assert!(!keys.opens("", "/runs/a/report.html") && !keys.knows(&ticket));
        assert_eq!(keys.ticket(&"x".repeat(PATH_BYTES_MAX + 1)).unwrap(), None);
        (0..TICKETS_MAX).for_each(|_| drop(keys.ticket("/").unwrap()));
        assert!(!keys.opens(&ticket, "/runs/a/report.html"));
    }
}
