//! Where the workspace is.

use std::path::PathBuf;

/// The folder of the workspace, as cargo tells it to a program that it runs; for a program run by
/// hand, the current folder.
///
/// Asked for at run time, because a build cache may be shared by several copies of the workspace.
pub fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    manifest.and_then(|m| Some(m.parent()?.to_path_buf())).unwrap_or_else(|| PathBuf::from("."))
}
