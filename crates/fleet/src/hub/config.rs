//! What nats-server is told of a node.

use super::Hub;
use super::nodes::Node;
use crate::creds::{self, Made};
use crate::error::FleetError;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What its runtime is told: to collect when the heap has grown by a tenth, not to twice its size.
/// Buffers of blocks that were written count as used until two collections later, so that with
/// twice the heap there is ever more to be doubled while much is written. Most of the heap has no
/// pointers, so that collecting is cheap.
pub const ENVIRONMENT: (&str, &str) = ("GOGC", "10");

/// Where the files of a node are.
#[derive(Debug, Clone)]
pub struct Places {
    /// Its configuration.
    pub config: PathBuf,
    /// Its certificate.
    pub certificate: PathBuf,
    /// The key of that.
    pub key: PathBuf,
    /// Where it keeps streams.
    streams: PathBuf,
    /// The certificate of the hub's authority.
    authority: PathBuf,
}

impl Places {
    /// Those of node `index`, from 0, of the hub in `folder`.
    pub fn of(folder: &Path, index: usize) -> Self {
        let node = folder.join(format!("node-{}", index + 1));
        Places {
            config: node.join("nats-server.conf"),
            certificate: node.join("certificate.pem"),
            key: node.join("key.pem"),
            streams: node.join("streams"),
            authority: folder.join("authority.pem"),
        }
    }
}

/// The accounts that all nodes know, as lines of their configurations.
///
/// # Errors
/// If the keys cannot sign.
pub fn accounts(hub: &Hub, revoked: &BTreeMap<String, u64>) -> Result<String, FleetError> {
    let keys = &hub.keys;
    let made = Made::now()?;
    // Always the same: a server that reads its configuration again takes no other operator.
    let once = Made { at_unix_s: 1, name: "v6gap".to_owned() };
    let operator = creds::operator(&keys.operator, &keys.system, &once)?;
    let system = creds::system(&keys.operator, &keys.system, &once)?;
    let fleet = creds::account(&keys.operator, &keys.account, &keys.signers, revoked, &made)?;
    let (system_key, fleet_key) = (keys.system.public_key(), keys.account.public_key());
    Ok(format!(
        "operator: {operator}\nsystem_account: {system_key}\nresolver: MEMORY\n\
         resolver_preload: {{\n  {system_key}: {system}\n  {fleet_key}: {fleet}\n}}\n"
    ))
}

/// Who is let in no more, as a configuration says; nothing if it does not know the account of that
/// public key.
pub fn revoked(text: &str, account: &str) -> Option<BTreeMap<String, u64>> {
    let of = |line: &str| Some(line.trim().strip_prefix(account)?.strip_prefix(": ")?.to_owned());
    creds::revoked(&text.lines().find_map(of)?)
}

/// The configuration of node `index`, nothing if there is no such node.
///
/// # Errors
/// If the keys cannot be told.
pub fn text(hub: &Hub, index: usize, accounts: &str) -> Result<String, FleetError> {
    let places = Places::of(&hub.folder, index);
    let Some(node) = hub.nodes.get(index) else { return Ok(String::new()) };
    let mut text = format!("server_name: \"v6gap-{}\"\n", index + 1);
    let _ = writeln!(text, "{}", listen(node, node.port));
    if hub.encrypted {
        // Otherwise a server says who it is and what it knows before it is sure of anything.
        let _ = writeln!(text, "{}", tls(&places, "handshake_first: true"));
    }
    // A write is acknowledged when it is on the disk, not when it will be.
    let streams = quoted(&places.streams);
    let _ = writeln!(text, "jetstream {{ store_dir: {streams}, sync_interval: always }}");
    if hub.nodes.len() > 1 {
        text += &cluster(hub, node, &places)?;
    }
    Ok(text + accounts)
}

