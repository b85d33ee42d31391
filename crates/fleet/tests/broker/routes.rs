//! A hub of three nodes that does not encrypt: they find each other by the word of its folder, and
//! who does not have that is no node, whatever it says.

use crate::attacks::refused;
use crate::cluster::{Cluster, block_on, client};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;
use v6gap_fleet::Role;
use v6gap_fleet::hub::config::Places;
use v6gap_fleet::nats::streams;

/// Longest that a node may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a node says when it lets another in, and when it does not.
const IN: &str = "PONG\r\n";
const OUT: &str = "-ERR 'Authorization Violation'\r\n";

pub fn all(server: &Path) {
    let cluster = Cluster::start(server, 3, false);
    block_on(async {
        let coordinator = client(&cluster.hub.part(Role::Coordinator)).await;
        streams::make(&coordinator, 3).await.unwrap();
    });
    cluster.until_whole();
    let word = word(&cluster);
    for node in &cluster.hub.nodes {
        let said = says(node.routes_port(), &word);
        assert!(said.ends_with(IN), "who has the word is let in: {said}");
        for other in ["", &word[1..], &word.to_uppercase()] {
            let said = says(node.routes_port(), other);
            assert!(said.ends_with(OUT), "{said}");
        }
    }
    refused("a node without the word of the hub");
}

/// The word, from what the first node's server is told.
fn word(cluster: &Cluster) -> String {
    let Places { config, .. } = Places::of(&cluster.hub.folder, 0);
    let text = std::fs::read_to_string(config).unwrap();
    let (_, rest) = text.split_once("password: \"").expect("a word");
    rest.split_once('"').unwrap().0.to_owned()
}

/// What a node says to one that says it is another, until it has decided.
fn says(port: u16, word: &str) -> String {
    let mut route = TcpStream::connect(("localhost", port)).unwrap();
    route.set_read_timeout(Some(PATIENCE)).unwrap();
    let who = format!(r#"{{"verbose":false,"user":"node","pass":"{word}","cluster":"v6gap"}}"#);
    route.write_all(format!("CONNECT {who}\r\nPING\r\n").as_bytes()).unwrap();
    let (mut said, mut piece) = (String::new(), [0; 4096]);
    while ![IN, OUT].iter().any(|end| said.ends_with(end)) {
        match route.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => said += &String::from_utf8_lossy(&piece[..count]),
            // It ends the connection as soon as it has said why.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => panic!("a node that does not answer: {error}"),
        }
    }
    said
}
