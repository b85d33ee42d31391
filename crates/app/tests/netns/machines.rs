//! Nodes of a lab that stand for machines of their own: each has a folder that it stands in, a
//! `/srv`, and results and claims of its own, and knows the others by their names. Lines are run as
//! they are typed.

use super::programs::{Running, server};
use super::support::{Home, PROGRAM, text};
use super::two_hosts::Lab;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Has a line belong to a machine: all names, its `/srv` and its folder.
const STAND: &str = "mount --bind \"$1/names\" /etc/hosts && mount --bind \"$1/$2/srv\" /srv && \
                     cd \"$1/$2\" && exec sh -c \"$3\"";

/// The machines of a lab.
pub struct Machines {
    lab: Lab,
    home: Home,
}

impl Machines {
    /// Those of the world of this text, each by its name and its addresses of both families. On
    /// each the program and nats-server are found by their names.
    pub fn new(name: &str, world: &str, machines: &[(&str, [String; 2])]) -> Self {
        let broker = server();
        let broker = broker.expect("no nats-server: cargo xtask truth --setup brings it");
        let home = Home::new(name);
        let programs = home.path().join("bin");
        std::fs::create_dir_all(&programs).unwrap();
        symlink(PROGRAM, programs.join("v6gap")).unwrap();
        if broker.is_absolute() {
            symlink(broker, programs.join("nats-server")).unwrap();
        }
        let mut names = String::new();
        for (machine, addresses) in machines {
            std::fs::create_dir_all(home.path().join(machine).join("srv")).unwrap();
            names.extend(addresses.iter().map(|address| format!("{address} {machine}\n")));
        }
        std::fs::write(home.path().join("names"), names).unwrap();
        let lab = Lab::of_world(&home, name, world);
        Machines { lab, home }
    }

    /// What all machines share, which none of them sees.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The folder in which a machine stands.
    pub fn folder(&self, machine: &str) -> PathBuf {
        self.home().join(machine)
    }

    /// The results of a machine.
    pub fn results(&self, machine: &str) -> PathBuf {
        self.folder(machine).join("results")
    }

    /// A line on a machine. Its claims are its own: on one computer, those of one machine would
    /// keep all others from measuring, as users of the same host do.
    fn line(&self, machine: &str, line: &str) -> Command {
        let mut command = self.lab.exec(&self.home, machine);
        command.args(["unshare", "--mount", "sh", "-c", STAND, "sh"]);
        command.arg(self.home()).args([machine, line]);
        let usual = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{usual}", self.home().join("bin").display()));
        command.env("V6GAP_DATA", self.results(machine));
        command.env("V6GAP_LOCKS", self.folder(machine).join("claims"));
        command
    }

    /// Runs a line to its end, and returns what it said.
    #[track_caller]
    pub fn run(&self, machine: &str, line: &str) -> String {
        let output = self.line(machine, line).output().unwrap();
        let (said, why) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{machine}$ {line}: {}\n{why}{said}", output.status);
        said
    }

    /// Starts a line whose last program goes on. That takes the place of the shell, which would
    /// otherwise be ended in its place.
    pub fn start(&self, machine: &str, line: &str) -> Running {
        let line = match line.rsplit_once(" && ") {
            Some((before, last)) => format!("{before} && exec {last}"),
            None => format!("exec {line}"),
        };
        Running::start(machine, &mut self.line(machine, &line))
    }

    /// Does something to the network of a node, in words of `ip`.
    #[track_caller]
    pub fn ip(&self, node: &str, what: &str) {
        self.lab.ip(&self.home, node, what);
    }
}
