//! Grants under contention: of two who want the same host at once one gets it, and a batch of which
//! a key is taken takes none.

use crate::cluster::{Cluster, block_on, client};
use std::collections::BTreeMap;
use std::path::Path;
use v6gap_core::fleet::grant::{Batch, Key, Leader, NotCommitted, Put, Value};
use v6gap_core::fleet::id::{Epoch, JobId};
use v6gap_core::fleet::names::HostName;
use v6gap_fleet::Role;
use v6gap_fleet::nats::grants::Grants;
use v6gap_fleet::nats::streams;

/// Rounds of two who want the same.
const ROUNDS: u64 = 100;

/// A time to live that is renewed each second, in ns.
const TTL_NS: u64 = 3_000_000_000;

pub fn all(server: &Path) {
    let cluster = Cluster::start(server, 1, true);
    block_on(async {
        let file = cluster.hub.part(Role::Coordinator);
        let context = streams::make(&client(&file).await, 1).await.unwrap();
        // Once more: what is there is found to be as it should be.
        let other = streams::make(&client(&file).await, 1).await.unwrap();
        let (one, other) = (Grants::of(&context).await.unwrap(), Grants::of(&other).await.unwrap());
        assert_eq!(one.list().await, Some(Vec::new()));
        contention(&one, &other).await;
        expiry(&one).await;
    });
}

fn put(key: Key, expected: u64, ttl_ns: Option<u64>) -> Put {
    let value = match &key {
        Key::Leader => Value::Leader(Leader { who: "a".to_owned(), epoch: Epoch(1) }),
        Key::Host(_) | Key::Link(_) | Key::Job(_) => {
            Value::Taken { job: JobId::from_bits(1), epoch: Epoch(1) }
        }
    };
    Put { key, value, expected, ttl_ns }
}

/// Keys as they stand.
async fn revisions(grants: &Grants) -> BTreeMap<Key, u64> {
    let entries = grants.list().await.unwrap();
    entries.into_iter().map(|entry| (entry.key, entry.revision)).collect()
}

async fn contention(one: &Grants, other: &Grants) {
    let host = |name: &str| Key::Host(name.parse::<HostName>().unwrap());
    let (a, b, c) = (host("rome/a"), host("rome/b"), host("oslo/c"));
    for _ in 0..ROUNDS {
        let known = revisions(one).await;
        let expected = |key: &Key| known.get(key).copied().unwrap_or(0);
        let batch = |keys: [&Key; 2]| {
            let puts = keys.map(|key| put(key.clone(), expected(key), None));
            Batch { puts: puts.into() }
        };
        let (first, second) = (batch([&a, &b]), batch([&a, &c]));
        let came = tokio::join!(one.commit(&first), other.commit(&second));
        let (winner, last, loser) = match came {
            (Ok(last), Err(NotCommitted::Refused)) => (&first, last, &c),
            (Err(NotCommitted::Refused), Ok(last)) => (&second, last, &b),
            both => panic!("not one of them: {both:?}"),
        };
        let after = revisions(other).await;
        for (at, put) in winner.puts.iter().enumerate() {
            assert_eq!(after[&put.key], winner.revision(at, last));
        }
        assert_eq!(after.get(loser), known.get(loser), "a part of what was refused came true");
    }
}

/// A key with a time to live is gone after it, one that is renewed is not, and both can be taken
/// anew.
async fn expiry(grants: &Grants) {
    let key = Key::Leader;
    let batch = |expected| Batch { puts: vec![put(key.clone(), expected, Some(TTL_NS))] };
    let mut last = grants.commit(&batch(0)).await.unwrap();
    for _ in 0..4 {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        let renewed = grants.commit(&batch(last)).await.unwrap();
        assert_eq!(grants.commit(&batch(last)).await, Err(NotCommitted::Refused));
        last = renewed;
    }
    let gone = async {
        while grants.look(&key).await.is_none_or(|entry| entry.value.is_some()) {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), gone).await.unwrap();
    let entry = grants.look(&key).await.unwrap();
    grants.commit(&batch(entry.revision)).await.unwrap();
}
