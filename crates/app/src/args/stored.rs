//! Options of the verbs that look at stored results.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Show a stored result
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap show                        the latest
  v6gap show last~1 -V              the one before, with method and sockets
  v6gap show 7k2f9q --format md     for a web page or an issue
  v6gap show last:lab-b             the latest against lab-b")]
pub struct ShowArgs {
    /// Identifier or the start of it, last, last~1, last:HOST, or a file
    #[arg(value_name = "RESULT", default_value = "last")]
    pub reference: String,
    /// How to write it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ShowFormat,
    /// The same as --format json
    #[arg(short = 'J', long, conflicts_with = "format")]
    pub json: bool,
    /// Add method, hosts, and what both ends' sockets were given
    #[arg(short = 'V', long)]
    pub verbose: bool,
}

/// How a result is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    /// For people
    Text,
    /// Markdown
    Md,
    /// Every trial, for spreadsheets
    Csv,
    /// Everything, for programs
    Json,
}

/// Write the report of a stored result as a page
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap report last
  v6gap report 7k2f9q -o difference.html")]
pub struct ReportArgs {
    /// Identifiers or starts of them, last, last~1, last:HOST, or files
    #[arg(value_name = "RESULT", default_value = "last")]
    pub references: Vec<String>,
    /// Where to write it, for one result [beside the stored result]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// List stored results
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  v6gap list\n  v6gap list --json")]
pub struct ListArgs {
    /// Write JSON
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// Remove stored results
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  v6gap rm 7k2f9q\n  v6gap rm last last~1")]
pub struct ReferenceArgs {
    /// Identifiers or starts of them, last, last~1, or last:HOST
    #[arg(value_name = "RESULT", required = true)]
    pub references: Vec<String>,
}

/// Write a stored result for other programs
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap export last --format csv -o trials.csv
  v6gap export 7k2f9q -o 7k2f9q.jsonl      all of it; `v6gap show FILE` reads it anywhere")]
pub struct ExportArgs {
    /// Identifier or the start of it, last, last~1, last:HOST, or a file
    #[arg(value_name = "RESULT", default_value = "last")]
    pub reference: String,
    /// How to write it
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub format: ExportFormat,
    /// Where to write it [standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// How a result is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// The journal itself: everything that was measured
    Jsonl,
    /// Every trial, for spreadsheets
    Csv,
    /// What the analysis says
    Json,
    /// Markdown
    Md,
}
