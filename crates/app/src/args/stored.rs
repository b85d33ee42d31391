//! Options of the verbs that look at stored results.

use super::postgres::IndexPostgresArgs;
use super::run::{Condition, ResultArgs, condition_of_change};
use super::values;
use clap::{Args, Subcommand, ValueEnum};
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
    #[value(alias = "markdown")]
    Md,
    /// LaTeX, for a paper
    Latex,
    /// Org, for Emacs
    Org,
    /// Every trial, for spreadsheets
    Csv,
    /// The table of answers, for spreadsheets
    Table,
    /// Everything, for programs
    Json,
}

/// Write the report of a stored result as a page
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap report last
  v6gap report last --open
  v6gap report 7k2f9q -o difference.html
  v6gap report last --facsimile")]
pub struct ReportArgs {
    /// Identifiers or starts of them, last, last~1, last:HOST, or files
    #[arg(value_name = "RESULT", default_value = "last")]
    pub references: Vec<String>,
    /// Where to write it, for one result; - is standard output [beside the result, stored or file]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Draw figures as the study printed them that the plan repeats, too
    #[arg(long)]
    pub facsimile: bool,
    /// Show it in a browser
    #[arg(long)]
    pub open: bool,
}

/// Let a stored result happen again, at its times
///
/// Everything is said as it was while it was measured, on the screen or with --json-stream for
/// programs, and no packet is sent.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap replay last --speed 20
  v6gap replay 7k2f9q.jsonl --speed 5 --json-stream -q | head -3

A report is written with -o FILE alone.")]
pub struct ReplayArgs {
    /// Identifier or the start of it, last, last~1, last:HOST, a file, or a folder that holds it
    #[arg(value_name = "RESULT", default_value = "last")]
    pub reference: String,
    /// How many times as fast
    #[arg(long, value_name = "TIMES", default_value = "1", value_parser = values::times)]
    pub speed: f64,
    /// Store it again as it goes, in place of a result of its name
    #[arg(long, hide = true)]
    pub keep: bool,
    /// What to do with the result
    #[command(flatten)]
    pub result: ResultArgs,
}

/// List stored results
///
/// The latest first. With --answers what each of them said, question by question: the history of a
/// path. Neither reads a journal that the index has.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap list
  v6gap list --against lab-b --last 20
  v6gap list --against lab-b --answers     how it was with lab-b, and when
  v6gap list --json")]
