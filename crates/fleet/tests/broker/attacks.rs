//! What an agent's credentials do not give: each attack is tried with those of rome/a, against
//! oslo/b and the hub. It is looked at what comes of it, not at what the server says of it.

use crate::cluster::{Cluster, block_on, client};
use crate::fake::{Fake, World};
use async_nats::{Client, Request, Subscriber};
use futures_util::{FutureExt, StreamExt};
use nkeys::{KeyPair, XKey};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use v6gap_core::fleet::id::{JobId, Nonce, Token, Word};
use v6gap_core::fleet::message::{Command, Order, Peer, Prepare, Role as End, Signed, Start};
use v6gap_fleet::agent::{self, Files, Offline, Options, Told};
use v6gap_fleet::nats::grants::Grants;
use v6gap_fleet::nats::streams;
use v6gap_fleet::orders::{NoOrder, Writer};
use v6gap_fleet::{Letter, Role};
use v6gap_store::Store;

/// How long an answer is waited for that must not come.
const SILENCE: Duration = Duration::from_millis(500);

/// Longest that anything is waited for that must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where nothing of an agent's may arrive.
const FOREIGN: [&str; 9] = [
    "v6gap.res.oslo.b.000000.0",
    "v6gap.rep.oslo.b.1",
    "v6gap.hb.oslo.b",
    "v6gap.live.oslo.b",
    "v6gap.cmd.oslo.b",
    "v6gap.ack.oslo.b",
    "v6gap.ack.rome.a",
    "$KV.grants.host.rome.a",
    "$KV.meshes.mine",
];

/// What an agent may not ask of the broker.
const REQUESTS: [&str; 9] = [
    "$JS.API.INFO",
    "$JS.API.STREAM.INFO.RESULTS",
    "$JS.API.STREAM.MSG.GET.KV_grants",
    "$JS.API.DIRECT.GET.KV_grants",
    "$JS.API.STREAM.DELETE.RESULTS",
    "$JS.API.STREAM.PURGE.RESULTS",
    "$JS.API.STREAM.CREATE.MINE",
    "$JS.API.CONSUMER.CREATE.RESULTS.mine",
    "v6gap.ask.status",
];

/// What an agent may not listen to.
const HEARD: [&str; 7] = [
    ">",
    "v6gap.>",
    "v6gap.cmd.*.*",
    "v6gap.cmd.oslo.b",
    "v6gap.hb.>",
    "_INBOX.>",
    "_INBOX.coordinator.>",
];

pub fn all(server: &Path) {
    let cluster = Cluster::start(server, 1, true);
    let (attacker, victim) = (cluster.invited("rome/a"), cluster.invited("oslo/b"));
    block_on(async {
        let coordinator = client(&cluster.hub.part(Role::Coordinator)).await;
        let context = streams::make(&coordinator, 1).await.unwrap();
        let grants = Grants::of(&context).await.unwrap();
        let (attacker, victim_client) = (client(&attacker).await, client(&victim).await);
        says_nothing(&attacker, &victim_client, &coordinator).await;
        asks_nothing(&attacker).await;
        hears_nothing(&attacker, &coordinator).await;
        assert_eq!(grants.list().await, Some(Vec::new()), "an agent wrote a grant");
        let sink = client(&cluster.hub.part(Role::Sink)).await;
        let results = streams::make(&sink, 1).await.unwrap();
        let results = results.get_stream("RESULTS").await.unwrap();
        assert_eq!(results.cached_info().state.messages, 0, "an agent sent in another's name");
        obeys_nobody_else(&cluster, &victim, &coordinator).await;
    });
}

async fn heard(client: &Client, subject: &str) -> Subscriber {
    client.subscribe(subject.to_owned()).await.unwrap()
}

/// What it says in others' names arrives nowhere, and what it says in its own does.
async fn says_nothing(attacker: &Client, victim: &Client, coordinator: &Client) {
    let mut commands = heard(victim, "v6gap.cmd.oslo.b").await;
    let mut acks = heard(victim, "v6gap.ack.oslo.b").await;
    let mut own = heard(attacker, "v6gap.ack.rome.a").await;
    let mut beats = heard(coordinator, "v6gap.hb.>").await;
    let mut replies = heard(coordinator, "v6gap.rep.>").await;
    let mut meshes = heard(coordinator, "$KV.meshes.>").await;
    for client in [attacker, victim, coordinator] {
        client.flush().await.unwrap();
    }
    for subject in FOREIGN {
        attacker.publish(subject, "forged".into()).await.unwrap();
    }
    // The server takes what a connection says in its order, and hands it on in that.
    attacker.publish("v6gap.hb.rome.a", "true".into()).await.unwrap();
    let beat = beats.next().await.unwrap();
    assert_eq!((beat.subject.as_str(), &beat.payload[..]), ("v6gap.hb.rome.a", &b"true"[..]));
    coordinator.publish("v6gap.cmd.oslo.b", "true".into()).await.unwrap();
    assert_eq!(&commands.next().await.unwrap().payload[..], b"true");
    for (what, subscriber) in [
        ("an ack", &mut acks),
        ("an ack of its own", &mut own),
        ("a reply", &mut replies),
        ("a mesh plan", &mut meshes),
    ] {
        assert!(subscriber.next().now_or_never().is_none(), "{what} was forged");
    }
}

