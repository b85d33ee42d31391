//! A folder of its own for each worker, and all commands on one file in it. What is around the data
//! folder is listed before and after.

use super::bounded::{self, Ran};
use super::page;
use miniz_oxide::inflate::decompress_to_vec;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A run that nobody changed, to compare with.
const GOOD: &[u8] = include_bytes!("../browser/recorded/n1b7yg.jsonl.gz");

/// What is asked of a file `evil.jsonl`; a word in capitals stands for one of a list, by the number
/// of the file.
const COMMANDS: [&str; 10] = [
    "show evil.jsonl",
    "show evil.jsonl -V --format FORM",
    "report evil.jsonl -o out/page.html",
    "report evil.jsonl",
    "figures evil.jsonl -o out -f DRAWN",
    "compare good.jsonl evil.jsonl --format COMPARED -o out/page.html",
    "export evil.jsonl --format FORM",
    "replay evil.jsonl --speed 10000 --keep -o out/page.html",
    "predict --from evil.jsonl",
    "plan estimate sizes --noise evil.jsonl",
];

/// What is asked of it as a run in the store.
const STORED: [&str; 7] = [
    "list",
    "show last",
    "run --continue last lab-b --dry-run",
    "export last --format plan",
    "note last checked",
    "report last",
    "rm last",
];

const FORMS: [&str; 5] = ["json", "csv", "table", "md", "latex"];
const DRAWN: [&str; 5] = ["svg", "pdf", "png", "csv", "json"];
const COMPARED: [&str; 6] = ["html", "text", "md", "latex", "csv", "json"];

/// A folder with a data folder, one to work in, and one that must stay as it is.
pub struct Scene {
    root: PathBuf,
}

/// What came of all commands on one file.
#[derive(Debug, Default)]
pub struct Found {
    pub commands: u64,
    pub results: u64,
    pub failures: Vec<String>,
    pub slowest_s: f64,
}

impl Scene {
    pub fn new(name: usize) -> Scene {
        let root =
            std::env::temp_dir().join(format!("v6gap-hostile-{}-{name}", std::process::id()));
        for folder in ["data", "work", "victim"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("victim/journal.jsonl"), "keep").unwrap();
        let good = decompress_to_vec(&GOOD[10..GOOD.len() - 8]).unwrap();
        fs::write(root.join("work/good.jsonl"), good).unwrap();
        Scene { root }
    }

    /// Everything that reads such a file.
    pub fn all(&mut self, number: u64, bytes: &[u8]) -> Found {
        let mut found = Found::default();
        let before = self.around();
        fs::write(self.root.join("work/evil.jsonl"), bytes).unwrap();
        let one = |all: &[&'static str]| all[number as usize % all.len()];
        let words = [("FORM", one(&FORMS)), ("DRAWN", one(&DRAWN)), ("COMPARED", one(&COMPARED))];
        for line in COMMANDS {
            let line =
                words.iter().fold(line.to_owned(), |line, (word, one)| line.replace(word, one));
            self.command(&line, "", &mut found);
            self.pages(&line, &mut found);
        }
        self.command("web --demo evil.jsonl --no-open -p 0", "Open", &mut found);
        if self.command("import evil.jsonl", "", &mut found) {
            self.stored(&mut found);
        }
        // What lies there already, as from an archive, with a note of the same kind.
        for folder in ["evil11", "ygbv7b", "n1b7yg"] {
            let folder = self.root.join("data/runs").join(folder);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("journal.jsonl"), bytes).unwrap();
            fs::write(folder.join("note.json"), &bytes[..bytes.len().min(5_000)]).unwrap();
        }
        self.stored(&mut found);
        fs::remove_file(self.root.join("work/evil.jsonl")).unwrap();
        let _ = fs::remove_dir_all(self.root.join("data/runs"));
        let after = self.around();
        if before != after {
            let changed = after.iter().find(|(path, _)| before.get(*path) != after.get(*path));
            found.failures.push(format!("something outside was changed: {changed:?}"));
        }
        if !found.failures.is_empty() {
            let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{number}.jsonl"));
            fs::write(&kept, bytes).unwrap();
            println!("kept as {}", kept.display());
        }
        found
    }

    fn stored(&self, found: &mut Found) {
        for line in STORED {
            self.command(line, "", found);
            self.pages(line, found);
        }
    }

    /// Whether it gave a result.
    fn command(&self, line: &str, until: &str, found: &mut Found) -> bool {
        let args: Vec<&str> = line.split_whitespace().collect();
        let [folder, data] = ["work", "data"].map(|name| self.root.join(name));
        let ran: Ran = bounded::run(&args, &folder, &data, until);
        found.commands += 1;
        found.results += u64::from(ran.succeeded());
        found.slowest_s = found.slowest_s.max(ran.seconds);
        if let Some(why) = ran.wrong() {
            found.failures.push(format!("v6gap {line}: {why}"));
        }
        ran.succeeded()
    }

    /// Looks at the pages that a command wrote, and takes away whatever it wrote where it may.
    fn pages(&self, line: &str, found: &mut Found) {
        let mut pages =
            vec![self.root.join("work/out/page.html"), self.root.join("work/evil.report.html")];
        let runs = fs::read_dir(self.root.join("data/runs")).into_iter().flatten().flatten();
        pages.extend(runs.map(|run| run.path().join("report.html")));
        // What is no page may hold markup; a browser takes none of it for a page.
        let shown = !line.starts_with("compare") || line.contains("--format html");
        for path in pages.into_iter().filter(|path| shown && path.is_file()) {
            let page = String::from_utf8(fs::read(&path).unwrap()).unwrap_or_default();
            if !page.starts_with("<!DOCTYPE html>") && page.starts_with('<') {
                found.failures.push(format!("v6gap {line}: no page"));
            }
            if let Some(what) = page::foreign(&page) {
                found.failures.push(format!("v6gap {line}: from the data: {what}"));
            }
            fs::remove_file(path).unwrap();
        }
        let _ = fs::remove_dir_all(self.root.join("work/out"));
    }

    /// Everything but the data, with its length and the time of its last change.
    fn around(&self) -> BTreeMap<PathBuf, (u64, Option<std::time::SystemTime>)> {
        let mut all = BTreeMap::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let (path, found) = (entry.path(), entry.metadata().unwrap());
                if path == self.root.join("data") {
                    continue;
                }
                if found.is_dir() {
                    folders.push(path.clone());
                    all.insert(path, (0, None));
                } else {
                    all.insert(path, (found.len(), found.modified().ok()));
                }
            }
        }
        let evil = Path::new("/tmp/v6gap-evil");
        all.insert(evil.to_owned(), (u64::from(fs::symlink_metadata(evil).is_ok()), None));
        all
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