/// Nodes that know each other: by their certificates, or else by a word that all of them have.
fn cluster(hub: &Hub, node: &Node, places: &Places) -> Result<String, FleetError> {
    let (who, proof) = if hub.encrypted {
        let authority = format!("ca_file: {}, verify: true", quoted(&places.authority));
        (String::new(), tls(places, &authority))
    } else {
        let word = hub.keys.routes_word()?;
        (format!("node:{word}@"), format!("authorization {{ user: node, password: \"{word}\" }}"))
    };
    let others = hub.nodes.iter().filter(|other| *other != node);
    let routes: Vec<String> =
        others.map(|other| format!("\"nats://{who}{}\"", other.at(other.routes_port()))).collect();
    let (listen, routes) = (listen(node, node.routes_port()), routes.join(", "));
    Ok(format!(
        "cluster {{\n  name: \"v6gap\"\n  {listen}\n  no_advertise: true\n  \
         routes: [{routes}]\n  {proof}\n}}\n"
    ))
}

/// On every address of both families, unless the node is for this host alone.
fn listen(node: &Node, port: u16) -> String {
    match node.is_local() {
        true => format!("listen: \"{}\"", node.at(port)),
        false => format!("port: {port}"),
    }
}

fn tls(places: &Places, more: &str) -> String {
    let (certificate, key) = (quoted(&places.certificate), quoted(&places.key));
    format!("tls {{ cert_file: {certificate}, key_file: {key}, {more} }}")
}

fn quoted(path: &Path) -> String {
    serde_json::Value::from(path.to_string_lossy().as_ref()).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::nodes;
    use super::*;
    use crate::hub::keys::Keys;

    fn hub(of: &str, encrypted: bool) -> Hub {
        let folder = PathBuf::from("/srv/v6gap");
        Hub { folder, nodes: nodes::parse(of).unwrap(), encrypted, keys: Keys::generate() }
    }

    #[test]
    fn a_node_alone_has_no_cluster_and_speaks_tls_first() {
        let text = text(&hub("hub1", true), 0, "accounts\n").unwrap();
        assert!(
            text.contains("\nport: 4222\n") && text.contains("handshake_first: true"),
            "{text}"
        );
        assert!(text.contains("sync_interval: always") && text.ends_with("accounts\n"), "{text}");
        assert!(!text.contains("cluster"), "{text}");
    }

    #[test]
    fn three_nodes_know_the_other_two_and_prove_themselves() {
        let hub = hub("localhost,localhost,localhost", true);
        for (index, others) in [(0, [6223, 6224]), (1, [6222, 6224]), (2, [6222, 6223])] {
            let text = text(&hub, index, "").unwrap();
            let [a, b] = others.map(|port| format!("\"nats://localhost:{port}\""));
            assert!(text.contains(&format!("routes: [{a}, {b}]")), "{text}");
            assert!(text.contains("verify: true"), "{text}");
            assert!(text.contains(&format!("listen: \"localhost:{}\"", 4222 + index)), "{text}");
        }
    }

    #[test]
    fn without_encryption_nodes_prove_themselves_by_a_word() {
        let [one, other] = [(); 2].map(|()| hub("localhost,localhost,localhost", false));
        let word = one.keys.routes_word().unwrap();
        assert_ne!(word, other.keys.routes_word().unwrap());
        for index in 0..3 {
            let text = text(&one, index, "").unwrap();
            assert!(!text.contains("tls") && text.contains("cluster"), "{text}");
            assert!(text.contains(&format!("password: \"{word}\"")), "{text}");
            assert_eq!(text.matches(&format!("\"nats://node:{word}@localhost:")).count(), 2);
        }
    }

    #[test]
    fn accounts_are_signed_by_the_operator_who_is_named() {
        let hub = hub("hub1", true);
        let text = accounts(&hub, &BTreeMap::new()).unwrap();
        let preloaded = text.lines().filter(|line| line.starts_with("  A")).count();
        assert_eq!(preloaded, 2);
        assert!(text.contains(&format!("system_account: {}", hub.keys.system.public_key())));
        let later = accounts(&hub, &BTreeMap::from([("UA".to_owned(), 7)])).unwrap();
        let same = text.lines().zip(later.lines()).filter(|(one, other)| one == other).count();
        assert_eq!(same, text.lines().count() - 1, "the account of the fleet alone is another");
    }
}
