//! The tables, and the statements that fill them. Rows come as one text of JSON, whose cells the
//! database reads as it reads numbers anywhere: to the last digit.

/// Version of the tables that this program makes.
pub(super) const VERSION: i32 = 1;

/// What makes each version of the one before; the first, of nothing.
pub(super) const STEPS: [&str; VERSION as usize] = [include_str!("schema/1.sql")];

/// A column and its type.
type Column = (&'static str, &'static str);

const TEXT: &str = "text";
const LARGE: &str = "bigint";
const SMALL: &str = "integer";
const FLOAT: &str = "double precision";
const TRUTH: &str = "boolean";
const JSON: &str = "jsonb";

/// Runs.
const RUN: [Column; 15] = [
    ("run", TEXT),
    ("started_unix_ns", LARGE),
    ("journal_bytes", LARGE),
    ("from", TEXT),
    ("to", TEXT),
    ("from_site", TEXT),
    ("to_site", TEXT),
    ("target", TEXT),
    ("plan", TEXT),
    ("lab", TRUTH),
    ("judged_by", TEXT),
    ("valid", TRUTH),
    ("stop", TEXT),
    ("family_a", TEXT),
    ("family_b", TEXT),
];

/// How many columns a run is known by.
const KEY: usize = 2;

/// A table of rows that are each of one run.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// The columns behind those of the run.
    columns: &'static [Column],
    /// How many of these number a row in its run.
    numbers: usize,
}

/// What runs answered.
pub(super) const ANSWER: Table = Table {
    name: "answer",
    columns: &[
        ("question_number", SMALL),
        ("cell", TEXT),
        ("place", TEXT),
        ("question", TEXT),
        ("metric", TEXT),
        ("protocol", TEXT),
        ("level_bytes", LARGE),
        ("unit", TEXT),
        ("value_a", FLOAT),
        ("value_b", FLOAT),
        ("pairs", LARGE),
        ("effect_kind", TEXT),
        ("effect", FLOAT),
        ("low95", FLOAT),
        ("high95", FLOAT),
        ("low90", FLOAT),
        ("high90", FLOAT),
        ("sd", FLOAT),
        ("standard_error", FLOAT),
        ("together", LARGE),
        ("merged", LARGE),
        ("margin", FLOAT),
        ("predicted", FLOAT),
        ("verdict", TEXT),
        ("qualifier", TEXT),
        ("why_none", TEXT),
        ("caveats", TEXT),
    ],
    numbers: 1,
};

/// Pairs of values.
pub(super) const PAIR: Table = Table {
    name: "pair",
    columns: &[
        ("question_number", SMALL),
        ("pair_number", SMALL),
        ("block", LARGE),
        ("round", LARGE),
        ("order", TEXT),
        ("block_valid", TRUTH),
        ("at_ns", LARGE),
        ("value_a", FLOAT),
        ("value_b", FLOAT),
        ("effect", FLOAT),
    ],
    numbers: 2,
};

/// Trials.
pub(super) const TRIAL: Table = Table {
    name: "trial",
    columns: &[
        ("trial_number", SMALL),
        ("block", LARGE),
        ("block_valid", TRUTH),
        ("cell", TEXT),
        ("kind", TEXT),
        ("round", LARGE),
        ("arm", TEXT),
        ("family", TEXT),
        ("order", TEXT),
        ("attempt", LARGE),
        ("started_unix_ns", LARGE),
        ("started_ns", LARGE),
        ("duration_ns", LARGE),
        ("values", JSON),
        ("seen", JSON),
    ],
    numbers: 1,
};

/// Pairs beyond those that each question has: `$3` is a list of how many that are.
pub(super) const CUT_PAIRS: &str = "DELETE FROM pair \
    WHERE run = $1::text AND run_started_unix_ns = $2::bigint \
    AND pair_number >= coalesce(($3::text::json ->> question_number)::bigint, 0)";

