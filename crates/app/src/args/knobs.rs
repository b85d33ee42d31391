//! Options that say what a trial does; the letters are those of iperf3 and mean the same, but for
//! `-t`, which is the time of one trial. Lists make a sweep.

use clap::Args;

/// What a trial does.
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = "Trials (letters as in iperf3; a list makes a sweep)")]
pub struct KnobArgs {
    /// Length of one bulk trial [1 s]; --for is that of the run
    #[arg(short = 't', long = "time", value_name = "TIME")]
    pub time: Option<String>,
    /// Part of it left out at the start [a quarter]
    #[arg(short = 'O', long = "omit", value_name = "TIME")]
    pub omit: Option<String>,
    /// Bulk over UDP instead of TCP
    #[arg(short = 'u', long = "udp")]
    pub udp: bool,
    /// Rate of UDP in bit/s, as in 20M, or `full`; the highest that a search for capacity tries
    #[arg(short = 'b', long = "bitrate", value_name = "RATE")]
    pub bitrate: Option<String>,
    /// Loss that rate-at-loss may have [0]
    #[arg(long = "target-loss", value_name = "SHARE")]
    pub target_loss: Option<String>,
    /// Search rate-at-loss outside a lab, on a network that is yours to flood
    #[arg(long = "force-search")]
    pub force_search: bool,
    /// Bulk data from the server to the client
    #[arg(short = 'R', long = "reverse", conflicts_with = "both_ways")]
    pub reverse: bool,
    /// Bulk data both ways at once
    #[arg(long = "bidir")]
    pub both_ways: bool,
    /// Connections that send at once
    #[arg(short = 'P', long = "parallel", value_name = "N,…", value_delimiter = ',')]
    pub parallel: Vec<u32>,
    /// Bytes after which a transfer is over
    #[arg(short = 'n', long = "bytes", value_name = "SIZE,…", value_delimiter = ',')]
    pub bytes: Vec<String>,
    /// Bytes of one write [each block draws 32 to 256 KiB], payload of a datagram; message size if
    /// only rtt is measured
    #[arg(short = 'l', long = "length", value_name = "SIZE,…", value_delimiter = ',')]
    pub length: Vec<String>,
    /// Socket buffers, which bound the window
    #[arg(short = 'w', long = "window", value_name = "SIZE,…", value_delimiter = ',')]
    pub window: Vec<String>,
    /// Largest TCP segment
    #[arg(short = 'M', long = "set-mss", value_name = "BYTES,…", value_delimiter = ',')]
    pub mss: Vec<String>,
    /// Send small segments at once
    #[arg(short = 'N', long = "no-delay")]
    pub no_delay: bool,
    /// Send from a file without copying (sendfile), where the system can
    #[arg(short = 'Z', long = "zerocopy")]
    pub zero_copy: bool,
    /// Rate that all connections of a direction are held to together, as in 50M
    #[arg(long = "fq-rate", value_name = "RATE")]
    pub pacing: Option<String>,
    /// Congestion control of TCP
    #[arg(short = 'C', long, value_name = "NAME")]
    pub congestion: Option<String>,
    /// The octet that holds DSCP and ECN, as in 0xb8
    #[arg(short = 'S', long = "tos", value_name = "OCTET", conflicts_with = "dscp")]
    pub tos: Option<String>,
    /// DSCP by name or number, as in EF
    #[arg(long, value_name = "DSCP")]
    pub dscp: Option<String>,
    /// Flow label of IPv6 packets from the client, as in 0xabcde
    #[arg(short = 'L', long = "flowlabel", value_name = "LABEL")]
    pub flow_label: Option<String>,
    /// Time to live or hop limit of packets
    #[arg(long = "hop-limit", value_name = "N")]
    pub hop_limit: Option<u8>,
    /// Refuse datagrams that do not fit the path in one piece; only with UDP and ICMP
    #[arg(long = "dont-fragment")]
    pub dont_fragment: bool,
}

impl KnobArgs {
    /// Whether one of those that shape bulk transfers was given, and which.
    pub fn shapes_bulk(&self) -> Option<&'static str> {
        let given = [
            (self.time.is_some(), "--time"),
            (self.omit.is_some(), "--omit"),
            (self.udp, "--udp"),
            (self.bitrate.is_some(), "--bitrate"),
            (self.target_loss.is_some(), "--target-loss"),
            (self.force_search, "--force-search"),
            (self.reverse, "--reverse"),
            (self.both_ways, "--bidir"),
            (!self.parallel.is_empty(), "--parallel"),
            (!self.bytes.is_empty(), "--bytes"),
            (!self.length.is_empty(), "--length"),
            (!self.window.is_empty(), "--window"),
            (!self.mss.is_empty(), "--set-mss"),
            (self.no_delay, "--no-delay"),
            (self.zero_copy, "--zerocopy"),
            (self.pacing.is_some(), "--fq-rate"),
            (self.congestion.is_some(), "--congestion"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
    }

    /// Whether packets are to be marked.
    pub fn marks(&self) -> Option<&'static str> {
        let given = [
            (self.tos.is_some(), "--tos"),
            (self.dscp.is_some(), "--dscp"),
            (self.flow_label.is_some(), "--flowlabel"),
            (self.hop_limit.is_some(), "--hop-limit"),
            (self.dont_fragment, "--dont-fragment"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
    }

    /// The options that a plan's key stands for.
    pub fn option_of(key: &str) -> &'static str {
        match key {
            "time" => "--time",
            "warmup" => "--omit",
            "bitrate" => "--bitrate",
            "direction" => "--reverse",
            "streams" => "--parallel",
            "bytes" => "--bytes",
            "write" | "payload" | "message" => "--length",
            "window" => "--window",
            "mss" => "--set-mss",
            "pacing" => "--fq-rate",
            "congestion" => "--congestion",
            "tos" => "--tos",
            "dscp" => "--dscp",
            "flow_label" => "--flowlabel",
            "hop_limit" => "--hop-limit",
            "target_loss" => "--target-loss",
            "force" => "--force-search",
            "dont_fragment" => "--dont-fragment",
            "metric" => "--measure",
            "pairs" => "--pairs",
            "lab" | "world" => "the lab",
            _ => "what is measured",
        }
    }
}
