//! Where runs lie and what a list of them shows. A run is its folder, whatever the journal in it
//! says, and no link within the store is followed: both may come from elsewhere.

use crate::form::{read_named, read_named_text};
use crate::journal::{ends, read_stored, read_text};
use crate::source::{Named, Source, TEXT_BYTES_MAX};
use crate::write::{PARTIAL, make_private, remove_file, sync_folder, write_beside, write_stored};
use crate::{Journal, RunName, StoreError};
use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};
use v6gap_core::record::{Ending, Line, RunHeader, RunId};

pub(crate) const JOURNAL: &str = "journal.jsonl";
pub(crate) const NOTE: &str = "note.json";
pub(crate) const SUMMARY: &str = "summary.json";
const REPORT: &str = "report.html";
pub(crate) const PLAN: &str = "plan.toml";

/// How captures end.
const CAPTURE: &str = ".pcapng";

/// The folder that holds all runs.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) runs: PathBuf,
}

/// A run as its journal says it.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The facts of the run.
    pub header: RunHeader,
    /// How it ended, if it did.
    pub ending: Option<Ending>,
    /// Size of its journal, in bytes.
    pub bytes: u64,
}

/// All runs, and what is no run although it looks like one.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    /// The latest first.
    pub runs: Vec<Entry>,
    /// Folders that are left out, each with the reason in words.
    pub left_out: Vec<String>,
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
    pub fn folder(&self, id: &RunId) -> PathBuf {
        self.runs.join(id.as_str())
    }

    /// Where the report of a run lies.
    pub fn report_path(&self, id: &RunId) -> PathBuf {
        self.folder(id).join(REPORT)
    }

    /// Where the journal of a run lies: the file in which a run travels.
    pub fn journal_path(&self, id: &RunId) -> PathBuf {
        self.folder(id).join(JOURNAL)
    }

    /// Writes the report of a stored run and says where.
    ///
    /// # Errors
    /// If its folder leads out of the store or cannot be written.
    pub fn write_report(&self, id: &RunId, page: &str) -> Result<PathBuf, StoreError> {
        self.write_to(id, REPORT, page.as_bytes())
    }

    /// Writes the plan of a stored run as a person wrote it.
    ///
    /// # Errors
    /// If its folder leads out of the store or cannot be written.
    pub fn write_plan(&self, id: &RunId, text: &str) -> Result<(), StoreError> {
        self.write_to(id, PLAN, text.as_bytes()).map(|_| ())
    }

    /// The plan of a run as it was written; nothing if it was not, or cannot be read.
    pub fn written_plan(&self, id: &RunId) -> Option<String> {
        self.text_of(id, PLAN, TEXT_BYTES_MAX)
    }

    /// Makes the folder of a new run and writes the first line of its journal.
    ///
    /// # Errors
    /// If the folder exists or cannot be made.
    pub fn create(&self, header: &RunHeader) -> Result<Journal, StoreError> {
        let folder = self.make_folder(&header.id)?;
        let mut journal = Journal::create(&self.journal_path(&header.id))?;
        journal.append(&[Line::Run(Box::new(header.clone()))])?;
        sync_folder(&folder)?;
        sync_folder(&self.runs)?;
        Ok(journal)
    }

    /// Opens a stored run to measure more into it.
    ///
    /// # Errors
    /// If it cannot be read or another process is measuring into it.
    pub fn resume(&self, id: &RunId) -> Result<(Journal, Vec<Line>), StoreError> {
        self.own(id)?;
        let journal = Journal::hold(&self.journal_path(id))?;
        // Held before it is marked: whoever finds the mark and nobody who measures may settle it.
        self.mark(id)?;
        journal.resumed()
    }

    /// The lines of a run.
    ///
    /// # Errors
    /// If there is none, or the journal cannot be read.
    pub fn read(&self, reference: &RunName) -> Result<Vec<Line>, StoreError> {
        match reference {
            RunName::File(path) if path.is_dir() => read_stored(&path.join(JOURNAL)),
            RunName::File(path) => read_named(path),
            _ => read_stored(&self.journal_path(&self.resolve(reference)?)),
        }
    }

    /// The lines of a run, and their text as it is stored, each with a newline: it has also fields
    /// that only a later program knows.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub fn lines_and_text(&self, reference: &RunName) -> Result<(Vec<Line>, String), StoreError> {
        match reference {
            RunName::File(path) if path.is_dir() => read_text(&path.join(JOURNAL), Named::ByUs),
            RunName::File(path) => read_named_text(path),
            RunName::Id(_) | RunName::Last(_) | RunName::LastOf(_) => {
                read_text(&self.journal_path(&self.resolve(reference)?), Named::ByUs)
            }
        }
    }

    /// All lines of the run of that identifier, whatever else is stored.
    ///
    /// # Errors
    /// If there is no such run, or it cannot be read.
    pub fn read_run(&self, id: &RunId) -> Result<Vec<Line>, StoreError> {
        self.own(id)?;
        read_stored(&self.journal_path(id))
    }

    /// Writes the report of what `reference` names and says where: into the folder of the run, or
    /// beside the file in which it travelled, whose name it has with `.report.html` for its ending.
    ///
    /// # Errors
    /// If there is no such run, there is nothing beside it, as with a pipe, or the folder cannot be
    /// written.
    pub fn write_report_of(&self, reference: &RunName, page: &str) -> Result<PathBuf, StoreError> {
        let path = match reference {
            RunName::File(path) if path.is_dir() => path.join(REPORT),
            RunName::File(path) if path.is_file() => match path.file_name() {
                Some(name) if name == JOURNAL => path.with_file_name(REPORT),
                _ => path.with_extension(REPORT),
            },
            RunName::File(path) => {
                let why = "is no file, so that a page has no place beside it; -o names one";
                return Err(StoreError::unfit(path, why));
            }
            _ => return self.write_report(&self.resolve(reference)?, page),
        };
        write_beside(&path, page.as_bytes())?;
        Ok(path)
    }

    /// Whether a run of that identifier is stored.
    pub fn has(&self, id: &RunId) -> bool {
        self.look(id).is_some()
    }

    /// The facts of a stored run, without its trials.
    ///
    /// # Errors
    /// If there is no such run, or its journal does not begin with them.
    pub fn header(&self, id: &RunId) -> Result<RunHeader, StoreError> {
        self.own(id)?;
        let entry = self.look(id).map(|entry| entry.header);
        entry.ok_or_else(|| StoreError::NotFound { reference: id.to_string() })
    }

    /// All runs, the latest first, without what [`Store::survey`] leaves out.
    ///
    /// # Errors
    /// If the folder of runs exists and cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>, StoreError> {
        Ok(self.survey()?.runs)
    }

    /// All runs by their journals, each of which is opened: what [`Store::index`] says in less
    /// time, and is checked by. A folder whose journal is empty is passed over; one that is a link,
    /// or whose journal is that of another run or of none, is left out with the reason.
    ///
    /// # Errors
    /// If the folder of runs exists and cannot be read.
    pub fn survey(&self) -> Result<Listed, StoreError> {
        if !Store::exists(&self.runs) {
            return Ok(Listed::default());
        }
        own_folder(&self.runs)?;
        let folders = fs::read_dir(&self.runs).map_err(StoreError::io("read", &self.runs))?;
        let mut listed = Listed::default();
        for folder in folders.flatten() {
            match self.entry(&folder.file_name(), folder.file_type().ok()) {
                Ok(Some(entry)) => listed.runs.push(entry),
                Ok(None) => {}
                Err(why) => listed.left_out.push(self.left_out(&folder.file_name(), &why)),
            }
        }
        let key = |e: &Entry| (e.header.started_unix_ns, e.header.id.clone());
        listed.runs.sort_by_key(|entry| std::cmp::Reverse(key(entry)));
        listed.left_out.sort();
        Ok(listed)
    }

    /// The identifier that `reference` means.
    ///
    /// # Errors
    /// If no run or more than one fits.
    pub fn resolve(&self, reference: &RunName) -> Result<RunId, StoreError> {
        self.index()?.resolve(reference)
    }

    /// Removes a run: its journal, last, and before it what was made from it or written on it, and
    /// its folder. What else lies there stays, and its names are returned.
    ///
    /// # Errors
    /// If it is being written, leads out of the store, or cannot be removed.
    pub fn remove(&self, id: &RunId) -> Result<Vec<String>, StoreError> {
        self.own(id)?;
        let journal = self.journal_path(id);
        // Whatever else is wrong with it, it can be removed.
        let held = match Journal::hold(&journal) {
            Err(locked @ StoreError::Locked { .. }) => return Err(locked),
            held => held.ok(),
        };
        let folder = self.folder(id);
        // Stays until the line is out of the index, since another run may get the name. A disk that
        // is too full for it is one to remove runs from.
        let _ = self.mark(id);
        let mut left = Vec::new();
        for found in fs::read_dir(&folder).map_err(StoreError::io("read", &folder))?.flatten() {
            let is_folder = found.file_type().is_ok_and(|kind| kind.is_dir());
            match found.file_name().to_str() {
                Some(JOURNAL) if !is_folder => {}
                Some(name) if !is_folder && is_of_a_run(name) => remove_file(&found.path())?,
                _ => left.push(found.file_name().to_string_lossy().into_owned()),
            }
        }
        remove_file(&journal)?;
        drop(held);
        if left.is_empty() {
            fs::remove_dir(&folder).map_err(StoreError::io("remove", &folder))?;
        }
        left.sort();
        Ok(left)
    }

    /// The text of a file of a run, if it has one that is not too long.
    pub(crate) fn text_of(&self, id: &RunId, name: &str, most_bytes: u64) -> Option<String> {
        self.own(id).ok()?;
        let path = self.folder(id).join(name);
        Source::open(&path, Named::ByUs).ok()?.text(&path, most_bytes).ok()
    }

    /// Writes a file into the folder of a run that is there.
    pub(crate) fn write_to(
        &self,
        id: &RunId,
        name: &str,
        content: &[u8],
    ) -> Result<PathBuf, StoreError> {
        self.own(id)?;
        let path = self.folder(id).join(name);
        write_stored(&path, content)?;
        Ok(path)
    }

    /// Removes a file from the folder of a run; there may be none.
    pub(crate) fn remove_from(&self, id: &RunId, name: &str) -> Result<(), StoreError> {
        self.own(id)?;
        remove_file(&self.folder(id).join(name))
    }

    /// Makes the folder of a run if it is not there.
    pub(crate) fn make_folder(&self, id: &RunId) -> Result<PathBuf, StoreError> {
        let folder = self.folder(id);
        if Store::exists(&self.runs) {
            own_folder(&self.runs)?;
        }
        if !Store::exists(&folder) {
            make_private(&folder)?;
        }
        own_folder(&folder)?;
        Ok(folder)
    }

    /// Makes sure that a run lies in the store and nowhere else.
    pub(crate) fn own(&self, id: &RunId) -> Result<(), StoreError> {
        own_folder(&self.runs)?;
        own_folder(&self.folder(id))
    }

    /// A stored run as its journal says it; nothing if there is none of that name.
    pub(crate) fn look(&self, id: &RunId) -> Option<Entry> {
        self.own(id).ok()?;
        let found = fs::symlink_metadata(self.folder(id)).ok()?;
        self.entry(OsStr::new(id.as_str()), Some(found.file_type())).ok()?
    }

    /// Says of what lies in `runs` why it is no run.
    pub(crate) fn left_out(&self, name: &OsStr, why: &str) -> String {
        format!("{} is left out: {why}", self.runs.join(name).display())
    }

    /// What lies in `runs` under that name; `None` if there is nothing of a run in it.
    pub(crate) fn entry(
        &self,
        name: &OsStr,
        kind: Option<FileType>,
    ) -> Result<Option<Entry>, String> {
        let words = |error: StoreError| error.to_string();
        let kind = kind.ok_or("what it is cannot be told")?;
        if kind.is_symlink() {
            return Err("it is a link, and links are not followed".to_owned());
        }
        let journal = self.runs.join(name).join(JOURNAL);
        if !kind.is_dir() || !Store::exists(&journal) {
            return Ok(None);
        }
        let id: Option<RunId> = name.to_str().and_then(|name| name.parse().ok());
        let id =
            id.ok_or("its name is no identifier of a run; v6gap import stores what is in it")?;
        let Some((first, bytes, last)) = ends(&journal).map_err(words)? else { return Ok(None) };
        let Line::Run(header) = first else {
            return Err("its journal does not begin with the facts of a run".to_owned());
        };
        if header.id != id {
            return Err(format!("its journal is that of {}", header.id));
        }
        let ending = match last {
            Some(Line::End(ending)) => Some(ending),
            _ => None,
        };
        Ok(Some(Entry { header: *header, ending, bytes }))
    }
}

/// Whether a file of that name is part of a run, or was to become one.
fn is_of_a_run(name: &str) -> bool {
    let known = [JOURNAL, REPORT, PLAN, NOTE, SUMMARY];
    let partial = || known.iter().any(|known| name.starts_with(known)) && name.ends_with(PARTIAL);
    known.contains(&name) || name.ends_with(CAPTURE) || partial()
}

/// Makes sure that it is a folder, and not a link to one.
pub(crate) fn own_folder(folder: &Path) -> Result<(), StoreError> {
    let found = fs::symlink_metadata(folder).map_err(StoreError::io("read", folder))?;
    if found.is_symlink() {
        let why = "is a link, and nothing outside of the folder for results is read or changed";
        return Err(StoreError::unfit(folder, why));
    }
    match found.is_dir() {
        true => Ok(()),
        false => Err(StoreError::unfit(folder, "is no folder")),
    }
}
