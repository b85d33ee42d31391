//! What is handed out is tried where nothing of this computer helps it: in a root that is empty,
//! and in a Debian that was just unpacked. A tool that is missing is a failure.

use super::{ARCHES, Arch, Layout};
use crate::command::Line;
use crate::workspace;
use std::path::Path;

/// Every check, to the first failure.
pub fn all(place: &Layout) -> Result<(), String> {
    let script = |name: &str, words: Vec<String>| {
        let script = format!("packaging/check/{name}.sh");
        Line::new("sh", &script).args(words).run()
    };
    let shown = |path: &Path| path.display().to_string();
    for arch in &ARCHES {
        no_path_of_this_machine(&place.program(arch))?;
        let program = shown(&place.program(arch));
        let emulator = (!is_own(arch)).then(|| format!("/usr/bin/qemu-{}-static", arch.name));
        script("empty-root", [program].into_iter().chain(emulator).collect())?;
    }
    let own = ARCHES.iter().find(|arch| is_own(arch)).ok_or("no program for this processor")?;
    // Kept with what cargo built: unpacking a Debian takes minutes.
    let debian = place.work.with_file_name("dist-debian");
    script("debian", vec![shown(&place.package(own)), shown(&debian)])
}

fn is_own(arch: &Arch) -> bool {
    arch.name == std::env::consts::ARCH
}

/// A path of this machine in a program would tell where it was made, and differ elsewhere.
fn no_path_of_this_machine(program: &Path) -> Result<(), String> {
    let bytes = std::fs::read(program).map_err(|e| format!("{}: {e}", program.display()))?;
    for folder in [workspace::root(), super::binary::cargo_home()?] {
        let path = folder.display().to_string();
        if bytes.windows(path.len()).any(|window| window == path.as_bytes()) {
            return Err(format!("{} names {path}", program.display()));
        }
    }
    Ok(())
}
