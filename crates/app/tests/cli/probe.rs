//! Hosts that do not run this program: visits over both families to a service on loopback.

use super::ports;
use super::schemas::fits;
use super::support::Sandbox;
use serde_json::Value;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// A service of HTTP on one port of both families that counts its visitors.
struct Service {
    port: u16,
    visits: Arc<AtomicU32>,
}

impl Service {
    /// Answers with what `answer` makes of the number of the visit, from 1 on.
    fn start(answer: fn(u32) -> &'static str) -> Service {
        let (port, listeners) = ports::listening();
        let visits = Arc::new(AtomicU32::new(0));
        for listener in listeners {
            let visits = visits.clone();
            std::thread::spawn(move || {
                for stream in listener.incoming() {
                    let Ok(mut stream) = stream else { continue };
                    let number = visits.fetch_add(1, Ordering::Relaxed) + 1;
                    let mut asked = [0; 2048];
                    if stream.read(&mut asked).is_ok_and(|read| read > 0) {
                        let _ = stream.write_all(answer(number).as_bytes());
                    }
                }
            });
        }
        Service { port, visits }
    }

    fn visits(&self) -> u32 {
        self.visits.load(Ordering::Relaxed)
    }

    /// The words that visit it, with more of them.
    fn line(&self, more: &str) -> String {
        format!("probe http://127.0.0.1:{}/ --v6 ::1 --no-report {more}", self.port)
    }
}

const FINE: &str = "HTTP/1.1 200 OK\r\nserver: a host\r\ncontent-length: 5\r\n\r\nfine\n";
const LATER: &str = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 5\r\ncontent-length: 0\r\n\r\n";
const BUSY: &str = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n";

#[test]
fn a_host_without_this_program_is_measured_by_phase() {
    let (sandbox, service) = (Sandbox::new(), Service::start(|_| FINE));
    let ran = sandbox.run(&service.line("--pairs 6 --json"));
    // So few visits beside other work may be without a verdict.
    assert!(matches!(ran.code, 0 | 6), "{ran:?}");
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(result["target"], format!("http://127.0.0.1:{}/", service.port));
    let questions = result["questions"].as_array().unwrap();
    let of = |metric: &str| questions.iter().find(|q| q["metric"] == metric);
    for metric in ["connect", "response", "first-byte"] {
        let question = of(metric).unwrap_or_else(|| panic!("{metric}: {result:#}"));
        for family in ["v4", "v6"] {
            let seconds = question[family]["estimate"].as_f64().unwrap();
            assert!(seconds > 0.0 && seconds < 1.0, "{question:#}");
        }
    }
    assert!(of("tls").is_none() && of("throughput").is_none());
    let asked = format!("asked of the host in all: {} connections", service.visits());
    assert!(ran.err.contains(&asked), "{asked}: {}", ran.err);
    let doubts = result["checks"].as_array().unwrap();
    let doubt = doubts.iter().any(|c| c["text"].as_str().unwrap().contains("does not run v6gap"));
    assert!(doubt, "{doubts:#?}");
    // The record shows again what was said, and repeats nothing.
    let before = service.visits();
    sandbox.run("show last").ended(ran.code);
    assert_eq!(service.visits(), before);
}

/// Bytes of a large body.
const LARGE: usize = 600_000;

fn large(_: u32) -> &'static str {
    static ANSWER: OnceLock<String> = OnceLock::new();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {LARGE}\r\n\r\n");
    ANSWER.get_or_init(|| head + &"x".repeat(LARGE))
}

/// All of a body is read, or as much as was asked for, and its rate is a question beside the
/// phases.
#[test]
fn a_download_has_a_rate_beside_its_phases() {
    let (sandbox, service) = (Sandbox::new(), Service::start(large));
    for size in ["1MB", "400kB"] {
        let line = format!("--pairs 6 --json --no-path --measure first-byte --download {size}");
        let ran = sandbox.run(&service.line(&line));
        assert!(matches!(ran.code, 0 | 6), "{ran:?}");
        let result: Value = serde_json::from_str(&ran.out).unwrap();
        let questions = result["questions"].as_array().unwrap();
        for metric in ["connect", "response", "first-byte", "throughput"] {
            let question = questions.iter().find(|q| q["metric"] == metric);
            let question = question.unwrap_or_else(|| panic!("{metric}: {result:#}"));
            for family in ["v4", "v6"] {
                assert!(question[family]["estimate"].as_f64().unwrap() > 0.0, "{question:#}");
            }
        }
        // What it will take is said before, and what it took after.
        let words = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        let before = words.find("to be asked of the host: ").unwrap_or_else(|| panic!("{words}"));
        assert!(words[before..].contains(" downloads, "), "{words}");
        assert!(words[before..].contains("asked of the host in all: "), "{words}");
    }
}

