//! A managed router: net-snmp's agent inside a node, as on a real device.
//!
//! `snmpd` (Debian package of that name) is a child of a thread of its own and dies with it. Its
//! configuration is a file in memory, so nothing is left on the disk whatever happens. It is told
//! to read the kernel's counters anew for each request: left to itself it answers with those of up
//! to a minute ago.

use crate::{Lab, LabError};
use std::fmt::Write;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use v6gap_core::family::Family;
use v6gap_sys::child;
use v6gap_sys::netns;
use v6gap_sys::socket::Datagram;
use v6gap_sys::{clock, entropy};

/// Where distributions keep it; the path of an ordinary user may not lead there.
const PROGRAMS: [&str; 3] = ["/usr/sbin/snmpd", "/usr/local/sbin/snmpd", "/sbin/snmpd"];

/// Port of agents (RFC 3417 section 3.2).
const PORT: u16 = 161;

/// The agent has this long to answer, in ns.
const READY_NS: u64 = 10_000_000_000;

/// How long one request waits for its answer, in ns.
const ANSWER_NS: u64 = 100_000_000;

/// `nsCacheTimeout` (NET-SNMP-AGENT-MIB): seconds that a table's values are kept.
const CACHE_TIMEOUT: [u64; 12] = [1, 3, 6, 1, 4, 1, 8072, 1, 5, 3, 1, 2];

/// The tables: interfaces, IP, IP by version and by interface, TCP, UDP, Ethernet.
const TABLES: [&[u64]; 7] = [
    &[1, 3, 6, 1, 2, 1, 2, 2],
    &[1, 3, 6, 1, 2, 1, 4],
    &[1, 3, 6, 1, 2, 1, 4, 31, 1],
    &[1, 3, 6, 1, 2, 1, 4, 31, 3],
    &[1, 3, 6, 1, 2, 1, 6],
    &[1, 3, 6, 1, 2, 1, 7],
    &[1, 3, 6, 1, 2, 1, 10, 7, 2],
];

/// Whom an agent answers.
#[derive(Clone, Default)]
pub struct AgentOptions {
    /// The word of v2c.
    pub community: String,
    /// A user of v3.
    pub user: Option<AgentUser>,
}

/// A user of v3, in the words of net-snmp.
#[derive(Clone)]
pub struct AgentUser {
    /// The user's name.
    pub name: String,
    /// As in `SHA-256`, with its password.
    pub authentication: (String, String),
    /// As in `AES`, with its password.
    pub privacy: Option<(String, String)>,
}

/// An agent; it ends when this is dropped.
#[derive(Debug)]
pub struct Agent {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lab {
    /// Starts an agent at `node`, on port 161 of both families.
    ///
    /// # Errors
    /// If there is no such node, the program is not installed, or it does not answer in 10 s.
    pub fn start_agent(&self, node: &str, options: &AgentOptions) -> Result<Agent, LabError> {
        let operation = || format!("start an SNMP agent at {node}");
        let namespace = self.node(node)?.namespace()?;
        let namespace = namespace.try_clone_to_owned().map_err(LabError::system(operation()))?;
        let bytes: [u8; 8] =
            entropy::bytes().map_err(|e| LabError::system(operation())(io::Error::other(e)))?;
        let own: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let configuration = configuration(options, &own);
        let (stop, stopped) = channel();
        let (ready, told) = channel();
        let work = move || keep(&namespace, &configuration, &own, &ready, &stopped);
        let thread = std::thread::Builder::new().name("v6gap-agent".to_owned()).spawn(work);
        let thread = thread.map_err(LabError::system(operation()))?;
        let agent = Agent { stop: Some(stop), thread: Some(thread) };
        let outcome = told.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()));
        outcome.map_err(LabError::system(operation()))?;
        Ok(agent)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked, the kernel has killed the agent.
            let _ = thread.join();
        }
    }
}

/// The agent's thread: starts it, waits until it answers, and kills it when nobody wants it.
fn keep(
    namespace: &OwnedFd,
    configuration: &str,
    own: &str,
    ready: &Sender<io::Result<()>>,
    stopped: &Receiver<()>,
) {
    let started = netns::enter(namespace).and_then(|()| start(configuration));
    let mut agent = match started {
        Ok(agent) => agent,
        Err(error) => {
            // Whoever waits for it has it, or has gone.
            let _ = ready.send(Err(error));
            return;
        }
    };
    let outcome = prepare(&mut agent, own);
    let good = outcome.is_ok();
    let _ = ready.send(outcome);
    if good {
        // Ends with an error when the other half is dropped.
        let _ = stopped.recv();
    }
    // It may have ended by itself.
    let _ = agent.kill();
    let _ = agent.wait();
}

