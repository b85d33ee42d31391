//! The network of another host of a lab, in which this process can open sockets too.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;

pub use platform::Network;
