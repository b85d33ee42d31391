//! Orders that an agent that lives must not obey: forged ones, and true ones of the past that are
//! sent again or were held up. Whoever sends them has all rights at the broker.

use crate::attacks::refused;
use crate::broken;
use crate::cluster::{Cluster, block_on, client};
use crate::fake::{Fake, World};
use crate::{mesh, roles};
use async_nats::{Client, Subscriber};
use futures_util::StreamExt;
use nkeys::{KeyPair, XKey};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::watch;
use v6gap_core::fleet::READY_NS;
use v6gap_core::fleet::id::{JobId, Nonce, Token, Word};
use v6gap_core::fleet::message::{
    Answer, Command, Order, Peer, Prepare, Refusal, Reply, Role as End, Signed, Start,
};
use v6gap_fleet::agent::{self, Files, Told};
use v6gap_fleet::hub::keys::Keys;
use v6gap_fleet::orders::Writer;
use v6gap_fleet::{Letter, NoOrder};
use v6gap_store::Store;

/// Longest that anything is waited for that must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whoever has the broker, and writes down the orders of the true coordinator.
struct Attacker {
    broker: Client,
    replies: Subscriber,
    writer: Writer,
    /// Public key of the agent, for which words are sealed.
    own: String,
    number: u64,
}

pub fn all(server: &Path) {
    let cluster = Cluster::start(server, 1, true);
    let (file, all_rights) = (cluster.invited("oslo/b"), broken::credentials(&cluster));
    let world = Arc::new(World::new(&cluster.hub.folder));
    let store = Store::at(&cluster.hub.folder.join("agent"));
    let letter = Letter::read(&file, None).unwrap();
    let own = XKey::from_seed(&letter.seal).unwrap().public_key();
    block_on(async {
        let broker = client(&all_rights).await;
        let replies = broker.subscribe("v6gap.rep.oslo.b.*").await.unwrap();
        let mut heartbeats = broker.subscribe("v6gap.hb.oslo.b").await.unwrap();
        broker.flush().await.unwrap();
        let keys = Keys::read(&cluster.hub.folder).unwrap();
        let writer = Writer { jobs: keys.jobs, seals: keys.seals };
        let mut attacker = Attacker { broker, replies, writer, own, number: 0 };
        let files = Files::open(&store).unwrap();
        let fake = Fake::new(&store, &files, &world);
        let (options, (says, mut hears)) = (roles::options(file), unbounded_channel());
        let (end, stop) = watch::channel(false);
        let mut told = |what| drop(says.send(what));
        let mut goes_on = pin!(agent::go_on(&options, files, fake, &mut told, stop));
        let tried = async {
            // An agent says what it does once it takes jobs, behind what it wants to hear.
            in_time("an agent that takes jobs", heartbeats.next()).await.unwrap();
            attacker.forges(&cluster, &mut hears).await;
            assert_eq!(world.begun(), 0, "it obeyed");
            attacker.repeats(&world).await;
            end.send(true).unwrap();
        };
        tokio::select! {
            ended = &mut goes_on => panic!("the agent ended by itself: {ended:?}"),
            () = tried => {}
        }
        in_time("the end of the agent", goes_on).await.unwrap();
    });
}

/// What comes of it, if it comes in time.
async fn in_time<T>(what: &str, perform: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, perform).await {
        Ok(came) => came,
        Err(_) => panic!("not within {} s: {what}", PATIENCE.as_secs()),
    }
}

/// A job at the client's end.
fn prepare(token: u64) -> Order {
    let plan = mesh::applied(mesh::FEWEST).plans["light.toml"].clone();
    Order::Prepare(Box::new(Prepare {
        job: JobId::from_bits(token),
        token: Token(token),
        attempt: 0,
        role: End::Client,
        peer: Peer { name: "rome/a".parse().unwrap(), addresses: Vec::new() },
        port: None,
        word: Word::from_bits([1, 2, 3]),
        longest_ns: v6gap_fleet::longest_ns(&v6gap_fleet::asked(&plan).unwrap()),
        plan,
        needs: Vec::new(),
        continued: None,
    }))
}

fn start(token: u64, nonce: Nonce) -> Order {
    Order::Start(Start { token: Token(token), nonce, unix_ns: None })
}

impl Attacker {
    fn command(&mut self, order: Order) -> Command {
        self.number += 1;
        Command { version: 1, to: "oslo/b".parse().unwrap(), number: self.number, order }
    }

