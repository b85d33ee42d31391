//! Documents to start from: values that the program itself makes, as JSON.

use crate::document;
use arbitrary::{Result, Unstructured};
use serde_json::{Value, json};
use std::sync::LazyLock;
use v6gap_core::arm::{Arm, TurnOrder};
use v6gap_core::family::Family;
use v6gap_core::observation::EndReport;
use v6gap_core::record::Host;
use v6gap_core::session::ServerFacts;
use v6gap_core::task::{self, Task, TaskArm, Token};
use v6gap_core::wire::control::{
    Hello, Limits, Message, Queued, RefusalCode, Refused, Report, TaskFailure, Welcome,
};
use v6gap_core::wire::whereabouts::Addresses;
use v6gap_core::workload::Feature;
use v6gap_core::workload::{
    Capacity, Connect, Echo, Interleaving, Law, Load, Probe, Purpose, Search, Sizes, Transport,
    UdpBulk, UdpLoad, Workload,
};

/// A short recorded run: a header, trials of several kinds in valid and null blocks, an end.
pub const JOURNAL: &str = include_str!("../../core/testdata/v2/journal.jsonl");

/// Lines of the journal as documents.
pub static LINES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let lines = JOURNAL.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("the recorded run is JSON")
});

/// A task of every kind of workload.
pub static TASKS: LazyLock<Vec<Task>> = LazyLock::new(|| {
    let bulk = UdpBulk { rate_bps: Some(8_000_000), ..UdpBulk::default() };
    let echo = |transport| Echo { transport, ..Echo::default() };
    let udp = Load { udp: Some(UdpLoad::default()), ..Load::default() };
    let halving = Search::Halving { trial_ns: 1_000_000_000, lost_ppm_max: 10, forced: false };
    let hold = Connect { purpose: Purpose::Hold, ..Connect::default() };
    [
        Workload::UdpBulk(bulk.clone()),
        Workload::UdpBulk(UdpBulk {
            law: Law::OnOff { on_ns: 1_000_000, off_ns: 2_000_000 },
            sizes: Sizes::Random { least_bytes: 64 },
            ..bulk.clone()
        }),
        Workload::UdpBulk(UdpBulk {
            law: Law::Frames { frame_bytes: 20_000, every_ns: 40_000_000 },
            rate_bps: None,
            sizes: Sizes::Stepped { least_bytes: 64, step_bytes: 8 },
            ..bulk.clone()
        }),
        Workload::Echo(echo(Transport::Tcp)),
        Workload::Echo(echo(Transport::Udp)),
        Workload::Echo(echo(Transport::Icmp)),
        Workload::Connect(hold),
        Workload::Probe(Probe { law: Law::Poisson, ..Probe::default() }),
        Workload::Probe(Probe { load: Some(Load::default()), ..Probe::default() }),
        Workload::Probe(Probe { load: Some(udp), ..Probe::default() }),
        Workload::Capacity(Capacity { search: halving, ..Capacity::default() }),
    ]
    .into_iter()
    .chain(Workload::of_each_kind())
    .map(task_of)
    .collect()
});

fn task_of(workload: Workload) -> Task {
    let arms: &[TaskArm] = match workload.interleaving() {
        Interleaving::Trial => &[TaskArm { arm: Arm::A, family: Family::V4 }],
        Interleaving::Slice => &[
            TaskArm { arm: Arm::A, family: Family::V4 },
            TaskArm { arm: Arm::B, family: Family::V6 },
        ],
    };
    Task {
        number: 1,
        workload,
        arms: arms.to_vec(),
        order: TurnOrder::Ab,
        seed: 7,
        token: Token([7; 16]),
        arrives: task::native(),
        draw: None,
    }
}

/// Names of all features.
pub fn features() -> Vec<String> {
    Feature::ALL.iter().map(|feature| feature.name().to_owned()).collect()
}

/// A host with a fact.
pub fn host() -> Host {
    let facts = [("kernel".to_owned(), "6.18.44".to_owned())];
    Host { name: "lab-b".to_owned(), facts: facts.into_iter().collect() }
}

/// A greeting.
pub fn hello() -> Hello {
    Hello { tool: "v6gap 0.1.0".to_owned(), host: host(), want: features(), wait: true }
}

/// A server with its usual limits.
pub fn server() -> ServerFacts {
    ServerFacts {
        tool: "v6gap 0.1.0".to_owned(),
        host: host(),
        limits: Limits::default(),
        clock_ahead_ns: 0,
    }
}

/// A place in the queue.
pub fn queued() -> Queued {
    Queued { place: 1, seconds: 3, by: "lab-c".to_owned() }
}

/// What a client must hear to open its session.
pub fn welcome() -> Welcome {
    let ServerFacts { tool, host, limits, .. } = server();
    Welcome { tool, features: features(), limits, host }
}

/// Where else a server is.
pub fn addresses() -> Addresses {
    let addresses = Family::BOTH.map(Family::loopback).to_vec();
    Addresses { addresses, proofs: vec![1, u64::MAX] }
}

/// What both ends of the recorded trials saw.
pub static REPORTS: LazyLock<Vec<EndReport>> = LazyLock::new(|| {
    let ends =
        LINES.iter().flat_map(|line| [&line["ends"]["client"], &line["ends"]["server"]["seen"]]);
    let reports = ends.filter_map(|end| serde_json::from_value(end.clone()).ok());
    let reports: Vec<EndReport> = reports.collect();
    assert!(!reports.is_empty(), "the recorded run has reports");
    reports
});

/// A message of every kind, as documents.
pub static MESSAGES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let refused = Refused { code: RefusalCode::Busy, why: "busy".to_owned() };
    let mut messages = vec![
        Message::Hello(hello()),
        Message::Queued(queued()),
        Message::Welcome(Box::new(welcome())),
        Message::Refused(refused),
        Message::Clock { asked_ns: 1 },
        Message::ClockReply { asked_ns: 1, server_ns: 2 },
        Message::Ready { number: 1 },
        Message::Finish { number: 1 },
        Message::Failed { number: 1, failure: TaskFailure::passing("no") },
        Message::Ping,
        Message::Pong,
        Message::Bye,
    ];
    messages.extend(TASKS.iter().cloned().map(Message::Prepare));
    for report in REPORTS.iter().cloned() {
        messages.push(Message::Report(Report { number: 1, ends: vec![(Arm::A, report)] }));
    }
    messages.extend([Message::Whereabouts, Message::Addresses(addresses())]);
    let documents = messages.iter().map(serde_json::to_value);
    let mut documents: Vec<Value> = documents.collect::<Result<_, _>>().expect("messages are JSON");
    documents.push(json!({ "message": "of-a-later-program", "colour": "blue" }));
    documents
});

/// One of [`MESSAGES`], changed as the bytes say; `None` if no message is left of it.
pub fn any_message(bytes: &mut Unstructured<'_>) -> Result<Option<Message>> {
    let kind: u8 = bytes.arbitrary()?;
    let mut message = MESSAGES[usize::from(kind) % MESSAGES.len()].clone();
    let length = usize::from(bytes.arbitrary::<u8>()?).min(bytes.len());
    document::change(&mut message, &mut Unstructured::new(bytes.bytes(length)?));
    Ok(serde_json::from_value(message).ok())
}
