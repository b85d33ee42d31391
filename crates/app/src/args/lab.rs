//! Options of `demo` and `lab`: networks on this computer.

use super::capture::CaptureArgs;
use super::run::{DesignArgs, ResultArgs};
use super::snmp::SnmpArgs;
use super::values::{self, Rate};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::world::{Conditions, Link, LinkModel, World};

/// Measure in a network made on this computer; needs nothing else
///
/// Client, router and server are network namespaces of this process; they need no privilege where
/// the system lets users make them, and are gone when it ends.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap demo                        a 100 Mbit/s line with a router, a minute
  v6gap demo --quick                the same in 20 s
  v6gap demo --model bare           no line at all: what the protocol stack costs
  v6gap demo --rate 10M --mtu 1280 --measure throughput
  v6gap demo --null v6              IPv6 against itself: must end in \"same\"")]
pub struct DemoArgs {
    /// The network
    #[command(flatten)]
    pub world: WorldArgs,
    /// Measure loopback in place of a network, as where none can be made
    #[arg(long, conflicts_with_all = ["model", "rate", "delay", "loss", "mtu", "routers"])]
    pub loopback: bool,
    /// Fail at once if this host is being measured
    #[arg(long)]
    pub no_wait: bool,
    /// What to measure and for how long
    #[command(flatten)]
    pub design: DesignArgs,
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

/// A network: a chain of links with routers between them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Network")]
pub struct WorldArgs {
    /// How links are made: wire (true rates and times), shaped (true rates), bare (no line), netem
    /// (where the kernel has it)
    #[arg(long, value_name = "MODEL", default_value = "wire", value_parser = values::model)]
    pub model: LinkModel,
    /// Rate of every link, or none [100 Mbit/s; none for bare links]
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub rate: Option<Rate>,
    /// Delay added by every link in each direction
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = values::delay)]
    pub delay: u64,
    /// Share of frames that every link loses
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = values::share)]
    pub loss: f64,
    /// MTU of every link, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1500,
          value_parser = clap::value_parser!(u32).range(1280..=65_535))]
    pub mtu: u32,
    /// Routers between client and server
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u8).range(0..=8))]
    pub routers: u8,
    /// Give the hosts addresses of one family only
    #[arg(long, value_name = "v4|v6", value_parser = values::family)]
    pub only: Option<Family>,
    /// Drop IPv6 packets above this without a word, to see what a black hole does
    #[arg(long = "black-hole-v6", value_name = "BYTES")]
    pub black_hole: Option<u32>,
}

impl WorldArgs {
    /// The world that the options describe.
    pub fn world(&self) -> World {
        let otherwise = match self.model {
            LinkModel::Bare => None,
            LinkModel::Shaped | LinkModel::Wire | LinkModel::Netem => Some(100_000_000),
        };
        let rate_bps = self.rate.map_or(otherwise, |rate| rate.0);
        let met =
            Conditions { delay_ns: self.delay, loss: self.loss, ..Conditions::rate(rate_bps) };
        let mut link = Link { mtu: self.mtu, ..Link::ethernet(rate_bps) };
        link.conditions = link.conditions.map(|_| met);
        link.conditions.v6.black_hole_above = self.black_hole;
        let mut world = World::chain(self.model, vec![link; usize::from(self.routers) + 1]);
        world.families = PerFamily::from_fn(|family| self.only.is_none_or(|only| only == family));
        world
    }
}

/// Make networks on this computer to measure in
///
/// A world says which hosts, routers, switches and links there are: a file, or the name of a world
/// that comes with the program.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap lab up                              client - router - server, 100 Mbit/s
  v6gap lab up dumb-bell                    a world that comes with the program
  v6gap lab exec server -- v6gap serve      any program, on one of its hosts
  v6gap lab exec client -- ping -c 3 server
  v6gap lab status
  v6gap lab graph -o lab.svg
  v6gap lab down")]
pub struct LabArgs {
    /// What to do
    #[command(subcommand)]
    pub command: LabCommand,
}

/// Name of a lab for those who do not give one.
const LAB: &str = "lab";