pub struct ListArgs {
    /// Those against HOST alone
    #[arg(long, value_name = "HOST")]
    pub against: Option<String>,
    /// Those of one plan alone
    #[arg(long, value_name = "NAME")]
    pub plan: Option<String>,
    /// The latest N of them alone
    #[arg(short = 'n', long, value_name = "N")]
    pub last: Option<usize>,
    /// Those that began before, in ns since 1970
    #[arg(long, value_name = "NS", hide = true)]
    pub before_unix_ns: Option<u64>,
    /// What they answered, a line for each question
    #[arg(long)]
    pub answers: bool,
    /// Write JSON
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// Give a stored result a title, or write a note on it
///
/// Both are shown in lists and on pages, and change nothing of what was measured. Without a text or
/// a title they are printed.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap note last \"before the new router\"
  v6gap note 7k2f9q --title baseline
  v6gap note last \"\"                 takes the note away
  v6gap note last")]
pub struct NoteArgs {
    /// Identifier or the start of it, last, last~1, or last:HOST
    #[arg(value_name = "RESULT")]
    pub reference: String,
    /// The note, at most 2000 characters; an empty one takes it away
    #[arg(value_name = "TEXT")]
    pub text: Option<String>,
    /// The title, at most 80 characters; an empty one takes it away
    #[arg(long, alias = "name", value_name = "TITLE")]
    pub title: Option<String>,
    /// Write both as JSON
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// Remove stored results
///
/// By name, or by age. By age nothing is removed that has a title or a note and, where there is an
/// archive (`v6gap index archive`), nothing that it lacks. Otherwise what is removed is gone, and
/// `v6gap export` keeps a result elsewhere.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap rm 7k2f9q
  v6gap rm last last~1
  v6gap rm --older-than 90d --keep 10 --dry-run     what that would remove
  v6gap rm --older-than 90d --keep 10")]
pub struct RmArgs {
    /// Identifiers or starts of them, last, last~1, or last:HOST
    #[arg(value_name = "RESULT", required_unless_present = "older_than")]
    pub references: Vec<String>,
    /// Remove all that began longer ago, as in 90d
    #[arg(long, value_name = "TIME", value_parser = values::span, conflicts_with = "references")]
    pub older_than: Option<u64>,
    /// Keep the newest N against each host by each plan, however old they are [1]
    #[arg(long, value_name = "N", requires = "older_than", conflicts_with = "references")]
    pub keep: Option<usize>,
    /// Say what would be removed, and remove nothing
    #[arg(long, requires = "older_than", conflicts_with = "references")]
    pub dry_run: bool,
}

/// Keep the index of stored results
///
/// The index says of each result what lists and histories show, so that none has to be opened. It
/// is made from the results, and keeps itself; making it anew is for results that an older version
/// stored, and after files were changed by other programs.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap index rebuild
  v6gap index rebuild --afresh --json
  v6gap index archive
  v6gap index postgres postgres://sink@localhost/v6gap")]
pub struct IndexArgs {
    /// What to do with it
    #[command(subcommand)]
    pub command: IndexCommand,
}

/// What can be done with the index.
#[derive(Debug, Clone, Subcommand)]
pub enum IndexCommand {
    /// Make the index anew from the stored results
    Rebuild(IndexRebuildArgs),
    /// Put what stored results say into an archive of tables, which outlives them
    Archive(IndexArchiveArgs),
    /// Put what stored results say and measured into a database of PostgreSQL
    Postgres(IndexPostgresArgs),
}

/// Make the index anew from the stored results
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  v6gap index rebuild\n  v6gap index rebuild --afresh --json")]
pub struct IndexRebuildArgs {
    /// Judge all results again, instead of those alone that lack a summary of this version
    #[arg(long)]
    pub afresh: bool,
    /// Write JSON
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// Put what stored results say into an archive of tables, which outlives them
///
/// The archive is a folder of Parquet beside the results, for DuckDB, pandas and R: answers by
/// month, pairs and trials by day. What it has already is left as it is. Where there is an archive,
/// `v6gap rm --older-than` removes nothing that it lacks.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap index archive
  v6gap index archive --afresh --json
  v6gap index archive --fleet /srv/v6gap/archive")]
pub struct IndexArchiveArgs {
    /// Results of all hosts of a fleet, each into an archive of its own: the hub's folder of them
    #[arg(long, value_name = "FOLDER")]
    pub fleet: Option<PathBuf>,
    /// Judge all results again, as after an update, instead of those alone that the archive lacks
    #[arg(long)]
    pub afresh: bool,
    /// Write JSON
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// Write a stored result for other programs
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap export last --format csv -o trials.csv
  v6gap export last --format latex -o results.tex
  v6gap export last --format parquet -o last       trials, pairs and histograms in that folder
  v6gap export last --anonymise -o for-others.jsonl   without names and addresses of hosts
  v6gap export 7k2f9q -o 7k2f9q.jsonl      all of it; `v6gap show FILE` reads it anywhere")]
pub struct ExportArgs {
    /// Identifier or the start of it, last, last~1, last:HOST, or a file
    #[arg(value_name = "RESULT", default_value = "last")]
    pub reference: String,
    /// How to write it
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub format: ExportFormat,
    /// Take out what names hosts: their names, addresses and those of their cards, each replaced by
    /// the same other one everywhere; the figures stay
    #[arg(long)]
    pub anonymise: bool,
    /// Where to write it [standard output]; of Parquet, the folder for its tables, or a file that
    /// ends in .parquet for the trials alone
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Store results that were exported elsewhere
///
/// A file is the journal of a run, as `v6gap export RESULT -o FILE` writes it; a folder is that of
/// a run. It keeps its identifier, so that the same result is never stored twice.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap export 7k2f9q -o 7k2f9q.jsonl      on the host that measured
  v6gap import 7k2f9q.jsonl                here
  v6gap import runs/*                      folders of runs")]
pub struct ImportArgs {
    /// Files or folders
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<String>,
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
    /// The table of answers, for spreadsheets
    Table,
    /// Markdown
    #[value(alias = "markdown")]
    Md,
    /// LaTeX, for a paper
    Latex,
    /// Every trial, every pair and every histogram as tables, for pandas, R, DuckDB and the like
    Parquet,
    /// The plan as it was written, which `plan run` takes
    Plan,
}

/// Compare stored results: what changed from the first to the others
///
/// For every question that the results share: how the difference between the families changed, and
/// how each family did by itself, with 95 % ranges and verdicts by the margins of the runs. What
/// differs in the set-up is listed; a question whose plans differ in a factor is refused.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap compare last~1 last                     before and after
  v6gap compare 5hd02w 7m1c3e --format html -o compare.html
  v6gap compare nt4.jsonl w2k.jsonl linux.jsonl --format latex -o table4.tex
  v6gap compare base last --fail-if worse       for scripts: exits with 10 if it got worse
  v6gap compare base last --of ipv6 --require same:throughput,same:rtt

Exit code 0: done; 6: a check failed, or nothing can be compared;
10, 11: a condition is broken, or open.")]
pub struct CompareArgs {
    /// Two results or more, the reference first: identifiers or starts of them, last, last~1,
    /// last:HOST, or files
    #[arg(value_name = "RESULT", required = true, num_args = 1..)]
    pub references: Vec<String>,
    /// How to write it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: CompareFormat,
    /// The same as --format json
    #[arg(short = 'J', long, conflicts_with = "format")]
    pub json: bool,
    /// Where to write it [standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Add the pictures of several systems that the study printed which the plans repeat, to a page
    #[arg(long)]
    pub facsimile: bool,
    /// What a result's system is called there, once for each result [distribution and kernel of its
    /// hosts]
    #[arg(long, value_name = "NAME", requires = "facsimile")]
    pub label: Vec<String>,
    /// Changes that --fail-if and --require are about
    #[arg(long, value_name = "WHAT", default_value = "difference")]
    pub of: ChangeOf,
    /// Exit with 10 if a change is this: worse, better, same, or of one thing (worse:rtt,
    /// worse:failures)
    #[arg(long, value_name = "VERDICT", value_delimiter = ',',
          value_parser = condition_of_change)]
    pub fail_if: Vec<Condition>,
    /// Exit with 10 unless all changes are this (same:throughput), with 11 if one is open
    #[arg(long, value_name = "VERDICT", value_delimiter = ',',
          value_parser = condition_of_change)]
    pub require: Vec<Condition>,
}

/// How a comparison is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// For people
    Text,
    /// A page
    Html,
    /// Markdown
    #[value(alias = "markdown")]
    Md,
    /// LaTeX, for a paper
    Latex,
    /// Every change, for spreadsheets
    Csv,
    /// Everything, for programs
    Json,
}

/// What changes conditions are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChangeOf {
    /// The difference of IPv6 against IPv4
    Difference,
    /// IPv4 by itself
    Ipv4,
    /// IPv6 by itself
    Ipv6,
    /// All of them
    All,
}
