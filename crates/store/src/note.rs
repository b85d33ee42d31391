//! What a person wrote on a run: a title and a note, in a file beside the journal. Nothing that was
//! measured is changed by it, and no analysis reads it.

use crate::layout::NOTE;
use crate::{Store, StoreError};
use serde::{Deserialize, Serialize};
use v6gap_core::record::RunId;

/// Longest file with a note, in bytes; written out, every character may take twelve.
pub(crate) const BYTES_MAX: u64 = 64 << 10;

/// Longest title, in characters.
pub const TITLE_CHARS_MAX: usize = 80;

/// Longest note, in characters.
pub const NOTE_CHARS_MAX: usize = 2000;

/// A title and a note; either may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// One line.
    #[serde(default)]
    pub title: String,
    /// Any number of lines.
    #[serde(default)]
    pub note: String,
}

impl Note {
    /// What a file holds that may be from elsewhere; nothing if it is no note.
    pub(crate) fn read(text: &str) -> Note {
        let note: Note = serde_json::from_str(text).unwrap_or_default();
        if note.check().is_ok() { note } else { Note::default() }
    }

    /// What is wrong with it, in words.
    ///
    /// # Errors
    /// If one of them is too long, or holds control characters.
    pub fn check(&self) -> Result<(), String> {
        let texts = [("title", &self.title, TITLE_CHARS_MAX), ("note", &self.note, NOTE_CHARS_MAX)];
        for (name, text, most) in texts {
            if text.chars().count() > most {
                return Err(format!("the {name} is longer than {most} characters"));
            }
            let breaks = |c: char| name == "note" && matches!(c, '\n' | '\t');
            if text.chars().any(|c| c.is_control() && !breaks(c)) {
                return Err(format!("the {name} holds characters that cannot be shown"));
            }
        }
        Ok(())
    }
}

impl Store {
    /// What was written on a run; nothing if that cannot be read.
    pub fn note(&self, id: &RunId) -> Note {
        Note::read(&self.text_of(id, NOTE, BYTES_MAX).unwrap_or_default())
    }

    /// Writes it beside the run, or removes it if it is empty.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn set_note(&self, id: &RunId, note: &Note) -> Result<(), StoreError> {
        self.renote(id, || {
            if *note == Note::default() {
                return self.remove_from(id, NOTE);
            }
            // Two texts: nothing in them can fail to become JSON.
            let text = serde_json::to_string(note).unwrap_or_default();
            self.write_to(id, NOTE, (text + "\n").as_bytes()).map(|_| ())
        })
    }
}
