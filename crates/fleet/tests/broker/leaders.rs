//! Grants while the node that leads their stream is killed, again and again: whatever was
//! acknowledged is there afterwards, whole; whatever was not is there whole or not at all.

use crate::cluster::{Cluster, GRANTS, block_on, client, until};
use futures_util::StreamExt;
use futures_util::stream;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use v6gap_core::fleet::grant::{
    Batch, Entry, JobRecord, Key, Leader, NotCommitted, Put, Stage, Value,
};
use v6gap_core::fleet::id::{Epoch, JobId};
use v6gap_core::fleet::names::HostName;
use v6gap_core::fleet::work::Class;
use v6gap_fleet::Role;
use v6gap_fleet::nats::grants::Grants;
use v6gap_fleet::nats::streams;

/// How often it is killed.
const KILLED: usize = 20;

/// How long it is gone.
const GONE: Duration = Duration::from_secs(2);

/// Grants that must have come true between two of them, so that it is always killed while granting.
const BETWEEN: u64 = 50;

/// Keys that are read at a time.
const AT_ONCE: usize = 32;

/// A pause between grants, or there would be too many to be read again.
const PAUSE: Duration = Duration::from_millis(5);

/// Longest that it may take to read all of them.
const PATIENCE: Duration = Duration::from_secs(900);

/// What was said of a batch.
type Came = Result<u64, NotCommitted>;

/// What the granting did.
struct Granted {
    /// Batches, each with what was said of it.
    batches: Vec<(Batch, Came)>,
    longest: Duration,
}

pub fn all(server: &Path) {
    let mut cluster = Cluster::start(server, 3, true);
    let file = cluster.hub.part(Role::Coordinator);
    block_on(async {
        streams::make(&client(&file).await, 3).await.unwrap();
    });
    cluster.until_whole();
    let (ends, came) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (stop, count, credentials) = (Arc::clone(&ends), Arc::clone(&came), file.clone());
    let granting = std::thread::spawn(move || block_on(grant(credentials, &stop, &count)));
    for _ in 0..KILLED {
        let before = came.load(Ordering::Relaxed);
        until("grants that come true", || {
            (came.load(Ordering::Relaxed) >= before + BETWEEN).then_some(())
        });
        let leader = cluster.leader(GRANTS);
        cluster.kill(leader);
        std::thread::sleep(GONE);
        cluster.begin(leader);
        cluster.until_whole();
    }
    ends.store(true, Ordering::Relaxed);
    let granted = granting.join().unwrap();
    cluster.until_whole();
    block_on(judge(&file, &granted));
}

