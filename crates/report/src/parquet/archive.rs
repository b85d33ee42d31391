//! Tables of many runs that outlive them: what each answered, and its trials and pairs with the
//! hosts between which it was.
//!
//! Answers of many runs share a file. It is made anew from its rows and those of the runs that are
//! put in, in the order in which the runs began, so that its bytes depend on which runs are in it
//! and not on when they came.

use super::column::{Cell, Column, Kind};
use super::file::File;
use super::{ParquetError, ParquetTable, rows_of_run, seal};
use crate::archived::{of_question, of_run, whole, whose};
use crate::rows::Row;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;
use std::collections::{BTreeMap, BTreeSet};
use v6gap_core::record::Line;
use v6gap_judge::analysis::Analysis;
use v6gap_judge::analysis::summary::Summary;

/// The columns that say of which run a row is and how much of it was known, which stand first.
const OF_RUN: [&str; 3] = ["run", "started_unix_ns", "journal_bytes"];

/// All columns. They are the same in every file, whatever a month has of them.
const COLUMNS: [(&str, Kind); 41] = [
    (OF_RUN[0], Kind::Text),
    (OF_RUN[1], Kind::Int),
    (OF_RUN[2], Kind::Int),
    ("from", Kind::Text),
    ("to", Kind::Text),
    ("from_site", Kind::Text),
    ("to_site", Kind::Text),
    ("target", Kind::Text),
    ("plan", Kind::Text),
    ("lab", Kind::Bool),
    ("judged_by", Kind::Text),
    ("valid", Kind::Bool),
    ("stop", Kind::Text),
    ("cell", Kind::Text),
    ("place", Kind::Text),
    ("question", Kind::Text),
    ("metric", Kind::Text),
    ("protocol", Kind::Text),
    ("level_bytes", Kind::Int),
    ("unit", Kind::Text),
    ("family_a", Kind::Text),
    ("family_b", Kind::Text),
    ("value_a", Kind::Float),
    ("value_b", Kind::Float),
    ("pairs", Kind::Int),
    ("effect_kind", Kind::Text),
    ("effect", Kind::Float),
    ("low95", Kind::Float),
    ("high95", Kind::Float),
    ("low90", Kind::Float),
    ("high90", Kind::Float),
    ("sd", Kind::Float),
    ("standard_error", Kind::Float),
    ("together", Kind::Int),
    ("merged", Kind::Int),
    ("margin", Kind::Float),
    ("predicted", Kind::Float),
    ("verdict", Kind::Text),
    ("qualifier", Kind::Text),
    ("why_none", Kind::Text),
    ("caveats", Kind::Text),
];

/// A run in a table of answers, as it was when it was put in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArchivedRun {
    /// Identifier of the run.
    pub run: String,
    /// Start, in ns since the Unix epoch.
    pub started_unix_ns: u64,
    /// Length of its journal, in bytes.
    pub journal_bytes: u64,
}

/// What runs answered, a row for each question; a run that has none has one row without any.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    /// The rows of each run, by its start and its identifier.
    runs: BTreeMap<(i64, String), Vec<Vec<Cell>>>,
}

/// Trials and pairs of a run, in this order, each row with the hosts between which it was. A table
/// without a row is left out: it has no column either, and programs refuse to read such a file.
///
/// # Errors
/// As [`super::parquet()`].
pub fn archived_tables(
    lines: &[Line],
    analysis: &Analysis,
) -> Result<Vec<ParquetTable>, ParquetError> {
    let has_trials = lines.iter().any(|line| matches!(line, Line::Trial(_)));
    let has_pairs = analysis.questions.iter().any(|question| !question.pairs.is_empty());
    let tables = rows_of_run(lines, analysis, &whose(analysis))?;
    let with_rows = tables.into_iter().zip([has_trials, has_pairs]);
    Ok(with_rows.filter_map(|(table, has_rows)| has_rows.then_some(table)).collect())
}

/// The runs in a table of answers.
///
/// # Errors
/// If it is no such table, or not as it was written.
pub fn archived_runs(
    table: impl ChunkReader + 'static,
) -> Result<BTreeSet<ArchivedRun>, ParquetError> {
    seal::check(&table)?;
    let reader = SerializedFileReader::new(table)?;
    let schema = reader.metadata().file_metadata().schema();
    let wanted = schema.get_fields().iter().filter(|field| OF_RUN.contains(&field.name()));
    let wanted = Type::group_type_builder(schema.name()).with_fields(wanted.cloned().collect());
    let mut runs = BTreeSet::new();
    for row in reader.get_row_iter(Some(wanted.build()?))? {
        let mut named: BTreeMap<String, Field> = row?.into_columns().into_iter().collect();
        let [run, started, bytes] = OF_RUN.map(|name| named.remove(name));
        let (Some(Field::Str(run)), Some(Field::Long(started)), Some(Field::Long(bytes))) =
            (run, started, bytes)
        else {
            return Err(of_no_run());
        };
        let [started_unix_ns, journal_bytes] = [started, bytes].map(i64::unsigned_abs);
        runs.insert(ArchivedRun { run, started_unix_ns, journal_bytes });
    }
    Ok(runs)
}

