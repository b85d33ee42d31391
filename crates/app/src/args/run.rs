//! Options of `run` and `check`, and those that other measuring verbs share with them.

use super::capture::CaptureArgs;
use super::knobs::KnobArgs;
use super::snmp::SnmpArgs;
use super::ssh::SshArgs;
use super::values::{self, Asked, Precision};
use clap::{Args, ValueEnum};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::plan::draft::Wanted;
use v6gap_core::wire::PORT;
use v6gap_judge::analysis::Verdict;
use v6gap_perform::against::Tool;
use v6gap_perform::via::quoted;

/// Compare IPv6 with IPv4 between here and HOST
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap run lab-b                                  the first look, 75 s
  v6gap lab-b --quick                              the same in 20 s, with wider ranges
  v6gap run lab-b --measure rtt,connect --pairs 40
  v6gap run 192.0.2.20                             the server there tells its other address
  v6gap run nas --v4 192.0.2.20 --v6 fd12::20      where it does not, or names do not
  v6gap run lab-b --fail-if worse --require same:throughput -q
  v6gap run lab-b --continue last --for 10min      more pairs for the last result
  v6gap run --lab two-routers --from router1 --to router2
  v6gap run lab-b --against iperf3 -R -P 4         with the iperf3 server that runs there
  v6gap run router1 --against stamp                with a router's reflector (STAMP, TWAMP Light)
  v6gap run --via ssh --from ops@rome1 --to ops@oslo1     between two hosts, nothing installed
  v6gap run --via ssh --forget ops@rome1 ops@oslo1        removes what is kept there

The time given is that of the whole run. What is reported is what arrived, at the receiver.")]
pub struct RunArgs {
    /// Name or address of the server
    #[arg(required_unless_present_any = ["lab", "via"], conflicts_with_all = ["lab", "via"])]
    pub host: Option<String>,
    /// In which lab, in place of a server
    #[command(flatten)]
    pub lab: LabChoice,
    /// Between which hosts, where nothing is installed
    #[command(flatten)]
    pub ssh: SshArgs,
    /// What to measure and for how long
    #[command(flatten)]
    pub design: DesignArgs,
    /// How to reach the server
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Measure IPv4 alone; prints numbers and no comparison
    #[arg(short = '4', long = "ipv4", help_heading = "Measuring",
          conflicts_with_all = ["only_six", "null"])]
    pub only_four: bool,
    /// Measure IPv6 alone; prints numbers and no comparison
    #[arg(short = '6', long = "ipv6", help_heading = "Measuring", conflicts_with = "null")]
    pub only_six: bool,
    /// Add pairs to a stored result, with its plan
    #[arg(long = "continue", value_name = "RESULT", help_heading = "Measuring")]
    pub continued: Option<String>,
    /// Measure against an unmodified server of this tool in place of v6gap's: iperf3, stamp
    #[arg(long, value_name = "TOOL", value_parser = values::tool, help_heading = "Connection",
          conflicts_with_all = ["lab", "continued"])]
    pub against: Option<Tool>,
    /// The host of --against is mine: it may be loaded
    #[arg(long, requires = "against", help_heading = "Connection")]
    pub mine: bool,
    /// Processor to pin the measuring thread to
    #[arg(short = 'A', long = "affinity", value_name = "CPU", help_heading = "Measuring")]
    pub processor: Option<usize>,
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

/// A lab to measure in.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Lab")]
pub struct LabChoice {
    /// Measure in a lab that is up, or make the world of this file or name for the run
    #[arg(long, value_name = "LAB|FILE|NAME", group = "place")]
    pub lab: Option<String>,
    /// Folder with the kernel of the world's emulated system [target/kernel]
    #[arg(long, value_name = "FOLDER")]
    pub kernel: Option<PathBuf>,
    /// Node of the lab, or host of --via, that measures [the world's client; this host]
    #[arg(long, value_name = "NODE", requires = "place")]
    pub from: Option<String>,
    /// Node of the lab, or host of --via, that it measures to [the world's server; this host]
    #[arg(long, value_name = "NODE", requires = "place")]
    pub to: Option<String>,
}

impl RunArgs {
    /// Name or address of the server, which is there unless a lab is.
    pub fn host(&self) -> &str {
        self.host.as_deref().unwrap_or_default()
    }

    /// The one family that is to be measured alone, if so.
    pub fn only(&self) -> Option<Family> {
        match (self.only_four, self.only_six) {
            (true, _) => Some(Family::V4),
            (_, true) => Some(Family::V6),
            _ => None,
        }
    }
}

