//! The broker: nothing else of this program knows NATS.

pub mod connect;
pub mod grants;
pub mod keys;
pub mod streams;
