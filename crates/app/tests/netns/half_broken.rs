//! An IPv6 that connects and then fails, by real servers that are wrong in one thing: how a probe
//! names that. What cannot be connected to is in `broken.rs`.

use super::sites::{AT, NAME, PORT, authority, certified, certified_for, nginx_of, ready};
use super::support::{Home, ended, figure, words};
use super::two_hosts::{Lab, Server};
use std::process::{Command, Stdio};

/// Takes connections and never says anything.
const SILENT: &str = "import socket, sys\n\
                      at = (sys.argv[1], int(sys.argv[2]))\n\
                      listening = socket.create_server(at, family=socket.AF_INET6)\n\
                      print('ready', flush=True)\n\
                      taken = []\n\
                      while True: taken.append(listening.accept())\n";

/// Bytes of a page that takes many packets.
const LARGE_BYTES: usize = 256 << 10;

/// A probe of a page of the site, which waits no longer than 1 s for anything.
fn probe(lab: &Lab, home: &Home, page: &str) -> Command {
    let mut probe = lab.command(home, "client");
    let ([four, six], url) = (AT, format!("https://{NAME}:{PORT}/{page}"));
    probe.args(["probe", &url, "--v4", four, "--v6", six, "--mine", "--http", "2"]);
    probe.args(["--timeout", "1s", "-q"]);
    probe
}

/// What is said of it, which must be this of IPv6, and that the other family works.
#[track_caller]
fn says(probe: &mut Command, what: &str, expected: &str) -> String {
    let output = probe.output().unwrap();
    let found = words(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{what}: {found}");
    let begins = format!("IPv6 is broken: https://{NAME}:{PORT}/");
    let named = format!("({}): {expected}", AT[1]);
    assert!(found.contains(&begins) && found.contains(&named), "{what}: {found}");
    assert!(found.contains("Over IPv4 it works."), "{what}: {found}");
    assert!(found.contains("[E403, exit 3]"), "{what}: {found}");
    figure(what, expected);
    found
}

/// The site over one family: its directives behind the address.
fn at(family: usize, rest: &str) -> String {
    let [four, six] = AT;
    format!("listen {}:{PORT} {rest}", [four.to_owned(), format!("[{six}]")][family])
}

fn silent(lab: &Lab, home: &Home) -> Server {
    let mut command = lab.exec(home, "server");
    command.args(["python3", "-c", SILENT, AT[1], &PORT.to_string()]);
    ready(command.stdout(Stdio::piped()), "ready")
}

/// No TLS, the certificate of another name, an answer that it cannot, and none at all.
pub fn is_named() {
    let home = Home::new("half-broken");
    let lab = Lab::up("halfbroken", &["--delay", "2ms"]);
    let roots = authority(&home);
    let good = certified_for(&home, "good", NAME);
    let other = certified_for(&home, "other", "other.example");
    let four = at(0, &format!("ssl http2; {good}"));
    for (what, six, expected) in [
        ("no TLS", ";".to_owned(), "TLS: "),
        ("the certificate of another name", format!("ssl http2; {other}"), "wrong site: "),
        ("busy", format!("ssl http2; {good} return 503;"), "answers 503"),
    ] {
        let server = nginx_of(&lab, &home, &[four.clone(), at(1, &six)]);
        let mut probe = probe(&lab, &home, "");
        says(probe.arg("--no-path").env("SSL_CERT_FILE", &roots), what, expected);
        drop(server);
    }
    let servers = [nginx_of(&lab, &home, &[four]), silent(&lab, &home)];
    says(probe(&lab, &home, "").arg("--no-path"), "silent", "stalls after 0 B");
    // A script may take any of it for its condition.
    let failed = probe(&lab, &home, "").args(["--no-path", "--fail-if", "broken"]).output();
    ended(&failed.unwrap(), 10);
    drop(servers);
}

/// Where large packets vanish, a page that takes some begins and does not go on.
pub fn stalls_where_large_packets_vanish() {
    let home = Home::new("half-hole");
    let lab = Lab::up("halfhole", &["--delay", "2ms", "--black-hole-v6", "1400"]);
    let pages = home.path().join("pages");
    std::fs::create_dir_all(&pages).unwrap();
    std::fs::write(pages.join("large"), vec![b'.'; LARGE_BYTES]).unwrap();
    let page = format!("location /large {{ root {}; }}", pages.display());
    let both = format!("{} {}", at(0, "ssl http2;"), at(1, "ssl http2;"));
    let site = format!("{both} {} {page}", certified(&home, "site"));
    let server = nginx_of(&lab, &home, &[site]);
    let mut probe = probe(&lab, &home, "large");
    let found = says(&mut probe, "black hole above 1400 B", "stalls after ");
    let small = "and not with segments of 1200 B: larger packets vanish on the way";
    assert!(found.contains(small), "{found}");
    let hole = "Over IPv6 packets above 1400 B vanish and nobody says so";
    assert!(found.contains(hole), "{found}");
    drop(server);
}
