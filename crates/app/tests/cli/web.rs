//! Pages and the API: who is let in, and that they say what the terminal says.

use crate::support::Sandbox;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;

/// `v6gap web` with a stored run, and a browser's token once it has one.
pub struct Web {
    pub sandbox: Sandbox,
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    port: u16,
    token: Option<String>,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl Web {
    /// A server with these options, and the key in its link.
    pub fn start(more: &str) -> (Web, String) {
        let sandbox = Sandbox::with_run();
        let mut child = sandbox.start(&format!("web --no-open -p 0 --listen 127.0.0.1 {more}"));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut web = Web { sandbox, child, lines, port: 0, token: None };
        let key = web.next_key();
        (web, key)
    }

    /// A server and a browser that it knows.
    pub fn known() -> Web {
        Web::known_with("")
    }

    /// One with these options.
    pub fn known_with(more: &str) -> Web {
        let (mut web, key) = Web::start(more);
        let answer = web.post("/session", &json!({ "key": key }));
        assert_eq!(answer.status, 200, "{answer:?}");
        // Browsers send cookies to other ports, too.
        assert_eq!(answer.header("set-cookie"), None);
        web.enter(&answer);
        web
    }

    /// Keeps the token that was given for a key.
    fn enter(&mut self, answer: &Answer) {
        self.token = Some(answer.json()["token"].as_str().unwrap().to_owned());
    }

    /// The key in the next link that it prints.
    fn next_key(&mut self) -> String {
        let line = self.lines.find(|line| line.as_ref().is_ok_and(|l| l.starts_with("Open")));
        let line = line.unwrap().unwrap();
        let (address, key) = line.split_once("/#k=").unwrap();
        self.port = address.rsplit(':').next().unwrap().parse().unwrap();
        key.split_whitespace().next().unwrap().to_owned()
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Sends a request as it is written, headers and all.
    pub fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        // A server that has seen enough may close before everything was read.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(token) = &self.token {
            request.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        if !body.is_empty() {
            let length = body.len();
            request.push_str(&format!(
                "Content-Type: application/json\r\nContent-Length: {length}\r\n"
            ));
        }
        self.raw(format!("{request}\r\n{body}").as_bytes())
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", &format!("/api/v1{path}"), &[("Host", &self.host())], "")
    }

    /// Reads what comes of a live measurement until something is told.
    pub fn told(&self, what: &str) -> String {
        until(&mut self.events("/runs/live/events"), what)
    }

    /// A stream of events, which begins with the head of the answer.
    pub fn events(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        let token = self.token.as_deref().unwrap_or_default();
        let (host, path) = (self.host(), format!("/api/v1{path}"));
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, body)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        let host = self.host();
        let headers = [("Host", host.as_str()), ("Origin", &format!("http://{host}"))];
        self.ask(method, &format!("/api/v1{path}"), &headers, &body.to_string())
    }
}

