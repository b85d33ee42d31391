//! A server of PostgreSQL in a folder of a test, started as an ordinary user and ended with the
//! suite.

use crate::ports::free;
use serde_json::Value;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where `cargo xtask truth --setup` unpacks it.
const UNPACKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/servers");

/// Where its programs are below that, and below `/` where Debian installs them.
const PROGRAMS: &str = "usr/lib/postgresql/15/bin";

/// What they refuse to be is root.
const ORDINARY: [&str; 4] = ["unshare", "--user", "--map-user=1000", "--map-group=1000"];

/// Who owns the databases, and by which password from the network.
pub const USER: &str = "v6gap";
pub const PASSWORD: &str = "not-to-be-seen";

/// Longest that a statement of a test may wait for others; pg_ctl itself waits for 60 s.
const PATIENCE: &str = "-c statement_timeout=120s";

/// Has the certificate of a server name it.
const NAMED: &str = "\
[req]
distinguished_name = subject
x509_extensions = host
[subject]
[host]
basicConstraints = critical,CA:FALSE
subjectAltName = DNS:localhost
";

/// A server that runs.
pub struct Server {
    programs: PathBuf,
    folder: PathBuf,
    /// Its port on this host's loopback.
    pub port: u16,
}

/// The folder of the programs, if they are there.
pub fn programs() -> Option<PathBuf> {
    let has = |folder: &PathBuf| {
        ["initdb", "pg_ctl", "postgres", "psql"].iter().all(|name| folder.join(name).is_file())
    };
    [UNPACKED, "/"].map(|root| Path::new(root).join(PROGRAMS)).into_iter().find(has)
}

impl Server {
    /// Starts one in a folder.
    pub fn start(programs: PathBuf, folder: PathBuf) -> Self {
        std::fs::create_dir_all(&folder).unwrap();
        authority(&folder, "authority");
        certificate(&folder);
        std::fs::write(folder.join("password"), PASSWORD).unwrap();
        let port = free();
        let server = Server { programs, folder, port };
        let at = server.folder.display().to_string();
        server.does(
            "initdb",
            &[
                "-D",
                &format!("{at}/data"),
                "-U",
                USER,
                "--auth-local=trust",
                "--no-sync",
                "--auth-host=scram-sha-256",
                "--pwfile",
                &format!("{at}/password"),
                "--locale=C",
                "-E",
                "UTF8",
            ],
        );
        let settings = format!(
            "-k {at} -p {port} -c listen_addresses=localhost -c jit=off -c ssl=on \
             -c ssl_cert_file={at}/server.crt -c ssl_key_file={at}/server.key"
        );
        server.does(
            "pg_ctl",
            &[
                "start",
                "-w",
                "-D",
                &format!("{at}/data"),
                "-l",
                &format!("{at}/log"),
                "-o",
                &settings,
            ],
        );
        server
    }

    /// Makes a database; its URL, by the socket.
    pub fn database(&self, name: &str) -> String {
        self.execute("postgres", &format!("CREATE DATABASE {name}"));
        let socket = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://{USER}@{socket}:{}/{name}", self.port)
    }

    /// A file in its folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Has it do something.
    pub fn execute(&self, database: &str, sql: &str) -> String {
        let (port, folder) = (self.port.to_string(), self.folder.display().to_string());
        let output = self
            .command("psql")
            .args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-U", USER])
            .args(["-h", &folder, "-p", &port, "-d", database, "-c", sql])
            .output()
            .unwrap();
        let [out, err] =
            [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap());
        assert!(output.status.success(), "{sql}: {err}");
        out
    }

    /// The rows that a query gives.
    pub fn ask(&self, database: &str, query: &str) -> Vec<Value> {
        let sql = format!("SELECT coalesce(json_agg(q), '[]') FROM ({query}) AS q");
        serde_json::from_str(&self.execute(database, &sql)).unwrap()
    }

    fn does(&self, program: &str, args: &[&str]) {
        let mut command = self.command(program);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null());
        let log = || std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        assert!(command.status().unwrap().success(), "{program} {args:?}: {}", log());
    }

    /// A program of it, as an ordinary user and with the libraries that came with it.
    fn command(&self, program: &str) -> Command {
        let is_root = std::fs::metadata(&self.folder).unwrap().uid() == 0;
        let program = self.programs.join(program);
        let mut command = match is_root {
            true => {
                let mut command = Command::new(ORDINARY[0]);
                command.args(&ORDINARY[1..]).arg(program);
                command
            }
            false => Command::new(program),
        };
        let places = ["lib", "usr/lib"].map(|place| Path::new(UNPACKED).join(place));
        let folders = places.iter().filter_map(|place| std::fs::read_dir(place).ok()).flatten();
        let folders: Vec<String> =
            folders.flatten().map(|folder| folder.path().display().to_string()).collect();
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("LANG", "C").env("PGOPTIONS", PATIENCE);
        if self.programs.starts_with(UNPACKED) {
            command.env("LD_LIBRARY_PATH", folders.join(":"));
        }
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = self.folder.join("data");
        let mut command = self.command("pg_ctl");
        command.args(["stop", "-w", "-m", "fast", "-D"]).arg(data).stdout(Stdio::null());
        let _ = command.status();
    }
}

/// Makes somebody who vouches for servers, under a name.
pub fn authority(folder: &Path, name: &str) {
    let (key, certificate) = (format!("{name}.key"), format!("{name}.crt"));
    openssl(folder, &["-keyout", &key, "-out", &certificate, "-subj", "/CN=an authority"]);
}

fn certificate(folder: &Path) {
    std::fs::write(folder.join("server.cnf"), NAMED).unwrap();
    openssl(
        folder,
        &[
            "-keyout",
            "server.key",
            "-out",
            "server.crt",
            "-subj",
            "/CN=localhost",
            "-config",
            "server.cnf",
            "-CA",
            "authority.crt",
            "-CAkey",
            "authority.key",
        ],
    );
}

fn openssl(folder: &Path, args: &[&str]) {
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]);
    let made = openssl.args(["-nodes", "-days", "2"]).args(args).current_dir(folder).output();
    let made = made.unwrap();
    assert!(made.status.success(), "{made:?}");
}
