//! A plan as a person writes it: every key optional where a default exists, quantities as text with
//! units, a list or a range where a factor has several levels. Unknown keys are errors.

use crate::metric::Metric;
use crate::workload::Transport;
use crate::world::World;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Version of the plan language.
pub const VERSION: u32 = 1;

/// A whole plan file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// Version of the plan language.
    pub v6gap: u32,
    /// Short name.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The published experiment that it repeats, as in `raicu/tcp-100`: its values are shown beside
    /// what is measured.
    pub reference: Option<String>,
    /// Between which hosts.
    #[serde(default)]
    pub hosts: Hosts,
    /// The host that is visited, if it does not run this program.
    pub site: Option<Site>,
    /// The lab to build, if it is to run in one.
    pub lab: Option<Lab>,
    /// How the trials are arranged.
    #[serde(default)]
    pub design: Design,
    /// What `--scale small` makes of it.
    pub small: Option<Small>,
    /// What is measured.
    pub measure: Vec<Measure>,
    /// What is said of all tables at once, as options do; a file says it in each.
    #[serde(skip)]
    pub overall: Overall,
}

/// What is said of all tables at once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overall {
    /// Tables whose metric is measured if no other table yields it.
    pub spare: Vec<Measure>,
    /// What is measured of all that the tables yield: cells with one of these metrics and over one
    /// of these transports, where such are named.
    pub only: Vec<Wanted>,
    /// A table of which the marks are for everything that sends data.
    pub marks: Option<Measure>,
    /// Whether tables that say `small = false` are left out. They stay in the draft, so that what
    /// is wrong is told of the right one.
    pub small: bool,
}

/// A part of what is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Cells that yield the metric.
    Metric(Metric),
    /// Cells over the transport.
    Transport(Transport),
}

/// A plan made small: the same design with fewer tries, fewer levels and less sent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Small {
    /// Pairs in place of those or of the precision of the design, made 6 unless that has fewer
    /// itself.
    pub pairs: Option<u32>,
    /// Null blocks in place of those of the design.
    pub null_blocks: Option<u32>,
    /// Most levels of each factor but the protocol: the first, the last and those between at even
    /// distance.
    pub levels: Option<u32>,
    /// Share of bytes, packets, exchanges and times.
    pub share: Option<String>,
}

/// Between which hosts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hosts {
    /// Name or address of the server, with or without a port.
    pub server: Option<String>,
    /// IPv4 address of the server, where the name does not tell.
    pub v4: Option<String>,
    /// IPv6 address of the server, where the name does not tell.
    pub v6: Option<String>,
    /// Addresses of this computer to measure from, one of each family at most.
    pub bind: Vec<String>,
}

/// A service of a host that does not run this program.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Where: a URL, or HOST:PORT for connections alone.
    pub url: String,
    /// Versions of HTTP: `1.1`, `2`, `3`; none is a connection alone.
    #[serde(default)]
    pub http: Vec<String>,
    /// Whether without encryption.
    #[serde(default)]
    pub plain: bool,
    /// How much of the body is read, so that its rate is a question too, as in `20 MB`.
    pub download: Option<String>,
    /// How many pairs of its addresses are visited; one where nothing is said.
    pub addresses: Option<u32>,
    /// How many name servers it is looked up at; one where nothing is said.
    pub resolvers: Option<u32>,
}

/// A lab to build.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lab {
    /// A world file, beside the plan unless its path says otherwise, or the name of a world that
    /// comes with the program; in place of all other keys.
    pub world: Option<String>,
    /// That world, once somebody has read it.
    #[serde(skip)]
    pub made: Option<World>,
    /// The node that measures, in place of the world's client.
    pub from: Option<String>,
    /// The node that it measures to, in place of the world's server.
    pub to: Option<String>,
    /// `client-server`, `client-router-server` or with more routers.
    pub topology: Option<String>,
    /// `bare`, `shaped` or `wire`.
    pub model: Option<String>,
    /// Line rate of every link, or `none`.
    pub rate: Option<String>,
    /// MTU of every link, in bytes.
    pub mtu: Option<u32>,
    /// Delay added by every link in each direction.
    pub delay: Option<String>,
    /// Share of frames that every link loses.
    pub loss: Option<String>,
    /// Conditions of IPv4 alone, on the first link.
    pub v4: Option<Conditions>,
    /// Conditions of IPv6 alone, on the first link.
    pub v6: Option<Conditions>,
}

