//! What can be typed: verbs, options and their help. Nothing here acts.
//!
//! The doc comments are the help texts. Values are checked and converted here, so that commands get
//! numbers and names and never text to be read again.

mod capture;
mod config;
mod doctor;
mod fleet;
mod foreign;
mod knobs;
mod lab;
mod normal;
mod paper;
mod plan;
mod postgres;
mod probe;
mod run;
mod serve;
mod snmp;
mod ssh;
mod stored;
mod tools;
mod values;
mod watch;
mod web;

pub use capture::CaptureArgs;
pub use config::{ConfigFile, PREFIX, Variables, asks_for_options, shown, with_added};
pub use doctor::DoctorArgs;
pub use fleet::{
    FleetAgentArgs, FleetApplyArgs, FleetArgs, FleetCheckArgs, FleetCommand, FleetEstimateArgs,
    FleetExportArgs, FleetHistoryArgs, FleetHistoryFormat, FleetMatrixArgs, FleetReportArgs,
    FleetRunArgs, FleetStatusArgs, HubCommand, HubInitArgs, HubInviteArgs, HubRevokeArgs,
    HubRunArgs, MatrixFormat, OfflineArg, PathArgs, RunsArgs,
};
pub use foreign::sentence as foreign_sentence;
pub use knobs::KnobArgs;
pub use lab::{DemoArgs, LabArgs, LabCommand, WorldArgs};
pub use normal::{SHORT_HELP, Typed, VERBS, normalise, without_secrets};
pub use paper::{CiteArgs, CiteFormat, FigureFormat, FiguresArgs};
pub use plan::{PlanArgs, PlanCommand, PlanEstimateArgs, PlanRunArgs};
pub use postgres::{IndexPostgresArgs, PostgresVariables};
pub use probe::{Addresses, ProbeArgs, Probed};
pub use run::{
    CheckArgs, Condition, ConnectArgs, DesignArgs, KeyArgs, LabChoice, Live, ResultArgs, RunArgs,
};
pub use serve::ServeArgs;
pub use snmp::SnmpArgs;
pub use stored::{
    ChangeOf, CompareArgs, CompareFormat, ExportArgs, ExportFormat, ImportArgs, IndexArchiveArgs,
    IndexArgs, IndexCommand, IndexRebuildArgs, ListArgs, NoteArgs, ReplayArgs, ReportArgs, RmArgs,
    ShowArgs, ShowFormat,
};
pub use tools::{CompletionsArgs, Document, ExplainArgs, ManArgs, PredictArgs, SchemaArgs, Shell};
pub use values::{Asked, Precision, Rate};
pub use watch::{
    HistoryFormat, WatchArgs, WatchCommand, WatchHistoryArgs, WatchStatusArgs, WatchedArgs,
};
pub use web::WebArgs;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// How IPv6 performs against IPv4 between two hosts, how sure that is, and why
///
/// Both families are measured in turns over the same path, so that whatever else changes meets both
/// alike. The result says what the longer header alone would cost, and what is left.
#[derive(Debug, Parser)]
#[command(
    name = "v6gap",
    version,
    disable_version_flag = true,
    max_term_width = 100,
    subcommand_required = true,
    after_help = EXAMPLES
)]
pub struct Cli {
    /// What to do; `v6gap HOST` is short for `v6gap run HOST`
    #[command(subcommand)]
    pub command: Command,
    /// How to write it
    #[command(flatten)]
    pub style: StyleArgs,
    /// Print the version
    #[arg(short = 'v', long, action = clap::ArgAction::Version)]
    version: (),
}

/// How text is written; understood by every verb.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct StyleArgs {
    /// Colour: on terminals only, always, or never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Use ASCII characters only
    #[arg(long, global = true)]
    pub ascii: bool,
    /// Sentences instead of tables and drawings, for screen readers
    #[arg(long, global = true)]
    pub plain: bool,
    /// Write errors as JSON, for programs; files of options are passed over
    #[arg(long, global = true, hide_short_help = true)]
    pub json_errors: bool,
    /// Print which options hold and where each is from (typed, a file of options), and do nothing
    #[arg(long, global = true, hide_short_help = true)]
    pub show_config: bool,
}

/// When colour is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Color {
    /// On terminals, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

/// A verb with its options.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure in a network made on this computer; needs nothing else
    Demo(Box<DemoArgs>),
    /// Compare IPv6 with IPv4 between here and HOST
    Run(Box<RunArgs>),
    /// Compare IPv6 with IPv4 to a host that does not run v6gap
    Probe(Box<ProbeArgs>),
    /// Measure paths again and again, until stopped
    Watch(Box<WatchArgs>),
    /// Measure between many hosts, all the time
    Fleet(Box<FleetArgs>),
    /// Find out whether HOST can be measured, and what will limit it
    Check(CheckArgs),
    /// Find out whether this host, and HOST, are fit for measuring
    Doctor(DoctorArgs),
    /// Answer measurements
    Serve(ServeArgs),
    /// Show a stored result
    Show(ShowArgs),
    /// Let a stored result happen again, at its times
    Replay(Box<ReplayArgs>),
    /// Write the report of a stored result as a page
    Report(ReportArgs),
    /// Write the figures of stored results, for papers
    Figures(FiguresArgs),
    /// Write a paragraph on the method of a stored result
    Cite(CiteArgs),
    /// Compare stored results: what changed from one to another
    Compare(CompareArgs),
    /// List stored results
    List(ListArgs),
    /// Give a stored result a title, or write a note on it
    Note(NoteArgs),
    /// Remove stored results
    Rm(RmArgs),
    /// Keep the index of stored results
    Index(IndexArgs),
    /// Write a stored result for other programs
    Export(ExportArgs),
    /// Store results that were exported elsewhere
    Import(ImportArgs),
    /// Check, estimate or run a plan
    Plan(PlanArgs),
    /// Make networks on this computer to measure in
    Lab(LabArgs),
    /// Measure and look at results in a browser
    Web(WebArgs),
    /// Say what the headers alone cost; sends nothing
    Predict(PredictArgs),
    /// Explain a code or a topic
    Explain(ExplainArgs),
    /// Write the JSON Schema of a document that this program writes
    Schema(SchemaArgs),
    /// Write completions for a shell
    Completions(CompletionsArgs),
    /// Write manual pages
    Man(ManArgs),
}

impl Command {
    /// What a verb that measures does with its result.
    pub fn result(&self) -> Option<&ResultArgs> {
        match self {
            Command::Demo(args) => Some(&args.result),
            Command::Run(args) => Some(&args.result),
            Command::Probe(args) => Some(&args.result),
            Command::Replay(args) => Some(&args.result),
            Command::Plan(PlanArgs { command: PlanCommand::Run(args) }) => Some(&args.result),
            _ => None,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  v6gap demo                       both families on this computer, a minute
  v6gap serve                      on the other host
  v6gap lab-b                      here: compare IPv6 with IPv4 to lab-b
  v6gap show last                  the result again; `report last` writes a page
  v6gap explain verdicts           what worse, better, same and can't tell mean";
