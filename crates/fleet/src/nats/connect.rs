//! Coming to a hub, and coming back to it.

use crate::error::{FleetError, SERVER_MIN};
use crate::letter::Letter;
use async_nats::{Client, ClientError, ConnectErrorKind, ConnectOptions, Event};
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

/// Longest that a node may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a first try to come back is put off, at most; each further one twice as long.
const BACK_MS: u64 = 500;

/// How many times that doubles: up to 32 s, so that all agents of a hub that was gone are back
/// within a minute and do not come all at once.
const DOUBLED_MAX: usize = 6;

/// Whoever is quiet for so long is asked whether it is there; twice without an answer it is gone.
const QUIET: Duration = Duration::from_secs(20);

/// How a hub is come to.
#[derive(Debug)]
pub struct Way<'a> {
    /// Credentials.
    pub letter: &'a Letter,
    /// The file that they were read from, in which the certificate of the authority is.
    pub file: &'a Path,
    /// Other addresses than the credentials name; those of the credentials if there are none.
    pub hubs: &'a [String],
    /// Whether a hub beyond this host may be one that does not encrypt.
    pub plaintext: bool,
}

impl<'a> Way<'a> {
    /// Addresses of the hub's nodes.
    pub(crate) fn nodes(&self) -> &'a [String] {
        if self.hubs.is_empty() { &self.letter.hubs } else { self.hubs }
    }
}

/// What becomes of a connection that was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// It is there, for the first time or again.
    There,
    /// It is gone, and tried again.
    Gone,
    /// A node let nobody in with these credentials. It is tried again all the same.
    Refused,
}

impl Link {
    fn of(event: &Event) -> Option<Self> {
        match event {
            Event::Connected => Some(Link::There),
            Event::Disconnected => Some(Link::Gone),
            Event::ClientError(ClientError::Other(why)) if *why == violation() => {
                Some(Link::Refused)
            }
            _ => None,
        }
    }
}

/// How the client says that it was let in nowhere.
fn violation() -> String {
    ConnectErrorKind::AuthorizationViolation.to_string()
}

/// Connects to a hub: to any of its nodes, and to another one whenever that is gone. The client
/// comes back by itself for as long as it lives.
///
/// # Errors
/// If no node answers, lets this one in, or is new enough; or the hub does not encrypt and is
/// beyond this host.
pub async fn connect(way: &Way<'_>) -> Result<Client, FleetError> {
    connect_heard(way, |_| {}).await
}

/// As [`connect`], with what becomes of the connection told.
///
/// # Errors
/// As [`connect`].
pub async fn connect_heard(
    way: &Way<'_>,
    told: impl Fn(Link) + Send + Sync + 'static,
) -> Result<Client, FleetError> {
    let hubs = way.nodes();
    let encrypted = way.letter.authority.is_some();
    let far = hubs.iter().find(|hub| !is_local(hub));
    if let (false, false, Some(far)) = (encrypted, way.plaintext, far) {
        return Err(FleetError::Plain(far.clone()));
    }
    let options = ConnectOptions::with_credentials(&way.letter.text());
    let mut options = options
        .map_err(|error| FleetError::file(way.file, error))?
        .name(&way.letter.name)
        .custom_inbox_prefix(inbox(&way.letter.name))
        .connection_timeout(PATIENCE)
        .request_timeout(Some(PATIENCE))
        .ping_interval(QUIET)
        .ignore_discovered_servers()
        .reconnect_delay_callback(put_off)
        .event_callback(move |event| {
            if let Some(link) = Link::of(&event) {
                told(link);
            }
            std::future::ready(())
        });
    if encrypted {
        options = options.add_root_certificates(way.file.to_owned()).tls_first();
    }
    let client = options.connect(hubs).await.map_err(|error| failed(hubs, &error))?;
    let (major, minor, patch) = SERVER_MIN;
    if !client.is_server_compatible(major, minor, patch) {
        return Err(FleetError::ServerOld(client.server_info().version));
    }
    Ok(client)
}

/// The prefix of the inboxes of whoever is called so: each has its own, and may listen to no
/// other's.
fn inbox(name: &str) -> String {
    format!("_INBOX.{}", name.replace('/', "."))
}

fn failed(hubs: &[String], error: &async_nats::ConnectError) -> FleetError {
    let refused = matches!(
        error.kind(),
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation
    );
    let why = match refused {
        true => "the hub lets nobody in with these credentials".to_owned(),
        false => error.to_string(),
    };
    FleetError::Connect { hubs: hubs.join(", "), why, refused }
}

/// How long to wait before the next try. Different for each host: a hub that comes back would
/// otherwise be asked by all at once.
fn put_off(tries: usize) -> Duration {
    let most = BACK_MS << tries.min(DOUBLED_MAX);
    // Without random bytes all wait the longest.
    let part = match v6gap_sys::entropy::bytes() {
        Ok(random) => u64::from_ne_bytes(random) % most,
        Err(_) => most,
    };
    Duration::from_millis(part)
}

/// The name or the address of the host in an address of a hub.
pub(crate) fn host_of(hub: &str) -> &str {
    let rest = hub.split_once("://").map_or(hub, |(_, rest)| rest);
    match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None if rest.parse::<IpAddr>().is_ok() => rest,
        None => rest.rsplit_once(':').map_or(rest, |(host, _)| host),
    }
}

/// Whether an address of a hub is of this host.
fn is_local(hub: &str) -> bool {
    let host = host_of(hub);
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    #[test]
    fn hosts_of_loopback_are_local_and_others_are_not() {
        let (v4, v6) = (Ipv4Addr::LOCALHOST, Ipv6Addr::LOCALHOST);
        for hub in [
            "localhost".to_owned(),
            "tls://localhost:4222".to_owned(),
            format!("nats://{v4}:4222"),
            format!("nats://[{v6}]:4222"),
            v6.to_string(),
        ] {
            assert!(is_local(&hub), "{hub}");
        }
        for hub in ["hub1", "nats://hub1:4222", "nats://[2001:db8::1]:4222", "192.0.2.1:1", ""] {
            assert!(!is_local(hub), "{hub}");
        }
    }

    #[test]
    fn whoever_comes_back_waits_less_than_a_minute() {
        for tries in [0, 1, 5, 6, 7, 1000] {
            assert!(put_off(tries) <= Duration::from_millis(BACK_MS << tries.min(6)), "{tries}");
            assert!(put_off(tries) < Duration::from_secs(60), "{tries}");
        }
    }

    #[test]
    fn a_client_that_is_let_in_nowhere_says_so_and_nothing_else_does() {
        let error = |why: &str| Event::ClientError(ClientError::Other(why.to_owned()));
        assert_eq!(Link::of(&error("authorization violation")), Some(Link::Refused));
        assert_eq!(Link::of(&error("IO error")), None);
        assert_eq!(Link::of(&Event::Disconnected), Some(Link::Gone));
        assert_eq!(Link::of(&Event::Connected), Some(Link::There));
    }

    #[test]
    fn inboxes_are_those_that_the_rights_name() {
        assert_eq!(inbox("rome/lab-a"), "_INBOX.rome.lab-a");
        assert_eq!(inbox("sink"), "_INBOX.sink");
        assert_eq!(inbox("operator") + ".", crate::rights::ANSWERED);
    }
}
