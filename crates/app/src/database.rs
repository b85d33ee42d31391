//! How a database is reached: what was typed, what variables say, and files with secrets.

use crate::args::PostgresVariables;
use crate::failure::{Failure, Outcome};
use crate::output;
use std::path::Path;
use v6gap_fleet::postgres::{Access, Given, RunRows};
use v6gap_report::ArchivedRows;
use v6gap_sys::secrets;

/// What stands in a URL and in no name of a file.
const SCHEME: &str = "://";

/// The database of that URL, or of the one in the first line of a file of that name.
///
/// # Errors
/// If a file cannot be read (E507), that is no URL, its password was typed, or there is nobody who
/// vouches for a database elsewhere.
pub fn access(database: &str, variables: &PostgresVariables) -> Result<Access, Failure> {
    let is_typed = database.contains(SCHEME);
    let filed = if is_typed { None } else { Some(read(Path::new(database), true)?) };
    let passwords = variables.passwords_of_environment.as_deref();
    let passwords = passwords.map(|path| read(path, true)).transpose()?;
    let roots = variables.roots_of_environment.as_deref();
    let roots = roots.map(|path| read(path, false)).transpose()?;
    let url = match &filed {
        Some(text) => text.lines().next().unwrap_or_default().trim(),
        None => database,
    };
    Ok(Access::new(Given {
        url,
        is_typed,
        password: variables.password_of_environment.as_deref(),
        passwords: passwords.as_deref(),
        roots: roots.as_deref(),
    })?)
}

/// The rows of a run, as a database takes them.
pub fn rows(archived: ArchivedRows) -> RunRows {
    let ArchivedRows { run, answers, pairs, trials } = archived;
    RunRows { run, answers, pairs, trials }
}

/// The text of a file. If it is secret and others may read it, that is said.
fn read(path: &Path, is_secret: bool) -> Result<String, Failure> {
    let name = path.display();
    let secret = secrets::read(path, None).map_err(|error| {
        Failure::new("E507", Outcome::Usage, format!("cannot read {name}: {error}"))
    })?;
    if let (true, Ok(others @ 1..)) = (is_secret, &secret.others) {
        let doubt = format!(
            "warning: others on this computer may read or change {name} (mode bits {others:03o}); \
             chmod 600 {name}."
        );
        output::to_stderr(&output::wrap(&doubt, 80, "  "));
    }
    Ok(secret.text)
}
