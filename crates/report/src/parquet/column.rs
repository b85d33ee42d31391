//! Columns with a type, from values without one.

use parquet::data_type::ByteArray;
use serde_json::Value;

/// What all cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int,
    Float,
    Text,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Empty,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(ByteArray),
}

/// A column, any cell of which may be empty.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) cells: Vec<Cell>,
}

impl Column {
    /// A column without a row.
    pub(super) fn new(name: &str, kind: Kind) -> Self {
        Column { name: name.to_owned(), kind, cells: Vec::new() }
    }

    /// A column of `values` with the narrowest kind that holds them all; `None` if all are empty.
    pub(super) fn of_values<'a>(
        name: &str,
        values: impl Iterator<Item = Option<&'a Value>>,
    ) -> Option<Self> {
        let values: Vec<Option<&Value>> = values.collect();
        let mut kinds = values.iter().filter_map(|value| Cell::of(*value).kind());
        let first = kinds.next()?;
        let kind = kinds.fold(first, |kind, other| match (kind, other) {
            (kind, other) if kind == other => kind,
            (Kind::Int, Kind::Float) | (Kind::Float, Kind::Int) => Kind::Float,
            _ => Kind::Text,
        });
        let cells =
            values.into_iter().map(|value| Cell::of(value).into_kind(kind, value)).collect();
        Some(Column { name: name.to_owned(), kind, cells })
    }

    /// One value in so many more rows.
    pub(super) fn repeat(&mut self, value: Option<&Value>, rows: usize) {
        let cell = Cell::of(value);
        self.cells.extend(std::iter::repeat_n(cell, rows));
    }
}

impl Cell {
    /// The cell of a value. A whole number beyond 63 bits, a list and an object are texts.
    pub(super) fn of(value: Option<&Value>) -> Self {
        match value {
            None | Some(Value::Null) => Cell::Empty,
            Some(Value::Array(items)) if items.is_empty() => Cell::Empty,
            Some(Value::Bool(value)) => Cell::Bool(*value),
            Some(Value::String(text)) => Cell::Text(text.as_str().into()),
            Some(Value::Number(number)) if number.is_f64() => {
                number.as_f64().map_or(Cell::Empty, Cell::Float)
            }
            Some(value) => match value.as_i64() {
                Some(number) => Cell::Int(number),
                None => Cell::Text(value.to_string().as_str().into()),
            },
        }
    }

    fn kind(&self) -> Option<Kind> {
        match self {
            Cell::Empty => None,
            Cell::Bool(_) => Some(Kind::Bool),
            Cell::Int(_) => Some(Kind::Int),
            Cell::Float(_) => Some(Kind::Float),
            Cell::Text(_) => Some(Kind::Text),
        }
    }

    /// The cell in a column of that kind, which holds it.
    fn into_kind(self, kind: Kind, value: Option<&Value>) -> Self {
        match (self, kind) {
            (Cell::Int(number), Kind::Float) => Cell::Float(number as f64),
            (Cell::Bool(_) | Cell::Int(_) | Cell::Float(_), Kind::Text) => {
                Cell::Text(value.map(Value::to_string).unwrap_or_default().as_str().into())
            }
            (cell, _) => cell,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kind(values: &Value) -> Option<Kind> {
        let values = values.as_array().map_or(&[][..], Vec::as_slice);
        Column::of_values("x", values.iter().map(Some)).map(|column| column.kind)
    }

    #[test]
    fn a_column_is_as_narrow_as_its_cells_allow() {
        assert_eq!(kind(&json!([true, null])), Some(Kind::Bool));
        assert_eq!(kind(&json!([1, -2])), Some(Kind::Int));
        assert_eq!(kind(&json!([1, 2.0])), Some(Kind::Float));
        assert_eq!(kind(&json!([1, "a"])), Some(Kind::Text));
        assert_eq!(kind(&json!([1, u64::MAX])), Some(Kind::Text));
        assert_eq!(kind(&json!([null, []])), None);
    }

    #[test]
    fn no_digit_is_lost_in_a_column_of_texts() {
        let values = [json!(1), json!(u64::MAX), json!([1, 2]), Value::Null];
        let column = Column::of_values("x", values.iter().map(Some)).expect("a column");
        let text = |text: &str| Cell::Text(text.into());
        let expected = [text("1"), text("18446744073709551615"), text("[1,2]"), Cell::Empty];
        assert_eq!(column.cells, expected);
    }
}
