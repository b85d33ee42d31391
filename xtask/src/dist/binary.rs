//! Static programs, linked with the musl and by the linker that come with every Rust toolchain:
//! nothing of the system that they are made on gets into them, and each kind of processor will do.

use super::{Arch, Layout, c};
use crate::command::{Line, cargo};
use crate::workspace;
use std::path::{Path, PathBuf};

/// Builds the program and puts it where it is handed out.
pub fn build(arch: &Arch, target: &Path, place: &Layout) -> Result<(), String> {
    Line::new("rustup", "target add").args([arch.target.to_owned()]).run()?;
    let line = cargo("build --locked --profile dist -p v6gap --target")
        .args([arch.target.to_owned()])
        .env("CARGO_ENCODED_RUSTFLAGS", flags()?.join("\u{1f}"))
        .env(arch.linker, "rust-lld");
    c::with_compiler(line, arch, target)?.run()?;
    let made = target.join(arch.target).join("dist/v6gap");
    super::package::install("755", &made, &place.program(arch))
}

/// Links with nothing but what rustup brought, and calls folders by names that all machines share:
/// messages of a panic name source files.
fn flags() -> Result<Vec<String>, String> {
    let sysroot = Line::new("rustc", "--print sysroot").output()?;
    let told = Line::new("rustc", "-vV").output()?;
    let commit = told.lines().find_map(|line| line.strip_prefix("commit-hash: "));
    let commit = commit.ok_or("rustc -vV: no commit-hash")?;
    let library = format!("{}/lib/rustlib/src/rust", sysroot.trim());
    let names = [
        (cargo_home()?.display().to_string(), "/cargo".to_owned()),
        (workspace::root().display().to_string(), "/v6gap".to_owned()),
        (library, format!("/rustc/{commit}")),
    ];
    let linker = ["-Clinker-flavor=ld.lld", "-Clink-self-contained=yes"].map(str::to_owned);
    let names = names.map(|(from, to)| format!("--remap-path-prefix={from}={to}"));
    Ok(linker.into_iter().chain(names).collect())
}

/// Where cargo keeps the sources of libraries.
pub fn cargo_home() -> Result<PathBuf, String> {
    let of = |key| std::env::var_os(key).map(PathBuf::from);
    let home = of("CARGO_HOME").or_else(|| Some(of("HOME")?.join(".cargo")));
    home.ok_or_else(|| "neither CARGO_HOME nor HOME is set".to_owned())
}
