//! Options for measuring between hosts that are reached by ssh.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// How hosts are reached on which nothing is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Via {
    /// By the system's ssh, with its configuration and keys
    Ssh,
}

/// Hosts that are reached by ssh.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "By ssh")]
pub struct SshArgs {
    /// Measure between the hosts of --from and --to, each USER@HOST, with nothing installed there;
    /// one that is left out is this host
    #[arg(long, value_name = "HOW", group = "place",
          conflicts_with_all = ["lab", "continued", "against", "capture", "snmp", "key_file",
                                "word"])]
    pub via: Option<Via>,
    /// Program for hosts that this one does not fit, as `cargo xtask dist` makes it; may be given
    /// again for another system
    #[arg(long, value_name = "FILE", requires = "via")]
    pub remote_binary: Vec<PathBuf>,
    /// Remove everything of this program from these hosts, and end
    #[arg(long, value_name = "HOST", num_args = 1.., requires = "via",
          conflicts_with_all = ["from", "to"])]
    pub forget: Vec<String>,
    /// What was typed where the measurement was asked for, for the record
    #[arg(long, value_name = "TYPED", hide = true)]
    pub typed: Vec<String>,
}
