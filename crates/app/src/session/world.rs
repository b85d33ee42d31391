//! The lab, where there is one: the only place of the program that knows on which system labs
//! exist.

#[cfg(target_os = "linux")]
pub mod holder;
#[cfg(target_os = "linux")]
mod real;
#[cfg(target_os = "linux")]
pub use real::{RealWorld, RunningAgent, enter, provided, provides, refusal};

#[cfg(not(target_os = "linux"))]
mod absent;
#[cfg(not(target_os = "linux"))]
#[path = "world/no_holder.rs"]
pub mod holder;
#[cfg(not(target_os = "linux"))]
pub use absent::{RealWorld, RunningAgent, enter, provided, provides, refusal};
