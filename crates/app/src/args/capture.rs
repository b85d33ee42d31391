//! Options of captures, for every verb that measures.

use super::values;
use clap::Args;
use std::path::PathBuf;
use v6gap_perform::{SNAP_BYTES_MAX, SNAP_BYTES_MIN};

/// Where packets are captured while trials run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Capture")]
pub struct CaptureArgs {
    /// Write the packets of the trials as pcapng, for Wireshark: to FILE.pcapng or into a folder
    /// [beside the stored result]; takes processor time, and the result says so
    #[arg(long, value_name = "FILE|FOLDER", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "absent, without a value, with a value")]
    pub capture: Option<Option<PathBuf>>,
    /// Host or router of a lab to capture at; may be given again [client and server; this host
    /// where there is no lab]
    #[arg(long, value_name = "NODE", value_delimiter = ',', requires = "capture")]
    pub capture_at: Vec<String>,
    /// Bytes to keep of each frame
    #[arg(long, value_name = "BYTES", default_value_t = 128, requires = "capture",
          value_parser = clap::value_parser!(u32).range(
              SNAP_BYTES_MIN as i64..=SNAP_BYTES_MAX as i64))]
    pub capture_snap: u32,
    /// Most that all files together may hold; what comes later is only counted
    #[arg(long, value_name = "SIZE", default_value = "256M", requires = "capture",
          value_parser = values::file_size)]
    pub capture_limit: u64,
}
