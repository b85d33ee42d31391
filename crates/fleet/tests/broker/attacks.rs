//! What an agent's credentials do not give: each attack is tried with those of rome/a, against
//! oslo/b and the hub. It is looked at what comes of it, by somebody who hears everything, and not
//! at what the server says of it.

use crate::broken;
use crate::cluster::{Cluster, block_on, client, in_a_moment, until, until_heard};
use crate::process::Process;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, HeaderMap, Request, Subscriber};
use futures_util::{FutureExt, StreamExt};
use std::path::Path;
use std::time::Duration;
use v6gap_core::fleet::message::{ChunkHeader, Heartbeat, State};
use v6gap_core::fleet::subject::{RESULTS, RESULTS_SUBJECTS};
use v6gap_core::record::RunId;
use v6gap_fleet::nats::grants::Grants;
use v6gap_fleet::nats::streams;
use v6gap_fleet::{Role, operate};

/// How long an answer is waited for that must not come.
const SILENCE: Duration = Duration::from_millis(500);

/// How long what must come is waited for, and how often it is said.
const PATIENCE: Duration = Duration::from_secs(60);
const AGAIN: Duration = Duration::from_millis(50);

/// What an agent may not say.
const SAID: [(&str, &[&str]); 8] = [
    ("a result of another host", &["v6gap.res.oslo.b.000000.0"]),
    ("an answer of another host", &["v6gap.rep.oslo.b.1"]),
    ("a heartbeat of another host", &["v6gap.hb.oslo.b"]),
    ("an order", &["v6gap.cmd.oslo.b", "v6gap.cmd.rome.a"]),
    ("that the archive has something", &["v6gap.ack.oslo.b", "v6gap.ack.rome.a"]),
    ("a grant", &["$KV.grants.leader", "$KV.grants.host.rome.a", "$KV.grants.job.000000000000"]),
    ("a mesh plan or a visit", &["$KV.meshes.mine", "$KV.state.mine"]),
    ("an answer of the broker", &["_INBOX.coordinator.x", "_INBOX.oslo.b.x"]),
];

