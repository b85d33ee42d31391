//! Options of `doctor`.

use super::run::ConnectArgs;
use super::values;
use clap::Args;

/// Find out whether this host, and HOST, are fit for measuring
///
/// Looks at what spoils measurements: the clock, interruptions, processors, interfaces, buffers and
/// the settings of TCP. Then each family is measured against itself, over loopback or to HOST: what
/// differs there is noise, and a run finds no difference that is smaller.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap doctor                     this host alone
  v6gap doctor lab-b               this host, lab-b, and the noise between them
  v6gap doctor lab-b --for 60s     the noise more exactly
  v6gap doctor --no-noise --json   what is seen at once, for scripts

Exit code 0: fit; 6: measurements here would be discarded or mean something else; 3: HOST lacks a
family; 4: trouble with the server.")]
pub struct DoctorArgs {
    /// Name or address of the other host, where `v6gap serve` runs
    pub host: Option<String>,
    /// Time for the noise of both families together
    #[arg(long = "for", value_name = "TIME", default_value = "20s", value_parser = values::span,
          conflicts_with = "no_noise", help_heading = "Measuring")]
    pub time_ns: u64,
    /// Do not measure the noise
    #[arg(long, help_heading = "Measuring")]
    pub no_noise: bool,
    /// Processor to pin the measuring thread to
    #[arg(short = 'A', long = "affinity", value_name = "CPU", help_heading = "Measuring")]
    pub processor: Option<usize>,
    /// How to reach the server
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Write JSON
    #[arg(short = 'J', long, help_heading = "Result")]
    pub json: bool,
    /// Show no progress
    #[arg(short, long, help_heading = "Result")]
    pub quiet: bool,
}
