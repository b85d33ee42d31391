//! What runs beside a hub, each of it this program in a process of its own: the page, and what
//! writes results into tables and into a database. They read what the archive has on its disk, so
//! that nothing of them is in the way of what takes results.

pub(crate) mod page;
pub(crate) mod writer;

use crate::rights::Role;
use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use tokio::process::Command;
use v6gap_sys::apart;

/// Where these processes have what is their own, in the folder of the hub.
const DATA: &str = "page";

/// Where the results of all hosts are, in the folder of the hub.
const ARCHIVE: &str = "archive";

/// What is to run beside a hub.
#[derive(Debug, Clone)]
pub struct Beside {
    /// This program.
    pub program: PathBuf,
    /// The page, if there is to be one.
    pub page: Option<Page>,
    /// A database, by its URL or a file with it.
    pub postgres: Option<String>,
}

/// Where the page is.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Addresses to listen on; this host's own if none are named.
    pub listen: Vec<IpAddr>,
    /// The port, or the next one that is free.
    pub port: u16,
    /// Whether others than this computer are let in.
    pub allow_remote: bool,
}

/// A process, as it is begun.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    program: PathBuf,
    words: Vec<OsString>,
    data: PathBuf,
}

impl Line {
    /// A process that dies with this one, and to which Ctrl-C at the terminal does not come.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.words).env("V6GAP_DATA", &self.data).kill_on_drop(true);
        apart::bind(command.as_std_mut());
        command
    }
}

impl Beside {
    /// The page of a hub.
    pub(crate) fn page(&self, folder: &Path) -> Option<Line> {
        let page = self.page.as_ref()?;
        let mut words: Vec<OsString> =
            ["web", "--read-only", "--no-open"].map(OsString::from).into();
        words.push(option("--fleet=", &folder.join(ARCHIVE)));
        words.push(option(
            "--fleet-creds=",
            &folder.join(format!("{}.creds", Role::Operator.word())),
        ));
        words.extend(page.listen.iter().map(|at| OsString::from(format!("--listen={at}"))));
        words.push(OsString::from(format!("--port={}", page.port)));
        words.extend(page.allow_remote.then(|| OsString::from("--allow-remote")));
        Some(self.line(folder, words))
    }

    /// What writes the results of a hub, each with what it writes to.
    pub(crate) fn writers(&self, folder: &Path) -> Vec<(&'static str, Line)> {
        let fleet = option("--fleet=", &folder.join(ARCHIVE));
        let words = |which: &str| -> Vec<OsString> {
            let mut words: Vec<OsString> =
                ["index", which, "--json-errors"].map(OsString::from).into();
            words.push(fleet.clone());
            words
        };
        let mut writers = vec![("Parquet", self.line(folder, words("archive")))];
        if let Some(database) = &self.postgres {
            let mut words = words("postgres");
            // Whatever it begins with, it is no option.
            words.extend(["--", database].map(OsString::from));
            writers.push(("PostgreSQL", self.line(folder, words)));
        }
        writers
    }

    fn line(&self, folder: &Path, words: Vec<OsString>) -> Line {
        Line { program: self.program.clone(), words, data: folder.join(DATA) }
    }
}

/// An option with a path for its value, whatever bytes that has.
fn option(name: &str, value: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(value);
    option
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &Line) -> String {
        let words = line.words.iter().map(|word| word.to_string_lossy().into_owned());
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_runs_beside_a_hub_could_be_typed() {
        let hub = Path::new("/srv/hub");
        let page =
            Page { listen: vec!["2001:db8::1".parse().unwrap()], port: 80, allow_remote: true };
        let program = PathBuf::from("v6gap");
        let beside = Beside { program, page: Some(page), postgres: Some("url.txt".to_owned()) };
        let page = typed(&beside.page(hub).unwrap());
        let start = "web --read-only --no-open --fleet=/srv/hub/archive \
                     --fleet-creds=/srv/hub/operator.creds --listen";
        assert!(page.starts_with(start), "{page}");
        assert!(page.ends_with(" --listen=2001:db8::1 --port=80 --allow-remote"), "{page}");
        let writers: Vec<String> =
            beside.writers(hub).iter().map(|(_, line)| typed(line)).collect();
        assert_eq!(
            writers,
            [
                "index archive --json-errors --fleet=/srv/hub/archive",
                "index postgres --json-errors --fleet=/srv/hub/archive -- url.txt"
            ]
        );
        let none = Beside { page: None, postgres: None, ..beside };
        assert!(none.page(hub).is_none() && none.writers(hub).len() == 1);
    }
}
