//! Options of the verbs that need neither network nor stored results.

use super::values::{self, Rate};
use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// Say what the headers alone cost; sends nothing
///
/// IPv6 carries 20 more header bytes in every packet. What that costs follows from arithmetic.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap predict
  v6gap predict --mtu 1280 --rate 1G --no-timestamps
  v6gap predict --message 64 --message 64K --hops 3
  v6gap predict --json")]
pub struct PredictArgs {
    /// MTU of the path, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1500,
          value_parser = clap::value_parser!(u32).range(1280..=65_535))]
    pub mtu: u32,
    /// Rate of the line
    #[arg(long, value_name = "RATE", default_value = "100M", value_parser = values::rate)]
    pub rate: Rate,
    /// Without TCP timestamps, which take 12 bytes of every segment
    #[arg(long)]
    pub no_timestamps: bool,
    /// VLAN tags on every frame
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(0..=4))]
    pub vlan: u32,
    /// Links that packets pass one after the other, all of that rate
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u32).range(1..=64))]
    pub hops: u32,
    /// Sizes of messages and datagrams [64, 512, 1K, 1400, 4K, 16K, 64K]
    #[arg(long = "message", value_name = "SIZE", value_delimiter = ',',
          value_parser = values::size)]
    pub messages: Vec<u32>,
    /// Write JSON
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// Explain a code or a topic
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap explain               all codes and topics
  v6gap explain E202          what a code means and what to do
  v6gap explain verdicts      how to read a result
  v6gap explain headers       the two IP headers, drawn to scale")]
pub struct ExplainArgs {
    /// A code as errors end with, or a topic
    #[arg(value_name = "CODE|TOPIC")]
    pub about: Option<String>,
}

/// Write completions for a shell
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap completions bash > /etc/bash_completion.d/v6gap
  v6gap completions fish > ~/.config/fish/completions/v6gap.fish")]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Write manual pages
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap man | man -l -             the page of the program
  v6gap man --dir /usr/local/share/man/man1")]
pub struct ManArgs {
    /// Write the pages of all verbs into this folder
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
}
