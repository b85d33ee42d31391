//! A Parquet file in memory, written a group of rows at a time.

use super::column::{Cell, Column, Kind};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::sync::Arc;

/// A file that is being written.
pub(super) struct File {
    writer: SerializedFileWriter<Vec<u8>>,
}

impl File {
    /// A file with these columns, of which only names and kinds count here.
    pub(super) fn new(columns: &[Column]) -> Result<Self, ParquetError> {
        let fields: Result<Vec<_>, _> = columns.iter().map(|c| field(c).map(Arc::new)).collect();
        let schema = Type::group_type_builder("v6gap").with_fields(fields?).build()?;
        let program = concat!("v6gap version ", env!("CARGO_PKG_VERSION"));
        let properties = WriterProperties::builder().set_created_by(program.to_owned()).build();
        let writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
        Ok(File { writer })
    }

    /// Appends the rows of `columns`, which are those of the file.
    pub(super) fn group(&mut self, columns: &[Column]) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for column in columns {
            if let Some(mut to) = group.next_column()? {
                write(&mut to, column)?;
                to.close()?;
            }
        }
        group.close()?;
        Ok(())
    }

    /// The whole file.
    pub(super) fn bytes(self) -> Result<Vec<u8>, ParquetError> {
        self.writer.into_inner()
    }
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let physical = match column.kind {
        Kind::Bool => Physical::BOOLEAN,
        Kind::Int => Physical::INT64,
        Kind::Float => Physical::DOUBLE,
        Kind::Text => Physical::BYTE_ARRAY,
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type((column.kind == Kind::Text).then_some(LogicalType::String))
        .build()
}

fn write(to: &mut SerializedColumnWriter<'_>, column: &Column) -> Result<(), ParquetError> {
    match column.kind {
        Kind::Bool => cells::<BoolType>(to, column, |cell| match cell {
            Cell::Bool(value) => Some(*value),
            _ => None,
        }),
        Kind::Int => cells::<Int64Type>(to, column, |cell| match cell {
            Cell::Int(value) => Some(*value),
            _ => None,
        }),
        Kind::Float => cells::<DoubleType>(to, column, |cell| match cell {
            Cell::Float(value) => Some(*value),
            _ => None,
        }),
        Kind::Text => cells::<ByteArrayType>(to, column, |cell| match cell {
            Cell::Text(value) => Some(value.clone()),
            _ => None,
        }),
    }
}

/// Writes the cells that have a value, and for each row whether it has one.
fn cells<T: DataType>(
    to: &mut SerializedColumnWriter<'_>,
    column: &Column,
    value: impl Fn(&Cell) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let cells = column.cells.iter();
    let (mut values, mut present) = (Vec::new(), Vec::with_capacity(column.cells.len()));
    for value in cells.map(value) {
        present.push(i16::from(value.is_some()));
        values.extend(value);
    }
    to.typed::<T>().write_batch(&values, Some(&present), None)?;
    Ok(())
}
