//! `run --via ssh` by a script in place of ssh: what goes wrong is named with the host and the next
//! command, and nothing is begun after it.

use crate::support::{Ran, Sandbox};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A sandbox in which ssh is a script, which is given the command for the host as `$command` and
/// the host as `$host`.
fn with_ssh(body: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let text = format!(
        "#!/bin/sh\necho \"$@\" >> calls\n\
         while test $# -gt 0; do case $1 in\n\
         -T) shift;; -o) shift 2;; -O) exit 255;; *) break;; esac; done\n\
         host=$1; command=$2\n{body}\n"
    );
    let path = sandbox.write("fake-ssh", &text);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    sandbox
}

/// Runs the program with that script, and the system's programs for it.
fn run(sandbox: &Sandbox, line: &str) -> Ran {
    let ssh = sandbox.path("fake-ssh");
    let data = sandbox.path("data");
    let variables = [
        ("V6GAP_SSH", ssh.as_path()),
        ("V6GAP_DATA", data.as_path()),
        ("PATH", Path::new("/usr/bin:/bin:/usr/sbin:/sbin")),
    ];
    sandbox.run_with(line, &variables)
}

/// What a host answers that was looked at.
const LOOKED: &str = "echo v6gap:system Linux m68k; echo v6gap:between 192.0.2.1 1 192.0.2.7 22; \
                      echo v6gap:over";

#[track_caller]
fn ends(body: &str, code: i32, name: &str, parts: &[&str]) {
    let sandbox = with_ssh(body);
    let ran = run(&sandbox, "run --via ssh --from ops@rome1 --to ops@oslo1 --measure connect");
    let ran = ran.ended(code);
    assert!(ran.err.contains(&format!("[{name}, exit {code}]")), "{ran:?}");
    assert!(parts.iter().all(|part| ran.err.contains(part)), "{parts:?}: {ran:?}");
    assert!(!ran.err.contains('\u{1b}'), "{ran:?}");
    let calls = sandbox.read("calls");
    assert!(!calls.contains("serve"), "{calls}");
}

#[test]
fn hosts_that_ssh_does_not_reach_are_named() {
    ends(
        "echo 'ssh: connect to host rome1 port 22: Connection refused' >&2; exit 255",
        4,
        "E216",
        &["ops@rome1 cannot be reached", "Connection refused", "ssh ops@rome1 true"],
    );
    ends(
        "printf 'a\\033[2J: Permission denied (publickey).\\n' >&2; exit 255",
        5,
        "E217",
        &["ops@rome1", "Permission denied", "ssh-add"],
    );
}

#[test]
fn a_host_of_another_system_needs_another_program() {
    ends(LOOKED, 4, "E218", &["ops@rome1", "Linux m68k", "--remote-binary FILE"]);
    ends("echo nonsense", 4, "E218", &["ops@rome1"]);
}

#[test]
fn a_host_that_never_stops_talking_is_left() {
    ends("exec cat /dev/zero", 4, "E220", &["ops@rome1"]);
}

/// A program for an IBM mainframe, as its head says, and a host that calls itself one.
fn mainframe(sandbox: &Sandbox) {
    let mut head = b"\x7fELF\x02\x02\x01\x00".to_vec();
    head.extend([0; 10]);
    head.extend([0, 22]);
    std::fs::write(sandbox.path("program"), head).unwrap();
}

#[test]
fn what_cannot_be_copied_or_run_is_named_with_its_cause() {
    let looked = LOOKED.replace("m68k", "s390x");
    for (copying, code, name, said) in [
        ("exit 1", 4, "E219", "cannot be made"),
        ("echo v6gap:made; echo 'No space left on device' >&2; exit 1", 4, "E219", "disk there"),
        ("echo v6gap:made; echo v6gap:whole; echo v6gap:differs", 4, "E219", "not what was sent"),
        ("echo v6gap:made; echo v6gap:whole; echo v6gap:kept", 4, "E218", "does not run"),
    ] {
        let sandbox = with_ssh(&format!(
            "case $command in *uname*) {looked};; *sha256sum*) cat > /dev/null; {copying};; \
             *) echo 'cannot execute' >&2; exit 126;; esac"
        ));
        mainframe(&sandbox);
        let line = "run --via ssh --from ops@rome1 --to ops@oslo1 --remote-binary program";
        let ran = run(&sandbox, line).ended(code);
        assert!(ran.err.contains(&format!("[{name}, exit {code}]")), "{copying}: {ran:?}");
        assert!(ran.err.contains(said), "{copying}: {ran:?}");
    }
}

#[test]
fn a_server_that_cannot_serve_is_heard_and_nothing_is_measured() {
    let looked = LOOKED.replace("m68k", "s390x");
    let error = r#"{"code":"E111","title":"cannot serve on port 4466","why":[],"try":[],"exit":2}"#;
    let sandbox = with_ssh(&format!(
        "case $command in *uname*) {looked};; *sha256sum*) cat > /dev/null; echo v6gap:kept;; \
         *--version) echo v6gap 0.1.0;; \
         *serve*) read key; echo \"$key\" > key; echo '{error}' >&2; exit 2;; esac"
    ));
    mainframe(&sandbox);
    let line = "run --via ssh --from ops@rome1 --to ops@oslo1 --remote-binary program";
    let ran = run(&sandbox, line).ended(2);
    assert!(ran.err.contains("ops@oslo1, which serves: cannot serve on port 4466"), "{ran:?}");
    assert!(ran.err.contains("[E111, exit 2]"), "{ran:?}");
    let (key, calls) = (sandbox.read("key"), sandbox.read("calls"));
    assert!(key.trim().len() == 32 && !calls.contains(key.trim()), "{calls}");
    assert!(!calls.contains("json-stream"), "{calls}");
}

#[test]
fn a_host_is_forgotten_unless_it_holds_results() {
    let sandbox = with_ssh("case $command in *'rm -rf .cache/v6gap '*) echo v6gap:forgot;; esac");
    let ran = run(&sandbox, "run --via ssh --forget ops@rome1 ops@oslo1").ended(0);
    assert_eq!(ran.out.lines().count(), 2, "{ran:?}");
    let sandbox = with_ssh("echo v6gap:kept 5f");
    let ran = run(&sandbox, "run --via ssh --forget ops@rome1").ended(2);
    assert!(ran.err.contains("1 result") && ran.err.contains("[E221, exit 2]"), "{ran:?}");
}

#[test]
fn what_is_typed_is_checked_before_anything_is_called() {
    for (line, said) in [
        ("run --via ssh", "--from USER@HOST"),
        ("run --via ssh --from -oProxyCommand=x", "--from"),
        ("run --via ssh --from a --key word", "cannot be used with"),
        ("run --via ssh lab-b", "cannot be used with"),
        ("run lab-b --from a", "required"),
        ("run --forget a", "--via"),
    ] {
        let sandbox = with_ssh("exit 1");
        let ran = run(&sandbox, line).ended(2);
        assert!(ran.err.contains(said), "{line}: {ran:?}");
        assert!(!sandbox.path("calls").exists(), "{line}");
    }
    let ran = Sandbox::new().run("run --via ssh --from a --measure nonsense").ended(2);
    assert!(ran.err.contains("nonsense"), "{ran:?}");
}