/// What to measure, for how long, and what matters.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Measuring")]
pub struct DesignArgs {
    /// Longest time of the whole run; ends sooner when every question is settled [75 s], or of a
    /// demo [2 min 30 s]
    #[arg(long = "for", value_name = "TIME", value_parser = values::span,
          conflicts_with_all = ["quick", "thorough"])]
    pub time_ns: Option<u64>,
    /// Measure this many pairs of everything, 6 or more
    #[arg(long, value_name = "N",
          conflicts_with_all = ["time_ns", "quick", "thorough"])]
    pub pairs: Option<u32>,
    /// Measure until every range is as narrow as ±P, as in 1% or throughput=1%,rtt=0.5%
    #[arg(long, value_name = "P", value_delimiter = ',', value_parser = values::precision,
          conflicts_with = "pairs")]
    pub precision: Vec<Precision>,
    /// The same as --for 20s
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,
    /// The same as --for 10min
    #[arg(long)]
    pub thorough: bool,
    /// Measure only these: throughput, rtt, connect, loss; tcp, udp; where they are named also
    /// capacity, rate-at-loss, packet-rate, connect-rate, first-byte, ipdv, pdv, loss-back,
    /// reordering, duplication, frame-loss, frame-lateness
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = values::measured)]
    pub measure: Vec<Wanted>,
    /// Also compare the median, the 90th and the 99th percentile of round trips
    #[arg(long)]
    pub tails: bool,
    /// What is of one length over both families, of round trips and transfers: what the application
    /// sends, the IP packet, or packets that fill the frame
    #[arg(long, value_name = "LENGTH", value_parser = ["payload", "packet", "frame"])]
    pub parity: Option<String>,
    /// Who holds the ends of round trips: two processes (ends), or one thread both (stack), so that
    /// no scheduler is in the way; in a lab whose model is bare
    #[arg(long, value_name = "METHOD", value_parser = ["ends", "stack"])]
    pub method: Option<String>,
    /// Differences below this do not matter, as in throughput=2%,rtt=5%
    #[arg(long = "margin", value_name = "METRIC=P,…", value_delimiter = ',',
          value_parser = values::margin)]
    pub margins: Vec<(Metric, String)>,
    /// Seed of every random choice [random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Compare a family with itself: whatever differs is the instrument's own
    #[arg(long, value_name = "v4|v6", value_parser = values::family)]
    pub null: Option<Family>,
    /// Compare families that take different interfaces all the same
    #[arg(long)]
    pub allow_different_links: bool,
    /// What a trial does
    #[command(flatten)]
    pub knobs: KnobArgs,
}

/// What both ends prove to each other, and where it is.
#[derive(Clone, Default, Args)]
pub struct KeyArgs {
    /// File with the key in its first line, or with pinned keys; `v6gap serve --new-key FILE
    /// [--pinned]` makes one. The variable V6GAP_KEY may hold a key instead
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// The key itself; others on this computer can read it in the list of processes
    #[arg(long = "key", value_name = "WORD", conflicts_with = "key_file")]
    pub word: Option<String>,
    /// The key is the first line of standard input, for programs that start this one
    #[arg(long, hide = true, conflicts_with_all = ["key_file", "word"])]
    pub key_of_input: bool,
    /// The key in the variable; the options come before it
    #[arg(long, env = "V6GAP_KEY", hide = true, hide_env = true)]
    pub key_of_environment: Option<String>,
    /// The folder of a service's credentials, which systemd names in the variable
    #[arg(
        long,
        env = "CREDENTIALS_DIRECTORY",
        value_name = "FOLDER",
        hide = true,
        hide_env = true
    )]
    pub credentials: Option<PathBuf>,
}

impl std::fmt::Debug for KeyArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyArgs(…)")
    }
}

/// How to reach the server.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Connection")]
pub struct ConnectArgs {
    /// Port of the server, TCP and UDP
    #[arg(short, long, value_name = "PORT", default_value_t = PORT)]
    pub port: u16,
    /// IPv4 address of the server, where its name does not tell
    #[arg(long = "v4", value_name = "ADDR")]
    pub four: Option<Ipv4Addr>,
    /// IPv6 address of the server, where its name does not tell
    #[arg(long = "v6", value_name = "ADDR")]
    pub six: Option<String>,
    /// Address of this computer to measure from, one of each family; give it twice for both
    #[arg(short = 'B', long, value_name = "ADDR")]
    pub bind: Vec<String>,
    /// The word that the server was given
    #[command(flatten)]
    pub key: KeyArgs,
    /// How long each address has to answer
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = values::span)]
    pub connect_timeout: u64,
    /// Fail at once if the server measures for somebody else, or this host is being measured
    #[arg(long)]
    pub no_wait: bool,
}

