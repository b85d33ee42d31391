//! Where runs lie and what a list of them shows.

use crate::journal::last_line;
use crate::{Journal, Reference, StoreError, read_journal};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use v6gap_core::record::{self, Ending, Line, RunHeader};

pub(crate) const JOURNAL: &str = "journal.jsonl";
const REPORT: &str = "report.html";

/// Letters of an identifier: none that is mistaken for another.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The folder that holds all runs.
#[derive(Debug, Clone)]
pub struct Store {
    runs: PathBuf,
}

/// A run in a list.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The facts of the run.
    pub header: RunHeader,
    /// How it ended, if it did.
    pub ending: Option<Ending>,
    /// Size of its journal, in bytes.
    pub bytes: u64,
}

/// An identifier of six letters from thirty random bits.
pub fn new_id(random: u32) -> String {
    (0..6).map(|i| ALPHABET[(random >> (5 * i)) as usize & 31] as char).collect()
}

impl Store {
    /// The store below `data`, a folder for this program's data.
    pub fn at(data: &Path) -> Self {
        Store { runs: data.join("runs") }
    }

    /// A store of its own within the same folder, for what shall not be among these runs.
    pub fn apart(&self, name: &str) -> Self {
        Store::at(&self.data().join(name))
    }

    /// The folder for this program's data.
    pub fn data(&self) -> &Path {
        // Made by joining a name to it.
        self.runs.parent().unwrap_or(&self.runs)
    }

    /// Removes all runs, and the folder around them.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn clear(&self) -> Result<(), StoreError> {
        fs::remove_dir_all(self.data()).map_err(StoreError::io("remove", self.data()))
    }

    /// The folder of a run.
    pub fn folder(&self, id: &str) -> PathBuf {
        self.runs.join(id)
    }

    /// Where the report of a run is written.
    pub fn report_path(&self, id: &str) -> PathBuf {
        self.folder(id).join(REPORT)
    }

    /// Where the journal of a run lies: the file in which a run travels.
    pub fn journal_path(&self, id: &str) -> PathBuf {
        self.folder(id).join(JOURNAL)
    }

    /// Where the plan of a run lies as it was written, if it was a file.
    pub fn plan_path(&self, id: &str) -> PathBuf {
        self.folder(id).join("plan.toml")
    }

    /// The plan of a run as it was written; nothing if it was not, or cannot be read.
    pub fn written_plan(&self, id: &str) -> Option<String> {
        fs::read_to_string(self.plan_path(id)).ok()
    }

    /// Makes the folder of a new run and writes the first line of its journal.
    ///
    /// # Errors
    /// If the folder exists or cannot be made.
    pub fn create(&self, header: &RunHeader) -> Result<Journal, StoreError> {
        let folder = self.folder(&header.id);
        fs::create_dir_all(&folder).map_err(StoreError::io("create", &folder))?;
        let mut journal = Journal::create(&self.journal_path(&header.id))?;
        journal.append(&[Line::Run(Box::new(header.clone()))])?;
        sync_folder(&folder)?;
        Ok(journal)
    }

    /// Opens a stored run to measure more into it.
    ///
    /// # Errors
    /// If it cannot be read or another process is measuring into it.
    pub fn resume(&self, id: &str) -> Result<(Journal, Vec<Line>), StoreError> {
        Journal::resume(&self.journal_path(id))
    }

    /// The lines of a run.
    ///
    /// # Errors
    /// If there is none, or the journal cannot be read.
    pub fn read(&self, reference: &Reference) -> Result<Vec<Line>, StoreError> {
        match reference {
            Reference::File(path) if path.is_dir() => read_journal(&path.join(JOURNAL)),
            Reference::File(path) => read_journal(path),
            _ => read_journal(&self.journal_path(&self.resolve(reference)?)),
        }
    }

    /// All runs, the latest first. A folder without a readable first line is passed over.
    ///
    /// # Errors
    /// If the folder of runs exists and cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>, StoreError> {
        if !self.runs.exists() {
            return Ok(Vec::new());
        }
        let folders = fs::read_dir(&self.runs).map_err(StoreError::io("read", &self.runs))?;
        let mut entries: Vec<Entry> =
            folders.flatten().filter_map(|f| entry(&f.path().join(JOURNAL))).collect();
        entries.sort_by(|a, b| {
            let key = |e: &Entry| (e.header.started_unix_ns, e.header.id.clone());
            key(b).cmp(&key(a))
        });
        Ok(entries)
    }

    /// The identifier that `reference` means.
    ///
    /// # Errors
    /// If no run or more than one fits.
    pub fn resolve(&self, reference: &Reference) -> Result<String, StoreError> {
        let ids: Vec<(String, String)> =
            self.list()?.into_iter().map(|e| (e.header.id, e.header.target)).collect();
        reference.pick(&ids)
    }

    /// Removes a run and everything made from it.
    ///
    /// # Errors
    /// If it is being written or cannot be removed.
    pub fn remove(&self, id: &str) -> Result<(), StoreError> {
        if let Err(locked @ StoreError::Locked { .. }) = Journal::resume(&self.journal_path(id)) {
            return Err(locked);
        }
        let folder = self.folder(id);
        fs::remove_dir_all(&folder).map_err(StoreError::io("remove", &folder))
    }

    /// Makes a new file to be written bit by bit, and the folders that it needs.
    ///
    /// # Errors
    /// If it exists or cannot be made.
    pub fn new_file(path: &Path) -> Result<fs::File, StoreError> {
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
        }
        fs::File::create_new(path).map_err(StoreError::io("create", path))
    }

    /// Whether there is something at `path`.
    pub fn exists(path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok()
    }

    /// Writes a file whole or not at all; what exists and is no regular file, as `/dev/stdout`, is
    /// written to and not replaced.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), StoreError> {
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
        }
        if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
            return fs::write(path, &content).map_err(StoreError::io("write", path));
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        fs::write(&partial, &content).map_err(StoreError::io("write", &partial))?;
        fs::rename(&partial, path).map_err(StoreError::io("write", path))
    }
}

/// A new name in a folder is safe only when the folder is synced. A system that does not let
/// folders be opened keeps its names safe by itself.
fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    match fs::File::open(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => Ok(()),
        Err(e) => Err(StoreError::io("open", folder)(e)),
        Ok(open) => open.sync_all().map_err(StoreError::io("sync", folder)),
    }
}

fn entry(journal: &Path) -> Option<Entry> {
    let file = fs::File::open(journal).ok()?;
    let bytes = file.metadata().ok()?.len();
    let mut first = String::new();
    BufReader::new(file).read_line(&mut first).ok()?;
    let Ok(Line::Run(header)) = record::decode(first.trim_end()) else { return None };
    let ending = match last_line(journal) {
        Some(Line::End(ending)) => Some(ending),
        _ => None,
    };
    Some(Entry { header: *header, ending, bytes })
}
