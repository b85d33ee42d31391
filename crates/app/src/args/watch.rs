//! Options of `watch`.

use super::values;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use v6gap_perform::always::teller::Hearer;

/// Measure paths again and again, until stopped
///
/// Each path is visited when its time has come, for seconds; the visits of a day are one result.
#[derive(Debug, Clone, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  v6gap watch lab-b nas --every 15min             until Ctrl-C; a few MB a visit
  v6gap watch lab-b --throughput-every 6h --budget 5GB/day
  v6gap watch lab-b --quiet \"Mon-Fri 08:00-18:00\" --quiet 02:00-03:00
  v6gap watch https://example.org/ --with probe --every 1h
  v6gap watch --config watch.toml                 paths with options of their own
  v6gap watch lab-b --listen [2001:db8::2]:9466   metrics for Prometheus
  v6gap watch --config watch.toml --unit          prints a unit for systemd
  v6gap watch lab-b --on-change \"mail -s changed ops@example.net\"
  v6gap watch status                              how all paths do now
  v6gap watch history lab-b --measure rtt --since 14d

A visit that finds something else being measured waits a minute and is given up then. Visits of
throughput load the path and are made only where --throughput-every says so. One watch runs in a
data folder at a time."
)]
pub struct WatchArgs {
    /// What to look at in place of watching
    #[command(subcommand)]
    pub command: Option<WatchCommand>,
    /// What to watch
    #[command(flatten)]
    pub watched: WatchedArgs,
}

/// What can be looked at of a watch.
#[derive(Debug, Clone, Subcommand)]
pub enum WatchCommand {
    /// Say how all paths do
    Status(WatchStatusArgs),
    /// Show what the visits of a path found
    History(WatchHistoryArgs),
}

/// What to watch, and how often.
#[derive(Debug, Clone, Args)]
pub struct WatchedArgs {
    /// Names, addresses or URLs of the hosts
    #[arg(value_name = "TARGET", required_unless_present = "config", conflicts_with = "config")]
    pub targets: Vec<String>,
    /// File that describes the paths (docs/watch.md); options win over what it says of all of them
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Time from one light visit of a path to the next [15min]
    #[arg(long, value_name = "TIME", help_heading = "Times")]
    pub every: Option<String>,
    /// Time from one visit of throughput to the next [none; iperf3 6h]
    #[arg(long, value_name = "TIME", help_heading = "Times")]
    pub throughput_every: Option<String>,
    /// Most that all visits of a day of UTC may move, as in 5GB/day
    #[arg(long, value_name = "SIZE/day", help_heading = "Times")]
    pub budget: Option<String>,
    /// Hours of local time in which nothing is measured, as in "Mon-Fri 08:00-18:00"; may be given
    /// again
    #[arg(long, value_name = "HOURS", help_heading = "Times")]
    pub quiet: Vec<String>,
    /// Longest time that a visit measures [20s]; a site is visited for 8 pairs
    #[arg(long, value_name = "TIME", conflicts_with = "config", help_heading = "Times")]
    pub time: Option<String>,
    /// What answers at the targets: run (v6gap serve), probe (a site), stamp, iperf3
    #[arg(long, value_name = "WHAT", conflicts_with = "config", help_heading = "Targets")]
    pub with: Option<String>,
    /// What light visits measure [rtt,connect; what suits what answers]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        conflicts_with = "config",
        help_heading = "Targets"
    )]
    pub measure: Vec<String>,
    /// Port of the servers
    #[arg(short, long, value_name = "PORT", conflicts_with = "config", help_heading = "Targets")]
    pub port: Option<u16>,
    /// File with the key of the servers
    #[arg(long, value_name = "FILE", conflicts_with = "config", help_heading = "Targets")]
    pub key_file: Option<PathBuf>,
    /// The targets are mine: they may be loaded, and asked more often
    #[arg(long, conflicts_with = "config", help_heading = "Targets")]
    pub mine: bool,
    /// Tell Prometheus how the paths do, as http://ADDR:PORT/metrics (docs/metrics.md)
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<String>,
    /// Tell of each change and outage: a program, which reads it as JSON, or a URL, to which it is
    /// posted
    #[arg(long, value_name = "CMD|URL", value_parser = Hearer::parse)]
    pub on_change: Option<Hearer>,
    /// Print a unit that has systemd do this, and end
    #[arg(long)]
    pub unit: bool,
}

/// Say how all paths do
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap watch status
  v6gap watch status -V             every question, not the first of each kind
  v6gap watch status --follow       again each time that something happens, until Ctrl-C
  v6gap watch status --json")]
pub struct WatchStatusArgs {
    /// Show every question
    #[arg(short = 'V', long)]
    pub verbose: bool,
    /// Say it again each time that the watch has gone on, until stopped; JSON is one line then
    #[arg(long)]
    pub follow: bool,
    /// Write JSON
    #[arg(short = 'J', long)]
    pub json: bool,
    /// End when standard input ends, for programs that start this one
    #[arg(long, hide_short_help = true, requires = "follow")]
    pub stop_at_eof: bool,
    /// As it was then, in ns since 1970
    #[arg(long, value_name = "NS", hide = true)]
    pub at_unix_ns: Option<u64>,
}

/// Show what the visits of a path found
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap watch history lab-b
  v6gap watch history lab-b --measure rtt-tcp-64 --since 14d
  v6gap watch history lab-b --format csv > lab-b.csv     one row for each visit and question")]
pub struct WatchHistoryArgs {
    /// The path, as it is called in the watch
    #[arg(value_name = "PATH")]
    pub path: String,
    /// Only this: a metric as rtt, or a cell as rtt-tcp-64
    #[arg(long, value_name = "WHAT")]
    pub measure: Option<String>,
    /// How far back
    #[arg(long, value_name = "TIME", default_value = "14d", value_parser = values::span)]
    pub since: u64,
    /// How to write it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: HistoryFormat,
    /// The same as --format json
    #[arg(short = 'J', long, conflicts_with = "format")]
    pub json: bool,
    /// As it was then, in ns since 1970
    #[arg(long, value_name = "NS", hide = true)]
    pub at_unix_ns: Option<u64>,
}

/// How a history is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HistoryFormat {
    /// For people, a line for each spell between changes
    Text,
    /// A row for each visit, for spreadsheets
    Csv,
    /// A row for each spell between changes
    CsvSpells,
    /// Everything, for programs
    Json,
    /// For pages: a picture of each question, its spells in words, and the runs
    Strips,
}