impl ConnectArgs {
    /// To a server in this process.
    pub fn local() -> Self {
        ConnectArgs {
            port: PORT,
            four: None,
            six: None,
            bind: Vec::new(),
            key: KeyArgs::default(),
            connect_timeout: 5_000_000_000,
            no_wait: false,
        }
    }

    /// The option that names an address, if one does.
    pub fn addressed(&self) -> Option<&'static str> {
        let typed = [
            (!self.bind.is_empty(), "--bind"),
            (self.four.is_some(), "--v4"),
            (self.six.is_some(), "--v6"),
        ];
        typed.into_iter().find(|(typed, _)| *typed).map(|(_, option)| option)
    }

    /// What another command to the same server needs as well, each with a blank before it: who was
    /// told the port or an address here would miss it there. A key itself is not said again.
    pub fn again(&self) -> String {
        self.typed().concat()
    }

    /// The same behind a command that may say some of it otherwise, or be about one family alone.
    pub fn again_behind(&self, command: &str) -> String {
        let says = |option: &str| command.split(' ').any(|word| word == option);
        let (only_four, only_six) = (says("-4"), says("-6"));
        let is_missing = |option: &&String| {
            let mut words = option.split_whitespace();
            let (name, value) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
            let of_six = name == "--v6" || name == "--bind" && value.contains(':');
            let of_four = name == "--v4" || name == "--bind" && !value.contains(':');
            let is_other = only_four && of_six || only_six && of_four;
            let is_key = name == "--key" && says("--key-file");
            !(says(name) || is_other || is_key)
        };
        self.typed().iter().filter(is_missing).map(String::as_str).collect()
    }

    /// Each option that leads to the server, as it is typed, with a blank before it.
    fn typed(&self) -> Vec<String> {
        let port = (self.port != PORT).then(|| format!(" -p {}", self.port));
        let four = self.four.map(|address| format!(" --v4 {address}"));
        let six = self.six.as_ref().map(|address| format!(" --v6 {}", quoted(address)));
        let bound = self.bind.iter().map(|address| format!(" --bind {}", quoted(address)));
        let file = self.key.key_file.as_ref().map(|file| file.to_string_lossy());
        let file = file.map(|file| format!(" --key-file {}", quoted(&file)));
        let word = self.key.word.as_ref().map(|_| " --key WORD".to_owned());
        port.into_iter().chain(four).chain(six).chain(bound).chain(file).chain(word).collect()
    }

    /// The addresses given, as text.
    pub fn addresses(&self) -> PerFamily<Option<String>> {
        PerFamily { v4: self.four.map(|a| a.to_string()), v6: self.six.clone() }
    }
}

/// What to do with a result.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Result")]
pub struct ResultArgs {
    /// Write the result as JSON to standard output, the text to standard error
    #[arg(short = 'J', long)]
    pub json: bool,
    /// Write what happens to standard output as it happens, one JSON object a line; the last line
    /// is the result
    #[arg(long, conflicts_with = "json")]
    pub json_stream: bool,
    /// Stop after the present block when standard input ends, for programs that start this one
    #[arg(long, hide_short_help = true)]
    pub stop_at_eof: bool,
    /// Say how long it takes at most and about how much it sends, and send nothing
    #[arg(long, conflicts_with = "json_stream")]
    pub dry_run: bool,
    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
    /// Add method, hosts, and what both ends' sockets were given
    #[arg(short = 'V', long)]
    pub verbose: bool,
    /// How progress is shown [inline on terminals, otherwise line]
    #[arg(long, value_name = "HOW")]
    pub live: Option<Live>,
    /// Exit with 10 if this is the verdict: worse, better, same, or of one thing (worse:rtt,
    /// worse:failures, worse:lost-exchanges); of a probe also broken, if a family does not work
    #[arg(long, value_name = "VERDICT", value_delimiter = ',', value_parser = condition)]
    pub fail_if: Vec<Condition>,
    /// Exit with 10 unless this is the verdict (same:throughput), with 11 if it is open
    #[arg(long, value_name = "VERDICT", value_delimiter = ',', value_parser = requirement)]
    pub require: Vec<Condition>,
    /// Where to write the report [beside the stored result]
    #[arg(short, long, value_name = "FILE", value_parser = values::page())]
    pub output: Option<PathBuf>,
    /// Write no report
    #[arg(long, conflicts_with = "output")]
    pub no_report: bool,
    /// What both hosts are called in their fleet, this one first: what its agents say
    #[arg(long, value_name = "FROM,TO", value_parser = values::between, hide = true)]
    pub between: Option<[String; 2]>,
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Live {
    /// A view that is redrawn in place
    Inline,
    /// A line now and then
    Line,
    /// Nothing
    Off,
}

/// A verdict that a script waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// The verdict.
    pub verdict: Verdict,
    /// What it is about.
    pub asked: Asked,
}