/// What a stream tells until it tells that, or ends.
pub fn until(stream: &mut TcpStream, what: &str) -> String {
    let (mut came, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&came).into_owned();
        let read = if text.contains(what) { 0 } else { stream.read(&mut part).unwrap() };
        if read == 0 {
            return text;
        }
        came.extend_from_slice(&part[..read]);
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_link_works_once_and_enter_gives_another() {
    let (mut web, key) = Web::start("");
    assert_eq!(web.get("/runs").status, 403);
    assert_eq!(web.post("/session", &json!({"key": "0".repeat(48)})).status, 403);
    assert_eq!(web.post("/session", &json!({ "key": key })).status, 200);
    let again = web.post("/session", &json!({ "key": key }));
    assert_eq!(again.status, 403);
    assert!(again.body.contains("Press Enter"), "{again:?}");
    web.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    let other = web.next_key();
    assert_ne!(other, key);
    assert_eq!(web.post("/session", &json!({ "key": other })).status, 200);
}

#[test]
fn what_is_not_our_own_page_is_refused() {
    let web = Web::known();
    let (host, token) = (web.host(), web.token.clone().unwrap());
    assert_eq!(web.get("/runs").status, 200);
    let run = json!({"place": "demo"}).to_string();
    for (method, headers) in [
        ("GET", vec![("Host", "evil.example")]),
        ("GET", vec![("Host", "127.0.0.1.evil.example")]),
        ("GET", vec![]),
        ("POST", vec![("Host", host.as_str())]),
        ("POST", vec![("Host", host.as_str()), ("Origin", "http://evil.example")]),
        ("POST", vec![("Host", host.as_str()), ("Origin", "null")]),
        ("POST", vec![("Host", host.as_str()), ("Origin", "http://127.0.0.1:1")]),
    ] {
        let body = if method == "POST" { run.as_str() } else { "" };
        let answer = web.ask(method, "/api/v1/runs", &headers, body);
        assert!([400, 403].contains(&answer.status), "{method} {headers:?}: {answer:?}");
    }
    let stranger =
        format!("GET /api/v1/runs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    assert_eq!(web.raw(stranger.as_bytes()).status, 403);
    for (header, status) in [
        (format!("Authorization: Bearer {token}"), 200),
        (format!("Authorization: Bearer {token}0"), 403),
        (format!("Authorization: {token}"), 403),
        (format!("Cookie: v6gap={token}"), 403),
    ] {
        let asked = stranger.replace("\r\n\r\n", &format!("\r\n{header}\r\n\r\n"));
        assert_eq!(web.raw(asked.as_bytes()).status, status, "{header}");
    }
    let page = web.ask("GET", "/", &[("Host", &host)], "");
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"));
    assert!(!page.body.contains("<script>") && !page.body.contains("style="), "{page:?}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(page.header("access-control-allow-origin"), None);
}

#[test]
fn malformed_requests_are_refused_and_cost_nothing() {
    let web = Web::known();
    for body in [
        json!({}),
        json!({"place": "nowhere"}),
        json!({"place": {"host": "--output=/tmp/x"}}),
        json!({"place": {"site": "--output=/tmp/x"}}),
        json!({"place": {"site": "localhost"}, "options": {"mine": "true"}}),
        json!({"place": "demo", "options": {"output": "/tmp/x"}}),
        json!({"place": "demo", "options": {"for": 5}}),
        json!("demo"),
    ] {
        let answer = web.post("/runs", &body);
        assert!([400, 415, 422].contains(&answer.status), "{body}: {answer:?}");
        assert!(answer.json()["error"]["title"].is_string());
    }
    let large = json!({"toml": "x".repeat(300 << 10)});
    assert_eq!(web.post("/plans/validate", &large).status, 413);
    assert_eq!(web.raw(b"nonsense\r\n\r\n").status, 400);
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(1 << 20));
    assert!([400, 414, 431, 0].contains(&web.raw(long.as_bytes()).status));
    assert_eq!(web.get("/runs/nothing-there").status, 400);
    assert_eq!(web.get("/runs/7k2f9q/secret").status, 404);
    assert_eq!(web.get("/runs/..%2f..%2fetc%2fpasswd/result.json").status, 400);
    assert_eq!(web.get("/nothing").status, 404);
    assert_eq!(web.get("/runs").status, 200);
}

#[test]
fn results_are_what_the_terminal_says_byte_for_byte() {
    let web = Web::known();
    web.sandbox.store_slower("slower", 1.1);
    let terminal = |line: &str| web.sandbox.run(line).ended(0).out;
    for (path, line) in [
        ("/runs/7k2f9q/result.json", "export 7k2f9q --format json"),
        ("/runs/7k2f9q", "show 7k2f9q --format json"),
        ("/runs/7k2f9q/trials.csv", "export 7k2f9q --format csv"),
        ("/runs/7k2f9q/result.md", "export 7k2f9q --format md"),
        ("/runs/7k2f9q/report.html", "report 7k2f9q -o -"),
        ("/runs/7k2f9q/journal.jsonl", "export 7k2f9q"),
        ("/compare?a=7k2f9q&b=slower", "compare 7k2f9q slower --json"),
        ("/runs/7k2f9q/note", "note 7k2f9q --json"),
        ("/runs/7k2f9q/figures", "figures 7k2f9q --list"),
        ("/runs/7k2f9q/figures/1.svg", "figures 7k2f9q --only 1 -f svg -o -"),
        ("/presets", "plan list --json"),
        ("/presets/sizes", "plan show sizes"),
    ] {
        let answer = web.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.head);
        assert_eq!(answer.body, terminal(line), "{path}");
    }
    let listed = web.get("/runs?limit=1").json();
    assert_eq!(listed[0]["id"], "slower");
    let policy = web.get("/runs/7k2f9q/report.html");
    assert!(policy.header("content-security-policy").unwrap().contains("sandbox"));
    let deleted = web.ask(
        "DELETE",
        "/api/v1/runs/slower",
        &[("Host", &web.host()), ("Origin", &format!("http://{}", web.host()))],
        "",
    );
    assert_eq!((deleted.status, deleted.body.as_str()), (200, "{\"left\":null}"), "{deleted:?}");
    assert_eq!(web.get("/runs/slower").status, 400);
}

#[test]
fn a_page_shows_the_line_that_could_be_typed() {
    let web = Web::known();
    let form = json!({"place": {"host": "lab-b"}, "options": {"quick": "true", "measure": "rtt"}});
    let told = web.post("/estimate", &form).json();
    assert_eq!(told["command"], "v6gap run lab-b --measure=rtt --quick");
    let plan = json!({"place": {"lab": ""}, "plan": "sailan-window", "options": {"scale": "0.1"}});
    let told = web.post("/estimate", &plan).json();
    assert_eq!(told["command"], "v6gap plan run sailan-window --scale=0.1");
    assert!(told["takes"].is_object(), "{told}");
    let text = web.sandbox.run("plan show sizes").ended(0).out;
    let words = web.post("/plans/validate", &json!({ "toml": text })).json();
    assert!(words["words"].as_str().unwrap().contains("round trips"), "{words}");
    let wrong =
        web.post("/plans/validate", &json!({"toml": "v6gap = 1\n[[measure]]\nmetric = \"rt\""}));
    assert_eq!(wrong.status, 400);
    assert!(wrong.body.contains("rtt"), "{wrong:?}");
}

/// A figure in a page is the file that the terminal writes.
#[test]
fn figures_are_the_files_of_the_terminal() {
    let web = Web::known();
    web.sandbox.run("figures 7k2f9q -f svg,csv,json -o drawn").ended(0);
    let listed = web.get("/runs/7k2f9q/figures").json();
    for figure in listed.as_array().unwrap() {
        let (number, name) = (&figure["number"], figure["name"].as_str().unwrap());
        for ending in ["svg", "csv", "json"] {
            let answer = web.get(&format!("/runs/7k2f9q/figures/{number}.{ending}"));
            assert_eq!(answer.status, 200, "{answer:?}");
            assert_eq!(answer.body, web.sandbox.read(&format!("drawn/7k2f9q-{name}.{ending}")));
        }
    }
    assert!(listed.as_array().unwrap().len() > 1, "{listed}");
    let pdf = web.get("/runs/7k2f9q/figures/1.pdf");
    assert!(pdf.status == 200 && pdf.body.starts_with("%PDF-"), "{}", pdf.head);
    assert_eq!(web.get("/runs/7k2f9q/figures/99.svg").status, 400);
    assert_eq!(web.get("/runs/7k2f9q/figures/1.exe").status, 404);
    assert_eq!(web.get("/runs/7k2f9q/figures/..%2f1.svg").status, 400);
    web.sandbox.run("figures 7k2f9q -o -").ended(2);
}

#[test]
fn a_title_and_a_note_are_kept_beside_the_run() {
    let web = Web::known();
    let before = web.sandbox.read("runs/7k2f9q/journal.jsonl");
    let shown = web.get("/runs/7k2f9q").body;
    let note = "--title=x <b>&\n\u{1f600} two lines";
    let told = web.send("PATCH", "/runs/7k2f9q", &json!({"title": "baseline", "note": note}));
    assert_eq!((told.status, &told.json()["note"]), (200, &json!(note)), "{told:?}");
    let entry = web.get("/runs").json()[0].clone();
    assert_eq!((&entry["title"], &entry["note"]), (&json!("baseline"), &json!(note)));
    assert!(web.sandbox.run("list").ended(0).out.contains("baseline"));
    web.sandbox.run("note 7k2f9q again").ended(0);
    let said = web.sandbox.run("note last").ended(0).out;
    assert_eq!(said, "7k2f9q: baseline\nagain\n");
    for wrong in [
        json!({"title": "x".repeat(81)}),
        json!({"title": "two\nlines"}),
        json!({"note": "x".repeat(2001)}),
        json!({"note": "\u{1b}[2J"}),
        json!({"note": "\u{0}"}),
    ] {
        let refused = web.send("PATCH", "/runs/7k2f9q", &wrong);
        assert_eq!(refused.status, 400, "{wrong}: {refused:?}");
    }
    assert_eq!(web.send("PATCH", "/runs/7k2f9q", &json!({"id": "x"})).status, 422);
    let taken = web.send("PATCH", "/runs/7k2f9q", &json!({"title": "", "note": ""}));
    assert_eq!(taken.json()["note"], "");
    assert!(!web.sandbox.path("runs/7k2f9q/note.json").exists());
    assert_eq!(web.sandbox.read("runs/7k2f9q/journal.jsonl"), before);
    assert_eq!(web.get("/runs/7k2f9q").body, shown);
}

#[test]
fn much_is_not_sent_without_a_question() {
    let web = Web::known();
    let much = json!({"place": {"host": "no-such.invalid"}, "options": {"for": "1h"}});
    let told = web.post("/estimate", &much).json();
    assert_eq!(told["command"], "v6gap run no-such.invalid --for=1h");
    assert!(told["takes"]["bytes"].as_f64().unwrap() > 10e9, "{told}");
    let asked = web.post("/runs", &much);
    assert_eq!((asked.status, &asked.json()["error"]["code"]), (428, &json!("E306")), "{asked:?}");
    let mut sure = much.clone();
    sure["confirm"] = true.into();
    assert_eq!(web.post("/runs", &sure).status, 202);
    assert!(web.get("/runs/live/events").body.contains("E103"));
    let (mut short, key) = Web::start("--max-time 30s");
    let entered = short.post("/session", &json!({ "key": key }));
    short.enter(&entered);
    let long = json!({"place": {"host": "no-such.invalid"}, "confirm": true});
    let refused = short.post("/runs", &long);
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!("E307")));
    let quick = json!({"place": {"host": "no-such.invalid"}, "options": {"quick": "true"}});
    assert_eq!(short.post("/runs", &quick).status, 202);
}

