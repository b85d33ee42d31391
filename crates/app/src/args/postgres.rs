//! Options of verbs that write to a database.

use super::values;
use clap::Args;
use std::path::PathBuf;

/// Put what stored results say and measured into a database of PostgreSQL
///
/// Tables run, answer, pair and trial, and views with the columns of the archive. What the database
/// has already is left as it is; a result that went on takes the place of what it was.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap index postgres postgres://sink@localhost/v6gap
  PGPASSFILE=pass v6gap index postgres postgres://sink@db.example/v6gap --since 7d
  v6gap index postgres url.txt --afresh     the URL in a file, which may have a password
  v6gap index postgres url.txt --fleet /srv/v6gap/archive

A database on another computer is spoken to by TLS, and its certificate must be good for its name.
PGSSLROOTCERT names a file of certificates to trust in place of the system's; sslmode=disable in the
URL does without TLS.")]
pub struct IndexPostgresArgs {
    /// URL of the database, without a password, or a file whose first line is one
    #[arg(value_name = "URL|FILE")]
    pub database: String,
    /// What variables say of it
    #[command(flatten)]
    pub variables: PostgresVariables,
    /// Results of all hosts of a fleet: the folder of them that a hub keeps
    #[arg(long, value_name = "FOLDER")]
    pub fleet: Option<PathBuf>,
    /// Only results that began within this time, as in 7d
    #[arg(long, value_name = "TIME", value_parser = values::span)]
    pub since: Option<u64>,
    /// Judge all results again, as after an update, instead of those alone that the database lacks
    #[arg(long)]
    pub afresh: bool,
    /// Write JSON
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// What variables say of a database, as to PostgreSQL's own programs.
#[derive(Clone, Default, Args)]
pub struct PostgresVariables {
    /// The password
    #[arg(long, env = "PGPASSWORD", hide = true, hide_env = true)]
    pub password_of_environment: Option<String>,
    /// A file of passwords
    #[arg(long, env = "PGPASSFILE", value_name = "FILE", hide = true, hide_env = true)]
    pub passwords_of_environment: Option<PathBuf>,
    /// A file of certificates
    #[arg(long, env = "PGSSLROOTCERT", value_name = "FILE", hide = true, hide_env = true)]
    pub roots_of_environment: Option<PathBuf>,
}

impl std::fmt::Debug for PostgresVariables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PostgresVariables(…)")
    }
}
