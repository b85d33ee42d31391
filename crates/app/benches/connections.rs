//! Connections: how many are opened, used and closed per second, one after the other, against a
//! plain program in C that makes the same calls, and netperf's `TCP_CRR` where that is installed;
//! then many, 1,000 and 10,000 open at a time, and 64 in the making, and what the kernel spends on
//! each. Two hosts of a lab without rates, the server a process of its own, each end on its
//! processor. Needs cc, user namespaces and a limit of open files above 10,000.
//!
//! `cargo bench -p v6gap --bench connections -- [plain] [netperf] [many]`
#![expect(
    clippy::disallowed_methods,
    reason = "a program of its own, which starts others, measures them and prints"
)]

#[path = "../../engine/benches/common/mod.rs"]
mod common;

use common::{Bed, Outcome, Peer, compare, compile, output, trial, wanted};
use serde_json::Value;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::process::Command;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::observation::{Far, PerEnd};
use v6gap_core::record::Host;
use v6gap_core::transport::Transport;
use v6gap_core::values::values;
use v6gap_core::wire;
use v6gap_core::workload::{Connect, Purpose, Workload};
use v6gap_engine::control::{ClientOptions, Connection, Key};
use v6gap_engine::trial::client::{self, ClientContext};

const PROGRAM: &str = env!("CARGO_BIN_EXE_v6gap");

/// Pairs of each comparison.
const PAIRS: usize = 61;

/// Connections of one measurement.
const COUNT: u32 = 5_000;

/// As many may be missing for each of the others', at the lower end of the 95 % range.
const RATIO_MIN: f64 = 0.98;

/// Bytes of a request and of its answer.
const BYTES: u32 = 24;

const PORT: u16 = 12_345;

const NETPERF_PORT: u16 = 12_865;

const TIMEOUT_NS: u64 = 5 * common::S;

const PLAN: &str = r#"
v6gap = 1
name = "Many connections"
[design]
pairs = 6
null_blocks = 0
[[measure]]
metric = "connect-rate"
hold = true
count = 1000
[[measure]]
metric = "connect-rate"
hold = true
count = 10000
[[measure]]
metric = "connect-rate"
count = 5000
concurrent = 64
"#;

fn main() {
    common::run("connections", bench);
}

fn bench() -> Outcome {
    let bed = Bed::new()?;
    let far = bed.processors.1.to_string();
    let server = Peer::start(bed.far()?, PROGRAM, &["serve", "--affinity", &far])?;
    for family in Family::BOTH {
        server.wait_until_bound(bed.far()?, Transport::Tcp, at(&bed, family, wire::PORT))?;
    }
    let mut short = Vec::new();
    for name in ["plain", "netperf"] {
        for family in Family::BOTH {
            if wanted(name) {
                against(&bed, name, family, &mut short)?;
            }
        }
    }
    if wanted("many") {
        many(&bed)?;
    }
    common::judge(&short)
}

fn at(bed: &Bed, family: Family, port: u16) -> SocketAddr {
    SocketAddr::new(*bed.addresses.get(family), port)
}

/// Compares with a program of others over one family. One of the two may not be installed.
fn against(bed: &Bed, name: &str, family: Family, short: &mut Vec<String>) -> Outcome {
    let theirs: Box<dyn FnMut() -> Outcome<f64>> = if name == "plain" {
        Box::new(plain(bed, family)?)
    } else {
        match netperf(bed, family) {
            Ok(theirs) => Box::new(theirs),
            Err(error) => {
                println!("not compared with {name}: {error}");
                return Ok(());
            }
        }
    };
    let mut client = Client::open(bed)?;
    let words = format!("{family}, against {name}");
    let rate = |rate| format!("{rate:.0}/s");
    let ratio = compare(&words, PAIRS, rate, || client.rate(bed, family), theirs)?;
    if ratio.low < RATIO_MIN {
        short.push(format!("{words}: from {:.3}, which is below {RATIO_MIN}", ratio.low));
    }
    Ok(())
}

/// A session with the server.
struct Client {
    connection: Connection,
    context: ClientContext,
}

impl Client {
    fn open(bed: &Bed) -> Outcome<Self> {
        let addresses = PerFamily::from_fn(|family| Some(at(bed, family, wire::PORT)));
        let options = ClientOptions::new(Key::none(), "bench 1".to_owned(), Host::default());
        let open = || Connection::open(addresses, &options, &mut |_| ControlFlow::Continue(()));
        let connection = bed.near()?.run(open)?.map_err(|error| format!("{error:?}"))?;
        let processors = vec![bed.processors.0];
        let context = ClientContext { processors, ..ClientContext::new(addresses, TIMEOUT_NS) };
        Ok(Client { connection, context })
    }

