//! Secrets are used and nowhere kept: keys, communities and passphrases, wherever they come from,
//! stand in no file of a run, no export, no report, no log and no message.

use crate::support::Sandbox;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Output};

/// A key for sessions, as it is typed.
const KEY: &str = "planted-key-of-thirty-two-bytes!";

/// The word of SNMP v2c, and the two of a user of v3.
const COMMUNITY: &str = "planted-community";
const AUTHENTICATION: &str = "planted-authentication";
const PRIVACY: &str = "planted-privacy";

/// What ends each run soon.
const SHORT: &str = "--measure connect --pairs 6";

/// A server on loopback, ended when it is asked what it said.
pub struct Serving {
    child: Child,
    /// How a client is told where it is.
    pub host: String,
}

impl Serving {
    pub fn start(sandbox: &Sandbox, options: &str, variables: &[(&str, &str)]) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let line = format!("serve -p {free} --listen 127.0.0.1 --listen ::1 {options}");
        let mut child = sandbox.start_with(&line, variables);
        let mut first = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
        assert!(first.contains("Serving"), "{first}");
        Serving { child, host: format!("127.0.0.1 --v6 ::1 -p {free}") }
    }

    /// What it said until now.
    pub fn said(mut self) -> String {
        self.child.kill().unwrap();
        let output = self.child.wait_with_output().unwrap();
        told(&output)
    }
}

fn told(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

/// Which of the words stand in the bytes.
fn among(words: &[&str], bytes: &[u8]) -> Vec<String> {
    let stands = |word: &&&str| bytes.windows(word.len()).any(|part| part == word.as_bytes());
    words.iter().filter(stands).map(|word| (*word).to_owned()).collect()
}

/// Files below a folder that hold one of the words, those that the test put there left out.
pub fn holding(folder: &Path, words: &[&str], own: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            found.extend(holding(&path, words, own));
        } else if !own.iter().any(|own| name == *own) {
            let stand = among(words, &std::fs::read(&path).unwrap());
            found.extend((!stand.is_empty()).then_some(path));
        }
    }
    found
}

/// Runs `v6gap LINE` with these variables; what it said, and its code.
fn ran(sandbox: &Sandbox, line: &str, variables: &[(&str, &str)]) -> (String, Option<i32>) {
    let output = sandbox.start_with(line, variables).wait_with_output().unwrap();
    (told(&output), output.status.code())
}

/// The test would notice a secret in a folder below and in what is said.
#[test]
fn what_is_planted_is_found() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("below")).unwrap();
    sandbox.write("own", KEY);
    let log = sandbox.write("below/log", &format!("a line with {COMMUNITY} in it"));
    assert_eq!(holding(&sandbox.path(""), &[KEY, COMMUNITY], &["own"]), [log]);
    assert_eq!(among(&[KEY, PRIVACY], format!("{{\"key\":\"{PRIVACY}\"}}").as_bytes()), [PRIVACY]);
}

/// A session's key from a file that was made for it, from a file of one's own, from the command
/// line and from the environment; everything that comes of the run is looked through.
#[test]
fn no_key_of_a_session_is_kept_or_told() {
    let sandbox = Sandbox::new();
    sandbox.secret("own.key", &format!("{KEY}\n"));
    sandbox.run("serve --new-key made.key").ended(0);
    let made = sandbox.read("made.key").trim().to_owned();
    assert!(made.len() >= 32, "{} bytes", made.len());
    let words = [KEY, made.as_str()];
    let variable = ("V6GAP_KEY", KEY);
    let given = [
        ("--key-file made.key".to_owned(), None),
        ("--key-file own.key".to_owned(), None),
        (format!("--key {KEY}"), None),
        (String::new(), Some(variable)),
    ];
    for (key, variable) in &given {
        let variables: Vec<_> = variable.iter().copied().collect();
        let server = Serving::start(&sandbox, key, &variables);
        let line = format!("run {} {key} {SHORT} -V --json-stream", server.host);
        let (said, code) = ran(&sandbox, &line, &variables);
        // A busy host may take the verdict; it is a run all the same.
        assert!(matches!(code, Some(0 | 6)), "{key}: {code:?} {said}");
        let said = said + &server.said();
        assert_eq!(among(&words, said.as_bytes()), Vec::<String>::new(), "{key}: {said}");
        written_out(&sandbox, &words);
    }
    // One that does not fit is refused, and not repeated either.
    let server = Serving::start(&sandbox, "--key-file made.key", &[]);
    let (refused, code) = ran(&sandbox, &format!("run {} --key {KEY}", server.host), &[]);
    assert_eq!(code, Some(4), "{refused}");
    let said = refused + &server.said();
    assert_eq!(among(&words, said.as_bytes()), Vec::<String>::new(), "{said}");
}

/// The last run in every form that it can be had in, each looked through with its folder.
fn written_out(sandbox: &Sandbox, words: &[&str]) {
    let mut said = String::new();
    for line in [
        "export last --format csv -o last.csv",
        "export last --format json -o last.json",
        "export last --format jsonl -o last.jsonl",
        "export last --format parquet -o last-tables",
        "report last -o last.html",
        "show last -V",
        "show last --json",
        "list",
    ] {
        let _ = std::fs::remove_dir_all(sandbox.path("last-tables"));
        let (told, code) = ran(sandbox, line, &[]);
        assert_eq!(code, Some(0), "{line}: {told}");
        said += &told;
    }
    assert!(among(&["127.0.0.1"], said.as_bytes()).len() == 1, "results name hosts: {said}");
    assert_eq!(among(words, said.as_bytes()), Vec::<String>::new(), "{said}");
    let found = holding(&sandbox.path(""), words, &["own.key", "made.key"]);
    assert_eq!(found, Vec::<PathBuf>::new());
}

/// Nobody answers for the device, so the run ends before it measures; who asked with which word
/// stays untold. Readings that are answered are looked through on real links (`netns/snmp.rs`).
#[test]
fn no_word_of_a_device_is_kept_or_told() {
    let sandbox = Sandbox::new();
    sandbox.secret("device.key", &format!("{AUTHENTICATION}\n{PRIVACY}\n"));
    let words = [COMMUNITY, AUTHENTICATION, PRIVACY];
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let device = format!("--snmp {} --snmp-timeout 20ms", silent.local_addr().unwrap());
    let user = "--snmp-user reader --snmp-auth sha256 --snmp-priv aes";
    let of_user = [("V6GAP_SNMP_AUTH_KEY", AUTHENTICATION), ("V6GAP_SNMP_PRIV_KEY", PRIVACY)];
    let given = [
        (format!("--snmp-community {COMMUNITY}"), vec![]),
        (String::new(), vec![("V6GAP_SNMP_COMMUNITY", COMMUNITY)]),
        (user.to_owned(), of_user.to_vec()),
        (format!("{user} --snmp-key-file device.key"), vec![]),
    ];
    for (credentials, variables) in &given {
        let line = format!("demo --loopback {device} {credentials} {SHORT} --json-errors");
        let (said, code) = ran(&sandbox, &line, variables);
        assert_eq!(code, Some(4), "{credentials}: {said}");
        assert!(said.contains("E303"), "{credentials}: {said}");
        assert_eq!(among(&words, said.as_bytes()), Vec::<String>::new(), "{said}");
        let found = holding(&sandbox.path(""), &words, &["device.key"]);
        assert_eq!(found, Vec::<PathBuf>::new(), "{credentials}");
    }
}