/// What one family meets on the first link, in place of what the lab says for both.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conditions {
    /// Line rate.
    pub rate: Option<String>,
    /// Delay added in each direction.
    pub delay: Option<String>,
    /// Share of frames lost.
    pub loss: Option<String>,
}

/// How the trials are arranged.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Design {
    /// A fixed number of pairs in place of the adaptive rule: 6 or more, or 2 or more where there
    /// is no verdict.
    pub pairs: Option<u32>,
    /// Half-width of the range at which a metric is known well enough, by metric.
    pub precision: BTreeMap<String, String>,
    /// Longest time for the whole run.
    pub max_time: Option<String>,
    /// What is compared: two of `v4`, `v6`; the same twice makes a null run.
    pub arms: Option<[String; 2]>,
    /// Null blocks of each family before the first comparison.
    pub null_blocks: Option<u32>,
    /// Margins by metric.
    pub margin: BTreeMap<String, String>,
    /// `random` or, as a facsimile of published runs, `sequential`.
    pub order: Option<String>,
    /// How a published study combined its runs: `mean`, `mean-sd`, `trimmed-mean` or
    /// `three-of-five`; shown beside this program's own estimates.
    pub summary: Option<String>,
    /// Whether families that take different interfaces are compared all the same.
    pub different_links: bool,
    /// Seed of every random choice.
    pub seed: Option<u64>,
}

/// One value, or the levels of a factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Levels {
    /// One level.
    One(String),
    /// Several.
    Many(Vec<String>),
    /// From, to, by a factor or a step.
    Range(Range),
}

/// One count, or several as the levels of a factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Counts {
    /// One level.
    One(u32),
    /// Several.
    Many(Vec<u32>),
}

impl Counts {
    /// Each level.
    pub fn levels(&self) -> &[u32] {
        match self {
            Counts::One(count) => core::slice::from_ref(count),
            Counts::Many(counts) => counts,
        }
    }
}

/// A range of sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// First level.
    pub from: String,
    /// No level is above this.
    pub to: String,
    /// Each level is so many times the one before.
    pub factor: Option<u32>,
    /// Each level is so much above the one before.
    pub step: Option<String>,
}

