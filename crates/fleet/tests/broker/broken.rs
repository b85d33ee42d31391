//! A hub that was broken into: whoever has it may say and hear everything that the broker has, and
//! runs a coordinator of his own, but does not have the key by which orders are signed. No agent
//! begins anything for him.

use crate::attacks::refused;
use crate::cluster::{Cluster, block_on};
use crate::fake::{Fake, World};
use crate::{mesh, roles};
use data_encoding::BASE64URL_NOPAD;
use nkeys::{KeyPair, XKey};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use v6gap_core::fleet::work::Outcome;
use v6gap_fleet::agent::{self, Files, Told};
use v6gap_fleet::coordinator::{self, Applied};
use v6gap_fleet::hub::Hub;
use v6gap_fleet::{Letter, NoOrder, Role, operate};
use v6gap_store::Store;
use v6gap_sys::{clock, secrets};

/// Both ends of the only path.
const HOSTS: [&str; 2] = ["rome/a", "oslo/b"];

/// The mesh plan.
const MESH: &str = include_str!("../../../core/tests/common/two.mesh.toml");

/// Longest that anything is waited for.
const PATIENCE: Duration = Duration::from_secs(180);

/// Credentials that the account itself signed: without a scope, everything is allowed.
pub fn credentials(cluster: &Cluster) -> PathBuf {
    let (keys, user) = (&cluster.hub.keys, KeyPair::new_user());
    let claims = serde_json::json!({
        "jti": "everything", "iat": clock::wall_ns() / 1_000_000_000, "name": "everything",
        "iss": keys.account.public_key(), "sub": user.public_key(),
        "nats": { "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1 },
    });
    let encode = |text: &str| BASE64URL_NOPAD.encode(text.as_bytes());
    let head = r#"{"typ":"JWT","alg":"ed25519-nkey"}"#;
    let signed = format!("{}.{}", encode(head), encode(&claims.to_string()));
    let signature = BASE64URL_NOPAD.encode(&keys.account.sign(signed.as_bytes()).unwrap());
    let letter = Letter {
        token: format!("{signed}.{signature}"),
        user: user.seed().unwrap(),
        name: "everything".to_owned(),
        ..Letter::read(&cluster.hub.part(Role::Coordinator), None).unwrap()
    };
    let path = cluster.hub.folder.join("everything.creds");
    secrets::create(&path, &letter.text()).unwrap();
    path
}

/// What happened, of the agents and of a coordinator.
enum Happened {
    Agent(&'static str, Told),
    Coordinator(coordinator::Told),
}

pub fn all(server: &Path) {
    let cluster = Cluster::start(server, 1, true);
    let folder = cluster.hub.folder.clone();
    let world = Arc::new(World::new(&folder));
    for name in HOSTS {
        cluster.invited(name);
    }
    let theirs = taken_over(&cluster);
    let operator = cluster.hub.part(Role::Operator);
    block_on(async {
        let (says, hears) = unbounded_channel();
        let (end, stop) = watch::channel(false);
        let [one, other] = HOSTS.map(|name| agent(&folder, name, &world, &says, &stop));
        let tried = async {
            let hears = good(&cluster, &operator, &says, hears).await;
            assert_eq!(world.begun(), 2, "a server and a client were begun");
            bad(&theirs, &says, hears).await;
            assert_eq!(world.begun(), 2, "an agent obeyed");
            end.send(true).unwrap();
        };
        let three = async { tokio::join!(one, other, tried) };
        tokio::time::timeout(PATIENCE, three).await.unwrap();
    });
    refused("to have agents measure by a coordinator of a broken hub");
}

/// The folder of the hub as somebody has it who broke in: all rights at the broker, other keys for
/// orders.
fn taken_over(cluster: &Cluster) -> Hub {
    let (from, to) = (&cluster.hub.folder, cluster.hub.folder.join("theirs"));
    std::fs::create_dir(&to).unwrap();
    // With the list of agents: a coordinator orders nothing of whom it does not know.
    for name in ["hub.json", "authority.pem", "agents.json"] {
        std::fs::copy(from.join(name), to.join(name)).unwrap();
    }
    std::fs::copy(credentials(cluster), to.join("coordinator.creds")).unwrap();
    let keys = std::fs::read_to_string(from.join("keys.json")).unwrap();
    let mut keys: serde_json::Value = serde_json::from_str(&keys).unwrap();
    keys["jobs"] = KeyPair::new_user().seed().unwrap().into();
    keys["seals"] = XKey::new().seed().unwrap().into();
    secrets::create(&to.join("keys.json"), &keys.to_string()).unwrap();
    Hub::open(&to).unwrap()
}

/// An agent that goes on until it is stopped.
async fn agent(
    folder: &Path,
    name: &'static str,
    world: &Arc<World>,
    says: &UnboundedSender<Happened>,
    stop: &watch::Receiver<bool>,
) {
    let store = Store::at(&folder.join("agents").join(name.replace('/', "-")));
    let files = Files::open(&store).unwrap();
    let fake = Fake::new(&store, &files, world);
    let options = roles::options(roles::credentials(folder, name));
    // Nobody listens at the end.
    let mut told = |what| drop(says.send(Happened::Agent(name, what)));
    agent::go_on(&options, files, fake, &mut told, stop.clone()).await.unwrap();
}

/// The true coordinator has them measure.
async fn good(
    cluster: &Cluster,
    operator: &Path,
    says: &UnboundedSender<Happened>,
    mut hears: UnboundedReceiver<Happened>,
) -> UnboundedReceiver<Happened> {
    let plans = mesh::applied(mesh::FEWEST).plans;
    let mesh = MESH.replace("smoke.toml", "light.toml").replace("1 h", "1 min");
    let applied = Applied { v6gap: 1, mesh, plans, afresh: true };
    let (end, stop) = watch::channel(false);
    let mut told = |what| drop(says.send(Happened::Coordinator(what)));
    let coordinates = async {
        // The server may not be there yet.
        while coordinator::go_on(&cluster.hub, &mut told, stop.clone()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let waits = async {
        loop {
            match hears.recv().await.unwrap() {
                Happened::Coordinator(coordinator::Told::Ready) => {
                    operate::apply(operator, "two", &applied).await.unwrap();
                }
                Happened::Coordinator(coordinator::Told::Came { outcome, .. }) => {
                    assert!(matches!(outcome, Outcome::Measured { .. }), "{outcome:?}");
                    break;
                }
                Happened::Coordinator(_) | Happened::Agent(..) => {}
            }
        }
        end.send(true).unwrap();
    };
    tokio::join!(coordinates, waits);
    hears
}

/// Another one leads, grants, and orders: each agent hears it and takes nothing for an order.
async fn bad(
    theirs: &Hub,
    says: &UnboundedSender<Happened>,
    mut hears: UnboundedReceiver<Happened>,
) {
    let (end, stop) = watch::channel(false);
    let mut told = |what| drop(says.send(Happened::Coordinator(what)));
    let coordinates = coordinator::go_on(theirs, &mut told, stop);
    let waits = async {
        let mut left: BTreeMap<&str, Vec<NoOrder>> = BTreeMap::new();
        let (mut leads, mut grants) = (false, 0);
        while left.len() < HOSTS.len() || grants == 0 {
            match hears.recv().await.unwrap() {
                Happened::Agent(name, Told::NoOrder(why)) => {
                    left.entry(name).or_default().push(why);
                }
                Happened::Coordinator(coordinator::Told::Leads(now)) => leads |= now,
                Happened::Coordinator(coordinator::Told::Answered { grants: more, .. }) => {
                    grants += more;
                }
                Happened::Coordinator(_) | Happened::Agent(..) => {}
            }
        }
        assert!(leads && grants > 0, "it could not try");
        let unsigned = left.values().flatten().all(|why| *why == NoOrder::Unsigned);
        assert!(unsigned, "{left:?}");
        end.send(true).unwrap();
    };
    let (ended, ()) = tokio::join!(coordinates, waits);
    ended.unwrap();
}
