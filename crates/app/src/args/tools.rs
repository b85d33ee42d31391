//! Options of the verbs that need neither network nor stored results.

use super::values::{self, Rate};
use clap::{Args, ValueEnum};
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
  v6gap predict --flows 1,8
  v6gap predict --from last --rate 10M --flows 1,8
  v6gap predict --json")]
pub struct PredictArgs {
    /// Carry what this result measured to other sizes, lines and flows; what is not given is as
    /// it was there
    #[arg(long, value_name = "RESULT")]
    pub from: Option<String>,
    /// MTU of the path, in bytes [1500]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1280..=65_535))]
    pub mtu: Option<u32>,
    /// Rate of the line [100M]
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub rate: Option<Rate>,
    /// TCP flows that share the line, 1 to 4096 [1]
    #[arg(long, value_name = "N", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub flows: Vec<u32>,
    /// Without TCP timestamps, which take 12 bytes of every segment
    #[arg(long, conflicts_with = "from")]
    pub no_timestamps: bool,
    /// VLAN tags on every frame
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "from",
          value_parser = clap::value_parser!(u32).range(0..=4))]
    pub vlan: u32,
    /// Links that packets pass one after the other, all of that rate [2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub hops: Option<u32>,
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

/// Write the JSON Schema of a document that this program writes
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap schema result > result.schema.json     of `show --json` and --json
  v6gap schema event                           of each line of --json-stream
  v6gap schema comparison                      of `compare --json`
  v6gap schema figure                          of `figures --format json`
  v6gap schema list                            of `list --json`, and so of every verb with --json
  v6gap schema fleet-matrix                    of `fleet matrix --json`
  v6gap schema grafana > path.json             a dashboard for Grafana (docs/metrics.md)
  v6gap schema grafana-fleet > fleet.json      and one of a fleet")]
pub struct SchemaArgs {
    /// The document
    pub document: Document,
}

/// A document that has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Document {
    /// What the analysis of a run says
    Result,
    /// What happens in a run, one a line
    Event,
    /// What changed from one run to others
    Comparison,
    /// The numbers behind a figure
    Figure,
    /// Whether a host can be measured
    Check,
    /// Whether hosts are fit for measuring
    Doctor,
    /// The ways to a host
    Path,
    /// What a plan takes and can find
    Estimate,
    /// Plans that come with the program
    PlanList,
    /// What the headers alone cost
    Prediction,
    /// What a run measured, carried to other sizes, lines and flows
    Carried,
    /// Stored results
    List,
    /// What a person wrote on a result
    Note,
    /// What came of making the index anew
    Index,
    /// What came of putting results into the archive or a database
    Archive,
    /// A lab that is up
    LabStatus,
    /// Labs, worlds, or what this host provides
    LabList,
    /// How true the links of a lab are
    LabCalibration,
    /// How the paths of a watch do
    WatchStatus,
    /// What the visits of a path found
    WatchHistory,
    /// What a watch tells of a change or an outage
    WatchEvent,
    /// How a fleet does
    FleetStatus,
    /// What a mesh plan was taken for
    FleetCheck,
    /// What a mesh plan takes
    FleetEstimate,
    /// How the paths between the hosts of a fleet do
    FleetMatrix,
    /// What the runs of a path of a fleet answered
    FleetHistory,
    /// A dashboard of the paths that are watched, for Grafana
    Grafana,
    /// A dashboard of a fleet, for Grafana
    GrafanaFleet,
    /// What has Grafana take dashboards from a folder
    GrafanaDashboards,
    /// What has Grafana ask Prometheus
    GrafanaDatasources,
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

/// Shells that complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bash
    Bash,
    /// Elvish
    Elvish,
    /// Fish
    Fish,
    /// Nushell
    Nushell,
    /// PowerShell
    #[value(name = "powershell")]
    Power,
    /// Zsh
    Zsh,
}

/// Write manual pages
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap man | man -l -             the page of the program
  v6gap man --dir pages            all pages: v6gap-run.1, v6gap-plan.5, v6gap-verdicts.7, …
  v6gap man --dir /usr/local/share/man/man1

Into a folder called man1 go the pages of verbs alone; plans and results are in man5 beside it, and
how to read results in man7.")]
pub struct ManArgs {
    /// Write all pages into this folder
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
}
