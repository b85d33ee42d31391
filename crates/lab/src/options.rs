//! Choices that do not belong to the world.

use std::path::{Path, PathBuf};

/// Folder with the kernel of an emulated system, if no other is named.
const KERNEL: &str = "target/kernel";

/// Choices that do not belong to the world.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LabOptions {
    /// Processor for the user-space link; no other busy thread should be on it. `None` leaves it
    /// to the scheduler.
    pub wire_cpu: Option<usize>,
    /// Decides what happens to which frames where the world leaves that to chance.
    pub seed: u64,
    /// Folder with the kernel of an emulated system; `None` is the usual one.
    pub kernel: Option<PathBuf>,
}

impl LabOptions {
    /// The folder with the kernel of an emulated system.
    pub fn kernel_folder(&self) -> &Path {
        self.kernel.as_deref().unwrap_or(Path::new(KERNEL))
    }
}
