//! What is handed out: static programs, Debian packages with them, and their checksums.
//!
//! The same commit gives the same bytes: times are the commit's, paths of this machine are left out
//! of the programs, and whatever compresses or packs is told not to look at the clock.

pub mod binary;
pub mod c;
pub mod check;
pub mod notices;
pub mod package;

use crate::command::Line;
use crate::outcome::Outcome;
use crate::{setup, workspace};
use std::path::{Path, PathBuf};

/// A kind of processor that programs are made for.
#[derive(Debug)]
pub struct Arch {
    /// Name as Rust and Linux have it.
    pub name: &'static str,
    /// Name in Debian.
    pub debian: &'static str,
    /// What the program is compiled for.
    pub target: &'static str,
    /// The variable that tells cargo the linker for it.
    linker: &'static str,
}

/// Every kind.
pub const ARCHES: [Arch; 2] = [
    Arch {
        name: "x86_64",
        debian: "amd64",
        target: "x86_64-unknown-linux-musl",
        linker: "CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER",
    },
    Arch {
        name: "aarch64",
        debian: "arm64",
        target: "aarch64-unknown-linux-musl",
        linker: "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER",
    },
];

/// Where things are put.
#[derive(Debug)]
pub struct Layout {
    /// Folder of what is handed out.
    pub out: PathBuf,
    /// Folder of what that is made from.
    pub work: PathBuf,
    /// The version of the program.
    pub version: String,
}

/// The verb, with its options.
pub fn verb(options: &[&str]) -> Result<(), String> {
    let known = ["--setup", "--check"];
    if let Some(other) = options.iter().find(|option| !known.contains(option)) {
        return Err(format!("dist: no such option: {other}"));
    }
    if options.contains(&"--setup") {
        setup::install_for_dist()?;
    }
    let place = make()?;
    if options.contains(&"--check") { check::all(&place) } else { Ok(()) }
}

/// The step of the night: everything is made and tried. Without the tools it fails.
pub fn night(setup: bool) -> Outcome {
    let options: &[&str] = if setup { &["--setup", "--check"] } else { &["--check"] };
    verb(options).into()
}

/// Makes everything that is handed out.
fn make() -> Result<Layout, String> {
    let target = workspace::target()?;
    let place =
        Layout { out: target.join("dist"), work: target.join("dist-work"), version: version()? };
    clear(&place)?;
    for arch in &ARCHES {
        binary::build(arch, &target, &place)?;
    }
    let documents = package::documents(&place)?;
    for arch in &ARCHES {
        package::build(arch, &place, &documents)?;
    }
    let made = names(&place.out)?;
    let sums = Line::new("sha256sum", "").args(made).within(&place.out).output()?;
    print!("{sums}");
    write(&place.out.join("SHA256SUMS"), &sums)?;
    Ok(place)
}

/// Removes what an earlier run left. The folder itself may be cargo's as well.
fn clear(place: &Layout) -> Result<(), String> {
    let _ = std::fs::remove_dir_all(&place.work);
    for folder in [&place.work, &place.out] {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    for name in names(&place.out)? {
        std::fs::remove_file(place.out.join(&name)).map_err(|e| format!("{name}: {e}"))?;
    }
    Ok(())
}

/// The files of a folder, in order, without hidden ones: cargo has such in what it calls `dist`.
fn names(folder: &Path) -> Result<Vec<String>, String> {
    let fail = |e: std::io::Error| format!("{}: {e}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(fail)?.flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    let mut names: Vec<_> =
        files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    Ok(names)
}

fn version() -> Result<String, String> {
    let id = crate::command::cargo("pkgid --offline -p v6gap").output()?;
    let version = id.trim().rsplit_once(['@', '#']).map(|(_, version)| version.to_owned());
    version.ok_or_else(|| format!("cargo pkgid: no version in {id}"))
}

/// The time of the commit, in seconds since 1970: that of everything made from it.
fn epoch() -> Result<String, String> {
    Ok(Line::new("git", "log -1 --format=%ct").output()?.trim().to_owned())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("writing {}: {e}", path.display()))
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("reading {}: {e}", path.display()))
}

impl Layout {
    /// The program for this kind of processor.
    pub fn program(&self, arch: &Arch) -> PathBuf {
        self.out.join(format!("v6gap-{}-linux-{}", self.version, arch.name))
    }

    /// The Debian package for it.
    pub fn package(&self, arch: &Arch) -> PathBuf {
        self.out.join(format!("v6gap_{}_{}.deb", self.version, arch.debian))
    }

    /// The program that runs here.
    fn own_program(&self) -> Result<PathBuf, String> {
        let own = ARCHES.iter().find(|arch| arch.name == std::env::consts::ARCH);
        let own = own.ok_or("packages are made on x86_64 or aarch64 Linux")?;
        Ok(self.program(own))
    }
}
