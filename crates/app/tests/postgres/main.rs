//! A real PostgreSQL as a second place for what results say: each pair is there once however often,
//! in whatever order and by how many it is written; who is killed leaves whole results; the queries
//! of docs/fleet-archive.md say what the program says, and what DuckDB says of the archive; and a
//! database is spoken to by TLS, with a password that nobody sees.
//!
//! The programs are those that `cargo xtask truth --setup` puts below `target`, or Debian's where
//! they are installed. Without them it says `SKIPPED`.

mod asked;
#[path = "../common/ports.rs"]
mod ports;
mod server;
#[path = "../cli/support.rs"]
mod support;

use serde_json::Value;
use server::{PASSWORD, Server, USER, authority};
use std::path::Path;
use std::time::{Duration, Instant};
use support::{Ran, Sandbox, flat};

/// Both ways of a path of a fleet.
const PATHS: [[&str; 2]; 2] = [["rome/lab-a", "oslo/lab-b"], ["oslo/lab-b", "rome/lab-a"]];

/// When the first result began, in ns since 1970, and how far they are apart.
const BEGIN_UNIX_NS: u64 = 1_763_560_962_000_000_000;
const APART_NS: u64 = 43_200_000_000_000;

/// How often a process that writes is killed, each time so much later, in µs.
const KILLED: u64 = 40;
const LATER_US: u64 = 5_000;

/// What is compared of a database: of each run a sum of all its rows.
const SUMS: &str = "\
SELECT r.run, md5(concat(r::text,
    (SELECT string_agg(a::text, '|' ORDER BY question_number) FROM answer AS a
     WHERE a.run = r.run AND a.run_started_unix_ns = r.started_unix_ns),
    (SELECT string_agg(p::text, '|' ORDER BY question_number, pair_number) FROM pair AS p
     WHERE p.run = r.run AND p.run_started_unix_ns = r.started_unix_ns),
    (SELECT string_agg(t::text, '|' ORDER BY trial_number) FROM trial AS t
     WHERE t.run = r.run AND t.run_started_unix_ns = r.started_unix_ns))) AS sum
FROM run AS r ORDER BY r.run";

/// Where rows lie: one that is written again lies elsewhere.
const PLACES: &str = "SELECT md5(string_agg(ctid::text, ',' ORDER BY ctid)) AS places FROM pair";

