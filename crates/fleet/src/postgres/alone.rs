//! A database for whoever has no runtime: each call returns when it is done.

use super::{Access, Database, Held, PostgresError, RunRows, Written};
use std::collections::BTreeSet;
use tokio::runtime::{Builder, Runtime};

/// A database that is connected to, with a runtime of its own.
pub struct Alone {
    runtime: Runtime,
    database: Database,
}

impl std::fmt::Debug for Alone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Alone").field("database", &self.database).finish_non_exhaustive()
    }
}

impl Alone {
    /// Connects, and makes the tables where they are not there.
    ///
    /// # Errors
    /// As [`Database::connect`] and [`Database::migrate`].
    pub fn connect(access: &Access) -> Result<Self, PostgresError> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let database = runtime.block_on(async {
            let mut database = Database::connect(access).await?;
            database.migrate().await?;
            Ok::<Database, PostgresError>(database)
        })?;
        Ok(Alone { runtime, database })
    }

    /// The runs that the database has.
    ///
    /// # Errors
    /// As [`Database::held`].
    pub fn held(&self) -> Result<BTreeSet<Held>, PostgresError> {
        self.runtime.block_on(self.database.held())
    }

    /// Writes a run.
    ///
    /// # Errors
    /// As [`Database::write`].
    pub fn write(&mut self, run: &RunRows) -> Result<Written, PostgresError> {
        self.runtime.block_on(self.database.write(run))
    }
}
