//! Many connections: 1,000 and 10,000 open at a time, and set up, used and closed one after the
//! other and 64 at a time; how many per second and what the kernel spends on each. The two ends are
//! processes of their own on two hosts of a lab without rates. Needs user namespaces and a limit of
//! open files above 10,000.
//!
//! `cargo bench -p v6gap --bench connections`
#![expect(
    clippy::disallowed_methods,
    reason = "a program of its own, which starts another one, measures it and prints"
)]

use serde_json::Value;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_v6gap");

const PLAN: &str = r#"
v6gap = 1
name = "Many connections"
[design]
pairs = 4
null_blocks = 0
[[measure]]
metric = "connect-rate"
hold = true
count = 1000
[[measure]]
metric = "connect-rate"
hold = true
count = 10000
[[measure]]
metric = "connect-rate"
count = 5000
concurrent = 1
[[measure]]
metric = "connect-rate"
count = 5000
concurrent = 64
"#;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() {
    if let Err(error) = bench() {
        eprintln!("no connections: {error}");
        std::process::exit(1);
    }
}

fn bench() -> Outcome {
    let lab = Lab::up()?;
    let _server = lab.serve()?;
    let file = lab.folder.join("plan.toml");
    std::fs::write(&file, PLAN)?;
    let mut client = lab.on("client");
    client.args(["plan", "run", "-q", "--json"]).arg(&file);
    let output = client.args(["10.46.2.2", "--v6", "fd46:2::2"]).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let result: Value = serde_json::from_slice(&output.stdout)?;
    if result["valid"] != true || result["refused"].as_object().is_none_or(|r| !r.is_empty()) {
        return Err(format!("{}; refused: {}", result["headline"], result["refused"]).into());
    }
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    for q in list(&result, "questions")?.iter().filter(|q| q["metric"] == "connect-rate") {
        let (v4, v6) = (number(&q["v4"]["estimate"]), number(&q["v6"]["estimate"]));
        println!("{}: IPv4 {v4:.0}/s, IPv6 {v6:.0}/s", text(&q["cell"]));
    }
    for held in list(&result, "memory")? {
        let (cell, family) = (text(&held["cell"]), text(&held["family"]));
        let (count, bytes) = (number(&held["connections"]), number(&held["bytes_each"]));
        println!("{cell}, {family}: {count} held, {bytes:.0} B of kernel memory each (both ends)");
    }
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list<'a>(result: &'a Value, key: &str) -> Outcome<&'a Vec<Value>> {
    result[key].as_array().ok_or_else(|| format!("the result has no {key}").into())
}

/// A lab of the program's, taken down at the end, with a folder for its data.
struct Lab {
    name: String,
    folder: std::path::PathBuf,
}

impl Lab {
    fn up() -> Outcome<Self> {
        let name = format!("bench{}", std::process::id());
        let folder = std::env::temp_dir().join(format!("v6gap-{name}"));
        std::fs::create_dir_all(&folder)?;
        let lab = Lab { name, folder };
        let up = ["lab", "up", "--model", "bare", "--name", &lab.name];
        let output = Command::new(PROGRAM).args(up).output()?;
        if output.status.success() {
            return Ok(lab);
        }
        Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
    }

    /// The program on one of its hosts.
    fn on(&self, node: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(["lab", "exec", "--name", &self.name, node, "--", PROGRAM]);
        command.env("V6GAP_DATA", &self.folder);
        command
    }

    /// A server that is ready, as its first line says.
    fn serve(&self) -> Outcome<Server> {
        let mut child = self.on("server").arg("serve").stdout(Stdio::piped()).spawn()?;
        let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?);
        let server = Server(child);
        let mut line = String::new();
        lines.read_line(&mut line)?;
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        if line.contains("Serving") { Ok(server) } else { Err(line.into()) }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // What cannot be removed is no reason to hide a failure.
        let _ = Command::new(PROGRAM).args(["lab", "down", "--name", &self.name]).output();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