#[test]
fn more_than_the_rate_allowed_is_not_sent() {
    let (mut slow, key) = Web::start("--max-rate 50M");
    let entered = slow.post("/session", &json!({ "key": key }));
    slow.enter(&entered);
    let form = |options: Value| json!({"place": {"host": "no-such.invalid"}, "options": options});
    for (options, why) in [
        (json!({}), "It sends as fast as the path carries"),
        (json!({"udp": "true", "bitrate": "80M"}), "It asks for 80 Mbit/s"),
    ] {
        let refused = slow.post("/runs", &form(options));
        let error = &refused.json()["error"];
        assert_eq!((refused.status, &error["code"]), (403, &json!("E308")), "{refused:?}");
        let why = format!("{why}; this server was started with --max-rate 50 Mbit/s.");
        assert_eq!(error["why"], json!([why]));
    }
    for options in [
        json!({"udp": "true", "bitrate": "40M", "measure": "throughput"}),
        json!({"fq-rate": "40M", "measure": "throughput"}),
        json!({"measure": "rtt"}),
    ] {
        let started = slow.post("/runs", &form(options));
        assert_eq!(started.status, 202, "{started:?}");
        assert!(slow.get("/runs/live/events").body.contains("E103"));
    }
    assert!(slow.sandbox.run("explain E308").ended(0).out.contains("--max-rate"));
}

