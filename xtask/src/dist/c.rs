//! A C compiler for every target, for programs that have C in them: `zig cc`, which comes with the
//! headers of musl for all processors. It is installed only where something is C, since it is
//! large and nearly everything here is Rust.

use super::Arch;
use crate::command::{Line, cargo};
use crate::setup;
use crate::zig;
use std::path::Path;

/// The line, told which C compiler to use if the program has C in it: what is compiled by the crate
/// `cc`, as all C in Rust packages is.
pub fn with_compiler(line: Line, arch: &Arch, target: &Path) -> Result<Line, String> {
    let tree = cargo("tree --locked -p v6gap -e normal,build --prefix none --target")
        .args([arch.target.to_owned()])
        .output()?;
    if !tree.lines().any(|line| line.starts_with("cc v")) {
        return Ok(line);
    }
    let python = setup::python(&target.join(zig::FOLDER), &[zig::PACKAGE])?;
    let mut line = line;
    let target_of_zig = format!("{}-linux-musl", arch.name);
    for (key, verb) in [("TARGET_CC", "cc"), ("TARGET_AR", "ar")] {
        let text = target.join(format!("{}/{verb}-{}.sh", zig::FOLDER, arch.name));
        super::write(&text, &zig::wrapper(&python, verb, &target_of_zig))?;
        let script = text.with_extension("");
        super::package::install("755", &text, &script)?;
        line = line.env(key, script.display().to_string());
    }
    Ok(line)
}
