//! The agent of a host.

mod event;
pub mod limits;

pub use event::{Action, Ended, Event, Trouble};
