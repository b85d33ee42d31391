//! Pinned keys: each end has a private key that stays where it is and names the others by their
//! public ones.

use crate::secrets::{Serving, holding};
use crate::support::{Sandbox, flat};
use std::path::Path;

/// Makes the keys of an end; its private and its public one.
fn made(sandbox: &Sandbox, file: &str) -> [String; 2] {
    let made = sandbox.run(&format!("serve --new-key {file} --pinned")).ended(0);
    let text = sandbox.read(file);
    let private = text.lines().find_map(|line| line.strip_prefix("private ")).unwrap().to_owned();
    let public = made.out.lines().map(str::trim).find(|line| line.len() == 64).unwrap().to_owned();
    assert!(text.contains(&format!("# {public}\n")) && !made.out.contains(&private), "{text}");
    [private, public]
}

/// Adds a peer to an end's file.
fn pin(sandbox: &Sandbox, file: &str, name: &str, public: &str) {
    use std::io::Write;
    let mut file = std::fs::File::options().append(true).open(sandbox.path(file)).unwrap();
    writeln!(file, "peer {name} {public}").unwrap();
}

#[test]
fn peers_measure_and_their_private_keys_stay_in_their_files() {
    let sandbox = Sandbox::new();
    let [here, there] = [made(&sandbox, "a.key"), made(&sandbox, "b.key")];
    pin(&sandbox, "a.key", "lab-b", &there[1]);
    pin(&sandbox, "b.key", "lab-a", &here[1]);
    let server = Serving::start(&sandbox, "--public --key-file b.key", &[]);
    let line = format!("run {} --key-file a.key --measure connect --pairs 6", server.host);
    let ran = sandbox.run(&line);
    // A busy host may take the verdict; it is a run all the same.
    assert!(matches!(ran.code, 0 | 6), "{ran:?}");
    assert_eq!(ran.err.matches("warning").count(), 0, "{}", ran.err);
    let log = server.said();
    assert!(log.contains("session 0, lab-a") && log.contains("measures, for lab-a"), "{log}");
    let private = [here[0].as_str(), &there[0]];
    let found = holding(&sandbox.path(""), &private, &["a.key", "b.key"]);
    assert_eq!(found, Vec::<std::path::PathBuf>::new());
    assert!(private.iter().all(|key| !(ran.out.clone() + &ran.err + &log).contains(key)));
}

#[test]
fn a_key_that_is_not_pinned_is_told_at_both_ends() {
    let sandbox = Sandbox::new();
    let [a, b, c] = ["a.key", "b.key", "c.key"].map(|file| made(&sandbox, file)[1].clone());
    pin(&sandbox, "b.key", "lab-a", &a);
    pin(&sandbox, "a.key", "lab-c", &c);
    pin(&sandbox, "c.key", "lab-b", &b);
    let server = Serving::start(&sandbox, "--key-file b.key", &[]);
    let check = |rest: &str| sandbox.run(&format!("check {} {rest}", server.host)).ended(4);
    let wrong_server = flat(&check("--key-file a.key").err);
    assert!(wrong_server.contains(&format!("Its public key is {b}")), "{wrong_server}");
    let stranger = flat(&check("--key-file c.key").err);
    assert!(stranger.contains(&format!("has the public key {c}")), "{stranger}");
    let word = flat(&check("--key 0123456789abcdef0123456789abcdef").err);
    assert!(word.contains("does not accept the key"), "{word}");
    for told in [wrong_server, stranger, word] {
        assert!(told.ends_with("[E207, exit 4]"), "{told}");
    }
    let log = server.said();
    assert!(log.contains(&format!("turned away: no peer has its key, {c}")), "{log}");
}

#[test]
fn a_file_of_keys_that_does_not_read_names_its_line() {
    let sandbox = Sandbox::new();
    let [private, public] = made(&sandbox, "a.key");
    for verb in ["serve --public", "check 127.0.0.1"] {
        let alone = sandbox.run(&format!("{verb} --key-file a.key")).ended(2);
        assert!(flat(&alone.err).contains("there is nobody to measure with"), "{}", alone.err);
    }
    pin(&sandbox, "a.key", "lab-b", &public[1..]);
    let short = sandbox.run("check 127.0.0.1 --key-file a.key").ended(2);
    assert!(flat(&short.err).contains("line 6: a key has 64 hexadecimal digits"), "{}", short.err);
    assert!(short.err.ends_with("[E108, exit 2]\n") && !short.err.contains(&private));
    // What stands in the clear in such a file is no word, wherever it comes from.
    let data = sandbox.path("");
    let word = ("V6GAP_KEY", Path::new("v6gap pinned keys"));
    for refused in [
        sandbox.run_with("serve", &[word, ("V6GAP_DATA", data.as_path())]),
        sandbox.run("serve --stamp --stamp-key-file a.key"),
    ] {
        assert!(refused.ended(2).err.ends_with("[E108, exit 2]\n"));
    }
    let pinned = sandbox.run("serve --pinned").ended(2);
    assert!(pinned.err.contains("--new-key"), "{}", pinned.err);
}
