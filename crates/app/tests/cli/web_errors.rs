//! Errors in the pages are those of the terminal: the same code, title, reasons and commands, each
//! provoked for real on loopback. Those that need another network are in the `netns` suite:
//! E101, E301 and E401.

use crate::ports::{self, free};
use crate::support::{Ran, Sandbox};
use crate::web::Web;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Child;

/// What a page is told when it asks for that: at once, or in the events of the run.
fn in_page(web: &Web, form: &Value) -> Value {
    let started = web.post("/runs", form);
    if started.status != 202 {
        return started.json()["error"].clone();
    }
    // Ends with the run.
    let events = web.get("/runs/live/events");
    let data = events.body.lines().filter_map(|line| line.strip_prefix("data: "));
    let mut errors = data.filter(|line| line.starts_with("{\"") && line.contains("\"error\""));
    let told = errors.next().unwrap_or_else(|| panic!("no error: {events:?}"));
    let mut told: Value = serde_json::from_str(told).unwrap();
    told.as_object_mut().unwrap().remove("event");
    told
}

fn in_terminal(ran: &Ran) -> Value {
    let last = ran.err.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|e| panic!("{e}: {ran:?}"))
}

/// Both are asked; they say the same, and this code.
#[track_caller]
fn same(web: &Web, code: &str, form: &Value, line: &str) {
    let terminal = in_terminal(&web.sandbox.run(&format!("{line} --json-errors -q")));
    assert_eq!(terminal["code"], code, "{line}: {terminal}");
    assert!(terminal["title"].as_str().is_some_and(|title| !title.is_empty()), "{terminal}");
    assert_eq!(in_page(web, form), terminal, "{line}");
}

fn against(host: &str, port: u16) -> Value {
    json!({"place": {"host": host}, "options": {"port": port.to_string()}})
}

/// This computer by both families, however it calls itself.
fn here(port: u16) -> Value {
    let options = json!({"port": port.to_string(), "v4": "127.0.0.1", "v6": "::1"});
    json!({"place": {"host": "here"}, "options": options})
}

fn run_here(port: u16) -> String {
    format!("run here --v4 127.0.0.1 --v6 ::1 --port={port}")
}

/// Listeners of both families on one port, each doing `answer` with whoever comes.
fn listening(answer: fn(TcpStream)) -> u16 {
    let (port, listeners) = ports::listening();
    for listener in listeners {
        std::thread::spawn(move || listener.incoming().for_each(|s| answer(s.unwrap())));
    }
    port
}

/// A server that ends with the test.
pub struct Server(Child);

