//! A database that is connected to: its tables made, runs written.

use super::error::PostgresError;
use super::tables::{ANSWER, CUT_PAIRS, PAIR, STEPS, TRIAL, VERSION, put_run};
use super::{Access, RunRows};
use std::collections::BTreeSet;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement, Transaction};

/// Whether there is nothing yet. Whoever may make no tables can still fill those of another user.
const IS_NEW: &str = "SELECT to_regclass('v6gap_version') IS NULL";

/// Where the version of the tables is.
const MAKE_VERSION: &str = "CREATE TABLE v6gap_version (version integer NOT NULL)";

/// Held by whoever makes tables, so that two who begin at once do not both make them. The number is
/// "v6g" in ASCII; others who lock by numbers have others.
const MAKING: &str = "SELECT pg_advisory_xact_lock(7747175)";

/// A run in the database, as it was when it was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    /// Identifier of the run.
    pub run: String,
    /// Start, in ns since the Unix epoch.
    pub started_unix_ns: i64,
    /// Length of its journal, in bytes.
    pub journal_bytes: i64,
}

impl Held {
    fn of(row: &Row) -> Result<Self, tokio_postgres::Error> {
        Ok(Held {
            run: row.try_get(0)?,
            started_unix_ns: row.try_get(1)?,
            journal_bytes: row.try_get(2)?,
        })
    }
}

/// What came of writing a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// The database has it as it was given.
    Put,
    /// It has a later version of it, which stays.
    Later,
}

/// A database that is connected to.
pub struct Database {
    client: Client,
    statements: Option<Statements>,
}

/// What is said for each run, made ready once.
#[derive(Clone)]
struct Statements {
    run: Statement,
    answers: Statement,
    pairs: Statement,
    trials: Statement,
    cut_answers: Statement,
    cut_pairs: Statement,
    cut_trials: Statement,
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("is_closed", &self.is_closed()).finish_non_exhaustive()
    }
}

impl Database {
    /// Connects; within a runtime, which drives the connection.
    ///
    /// # Errors
    /// If nobody answers, not by TLS where that is wanted, or does not let in.
    pub async fn connect(access: &Access) -> Result<Self, PostgresError> {
        Ok(Database { client: access.client().await?, statements: None })
    }

    /// Makes the tables, or brings those of an earlier version up to date, all or nothing; what is
    /// up to date is left alone.
    ///
    /// # Errors
    /// If a later version made them, or the database does not let this user make any.
    pub async fn migrate(&mut self) -> Result<(), PostgresError> {
        let refused = || PostgresError::refused("make the tables");
        let making = self.client.transaction().await.map_err(refused())?;
        making.batch_execute(MAKING).await.map_err(refused())?;
        let asked = making.query_one(IS_NEW, &[]).await.map_err(refused())?;
        let is_new: bool = asked.try_get(0).map_err(refused())?;
        if is_new {
            making.batch_execute(MAKE_VERSION).await.map_err(refused())?;
        }
        let found = making.query_opt("SELECT version FROM v6gap_version", &[]).await;
        let found: i32 = match found.map_err(refused())? {
            Some(row) => row.try_get(0).map_err(refused())?,
            None => 0,
        };
        if found > VERSION {
            return Err(PostgresError::TooNew { found, known: VERSION });
        }
        if found == VERSION {
            return making.commit().await.map_err(refused());
        }
        for step in STEPS.iter().skip(usize::try_from(found).unwrap_or_default()) {
            making.batch_execute(step).await.map_err(refused())?;
        }
        let set = match found {
            0 => "INSERT INTO v6gap_version VALUES ($1)",
            _ => "UPDATE v6gap_version SET version = $1",
        };
        making.execute(set, &[&VERSION]).await.map_err(refused())?;
        making.commit().await.map_err(refused())
    }

    /// The runs that the database has.
    ///
    /// # Errors
    /// If it does not tell.
    pub async fn held(&self) -> Result<BTreeSet<Held>, PostgresError> {
        let refused = || PostgresError::refused("tell which runs it has");
        let asked = "SELECT run, started_unix_ns, journal_bytes FROM run";
        let rows = self.client.query(asked, &[]).await.map_err(refused())?;
        let held: Result<_, _> = rows.iter().map(Held::of).collect();
        held.map_err(refused())
    }

    /// Writes a run, whole or not at all, in place of an earlier version of it. It may be there
    /// already.
    ///
    /// # Errors
    /// If the database cannot be reached any more or refuses it; it is as it was then.
    pub async fn write(&mut self, run: &RunRows) -> Result<Written, PostgresError> {
        let refused = || PostgresError::refused("store a run");
        let Some((id, started_unix_ns)) = run.key() else {
            let why = "it has neither identifier nor start".to_owned();
            return Err(PostgresError::Refused { what: "store a run", why });
        };
        let statements = self.statements().await.map_err(refused())?;
        let writing = self.client.transaction().await.map_err(refused())?;
        // Whoever else writes this run waits here.
        let put = writing.execute(&statements.run, &[&run.run()]).await.map_err(refused())?;
        if put == 0 {
            writing.rollback().await.map_err(refused())?;
            return Ok(Written::Later);
        }
        let key = (id.as_str(), started_unix_ns);
        fill(&writing, &statements, key, run).await.map_err(refused())?;
        writing.commit().await.map_err(refused())?;
        Ok(Written::Put)
    }

    /// Whether the connection is gone, so that another one is needed.
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    async fn statements(&mut self) -> Result<Statements, tokio_postgres::Error> {
        if let Some(statements) = &self.statements {
            return Ok(statements.clone());
        }
        let client = &self.client;
        let statements = Statements {
            run: client.prepare(&put_run()).await?,
            answers: client.prepare(&ANSWER.put()).await?,
            pairs: client.prepare(&PAIR.put()).await?,
            trials: client.prepare(&TRIAL.put()).await?,
            cut_answers: client.prepare(&ANSWER.cut()).await?,
            cut_pairs: client.prepare(CUT_PAIRS).await?,
            cut_trials: client.prepare(&TRIAL.cut()).await?,
        };
        self.statements = Some(statements.clone());
        Ok(statements)
    }
}

/// Puts in all that is of a run, and takes out what is not of it any more.
async fn fill(
    writing: &Transaction<'_>,
    statements: &Statements,
    (run, started_unix_ns): (&str, i64),
    rows: &RunRows,
) -> Result<(), tokio_postgres::Error> {
    let parts = [
        (&statements.answers, rows.answers()),
        (&statements.pairs, rows.pairs()),
        (&statements.trials, rows.trials()),
    ];
    for (statement, lists) in parts {
        for list in lists {
            writing.execute(statement, &[&run, &started_unix_ns, &list]).await?;
        }
    }
    let [answers, trials] =
        [&rows.answers, &rows.trials].map(|rows| i64::try_from(rows.len()).unwrap_or(i64::MAX));
    let counts = rows.pair_counts();
    let cuts: [(&Statement, &(dyn ToSql + Sync)); 3] = [
        (&statements.cut_pairs, &counts),
        (&statements.cut_answers, &answers),
        (&statements.cut_trials, &trials),
    ];
    for (statement, count) in cuts {
        writing.execute(statement, &[&run, &started_unix_ns, count]).await?;
    }
    Ok(())
}
