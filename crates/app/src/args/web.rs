//! Options of `web`.

use super::values;
use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;

/// Port where browsers look first.
const PORT: u16 = 4466;

/// Measure and look at results in a browser
///
/// Serves pages to this computer alone. Whatever they do is a line that could be typed, and they
/// show it. The link that is printed works once; press Enter for another.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap web                                 and open what it prints
  v6gap web --no-open -p 8080
  v6gap web --demo 7k2f9q.jsonl --speed 20  a run that was recorded happens again, measuring nothing
  v6gap web --demo last --demo-watch watch  and the paths of a watch that was recorded
  v6gap web --read-only                     results can be looked at and nothing else
  v6gap web --listen 192.0.2.7 --allow-remote     for others; put TLS before it")]
pub struct WebArgs {
    /// Port; if it is taken, the next that is free
    #[arg(short, long, value_name = "PORT", default_value_t = PORT)]
    pub port: u16,
    /// Address to listen on; may be given again [127.0.0.1 and ::1]
    #[arg(long, value_name = "ADDR")]
    pub listen: Vec<IpAddr>,
    /// Let others than this computer in, with the link
    #[arg(long)]
    pub allow_remote: bool,
    /// Name by which browsers may ask for it, beside localhost and its addresses
    #[arg(long, value_name = "NAME")]
    pub name: Vec<String>,
    /// Show stored results and measure nothing
    #[arg(long)]
    pub read_only: bool,
    /// Refuse measurements that may take longer
    #[arg(long, value_name = "TIME", value_parser = values::span)]
    pub max_time: Option<u64>,
    /// Refuse measurements that may send faster over a network, as in 50M
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub max_rate: Option<values::Rate>,
    /// Let this run happen again in place of measuring: a result, a file, or a folder that holds
    /// it; given again, results that are there to compare with
    #[arg(long, value_name = "RESULT", conflicts_with = "read_only")]
    pub demo: Vec<String>,
    /// Show the paths of this watch as they were when its log ends: a file of the log, or its
    /// folder
    #[arg(long, value_name = "LOG", requires = "demo")]
    pub demo_watch: Option<PathBuf>,
    /// How many times as fast
    #[arg(long, value_name = "TIMES", default_value = "1", value_parser = values::times,
          requires = "demo")]
    pub speed: f64,
    /// Print the link and open no browser
    #[arg(long)]
    pub no_open: bool,
}
