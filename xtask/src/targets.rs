//! Every supported platform is checked from one machine, so that none rots unseen.
//!
//! `cargo check` needs no foreign linker. A dependency that compiles C would need a foreign C
//! compiler and fail here; that is one more reason to keep such dependencies out.

use crate::command::{Line, cargo};

/// Target triples besides the host's own; the last one is big-endian.
const TARGETS: [&str; 6] = [
    "x86_64-pc-windows-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-unknown-freebsd",
    "x86_64-unknown-linux-musl",
    "s390x-unknown-linux-gnu",
];

/// The targets whose standard library is not installed.
pub fn missing() -> Result<Vec<&'static str>, String> {
    let installed = Line::new("rustup", "target list --installed").output()?;
    Ok(TARGETS.into_iter().filter(|t| !installed.lines().any(|line| line.trim() == *t)).collect())
}

/// Installs the standard libraries that are missing.
pub fn add_missing() -> Result<(), String> {
    for target in missing()? {
        Line::new("rustup", "target add").args([target.to_owned()]).run()?;
    }
    Ok(())
}

/// Checks the program for every target; names all that fail, not only the first.
pub fn check_all() -> Result<(), String> {
    let check = |target: &&str| {
        cargo("check --locked -p v6gap --target").args([(*target).to_owned()]).run()
    };
    let failed: Vec<&str> = TARGETS.into_iter().filter(|t| check(t).is_err()).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("fails for {}", failed.join(", "))) }
}
