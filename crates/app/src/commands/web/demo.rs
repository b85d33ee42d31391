//! A run that was recorded, in place of measurements: what pages are told of it, and the folder in
//! which it happens again.

use crate::args::WebArgs;
use crate::failure::Failure;
use crate::settings::Context;
use serde_json::{Value, json};
use std::path::PathBuf;
use v6gap_core::family::Family;
use v6gap_core::record::{Line, RunHeader, RunId};
use v6gap_serve::Demo;
use v6gap_store::{RunName, Store};
use v6gap_sys::entropy;

/// A recording and a store of its own, which goes with it.
pub(super) struct Recording {
    /// What the server is told.
    pub(super) demo: Demo,
    store: Store,
}

impl Recording {
    /// Of the result `first`; `others` are stored already, and so is the log of a watch.
    ///
    /// # Errors
    /// If one is not there or cannot be read.
    pub(super) fn new(
        first: &str,
        others: &[String],
        args: &WebArgs,
        context: &Context,
    ) -> Result<Self, Failure> {
        let speed = args.speed;
        let (header, _) = recorded(first, context)?;
        let random = entropy::bytes().map_err(|e| Failure::unexpected(e.to_string()))?;
        let name = format!("demo-{}", RunId::from_bits(u32::from_ne_bytes(random)));
        let store = context.store.apart(&name);
        let play = journal(first, context)?;
        let plays = ["replay", &play, &format!("--speed={speed}"), "--keep"].map(str::to_owned);
        let about = json!({
            "id": header.id,
            "client": header.hosts.client.name,
            "target": header.target,
            "started_unix_ns": header.started_unix_ns,
            "speed": speed,
        });
        let (plays, check) = (plays.to_vec(), check(&header));
        let demo = Demo { args: plays, about, check, at_unix_ns: None };
        let mut recording = Recording { demo, store };
        if let Some(log) = &args.demo_watch {
            recording.demo.at_unix_ns = recording.store.take_watch_log(log)?;
        }
        for other in others {
            let (header, lines) = recorded(other, context)?;
            recording.store.create(&header)?.append(&lines)?;
        }
        Ok(recording)
    }

    /// The folder for the program's data.
    pub(super) fn data(&self) -> PathBuf {
        self.store.data().to_owned()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // Whatever is left is named so that it is known for what it is.
        let _ = self.store.clear();
    }
}

/// The facts of a run and the lines behind them.
fn recorded(reference: &str, context: &Context) -> Result<(RunHeader, Vec<Line>), Failure> {
    let mut lines = context.store.read(&RunName::parse(reference))?;
    match lines.first() {
        Some(Line::Run(header)) => {
            let header = (**header).clone();
            lines.remove(0);
            Ok((header, lines))
        }
        _ => {
            let what = format!("{reference} does not begin with the facts of a run");
            Err(Failure::unexpected(what))
        }
    }
}

/// The file of a run: the program that plays it keeps its results elsewhere.
fn journal(reference: &str, context: &Context) -> Result<String, Failure> {
    let path = match RunName::parse(reference) {
        RunName::File(path) => path,
        other => context.store.journal_path(&context.store.resolve(&other)?),
    };
    // A name without a folder would be looked up among the results.
    let path = if path.is_absolute() { path } else { PathBuf::from(".").join(path) };
    Ok(path.display().to_string())
}

/// What `check` would have found then, as far as the recording tells.
fn check(header: &RunHeader) -> Value {
    let address = |family| {
        let address = header.addresses.get(family).map(|address| address.to_string());
        let text = address.clone().unwrap_or_else(|| "was not measured".to_owned());
        json!({"mark": mark(address.is_some()), "topic": family.to_string(), "text": text})
    };
    let server = match header.session.seen() {
        Some(session) => format!("v6gap, protocol {}, as it was recorded", session.protocol),
        None => "not v6gap, as it was recorded".to_owned(),
    };
    let mut lines = Family::BOTH.map(address).to_vec();
    lines.push(json!({"mark": "ok", "topic": "Server", "text": server}));
    json!({
        "schema": "v6gap.check/1",
        "host": header.target,
        "ready": true,
        "lines": lines,
        "failure": null,
    })
}

fn mark(is: bool) -> &'static str {
    if is { "ok" } else { "note" }
}