impl Answers {
    /// The answers in a table.
    ///
    /// # Errors
    /// If it is no such table, or not as it was written.
    pub fn read(table: impl ChunkReader + 'static) -> Result<Self, ParquetError> {
        seal::check(&table)?;
        let reader = SerializedFileReader::new(table)?;
        let mut answers = Answers::default();
        for row in reader.get_row_iter(None)? {
            let mut named: BTreeMap<String, Field> = row?.into_columns().into_iter().collect();
            let cells = COLUMNS.iter().map(|(name, kind)| cell(named.remove(*name), *kind));
            let cells: Vec<Cell> = cells.collect::<Result<_, _>>()?;
            // What is not known here would be lost when the table is written again.
            if let Some(name) = named.keys().next() {
                let why = format!("this version of the program does not know the column {name}");
                return Err(ParquetError::General(why));
            }
            let (Cell::Text(run), Cell::Int(started)) = (&cells[0], &cells[1]) else {
                return Err(of_no_run());
            };
            let place = (*started, run.as_utf8()?.to_owned());
            answers.runs.entry(place).or_default().push(cells);
        }
        Ok(answers)
    }

    /// Puts in what a run answered, in place of what it answered before. Its journal has so many
    /// bytes.
    pub fn put(&mut self, analysis: &Analysis, lines: &[Line], journal_bytes: u64) {
        let run = of_run(analysis, journal_bytes);
        let known = Summary::of(analysis, lines, String::new()).questions;
        let questions = analysis.questions.iter().zip(&known);
        let mut rows: Vec<Vec<Cell>> = questions
            .map(|(question, known)| {
                let mut row = of_question(question, known);
                row.extend(run.clone());
                in_columns(&row)
            })
            .collect();
        if rows.is_empty() {
            rows.push(in_columns(&run));
        }
        let id = analysis.run.id.as_str().to_owned();
        self.runs.insert((whole(analysis.run.started_unix_ns), id), rows);
    }

    /// The table.
    ///
    /// # Errors
    /// As [`super::parquet()`].
    pub fn table(&self) -> Result<ParquetTable, ParquetError> {
        let mut columns: Vec<Column> =
            COLUMNS.iter().map(|(name, kind)| Column::new(name, *kind)).collect();
        for row in self.runs.values().flatten() {
            for (column, cell) in columns.iter_mut().zip(row) {
                column.cells.push(cell.clone());
            }
        }
        let mut file = File::new(&columns)?;
        file.group(&columns)?;
        Ok(ParquetTable { name: "answers", bytes: seal::sealed(file.bytes()?)? })
    }
}

fn of_no_run() -> ParquetError {
    ParquetError::General("a row that is of no run".to_owned())
}

/// A cell that was read. A column that an older version did not write is empty.
fn cell(field: Option<Field>, kind: Kind) -> Result<Cell, ParquetError> {
    match (field.unwrap_or(Field::Null), kind) {
        (Field::Null, _) => Ok(Cell::Empty),
        (Field::Bool(value), Kind::Bool) => Ok(Cell::Bool(value)),
        (Field::Long(value), Kind::Int) => Ok(Cell::Int(value)),
        (Field::Double(value), Kind::Float) => Ok(Cell::Float(value)),
        (Field::Str(text), Kind::Text) => Ok(Cell::Text(text.as_str().into())),
        (_, kind) => Err(ParquetError::General(format!("a column is not {kind:?}"))),
    }
}

fn in_columns(row: &Row) -> Vec<Cell> {
    COLUMNS.iter().map(|(name, _)| Cell::of(row.get(*name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn column(name: &str, kind: Kind) -> Column {
        let cell = match kind {
            Kind::Int => Cell::Int(1),
            Kind::Text => Cell::Text("a".into()),
            Kind::Bool | Kind::Float => Cell::Empty,
        };
        Column { cells: vec![cell], ..Column::new(name, kind) }
    }

    fn read(columns: &[Column]) -> Result<Answers, ParquetError> {
        let mut file = File::new(columns)?;
        file.group(columns)?;
        Answers::read(Bytes::from(seal::sealed(file.bytes()?)?))
    }

    /// A later version may write one, and runs that were removed have it nowhere else.
    #[test]
    fn a_column_that_is_not_known_is_not_lost() {
        let known = COLUMNS.iter().map(|(name, kind)| column(name, *kind));
        let mut columns: Vec<Column> = known.collect();
        assert!(read(&columns).is_ok());
        columns.push(column("later", Kind::Int));
        let error = read(&columns).expect_err("an unknown column");
        assert!(error.to_string().contains("the column later"), "{error}");
    }
}