    /// A true order, as the coordinator writes it, with its number.
    fn written(&mut self, order: Order) -> (u64, Vec<u8>) {
        let command = self.command(order);
        (command.number, self.writer.write(&command, &self.own).unwrap())
    }

    /// Sends an order, and gives the next answer to it.
    async fn sends(&mut self, (number, message): &(u64, Vec<u8>)) -> Answer {
        self.broker.publish("v6gap.cmd.oslo.b", message.clone().into()).await.unwrap();
        self.answer(*number).await
    }

    async fn answer(&mut self, number: u64) -> Answer {
        loop {
            let reply = self.replies.next();
            let message = in_time(&format!("an answer to order {number}"), reply).await.unwrap();
            let reply: Reply = serde_json::from_slice(&message.payload).unwrap();
            if reply.number == number {
                return reply.answer;
            }
        }
    }

    /// Without the coordinator's keys.
    async fn forges(&mut self, cluster: &Cluster, hears: &mut UnboundedReceiver<Told>) {
        let (own, order) = (self.own.clone(), self.command(prepare(1)));
        let begin = self.command(start(1, Nonce(1)));
        let body = serde_json::to_string(&order).unwrap();
        let unsigned = Signed { body, signature: String::new() };
        // Of the coordinator of another hub.
        let other = Writer { jobs: KeyPair::new_user(), seals: XKey::new() };
        let jobs = Keys::read(&cluster.hub.folder).unwrap().jobs;
        let half = Writer { jobs, seals: XKey::new() };
        let forged = [
            ("an order that is none", b"{}".to_vec(), NoOrder::Unreadable),
            (
                "an order without a signature",
                serde_json::to_vec(&unsigned).unwrap(),
                NoOrder::Unsigned,
            ),
            (
                "another coordinator's prepare",
                other.write(&order, &own).unwrap(),
                NoOrder::Unsigned,
            ),
            ("another coordinator's start", other.write(&begin, &own).unwrap(), NoOrder::Unsigned),
            ("a word that another sealed", half.write(&order, &own).unwrap(), NoOrder::Unsealed),
        ];
        for (what, message, expected) in forged {
            self.broker.publish("v6gap.cmd.oslo.b", message.into()).await.unwrap();
            let why = loop {
                if let Told::NoOrder(why) = in_time(what, hears.recv()).await.unwrap() {
                    break why;
                }
            };
            assert_eq!(why, expected, "{what}");
            refused(what);
        }
    }

    /// With true orders, again, in another order, and late.
    async fn repeats(&mut self, world: &World) {
        let first = self.written(prepare(1_000));
        let Answer::Ready { nonce } = self.sends(&first).await else { panic!("it is not ready") };
        let server = UnixListener::bind(world.socket(&JobId::from_bits(1_000))).unwrap();
        let begin = self.written(start(1_000, nonce));
        assert_eq!(self.sends(&begin).await, Answer::Started);
        let (client, _) = in_time("a client that measures", server.accept()).await.unwrap();
        let came = self.answer(begin.0).await;
        assert!(matches!(came, Answer::Done(_)), "{came:?}");
        drop(client);
        assert_eq!(world.begun(), 1);

        // It says again how it came out, and begins nothing.
        assert_eq!(self.sends(&first).await, came);
        refused("a prepare that is sent again");
        assert_eq!(self.sends(&begin).await, came);
        refused("a start that is sent again");

        let second = self.written(prepare(1_001));
        let Answer::Ready { nonce: new } = self.sends(&second).await else {
            panic!("it is not ready")
        };
        assert_ne!(new, nonce);
        assert_eq!(self.sends(&begin).await, came);
        refused("a start with its old number for an agent that is ready");
        let highest = Token(1_001);
        let old = self.written(prepare(999));
        let answer = self.sends(&old).await;
        assert_eq!(answer, Answer::Refused { why: Refusal::Old { highest } });
        refused("an order of an old lead");
        let late = self.written(start(1_001, new));
        tokio::time::sleep(Duration::from_nanos(READY_NS) + Duration::from_secs(1)).await;
        let answer = self.sends(&late).await;
        assert_ne!(answer, Answer::Started);
        refused("a start that was held up");
        assert_eq!(world.begun(), 1, "it obeyed");
    }
}