/// For others this computer would be a way past its firewalls.
#[test]
fn hosts_are_visited_for_this_computers_own_pages_alone() {
    let (mut web, key) = Web::start("--name lab-a");
    let entered = web.post("/session", &json!({ "key": key }));
    web.enter(&entered);
    let options = json!({"v6": "::1", "pairs": "6"});
    let form = json!({"place": {"site": "http://127.0.0.1:9/"}, "options": options});
    let named = format!("lab-a:{}", web.port);
    let origin = format!("http://{named}");
    let headers = [("Host", named.as_str()), ("Origin", origin.as_str())];
    let refused = web.ask("POST", "/api/v1/runs", &headers, &form.to_string());
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!("E309")));
    assert_eq!(web.ask("GET", "/api/v1/info", &headers, "").json()["probe"], false);
    assert_eq!(web.get("/info").json()["probe"], true);
    let told = web.post("/estimate", &form).json();
    assert_eq!(told["command"], "v6gap probe http://127.0.0.1:9/ --pairs=6 --v6=::1", "{told}");
    // Nobody listens there.
    assert_eq!(web.post("/runs", &form).status, 202);
    let events = web.get("/runs/live/events").body;
    assert!(events.contains("a first look at") && events.contains("E403"), "{events}");
    assert!(web.sandbox.run("explain E309").ended(0).out.contains("v6gap probe"));
}