#[test]
fn a_body_that_is_too_short_has_no_rate_and_says_so() {
    let (sandbox, service) = (Sandbox::new(), Service::start(|_| FINE));
    let line = "--pairs 6 --json --no-path --measure first-byte --download 1MB";
    let ran = sandbox.run(&service.line(line));
    assert!(matches!(ran.code, 0 | 6), "{ran:?}");
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    let questions = result["questions"].as_array().unwrap();
    let of = |metric: &str| questions.iter().find(|q| q["metric"] == metric).unwrap();
    assert!(of("first-byte")["v4"]["estimate"].as_f64().is_some(), "{result:#}");
    let rate = of("throughput");
    assert_eq!(rate["verdict"], "none", "{rate:#}");
    assert!(rate["why_none"].as_str().unwrap().contains("the body has only 5 bytes"), "{rate:#}");
}

/// What would load a host that is neither near nor one's own is refused before anything is sent.
#[test]
fn a_download_takes_a_host_of_one_s_own() {
    let sandbox = Sandbox::new();
    let far = "probe https://192.0.2.1/f.iso --v6 2001:db8::1 --download 1MB";
    let refused = sandbox.run(far).ended(2);
    let words = refused.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("is not said to be yours") && words.contains("--mine"), "{words}");
    for (what, expected) in [
        ("https://192.0.2.1/ --download 64KiB", "above 64 KiB"),
        ("https://192.0.2.1/ --download 20GB", "at most 10 GB"),
        ("192.0.2.1:25 --download 1MB", "has no body"),
    ] {
        let ran = sandbox.run(&format!("probe {what} --mine")).ended(2);
        let words = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(expected), "{what}: {words}");
    }
}

#[test]
fn a_connection_alone_is_measured_where_a_port_is_named() {
    let (sandbox, service) = (Sandbox::new(), Service::start(|_| FINE));
    let line =
        format!("probe 127.0.0.1:{} --v6 ::1 --no-report --no-path --pairs 6 --json", service.port);
    let ran = sandbox.run(&line);
    assert!(matches!(ran.code, 0 | 6), "{ran:?}");
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    let metrics: Vec<&str> = result["questions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|question| question["metric"].as_str().unwrap())
        .collect();
    assert!(metrics.contains(&"connect") && !metrics.contains(&"first-byte"), "{metrics:?}");
}

/// The way alone has no verdicts: what is required is open.
#[test]
fn the_way_alone_is_told_to_programs_and_leaves_what_is_required_open() {
    let (sandbox, service) = (Sandbox::new(), Service::start(|_| FINE));
    let ran = sandbox.run(&service.line("--measure path --json --fail-if worse,broken")).ended(0);
    fits("path", &serde_json::from_str(&ran.out).unwrap());
    sandbox.run(&service.line("--measure path -q --require same")).ended(11);
}

#[test]
fn a_family_that_does_not_work_is_named_with_its_reason() {
    let (sandbox, service) = (Sandbox::new(), Service::start(|_| FINE));
    let port = service.port;
    let closed = sandbox.run(&format!("probe http://127.0.0.1:{port}/ --v6 ::2")).ended(3);
    assert!(closed.err.contains("IPv6 is broken"), "{}", closed.err);
    assert!(closed.err.contains("Over IPv4 it works") && closed.err.contains("[E403, exit 3]"));
    // A script may take that for its condition.
    let line = format!("probe http://127.0.0.1:{port}/ --v6 ::2 --fail-if worse,broken -q");
    assert!(sandbox.run(&line).ended(10).err.contains("IPv6 is broken"));
    let none = sandbox.run(&format!("probe http://127.0.0.1:{port}/")).ended(3);
    assert!(none.err.contains("no address"), "{}", none.err);
    // Where nothing works it is the host's, and no family's.
    let neither = sandbox.run("probe http://127.0.0.1:1/ --v6 ::1 --no-path").ended(4);
    let words = neither.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("neither family works: http://127.0.0.1:1/"), "{words}");
    assert!(words.contains("Over IPv4 (127.0.0.1): refused."), "{words}");
    assert!(words.contains("Over IPv6 (::1): refused."), "{words}");
    let line = "probe http://127.0.0.1:1/ --v6 ::1 --no-path --fail-if broken -q";
    sandbox.run(line).ended(10);
}

