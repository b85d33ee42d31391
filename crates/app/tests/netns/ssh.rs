//! `run --via ssh` with real servers of ssh in two hosts of a lab, asked from a third one: the
//! program is copied once, the result is here, and nothing is left there.

use super::sites::{AT, program, ready, with_libraries};
use super::support::{Home, figure, host_of_its_own, measured, number, question, text};
use super::two_hosts::{Lab, Server};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The node that measures, and its address.
const CLIENT: (&str, &str) = ("client", "10.46.1.1");

/// Where ssh is served: not even the user of a lab may have a lower port in a namespace below it.
const PORT: u16 = 2_222;

/// Has the system of a host know one user, and becomes that one, whom a server of ssh that is no
/// root lets in alone.
const OWN: &str = r#"
mount --bind "$0/passwd" /etc/passwd || exit 1
exec unshare --user --map-user=1000 --map-group=1000 "$@"
"#;

/// The folder of the user on a host.
fn folder(home: &Home, node: &str) -> PathBuf {
    home.path().join(format!("user-on-{node}"))
}

fn keygen(path: &std::path::Path) {
    let mut keygen = Command::new("ssh-keygen");
    keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path);
    assert!(keygen.status().unwrap().success());
}

/// A server of ssh on a node, which lets in who has the test's key.
fn sshd(lab: &Lab, home: &Home, node: &str) -> Server {
    let folder = folder(home, node);
    std::fs::create_dir_all(&folder).unwrap();
    let at = folder.display();
    let user = format!("ops:x:1000:1000::{at}:/bin/sh\nroot:x:0:0::/:/bin/sh\n");
    std::fs::write(folder.join("passwd"), user).unwrap();
    keygen(&folder.join("host-key"));
    std::fs::copy(home.path().join("key.pub"), folder.join("authorized")).unwrap();
    let config = format!(
        "Port {PORT}\nHostKey {at}/host-key\nAuthorizedKeysFile {at}/authorized\nPidFile none\n\
         UsePAM no\nStrictModes no\nPasswordAuthentication no\n\
         SetEnv V6GAP_LOCKS={}\n",
        host_of_its_own(home.path()).display()
    );
    let file = folder.join("sshd_config");
    std::fs::write(&file, config).unwrap();
    let mut command = lab.exec(home, node);
    command.args(["unshare", "--mount", "sh", "-c", OWN]).arg(&folder);
    command.args(with_libraries()).arg(program("sshd")).args(["-D", "-e", "-f"]).arg(file);
    ready(command.stderr(Stdio::piped()), &format!("Server listening on :: port {PORT}"))
}

/// ssh with the test's key and without what this computer's user has.
fn ssh(home: &Home) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let (config, script) = (home.path().join("ssh_config"), home.path().join("ssh"));
    let key = home.path().join("key");
    let text = format!(
        "Host client\n HostName {}\nHost server\n HostName {}\nHost *\n User ops\n Port {PORT}\n \
         IdentityFile {}\n IdentitiesOnly yes\n StrictHostKeyChecking no\n \
         UserKnownHostsFile /dev/null\n LogLevel ERROR\n",
        CLIENT.1,
        AT[0],
        key.display()
    );
    std::fs::write(&config, text).unwrap();
    let text = format!("#!/bin/sh\nexec ssh -F {} \"$@\"\n", config.display());
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    script
}

/// Asks from a host between the two.
fn ask(lab: &Lab, home: &Home, more: &[&str]) -> Output {
    let mut command = lab.command(home, "router");
    command.env("V6GAP_SSH", home.path().join("ssh")).args(["run", "--via", "ssh"]).args(more);
    command.output().unwrap()
}

/// Processes of this computer that run the program from the user's folder on a host.
fn running(home: &Home) -> usize {
    let is_one = |entry: &std::fs::DirEntry| {
        let program = std::fs::read_link(entry.path().join("exe")).unwrap_or_default();
        program.starts_with(home.path())
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter(is_one).count()
}

pub fn two_hosts_are_measured() {
    let home = Home::new("ssh");
    let lab = Lab::up("ssh", &["--model", "bare", "--rate", "none"]);
    keygen(&home.path().join("key"));
    ssh(&home);
    let servers = [CLIENT.0, "server"].map(|node| sshd(&lab, &home, node));
    let ends = ["--from", "ops@client", "--to", "ops@server"];
    let what = ["--measure", "connect", "--pairs", "6", "--no-report", "--json"];
    for copied in [2, 0] {
        let output = ask(&lab, &home, &[&ends[..], &what[..]].concat());
        measured(&output);
        let said = text(&output.stderr);
        assert_eq!(said.matches(": copied (").count(), copied, "{said}");
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        let question = question(&result, "connect-tcp", "connect");
        for family in ["v4", "v6"] {
            assert!(number(&question[family]["n"]) >= 6.0, "{question:#}");
        }
    }
    figure("hosts that the program was copied to twice", 0);

    // The result is that of any run: shown, listed and exported here.
    let shown = home.v6gap(&["show", "last", "--json"]);
    assert!(shown.status.success() || shown.status.code() == Some(6), "{}", text(&shown.stderr));
    let listed = home.v6gap(&["list", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed:#}");

    // Only the program is left, and then nothing.
    assert_eq!(running(&home), 0);
    for node in [CLIENT.0, "server"] {
        let cache = folder(&home, node).join(".cache/v6gap");
        let names = std::fs::read_dir(&cache).unwrap().flatten().map(|entry| entry.file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["bin"], "{node}");
    }
    let forgot = ask(&lab, &home, &["--forget", "ops@client", "ops@server"]);
    assert!(forgot.status.success(), "{}", text(&forgot.stderr));
    for node in [CLIENT.0, "server"] {
        assert!(!folder(&home, node).join(".cache/v6gap").exists(), "{node}");
    }
    drop(servers);
}