/// How long to measure is chosen by what would be found, once a result tells the noise.
#[test]
fn a_page_says_what_a_measurement_can_find() {
    let web = Web::known();
    let finds = |place: Value, options: Value| {
        let form = json!({"place": place, "options": options});
        let takes = web.post("/estimate", &form).json()["takes"].clone();
        assert_eq!(takes["finds"].is_null(), takes["noise_from"].is_null(), "{takes}");
        takes["finds"].clone()
    };
    assert!(finds(json!({"host": "elsewhere"}), json!({"thorough": "true"})).is_null());
    let lengths =
        [json!({}), json!({"thorough": "true"})].map(|length| finds(json!("demo"), length));
    let [usual, thorough] = lengths.each_ref().map(|found| found["least"].as_f64().unwrap());
    assert!(0.0 < thorough && thorough < usual && usual < 0.2, "{lengths:?}");
    assert_eq!(lengths[0]["metric"], "throughput");
    assert!(web.sandbox.run("demo --dry-run").ended(0).out.contains("noise of result 7k2f9q"));
}

/// A plan that was written in a page is measured as one in a file.
#[test]
fn a_plan_that_was_written_in_a_page_runs() {
    let web = Web::known();
    let toml = "v6gap = 1\n[design]\npairs = 6\nnull_blocks = 0\n[[measure]]\nmetric = \"rtt\"\n\
                message = \"64 B\"\n";
    let form = json!({"place": {"host": "no-such.invalid"}, "toml": toml});
    let told = web.post("/estimate", &form).json();
    assert_eq!(told["command"], "v6gap plan run FILE no-such.invalid", "{told}");
    assert_eq!(web.post("/runs", &form).status, 202);
    // It was read to its end, and there is no such host.
    assert!(web.get("/runs/live/events").body.contains("E103"));
}

