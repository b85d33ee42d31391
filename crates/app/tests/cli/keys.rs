//! Keys: an empty one is none, a weak one is told, and a good one is made.

use crate::support::{Ran, Sandbox, flat};
use std::io::{BufRead, BufReader};
use std::path::Path;

const GOOD: &str = "0123456789abcdef0123456789abcdef";

/// Starts a server on a port of the system's choice, reads its first line and ends it; what it
/// said on standard error. A server that does not start says why there.
fn served(sandbox: &Sandbox, line: &str, variables: &[(&str, &str)]) -> Ran {
    let line = format!("serve -p 0 --listen 127.0.0.1 {line}");
    let mut server = sandbox.start_with(&line, variables);
    let mut first = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut first).unwrap();
    // One that could not start has ended of its own accord.
    if first.is_empty() {
        return Sandbox::ended(server, first);
    }
    server.kill().unwrap();
    Sandbox::ended(server, first)
}

#[test]
fn an_empty_key_is_refused_wherever_it_comes_from() {
    let sandbox = Sandbox::new();
    sandbox.secret("empty", "\nsecond line\n");
    let verbs = [
        "serve",
        "serve --public",
        "check 127.0.0.1",
        "run 127.0.0.1 --v6 ::1",
        "doctor 127.0.0.1 --v6 ::1",
    ];
    for verb in verbs {
        for key in ["--key=", "--key-file empty"] {
            let ran = sandbox.run(&format!("{verb} {key}")).ended(2);
            assert!(ran.err.ends_with("[E108, exit 2]\n"), "{verb} {key}: {}", ran.err);
            assert_eq!(ran.out, "", "{verb} {key}");
        }
        let data = sandbox.path("");
        let variables = [("V6GAP_KEY", Path::new("")), ("V6GAP_DATA", data.as_path())];
        let ran = sandbox.run_with(verb, &variables).ended(2);
        assert!(flat(&ran.err).contains("V6GAP_KEY is set and empty"), "{verb}: {}", ran.err);
    }
}

#[test]
fn what_is_no_key_of_stamp_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.secret("empty", "\nsecond line\n");
    sandbox.secret("odd", "0x123\n");
    for (file, why) in [("empty", "there is no key in it"), ("odd", "hexadecimal digits")] {
        let ran = sandbox.run(&format!("serve --stamp --stamp-key-file {file}")).ended(2);
        assert!(flat(&ran.err).contains(why), "{file}: {}", ran.err);
        assert!(ran.err.ends_with("[E108, exit 2]\n"), "{file}: {}", ran.err);
    }
    for alone in ["--stamp-port 862", "--stamp-key-file odd"] {
        let ran = sandbox.run(&format!("serve {alone}")).ended(2);
        assert!(ran.err.contains("--stamp"), "{}", ran.err);
    }
}

#[test]
fn a_short_key_is_taken_for_near_networks_only() {
    let sandbox = Sandbox::new();
    sandbox.secret("short", "sesame\n");
    for far in ["", "--public", "--allow 192.0.2.0/24 --allow 0.0.0.0/0"] {
        let ran = served(&sandbox, &format!("--key-file short {far}"), &[]).ended(2);
        assert!(flat(&ran.err).contains("a key of 6 bytes is too short"), "{far}: {}", ran.err);
        assert!(ran.err.ends_with("[E109, exit 2]\n"), "{}", ran.err);
    }
    let near = served(&sandbox, "--key-file short --allow 127.0.0.0/8", &[]);
    assert!(near.out.starts_with("Serving on 127.0.0.1:"), "{near:?}");
    let warning = "warning: the key has fewer than 16 bytes";
    assert!(flat(&near.err).starts_with(warning), "{}", near.err);
}

#[test]
fn a_key_that_others_can_read_is_told() {
    let sandbox = Sandbox::new();
    let typed = served(&sandbox, &format!("--key {GOOD}"), &[]);
    assert!(typed.out.starts_with("Serving on"), "{typed:?}");
    assert!(flat(&typed.err).contains("in the list of processes"), "{}", typed.err);
    let variable = served(&sandbox, "--public", &[("V6GAP_KEY", GOOD)]);
    assert!(variable.out.starts_with("Serving on"), "{variable:?}");
    assert_eq!(variable.err, "");
    let checked = sandbox.run(&format!("check 127.0.0.1 -p 9 --key {GOOD}"));
    assert!(
        flat(&checked.err).starts_with("warning: others on this computer can read"),
        "{checked:?}"
    );
}

/// A file as most programs write it, which the usual mask lets others read where there are modes.
#[test]
fn the_mode_of_a_key_file_counts() {
    let sandbox = Sandbox::new();
    let path = sandbox.write("open", &format!("{GOOD}\n"));
    let is_open = matches!(v6gap_sys::secrets::read(&path, None).unwrap().others, Ok(1..));
    let public = served(&sandbox, "--public --key-file open", &[]);
    assert_eq!(public.err.contains("[E109, exit 2]"), is_open, "{public:?}");
    for ran in [
        served(&sandbox, "--key-file open", &[]),
        sandbox.run("check 127.0.0.1 -p 9 --key-file open"),
    ] {
        assert_eq!(flat(&ran.err).contains("; chmod 600 open"), is_open, "{}", ran.err);
    }
}

/// systemd's files of mode 0440, which an access list opens to the service's user.
#[test]
fn a_service_s_credential_is_for_the_service_alone() {
    let sandbox = Sandbox::new();
    let path = sandbox.write("key_lab", &format!("{GOOD}\n"));
    let set = std::process::Command::new("chmod").arg("440").arg(&path).status();
    let has_modes = v6gap_sys::secrets::read(&path, None).unwrap().others.is_ok();
    assert_eq!(has_modes, set.is_ok_and(|status| status.success()));
    let folder = path.parent().unwrap().to_str().unwrap();
    let serve = format!("--public --key-file {}", path.display());
    let service = served(&sandbox, &serve, &[("CREDENTIALS_DIRECTORY", folder)]);
    assert!(service.out.starts_with("Serving on"), "{service:?}");
    let elsewhere = served(&sandbox, &serve, &[("CREDENTIALS_DIRECTORY", "/run/credentials")]);
    assert_eq!(elsewhere.err.contains("[E109, exit 2]"), has_modes, "{elsewhere:?}");
}

#[test]
fn a_new_key_is_made_for_its_owner_alone_and_replaces_nothing() {
    let sandbox = Sandbox::new();
    let made = sandbox.run("serve --new-key lab.key -p 4467").ended(0);
    let word = sandbox.read("lab.key");
    let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    assert!(word.len() == 33 && word.trim_end().bytes().all(is_hex), "{word}");
    assert!(!made.out.contains(word.trim_end()), "the key is not shown");
    assert!(made.out.contains("v6gap serve --key-file lab.key -p 4467\n"), "{}", made.out);
    assert!(made.out.contains("v6gap run THIS-HOST --key-file lab.key -p 4467\n"), "{}", made.out);
    let again = sandbox.run("serve --new-key lab.key").ended(2);
    assert!(again.err.ends_with("[E110, exit 2]\n"), "{}", again.err);
    assert_eq!(sandbox.read("lab.key"), word);
    sandbox.run("serve --new-key other.key").ended(0);
    assert_ne!(sandbox.read("other.key"), word);
    let public = served(&sandbox, "--public --key-file lab.key", &[]);
    assert!(public.out.starts_with("Serving on"), "{public:?}");
    assert_eq!(public.err, "");
}