fn start(configuration: &str) -> io::Result<Child> {
    let nowhere = "/proc/self/none";
    let environment = [
        ("MIBS", ""),
        ("MIBDIRS", nowhere),
        ("SNMPCONFPATH", nowhere),
        ("SNMP_PERSISTENT_DIR", nowhere),
    ];
    // In the foreground, silent, with no other configuration than this.
    let arguments = ["-f", "-Ln", "-C", "-c", "/proc/self/fd/0"];
    for program in PROGRAMS {
        match child::spawn(program, &arguments, &environment, configuration.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
    }
    let why = "snmpd is not installed; on Debian: apt-get install snmpd";
    Err(io::Error::new(io::ErrorKind::NotFound, why))
}

fn configuration(options: &AgentOptions, own: &str) -> String {
    let mut text = format!("agentaddress udp:0.0.0.0:{PORT},udp6:[::]:{PORT}\n");
    // Each line is for IPv4, or with a 6 for IPv6.
    for family in ["", "6"] {
        let _ = writeln!(text, "rwcommunity{family} {own}");
        if !options.community.is_empty() {
            let _ = writeln!(text, "rocommunity{family} \"{}\"", options.community);
        }
    }
    if let Some(AgentUser { name, authentication: (digest, password), privacy }) = &options.user {
        let (secret, level) = match privacy {
            Some((cipher, word)) => (format!(" {cipher} \"{word}\""), "authPriv"),
            None => (String::new(), "authNoPriv"),
        };
        let _ = writeln!(text, "createUser \"{name}\" {digest} \"{password}\"{secret}");
        let _ = writeln!(text, "rouser \"{name}\" {level}");
    }
    text
}

/// Waits until the agent answers, and tells it to keep no table.
fn prepare(agent: &mut Child, own: &str) -> io::Result<()> {
    let address = SocketAddr::new(Family::V4.loopback(), PORT);
    let any = SocketAddr::new(Family::V4.unspecified(), 0);
    let deadline_ns = clock::now_ns() + READY_NS;
    for (number, table) in TABLES.into_iter().enumerate() {
        let object: Vec<u64> = CACHE_TIMEOUT.iter().chain(table).copied().collect();
        let request = set(own, number as u8, &object);
        loop {
            // A new socket for each try: one to which ICMP said "refused" may keep that in mind.
            let socket = Datagram::bind(any).map_err(io::Error::other)?;
            socket.send_to(&request, address)?;
            let mut bytes = [0; 1500];
            if socket.wait_readable(ANSWER_NS)? && socket.recv(&mut bytes).is_ok() {
                break;
            }
            if let Some(status) = agent.try_wait()? {
                return Err(io::Error::other(format!("it ended at once ({status})")));
            }
            if clock::now_ns() > deadline_ns {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it did not answer in 10 s"));
            }
        }
    }
    Ok(())
}

/// A request of v2c that sets `object` to 0 (RFC 3416 section 3), in the basic encoding rules.
fn set(community: &str, number: u8, object: &[u64]) -> Vec<u8> {
    let integer = |value: u8| element(0x02, &[value & 0x7f]);
    let variable = [element(0x06, &identifier(object)), integer(0)].concat();
    let variables = element(0x30, &element(0x30, &variable));
    let request = [integer(number), integer(0), integer(0), variables].concat();
    let version = 1;
    let words = element(0x04, community.as_bytes());
    element(0x30, &[integer(version), words, element(0xa3, &request)].concat())
}

/// A value with its kind and length, which is below 128 for all that is sent here.
fn element(kind: u8, content: &[u8]) -> Vec<u8> {
    debug_assert!(content.len() < 0x80, "a longer form would be needed");
    [&[kind, content.len() as u8], content].concat()
}

/// An object identifier: the first two numbers in one byte, the others in groups of seven bits.
fn identifier(object: &[u64]) -> Vec<u8> {
    let mut bytes = vec![(object[0] * 40 + object[1]) as u8];
    for &number in &object[2..] {
        let groups = (1..10).take_while(|group| number >> (7 * group) > 0).count();
        for group in (0..=groups).rev() {
            let more = if group > 0 { 0x80 } else { 0 };
            bytes.push((number >> (7 * group)) as u8 & 0x7f | more);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_encoded_as_the_standard_says() {
        assert_eq!(identifier(&[1, 3, 6, 1, 4, 1, 8072, 1]), [0x2b, 6, 1, 4, 1, 0xbf, 0x08, 1]);
        let bytes = set("pub", 5, &[1, 3, 6, 1]);
        let expected = [
            0x30, 0x1f, 0x02, 1, 1, 0x04, 3, b'p', b'u', b'b', 0xa3, 0x15, 0x02, 1, 5, 0x02, 1, 0,
            0x02, 1, 0, 0x30, 0x0a, 0x30, 0x08, 0x06, 3, 0x2b, 6, 1, 0x02, 1, 0,
        ];
        assert_eq!(bytes, expected);
        for table in TABLES {
            let object: Vec<u64> = CACHE_TIMEOUT.iter().chain(table).copied().collect();
            assert!(set("0123456789abcdef", 6, &object).len() < 0x80 + 2);
        }
    }

    #[test]
    fn keys_stand_in_the_configuration_and_nowhere_else() {
        let user = AgentUser {
            name: "u".to_owned(),
            authentication: ("SHA-256".to_owned(), "pass word".to_owned()),
            privacy: Some(("AES".to_owned(), "secret word".to_owned())),
        };
        let options = AgentOptions { community: "public".to_owned(), user: Some(user) };
        let text = configuration(&options, "own");
        assert!(text.contains("createUser \"u\" SHA-256 \"pass word\" AES \"secret word\"\n"));
        assert!(text.contains("rocommunity6 \"public\"\n") && text.contains("rwcommunity own\n"));
    }
}
