//! Requests to the pages: what is typed there becomes arguments that were foreseen, and only the
//! server's own pages get through.

use crate::document;
use arbitrary::Unstructured;
use axum::http::header::{HOST, HeaderValue, ORIGIN};
use axum::http::{HeaderMap, Method, Version};
use serde_json::{Value, json};
use std::net::IpAddr;
use std::sync::LazyLock;
use v6gap_serve::form::Form;
use v6gap_serve::guard::{Refusal, judge};

/// What stands before the name of a plan or world that comes with the program.
const SHIPPED: &str = "preset:";

static FORMS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    vec![
        json!({ "place": "demo", "options": { "quick": "true", "seed": "7" } }),
        json!({ "place": { "host": "lab-b" }, "options": { "for": "20 s", "udp": "false" } }),
        json!({ "place": { "lab": "cable" }, "options": { "measure": "rtt", "v6": "fd00::7" } }),
        json!({ "place": { "lab": "" }, "plan": "sizes", "options": { "scale": "small" } }),
        json!({ "place": { "host": "fd00::7" }, "toml": "v6gap = 1", "confirm": true }),
        json!({ "place": "demo", "options": { "bitrate": "1 Mbit/s", "window": "1 MiB" } }),
        json!({ "place": { "site": "https://a.example/x?y" }, "options": { "http": "1.1,2" } }),
    ]
});

/// Text as it is, or a known form with changes.
pub fn form(data: &[u8]) {
    let text = match data.split_first() {
        Some((0, text)) => text.to_vec(),
        Some((&kind, changes)) => {
            let mut form = FORMS[usize::from(kind) % FORMS.len()].clone();
            document::change(&mut form, &mut Unstructured::new(changes));
            form.to_string().into_bytes()
        }
        None => return,
    };
    let Ok(form) = serde_json::from_slice::<Form>(&text) else { return };
    let input = form.input();
    assert!(input.iter().rev().skip(1).all(|&byte| byte != 0));
    let Ok(args) = form.arguments() else {
        return assert!(form.command().is_err());
    };
    for (at, arg) in args.iter().enumerate() {
        assert!(!arg.chars().any(char::is_control), "{arg:?}");
        assert!(at == 0 || is_foreseen(arg, &args[..at], form.toml.is_some()), "{arg:?}");
    }
    let verbs = [&["demo"][..], &["run"], &["probe"], &["plan", "run"]];
    assert!(verbs.iter().any(|verb| args.iter().zip(*verb).all(|(arg, word)| arg == word)));
    let shown = form.command().expect("what can be run can be shown");
    let mut expected = vec!["v6gap".to_owned()];
    expected.extend(args.iter().enumerate().map(|(at, arg)| as_typed(at, arg)));
    assert_eq!(words(&shown), expected, "{shown}");
}

/// What a person types for an argument: who has no file of such a name need not rule one out.
fn as_typed(at: usize, arg: &str) -> String {
    match (at, arg) {
        (_, "-") => "FILE".to_owned(),
        (2, arg) if arg.starts_with(SHIPPED) => arg[SHIPPED.len()..].to_owned(),
        _ => match arg.strip_prefix("--lab=") {
            Some(lab) => format!("--lab={}", lab.strip_prefix(SHIPPED).unwrap_or(lab)),
            None => arg.to_owned(),
        },
    }
}

/// An option that a page may set with its value in it, or a word that is no option.
fn is_foreseen(arg: &str, before: &[String], typed_plan: bool) -> bool {
    const FORBIDDEN: [&str; 9] =
        ["output", "capture", "key", "key-file", "data", "snmp", "server", "world", "mine"];
    match arg.strip_prefix("--") {
        Some(option) => {
            let (name, value) = option.split_once('=').unwrap_or((option, "true"));
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            let known = !name.is_empty() && name.bytes().all(plain);
            // The world is one that comes with the program, and no file.
            let harmless = name != "lab" || value.strip_prefix(SHIPPED).is_some_and(is_a_name);
            known && harmless && !FORBIDDEN.contains(&name)
        }
        None if arg == "-" => typed_plan && before == ["plan", "run"],
        // So is the plan.
        None if before == ["plan", "run"] => arg.strip_prefix(SHIPPED).is_some_and(is_a_name),
        None => !arg.starts_with('-') && !arg.is_empty() && !arg.contains(char::is_whitespace),
    }
}

fn is_a_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// The words of a line as a shell would split it: blanks, single quotes, and a backslash.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '\\' if !quoted => word.get_or_insert_default().extend(chars.next()),
            ' ' if !quoted => words.extend(word.take()),
            _ => {
                let plain = c.is_ascii_alphanumeric() || "-_=.,:/%+@[]~".contains(c);
                assert!(quoted || plain, "{c:?} stands open in {line}");
                word.get_or_insert_default().push(c);
            }
        }
    }
    assert!(!quoted, "a quote is open in {line}");
    words.extend(word);
    words
}

/// Headers from bytes: a count of each, and lines.
pub fn guard(data: &[u8]) {
    let Some((&kind, text)) = data.split_first() else { return };
    let names = ["lab-a".to_owned(), "192.0.2.7".to_owned(), "fd00::7".to_owned()];
    let method = match kind % 4 {
        0 => Method::GET,
        1 => Method::POST,
        2 => Method::DELETE,
        _ => Method::HEAD,
    };
    let version = [Version::HTTP_11, Version::HTTP_10, Version::HTTP_09][usize::from(kind / 4 % 3)];
    let mut headers = HeaderMap::new();
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').take(8).collect();
    for line in &lines {
        let (name, value) = match line.split_first() {
            Some((b'o', value)) => (ORIGIN, value),
            Some((b'h', value)) => (HOST, value),
            _ => continue,
        };
        if let Ok(value) = HeaderValue::from_bytes(value) {
            headers.append(name, value);
        }
    }
    let found = judge(&method, &headers, version, &names);
    let hosts: Vec<&HeaderValue> = headers.get_all(HOST).iter().collect();
    let host = hosts.first().and_then(|host| host.to_str().ok()).unwrap_or_default();
    let ours = hosts.len() == 1 && is_ours(host, &names) && version != Version::HTTP_09;
    let origins: Vec<&HeaderValue> = headers.get_all(ORIGIN).iter().collect();
    let own = origins.len() == 1 && origins[0].as_bytes() == format!("http://{host}").as_bytes();
    let reads = matches!(method, Method::GET | Method::HEAD);
    match found {
        Ok(()) => assert!(ours && (reads || own), "{method} {headers:?}"),
        Err(Refusal::Host) => assert!(!ours, "{headers:?}"),
        Err(_) => assert!(ours && !reads && !own, "{method} {headers:?}"),
    }
}

/// The names of the server as a browser understands an authority, each compared as a whole.
fn is_ours(host: &str, names: &[String]) -> bool {
    let digits = host.bytes().rev().take_while(u8::is_ascii_digit).count();
    let name = host[..host.len() - digits].strip_suffix(':').unwrap_or(host);
    let bare = match name.strip_prefix('[') {
        Some(inside) => inside.strip_suffix(']').unwrap_or(name),
        None => name,
    };
    match bare.parse::<IpAddr>() {
        Ok(address) => address.is_loopback() || names.iter().any(|known| known == bare),
        Err(_) => {
            let all = names.iter().map(String::as_str).chain(["localhost"]);
            all.into_iter().any(|known| known.eq_ignore_ascii_case(name))
        }
    }
}
