//! Options of `plan`.

use super::capture::CaptureArgs;
use super::run::{ConnectArgs, LabChoice, ResultArgs};
use super::snmp::SnmpArgs;
use super::values::{self, Rate};
use clap::{Args, Subcommand};
use v6gap_core::plan::scale::Scale;

/// Check, estimate or run a plan
///
/// A plan is a file that says what is measured, or the name of one that comes with the program.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap plan list                       plans that come with the program
  v6gap plan show sizes > my.toml       one of them, to change it
  v6gap plan new > my.toml              or one to fill in
  v6gap plan check my.toml              every line back in words, every problem at once
  v6gap plan estimate my.toml           time and bytes, before anything is sent
  v6gap plan run my.toml lab-b")]
pub struct PlanArgs {
    /// What to do with it
    #[command(subcommand)]
    pub command: PlanCommand,
}

/// What can be done with a plan.
#[derive(Debug, Clone, Subcommand)]
pub enum PlanCommand {
    /// Say in words what a plan does, or everything that is wrong with it
    Check(PlanCheckArgs),
    /// Say how long a plan takes, how much it sends and what it can find
    Estimate(PlanEstimateArgs),
    /// Measure as a plan says
    Run(Box<PlanRunArgs>),
    /// List the plans that come with the program
    List(PlanListArgs),
    /// Print a plan that comes with the program
    Show(PlanShowArgs),
    /// Print a plan to fill in, with a remark on every line
    New(PlanNewArgs),
}

/// List the plans that come with the program
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  v6gap plan list\n  v6gap plan list --json")]
pub struct PlanListArgs {
    /// Write JSON
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// A plan to look at.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap plan check my.toml
  v6gap plan check sizes
  v6gap plan check - < my.toml")]
pub struct PlanCheckArgs {
    /// A plan file, the name of a plan that comes with the program, or - for standard input
    #[arg(value_name = "FILE|NAME")]
    pub plan: String,
    /// How much of it: `paper` as it is, `small` as it says itself, or a share of what is sent
    #[arg(long, value_name = "SCALE", default_value = "paper", value_parser = Scale::parse)]
    pub scale: Scale,
}

/// A plan to estimate, and what is taken for granted of the path.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap plan estimate my.toml
  v6gap plan estimate sizes --rate 1G --rtt 20ms
  v6gap plan estimate manford-udp --scale small
  v6gap plan estimate first-look lab-b        what it can find, by the last result to lab-b
  v6gap plan estimate my.toml --noise 7k2f9q --json

What can be found follows from the noise of a stored result: the last one to the same host or in the
same lab, or the one that is named.")]
pub struct PlanEstimateArgs {
    /// A plan file, or the name of a plan that comes with the program
    #[arg(value_name = "FILE|NAME")]
    pub plan: String,
    /// How much of it: `paper` as it is, `small` as it says itself, or a share of what is sent
    #[arg(long, value_name = "SCALE", default_value = "paper", value_parser = Scale::parse)]
    pub scale: Scale,
    /// Name or address of the server, in place of the plan's
    pub host: Option<String>,
    /// Stored result to take the noise from
    #[arg(long, value_name = "RESULT")]
    pub noise: Option<String>,
    /// Write JSON
    #[arg(short = 'J', long)]
    pub json: bool,
    /// Rate of the path [that of the plan's lab, otherwise 100 Mbit/s]
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub rate: Option<Rate>,
    /// Round trip of a small packet [that of the plan's lab, otherwise 1 ms]
    #[arg(long, value_name = "TIME", value_parser = values::span)]
    pub rtt: Option<u64>,
}

/// A plan to print.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  v6gap plan show sizes > my.toml")]
pub struct PlanShowArgs {
    /// Name of a plan, as `plan list` gives it
    pub name: String,
}

/// A plan to fill in.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  v6gap plan new > my.toml")]
pub struct PlanNewArgs {}

/// A plan to measure.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap plan run my.toml
  v6gap plan run sizes lab-b
  v6gap plan run null lab-b -V
  v6gap plan run raicu-tcp-rtt --scale small          in the lab that it names
  v6gap plan run sailan-window lab-b --scale 0.1      a tenth of the bytes, between two hosts")]
pub struct PlanRunArgs {
    /// A plan file, or the name of a plan that comes with the program
    #[arg(value_name = "FILE|NAME")]
    pub plan: String,
    /// How much of it: `paper` as it is, `small` as it says itself, or a share of what is sent
    #[arg(long, value_name = "SCALE", default_value = "paper", value_parser = Scale::parse)]
    pub scale: Scale,
    /// Name or address of the server, in place of the plan's
    #[arg(conflicts_with = "lab")]
    pub host: Option<String>,
    /// In which lab, in place of the plan's
    #[command(flatten)]
    pub lab: LabChoice,
    /// Seed of every random choice, where the plan has none [random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How to reach the server
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Processor to pin the measuring thread to
    #[arg(short = 'A', long = "affinity", value_name = "CPU", help_heading = "Measuring")]
    pub processor: Option<usize>,
    /// What to capture
    #[command(flatten)]
    pub capture: CaptureArgs,
    /// Devices to read
    #[command(flatten)]
    pub snmp: SnmpArgs,
    /// What to do with the result
    #[command(flatten)]
    pub result: ResultArgs,
}
