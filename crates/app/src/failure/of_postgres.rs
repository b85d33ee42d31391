//! Errors of databases.

use super::Failure;
use v6gap_fleet::postgres::PostgresError;

impl From<PostgresError> for Failure {
    fn from(error: PostgresError) -> Self {
        let text = error.to_string();
        match error {
            PostgresError::Password => Failure::usage(text).seen(
                "The variable PGPASSWORD, a file of passwords that PGPASSFILE names, or a file \
                     with the URL in place of it keep it from them.",
            ),
            PostgresError::NoRoots => Failure::usage(text).seen(
                "PGSSLROOTCERT names a file of certificates to trust; sslmode=disable in the URL \
                 does without.",
            ),
            PostgresError::Url | PostgresError::Roots => Failure::usage(text),
            _ => Failure::unexpected(text),
        }
    }
}