fn condition(text: &str) -> Result<Condition, String> {
    values::condition(text).map(|(verdict, asked)| Condition { verdict, asked })
}

fn requirement(text: &str) -> Result<Condition, String> {
    values::requirement(text).map(|(verdict, asked)| Condition { verdict, asked })
}

/// A condition on a change between runs.
pub(super) fn condition_of_change(text: &str) -> Result<Condition, String> {
    values::condition_of_change(text).map(|(verdict, asked)| Condition { verdict, asked })
}

/// Find out whether HOST can be measured, and what will limit it
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap check lab-b
  v6gap check nas --v6 fd12::20
  v6gap check lab-b --json

Packets of full size and datagrams are tried over each family, which takes some seconds where they
vanish. A server that measures for somebody else is not waited for.

Exit code 0: ready; 3: one family is missing; 4: trouble with the server; 6: large packets
vanish.")]
pub struct CheckArgs {
    /// Name or address of the server
    pub host: String,
    /// Write JSON
    #[arg(short = 'J', long)]
    pub json: bool,
    /// How to reach the server
    #[command(flatten)]
    pub connect: ConnectArgs,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::{Arg, CommandFactory};
    use std::collections::BTreeSet;
    use v6gap_report::{FLAGS, REACHING};

    /// Options about the connection with a value that do not say where the server is.
    const ABOUT: [&str; 2] = ["--connect-timeout", "--against"];

    /// The options of `run`.
    fn options() -> Vec<Arg> {
        let program = Cli::command();
        let run = program.find_subcommand("run").unwrap();
        run.get_arguments().cloned().collect()
    }

    /// A letter that a report takes for none of these hides an option behind it in the same word.
    #[test]
    fn a_report_knows_each_letter_without_a_value() {
        let options = options();
        let flags = options.iter().filter(|option| !option.get_action().takes_values());
        let flags: BTreeSet<char> = flags.filter_map(Arg::get_short).collect();
        assert_eq!(flags, FLAGS.chars().collect::<BTreeSet<char>>());
    }

    #[test]
    fn a_report_knows_each_option_that_leads_to_a_server() {
        let options = options();
        let leads = |option: &&Arg| {
            let is_about = option.get_help_heading() == Some("Connection");
            is_about && option.get_action().takes_values() && !option.is_hide_set()
        };
        let named = |option: &Arg| {
            let name = format!("--{}", option.get_long()?);
            Some((name, option.get_short()))
        };
        let mut leading: BTreeSet<_> = options.iter().filter(leads).filter_map(named).collect();
        leading.retain(|(name, _)| !ABOUT.contains(&name.as_str()));
        let known = REACHING.map(|(name, letter)| (name.to_owned(), letter));
        assert_eq!(leading, BTreeSet::from(known));
    }

    /// What is said again is all of it, and reads as it was typed.
    #[test]
    fn all_that_leads_to_a_server_is_said_again() {
        let key_file = Some(PathBuf::from("my lab.key"));
        let connect = ConnectArgs {
            port: 5000,
            four: Some(Ipv4Addr::new(192, 0, 2, 7)),
            six: Some("fe80::20%eth0".to_owned()),
            bind: vec!["192.0.2.1".to_owned()],
            key: KeyArgs { key_file, word: Some("no-one".to_owned()), ..KeyArgs::default() },
            ..ConnectArgs::local()
        };
        let said = connect.again();
        for (name, letter) in REACHING {
            let names = [Some(name.to_owned()), letter.map(|letter| format!("-{letter}"))];
            let is_said = |name: &String| said.contains(&format!(" {name} "));
            assert!(names.iter().flatten().any(is_said), "{name}: {said}");
        }
        let file = " --key-file 'my lab.key' --key WORD";
        assert!(said.contains(" --v6 fe80::20%eth0 ") && said.ends_with(file), "{said}");
    }
}