/// What an agent may not ask of the broker.
const ASKED: [&str; 10] = [
    "$JS.API.INFO",
    "$JS.API.STREAM.INFO.RESULTS",
    "$JS.API.STREAM.MSG.GET.KV_grants",
    "$JS.API.DIRECT.GET.KV_grants",
    "$JS.API.STREAM.DELETE.RESULTS",
    "$JS.API.STREAM.PURGE.RESULTS",
    "$JS.API.STREAM.UPDATE.RESULTS",
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

/// Where the answer to what it says may not go, for it may not write there itself.
const REPLIES: [&str; 9] = [
    "$KV.grants.leader",
    "$KV.grants.host.oslo.b",
    "$KV.grants.job.000000000000",
    "$KV.meshes.mine",
    "$KV.state.mine",
    "v6gap.cmd.oslo.b",
    "v6gap.ack.oslo.b",
    "v6gap.res.oslo.b.000000.0",
    "_INBOX.coordinator.x",
];

/// By which the server is asked to tell where a message goes.
const TRACE: &str = "Nats-Trace-Dest";

/// Its own result, which it may send.
const OWN: &str = "v6gap.res.rome.a.000000.0";

/// How often it sends that: once, and for each answer that it wants elsewhere.
const RESULTS_SENT: u64 = 1 + REPLIES.len() as u64;

/// Says what was tried and came to nothing.
pub fn refused(what: &str) {
    println!("refused: {what}");
}

pub fn all(server: &Path) {
    let cluster = Cluster::start(server, 1, true);
    let file = cluster.invited("rome/a");
    let all_rights = broken::credentials(&cluster);
    block_on(async {
        let coordinator = client(&cluster.hub.part(Role::Coordinator)).await;
        let (attacker, witness) = (client(&file).await, client(&all_rights).await);
        earlier(&witness).await;
        let context = streams::make(&coordinator, 1).await.unwrap();
        attacker.publish(OWN, "".into()).await.unwrap();
        attacker.flush().await.unwrap();
        says_nothing(&attacker, &witness).await;
        asks_nothing(&attacker, &witness).await;
        hears_nothing(&attacker, &witness).await;
        is_answered_nowhere(&attacker, &witness, &context).await;
        nothing_came_of_it(&context).await;
    });
    names_nobody_else(&cluster, &file);
}

/// The stream of results as a hub of an earlier version made it.
async fn earlier(witness: &Client) {
    let config = Config {
        name: RESULTS.to_owned(),
        subjects: vec![RESULTS_SUBJECTS.to_owned()],
        retention: RetentionPolicy::WorkQueue,
        discard: DiscardPolicy::New,
        num_replicas: 1,
        ..Config::default()
    };
    jetstream::new(witness.clone()).create_stream(config).await.unwrap();
}

async fn heard(client: &Client, subject: &str) -> Subscriber {
    client.subscribe(subject.to_owned()).await.unwrap()
}

/// What it says in others' names arrives nowhere, and what it says in its own does.
async fn says_nothing(attacker: &Client, witness: &Client) {
    let mut everything = heard(witness, ">").await;
    until_heard(witness, "v6gap.hello", &mut everything).await;
    for (what, subjects) in SAID {
        for subject in subjects {
            attacker.publish(*subject, "forged".into()).await.unwrap();
        }
        // The server takes what a connection says in its order, and hands it on in that.
        attacker.publish("v6gap.hb.rome.a", "true".into()).await.unwrap();
        in_a_moment(what, async {
            loop {
                let message = everything.next().await.unwrap();
                assert_ne!(&message.payload[..], b"forged", "{what}: {}", message.subject);
                if message.subject.as_str() == "v6gap.hb.rome.a" {
                    break;
                }
            }
        })
        .await;
        refused(what);
    }
}

/// What it asks is not answered, and does not arrive either: that some of it has nobody who would
/// answer proves nothing.
async fn asks_nothing(attacker: &Client, witness: &Client) {
    let mut everything = heard(witness, ">").await;
    is_said(attacker, &mut everything, "before it asked").await;
    for subject in ASKED {
        let request = Request::new().payload("{}".into()).timeout(Some(SILENCE));
        let answer = attacker.send_request(subject, request).await;
        assert!(answer.is_err(), "{subject} was answered: {answer:?}");
    }
    let arrived = is_said(attacker, &mut everything, "after it asked").await;
    let asked: Vec<&String> = arrived.iter().filter(|of| ASKED.contains(&of.as_str())).collect();
    assert!(asked.is_empty(), "{asked:?} arrived");
    refused("streams: what they hold, to empty, change, delete, make or read them");
}

/// Says a word of its own until it is heard, and gives the subjects of all that was heard before. A
/// subscription that was made a moment ago may not be there yet.
async fn is_said(
    attacker: &Client,
    everything: &mut Subscriber,
    word: &'static str,
) -> Vec<String> {
    let mut subjects = Vec::new();
    let hears = async {
        loop {
            attacker.publish("v6gap.hb.rome.a", word.into()).await.unwrap();
            while let Ok(message) = tokio::time::timeout(AGAIN, everything.next()).await {
                let message = message.unwrap();
                if message.payload[..] == *word.as_bytes() {
                    return;
                }
                subjects.push(message.subject.to_string());
            }
        }
    };
    tokio::time::timeout(PATIENCE, hears).await.expect(word);
    subjects
}

/// It hears its own orders and nobody else's.
async fn hears_nothing(attacker: &Client, witness: &Client) {
    let mut others = Vec::new();
    for subject in HEARD {
        others.push((subject, heard(attacker, subject).await));
    }
    let mut own = heard(attacker, "v6gap.cmd.rome.a").await;
    until_heard(witness, "v6gap.cmd.rome.a", &mut own).await;
    for subject in ["v6gap.cmd.oslo.b", "v6gap.hb.oslo.b", "_INBOX.coordinator.x"] {
        witness.publish(subject, "secret".into()).await.unwrap();
    }
    witness.publish("v6gap.cmd.rome.a", "own".into()).await.unwrap();
    let hears_its_own = async { while own.next().await.unwrap().payload[..] != *b"own" {} };
    in_a_moment("its own order", hears_its_own).await;
    for (subject, mut subscriber) in others {
        let message = subscriber.next().now_or_never().flatten();
        assert!(message.is_none(), "{subject}: {message:?}");
    }
    refused("to hear orders, heartbeats and inboxes of others");
}

/// What it says under its own subjects is answered nowhere: what answers, a stream above all, has
/// rights that it has not, and it would say where the answer goes.
async fn is_answered_nowhere(attacker: &Client, witness: &Client, context: &Context) {
    let mut everything = heard(witness, ">").await;
    is_said(attacker, &mut everything, "before it named others").await;
    for reply in REPLIES {
        for subject in [OWN, "v6gap.hb.rome.a", "v6gap.rep.rome.a.1"] {
            attacker.publish_with_reply(subject, reply, "{}".into()).await.unwrap();
        }
        let mut headers = HeaderMap::new();
        headers.insert(TRACE, reply);
        attacker.publish_with_headers("v6gap.rep.rome.a.2", headers, "{}".into()).await.unwrap();
    }
    let mut arrived = is_said(attacker, &mut everything, "after it named others").await;
    in_a_moment("results that the stream has", async {
        while messages(context, RESULTS).await != RESULTS_SENT {
            tokio::time::sleep(AGAIN).await;
        }
    })
    .await;
    // An answer comes later than what it is of.
    while let Ok(message) = tokio::time::timeout(SILENCE, everything.next()).await {
        arrived.push(message.unwrap().subject.to_string());
    }
    let written: Vec<&String> =
        arrived.iter().filter(|of| REPLIES.contains(&of.as_str())).collect();
    assert!(written.is_empty(), "{written:?} were written");
    refused("to have the hub write where it may not, by what it says and where it wants an answer");
}

/// How many messages a stream has.
async fn messages(context: &Context, stream: &str) -> u64 {
    let stream = context.get_stream_no_info(stream).await.unwrap();
    stream.get_info().await.unwrap().state.messages
}

/// Streams hold what they held before.
async fn nothing_came_of_it(context: &Context) {
    let grants = Grants::of(context).await.unwrap();
    assert_eq!(grants.list().await, Some(Vec::new()), "an agent wrote a grant");
    let all = [(RESULTS, RESULTS_SENT), ("KV_meshes", 0), ("KV_state", 0)];
    for (stream, expected) in all {
        assert_eq!(messages(context, stream).await, expected, "{stream}");
    }
}

/// Under its own subjects, which it may use, it says that it is another.
fn names_nobody_else(cluster: &Cluster, file: &Path) {
    let folder = &cluster.hub.folder;
    let (sink, _coordinator) =
        (Process::begin("sink", &[], folder), Process::begin("coordinator", &[], folder));
    let operator = cluster.hub.part(Role::Operator);
    until("a coordinator", || block_on(operate::status(&operator)).ok()?.known);
    let result = ChunkHeader {
        version: 1,
        from: "oslo/b".parse().unwrap(),
        run: RunId::from_bits(1),
        job: None,
        at: 0,
        bytes: 0,
        hash: String::new(),
    };
    let result = serde_json::to_string(&result).unwrap() + "\n";
    let own = "v6gap.res.rome.a.000001.0";
    block_on(async {
        let attacker = client(file).await;
        for name in ["oslo/b", "rome/a"] {
            let beat = serde_json::to_vec(&heartbeat(name)).unwrap();
            attacker.publish("v6gap.hb.rome.a", beat.into()).await.unwrap();
        }
        attacker.publish(own, result.into()).await.unwrap();
        attacker.flush().await.unwrap();
    });
    until("a sink that heard it", || sink.said_last(&format!("no-part {own} Foreign")));
    assert!(!folder.join("archive/oslo").exists(), "it is in the archive");
    refused("a result of its own that names another host");
    // The heartbeat in its own name came later on the same way.
    let known = until("a heartbeat", || {
        let known = block_on(operate::status(&operator)).ok()?.known?;
        (!known.agents.is_empty()).then_some(known)
    });
    let names: Vec<String> = known.agents.iter().map(|heard| heard.said.from.to_string()).collect();
    assert_eq!(names, ["rome/a"]);
    refused("a heartbeat of its own that names another host");
}

fn heartbeat(name: &str) -> Heartbeat {
    Heartbeat {
        from: name.parse().unwrap(),
        version_lowest: 1,
        version_highest: 1,
        program: String::new(),
        features: Vec::new(),
        addresses: Vec::new(),
        unix_ns: 0,
        clock: None,
        state: State::Idle,
        highest: v6gap_core::fleet::id::Token(0),
        free_bytes: 0,
        unarchived: 0,
        trouble: None,
    }
}
