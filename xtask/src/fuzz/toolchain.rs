//! The nightly compiler, pinned by its date, and cargo-fuzz, by its version.

use crate::command::{Line, cargo};
use std::path::PathBuf;

/// The compiler by rustup's name for it.
const NIGHTLY: &str = "nightly-2026-05-20";

/// The date of its last commit, by which it is known under whatever name it was installed.
const COMMIT_DATE: &str = "2026-05-19";

/// Version of cargo-fuzz.
const CARGO_FUZZ: &str = "0.13.2";

/// What there is.
#[derive(Debug, Clone)]
pub struct Tools {
    /// Name of the toolchain, for `rustup run`.
    pub toolchain: String,
    /// The triple of this machine.
    pub host: String,
    /// The source of its standard library, which Miri needs; `None` if it is not installed.
    pub library: Option<PathBuf>,
    /// Whether it has Miri.
    pub miri: bool,
}

impl Tools {
    /// `cargo` of that compiler with `args`, separated by blanks.
    pub fn cargo(&self, args: &str) -> Line {
        Line::new("rustup", "run")
            .args([self.toolchain.clone(), "cargo".to_owned()])
            .args(args.split_whitespace().map(str::to_owned))
    }
}

/// Finds both, or says in one line what is missing and how to get it.
pub fn find() -> Result<Tools, String> {
    let toolchain = pinned().ok_or(format!(
        "fuzzing needs the compiler {NIGHTLY}: rustup toolchain install {NIGHTLY} --profile \
         minimal --component miri,rust-src, or cargo xtask fuzz --setup"
    ))?;
    if !has_cargo_fuzz() {
        return Err(format!(
            "fuzzing needs cargo-fuzz {CARGO_FUZZ}: cargo install cargo-fuzz --locked --version \
             {CARGO_FUZZ}, or cargo xtask fuzz --setup"
        ));
    }
    let asked = |what: &str| {
        let line = Line::new("rustup", "run").args([toolchain.clone(), "rustc".to_owned()]);
        line.args(what.split(' ').map(str::to_owned)).output()
    };
    let version = asked("--version --verbose")?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let library = PathBuf::from(asked("--print sysroot")?.trim()).join("lib/rustlib/src/rust");
    let tools = Tools {
        toolchain,
        host: host.ok_or("rustc names no host")?.to_owned(),
        library: Some(library.join("library")).filter(|path| path.is_dir()),
        miri: false,
    };
    let miri = tools.cargo("miri --version").output().is_ok();
    Ok(Tools { miri, ..tools })
}

/// Installs what is missing.
pub fn install() -> Result<(), String> {
    let line = match pinned() {
        Some(name) => Line::new("rustup", "component add miri rust-src --toolchain").args([name]),
        None => Line::new("rustup", "toolchain install")
            .args([NIGHTLY.to_owned()])
            .args("--profile minimal --component miri,rust-src".split(' ').map(str::to_owned)),
    };
    line.run()?;
    if !has_cargo_fuzz() {
        cargo("install cargo-fuzz --locked --version").args([CARGO_FUZZ.to_owned()]).run()?;
    }
    Ok(())
}

/// The name under which the compiler is installed.
fn pinned() -> Option<String> {
    let is_pinned = |name: &&str| {
        let line = Line::new("rustup", "run").args([name, "rustc", "--version"].map(str::to_owned));
        line.output().is_ok_and(|version| version.contains(COMMIT_DATE))
    };
    [NIGHTLY, "nightly"].into_iter().find(is_pinned).map(str::to_owned)
}

fn has_cargo_fuzz() -> bool {
    let version = cargo("fuzz --version").output().unwrap_or_default();
    version.split_whitespace().last() == Some(CARGO_FUZZ)
}