async fn asks_nothing(attacker: &Client) {
    for subject in REQUESTS {
        let request = Request::new().payload("{}".into()).timeout(Some(SILENCE));
        let answer = attacker.send_request(subject, request).await;
        assert!(answer.is_err(), "{subject} was answered: {answer:?}");
    }
}

/// It hears its own orders and nobody else's.
async fn hears_nothing(attacker: &Client, coordinator: &Client) {
    let mut own = heard(attacker, "v6gap.cmd.rome.a").await;
    let mut others = Vec::new();
    for subject in HEARD {
        others.push((subject, heard(attacker, subject).await));
    }
    attacker.flush().await.unwrap();
    coordinator.publish("v6gap.cmd.oslo.b", "secret".into()).await.unwrap();
    coordinator.publish("v6gap.cmd.rome.a", "own".into()).await.unwrap();
    assert_eq!(&own.next().await.unwrap().payload[..], b"own");
    for (subject, mut subscriber) in others {
        let message = subscriber.next().now_or_never().flatten();
        assert!(message.is_none(), "{subject}: {message:?}");
    }
}

/// An order of whoever has the broker, but not the coordinator's keys.
fn orders(cluster: &Cluster, own: &str) -> Vec<(&'static str, Vec<u8>, NoOrder)> {
    let prepare = Prepare {
        job: JobId::from_bits(1),
        token: Token(1),
        attempt: 0,
        role: End::Server,
        peer: Peer { name: "rome/a".parse().unwrap(), addresses: Vec::new() },
        port: None,
        word: Word::from_bits([1, 2, 3]),
        longest_ns: 1_000_000_000,
        plan: String::new(),
        needs: Vec::new(),
        continued: None,
    };
    let to = "oslo/b".parse().unwrap();
    let order = Order::Prepare(Box::new(prepare));
    let command = Command { version: 1, to, number: 1, order };
    let forger = Writer { jobs: KeyPair::new_user(), seals: XKey::new() };
    let start = Order::Start(Start { token: Token(1), nonce: Nonce(1), unix_ns: None });
    let start = Command { order: start, ..command.clone() };
    let unsigned =
        Signed { body: serde_json::to_string(&command).unwrap(), signature: String::new() };
    let keys = v6gap_fleet::hub::keys::Keys::read(&cluster.hub.folder).unwrap();
    let half = Writer { jobs: keys.jobs, seals: XKey::new() };
    vec![
        ("no order", b"{}".to_vec(), NoOrder::Unreadable),
        ("no signature", serde_json::to_vec(&unsigned).unwrap(), NoOrder::Unsigned),
        ("another's signature", forger.write(&command, own).unwrap(), NoOrder::Unsigned),
        ("another's start", forger.write(&start, own).unwrap(), NoOrder::Unsigned),
        ("another's seal", half.write(&command, own).unwrap(), NoOrder::Unsealed),
    ]
}

/// Whoever has the whole broker cannot have an agent do anything.
async fn obeys_nobody_else(cluster: &Cluster, credentials: &Path, coordinator: &Client) {
    let store = Store::at(&cluster.hub.folder.join("agent"));
    let files = Files::open(&store).unwrap();
    let world = Arc::new(World::default());
    let fake = Fake::new(&store, &files, &world);
    let options = Options {
        credentials: credentials.to_owned(),
        service: None,
        hubs: Vec::new(),
        plaintext: false,
        limits: None,
        offline: Offline::Finish,
        addresses: Vec::new(),
        program: "test".to_owned(),
        features: Vec::new(),
    };
    let letter = Letter::read(credentials, None).unwrap();
    let own = XKey::from_seed(&letter.seal).unwrap().public_key();
    let (says, mut hears) = mpsc::unbounded_channel();
    let (end, stop) = watch::channel(false);
    let mut told = |what| says.send(what).unwrap();
    let goes_on = agent::go_on(&options, files, fake, &mut told, stop);
    let attacked = async {
        while !matches!(hears.recv().await, Some(Told::Ready(_))) {}
        for (what, message, expected) in orders(cluster, &own) {
            coordinator.publish("v6gap.cmd.oslo.b", message.into()).await.unwrap();
            let why = loop {
                if let Told::NoOrder(why) = hears.recv().await.unwrap() {
                    break why;
                }
            };
            assert_eq!(why, expected, "{what}");
        }
        end.send(true).unwrap();
    };
    let both = async { tokio::join!(goes_on, attacked) };
    let (ended, ()) = tokio::time::timeout(PATIENCE, both).await.unwrap();
    ended.unwrap();
    assert_eq!(world.begun(), 0, "it obeyed");
}