/// What is looked at with a server, and its name.
type Scenario = (&'static str, fn(&Server));

fn main() {
    let Some(programs) = server::programs() else {
        println!("SKIPPED: no PostgreSQL 15 (cargo xtask truth --setup unpacks it)");
        return;
    };
    let place = Sandbox::new();
    let server = Server::start(programs, place.path("server"));
    let scenarios: [Scenario; 5] = [
        ("each_pair_is_there_once", each_pair_is_there_once),
        ("who_is_killed_leaves_whole_results", who_is_killed_leaves_whole_results),
        ("queries_say_what_the_program_says", asked::queries_say_what_the_program_says),
        ("tables_have_a_version", tables_have_a_version),
        ("strangers_learn_no_password", strangers_learn_no_password),
    ];
    for (name, scenario) in scenarios {
        let start = Instant::now();
        // What is not as it should be ends it.
        scenario(&server);
        println!("ok     {name} ({:.1} s)", start.elapsed().as_secs_f64());
    }
    drop(server);
}

/// Results of a fleet, by turns of both ways; IPv6 is the slower one first, and then the faster.
pub fn fleet() -> Sandbox {
    let sandbox = Sandbox::new();
    for number in 0..4 {
        let path = PATHS[number as usize % PATHS.len()];
        let factor = if number < 2 { 1.0 } else { 0.9 };
        let started_unix_ns = BEGIN_UNIX_NS + number * APART_NS;
        sandbox.store_of_fleet(&format!("fleet{number}"), path, started_unix_ns, factor);
    }
    sandbox
}

fn put(sandbox: &Sandbox, url: &str, more: &str) -> String {
    sandbox.run(&format!("index postgres {url} {more}")).ended(0).out
}

fn said(put: u32) -> String {
    format!("In the database: 4 results; put in: {put}.\n")
}

fn each_pair_is_there_once(server: &Server) {
    let sandbox = fleet();
    let url = server.database("once");
    assert_eq!(put(&sandbox, &url, ""), said(4));
    let (whole, places) = (server.ask("once", SUMS), server.ask("once", PLACES));
    assert_eq!(whole.len(), 4);
    assert_eq!(put(&sandbox, &url, ""), said(0));
    assert_eq!(put(&sandbox, &url, "--afresh"), said(4));
    assert_eq!(server.ask("once", SUMS), whole);
    assert_eq!(server.ask("once", PLACES), places, "rows that did not change were written again");
    let twice = "SELECT run, cell, metric, block, count(*) FROM pairs WHERE block_valid \
                 GROUP BY run, cell, metric, block HAVING count(*) > 1";
    assert_eq!(server.ask("once", twice), Vec::<Value>::new());

    // By two at once.
    server.execute("once", "DELETE FROM run");
    let line = format!("index postgres {url} --afresh");
    let writing = [0, 1].map(|_| sandbox.start(&line));
    for child in writing {
        Sandbox::ended(child, String::new()).ended(0);
    }
    assert_eq!(server.ask("once", SUMS), whole);

    // An earlier version of a result that comes late changes nothing, and one that was there gives
    // way to the later one.
    let earlier = fleet();
    let journal = earlier.read("runs/fleet2/journal.jsonl");
    let lines: Vec<&str> = journal.lines().collect();
    earlier.write("runs/fleet2/journal.jsonl", &(lines[..lines.len() / 2].join("\n") + "\n"));
    earlier.run("index rebuild --afresh").ended(0);
    assert_eq!(put(&earlier, &url, "--afresh"), said(3));
    assert_eq!(server.ask("once", SUMS), whole);
    server.execute("once", "DELETE FROM run");
    assert_eq!(put(&earlier, &url, ""), said(4));
    assert_ne!(server.ask("once", SUMS), whole);
    assert_eq!(put(&sandbox, &url, ""), said(1));
    assert_eq!(server.ask("once", SUMS), whole);
    assert_eq!(put(&sandbox, &url, "--since 1min"), "In the database: 0 results; put in: 0.\n");
}

fn who_is_killed_leaves_whole_results(server: &Server) {
    let sandbox = fleet();
    let url = server.database("killed");
    put(&sandbox, &url, "");
    let whole = server.ask("killed", SUMS);
    let mut found = [0; 5];
    for number in 0..KILLED {
        server.execute("killed", "DELETE FROM run");
        let mut child = sandbox.start(&format!("index postgres {url}"));
        std::thread::sleep(Duration::from_micros(number * LATER_US));
        child.kill().unwrap();
        child.wait().unwrap();
        // The server may still be at the last thing that it was sent.
        let others = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity \
                      WHERE application_name = 'v6gap' AND datname = 'killed'";
        server.execute("killed", others);
        let there = server.ask("killed", SUMS);
        assert!(there.iter().all(|run| whole.contains(run)), "{number}: {there:?}");
        found[there.len()] += 1;
    }
    println!("killed {KILLED} times; times that so many of 4 results were there: {found:?}");
    put(&sandbox, &url, "");
    assert_eq!(server.ask("killed", SUMS), whole);
}

fn tables_have_a_version(server: &Server) {
    let sandbox = fleet();
    let url = server.database("versions");
    put(&sandbox, &url, "");
    server.execute("versions", "UPDATE v6gap_version SET version = 99");
    let refused = sandbox.run(&format!("index postgres {url}")).ended(1);
    assert!(flat(&refused.err).contains("a later version of this program"), "{refused:?}");
    // Who may make no tables can fill those that are there.
    server.execute(
        "versions",
        "UPDATE v6gap_version SET version = 1; DELETE FROM run; CREATE ROLE filler LOGIN; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO filler",
    );
    assert_eq!(put(&sandbox, &url.replace(&format!("{USER}@"), "filler@"), ""), said(4));
}

fn strangers_learn_no_password(server: &Server) {
    let sandbox = fleet();
    server.database("far");
    let secret = |name: &str, text: &str| sandbox.secret(name, text);
    let url = format!("postgres://{USER}@localhost:{}/far?sslmode=require", server.port);
    let passwords = secret("pass", &format!("localhost:*:far:{USER}:{PASSWORD}\n"));
    let (home, roots) = (sandbox.path(""), server.path("authority.crt"));
    let run = |line: &str, more: &[(&str, &Path)]| -> Ran {
        let mut all = vec![("V6GAP_DATA", home.as_path())];
        all.extend(more);
        sandbox.run_with(&format!("index postgres {line}"), &all)
    };
    let trusted = ("PGSSLROOTCERT", roots.as_path());
    let filed = ("PGPASSFILE", passwords.as_path());
    assert_eq!(run(&url, &[trusted, filed]).ended(0).out, said(4));
    assert_eq!(server.ask("far", "SELECT count(*) AS n FROM run")[0]["n"], 4);

    // Another who vouches, another password, and none.
    authority(&server.path(""), "other");
    let other = server.path("other.crt");
    let unknown = run(&url, &[("PGSSLROOTCERT", other.as_path()), filed]).ended(1);
    assert!(unknown.err.contains("certificate"), "{unknown:?}");
    let wrong = secret("url", &url.replace('@', ":wrong-and-secret@"));
    let wrong = run(&wrong.display().to_string(), &[trusted]).ended(1);
    assert!(flat(&wrong.err).contains("password authentication failed"), "{wrong:?}");
    let none = run(&url, &[trusted]).ended(1);
    let typed = run(&url.replace('@', &format!(":{PASSWORD}@")), &[trusted]).ended(2);
    assert!(typed.err.contains("PGPASSFILE"), "{typed:?}");
    for ran in [unknown, wrong, none, typed] {
        let all = ran.out + &ran.err;
        assert!(!all.contains(PASSWORD) && !all.contains("wrong-and-secret"), "{all}");
    }
}