impl Server {
    pub fn start(sandbox: &Sandbox, line: &str) -> Server {
        let mut child = sandbox.start(line);
        let mut byte = [0];
        // It says where it listens when it does.
        child.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
        Server(child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn trouble_with_a_host_is_told_as_in_the_terminal() {
    let web = Web::known();
    let nobody = free();
    let run = |host: &str, port: u16| format!("run {host} --port={port}");
    same(&web, "E201", &here(nobody), &run_here(nobody));
    same(&web, "E103", &against("no-such.invalid", 1), &run("no-such.invalid", 1));
    same(&web, "E104", &against("fe80::1", nobody), &run("fe80::1", nobody));
    let one = free();
    let _server = Server::start(&web.sandbox, &format!("serve --listen 127.0.0.1 -p {one}"));
    same(&web, "E202", &here(one), &run_here(one));
    same(&web, "E102", &against("127.0.0.1", one), &run("127.0.0.1", one));
}

#[test]
fn programs_that_are_no_server_of_today_are_told_as_in_the_terminal() {
    let web = Web::known();
    let old = listening(|mut stream| {
        let mut greeting = [0; 8];
        let _ = stream.read_exact(&mut greeting);
        let _ = stream.write_all(b"v6gC\x63\x63\0\0");
    });
    same(&web, "E205", &here(old), &run_here(old));
    let other = listening(|mut stream| {
        let _ = stream.write_all(b"SSH-2.0-other\r\n");
        let _ = stream.read(&mut [0; 64]);
    });
    same(&web, "E206", &here(other), &run_here(other));
}

/// A listener whose queue is full lets packets go unanswered, as a firewall does.
#[test]
fn silence_is_told_as_in_the_terminal() {
    let web = Web::known();
    let (port, _full) = silent();
    let told = std::thread::scope(|scope| {
        let page = scope.spawn(|| in_page(&web, &here(port)));
        let line = run_here(port) + " --json-errors -q";
        (in_terminal(&web.sandbox.run(&line)), page.join().unwrap())
    });
    assert_eq!(told.0["code"], "E203", "{told:?}");
    assert_eq!(told.0, told.1);
}

/// A port on which both families are silent, and what keeps it so.
fn silent() -> (u16, Vec<socket2::Socket>) {
    use socket2::{Socket, Type};
    let (port, listeners) = ports::listening();
    let mut kept = Vec::new();
    for listener in listeners.map(Socket::from) {
        listener.listen(0).unwrap();
        let there = listener.local_addr().unwrap();
        kept.push(listener);
        for _ in 0..4 {
            let waiting = Socket::new(there.domain(), Type::STREAM, None).unwrap();
            waiting.set_nonblocking(true).unwrap();
            let _ = waiting.connect(&there);
            kept.push(waiting);
        }
    }
    (port, kept)
}

/// A server that measures for somebody else: a look at it says so.
#[test]
fn a_busy_server_is_told_as_in_the_terminal() {
    let web = Web::known();
    let port = free();
    let _server =
        Server::start(&web.sandbox, &format!("serve --listen 127.0.0.1 --listen ::1 -p {port}"));
    let other = run_here(port) + " --measure rtt --for 60s --json-stream -q";
    let mut other = web.sandbox.start(&other);
    // Its first line comes when it has the server.
    other.stdout.as_mut().unwrap().read_exact(&mut [0; 16]).unwrap();
    let place = json!({"host": "here", "port": port, "v4": "127.0.0.1", "v6": "::1"});
    let line = run_here(port).replacen("run", "check", 1) + " --json --json-errors";
    let page = web.post("/check", &place).json()["failure"].clone();
    let words = web.sandbox.run(&run_here(port).replacen("run", "check", 1)).ended(4).out;
    assert!(words.starts_with("here measures for somebody else"), "{words}");
    let terminal = in_terminal(&web.sandbox.run(&line));
    // A measurement waits its turn, and the page says for what.
    assert_eq!(web.post("/runs", &here(port)).status, 202);
    let waits = "\"text\":\"waiting: here is measuring for ";
    let events = web.told(waits);
    assert!(events.contains(waits), "{events}");
    assert_eq!(web.post("/runs/live/stop", &json!({})).status, 204);
    let _ = other.kill();
    let _ = other.wait();
    assert_eq!(terminal["code"], "E204", "{terminal}");
    let why = terminal["why"].to_string();
    assert!(why.contains("It says: busy: measuring for "), "{why}");
    // The reason has the seconds that the other has been measuring, which are more for who asks
    // second.
    let whenever = |told: &Value| told.to_string().replace(char::is_numeric, "");
    assert_eq!(whenever(&page), whenever(&terminal));
}

#[test]
fn what_is_wrong_with_a_plan_is_told_as_in_the_terminal() {
    let web = Web::known();
    let text = "v6gap = 1\n\n[[measure]]\nmetric  = \"rtt\"\nmesage  = [\"64 B\"]\n";
    let terminal = in_terminal(&web.sandbox.run_on("plan check - --json-errors", text));
    assert_eq!(terminal["code"], "E501", "{terminal}");
    assert_eq!(web.post("/plans/validate", &json!({"toml": text})).json()["error"], terminal);
    assert_eq!(in_page(&web, &json!({"place": {"lab": ""}, "toml": text})), terminal);
}

/// What a kernel does not grant is no error: the note stands in the result.
#[test]
fn a_window_that_is_not_granted_is_noted_as_in_the_terminal() {
    let web = Web::known();
    let port = free();
    let _server = Server::start(&web.sandbox, &format!("serve -p {port}"));
    let plan = "v6gap = 1\n[design]\npairs = 6\nnull_blocks = 0\n[[measure]]\n\
                metric = \"throughput\"\nwindow = \"1 GiB\"\n\
                time = \"60 ms\"\nwarmup = \"10 ms\"\n";
    web.sandbox.write("window.toml", plan);
    let line = run_here(port).replacen("run", "plan run window.toml", 1);
    let line = line + " -q --json --no-report";
    // Whether its pairs count does not matter: other tests send over loopback meanwhile.
    let result: Value = serde_json::from_str(&web.sandbox.run(&line).out).unwrap();
    let notes = |result: &Value| -> Vec<Value> {
        let checks = result["checks"].as_array().unwrap();
        checks.iter().filter(|check| check["id"] == "window").cloned().collect()
    };
    let told = notes(&result);
    let text = told[0]["text"].as_str().unwrap();
    assert!(text.starts_with("asked for a window of 1 GiB, the kernel there granted "), "{text}");
    assert!(text.ends_with("[N402]"), "{text}");
    let mut form = here(port);
    form["toml"] = plan.into();
    assert_eq!(web.post("/runs", &form).status, 202);
    // Ends with the run.
    let events = web.get("/runs/live/events").body;
    let id = events.split_once("\"id\":\"").unwrap().1.split('"').next().unwrap();
    assert_eq!(notes(&web.get(&format!("/runs/{id}/result.json")).json()), told);
    // The plan that was typed into the page is kept with what came of it.
    assert_eq!(web.get(&format!("/runs/{id}/plan.toml")).body, plan);
    assert_eq!(web.sandbox.run(&format!("export {id} --format plan")).ended(0).out, plan);
}

#[test]
fn what_is_not_there_is_told_as_in_the_terminal() {
    let web = Web::known();
    for (path, line) in [
        ("/runs/nosuch", "show nosuch --json-errors"),
        ("/runs/nosuch/report.html", "report nosuch -o - --json-errors"),
        ("/runs/nosuch/note", "note nosuch --json-errors"),
        ("/runs/nosuch/figures", "figures nosuch --json-errors"),
        ("/compare?a=nosuch&b=7k2f9q", "compare nosuch 7k2f9q --json-errors"),
    ] {
        let told = in_terminal(&web.sandbox.run(line));
        assert_eq!(told["code"], "E502", "{line}");
        assert_eq!(web.get(path).json()["error"], told, "{path}");
    }
}
