//! The browser of this desktop.

use std::path::Path;

/// Opens a browser where this desktop has a way to.
#[expect(clippy::disallowed_methods, reason = "the one program that is asked to show the page")]
pub fn open(page: &Path) {
    let opener = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let quiet = std::process::Stdio::null;
    let mut command = std::process::Command::new(opener);
    let _ = command.arg(page).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
}