/// Grants until it ends, each time two hosts that nobody had, so that all of it can be read later.
async fn grant(file: PathBuf, ends: &AtomicBool, count: &AtomicU64) -> Granted {
    let context = async_nats::jetstream::new(client(&file).await);
    let grants = Grants::of(&context).await.unwrap();
    let mut granted = Granted { batches: Vec::new(), longest: Duration::ZERO };
    let (mut leader, mut last, mut number) = (None, Instant::now(), 0);
    while !ends.load(Ordering::Relaxed) {
        let Some(expected) = leader else {
            // What is not answered now is asked again.
            leader = grants.look(&Key::Leader).await.map(|entry| entry.revision);
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        number += 1;
        let batch = batch(number, expected);
        let came = grants.commit(&batch).await;
        leader = came.ok().map(|last| batch.revision(0, last));
        if came.is_ok() {
            granted.longest = granted.longest.max(last.elapsed());
            last = Instant::now();
            count.fetch_add(1, Ordering::Relaxed);
        }
        granted.batches.push((batch, came));
        tokio::time::sleep(PAUSE).await;
    }
    granted
}

/// The lead, two hosts and the record of a job, as a coordinator writes them.
fn batch(number: u64, leader: u64) -> Batch {
    let (job, epoch) = (JobId::from_bits(number), Epoch(1));
    let host = |site: &str| HostName::new(site, &format!("h{number}")).unwrap();
    let (from, to) = (host("rome"), host("oslo"));
    let record = JobRecord {
        stage: Stage::Granted,
        epoch,
        attempt: 0,
        from: from.clone(),
        to: to.clone(),
        to_is_agent: true,
        class: Class::Light,
        links: Vec::new(),
        longest_ns: 1_000_000_000,
        plan: "plan.toml".to_owned(),
        plan_hash: String::new(),
        unix_ns: number,
        came: None,
    };
    let put = |key, value, expected| Put { key, value, expected, ttl_ns: None };
    let taken = || Value::Taken { job: job.clone(), epoch };
    let lead = Value::Leader(Leader { who: "a".to_owned(), epoch });
    Batch {
        puts: vec![
            put(Key::Leader, lead, leader),
            put(Key::Host(from), taken(), 0),
            put(Key::Host(to), taken(), 0),
            put(Key::Job(job.clone()), Value::Job(record), 0),
        ],
    }
}

/// Reads all keys of all batches and compares.
async fn judge(file: &Path, granted: &Granted) {
    let context = async_nats::jetstream::new(client(file).await);
    let grants = Grants::of(&context).await.unwrap();
    let puts = granted.batches.iter().flat_map(|(batch, _)| &batch.puts);
    // Of the lead only the last one is there.
    let keys: Vec<Key> =
        puts.map(|put| put.key.clone()).filter(|key| *key != Key::Leader).collect();
    let reading = stream::iter(keys)
        .map(|key| look(&grants, key))
        .buffer_unordered(AT_ONCE)
        .map(|entry| (entry.key.clone(), entry))
        .collect();
    let found: BTreeMap<Key, Entry> =
        tokio::time::timeout(PATIENCE, reading).await.expect("all grants are read in time");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (batch, came) in &granted.batches {
        let what = match (came, came_true(batch, &found)) {
            (Ok(last), Some(first)) if batch.revision(1, *last) == first => "acknowledged",
            (Ok(_), other) => panic!("an acknowledged grant is lost: {batch:?} ({other:?})"),
            (Err(NotCommitted::Refused), None) => "refused",
            (Err(NotCommitted::Refused), Some(_)) => panic!("refused, and there: {batch:?}"),
            (Err(NotCommitted::Unknown), Some(_)) => "not answered, whole",
            (Err(NotCommitted::Unknown), None) => "not answered, not there",
        };
        *counts.entry(what).or_default() += 1;
    }
    println!(
        "the leader killed {KILLED} times: {counts:?}; 0 acknowledged lost, 0 partial; longest \
         time between two {:.1} s",
        granted.longest.as_secs_f64()
    );
    assert!(counts["acknowledged"] as u64 >= BETWEEN * KILLED as u64, "{counts:?}");
}

/// A key, asked for until the broker answers.
async fn look(grants: &Grants, key: Key) -> Entry {
    loop {
        if let Some(entry) = grants.look(&key).await {
            return entry;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The number of the first host's message if all of the batch is there, none if nothing is. A part
/// of it must never be.
fn came_true(batch: &Batch, found: &BTreeMap<Key, Entry>) -> Option<u64> {
    let of_hosts_and_job = batch.puts.iter().skip(1);
    let there: Vec<Option<u64>> = of_hosts_and_job
        .map(|put| {
            let entry = &found[&put.key];
            let is_its = entry.value.as_ref() == Some(&put.value);
            assert_eq!(is_its, entry.revision > 0, "another's value: {entry:?}");
            is_its.then_some(entry.revision)
        })
        .collect();
    if there.iter().all(Option::is_none) {
        return None;
    }
    let first = there[0].unwrap_or_else(|| panic!("partial: {batch:?}: {there:?}"));
    let whole = (first..).map(Some).zip(&there).all(|(number, found)| number == *found);
    assert!(whole, "partial: {batch:?}: {there:?}");
    Some(first)
}
