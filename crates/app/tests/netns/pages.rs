//! What `v6gap web` tells of an error that needs another network: asked inside a lab's node, where
//! this test starts itself again, and compared with what the terminal says there.

use super::support::{Home, PROGRAM, text};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};

/// The argument that makes this test ask, with the form that follows it.
pub const ASK: &str = "--ask-page";

/// This test in place of the program, asking for that; `command` is what enters the node.
pub fn asked(mut command: Command, form: &str) -> Value {
    let output = command.arg(std::env::current_exe().unwrap()).args([ASK, form]).output().unwrap();
    last_line(&output.stdout, &output)
}

/// The error that a program told as JSON.
pub fn last_line(told: &[u8], output: &Output) -> Value {
    let told = text(told);
    let last = told.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|e| panic!("{e}: {told}{}", text(&output.stderr)))
}

/// That a page and the terminal say the same.
#[track_caller]
pub fn same(page: &Value, terminal: &Value, code: &str) {
    assert_eq!(terminal["code"], code, "{terminal}");
    for part in ["code", "title", "why", "try", "exit"] {
        assert_eq!(page[part], terminal[part], "{part}: {page}");
    }
}

/// Starts a server of pages where this process is, asks it to measure, and prints the error that
/// comes of it.
pub fn ask(form: &str) {
    let pages = Pages::open(Command::new(PROGRAM));
    let started = pages.ask("POST", "runs", form);
    let told = match started.contains("\"error\"") {
        true => started.split_once("\r\n\r\n").unwrap().1.to_owned(),
        false => pages.ask("GET", "runs/live/events", ""),
    };
    let line = told.lines().find(|line| line.contains("\"error\"")).unwrap_or(&told);
    let line = line.strip_prefix("data: ").unwrap_or(line);
    let error: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {told}"));
    println!("{}", error.get("error").unwrap_or(&error));
}

/// What a page is given below `/api/v1` of what is stored there.
pub fn given(home: &Home, path: &str) -> String {
    let answer = Pages::open(home.command()).ask("GET", path, "");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{path}: {answer}");
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// A server of pages, killed when dropped, and somebody who has entered it.
pub struct Pages {
    /// The server.
    pub child: Child,
    authority: String,
    token: String,
}

impl Pages {
    /// Starts a server of pages by the program of `command`, and enters it.
    pub fn open(mut command: Command) -> Self {
        // A port that was free a moment ago.
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let (authority, port) = (free.to_string(), free.port().to_string());
        command.args(["web", "--no-open", "--listen", "127.0.0.1", "-p", &port]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let key = line.split_once("#k=").unwrap().1.split_whitespace().next().unwrap();
        let key = format!("{{\"key\":\"{key}\"}}");
        let entered = http(&authority, "POST", "session", &key, "");
        let told: Value = serde_json::from_str(entered.split_once("\r\n\r\n").unwrap().1).unwrap();
        Pages { child, authority, token: told["token"].as_str().unwrap().to_owned() }
    }

    /// The whole answer to a request below `/api/v1`.
    pub fn ask(&self, method: &str, path: &str, body: &str) -> String {
        http(&self.authority, method, path, body, &self.token)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn http(authority: &str, method: &str, path: &str, body: &str, token: &str) -> String {
    let mut stream = TcpStream::connect(authority).unwrap();
    let request = format!(
        "{method} /api/v1/{path} HTTP/1.1\r\nHost: {authority}\r\nOrigin: http://{authority}\r\n\
         Connection: close\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