#[test]
fn a_host_that_asks_to_be_left_alone_is() {
    let later = |number| if number > 8 { BUSY } else { FINE };
    let (sandbox, service) = (Sandbox::new(), Service::start(later));
    let ran = sandbox.run(&service.line("--pairs 20 -q --no-path")).ended(7);
    let words = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("asks to be left alone") && words.contains("[E214, exit 7]"), "{words}");
    assert_eq!(service.visits(), 9, "nothing was asked for afterwards");
    // Also before anything is measured, where it says for how long.
    let first = Service::start(|_| LATER);
    let ran = sandbox.run(&first.line("")).ended(7);
    let words = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("answers 429: it asks to be left alone for 5 s"), "{words}");
    assert_eq!(first.visits(), 1);
    // One family may be told so alone, so the other is visited as well, and then nobody.
    let busy = Service::start(|_| BUSY);
    let ran = sandbox.run(&busy.line("")).ended(7);
    let words = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("to be left alone") && words.contains("[E214, exit 7]"), "{words}");
    assert_eq!(busy.visits(), 2);
}

#[test]
fn what_cannot_be_visited_is_refused_and_a_dry_run_sends_nothing() {
    let (sandbox, service) = (Sandbox::new(), Service::start(|_| FINE));
    for (what, expected) in [
        ("ftp://example.org", "ftp:// cannot be visited"),
        ("https://me:word@example.org/", "credentials"),
        ("example.org:0", "is no host"),
        ("example.org --measure throughput", "v6gap run HOST"),
        ("example.org --http 4", "1.1, 2 and 3"),
        ("example.org --resolver dns.example", "it must be an address"),
        ("example.org --resolver 192.0.2.53:0", "port 0"),
        ("example.org --resolver ::1 --resolver [::1]:53", "::1 is named twice"),
        ("example.org --addresses two", "[possible values: one, all]"),
        ("192.0.2.1 --addresses all", "192.0.2.1 is one address"),
        ("https://[2001:db8::1]/ --addresses all", "2001:db8::1 is one address"),
        ("example.org --addresses all --v4 192.0.2.1", "leave --v4 and --v6 out"),
        ("example.org --addresses all --v6 2001:db8::1", "leave --v4 and --v6 out"),
        ("example.org --addresses all --capture", "--capture takes one pair"),
        ("http://example.org/ --http 1.1,3", "over https:// alone"),
        ("example.org:443 --http 2", "--http takes a URL"),
    ] {
        let ran = sandbox.run(&format!("probe {what} --dry-run"));
        assert_eq!(ran.code, 2, "{what}: {ran:?}");
        let words = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(expected), "{what}: {words}");
    }
    let told = sandbox.run(&service.line("--dry-run")).ended(0).out;
    assert!(told.contains("first-byte-tcp-http-1.1-plain"), "{told}");
    assert_eq!(service.visits(), 0);
}

/// Each name server is a cell of its own, up to four; the default has the names that it had.
#[test]
fn name_servers_are_looked_up_at_beside_each_other() {
    let sandbox = Sandbox::new();
    let dry = |servers: &[&str]| {
        let servers: String = servers.iter().map(|of| format!(" --resolver {of}")).collect();
        sandbox.run(&format!("probe example.org --measure lookup --dry-run{servers}"))
    };
    let four = ["192.0.2.53", "192.0.2.53:5300", "2001:db8::53", "[2001:db8::53]:5300"];
    let told = dry(&four).ended(0).out;
    for cell in ["lookup-udp", "lookup-udp-server-2", "lookup-udp-server-4"] {
        assert!(told.contains(cell), "{cell}: {told}");
    }
    let one = dry(&four[..1]).ended(0).out;
    assert!(one.contains("lookup-udp") && !one.contains("server-2"), "{one}");
    let five = dry(&[&four[..], &["::1"]].concat()).ended(2);
    let words = five.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("5 name servers are more than 4"), "{words}");
}

/// What is not taken is not passed over: packets without a key would be sent in its place.
#[test]
fn a_reflector_s_key_is_no_word() {
    let line = "run 127.0.0.1 --v6 ::1 --against stamp --key word";
    let refused = Sandbox::new().run(line).ended(2);
    let words = refused.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("--key-file FILE"), "{words}");
}
