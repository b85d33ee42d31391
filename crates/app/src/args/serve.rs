//! Options of `serve`.

use super::run::KeyArgs;
use super::values::{self, Bytes, Rate};
use clap::Args;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::wire::PORT;
use v6gap_perform::serve::Prefix;

/// Answer measurements
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap serve                                for private networks and this host
  v6gap serve --new-key lab.key              makes a key for both hosts
  v6gap serve --key-file lab.key             for everybody who knows the key
  v6gap serve --new-key b.key --pinned       makes a key that stays on this host, and its public one
  v6gap serve --allow 192.0.2.0/24 --allow 2001:db8::/32
  v6gap serve --public                       for everybody, with strict limits
  v6gap serve --key-file lab.key --max-rate 200M --max-session 30min
  v6gap serve --listen 192.0.2.7 --listen 2001:db8::7 -1
  v6gap serve --public --announce 192.0.2.7 --announce 2001:db8::7
  v6gap serve --stamp --stamp-port 8620      also for routers that send test packets of STAMP

Both families listen on sockets of their own, so that trouble with one is seen. Behind a NAT that
rewrites the addresses of clients, as those of containers do, all of them look private: give a key
there. No privileges are needed; do not run it as root. What is limited is told to clients, which
plan for it; a throughput that reaches --max-rate has no verdict. Without a key and without -A no
client may keep the processor busy while it waits (spin, yield).

A client that knows one address may ask for one of the other family. It is told those of --announce
or, without any, those of this host; with --public alone, and without a key from beyond private
networks, none.

Test packets of STAMP (RFC 8762) and TWAMP Light are answered for the same networks, also while
something is measured. Their senders do not know the key of --key-file, so that it widens nothing
for them: --stamp-key-file, --allow and --public do.")]
pub struct ServeArgs {
    /// Address to listen on, one of each family [every address of both]
    #[arg(long, value_name = "ADDR")]
    pub listen: Vec<IpAddr>,
    /// Port, TCP and UDP
    #[arg(short, long, value_name = "PORT", default_value_t = PORT)]
    pub port: u16,
    /// What clients must prove
    #[command(flatten)]
    pub key: KeyArgs,
    /// Make this file with a new key of 128 random bits that only you can read, and end
    #[arg(long, value_name = "FILE", conflicts_with_all = ["key_file", "word"])]
    pub new_key: Option<PathBuf>,
    /// With --new-key: a private key, which stays here; each end names the others by their public
    /// keys, so that who learns one end's file cannot pose as the others
    #[arg(long, requires = "new_key")]
    pub pinned: bool,
    /// Serve every address, not only loopback, link-local and private ones
    #[arg(long)]
    pub public: bool,
    /// Tell clients that know an address of the other family this one, and no others than those
    /// named so [those of this host; with --public none]
    #[arg(long, value_name = "ADDR", value_parser = values::announced)]
    pub announce: Vec<IpAddr>,
    /// Serve this network, and no other than those named so
    #[arg(long, value_name = "NET", conflicts_with = "public")]
    pub allow: Vec<Prefix>,
    /// Highest rate of a task, or none [with --public and no key 50M]
    #[arg(long, value_name = "RATE", value_parser = values::rate, help_heading = "Limits")]
    pub max_rate: Option<Rate>,
    /// Most bytes of a task one way, or none [with --public and no key 200M]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, help_heading = "Limits")]
    pub max_bytes: Option<Bytes>,
    /// Longest task [10min; with --public and no key 30s]
    #[arg(long, value_name = "TIME", value_parser = values::span, help_heading = "Limits")]
    pub max_time: Option<u64>,
    /// Longest session [24h; with --public and no key 5min]
    #[arg(long, value_name = "TIME", value_parser = values::span, help_heading = "Limits")]
    pub max_session: Option<u64>,
    /// Most sessions of one address, served and waiting [4; with --public and no key 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000),
          help_heading = "Limits")]
    pub max_per_source: Option<u32>,
    /// Let clients mark no packets and name no congestion control
    #[arg(long, help_heading = "Limits")]
    pub no_marking: bool,
    /// Processor to pin the measuring thread to
    #[arg(short = 'A', long = "affinity", value_name = "CPU")]
    pub processor: Option<usize>,
    /// End after one session
    #[arg(short = '1', long)]
    pub one_off: bool,
    /// Say where it serves, and nothing of its clients
    #[arg(short, long)]
    pub quiet: bool,
    /// End when standard input ends, for programs that start this one
    #[arg(long, hide_short_help = true)]
    pub stop_at_eof: bool,
    /// Answer test packets of STAMP, too
    #[arg(long, help_heading = "STAMP")]
    pub stamp: bool,
    /// UDP port for them [862, for which most systems want a privilege]
    #[arg(long, value_name = "PORT", requires = "stamp", help_heading = "STAMP")]
    pub stamp_port: Option<u16>,
    /// File with a key in its first line, as text or as 0x and hexadecimal digits: packets that it
    /// authenticates are answered, from everywhere, and no others
    #[arg(long, value_name = "FILE", requires = "stamp", help_heading = "STAMP")]
    pub stamp_key_file: Option<PathBuf>,
}

impl ServeArgs {
    /// Where to listen in each family: every address of both, or only at those named.
    ///
    /// # Errors
    /// In words, if two addresses of one family are named, or one of neither.
    pub fn addresses(&self) -> Result<PerFamily<Option<SocketAddr>>, String> {
        let socket = |address| Some(SocketAddr::new(address, self.port));
        if self.listen.is_empty() {
            return Ok(PerFamily::from_fn(|family: Family| socket(family.unspecified())));
        }
        let mut addresses: PerFamily<Option<SocketAddr>> = PerFamily::default();
        for &address in &self.listen {
            let family = Family::of(&address)
                .ok_or_else(|| format!("{address} is IPv4 in IPv6 form, which is neither"))?;
            let other = addresses.get_mut(family);
            if other.is_some() {
                return Err(format!("--listen names two {family} addresses; give one of each"));
            }
            *other = socket(address);
        }
        Ok(addresses)
    }
}
