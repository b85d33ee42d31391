//! The programs that scrape and alert, started as they are and ended with the suite.

#[path = "../common/waiting.rs"]
mod waiting;

pub use waiting::until;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where `cargo xtask truth --setup` unpacks them.
const UNPACKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/servers/usr/bin");

/// Where Debian installs them.
const INSTALLED: &str = "/usr/bin";

/// Where they look for templates and pages, as it is compiled in.
const SHARE: &str = "/usr/share/prometheus";

/// Puts these there, where only the program sees them, and becomes it.
const PUT: &str = "mount -t tmpfs none /usr/share && cp -r \"$0\" /usr/share && exec \"$@\"";

/// The folder that has all of them.
pub struct Programs(PathBuf);

/// A program that is ended when it goes out of sight.
pub struct Running(Child);

impl Programs {
    /// The programs, if they are all there.
    pub fn find() -> Option<Programs> {
        let all = ["prometheus", "promtool", "prometheus-alertmanager"];
        let has = |folder: &PathBuf| all.iter().all(|name| folder.join(name).is_file());
        [UNPACKED, INSTALLED].map(PathBuf::from).into_iter().find(has).map(Programs)
    }

    /// Starts one of them.
    pub fn start(&self, name: &str, args: &[&str]) -> Running {
        let program = self.0.join(name);
        let mut command = match Path::new(SHARE).is_dir() {
            true => Command::new(program),
            false => {
                let mut command = Command::new("unshare");
                command.args(["--user", "--map-root-user", "--mount", "sh", "-c", PUT]);
                command.arg(self.0.join("../share/prometheus")).arg(program);
                command
            }
        };
        Running(command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap())
    }

    /// Has promtool find nothing wrong.
    pub fn promtool(&self, args: &[&str], text: &str) {
        let mut command = Command::new(self.0.join("promtool"));
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let [out, err] = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
        assert!(output.status.success(), "promtool {args:?}: {out}{err}");
    }
}

impl Running {
    /// That one.
    pub fn new(child: Child) -> Self {
        Running(child)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The page there, if there is one; in a version of HTTP that knows no pieces.
pub fn get(address: &str, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    head.contains(" 200 ").then(|| body.to_owned())
}
