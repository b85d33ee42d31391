//! Two processes on two hosts of a lab that a third holds: what happens between real machines.

use super::support::{
    Home, PROGRAM, document, figure, is_disturbance, is_spoiled, measured, number, question, text,
    told,
};
use super::tier::is_night;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A lab that `lab up` holds, taken down at the end.
pub struct Lab {
    name: String,
}

impl Lab {
    /// Builds a lab; `extra` are further arguments of `lab up`.
    pub fn up(name: &str, extra: &[&str]) -> Self {
        let name = format!("{name}{}", std::process::id());
        let output = Command::new(PROGRAM)
            .args(["lab", "up", "--name", &name])
            .args(extra)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        Lab { name }
    }

    /// Builds the world that a text describes.
    pub fn of_world(home: &Home, name: &str, world: &str) -> Self {
        let file = home.path().join(format!("{name}.toml"));
        std::fs::write(&file, world).unwrap();
        Lab::up(name, &[file.to_str().unwrap()])
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A command in a node of the lab; what it is follows as arguments.
    pub fn exec(&self, home: &Home, node: &str) -> Command {
        let mut command = home.command();
        command.args(["lab", "exec", "--name", &self.name, node, "--"]);
        command
    }

    /// The program in a node of the lab.
    pub fn command(&self, home: &Home, node: &str) -> Command {
        let mut command = self.exec(home, node);
        command.arg(PROGRAM);
        command
    }

    /// Does something to the network of a node, in words of `ip`.
    #[track_caller]
    pub fn ip(&self, home: &Home, node: &str, what: &str) {
        let output = self.exec(home, node).arg("ip").args(what.split(' ')).output().unwrap();
        assert!(output.status.success(), "{what}: {}", text(&output.stderr));
    }

    /// A server in a node, killed at the end.
    pub fn serve(&self, home: &Home, extra: &[&str]) -> Server {
        let (server, lines) = self.serve_aloud(home, extra);
        // Read and dropped, so that the server never meets a closed pipe.
        std::thread::spawn(move || lines.for_each(drop));
        server
    }

    /// The same, with what it says after it has said that it serves.
    pub fn serve_aloud(
        &self,
        home: &Home,
        extra: &[&str],
    ) -> (Server, impl Iterator<Item = String> + use<>) {
        let mut command = self.command(home, "server");
        let mut child = command.arg("serve").args(extra).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let first = lines.next().unwrap_or_default();
        assert!(first.contains("Serving"), "{first:?}");
        (Server(child), lines)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let down = Command::new(PROGRAM).args(["lab", "down", "--name", &self.name]).output();
        let is_down = down.as_ref().is_ok_and(|output| output.status.success());
        assert!(is_down || std::thread::panicking(), "{down:?}");
    }
}

/// A server process.
pub struct Server(pub Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have been killed already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn measure_each_other() {
    let home = Home::new("two-hosts");
    let lab = Lab::up("pair", &[]);
    let server = lab.serve(&home, &[]);
    let mut check = lab.command(&home, "client");
    check.args(["check", "10.46.2.2", "--v6", "fd46:2::2"]);
    let checked = check_output(&mut check);
    assert!(checked.contains("can be measured"), "{checked}");
    let output = lab
        .command(&home, "client")
        .args(["10.46.2.2", "--v6", "fd46:2::2", "--json", "-q", "--measure"])
        .args(match is_night() {
            true => &["tcp", "--quick"][..],
            false => &["throughput,tcp", "--pairs", "6", "-t", "300ms"],
        })
        .output()
        .unwrap();
    measured(&output);
    let result = document(&output);
    figure("headline", &result["headline"]);
    let q = question(&result, "throughput-tcp", "throughput");
    // A run whose verdict the machine took has a figure all the same, or its blocks are too few.
    assert!(q["effect"].is_object(), "{}", told(&output));
    figure("throughput", format!("{} ({})", q["text"], q["range_text"]));
    // The headers take 1.4 %, which a quick run finds the same or too small to matter; beside
    // other work it may leave it open.
    let right =
        if is_night() { &["same", "worse"][..] } else { &["same", "worse", "inconclusive"] };
    let why_none = q["why_none"].as_str().unwrap_or_default();
    let disturbed = is_spoiled(&output) || !is_night() && is_disturbance(why_none);
    assert!(disturbed || right.iter().any(|verdict| q["verdict"] == *verdict), "{q:#}");
    let off = number(&q["effect"]["estimate"]) - number(&q["predicted"]);
    assert!(off.abs() < 0.02, "{q:#}");
    drop(server);
}

/// One address is typed, and the server serves one session: the same in which it is asked for the
/// other, so the result is of both and says so.
pub fn one_address_is_enough() {
    let home = Home::new("one-address");
    let lab = Lab::up("one", &["--model", "bare", "--rate", "none"]);
    let server = lab.serve(&home, &["-1"]);
    let output = lab
        .command(&home, "client")
        .args(["10.46.2.2", "--measure", "connect", "--pairs", "6", "--json", "--no-report", "-q"])
        .output()
        .unwrap();
    measured(&output);
    let result = document(&output);
    let question = &result["questions"][0];
    for family in ["v4", "v6"] {
        assert!(number(&question[family]["n"]) > 0.0, "{question:#}");
    }
    let said = "the IPv6 address fd46:2::2 was told by the server at 10.46.2.2 and proved to lead \
                to the same server";
    assert!(text(&output.stdout).contains(said), "{result:#}");
    drop(server);
}

fn check_output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    text(&output.stdout)
}
