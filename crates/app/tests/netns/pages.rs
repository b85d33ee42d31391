//! What `v6gap web` tells of an error that needs another network: asked inside a lab's node, where
//! this test starts itself again, and compared with what the terminal says there.

use super::support::{Home, PROGRAM, text};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};

/// The argument that makes this test ask, with the form that follows it.
pub const ASK: &str = "--ask-page";

const AUTHORITY: &str = "127.0.0.1:24667";

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
    let (mut child, cookie) = serve(Command::new(PROGRAM));
    let started = http("POST", "runs", form, &cookie);
    let told = match started.contains("\"error\"") {
        true => started.split_once("\r\n\r\n").unwrap().1.to_owned(),
        false => http("GET", "runs/live/events", "", &cookie),
    };
    let line = told.lines().find(|line| line.contains("\"error\"")).unwrap_or(&told);
    let line = line.strip_prefix("data: ").unwrap_or(line);
    let error: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {told}"));
    println!("{}", error.get("error").unwrap_or(&error));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// What a page is given below `/api/v1` of what is stored there.
pub fn given(home: &Home, path: &str) -> String {
    let (mut child, cookie) = serve(home.command());
    let answer = http("GET", path, "", &cookie);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{path}: {answer}");
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// A server of pages, and the cookie of who has entered it.
fn serve(mut command: Command) -> (Child, String) {
    let port = AUTHORITY.rsplit(':').next().unwrap();
    command.args(["web", "--no-open", "--listen", "127.0.0.1", "-p", port]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let key = line.split_once("#k=").unwrap().1.split_whitespace().next().unwrap();
    let entered = http("POST", "session", &format!("{{\"key\":\"{key}\"}}"), "");
    let cookie = entered.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    (child, cookie.split(';').next().unwrap().to_owned())
}

fn http(method: &str, path: &str, body: &str, cookie: &str) -> String {
    let mut stream = TcpStream::connect(AUTHORITY).unwrap();
    let request = format!(
        "{method} /api/v1/{path} HTTP/1.1\r\nHost: {AUTHORITY}\r\nOrigin: http://{AUTHORITY}\r\n\
         Connection: close\r\nCookie: {cookie}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
