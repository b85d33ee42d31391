//! Makes a world real in network namespaces of its own: links, addresses, shaping and the
//! user-space wire. Needs no privilege, no other program, and leaves nothing behind.
//!
//! [`sys::netns::enter_user_namespace`](v6gap_sys::netns::enter_user_namespace) first, while the
//! process has one thread; then [`Lab::build`]. A [`Lab`] holds its namespaces by file descriptor,
//! so they are gone when it is dropped or the process ends, however that happens. [`holder`] keeps
//! one up for other processes.
//!
//! The link models and what figures each may give are described at
//! [`LinkModel`](v6gap_core::world::LinkModel). Nothing outside the namespaces is ever changed:
//! settings are written below `/proc/sys/net` only, from inside.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]
#![cfg(target_os = "linux")]

mod agent;
mod build;
pub mod clock;
mod draw;
pub mod emulated;
mod equip;
mod error;
mod held;
pub mod holder;
mod lab;
mod lateness;
mod layout;
mod netlink;
mod node;
mod options;
pub mod provided;
mod shape;
pub mod tunnel;
mod wire;

pub use agent::{Agent, AgentOptions, AgentUser};
pub use error::LabError;
pub use lab::{InterfaceCount, Lab};
pub use lateness::Lateness;
pub use node::Node;
pub use options::LabOptions;