/// Something to measure; lists make it a sweep.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// `throughput`, `rtt`, `connect`, `loss`, `loss-back`, `ipdv` or `pdv`; over UDP also
    /// `packet-rate`, `reordering` or `duplication`.
    pub metric: String,
    /// Whether it is measured at `--scale small` too.
    pub small: Option<bool>,
    /// `tcp` or `udp`, for round trips also `icmp`.
    pub protocol: Option<Levels>,
    /// Message sizes of round trips.
    pub message: Option<Levels>,
    /// Size of the answers of round trips, if it is not that of the messages.
    pub response: Option<String>,
    /// Requests on the way at a time, for round trips.
    pub outstanding: Option<u32>,
    /// Who holds the ends of round trips: `ends`, two processes, or `stack`, one thread both.
    pub method: Option<String>,
    /// What is timed of round trips: `each` exchange, or a `batch` of them.
    pub timing: Option<String>,
    /// UDP payload sizes of bulk transfers.
    pub payload: Option<Levels>,
    /// What is of one length over both families: the `payload`, the `packet`, for which payloads
    /// over IPv6 are 20 B shorter, or packets that fill the `frame`.
    pub parity: Option<String>,
    /// Rate of a UDP transfer, or `full`.
    pub bitrate: Option<String>,
    /// `send`, `receive` or `both`.
    pub direction: Option<String>,
    /// Length of a trial.
    pub time: Option<String>,
    /// Datagrams after which a UDP transfer ends, if its time is not over before; over TCP as many
    /// writes, or segments where their size is given.
    pub packets: Option<u64>,
    /// Most datagrams of one call to the kernel.
    pub batch: Option<u16>,
    /// Whether the kernel may cut and put together pieces of several datagrams.
    pub offload: Option<bool>,
    /// How datagrams follow each other: `constant`, `periodic`, `poisson`, `on-off` or `frames`.
    pub law: Option<String>,
    /// Time with datagrams of `on-off`.
    pub on: Option<String>,
    /// Time without.
    pub off: Option<String>,
    /// Bytes of a frame of `frames`.
    pub frame: Option<String>,
    /// Time from one frame to the next.
    pub every: Option<String>,
    /// `fixed`, `random` or `stepped`.
    pub sizes: Option<String>,
    /// Smallest payload where sizes vary.
    pub least: Option<String>,
    /// Step of `stepped` sizes.
    pub step: Option<String>,
    /// Part of it that is left out at the start.
    pub warmup: Option<String>,
    /// Bytes of one write.
    pub write: Option<Levels>,
    /// Connections of a bulk transfer that send at the same time.
    pub streams: Option<Counts>,
    /// Bytes after which a bulk transfer is over, in each direction; for round trips the bytes of
    /// all messages of a trial, which set the number of its turns.
    pub bytes: Option<Levels>,
    /// Socket buffers, which bound the TCP window.
    pub window: Option<Levels>,
    /// Whether to stop if the system grants other socket buffers.
    pub require_window: Option<bool>,
    /// Largest segment of a bulk transfer.
    pub mss: Option<Levels>,
    /// Whether small segments are sent at once.
    pub no_delay: Option<bool>,
    /// Fastest pace of a bulk transfer over TCP.
    pub pacing: Option<String>,
    /// How a sender avoids copying: `file` or `memory`.
    pub zero_copy: Option<String>,
    /// Whether the receiver takes data off without copying them.
    pub truncate: Option<bool>,
    /// Other metrics of the same trials that are questions too, as in `cpu` over TCP,
    /// `reordering` over UDP, and `tails` (the percentiles) of round trips.
    #[serde(default)]
    pub also: Vec<String>,
    /// Congestion control.
    pub congestion: Option<String>,
    /// Connections of each arm, for round trips.
    pub connections: Option<u32>,
    /// Exchanges of one turn, for round trips.
    pub turn: Option<u32>,
    /// Turns of each arm in a block, for round trips.
    pub turns: Option<u32>,
    /// How the ends wait: `block`, `yield` or `spin`.
    pub wait: Option<String>,
    /// Differentiated services code point, by name or number.
    pub dscp: Option<String>,
    /// The whole octet that holds DSCP and ECN.
    pub tos: Option<String>,
    /// Time to live or hop limit of the packets.
    pub hop_limit: Option<u8>,
    /// Flow label of IPv6 packets from the client.
    pub flow_label: Option<String>,
    /// Whether datagrams that do not fit the path MTU are refused and never fragmented.
    pub dont_fragment: Option<bool>,
    /// Connections opened in a trial, for connecting.
    pub count: Option<u32>,
    /// Time from one probe to the next; makes round trips and loss those of probes.
    pub interval: Option<String>,
    /// Time after which a probe is lost.
    pub timeout: Option<String>,
    /// Largest difference of the hosts' clocks, where something else keeps them alike.
    pub clock_error: Option<String>,
    /// Traffic that fills the path while round trips are measured.
    pub load: Option<Load>,
    /// Whether the kernels' times of probes are taken too.
    pub kernel_times: Option<bool>,
    /// Connections in the making at a time, for rates of connecting.
    pub concurrent: Option<u32>,
    /// Whether all connections of a trial stay open until the last one stands.
    pub hold: Option<bool>,
    /// Share of packets that may be lost at the highest rate that is searched.
    pub target_loss: Option<String>,
    /// Whether such a search may flood a network that was not made for testing.
    pub force: Option<bool>,
}

/// Streams that fill the path while round trips are measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// `same` or `other`: the family of the arm or the other one.
    pub family: Option<String>,
    /// `send`, `receive` or `both`.
    pub direction: Option<String>,
    /// Streams each way.
    pub streams: Option<u32>,
    /// Time before the first probe.
    pub lead: Option<String>,
    /// Congestion control, over TCP.
    pub congestion: Option<String>,
    /// Largest segment, over TCP; `same` is the payload of the probes.
    pub mss: Option<String>,
    /// `tcp` or `udp`.
    pub protocol: Option<String>,
    /// Payload of its datagrams, over UDP; `same` is that of the probes.
    pub payload: Option<String>,
    /// Rate of each stream over UDP, or `full`.
    pub bitrate: Option<String>,
}