#[test]
fn a_wrong_address_is_told_as_an_error() {
    let web = Web::known();
    for path in ["/runs?limit=x", "/compare?a=7k2f9q", "/runs?before=-1"] {
        let answer = web.get(path);
        assert_eq!(answer.status, 400, "{path}");
        assert!(answer.json()["error"]["title"].is_string(), "{path}: {answer:?}");
    }
}

/// A recording is played again with the same events, and what is said of it is what was measured.
#[test]
fn a_recording_happens_again() {
    let sandbox = Sandbox::with_run();
    let lines = |speed: &str| {
        let line = format!("replay ./runs/7k2f9q --speed {speed} --json-stream -q");
        sandbox.run(&line).ended(0).out
    };
    let events = lines("5000");
    assert_eq!(events, lines("10000"));
    let count = |event: &str| events.matches(&format!("{{\"event\":\"{event}\"")).count();
    assert_eq!((count("pair"), count("trial"), count("end")), (20, 112, 1));
    let document: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
    let shown: Value =
        serde_json::from_str(&sandbox.run("show 7k2f9q --json").ended(0).out).unwrap();
    assert_eq!(document, shown);
    // Nothing was stored, and with the words the terminal says the same.
    let said = sandbox.run("replay last --speed 10000 -q").ended(0).out;
    assert_eq!(said, sandbox.run("show last").ended(0).out);
    assert_eq!(sandbox.run("list --json").out.matches("\"id\"").count(), 1);
    sandbox.run("replay last --speed 0").ended(2);
    sandbox.run("replay last --dry-run").ended(2);
    sandbox.run("replay nosuch").ended(2);
}

#[test]
fn what_was_started_to_be_looked_at_measures_nothing() {
    let (mut web, key) = Web::start("--read-only");
    let entered = web.post("/session", &json!({ "key": key }));
    web.enter(&entered);
    assert_eq!(web.post("/runs", &json!({"place": "demo"})).status, 403);
    assert_eq!(web.post("/check", &json!({"host": "localhost"})).status, 403);
    assert_eq!(web.get("/runs").status, 200);
    let refused = web.sandbox.run("web --no-open --listen 192.0.2.7").ended(2);
    assert!(refused.err.contains("--allow-remote"), "{refused:?}");
}

/// Everything that docs/openapi.json describes is there.
#[test]
fn what_is_described_is_there() {
    let web = Web::known();
    let described: Value =
        serde_json::from_str(include_str!("../../../../docs/openapi.json")).unwrap();
    let mut asked = 0;
    for (path, methods) in described["paths"].as_object().unwrap() {
        let real = path.replace("{id}", "7k2f9q").replace("{name}", "sizes");
        let real = real.replace("{file}", "result.json").replace("{figure}", "1.svg");
        let real = real.replace("{site}/{host}", "rome/a").replace("{run}", "7k2f9q");
        let real = real.replace("{far_site}/{far_host}", "oslo/a");
        for method in methods.as_object().unwrap().keys() {
            let answer = match method.as_str() {
                "get" if path == "/compare" => web.get("/compare?a=7k2f9q&b=7k2f9q"),
                // Their events have no end (web_paths.rs, web_fleet.rs).
                "get" if ["/paths/events", "/fleet/events"].contains(&path.as_str()) => continue,
                "get" => web.get(&real),
                // Nothing is started or removed by a body that says nothing.
                "post" => web.post(&real, &json!({})),
                "patch" => web.send("PATCH", &real, &json!({})),
                _ => continue,
            };
            let events = path.ends_with("/events") || path.ends_with("/stop");
            assert_eq!(answer.status == 404, events, "{method} {path}: {answer:?}");
            assert_ne!(answer.status, 405, "{method} {path}");
            asked += 1;
        }
    }
    assert!(asked > 12, "{asked}");
}
