//! Options of `probe`.

use super::capture::CaptureArgs;
use super::run::ResultArgs;
use super::snmp::SnmpArgs;
use super::values;
use clap::{Args, ValueEnum};
use std::net::{Ipv4Addr, SocketAddr};
use v6gap_core::metric::Metric;
use v6gap_core::plan::draft::Wanted;

/// What of a host is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probed {
    /// A metric, or all over a transport.
    Of(Wanted),
    /// The way there.
    Path,
}

fn probed(text: &str) -> Result<Probed, String> {
    match text {
        "path" => Ok(Probed::Path),
        _ => values::measured(text).map(Probed::Of),
    }
}

/// Which addresses of a name are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Addresses {
    /// The first of each family
    One,
    /// All of them, the first of both families with each other, the second, and so on
    All,
}

/// Compare IPv6 with IPv4 to a host that does not run v6gap
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap probe example.org                          a website: looking up, connecting, TLS, answer
  v6gap probe https://example.org/health --fail-if worse:first-byte --fail-if broken -q
  v6gap probe mail.example.org:25                  any TCP service: connecting alone
  v6gap probe example.org --http 1.1,2,3           each version of HTTP
  v6gap probe example.org --measure rtt            ping over both families side by side
  v6gap probe example.org --measure path           routers and path MTU, both ways side by side
  v6gap probe example.org --addresses all          each of its machines by itself
  v6gap probe example.org --resolver 192.0.2.53    at the addresses that this name server tells
  v6gap probe example.org --measure lookup --resolver 192.0.2.53 --resolver [2001:db8::53]:5300
                                                   two name servers beside each other
  v6gap probe https://example.org/f.iso --download 20MB --pairs 8 --mine    how quick a file is

A visit is a connection of its own, which is reset after the answer. No more than 2 a second and 150
in all are made to a host that is not yours (--mine), and a download takes one that is yours or on a
private network. v6gap never logs in, sends no cookies, and asks with GET.")]
pub struct ProbeArgs {
    /// Name, address, URL or HOST:PORT
    pub host: String,
    /// Measure only these: lookup, rtt, connect, tls, response, first-byte, quic, throughput (with
    /// --download); tcp, udp, icmp; path alone looks for the routers and the path MTU and measures
    /// nothing
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = probed,
          help_heading = "Measuring")]
    pub measure: Vec<Probed>,
    /// Versions of HTTP, of 1.1, 2 and 3 [the best of 1.1 and 2 that both families speak]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = values::http,
          help_heading = "Measuring")]
    pub http: Vec<v6gap_core::workload::Http>,
    /// Read so much of the body with each visit, or all of it, and compare how fast it comes; above
    /// 64 KiB
    #[arg(long, value_name = "SIZE", value_parser = values::download, help_heading = "Measuring")]
    pub download: Option<u64>,
    /// Measure this many pairs of everything, 6 or more
    #[arg(long, value_name = "N", help_heading = "Measuring")]
    pub pairs: Option<u32>,
    /// Differences below this do not matter, as in connect=5%,first-byte=10%
    #[arg(long = "margin", value_name = "METRIC=P,…", value_delimiter = ',',
          value_parser = values::margin, help_heading = "Measuring")]
    pub margins: Vec<(Metric, String)>,
    /// Seed of every random choice [random]
    #[arg(long, value_name = "N", help_heading = "Measuring")]
    pub seed: Option<u64>,
    /// The host is mine: lift the counts of what may be asked of it, not the rates
    #[arg(long, help_heading = "Host")]
    pub mine: bool,
    /// How I can be reached, told to the host with each request
    #[arg(long, value_name = "TEXT", help_heading = "Host")]
    pub contact: Option<String>,
    /// Addresses of the name to visit: the first of each family, or all of them in up to four
    /// pairs, each of which is compared by itself
    #[arg(long, value_name = "WHICH", default_value = "one", help_heading = "Host")]
    pub addresses: Addresses,
    /// IPv4 address to visit in place of the name's
    #[arg(long = "v4", value_name = "ADDR", help_heading = "Host")]
    pub four: Option<Ipv4Addr>,
    /// IPv6 address to visit in place of the name's
    #[arg(long = "v6", value_name = "ADDR", help_heading = "Host")]
    pub six: Option<String>,
    /// Address of this host to measure from; once for each family
    #[arg(short = 'B', long, value_name = "ADDR", help_heading = "Host")]
    pub bind: Vec<String>,
    /// Name server to ask, also for the addresses to visit, with :PORT if that is not 53; may be
    /// given up to four times, and each is compared by itself, while all but lookups is asked of
    /// the first [the system's first; addresses as the system has them]
    #[arg(long, value_name = "ADDR", value_parser = values::resolver, help_heading = "Host")]
    pub resolver: Vec<SocketAddr>,
    /// Do not look for the routers on the way
    #[arg(long, help_heading = "Host")]
    pub no_path: bool,
    /// How long anything may take that is due
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = values::span,
          help_heading = "Host")]
    pub timeout: u64,
    /// Fail at once if this host is being measured
    #[arg(long, help_heading = "Measuring")]
    pub no_wait: bool,
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
