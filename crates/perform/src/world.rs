//! The lab, where there is one: the only place outside the lab that knows on which system labs
//! exist.

#[cfg(target_os = "linux")]
mod guest;
#[cfg(target_os = "linux")]
pub mod holder;
#[cfg(target_os = "linux")]
mod real;
#[cfg(target_os = "linux")]
pub use guest::{is_first, serve};
#[cfg(target_os = "linux")]
pub use real::{RealWorld, RunningAgent, Way, enter, provided, provides, refusal};

#[cfg(not(target_os = "linux"))]
mod absent;
#[cfg(not(target_os = "linux"))]
#[path = "world/no_holder.rs"]
pub mod holder;
#[cfg(not(target_os = "linux"))]
pub use absent::{
    RealWorld, RunningAgent, Way, enter, is_first, provided, provides, refusal, serve,
};

/// Why a lab could not be built.
#[derive(Debug)]
pub struct NotBuilt {
    /// In words.
    pub why: String,
    /// What its emulated system said last, if that is what did not come up.
    pub console: Option<Vec<String>>,
}