impl Table {
    /// Puts in rows of the run `$1` that began at `$2`: a list of objects, `$3`. A row that is
    /// there already is left alone, unless something in it changed.
    pub(super) fn put(&self) -> String {
        let name = self.name;
        let (numbers, rest) = self.columns.split_at(self.numbers);
        let excluded = listed(rest, "excluded.");
        format!(
            "INSERT INTO {name} (run, run_started_unix_ns, {all}) \
             SELECT $1::text, $2::bigint, {given} \
             FROM json_to_recordset($3::text::json) AS given ({typed}) \
             ON CONFLICT (run, run_started_unix_ns, {numbers}) \
             DO UPDATE SET ({rest}) = ROW ({excluded}) \
             WHERE ({held}) IS DISTINCT FROM ({excluded})",
            all = listed(self.columns, ""),
            given = listed(self.columns, "given."),
            typed = typed(self.columns),
            numbers = listed(numbers, ""),
            held = listed(rest, &format!("{name}.")),
            rest = listed(rest, ""),
        )
    }

    /// Removes rows of that run from number `$3` on.
    pub(super) fn cut(&self) -> String {
        let number = listed(&self.columns[..self.numbers], "");
        format!(
            "DELETE FROM {} WHERE run = $1::text AND run_started_unix_ns = $2::bigint \
             AND {number} >= $3::bigint",
            self.name
        )
    }

    /// Whether a row has a column of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(column, _)| *column == name)
    }
}

/// Puts in a run, an object `$1`. No row is changed if a later version of it is there.
pub(super) fn put_run() -> String {
    let rest = &RUN[KEY..];
    format!(
        "INSERT INTO run AS held ({all}) SELECT {given} \
         FROM json_to_record($1::text::json) AS given ({typed}) \
         ON CONFLICT (run, started_unix_ns) DO UPDATE SET ({names}) = ROW ({excluded}) \
         WHERE held.journal_bytes <= excluded.journal_bytes",
        all = listed(&RUN, ""),
        given = listed(&RUN, "given."),
        typed = typed(&RUN),
        names = listed(rest, ""),
        excluded = listed(rest, "excluded."),
    )
}

/// The names of columns, with `of` before each: some are words of SQL.
fn listed(columns: &[Column], of: &str) -> String {
    let names: Vec<String> = columns.iter().map(|(name, _)| format!("{of}\"{name}\"")).collect();
    names.join(", ")
}

/// The names with their types.
fn typed(columns: &[Column]) -> String {
    let names: Vec<String> =
        columns.iter().map(|(name, kind)| format!("\"{name}\" {kind}")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Names and types of the columns of a table, as the steps make it.
    fn made(name: &str) -> BTreeSet<(String, String)> {
        let text = STEPS.concat();
        let (_, rest) = text.split_once(&format!("CREATE TABLE {name} (\n")).unwrap();
        let (columns, _) = rest.split_once("\n);").unwrap();
        let column = |line: &str| {
            let line = line.trim().trim_end_matches(',').trim_end_matches(" NOT NULL");
            let (name, kind) = line.split_once(' ')?;
            let is_column = !["PRIMARY", "FOREIGN"].contains(&name);
            is_column.then(|| (name.trim_matches('"').to_owned(), kind.to_owned()))
        };
        columns.lines().filter_map(column).collect()
    }

    fn named(columns: &[Column]) -> BTreeSet<(String, String)> {
        columns.iter().map(|(name, kind)| ((*name).to_owned(), (*kind).to_owned())).collect()
    }

    #[test]
    fn statements_fill_every_column_that_is_made() {
        assert_eq!(made("run"), named(&RUN));
        for table in [ANSWER, PAIR, TRIAL] {
            let of_run = [("run", TEXT), ("run_started_unix_ns", LARGE)];
            let all: Vec<Column> =
                of_run.into_iter().chain(table.columns.iter().copied()).collect();
            assert_eq!(made(table.name), named(&all), "{}", table.name);
        }
    }

    #[test]
    fn a_row_that_did_not_change_is_left_alone() {
        let put = PAIR.put();
        let numbers =
            "ON CONFLICT (run, run_started_unix_ns, \"question_number\", \"pair_number\")";
        assert!(put.contains(numbers), "{put}");
        assert!(put.contains("WHERE (pair.\"block\", "), "{put}");
        assert!(ANSWER.cut().ends_with("AND \"question_number\" >= $3::bigint"));
    }
}
