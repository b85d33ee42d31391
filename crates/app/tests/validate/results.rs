//! The folder of the suite: one journal for each run, and one line of JSON that says what was true
//! in it. An interrupted suite goes on from there, and the summary analyses the journals anew.

use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use v6gap_core::record::{self, Line};
use v6gap_judge::analysis::{self, Analysis};

/// The file of lines.
const INDEX: &str = "runs.jsonl";

/// Where the suite keeps what it found.
pub(crate) struct Results {
    folder: PathBuf,
}

impl Results {
    /// # Errors
    /// If the folder cannot be made.
    pub(crate) fn at(folder: &Path) -> Result<Self, String> {
        std::fs::create_dir_all(folder.join("journals"))
            .map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(Results { folder: folder.to_owned() })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The lines written so far; half of a last one that was cut off is left out.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.join(INDEX)).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// How many runs of a case there are.
    pub(crate) fn count(&self, row: &str, case: &str) -> usize {
        self.lines().iter().filter(|done| done["row"] == row && done["case"] == case).count()
    }

    /// A seed above those of all runs kept: journals are named after theirs.
    pub(crate) fn next_seed(&self) -> u64 {
        let lines = self.lines();
        let seeds = lines.iter().filter_map(|done| done["seed"].as_u64());
        seeds.max().map_or(10_000, |seed| seed + 1)
    }

    /// Keeps a run: its journal first, then the line that makes it count. `facts` says what was
    /// true; what was found then is added.
    ///
    /// # Errors
    /// If the disk refuses or the journal is no run.
    pub(crate) fn keep(&self, mut facts: Value, lines: &[Line]) -> Result<Analysis, String> {
        let found = analysis::analyse(lines).map_err(|e| e.to_string())?;
        let part = |key: &str| facts[key].as_str().unwrap_or_default().to_owned();
        let name = format!("{}-{}-{}.jsonl", part("row"), part("case"), facts["seed"]);
        let text: String = lines.iter().map(|line| record::encode(line) + "\n").collect();
        let path = self.folder.join("journals").join(&name);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        facts["journal"] = json!(name);
        facts["started_unix_ns"] = json!(found.run.started_unix_ns);
        facts["span_s"] = json!(found.span_ns as f64 / 1e9);
        facts["found"] = digest(&found);
        self.append(&facts)?;
        Ok(found)
    }

    /// Appends a line that has no journal.
    ///
    /// # Errors
    /// If the disk refuses.
    pub(crate) fn append(&self, facts: &Value) -> Result<(), String> {
        let path = self.folder.join(INDEX);
        let open = std::fs::OpenOptions::new().create(true).append(true).open(&path);
        open.and_then(|mut file| file.write_all(format!("{facts}\n").as_bytes()))
            .map_err(|e| format!("{}: {e}", path.display()))
    }

    /// The journal of a line.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn journal(&self, done: &Value) -> Result<Vec<Line>, String> {
        let name = done["journal"].as_str().ok_or("a line without a journal")?;
        let lines = v6gap_store::read_journal(&self.folder.join("journals").join(name));
        lines.map_err(|e| e.to_string())
    }

    /// The journal of a line, analysed as this version does.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn analysed(&self, done: &Value) -> Result<Analysis, String> {
        analysis::analyse(&self.journal(done)?).map_err(|e| e.to_string())
    }
}

/// What an analysis says, in short.
fn digest(found: &Analysis) -> Value {
    let questions = found.questions.iter().map(|q| {
        json!({
            "cell": q.cell, "metric": q.metric, "verdict": q.verdict, "qualifier": q.qualifier,
            "estimate": q.effect.as_ref().map(|e| e.estimate),
            "range95": q.effect.as_ref().map(|e| e.range95),
            "range90": q.effect.as_ref().map(|e| e.range90),
            "pairs": q.effect.as_ref().map(|e| e.blocks),
            "caveats": q.caveats, "why_none": q.why_none,
        })
    });
    let noted = found.checks.iter().filter(|c| c.state != analysis::CheckState::Ok);
    json!({
        "valid": found.valid,
        "questions": questions.collect::<Vec<_>>(),
        "checks": noted.map(|c| format!("{}: {}", c.id, c.text)).collect::<Vec<_>>(),
    })
}
