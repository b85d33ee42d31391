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
  v6gap web --fleet /srv/v6gap/archive      and how the paths between the hosts of a fleet do
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
    /// Show how the paths of a fleet do: the folder of its runs, next to each other or by day and
    /// site
    #[arg(long, value_name = "FOLDER")]
    pub fleet: Option<PathBuf>,
    /// The mesh plan of the fleet, which says which paths there should be, and how often
    #[arg(long, value_name = "FILE", requires = "fleet")]
    pub fleet_mesh: Option<PathBuf>,
    /// The operator's credentials, by which the hub of the fleet is asked how its agents do
    #[arg(long, value_name = "FILE", requires = "fleet")]
    pub fleet_creds: Option<PathBuf>,
    /// Show the fleet as it was then, in ns since 1970
    #[arg(long, value_name = "NS", requires = "fleet", hide = true)]
    pub fleet_at_unix_ns: Option<u64>,
    /// Print the link and open no browser
    #[arg(long)]
    pub no_open: bool,
}
