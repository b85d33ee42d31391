//! The coordinator.

mod event;

pub use event::{Action, Event};