/// What can be done with labs.
#[derive(Debug, Clone, Subcommand)]
pub enum LabCommand {
    /// Say in words what a world is, or everything that is wrong with it
    #[command(after_help = "Examples:\n  v6gap lab check my.toml\n  v6gap lab check dumb-bell")]
    Check {
        /// A world file, or the name of a world that comes with the program
        #[arg(value_name = "FILE|NAME")]
        world: String,
    },
    /// Print a world that comes with the program
    #[command(after_help = "Example:\n  v6gap lab show dumb-bell > my.toml")]
    Show {
        /// Its name
        world: String,
    },
    /// Make a network and keep it up
    #[command(after_help = "\
Examples:
  v6gap lab up
  v6gap lab up three-routers
  v6gap lab up my.toml --name mine
  v6gap lab up --name slow --rate 10M --delay 20ms --routers 2")]
    Up {
        /// A world file, or the name of a world that comes with the program
        #[arg(value_name = "FILE|NAME",
              conflicts_with_all = ["model", "rate", "delay", "loss", "mtu", "routers", "only",
                                    "black_hole"])]
        file: Option<String>,
        /// Name of the lab
        #[arg(long, default_value = LAB)]
        name: String,
        /// Folder with the kernel of the world's emulated system [target/kernel]
        #[arg(long, value_name = "FOLDER")]
        kernel: Option<PathBuf>,
        /// Stay, and hold the lab until it is taken down
        #[arg(long)]
        foreground: bool,
        /// The network
        #[command(flatten)]
        world: WorldArgs,
    },
    /// Run a program on one of its hosts
    #[command(after_help = "\
Examples:
  v6gap lab exec server -- v6gap serve
  v6gap lab exec client -- ip -6 addr")]
    Exec {
        /// Name of the lab
        #[arg(long, default_value = LAB)]
        name: String,
        /// The host: client, router, server or as the world calls it
        node: String,
        /// The program and what it is given
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        program: Vec<String>,
    },
    /// Open a shell on one of its hosts
    #[command(after_help = "Examples:\n  v6gap lab shell\n  v6gap lab shell router")]
    Shell {
        /// Name of the lab
        #[arg(long, default_value = LAB)]
        name: String,
        /// The host [the client]
        node: Option<String>,
    },
    /// Show hosts, addresses and links of a lab
    #[command(after_help = "Examples:\n  v6gap lab status\n  v6gap lab status --json")]
    Status {
        /// Name of the lab
        #[arg(long, default_value = LAB)]
        name: String,
        /// Write JSON
        #[arg(short = 'J', long)]
        json: bool,
    },
    /// Draw a lab or a world as SVG
    #[command(after_help = "\
Examples:
  v6gap lab graph > lab.svg                 the lab that is up
  v6gap lab graph dumb-bell -o bell.svg     a world, without making it")]
    Graph {
        /// A world file, or the name of a world, in place of a lab
        #[arg(value_name = "FILE|NAME", conflicts_with = "name")]
        world: Option<String>,
        /// Name of the lab
        #[arg(long, default_value = LAB)]
        name: String,
        /// Where to write it [standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List the labs that are up, the worlds that come with the program, or what this host provides
    #[command(after_help = "\
Examples:
  v6gap lab list
  v6gap lab list --worlds
  v6gap lab list --kinds --json")]
    List {
        /// The worlds that come with the program
        #[arg(long)]
        worlds: bool,
        /// Kinds of tunnels, translation and links that this host provides, or why not
        #[arg(long, conflicts_with = "worlds")]
        kinds: bool,
        /// Write JSON
        #[arg(short = 'J', long)]
        json: bool,
    },
    /// Measure how true each link model is on this host
    ///
    /// Goodput and round trips of both families against what the headers predict, how late the
    /// user-space link is, how many packets it holds and what it takes of a processor.
    #[command(after_help = "\
Examples:
  v6gap lab calibrate
  v6gap lab calibrate --rate 10M,100M,1G --repeats 5 --json")]
    Calibrate {
        /// Rates of the links
        #[arg(long, value_name = "RATE", value_delimiter = ',', value_parser = values::rate,
              default_values = ["10M", "100M", "1G"])]
        rate: Vec<Rate>,
        /// Blocks of two trials for each figure
        #[arg(long, value_name = "N", default_value_t = 3,
              value_parser = clap::value_parser!(u32).range(1..=100))]
        repeats: u32,
        /// Fail at once if this host is being measured
        #[arg(long)]
        no_wait: bool,
        /// Write JSON
        #[arg(short = 'J', long)]
        json: bool,
    },
    /// Take a network down
    #[command(after_help = "Example:\n  v6gap lab down")]
    Down {
        /// Name of the lab
        #[arg(long, default_value = LAB)]
        name: String,
    },
}