    /// Connections per second in one of our trials.
    fn rate(&mut self, bed: &Bed, family: Family) -> Outcome<f64> {
        let connect = Connect { count: COUNT, purpose: Purpose::Rate, concurrent: 1 };
        let mut task = trial(Workload::Connect(connect), family);
        task.number = self.connection.next_number();
        let (context, near) = (&self.context, bed.near()?);
        let work = |task: &_| near.run(|| client::run(task, context));
        let done = self.connection.run_task(&task, work).map_err(|error| format!("{error:?}"))?;
        let (own, server) = (done.0?, done.1);
        let mut ends = own.into_iter().zip(server);
        let ((_, client), (_, server)) = ends.next().ok_or("no report")?;
        let values = values(&task.workload, &PerEnd { client, server: Far::Seen(server) });
        values.get(&Metric::ConnectRate).copied().ok_or_else(|| "no rate".into())
    }
}

/// The program in C.
fn plain(bed: &Bed, family: Family) -> Outcome<impl FnMut() -> Outcome<f64>> {
    let program = compile(concat!(env!("CARGO_MANIFEST_DIR"), "/benches"), "connections")?;
    let address = bed.addresses.get(family).to_string();
    let (near, far) = (bed.processors.0.to_string(), bed.processors.1.to_string());
    let (port, bytes, count) = (PORT.to_string(), BYTES.to_string(), COUNT.to_string());
    let server = Peer::start(bed.far()?, &program, &["server", &port, &bytes, &far, &address])?;
    server.wait_until_bound(bed.far()?, Transport::Tcp, at(bed, family, PORT))?;
    let node = bed.near()?;
    Ok(move || {
        let _alive = &server;
        let client = ["client", &port, &bytes, &near, &address, &count];
        Ok(output(node, &program, &client)?.trim().parse()?)
    })
}

/// netperf, which closes its connections in the usual way.
fn netperf(bed: &Bed, family: Family) -> Outcome<impl FnMut() -> Outcome<f64>> {
    let address = bed.addresses.get(family).to_string();
    let (near, far) = (bed.processors.0.to_string(), bed.processors.1.to_string());
    let server = ["-c", &far, "netserver", "-D", "-L", &address];
    let server = Peer::start(bed.far()?, "taskset", &server)?;
    server.wait_until_bound(bed.far()?, Transport::Tcp, at(bed, family, NETPERF_PORT))?;
    let (node, message) = (bed.near()?, format!("{BYTES},{BYTES}"));
    Ok(move || {
        let _alive = &server;
        let client = ["-c", &near, "netperf", "-H", &address, "-P", "0", "-v", "0", "-l", "1"];
        let test = ["-t", "TCP_CRR", "--", "-r", &message, "-o", "THROUGHPUT"];
        let said = output(node, "taskset", &[&client[..], &test].concat())?;
        let rate = said.split_whitespace().next().ok_or_else(|| said.clone())?;
        Ok(rate.parse()?)
    })
}

/// What a run says of many connections.
fn many(bed: &Bed) -> Outcome {
    let folder = std::env::temp_dir().join(format!("v6gap-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("plan.toml");
    std::fs::write(&file, PLAN)?;
    let mut client = Command::new(PROGRAM);
    client.env("V6GAP_LOCKS", folder.join("locks"));
    client.env("V6GAP_DATA", &folder).args(["plan", "run", "-q", "--json"]).arg(&file);
    client.arg(bed.addresses.v4.to_string());
    client.args(["--v6", &bed.addresses.v6.to_string()]);
    let output = bed.near()?.run(|| client.output())??;
    std::fs::remove_dir_all(&folder)?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let result: Value = serde_json::from_slice(&output.stdout)?;
    if result["valid"] != true || result["refused"].as_object().is_none_or(|r| !r.is_empty()) {
        return Err(format!("{}; refused: {}", result["headline"], result["refused"]).into());
    }
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    for q in list(&result, "questions")?.iter().filter(|q| q["metric"] == "connect-rate") {
        let (v4, v6) = (number(&q["v4"]["estimate"]), number(&q["v6"]["estimate"]));
        println!("{}: IPv4 {v4:.0}/s, IPv6 {v6:.0}/s", text(&q["cell"]));
    }
    for held in list(&result, "memory")? {
        let (cell, family) = (text(&held["cell"]), text(&held["family"]));
        let (count, bytes) = (number(&held["connections"]), number(&held["bytes_each"]));
        println!("{cell}, {family}: {count} held, {bytes:.0} B of kernel memory each (both ends)");
    }
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list<'a>(result: &'a Value, key: &str) -> Outcome<&'a Vec<Value>> {
    result[key].as_array().ok_or_else(|| format!("the result has no {key}").into())
}
