//! `shim.c`, which makes calls of the program to the C library fail, compiled when it is needed.

use super::support::Home;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/shim.c");

/// Numbers of errors (errno(3)) on Linux.
pub const EIO: i32 = 5;
pub const EAGAIN: i32 = 11;
pub const EMFILE: i32 = 24;
pub const ENOSPC: i32 = 28;
pub const EROFS: i32 = 30;
pub const EDQUOT: i32 = 122;

/// File beside the library that says how far the wall clock is off, in ns.
pub const CLOCK: &str = "fault-clock";

/// The compiled library.
///
/// # Panics
/// If no C compiler is installed.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let file = std::env::temp_dir().join(format!("v6gap-shim-{}.so", std::process::id()));
        let mut cc = Command::new("cc");
        cc.args(["-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-o"]).arg(&file).arg(SOURCE);
        let done = cc.output().expect("a C compiler (gcc, libc6-dev) makes the faults");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        file
    })
}

/// Removes it, at the end of the suite.
pub fn remove() {
    let file = std::env::temp_dir().join(format!("v6gap-shim-{}.so", std::process::id()));
    // It is there only if it was needed.
    let _ = std::fs::remove_file(file);
}

/// Calls that fail.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// `write`, `sync`, `rename`, `open` or `thread`.
    pub call: &'static str,
    /// The first that fails, from 1.
    pub nth: u32,
    /// Whether those after it fail as well.
    pub on: bool,
    /// The system's number for why.
    pub why: i32,
    /// Whether half of what is written arrives.
    pub half: bool,
}

impl Fault {
    /// The `nth` call and all after it.
    pub fn from(call: &'static str, nth: u32, why: i32) -> Self {
        Fault { call, nth, on: true, why, half: false }
    }

    /// Makes a command meet it, in files of `home`.
    pub fn meet(&self, command: &mut Command, home: &Home) {
        with(command);
        command.env("FAULT_BELOW", home.path().join("runs"));
        command.env("FAULT_COUNT", counter(home)).env("FAULT_CALL", self.call);
        command.env("FAULT_NTH", self.nth.to_string()).env("FAULT_ERRNO", self.why.to_string());
        if !self.on {
            command.env("FAULT_LAST", self.nth.to_string());
        }
        if self.half {
            command.env("FAULT_HALF", "1");
        }
    }
}

/// Puts the shim before the C library; what it does is asked for by variables.
pub fn with(command: &mut Command) {
    command.env("LD_PRELOAD", library());
}

/// Puts the shim, linked into `folder`, before the C library of a program and of its workers: the
/// clock is off by what the file [`CLOCK`] of that folder says.
pub fn with_clock(command: &mut Command, folder: &Path) {
    let link = folder.join("shim.so");
    std::os::unix::fs::symlink(library(), &link).unwrap();
    command.env("LD_PRELOAD", link);
}

fn counter(home: &Home) -> PathBuf {
    home.path().join("calls")
}

/// How many calls of the kind there were.
pub fn calls(home: &Home) -> u64 {
    std::fs::metadata(counter(home)).map_or(0, |found| found.len())
}
