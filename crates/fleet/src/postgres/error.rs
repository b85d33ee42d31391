//! What goes wrong with a database. No text of these has a password: words of a URL that cannot be
//! read are not repeated, since any of them may be one.

use std::error::Error;
use std::io;

/// Why a database could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostgresError {
    /// What was given is no URL of a database.
    #[error("that is no URL of a database, as in postgres://USER@HOST/NAME")]
    Url,
    /// A password that others can read.
    #[error("the URL has a password, which others on this computer can read")]
    Password,
    /// Certificates of the authority that cannot be read.
    #[error("the file of PGSSLROOTCERT holds no certificate")]
    Roots,
    /// There is nobody by whom a database elsewhere could be known.
    #[error("this system trusts nobody who could vouch for a database elsewhere")]
    NoRoots,
    /// TLS that cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// No answer, or not by TLS, or who asks is not let in.
    #[error("the database cannot be used: {0}")]
    Connect(String),
    /// It was connected to, and does not do what is asked.
    #[error("the database does not {what}: {why}")]
    Refused {
        /// What it was asked for.
        what: &'static str,
        /// Its words.
        why: String,
    },
    /// A later version of the program made the tables.
    #[error("a later version of this program made the tables: {found}, and this one knows {known}")]
    TooNew {
        /// Version of the tables.
        found: i32,
        /// Newest version known here.
        known: i32,
    },
    /// The system has no runtime for it.
    #[error("no connection can be driven here: {0}")]
    Runtime(#[from] io::Error),
}

impl PostgresError {
    /// That the database does not do `what`.
    pub(super) fn refused(what: &'static str) -> impl FnOnce(tokio_postgres::Error) -> Self {
        move |error| PostgresError::Refused { what, why: in_words(&error) }
    }
}

/// What an error says, with what lies behind it: the library's own text is often no more than
/// "db error".
pub(super) fn in_words(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        return said.message().to_owned();
    }
    let mut text = error.to_string();
    let mut behind = error.source();
    while let Some(cause) = behind {
        text += &format!(": {cause}");
        behind = cause.source();
    }
    text
}
